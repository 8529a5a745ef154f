/* PlaidML 0.7 through Python (workers/engine_plaidml.py). hone writes the operators in PlaidML's
 * Tile language.
 */
#include "backends.h"

const struct backend backend_plaidml = {
    .name = "plaidml",
    .title = "PlaidML",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "plaidml==0.7.0 cffi==2.0.0 six==1.17.0 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 300,
    .worker = "engine_plaidml.py",
    .distribution = "plaidml",
    .traits = {"CPUs by LLVM, OpenCL GPUs", "Tile language", "Tile, Stripe", "polyhedral tiling",
               "fp32 fp16"},
    .describe = describe_environment,
};
