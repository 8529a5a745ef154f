/* slices: dimension arguments, and parts of a tensor; shared by operators and views. */
#include "pt2.h"

hone_status pt_axis_of(struct pt_op *op, int64_t axis, int rank, int64_t *out) {
  int limit = rank ? rank : 1;
  if (axis < -limit || axis >= limit)
    return fail(op->ctx, HONE_E_SHAPE, pt_place(op), "%s: dimension %lld of rank %d", op->target,
                (long long)axis, rank);
  *out = axis < 0 ? axis + limit : axis;
  return HONE_OK;
}

hone_status pt_axis(struct pt_op *op, const char *name, int64_t otherwise, int rank, int64_t *out) {
  TRY(pt_int(op, name, otherwise, out));
  return pt_axis_of(op, *out, rank, out);
}

hone_status pt_perm(struct pt_op *op, const struct value *x, int64_t *perm) {
  int64_t a, b;
  size_t count;
  int rank = x->shape.rank;
  if (pt_given(op, "dim0") || pt_given(op, "axis0")) {
    const char *first = pt_given(op, "dim0") ? "dim0" : "axis0";
    for (int d = 0; d < rank; d++) perm[d] = d;
    TRY(pt_axis(op, first, 0, rank, &a));
    TRY(pt_axis(op, *first == 'd' ? "dim1" : "axis1", 0, rank, &b));
    if (rank) perm[a] = b, perm[b] = a;
  } else if (!strncmp(op->target, "aten.m", 6) && op->target[7] == '.') { /* mT, mH */
    if (rank < 2) return pt_refuse(op, "of rank %d", rank);
    for (int d = 0; d < rank; d++) perm[d] = d;
    perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
  } else if (!pt_given(op, "dims")) { /* t */
    for (int d = 0; d < rank; d++) perm[d] = rank - 1 - d;
  } else {
    TRY(pt_ints(op, "dims", HONE_MAX_RANK, perm, &count));
    if ((int)count != rank) return pt_refuse(op, "with %zu dimensions at rank %d", count, rank);
    for (int d = 0; d < rank; d++) TRY(pt_axis_of(op, perm[d], rank, &perm[d]));
  }
  return HONE_OK;
}

struct value *pt_slice(struct pt_op *op, struct value *x, int64_t axis, int64_t start, int64_t end,
                       int64_t step) {
  struct value *starts = x_list(op->b, &start, 1);
  return x_op(
      op->b, OP_Slice,
      VALUES(x, starts, x_list(op->b, &end, 1), x_list(op->b, &axis, 1), x_list(op->b, &step, 1)));
}

struct value *pt_index_list(struct pt_op *op, const int64_t *list, const int64_t *dims,
                            size_t rank) {
  int64_t count = 1; /* checked by the caller */
  for (size_t d = 0; d < rank; d++) count *= dims[d];
  struct value *out = x_list(op->b, list, (size_t)count);
  if (rank != 1) out = x_reshape(op->b, out, dims, (int)rank);
  return out;
}

/* x with `part` at [start, start + step, ..) of an axis */
hone_status pt_put_slice(struct pt_op *op, struct value *x, struct value *part, int64_t axis,
                         int64_t start, int64_t step, struct value **out) {
  struct value *parts[3], *index;
  size_t count = 0;
  int64_t n = part->shape.dims[axis], end = start + (n ? (n - 1) * step + 1 : 0);
  BUILD(op->b, part = x_cast(op->b, part, x->dtype));
  *out = x;
  if (!n) return HONE_OK;
  if (step != 1) {
    int64_t *list, dims[HONE_MAX_RANK];
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)n));
    for (int64_t i = 0; i < n; i++) list[i] = start + i * step;
    for (int d = 0; d < x->shape.rank; d++) dims[d] = d == axis ? n : 1;
    index = x_2(op->b, OP_Expand, pt_index_list(op, list, dims, (size_t)x->shape.rank),
                x_list(op->b, part->shape.dims, (size_t)part->shape.rank));
    return x_give(
        op->b, out,
        x_args(op->b, OP_ScatterElements, VALUES(x, index, part), ARGS(INT_ARG("axis", axis))));
  }
  if (start > 0) BUILD(op->b, parts[count++] = pt_slice(op, x, axis, 0, start, 1));
  parts[count++] = part;
  if (end < x->shape.dims[axis])
    BUILD(op->b, parts[count++] = pt_slice(op, x, axis, end, INT64_MAX, 1));
  if (count == 1) {
    *out = part;
    return HONE_OK;
  }
  return x_give(op->b, out, x_concat(op->b, axis, parts, count));
}

struct value *pt_part(struct pt_op *op, struct value *x, int64_t part) {
  return x_gather(op->b, x, x_scalar(op->b, HONE_I64, (double)part), -1);
}

struct value *pt_expand(struct pt_op *op, struct value *x, const struct shape *shape) {
  return x_2(op->b, OP_Expand, x, x_list(op->b, shape->dims, (size_t)shape->rank));
}

hone_status pt_insert_axis(struct pt_op *op, struct value *x, int at, struct value **out) {
  int64_t dims[HONE_MAX_RANK];
  const int rank = x->shape.rank + 1;
  if (rank > HONE_MAX_RANK) return pt_refuse(op, "of rank %d", rank);
  for (int d = 0; d < rank; d++) dims[d] = d == at ? 1 : x->shape.dims[d < at ? d : d - 1];
  return x_give(op->b, out, x_reshape(op->b, x, dims, rank));
}

struct value *pt_reduce_axis(struct pt_op *op, enum op_id id, struct value *x, int64_t axis) {
  return x_args(op->b, id, VALUES(x, x_list(op->b, &axis, 1)), ARGS(INT_ARG("keepdims", 0)));
}

hone_status pt_count_up(struct pt_op *op, int64_t count, struct value **out) {
  int64_t *list;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)count + 1));
  for (int64_t i = 0; i < count; i++) list[i] = i;
  return x_give(op->b, out, x_list(op->b, list, (size_t)count));
}
