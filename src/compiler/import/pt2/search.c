/* pt2_sets: ATen operators that place, count or compare whole sets of elements. */
#include "pt2.h"

#include <math.h>

/* -- small forms */

static hone_status expanded(struct pt_op *op, struct value *x, const struct shape *shape,
                            struct value **out) {
  return make_expand(op->make, x, shape->dims, (size_t)shape->rank, out);
}

/* x with a dimension of 1 before axis `at`. */
static hone_status opened(struct pt_op *op, struct value *x, int at, struct value **out) {
  int64_t dims[HONE_MAX_RANK];
  const int rank = x->shape.rank + 1;
  if (rank > HONE_MAX_RANK) return pt_refuse(op, "of rank %d", rank);
  for (int d = 0; d < rank; d++) dims[d] = d == at ? 1 : x->shape.dims[d < at ? d : d - 1];
  return make_reshape(op->make, x, dims, (size_t)rank, out);
}

static hone_status total(struct pt_op *op, enum op_id id, struct value *x, int64_t axis,
                         struct value **out) {
  struct value *axes;
  TRY(make_ints(op->make, &axis, 1, &axes));
  return make_node(op->make, id, VALUES(x, axes), ARGS(INT_ARG("keepdims", 0)), out);
}

/* The list 0, 1, .. count - 1. */
static hone_status counted(struct pt_op *op, int64_t count, struct value **out) {
  int64_t *list;
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)count + 1));
  for (int64_t i = 0; i < count; i++) list[i] = i;
  return make_ints(op->make, list, (size_t)count, out);
}

/* A list of indices along `axis` for every place of `shape`. */
static hone_status along(struct pt_op *op, struct value *index, int64_t axis,
                         const struct shape *shape, struct value **out) {
  int64_t dims[HONE_MAX_RANK], count = make_elements(index);
  if (axis >= shape->rank || count != shape->dims[axis])
    return pt_refuse(op, "of an index that does not fit");
  for (int d = 0; d < shape->rank; d++) dims[d] = d == axis ? count : 1;
  TRY(make_reshape(op->make, index, dims, (size_t)shape->rank, &index));
  return expanded(op, index, shape, out);
}

/* -- placing */

/* index_add, index_copy (parameter 1), index_fill (2): slices of a dimension by a list of places. */
hone_status build_index_add(struct pt_op *op) {
  struct value *x, *index, *source, *alpha, *y;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  if (!x->shape.rank) return pt_refuse(op, "of rank 0");
  if (op->parameter == 2) {
    struct shape shape = x->shape;
    shape.dims[axis] = make_elements(index);
    TRY(pt_operand(op, "value", x, &source));
    TRY(make_cast(op->make, source, x->dtype, &source));
    TRY(expanded(op, source, &shape, &source));
  } else {
    TRY(pt_need(op, "source", &source));
    TRY(make_cast(op->make, source, x->dtype, &source));
  }
  if (pt_given(op, "alpha")) {
    TRY(pt_operand(op, "alpha", x, &alpha));
    TRY(make_cast(op->make, alpha, x->dtype, &alpha));
    TRY(make_node(op->make, OP_Mul, VALUES(source, alpha), NULL, &source));
  }
  TRY(along(op, index, axis, &source->shape, &index));
  TRY(make_node(
      op->make, OP_ScatterElements, VALUES(x, index, source),
      ARGS(INT_ARG("axis", axis), STRING_ARG("reduction", op->parameter ? "none" : "add")), &y));
  return pt_result(op, 0, y);
}

