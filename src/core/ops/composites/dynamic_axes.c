/* Operators along an axis with a dynamic size. Elements past the actual size are filled with a
 * neutral value (PadToBound), the operator computes at the bound, and the padding is cropped from
 * the result (Compress). Equal sizes share one extent: masks of the same size are one value, and a
 * Compress by such a mask gives that size (extents.c). */
#include <math.h>

#include "expand.h"

/* -- which nodes are affected */

static bool is_open(const struct value *x) { return x && value_is_open(x); }
static bool is_open_along(const struct value *x, int64_t axis) {
  return x && axis >= 0 && axis < x->shape.rank && x->extents[axis];
}

/* An axis of input 0; -1 if out of range, which the operator's own inference reports. */
static int64_t axis_of(const struct node *node, int64_t otherwise) {
  const struct value *x = node_input(node, 0);
  const int64_t axis = node_int(node, "axis", otherwise);
  return x ? axis + (axis < 0 ? x->shape.rank : 0) : -1;
}

bool node_sizes(const struct node *node, size_t k, struct size_list *out) {
  const struct value *x = node_input(node, k);
  return x && !x->constant && size_entries(x, out);
}
static bool has_sizes(const struct node *node, size_t k) {
  struct size_list list;
  return node_sizes(node, k, &list);
}

static bool is_any_open(const struct node *node) {
  for (size_t k = 0; k < node->input_count; k++)
    if (is_open(node->inputs[k])) return true;
  return false;
}

static bool is_open_topk(const struct node *node) {
  const struct value *k = node_input(node, 1);
  return is_open_along(node_input(node, 0), axis_of(node, -1)) || (k && !k->constant);
}

/* Along its axis, or flattened; other dynamic axes are rejected (extents.c). */
static bool is_open_compress(const struct node *node) {
  const struct value *x = node_input(node, 0);
  return is_open(node_input(node, 1)) || is_open_along(x, axis_of(node, 0)) ||
         (is_open(x) && !node_attribute(node, "axis"));
}

/* The common size of a Concat's operands along another axis d, if one of them is fixed; else -1. */
static int64_t known_along(const struct node *node, int d) {
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    if (x && d < x->shape.rank && !x->extents[d]) return x->shape.dims[d];
  }
  return -1;
}

static bool is_open_concat(const struct node *node) {
  const int64_t axis = axis_of(node, 0);
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    for (int d = 0; x && d < x->shape.rank; d++)
      if (x->extents[d] && (d == axis || known_along(node, d) >= 0)) return true;
  }
  return false;
}

static bool is_open_slice(const struct node *node) {
  const struct value *x = node_input(node, 0), *axes = node_input(node, 3);
  int64_t list[HONE_MAX_RANK];
  size_t count = 0;
  if (has_sizes(node, 1) || has_sizes(node, 2)) return true;
  if (!is_open(x)) return false;
  if (!axes) return true;
  if (!axes->constant || !tensor_read_ints(axes->constant, HONE_MAX_RANK, list, &count))
    return false;
  for (size_t i = 0; i < count; i++)
    if (is_open_along(x, list[i] + (list[i] < 0 ? x->shape.rank : 0))) return true;
  return false;
}

/* within: all indices are within the actual size (loop.c, and below). */
static bool is_open_gather(const struct node *node) {
  return is_open_along(node_input(node, 0), axis_of(node, 0)) && !node_int(node, "within", 0);
}

static bool is_open_gather_nd(const struct node *node) {
  const struct value *x = node_input(node, 0), *index = node_input(node, 1);
  if (!is_open(x) || !index || !index->shape.rank || node_int(node, "within", 0)) return false;
  for (int64_t d = 0; d < index->shape.dims[index->shape.rank - 1]; d++)
    if (is_open_along(x, d)) return true;
  return false;
}

/* Which axes a reduction removes; false if unknown here, which its own inference reports. */
static bool reduces(const struct node *node, bool goes[HONE_MAX_RANK]) {
  const struct value *x = node_input(node, 0), *axes = node_input(node, 1);
  struct ctx ctx;
  ctx_init(&ctx);
  /* an integer cannot be an exponent of 0 */
  const bool fits = x && x->dtype != HONE_STRING &&
                    (dtype_is_float(x->dtype) || !is_op(node, OP_ReduceLogSumExp));
  return fits && (!axes || axes->constant) &&
         !reduction_axes(&ctx, node, x->shape.rank, axes ? axes->constant : NULL, goes);
}

static bool is_open_reduce(const struct node *node) {
  bool goes[HONE_MAX_RANK];
  const struct value *x = node_input(node, 0);
  if (!is_open(x) || !reduces(node, goes)) return false;
  for (int d = 0; d < x->shape.rank; d++)
    if (x->extents[d] && goes[d]) return true;
  return false;
}

static bool is_open_softmax(const struct node *node) {
  return is_open_along(node_input(node, 0), axis_of(node, -1));
}
static bool is_open_arg(const struct node *node) {
  return is_open_along(node_input(node, 0), axis_of(node, 0)) &&
         !node_int(node, "select_last_index", 0);
}

/* The dimension that a MatMul sums over, in its operand k. */
static int summed_axis(const struct node *node, size_t k) {
  const int rank = node->inputs[k]->shape.rank;
  return k == 0 || rank < 2 ? rank - 1 : rank - 2;
}
static bool is_open_matmul(const struct node *node) {
  for (size_t k = 0; k < 2; k++)
    if (node->inputs[k] && is_open_along(node->inputs[k], summed_axis(node, k))) return true;
  return false;
}

