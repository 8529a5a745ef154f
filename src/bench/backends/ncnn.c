/* ncnn through Python (workers/engine_ncnn.py). */
#include "backends.h"

const struct backend backend_ncnn = {
    .name = "ncnn",
    .title = "ncnn",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "ncnn==1.0.20261020 onnx==1.23.2 numpy==2.4.6",
    .package_alone = "pnnx==20261020", /* requires torch, which its program does not use */
    .package_mb = 300,
    .worker = "engine_ncnn.py",
    .distribution = "ncnn",
    .traits = {"ARM and x86-64 CPUs, Vulkan", "ncnn param and bin, ONNX and PT by pnnx",
               "pnnx graph, ncnn layers",
               "fusion by pnnx, packed layouts, Winograd, fp16 and bf16 storage",
               "fp32 fp16 bf16 int8"},
    .describe = describe_environment,
};
