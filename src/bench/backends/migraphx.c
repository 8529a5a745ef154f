/* MIGraphX through ROCm's Python module (workers/engine_migraphx.py): AMD's GPUs. PyPI's packages
 * of that name are placeholders, so the user must provide the environment.
 */
#include "backends.h"

static const struct backend_device gpu = {
    "/dev/kfd", "an AMD GPU",
    "--engine migraphx=DIR, DIR/bin/python with ROCm's migraphx, onnx and numpy"};

const struct backend backend_migraphx = {
    .name = "migraphx",
    .title = "MIGraphX",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .worker = "engine_migraphx.py",
    .device = &gpu,
    .traits = {"AMD GPUs", "ONNX", "MIGraphX program, MLIR", "fusion, rocMLIR kernels, tuning",
               "fp32 fp16 bf16 fp8 int8"},
    .describe = describe_environment,
};
