/* native: compiles an ONNX model to a shared library and runs it, for the conformance suite.
 *
 *   native [--shape "x[1,3],y[2]"] MODEL OUTPUT_PREFIX [INPUT.npy ...]
 *
 * As tests/tools/reference.c, but through the public API: generated C, C compiler, artifact. */
#include <stdlib.h>

#include "core/os/os.h"
#include "core/base/base.h"

enum { VALUES_MAX = 64 };

struct session {
  hone_model *model;
  hone_artifact *artifact;
  char folder[4096];
  size_t input_count, output_count;
  hone_tensor inputs[VALUES_MAX], outputs[VALUES_MAX];
};

/* Room for output k of the model. */
static hone_status prepare_output(struct ctx *ctx, const struct session *s, size_t k,
                                  hone_tensor *out) {
  const char *name;
  TRY(hone_model_output(s->model, k, &name, out));
  size_t bytes = out->dtype == HONE_STRING ? 8 * sizeof(hone_string) : dtype_bits(out->dtype);
  for (int i = 0; i < out->rank; i++)
    if (!checked_mul(bytes, (size_t)out->shape[i], &bytes))
      return fail(ctx, HONE_E_LIMIT, place_none(), "output %zu is too large", k);
  bytes = bytes / 8 + 1;
  out->data = aligned_alloc(64, (bytes + 64) / 64 * 64);
  return out->data ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "%zu bytes", bytes);
}

static hone_status run(struct ctx *ctx, struct session *s, const char *shapes, int count,
                       char **arguments) {
  const hone_load_options load = {.shapes = shapes};
  char path[4200];
  TRY(dir_temporary(ctx, s->folder));
  snprintf(path, sizeof path, "%s/model.so", s->folder);
  TRY(hone_model_load(ctx, arguments[0], &load, &s->model));
  s->input_count = hone_model_input_count(s->model);
  s->output_count = hone_model_output_count(s->model);
  if ((size_t)count != s->input_count + 2 || s->input_count > VALUES_MAX ||
      s->output_count > VALUES_MAX)
    return fail(ctx, HONE_E_USAGE, place_none(), "%d inputs given, the model has %zu", count - 2,
                s->input_count);
  TRY(hone_model_compile(ctx, s->model, NULL, path));
  TRY(hone_artifact_open(ctx, path, 1, &s->artifact));
  for (size_t k = 0; k < s->input_count; k++) {
    hone_tensor expect;
    const char *name;
    TRY(hone_model_input(s->model, k, &name, &expect));
    TRY(npy_read(ctx, arguments[k + 2], &expect, &s->inputs[k]));
  }
  for (size_t k = 0; k < s->output_count; k++) TRY(prepare_output(ctx, s, k, &s->outputs[k]));
  TRY(hone_artifact_run(ctx, s->artifact, s->inputs, s->input_count, s->outputs, s->output_count));
  for (size_t k = 0; k < s->output_count; k++) {
    TRY(hone_artifact_output_shape(s->artifact, k, s->outputs[k].shape));
    snprintf(path, sizeof path, "%s%zu.npy", arguments[1], k);
    TRY(npy_write(ctx, path, &s->outputs[k]));
    const char *name;
    hone_tensor info;
    TRY(hone_model_output(s->model, k, &name, &info));
    puts(name);
  }
  return HONE_OK;
}

static void end(struct session *s) {
  for (size_t k = 0; k < VALUES_MAX; k++) free(s->inputs[k].data), free(s->outputs[k].data);
  if (s->artifact) hone_artifact_close(s->artifact);
  if (s->model) hone_model_destroy(s->model);
  if (s->folder[0]) dir_remove_tree(s->folder);
}

int main(int count, char **arguments) {
  static struct ctx ctx;
  static struct session session;
  bool has_shapes = count > 2 && strcmp(arguments[1], "--shape") == 0;
  int first = has_shapes ? 3 : 1;
  ctx_init(&ctx);
  if (count < first + 2) {
    fputs("usage: native [--shape SHAPES] MODEL OUTPUT_PREFIX [INPUT.npy ...]\n", stderr);
    return 2;
  }
  hone_status status =
      run(&ctx, &session, has_shapes ? arguments[2] : NULL, count - first, arguments + first);
  if (status) fprintf(stderr, "%s\n", ctx.message);
  end(&session);
  return status_exit_code(status);
}
