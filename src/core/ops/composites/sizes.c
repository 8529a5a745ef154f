/* Operators that need the actual size of a dynamic input dimension (slopes): means divide by it, and
 * operators whose elements move with it read positions that are computed from it. Expanded after all
 * passes (passes/open_sizes.c); everything else carries such a dimension by the plan's rules. */
#include <math.h>

#include "core/ops/operators/window.h"
#include "expand.h"

/* -- sizes and positions */

static bool is_dynamic(const struct value *x, int d) {
  const struct slope slope = x_slope(x, d);
  return !slope_is_zero(&slope);
}

static struct value *i64(struct graph_builder *e, int64_t x) {
  return x_scalar(e, HONE_I64, (double)x);
}

static struct slope minus(struct slope a, struct slope b) {
  b = slope_times(&b, -1);
  return slope_plus(&a, &b);
}

/* The number of elements along a dimension, a scalar. */
static struct value *length_of(struct graph_builder *e, const struct value *x, int d,
                               hone_dtype dtype) {
  return x_sized(e, dtype, x->shape.dims[d], x_slope(x, d));
}

/* 0, 1, 2, ... for each of `count` elements. */
static struct value *places(struct graph_builder *e, hone_dtype dtype, int64_t count,
                            struct slope slope) {
  struct value *at = x_range(e, dtype, count, 0, 1);
  if (!e->status) x_set_slope(e, at, 0, slope);
  return at;
}

static struct value *places_of(struct graph_builder *e, const struct value *y, int d) {
  return places(e, HONE_I64, y->shape.dims[d], x_slope(y, d));
}

/* A list along dimension d of values of this rank. */
static struct value *along(struct graph_builder *e, struct value *list, int rank, int d) {
  int64_t dims[HONE_MAX_RANK];
  for (int i = 0; i < rank; i++) dims[i] = i == d ? list->shape.dims[0] : 1;
  return x_reshape(e, list, dims, rank);
}

/* The elements at these positions, which are all within x. */
static struct value *take(struct graph_builder *e, struct value *x, int d, struct value *at) {
  x_with_int(e, "within", 1);
  return x_gather(e, x, at, d);
}

static struct value *clamped(struct graph_builder *e, struct value *at, struct value *length) {
  struct value *last = x_2(e, OP_Sub, length, i64(e, 1));
  return x_2(e, OP_Min, x_2(e, OP_Max, at, i64(e, 0)), last);
}

/* The same; outside x: `number`, or where it is NULL the first or last element. */
static struct value *take_padded(struct graph_builder *e, struct value *x, int d, struct value *at,
                                 struct value *number) {
  struct value *length = length_of(e, x, d, HONE_I64);
  struct value *y = take(e, x, d, clamped(e, at, length)), *is_inside;
  if (!number) return y;
  is_inside = x_2(e, OP_And, x_2(e, OP_Less, at, length), x_2(e, OP_GreaterOrEqual, at, i64(e, 0)));
  return x_3(e, OP_Where, along(e, is_inside, x->shape.rank, d), y, number);
}

/* -- means */

static bool averages(const struct node *node, bool goes[HONE_MAX_RANK]) {
  const struct value *x = node->inputs[0], *axes = node_input(node, 1);
  struct ctx ctx;
  if (is_op(node, OP_GlobalAveragePool)) {
    for (int d = 0; d < x->shape.rank; d++) goes[d] = d >= 2;
    return true;
  }
  ctx_init(&ctx);
  return (!axes || axes->constant) &&
         !reduction_axes(&ctx, node, x->shape.rank, axes ? axes->constant : NULL, goes);
}

static bool is_mean(const struct node *node) {
  bool goes[HONE_MAX_RANK] = {false}, any = false;
  const struct value *x = node->inputs[0];
  if (!dtype_is_float(x->dtype) || !averages(node, goes)) return false;
  for (int d = 0; d < x->shape.rank; d++) any = any || (goes[d] && is_dynamic(x, d));
  return any;
}