hone_status pt_place_in_order(struct pt_op *op, struct value *x, struct value *mask,
                              struct value *source, struct value **out) {
  static const int64_t flat[] = {-1};
  struct value *at, *zero, *y;
  struct shape shape;
  if (!shape_broadcast(&x->shape, &mask->shape, &shape) || !shape_equal(&shape, &x->shape))
    return pt_refuse(op, "of a mask that does not fit");
  TRY(expanded(op, mask, &shape, &mask));
  TRY(make_reshape(op->make, mask, flat, 1, &at));
  TRY(make_cast(op->make, at, HONE_I64, &at));
  TRY(make_scalar(op->make, HONE_I64, 0, &zero));
  TRY(make_node(op->make, OP_CumSum, VALUES(at, zero), NULL, &at));
  TRY(make_with_scalar(op->make, OP_Sub, at, 1, &at));
  TRY(make_with_scalar(op->make, OP_Max, at, 0, &at));
  TRY(make_reshape(op->make, source, flat, 1, &source));
  TRY(make_with_scalar(op->make, OP_Min, at, (double)(source->shape.dims[0] - 1), &at));
  TRY(make_node(op->make, OP_Gather, VALUES(source, at), ARGS(INT_ARG("axis", 0)), &y));
  TRY(make_reshape(op->make, y, shape.dims, (size_t)shape.rank, &y));
  return make_node(op->make, OP_Where, VALUES(mask, y, x), NULL, out);
}

hone_status build_masked_scatter(struct pt_op *op) {
  struct value *x, *mask, *source, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mask", &mask));
  TRY(pt_need(op, "source", &source));
  struct shape all;
  if (shape_broadcast(&x->shape, &mask->shape, &all) && !shape_equal(&all, &x->shape))
    TRY(make_expand(op->make, x, all.dims, (size_t)all.rank, &x));
  TRY(pt_place_in_order(op, x, mask, source, &y));
  return pt_result(op, 0, y);
}

/* gather of operands that are repeated to fit, but for the dimension itself. */
hone_status build_take_along(struct pt_op *op) {
  struct value *x, *index, *y;
  int64_t axis;
  struct shape one, other, all;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "indices", &index));
  if (!pt_given(op, "dim")) { /* of the flat tensors */
    TRY(make_reshape(op->make, x, (const int64_t[]){-1}, 1, &x));
    TRY(make_reshape(op->make, index, (const int64_t[]){-1}, 1, &index));
  }
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  one = x->shape, other = index->shape;
  if (one.rank != other.rank || !one.rank) return pt_refuse(op, "of unequal ranks");
  one.dims[axis] = other.dims[axis] = 1;
  if (!shape_broadcast(&one, &other, &all)) return pt_refuse(op, "of shapes that do not fit");
  one = other = all;
  one.dims[axis] = x->shape.dims[axis], other.dims[axis] = index->shape.dims[axis];
  TRY(expanded(op, x, &one, &x));
  TRY(expanded(op, index, &other, &index));
  TRY(make_node(op->make, OP_GatherElements, VALUES(x, index), ARGS(INT_ARG("axis", axis)), &y));
  return pt_result(op, 0, y);
}

/* tril_indices, triu_indices (parameter 1): places of a triangle, [2, count]. */
hone_status build_triangle_places(struct pt_op *op) {
  enum { MOST = 1 << 22 };
  int64_t rows, columns, offset, *list, at = 0;
  struct value *y;
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
  TRY(pt_index_list(op, list, dims, 2, &y));
  return pt_result(op, 0, y);
}

hone_status build_one_hot(struct pt_op *op) {
  struct value *x, *y;
  int64_t classes;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "num_classes", -1, &classes));
  if (classes < 1 || classes > 1 << 24) return pt_refuse(op, "of %lld classes", (long long)classes);
  TRY(counted(op, classes, &y));
  TRY(opened(op, x, x->shape.rank, &x));
  TRY(make_node(op->make, OP_Equal, VALUES(x, y), NULL, &y));
  TRY(make_cast(op->make, y, HONE_I64, &y));
  return pt_result(op, 0, y);
}

/* -- comparing and counting */

