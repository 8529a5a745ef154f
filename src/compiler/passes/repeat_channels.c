/* repeat-channels: a convolution of one channel per group to several (a depth multiplier) repeats
 * each channel and becomes depthwise: the copy gives kernels as many lanes as there are outputs.
 */
#include "rewrite.h"

enum { FEWEST_CHANNELS = 8, LARGEST_MULTIPLIER = 4, FEWEST_POSITIONS = 9 };

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!is_op(node, OP_Conv)) return HONE_OK;
  struct value *x = node->inputs[0], *w = node->inputs[1], *in[3] = {NULL};
  const int64_t groups = node_int(node, "group", 1), times = w->shape.dims[0] / groups;
  struct shape shape = x->shape;
  int64_t positions = 1;
  for (int d = 2; d < w->shape.rank; d++) positions *= w->shape.dims[d];
  if (!w->constant || x->dtype != HONE_F32 || value_is_open(x) || w->shape.dims[1] != 1 ||
      groups < FEWEST_CHANNELS || times < 2 || times > LARGEST_MULTIPLIER ||
      positions < FEWEST_POSITIONS || x->shape.rank == HONE_MAX_RANK)
    return HONE_OK;
  shape.rank++;
  memmove(shape.dims + 3, shape.dims + 2, (size_t)(x->shape.rank - 2) * sizeof *shape.dims);
  shape.dims[2] = 1;
  x = x_reshape(r->b, x, shape.dims, shape.rank);
  shape.dims[2] = times;
  x = x_2(r->b, OP_Expand, x, x_list(r->b, shape.dims, (size_t)shape.rank));
  shape = node->inputs[0]->shape;
  shape.dims[1] *= times;
  in[0] = x_reshape(r->b, x, shape.dims, shape.rank);
  for (size_t k = 1; k < node->input_count; k++) in[k] = node->inputs[k];
  x_with_int(r->b, "group", groups * times);
  return rewrite_replace(r, node->outputs[0], x_like(r->b, node, OP_Conv, in, node->input_count));
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_repeat_channels(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
