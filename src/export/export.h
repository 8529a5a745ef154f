/* export: graph to what other engines read: ONNX, StableHLO. */
#ifndef HONE_EXPORT_H
#define HONE_EXPORT_H

#include "../ops/ops.h"

/* Serialises to ONNX ModelProto bytes (ir_version 8, the given opset). Fused programs are written
   out as nodes again. Above 2 GiB: E_LIMIT. The same graph gives the same bytes. */
MUST_USE hone_status export_onnx(struct ctx *ctx, const struct graph *graph, int opset,
                                 struct text *out_bytes);
/* The same with these dimensions of inputs and outputs as names. */
MUST_USE hone_status export_onnx_open(struct ctx *ctx, const struct graph *graph, int opset,
                                      const struct open_dimensions *open, struct text *out_bytes);
/* The oldest opset from 17 on that can say what the graph says: 17 is what every engine reads; types of 4 bits and
   scales by block need 21, an operator the opset that brought it. */
int export_opset(const struct graph *graph);
/* One function @main in StableHLO's generic form, over the graph's inputs and outputs in their order; weights
   stand inside. Shapes must be fixed. E_UNSUP names the operator that has no rule. */
MUST_USE hone_status export_stablehlo(struct ctx *ctx, const struct graph *graph, struct text *out);
#endif
