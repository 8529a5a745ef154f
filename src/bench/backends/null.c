/* null: the template of a backend, and the test engine that does nothing. It takes a model with one
 * input and one output of the same size, given by the request's shapes ("x[4]"), and copies input
 * to output, which is correct for an identity model only. To add a backend, copy this file,
 * implement the functions and add a row to backends.def.
 */
#include "core/os/os.h"
#include "backends.h"

struct session {
  struct {
    const void *input;
    void *output;
  } sets[BACKEND_MAX_SETS];
  size_t bytes;
  struct streams *streams; /* for several requests in flight */
};

/* Writes a loadable artifact to request->work_dir. */
static hone_status prepare(struct ctx *ctx, const struct backend_request *request,
                           struct backend_facts *facts) {
  (void)ctx, (void)request, (void)facts;
  return HONE_OK;
}

static hone_status run(struct ctx *ctx, struct session *s, int set) {
  (void)ctx;
  memcpy(s->sets[set].output, s->sets[set].input, s->bytes);
  return HONE_OK;
}

/* Loads it and reads from the engine its facts, inputs and outputs. */
static hone_status open_session(struct ctx *ctx, struct session *s,
                                const struct backend_request *request, struct backend_facts *facts,
                                struct backend_io *out_io) {
  identity_facts(request, facts);
  TRY(identity_io(ctx, request, out_io, &s->bytes));
  if (request->in_flight <= 1) return HONE_OK;
  facts->in_flight = request->in_flight;
  return streams_create(ctx, request->in_flight, run, s, &s->streams);
}

/* Prepares everything that a call needs, outside the timed loop. */
static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  (void)ctx;
  s->sets[set].input = inputs[0].data;
  s->sets[set].output = outputs[0].data;
  return HONE_OK;
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  return s->streams ? streams_submit(ctx, s->streams, set) : run(ctx, s, set);
}

/* Returns when the outputs of that set can be read. */
static hone_status wait(struct ctx *ctx, struct session *s, int set) {
  return s->streams ? streams_wait(ctx, s->streams, set) : HONE_OK;
}

/* Optional, after all measurements: files of the work folder that another process can load. */
static hone_status keep(struct ctx *ctx, struct session *s, const struct backend_request *request,
                        struct strbuf *out_names) {
  char path[4096 + 32], text[64];
  const int n = snprintf(text, sizeof text, "identity of %zu bytes\n", s->bytes);
  snprintf(path, sizeof path, "%s/identity.txt", request->work_dir);
  TRY(file_write_atomic(ctx, path, text, (size_t)n, 0600));
  strbuf_puts(out_names, "identity.txt\n");
  return HONE_OK;
}

/* Releases what open and bind allocated, also if open failed half-way. */
static void close_session(struct session *s) { streams_destroy(s->streams); }

const struct backend backend_null = {
    .name = "null",
    .title = "null",
    .formats = "onnx",
    .testing_only = true,
    .describe = describe_built_in, /* other engines load their library and report what is missing */
    .prepare = prepare,
    .session_size = sizeof(struct session),
    .open = open_session,
    .bind = bind_set,
    .submit = submit,
    .wait = wait, /* wait_nothing if the engine's call is synchronous */
    .keep = keep,
    .close = close_session,
};
