/* norm: normalisations. Mean and variance in double over a run of elements, then scale and shift.
 */
#include <math.h>

#include "core/ops/ops_internal.h"

/* Input k has rank 1 and `count` elements; it may be absent. */
static hone_status want_vector(struct ctx *ctx, const struct node *node, size_t k, int64_t count) {
  const struct value *value = node_input(node, k);
  if (!value || (value->shape.rank == 1 && value->shape.dims[0] == count)) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu is not a vector of %lld elements", k,
              (long long)count);
}

struct moments {
  double mean, variance;
};

static struct moments moments_of(const double *x, int64_t count, int64_t stride) {
  struct moments m = {0, 0};
  for (int64_t i = 0; i < count; i++) m.mean += x[i * stride];
  m.mean /= (double)count;
  for (int64_t i = 0; i < count; i++)
    m.variance += (x[i * stride] - m.mean) * (x[i * stride] - m.mean);
  m.variance /= (double)count;
  return m;
}

/* Moments about zero instead of the mean. */
static struct moments squares_of(const double *x, int64_t count) {
  struct moments m = {0, 0};
  for (int64_t i = 0; i < count; i++) m.variance += x[i] * x[i];
  m.variance /= (double)count;
  return m;
}

/* -- BatchNormalization */

hone_status infer_batch_normalization(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_float(ctx, node, 0));
  TRY(want_rank_at_least(ctx, node, 0, 1));
  if (node_int(node, "training_mode", 0) != 0)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "BatchNormalization with training_mode 1");
  const struct shape *x = &node->inputs[0]->shape;
  for (size_t k = 1; k < 5; k++) TRY(want_vector(ctx, node, k, x->rank > 1 ? x->dims[1] : 1));
  for (size_t k = 1; k < node->output_count; k++)
    if (node->outputs[k])
      return fail(ctx, HONE_E_UNSUP, node_place(node),
                  "output %zu of BatchNormalization exists only in training", k);
  return set_output_like(ctx, node, 0, 0);
}

hone_status eval_batch_normalization(struct ctx *ctx, struct arena *scratch,
                                     const struct node *node, const struct tensor *const *in,
                                     struct tensor *const *out) {
  const struct shape *shape = &in[0]->shape;
  int64_t channels = shape->rank > 1 ? shape->dims[1] : 1;
  int64_t inner = dims_product(shape, 2, shape->rank), n = shape->dims[0];
  double epsilon = node_float(node, "epsilon", (double)1e-5f), *x;
  TRY(to_f64(ctx, scratch, in[0], &x));
  for (int64_t row = 0; row < n * channels; row++) {
    size_t c = (size_t)(row % channels);
    double scale = tensor_f64(in[1], c), bias = tensor_f64(in[2], c), mean = tensor_f64(in[3], c);
    double deviation = sqrt(tensor_f64(in[4], c) + epsilon);
    double *y = x + row * inner;
    for (int64_t i = 0; i < inner; i++) y[i] = (y[i] - mean) / deviation * scale + bias;
    write_f64(out[0], row * inner, (size_t)inner, y);
  }
  return HONE_OK;
}

/* -- LayerNormalization, RMSNormalization */

static hone_status infer_trailing(struct ctx *ctx, const struct node *node, int *out_axis) {
  TRY(want_float(ctx, node, 0));
  const struct shape *x = &node->inputs[0]->shape;
  TRY(axis_attribute(ctx, node, "axis", -1, x->rank, out_axis));
  for (size_t k = 1; k < node->input_count && k < 3; k++) {
    struct shape both;
    if (!has_input(node, k)) continue;
    if (!shape_broadcast(&node->inputs[k]->shape, x, &both) || !shape_equal(&both, x))
      return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu does not broadcast to input 0",
                  k);
  }
  return set_output_like(ctx, node, 0, 0);
}

hone_status infer_layer_normalization(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  int axis = 0;
  TRY(infer_trailing(ctx, node, &axis));
  struct shape statistics = node->inputs[0]->shape;
  for (int i = axis; i < statistics.rank; i++) statistics.dims[i] = 1;
  int64_t stash = node_int(node, "stash_type", 1);
  hone_dtype dtype =
      stash == HONE_F32 || stash == HONE_F64 || stash == HONE_F16 || stash == HONE_BF16
          ? (hone_dtype)stash
          : HONE_F32;
  TRY(set_output(ctx, node, 1, dtype, &statistics));
  return set_output(ctx, node, 2, dtype, &statistics);
}

