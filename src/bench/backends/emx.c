/* emx-onnx-cgen through Python (workers/engine_emx.py). */
#include "backends.h"

const struct backend backend_emx = {
    .name = "emx",
    .title = "emx-onnx-cgen",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "emx-onnx-cgen==1.4.0 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 240,
    .worker = "engine_emx.py",
    .distribution = "emx_onnx_cgen",
    .traits = {"any with a C compiler", "ONNX", "C text", "those of the C compiler",
               "fp32 fp16 int8"},
    .describe = describe_environment,
};