/* bucketize, searchsorted (parameter 1): how many of the sorted numbers are less than x, or `right`: not more. */
hone_status build_search(struct pt_op *op) {
  struct value *x, *sorted, *y;
  int64_t right, small;
  const char *side;
  TRY(pt_operand(op, "self", NULL, &x));
  TRY(pt_need(op, op->parameter ? "sorted_sequence" : "boundaries", &sorted));
  TRY(pt_int(op, "right", 0, &right));
  TRY(pt_int(op, "out_int32", 0, &small));
  TRY(pt_text(op, "side", right ? "right" : "left", &side));
  if (pt_given(op, "sorter")) return pt_refuse(op, "with a sorter");
  const int rank = x->shape.rank;
  if (sorted->shape.rank != 1 && sorted->shape.rank != rank)
    return pt_refuse(op, "of rank %d in lists of rank %d", rank, sorted->shape.rank);
  TRY(opened(op, x, rank, &x));
  if (sorted->shape.rank > 1) TRY(opened(op, sorted, sorted->shape.rank - 1, &sorted));
  if (sorted->dtype != x->dtype) TRY(make_cast(op->make, sorted, HONE_F32, &sorted));
  TRY(make_cast(op->make, x, sorted->dtype, &x));
  /* NaN is above all: it is counted as what is not reached */
  TRY(make_node(op->make, strcmp(side, "right") ? OP_LessOrEqual : OP_Less, VALUES(x, sorted), NULL,
                &y));
  TRY(make_node(op->make, OP_Not, VALUES(y), NULL, &y));
  TRY(make_cast(op->make, y, small ? HONE_I32 : HONE_I64, &y));
  TRY(total(op, OP_ReduceSum, y, rank, &y));
  return pt_result(op, 0, y);
}

/* histc: how many elements lie in each of `bins` equal parts of [min, max]. One on a border belongs to the upper part, max
   itself to the last. */
hone_status build_histogram(struct pt_op *op) {
  enum { MOST = 1 << 16 };
  static const int64_t flat[] = {-1, 1};
  struct value *x, *low, *high, *above, *below, *outside, *parts, *y;
  int64_t bins;
  double least, most;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "bins", 100, &bins));
  TRY(pt_float(op, "min", 0, &least));
  TRY(pt_float(op, "max", 0, &most));
  if (bins < 1 || bins > MOST) return pt_refuse(op, "of %lld parts", (long long)bins);
  if (!(least < most)) return pt_refuse(op, "between the data's own least and largest");
  const hone_dtype dtype = x->dtype;
  TRY(counted(op, bins, &parts));
  TRY(make_cast(op->make, parts, HONE_F32, &parts));
  TRY(make_cast(op->make, x, HONE_F32, &x));
  TRY(make_reshape(op->make, x, flat, 2, &x));
  TRY(make_scalar(op->make, HONE_F32, least, &low));
  TRY(make_scalar(op->make, HONE_F32, most, &high));
  TRY(make_scalar(op->make, HONE_F32, -1, &outside));
  TRY(make_node(op->make, OP_GreaterOrEqual, VALUES(x, low), NULL, &above));
  TRY(make_node(op->make, OP_LessOrEqual, VALUES(x, high), NULL, &below));
  TRY(make_node(op->make, OP_And, VALUES(above, below), NULL, &above));
  TRY(make_with_scalar(op->make, OP_Sub, x, least, &y));
  TRY(make_with_scalar(op->make, OP_Div, y, most - least, &y));
  TRY(make_with_scalar(op->make, OP_Mul, y, (double)bins, &y));
  TRY(make_node(op->make, OP_Floor, VALUES(y), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Min, y, (double)(bins - 1), &y));
  TRY(make_node(op->make, OP_Where, VALUES(above, y, outside), NULL, &y));
  TRY(make_node(op->make, OP_Equal, VALUES(y, parts), NULL, &y));
  TRY(make_cast(op->make, y, HONE_F32, &y));
  TRY(total(op, OP_ReduceSum, y, 0, &y));
  TRY(make_cast(op->make, y, dtype, &y));
  return pt_result(op, 0, y);
}