hone_status infer_rms_normalization(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  int axis = 0;
  return infer_trailing(ctx, node, &axis);
}

/* A broadcast operand, dense; NULL if absent. *out_step: from one row to the next, 0 if all rows
 * share it. */
static hone_status spread(struct ctx *ctx, struct arena *scratch, const struct tensor *tensor,
                          const struct shape *x, int axis, double **out, int64_t *out_step) {
  *out = NULL;
  *out_step = 0;
  if (!tensor) return HONE_OK;
  struct shape over = *x;
  int64_t strides[HONE_MAX_RANK], index[HONE_MAX_RANK] = {0}, at = 0;
  broadcast_strides(&tensor->shape, x, strides);
  for (int i = 0; i < axis; i++)
    if (strides[i]) *out_step = dims_product(x, axis, x->rank);
  for (int i = 0; i < axis && !*out_step; i++) over.dims[i] = 1;
  TRY(NEW_ARRAY(ctx, scratch, *out, (size_t)dims_product(&over, 0, over.rank)));
  do {
    (*out)[at++] = tensor_f64(tensor, (size_t)index_offset(over.rank, index, strides));
  } while (index_next(over.rank, over.dims, index));
  return HONE_OK;
}

static hone_status run_trailing(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out,
                                bool is_rms) {
  const struct shape *shape = &in[0]->shape;
  int axis = 0;
  int64_t scale_step, bias_step;
  double *x, *scale, *bias, epsilon = node_float(node, "epsilon", (double)1e-5f);
  TRY(axis_attribute(ctx, node, "axis", -1, shape->rank, &axis));
  if (tensor_count(in[0]) == 0) return HONE_OK;
  int64_t rows = dims_product(shape, 0, axis), count = dims_product(shape, axis, shape->rank);
  TRY(to_f64(ctx, scratch, in[0], &x));
  TRY(spread(ctx, scratch, node->input_count > 1 ? in[1] : NULL, shape, axis, &scale, &scale_step));
  TRY(spread(ctx, scratch, node->input_count > 2 ? in[2] : NULL, shape, axis, &bias, &bias_step));
  for (int64_t row = 0; row < rows; row++) {
    double *y = x + row * count;
    struct moments m = is_rms ? squares_of(y, count) : moments_of(y, count, 1);
    double mean = m.mean, inverse = 1 / sqrt(m.variance + epsilon);
    for (int64_t i = 0; i < count; i++) {
      y[i] = (y[i] - mean) * inverse * (scale ? scale[row * scale_step + i] : 1);
      if (bias) y[i] += bias[row * bias_step + i];
    }
    if (out[0]) write_f64(out[0], row * count, (size_t)count, y);
    if (node->output_count > 1 && out[1]) tensor_set_f64(out[1], (size_t)row, mean);
    if (node->output_count > 2 && out[2]) tensor_set_f64(out[2], (size_t)row, inverse);
  }
  return HONE_OK;
}

hone_status eval_layer_normalization(struct ctx *ctx, struct arena *scratch,
                                     const struct node *node, const struct tensor *const *in,
                                     struct tensor *const *out) {
  return run_trailing(ctx, scratch, node, in, out, false);
}

hone_status eval_rms_normalization(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                   const struct tensor *const *in, struct tensor *const *out) {
  return run_trailing(ctx, scratch, node, in, out, true);
}

/* -- InstanceNormalization, GroupNormalization */

static hone_status infer_channels(struct ctx *ctx, const struct node *node) {
  TRY(want_float(ctx, node, 0));
  TRY(want_rank_at_least(ctx, node, 0, 2));
  for (size_t k = 1; k < 3; k++) TRY(want_vector(ctx, node, k, node->inputs[0]->shape.dims[1]));
  return set_output_like(ctx, node, 0, 0);
}

hone_status infer_instance_normalization(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_channels(ctx, node);
}