static bool is_whole_split(const struct node *node) {
  const struct value *sizes = node_input(node, 1);
  return node->output_count == 1 &&
         (is_open_along(node_input(node, 0), axis_of(node, 0)) || (sizes && !sizes->constant));
}

/* -- padding and cropping */

static struct value *filling(struct graph_builder *e, const struct value *x, double number) {
  const struct tensor *tensor;
  if (x->dtype != HONE_STRING) return x_scalar(e, x->dtype, number);
  struct value *value = x_constant(e, HONE_STRING, &(struct shape){0}, &tensor);
  if (!e->status) *(struct string *)tensor_data(tensor) = (struct string){"", 0};
  return value;
}

static struct value *pad_with(struct graph_builder *e, struct value *x, int axis,
                              struct value *rest) {
  if (e->status || !x->extents[axis]) return x;
  x_with_int(e, "axis", axis);
  x_with_int(e, "length", x->shape.dims[axis]);
  return x_2(e, OP_PadToBound, x, rest);
}

/* As long as a mask of the axis at any of the caller's sizes: for elements that a Concat or a Reshape
   moves. */
static struct value *pad_as_mask(struct graph_builder *e, struct value *x, int axis) {
  struct value *rest = filling(e, x, 0);
  if (e->status || !x->extents[axis]) return x;
  x_with_int(e, "grows", 1);
  return pad_with(e, x, axis, rest);
}

struct value *x_pad_to_bound(struct graph_builder *e, struct value *x, int axis, int64_t length,
                             double fill) {
  if (e->status || (!x->extents[axis] && x->shape.dims[axis] == length)) return x;
  struct value *rest = filling(e, x, fill);
  x_with_int(e, "axis", axis);
  x_with_int(e, "length", length);
  return x_2(e, OP_PadToBound, x, rest);
}

static bool same_operand(const struct value *a, const struct value *b) {
  const struct tensor *x = a ? a->constant : NULL, *y = b ? b->constant : NULL;
  return a == b || (x && y && x->dtype == y->dtype && shape_equal(&x->shape, &y->shape) &&
                    x->bytes == y->bytes && !memcmp(x->data, y->data, x->bytes));
}

static bool same_node(const struct node *a, const struct node *b) {
  bool same = a->op == b->op && a->input_count == b->input_count && b->output_count == 1 &&
              b->outputs[0] && a->attribute_count == b->attribute_count;
  for (size_t i = 0; same && i < a->attribute_count; i++) {
    const struct attribute *x = &a->attributes[i], *y = node_attribute(b, x->name);
    same = y && x->kind == ATTRIBUTE_INT && y->kind == ATTRIBUTE_INT && x->i == y->i;
  }
  for (size_t k = 0; same && k < a->input_count; k++)
    same = same_operand(a->inputs[k], b->inputs[k]);
  return same;
}

/* Returns an equal value made by an earlier node, or the new one. */
static struct value *shared(struct graph_builder *e, struct value *made) {
  const struct node *node = made->producer;
  for (size_t i = 0; !e->status && node && i < e->graph->nodes.count; i++)
    if (e->graph->nodes.at[i] != node && same_node(node, e->graph->nodes.at[i]))
      return e->graph->nodes.at[i]->outputs[0];
  return made;
}

/* One value for a mask that is padded twice, so that both results have the same extent. */
static struct value *pad_all(struct graph_builder *e, struct value *x, double fill) {
  for (int d = 0; d < x->shape.rank && !e->status; d++)
    if (x->extents[d]) x = shared(e, pad_with(e, x, d, filling(e, x, fill)));
  return x;
}

/* The number of elements along an axis, a scalar i64. */
static struct value *count_along(struct graph_builder *e, struct value *x, int axis) {
  struct value *shape = shared(e, x_1(e, OP_Shape, x));
  return shared(e, x_gather(e, shape, x_scalar(e, HONE_I64, axis), 0));
}

/* The run-time size of an extent, taken from the first value that has it. */
static struct value *count_of(struct graph_builder *e, uint32_t number) {
  for (const struct graph *graph = e->graph; graph; graph = graph->parent)
    for (size_t i = 0; i < graph->values.count; i++)
      for (int d = 0; d < graph->values.at[i]->shape.rank; d++)
        if (graph->values.at[i]->extents[d] == number)
          return count_along(e, graph->values.at[i], d);
  x_fail(e, HONE_E_INTERNAL, "no value has extent %u", number);
  return x_scalar(e, HONE_I64, 0);
}

/* bool [room]: the first n. */
static struct value *first_of(struct graph_builder *e, int64_t room, struct value *n) {
  return shared(e, x_2(e, OP_Less, x_range(e, HONE_I64, room, 0, 1), n));
}

static struct value *places(struct graph_builder *e, struct value *x, int axis) {
  return first_of(e, x->shape.dims[axis], count_of(e, x->extents[axis]));
}

static struct value *keep(struct graph_builder *e, struct value *x, struct value *mask, int axis) {
  x_with_int(e, "axis", axis);
  return x_2(e, OP_Compress, x, mask);
}

