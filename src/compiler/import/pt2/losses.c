/* losses: ATen's losses that are more than an elementwise formula (formulas.c has those). */
#include "pt2.h"

struct classes {
  struct value *scores; /* log-probabilities */
  struct value *target, *weight;
  int64_t axis; /* of the classes */
};

/* x without a dimension of 1. */
static struct value *without_axis(struct pt_op *op, struct value *x, int64_t axis) {
  int64_t dims[HONE_MAX_RANK];
  size_t rank = 0;
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis) dims[rank++] = x->shape.dims[d];
  return x_reshape(op->b, x, dims, (int)rank);
}
static struct value *sum_of_classes(struct pt_op *op, struct value *x, int64_t axis) {
  struct value *out = x_reduce(op->b, OP_ReduceSum, x, &axis, 1, 0);
  return x_1(op->b, OP_Neg, out);
}

/* The weights, broadcast to the scores. */
static struct value *weigh(struct pt_op *op, const struct classes *c, struct value *x) {
  int64_t dims[HONE_MAX_RANK];
  if (!c->weight) return x;
  for (int d = 0; d < x->shape.rank; d++) dims[d] = d == c->axis ? make_elements(c->weight) : 1;
  return x_2(op->b, OP_Mul, x, x_reshape(op->b, c->weight, dims, x->shape.rank));
}

/* Probability targets; the mean is over all dimensions except the classes. */
static hone_status loss_of_probabilities(struct pt_op *op, const struct classes *c,
                                         double smoothing) {
  struct value *target = c->target;
  const double count = (double)c->scores->shape.dims[c->axis];
  if (smoothing != 0)
    target = x_by(op->b, OP_Add, x_by(op->b, OP_Mul, target, 1 - smoothing), smoothing / count);
  return pt_reduce_loss(
      op, sum_of_classes(op, x_2(op->b, OP_Mul, weigh(op, c, c->scores), target), c->axis), NULL);
}

/* Minus the score of the target's class times its weight; ignored targets do not count, and the
 * mean is over the weights. */
static hone_status loss_of_indices(struct pt_op *op, const struct classes *c, double smoothing) {
  struct graph_builder *b = op->b;
  struct value *weight, *smooth;
  int64_t ignore;
  const double count = (double)c->scores->shape.dims[c->axis];
  TRY(pt_int(op, "ignore_index", -100, &ignore));
  struct value *at = x_cast(b, c->target, HONE_I64);
  struct value *y = x_scalar(b, HONE_I64, (double)ignore);
  struct value *ignored = x_2(b, OP_Equal, at, y);
  struct value *zero = x_scalar(b, HONE_I64, 0);
  at = x_3(b, OP_Where, ignored, zero, at);
  zero = x_scalar(b, c->scores->dtype, 0);
  if (c->weight)
    weight = x_2(b, OP_Gather, c->weight, at);
  else
    weight = x_scalar(b, c->scores->dtype, 1);
  weight = x_3(b, OP_Where, ignored, zero, weight);
  BUILD(b, y = x_args(b, OP_GatherElements, VALUES(c->scores, x_unsqueeze(b, at, c->axis)),
                      ARGS(INT_ARG("axis", c->axis))));
  y = without_axis(op, y, c->axis);
  y = x_2(b, OP_Mul, x_3(b, OP_Where, ignored, zero, x_1(b, OP_Neg, y)), weight);
  if (smoothing != 0) {
    BUILD(b, smooth = weigh(op, c, c->scores));
    smooth = sum_of_classes(op, smooth, c->axis);
    smooth = x_by(b, OP_Mul, x_3(b, OP_Where, ignored, zero, smooth), smoothing / count);
    y = x_2(b, OP_Add, x_by(b, OP_Mul, y, 1 - smoothing), smooth);
  }
  for (size_t k = 1; k < pt_result_count(op); k++) { /* nll_loss_forward: the sum of all weights */
    if (!pt_is_read(op, k)) continue;
    BUILD(b, smooth = x_reduce(b, OP_ReduceSum, weight, NULL, 0, 0));
    TRY(pt_result(op, k, smooth));
  }
  return pt_reduce_loss(op, y, weight);
}

