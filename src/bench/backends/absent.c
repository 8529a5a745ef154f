/* Engines that hone does not support: one line each with the reason and what is needed to run them.
 * A row of a study reports the same as `hone backends`.
 */
#include "backends.h"

#define ABSENT(id, title_text, needs, ...)                                                         \
  static void describe_##id(struct ctx *ctx, const struct backend *backend,                        \
                            const char *engine_path, struct backend_info *out) {                   \
    (void)ctx, (void)backend, (void)engine_path;                                                   \
    out->status = BACKEND_UNSUPPORTED;                                                             \
    snprintf(out->reason, sizeof out->reason, "%s", needs);                                        \
  }                                                                                                \
  static hone_status open_##id(struct ctx *ctx, struct session *session,                           \
                               const struct backend_request *request, struct backend_facts *facts, \
                               struct backend_io *out_io) {                                        \
    (void)session, (void)request, (void)facts, (void)out_io;                                       \
    return fail(ctx, HONE_E_UNSUP, place_name(#id), "%s", needs);                                  \
  }                                                                                                \
  const struct backend backend_##id = {.name = #id,                                                \
                                       .title = title_text,                                        \
                                       .formats = "onnx",                                          \
                                       .is_absent = true,                                          \
                                       .traits = {__VA_ARGS__},                                    \
                                       .describe = describe_##id,                                  \
                                       .open = open_##id,                                          \
                                       .close = close_nothing}

static void close_nothing(struct session *session) { (void)session; }

ABSENT(onnxmlir, "onnx-mlir",
       "onnx-mlir has no package and is built from source with LLVM; it needs such a build "
       "and a worker in workers/",
       "CPUs by LLVM, IBM z accelerators", "ONNX", "MLIR: onnx, krnl, affine",
       "shape inference, loop tiling, SIMD", "fp32 fp16 int8");
ABSENT(
    torchxla, "PyTorch/XLA",
    "torch-xla's last release, 2.9.0, loads into torch 2.9.0 alone, and hone's PyTorch is 2.15.0; "
    "it runs with an environment of those two and a worker in workers/. PyTorch's models reach XLA "
    "as ONNX, by torch-mlir or by hone's StableHLO: --backend xla --route onnx,stablehlo-hone",
    "TPUs, CPUs, GPUs by PJRT", "PyTorch by torch-xla", "lazy tensors, StableHLO",
    "XLA's: fusion, layout, buffer reuse", "fp32 bf16 fp16 int8");
