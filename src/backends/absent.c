/* Engines of the field that do not run here: one honest line each, why not and what would make it
 * run. None of them is faked; a row of a study says the same as `hone backends`.
 */
#include "backends.h"

#include <unistd.h>

struct absent {
  const char *device, *title, *needs; /* device NULL: needs is all there is to say */
};
static const struct absent tensorrt = {"/dev/nvidia0", "an NVIDIA GPU", "the tensorrt wheel"};
static const struct absent migraphx = {"/dev/kfd", "an AMD GPU", "ROCm with MIGraphX"};
static const struct absent vitisai = {"/dev/accel/accel0", "an AMD Ryzen AI NPU",
                                      "AMD's Ryzen AI software"};

static const struct absent onnxmlir = {
    NULL, NULL,
    "onnx-mlir comes in no package and is built from source with LLVM; it runs with such a build "
    "and a worker in workers/"};

static const struct absent torchxla = {
    NULL, NULL,
    "torch-xla's last release, 2.9.0, loads into torch 2.9.0 alone, and hone's PyTorch is 2.15.0; "
    "it runs with an "
    "environment of those two and a worker in workers/. PyTorch's models reach XLA as ONNX, by "
    "torch-mlir or by hone's "
    "StableHLO: --backend xla --route onnx,stablehlo-hone"};

static void explain(const struct absent *absent, char *out, size_t size) {
  if (!absent->device) {
    snprintf(out, size, "%s", absent->needs);
    return;
  }
  bool is_here = !access(absent->device, F_OK);
  snprintf(out, size,
           "%s %s (%s); it runs with %s and a worker in workers/, which hone does not "
           "have yet",
           absent->title, is_here ? "is here" : "is not here", absent->device, absent->needs);
}

static void describe_absent(const struct absent *absent, struct backend_info *out) {
  out->status = BACKEND_UNSUPPORTED;
  explain(absent, out->reason, sizeof out->reason);
}

static hone_status refuse(struct ctx *ctx, const struct absent *absent, const char *name) {
  char words[512];
  explain(absent, words, sizeof words);
  return fail(ctx, HONE_E_UNSUP, place_name(name), "%s", words);
}

#define ABSENT(id, name_text, title_text, ...)                                                     \
  static void describe_##id(struct ctx *ctx, const struct backend *backend,                        \
                            const char *engine_path, struct backend_info *out) {                   \
    (void)ctx, (void)backend, (void)engine_path;                                                   \
    describe_absent(&id, out);                                                                     \
  }                                                                                                \
  static hone_status open_##id(struct ctx *ctx, struct session *session,                           \
                               const struct backend_request *request, struct backend_facts *facts, \
                               struct backend_io *out_io) {                                        \
    (void)session, (void)request, (void)facts, (void)out_io;                                       \
    return refuse(ctx, &id, name_text);                                                            \
  }                                                                                                \
  const struct backend backend_##id = {.name = name_text,                                          \
                                       .title = title_text,                                        \
                                       .formats = "onnx",                                          \
                                       .needs_device = true,                                       \
                                       .traits = {__VA_ARGS__},                                    \
                                       .describe = describe_##id,                                  \
                                       .open = open_##id,                                          \
                                       .close = close_elsewhere}
ABSENT(tensorrt, "tensorrt", "TensorRT", "NVIDIA GPUs", "ONNX, Torch-TensorRT",
       "TensorRT network, engine plan", "tactic timing, fusion, precision calibration",
       "fp32 tf32 fp16 bf16 fp8 int8");
ABSENT(migraphx, "migraphx", "MIGraphX", "AMD GPUs", "ONNX", "MIGraphX program, MLIR",
       "fusion, rocMLIR kernels, tuning", "fp32 fp16 bf16 fp8 int8");
ABSENT(vitisai, "vitisai", "Vitis AI", "AMD NPUs and FPGAs", "ONNX by ONNX Runtime", "XIR",
       "subgraphs compiled for the NPU", "bf16 int8");
ABSENT(onnxmlir, "onnxmlir", "onnx-mlir", "CPUs by LLVM, IBM z accelerators", "ONNX",
       "MLIR: onnx, krnl, affine", "shape inference, loop tiling, SIMD", "fp32 fp16 int8");
ABSENT(torchxla, "torchxla", "PyTorch/XLA", "TPUs, CPUs, GPUs by PJRT", "PyTorch by torch-xla",
       "lazy tensors, StableHLO", "XLA's: fusion, layout, buffer reuse", "fp32 bf16 fp16 int8");
