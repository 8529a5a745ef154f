/* dynamic: dimensions whose size is known only at run time ("symbols").
 *
 * Everything is laid out for their upper bounds: buffers, strides, packed weights, kernels. At run
 * time a symbol is smaller than its bound by `less`, and each dynamic dimension is shorter by its
 * slope times that. Elements past the actual size are undefined: a step may skip, compute or
 * overwrite them. So an operator supports a dynamic dimension if the leading part of its results
 * depends only on the leading parts of its operands. If it sums, or takes a maximum, over a dynamic
 * dimension, a fill step first sets the elements past the actual size to the neutral element. A
 * table of operators holds these rules; an operator without a row is refused by name. Dynamic
 * inputs and outputs are packed at their actual size and copied.
 */
#include <math.h>

#include "core/ops/operators/window.h"
#include "builder.h"

/* -- rules */

struct dynamic_check {
  struct builder *b;
  const struct node *node;
  const char *why_not;
};
typedef hone_status carry_fn(struct dynamic_check *c);

bool is_open_at(const struct value *value, int64_t d) {
  if (!value || !value->slope) return false;
  if (d < 0) d += value->shape.rank;
  return d >= 0 && d < value->shape.rank && !slope_is_zero(&value->slope[d]);
}

/* Any of the dimensions [first, last). */
static bool is_open_in(const struct value *value, int first, int last) {
  for (int d = first; value && d < last && d < value->shape.rank; d++)
    if (is_open_at(value, d)) return true;
  return false;
}

static bool is_open_value(const struct value *value) { return is_open_in(value, 0, HONE_MAX_RANK); }

static hone_status refuse(struct dynamic_check *c, const char *why) {
  c->why_not = why;
  return HONE_OK;
}

/* A fill of one view; NAN: with the last element within the actual size. */
static hone_status fill_view(struct dynamic_check *c, const struct view *view, int d, double number,
                             int64_t most) {
  struct builder *b = c->b;
  struct tensor *element;
  const struct shape scalar = {0};
  struct step *step;
  if (!view->stride[d]) return refuse(c, "an operand is broadcast along that dimension");
  TRY(tensor_create(b->ctx, b->arena, view->dtype, &scalar, &element));
  if (isinf(number) && dtype_is_integer(view->dtype))
    tensor_set_i64(element, 0, integer_edge(view->dtype, number > 0));
  else if (!isnan(number))
    tensor_set_f64(element, 0, number);
  TRY(new_step(b, STEP_FILL, c->node, 0, 1, &step));
  step->outputs[0] = *view;
  step->fill_axis = d;
  step->fill_repeats = isnan(number);
  step->fill_count = most < view->shape.dims[d] ? most : view->shape.dims[d];
  memcpy(&step->fill_bits, element->data, dtype_bytes(view->dtype));
  step->units = 1;
  const int lines = plan_fill_lines(step);
  for (int k = 0; k < view->shape.rank; k++)
    if (k != d && k != lines) step->units *= view->shape.dims[k];
  step_share(step, (double)step->units * (double)view->shape.dims[d], WORK_COPY);
  return HONE_OK;
}

/* Sets `most` elements past the actual size of dimension d, in every copy of the value. NAN: to the
   last element within it. */
static hone_status fill_some(struct dynamic_check *c, const struct value *value, int64_t d,
                             double number, int64_t most) {
  struct builder *b = c->b;
  struct view view;
  if (d < 0) d += value->shape.rank;
  if (!is_open_at(value, d) || !most) return HONE_OK;
  b->fills = true;
  TRY(get_stored(b, value, &view));
  /* constants are finite, and the other operand is zero there */
  if (value->constant) return HONE_OK;
  if (isinf(number) && number > 0 && value->dtype == HONE_U64)
    return refuse(c, "no integer is neutral here");
  bool captured;
  const struct value_state *state = state_of(b, value, &captured);
  for (int i = 0; i < state->count; i++) TRY(fill_view(c, &state->views[i], (int)d, number, most));
  return HONE_OK;
}

/* All elements past the actual size. */
static hone_status fill(struct dynamic_check *c, const struct value *value, int64_t d,
                        double number) {
  return fill_some(c, value, d, number, INT64_MAX);
}

