/* window: see window.h. Formulas of the ONNX specification (Conv, ConvTranspose, MaxPool). */
#include "window.h"

static hone_status check_range(struct ctx *ctx, const struct node *node, const char *name,
                               const int64_t *values, int count, int64_t min) {
  for (int i = 0; i < count; i++)
    if (values[i] < min || values[i] > INT32_MAX)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "%s has the value %lld, expected %lld to %d",
                  name, (long long)values[i], (long long)min, INT32_MAX);
  return HONE_OK;
}

static hone_status read_kernel(struct ctx *ctx, const struct node *node, const int64_t *kernel,
                               struct window *w) {
  bool given = false;
  TRY(ints_attribute(ctx, node, "kernel_shape", (size_t)w->rank, 1, w->kernel, &given));
  if (!given && !kernel)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "kernel_shape is missing");
  for (int i = 0; kernel && i < w->rank; i++) {
    if (given && w->kernel[i] != kernel[i])
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "kernel_shape is %lld, the weights have %lld", (long long)w->kernel[i],
                  (long long)kernel[i]);
    w->kernel[i] = kernel[i];
  }
  return check_range(ctx, node, "kernel_shape", w->kernel, w->rank, 1);
}

static hone_status read_common(struct ctx *ctx, const struct node *node, const struct shape *x,
                               const int64_t *kernel, struct window *w) {
  *w = (struct window){.rank = x->rank - 2};
  if (w->rank < 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "input 0 has rank %d, expected 3 or more",
                x->rank);
  size_t rank = (size_t)w->rank;
  for (int i = 0; i < w->rank; i++) w->in[i] = x->dims[i + 2];
  TRY(check_range(ctx, node, "input 0", w->in, w->rank, 1));
  TRY(read_kernel(ctx, node, kernel, w));
  TRY(ints_attribute(ctx, node, "strides", rank, 1, w->stride, NULL));
  TRY(check_range(ctx, node, "strides", w->stride, w->rank, 1));
  TRY(ints_attribute(ctx, node, "dilations", rank, 1, w->dilation, NULL));
  TRY(check_range(ctx, node, "dilations", w->dilation, w->rank, 1));
  int64_t pads[2 * HONE_MAX_RANK];
  TRY(ints_attribute(ctx, node, "pads", 2 * rank, 0, pads, NULL));
  TRY(check_range(ctx, node, "pads", pads, 2 * w->rank, 0));
  for (int i = 0; i < w->rank; i++) w->pad_begin[i] = pads[i], w->pad_end[i] = pads[i + w->rank];
  return HONE_OK;
}

enum auto_pad { NOTSET, SAME_UPPER, SAME_LOWER, VALID };

