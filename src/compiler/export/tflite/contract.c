/* contract: convolutions, pools, matmuls and resizes, with channels-last images. */
#include "core/ops/operators/window.h"
#include "tflite.h"

#include <math.h>

/* -- windows */

/* A window over [h, w]; with one spatial dimension h is 1. */
static bool read_window(struct lite *l, const struct node *node, const int64_t *kernel,
                        bool is_transposed, struct window *w) {
  const struct value *x = node_input(node, 0);
  if (!x || !lite_can_be_image(x)) {
    lite_refuse(l, node, "over one or two dimensions only");
    return false;
  }
  if (!l->status)
    l->status =
        (is_transposed ? window_plan_transposed : window_plan)(l->ctx, node, &x->shape, kernel, w);
  if (!l->status && w->rank == 1) {
    w->in[1] = w->in[0], w->out[1] = w->out[0], w->kernel[1] = w->kernel[0];
    w->stride[1] = w->stride[0], w->dilation[1] = w->dilation[0];
    w->pad_begin[1] = w->pad_begin[0], w->pad_end[1] = w->pad_end[0];
    w->in[0] = w->out[0] = w->kernel[0] = w->stride[0] = w->dilation[0] = 1;
    w->pad_begin[0] = w->pad_end[0] = 0;
    w->rank = 2;
  }
  return !l->status;
}

static bool has_padding(const struct window *w) {
  return w->pad_begin[0] || w->pad_begin[1] || w->pad_end[0] || w->pad_end[1];
}

/* SAME: ceil(in / stride) results, the odd element of padding at the end. */
static bool is_same(const struct window *w) {
  for (int d = 0; d < 2; d++) {
    const int64_t out = w->in[d] / w->stride[d] + (w->in[d] % w->stride[d] != 0);
    const int64_t reach = (w->kernel[d] - 1) * w->dilation[d] + 1;
    const int64_t total = (out - 1) * w->stride[d] + reach - w->in[d];
    if (out != w->out[d]) return false;
    if (w->pad_begin[d] != (total > 0 ? total / 2 : 0)) return false;
    if (w->pad_end[d] != (total > 0 ? total - total / 2 : 0)) return false;
  }
  return true;
}

/* Pads the image (quantised: 0 is the zero point); i32 [4, 2] are the amounts. */
static int32_t padded(struct lite *l, int32_t x, const struct window *w, double with) {
  const int64_t amounts[] = {0, 0, w->pad_begin[0], w->pad_end[0], w->pad_begin[1], w->pad_end[1],
                             0, 0};
  const struct shape pairs = {2, {4, 2}};
  struct shape shape = *lite_shape(l, x);
  shape.dims[1] += w->pad_begin[0] + w->pad_end[0];
  shape.dims[2] += w->pad_begin[1] + w->pad_end[1];
  const int32_t list = lite_reshape(l, lite_ints(l, amounts, 8), &pairs);
  const hone_dtype dtype = lite_dtype(l, x);
  if (with == 0) return lite_put(l, LITE_PAD, LITE_INPUTS(x, list), NULL, 0, dtype, &shape);
  const double least = dtype == HONE_I8 ? -128 : dtype == HONE_U8 ? 0 : with;
  const int32_t number = lite_number(l, dtype, isinf(with) ? least : with);
  return lite_put(l, LITE_PADV2, LITE_INPUTS(x, list, number), NULL, 0, dtype, &shape);
}

/* Padding other than SAME and VALID is written as a PAD before the window. */
static int32_t pad_for(struct lite *l, int32_t x, const struct window *w, double with, int *out) {
  *out = has_padding(w) && is_same(w) ? LITE_SAME : LITE_VALID;
  return *out == LITE_VALID && has_padding(w) ? padded(l, x, w, with) : x;
}

static struct shape result_shape(const struct node *node) {
  return lite_image_shape(&node->outputs[0]->shape);
}

/* -- convolutions */

/* Weights [out, in, (h,) w] in their order; with one spatial dimension h is 1. */
static int32_t weights_of(struct lite *l, const struct node *node, const int64_t *order) {
  const int32_t w = lite_input(l, node, 1);
  struct shape four = *lite_shape(l, w);
  if (four.rank == 3) four = (struct shape){4, {four.dims[0], four.dims[1], 1, four.dims[2]}};
  return l->status ? 0 : lite_transpose(l, lite_reshape(l, w, &four), order);
}

