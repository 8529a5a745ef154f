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
    if (turns == 2 || turns == (i ? 1 : 3)) TRY(pt_slice(op, x, axes[i], -1, INT64_MIN, -1, &x));
  for (int d = 0; d < x->shape.rank; d++) perm[d] = d;
  perm[axes[0]] = axes[1], perm[axes[1]] = axes[0];
  if (turns % 2) TRY(make_transpose(op->make, x, perm, &x));
  return pt_result(op, 0, x);
}

/* Scales each slice along a dimension down to the maximum norm. */
hone_status build_renorm(struct pt_op *op) {
  struct value *x, *axes, *norm, *one, *limit, *is_long, *y;
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
  TRY(make_ints(op->make, others, count, &axes));
  TRY(pt_norm(op, x, axes, order, true, &norm));
  TRY(make_scalar(op->make, x->dtype, 1, &one));
  TRY(make_scalar(op->make, x->dtype, most, &limit));
  TRY(make_node(op->make, OP_Greater, VALUES(norm, limit), NULL, &is_long));
  TRY(make_with_scalar(op->make, OP_Add, norm, 1e-7, &norm));
  TRY(make_node(op->make, OP_Div, VALUES(limit, norm), NULL, &y));
  TRY(make_node(op->make, OP_Where, VALUES(is_long, y, one), NULL, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(x, y), NULL, &y));
  return pt_result(op, 0, y);
}

/* Matrices on the diagonal of a block matrix; a vector is a row. */
hone_status build_block_diagonal(struct pt_op *op) {
  struct value **parts, *widths, *zero, *y;
  size_t count;
  int64_t columns = 0, before = 0;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, parts, MOST_TENSORS));
  TRY(pt_tensors(op, "tensors", MOST_TENSORS, parts, &count));
  TRY(pt_promote(op, parts, count));
  if (!count) return pt_refuse(op, "of no tensors");
  for (size_t i = 0; i < count; i++) {
    const int rank = parts[i]->shape.rank;
    if (rank > 2) return pt_refuse(op, "of rank %d", rank);
    if (rank < 2) TRY(make_reshape(op->make, parts[i], (const int64_t[]){1, -1}, 2, &parts[i]));
    if (!checked_add(columns, parts[i]->shape.dims[1], &columns))
      return pt_refuse(op, "of this size");
  }
  TRY(make_scalar(op->make, parts[0]->dtype, 0, &zero));
  for (size_t i = 0; i < count; i++) {
    const int64_t own = parts[i]->shape.dims[1], pads[] = {0, before, 0, columns - before - own};
    TRY(make_ints(op->make, pads, 4, &widths));
    TRY(make_node(op->make, OP_Pad, VALUES(parts[i], widths, zero),
                  ARGS(STRING_ARG("mode", "constant")), &parts[i]));
    before += own;
  }
  TRY(make_node(op->make, OP_Concat, parts, count, ARGS(INT_ARG("axis", 0)), &y));
  return pt_result(op, 0, y);
}

static hone_status ends(struct pt_op *op, struct value *x, int64_t axis, struct value **first,
                        struct value **last) {
  const int64_t dim = x->shape.dims[axis];
  TRY(pt_slice(op, x, axis, 0, dim ? dim - 1 : 0, 1, first));
  return pt_slice(op, x, axis, dim ? 1 : 0, INT64_MAX, 1, last);
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
  if (!dtype_is_float(y->dtype)) TRY(make_cast(op->make, y, HONE_F32, &y));
  TRY(ends(op, y, axis, &a, &b));
  TRY(make_node(op->make, OP_Add, VALUES(a, b), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Mul, y, 0.5, &y));
  if (x) {
    int64_t dims[HONE_MAX_RANK];
    const bool is_list = x->shape.rank == 1;
    if (!is_list && x->shape.rank != y->shape.rank) return pt_refuse(op, "of unequal ranks");
    TRY(make_cast(op->make, x, y->dtype, &x));
    TRY(ends(op, x, is_list ? 0 : axis, &a, &b));
    TRY(make_node(op->make, OP_Sub, VALUES(b, a), NULL, &step));
    for (int d = 0; d < y->shape.rank; d++) dims[d] = d == axis ? step->shape.dims[0] : 1;
    if (is_list) TRY(make_reshape(op->make, step, dims, (size_t)y->shape.rank, &step));
    TRY(make_node(op->make, OP_Mul, VALUES(y, step), NULL, &y));
  } else {
    TRY(make_with_scalar(op->make, OP_Mul, y, width, &y));
  }
  if (op->parameter) {
    TRY(make_scalar(op->make, HONE_I64, (double)axis, &axes));
    TRY(make_node(op->make, OP_CumSum, VALUES(y, axes), NULL, &y));
  } else {
    TRY(make_ints(op->make, &axis, 1, &axes));
    TRY(make_node(op->make, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0)), &y));
  }
  return pt_result(op, 0, y);
}

/* Sums of products along a dimension. */
hone_status build_vector_dot(struct pt_op *op) {
  struct value *x, *y, *axes;
  int64_t axis;
  TRY(pt_need(op, "x", &x));
  TRY(pt_need(op, "y", &y));
  TRY(make_node(op->make, OP_Mul, VALUES(x, y), NULL, &y));
  TRY(pt_axis(op, "dim", -1, y->shape.rank, &axis));
  TRY(make_ints(op->make, &axis, 1, &axes));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0)), &y));
  return pt_result(op, 0, y);
}

