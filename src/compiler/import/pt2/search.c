/* search: ATen operators that search sorted lists, count elements or find distinct ones. */
#include "pt2.h"

/* bucketize, searchsorted (parameter 1): the number of sorted values < x, or with `right` <= x. */
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
  TRY(pt_insert_axis(op, x, rank, &x));
  if (sorted->shape.rank > 1) TRY(pt_insert_axis(op, sorted, sorted->shape.rank - 1, &sorted));
  if (sorted->dtype != x->dtype) TRY(make_cast(op->make, sorted, HONE_F32, &sorted));
  TRY(make_cast(op->make, x, sorted->dtype, &x));
  /* NaN sorts last: counted by the negated comparison */
  TRY(make_node(op->make, strcmp(side, "right") ? OP_LessOrEqual : OP_Less, VALUES(x, sorted), NULL,
                &y));
  TRY(make_node(op->make, OP_Not, VALUES(y), NULL, &y));
  TRY(make_cast(op->make, y, small ? HONE_I32 : HONE_I64, &y));
  TRY(pt_reduce_axis(op, OP_ReduceSum, y, rank, &y));
  return pt_result(op, 0, y);
}

/* histc: the number of elements in each of `bins` equal parts of [min, max]. A boundary belongs to
 * the upper part, max itself to the last. */
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
  if (bins < 1 || bins > MOST) return pt_refuse(op, "with %lld bins", (long long)bins);
  if (!(least < most)) return pt_refuse(op, "with min and max from the data");
  const hone_dtype dtype = x->dtype;
  TRY(pt_count_up(op, bins, &parts));
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
  TRY(pt_reduce_axis(op, OP_ReduceSum, y, 0, &y));
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

/* Distinct elements in ascending order, the index of each element among them, and their counts:
 * results that are not requested are empty. */
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
