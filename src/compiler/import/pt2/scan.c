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
static struct value *moved(struct pt_op *op, struct value *x, int64_t axis, int64_t by) {
  const bool is_sum = op->parameter == OP_ReduceLogSumExp;
  int64_t pads[2 * HONE_MAX_RANK] = {0};
  const size_t rank = (size_t)x->shape.rank;
  x = pt_slice(op, x, axis, 0, x->shape.dims[axis] - by, 1);
  pads[axis] = by;
  struct value *widths = x_list(op->b, pads, 2 * rank);
  struct value *fill = x_scalar(op->b, x->dtype, is_sum ? -(double)INFINITY : 0);
  return x_args(op->b, OP_Pad, VALUES(x, widths, fill),
                ARGS(STRING_ARG("mode", is_sum ? "constant" : "edge")));
}

/* The later of equal ones; NaN is kept. */
static hone_status join_extremes(struct pt_op *op, struct scan *s, struct value *before,
                                 struct value *at) {
  const bool is_max = op->parameter == OP_ReduceMax;
  struct value *takes = x_2(op->b, is_max ? OP_GreaterOrEqual : OP_LessOrEqual, s->x, before);
  if (dtype_is_float(s->x->dtype)) takes = x_2(op->b, OP_Or, takes, x_1(op->b, OP_IsNaN, s->x));
  BUILD(op->b, s->x = x_3(op->b, OP_Where, takes, s->x, before));
  return x_give(op->b, &s->at, x_3(op->b, OP_Where, takes, s->at, at));
}

/* log(exp(a) + exp(b)): the larger plus a correction. */
static hone_status join_logarithms(struct pt_op *op, struct scan *s, struct value *before) {
  struct graph_builder *b = op->b;
  struct value *apart;
  struct value *larger = x_2(b, OP_Max, s->x, before);
  struct value *is_equal = x_2(b, OP_Equal, s->x, before); /* infinities too */
  BUILD(b,
        apart = x_1(b, OP_Softplus,
                    x_1(b, OP_Neg,
                        x_1(b, OP_Abs, x_2(b, OP_Sub, s->x, before))))); /* log(1 + exp(apart)) */
  apart = x_2(b, OP_Add, larger, apart);
  return x_give(b, &s->x, x_3(b, OP_Where, is_equal, x_by(b, OP_Add, larger, log(2)), apart));
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
  if (!has_places && !dtype_is_float(s.x->dtype)) BUILD(op->b, s.x = x_cast(op->b, s.x, HONE_F32));
  const int64_t count = s.x->shape.dims[s.axis];
  if (has_places) {
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, places, (size_t)count));
    for (int64_t i = 0; i < count; i++) places[i] = i;
    for (int d = 0; d < rank; d++) dims[d] = d == s.axis ? count : 1;
    BUILD(op->b, s.at = pt_index_list(op, places, dims, (size_t)rank));
    at = x_list(op->b, s.x->shape.dims, (size_t)rank);
    BUILD(op->b, s.at = x_2(op->b, OP_Expand, s.at, at));
  }
  for (int64_t by = 1; by < count; by *= 2) {
    BUILD(op->b, before = moved(op, s.x, s.axis, by));
    if (has_places) BUILD(op->b, at = moved(op, s.at, s.axis, by));
    TRY(has_places ? join_extremes(op, &s, before, at) : join_logarithms(op, &s, before));
  }
  TRY(pt_result(op, 0, s.x));
  return has_places ? pt_result(op, 1, s.at) : HONE_OK;
}