static hone_status read_auto_pad(struct ctx *ctx, const struct node *node, enum auto_pad *out) {
  static const char *const names[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  const char *name = node_string(node, "auto_pad", "NOTSET");
  for (size_t i = 0; i < COUNT(names); i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *out = (enum auto_pad)i;
    return HONE_OK;
  }
  return fail(ctx, HONE_E_SHAPE, node_place(node), "auto_pad has an unknown value");
}

/* The extent of a kernel with its dilation. */
static int64_t reach(const struct window *w, int i) {
  return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

int64_t window_room(const struct window *w, int i) {
  return w->in[i] + w->pad_begin[i] + w->pad_end[i] - reach(w, i);
}

static void split_padding(struct window *w, int i, int64_t total, bool extra_at_end) {
  if (total < 0) total = 0;
  w->pad_begin[i] = extra_at_end ? total / 2 : total - total / 2;
  w->pad_end[i] = total - w->pad_begin[i];
}

static hone_status plan_axis(struct ctx *ctx, const struct node *node, enum auto_pad mode,
                             bool ceil_mode, struct window *w, int i) {
  int64_t stride = w->stride[i];
  if (mode == SAME_UPPER || mode == SAME_LOWER) {
    w->out[i] = (w->in[i] + stride - 1) / stride;
    split_padding(w, i, (w->out[i] - 1) * stride + reach(w, i) - w->in[i], mode == SAME_UPPER);
    return HONE_OK;
  }
  if (mode == VALID) w->pad_begin[i] = w->pad_end[i] = 0;
  int64_t room = window_room(w, i);
  if (room < 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "kernel_shape covers %lld elements of %lld along spatial axis %d",
                (long long)reach(w, i), (long long)(room + reach(w, i)), i);
  w->out[i] = room / stride + 1;
  if (ceil_mode) {
    w->out[i] = (room + stride - 1) / stride + 1;
    /* a window that would start after the input and its front padding is dropped */
    if ((w->out[i] - 1) * stride >= w->in[i] + w->pad_begin[i]) w->out[i]--;
  }
  return HONE_OK;
}

hone_status window_plan(struct ctx *ctx, const struct node *node, const struct shape *x,
                        const int64_t *kernel, struct window *out) {
  enum auto_pad mode = NOTSET;
  TRY(read_common(ctx, node, x, kernel, out));
  TRY(read_auto_pad(ctx, node, &mode));
  bool ceil_mode = node_int(node, "ceil_mode", 0) != 0;
  for (int i = 0; i < out->rank; i++) TRY(plan_axis(ctx, node, mode, ceil_mode, out, i));
  return HONE_OK;
}

hone_status window_plan_transposed(struct ctx *ctx, const struct node *node, const struct shape *x,
                                   const int64_t *kernel, struct window *out) {
  enum auto_pad mode = NOTSET;
  bool has_shape = false;
  int64_t padding[HONE_MAX_RANK], wanted[HONE_MAX_RANK];
  TRY(read_common(ctx, node, x, kernel, out));
  TRY(read_auto_pad(ctx, node, &mode));
  TRY(ints_attribute(ctx, node, "output_padding", (size_t)out->rank, 0, padding, NULL));
  TRY(check_range(ctx, node, "output_padding", padding, out->rank, 0));
  TRY(ints_attribute(ctx, node, "output_shape", (size_t)out->rank, 1, wanted, &has_shape));
  TRY(check_range(ctx, node, "output_shape", wanted, out->rank, 1));
  for (int i = 0; i < out->rank; i++) {
    int64_t full = out->stride[i] * (out->in[i] - 1) + padding[i] + reach(out, i);
    bool is_same = mode == SAME_UPPER || mode == SAME_LOWER;
    if (mode == VALID) out->pad_begin[i] = out->pad_end[i] = 0;
    if (has_shape || is_same) {
      out->out[i] = has_shape ? wanted[i] : out->in[i] * out->stride[i];
      split_padding(out, i, full - out->out[i], mode == SAME_UPPER);
      continue;
    }
    out->out[i] = full - out->pad_begin[i] - out->pad_end[i];
    if (out->out[i] < 1)
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "pads leave %lld elements along spatial axis %d", (long long)out->out[i], i);
  }
  return HONE_OK;
}

hone_status window_of_node(struct ctx *ctx, const struct node *node, struct window *out,
                           bool *out_has) {
  static const struct {
    enum op_id op;
    int kernel; /* the input with the kernel's spatial dimensions; 0: the attribute */
    bool is_transposed;
  } rows[] = {{OP_Conv, 1, false},         {OP_ConvInteger, 1, false}, {OP_QLinearConv, 3, false},
              {OP_ConvTranspose, 1, true}, {OP_AveragePool, 0, false}, {OP_MaxPool, 0, false},
              {OP_LpPool, 0, false}};
  *out_has = false;
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (!is_op(node, rows[i].op)) continue;
    const int64_t *kernel = rows[i].kernel ? node->inputs[rows[i].kernel]->shape.dims + 2 : NULL;
    *out_has = true;
    return (rows[i].is_transposed ? window_plan_transposed : window_plan)(
        ctx, node, &node->inputs[0]->shape, kernel, out);
  }
  return HONE_OK;
}

static int64_t product(int rank, const int64_t *dims) {
  int64_t result = 1;
  for (int i = 0; i < rank; i++) result *= dims[i];
  return result;
}

int64_t window_in_count(const struct window *window) { return product(window->rank, window->in); }
int64_t window_out_count(const struct window *window) { return product(window->rank, window->out); }
int64_t window_kernel_count(const struct window *window) {
  return product(window->rank, window->kernel);
}

int64_t window_offset(const struct window *w, const int64_t *o, const int64_t *k) {
  int64_t offset = 0;
  for (int i = 0; i < w->rank; i++) {
    int64_t at = o[i] * w->stride[i] + k[i] * w->dilation[i] - w->pad_begin[i];
    if (at < 0 || at >= w->in[i]) return -1;
    offset = offset * w->in[i] + at;
  }
  return offset;
}

int64_t window_offset_transposed(const struct window *w, const int64_t *o, const int64_t *k) {
  int64_t offset = 0;
  for (int i = 0; i < w->rank; i++) {
    int64_t scaled = o[i] + w->pad_begin[i] - k[i] * w->dilation[i];
    if (scaled < 0 || scaled % w->stride[i] != 0) return -1;
    int64_t at = scaled / w->stride[i];
    if (at >= w->in[i]) return -1;
    offset = offset * w->in[i] + at;
  }
  return offset;
}

struct shape window_shape(const struct window *window, int64_t n, int64_t c) {
  struct shape shape = {.rank = window->rank + 2, .dims = {n, c}};
  for (int i = 0; i < window->rank; i++) shape.dims[i + 2] = window->out[i];
  return shape;
}

void index_of(int rank, const int64_t *dims, int64_t position, int64_t *index) {
  for (int i = rank - 1; i >= 0; i--) {
    index[i] = position % dims[i];
    position /= dims[i];
  }
}

void window_fit_padding(struct window *w) {
  for (int d = 0; d < w->rank; d++) {
    const int64_t reach = (w->out[d] - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1;
    const int64_t end = reach - w->in[d] - w->pad_begin[d];
    w->pad_end[d] = end > 0 ? end : 0;
  }
}
