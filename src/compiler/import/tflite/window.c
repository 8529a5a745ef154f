/* window: convolutions, pools and matmuls, in float and quantised.
 *
 * Images are read in channels-first order, weights are transposed once (constants). A quantised
 * contraction is an integer one plus the bias, followed by hone.Requantize. */
#include "tflite.h"

#include <math.h>

enum { FULLY_CONNECTED = 9 }; /* sums of FULLY_CONNECTED with 8-bit weights are rounded once */

/* Option numbers by operator; -1: none. */
struct window_fields {
  int padding, stride_w, stride_h, activation, dilation_w, dilation_h;
};
static const struct window_fields conv_fields = {0, 1, 2, 3, 4, 5};
static const struct window_fields depthwise_fields = {0, 1, 2, 4, 5, 6};
static const struct window_fields transpose_fields = {0, 1, 2, 3, -1, -1};
static const struct window_fields pool_fields = {0, 1, 2, 5, -1, -1};

struct window {
  int64_t same;
  int64_t strides[2], dilations[2], kernel[2], pads[4]; /* h, w; pads: before, after */
};

static hone_status read_window(struct tf_op *op, const struct window_fields *f, struct window *w) {
  w->dilations[0] = w->dilations[1] = 1;
  TRY(tf_option(op, (unsigned)f->padding, FLAT_I8, 0, &w->same));
  TRY(tf_option(op, (unsigned)f->stride_w, FLAT_I32, 0, &w->strides[1]));
  TRY(tf_option(op, (unsigned)f->stride_h, FLAT_I32, 0, &w->strides[0]));
  if (f->dilation_w >= 0) {
    TRY(tf_option(op, (unsigned)f->dilation_w, FLAT_I32, 1, &w->dilations[1]));
    TRY(tf_option(op, (unsigned)f->dilation_h, FLAT_I32, 1, &w->dilations[0]));
  }
  if (w->same != 0 && w->same != 1) return tf_refuse(op, "with padding %lld", (long long)w->same);
  w->same = !w->same;
  for (int d = 0; d < 2; d++)
    if (w->strides[d] < 1 || w->dilations[d] < 1)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: stride %lld, dilation %lld",
                  op->kind->name, (long long)w->strides[d], (long long)w->dilations[d]);
  return HONE_OK;
}

/* SAME: ceil(in / stride) results, the odd element of padding at the end. */
static void pad_window(struct window *w, const int64_t *in) {
  for (int d = 0; d < 2; d++) {
    int64_t out = in[d] / w->strides[d] + (in[d] % w->strides[d] != 0);
    int64_t reach = (w->kernel[d] - 1) * w->dilations[d] + 1;
    int64_t total = w->same ? (out - 1) * w->strides[d] + reach - in[d] : 0;
    if (total < 0) total = 0;
    w->pads[d] = total / 2;
    w->pads[d + 2] = total - total / 2;
  }
}

#define WINDOW_ARGS(w)                                                          \
  INTS_ARG("strides", (w).strides, 2), INTS_ARG("dilations", (w).dilations, 2), \
      INTS_ARG("pads", (w).pads, 4)

/* -- quantised contractions: shared by convolutions and matmuls */

static hone_status zero_point(struct tf_op *op, const struct tf_tensor *tensor, hone_dtype dtype,
                              struct value **out) {
  const struct tf_quantisation *q = &tensor->quantisation;
  if (!q->count) return tf_refuse(op, "with an operand without a scale (\"%s\")", tensor->name);
  for (size_t i = 1; i < q->count; i++)
    if (q->zero_points[i] != q->zero_points[0])
      return tf_refuse(op, "with per-channel zero points of the weights");
  return x_give(op->b, out, x_scalar(op->b, dtype, (double)q->zero_points[0]));
}

/* Real multiplier of each output channel. Per-tensor scales are multiplied in float, as in the
 * format's reference. */
static hone_status output_scales(struct tf_op *op, const struct tf_tensor *x,
                                 const struct tf_tensor *w, bool in_float, double **out) {
  const struct tf_tensor *y = tf_out(op, 0);
  size_t count = w->quantisation.count;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, *out, count));
  if (!count || !tf_is_quantised(y) || y->quantisation.count != 1 || x->quantisation.count != 1)
    return tf_refuse(op, "with an input or output that does not have exactly one scale");
  for (size_t i = 0; i < count; i++) {
    double a = x->quantisation.scales[0], b = w->quantisation.scales[i];
    double product = in_float ? (double)((float)a * (float)b) : a * b;
    (*out)[i] = product / y->quantisation.scales[0];
    if (!((*out)[i] >= 0) || isinf((*out)[i]))
      return fail(op->ctx, HONE_E_NUM, tf_place(op), "%s: the scales combine to %g", op->kind->name,
                  (*out)[i]);
  }
  return HONE_OK;
}