static struct value *mean_of(struct graph_builder *e, struct value *x, const bool *goes,
                             bool keeps) {
  struct value *count = NULL, *sum;
  int64_t axes[HONE_MAX_RANK], fixed = 1;
  size_t n = 0;
  int to = 0;
  for (int d = 0; d < x->shape.rank; d++) {
    if (!goes[d]) continue;
    axes[n++] = d;
    if (!is_dynamic(x, d)) fixed *= x->shape.dims[d];
  }
  for (int d = 0; d < x->shape.rank; d++) {
    if (!goes[d] || !is_dynamic(x, d)) continue;
    const struct slope slope = x_slope(x, d);
    struct value *size = x_sized(e, x->dtype, x->shape.dims[d] * fixed, slope_times(&slope, fixed));
    count = count ? x_2(e, OP_Mul, count, size) : size;
    fixed = 1;
  }
  sum = x_reduce(e, OP_ReduceSum, x, axes, n, keeps);
  for (int d = 0; d < x->shape.rank && !e->status; d++)
    if (keeps || !goes[d]) x_set_slope(e, sum, to++, goes[d] ? (struct slope){0} : x_slope(x, d));
  return x_2(e, OP_Div, sum, count);
}

static void sized_mean(struct graph_builder *e) {
  bool goes[HONE_MAX_RANK] = {false};
  struct value *x = x_in(e, 0);
  if (!averages(e->node, goes)) return;
  if (is_op(e->node, OP_ReduceVariance)) {
    x = x_2(e, OP_Sub, x, mean_of(e, x, goes, true));
    x = x_2(e, OP_Mul, x, x);
  }
  const bool keeps = is_op(e->node, OP_GlobalAveragePool) || x_int(e, "keepdims", 1);
  x_out(e, 0, mean_of(e, x, goes, keeps));
}

/* -- parts and copies along a dynamic dimension */

static int split_axis(const struct node *node) {
  const int64_t axis = node_int(node, "axis", 0);
  return (int)(axis < 0 ? axis + node->inputs[0]->shape.rank : axis);
}

static bool is_split(const struct node *node) {
  return is_dynamic(node->inputs[0], split_axis(node));
}

static void sized_split(struct graph_builder *e) {
  struct slope slope = {0};
  int64_t bound = 0;
  const int d = split_axis(e->node);
  for (size_t k = 0; k < e->node->output_count && !e->status; k++) {
    const struct value *y = e->node->outputs[k];
    struct value *start = x_sized(e, HONE_I64, bound, slope);
    const struct slope own = x_slope(y, d);
    x_out(e, k, take(e, x_in(e, 0), d, x_2(e, OP_Add, places_of(e, y, d), start)));
    bound += y->shape.dims[d];
    slope = slope_plus(&slope, &own);
  }
}

static bool changes_along(const struct node *node, int d) {
  const struct value *x = node->inputs[0], *y = node->outputs[0];
  const struct slope from = x_slope(x, d), to = x_slope(y, d);
  return x->shape.dims[d] != y->shape.dims[d] || !slope_equal(&from, &to);
}

static bool is_tile(const struct node *node) {
  bool any = false;
  for (int d = 0; d < node->inputs[0]->shape.rank; d++)
    any = any || (is_dynamic(node->inputs[0], d) && changes_along(node, d));
  return any;
}

static void sized_tile(struct graph_builder *e) {
  const struct value *y = e->node->outputs[0];
  int64_t repeats[HONE_MAX_RANK];
  struct value *x = x_in(e, 0);
  const struct shape was = x->shape;
  bool any = false; /* of the fixed dimensions */
  for (int d = 0; d < was.rank; d++) {
    repeats[d] = was.dims[d] ? y->shape.dims[d] / was.dims[d] : 1;
    if (!is_dynamic(x, d) || !changes_along(e->node, d)) {
      any = any || repeats[d] != 1;
      continue;
    }
    repeats[d] = 1;
    x = take(e, x, d, x_2(e, OP_Mod, places_of(e, y, d), length_of(e, x, d, HONE_I64)));
  }
  x_out(e, 0, any ? x_2(e, OP_Tile, x, x_list(e, repeats, (size_t)was.rank)) : x);
}