/* grouped_mm_fallback of transformers, _grouped_mm (parameter 1): rows up to offs[g] of x, and not up to offs[g - 1], times
   matrix g; rows behind the last are zero. */
hone_status build_grouped_product(struct pt_op *op) {
  struct value *x, *w, *ends, *y;
  TRY(pt_need(op, op->parameter ? "self" : "input", &x));
  TRY(pt_need(op, op->parameter ? "mat2" : "weight", &w));
  TRY(pt_need(op, "offs", &ends));
  if (op->parameter && pt_given(op, "bias")) return pt_refuse(op, "with a bias");
  if (x->shape.rank != 2 || w->shape.rank != 3 || ends->shape.rank != 1)
    return pt_refuse(op, "of these ranks");
  const hone_dtype dtype = x->dtype;
  TRY(make_cast(op->make, x, HONE_F32, &x));
  TRY(make_cast(op->make, w, HONE_F32, &w));
  TRY(make_node(op->make, OP_GroupedMatMul, VALUES(x, w, ends), NULL, &y));
  TRY(make_cast(op->make, y, dtype, &y));
  return pt_result(op, 0, y);
}

hone_status build_count(struct pt_op *op) {
  struct value *x, *axes = NULL, *y;
  int64_t list[HONE_MAX_RANK];
  size_t count = 0;
  TRY(pt_need(op, "self", &x));
  if (json_is_array(pt_argument(op, "dim"))) {
    TRY(pt_ints(op, "dim", HONE_MAX_RANK, list, &count));
  } else if (pt_given(op, "dim")) {
    TRY(pt_int(op, "dim", 0, &list[0]));
    count = 1;
  }
  for (size_t i = 0; i < count; i++) TRY(pt_axis_of(op, list[i], x->shape.rank, &list[i]));
  if (count) TRY(make_ints(op->make, list, count, &axes));
  TRY(make_cast(op->make, x, HONE_BOOL, &x));
  TRY(make_cast(op->make, x, HONE_I64, &x));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(x, axes), ARGS(INT_ARG("keepdims", 0)), &y));
  return pt_result(op, 0, y);
}

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
  TRY(opened(op, a, rank - 1, &a));
  TRY(opened(op, b, b->shape.rank - 2, &b));
  TRY(make_node(op->make, OP_Sub, VALUES(a, b), NULL, &y));
  const int64_t last = y->shape.rank - 1;
  if (order == 1 || order == 2) {
    TRY(total(op, order == 1 ? OP_ReduceL1 : OP_ReduceL2, y, last, &y));
    return pt_result(op, 0, y);
  }
  TRY(make_node(op->make, OP_Abs, VALUES(y), NULL, &y));
  if (!isinf(order)) TRY(make_with_scalar(op->make, OP_Pow, y, order, &y));
  TRY(total(op, isinf(order) ? OP_ReduceMax : OP_ReduceSum, y, last, &y));
  if (!isinf(order)) TRY(make_with_scalar(op->make, OP_Pow, y, 1 / order, &y));
  return pt_result(op, 0, y);
}

/* x1 . x2 by their lengths, of which none counts as less than eps. */
hone_status build_cosine(struct pt_op *op) {
  struct value *x[2], *length[2], *y;
  int64_t axis;
  double eps;
  struct shape all;
  TRY(pt_need(op, "x1", &x[0]));
  TRY(pt_need(op, "x2", &x[1]));
  TRY(pt_float(op, "eps", 1e-8, &eps));
  if (!shape_broadcast(&x[0]->shape, &x[1]->shape, &all))
    return pt_refuse(op, "of shapes that do not fit");
  TRY(pt_axis(op, "dim", 1, all.rank, &axis));
  for (int k = 0; k < 2; k++) {
    TRY(expanded(op, x[k], &all, &x[k]));
    TRY(total(op, OP_ReduceL2, x[k], axis, &length[k]));
    TRY(make_with_scalar(op->make, OP_Max, length[k], eps, &length[k]));
  }
  TRY(make_node(op->make, OP_Mul, VALUES(x[0], x[1]), NULL, &y));
  TRY(total(op, OP_ReduceSum, y, axis, &y));
  for (int k = 0; k < 2; k++) TRY(make_node(op->make, OP_Div, VALUES(y, length[k]), NULL, &y));
  return pt_result(op, 0, y);
}

