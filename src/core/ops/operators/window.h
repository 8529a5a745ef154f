/* window: sliding windows over the spatial dims of [n, c, d1, ..], for convolutions and pools.
 * Every number is checked here once; products of them then fit in int64. */
#ifndef HONE_OPS_WINDOW_H
#define HONE_OPS_WINDOW_H

#include "core/ops/ops_internal.h"

struct window {
  int rank; /* spatial dims */
  int64_t in[HONE_MAX_RANK], out[HONE_MAX_RANK];
  int64_t kernel[HONE_MAX_RANK], stride[HONE_MAX_RANK], dilation[HONE_MAX_RANK];
  int64_t pad_begin[HONE_MAX_RANK], pad_end[HONE_MAX_RANK];
};

/* Reads kernel_shape (or takes `kernel`, which kernel_shape must then equal), strides, dilations,
 * pads and auto_pad of a node whose input 0 is x; out by ceil_mode. E_SHAPE names the attribute. */
MUST_USE hone_status window_plan(struct ctx *ctx, const struct node *node, const struct shape *x,
                                 const int64_t *kernel, struct window *out);
/* The same for ConvTranspose: out is the larger side; output_padding and output_shape. */
MUST_USE hone_status window_plan_transposed(struct ctx *ctx, const struct node *node,
                                            const struct shape *x, const int64_t *kernel,
                                            struct window *out);
/* The window of a node that has one; *out_has false for any other node. */
MUST_USE hone_status window_of_node(struct ctx *ctx, const struct node *node, struct window *out,
                                    bool *out_has);
/* How many elements the window can move along spatial dimension i; negative: it does not fit. */
int64_t window_room(const struct window *window, int i);
int64_t window_in_count(const struct window *window);
int64_t window_out_count(const struct window *window);
int64_t window_kernel_count(const struct window *window);
/* Input offset (dense) for output position `o` at kernel position `k`; -1 in the padding. */
int64_t window_offset(const struct window *window, const int64_t *o, const int64_t *k);
/* ConvTranspose: the input offset that reaches output `o` through kernel position `k`; -1: none. */
int64_t window_offset_transposed(const struct window *window, const int64_t *o, const int64_t *k);
/* [n, c, out...] */
struct shape window_shape(const struct window *window, int64_t n, int64_t c);
/* Splits a dense position into an index. */
void index_of(int rank, const int64_t *dims, int64_t position, int64_t *index);
/* Sets the end padding to what windows reach: ceil_mode may need more, others less, and IREE 3.13
 * rejects convolutions with padding that no window reads. */
void window_fit_padding(struct window *window);

#endif