/* The dimensions that a Slice names, with the step of each; 0 where they are not constant. */
static int sliced(const struct node *node, int at[HONE_MAX_RANK], int64_t step[HONE_MAX_RANK]) {
  const struct value *x = node->inputs[0], *axes = node_input(node, 3),
                     *steps = node_input(node, 4);
  int64_t list[HONE_MAX_RANK];
  size_t count = 0, n = 0;
  if ((axes &&
       (!axes->constant || !tensor_read_ints(axes->constant, HONE_MAX_RANK, list, &count))) ||
      (steps && (!steps->constant || !tensor_read_ints(steps->constant, HONE_MAX_RANK, step, &n))))
    return 0;
  if (!axes) count = node->inputs[1]->shape.rank ? (size_t)node->inputs[1]->shape.dims[0] : 0;
  if (count > HONE_MAX_RANK || (steps && n != count)) return 0;
  for (size_t i = 0; i < count; i++) {
    at[i] = (int)(!axes ? (int64_t)i : list[i] < 0 ? list[i] + x->shape.rank : list[i]);
    if (!steps) step[i] = 1;
  }
  return (int)count;
}

static bool is_slice(const struct node *node) {
  int at[HONE_MAX_RANK];
  int64_t step[HONE_MAX_RANK];
  const int count = sliced(node, at, step);
  const struct value *starts = node->inputs[1];
  for (int i = 0; i < count; i++) {
    if (!starts->constant) return true;
    if (!is_dynamic(node->inputs[0], at[i])) continue;
    if (step[i] < 0 || (step[i] > 1 && tensor_i64(starts->constant, (size_t)i) < 0)) return true;
  }
  return false;
}

static void sized_slice(struct graph_builder *e) {
  int at[HONE_MAX_RANK];
  int64_t step[HONE_MAX_RANK];
  struct value *x = x_in(e, 0);
  const int count = sliced(e->node, at, step);
  for (int i = 0; i < count && !e->status; i++) {
    if (!changes_along(e->node, at[i]) && step[i] > 0) continue;
    struct value *length = length_of(e, x, at[i], HONE_I64);
    struct value *start = x_cast(e, x_gather(e, x_in(e, 1), i64(e, i), 0), HONE_I64);
    start =
        x_3(e, OP_Where, x_2(e, OP_Less, start, i64(e, 0)), x_2(e, OP_Add, start, length), start);
    start = clamped(e, start, length);
    struct value *move = x_2(e, OP_Mul, places_of(e, e->node->outputs[0], at[i]), i64(e, step[i]));
    x = take(e, x, at[i], x_2(e, OP_Add, move, start));
  }
  x_out(e, 0, x);
}

/* -- indices */

static bool is_not_negative(const struct value *index) {
  for (size_t i = 0; index->constant && i < tensor_count(index->constant); i++)
    if (tensor_i64(index->constant, i) < 0) return false;
  return index->constant;
}

static bool is_indexed(const struct node *node) {
  const struct value *x = node->inputs[0], *index = node->inputs[1];
  const bool places = is_op(node, OP_ScatterElements) || is_op(node, OP_ScatterND);
  const bool reduces = strcmp(node_string(node, "reduction", "none"), "none") != 0;
  bool any = false;
  for (int d = 0; d < x->shape.rank; d++) any = any || (is_indexed_at(node, d) && is_dynamic(x, d));
  if (places && !reduces && !node_int(node, "within", 0))
    for (int d = 0; d < index->shape.rank; d++) any = any || is_dynamic(index, d);
  if (places && any) return !node_int(node, "within", 0);
  if (is_op(node, OP_Gather) && index->constant && tensor_count(index->constant) == 1)
    return false; /* lowered to a view */
  return any && !is_not_negative(index) && !node_int(node, "within", 0);
}

