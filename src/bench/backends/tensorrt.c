/* TensorRT and Torch-TensorRT through Python (workers/engine_tensorrt.py and engine_torchtrt.py):
 * NVIDIA's GPUs.
 */
#include "backends.h"

static const struct backend_device gpu = {"/dev/nvidia0", "an NVIDIA GPU", NULL};

#define NO_WHEELS "tensorrt-cu13,tensorrt-cu13-libs" /* they fetch NVIDIA's own */

static const struct backend_variant variants[] = {
    {"tf32", "tf32=1", "f32 matmuls with TF32 on the tensor cores"}, {NULL, NULL, NULL}};

const struct backend backend_tensorrt = {
    .name = "tensorrt",
    .title = "TensorRT",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "tensorrt-cu13==11.4.0.106 cuda-bindings==13.5.0 onnx==1.23.2 numpy==2.4.6",
    .from_source = NO_WHEELS,
    .package_mb = 5000,
    .worker = "engine_tensorrt.py",
    .distribution = "tensorrt_cu13",
    .device = &gpu,
    .traits = {"NVIDIA GPUs", "ONNX, network API", "TensorRT network, engine plan",
               "tactic timing, fusion, tensor cores", "fp32 tf32 fp16 bf16 fp8 int8"},
    .variants = variants,
    .describe = describe_environment,
};

const struct backend backend_torchtrt = {
    .name = "torchtrt",
    .title = "Torch-TensorRT",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "torch==2.14.0 torch-tensorrt==2.14.0 onnx2torch==1.5.15 onnx==1.23.2 numpy==2.4.6",
    .from_source = NO_WHEELS,
    .package_mb = 12000,
    .worker = "engine_torchtrt.py",
    .distribution = "torch_tensorrt",
    .device = &gpu,
    .traits = {"NVIDIA GPUs", "Python modules by torch.export, ONNX by onnx2torch",
               "FX, TensorRT network, engine plan",
               "those of TensorRT; unsupported parts run in PyTorch",
               "fp32 tf32 fp16 bf16 fp8 int8"},
    .variants = variants,
    .describe = describe_environment,
};