/* Gives x the extent along an axis. */
static struct value *open_axis(struct graph_builder *e, struct value *x, int axis,
                               uint32_t number) {
  if (e->status || !number) return x;
  return keep(e, x, first_of(e, x->shape.dims[axis], count_of(e, number)), axis);
}

struct value *x_pad_all_to_bound(struct graph_builder *e, struct value *x, double fill) {
  return pad_all(e, x, fill);
}
struct value *x_size(struct graph_builder *e, uint32_t extent) {
  return count_of(e, extent);
}
struct value *x_open(struct graph_builder *e, struct value *x, int axis, uint32_t extent) {
  return open_axis(e, x, axis, extent);
}
struct value *x_first(struct graph_builder *e, struct value *x, int axis, struct value *n) {
  return e->status ? x : keep(e, x, first_of(e, x->shape.dims[axis], n), axis);
}

struct value *x_entry(struct graph_builder *e, const struct size_list *list, size_t i) {
  struct value *n = list->number[i];
  if (list->extent[i]) return count_of(e, list->extent[i]);
  if (!n) return x_scalar(e, HONE_I64, (double)list->at[i]);
  if (n->shape.rank) n = shared(e, x_squeeze(e, n, 0));
  return n->dtype == HONE_I64 ? n : shared(e, x_cast(e, n, HONE_I64));
}
struct value *x_open_entry(struct graph_builder *e, struct value *x, int axis,
                           const struct size_list *list, size_t i) {
  if (e->status || !(list->extent[i] || list->number[i])) return x;
  return list->extent[i] ? open_axis(e, x, axis, list->extent[i])
                         : x_first(e, x, axis, x_entry(e, list, i));
}
bool x_bounds(struct graph_builder *e, struct size_list *list) {
  static const int64_t most = INT32_MAX;
  for (size_t i = 0; i < list->count && !e->status; i++) {
    if (!list->number[i]) continue;
    if (list->at[i] >= most) /* the range of a 32-bit type is not a useful bound */
      x_fail(e, HONE_E_UNSUP,
             "%s to a size computed at run time (\"%s\") without an upper bound: add a Clip or a "
             "Min before it",
             e->node->op->name, list->number[i]->name);
    if (list->at[i] < 0) list->at[i] = 0;
  }
  return !e->status;
}

/* The smallest or largest number of a type. */
static struct value *edge(struct graph_builder *e, hone_dtype dtype, bool largest) {
  const struct tensor *tensor;
  if (dtype_is_float(dtype)) return x_scalar(e, dtype, largest ? INFINITY : -INFINITY);
  struct value *value = x_constant(e, dtype, &(struct shape){0}, &tensor);
  if (!e->status) tensor_set_i64(tensor, 0, integer_edge(dtype, largest));
  return value;
}

/* -- the operators */

static void open_non_zero(struct graph_builder *e) {
  x_out(e, 0, x_1(e, OP_NonZero, pad_all(e, x_in(e, 0), 0)));
}

/* A NaN score is below every threshold; without a threshold no box has one. */
static void open_boxes(struct graph_builder *e) {
  struct value *in[5] = {NULL};
  for (size_t k = 0; k < e->node->input_count; k++) in[k] = x_in(e, k);
  in[0] = pad_all(e, in[0], 0);
  in[1] = pad_all(e, in[1], NAN);
  x_out(e, 0, x_again(e, in, e->node->input_count));
}

static void open_compress(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *condition = pad_all(e, x_in(e, 1), 0);
  if (!node_attribute(e->node, "axis") && x->shape.rank > 1) {
    x_fail(e, HONE_E_UNSUP,
           "Compress of a flattened value with a dynamic dimension is not supported");
    return;
  }
  const int64_t axis = axis_of(e->node, 0);
  if (is_open_along(x, axis)) {
    /* elements past the size are never selected */
    const int64_t given = condition->shape.rank == 1 ? condition->shape.dims[0] : 0;
    if (!is_open(x_in(e, 1)) && given && given <= x->shape.dims[axis])
      condition = x_2(e, OP_And, condition, x_slice(e, places(e, x, (int)axis), 0, 0, given));
    x = pad_with(e, x, (int)axis, filling(e, x, 0));
  }
  x_out(e, 0, x_again(e, (struct value *[]){x, condition}, 2));
}

static bool is_known_compress(const struct node *node) {
  const struct value *condition = node_input(node, 1);
  return condition && condition->constant && condition->shape.rank == 1 && !is_open_compress(node);
}

/* With a constant condition. */
static void known_compress(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  const struct tensor *condition = x_in(e, 1)->constant;
  const int64_t axis = node_attribute(e->node, "axis") ? axis_of(e->node, 0) : 0;
  const size_t given = tensor_count(condition);
  int64_t *places;
  size_t count = 0;
  if (!node_attribute(e->node, "axis")) x = x_reshape(e, x, (int64_t[]){-1}, 1);
  if (!e->status) e->status = NEW_ARRAY(e->ctx, e->graph->arena, places, given + 1);
  if (e->status) return;
  for (size_t i = 0; i < given; i++)
    if (tensor_i64(condition, i)) places[count++] = (int64_t)i;
  x_out(e, 0, x_gather(e, x, x_list(e, places, count), axis));
}

