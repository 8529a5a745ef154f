/* lower-volumes: a convolution over three dimensions as one over two, for which kernels exist. Its
 * output at depth o is the convolution of one image: the input planes that o meets, concatenated as
 * channels.
 *
 * y[n, :, o] = conv2d(concat over z of x[n, :, o * stride + z * dilation - pad], w[:, z * c +
 * channel])
 *
 * Depthwise convolutions stay depthwise: one convolution per z, and their sum. If the kernel is one
 * pixel per plane, the pixels of a plane become one dimension instead. A ConvTranspose whose
 * outputs meet one input each becomes a matmul and a move of its results. A pool becomes one over
 * each plane and one along depth.
 */
#include "rewrite.h"

#include "core/ops/operators/window.h"

enum { DEPTH, HEIGHT, WIDTH, SPATIAL };
struct volume {
  struct window w;
  struct value *x, *weights, *bias;
  int64_t n, groups, in, out; /* in, out: channels of a group */
};

static struct value *pad_depth(struct rewrite *r, const struct volume *v, struct value *x) {
  int64_t amounts[10] = {0};
  if (!v->w.pad_begin[DEPTH] && !v->w.pad_end[DEPTH]) return x;
  amounts[1] = v->w.pad_begin[DEPTH];
  amounts[5 + 1] = v->w.pad_end[DEPTH];
  return x_2(r->b, OP_Pad, x, x_list(r->b, amounts, 10));
}

/* x[:, z * dilation :: stride], as many planes as outputs. */
static hone_status planes_of(struct rewrite *r, const struct volume *v, struct value *x, int64_t z,
                             struct value **out) {
  const int64_t first = z * v->w.dilation[DEPTH], step = v->w.stride[DEPTH];
  const int64_t end = first + (v->w.out[DEPTH] - 1) * step + 1;
  const int64_t numbers[] = {first, end, 1, step};
  struct value *bounds[4];
  *out = x;
  if (first == 0 && step == 1 && end == x->shape.dims[1]) return HONE_OK;
  for (int i = 0; i < 4; i++) bounds[i] = x_list(r->b, &numbers[i], 1);
  return x_give(r->b, out,
                x_op(r->b, OP_Slice, VALUES(x, bounds[0], bounds[1], bounds[2], bounds[3])));
}

/* `count` depth positions of w from `z` on, as channels: [m, c, kd, kh, kw] -> [m, count * c,
   kh, kw]. */
static hone_status plane_weights(struct rewrite *r, const struct volume *v, int64_t z,
                                 int64_t count, struct value **out) {
  const struct value *w = v->weights;
  const size_t plane = w->constant->bytes / tensor_count(w->constant) *
                       (size_t)(v->w.kernel[HEIGHT] * v->w.kernel[WIDTH]);
  const int64_t m = v->groups * v->out, c = v->in;
  TRY(rewrite_constant(r, w->dtype,
                       &(struct shape){4, {m, count * c, v->w.kernel[HEIGHT], v->w.kernel[WIDTH]}},
                       out));
  char *to = (char *)(uintptr_t)(*out)->constant->data;
  const char *from = w->constant->data;
  for (int64_t o = 0; o < m; o++)
    for (int64_t k = 0; k < count; k++)
      for (int64_t i = 0; i < c; i++, to += plane)
        memcpy(to, from + (size_t)((o * c + i) * v->w.kernel[DEPTH] + z + k) * plane, plane);
  return HONE_OK;
}

/* A convolution of images over two dimensions of the window from `first` on. */
static struct value *convolve(struct rewrite *r, const struct volume *v, struct value *x,
                              struct value *w, struct value *bias, const struct window *window) {
  int64_t pads[4];
  for (int d = 0; d < 2; d++) {
    pads[d] = window->pad_begin[d];
    pads[2 + d] = window->pad_end[d];
  }
  return x_args(r->b, OP_Conv, VALUES(x, w, bias),
                ARGS(INTS_ARG("pads", pads, 4), INTS_ARG("strides", window->stride, 2),
                     INTS_ARG("dilations", window->dilation, 2), INT_ARG("group", v->groups)));
}

