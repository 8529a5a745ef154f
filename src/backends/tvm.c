/* TVM through Python (workers/engine_tvm.py): Relax from ONNX. */
#include "backends.h"

static void describe(struct ctx *ctx, const char *engine_path, struct backend_info *out) {
  describe_environment(ctx, "tvm", "apache_tvm", engine_path, out);
}

const struct backend backend_tvm = {
    .name = "tvm",
    .title = "TVM",
    .formats = "onnx",
    .package = "apache-tvm==0.27.0.post1 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 400,
    .worker = "engine_tvm.py",
    .describe = describe,
    .open = open_elsewhere,
    .close = close_elsewhere,
};
