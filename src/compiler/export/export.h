/* export: writes a graph in formats for other engines: ONNX, StableHLO, TFLite. */
#ifndef HONE_EXPORT_H
#define HONE_EXPORT_H

#include "core/os/os.h"
#include "core/ops/ops.h"

/* Serialises to ONNX ModelProto bytes (ir_version 8, the given opset). Fused programs are expanded
 * to nodes again. Above 2 GiB: E_LIMIT. The same graph gives the same bytes. */
MUST_USE hone_status export_onnx(struct ctx *ctx, const struct graph *graph, int opset,
                                 struct strbuf *out_bytes);
/* The same with these dimensions of inputs and outputs as symbolic names. */
MUST_USE hone_status export_onnx_open(struct ctx *ctx, const struct graph *graph, int opset,
                                      const struct open_dimensions *open, struct strbuf *out_bytes);
/* Weights larger than a page that are stored in a side file: its name, and its content in order,
 * each part aligned to EXPORT_SIDE_ALIGNMENT. The last part marks the file as written by hone. */
enum { EXPORT_SIDE_ALIGNMENT = 4096 };
struct export_side {
  const char *location;
  struct arena *arena; /* arena of the list; the bytes stay owned by the graph */
  struct file_part *at;
  size_t count, capacity, bytes;
};
MUST_USE hone_status export_onnx_side(struct ctx *ctx, const struct graph *graph, int opset,
                                      const struct open_dimensions *open, struct export_side *side,
                                      struct strbuf *out_bytes);
/* Writes PATH, with dynamic dimensions unless `open` is NULL. Weights of a model that is too large
 * for one file are written to PATH.data. */
MUST_USE hone_status export_onnx_file(struct ctx *ctx, const struct graph *graph,
                                      const struct open_dimensions *open, const char *path,
                                      unsigned mode);
/* The oldest opset, at least 17, that can express the graph: every engine reads 17; 4-bit types and
 * blockwise scales need 21, a newer operator the opset that introduced it. */
int export_opset(const struct graph *graph);
/* One function @main in StableHLO's generic form, with the graph's inputs and outputs in order
 * and weights as constants. Shapes must be fixed. E_UNSUP names the operators that are not
 * supported. */
MUST_USE hone_status export_stablehlo(struct ctx *ctx, const struct graph *graph,
                                      struct strbuf *out);
/* A TFLite file (schema 3) with one subgraph and its weights; images are channels-last inside,
 * inputs and outputs keep the graph's order and names. Shapes must be fixed. E_UNSUP names an
 * operator that is not supported, E_LIMIT above 2 GiB. */
MUST_USE hone_status export_tflite(struct ctx *ctx, const struct graph *graph, struct strbuf *out);

/* -- formats.c: the formats of `hone export` and of the routes NAME-hone */
struct export_form {
  const char *name, *ending; /* "tflite", ".tflite" */
  enum output_kind kind;
  const char *const *passes; /* names of the passes that the graph needs first; NULL-terminated */
  hone_status (*put)(struct ctx *ctx, const struct graph *graph, struct strbuf *out);
};
extern const struct export_form export_forms[];
extern const size_t export_form_count;
const struct export_form *export_form_of(const char *path); /* by its suffix; NULL: none */
#endif