/* sums [i32 or i64] + bias -> output; channels along `axis` of rank `rank`. */
static hone_status finish_sums(struct tf_op *op, const struct tf_tensor *x,
                               const struct tf_tensor *w, struct tf_tensor *bias,
                               struct value *sums, int axis, int activation, bool in_float,
                               struct value **out) {
  struct value *b;
  double *scales;
  const struct tf_tensor *y = tf_out(op, 0);
  if (bias && bias->dtype != HONE_I32 && bias->dtype != HONE_I64)
    return fail(op->ctx, HONE_E_TYPE, tf_place(op), "%s: a bias of %s", op->kind->name,
                dtype_name(bias->dtype));
  if (bias) {
    int64_t dims[HONE_MAX_RANK];
    TRY(tf_value(op, bias, &b));
    for (int d = 0; d < sums->shape.rank; d++) dims[d] = d == axis ? -1 : 1;
    BUILD(op->b, b = x_reshape(op->b, x_cast(op->b, b, sums->dtype), dims, sums->shape.rank));
    BUILD(op->b, sums = x_2(op->b, OP_Add, sums, b));
  }
  TRY(output_scales(op, x, w, in_float, &scales));
  struct tf_rescale how = {.scales = scales,
                           .count = w->quantisation.count,
                           .axis = axis,
                           .dtype = y->dtype,
                           .zero_point = y->quantisation.zero_points[0]};
  how.once = op->kind->code == FULLY_CONNECTED && w->dtype != HONE_I16;
  TRY(tf_range(op, activation, &how.low, &how.high));
  return tf_rescale(op, sums, &how, out);
}

/* The accumulator type for 16-bit numbers: 32 bits suffice with a 32-bit bias. */
static hone_dtype type_of_sums(const struct tf_op *op, const struct tf_tensor *bias) {
  if (bias) return bias->dtype;
  return op->kind->code == FULLY_CONNECTED ? HONE_I32 : HONE_I64;
}

/* Sums of products of 16-bit and 8-bit numbers, exact in double. */
static struct value *wide_conv(struct tf_op *op, struct value *x, struct value *w,
                               const struct window *window, int64_t groups) {
  x = x_cast(op->b, x, HONE_F64);
  struct value *out = x_args(op->b, OP_Conv, VALUES(x, x_cast(op->b, w, HONE_F64)),
                             ARGS(INT_ARG("group", groups), WINDOW_ARGS(*window)));
  return x_cast(op->b, out, type_of_sums(op, tf_in(op, 2)));
}

static hone_status quantised_conv(struct tf_op *op, struct value *x, struct value *w,
                                  const struct window *window, int64_t groups, int activation) {
  const struct tf_tensor *in = tf_in(op, 0), *weights = tf_in(op, 1);
  struct value *x_zero, *w_zero, *sums, *y;
  TRY(zero_point(op, in, x->dtype, &x_zero));
  TRY(zero_point(op, weights, w->dtype, &w_zero));
  if (in->dtype == HONE_I16)
    sums = wide_conv(op, x, w, window, groups);
  else
    BUILD(op->b, sums = x_args(op->b, OP_ConvInteger, VALUES(x, w, x_zero, w_zero),
                               ARGS(INT_ARG("group", groups), WINDOW_ARGS(*window))));
  TRY(finish_sums(op, in, weights, tf_in(op, 2), sums, 1, activation, in->dtype == HONE_U8, &y));
  return tf_write(op, 0, true, y);
}

/* -- convolutions */