static int32_t bias_of(struct lite *l, const struct node *node, int64_t channels) {
  const struct shape shape = {1, {channels}};
  struct tensor *zeros = NULL;
  if (l->quantiser) return lite_quantised_bias(l, node, channels);
  if (node_input(node, 2)) return lite_input(l, node, 2);
  if (!l->status) l->status = tensor_create(l->ctx, l->arena, HONE_F32, &shape, &zeros);
  return l->status ? 0 : lite_constant(l, zeros);
}

void lite_conv(struct lite *l, const struct node *node) {
  static const int64_t plain[] = {0, 2, 3, 1}, depthwise[] = {1, 2, 3, 0};
  const struct value *x = node_input(node, 0), *w = node_input(node, 1);
  struct window window;
  int padding;
  if (!x || !w || w->dtype != HONE_F32) return lite_refuse(l, node, "of a type other than f32");
  if (!read_window(l, node, w->shape.dims + 2, false, &window)) return;
  const int64_t groups = node_int(node, "group", 1), channels = x->shape.dims[1];
  const int64_t results = w->shape.dims[0];
  const bool is_depthwise = groups == channels && groups > 1 && w->shape.dims[1] == 1;
  window_fit_padding(&window);
  const int32_t image = pad_for(l, lite_input_image(l, node, 0), &window, 0, &padding);
  const int32_t turned = weights_of(l, node, is_depthwise ? depthwise : plain);
  const int32_t weights = lite_weights(l, node, turned, is_depthwise ? 3 : 0);
  const int32_t bias = bias_of(l, node, results);
  const hone_dtype dtype = lite_dtype(l, image);
  const struct shape shape = result_shape(node);
  const struct flat_field strides[] = {{1, FLAT_WORD, (double)window.stride[1]},
                                       {2, FLAT_WORD, (double)window.stride[0]}};
  const double across = (double)window.dilation[1], down = (double)window.dilation[0];
  const int32_t y = is_depthwise
                        ? lite_put(l, LITE_DEPTHWISE_CONV_2D, LITE_INPUTS(image, weights, bias),
                                   LITE_OPTIONS({0, FLAT_BYTE, padding}, strides[0], strides[1],
                                                {3, FLAT_WORD, (double)(results / channels)},
                                                {5, FLAT_WORD, across}, {6, FLAT_WORD, down}),
                                   dtype, &shape)
                        : lite_put(l, LITE_CONV_2D, LITE_INPUTS(image, weights, bias),
                                   LITE_OPTIONS({0, FLAT_BYTE, padding}, strides[0], strides[1],
                                                {4, FLAT_WORD, across}, {5, FLAT_WORD, down}),
                                   dtype, &shape);
  lite_bind(l, node, 0, y, true);
}

/* The full result with VALID, then sliced by the padding. */
void lite_conv_transpose(struct lite *l, const struct node *node) {
  static const int64_t order[] = {1, 2, 3, 0};
  const struct value *w = node_input(node, 1);
  struct window window;
  int64_t begin[4] = {0}, end[4];
  if (!w || w->dtype != HONE_F32) return lite_refuse(l, node, "of a type other than f32");
  if (!read_window(l, node, w->shape.dims + 2, true, &window)) return;
  if (node_int(node, "group", 1) != 1) return lite_refuse(l, node, "in groups");
  if (window.dilation[0] != 1 || window.dilation[1] != 1) return lite_refuse(l, node, "dilated");
  const struct shape shape = result_shape(node);
  struct shape whole = shape;
  for (int d = 0; d < 2; d++) {
    whole.dims[1 + d] = (window.in[d] - 1) * window.stride[d] + window.kernel[d];
    begin[1 + d] = window.pad_begin[d];
    /* output_padding may exceed the reach of any window */
    if (begin[1 + d] < 0 ||
        begin[1 + d] + shape.dims[1 + d] > whole.dims[1 + d] + window.stride[d] - 1)
      return lite_refuse(l, node, "to a larger size");
    if (begin[1 + d] + shape.dims[1 + d] > whole.dims[1 + d])
      whole.dims[1 + d] = begin[1 + d] + shape.dims[1 + d];
  }
  const int32_t image = lite_input_image(l, node, 0), weights = weights_of(l, node, order);
  const int32_t sizes = lite_ints(l, whole.dims, 4), bias = bias_of(l, node, shape.dims[3]);
  int32_t y =
      lite_put(l, LITE_TRANSPOSE_CONV, LITE_INPUTS(sizes, weights, image, bias),
               LITE_OPTIONS({0, FLAT_BYTE, LITE_VALID}, {1, FLAT_WORD, (double)window.stride[1]},
                            {2, FLAT_WORD, (double)window.stride[0]}),
               HONE_F32, &whole);
  if (!shape_equal(&whole, &shape)) {
    const int64_t ones[] = {1, 1, 1, 1};
    for (int d = 0; d < 4; d++) end[d] = begin[d] + shape.dims[d];
    y = lite_put(
        l, LITE_STRIDED_SLICE,
        LITE_INPUTS(y, lite_ints(l, begin, 4), lite_ints(l, end, 4), lite_ints(l, ones, 4)), NULL,
        0, HONE_F32, &shape);
  }
  lite_bind(l, node, 0, y, true);
}

