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

hone_status pt_slice(struct pt_op *op, struct value *x, int64_t axis, int64_t start, int64_t end,
                     int64_t step, struct value **out) {
  struct value *starts, *ends, *axes, *steps;
  TRY(make_ints(op->make, &start, 1, &starts));
  TRY(make_ints(op->make, &end, 1, &ends));
  TRY(make_ints(op->make, &axis, 1, &axes));
  TRY(make_ints(op->make, &step, 1, &steps));
  return make_node(op->make, OP_Slice, VALUES(x, starts, ends, axes, steps), NULL, out);
}

hone_status pt_index_list(struct pt_op *op, const int64_t *list, const int64_t *dims, size_t rank,
                          struct value **out) {
  int64_t count = 1; /* checked by the caller */
  for (size_t d = 0; d < rank; d++) count *= dims[d];
  TRY(make_ints(op->make, list, (size_t)count, out));
  return rank == 1 ? HONE_OK : make_reshape(op->make, *out, dims, rank, out);
}

/* x with `part` at [start, start + step, ..) of an axis */
hone_status pt_put_slice(struct pt_op *op, struct value *x, struct value *part, int64_t axis,
                         int64_t start, int64_t step, struct value **out) {
  struct value *parts[3], *index, *shape;
  size_t count = 0;
  int64_t n = part->shape.dims[axis], end = start + (n ? (n - 1) * step + 1 : 0);
  TRY(make_cast(op->make, part, x->dtype, &part));
  *out = x;
  if (!n) return HONE_OK;
  if (step != 1) {
    int64_t *list, dims[HONE_MAX_RANK];
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)n));
    for (int64_t i = 0; i < n; i++) list[i] = start + i * step;
    for (int d = 0; d < x->shape.rank; d++) dims[d] = d == axis ? n : 1;
    TRY(pt_index_list(op, list, dims, (size_t)x->shape.rank, &index));
    TRY(make_ints(op->make, part->shape.dims, (size_t)part->shape.rank, &shape));
    TRY(make_node(op->make, OP_Expand, VALUES(index, shape), NULL, &index));
    return make_node(op->make, OP_ScatterElements, VALUES(x, index, part),
                     ARGS(INT_ARG("axis", axis)), out);
  }
  if (start > 0) TRY(pt_slice(op, x, axis, 0, start, 1, &parts[count++]));
  parts[count++] = part;
  if (end < x->shape.dims[axis]) TRY(pt_slice(op, x, axis, end, INT64_MAX, 1, &parts[count++]));
  if (count == 1) {
    *out = part;
    return HONE_OK;
  }
  return make_node(op->make, OP_Concat, parts, count, ARGS(INT_ARG("axis", axis)), out);
}

hone_status pt_part(struct pt_op *op, struct value *x, int64_t part, struct value **out) {
  struct value *index;
  TRY(make_scalar(op->make, HONE_I64, (double)part, &index));
  return make_node(op->make, OP_Gather, VALUES(x, index), ARGS(INT_ARG("axis", -1)), out);
}

hone_status pt_expand(struct pt_op *op, struct value *x, const struct shape *shape,
                      struct value **out) {
  return make_expand(op->make, x, shape->dims, (size_t)shape->rank, out);
}

hone_status pt_insert_axis(struct pt_op *op, struct value *x, int at, struct value **out) {
  int64_t dims[HONE_MAX_RANK];
  const int rank = x->shape.rank + 1;
  if (rank > HONE_MAX_RANK) return pt_refuse(op, "of rank %d", rank);
  for (int d = 0; d < rank; d++) dims[d] = d == at ? 1 : x->shape.dims[d < at ? d : d - 1];
  return make_reshape(op->make, x, dims, (size_t)rank, out);
}

hone_status pt_reduce_axis(struct pt_op *op, enum op_id id, struct value *x, int64_t axis,
                           struct value **out) {
  struct value *axes;
  TRY(make_ints(op->make, &axis, 1, &axes));
  return make_node(op->make, id, VALUES(x, axes), ARGS(INT_ARG("keepdims", 0)), out);
}

hone_status pt_count_up(struct pt_op *op, int64_t count, struct value **out) {
  int64_t *list;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)count + 1));
  for (int64_t i = 0; i < count; i++) list[i] = i;
  return make_ints(op->make, list, (size_t)count, out);
}
