/* derived: ATen operators that PyTorch itself expresses in others, where the expansion is short. */
#include "pt2.h"

#include <math.h>

enum { MOST_TENSORS = 4096 };

/* Rotates k times by 90 degrees in the plane of two dimensions. */
hone_status build_rotate(struct pt_op *op) {
  struct value *x;
  int64_t turns, axes[2] = {0, 1}, perm[HONE_MAX_RANK];
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "k", 1, &turns));
  TRY(pt_ints(op, "dims", 2, axes, &count));
  if (count == 1 || x->shape.rank < 2) return pt_refuse(op, "of rank %d", x->shape.rank);
  for (int i = 0; i < 2; i++) TRY(pt_axis_of(op, axes[i], x->shape.rank, &axes[i]));
  turns = (turns % 4 + 4) % 4;
  for (int i = 0; i < 2; i++) /* 1: flip the second dimension, 3: the first, 2: both */
    if (turns == 2 || turns == (i ? 1 : 3))
      BUILD(op->b, x = pt_slice(op, x, axes[i], -1, INT64_MIN, -1));
  for (int d = 0; d < x->shape.rank; d++) perm[d] = d;
  perm[axes[0]] = axes[1], perm[axes[1]] = axes[0];
  if (turns % 2) BUILD(op->b, x = x_transpose(op->b, x, perm));
  return pt_result(op, 0, x);
}

/* Scales each slice along a dimension down to the maximum norm. */
hone_status build_renorm(struct pt_op *op) {
  struct value *x, *axes, *norm;
  int64_t axis, others[HONE_MAX_RANK];
  size_t count = 0;
  double order, most;
  TRY(pt_need(op, "self", &x));
  TRY(pt_float(op, "p", 2, &order));
  TRY(pt_float(op, "maxnorm", 0, &most));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis) others[count++] = d;
  if (!count) return pt_refuse(op, "of rank %d", x->shape.rank);
  BUILD(op->b, axes = x_list(op->b, others, count));
  TRY(pt_norm(op, x, axes, order, true, &norm));
  struct value *one = x_scalar(op->b, x->dtype, 1);
  struct value *limit = x_scalar(op->b, x->dtype, most);
  struct value *is_long = x_2(op->b, OP_Greater, norm, limit);
  BUILD(op->b, norm = x_by(op->b, OP_Add, norm, 1e-7));
  return pt_result(
      op, 0,
      x_2(op->b, OP_Mul, x, x_3(op->b, OP_Where, is_long, x_2(op->b, OP_Div, limit, norm), one)));
}

/* Matrices on the diagonal of a block matrix; a vector is a row. */
hone_status build_block_diagonal(struct pt_op *op) {
  struct value **parts, *zero;
  size_t count;
  int64_t columns = 0, before = 0;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, MOST_TENSORS));
  TRY(pt_tensors(op, "tensors", MOST_TENSORS, parts, &count));
  TRY(pt_promote(op, parts, count));
  if (!count) return pt_refuse(op, "of no tensors");
  for (size_t i = 0; i < count; i++) {
    const int rank = parts[i]->shape.rank;
    if (rank > 2) return pt_refuse(op, "of rank %d", rank);
    if (rank < 2) BUILD(op->b, parts[i] = x_reshape(op->b, parts[i], (const int64_t[]){1, -1}, 2));
    if (!checked_add(columns, parts[i]->shape.dims[1], &columns))
      return pt_refuse(op, "of this size");
  }
  zero = x_scalar(op->b, parts[0]->dtype, 0);
  for (size_t i = 0; i < count; i++) {
    const int64_t own = parts[i]->shape.dims[1], pads[] = {0, before, 0, columns - before - own};
    BUILD(op->b, parts[i] = x_args(op->b, OP_Pad, VALUES(parts[i], x_list(op->b, pads, 4), zero),
                                   ARGS(STRING_ARG("mode", "constant"))));
    before += own;
  }
  return pt_result(op, 0, x_concat(op->b, 0, parts, count));
}

static hone_status ends(struct pt_op *op, struct value *x, int64_t axis, struct value **first,
                        struct value **last) {
  const int64_t dim = x->shape.dims[axis];
  *first = pt_slice(op, x, axis, 0, dim ? dim - 1 : 0, 1);
  return x_give(op->b, last, pt_slice(op, x, axis, dim ? 1 : 0, INT64_MAX, 1));
}