static void sized_index(struct graph_builder *e) {
  struct value *inputs[3] = {x_in(e, 0), x_in(e, 1), x_in(e, 2)};
  struct value *lengths[HONE_MAX_RANK] = {0};
  int64_t bounds[HONE_MAX_RANK] = {0};
  size_t count = 0;
  const struct value *y = e->node->outputs[0];
  for (int d = 0; d < inputs[0]->shape.rank; d++) {
    if (!is_indexed_at(e->node, d)) continue;
    bounds[count] = inputs[0]->shape.dims[d];
    lengths[count++] = length_of(e, inputs[0], d, HONE_I64);
  }
  struct value *length = lengths[0], *bound = i64(e, bounds[0]);
  if (is_op(e->node, OP_GatherND) || is_op(e->node, OP_ScatterND)) {
    for (size_t i = 0; i < count; i++) lengths[i] = x_unsqueeze(e, lengths[i], 0);
    length = x_concat(e, 0, lengths, count);
    bound = x_list(e, bounds, count);
  }
  inputs[1] = x_within(e, inputs[1], length, bound);
  x_with_int(e, "within", 1);
  struct value *out = x_again(e, inputs, e->node->input_count);
  for (int d = 0; d < out->shape.rank && !e->status; d++) x_set_slope(e, out, d, x_slope(y, d));
  x_out(e, 0, out);
}

/* -- Pad */

/* Modes that read elements at positions counted from the end, and padding known at run time. */
static bool moves_padding(const struct node *node, int d) {
  const char *mode = node_string(node, "mode", "constant");
  const bool is_simple = !strcmp(mode, "constant") || !strcmp(mode, "edge");
  const struct value *pads = node_input(node, 1);
  return changes_along(node, d) &&
         ((pads && !pads->constant) || (!is_simple && is_dynamic(node->inputs[0], d)));
}

static bool is_pad(const struct node *node) {
  const struct value *axes = node_input(node, 3), *pads = node_input(node, 1);
  bool any = false;
  for (int d = 0; d < node->inputs[0]->shape.rank; d++) any = any || moves_padding(node, d);
  return any && pads && (!axes || axes->constant);
}

/* Entry of the list of pads for dimension d; -1: none. */
static int pads_entry(const struct graph_builder *e, int d) {
  const struct value *axes = x_in(e, 3);
  const int rank = x_in(e, 0)->shape.rank;
  if (!axes) return d;
  for (size_t i = 0; i < tensor_count(axes->constant); i++) {
    const int64_t axis = tensor_i64(axes->constant, i);
    if ((axis < 0 ? axis + rank : axis) == d) return (int)i;
  }
  return -1;
}

static struct value *padded_along(struct graph_builder *e, struct value *x, int d, int entry) {
  struct value *before = x_cast(e, x_gather(e, x_in(e, 1), i64(e, entry), 0), HONE_I64);
  struct value *at = x_2(e, OP_Sub, places_of(e, e->node->outputs[0], d), before);
  struct value *length = length_of(e, x, d, HONE_I64), *number = x_in(e, 2);
  if (x_is(e, "mode", "constant", "edge")) return take_padded(e, x, d, at, NULL);
  if (x_is(e, "mode", "constant", "wrap")) return take(e, x, d, x_2(e, OP_Mod, at, length));
  if (x_is(e, "mode", "constant", "constant"))
    return take_padded(e, x, d, at, number ? number : x_scalar(e, x->dtype, 0));
  /* reflect, as often as padding is longer than x: last - |last - at % (2 * last)| */
  struct value *last = x_2(e, OP_Sub, length, i64(e, 1));
  struct value *period = x_2(e, OP_Max, x_2(e, OP_Add, last, last), i64(e, 1));
  at = x_1(e, OP_Abs, x_2(e, OP_Sub, last, x_2(e, OP_Mod, at, period)));
  return take(e, x, d, x_2(e, OP_Sub, last, at));
}

