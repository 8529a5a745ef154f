/* hone export: a model in another form, for other engines: ONNX, StableHLO. */
#include "cli.h"

#include "../passes/passes.h"

static hone_status put_onnx(struct ctx *ctx, struct graph *graph, struct text *out) {
  return export_onnx(ctx, graph, export_opset(graph), out);
}

/* Operators made of others are taken apart and constants folded, as the compiler does first. */
static hone_status put_stablehlo(struct ctx *ctx, struct graph *graph, struct text *out) {
  static const char *const passes[] = {"lower-composites", "fold-constants", "eliminate-dead-code"};
  for (size_t i = 0; i < COUNT(passes); i++) {
    const struct pass *pass = pass_find(passes[i]);
    size_t changes = 0;
    if (!pass) return fail(ctx, HONE_E_INTERNAL, place_name(passes[i]), "no such pass");
    TRY(pass->run(ctx, graph, &changes));
  }
  return export_stablehlo(ctx, graph, out);
}

static const struct form {
  const char *ending;
  enum output_kind kind;
  hone_status (*put)(struct ctx *ctx, struct graph *graph, struct text *out);
} forms[] = {{".onnx", OUTPUT_ONNX, put_onnx}, {".mlir", OUTPUT_MLIR, put_stablehlo}};

static const struct form *form_of(const char *path) {
  const size_t n = strlen(path);
  for (size_t i = 0; i < COUNT(forms); i++) {
    const size_t m = strlen(forms[i].ending);
    if (n > m && !strcmp(path + n - m, forms[i].ending)) return &forms[i];
  }
  return NULL;
}

static hone_status export(struct ctx *ctx, const struct args *args) {
  const char *path, *output = value_of(args, FLAG_output, NULL);
  struct model model;
  struct inputs_seen inputs;
  struct text text = {0};
  TRY(one_word(ctx, args, "model", &path));
  if (!output || !form_of(output))
    return fail(ctx, HONE_E_USAGE, place_name(output ? output : "-o"),
                "-o FILE.onnx or FILE.mlir (StableHLO) says in which form");
  inputs_of_command(args, &inputs);
  TRY(output_check(ctx, output, form_of(output)->kind, inputs.at, inputs.count));
  TRY(load_model(ctx, args, path, &model));
  inputs_of_model(&model, &inputs);
  hone_status status = output_check(ctx, output, form_of(output)->kind, inputs.at, inputs.count);
  if (!status) status = about_model(ctx, form_of(output)->put(ctx, model.graph, &text));
  if (!status) status = write_output(ctx, output, &text);
  text_deinit(&text);
  model_unload(&model);
  return status;
}

int verb_export(struct ctx *ctx, struct args *args) {
  return export(ctx, args) ? report_failure(ctx) : 0;
}
