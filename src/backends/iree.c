/* IREE through its Python packages (workers/engine_iree.py): the runtime has no C library to load. */
#include "backends.h"

static void describe(struct ctx *ctx, const char *engine_path, struct backend_info *out) {
  describe_environment(ctx, "iree", "iree_base_runtime", engine_path, out);
}

const struct backend backend_iree = {
    .name = "iree",
    .title = "IREE",
    .formats = "onnx",
    .package = "iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 onnx==1.23.2 numpy==2.4.6",
    .package_mb = 620,
    .worker = "engine_iree.py",
    .describe = describe,
    .open = open_elsewhere,
    .close = close_elsewhere,
};
