/* export: graph to what other engines read. ONNX now (opset 17 by default, for reach). */
#ifndef HONE_EXPORT_H
#define HONE_EXPORT_H

#include "../ops/ops.h"

/* Serialises to ONNX ModelProto bytes (ir_version 8, the given opset). Fused programs are written
   out as nodes again. Above 2 GiB: E_LIMIT. The same graph gives the same bytes. */
MUST_USE hone_status export_onnx(struct ctx *ctx, const struct graph *graph, int opset,
                                 struct text *out_bytes);
#endif