/* linalg_cross, cross (parameter 1): of vectors of three along a dimension, without one the first of three. */
hone_status build_cross(struct pt_op *op) {
  static const int64_t next[] = {1, 2, 0}, before[] = {2, 0, 1};
  struct value *x[2], *turn[2], *part[2][2], *y[2];
  int64_t axis;
  struct shape all;
  TRY(pt_need(op, "self", &x[0]));
  TRY(pt_need(op, "other", &x[1]));
  if (!shape_broadcast(&x[0]->shape, &x[1]->shape, &all))
    return pt_refuse(op, "of shapes that do not fit");
  int first = 0;
  while (first < all.rank - 1 && all.dims[first] != 3) first++;
  TRY(pt_axis(op, "dim", op->parameter ? first : -1, all.rank, &axis));
  if (!all.rank || all.dims[axis] != 3) return pt_refuse(op, "of other than three numbers");
  TRY(make_ints(op->make, next, 3, &turn[0]));
  TRY(make_ints(op->make, before, 3, &turn[1]));
  for (int k = 0; k < 2; k++) {
    TRY(expanded(op, x[k], &all, &x[k]));
    for (int t = 0; t < 2; t++)
      TRY(make_node(op->make, OP_Gather, VALUES(x[k], turn[t]), ARGS(INT_ARG("axis", axis)),
                    &part[k][t]));
  }
  TRY(make_node(op->make, OP_Mul, VALUES(part[0][0], part[1][1]), NULL, &y[0]));
  TRY(make_node(op->make, OP_Mul, VALUES(part[0][1], part[1][0]), NULL, &y[1]));
  TRY(make_node(op->make, OP_Sub, VALUES(y[0], y[1]), NULL, &y[0]));
  return pt_result(op, 0, y[0]);
}

/* embedding_bag of bags of one length: sum, mean (mode 1) or largest (2) of a table's rows. Its other results are the
   gradient's, and stay undefined. */
hone_status build_embedding_bag(struct pt_op *op) {
  static const enum op_id modes[] = {OP_ReduceSum, OP_ReduceMean, OP_ReduceMax};
  struct value *table, *indices, *offsets, *weights, *y;
  int64_t mode, whole, padding;
  TRY(pt_need(op, "weight", &table));
  TRY(pt_need(op, "indices", &indices));
  TRY(pt_need(op, "offsets", &offsets));
  TRY(pt_tensor(op, "per_sample_weights", &weights));
  TRY(pt_int(op, "mode", 0, &mode));
  TRY(pt_int(op, "include_last_offset", 0, &whole));
  TRY(pt_int(op, "padding_idx", -1, &padding));
  if (mode < 0 || mode > 2 || padding >= 0)
    return pt_refuse(op, "of mode %lld, or with padding", (long long)mode);
  if (!offsets->constant || table->shape.rank != 2 || indices->shape.rank != 1)
    return pt_refuse(op, "of bags that are known only at run time");
  const int64_t all = indices->shape.dims[0];
  const int64_t bags = (int64_t)tensor_count(offsets->constant) - (whole != 0);
  const int64_t each = bags > 0 ? all / bags : 0;
  for (int64_t i = 0; i < bags + (whole != 0); i++)
    if (each * bags != all || tensor_i64(offsets->constant, (size_t)i) != i * each)
      return pt_refuse(op, "of bags of unequal length");
  if (each < 1) return pt_refuse(op, "of empty bags");
  TRY(make_node(op->make, OP_Gather, VALUES(table, indices), ARGS(INT_ARG("axis", 0)), &y));
  if (weights) {
    TRY(make_reshape(op->make, weights, (const int64_t[]){all, 1}, 2, &weights));
    TRY(make_node(op->make, OP_Mul, VALUES(y, weights), NULL, &y));
  }
  TRY(make_reshape(op->make, y, (const int64_t[]){bags, each, table->shape.dims[1]}, 3, &y));
  TRY(total(op, modes[mode], y, 1, &y));
  return pt_result(op, 0, y);
}

