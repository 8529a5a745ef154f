/* hone zoo: the built-in models. */
#include "cli.h"

static int list(void) {
  for (size_t i = 0; i < zoo_model_count; i++) {
    char parameters[32];
    format_count(parameters, (double)zoo_models[i].parameter_count);
    printf("zoo:%-20s %-28s %8s parameters  %s\n", zoo_models[i].name, zoo_models[i].default_spec,
           parameters, zoo_models[i].summary);
  }
  return 0;
}

static hone_status write_model(struct ctx *ctx, const char *name, const char *path) {
  size_t length = strlen(path);
  if (strcmp(path, "-")) {
    if (length < 6 || strcmp(path + length - 5, ".onnx"))
      return fail(ctx, HONE_E_USAGE, place_name(path), "a model is written as FILE.onnx");
    TRY(output_check(ctx, path, OUTPUT_ONNX, NULL, 0));
  }
  char spec[512];
  struct arena *arena;
  struct graph *graph;
  struct text bytes = {0};
  struct open_dimensions open;
  snprintf(spec, sizeof spec, "%s%s", zoo_is_spec(name) ? "" : "zoo:", name);
  TRY(arena_create(ctx, (size_t)usable_ram_bytes(), &arena));
  hone_status status = zoo_build(ctx, arena, spec, &graph, &open);
  if (!status) status = graph_infer(ctx, graph);
  if (!status && strcmp(path, "-")) {
    status = export_onnx_file(ctx, graph, &open, path, 0644);
  } else if (!status) {
    status = export_onnx_open(ctx, graph, export_opset(graph), &open, &bytes);
    if (!status) status = write_output(ctx, path, &bytes);
  }
  text_deinit(&bytes);
  arena_destroy(arena);
  return status;
}

int verb_zoo(struct ctx *ctx, struct args *args) {
  bool lists = !args->word_count || (args->word_count == 1 && !strcmp(args->words[0], "list"));
  if (lists && !has(args, FLAG_output)) return list();
  if (args->word_count != 2 || strcmp(args->words[0], "write"))
    REFUSE(ctx, HONE_E_USAGE, place_none(),
           "'hone zoo list' or 'hone zoo write NAME -o FILE.onnx'");
  else if (!has(args, FLAG_output))
    REFUSE(ctx, HONE_E_USAGE, place_none(), "-o FILE.onnx is missing");
  else if (!write_model(ctx, args->words[1], args->values[FLAG_output]))
    return 0;
  return report_failure(ctx);
}