hone_status infer_group_normalization(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(infer_channels(ctx, node));
  int64_t groups = node_int(node, "num_groups", 0), channels = node->inputs[0]->shape.dims[1];
  if (groups < 1 || channels % groups != 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "num_groups is %lld for %lld channels",
                (long long)groups, (long long)channels);
  return HONE_OK;
}

/* Channels [n][groups][channels / groups], statistics per group. */
static hone_status run_groups(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, const struct tensor *out,
                              int64_t groups) {
  const struct shape *shape = &in[0]->shape;
  double *x, epsilon = node_float(node, "epsilon", (double)1e-5f);
  TRY(to_f64(ctx, scratch, in[0], &x));
  if (tensor_count(in[0]) == 0) return HONE_OK;
  int64_t channels = shape->dims[1] / groups, inner = dims_product(shape, 2, shape->rank);
  for (int64_t run = 0; run < shape->dims[0] * groups; run++) {
    double *y = x + run * channels * inner;
    struct moments m = moments_of(y, channels * inner, 1);
    double inverse = 1 / sqrt(m.variance + epsilon);
    for (int64_t i = 0; i < channels * inner; i++) {
      size_t c = (size_t)(run % groups * channels + i / inner);
      y[i] = (y[i] - m.mean) * inverse * tensor_f64(in[1], c) + tensor_f64(in[2], c);
    }
    write_f64(out, run * channels * inner, (size_t)(channels * inner), y);
  }
  return HONE_OK;
}

hone_status eval_instance_normalization(struct ctx *ctx, struct arena *scratch,
                                        const struct node *node, const struct tensor *const *in,
                                        struct tensor *const *out) {
  int64_t channels = in[0]->shape.dims[1];
  return run_groups(ctx, scratch, node, in, out[0], channels > 0 ? channels : 1);
}

hone_status eval_group_normalization(struct ctx *ctx, struct arena *scratch,
                                     const struct node *node, const struct tensor *const *in,
                                     struct tensor *const *out) {
  return run_groups(ctx, scratch, node, in, out[0], node_int(node, "num_groups", 1));
}

/* -- LRN */

hone_status infer_lrn(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_float(ctx, node, 0));
  TRY(want_rank_at_least(ctx, node, 0, 2));
  int64_t size = node_int(node, "size", 0);
  if (size < 1 || size > INT32_MAX)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "size is %lld, expected 1 or more",
                (long long)size);
  return set_output_like(ctx, node, 0, 0);
}

/* y = x / (bias + alpha / size * sum of squares of channels [c - (size-1)/2, c + ceil]) ^ beta */
hone_status eval_lrn(struct ctx *ctx, struct arena *scratch, const struct node *node,
                     const struct tensor *const *in, struct tensor *const *out) {
  const struct shape *shape = &in[0]->shape;
  int64_t size = node_int(node, "size", 1), channels = shape->dims[1];
  int64_t inner = dims_product(shape, 2, shape->rank), before = (size - 1) / 2;
  double alpha = node_float(node, "alpha", (double)1e-4f), beta = node_float(node, "beta", 0.75);
  double bias = node_float(node, "bias", 1), *x;
  TRY(to_f64(ctx, scratch, in[0], &x));
  for (int64_t row = 0; row < shape->dims[0] * channels; row++) {
    int64_t c = row % channels;
    int64_t first = c < before ? 0 : c - before;
    int64_t last = channels - 1 - c < size - 1 - before ? channels - 1 : c + (size - 1 - before);
    for (int64_t i = 0; i < inner; i++) {
      double sum = 0;
      for (int64_t k = first; k <= last; k++) {
        double v = x[(row - c + k) * inner + i];
        sum += v * v;
      }
      double y = x[row * inner + i] / pow(bias + alpha / (double)size * sum, beta);
      tensor_set_f64(out[0], (size_t)(row * inner + i), y);
    }
  }
  return HONE_OK;
}

/* -- LpNormalization, MeanVarianceNormalization */

hone_status infer_lp_normalization(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  int axis = 0;
  TRY(want_float(ctx, node, 0));
  TRY(axis_attribute(ctx, node, "axis", -1, node->inputs[0]->shape.rank, &axis));
  int64_t p = node_int(node, "p", 2);
  if (p != 1 && p != 2)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "p is %lld, expected 1 or 2", (long long)p);
  return set_output_like(ctx, node, 0, 0);
}