hone_status build_affine_grid(struct pt_op *op) {
  struct value *theta, *size, *y;
  int64_t dims[HONE_MAX_RANK], align;
  size_t count;
  TRY(pt_need(op, "theta", &theta));
  TRY(pt_ints(op, "size", HONE_MAX_RANK, dims, &count));
  TRY(pt_int(op, "align_corners", 0, &align));
  TRY(make_ints(op->make, dims, count, &size));
  TRY(make_node(op->make, OP_AffineGrid, VALUES(theta, size), ARGS(INT_ARG("align_corners", align)),
                &y));
  return pt_result(op, 0, y);
}

/* -- torchvision */

/* roi_align: rois [count, 5], the picture first. */
hone_status build_roi_align(struct pt_op *op) {
  struct value *x, *rois, *boxes, *pictures, *y;
  double scale;
  int64_t height, width, ratio, aligned;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "rois", &rois));
  TRY(pt_float(op, "spatial_scale", 1, &scale));
  TRY(pt_int(op, "pooled_height", 1, &height));
  TRY(pt_int(op, "pooled_width", 1, &width));
  TRY(pt_int(op, "sampling_ratio", -1, &ratio));
  TRY(pt_int(op, "aligned", 0, &aligned));
  if (rois->shape.rank != 2 || rois->shape.dims[1] != 5) return pt_refuse(op, "of these boxes");
  const int64_t flat[] = {rois->shape.dims[0]};
  TRY(pt_slice(op, rois, 1, 1, 5, 1, &boxes));
  TRY(pt_slice(op, rois, 1, 0, 1, 1, &pictures));
  TRY(make_reshape(op->make, pictures, flat, 1, &pictures));
  TRY(make_cast(op->make, pictures, HONE_I64, &pictures));
  TRY(make_node(
      op->make, OP_RoiAlign, VALUES(x, boxes, pictures),
      ARGS(INT_ARG("output_height", height), INT_ARG("output_width", width),
           INT_ARG("sampling_ratio", ratio < 0 ? 0 : ratio), FLOAT_ARG("spatial_scale", scale),
           STRING_ARG("coordinate_transformation_mode",
                      aligned ? "half_pixel" : "output_half_pixel")),
      &y));
  return pt_result(op, 0, y);
}

hone_status build_roi_pool(struct pt_op *op) {
  struct value *x, *rois, *y;
  double scale;
  int64_t bins[2];
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "rois", &rois));
  TRY(pt_float(op, "spatial_scale", 1, &scale));
  TRY(pt_int(op, "pooled_height", 1, &bins[0]));
  TRY(pt_int(op, "pooled_width", 1, &bins[1]));
  TRY(make_node(op->make, OP_MaxRoiPool, VALUES(x, rois),
                ARGS(INTS_ARG("pooled_shape", bins, 2), FLOAT_ARG("spatial_scale", scale)), &y));
  return pt_result(op, 0, y);
}