static hone_status carry_any(struct dynamic_check *c) {
  return c->node ? HONE_OK : HONE_E_INTERNAL;
}

static hone_status carry_shorter(struct dynamic_check *c) {
  const struct node *node = c->node;
  for (size_t k = 0; k < node->input_count; k++)
    for (int d = 0; node->inputs[k] && d < node->inputs[k]->shape.rank; d++)
      if (is_open_at(node->inputs[k], d) && !may_be_shorter(node, k, d))
        return refuse(c, "other elements depend on all of that dimension");
  return HONE_OK;
}

/* Only the channels must be fixed. */
static hone_status carry_places(struct dynamic_check *c) {
  const struct node *node = c->node;
  for (size_t k = 0; k < node->input_count; k++)
    if (k ? is_open_value(node->inputs[k]) : is_open_at(node->inputs[0], 1))
      return refuse(c, "its channels are dynamic");
  return HONE_OK;
}

/* Of input 0, an integer; false if it is not one constant. */
static bool zero_point_of(const struct node *node, double *out) {
  const struct value *zero = node_input(node, 2);
  *out = zero && zero->constant ? tensor_f64(zero->constant, 0) : 0;
  return !zero || (zero->constant && tensor_count(zero->constant) == 1);
}

/* Padding after the actual size is written where the window reads it. */
static hone_status carry_window(struct dynamic_check *c) {
  const struct node *node = c->node;
  const struct value *x = node->inputs[0];
  struct window w;
  bool has_window;
  TRY(carry_places(c));
  if (c->why_not || !is_open_in(x, 2, HONE_MAX_RANK)) return HONE_OK;
  const bool is_average = is_op(node, OP_AveragePool), is_max = is_op(node, OP_MaxPool);
  const bool all_read = is_op(node, OP_ConvTranspose);
  double neutral = is_max ? -INFINITY : 0;
  bool is_known = true;
  if (is_op(node, OP_QLinearConv) || is_op(node, OP_ConvInteger)) {
    is_known = zero_point_of(node, &neutral);
  } else if (!dtype_is_float(x->dtype)) {
    neutral = x->dtype == HONE_I8 ? -128 : 0; /* MaxPool */
  }
  if (is_max && node->output_count > 1 && node->outputs[1])
    return refuse(c, "its indices depend on the size");
  TRY(window_of_node(c->b->ctx, node, &w, &has_window));
  for (int i = 0; i < w.rank; i++) {
    if (!is_open_at(x, i + 2)) continue;
    const bool rounds_up = node_int(node, "ceil_mode", 0) != 0;
    if (!strncmp(node_string(node, "auto_pad", ""), "SAME", 4) && w.stride[i] > 1)
      return refuse(c, "the padding of auto_pad depends on the size");
    if (is_average && (rounds_up || w.pad_begin[i] || w.pad_end[i]) &&
        (rounds_up || !node_int(node, "count_include_pad", 0)))
      return refuse(c, "the padding that it does not average depends on the size");
    /* Winograd's transforms read a whole tile, of up to four results, before they drop a part */
    const int64_t tile = is_op(node, OP_Conv) && w.kernel[i] == 3 && w.stride[i] == 1 ? 3 : 0;
    const int64_t read = w.pad_end[i] + tile + (rounds_up ? w.stride[i] - 1 : 0);
    if (read && !is_known) return refuse(c, "its zero point is not one constant");
    TRY(fill_some(c, x, i + 2, neutral, all_read ? INT64_MAX : read));
  }
  return HONE_OK;
}

static hone_status carry_global_pool(struct dynamic_check *c) {
  const struct value *x = c->node->inputs[0];
  TRY(carry_places(c));
  if (is_op(c->node, OP_GlobalAveragePool) && is_open_in(x, 2, HONE_MAX_RANK))
    return refuse(c, "it averages over that dimension");
  for (int d = 2; d < x->shape.rank && !c->why_not; d++)
    TRY(fill(c, x, d, is_op(c->node, OP_GlobalMaxPool) ? -INFINITY : 0));
  return HONE_OK;
}

