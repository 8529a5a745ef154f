/* llama.cpp through Python: a prebuilt wheel (workers/engine_llamacpp.py), and compiled for this processor by pip
 * (workers/engine_llamacppbuilt.py). */
#include "backends.h"

/* Of both. */
#define TRAITS                                                                       \
  {                                                                                  \
    "CPUs, NVIDIA, AMD and Apple GPUs, Vulkan", "GGUF; others by its converters",    \
        "ggml graph, GGUF blocks", "repacked weights, int8 activations, f16 caches", \
        "fp32 fp16 bf16 and 1.5 to 8 bits per weight"                                \
  }

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
    .traits = TRAITS,
    .describe = describe_environment,
};

const struct backend backend_llamacppbuilt = {
    .name = "llamacppbuilt",
    .title = "llama.cpp, built here",
    .routes = "gguf",
    .formats = "gguf",
    .package = "llama-cpp-python==0.3.36 numpy==2.4.6",
    .package_mb = 400,
    .from_source = "llama-cpp-python", /* PyPI has no wheel */
    .worker = "engine_llamacppbuilt.py",
    .distribution = "llama-cpp-python",
    .grows = true,
    .ships_model = true,
    .only_installed = true,
    .traits = TRAITS,
    .describe = describe_environment,
};
