/* null: the template of a backend, and the empty engine of the tests. It takes a model with one
 * input and one output of the same size, given by the request's shapes ("x[4]"), and copies one to
 * the other: right for the identity model only. To add a backend, copy this file, fill the seven
 * functions, and add a row to backends.def.
 */
#include "backends.h"

#include <stdlib.h>

struct session {
  struct {
    const void *input;
    void *output;
  } sets[BACKEND_MAX_SETS];
  size_t bytes;
};

/* Loads the engine's library if there is one, and says its version or what is missing. */
static void describe(struct ctx *ctx, const char *engine_path, struct backend_info *out) {
  (void)ctx, (void)engine_path;
  out->status = BACKEND_READY;
  snprintf(out->version, sizeof out->version, "%s", HONE_VERSION);
}

/* Writes what can be loaded again into request->work_dir. */
static hone_status prepare(struct ctx *ctx, const struct backend_request *request,
                           struct backend_facts *facts) {
  (void)ctx, (void)request, (void)facts;
  return HONE_OK;
}

/* Loads it and reads back what the engine really does: facts, inputs, outputs. */
static hone_status open_session(struct ctx *ctx, const struct backend_request *request,
                                struct session **out, struct backend_facts *facts,
                                struct backend_io *out_io) {
  TRY(backend_io_create(ctx, 1, 1, out_io));
  struct backend_tensor *x = &out_io->inputs[0];
  snprintf(x->name, sizeof x->name, "x");
  x->info = (hone_tensor){.dtype = HONE_F32, .rank = 1, .shape = {1}};
  shapes_find(request->shapes, "x", &x->info.rank, x->info.shape);
  out_io->outputs[0] = *x;
  snprintf(out_io->outputs[0].name, sizeof x->name, "y");
  struct session *s = calloc(1, sizeof *s);
  hone_status status = s ? tensor_bytes(ctx, "x", &x->info, &s->bytes)
                         : fail(ctx, HONE_E_OOM, place_none(), "no memory for a session");
  if (status) {
    free(s);
    backend_io_destroy(out_io);
    return status;
  }
  snprintf(facts->version, sizeof facts->version, "%s", HONE_VERSION);
  snprintf(facts->device, sizeof facts->device, "cpu");
  snprintf(facts->precision, sizeof facts->precision, "%s", request->precision);
  facts->threads = 1;
  facts->fallback_share = 0;
  facts->flags = FLAG_MASK(synthetic);
  *out = s;
  return HONE_OK;
}

/* Everything that a call needs is made here, outside the timed loop. */
static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  (void)ctx;
  s->sets[set].input = inputs[0].data;
  s->sets[set].output = outputs[0].data;
  return HONE_OK;
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  (void)ctx;
  memcpy(s->sets[set].output, s->sets[set].input, s->bytes);
  return HONE_OK;
}

/* Returns when the outputs of the last submit can be read by the host. */
static hone_status wait_done(struct ctx *ctx, struct session *s) {
  (void)ctx, (void)s;
  return HONE_OK;
}

static void close_session(struct session *s) { free(s); }

const struct backend backend_null = {
    .name = "null",
    .title = "null",
    .formats = "onnx",
    .testing_only = true,
    .describe = describe,
    .prepare = prepare,
    .open = open_session,
    .bind = bind_set,
    .submit = submit,
    .wait = wait_done,
    .close = close_session,
};