/* The padding sorts last: below the smallest, above the largest. */
static void open_topk(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *k = x_in(e, 1), *out[2];
  const bool largest = x_int(e, "largest", 1) != 0;
  const int axis = (int)axis_of(e->node, -1);
  if (axis < 0 || axis >= x->shape.rank || (k->dtype != HONE_I64) || k->shape.rank > 1 ||
      !(dtype_is_float(x->dtype) || dtype_is_integer(x->dtype))) {
    x_fail(e, HONE_E_TYPE, "TopK whose axis, type or k does not fit");
    return;
  }
  const double high = value_range(k).high;
  int64_t most = x->shape.dims[axis];
  if (high < (double)most) most = high > 0 ? (int64_t)high : 0;
  if (k->shape.rank) k = x_squeeze(e, k, 0);
  const uint32_t number = x->extents[axis];
  struct value *n =
      x_2(e, OP_Min, k,
          number ? count_of(e, number) : x_scalar(e, HONE_I64, (double)x->shape.dims[axis]));
  struct value *rest = dtype_is_float(x->dtype) && !largest ? x_scalar(e, x->dtype, NAN)
                                                            : edge(e, x->dtype, !largest);
  struct value *in[] = {pad_with(e, x, axis, rest), x_list(e, &most, 1)};
  x_with_int(e, "axis", axis);
  x_with_int(e, "largest", largest);
  x_with_int(e, "sorted", x_int(e, "sorted", 1));
  x_node(e, OP_TopK, in, 2, 2, out);
  struct value *mask = first_of(e, most, n);
  for (size_t i = 0; i < 2; i++) x_out(e, i, keep(e, out[i], mask, axis));
}

/* Limits other axes to the size of the operand that has a fixed one: the run fails if they
 * differ. */
static struct value *limit_other_axes(struct graph_builder *e, struct value *x, int axis) {
  for (int d = 0; d < x->shape.rank && !e->status; d++) {
    const int64_t length = known_along(e->node, d), room = x->shape.dims[d];
    if (d == axis || !x->extents[d] || length < 0) continue;
    x_with_int(e, "must_be", length);
    x = x_pad_to_bound(e, x, d, room > length ? room : length, 0);
    x = x_slice(e, x, d, 0, length);
  }
  return x;
}

/* bool [places]: which elements along the axis exist. */
static struct value *places_or_all(struct graph_builder *e, struct value *x, int axis) {
  const struct tensor *all;
  if (x->extents[axis]) return places(e, x, axis);
  struct value *mask = x_constant(e, HONE_BOOL, &(struct shape){1, {x->shape.dims[axis]}}, &all);
  if (!e->status) memset(tensor_data(all), 1, all->bytes);
  return mask;
}

/* Concatenates all operands at their bounds, then removes the padding of each. */
static void open_concat(struct graph_builder *e) {
  const size_t count = e->node->input_count;
  const int axis = (int)axis_of(e->node, 0);
  struct value **parts, **masks;
  bool is_along = false;
  if (!e->status) e->status = NEW_ARRAY(e->ctx, e->graph->arena, parts, 2 * count);
  if (e->status) return;
  masks = parts + count;
  for (size_t k = 0; k < count && !e->status; k++) {
    struct value *x = x_in(e, k);
    if (!x) x_fail(e, HONE_E_FORMAT, "input %zu of Concat is missing", k);
    if (x && (axis < 0 || axis >= x->shape.rank))
      x_fail(e, HONE_E_SHAPE, "input %zu has rank %d", k, x->shape.rank);
    if (e->status) return;
    is_along = is_along || x->extents[axis];
    x = limit_other_axes(e, x, axis);
    masks[k] = places_or_all(e, x, axis);
    parts[k] = pad_as_mask(e, x, axis);
  }
  struct value *y = x_concat(e, axis, parts, count);
  x_out(e, 0, is_along ? keep(e, y, shared(e, x_concat(e, 0, masks, count)), axis) : y);
}

/* A slice limit: `add` after a run-time size of at most `bound`, or (size 0) after the start. */
struct limit {
  uint32_t size;
  int64_t bound, add;
};

/* Positions past the end of the axis are equal, and so are those before it. */
static struct limit limit_at(const struct size_list *list, size_t i, const struct value *x,
                             int axis) {
  const int64_t room = x->shape.dims[axis], at = list->at[i];
  if (list->extent[i]) return (struct limit){list->extent[i], at, 0};
  if (at < -room) return (struct limit){.add = -1};
  if (at >= 0) return (struct limit){.add = at > room ? room : at};
  return x->extents[axis] ? (struct limit){x->extents[axis], room, at}
                          : (struct limit){.add = room + at};
}

static struct value *place_of(struct graph_builder *e, struct limit limit) {
  struct value *add = x_scalar(e, HONE_I64, (double)limit.add);
  if (!limit.size) return add;
  struct value *size = count_of(e, limit.size);
  return limit.add ? shared(e, x_2(e, OP_Add, size, add)) : size;
}

/* The largest number of elements between two limits on an axis. */
static int64_t most_between(const struct value *x, int axis, struct limit from, struct limit to) {
  const int64_t room = x->shape.dims[axis], first = from.add < 0 || from.size ? 0 : from.add;
  int64_t last = to.bound + to.add, most;
  if (last > room) last = room;
  most = last - first;
  if (from.size && from.size == to.size && most > to.add - from.add) most = to.add - from.add;
  if (from.size && from.size == x->extents[axis] && most > -from.add) most = -from.add;
  return most < 0 ? 0 : most;
}

