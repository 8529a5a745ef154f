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

static int list_all(struct ctx *ctx, const struct args *args) {
  const int code = list();
  return zoo_dir_list(ctx, args) ? report_failure(ctx) : code;
}

static hone_status write_model(struct ctx *ctx, const char *name, const char *path) {
  size_t length = strlen(path);
  if (strcmp(path, "-")) {
    if (length < 6 || strcmp(path + length - 5, ".onnx"))
      return fail(ctx, HONE_E_USAGE, place_name(path), "give FILE.onnx");
    TRY(output_check(ctx, path, OUTPUT_ONNX, NULL, 0));
  }
  char spec[512];
  struct arena *arena;
  struct graph *graph;
  struct strbuf bytes = {0};
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
  strbuf_deinit(&bytes);
  arena_destroy(arena);
  return status;
}

/* A model of --zoo-dir, else a built-in one. */
static hone_status write_named(struct ctx *ctx, const struct args *args, const char *name,
                               const char *path) {
  bool is_written;
  TRY(zoo_dir_write(ctx, args, name, path, &is_written));
  return is_written ? HONE_OK : write_model(ctx, name, path);
}

int verb_zoo(struct ctx *ctx, struct args *args) {
  bool lists = !args->word_count || (args->word_count == 1 && !strcmp(args->words[0], "list"));
  if (lists && !has(args, FLAG_output)) return list_all(ctx, args);
  if (args->word_count != 2 || strcmp(args->words[0], "write"))
    REFUSE(ctx, HONE_E_USAGE, place_none(),
           "'hone zoo list' or 'hone zoo write NAME -o FILE.onnx'");
  else if (!has(args, FLAG_output))
    REFUSE(ctx, HONE_E_USAGE, place_none(), "-o FILE.onnx is missing");
  else if (!write_named(ctx, args, args->words[1], args->values[FLAG_output]))
    return 0;
  return report_failure(ctx);
}
