/* TVM through Python (workers/engine_tvm.py): Relax from ONNX. */
#include "backends.h"

static const struct backend_variant variants[] = {
    {"tuned", "trials=64", "MetaSchedule with 64 trials"}, {NULL, NULL, NULL}};

const struct backend backend_tvm = {
    .name = "tvm",
    .title = "TVM",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "apache-tvm==0.27.0.post1 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 400,
    .worker = "engine_tvm.py",
    .distribution = "apache_tvm",
    .traits = {"CPUs by LLVM, CUDA, ROCm, Vulkan, Metal, microcontrollers", "ONNX, PyTorch, TFLite",
               "Relax, TensorIR",
               "operator fusion, constant folding, schedules; MetaSchedule by search",
               "fp32 fp16 bf16 int8"},
    .variants = variants,
    .describe = describe_environment,
};