hone_status eval_lp_normalization(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                  const struct tensor *const *in, struct tensor *const *out) {
  const struct shape *shape = &in[0]->shape;
  int axis = 0;
  double *x;
  TRY(axis_attribute(ctx, node, "axis", -1, shape->rank, &axis));
  TRY(to_f64(ctx, scratch, in[0], &x));
  int64_t outer = dims_product(shape, 0, axis), dim = shape->dims[axis];
  int64_t inner = dims_product(shape, axis + 1, shape->rank);
  bool is_l1 = node_int(node, "p", 2) == 1;
  for (int64_t row = 0; row < outer * inner; row++) {
    int64_t start = row / inner * dim * inner + row % inner;
    double sum = 0;
    for (int64_t i = 0; i < dim; i++) {
      double v = x[start + i * inner];
      sum += is_l1 ? fabs(v) : v * v;
    }
    double norm = is_l1 ? sum : sqrt(sum);
    for (int64_t i = 0; i < dim; i++) /* a zero vector is unchanged */
      tensor_set_f64(out[0], (size_t)(start + i * inner),
                     norm == 0 ? 0 : x[start + i * inner] / norm);
  }
  return HONE_OK;
}

static hone_status mvn_axes(struct ctx *ctx, const struct node *node, int rank,
                            bool reduced[HONE_MAX_RANK]) {
  static const int64_t usual[] = {0, 2, 3};
  size_t count = 0;
  const int64_t *axes = node_ints(node, "axes", &count);
  if (!axes) axes = usual, count = COUNT(usual);
  memset(reduced, 0, HONE_MAX_RANK * sizeof *reduced);
  for (size_t i = 0; i < count; i++) {
    int axis = 0;
    TRY(axis_normalise(ctx, node, "axes", axes[i], rank, &axis));
    reduced[axis] = true;
  }
  return HONE_OK;
}

hone_status infer_mean_variance_normalization(struct ctx *ctx, struct graph *graph,
                                              struct node *node) {
  (void)graph;
  bool reduced[HONE_MAX_RANK];
  TRY(want_float(ctx, node, 0));
  TRY(mvn_axes(ctx, node, node->inputs[0]->shape.rank, reduced));
  return set_output_like(ctx, node, 0, 0);
}

/* (x - mean) / (sqrt(variance) + 1e-9), as in the specification's function body. */
hone_status eval_mean_variance_normalization(struct ctx *ctx, struct arena *scratch,
                                             const struct node *node,
                                             const struct tensor *const *in,
                                             struct tensor *const *out) {
  const struct shape *shape = &in[0]->shape;
  bool reduced[HONE_MAX_RANK];
  TRY(mvn_axes(ctx, node, shape->rank, reduced));
  struct shape kept = *shape;
  for (int i = 0; i < shape->rank; i++)
    if (reduced[i]) kept.dims[i] = 1;
  int64_t strides[HONE_MAX_RANK], groups = dims_product(&kept, 0, kept.rank), at = 0;
  int64_t total = (int64_t)tensor_count(in[0]);
  if (total == 0) return HONE_OK;
  broadcast_strides(&kept, shape, strides);
  double *x, *mean, *variance, share = (double)groups / (double)total;
  TRY(to_f64(ctx, scratch, in[0], &x));
  TRY(NEW_ARRAY(ctx, scratch, mean, (size_t)groups));
  TRY(NEW_ARRAY(ctx, scratch, variance, (size_t)groups));
  for (int pass = 0; pass < 3; pass++) {
    int64_t index[HONE_MAX_RANK] = {0};
    at = 0;
    do {
      int64_t g = index_offset(shape->rank, index, strides);
      if (pass == 0) mean[g] += x[at] * share;
      if (pass == 1) variance[g] += (x[at] - mean[g]) * (x[at] - mean[g]) * share;
      if (pass == 2)
        tensor_set_f64(out[0], (size_t)at, (x[at] - mean[g]) / (sqrt(variance[g]) + 1e-9));
      at++;
    } while (index_next(shape->rank, shape->dims, index));
  }
  return HONE_OK;
}
