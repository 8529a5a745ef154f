/* PyTorch eager, TorchScript and torch.compile through Python (workers/engine_torch.py). */
#include "backends.h"

static void describe(struct ctx *ctx, const char *engine_path, struct backend_info *out) {
  describe_environment(ctx, "torch", "torch", engine_path, out);
}

const struct backend backend_torch = {
    .name = "torch",
    .title = "PyTorch",
    .formats = "onnx",
    .package = "torch==2.15.0 onnx2torch==1.5.15 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 6000,
    .worker = "engine_torch.py",
    .describe = describe,
    .open = open_elsewhere,
    .close = close_elsewhere,
};
