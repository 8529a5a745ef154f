/* PyTorch eager, TorchScript and torch.compile through Python (workers/engine_torch.py). */
#include "backends.h"

static const struct backend_variant variants[] = {
    {"eager", "mode=eager", "eager: operator by operator from Python"},
    {"jit", "mode=script", "TorchScript: traced, frozen"},
    {"compile", "mode=compile", "torch.compile with Inductor and freezing"},
    {"aoti", "mode=aoti",
     "AOTInductor: exported, compiled to a library, called through its C interface"},
    {"autotune", "mode=compile;max_autotune=1", "Inductor with autotuning"},
    {NULL, NULL, NULL}};

const struct backend backend_torch = {
    .name = "torch",
    .title = "PyTorch",
    .routes = "onnx onnx-hone",
    .formats = "onnx pt2",
    .package = "torch==2.15.0 onnx2torch==1.5.15 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 6000,
    .worker = "engine_torch.py",
    .grows = true,
    .holds_with = "mode=script mode=compile mode=aoti",
    .distribution = "torch",
    .traits = {"CPUs, CUDA, ROCm, XPU, MPS", "Python modules, PT2, ONNX by onnx2torch",
               "TorchScript, FX, Inductor loops",
               "oneDNN kernels; script: freezing and fusion; compile: Inductor C++ with "
               "vectorising, freezing, max-autotune",
               "fp32 bf16 fp16 int8"},
    .variants = variants,
    .describe = describe_environment,
};
