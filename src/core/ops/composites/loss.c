/* Losses and the optimisers of ai.onnx.preview.training. */
#include "expand.h"

/* -- losses: x [n, c, d...] log-probabilities, target [n, d...], weight [c] */

static struct value *all_sum(struct graph_builder *e, struct value *x) {
  return x_reduce(e, OP_ReduceSum, x, NULL, 0, false);
}

/* An ignored target counts as class 0 of weight 0. */
static struct value *nll(struct graph_builder *e, struct value *x, struct value *target,
                         struct value *weight) {
  const struct attribute *ignore = node_attribute(e->node, "ignore_index");
  struct value *hidden = NULL, *zero = x_scalar(e, x->dtype, 0), *w = NULL;
  if (x->shape.rank < 2 || target->shape.rank != x->shape.rank - 1)
    x_fail(e, HONE_E_SHAPE, "the scores have rank %d, the targets %d", x->shape.rank,
           target->shape.rank);
  if (ignore) {
    hidden = x_by(e, OP_Equal, target, (double)ignore->i);
    target = x_3(e, OP_Where, hidden, x_scalar(e, target->dtype, 0), target);
  }
  struct value *index = x_unsqueeze(e, target, 1);
  x_with_int(e, "axis", 1);
  struct value *loss = x_1(e, OP_Neg, x_squeeze(e, x_2(e, OP_GatherElements, x, index), 1));
  if (weight) w = x_gather(e, weight, target, 0);
  if (hidden) {
    if (!w) w = x_expand(e, x_scalar(e, x->dtype, 1), &target->shape);
    w = x_3(e, OP_Where, hidden, zero, w);
  }
  if (w) loss = x_2(e, OP_Mul, loss, w);
  if (x_is(e, "reduction", "mean", "none")) return loss;
  if (x_is(e, "reduction", "mean", "sum")) return all_sum(e, loss);
  if (!w) return x_reduce(e, OP_ReduceMean, loss, NULL, 0, false);
  return x_2(e, OP_Div, all_sum(e, loss), all_sum(e, w));
}

void expand_nll_loss(struct graph_builder *e) {
  x_out(e, 0, nll(e, x_in(e, 0), x_in(e, 1), x_in(e, 2)));
}

void expand_cross_entropy(struct graph_builder *e) {
  x_with_int(e, "axis", 1);
  struct value *log_probabilities = x_1(e, OP_LogSoftmax, x_in(e, 0));
  x_out(e, 0, nll(e, log_probabilities, x_in(e, 1), x_in(e, 2)));
  x_out(e, 1, log_probabilities);
}

/* -- optimisers: rate, step count, then each tensor, each gradient, each state */

struct update {
  struct value *rate, *step, *x, *g; /* g: gradient with the regularisation term */
};

/* The number of tensors; 0 after a failure. */
static size_t tensor_sets(struct graph_builder *e, size_t states) {
  size_t rest = e->node->input_count - 2, sets = rest / (2 + states);
  if (rest % (2 + states) || !sets)
    x_fail(e, HONE_E_FORMAT, "%s has %zu tensors, expected a multiple of %zu", e->node->op->name,
           rest, 2 + states);
  for (size_t k = 0; k < e->node->input_count; k++)
    if (!x_in(e, k)) x_fail(e, HONE_E_FORMAT, "input %zu is missing", k);
  return e->status ? 0 : sets;
}

static struct update update_of(struct graph_builder *e, size_t sets, size_t i) {
  struct update u = {.x = x_in(e, 2 + i), .g = x_in(e, 2 + sets + i)};
  u.rate = x_cast(e, x_in(e, 0), u.x->dtype);
  u.step = x_cast(e, x_in(e, 1), u.x->dtype);
  u.g = x_2(e, OP_Add, x_by(e, OP_Mul, u.x, x_float(e, "norm_coefficient", 0)), u.g);
  return u;
}

