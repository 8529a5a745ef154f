/* distance: distances, cosines and cross products of vectors. */
#include "pt2.h"

#include <math.h>

/* Distance of every row of x1 to every row of x2. */
hone_status build_distances(struct pt_op *op) {
  struct value *a, *b, *y;
  double order;
  TRY(pt_need(op, "x1", &a));
  TRY(pt_need(op, "x2", &b));
  TRY(pt_float(op, "p", 2, &order));
  const int rank = a->shape.rank;
  if (rank < 2 || b->shape.rank < 2) return pt_refuse(op, "of rank %d", rank);
  if (!(order > 0)) return pt_refuse(op, "of order %g", order);
  TRY(pt_insert_axis(op, a, rank - 1, &a));
  TRY(pt_insert_axis(op, b, b->shape.rank - 2, &b));
  BUILD(op->b, y = x_2(op->b, OP_Sub, a, b));
  const int64_t last = y->shape.rank - 1;
  if (order == 1 || order == 2) {
    y = pt_reduce_axis(op, order == 1 ? OP_ReduceL1 : OP_ReduceL2, y, last);
    return pt_result(op, 0, y);
  }
  BUILD(op->b, y = x_1(op->b, OP_Abs, y));
  if (!isinf(order)) BUILD(op->b, y = x_by(op->b, OP_Pow, y, order));
  y = pt_reduce_axis(op, isinf(order) ? OP_ReduceMax : OP_ReduceSum, y, last);
  if (!isinf(order)) y = x_by(op->b, OP_Pow, y, 1 / order);
  return pt_result(op, 0, y);
}

/* x1 . x2 divided by their norms, each at least eps. */
hone_status build_cosine(struct pt_op *op) {
  struct value *x[2], *length[2], *y;
  int64_t axis;
  double eps;
  struct shape all;
  TRY(pt_need(op, "x1", &x[0]));
  TRY(pt_need(op, "x2", &x[1]));
  TRY(pt_float(op, "eps", 1e-8, &eps));
  if (!shape_broadcast(&x[0]->shape, &x[1]->shape, &all))
    return pt_refuse(op, "of shapes that do not broadcast");
  TRY(pt_axis(op, "dim", 1, all.rank, &axis));
  for (int k = 0; k < 2; k++) {
    BUILD(op->b, x[k] = pt_expand(op, x[k], &all));
    length[k] = pt_reduce_axis(op, OP_ReduceL2, x[k], axis);
    length[k] = x_by(op->b, OP_Max, length[k], eps);
  }
  BUILD(op->b, y = x_2(op->b, OP_Mul, x[0], x[1]));
  y = pt_reduce_axis(op, OP_ReduceSum, y, axis);
  for (int k = 0; k < 2; k++) BUILD(op->b, y = x_2(op->b, OP_Div, y, length[k]));
  return pt_result(op, 0, y);
}

/* linalg_cross, cross (parameter 1): of vectors of three along a dimension; by default the first
 * dimension of size three. */
hone_status build_cross(struct pt_op *op) {
  static const int64_t next[] = {1, 2, 0}, before[] = {2, 0, 1};
  struct value *x[2], *turn[2], *part[2][2], *y[2];
  int64_t axis;
  struct shape all;
  TRY(pt_need(op, "self", &x[0]));
  TRY(pt_need(op, "other", &x[1]));
  if (!shape_broadcast(&x[0]->shape, &x[1]->shape, &all))
    return pt_refuse(op, "of shapes that do not broadcast");
  int first = 0;
  while (first < all.rank - 1 && all.dims[first] != 3) first++;
  TRY(pt_axis(op, "dim", op->parameter ? first : -1, all.rank, &axis));
  if (!all.rank || all.dims[axis] != 3)
    return pt_refuse(op, "along a dimension whose size is not three");
  turn[0] = x_list(op->b, next, 3);
  turn[1] = x_list(op->b, before, 3);
  for (int k = 0; k < 2; k++) {
    BUILD(op->b, x[k] = pt_expand(op, x[k], &all));
    for (int t = 0; t < 2; t++) part[k][t] = x_gather(op->b, x[k], turn[t], axis);
  }
  y[0] = x_2(op->b, OP_Mul, part[0][0], part[1][1]);
  y[1] = x_2(op->b, OP_Mul, part[0][1], part[1][0]);
  y[0] = x_2(op->b, OP_Sub, y[0], y[1]);
  return pt_result(op, 0, y[0]);
}
