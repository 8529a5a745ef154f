/* The formats in which a graph can be exported. */
#include "export.h"

static hone_status put_onnx(struct ctx *ctx, const struct graph *graph, struct strbuf *out) {
  return export_onnx(ctx, graph, export_opset(graph), out);
}

static const char *const no_passes[] = {NULL};
/* Composites are expanded and constants folded, as in the compiler. */
static const char *const stablehlo_passes[] = {"lower-composites", "fold-all-constants",
                                               "eliminate-dead-code", NULL};
/* As in files of TensorFlow's converter: arithmetic in f32, batch normalisation folded into the
 * weights, int8 between DequantizeLinear and QuantizeLinear. */
static const char *const tflite_passes[] = {"lower-composites",
                                            "widen-types",
                                            "move-bytes",
                                            "sign-bytes",
                                            "fold-but-weights",
                                            "fold-identity",
                                            "eliminate-common-subexpressions",
                                            "eliminate-dead-code",
                                            "recognise-layernorm",
                                            "recognise-gelu",
                                            "reduce-strength",
                                            "normalise-gemm",
                                            "fold-batchnorm",
                                            "merge-reshapes",
                                            "fold-but-weights",
                                            "eliminate-dead-code",
                                            NULL};

const struct export_form export_forms[] = {
    {"onnx", ".onnx", OUTPUT_ONNX, no_passes, put_onnx},
    {"stablehlo", ".mlir", OUTPUT_MLIR, stablehlo_passes, export_stablehlo},
    {"tflite", ".tflite", OUTPUT_TFLITE, tflite_passes, export_tflite}};
const size_t export_form_count = COUNT(export_forms);

const struct export_form *export_form_of(const char *path) {
  const size_t n = strlen(path);
  for (size_t i = 0; i < export_form_count; i++) {
    const size_t m = strlen(export_forms[i].ending);
    if (n > m && !strcmp(path + n - m, export_forms[i].ending)) return &export_forms[i];
  }
  return NULL;
}
