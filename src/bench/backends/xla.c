/* XLA through jaxlib's CPU client (workers/engine_xla.py). torch-mlir converts ONNX files to
 * StableHLO.
 */
#include "backends.h"

const struct backend backend_xla = {
    .name = "xla",
    .title = "XLA",
    .routes = "onnx onnx-hone stablehlo-hone",
    .formats = "onnx",
    .package = "jax==0.10.2 jaxlib==0.10.2 torch-mlir==20261001 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 920,
    .worker = "engine_xla.py",
    .distribution = "jaxlib",
    .traits = {"CPUs, GPUs, TPUs by PJRT", "StableHLO (JAX, torch-mlir, hone)",
               "StableHLO, HLO, LLVM IR",
               "fusion, layout assignment, buffer assignment, oneDNN and Eigen contractions",
               "fp32 bf16 fp16 int8"},
    .describe = describe_environment,
};
