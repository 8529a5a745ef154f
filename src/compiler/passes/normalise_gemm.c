/* normalise-gemm: alpha * A B + beta * C with alpha = 1, beta = 1 and C a row (one element per
 * column) or none. alpha goes into a constant B, or becomes a Mul; beta into a constant C, or a
 * Mul; any other C becomes an Add, which fusion takes as an epilogue. transA and transB stay:
 * packing reads B in either order.
 */
#include "rewrite.h"

static hone_status scaled_copy(struct rewrite *r, const struct value *from, double factor,
                               struct value **out) {
  TRY(rewrite_constant(r, from->dtype, &from->shape, out));
  size_t count = tensor_count(from->constant);
  for (size_t i = 0; i < count; i++)
    tensor_set_f64((*out)->constant, i, factor * tensor_f64(from->constant, i));
  return HONE_OK;
}

/* x * factor: a new constant if x is one, else a node. */
static hone_status scale(struct rewrite *r, struct value *x, double factor, struct value **out) {
  struct value *constant;
  struct node *node;
  if (factor == 1) {
    *out = x;
    return HONE_OK;
  }
  if (x->constant) return scaled_copy(r, x, factor, out);
  TRY(rewrite_constant(r, x->dtype, &(struct shape){.rank = 0}, &constant));
  tensor_set_f64(constant->constant, 0, factor);
  TRY(rewrite_node(r, OP_Mul, (struct value *[]){x, constant}, 2, &node));
  TRY(node_infer(r->ctx, r->graph, node));
  *out = node->outputs[0];
  return HONE_OK;
}

static bool is_row(const struct value *c, int64_t columns) {
  if (c->shape.rank == 1) return c->shape.dims[0] == columns;
  return c->shape.rank == 2 && c->shape.dims[0] == 1 && c->shape.dims[1] == columns;
}

static hone_status product(struct rewrite *r, const struct node *old, struct value *const inputs[3],
                           struct value **out) {
  struct node *node;
  TRY(rewrite_node(r, OP_Gemm, inputs, inputs[2] ? 3 : 2, &node));
  node_stand_for(node, old);
  if (node_int(old, "transA", 0)) TRY(node_set_int(r->ctx, r->graph, node, "transA", 1));
  if (node_int(old, "transB", 0)) TRY(node_set_int(r->ctx, r->graph, node, "transB", 1));
  TRY(node_infer(r->ctx, r->graph, node));
  *out = node->outputs[0];
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!is_op(node, OP_Gemm) || !dtype_is_float(node->outputs[0]->dtype)) return HONE_OK;
  double alpha = node_float(node, "alpha", 1), beta = node_float(node, "beta", 1);
  struct value *in[3] = {node->inputs[0], node->inputs[1], node_input(node, 2)}, *y;
  bool is_plain =
      alpha == 1 && (!in[2] || (beta == 1 && is_row(in[2], node->outputs[0]->shape.dims[1])));
  if (is_plain) return HONE_OK;
  struct value *c = beta == 0 ? NULL : in[2];
  if (c) TRY(scale(r, c, beta, &c));
  bool scales_weights = in[1]->constant != NULL;
  if (scales_weights) TRY(scale(r, in[1], alpha, &in[1]));
  bool keeps_row =
      c && is_row(c, node->outputs[0]->shape.dims[1]) && (scales_weights || alpha == 1);
  in[2] = keeps_row ? c : NULL;
  TRY(product(r, node, in, &y));
  if (!scales_weights) TRY(scale(r, y, alpha, &y));
  if (c && !keeps_row) {
    struct node *add;
    TRY(rewrite_node(r, OP_Add, (struct value *[]){y, c}, 2, &add));
    TRY(node_infer(r->ctx, r->graph, add));
    y = add->outputs[0];
  }
  return rewrite_replace(r, node->outputs[0], y);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_normalise_gemm(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
