/* ONNX Runtime GenAI through Python (workers/engine_onnxruntimegenai.py). */
#include "backends.h"

const struct backend backend_onnxruntimegenai = {
    .name = "onnxruntimegenai",
    .title = "ONNX Runtime GenAI",
    .routes = "gguf",
    .formats = "gguf",
    .package = "onnxruntime-genai==0.18.0 onnxruntime==1.32.0 numpy==2.4.6",
    .package_mb = 150,
    .worker = "engine_onnxruntimegenai.py",
    .distribution = "onnxruntime-genai",
    .grows = true,
    .only_installed = true,
    .traits = {"x86-64 and ARM CPUs, GPUs and NPUs by execution providers",
               "ONNX folders of its model builder; GGUF by hone export", "ONNX graph with caches",
               "4 and 8-bit weights in blocks, int8 activations", "fp32 fp16 bf16 int8 int4"},
    .describe = describe_environment,
};