/* Sums of (y[i] + y[i + 1]) / 2 times the step between them; parameter 1: cumulative. */
hone_status build_trapezoid(struct pt_op *op) {
  struct value *y, *x, *a, *b, *step, *axes;
  int64_t axis;
  double width;
  TRY(pt_need(op, "y", &y));
  TRY(pt_tensor(op, "x", &x));
  TRY(pt_float(op, "dx", 1, &width));
  TRY(pt_axis(op, "dim", -1, y->shape.rank, &axis));
  if (!y->shape.rank) return pt_refuse(op, "of rank 0");
  if (!dtype_is_float(y->dtype)) BUILD(op->b, y = x_cast(op->b, y, HONE_F32));
  TRY(ends(op, y, axis, &a, &b));
  BUILD(op->b, y = x_by(op->b, OP_Mul, x_2(op->b, OP_Add, a, b), 0.5));
  if (x) {
    int64_t dims[HONE_MAX_RANK];
    const bool is_list = x->shape.rank == 1;
    if (!is_list && x->shape.rank != y->shape.rank) return pt_refuse(op, "of unequal ranks");
    BUILD(op->b, x = x_cast(op->b, x, y->dtype));
    TRY(ends(op, x, is_list ? 0 : axis, &a, &b));
    BUILD(op->b, step = x_2(op->b, OP_Sub, b, a));
    for (int d = 0; d < y->shape.rank; d++) dims[d] = d == axis ? step->shape.dims[0] : 1;
    if (is_list) BUILD(op->b, step = x_reshape(op->b, step, dims, y->shape.rank));
    BUILD(op->b, y = x_2(op->b, OP_Mul, y, step));
  } else {
    BUILD(op->b, y = x_by(op->b, OP_Mul, y, width));
  }
  if (op->parameter) {
    axes = x_scalar(op->b, HONE_I64, (double)axis);
    BUILD(op->b, y = x_2(op->b, OP_CumSum, y, axes));
  } else {
    axes = x_list(op->b, &axis, 1);
    BUILD(op->b, y = x_args(op->b, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0))));
  }
  return pt_result(op, 0, y);
}

/* Sums of products along a dimension. */
hone_status build_vector_dot(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis;
  TRY(pt_need(op, "x", &x));
  TRY(pt_need(op, "y", &y));
  BUILD(op->b, y = x_2(op->b, OP_Mul, x, y));
  TRY(pt_axis(op, "dim", -1, y->shape.rank, &axis));
  return pt_result(op, 0, x_reduce(op->b, OP_ReduceSum, y, &axis, 1, 0));
}

/* A chain of matrix products. */
hone_status build_chain(struct pt_op *op) {
  struct value *parts[64];
  size_t count;
  TRY(pt_tensors(op, pt_given(op, "matrices") ? "matrices" : "tensors", COUNT(parts), parts,
                 &count));
  if (!count) return pt_refuse(op, "of no tensors");
  struct value *y = parts[0];
  for (size_t i = 1; i < count; i++) y = x_2(op->b, OP_MatMul, y, parts[i]);
  return pt_result(op, 0, y);
}

/* All combinations of one element of each list, one per row. */
hone_status build_cartesian_product(struct pt_op *op) {
  struct value *parts[HONE_MAX_RANK];
  int64_t dims[HONE_MAX_RANK], one[HONE_MAX_RANK];
  size_t count;
  TRY(pt_tensors(op, "tensors", HONE_MAX_RANK - 1, parts, &count));
  TRY(pt_promote(op, parts, count));
  if (!count) return pt_refuse(op, "of no tensors");
  if (count == 1) return pt_result(op, 0, parts[0]);
  for (size_t i = 0; i < count; i++) {
    if (parts[i]->shape.rank != 1) return pt_refuse(op, "of rank %d", parts[i]->shape.rank);
    dims[i] = parts[i]->shape.dims[0];
  }
  dims[count] = 1;
  for (size_t i = 0; i < count; i++) {
    for (size_t d = 0; d <= count; d++) one[d] = d == i ? dims[i] : 1;
    BUILD(op->b, parts[i] = x_reshape(op->b, parts[i], one, (int)(count + 1)));
    BUILD(op->b, parts[i] = x_2(op->b, OP_Expand, parts[i], x_list(op->b, dims, count + 1)));
  }
  return pt_result(op, 0,
                   x_reshape(op->b, x_concat(op->b, -1, parts, count),
                             (const int64_t[]){-1, (int64_t)count}, 2));
}

/* -- quantiles */

struct quantile {
  struct value *sorted; /* the dimension is last */
  struct value *at;     /* positions among the sorted elements, as floats: [count] */
  const char *how;
};