/* Nearest neighbours by whole factors repeat each element; interpolation repeats the last one past
   the actual size, as at the edge of an image. */
static hone_status carry_resize(struct dynamic_check *c) {
  const struct node *node = c->node;
  const struct value *x = node->inputs[0], *y = node->outputs[0];
  const char *mode = node_string(node, "mode", "nearest");
  const int reach = !strcmp(mode, "linear") ? 1 : !strcmp(mode, "cubic") ? 2 : 0;
  for (int d = 0; d < x->shape.rank; d++) {
    if (!is_open_at(x, d) && !is_open_at(y, d)) continue;
    if (!resize_keeps_places(node, d)) return refuse(c, "it interpolates along that dimension");
    TRY(fill_some(c, x, d, (double)NAN, reach)); /* also where they have no weight: not NaN */
  }
  return HONE_OK;
}

/* The next smallest group of dimensions of equal size, from *i and *j on; true if it is a view: both
   sides have the same dynamic dimension, and the dimensions inside it are the same. */
static bool next_group(const struct value *in, const struct value *out, int *i, int *j) {
  int64_t a = 1, z = 1;
  struct slope a_inside = {0}, z_inside = {0};
  bool is_view = true;
  do {
    bool left = a <= z ? *i < in->shape.rank : *j >= out->shape.rank;
    const struct value *value = left ? in : out;
    int d = left ? (*i)++ : (*j)++;
    int64_t *size = left ? &a : &z;
    struct slope *inside = left ? &a_inside : &z_inside;
    bool open = is_open_at(value, d);
    if (open && !slope_is_zero(inside)) is_view = false; /* two dynamic dimensions are joined */
    *size *= value->shape.dims[d];
    *inside = open ? value->slope[d] : slope_times(inside, value->shape.dims[d]);
  } while (a != z && (*i < in->shape.rank || *j < out->shape.rank));
  /* a fixed dimension outside the dynamic one would interleave with it */
  while (*i < in->shape.rank && in->shape.dims[*i] == 1 && !is_open_at(in, *i)) (*i)++;
  while (*j < out->shape.rank && out->shape.dims[*j] == 1 && !is_open_at(out, *j)) (*j)++;
  return is_view && slope_equal(&a_inside, &z_inside);
}

/* All dimensions from `first` to the one before the last of [first, end) whose size is not 1. */
static unsigned outer_dimensions(const struct value *value, int first, int end) {
  unsigned all = 0;
  while (end > first && value->shape.dims[end - 1] == 1 && !is_open_at(value, end - 1)) end--;
  for (int d = first; d + 1 < end; d++) all |= 1u << d;
  return all;
}

void find_joined(const struct value *in, const struct value *out, unsigned *out_in,
                 unsigned *out_out) {
  *out_in = *out_out = 0;
  for (int i = 0, j = 0; i < in->shape.rank || j < out->shape.rank;) {
    const int first_in = i, first_out = j;
    if (next_group(in, out, &i, &j)) continue;
    *out_in |= outer_dimensions(in, first_in, i);
    *out_out |= outer_dimensions(out, first_out, j);
  }
}

static hone_status carry_slice(struct dynamic_check *c) {
  const struct value *x = c->node->inputs[0], *starts = node_input(c->node, 1),
                     *axes = node_input(c->node, 3), *steps = node_input(c->node, 4);
  if (!starts || !starts->constant || (axes && !axes->constant) || (steps && !steps->constant))
    return refuse(c, "its bounds must be constant");
  for (size_t i = 0; i < tensor_count(starts->constant); i++) {
    int64_t axis = axes ? tensor_i64(axes->constant, i) : (int64_t)i;
    int64_t start = tensor_i64(starts->constant, i);
    if (!is_open_at(x, axis)) continue;
    if (axis < 0) axis += x->shape.rank;
    const int64_t step = steps ? tensor_i64(steps->constant, i) : 1;
    if (step < 1 || (step > 1 && start < 0))
      return refuse(c, "that dimension is sliced from its end with a step other than 1");
    if (start < -x->shape.dims[axis]) return refuse(c, "the slice begins before the first element");
  }
  return HONE_OK;
}