static hone_status conv(struct tf_op *op, const struct window_fields *fields, const int64_t *perm,
                        bool depthwise) {
  struct tf_tensor *in = tf_in(op, 0), *weights = tf_in(op, 1), *bias = tf_in(op, 2);
  struct window window = {0};
  struct value *x, *w, *b = NULL, *y;
  TRY(tf_arity(op, 2, 3, 1));
  TRY(read_window(op, fields, &window));
  TRY(tf_image(op, in, &x));
  bool quantised = tf_is_quantised(in);
  if (quantised)
    TRY(tf_integer_weights(op, weights, &w));
  else
    TRY(tf_dequantised(op, weights, &w));
  if (w->shape.rank != 4)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s with weights of rank %d", op->kind->name,
                w->shape.rank);
  BUILD(op->b, w = x_transpose(op->b, w, perm));
  for (int d = 0; d < 2; d++) window.kernel[d] = w->shape.dims[2 + d];
  pad_window(&window, x->shape.dims + 2);
  int64_t channels = x->shape.dims[1], groups = 1;
  if (w->shape.dims[1] < 1 || (!depthwise && channels % w->shape.dims[1]))
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: %lld channels, weights for %lld",
                op->kind->name, (long long)channels, (long long)w->shape.dims[1]);
  groups = depthwise ? channels : channels / w->shape.dims[1];
  if (quantised) return quantised_conv(op, x, w, &window, groups, fields->activation);
  if (bias) TRY(tf_value(op, bias, &b));
  BUILD(op->b, y = x_args(op->b, OP_Conv, VALUES(x, w, b),
                          ARGS(INT_ARG("group", groups), WINDOW_ARGS(window))));
  TRY(tf_activate(op, (unsigned)fields->activation, y, &y));
  return tf_write(op, 0, true, y);
}

/* Weights [out, h, w, in]. */
hone_status tf_conv(struct tf_op *op) {
  static const int64_t perm[] = {0, 3, 1, 2};
  return conv(op, &conv_fields, perm, false);
}

/* Weights [1, h, w, channels * multiplier]. */
hone_status tf_depthwise(struct tf_op *op) {
  static const int64_t perm[] = {3, 0, 1, 2};
  return conv(op, &depthwise_fields, perm, true);
}

/* TRANSPOSE_CONV: output shape, weights [out, h, w, in], x, bias. */
hone_status tf_transpose_conv(struct tf_op *op) {
  static const int64_t perm[] = {3, 0, 1, 2};
  int64_t shape[4], outside[2];
  size_t count;
  struct window window = {0};
  struct tf_tensor *in = tf_in(op, 2), *weights = tf_in(op, 1), *bias = tf_in(op, 3);
  struct value *x, *w, *b = NULL, *y;
  TRY(tf_arity(op, 3, 4, 1));
  TRY(tf_ints(op, 0, 4, shape, &count));
  TRY(read_window(op, &transpose_fields, &window));
  TRY(tf_image(op, in, &x));
  bool quantised = tf_is_quantised(in);
  TRY((quantised ? tf_integer_weights : tf_dequantised)(op, weights, &w));
  if (count != 4 || w->shape.rank != 4)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "TRANSPOSE_CONV with weights of rank %d",
                w->shape.rank);
  BUILD(op->b, w = x_transpose(op->b, w, perm));
  for (int d = 0; d < 2; d++) {
    int64_t reach = (x->shape.dims[2 + d] - 1) * window.strides[d] + w->shape.dims[2 + d];
    int64_t wanted = shape[1 + d] < 0 ? -1 : shape[1 + d];
    int64_t total = window.same && reach > wanted ? reach - wanted : 0;
    window.pads[d] = total / 2;
    window.pads[2 + d] = total - total / 2;
    if (wanted < 0 || !checked_sub(wanted, reach - total, &outside[d]) || outside[d] < 0 ||
        outside[d] >= window.strides[d])
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "TRANSPOSE_CONV to size %lld from %lld",
                  (long long)shape[1 + d], (long long)x->shape.dims[2 + d]);
  }
  if (quantised) {
    BUILD(op->b, x = x_by(op->b, OP_Sub, x_cast(op->b, x, HONE_F64),
                          (double)in->quantisation.zero_points[0]));
    BUILD(op->b, w = x_cast(op->b, w, HONE_F64));
    if (weights->quantisation.count)
      BUILD(op->b, w = x_by(op->b, OP_Sub, w, (double)weights->quantisation.zero_points[0]));
  } else if (bias) {
    TRY(tf_value(op, bias, &b));
  }
  BUILD(op->b, y = x_args(op->b, OP_ConvTranspose, VALUES(x, w, b),
                          ARGS(WINDOW_ARGS(window), INTS_ARG("output_padding", outside, 2))));
  if (quantised) {
    BUILD(op->b, y = x_cast(op->b, y, in->dtype == HONE_I16 ? type_of_sums(op, bias) : HONE_I32));
    TRY(finish_sums(op, in, weights, bias, y, 1, transpose_fields.activation, in->dtype == HONE_U8,
                    &y));
  } else {
    TRY(tf_activate(op, (unsigned)transpose_fields.activation, y, &y));
  }
  return tf_write(op, 0, true, y);
}