/* Sorted elements at integer positions. */
static struct value *elements_at(struct pt_op *op, const struct quantile *q, enum op_id rounding) {
  return x_gather(op->b, q->sorted, x_cast(op->b, x_1(op->b, rounding, q->at), HONE_I64), -1);
}

static hone_status interpolated(struct pt_op *op, const struct quantile *q, struct value **out) {
  const bool is_linear = !strcmp(q->how, "linear");
  if (!strcmp(q->how, "lower")) return x_give(op->b, out, elements_at(op, q, OP_Floor));
  if (!strcmp(q->how, "higher")) return x_give(op->b, out, elements_at(op, q, OP_Ceil));
  if (!strcmp(q->how, "nearest")) return x_give(op->b, out, elements_at(op, q, OP_Round));
  if (!is_linear && strcmp(q->how, "midpoint"))
    return pt_refuse(op, "with interpolation %s", q->how);
  struct value *low = elements_at(op, q, OP_Floor);
  struct value *high = elements_at(op, q, OP_Ceil);
  struct value *part = x_2(op->b, OP_Sub, q->at, x_1(op->b, OP_Floor, q->at));
  if (!is_linear) part = x_scalar(op->b, q->at->dtype, 0.5);
  return x_give(op->b, out,
                x_2(op->b, OP_Add, low, x_2(op->b, OP_Mul, x_2(op->b, OP_Sub, high, low), part)));
}

/* Sorts the dimension, which becomes the last; all NaN if one element is NaN. */
static hone_status sort_last(struct pt_op *op, int64_t axis, struct value **x,
                             struct value **is_nan) {
  const int rank = (*x)->shape.rank;
  int64_t perm[HONE_MAX_RANK], at = 0;
  struct value *y[2];
  for (int d = 0; d < rank; d++)
    if (d != axis) perm[at++] = d;
  perm[at] = axis;
  BUILD(op->b, *x = x_transpose(op->b, *x, perm));
  *is_nan = x_1(op->b, OP_IsNaN, *x);
  *is_nan = x_reduce(op->b, OP_ReduceMax, *is_nan, (const int64_t[]){-1}, 1, 1);
  struct value *count = x_list(op->b, &(*x)->shape.dims[rank - 1], 1);
  BUILD(op->b, x_nodes(op->b, OP_TopK, VALUES(*x, count),
                       ARGS(INT_ARG("axis", -1), INT_ARG("largest", 0)), 2, y));
  *x = y[0];
  return HONE_OK;
}

/* A list of quantiles becomes the first dimension of the result, followed by the other
 * dimensions. */
hone_status build_quantile(struct pt_op *op) {
  struct value *x, *levels, *is_nan, *y;
  struct quantile q;
  int64_t axis = 0, keep, dims[HONE_MAX_RANK], perm[HONE_MAX_RANK] = {0};
  TRY(pt_need(op, "self", &x));
  TRY(pt_operand(op, "q", x, &levels));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(pt_text(op, "interpolation", "linear", &q.how));
  const int rank = x->shape.rank, extra = levels->shape.rank;
  const bool is_flat = !pt_given(op, "dim");
  if (extra > 1 || rank + extra > HONE_MAX_RANK) return pt_refuse(op, "of these ranks");
  if (!is_flat) TRY(pt_axis(op, "dim", 0, rank, &axis));
  struct shape shape = x->shape;
  if (is_flat || !rank) BUILD(op->b, x = x_reshape(op->b, x, (const int64_t[]){-1}, 1));
  TRY(sort_last(op, is_flat || !rank ? 0 : axis, &x, &is_nan));
  levels = x_reshape(op->b, x_cast(op->b, levels, x->dtype), (const int64_t[]){-1}, 1);
  const int last = x->shape.rank - 1;
  BUILD(op->b, q.at = x_by(op->b, OP_Mul, levels, (double)(x->shape.dims[last] - 1)));
  q.sorted = x;
  TRY(interpolated(op, &q, &y));
  y = x_3(op->b, OP_Where, is_nan, x_scalar(op->b, y->dtype, (double)NAN), y); /* [.., levels] */
  for (int d = 0; d < last; d++) perm[d + 1] = d;
  perm[0] = last;
  BUILD(op->b, y = x_transpose(op->b, y, perm));
  size_t at = 0;
  if (extra) dims[at++] = y->shape.dims[0];
  for (int d = 0; d < rank; d++)
    if (is_flat || d == axis) {
      if (keep) dims[at++] = 1;
    } else {
      dims[at++] = shape.dims[d];
    }
  BUILD(op->b, y = x_reshape(op->b, y, dims, (int)at));
  return pt_result(op, 0, y);
}