/* -- pools */

static int32_t put_pool(struct lite *l, enum lite_code code, int32_t x, const struct window *w,
                        int padding, const struct shape *shape) {
  return lite_put(
      l, code, LITE_INPUTS(x),
      LITE_OPTIONS({0, FLAT_BYTE, padding}, {1, FLAT_WORD, (double)w->stride[1]},
                   {2, FLAT_WORD, (double)w->stride[0]}, {3, FLAT_WORD, (double)w->kernel[1]},
                   {4, FLAT_WORD, (double)w->kernel[0]}),
      lite_dtype(l, x), shape);
}

/* Per window: kernel elements divided by elements inside the image, as [1, h, w, 1]. */
static int32_t inside_factors(struct lite *l, const struct window *w) {
  const struct shape shape = {4, {1, w->out[0], w->out[1], 1}};
  struct tensor *factors = NULL;
  if (!l->status) l->status = tensor_create(l->ctx, l->arena, HONE_F32, &shape, &factors);
  if (l->status) return 0;
  for (int64_t i = 0; i < w->out[0] * w->out[1]; i++) {
    const int64_t at[] = {i / w->out[1], i % w->out[1]};
    double count = 1;
    for (int d = 0; d < 2; d++) {
      const int64_t from = at[d] * w->stride[d] - w->pad_begin[d], to = from + w->kernel[d];
      count *= (double)((to < w->in[d] ? to : w->in[d]) - (from > 0 ? from : 0));
    }
    tensor_set_f64(factors, (size_t)i, (double)(w->kernel[0] * w->kernel[1]) / count);
  }
  return lite_constant(l, factors);
}

void lite_pool(struct lite *l, const struct node *node) {
  const bool is_max = is_op(node, OP_MaxPool);
  const bool counts_padding = node_int(node, "count_include_pad", 0) != 0;
  struct window window;
  int padding;
  const hone_dtype dtype = node->outputs[0]->dtype;
  if (dtype != HONE_F32 && !(is_max && dtype_is_byte(dtype)))
    return lite_refuse(l, node, "of a type other than f32");
  if (node->output_count > 1 && node->outputs[1])
    return lite_refuse(l, node, "with the output of indices");
  if (!read_window(l, node, NULL, false, &window)) return;
  if (window.dilation[0] != 1 || window.dilation[1] != 1) return lite_refuse(l, node, "dilated");
  if (counts_padding && node_int(node, "ceil_mode", 0))
    return lite_refuse(l, node, "with ceil_mode and count_include_pad");
  window_fit_padding(&window);
  const struct shape shape = result_shape(node);
  int32_t x = lite_input_image(l, node, 0);
  /* the format's own average excludes padding */
  const bool same = is_same(&window) && (is_max || !counts_padding);
  padding = same ? LITE_SAME : LITE_VALID;
  if (!same && has_padding(&window)) x = padded(l, x, &window, is_max ? (double)-INFINITY : 0);
  int32_t y =
      put_pool(l, is_max ? LITE_MAX_POOL_2D : LITE_AVERAGE_POOL_2D, x, &window, padding, &shape);
  if (!is_max && !same && !counts_padding && has_padding(&window))
    y = lite_binary(l, LITE_MUL, y, inside_factors(l, &window));
  lite_bind(l, node, 0, y, true);
}

