/* MNN through Python (workers/engine_mnn.py). */
#include "backends.h"

const struct backend backend_mnn = {
    .name = "mnn",
    .title = "MNN",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "MNN==3.6.1 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 300,
    .worker = "engine_mnn.py",
    .grows = true,
    .distribution = "MNN",
    .traits = {"ARM and x86-64 CPUs, OpenCL, Vulkan, Metal, CUDA",
               "ONNX, TFLite, Caffe, Torch by MNNConvert", "MNN flatbuffer, geometry operators",
               "geometry computing, Winograd, Strassen, fusion, memory reuse",
               "fp32 fp16 bf16 int8"},
    .describe = describe_environment,
};