/* -- pools */

enum { POOL_AVERAGE, POOL_MAX, POOL_L2 };

static struct value *average(struct tf_op *op, struct value *x, const struct window *w) {
  return x_args(op->b, OP_AveragePool, VALUES(x),
                ARGS(INTS_ARG("kernel_shape", w->kernel, 2), INTS_ARG("strides", w->strides, 2),
                     INTS_ARG("pads", w->pads, 4)));
}

static struct value *l2_pool(struct tf_op *op, struct value *x, const struct window *w) {
  struct value *out = x_2(op->b, OP_Mul, x, x);
  out = average(op, out, w);
  return x_1(op->b, OP_Sqrt, out);
}

/* 16-bit numbers are compared as floats, which represent them exactly. */
static struct value *max_pool(struct tf_op *op, struct value *x, const struct window *w) {
  const hone_dtype dtype = x->dtype;
  if (dtype == HONE_I16) x = x_cast(op->b, x, HONE_F32);
  struct value *out =
      x_args(op->b, OP_MaxPool, VALUES(x),
             ARGS(INTS_ARG("kernel_shape", w->kernel, 2), INTS_ARG("strides", w->strides, 2),
                  INTS_ARG("pads", w->pads, 4)));
  return x_cast(op->b, out, dtype);
}

/* Clamps to the activation's range if it is narrower than the type's. */
static hone_status clamp_quantised(struct tf_op *op, int activation, struct value *x,
                                   struct value **out) {
  double low, high, all_low, all_high;
  TRY(tf_range(op, activation, &low, &high));
  tf_type_range(tf_out(op, 0)->dtype, &all_low, &all_high);
  *out = x;
  if (low <= all_low && high >= all_high) return HONE_OK;
  return x_give(
      op->b, out,
      x_3(op->b, OP_Clip, x, x_scalar(op->b, x->dtype, low), x_scalar(op->b, x->dtype, high)));
}

/* The sum over each window: for the whole image a reduction, else a depthwise convolution with
 * ones. */
static struct value *window_sums(struct tf_op *op, struct value *x, const struct window *w) {
  struct graph_builder *b = op->b;
  int64_t channels = x->shape.dims[1], dims[4] = {channels, 1, w->kernel[0], w->kernel[1]};
  int64_t pads = 0;
  struct value *axes;
  for (int d = 0; d < 4; d++) pads += w->pads[d];
  if (!pads && w->kernel[0] == x->shape.dims[2] && w->kernel[1] == x->shape.dims[3]) {
    axes = x_list(b, (const int64_t[]){2, 3}, 2);
    return tf_quantised_total(op, x, 0, axes, w->kernel[0] * w->kernel[1], 1);
  }
  const bool is_word = x->dtype == HONE_I16; /* sums of up to 2^21 elements are exact in double */
  struct value *ones =
      x_2(b, OP_Expand, x_scalar(b, is_word ? HONE_F64 : HONE_I8, 1), x_list(b, dims, 4));
  if (is_word) {
    x = x_cast(b, x, HONE_F64);
    return x_args(b, OP_Conv, VALUES(x, ones), ARGS(INT_ARG("group", channels), WINDOW_ARGS(*w)));
  }
  return x_args(b, OP_ConvInteger, VALUES(x, ones),
                ARGS(INT_ARG("group", channels), WINDOW_ARGS(*w)));
}

/* Elements of window `at` along one axis that are inside the image. */
static int64_t elements_inside(const struct window *w, int d, int64_t at, int64_t in) {
  int64_t first = at * w->strides[d] - w->pads[d], last = first + w->kernel[d];
  return (last < in ? last : in) - (first > 0 ? first : 0);
}

/* The largest error of sum / count in float is 2^-14.6; up to this count a tie and its neighbours
 * are distinguished by a quarter of their distance. */
enum { MOST_IN_FLOAT = 4096 };