void lite_global_pool(struct lite *l, const struct node *node) {
  static const bool axes[HONE_MAX_RANK] = {false, true, true, false};
  const int32_t x = lite_input_image(l, node, 0);
  const enum lite_code code = is_op(node, OP_GlobalMaxPool) ? LITE_REDUCE_MAX : LITE_MEAN;
  lite_bind(l, node, 0, lite_reduce(l, code, x, axes, true), true);
}

/* -- matmuls */

static const int64_t turned[] = {1, 0};

/* x [.., k] times constant weights [n, k], plus a bias [n] or -1. */
int32_t lite_fully_connected(struct lite *l, int32_t x, int32_t weights, int32_t bias) {
  struct shape shape = *lite_shape(l, x);
  if (shape.rank) shape.dims[shape.rank - 1] = lite_shape(l, weights)->dims[0];
  return lite_put(l, LITE_FULLY_CONNECTED, LITE_INPUTS(x, weights, bias),
                  LITE_OPTIONS({1, FLAT_BYTE, 0}, {2, FLAT_BYTE, shape.rank != 2}),
                  lite_dtype(l, x), &shape);
}

static bool is_vector_of(const struct value *value, int64_t n) {
  int64_t count;
  return lite_is_constant(value) && shape_count(&value->shape, &count) && count == n &&
         (!value->shape.rank || value->shape.dims[value->shape.rank - 1] == n);
}

void lite_gemm(struct lite *l, const struct node *node) {
  const double alpha = node_float(node, "alpha", 1), beta = node_float(node, "beta", 1);
  const struct value *c = node_input(node, 2);
  const struct shape *shape = &node->outputs[0]->shape;
  int32_t a = lite_input(l, node, 0), b = lite_input(l, node, 1), bias = -1;
  if (node->outputs[0]->dtype != HONE_F32) return lite_refuse(l, node, "of a type other than f32");
  if (node_int(node, "transA", 0)) a = lite_transpose(l, a, turned);
  if (!node_int(node, "transB", 0)) b = lite_transpose(l, b, turned);
  const bool is_bias = is_vector_of(c, shape->dims[1]) && alpha == 1 && beta == 1;
  b = lite_weights(l, node, b, 0);
  if (is_bias && l->quantiser)
    bias = lite_quantised_bias(l, node, shape->dims[1]);
  else if (is_bias)
    bias = lite_reshape(l, lite_input(l, node, 2), &(struct shape){1, {shape->dims[1]}});
  int32_t y = lite_fully_connected(l, a, b, bias);
  if (alpha != 1) y = lite_binary(l, LITE_MUL, y, lite_number(l, HONE_F32, alpha));
  if (c && !is_bias) {
    int32_t more = lite_input(l, node, 2);
    if (beta != 1) more = lite_binary(l, LITE_MUL, more, lite_number(l, HONE_F32, beta));
    y = lite_binary(l, LITE_ADD, y, more);
  }
  lite_bind(l, node, 0, y, false);
}

void lite_matmul(struct lite *l, const struct node *node) {
  const struct value *second = node_input(node, 1);
  int32_t a = lite_input(l, node, 0), b = lite_input(l, node, 1), y;
  if (node->outputs[0]->dtype != HONE_F32) return lite_refuse(l, node, "of a type other than f32");
  const struct shape *sa = lite_shape(l, a), *sb = lite_shape(l, b);
  if (sa->rank == 1) a = lite_reshape(l, a, &(struct shape){2, {1, sa->dims[0]}});
  sb = lite_shape(l, b);
  if (sb->rank == 1) b = lite_reshape(l, b, &(struct shape){2, {sb->dims[0], 1}});
  if (lite_is_constant(second) && lite_shape(l, b)->rank == 2) {
    y = lite_fully_connected(l, a, lite_weights(l, node, lite_transpose(l, b, turned), 0), -1);
  } else {
    struct shape ba = *lite_shape(l, a), bb = *lite_shape(l, b), shape = {0};
    const int64_t m = ba.rank ? ba.dims[ba.rank - 2] : 0, n = bb.rank ? bb.dims[bb.rank - 1] : 0;
    ba.rank -= 2, bb.rank -= 2;
    if (l->status || ba.rank < 0 || bb.rank < 0 || !shape_broadcast(&ba, &bb, &shape))
      return lite_refuse(l, node, "of these shapes");
    shape.dims[shape.rank++] = m;
    shape.dims[shape.rank++] = n;
    y = lite_put(l, LITE_BATCH_MATMUL, LITE_INPUTS(a, b),
                 LITE_OPTIONS({0, FLAT_BYTE, 0}, {1, FLAT_BYTE, 0}), lite_dtype(l, a), &shape);
  }
  lite_bind(l, node, 0, lite_reshape(l, y, &node->outputs[0]->shape), false);
}

