/* llama.cpp through Python (workers/engine_llamacpp.py). */
#include "backends.h"

const struct backend backend_llamacpp = {
    .name = "llamacpp",
    .title = "llama.cpp",
    .routes = "gguf",
    .formats = "gguf",
    .package = "xllamacpp==2026.10.11549 numpy==2.4.6",
    .package_mb = 210,
    .worker = "engine_llamacpp.py",
    .distribution = "xllamacpp",
    .grows = true,
    .ships_model = true,
    .only_installed = true,
    .traits = {"CPUs, NVIDIA, AMD and Apple GPUs, Vulkan", "GGUF; others by its converters",
               "ggml graph, GGUF blocks", "repacked weights, int8 activations, f16 caches",
               "fp32 fp16 bf16 and 1.5 to 8 bits per weight"},
    .describe = describe_environment,
};