/* 1 / count, and a half and a quarter of a tie's distance, by window: scalars if all windows are
 * equal. */
static hone_status window_factors(struct tf_op *op, const struct value *sums,
                                  const struct window *w, const int64_t *in, hone_dtype dtype,
                                  struct value **inverse, struct value **half) {
  struct shape shape = sums->shape;
  double *factors, *halves;
  bool equal = true;
  int64_t height = shape.dims[2], width = shape.dims[3];
  shape.dims[0] = shape.dims[1] = 1;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, factors, (size_t)(height * width)));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, halves, (size_t)(height * width)));
  for (int64_t i = 0; i < height * width; i++) {
    int64_t count =
        elements_inside(w, 0, i / width, in[0]) * elements_inside(w, 1, i % width, in[1]);
    factors[i] = 1 / (double)(count > 0 ? count : 1);
    halves[i] = 0.5 + factors[i] / 4;
    equal &= factors[i] == factors[0];
  }
  if (equal) shape = (struct shape){.rank = 0};
  BUILD(op->b, *inverse = x_numbers(op->b, dtype, &shape, factors));
  return x_give(op->b, half, x_numbers(op->b, dtype, &shape, halves));
}

/* Sum over the window divided by the number of its elements inside the image, halves away from
 * zero. */
static hone_status quantised_average(struct tf_op *op, struct value *x, const struct window *w,
                                     struct value **out) {
  struct graph_builder *b = op->b;
  struct value *sums, *inverse, *half;
  hone_dtype to = x->dtype;
  hone_dtype dtype =
      to != HONE_I16 && w->kernel[0] * w->kernel[1] <= MOST_IN_FLOAT ? HONE_F32 : HONE_F64;
  double least, most;
  BUILD(b, sums = window_sums(op, x, w));
  TRY(window_factors(op, sums, w, x->shape.dims + 2, dtype, &inverse, &half));
  x = x_cast(b, sums, dtype);
  *out = x_2(b, OP_Mul, x, inverse);
  if (to != HONE_U8) half = x_2(b, OP_Mul, x_1(b, OP_Sign, x), half);
  *out = x_2(b, OP_Add, *out, half);
  TRY(tf_range(op, pool_fields.activation, &least, &most));
  *out = x_3(b, OP_Clip, *out, x_scalar(b, dtype, least), x_scalar(b, dtype, most));
  return x_give(b, out, x_cast(b, *out, to)); /* toward zero */
}

hone_status tf_pool(struct tf_op *op) {
  struct window window = {0};
  struct value *x, *y;
  int kind = op->kind->parameter;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(read_window(op, &pool_fields, &window));
  TRY(tf_option(op, 3, FLAT_I32, 0, &window.kernel[1]));
  TRY(tf_option(op, 4, FLAT_I32, 0, &window.kernel[0]));
  if (window.kernel[0] < 1 || window.kernel[1] < 1)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s with a filter of %lld x %lld",
                op->kind->name, (long long)window.kernel[0], (long long)window.kernel[1]);
  TRY(tf_image(op, tf_in(op, 0), &x));
  pad_window(&window, x->shape.dims + 2);
  bool quantised = tf_is_quantised(tf_in(op, 0));
  if (quantised && kind == POOL_L2) return tf_refuse(op, "of quantised numbers");
  if (quantised && kind == POOL_AVERAGE) {
    TRY(quantised_average(op, x, &window, &y));
    return tf_write(op, 0, true, y);
  }
  BUILD(op->b, y = (kind == POOL_MAX  ? max_pool
                    : kind == POOL_L2 ? l2_pool
                                      : average)(op, x, &window));
  if (quantised)
    TRY(clamp_quantised(op, pool_fields.activation, y, &y));
  else
    TRY(tf_activate(op, (unsigned)pool_fields.activation, y, &y));
  return tf_write(op, 0, true, y);
}

/* -- matmuls */

/* [.., k] to [rows, k], and the shape of the result. */
static hone_status flatten_rows(struct tf_op *op, struct value *x, int64_t k, int64_t n,
                                bool keep_dims, struct value **out, int64_t *dims, size_t *rank) {
  const int64_t elements = make_elements(x);
  int64_t flat[2] = {0, k};
  if (k < 1 || elements % k)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op),
                "FULLY_CONNECTED: the weights expect %lld elements a row", (long long)k);
  flat[0] = elements / k;
  *rank = 0;
  for (int d = 0; keep_dims && d + 1 < x->shape.rank; d++) dims[(*rank)++] = x->shape.dims[d];
  if (!keep_dims) dims[(*rank)++] = flat[0];
  dims[(*rank)++] = n;
  *out = x;
  if (x->shape.rank == 2 && x->shape.dims[1] == k) return HONE_OK;
  return x_give(op->b, out, x_reshape(op->b, x, flat, 2));
}