/* Indices past the actual size become 0, so that none is out of range. Negative ones were replaced
   (core/ops/composites/sizes.c). */
static hone_status carry_gather(struct dynamic_check *c) {
  const struct value *index = c->node->inputs[1];
  for (int d = 0; d < index->shape.rank; d++) TRY(fill(c, index, d, 0));
  return HONE_OK;
}

static hone_status carry_split(struct dynamic_check *c) {
  return is_open_at(c->node->inputs[0], node_int(c->node, "axis", 0))
             ? refuse(c, "that dimension is split")
             : HONE_OK;
}

/* Padding after the actual size is what the elements there are set to. */
static hone_status carry_pad(struct dynamic_check *c) {
  const struct value *in = c->node->inputs[0], *out = c->node->outputs[0];
  const struct value *with = node_input(c->node, 2);
  const char *mode = node_string(c->node, "mode", "constant");
  const bool is_edge = !strcmp(mode, "edge"), is_constant = !strcmp(mode, "constant");
  const double number = is_edge                  ? (double)NAN
                        : with && with->constant ? tensor_f64(with->constant, 0)
                                                 : 0;
  for (int d = 0; d < in->shape.rank; d++) {
    int64_t before, after;
    if (!is_open_at(in, d) || in->shape.dims[d] == out->shape.dims[d]) continue;
    if (!is_edge && !is_constant) return refuse(c, "pad mode must be constant or edge");
    if ((with && !with->constant) || !pad_amounts(c->node, d, &before, &after))
      return refuse(c, "its padding must be constant");
    if (after > 0) TRY(fill_some(c, in, d, number, after));
  }
  return HONE_OK;
}

static hone_status carry_matmul(struct dynamic_check *c) {
  const struct value *a = c->node->inputs[0], *w = c->node->inputs[1];
  const int k = w->shape.rank > 1 ? w->shape.rank - 2 : 0;
  double zero = 0;
  if (!is_open_at(a, -1)) return HONE_OK;
  if (is_op(c->node, OP_MatMul)) TRY(fill(c, w, k, 0)); /* not NaN */
  if (!is_op(c->node, OP_MatMul) && !zero_point_of(c->node, &zero))
    return refuse(c, "it sums integers over that dimension, without one constant zero point");
  return fill(c, a, -1, zero);
}

static hone_status carry_gemm(struct dynamic_check *c) {
  const struct value *a = c->node->inputs[0], *w = c->node->inputs[1];
  int turned_a = node_int(c->node, "transA", 0) != 0,
      turned_b = node_int(c->node, "transB", 0) != 0;
  TRY(fill(c, a, turned_a ? 0 : 1, 0));
  return fill(c, w, turned_b ? 1 : 0, 0);
}

static hone_status carry_softmax(struct dynamic_check *c) {
  return fill(c, c->node->inputs[0], node_int(c->node, "axis", -1), -INFINITY);
}

static double neutral(enum op_id op) {
  switch (op) {
    case OP_ReduceMax:
    case OP_ReduceLogSumExp:
      return -INFINITY;
    case OP_ReduceMin:
      return INFINITY;
    case OP_ReduceProd:
      return 1;
    default:
      return 0;
  }
}

static hone_status carry_reduce(struct dynamic_check *c) {
  const struct node *node = c->node;
  const struct value *x = node->inputs[0], *axes = node_input(node, 1);
  bool all = !axes || (axes->constant && !tensor_count(axes->constant));
  if (axes && !axes->constant) return refuse(c, "its axes must be constant");
  if (all && node_int(node, "noop_with_empty_axes", 0)) return HONE_OK;
  for (int d = 0; d < x->shape.rank; d++) {
    bool reduced = all;
    for (size_t i = 0; !all && i < tensor_count(axes->constant); i++) {
      int64_t axis = tensor_i64(axes->constant, i);
      reduced |= (axis < 0 ? axis + x->shape.rank : axis) == d;
    }
    if (!reduced || !is_open_at(x, d)) continue;
    if (is_op(node, OP_ReduceMean) || is_op(node, OP_ReduceVariance))
      return refuse(c, "it averages over that dimension");
    TRY(fill(c, x, d, neutral(node->op->id)));
  }
  return HONE_OK;
}

