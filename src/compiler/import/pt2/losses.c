/* losses: ATen's losses that are more than an elementwise formula (formulas.c has those). */
#include "pt2.h"

struct classes {
  struct value *scores; /* log-probabilities */
  struct value *target, *weight;
  int64_t axis; /* of the classes */
};

/* x without a dimension of 1, or with an additional one. */
static hone_status without_axis(struct pt_op *op, struct value *x, int64_t axis,
                                struct value **out) {
  int64_t dims[HONE_MAX_RANK];
  size_t rank = 0;
  for (int d = 0; d < x->shape.rank; d++)
    if (d != axis) dims[rank++] = x->shape.dims[d];
  return make_reshape(op->make, x, dims, rank, out);
}
static hone_status with_axis(struct pt_op *op, struct value *x, int64_t axis, struct value **out) {
  struct value *axes;
  TRY(make_ints(op->make, &axis, 1, &axes));
  return make_node(op->make, OP_Unsqueeze, VALUES(x, axes), NULL, out);
}

static hone_status sum_of_classes(struct pt_op *op, struct value *x, int64_t axis,
                                  struct value **out) {
  struct value *axes;
  TRY(make_ints(op->make, &axis, 1, &axes));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(x, axes), ARGS(INT_ARG("keepdims", 0)), out));
  return make_node(op->make, OP_Neg, VALUES(*out), NULL, out);
}

/* The weights, broadcast to the scores. */
static hone_status weigh(struct pt_op *op, const struct classes *c, struct value *x,
                         struct value **out) {
  int64_t dims[HONE_MAX_RANK];
  struct value *weight;
  *out = x;
  if (!c->weight) return HONE_OK;
  for (int d = 0; d < x->shape.rank; d++) dims[d] = d == c->axis ? make_elements(c->weight) : 1;
  TRY(make_reshape(op->make, c->weight, dims, (size_t)x->shape.rank, &weight));
  return make_node(op->make, OP_Mul, VALUES(x, weight), NULL, out);
}

/* Probability targets; the mean is over all dimensions except the classes. */
static hone_status loss_of_probabilities(struct pt_op *op, const struct classes *c,
                                         double smoothing) {
  struct value *y, *target = c->target;
  const double count = (double)c->scores->shape.dims[c->axis];
  if (smoothing != 0) {
    TRY(make_with_scalar(op->make, OP_Mul, target, 1 - smoothing, &target));
    TRY(make_with_scalar(op->make, OP_Add, target, smoothing / count, &target));
  }
  TRY(weigh(op, c, c->scores, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(y, target), NULL, &y));
  TRY(sum_of_classes(op, y, c->axis, &y));
  return pt_reduce_loss(op, y, NULL);
}

/* Minus the score of the target's class times its weight; ignored targets do not count, and the
 * mean is over the weights. */