void expand_adagrad(struct graph_builder *e) {
  size_t sets = tensor_sets(e, 1);
  double decay = x_float(e, "decay_factor", 0), epsilon = x_float(e, "epsilon", 1e-6);
  for (size_t i = 0; i < sets; i++) {
    struct update u = update_of(e, sets, i);
    struct value *rate = x_2(e, OP_Div, u.rate, x_by(e, OP_Add, x_by(e, OP_Mul, u.step, decay), 1));
    struct value *h = x_2(e, OP_Add, x_in(e, 2 + 2 * sets + i), x_2(e, OP_Mul, u.g, u.g));
    struct value *root = x_by(e, OP_Add, x_1(e, OP_Sqrt, h), epsilon);
    struct value *step = x_2(e, OP_Div, x_2(e, OP_Mul, rate, u.g), root);
    x_out(e, i, x_2(e, OP_Sub, u.x, step));
    x_out(e, sets + i, h);
  }
}

void expand_adam(struct graph_builder *e) {
  size_t sets = tensor_sets(e, 2);
  double alpha = x_float(e, "alpha", 0.9), beta = x_float(e, "beta", 0.999);
  double epsilon = x_float(e, "epsilon", 1e-6), post = x_float(e, "norm_coefficient_post", 0);
  for (size_t i = 0; i < sets; i++) {
    struct update u = update_of(e, sets, i);
    hone_dtype dtype = u.x->dtype;
    struct value *one = x_scalar(e, dtype, 1), *v, *h, *moved;
    v = x_2(e, OP_Add, x_by(e, OP_Mul, x_in(e, 2 + 2 * sets + i), alpha),
            x_by(e, OP_Mul, u.g, 1 - alpha));
    h = x_2(e, OP_Add, x_by(e, OP_Mul, x_in(e, 2 + 3 * sets + i), beta),
            x_by(e, OP_Mul, x_2(e, OP_Mul, u.g, u.g), 1 - beta));
    struct value *part = x_2(e, OP_Sub, one, x_2(e, OP_Pow, x_scalar(e, dtype, beta), u.step));
    struct value *under = x_2(e, OP_Sub, one, x_2(e, OP_Pow, x_scalar(e, dtype, alpha), u.step));
    struct value *adjusted = x_2(e, OP_Div, x_2(e, OP_Mul, u.rate, x_1(e, OP_Sqrt, part)), under);
    struct value *started = x_2(e, OP_Greater, u.step, x_scalar(e, dtype, 0));
    adjusted = x_3(e, OP_Where, started, adjusted, u.rate);
    moved =
        x_2(e, OP_Div, x_2(e, OP_Mul, adjusted, v), x_by(e, OP_Add, x_1(e, OP_Sqrt, h), epsilon));
    x_out(e, i, x_by(e, OP_Mul, x_2(e, OP_Sub, u.x, moved), 1 - post));
    x_out(e, sets + i, v);
    x_out(e, 2 * sets + i, h);
  }
}

void expand_momentum(struct graph_builder *e) {
  size_t sets = tensor_sets(e, 1);
  double alpha = x_float(e, "alpha", 0), beta = x_float(e, "beta", 1);
  for (size_t i = 0; i < sets; i++) {
    struct update u = update_of(e, sets, i);
    hone_dtype dtype = u.x->dtype;
    struct value *started = x_2(e, OP_Greater, u.step, x_scalar(e, dtype, 0));
    struct value *factor =
        x_3(e, OP_Where, started, x_scalar(e, dtype, beta), x_scalar(e, dtype, 1));
    struct value *v = x_2(e, OP_Add, x_by(e, OP_Mul, x_in(e, 2 + 2 * sets + i), alpha),
                          x_2(e, OP_Mul, factor, u.g));
    struct value *way = v;
    if (x_is(e, "mode", "standard", "nesterov"))
      way = x_2(e, OP_Add, u.g, x_by(e, OP_Mul, v, alpha));
    x_out(e, i, x_2(e, OP_Sub, u.x, x_2(e, OP_Mul, u.rate, way)));
    x_out(e, sets + i, v);
  }
}