static hone_status carry_arg(struct dynamic_check *c) {
  bool least = is_op(c->node, OP_ArgMin);
  int64_t axis = node_int(c->node, "axis", 0);
  if (node_int(c->node, "select_last_index", 0) && is_open_at(c->node->inputs[0], axis))
    return refuse(c, "select_last_index is set");
  return fill(c, c->node->inputs[0], axis, least ? INFINITY : -INFINITY);
}

/* Elements past the actual size are not selected. */
static hone_status carry_selection(struct dynamic_check *c) {
  const bool is_boxes = is_op(c->node, OP_NonMaxSuppression);
  const size_t k = is_boxes || is_op(c->node, OP_Compress);
  const struct value *x = c->node->inputs[k];
  for (int d = 0; d < x->shape.rank; d++) TRY(fill(c, x, d, is_boxes ? -INFINITY : 0));
  return HONE_OK;
}

/* Regions past the actual number are those of the first image's corner: within it. */
static hone_status carry_regions(struct dynamic_check *c) {
  if (is_open_value(c->node->inputs[0])) return refuse(c, "its images are dynamic");
  TRY(fill(c, c->node->inputs[1], 0, 0));
  return fill(c, c->node->inputs[2], 0, 0);
}

static hone_status carry_topk(struct dynamic_check *c) {
  bool largest = node_int(c->node, "largest", 1) != 0;
  return fill(c, c->node->inputs[0], node_int(c->node, "axis", -1), largest ? -INFINITY : INFINITY);
}

/* Updates past the actual size get index -1, which is ignored. */
static hone_status carry_placed(struct dynamic_check *c) {
  const struct value *index = c->node->inputs[1];
  if (index->constant && is_open_value(index)) return refuse(c, "its indices are constant");
  for (int d = 0; d < index->shape.rank; d++) TRY(fill(c, index, d, -1));
  return HONE_OK;
}

/* Updates past the actual size go to index 0 with the neutral element. */
static hone_status carry_scatter(struct dynamic_check *c) {
  static const struct {
    const char *word;
    double neutral;
  } reductions[] = {{"add", 0}, {"mul", 1}, {"max", -INFINITY}, {"min", INFINITY}};
  const struct value *index = c->node->inputs[1], *updates = c->node->inputs[2];
  const char *word = node_string(c->node, "reduction", "none");
  if (node_int(c->node, "within", 0)) return carry_placed(c);
  for (size_t i = 0; i < COUNT(reductions); i++) {
    if (strcmp(word, reductions[i].word)) continue;
    for (int d = 0; d < index->shape.rank; d++) TRY(fill(c, index, d, 0));
    for (int d = 0; d < updates->shape.rank; d++) TRY(fill(c, updates, d, reductions[i].neutral));
    return HONE_OK;
  }
  return refuse(c, "it needs a `reduction`");
}

static hone_status carry_cumulative(struct dynamic_check *c) {
  const struct value *axis = node_input(c->node, 1);
  if (!node_int(c->node, "reverse", 0)) return HONE_OK;
  if (!axis || !axis->constant) return refuse(c, "its axis must be constant");
  return fill(c, c->node->inputs[0], tensor_i64(axis->constant, 0),
              is_op(c->node, OP_CumProd) ? 1 : 0);
}

static hone_status carry_norm(struct dynamic_check *c) {
  return fill(c, c->node->inputs[0], node_int(c->node, "axis", -1), 0);
}

/* Sequences end at the lengths of operand 4 (open_sizes.c), which are 0 past the actual batch. */
static hone_status carry_recurrent(struct dynamic_check *c) {
  const struct value *lengths = node_input(c->node, 4);
  const int steps = node_int(c->node, "layout", 0) ? 1 : 0;
  if (lengths) return fill(c, lengths, 0, 0);
  return is_open_at(c->node->inputs[0], steps)
             ? refuse(c, "that dimension is the number of time steps")
             : HONE_OK;
}

/* Lengths past the actual batch become 0, which is valid; no length reaches past the actual steps. */
static hone_status carry_reverse_sequence(struct dynamic_check *c) {
  return fill(c, c->node->inputs[1], 0, 0);
}