static hone_status quantised_product(struct tf_op *op, struct value *x, struct value *w,
                                     struct value **out) {
  static const int64_t turn[] = {1, 0};
  const struct tf_tensor *in = tf_in(op, 0), *weights = tf_in(op, 1), *bias = tf_in(op, 2);
  struct value *x_zero, *w_zero, *sums;
  if (!weights->quantisation.count) return tf_refuse(op, "with weights without a scale");
  TRY(zero_point(op, in, x->dtype, &x_zero));
  TRY(zero_point(op, weights, w->dtype, &w_zero));
  BUILD(op->b, w = x_transpose(op->b, w, turn));
  if (in->dtype == HONE_I16) {
    x = x_cast(op->b, x, HONE_F64);
    w = x_cast(op->b, w, HONE_F64);
    sums = x_2(op->b, OP_MatMul, x, w);
    const bool is_wide = weights->dtype == HONE_I16;
    sums = x_cast(op->b, sums, is_wide ? HONE_I64 : type_of_sums(op, bias));
  } else {
    BUILD(op->b, sums = x_op(op->b, OP_MatMulInteger, VALUES(x, w, x_zero, w_zero)));
  }
  return finish_sums(op, in, weights, tf_in(op, 2), sums, 1, 0, in->dtype == HONE_U8, out);
}

/* Weights [n, k]. */
hone_status tf_fully_connected(struct tf_op *op) {
  int64_t keep, format, dims[HONE_MAX_RANK];
  size_t rank = 0;
  struct tf_tensor *in = tf_in(op, 0), *weights = tf_in(op, 1), *bias = tf_in(op, 2);
  struct value *x, *w, *b = NULL, *y;
  TRY(tf_arity(op, 2, 3, 1));
  TRY(tf_option(op, 1, FLAT_I8, 0, &format));
  TRY(tf_option(op, 2, FLAT_U8, 0, &keep));
  if (format) return tf_refuse(op, "with weights_format %lld", (long long)format);
  bool quantised = tf_is_quantised(in);
  TRY(tf_value(op, in, &x));
  TRY((quantised ? tf_integer_weights : tf_dequantised)(op, weights, &w));
  if (w->shape.rank != 2)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "FULLY_CONNECTED with weights of rank %d",
                w->shape.rank);
  TRY(flatten_rows(op, x, w->shape.dims[1], w->shape.dims[0], keep != 0, &x, dims, &rank));
  if (quantised) {
    TRY(quantised_product(op, x, w, &y));
  } else {
    if (bias) TRY(tf_value(op, bias, &b));
    BUILD(op->b, y = x_args(op->b, OP_Gemm, VALUES(x, w, b), ARGS(INT_ARG("transB", 1))));
    TRY(tf_activate(op, 0, y, &y));
  }
  if (rank != 2) y = x_reshape(op->b, y, dims, (int)rank);
  return tf_write(op, 0, false, y);
}

/* BATCH_MATMUL: adj_x, adj_y transpose the last two axes. */
hone_status tf_matmul(struct tf_op *op) {
  struct value *in[2];
  TRY(tf_arity(op, 2, 2, 1));
  const bool quantised = tf_is_quantised(tf_in(op, 0));
  for (unsigned k = 0; k < 2; k++) {
    int64_t turned, perm[HONE_MAX_RANK];
    TRY(tf_option(op, k, FLAT_U8, 0, &turned));
    TRY((quantised ? tf_integer_weights : tf_dequantised)(op, tf_in(op, k), &in[k]));
    int rank = in[k]->shape.rank;
    if (rank < 2) return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "BATCH_MATMUL of rank %d", rank);
    for (int d = 0; d < rank; d++) perm[d] = d;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    if (turned) BUILD(op->b, in[k] = x_transpose(op->b, in[k], perm));
  }
  if (quantised) return tf_quantised_matmul(op, in);
  return tf_write(op, 0, false, x_2(op->b, OP_MatMul, in[0], in[1]));
}
