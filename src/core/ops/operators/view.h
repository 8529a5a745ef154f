/* Shared by the movement, indexed and generator families: constant operands, axes, results, and the
 * strided copy. Private to src/core/ops/. */
#ifndef HONE_OPS_VIEW_H
#define HONE_OPS_VIEW_H

#include "core/ops/ops_internal.h"

/* A copy of dims[] elements, innermost last: element strides of the source and of the result. Twice
   the rank, because Tile and DepthToSpace split every dimension in two. */
#define VIEW_RANK (2 * HONE_MAX_RANK)
struct view {
  int rank;
  int64_t dims[VIEW_RANK];
  int64_t from[VIEW_RANK], to[VIEW_RANK];
};
void view_copy(const struct view *view, void *to, const void *from, size_t element_bytes);
static inline void view_add(struct view *view, int64_t dim, int64_t from, int64_t to) {
  int k = view->rank++;
  view->dims[k] = dim;
  view->from[k] = dim > 1 ? from : 0; /* unused; keeps hostile strides out of the sums */
  view->to[k] = dim > 1 ? to : 0;
}

/* Bytes of one element, struct string for strings; E_TYPE for packed and unknown types. */
MUST_USE hone_status movable_bytes(struct ctx *ctx, const struct node *node, hone_dtype dtype,
                                   size_t *out_bytes);
/* The integers of input k, whose value at inference or evaluation is `tensor`. E_UNSUP if it is
 * known only at run time (NULL), E_TYPE if it is not a list of at most max integers. */
MUST_USE hone_status tensor_ints(struct ctx *ctx, const struct node *node, size_t k,
                                 const struct tensor *tensor, size_t max, int64_t *out,
                                 size_t *out_count);
/* Constants of all inputs, NULL if unknown: inference and evaluation share code. */
#define CONSTANTS_MAX 8
void node_constants(const struct node *node, const struct tensor *out[CONSTANTS_MAX]);

/* i in [-dim, dim) to [0, dim); E_SHAPE. */
MUST_USE hone_status node_index(struct ctx *ctx, const struct node *node, int64_t i, int64_t dim,
                                int64_t *out);

#endif