/* Boxes [n, 4], scores [n]: numbers of those that overlap no better one by more than a threshold, the best first. */
hone_status build_nms(struct pt_op *op) {
  struct value *boxes, *scores, *most, *limit, *column, *y;
  double overlap;
  TRY(pt_need(op, "dets", &boxes));
  TRY(pt_need(op, "scores", &scores));
  TRY(pt_float(op, "iou_threshold", 0, &overlap));
  if (boxes->shape.rank != 2 || scores->shape.rank != 1) return pt_refuse(op, "of these boxes");
  const int64_t n = boxes->shape.dims[0], all[] = {1, n, 4}, one[] = {1, 1, n};
  TRY(make_cast(op->make, boxes, HONE_F32, &boxes));
  TRY(make_cast(op->make, scores, HONE_F32, &scores));
  TRY(make_reshape(op->make, boxes, all, 3, &boxes));
  TRY(make_reshape(op->make, scores, one, 3, &scores));
  TRY(make_scalar(op->make, HONE_I64, (double)n, &most));
  TRY(make_scalar(op->make, HONE_F32, overlap, &limit));
  TRY(make_node(op->make, OP_NonMaxSuppression, VALUES(boxes, scores, most, limit), NULL, &y));
  TRY(make_scalar(op->make, HONE_I64, 2, &column));
  TRY(make_node(op->make, OP_Gather, VALUES(y, column), ARGS(INT_ARG("axis", 1)), &y));
  return pt_result(op, 0, y);
}

hone_status build_deform_conv(struct pt_op *op) {
  static const char *const names[] = {"stride_h", "stride_w",   "pad_h",
                                      "pad_w",    "dilation_h", "dilation_w"};
  struct value *x, *weight, *offset, *mask, *bias, *y;
  int64_t n[6], groups, offset_groups, use_mask;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "weight", &weight));
  TRY(pt_need(op, "offset", &offset));
  TRY(pt_need(op, "mask", &mask));
  TRY(pt_need(op, "bias", &bias));
  for (size_t i = 0; i < COUNT(names); i++) TRY(pt_int(op, names[i], i / 2 != 1, &n[i]));
  TRY(pt_int(op, "groups", 1, &groups));
  TRY(pt_int(op, "offset_groups", 1, &offset_groups));
  TRY(pt_int(op, "use_mask", 0, &use_mask));
  const int64_t pads[] = {n[2], n[3], n[2], n[3]};
  TRY(make_node(
      op->make, OP_DeformConv, VALUES(x, weight, offset, bias, use_mask ? mask : NULL),
      ARGS(INTS_ARG("strides", n, 2), INTS_ARG("pads", pads, 4), INTS_ARG("dilations", n + 4, 2),
           INT_ARG("group", groups), INT_ARG("offset_group", offset_groups)),
      &y));
  return pt_result(op, 0, y);
}

/* Distinct elements in rising order, which of them each element is, and how often each stands: what is not asked for has
   no elements. */
hone_status build_unique(struct pt_op *op) {
  static const char *const asked[] = {"return_inverse", "return_counts"};
  struct value *x, *outs[4];
  int64_t is_asked;
  TRY(pt_need(op, "self", &x));
  TRY(make_nodes(op->make, OP_Unique, VALUES(x), ARGS(INT_ARG("sorted", 1)), 4, outs));
  TRY(make_reshape(op->make, outs[2], x->shape.dims, (size_t)x->shape.rank, &outs[2]));
  TRY(pt_result(op, 0, outs[0]));
  for (size_t k = 0; k < COUNT(asked); k++) {
    TRY(pt_int(op, asked[k], 0, &is_asked));
    if (!is_asked) TRY(make_ints(op->make, NULL, 0, &outs[2 + k]));
    TRY(pt_result(op, 1 + k, outs[2 + k]));
  }
  return HONE_OK;
}

/* Elements by their places in the order in which they lie. */
hone_status build_take(struct pt_op *op) {
  struct value *x, *index, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "index", &index));
  const int64_t flat[] = {make_elements(x)};
  TRY(make_reshape(op->make, x, flat, 1, &x));
  TRY(make_node(op->make, OP_Gather, VALUES(x, index), ARGS(INT_ARG("axis", 0)), &y));
  return pt_result(op, 0, y);
}