static void sized_pad(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *pads = x_in(e, 1);
  int64_t rest[2 * HONE_MAX_RANK] = {0};
  const int rank = x->shape.rank;
  bool any = false;
  for (int d = 0; d < rank && !e->status; d++) {
    const int entry = pads_entry(e, d);
    const size_t half = (size_t)pads->shape.dims[0] / 2;
    if (entry < 0) continue;
    if (moves_padding(e->node, d)) {
      x = padded_along(e, x, d, entry);
    } else if (pads->constant) {
      rest[d] = tensor_i64(pads->constant, (size_t)entry);
      rest[rank + d] = tensor_i64(pads->constant, (size_t)entry + half);
      any = any || rest[d] || rest[rank + d];
    }
  }
  if (any) x = x_again(e, (struct value *[]){x, x_list(e, rest, 2 * (size_t)rank), x_in(e, 2)}, 3);
  x_out(e, 0, x);
}

/* -- windows */

static bool is_same_padded(const struct node *node) {
  return !strncmp(node_string(node, "auto_pad", ""), "SAME", 4);
}

static bool window_at(const struct node *node, struct window *w) {
  struct ctx ctx;
  bool has_window = false;
  ctx_init(&ctx);
  return !window_of_node(&ctx, node, w, &has_window) && has_window;
}

/* auto_pad with a stride: how much padding is needed depends on the size. */
static bool moves_window(const struct node *node, const struct window *w, int i) {
  return is_dynamic(node->inputs[0], i + 2) && is_same_padded(node) && w->stride[i] > 1;
}

/* Padding that no rule of the plan can write: its number is computed at run time. */
static bool pads_with_value(const struct node *node, const struct window *w, int i) {
  const bool is_integer = is_op(node, OP_ConvInteger) || is_op(node, OP_QLinearConv);
  const struct value *zero = is_integer ? node_input(node, 2) : NULL;
  return is_dynamic(node->inputs[0], i + 2) && zero && !zero->constant &&
         (w->pad_begin[i] || w->pad_end[i]);
}

/* An average that divides by the number of elements within the image. */
static bool counts_elements(const struct node *node, const struct window *w, int i) {
  const bool includes = node_int(node, "count_include_pad", 0) != 0,
             rounds_up = node_int(node, "ceil_mode", 0) != 0;
  return is_op(node, OP_AveragePool) && is_dynamic(node->inputs[0], i + 2) &&
         (rounds_up ||
          (!includes && (w->pad_begin[i] || w->pad_end[i] || moves_window(node, w, i))));
}

static bool is_window(const struct node *node) {
  struct window w;
  bool any = false, is_dilated = false;
  if (!window_at(node, &w)) return false;
  for (int i = 0; i < w.rank; i++) {
    any = any || moves_window(node, &w, i) || pads_with_value(node, &w, i) ||
          counts_elements(node, &w, i);
    is_dilated = is_dilated || w.dilation[i] > 1;
  }
  return any && !(is_dilated && is_op(node, OP_AveragePool)) && node->output_count == 1;
}

/* What is read outside the image. */
static struct value *neutral(struct graph_builder *e, const struct value *x) {
  const bool is_integer = is_op(e->node, OP_ConvInteger) || is_op(e->node, OP_QLinearConv);
  if (is_integer && x_in(e, 2)) {
    const int64_t rank_0 = 0;
    return x_in(e, 2)->shape.rank ? x_reshape(e, x_in(e, 2), &rank_0, 0) : x_in(e, 2);
  }
  if (!is_op(e->node, OP_MaxPool)) return x_scalar(e, x->dtype, 0);
  return x_scalar(e, x->dtype,
                  dtype_is_float(x->dtype) ? -INFINITY
                  : x->dtype == HONE_I8    ? -128
                                           : 0);
}

/* The padding before the image that auto_pad asks for, a scalar. */
static struct value *padding_before(struct graph_builder *e, const struct window *w, int i,
                                    int64_t length, struct slope slope) {
  const struct value *x = x_in(e, 0);
  struct value *total = x_sized(e, HONE_I64, length - w->in[i], minus(slope, x_slope(x, i + 2)));
  total = x_2(e, OP_Max, total, i64(e, 0));
  if (x_is(e, "auto_pad", "", "SAME_LOWER")) total = x_2(e, OP_Add, total, i64(e, 1));
  return x_2(e, OP_Div, total, i64(e, 2));
}

