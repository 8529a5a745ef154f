/* ranges: bounds for the elements of a value, as far as operators imply them: a value clipped to an
 * image's size stays near it, and an index is below the length that it indexes. They bound sizes
 * that are computed at run time. Propagated forwards, node by node, during type inference. Interval
 * arithmetic in double, widened by the rounding of the run's own arithmetic. NaN is in every range,
 * so code that relies on a range must still clamp the value at run time. */
#include <math.h>

#include "core/ops/control/control.h"

enum { LOOKED_AT = 4096 }; /* largest number of elements of a constant that is inspected */

static const struct range unknown = {-INFINITY, INFINITY};

static struct range of_constant(const struct tensor *x) {
  struct range range = {INFINITY, -INFINITY};
  const size_t count = tensor_count(x);
  if (!count || count > LOOKED_AT || x->dtype == HONE_STRING) return unknown;
  for (size_t i = 0; i < count; i++) {
    const double at = tensor_f64(x, i);
    if (isnan(at)) return unknown;
    range.low = fmin(range.low, at);
    range.high = fmax(range.high, at);
  }
  return range;
}

static struct range of_type(hone_dtype dtype) {
  if (dtype == HONE_BOOL) return (struct range){0, 1};
  if (!dtype_is_integer(dtype) || dtype == HONE_U64) return unknown;
  return (struct range){(double)integer_edge(dtype, false), (double)integer_edge(dtype, true)};
}

static struct range either(struct range a, struct range b) {
  return (struct range){fmin(a.low, b.low), fmax(a.high, b.high)};
}

struct range value_range(const struct value *x) {
  if (!x || x->dtype == HONE_STRING || x->list) return unknown;
  if (x->constant) return of_constant(x->constant);
  if (x->sizes && x->sizes->count) {
    struct range range = size_range(x->sizes, 0);
    for (size_t i = 1; i < x->sizes->count; i++) range = either(range, size_range(x->sizes, i));
    return range;
  }
  return x->range ? *x->range : of_type(x->dtype);
}

struct range size_range(const struct size_list *list, size_t i) {
  const double at = (double)list->at[i];
  if (list->number[i]) return value_range(list->number[i]);
  return (struct range){list->extent[i] ? 0 : at, at};
}

static int64_t whole(double x) { return x < -9e18 ? INT64_MIN : x > 9e18 ? INT64_MAX : (int64_t)x; }

/* Constants, extents, and numbers computed at run time. */
bool size_entries(const struct value *x, struct size_list *out) {
  *out = (struct size_list){.count = 0};
  if (!x || x->shape.rank > 1) return false;
  if (x->sizes) {
    *out = *x->sizes;
    return true;
  }
  if (x->list || !dtype_is_integer(x->dtype)) return false;
  if (!x->constant) {
    const struct range range = value_range(x);
    if (x->shape.rank && (x->shape.dims[0] != 1 || x->extents[0])) return false;
    *out = (struct size_list){.count = 1,
                              .at = {whole(range.high)},
                              .least = {whole(range.low)},
                              .number = {(struct value *)(uintptr_t)x}};
    return true;
  }
  if (tensor_count(x->constant) > HONE_MAX_RANK) return false;
  out->count = tensor_count(x->constant);
  for (size_t i = 0; i < out->count; i++) out->at[i] = tensor_i64(x->constant, i);
  return true;
}

/* -- arithmetic */