/* cross_entropy_loss; nll_loss (parameter 1): of log-probabilities. */
hone_status build_cross_entropy(struct pt_op *op) {
  struct classes c;
  double smoothing;
  TRY(pt_need(op, "self", &c.scores));
  TRY(pt_need(op, "target", &c.target));
  TRY(pt_tensor(op, "weight", &c.weight));
  TRY(pt_float(op, "label_smoothing", 0, &smoothing));
  if (!c.scores->shape.rank) return pt_refuse(op, "of rank 0");
  c.axis = c.scores->shape.rank > 1;
  if (!op->parameter)
    BUILD(op->b,
          c.scores = x_args(op->b, OP_LogSoftmax, VALUES(c.scores), ARGS(INT_ARG("axis", c.axis))));
  if (!op->parameter && shape_equal(&c.scores->shape, &c.target->shape))
    return loss_of_probabilities(op, &c, smoothing);
  if (c.target->shape.rank != c.scores->shape.rank - 1)
    return pt_refuse(op, "with a target of rank %d", c.target->shape.rank);
  return loss_of_indices(op, &c, smoothing);
}

/* |x - y + eps|, the norm along the last dimension. */
static hone_status distance(struct pt_op *op, struct value *x, struct value *y,
                            struct value **out) {
  struct value *axes;
  double order, apart;
  TRY(pt_float(op, "p", 2, &order));
  TRY(pt_float(op, "eps", 1e-6, &apart));
  struct value *pair[] = {x, y};
  TRY(pt_promote(op, pair, 2));
  BUILD(op->b, x = x_2(op->b, OP_Sub, pair[0], pair[1]));
  if (!dtype_is_float(x->dtype)) x = x_cast(op->b, x, HONE_F32);
  x = x_by(op->b, OP_Add, x, apart);
  BUILD(op->b, axes = x_list(op->b, (const int64_t[]){-1}, 1));
  return pt_norm(op, x, axes, order, false, out);
}

/* max(0, margin + |anchor - positive| - |anchor - negative|) */
hone_status build_triplet_loss(struct pt_op *op) {
  static const char *const names[] = {"anchor", "positive", "negative"};
  struct value *x[3], *far, *other, *y;
  double margin;
  int64_t swap;
  for (size_t i = 0; i < COUNT(names); i++) TRY(pt_need(op, names[i], &x[i]));
  TRY(pt_float(op, "margin", 1, &margin));
  TRY(pt_int(op, "swap", 0, &swap));
  TRY(distance(op, x[0], x[1], &y));
  TRY(distance(op, x[0], x[2], &far));
  if (swap) {
    TRY(distance(op, x[1], x[2], &other));
    BUILD(op->b, far = x_2(op->b, OP_Min, far, other));
  }
  BUILD(op->b, y = x_by(op->b, OP_Max, x_by(op->b, OP_Add, x_2(op->b, OP_Sub, y, far), margin), 0));
  return pt_reduce_loss(op, y, NULL);
}

/* 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1. */
hone_status build_cosine_loss(struct pt_op *op) {
  struct graph_builder *b = op->b;
  struct value *x[2], *target, *part[3], *cosine;
  double margin;
  TRY(pt_need(op, "input1", &x[0]));
  TRY(pt_need(op, "input2", &x[1]));
  TRY(pt_need(op, "target", &target));
  TRY(pt_float(op, "margin", 0, &margin));
  TRY(pt_promote(op, x, 2));
  if (!dtype_is_float(x[0]->dtype)) return pt_refuse(op, "of %s", dtype_name(x[0]->dtype));
  struct value *axes = x_list(b, (const int64_t[]){target->shape.rank > 0}, 1);
  for (int k = 0; k < 3; k++) { /* sums of x0 x1, x0 x0, x1 x1 */
    part[k] = x_2(b, OP_Mul, x[k == 2], x[k != 1]);
    part[k] = x_args(b, OP_ReduceSum, VALUES(part[k], axes), ARGS(INT_ARG("keepdims", 0)));
    if (k) part[k] = x_by(b, OP_Add, part[k], 1e-12);
  }
  struct value *y = x_1(b, OP_Sqrt, x_2(b, OP_Mul, part[1], part[2]));
  BUILD(b, cosine = x_2(b, OP_Div, part[0], y));
  struct value *zero = x_scalar(b, cosine->dtype, 0);
  struct value *one = x_scalar(b, cosine->dtype, 1);
  BUILD(b, target = x_cast(b, target, cosine->dtype));
  struct value *is_near = x_2(b, OP_Equal, target, one);
  y = x_3(b, OP_Where, is_near, x_2(b, OP_Sub, one, cosine), zero);
  is_near = x_by(b, OP_Equal, target, -1);
  y = x_2(b, OP_Add, y,
          x_3(b, OP_Where, is_near, x_by(b, OP_Max, x_by(b, OP_Sub, cosine, margin), 0), zero));
  return pt_reduce_loss(op, y, NULL);
}
