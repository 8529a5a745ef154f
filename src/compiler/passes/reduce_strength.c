/* reduce-strength: squares and cubes become multiplications. A division by a constant becomes a
 * multiplication if the reciprocal is a normal number (at most one ulp difference; exact for powers
 * of two). A matmul of few rows with a constant column becomes a sum of products, for floats: a
 * packed column is as wide as a panel (the lattices of a 2.5 MB file took 79 MB). A ResizeInt of
 * a single pixel becomes an Expand, which a plan reads in place.
 */
#include "rewrite.h"

#include <math.h>

static hone_status reduce_power(struct rewrite *r, struct node *node, double exponent) {
  struct value *x = node->inputs[0];
  struct value *y = x_2(r->b, OP_Mul, x, x);
  if (exponent == 3) y = x_2(r->b, OP_Mul, y, x);
  return rewrite_replace(r, node->outputs[0], y);
}

/* The factor is folded, not only written: the divisor may depend on a dynamic size. */
static hone_status reduce_division(struct rewrite *r, struct node *node, double divisor) {
  struct value *factor;
  bool folded;
  if (node->inputs[0]->dtype != HONE_F32 || !isnormal((float)(1 / divisor))) return HONE_OK;
  BUILD(r->b, factor = x_1(r->b, OP_Reciprocal, node->inputs[1]));
  TRY(node_fold(r->ctx, r->graph, factor->producer, &folded));
  if (!folded) return HONE_OK;
  return rewrite_replace(r, node->outputs[0], x_2(r->b, OP_Mul, node->inputs[0], factor));
}

enum { COLUMN_ROWS = 4, COLUMN_ELEMENTS = 64 };

/* MatMul(x, w[..., k, 1]) = ReduceSum(x * w[..., 1, k], -1): the same payload, transposed by its
   shape alone. */
static hone_status reduce_columns(struct rewrite *r, struct node *node) {
  struct value *x = node->inputs[0], *w = node->inputs[1], *turned;
  struct shape shape = w->shape;
  int64_t rows;
  if (!w->constant || w->dtype != HONE_F32 || graph_is_open(r->graph) || value_is_open(x) ||
      x->shape.rank < 2 || shape.rank < 2 || shape.dims[shape.rank - 1] != 1)
    return HONE_OK;
  const int64_t k = shape.dims[shape.rank - 2], count = (int64_t)tensor_count(w->constant);
  if (k < COLUMN_ELEMENTS || !shape_count(&node->outputs[0]->shape, &rows) ||
      rows > count / k * COLUMN_ROWS)
    return HONE_OK;
  shape.dims[shape.rank - 1] = k;
  shape.dims[shape.rank - 2] = 1;
  TRY(rewrite_constant(r, HONE_F32, &shape, &turned));
  memcpy((void *)(uintptr_t)turned->constant->data, w->constant->data, w->constant->bytes);
  return rewrite_replace(
      r, node->outputs[0],
      x_reduce(r->b, OP_ReduceSum, x_2(r->b, OP_Mul, x, turned), (const int64_t[]){-1}, 1, true));
}

static hone_status reduce_pixel(struct rewrite *r, struct node *node) {
  const struct shape *from = &node->inputs[0]->shape, *to = &node->outputs[0]->shape;
  int64_t place;
  if (from->dims[2] != 1 || from->dims[3] != 1 || value_is_open(node->inputs[0])) return HONE_OK;
  for (size_t places = 1; places <= 3; places += 2)
    for (int64_t i = 0; i < to->dims[places == 1 ? 2 : 3]; i++)
      if (!resize_int_copies(node, places, (size_t)i, &place)) return HONE_OK;
  return rewrite_replace(r, node->outputs[0],
                         x_2(r->b, OP_Expand, node->inputs[0], x_list(r->b, to->dims, 4)));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  double y;
  if (is_op(node, OP_MatMul)) return reduce_columns(r, node);
  if (is_op(node, OP_ResizeInt)) return reduce_pixel(r, node);
  if (!is_op(node, OP_Pow) && !is_op(node, OP_Div)) return HONE_OK;
  if (!dtype_is_float(node->inputs[0]->dtype) || !constant_scalar(node->inputs[1], &y))
    return HONE_OK;
  /* a constant of higher rank than x would change the result's shape */
  if (!shape_equal(&node->inputs[0]->shape, &node->outputs[0]->shape)) return HONE_OK;
  if (is_op(node, OP_Div)) return reduce_division(r, node, y);
  if (y == 2 || y == 3) return reduce_power(r, node, y);
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_reduce_strength(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
