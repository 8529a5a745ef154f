/* Training forms and random numbers. An artifact is a pure function of its inputs: random numbers
 * are drawn once, when the graph is built, from the node's seed (or its index in the file), and are
 * the same in each run. */
#include <math.h>

#include "expand.h"

/* splitmix64 (Steele, Lea, Flood 2014), to [0, 1). */
static double next_uniform(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static uint64_t seed_of(const struct graph_builder *e) {
  const struct attribute *seed = node_attribute(e->node, "seed");
  double number = seed ? (seed->kind == ATTRIBUTE_INT ? (double)seed->i : seed->f)
                       : (double)e->node->index + 0.5;
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static hone_dtype dtype_or(struct graph_builder *e, hone_dtype otherwise) {
  int64_t number = x_int(e, "dtype", otherwise);
  bool is_known = dtype_bits(dtype_of_number(number)) > 0;
  if (!is_known) x_fail(e, HONE_E_TYPE, "dtype is %lld", (long long)number);
  return is_known ? (hone_dtype)number : HONE_F32;
}

/* Uniform in [a, b), or normal of mean a and deviation b (Box and Muller 1958). */
static struct value *drawn(struct graph_builder *e, hone_dtype dtype, const struct shape *shape,
                           bool is_normal, double a, double b) {
  const struct tensor *tensor;
  struct value *value = x_constant(e, dtype, shape, &tensor);
  uint64_t state = seed_of(e);
  for (size_t i = 0; !e->status && i < tensor_count(tensor); i++) {
    double u = next_uniform(&state), v = is_normal ? next_uniform(&state) : 0;
    double normal = sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
    tensor_set_f64(tensor, i, is_normal ? a + b * normal : a + (b - a) * u);
  }
  return value;
}

void expand_random(struct graph_builder *e) {
  bool is_like = is_op(e->node, OP_RandomNormalLike) || is_op(e->node, OP_RandomUniformLike);
  bool is_normal = is_op(e->node, OP_RandomNormal) || is_op(e->node, OP_RandomNormalLike);
  double a = is_normal ? x_float(e, "mean", 0) : x_float(e, "low", 0);
  double b = is_normal ? x_float(e, "scale", 1) : x_float(e, "high", 1);
  struct shape shape = {0};
  size_t rank = 0;
  const int64_t *dims = node_ints(e->node, "shape", &rank);
  if (is_like) {
    shape = x_in(e, 0)->shape;
  } else if (rank <= HONE_MAX_RANK) {
    shape.rank = (int)rank;
    for (size_t i = 0; i < rank; i++) shape.dims[i] = dims[i];
  } else {
    x_fail(e, HONE_E_SHAPE, "a shape of %zu dimensions", rank);
  }
  hone_dtype dtype = dtype_or(e, is_like ? x_in(e, 0)->dtype : HONE_F32);
  x_out(e, 0, drawn(e, dtype, &shape, is_normal, a, b));
}

void expand_bernoulli(struct graph_builder *e) {
  struct value *p = x_in(e, 0);
  struct value *u = drawn(e, p->dtype, &p->shape, false, 0, 1);
  x_out(e, 0, x_cast(e, x_2(e, OP_Less, u, p), dtype_or(e, p->dtype)));
}

/* Kept elements are scaled, so that the expected value is unchanged. */
void expand_dropout(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *training = x_in(e, 2);
  bool drops = training && training->constant && tensor_i64(training->constant, 0) != 0;
  struct value *kept;
  if (!drops) {
    x_out(e, 0, x);
    x_out(e, 1, x_expand(e, x_scalar(e, HONE_BOOL, 1), &x->shape));
    return;
  }
  struct value *ratio = x_in(e, 1) ? x_cast(e, x_in(e, 1), x->dtype) : x_scalar(e, x->dtype, 0.5);
  kept = x_2(e, OP_GreaterOrEqual, drawn(e, x->dtype, &x->shape, false, 0, 1), ratio);
  struct value *scale = x_2(e, OP_Sub, x_scalar(e, x->dtype, 1), ratio);
  struct value *y = x_3(e, OP_Where, kept, x_2(e, OP_Div, x, scale), x_scalar(e, x->dtype, 0));
  x_out(e, 0, y);
  x_out(e, 1, kept);
}

/* Normalises by the mean and variance of this batch and updates the running ones. */
void expand_batch_norm(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  int64_t axes[HONE_MAX_RANK], dims[HONE_MAX_RANK];
  size_t count = 0;
  double momentum = x_float(e, "momentum", 0.9), epsilon = x_float(e, "epsilon", 1e-5);
  if (x->shape.rank < 2) {
    x_fail(e, HONE_E_SHAPE, "an input of rank %d", x->shape.rank);
    return;
  }
  for (int i = 0; i < x->shape.rank; i++) {
    if (i != 1) axes[count++] = i;
    dims[i] = i == 1 ? x->shape.dims[1] : 1;
  }
  struct value *mean = x_reduce(e, OP_ReduceMean, x, axes, count, true);
  struct value *centred = x_2(e, OP_Sub, x, mean);
  struct value *variance =
      x_reduce(e, OP_ReduceMean, x_2(e, OP_Mul, centred, centred), axes, count, true);
  struct value *deviation =
      x_1(e, OP_Sqrt, x_2(e, OP_Add, variance, x_scalar(e, x->dtype, epsilon)));
  struct value *y = x_2(e, OP_Div, centred, deviation), *now[2] = {mean, variance};
  y = x_2(e, OP_Mul, y, x_cast(e, x_reshape(e, x_in(e, 1), dims, x->shape.rank), x->dtype));
  x_out(e, 0,
        x_2(e, OP_Add, y, x_cast(e, x_reshape(e, x_in(e, 2), dims, x->shape.rank), x->dtype)));
  for (size_t k = 0; k < 2; k++) {
    struct value *before = x_in(e, 3 + k);
    struct value *fresh = x_cast(e, x_reshape(e, now[k], &dims[1], 1), before->dtype);
    struct value *part = x_by(e, OP_Mul, before, momentum);
    x_out(e, 1 + k, x_2(e, OP_Add, part, x_by(e, OP_Mul, fresh, 1 - momentum)));
  }
}

/* -- small operators */

void expand_binarizer(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  struct value *above = x_by(e, OP_Greater, x, x_float(e, "threshold", 0));
  x_out(e, 0, x_cast(e, above, x->dtype));
}

void expand_array_feature_extractor(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *index = x_in(e, 1);
  int64_t count = 0, flat = -1;
  if (x->shape.rank < 1 || !shape_count(&index->shape, &count)) {
    x_fail(e, HONE_E_SHAPE, "a scalar has no features");
    return;
  }
  struct value *y = x_gather(e, x, x_reshape(e, index, &flat, 1), -1);
  x_out(e, 0, x->shape.rank == 1 ? x_unsqueeze(e, y, 0) : y);
}
