/* import: bytes to graph. One function a format; upgrade.c brings old opsets to HONE_OPSET.
 * Model files are hostile: bounds-checked cursors, no recursion, budgets before allocation. */
#ifndef HONE_IMPORT_H
#define HONE_IMPORT_H

#include "../ops/ops.h"

struct import_options {
  const char *shapes;          /* "x[1,3,224,224],y[1]"; NULL: batch 1, others an error */
  const char *side_files_from; /* folder of external data; NULL: the model's own */
  bool strict;                 /* unsorted nodes are an error, not a warning */
};

/* A model file kept open: mapped bytes that tensors point into, and what was read with it. */
struct model_file {
  struct mapping main;
  VEC(struct mapping) sides; /* external data, each file once */
  char content_hash[33];     /* XXH3-128 of the model and its side files */
  char sha256[65];
};
void model_file_close(struct model_file *file);

/* Reads an ONNX file. The graph lives in `arena`, its big constants in the mapping: keep *out_file
   open as long as the graph. Shapes are inferred and small constants folded. */
MUST_USE hone_status import_onnx(struct ctx *ctx, struct arena *arena, const char *path,
                                 const struct import_options *options, struct model_file *out_file,
                                 struct graph **out_graph);
/* The same from bytes in memory (no external data unless side_files_from is set). */
MUST_USE hone_status import_onnx_bytes(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                       size_t size, const struct import_options *options,
                                       struct model_file *out_file, struct graph **out_graph);
#endif