/* By what the average over the whole window is multiplied, for each place along dimension i. */
static struct value *share_of(struct graph_builder *e, const struct window *w, int i,
                              struct value *before, int64_t after) {
  const bool includes = x_int(e, "count_include_pad", 0) != 0;
  const struct value *x = x_in(e, 0), *y = e->node->outputs[0];
  struct value *from = x_2(e, OP_Mul, places_of(e, y, i + 2), i64(e, w->stride[i]));
  from = x_2(e, OP_Sub, from, before);
  struct value *to = x_2(e, OP_Add, from, i64(e, w->kernel[i]));
  struct value *end = x_sized(e, HONE_I64, w->in[i] + (includes ? after : 0), x_slope(x, i + 2));
  to = x_2(e, OP_Min, to, end);
  if (!includes) from = x_2(e, OP_Max, from, i64(e, 0));
  struct value *count = x_cast(e, x_2(e, OP_Sub, to, from), x->dtype);
  return along(e, x_2(e, OP_Div, x_scalar(e, x->dtype, (double)w->kernel[i]), count), x->shape.rank,
               i + 2);
}

static void sized_window(struct graph_builder *e) {
  const struct value *y = e->node->outputs[0];
  struct value *shares[HONE_MAX_RANK] = {NULL}, *x = x_in(e, 0), *inputs[16];
  int64_t pads[2 * HONE_MAX_RANK];
  struct window w;
  if (!window_at(e->node, &w) || e->node->input_count > COUNT(inputs)) return;
  for (int i = 0; i < w.rank; i++) {
    const int64_t length = (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
    const struct slope out = x_slope(y, i + 2), slope = slope_times(&out, w.stride[i]);
    struct value *before = i64(e, w.pad_begin[i]);
    const int64_t after = w.pad_end[i]; /* as the attribute says it */
    pads[i] = w.pad_begin[i];
    pads[w.rank + i] = after;
    const bool moves = moves_window(e->node, &w, i);
    if (moves || pads_with_value(e->node, &w, i)) {
      if (moves) before = padding_before(e, &w, i, length, slope);
      struct value *at = x_2(e, OP_Sub, places(e, HONE_I64, length, slope), before);
      x = take_padded(e, x, i + 2, at, neutral(e, x));
      pads[i] = pads[w.rank + i] = 0;
    } else if (x_int(e, "ceil_mode", 0) && is_op(e->node, OP_AveragePool)) {
      /* what the last window reads at any size: it starts within the image */
      const int64_t most = length - w.in[i] - w.pad_begin[i] + w.stride[i] - 1;
      pads[w.rank + i] = most < 0 ? 0 : most < w.kernel[i] ? most : w.kernel[i] - 1;
    }
    const bool is_padded = w.pad_begin[i] || after || pads[w.rank + i];
    if (is_op(e->node, OP_AveragePool) && (counts_elements(e->node, &w, i) || is_padded))
      shares[i] = share_of(e, &w, i, before, after);
  }
  for (size_t k = 0; k < e->node->input_count; k++) inputs[k] = k ? x_in(e, k) : x;
  x_with_string(e, "auto_pad", "NOTSET");
  x_with_ints(e, "pads", pads, 2 * (size_t)w.rank);
  if (is_op(e->node, OP_AveragePool)) {
    x_with_int(e, "ceil_mode", 0);
    x_with_int(e, "count_include_pad", 1);
  }
  x = x_again(e, inputs, e->node->input_count);
  for (int d = 0; d < x->shape.rank && !e->status; d++) x_set_slope(e, x, d, x_slope(y, d));
  for (int i = 0; i < w.rank; i++)
    if (shares[i]) x = x_2(e, OP_Mul, x, shares[i]);
  x_out(e, 0, x);
}

/* -- Resize */

static bool moves_pixels(const struct node *node, int d) {
  const struct value *x = node->inputs[0], *y = node->outputs[0];
  return (is_dynamic(x, d) || is_dynamic(y, d)) && !resize_keeps_places(node, d);
}

static bool is_constant(const struct value *x) { return !x || x->constant; }

static bool is_resize(const struct node *node) {
  const struct graph_builder e = {.node = node};
  bool any = false;
  if (!is_constant(node_input(node, 2)) || !is_constant(node_input(node, 3))) return false;
  for (int d = 0; d < node->inputs[0]->shape.rank; d++) any = any || moves_pixels(node, d);
  return any && x_can_resize(&e);
}

/* The other axes, with the scales of the file if it has any. */
static struct value *resized_rest(struct graph_builder *e, struct value *x, const bool *moves) {
  const struct value *scales = x_in(e, 2);
  const bool is_scaled = scales && tensor_count(scales->constant);
  const struct tensor *given = is_scaled ? scales->constant : x_in(e, 3)->constant, *list;
  struct value *rest = x_constant(e, given->dtype, &given->shape, &list);
  for (size_t i = 0; i < tensor_count(given) && !e->status; i++) {
    const int d = x_resized_axis(e, i);
    const double as_it_is = is_scaled ? 1 : (double)x->shape.dims[d];
    tensor_set_f64(list, i, moves[d] ? as_it_is : tensor_f64(given, i));
  }
  return x_again(e, (struct value *[]){x, NULL, is_scaled ? rest : NULL, is_scaled ? NULL : rest},
                 is_scaled ? 3 : 4);
}

static void sized_resize(struct graph_builder *e) {
  const struct value *y = e->node->outputs[0];
  struct value *x = x_in(e, 0);
  const hone_dtype dtype = x->dtype;
  const int rank = x->shape.rank;
  bool moves[HONE_MAX_RANK], any = false;
  if (!x_is(e, "mode", "nearest", "nearest")) x = x_widened(e, x);
  for (int d = 0; d < rank && !e->status; d++) {
    moves[d] = moves_pixels(e->node, d);
    any = any || (!moves[d] && changes_along(e->node, d));
    if (!moves[d]) continue;
    struct value *at = places(e, HONE_F32, y->shape.dims[d], x_slope(y, d));
    x = x_resize(e, x, d, at, length_of(e, x, d, HONE_I64), length_of(e, y, d, HONE_I64));
  }
  if (any) x = resized_rest(e, x, moves);
  x_out(e, 0, x_cast(e, x, dtype));
}

/* -- the table */

static const struct expand_row rows[] = {
    {OP_ReduceMean, is_mean, sized_mean},
    {OP_ReduceVariance, is_mean, sized_mean},
    {OP_GlobalAveragePool, is_mean, sized_mean},
    {OP_Split, is_split, sized_split},
    {OP_Tile, is_tile, sized_tile},
    {OP_Slice, is_slice, sized_slice},
    {OP_Gather, is_indexed, sized_index},
    {OP_GatherElements, is_indexed, sized_index},
    {OP_GatherND, is_indexed, sized_index},
    {OP_ScatterElements, is_indexed, sized_index},
    {OP_ScatterND, is_indexed, sized_index},
    {OP_Pad, is_pad, sized_pad},
    {OP_Conv, is_window, sized_window},
    {OP_ConvInteger, is_window, sized_window},
    {OP_QLinearConv, is_window, sized_window},
    {OP_MaxPool, is_window, sized_window},
    {OP_AveragePool, is_window, sized_window},
    {OP_LpPool, is_window, sized_window},
    {OP_Resize, is_resize, sized_resize},
};

expand_fn *expand_sized_find(const struct node *node) {
  bool any = false;
  for (size_t k = 0; k < node->input_count; k++)
    any = any || (node->inputs[k] && node->inputs[k]->slope);
  for (size_t k = 0; k < node->output_count; k++)
    any = any || (node->outputs[k] && node->outputs[k]->slope);
  return any ? expand_by_row(rows, COUNT(rows), node) : NULL;
}
