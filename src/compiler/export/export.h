/* export: graph to what other engines read: ONNX, StableHLO, TFLite. */
#ifndef HONE_EXPORT_H
#define HONE_EXPORT_H

#include "core/os/os.h"
#include "core/ops/ops.h"

/* Serialises to ONNX ModelProto bytes (ir_version 8, the given opset). Fused programs are written
   out as nodes again. Above 2 GiB: E_LIMIT. The same graph gives the same bytes. */
MUST_USE hone_status export_onnx(struct ctx *ctx, const struct graph *graph, int opset,
                                 struct strbuf *out_bytes);
/* The same with these dimensions of inputs and outputs as names. */
MUST_USE hone_status export_onnx_open(struct ctx *ctx, const struct graph *graph, int opset,
                                      const struct open_dimensions *open, struct strbuf *out_bytes);
/* Weights of more than a page that stand in a file beside the model instead: its name there, and in the order of
   their places what it holds, each part at a multiple of EXPORT_SIDE_ALIGNMENT. The last part marks it as hone's. */
enum { EXPORT_SIDE_ALIGNMENT = 4096 };
struct export_side {
  const char *location;
  struct arena *arena; /* of the list; the bytes stay the graph's */
  struct file_part *at;
  size_t count, capacity, bytes;
};
MUST_USE hone_status export_onnx_side(struct ctx *ctx, const struct graph *graph, int opset,
                                      const struct open_dimensions *open, struct export_side *side,
                                      struct strbuf *out_bytes);
/* Writes PATH, with open dimensions unless `open` is NULL. The weights of a model that is too large for one file stand
   in PATH.data. */
MUST_USE hone_status export_onnx_file(struct ctx *ctx, const struct graph *graph,
                                      const struct open_dimensions *open, const char *path,
                                      unsigned mode);
/* The oldest opset from 17 on that can say what the graph says: 17 is what every engine reads; types of 4 bits and
   scales by block need 21, an operator the opset that brought it. */
int export_opset(const struct graph *graph);
/* One function @main in StableHLO's generic form, over the graph's inputs and outputs in their order; weights
   stand inside. Shapes must be fixed. E_UNSUP names the operator that has no rule. */
MUST_USE hone_status export_stablehlo(struct ctx *ctx, const struct graph *graph,
                                      struct strbuf *out);
/* A TFLite file (schema 3) of one subgraph, weights inside; images have their channels last within it, inputs and
   outputs keep the graph's order and names. Shapes must be fixed. E_UNSUP names the operator that has no rule, E_LIMIT
   above 2 GiB. */
MUST_USE hone_status export_tflite(struct ctx *ctx, const struct graph *graph, struct strbuf *out);

/* -- formats.c: the forms of `hone export` and of the routes NAME-hone */
struct export_form {
  const char *name, *ending; /* "tflite", ".tflite" */
  enum output_kind kind;
  const char *const *passes; /* names of those that the graph goes through first; NULL ends them */
  hone_status (*put)(struct ctx *ctx, const struct graph *graph, struct strbuf *out);
};
extern const struct export_form export_forms[];
extern const size_t export_form_count;
const struct export_form *export_form_of(const char *path); /* by its ending; NULL: none */
#endif
