/* reference: evaluates an ONNX model with the reference evaluator alone, for the conformance suite.
 *
 *   reference [--shape "x[1,3],y[2]"] MODEL OUTPUT_PREFIX [INPUT.npy ...]
 *
 * Inputs are in graph order; output k is written to OUTPUT_PREFIX<k>.npy and its name printed. A
 * failure prints the one sentence and exits with the error's code. */
#include <stdlib.h>

#include "compiler/import/import.h"

struct session {
  struct arena *arena;
  struct model_file file;
  struct graph *graph;
  hone_tensor *inputs, *outputs;
};

static hone_status prepare_output(struct ctx *ctx, const struct value *value, hone_tensor *out) {
  int64_t elements = 0;
  size_t bytes = 0;
  TRY(extent(ctx, place_name(value->name), value->dtype, &value->shape, &elements, &bytes));
  *out = (hone_tensor){.dtype = value->dtype, .rank = value->shape.rank};
  memcpy(out->shape, value->shape.dims, sizeof out->shape);
  out->data = aligned_alloc(64, (bytes + 64) / 64 * 64);
  return out->data ? HONE_OK : fail(ctx, HONE_E_OOM, place_name(value->name), "%zu bytes", bytes);
}

static hone_status run(struct ctx *ctx, struct session *s, const char *shapes, int count,
                       char **arguments) {
  const struct import_options options = {.shapes = shapes};
  TRY(arena_create(ctx, 0, &s->arena));
  TRY(import_model(ctx, s->arena, arguments[0], &options, &s->file, &s->graph));
  if ((size_t)count != s->graph->inputs.count + 2)
    return fail(ctx, HONE_E_USAGE, place_none(), "%d inputs given, the model has %zu", count - 2,
                s->graph->inputs.count);
  TRY(NEW_ARRAY(ctx, s->arena, s->inputs, s->graph->inputs.count));
  TRY(NEW_ARRAY(ctx, s->arena, s->outputs, s->graph->outputs.count));
  for (size_t k = 0; k < s->graph->inputs.count; k++) {
    const hone_tensor expect = {.dtype = s->graph->inputs.at[k]->dtype};
    TRY(npy_read(ctx, arguments[k + 2], &expect, &s->inputs[k]));
  }
  for (size_t k = 0; k < s->graph->outputs.count; k++)
    TRY(prepare_output(ctx, s->graph->outputs.at[k], &s->outputs[k]));
  TRY(reference_run(ctx, s->graph, s->inputs, s->outputs));
  for (size_t k = 0; k < s->graph->outputs.count; k++) {
    const char *path;
    TRY(arena_printf(ctx, s->arena, &path, "%s%zu.npy", arguments[1], k));
    TRY(npy_write(ctx, path, &s->outputs[k]));
    puts(s->graph->outputs.at[k]->name);
  }
  return HONE_OK;
}

static void end(struct session *s) {
  for (size_t k = 0; s->inputs && k < s->graph->inputs.count; k++) free(s->inputs[k].data);
  for (size_t k = 0; s->outputs && k < s->graph->outputs.count; k++) free(s->outputs[k].data);
  model_file_close(&s->file);
  arena_destroy(s->arena);
}

int main(int count, char **arguments) {
  struct ctx ctx;
  struct session session = {0};
  bool has_shapes = count > 2 && strcmp(arguments[1], "--shape") == 0;
  int first = has_shapes ? 3 : 1;
  ctx_init(&ctx);
  if (count < first + 2) {
    fputs("usage: reference [--shape SHAPES] MODEL OUTPUT_PREFIX [INPUT.npy ...]\n", stderr);
    return 2;
  }
  hone_status status =
      run(&ctx, &session, has_shapes ? arguments[2] : NULL, count - first, arguments + first);
  if (status) fprintf(stderr, "%s\n", ctx.message);
  end(&session);
  return status_exit_code(status);
}
