/* IREE through its Python packages (workers/engine_iree.py), which have no C library to load. */
#include "backends.h"

static const struct backend_variant variants[] = {
    {"local-sync", "device=local-sync", "in the caller's thread, without a pool"},
    {"local-task", "device=local-task", "with its thread pool, for one thread too"},
    {"untiled", "data_tiling=0", "without data tiling"},
    {"cuda", "target=cuda", "compiled for CUDA; needs such a device"},
    {"rocm", "target=rocm", "compiled for ROCm; needs such a device"},
    {"vulkan", "target=vulkan", "compiled for Vulkan; needs such a device"},
    {NULL, NULL, NULL}};

const struct backend backend_iree = {
    .name = "iree",
    .title = "IREE",
    .routes = "onnx onnx-hone stablehlo-hone",
    .formats = "onnx",
    .package = "iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 620,
    .worker = "engine_iree.py",
    .grows = true,
    .distribution = "iree_base_runtime",
    .traits = {"CPUs by LLVM, CUDA, ROCm, Vulkan, Metal", "ONNX, StableHLO, TOSA, torch-mlir",
               "MLIR: linalg, flow, stream, vm",
               "dispatch formation, tiling, data tiling, microkernels, vectorising",
               "fp32 fp16 bf16 int8"},
    .variants = variants,
    .describe = describe_environment,
};
