/* merge-reshapes: of Reshape, Flatten, Squeeze and Unsqueeze in a row only the last shape matters.
 * The last becomes a Reshape of the first one's input, or nothing if the shape is equal.
 */
#include "rewrite.h"

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!is_shape_op(node) || !node->outputs[0]) return HONE_OK;
  struct value *x = node->inputs[0], *y = node->outputs[0];
  bool is_chain = false;
  while (x->producer && is_shape_op(x->producer)) {
    x = x->producer->inputs[0];
    is_chain = true;
  }
  if (!is_chain || value_is_open(x) || value_is_open(y)) return HONE_OK;
  if (!shape_equal(&x->shape, &y->shape))
    BUILD(r->b, x = x_reshape(r->b, x, y->shape.dims, y->shape.rank));
  return rewrite_replace(r, y, x);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_merge_reshapes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