/* The window's dimensions from `first` on. */
static struct window dimensions_of(const struct window *w, int first) {
  struct window out = *w;
  for (int d = first; d < w->rank; d++) {
    out.pad_begin[d - first] = w->pad_begin[d];
    out.pad_end[d - first] = w->pad_end[d];
    out.stride[d - first] = w->stride[d];
    out.dilation[d - first] = w->dilation[d];
  }
  return out;
}

/* A kernel of one pixel a plane: [n, c, d, h * w]. */
static bool is_along_depth(const struct window *w) {
  for (int d = HEIGHT; d < SPATIAL; d++)
    if (w->kernel[d] != 1 || w->stride[d] != 1 || w->pad_begin[d] || w->pad_end[d]) return false;
  return true;
}

static hone_status lower_along_depth(struct rewrite *r, const struct volume *v,
                                     const struct node *node, struct value **out) {
  const int64_t m = v->groups * v->out, c = v->groups * v->in;
  struct value *x, *w;
  struct window window = v->w;
  TRY(rewrite_constant(r, v->weights->dtype, &(struct shape){4, {m, v->in, v->w.kernel[DEPTH], 1}},
                       &w));
  memcpy((void *)(uintptr_t)w->constant->data, v->weights->constant->data, w->constant->bytes);
  BUILD(r->b, x = x_reshape(
                  r->b, v->x,
                  (const int64_t[]){v->n, c, v->w.in[DEPTH], v->w.in[HEIGHT] * v->w.in[WIDTH]}, 4));
  return x_give(r->b, out,
                x_reshape(r->b, convolve(r, v, x, w, v->bias, &window),
                          node->outputs[0]->shape.dims, node->outputs[0]->shape.rank));
}

/* The channels of a convolution at output depth o: [n * out depth, groups * kd * in, h, w].
   Planes become images before they are concatenated: a Concat of images can be written with the
   zero border that the convolution reads. */
static hone_status join_planes(struct rewrite *r, const struct volume *v, struct value *x,
                               struct value **out) {
  const int64_t kd = v->w.kernel[DEPTH], h = v->w.in[HEIGHT], w = v->w.in[WIDTH];
  const int64_t depth = v->w.out[DEPTH];
  const bool is_image = v->n == 1 && v->groups == 1;
  const struct shape image = {4, {depth, v->in, h, w}};
  const struct shape grouped = {6, {v->n, depth, v->groups, v->in, h, w}};
  struct value **parts;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, parts, (size_t)kd));
  for (int64_t z = 0; z < kd; z++) {
    TRY(planes_of(r, v, x, z, &parts[z]));
    if (is_image || v->groups > 1)
      parts[z] = x_reshape(r->b, parts[z], is_image ? image.dims : grouped.dims,
                           is_image ? image.rank : grouped.rank);
  }
  if (kd > 1) {
    BUILD(r->b, parts[0] = x_concat(r->b, is_image ? 1 : v->groups > 1 ? 3 : 2, parts, (size_t)kd));
  }
  *out = parts[0];
  if (is_image) return HONE_OK;
  return x_give(
      r->b, out,
      x_reshape(r->b, parts[0], (const int64_t[]){v->n * depth, v->groups * kd * v->in, h, w}, 4));
}

static hone_status sum_of_planes(struct rewrite *r, const struct volume *v, struct value *x,
                                 const struct window *window, struct value **out) {
  for (int64_t z = 0; z < v->w.kernel[DEPTH]; z++) {
    struct value *w, *part;
    TRY(planes_of(r, v, x, z, &part));
    BUILD(r->b, part = x_reshape(r->b, part,
                                 (const int64_t[]){v->n * v->w.out[DEPTH], v->groups * v->in,
                                                   v->w.in[HEIGHT], v->w.in[WIDTH]},
                                 4));
    TRY(plane_weights(r, v, z, 1, &w));
    BUILD(r->b, part = convolve(r, v, part, w, z ? NULL : v->bias, window));
    if (z) BUILD(r->b, part = x_2(r->b, OP_Add, part, *out));
    *out = part;
  }
  return HONE_OK;
}

