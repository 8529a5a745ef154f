/* hone export: converts a model to ONNX, StableHLO, TFLite, or a folder of ONNX Runtime GenAI. */
#include "cli.h"

#include "compiler/generate/generate.h"
#include "compiler/passes/passes.h"

static hone_status export(struct ctx *ctx, const struct args *args) {
  const char *path, *output = value_of(args, FLAG_output, NULL);
  struct model model;
  struct inputs_seen inputs;
  struct strbuf text = {0};
  TRY(one_word(ctx, args, "model", &path));
  if (output && *output && output[strlen(output) - 1] == '/')
    return about_model(ctx, export_genai(ctx, path, output));
  const struct export_form *form = output ? export_form_of(output) : NULL;
  if (!form)
    return fail(ctx, HONE_E_USAGE, place_name(output ? output : "-o"),
                "give -o FILE.onnx, FILE.mlir (StableHLO), FILE.tflite, or FOLDER/ (ONNX Runtime "
                "GenAI, from GGUF)");
  inputs_of_command(args, &inputs);
  TRY(output_check(ctx, output, form->kind, inputs.at, inputs.count));
  TRY(load_model(ctx, args, path, &model));
  inputs_of_model(&model, &inputs);
  hone_status status = output_check(ctx, output, form->kind, inputs.at, inputs.count);
  if (!status) status = about_model(ctx, passes_run_named(ctx, model.graph, form->passes));
  if (!status) status = about_model(ctx, form->put(ctx, model.graph, &text));
  if (!status) status = write_output(ctx, output, &text);
  strbuf_deinit(&text);
  model_unload(&model);
  return status;
}

int verb_export(struct ctx *ctx, struct args *args) {
  return export(ctx, args) ? report_failure(ctx) : 0;
}