/* From `from` up to and excluding `to`, with steps that may be negative: the length is known at run
 * time. */
static struct value *take_between(struct graph_builder *e, struct value *x, int axis,
                                  struct limit from, struct limit to, int64_t step) {
  const uint32_t own = x->extents[axis];
  const int64_t room = x->shape.dims[axis], length = room > 1 ? room : 1,
                wide = step > length || step < -length ? length
                       : step < 0                      ? -step
                                                       : step;
  const int64_t most = (most_between(x, axis, from, to) + wide - 1) / wide;
  struct value *zero = x_scalar(e, HONE_I64, 0), *one = x_scalar(e, HONE_I64, 1),
               *first = place_of(e, from), *last = place_of(e, to), *number,
               *n = own ? count_of(e, own) : x_scalar(e, HONE_I64, (double)room);
  if (from.add < 0) first = shared(e, x_2(e, OP_Max, first, zero));
  if (own ? to.size != own || to.add : step < 0 || to.bound + to.add > room) {
    if (step < 0) last = shared(e, x_2(e, OP_Max, last, one)); /* ONNX clamps such a start */
    last = shared(e, x_2(e, OP_Min, last, n));
  }
  number = from.size || from.add > 0 ? shared(e, x_2(e, OP_Sub, last, first)) : last;
  if (wide > 1) {
    number = shared(e, x_2(e, OP_Add, number, x_scalar(e, HONE_I64, (double)(wide - 1))));
    number = shared(e, x_2(e, OP_Div, number, x_scalar(e, HONE_I64, (double)wide)));
  }
  x = pad_with(e, x, axis, filling(e, x, 0));
  if (step == 1 && !from.size) {
    const int64_t start = from.add < 0 ? 0 : from.add;
    x = x_slice(e, x, axis, start, start + most);
  } else {
    struct value *index = x_range(e, HONE_I64, most, 0, (double)(step < 0 ? -wide : wide));
    index = x_2(e, OP_Add, index, step < 0 ? x_2(e, OP_Sub, last, one) : first);
    index = x_2(e, OP_Min, index, x_scalar(e, HONE_I64, (double)(room - 1)));
    x = x_gather(e, x, x_2(e, OP_Max, index, zero), axis);
  }
  return keep(e, x, first_of(e, most, number), axis);
}

/* The position of a limit that may be computed at run time, from 0 to the n existing elements. */
static struct value *computed_limit(struct graph_builder *e, const struct size_list *list, size_t i,
                                    struct value *n, int64_t room) {
  struct value *zero = x_scalar(e, HONE_I64, 0), *at;
  struct size_list held = *list;
  const double low = size_range(list, i).low;
  if (!list->number[i] && !list->extent[i]) {
    if (list->at[i] >= room) return n;
    if (list->at[i] < -room) held.at[i] = -room;
  }
  at = x_entry(e, &held, i);
  if (low < 0) {
    at = x_3(e, OP_Where, x_2(e, OP_Less, at, zero), x_2(e, OP_Add, at, n), at);
    at = x_2(e, OP_Max, at, zero);
  }
  return shared(e, x_2(e, OP_Min, at, n));
}

/* Slice with run-time bounds; negative indices count from the end. */
static struct value *slice_computed(struct graph_builder *e, struct value *x, int axis,
                                    const struct size_list *starts, const struct size_list *ends,
                                    size_t i, int64_t step) {
  const int64_t room = x->shape.dims[axis];
  const struct range from = size_range(starts, i), to = size_range(ends, i);
  struct value *n =
      x->extents[axis] ? count_of(e, x->extents[axis]) : x_scalar(e, HONE_I64, (double)room);
  if (step != 1) {
    x_fail(e, HONE_E_UNSUP, "Slice with steps other than 1 and run-time bounds is not supported");
    return x;
  }
  struct value *zero = x_scalar(e, HONE_I64, 0), *first = computed_limit(e, starts, i, n, room),
               *last = computed_limit(e, ends, i, n, room);
  double most = (double)room;
  if (from.low > 0 && to.low >= 0) most = fmax(0, fmin(to.high, most) - from.low);
  if (to.low >= 0) most = fmin(most, to.high);
  const int64_t count = most > 0 ? (int64_t)most : 0;
  struct value *number = shared(e, x_2(e, OP_Max, x_2(e, OP_Sub, last, first), zero)),
               *index = x_2(e, OP_Add, x_range(e, HONE_I64, count, 0, 1), first);
  x = pad_with(e, x, axis, filling(e, x, 0));
  if (room)
    x = x_gather(e, x, x_2(e, OP_Min, index, x_scalar(e, HONE_I64, (double)(room - 1))), axis);
  return keep(e, x, first_of(e, room ? count : 0, number), axis);
}

/* Integers from the file, or run-time sizes. */
static size_t read_limits(struct graph_builder *e, size_t k, const char *what,
                          struct size_list *out) {
  if (node_sizes(e->node, k, out)) return out->count;
  *out = (struct size_list){.count = 0};
  out->count = x_ints(e, k, what, HONE_MAX_RANK, out->at);
  return out->count;
}