static hone_status lower(struct rewrite *r, const struct volume *v, const struct node *node,
                         struct value **out) {
  static const int64_t turn[] = {0, 2, 1, 3, 4}; /* and back */
  const struct window images = dimensions_of(&v->w, HEIGHT);
  struct value *x, *w;
  if (is_along_depth(&v->w)) return lower_along_depth(r, v, node, out);
  BUILD(r->b, x = x_transpose(r->b, v->x, turn));
  BUILD(r->b, x = pad_depth(r, v, x));
  if (v->groups > 1 && v->in == 1) {
    TRY(sum_of_planes(r, v, x, &images, &x));
  } else {
    TRY(join_planes(r, v, x, &x));
    TRY(plane_weights(r, v, 0, v->w.kernel[DEPTH], &w));
    x = convolve(r, v, x, w, v->bias, &images);
  }
  const struct shape shape = {
      5, {v->n, v->w.out[DEPTH], v->groups * v->out, v->w.out[HEIGHT], v->w.out[WIDTH]}};
  return x_give(r->b, out, x_transpose(r->b, x_reshape(r->b, x, shape.dims, shape.rank), turn));
}

/* The stride equals the kernel size, without padding or cropping. */
static bool is_apart(const struct window *w) {
  for (int d = 0; d < w->rank; d++)
    if (w->kernel[d] != w->stride[d] || w->dilation[d] != 1 || w->pad_begin[d] || w->pad_end[d] ||
        w->out[d] != w->in[d] * w->stride[d])
      return false;
  return true;
}

/* [c, m, kernel] -> [kernel * m, c, 1, 1]: kernel positions as channels; the bias is repeated
   per position. */
static hone_status spread_weights(struct rewrite *r, const struct volume *v, int64_t positions,
                                  struct value **out_w, struct value **out_bias) {
  const struct tensor *w = v->weights->constant;
  const size_t count = (size_t)positions, o = (size_t)v->out, m = count * o, c = (size_t)v->in;
  TRY(rewrite_constant(r, w->dtype, &(struct shape){4, {(int64_t)m, v->in, 1, 1}}, out_w));
  for (size_t k = 0; k < m; k++)
    for (size_t i = 0; i < c; i++)
      tensor_set_f64((*out_w)->constant, k * c + i, tensor_f64(w, (i * o + k % o) * count + k / o));
  *out_bias = NULL;
  if (!v->bias) return HONE_OK;
  TRY(rewrite_constant(r, w->dtype, &(struct shape){1, {(int64_t)m}}, out_bias));
  for (size_t k = 0; k < m; k++)
    tensor_set_f64((*out_bias)->constant, k, tensor_f64(v->bias->constant, k % o));
  return HONE_OK;
}