/* The range of the four numbers; infinity minus infinity gives no bound. */
static struct range of_corners(double a, double b, double c, double d) {
  if (isnan(a) || isnan(b) || isnan(c) || isnan(d)) return unknown;
  return (struct range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

static struct range add(struct range a, struct range b) {
  return (struct range){a.low + b.low, a.high + b.high};
}
static struct range negative(struct range a) { return (struct range){-a.high, -a.low}; }
static struct range times(struct range a, struct range b) {
  return of_corners(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
}
static struct range over(struct range a, struct range b) {
  if (!(b.low > 0) && !(b.high < 0)) return unknown;
  return of_corners(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
}
static struct range least(struct range a, struct range b) {
  return (struct range){fmin(a.low, b.low), fmin(a.high, b.high)};
}
static struct range largest(struct range a, struct range b) {
  return (struct range){fmax(a.low, b.low), fmax(a.high, b.high)};
}

/* -- rules */

static struct range in(const struct node *node, size_t k) {
  return value_range(node_input(node, k));
}

static struct range of_add(const struct node *node) { return add(in(node, 0), in(node, 1)); }
static struct range of_sub(const struct node *node) {
  return add(in(node, 0), negative(in(node, 1)));
}
static struct range of_mul(const struct node *node) { return times(in(node, 0), in(node, 1)); }
static struct range of_neg(const struct node *node) { return negative(in(node, 0)); }

/* Integer division rounds toward zero. */
static struct range of_div(const struct node *node) {
  const struct range range = over(in(node, 0), in(node, 1));
  if (!dtype_is_integer(node->inputs[0]->dtype)) return range;
  return (struct range){trunc(range.low), trunc(range.high)};
}

static struct range of_abs(const struct node *node) {
  const struct range x = in(node, 0);
  return (struct range){x.low > 0 ? x.low : x.high < 0 ? -x.high : 0, fmax(-x.low, x.high)};
}

static struct range of_relu(const struct node *node) {
  return largest(in(node, 0), (struct range){0, 0});
}

static struct range of_floor(const struct node *node) {
  const struct range x = in(node, 0);
  return (struct range){floor(x.low), floor(x.high)};
}
static struct range of_ceil(const struct node *node) {
  const struct range x = in(node, 0);
  return (struct range){ceil(x.low), ceil(x.high)};
}
static struct range of_round(const struct node *node) {
  const struct range x = in(node, 0);
  return (struct range){floor(x.low), ceil(x.high)};
}

static struct range of_share(const struct node *node) {
  (void)node;
  return (struct range){0, 1};
}

static struct range of_clip(const struct node *node) {
  struct range x = in(node, 0);
  if (has_input(node, 1)) x = largest(x, in(node, 1));
  if (has_input(node, 2)) x = least(x, in(node, 2));
  return x;
}

static struct range fold(const struct node *node, struct range (*join)(struct range, struct range),
                         size_t first) {
  struct range range = in(node, first);
  for (size_t k = first + 1; k < node->input_count; k++) range = join(range, in(node, k));
  return range;
}
static struct range of_min(const struct node *node) { return fold(node, least, 0); }
static struct range of_max(const struct node *node) { return fold(node, largest, 0); }
static struct range of_any(const struct node *node) { return fold(node, either, 0); }
static struct range of_where(const struct node *node) { return fold(node, either, 1); }
static struct range of_first(const struct node *node) { return in(node, 0); }

/* For a list whose entries are known one by one: exporters write max(a, b) like this. */
static struct range of_reduce(const struct node *node) {
  struct range (*const join)(struct range, struct range) =
      is_op(node, OP_ReduceMin) ? least : largest;
  struct size_list list;
  if (!size_entries(node->inputs[0], &list) || !list.count || node->outputs[0]->shape.rank ||
      is_op(node, OP_ReduceMean))
    return in(node, 0);
  struct range range = size_range(&list, 0);
  for (size_t i = 1; i < list.count; i++) range = join(range, size_range(&list, i));
  return range;
}

static struct range of_cast(const struct node *node) {
  const struct range x = in(node, 0), to = of_type(node->outputs[0]->dtype);
  if (node->outputs[0]->dtype == HONE_BOOL) return to;
  if (!dtype_is_integer(node->outputs[0]->dtype)) return x;
  const struct range cut = {trunc(x.low), trunc(x.high)};
  return cut.low >= to.low && cut.high <= to.high ? cut : to;
}

/* Elements of two tensors mixed. */
static struct range of_scatter(const struct node *node) {
  const char *how = node_string(node, "reduction", "none");
  return strcmp(how, "none") ? unknown : either(in(node, 0), in(node, 2));
}
static struct range of_pad(const struct node *node) {
  return either(in(node, 0), has_input(node, 2) ? in(node, 2) : (struct range){0, 0});
}
static struct range of_pad_to_bound(const struct node *node) {
  return either(in(node, 0), in(node, 1));
}

static struct range of_shape(const struct node *node) {
  const struct value *x = node->inputs[0];
  struct range range = {0, 0};
  for (int d = 0; d < x->shape.rank; d++) range.high = fmax(range.high, (double)x->shape.dims[d]);
  return range;
}

static struct range of_branches(const struct node *node) {
  struct range range = {INFINITY, -INFINITY};
  for (size_t a = 0; a < node->attribute_count; a++) {
    const struct graph *branch = node->attributes[a].graph;
    if (!branch || branch->impossible) continue;
    if (!branch->outputs.count) return unknown;
    range = either(range, value_range(branch->outputs.at[0]));
  }
  return range;
}

static const struct {
  enum op_id op;
  struct range (*of)(const struct node *node); /* of output 0 */
} rules[] = {
    {OP_Add, of_add},
    {OP_Sub, of_sub},
    {OP_Mul, of_mul},
    {OP_Div, of_div},
    {OP_Neg, of_neg},
    {OP_Abs, of_abs},
    {OP_Relu, of_relu},
    {OP_Floor, of_floor},
    {OP_Ceil, of_ceil},
    {OP_Round, of_round},
    {OP_RoundSteps, of_round},
    {OP_Sigmoid, of_share},
    {OP_Softmax, of_share},
    {OP_Clip, of_clip},
    {OP_Min, of_min},
    {OP_Max, of_max},
    {OP_Where, of_where},
    {OP_Concat, of_any},
    {OP_ReduceMax, of_reduce},
    {OP_ReduceMin, of_reduce},
    {OP_ReduceMean, of_reduce},
    {OP_Cast, of_cast},
    {OP_ScatterElements, of_scatter},
    {OP_ScatterND, of_scatter},
    {OP_Pad, of_pad},
    {OP_PadToBound, of_pad_to_bound},
    {OP_Shape, of_shape},
    {OP_If, of_branches},
    {OP_Identity, of_first},
    {OP_Reshape, of_first},
    {OP_Squeeze, of_first},
    {OP_Unsqueeze, of_first},
    {OP_Transpose, of_first},
    {OP_Gather, of_first},
    {OP_GatherND, of_first},
    {OP_GatherElements, of_first},
    {OP_Slice, of_first},
    {OP_Split, of_first},
    {OP_Compress, of_first},
    {OP_Expand, of_first},
    {OP_Tile, of_first},
    {OP_TopK, of_first},
};

/* Widens a range by the rounding of the run's own arithmetic; an integer that may overflow is
 * unbounded. */
static struct range as_computed(struct range range, const struct value *y) {
  const struct range type = of_type(y->dtype);
  if (!dtype_is_float(y->dtype))
    return range.low >= type.low && range.high <= type.high ? range : type;
  const double part = dtype_bits(y->dtype) < 32 ? 1e-2 : 1e-6; /* several rounding steps */
  return (struct range){range.low - part * fabs(range.low), range.high + part * fabs(range.high)};
}

static bool is_rounded(const struct node *node) {
  return node->op->class == OP_ELEMENTWISE || is_op(node, OP_Softmax) || is_op(node, OP_ReduceMean);
}

hone_status infer_ranges(struct ctx *ctx, struct graph *graph, const struct node *node) {
  for (size_t i = 0; i < COUNT(rules); i++) {
    if (rules[i].op != node->op->id || !node->output_count) continue;
    const size_t outputs = is_op(node, OP_Split) ? node->output_count : 1;
    for (size_t k = 0; k < outputs; k++) {
      struct value *y = node->outputs[k];
      struct range range, *made;
      if (!y || y->constant || y->dtype == HONE_STRING || y->list) continue;
      range = rules[i].of(node);
      if (is_rounded(node)) range = as_computed(range, y);
      if (isnan(range.low) || isnan(range.high) || !(isfinite(range.low) || isfinite(range.high)))
        continue;
      TRY(NEW(ctx, graph->arena, made));
      *made = range;
      y->range = made;
    }
    return HONE_OK;
  }
  return HONE_OK;
}