/* One axis; a range that needs no run-time size stays a Slice. */
static struct value *slice_along(struct graph_builder *e, struct value *x, int axis,
                                 const struct size_list *starts, const struct size_list *ends,
                                 size_t i, int64_t step) {
  const int64_t room = x->shape.dims[axis];
  const uint32_t own = x->extents[axis];
  if (starts->number[i] || ends->number[i])
    return slice_computed(e, x, axis, starts, ends, i, step);
  if (!own && !starts->extent[i] && !ends->extent[i])
    return x_op(e, OP_Slice,
                (struct value *[]){x, x_list(e, &starts->at[i], 1), x_list(e, &ends->at[i], 1),
                                   x_list(e, (int64_t[]){axis}, 1), x_list(e, &step, 1)},
                5);
  struct limit from = limit_at(starts, i, x, axis), to = limit_at(ends, i, x, axis);
  if (step < 0) { /* reverse the range: the same elements with exchanged ends */
    const struct limit first = from;
    const int64_t least = first.size ? -room : 0;
    from = to, to = first;
    from.add++;
    to.add = (to.add < least ? least : to.add) + 1;
  }
  if (own && from.size == own && from.add <= -room) from = (struct limit){0};
  if (own && !to.size && to.add >= room) to = (struct limit){own, room, 0};
  if (step == 1 && own && to.size == own && !to.add && !from.size && from.add <= 0) return x;
  return take_between(e, x, axis, from, to, step);
}

static void open_slice(struct graph_builder *e) {
  struct size_list starts, ends;
  int64_t axes[HONE_MAX_RANK], steps[HONE_MAX_RANK];
  struct value *x = x_in(e, 0);
  const size_t count = read_limits(e, 1, "starts", &starts);
  bool fits = read_limits(e, 2, "ends", &ends) == count;
  for (size_t i = 0; i < HONE_MAX_RANK; i++) axes[i] = (int64_t)i, steps[i] = 1;
  if (x_in(e, 3)) fits = fits && x_ints(e, 3, "axes", HONE_MAX_RANK, axes) == count;
  if (x_in(e, 4)) fits = fits && x_ints(e, 4, "steps", HONE_MAX_RANK, steps) == count;
  for (size_t i = 0; i < count && fits; i++) {
    if (axes[i] < 0) axes[i] += x->shape.rank;
    fits = axes[i] >= 0 && axes[i] < x->shape.rank && steps[i] != 0;
    for (size_t j = 0; j < i; j++) fits = fits && axes[j] != axes[i];
  }
  if (!fits) x_fail(e, HONE_E_SHAPE, "starts, ends, axes and steps do not fit together");
  for (size_t i = 0; i < count && !e->status; i++)
    x = slice_along(e, x, (int)axes[i], &starts, &ends, i, steps[i]);
  x_out(e, 0, x);
}

/* The padding is the neutral element of the reduction. */
static struct value *start_of(struct graph_builder *e, hone_dtype dtype) {
  switch (e->node->op->id) {
    case OP_ReduceMax:
    case OP_ReduceMin:
      return edge(e, dtype, is_op(e->node, OP_ReduceMin));
    case OP_ReduceLogSumExp:
      return edge(e, dtype, false);
    default:
      return x_scalar(e, dtype, is_op(e->node, OP_ReduceProd));
  }
}

static void open_reduce(struct graph_builder *e) {
  const struct node *node = e->node;
  struct value *x = x_in(e, 0);
  bool goes[HONE_MAX_RANK];
  if (!reduces(node, goes)) return;
  for (int d = 0; d < x->shape.rank && !e->status; d++)
    if (x->extents[d] && goes[d]) x = pad_with(e, x, d, start_of(e, x->dtype));
  x_out(e, 0, x_again(e, (struct value *[]){x, x_in(e, 1)}, node->input_count));
}

/* The sum divided by the actual count; floats below 32 bits and integers are summed in wider
 * types. */
static void open_mean(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *sum, *count;
  const hone_dtype dtype = x->dtype;
  bool goes[HONE_MAX_RANK];
  int64_t known = 1;
  if (!reduces(e->node, goes)) return;
  for (int d = 0; d < x->shape.rank; d++)
    if (goes[d] && !x->extents[d]) known *= x->shape.dims[d];
  count = x_scalar(e, HONE_I64, (double)known);
  for (int d = 0; d < x->shape.rank && !e->status; d++)
    if (goes[d] && x->extents[d]) count = x_2(e, OP_Mul, count, count_of(e, x->extents[d]));
  x = dtype_is_float(dtype) || dtype == HONE_U64 ? x_widened(e, x) : x_cast(e, x, HONE_I64);
  x_with_int(e, "keepdims", x_int(e, "keepdims", 1));
  x_with_int(e, "noop_with_empty_axes", x_int(e, "noop_with_empty_axes", 0));
  sum = x_op(e, OP_ReduceSum, (struct value *[]){x, x_in(e, 1)}, e->node->input_count);
  x_out(e, 0, x_cast(e, x_2(e, OP_Div, sum, x_cast(e, count, x->dtype)), dtype));
}

/* The padding gets weight zero. */
static void open_softmax(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *mask;
  const int axis = (int)axis_of(e->node, -1);
  mask = places(e, x, axis);
  x = pad_with(e, x, axis, edge(e, x->dtype, false));
  x_out(e, 0, keep(e, x_again(e, &x, 1), mask, axis));
}

