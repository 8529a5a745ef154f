/* OpenVINO GenAI through Python (workers/engine_openvinogenai.py). */
#include "backends.h"

const struct backend backend_openvinogenai = {
    .name = "openvinogenai",
    .title = "OpenVINO GenAI",
    .routes = "gguf",
    .formats = "gguf",
    .package = "openvino-genai==2026.4.1.0 numpy==2.4.6",
    .package_mb = 350,
    .worker = "engine_openvinogenai.py",
    .distribution = "openvino-genai",
    .grows = true,
    .ships_model = true,
    .only_installed = true,
    .traits = {"x86-64 and ARM CPUs, Intel GPUs and NPUs", "GGUF, OpenVINO IR",
               "OpenVINO graph with a tokeniser", "those of OpenVINO, continuous batching",
               "fp32 fp16 bf16 int8 int4"},
    .describe = describe_environment,
};