/* -- resizes */

/* With a whole factor, the nearest element is x / factor rounded down under every coordinate rule
 * that keeps factors whole. */
static bool is_whole_factor(const struct node *node) {
  const struct shape *in = &node_input(node, 0)->shape, *out = &node->outputs[0]->shape;
  const char *mode = node_string(node, "coordinate_transformation_mode", "half_pixel");
  const char *nearest = node_string(node, "nearest_mode", "round_prefer_floor");
  for (int d = 2; d < 4; d++)
    if (in->dims[d] < 1 || out->dims[d] % in->dims[d]) return false;
  if (!strcmp(mode, "asymmetric")) return !strcmp(nearest, "floor");
  return (!strcmp(mode, "half_pixel") || !strcmp(mode, "pytorch_half_pixel")) &&
         !strncmp(nearest, "round", 5);
}

void lite_resize(struct lite *l, const struct node *node) {
  const struct value *x = node_input(node, 0);
  const char *mode = node_string(node, "mode", "nearest");
  const char *where = node_string(node, "coordinate_transformation_mode", "half_pixel");
  const struct shape *out = &node->outputs[0]->shape;
  const bool is_linear = !strcmp(mode, "linear");
  if (!x || x->shape.rank != 4 || (x->dtype != HONE_F32 && !dtype_is_byte(x->dtype)) ||
      out->dims[0] != x->shape.dims[0] || out->dims[1] != x->shape.dims[1])
    return lite_refuse(l, node, "of anything but images of f32 or int8");
  /* scales that differ from the ratio of sizes sample other positions */
  if (node_input(node, 2) && node_input(node, 2)->shape.dims[0]) {
    const struct tensor *scales = node_input(node, 2)->constant;
    for (int d = 0; d < 4; d++)
      if (!scales || tensor_count(scales) != 4 ||
          fabs(tensor_f64(scales, (size_t)d) * (double)x->shape.dims[d] - (double)out->dims[d]) >
              1e-3)
        return lite_refuse(l, node, "by scales that differ from the ratio of its sizes");
  }
  const bool corners = !strcmp(where, "align_corners"), half = strstr(where, "half_pixel") != NULL;
  const bool is_known = is_linear ? corners || half || !strcmp(where, "asymmetric")
                                  : !strcmp(mode, "nearest") && is_whole_factor(node);
  if (!is_known || node_int(node, "antialias", 0) ||
      (is_linear && !strcmp(where, "pytorch_half_pixel") &&
       (out->dims[2] == 1 || out->dims[3] == 1)))
    return lite_refuse(l, node, "with this coordinate_transformation_mode or nearest_mode");
  const struct shape shape = result_shape(node);
  const int32_t image = lite_input_image(l, node, 0), sizes = lite_ints(l, shape.dims + 1, 2);
  const hone_dtype dtype = lite_dtype(l, image);
  const int32_t y =
      is_linear
          ? lite_put(l, LITE_RESIZE_BILINEAR, LITE_INPUTS(image, sizes),
                     LITE_OPTIONS({2, FLAT_BYTE, corners}, {3, FLAT_BYTE, half}), dtype, &shape)
          : lite_put(l, LITE_RESIZE_NEAREST_NEIGHBOR, LITE_INPUTS(image, sizes),
                     LITE_OPTIONS({0, FLAT_BYTE, 0}), dtype, &shape);
  lite_bind(l, node, 0, y, true);
}