static hone_status loss_of_indices(struct pt_op *op, const struct classes *c, double smoothing) {
  struct make *make = op->make;
  struct value *ignored, *zero, *at, *weight, *y, *smooth;
  int64_t ignore;
  const double count = (double)c->scores->shape.dims[c->axis];
  TRY(pt_int(op, "ignore_index", -100, &ignore));
  TRY(make_cast(make, c->target, HONE_I64, &at));
  TRY(make_scalar(make, HONE_I64, (double)ignore, &y));
  TRY(make_node(make, OP_Equal, VALUES(at, y), NULL, &ignored));
  TRY(make_scalar(make, HONE_I64, 0, &zero));
  TRY(make_node(make, OP_Where, VALUES(ignored, zero, at), NULL, &at));
  TRY(make_scalar(make, c->scores->dtype, 0, &zero));
  if (c->weight)
    TRY(make_node(make, OP_Gather, VALUES(c->weight, at), NULL, &weight));
  else
    TRY(make_scalar(make, c->scores->dtype, 1, &weight));
  TRY(make_node(make, OP_Where, VALUES(ignored, zero, weight), NULL, &weight));
  TRY(with_axis(op, at, c->axis, &at));
  TRY(make_node(make, OP_GatherElements, VALUES(c->scores, at), ARGS(INT_ARG("axis", c->axis)),
                &y));
  TRY(without_axis(op, y, c->axis, &y));
  TRY(make_node(make, OP_Neg, VALUES(y), NULL, &y));
  TRY(make_node(make, OP_Where, VALUES(ignored, zero, y), NULL, &y));
  TRY(make_node(make, OP_Mul, VALUES(y, weight), NULL, &y));
  if (smoothing != 0) {
    TRY(weigh(op, c, c->scores, &smooth));
    TRY(sum_of_classes(op, smooth, c->axis, &smooth));
    TRY(make_node(make, OP_Where, VALUES(ignored, zero, smooth), NULL, &smooth));
    TRY(make_with_scalar(make, OP_Mul, smooth, smoothing / count, &smooth));
    TRY(make_with_scalar(make, OP_Mul, y, 1 - smoothing, &y));
    TRY(make_node(make, OP_Add, VALUES(y, smooth), NULL, &y));
  }
  for (size_t k = 1; k < pt_result_count(op); k++) { /* nll_loss_forward: the sum of all weights */
    if (!pt_is_read(op, k)) continue;
    TRY(make_node(make, OP_ReduceSum, VALUES(weight), ARGS(INT_ARG("keepdims", 0)), &smooth));
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
    TRY(make_node(op->make, OP_LogSoftmax, VALUES(c.scores), ARGS(INT_ARG("axis", c.axis)),
                  &c.scores));
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
  TRY(make_node(op->make, OP_Sub, VALUES(pair[0], pair[1]), NULL, &x));
  if (!dtype_is_float(x->dtype)) TRY(make_cast(op->make, x, HONE_F32, &x));
  TRY(make_with_scalar(op->make, OP_Add, x, apart, &x));
  TRY(make_ints(op->make, (const int64_t[]){-1}, 1, &axes));
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
    TRY(make_node(op->make, OP_Min, VALUES(far, other), NULL, &far));
  }
  TRY(make_node(op->make, OP_Sub, VALUES(y, far), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Add, y, margin, &y));
  TRY(make_with_scalar(op->make, OP_Max, y, 0, &y));
  return pt_reduce_loss(op, y, NULL);
}

/* 1 - cosine where the target is 1, max(0, cosine - margin) where it is -1. */
hone_status build_cosine_loss(struct pt_op *op) {
  struct make *make = op->make;
  struct value *x[2], *target, *part[3], *cosine, *axes, *zero, *one, *is_near, *y, *z;
  double margin;
  TRY(pt_need(op, "input1", &x[0]));
  TRY(pt_need(op, "input2", &x[1]));
  TRY(pt_need(op, "target", &target));
  TRY(pt_float(op, "margin", 0, &margin));
  TRY(pt_promote(op, x, 2));
  if (!dtype_is_float(x[0]->dtype)) return pt_refuse(op, "of %s", dtype_name(x[0]->dtype));
  TRY(make_ints(make, (const int64_t[]){target->shape.rank > 0}, 1, &axes));
  for (int k = 0; k < 3; k++) { /* sums of x0 x1, x0 x0, x1 x1 */
    TRY(make_node(make, OP_Mul, VALUES(x[k == 2], x[k != 1]), NULL, &part[k]));
    TRY(make_node(make, OP_ReduceSum, VALUES(part[k], axes), ARGS(INT_ARG("keepdims", 0)),
                  &part[k]));
    if (k) TRY(make_with_scalar(make, OP_Add, part[k], 1e-12, &part[k]));
  }
  TRY(make_node(make, OP_Mul, VALUES(part[1], part[2]), NULL, &y));
  TRY(make_node(make, OP_Sqrt, VALUES(y), NULL, &y));
  TRY(make_node(make, OP_Div, VALUES(part[0], y), NULL, &cosine));
  TRY(make_scalar(make, cosine->dtype, 0, &zero));
  TRY(make_scalar(make, cosine->dtype, 1, &one));
  TRY(make_cast(make, target, cosine->dtype, &target));
  TRY(make_node(make, OP_Equal, VALUES(target, one), NULL, &is_near));
  TRY(make_node(make, OP_Sub, VALUES(one, cosine), NULL, &y));
  TRY(make_node(make, OP_Where, VALUES(is_near, y, zero), NULL, &y));
  TRY(make_with_scalar(make, OP_Equal, target, -1, &is_near));
  TRY(make_with_scalar(make, OP_Sub, cosine, margin, &z));
  TRY(make_with_scalar(make, OP_Max, z, 0, &z));
  TRY(make_node(make, OP_Where, VALUES(is_near, z, zero), NULL, &z));
  TRY(make_node(make, OP_Add, VALUES(y, z), NULL, &y));
  return pt_reduce_loss(op, y, NULL);
}
