/* scatter: ATen operators that read or write at lists of indices, and that make such lists. */
#include "pt2.h"

/* An index list along `axis`, expanded to every element of `shape`. */
static hone_status along(struct pt_op *op, struct value *index, int64_t axis,
                         const struct shape *shape, struct value **out) {
  int64_t dims[HONE_MAX_RANK], count = make_elements(index);
  if (axis >= shape->rank || count != shape->dims[axis])
    return pt_refuse(op, "with an index that does not match");
  for (int d = 0; d < shape->rank; d++) dims[d] = d == axis ? count : 1;
  BUILD(op->b, index = x_reshape(op->b, index, dims, shape->rank));
  return x_give(op->b, out, pt_expand(op, index, shape));
}

/* index_add, index_copy (parameter 1), index_fill (2): writes slices of a dimension at a list of
 * indices. */
hone_status build_index_add(struct pt_op *op) {
  struct value *x, *index, *source, *alpha;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  if (!x->shape.rank) return pt_refuse(op, "of rank 0");
  if (op->parameter == 2) {
    struct shape shape = x->shape;
    shape.dims[axis] = make_elements(index);
    TRY(pt_operand(op, "value", x, &source));
    BUILD(op->b, source = x_cast(op->b, source, x->dtype));
    BUILD(op->b, source = pt_expand(op, source, &shape));
  } else {
    TRY(pt_need(op, "source", &source));
    source = x_cast(op->b, source, x->dtype);
  }
  if (pt_given(op, "alpha")) {
    TRY(pt_operand(op, "alpha", x, &alpha));
    BUILD(op->b, source = x_2(op->b, OP_Mul, source, x_cast(op->b, alpha, x->dtype)));
  }
  TRY(along(op, index, axis, &source->shape, &index));
  struct value *y =
      x_args(op->b, OP_ScatterElements, VALUES(x, index, source),
             ARGS(INT_ARG("axis", axis), STRING_ARG("reduction", op->parameter ? "none" : "add")));
  return pt_result(op, 0, y);
}

hone_status pt_place_in_order(struct pt_op *op, struct value *x, struct value *mask,
                              struct value *source, struct value **out) {
  static const int64_t flat[] = {-1};
  struct shape shape;
  if (!shape_broadcast(&x->shape, &mask->shape, &shape) || !shape_equal(&shape, &x->shape))
    return pt_refuse(op, "with a mask that does not match");
  mask = pt_expand(op, mask, &shape);
  struct value *at = x_2(op->b, OP_CumSum, x_cast(op->b, x_reshape(op->b, mask, flat, 1), HONE_I64),
                         x_scalar(op->b, HONE_I64, 0));
  at = x_by(op->b, OP_Max, x_by(op->b, OP_Sub, at, 1), 0);
  BUILD(op->b, source = x_reshape(op->b, source, flat, 1));
  struct value *y =
      x_gather(op->b, source, x_by(op->b, OP_Min, at, (double)(source->shape.dims[0] - 1)), 0);
  return x_give(op->b, out,
                x_3(op->b, OP_Where, mask, x_reshape(op->b, y, shape.dims, shape.rank), x));
}

hone_status build_masked_scatter(struct pt_op *op) {
  struct value *x, *mask, *source, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mask", &mask));
  TRY(pt_need(op, "source", &source));
  struct shape all;
  if (shape_broadcast(&x->shape, &mask->shape, &all) && !shape_equal(&all, &x->shape))
    BUILD(op->b, x = x_2(op->b, OP_Expand, x, x_list(op->b, all.dims, (size_t)all.rank)));
  TRY(pt_place_in_order(op, x, mask, source, &y));
  return pt_result(op, 0, y);
}

/* gather with operands that broadcast, except along the dimension. */
hone_status build_take_along(struct pt_op *op) {
  struct value *x, *index;
  int64_t axis;
  struct shape one, other, all;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "indices", &index));
  if (!pt_given(op, "dim")) { /* for flattened tensors */
    x = x_reshape(op->b, x, (const int64_t[]){-1}, 1);
    BUILD(op->b, index = x_reshape(op->b, index, (const int64_t[]){-1}, 1));
  }
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  one = x->shape, other = index->shape;
  if (one.rank != other.rank || !one.rank) return pt_refuse(op, "of different ranks");
  one.dims[axis] = other.dims[axis] = 1;
  if (!shape_broadcast(&one, &other, &all)) return pt_refuse(op, "of shapes that do not broadcast");
  one = other = all;
  one.dims[axis] = x->shape.dims[axis], other.dims[axis] = index->shape.dims[axis];
  x = pt_expand(op, x, &one);
  index = pt_expand(op, index, &other);
  return pt_result(op, 0,
                   x_args(op->b, OP_GatherElements, VALUES(x, index), ARGS(INT_ARG("axis", axis))));
}

/* Elements by their index in the flattened tensor. */
hone_status build_take(struct pt_op *op) {
  struct value *x, *index;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  const int64_t flat[] = {make_elements(x)};
  return pt_result(op, 0, x_gather(op->b, x_reshape(op->b, x, flat, 1), index, 0));
}

/* tril_indices, triu_indices (parameter 1): indices of a triangle, [2, count]. */
hone_status build_triangle_places(struct pt_op *op) {
  enum { MOST = 1 << 22 };
  int64_t rows, columns, offset, *list, at = 0;
  TRY(pt_int(op, "row", 0, &rows));
  TRY(pt_int(op, "col", 0, &columns));
  TRY(pt_int(op, "offset", 0, &offset));
  int64_t all = 0;
  if (rows < 0 || columns < 0 || !checked_mul(rows, columns, &all) || all > MOST)
    return pt_refuse(op, "of %lld by %lld", (long long)rows, (long long)columns);
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, 2 * (size_t)all + 1));
  for (int half = 0; half < 2; half++)
    for (int64_t i = 0; i < all; i++) {
      const int64_t row = i / columns, column = i % columns;
      if (op->parameter ? column - row >= offset : column - row <= offset)
        list[at++] = half ? column : row;
    }
  const int64_t dims[] = {2, at / 2};
  return pt_result(op, 0, pt_index_list(op, list, dims, 2));
}

hone_status build_one_hot(struct pt_op *op) {
  struct value *x, *y;
  int64_t classes;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "num_classes", -1, &classes));
  if (classes < 1 || classes > 1 << 24)
    return pt_refuse(op, "with %lld classes", (long long)classes);
  TRY(pt_count_up(op, classes, &y));
  TRY(pt_insert_axis(op, x, x->shape.rank, &x));
  return pt_result(op, 0, x_cast(op->b, x_2(op->b, OP_Equal, x, y), HONE_I64));
}
