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
  if (sorted->dtype != x->dtype) BUILD(op->b, sorted = x_cast(op->b, sorted, HONE_F32));
  x = x_cast(op->b, x, sorted->dtype);
  /* NaN sorts last: counted by the negated comparison */
  BUILD(op->b,
        y = x_cast(op->b,
                   x_1(op->b, OP_Not,
                       x_2(op->b, strcmp(side, "right") ? OP_LessOrEqual : OP_Less, x, sorted)),
                   small ? HONE_I32 : HONE_I64));
  return pt_result(op, 0, pt_reduce_axis(op, OP_ReduceSum, y, rank));
}

/* histc: the number of elements in each of `bins` equal parts of [min, max]. A boundary belongs to
 * the upper part, max itself to the last. */
hone_status build_histogram(struct pt_op *op) {
  enum { MOST = 1 << 16 };
  static const int64_t flat[] = {-1, 1};
  struct value *x, *parts;
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
  parts = x_cast(op->b, parts, HONE_F32);
  x = x_reshape(op->b, x_cast(op->b, x, HONE_F32), flat, 2);
  struct value *low = x_scalar(op->b, HONE_F32, least);
  struct value *high = x_scalar(op->b, HONE_F32, most);
  struct value *outside = x_scalar(op->b, HONE_F32, -1);
  struct value *above = x_2(op->b, OP_GreaterOrEqual, x, low);
  above = x_2(op->b, OP_And, above, x_2(op->b, OP_LessOrEqual, x, high));
  struct value *y =
      x_1(op->b, OP_Floor,
          x_by(op->b, OP_Mul, x_by(op->b, OP_Div, x_by(op->b, OP_Sub, x, least), most - least),
               (double)bins));
  BUILD(op->b, y = x_cast(op->b,
                          x_2(op->b, OP_Equal,
                              x_3(op->b, OP_Where, above,
                                  x_by(op->b, OP_Min, y, (double)(bins - 1)), outside),
                              parts),
                          HONE_F32));
  y = pt_reduce_axis(op, OP_ReduceSum, y, 0);
  return pt_result(op, 0, x_cast(op->b, y, dtype));
}

hone_status build_count(struct pt_op *op) {
  struct value *x, *axes = NULL;
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
  if (count) axes = x_list(op->b, list, count);
  BUILD(op->b, x = x_cast(op->b, x_cast(op->b, x, HONE_BOOL), HONE_I64));
  return pt_result(op, 0,
                   x_args(op->b, OP_ReduceSum, VALUES(x, axes), ARGS(INT_ARG("keepdims", 0))));
}

/* Distinct elements in ascending order, the index of each element among them, and their counts:
 * results that are not requested are empty. */
hone_status build_unique(struct pt_op *op) {
  static const char *const asked[] = {"return_inverse", "return_counts"};
  struct value *x, *outs[4];
  int64_t is_asked;
  TRY(pt_need(op, "self", &x));
  BUILD(op->b, x_nodes(op->b, OP_Unique, VALUES(x), ARGS(INT_ARG("sorted", 1)), 4, outs));
  BUILD(op->b, outs[2] = x_reshape(op->b, outs[2], x->shape.dims, x->shape.rank));
  TRY(pt_result(op, 0, outs[0]));
  for (size_t k = 0; k < COUNT(asked); k++) {
    TRY(pt_int(op, asked[k], 0, &is_asked));
    if (!is_asked) BUILD(op->b, outs[2 + k] = x_list(op->b, NULL, 0));
    TRY(pt_result(op, 1 + k, outs[2 + k]));
  }
  return HONE_OK;
}
