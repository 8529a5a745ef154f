/* widen-gemm: Reshape, Gemm, Reshape that only flattens leading dimensions and restores them (as
 * exporters write dense layers on [batch, length, width]) becomes MatMul and Add on all dimensions,
 * so that nothing separates the matmul from the elementwise operators after it.
 */
#include "rewrite.h"

/* [d..., k] against [d..., n]: the leading dimensions agree. */
static bool same_leading(const struct shape *a, const struct shape *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i + 1 < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  return true;
}

static bool matches(const struct rewrite *r, const struct node *reshape, const struct node *gemm,
                    const struct value *x) {
  const struct shape *flat = &gemm->inputs[0]->shape, *y = &reshape->outputs[0]->shape;
  const struct shape *product = &gemm->outputs[0]->shape;
  int last = x->shape.rank - 1;
  return rewrite_single_use(r, gemm->outputs[0]) && x->shape.rank > 2 &&
         x->shape.dims[last] == flat->dims[1] && same_leading(&x->shape, y) &&
         y->dims[last] == product->dims[1] && dtype_is_float(x->dtype);
}

static bool is_plain(const struct node *gemm) {
  return !node_int(gemm, "transA", 0) && !node_int(gemm, "transB", 0) &&
         node_float(gemm, "alpha", 1) == 1 && node_float(gemm, "beta", 1) == 1;
}

/* C broadcasts over rows only: one element per column. */
static bool has_row_or_none(const struct node *gemm) {
  const struct value *c = node_input(gemm, 2);
  return !c || c->shape.rank == 1 || (c->shape.rank == 2 && c->shape.dims[0] == 1);
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!is_shape_op(node) || !node->outputs[0]) return HONE_OK;
  struct node *gemm = producer_of(node->inputs[0], OP_Gemm);
  if (!gemm || !is_plain(gemm) || !has_row_or_none(gemm)) return HONE_OK;
  const struct node *flatten = gemm->inputs[0]->producer;
  if (!flatten || !is_shape_op(flatten)) return HONE_OK;
  struct value *x = flatten->inputs[0], *bias = node_input(gemm, 2);
  if (!matches(r, node, gemm, x)) return HONE_OK;
  BUILD(r->b, x = x_2(r->b, OP_MatMul, x, gemm->inputs[1]));
  node_stand_for(x->producer, gemm);
  if (bias) x = x_2(r->b, OP_Add, x, bias);
  return rewrite_replace(r, node->outputs[0], x);
}

/* needs: shapes, uses. keeps: order, shapes. breaks: uses. */
hone_status pass_widen_gemm(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