static void open_matmul(struct graph_builder *e) {
  struct value *in[2];
  for (size_t k = 0; k < 2; k++) {
    struct value *x = x_in(e, k);
    in[k] = pad_with(e, x, summed_axis(e->node, k), filling(e, x, 0));
  }
  x_out(e, 0, x_again(e, in, 2));
}

/* The first of equal elements wins, and existing elements come before the padding. */
static void open_arg(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  x = pad_with(e, x, (int)axis_of(e->node, 0), edge(e, x->dtype, is_op(e->node, OP_ArgMin)));
  x_out(e, 0, x_again(e, &x, 1));
}

/* The single part is the whole, for any size. */
static void open_split(struct graph_builder *e) { x_out(e, 0, x_in(e, 0)); }

/* One row per region, cropped to the existing ones. */
static void open_regions(struct graph_builder *e) {
  struct value *regions = x_in(e, 1);
  if (is_open(x_in(e, 0)) || !is_open_along(regions, 0)) {
    x_fail(e, HONE_E_UNSUP, "RoiAlign of a dynamic number of images is not supported");
    return;
  }
  struct value *mask = places(e, regions, 0);
  struct value *in[] = {x_in(e, 0), pad_all(e, regions, 0), pad_all(e, x_in(e, 2), 0)};
  x_out(e, 0, keep(e, x_again(e, in, 3), mask, 0));
}

/* -- shapes with dynamic sizes (shape_values.c) */

static bool is_sized(const struct node *node) { return has_sizes(node, 0); }
static bool is_shaped(const struct node *node) { return has_sizes(node, 1); }
static bool is_resized(const struct node *node) { return has_sizes(node, 3); }

static void open_size(struct graph_builder *e) {
  struct value *shape = shared(e, x_1(e, OP_Shape, x_in(e, 0)));
  x_out(e, 0, x_reduce(e, OP_ReduceProd, shape, NULL, 0, false));
}

/* True if axis i of `to` is a dynamic one of x, with equally many elements before and after it. */
static bool has_open_axis(const struct value *x, const struct shape *to, int i, uint32_t extent) {
  for (int d = 0; d < x->shape.rank; d++)
    if (x->extents[d] == extent && dims_product(&x->shape, 0, d) == dims_product(to, 0, i) &&
        dims_product(&x->shape, d + 1, x->shape.rank) == dims_product(to, i + 1, to->rank))
      return true;
  return false;
}

/* Several sizes, each at its old position: no element moves at the bounds. */
static struct value *reshape_by_sizes(struct graph_builder *e, struct value *x,
                                      const struct size_list *to) {
  int lost = 0;
  for (int d = 0; d < x->shape.rank; d++) lost += x->extents[d] != 0;
  struct value *y = x_reshape(e, pad_all(e, x, 0), to->at, (int)to->count);
  for (size_t i = 0; i < to->count && !e->status; i++) {
    if (!to->extent[i]) continue;
    lost -= has_open_axis(x, &y->shape, (int)i, to->extent[i]) ? 1 : HONE_MAX_RANK;
    y = open_axis(e, y, (int)i, to->extent[i]);
  }
  if (lost) x_fail(e, HONE_E_UNSUP, "Reshape to several dynamic dimensions is not supported");
  return y;
}

/* One size becomes -1; the rule of the shapes finds its dimension again. */
static void open_reshape(struct graph_builder *e) {
  struct size_list to = {0};
  struct value *x = x_in(e, 0), *y = x;
  int64_t known = node_sizes(e->node, 1, &to) ? 1 : 0;
  int open = -1, opens = 0, rest = -1;
  for (size_t i = 0; i < to.count; i++) {
    if (!to.at[i] && !to.extent[i] && !x_int(e, "allowzero", 0) && (int)i < x->shape.rank) {
      to.at[i] = x->shape.dims[i];
      to.extent[i] = x->extents[i];
    }
    if (to.at[i] == -1) rest = (int)i;
    if (to.at[i] < 1 && to.at[i] != -1) known = 0;
    if (to.at[i] > 0 && !checked_mul(known, to.at[i], &known)) known = 0;
    if (to.extent[i]) open = (int)i, opens++;
    if (to.number[i]) known = 0;
  }
  if (known && rest >= 0 && open >= 0)
    to.at[rest] = dims_product(&x->shape, 0, x->shape.rank) / known;
  if (known && opens > 1) {
    y = reshape_by_sizes(e, x, &to);
  } else if (known) {
    if (open >= 0) to.at[open] = -1;
    y = x_reshape(e, x, to.at, (int)to.count);
  }
  if (!e->status && (!known || (open >= 0 && y->extents[open] != to.extent[open])))
    x_fail(e, HONE_E_UNSUP, "Reshape to several dynamic dimensions is not supported");
  x_out(e, 0, y);
}

/* For leading axes that are merged into one (-1), some of them dynamic: the number of elements
 * after the last dynamic one; 0 if this does not apply, or no element has to move. */