static hone_status carry_quantize(struct dynamic_check *c) {
  const struct value *x = c->node->inputs[0], *scale = c->node->inputs[1];
  if (scale->shape.rank && is_open_at(x, node_int(c->node, "axis", 1)))
    return refuse(c, "its scale varies along that dimension");
  return HONE_OK;
}

static const struct {
  enum op_id op;
  carry_fn *carry;
} rules[] = {
    {OP_Expand, carry_any},
    {OP_Reshape, carry_any},
    {OP_Flatten, carry_any},
    {OP_Slice, carry_slice},
    {OP_Gather, carry_gather},
    {OP_GatherElements, carry_gather},
    {OP_GatherND, carry_gather},
    {OP_ScatterElements, carry_scatter},
    {OP_ScatterND, carry_scatter},
    {OP_Concat, carry_any},
    {OP_Split, carry_split},
    {OP_Pad, carry_pad},
    {OP_MatMul, carry_matmul},
    {OP_MatMulInteger, carry_matmul},
    {OP_QLinearMatMul, carry_matmul},
    {OP_Gemm, carry_gemm},
    {OP_Softmax, carry_softmax},
    {OP_LogSoftmax, carry_softmax},
    {OP_Hardmax, carry_softmax},
    {OP_LpNormalization, carry_norm},
    {OP_ReduceL1, carry_reduce},
    {OP_ReduceL2, carry_reduce},
    {OP_ReduceLogSum, carry_reduce},
    {OP_ReduceLogSumExp, carry_reduce},
    {OP_ReduceMax, carry_reduce},
    {OP_ReduceMean, carry_reduce},
    {OP_ReduceMin, carry_reduce},
    {OP_ReduceProd, carry_reduce},
    {OP_ReduceSum, carry_reduce},
    {OP_ReduceSumSquare, carry_reduce},
    {OP_ReduceVariance, carry_reduce},
    {OP_ArgMax, carry_arg},
    {OP_ArgMin, carry_arg},
    {OP_TopK, carry_topk},
    {OP_PoolRegions, carry_regions},
    {OP_PadToBound, carry_any},
    {OP_If, carry_any},   /* its branches by their own nodes */
    {OP_Loop, carry_any}, /* its body by its own nodes */
    {OP_NonZero, carry_selection},
    {OP_Compress, carry_selection},
    {OP_NonMaxSuppression, carry_selection},
    {OP_CumSum, carry_cumulative},
    {OP_CumProd, carry_cumulative},
    {OP_LSTM, carry_recurrent},
    {OP_GRU, carry_recurrent},
    {OP_RNN, carry_recurrent},
    {OP_ReverseSequence, carry_reverse_sequence},
    {OP_QuantizeLinear, carry_quantize},
    {OP_QuantizeHalfAway, carry_quantize},
    {OP_DequantizeLinear, carry_quantize},
    {OP_Conv, carry_window},
    {OP_ConvInteger, carry_window},
    {OP_QLinearConv, carry_window},
    {OP_ConvTranspose, carry_window},
    {OP_MaxPool, carry_window},
    {OP_AveragePool, carry_window},
    {OP_LpPool, carry_window},
    {OP_GlobalAveragePool, carry_global_pool},
    {OP_GlobalMaxPool, carry_global_pool},
    {OP_GlobalLpPool, carry_global_pool},
    {OP_Resize, carry_resize},
};

/* The operator's rule here, that of shorter.c, or that of elementwise operators; NULL: none. */
static carry_fn *find_rule(const struct node *node) {
  for (size_t i = 0; i < COUNT(rules); i++)
    if (rules[i].op == node->op->id) return rules[i].carry;
  if (has_shorter_rule(node)) return carry_shorter;
  bool is_own = !*node->op->domain || !strcmp(node->op->domain, "hone");
  return node->op->class == OP_ELEMENTWISE && is_own ? carry_any : NULL;
}

/* The operands and results of the group. */
static size_t value_count(const struct fusion_group *g) {
  return group_input_count(g) + g->node->output_count;
}

