/* Vitis AI through AMD's build of ONNX Runtime (workers/engine_vitisai.py): AMD's NPUs and FPGAs.
 * It is part of AMD's Ryzen AI software, so the user must provide the environment.
 */
#include "backends.h"

static const struct backend_device npu = {
    "/dev/accel/accel0", "an AMD NPU",
    "--engine vitisai=DIR, DIR/bin/python with Ryzen AI's onnxruntime, onnx and numpy"};

const struct backend backend_vitisai = {
    .name = "vitisai",
    .title = "Vitis AI",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .worker = "engine_vitisai.py",
    .device = &npu,
    .traits = {"AMD NPUs and FPGAs", "ONNX by ONNX Runtime", "XIR",
               "subgraphs compiled for the NPU", "bf16 int8"},
    .describe = describe_environment,
};
