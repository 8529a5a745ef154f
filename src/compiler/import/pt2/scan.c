/* scan: ATen's cumulative extremes and logarithms of cumulative sums. Each round combines
 * elements twice as far apart as in the round before (Hillis and Steele, "Data parallel
 * algorithms", 1986). */
#include "pt2.h"

#include <math.h>

struct scan {
  struct value *x, *at; /* current values; indices of the extremes, or NULL */
  int64_t axis;
};

/* x shifted by `by` towards the end of the axis, filled with the first element for an extreme, or 0
 * for a sum. */
static hone_status moved(struct pt_op *op, struct value *x, int64_t axis, int64_t by,
                         struct value **out) {
  const bool is_sum = op->parameter == OP_ReduceLogSumExp;
  int64_t pads[2 * HONE_MAX_RANK] = {0};
  const size_t rank = (size_t)x->shape.rank;
  struct value *widths, *fill;
  TRY(pt_slice(op, x, axis, 0, x->shape.dims[axis] - by, 1, &x));
  pads[axis] = by;
  TRY(make_ints(op->make, pads, 2 * rank, &widths));
  TRY(make_scalar(op->make, x->dtype, is_sum ? -(double)INFINITY : 0, &fill));
  return make_node(op->make, OP_Pad, VALUES(x, widths, fill),
                   ARGS(STRING_ARG("mode", is_sum ? "constant" : "edge")), out);
}

/* The later of equal ones; NaN is kept. */
static hone_status join_extremes(struct pt_op *op, struct scan *s, struct value *before,
                                 struct value *at) {
  const bool is_max = op->parameter == OP_ReduceMax;
  struct value *takes, *is_nan;
  TRY(make_node(op->make, is_max ? OP_GreaterOrEqual : OP_LessOrEqual, VALUES(s->x, before), NULL,
                &takes));
  if (dtype_is_float(s->x->dtype)) {
    TRY(make_node(op->make, OP_IsNaN, VALUES(s->x), NULL, &is_nan));
    TRY(make_node(op->make, OP_Or, VALUES(takes, is_nan), NULL, &takes));
  }
  TRY(make_node(op->make, OP_Where, VALUES(takes, s->x, before), NULL, &s->x));
  return make_node(op->make, OP_Where, VALUES(takes, s->at, at), NULL, &s->at);
}

/* log(exp(a) + exp(b)): the larger plus a correction. */
static hone_status join_logarithms(struct pt_op *op, struct scan *s, struct value *before) {
  struct make *make = op->make;
  struct value *larger, *apart, *is_equal, *y;
  TRY(make_node(make, OP_Max, VALUES(s->x, before), NULL, &larger));
  TRY(make_node(make, OP_Equal, VALUES(s->x, before), NULL, &is_equal)); /* infinities too */
  TRY(make_node(make, OP_Sub, VALUES(s->x, before), NULL, &apart));
  TRY(make_node(make, OP_Abs, VALUES(apart), NULL, &apart));
  TRY(make_node(make, OP_Neg, VALUES(apart), NULL, &apart));
  TRY(make_node(make, OP_Softplus, VALUES(apart), NULL, &apart)); /* log(1 + exp(apart)) */
  TRY(make_node(make, OP_Add, VALUES(larger, apart), NULL, &apart));
  TRY(make_with_scalar(make, OP_Add, larger, log(2), &y));
  return make_node(make, OP_Where, VALUES(is_equal, y, apart), NULL, &s->x);
}

/* cummax, cummin, logcumsumexp (parameter OP_ReduceLogSumExp). */
hone_status build_scan(struct pt_op *op) {
  struct scan s;
  struct value *before, *at = NULL;
  const bool has_places = op->parameter != OP_ReduceLogSumExp;
  int64_t dims[HONE_MAX_RANK], *places;
  TRY(pt_need(op, "self", &s.x));
  const int rank = s.x->shape.rank;
  TRY(pt_axis(op, "dim", 0, rank, &s.axis));
  if (!rank || !make_elements(s.x)) return pt_refuse(op, "of no elements, or of rank 0");
  if (!has_places && !dtype_is_float(s.x->dtype)) TRY(make_cast(op->make, s.x, HONE_F32, &s.x));
  const int64_t count = s.x->shape.dims[s.axis];
  if (has_places) {
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, places, (size_t)count));
    for (int64_t i = 0; i < count; i++) places[i] = i;
    for (int d = 0; d < rank; d++) dims[d] = d == s.axis ? count : 1;
    TRY(pt_index_list(op, places, dims, (size_t)rank, &s.at));
    TRY(make_ints(op->make, s.x->shape.dims, (size_t)rank, &at));
    TRY(make_node(op->make, OP_Expand, VALUES(s.at, at), NULL, &s.at));
  }
  for (int64_t by = 1; by < count; by *= 2) {
    TRY(moved(op, s.x, s.axis, by, &before));
    if (has_places) TRY(moved(op, s.at, s.axis, by, &at));
    TRY(has_places ? join_extremes(op, &s, before, at) : join_logarithms(op, &s, before));
  }
  TRY(pt_result(op, 0, s.x));
  return has_places ? pt_result(op, 1, s.at) : HONE_OK;
}