static const struct value *value_at(const struct fusion_group *g, size_t k) {
  const size_t inputs = group_input_count(g);
  return k < inputs ? group_input(g, k) : group_output(g, k - inputs);
}

/* Names of the symbols that the group's operands and results depend on. */
static struct symbol_names {
  char at[HONE_MAX_SYMBOLS * 36];
} dynamic_names(const struct builder *b, const struct fusion_group *g) {
  struct symbol_names out = {""};
  struct slope all = {0};
  for (size_t k = 0; k < value_count(g); k++) {
    const struct value *value = value_at(g, k);
    for (int d = 0; value && value->slope && d < value->shape.rank; d++)
      for (int s = 0; s < HONE_MAX_SIZES; s++) all.of[s] |= value->slope[d].of[s];
  }
  size_t n = 0;
  for (size_t s = 0; s < b->plan->symbols.count; s++)
    if (all.of[s])
      n += (size_t)snprintf(out.at + n, sizeof out.at - n, "%s%s", n ? ", " : "",
                            b->plan->symbols.at[s].name);
  return out;
}

/* Why no group with these values can be in a graph with symbols; NULL: it can. Strings past the
   actual size would be invalid addresses. */
static const char *group_reason(const struct fusion_group *g, bool is_open) {
  for (size_t k = 0; k < value_count(g); k++) {
    const struct value *value = value_at(g, k);
    if (!value) continue;
    if (is_open && value->dtype == HONE_STRING) return "it has string values";
  }
  return NULL;
}

/* A slice that counts from the end of a dynamic dimension moves at run time; elementwise loops
   and Concat copies support that. */
static bool reads_window(const struct node *node) {
  if (node->op->class == OP_ELEMENTWISE || is_op(node, OP_Concat)) return false;
  for (size_t k = 0; k < node->input_count; k++)
    if (node->inputs[k] && node->inputs[k]->begin) return true;
  return false;
}

static hone_status check_begin(struct builder *b, const struct step *step, const struct view *view,
                               const int64_t *less) {
  if (!view->buffer || !view->offset_slope || view->offset >= slope_loss(view->offset_slope, less))
    return HONE_OK;
  return fail(b->ctx, HONE_E_UNSUP, step->place,
              "%s indexes from the end of a dynamic dimension that may be 0",
              step->op ? step->op->name : "a copy");
}

hone_status check_least_sizes(struct builder *b) {
  const struct plan *plan = b->plan;
  int64_t less[HONE_MAX_SIZES] = {0};
  for (size_t k = 0; k < plan->symbols.count; k++)
    less[k] = plan->symbols.at[k].bound - plan->symbols.at[k].least;
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    for (size_t k = 0; k < step->input_count; k++)
      TRY(check_begin(b, step, &step->inputs[k], less));
    for (size_t k = 0; k < step->output_count; k++)
      TRY(check_begin(b, step, &step->outputs[k], less));
  }
  return HONE_OK;
}

hone_status look_at_sizes(struct builder *b, const struct fusion_group *g) {
  b->is_open = b->fills = false;
  for (size_t k = 0; k < value_count(g) && !b->is_open; k++)
    b->is_open = is_open_value(value_at(g, k));
  const char *own = group_reason(g, b->is_open);
  return own ? fail(b->ctx, HONE_E_UNSUP, node_place(g->node),
                    "%s is not supported in a model with dynamic dimensions: %s", g->node->op->name,
                    own)
             : HONE_OK;
}

hone_status carry_symbol(struct builder *b, const struct fusion_group *g) {
  const struct node *node = g->node;
  struct dynamic_check c = {.b = b, .node = node};
  if (!b->is_open) return HONE_OK;
  carry_fn *carry = find_rule(node);
  if (reads_window(node))
    c.why_not = "a constant index counts from the end of a dynamic dimension";
  else if (carry)
    TRY(carry(&c));
  else
    c.why_not = "the operator does not support dynamic dimensions";
  if (!c.why_not) return HONE_OK;
  return fail(b->ctx, HONE_E_UNSUP, node_place(node),
              "%s does not support dynamic dimension %s: %s", node->op->name,
              dynamic_names(b, g).at, c.why_not);
}