/* A chain of matrix products. */
hone_status build_chain(struct pt_op *op) {
  struct value *parts[64], *y;
  size_t count;
  TRY(pt_tensors(op, pt_given(op, "matrices") ? "matrices" : "tensors", COUNT(parts), parts,
                 &count));
  if (!count) return pt_refuse(op, "of no tensors");
  y = parts[0];
  for (size_t i = 1; i < count; i++)
    TRY(make_node(op->make, OP_MatMul, VALUES(y, parts[i]), NULL, &y));
  return pt_result(op, 0, y);
}

/* All combinations of one element of each list, one per row. */
hone_status build_cartesian_product(struct pt_op *op) {
  struct value *parts[HONE_MAX_RANK], *y;
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
    TRY(make_reshape(op->make, parts[i], one, count + 1, &parts[i]));
    TRY(make_expand(op->make, parts[i], dims, count + 1, &parts[i]));
  }
  TRY(make_node(op->make, OP_Concat, parts, count, ARGS(INT_ARG("axis", -1)), &y));
  TRY(make_reshape(op->make, y, (const int64_t[]){-1, (int64_t)count}, 2, &y));
  return pt_result(op, 0, y);
}

/* -- quantiles */

struct quantile {
  struct value *sorted; /* the dimension is last */
  struct value *at;     /* positions among the sorted elements, as floats: [count] */
  const char *how;
};

/* Sorted elements at integer positions. */
static hone_status elements_at(struct pt_op *op, const struct quantile *q, enum op_id rounding,
                               struct value **out) {
  struct value *at;
  TRY(make_node(op->make, rounding, VALUES(q->at), NULL, &at));
  TRY(make_cast(op->make, at, HONE_I64, &at));
  return make_node(op->make, OP_Gather, VALUES(q->sorted, at), ARGS(INT_ARG("axis", -1)), out);
}

static hone_status interpolated(struct pt_op *op, const struct quantile *q, struct value **out) {
  struct value *low, *high, *part;
  const bool is_linear = !strcmp(q->how, "linear");
  if (!strcmp(q->how, "lower")) return elements_at(op, q, OP_Floor, out);
  if (!strcmp(q->how, "higher")) return elements_at(op, q, OP_Ceil, out);
  if (!strcmp(q->how, "nearest")) return elements_at(op, q, OP_Round, out);
  if (!is_linear && strcmp(q->how, "midpoint"))
    return pt_refuse(op, "with interpolation %s", q->how);
  TRY(elements_at(op, q, OP_Floor, &low));
  TRY(elements_at(op, q, OP_Ceil, &high));
  TRY(make_node(op->make, OP_Floor, VALUES(q->at), NULL, &part));
  TRY(make_node(op->make, OP_Sub, VALUES(q->at, part), NULL, &part));
  if (!is_linear) TRY(make_scalar(op->make, q->at->dtype, 0.5, &part));
  TRY(make_node(op->make, OP_Sub, VALUES(high, low), NULL, &high));
  TRY(make_node(op->make, OP_Mul, VALUES(high, part), NULL, &high));
  return make_node(op->make, OP_Add, VALUES(low, high), NULL, out);
}

/* Sorts the dimension, which becomes the last; all NaN if one element is NaN. */
static hone_status sort_last(struct pt_op *op, int64_t axis, struct value **x,
                             struct value **is_nan) {
  const int rank = (*x)->shape.rank;
  int64_t perm[HONE_MAX_RANK], at = 0;
  struct value *count, *axes, *y[2];
  for (int d = 0; d < rank; d++)
    if (d != axis) perm[at++] = d;
  perm[at] = axis;
  TRY(make_transpose(op->make, *x, perm, x));
  TRY(make_node(op->make, OP_IsNaN, VALUES(*x), NULL, is_nan));
  TRY(make_ints(op->make, (const int64_t[]){-1}, 1, &axes));
  TRY(make_node(op->make, OP_ReduceMax, VALUES(*is_nan, axes), ARGS(INT_ARG("keepdims", 1)),
                is_nan));
  TRY(make_ints(op->make, &(*x)->shape.dims[rank - 1], 1, &count));
  TRY(make_nodes(op->make, OP_TopK, VALUES(*x, count),
                 ARGS(INT_ARG("axis", -1), INT_ARG("largest", 0)), 2, y));
  *x = y[0];
  return HONE_OK;
}

/* A list of quantiles becomes the first dimension of the result, followed by the other
 * dimensions. */
hone_status build_quantile(struct pt_op *op) {
  struct value *x, *levels, *is_nan, *nan, *y;
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
  if (is_flat || !rank) TRY(make_reshape(op->make, x, (const int64_t[]){-1}, 1, &x));
  TRY(sort_last(op, is_flat || !rank ? 0 : axis, &x, &is_nan));
  TRY(make_cast(op->make, levels, x->dtype, &levels));
  TRY(make_reshape(op->make, levels, (const int64_t[]){-1}, 1, &levels));
  const int last = x->shape.rank - 1;
  TRY(make_with_scalar(op->make, OP_Mul, levels, (double)(x->shape.dims[last] - 1), &q.at));
  q.sorted = x;
  TRY(interpolated(op, &q, &y));
  TRY(make_scalar(op->make, y->dtype, (double)NAN, &nan));
  TRY(make_node(op->make, OP_Where, VALUES(is_nan, nan, y), NULL, &y)); /* [.., levels] */
  for (int d = 0; d < last; d++) perm[d + 1] = d;
  perm[0] = last;
  TRY(make_transpose(op->make, y, perm, &y));
  size_t at = 0;
  if (extra) dims[at++] = y->shape.dims[0];
  for (int d = 0; d < rank; d++)
    if (is_flat || d == axis) {
      if (keep) dims[at++] = 1;
    } else {
      dims[at++] = shape.dims[d];
    }
  TRY(make_reshape(op->make, y, dims, at, &y));
  return pt_result(op, 0, y);
}
