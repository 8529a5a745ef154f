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
  if (x->constant && factor != 1) return scaled_copy(r, x, factor, out);
  return x_give(r->b, out, factor == 1 ? x : x_by(r->b, OP_Mul, x, factor));
}

static bool is_row(const struct value *c, int64_t columns) {
  if (c->shape.rank == 1) return c->shape.dims[0] == columns;
  return c->shape.rank == 2 && c->shape.dims[0] == 1 && c->shape.dims[1] == columns;
}

static struct value *product(struct rewrite *r, const struct node *old,
                             struct value *const inputs[3]) {
  if (node_int(old, "transA", 0)) x_with_int(r->b, "transA", 1);
  if (node_int(old, "transB", 0)) x_with_int(r->b, "transB", 1);
  return x_op(r->b, OP_Gemm, inputs, 3);
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
  BUILD(r->b, y = product(r, node, in));
  if (!scales_weights) TRY(scale(r, y, alpha, &y));
  if (c && !keeps_row) {
    y = x_2(r->b, OP_Add, y, c);
  }
  return rewrite_replace(r, node->outputs[0], y);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_normalise_gemm(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
