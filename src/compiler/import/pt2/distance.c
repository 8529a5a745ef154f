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
  TRY(make_node(op->make, OP_Sub, VALUES(a, b), NULL, &y));
  const int64_t last = y->shape.rank - 1;
  if (order == 1 || order == 2) {
    TRY(pt_reduce_axis(op, order == 1 ? OP_ReduceL1 : OP_ReduceL2, y, last, &y));
    return pt_result(op, 0, y);
  }
  TRY(make_node(op->make, OP_Abs, VALUES(y), NULL, &y));
  if (!isinf(order)) TRY(make_with_scalar(op->make, OP_Pow, y, order, &y));
  TRY(pt_reduce_axis(op, isinf(order) ? OP_ReduceMax : OP_ReduceSum, y, last, &y));
  if (!isinf(order)) TRY(make_with_scalar(op->make, OP_Pow, y, 1 / order, &y));
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
    TRY(pt_expand(op, x[k], &all, &x[k]));
    TRY(pt_reduce_axis(op, OP_ReduceL2, x[k], axis, &length[k]));
    TRY(make_with_scalar(op->make, OP_Max, length[k], eps, &length[k]));
  }
  TRY(make_node(op->make, OP_Mul, VALUES(x[0], x[1]), NULL, &y));
  TRY(pt_reduce_axis(op, OP_ReduceSum, y, axis, &y));
  for (int k = 0; k < 2; k++) TRY(make_node(op->make, OP_Div, VALUES(y, length[k]), NULL, &y));
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
  TRY(make_ints(op->make, next, 3, &turn[0]));
  TRY(make_ints(op->make, before, 3, &turn[1]));
  for (int k = 0; k < 2; k++) {
    TRY(pt_expand(op, x[k], &all, &x[k]));
    for (int t = 0; t < 2; t++)
      TRY(make_node(op->make, OP_Gather, VALUES(x[k], turn[t]), ARGS(INT_ARG("axis", axis)),
                    &part[k][t]));
  }
  TRY(make_node(op->make, OP_Mul, VALUES(part[0][0], part[1][1]), NULL, &y[0]));
  TRY(make_node(op->make, OP_Mul, VALUES(part[0][1], part[1][0]), NULL, &y[1]));
  TRY(make_node(op->make, OP_Sub, VALUES(y[0], y[1]), NULL, &y[0]));
  return pt_result(op, 0, y[0]);
}
