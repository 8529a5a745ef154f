/* merge-reshapes: of Reshape, Flatten, Squeeze and Unsqueeze in a row only the last shape counts.
 * The last becomes a Reshape of the first one's input, or nothing if that has the shape already. */
#include "rewrite.h"

static hone_status reshape(struct rewrite *r, struct value *x, const struct shape *shape,
                           struct value **out) {
  struct value *dims;
  struct node *node;
  TRY(rewrite_constant(r, HONE_I64, &(struct shape){1, {shape->rank}}, &dims));
  for (int i = 0; i < shape->rank; i++) tensor_set_i64(dims->constant, (size_t)i, shape->dims[i]);
  TRY(rewrite_node(r, OP_Reshape, (struct value *[]){x, dims}, 2, &node));
  /* an extent of 0 means 0, not "as before" */
  TRY(node_set_int(r->ctx, r->graph, node, "allowzero", 1));
  TRY(node_infer(r->ctx, r->graph, node));
  *out = node->outputs[0];
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!is_shape_op(node) || !node->outputs[0]) return HONE_OK;
  struct value *x = node->inputs[0], *y = node->outputs[0];
  bool is_chain = false;
  while (x->producer && is_shape_op(x->producer)) {
    x = x->producer->inputs[0];
    is_chain = true;
  }
  if (!is_chain || value_is_open(x) || value_is_open(y)) return HONE_OK;
  if (!shape_equal(&x->shape, &y->shape)) TRY(reshape(r, x, &y->shape, &x));
  return rewrite_replace(r, y, x);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_merge_reshapes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
