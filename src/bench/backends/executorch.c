/* ExecuTorch with XNNPACK through its Python runtime (workers/engine_executorch.py). */
#include "backends.h"

static const struct backend_variant variants[] = {
    {"portable", "partitioner=none", "its portable kernels, without XNNPACK"}, {NULL, NULL, NULL}};

const struct backend backend_executorch = {
    .name = "executorch",
    .title = "ExecuTorch",
    .routes = "onnx onnx-hone",
    .formats = "onnx pt2",
    .package =
        "torch==2.15.0 onnx2torch==1.5.15 torchvision==0.29.2 pillow==13.0.0 torchao==0.18.0 "
        "pandas==3.1.1 "
        "flatbuffers==25.12.19 pyyaml==6.0.3 ruamel.yaml==0.19.1 tabulate==0.10.0 onnx==1.23.2 "
        "numpy==2.4.6",
    .package_alone = "executorch==1.5.1", /* requires hydra-core, whose antlr4 has no wheel */
    .package_mb = 6500,
    .worker = "engine_executorch.py",
    .distribution = "executorch",
    .traits = {"mobile CPUs (XNNPACK), mobile GPUs and NPUs",
               "PT2 by torch.export, ONNX by onnx2torch", "Edge dialect, .pte",
               "XNNPACK delegate, memory planning ahead of time", "fp32 fp16 int8 int4-weights"},
    .variants = variants,
    .describe = describe_environment,
};
