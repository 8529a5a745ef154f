/* zoo_export: writes a model of the zoo as ONNX, for the check of the zoo by another engine.
 *
 *   zoo_export SPEC OPSET FILE       prints "NAME PUBLISHED_PARAMETERS"
 *   zoo_export                       prints the names of all models and their parameters */
#include <stdlib.h>

#include "zoo/zoo.h"
#include "compiler/export/export.h"

static hone_status write_model(struct ctx *ctx, struct arena *arena, char **arguments) {
  struct graph *graph;
  struct strbuf bytes = {0};
  int64_t opset;
  if (!parse_i64(arguments[1], 0, 1000, &opset))
    return fail(ctx, HONE_E_USAGE, place_none(), "OPSET must be a number");
  TRY(zoo_build(ctx, arena, arguments[0], &graph, NULL));
  hone_status status = export_onnx(ctx, graph, (int)opset, &bytes);
  if (!status) status = file_write_atomic(ctx, arguments[2], bytes.at, bytes.length, 0644);
  strbuf_deinit(&bytes);
  TRY(status);
  for (size_t i = 0; i < zoo_model_count; i++)
    if (!strcmp(zoo_models[i].name, graph->name))
      printf("%s %lld\n", graph->name, (long long)zoo_models[i].parameter_count);
  return HONE_OK;
}

int main(int count, char **arguments) {
  struct ctx ctx;
  struct arena *arena = NULL;
  ctx_init(&ctx);
  if (count == 1) {
    for (size_t i = 0; i < zoo_model_count; i++)
      printf("%s %lld\n", zoo_models[i].name, (long long)zoo_models[i].parameter_count);
    return 0;
  }
  if (count != 4) return status_exit_code(HONE_E_USAGE);
  hone_status status = arena_create(&ctx, 0, &arena);
  if (!status) status = write_model(&ctx, arena, arguments + 1);
  if (status) fprintf(stderr, "%s\n", ctx.message);
  arena_destroy(arena);
  return status ? status_exit_code(status) : 0;
}