static int64_t merged_times(const struct node *node, int *out_last) {
  const struct value *x = node_input(node, 0), *shape = node_input(node, 1);
  int64_t asked[HONE_MAX_RANK], rest = 1;
  size_t count = 0;
  int opens = 0, last = -1;
  for (int d = 0; x && d < x->shape.rank; d++)
    if (x->extents[d]) last = d, opens++;
  if (!opens || !shape || !shape->constant ||
      !tensor_read_ints(shape->constant, HONE_MAX_RANK, asked, &count) || !count || asked[0] != -1)
    return 0;
  for (size_t i = 1; i < count; i++)
    if (asked[i] < 1 || !checked_mul(rest, asked[i], &rest)) return 0;
  const int64_t inner = dims_product(&x->shape, last + 1, x->shape.rank);
  const bool is_as_it_was = opens == 1 && dims_product(&x->shape, 0, last) == 1 && inner == rest;
  *out_last = last;
  return is_as_it_was || inner % rest ? 0 : inner / rest;
}

static bool is_merged(const struct node *node) {
  int last;
  return merged_times(node, &last) > 0;
}

/* bool [rows]: which elements of the axes up to `last`, `times` each, exist. */
static struct value *merged_places(struct graph_builder *e, struct value *x, int last,
                                   int64_t times, int64_t rows) {
  struct shape all = {last + 2, {0}};
  struct value *is = NULL;
  for (int d = 0; d <= last; d++) all.dims[d] = x->shape.dims[d];
  all.dims[last + 1] = times;
  for (int d = 0; d <= last && !e->status; d++) {
    if (!x->extents[d]) continue;
    int64_t dims[HONE_MAX_RANK];
    for (int i = 0; i <= last + 1; i++) dims[i] = i == d ? x->shape.dims[d] : 1;
    struct value *along = shared(e, x_reshape(e, places(e, x, d), dims, last + 2));
    is = is ? shared(e, x_2(e, OP_And, is, along)) : along;
  }
  if (e->status) return is;
  is = shape_equal(&is->shape, &all) ? is : shared(e, x_expand(e, is, &all));
  return shared(e, x_reshape(e, is, &rows, 1));
}

static void open_merged(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  int64_t dims[HONE_MAX_RANK], rest = 1, rows;
  size_t count = 0;
  int last;
  const int64_t times = merged_times(e->node, &last);
  if (last + 2 > HONE_MAX_RANK)
    x_fail(e, HONE_E_LIMIT, "Reshape with more dimensions than supported");
  if (e->status || !tensor_read_ints(x_in(e, 1)->constant, HONE_MAX_RANK, dims, &count)) return;
  for (size_t i = 1; i < count; i++) rest *= dims[i];
  rows = dims[0] = dims_product(&x->shape, 0, x->shape.rank) / rest;
  struct value *is = merged_places(e, x, last, times, rows);
  for (int d = 0; d < x->shape.rank; d++) x = pad_as_mask(e, x, d);
  x = x_reshape(e, x, dims, (int)count);
  x_out(e, 0, keep(e, x, is, 0));
}

expand_fn *expand_open_find(const struct node *node) {
  static const struct expand_row rows[] = {
      {OP_NonZero, is_any_open, open_non_zero},
      {OP_NonMaxSuppression, is_any_open, open_boxes},
      {OP_Compress, is_open_compress, open_compress},
      {OP_Compress, is_known_compress, known_compress},
      {OP_TopK, is_open_topk, open_topk},
      {OP_Concat, is_open_concat, open_concat},
      {OP_Slice, is_open_slice, open_slice},
      {OP_Gather, is_open_gather, expand_open_gather},
      {OP_GatherND, is_open_gather_nd, expand_open_gather_nd},
      {OP_ReduceMax, is_open_reduce, open_reduce},
      {OP_ReduceMin, is_open_reduce, open_reduce},
      {OP_ReduceSum, is_open_reduce, open_reduce},
      {OP_ReduceProd, is_open_reduce, open_reduce},
      {OP_ReduceL1, is_open_reduce, open_reduce},
      {OP_ReduceL2, is_open_reduce, open_reduce},
      {OP_ReduceSumSquare, is_open_reduce, open_reduce},
      {OP_ReduceLogSum, is_open_reduce, open_reduce},
      {OP_ReduceLogSumExp, is_open_reduce, open_reduce},
      {OP_ReduceMean, is_open_reduce, open_mean},
      {OP_Softmax, is_open_softmax, open_softmax},
      {OP_LogSoftmax, is_open_softmax, open_softmax},
      {OP_MatMul, is_open_matmul, open_matmul},
      {OP_ArgMax, is_open_arg, open_arg},
      {OP_ArgMin, is_open_arg, open_arg},
      {OP_Split, is_whole_split, open_split},
      {OP_RoiAlign, is_any_open, open_regions},
      {OP_Flatten, is_any_open, expand_open_flatten},
      {OP_ScatterElements, is_any_open, expand_open_scatter},
      {OP_ScatterND, is_any_open, expand_open_scatter_nd},
      {OP_GatherElements, is_any_open, expand_open_gather_elements},
      {OP_Size, is_any_open, open_size},
      {OP_Tile, is_shaped, expand_sized_tile},
      {OP_ConstantOfShape, is_sized, expand_sized_constant},
      {OP_Expand, is_shaped, expand_sized_expand},
      {OP_Resize, is_resized, expand_sized_resize},
      {OP_Reshape, is_shaped, open_reshape},
      {OP_Reshape, is_merged, open_merged},
      {OP_Range, is_shaped, expand_sized_range},
  };
  expand_fn *expand = expand_by_row(rows, COUNT(rows), node);
  return expand || !is_any_open(node) ? expand : expand_evaluated_find(node);
}