/* y[n, o, d * kd + z, ..] = sum over c of x[n, c, d, ..] * w[c, o, z, ..] */
static hone_status lower_transposed(struct rewrite *r, const struct volume *v,
                                    const struct node *node, struct value **out) {
  static const int64_t turn[] = {0, 4, 5, 1, 6, 2, 7, 3};
  const int64_t *k = v->w.kernel, *d = v->x->shape.dims + 2;
  const struct window one = {.rank = 2, .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
  struct value *x, *w, *bias;
  TRY(spread_weights(r, v, k[0] * k[1] * k[2], &w, &bias));
  BUILD(r->b, x = x_reshape(r->b, v->x, (const int64_t[]){v->n, v->in, d[0], d[1] * d[2]}, 4));
  x = x_reshape(r->b, convolve(r, v, x, w, bias, &one),
                (const int64_t[]){v->n, k[0], k[1], k[2], v->out, d[0], d[1], d[2]}, 8);
  return x_give(r->b, out,
                x_reshape(r->b, x_transpose(r->b, x, turn), node->outputs[0]->shape.dims,
                          node->outputs[0]->shape.rank));
}

static hone_status visit_transposed(struct rewrite *r, struct node *node, struct volume *v) {
  struct value *y;
  const struct value *bias = v->bias;
  TRY(window_plan_transposed(r->ctx, node, &v->x->shape, v->weights->shape.dims + 2, &v->w));
  if (v->groups > 1 || (bias && !bias->constant) || !is_apart(&v->w)) return HONE_OK;
  v->in = v->weights->shape.dims[0];
  v->out = v->weights->shape.dims[1];
  TRY(lower_transposed(r, v, node, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

/* A pool over `count` dimensions of `w`, from `first` on, for the two that x has. */
static struct value *pool(struct rewrite *r, const struct node *node, struct value *x,
                          const struct window *w, int first, int count) {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pads[4] = {0};
  for (int d = 0; d < count; d++) {
    kernel[d] = w->kernel[first + d];
    stride[d] = w->stride[first + d];
    dilation[d] = w->dilation[first + d];
    pads[d] = w->pad_begin[first + d];
    pads[2 + d] = w->pad_end[first + d];
  }
  if (node_int(node, "count_include_pad", 0)) x_with_int(r->b, "count_include_pad", 1);
  return x_args(r->b, node->op->id, VALUES(x),
                ARGS(INTS_ARG("kernel_shape", kernel, 2), INTS_ARG("strides", stride, 2),
                     INTS_ARG("dilations", dilation, 2), INTS_ARG("pads", pads, 4)));
}

/* The maximum of maxima; the mean of means of equally many elements. */
static bool is_separable(const struct node *node, const struct window *w) {
  bool is_padded = false;
  for (int d = 0; d < w->rank; d++) is_padded |= w->pad_begin[d] || w->pad_end[d];
  if (node_int(node, "ceil_mode", 0) || (node->output_count > 1 && node->outputs[1])) return false;
  return is_op(node, OP_MaxPool) || !is_padded || node_int(node, "count_include_pad", 0);
}

static hone_status visit_pool(struct rewrite *r, struct node *node) {
  static const int64_t turn[] = {0, 2, 1, 3, 4};
  struct value *x = node->inputs[0];
  struct window w;
  if (x->shape.rank != 2 + SPATIAL || x->dtype != HONE_F32 || value_is_open(x)) return HONE_OK;
  TRY(window_plan(r->ctx, node, &x->shape, NULL, &w));
  if (!is_separable(node, &w)) return HONE_OK;
  const int64_t n = x->shape.dims[0], c = x->shape.dims[1], h = w.out[HEIGHT], l = w.out[WIDTH];
  int64_t count;
  if (!shape_count(&node->outputs[0]->shape, &count) || !count) return HONE_OK;
  BUILD(r->b, x = x_reshape(r->b, x_transpose(r->b, x, turn),
                            (const int64_t[]){n * w.in[DEPTH], c, w.in[HEIGHT], w.in[WIDTH]}, 4));
  x = pool(r, node, x, &w, HEIGHT, 2);
  BUILD(r->b,
        x = x_reshape(
            r->b,
            x_transpose(r->b, x_reshape(r->b, x, (const int64_t[]){n, w.in[DEPTH], c, h, l}, 5),
                        turn),
            (const int64_t[]){n, c, w.in[DEPTH], h * l}, 4));
  x = pool(r, node, x, &w, DEPTH, 1);
  return rewrite_replace(
      r, node->outputs[0],
      x_reshape(r->b, x, node->outputs[0]->shape.dims, node->outputs[0]->shape.rank));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (is_op(node, OP_MaxPool) || is_op(node, OP_AveragePool)) return visit_pool(r, node);
  const bool is_transposed = is_op(node, OP_ConvTranspose);
  struct volume v = {.x = node->inputs[0]};
  struct value *y;
  int64_t count;
  if ((!is_op(node, OP_Conv) && !is_transposed) || v.x->shape.rank != 2 + SPATIAL ||
      !node->inputs[1]->constant || !dtype_is_float(v.x->dtype) || value_is_open(v.x))
    return HONE_OK;
  v.weights = node->inputs[1];
  v.bias = node_input(node, 2);
  v.n = v.x->shape.dims[0];
  v.groups = node_int(node, "group", 1);
  if (!shape_count(&node->outputs[0]->shape, &count) || !count) return HONE_OK;
  if (is_transposed) return visit_transposed(r, node, &v);
  v.in = v.weights->shape.dims[1];
  v.out = v.weights->shape.dims[0] / v.groups;
  TRY(window_plan(r->ctx, node, &v.x->shape, v.weights->shape.dims + 2, &v.w));
  TRY(lower(r, &v, node, &y));
  return rewrite_replace(r, node->outputs[0], y);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_volumes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
