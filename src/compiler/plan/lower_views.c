/* Lowerings that move no data (the output is another view of the input), and lowerings that only
 * copy.
 */
#include "builder.h"

/* True if an image that a reshape must copy may stay channels last: the next step probably reads
   it so. */
static bool may_stay_last(const struct builder *b, const struct value *out, const struct view *view,
                          struct view *wanted) {
  const struct shape *shape = &view->shape;
  struct view result;
  int index;
  if (shape->rank < 4 || out->shape.rank < 3 || view->stride[shape->rank - 1] == 1 ||
      view_is_open(view) || value_is_open(out) || ends_in_output(b, out, &index))
    return false;
  for (int d = 0; d < 2; d++)
    if (shape->dims[d] != out->shape.dims[d]) return false;
  view_channels_last(wanted, NULL, view->dtype, shape);
  return view_reshape(wanted, &out->shape, &result);
}

/* Dynamic dimensions that are joined, or split, are moved together first. */
static hone_status as_joined(struct builder *b, const struct node *node, unsigned packed_in,
                             unsigned packed_out) {
  const struct value *in = node->inputs[0], *out = node->outputs[0];
  struct view from, like, to;
  TRY(ensure_dense_stored(b, in, &from));
  if (packed_in) {
    view_dense(&like, NULL, from.dtype, &in->shape);
    like.slope = in->slope;
    TRY(arena_view(b, &like, &to));
    TRY(add_packed_copy(b, node, &from, &to, 0, packed_in));
    from = to;
  }
  view_dense(&to, from.buffer, from.dtype, &out->shape);
  to.offset = from.offset;
  to.offset_slope = from.offset_slope;
  to.slope = out->slope;
  if (packed_out) {
    from = to;
    TRY(arena_view(b, &from, &to));
    TRY(add_packed_copy(b, node, &from, &to, packed_out, 0));
  }
  set_view(b, out, &to);
  return HONE_OK;
}

static hone_status as_reshape(struct builder *b, const struct node *node) {
  const struct value *out = node->outputs[0];
  struct view view, result, wanted;
  unsigned packed_in, packed_out;
  find_joined(node->inputs[0], out, &packed_in, &packed_out);
  if (packed_in || packed_out) return as_joined(b, node, packed_in, packed_out);
  TRY(get_stored(b, node->inputs[0], &view));
  if (!view_reshape(&view, &out->shape, &result)) {
    if (may_stay_last(b, out, &view, &wanted))
      TRY(ensure_strides(b, node->inputs[0], &wanted, &view));
    else
      TRY(ensure_dense_stored(b, node->inputs[0], &view));
    if (!view_reshape(&view, &out->shape, &result))
      return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "reshape of a dense tensor");
  }
  if (is_op(node, OP_BitCast)) result.dtype = out->dtype;
  set_view(b, out, &result);
  return HONE_OK;
}

static hone_status as_transpose(struct builder *b, const struct node *node) {
  struct view view, result;
  size_t count;
  const int64_t *perm = node_ints(node, "perm", &count);
  TRY(get_stored(b, node->inputs[0], &view));
  result = view;
  result.shape = node->outputs[0]->shape;
  for (int i = 0; i < view.shape.rank; i++) {
    int from = perm ? (int)perm[i] : view.shape.rank - 1 - i;
    result.stride[i] = view.stride[from];
  }
  set_view(b, node->outputs[0], &result);
  return HONE_OK;
}

static hone_status as_expand(struct builder *b, const struct node *node) {
  struct view view, result;
  TRY(get_stored(b, node->inputs[0], &view));
  view_broadcast(&view, &node->outputs[0]->shape, &result);
  set_view(b, node->outputs[0], &result);
  return HONE_OK;
}

static bool constant_ints(const struct node *node, size_t input, int64_t *out, size_t *out_count) {
  const struct value *value = node_input(node, input);
  return value && value->constant &&
         tensor_read_ints(value->constant, HONE_MAX_RANK, out, out_count);
}

/* Lets the view begin after the end of `axis`. */
static hone_status move_to_end(struct builder *b, const struct view *view, int axis,
                               struct view *to) {
  const struct slope slope = view_slope(view, axis), by = slope_times(&slope, view->stride[axis]);
  return move_view(b, to, &by);
}

/* True if elements of x follow the `size` elements from `start` on that the result has along a dynamic
   dimension: what is written past the result's actual size would change x. */
static bool is_cut(const struct value *x, const struct value *result, int d, int64_t start,
                   int64_t step) {
  if (!is_open_at(result, d)) return false;
  const struct slope end = slope_times(&result->slope[d], step);
  return !is_open_at(x, d) || !slope_equal(&end, &x->slope[d]) ||
         start + result->shape.dims[d] * step < x->shape.dims[d];
}

/* Slice (opset 13, "Slice"): starts clamped as in ONNX; the ends follow from the output's shape. */
static hone_status view_of_slice(struct builder *b, const struct node *node, bool *out_done) {
  int64_t starts[HONE_MAX_RANK], axes[HONE_MAX_RANK], steps[HONE_MAX_RANK];
  size_t count, n;
  if (!constant_ints(node, 1, starts, &count)) return HONE_OK;
  for (size_t i = 0; i < count; i++) axes[i] = (int64_t)i, steps[i] = 1;
  if (node_input(node, 3) && (!constant_ints(node, 3, axes, &n) || n != count)) return HONE_OK;
  if (node_input(node, 4) && (!constant_ints(node, 4, steps, &n) || n != count)) return HONE_OK;
  struct view view;
  bool cut = false;
  TRY(get_stored(b, node->inputs[0], &view));
  int rank = view.shape.rank;
  for (size_t i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || !steps[i])
      return fail(b->ctx, HONE_E_SHAPE, node_place(node), "axis %lld", (long long)axes[i]);
    int64_t size = view.shape.dims[axis], start = starts[i] < 0 ? starts[i] + size : starts[i];
    int64_t low = 0, high = steps[i] < 0 ? size - 1 : size;
    if (starts[i] < 0 && start >= 0) /* counted from the end of a dynamic dimension */
      TRY(move_to_end(b, &view, (int)axis, &view));
    start = start < low ? low : start > high ? high : start;
    view.offset += start * view.stride[axis];
    view.stride[axis] *= steps[i];
    cut |= is_cut(node->inputs[0], node->outputs[0], (int)axis, start, steps[i]);
  }
  view.shape = node->outputs[0]->shape;
  view.slope = node->outputs[0]->slope;
  if (cut) {
    struct view like, whole = view;
    struct step *step;
    view_dense(&like, NULL, whole.dtype, &whole.shape);
    like.slope = whole.slope;
    TRY(arena_view(b, &like, &view));
    TRY(add_copy(b, node, &whole, &view, &step));
  }
  set_view(b, node->outputs[0], &view);
  *out_done = true;
  return HONE_OK;
}

/* Index i into `length` elements, counted from the front. */
static int64_t index_at(const struct tensor *index, int64_t i, int64_t length) {
  const int64_t at = tensor_i64(index, (size_t)i);
  return at < 0 ? at + length : at;
}

/* The constant distance of indices along each of their dimensions: a range or sliding windows.
   False if it varies, or an index is out of range. */
static bool find_steps(const struct tensor *index, int64_t length, int64_t *steps) {
  const struct shape *shape = &index->shape;
  const int64_t count = (int64_t)tensor_count(index), first = index_at(index, 0, length);
  int64_t strides[HONE_MAX_RANK];
  shape_strides(shape, strides);
  for (int d = 0; d < shape->rank; d++)
    steps[d] = shape->dims[d] > 1 ? index_at(index, strides[d], length) - first : 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t at = first;
    for (int d = 0; d < shape->rank; d++) at += i / strides[d] % shape->dims[d] * steps[d];
    if (at < 0 || at >= length || at != index_at(index, i, length)) return false;
  }
  return true;
}

/* Constant indices that are a single one, a range or windows: a view. */
static hone_status view_of_gather(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *index = node->inputs[1];
  if (!index->constant || !tensor_count(index->constant)) return HONE_OK;
  const bool is_one = tensor_count(index->constant) == 1;
  if (!is_one && (b->is_open || value_is_open(node->inputs[0]))) return HONE_OK;
  struct view view, result = {0};
  TRY(get_stored(b, node->inputs[0], &view));
  int rank = view.shape.rank;
  int64_t axis = node_int(node, "axis", 0), steps[HONE_MAX_RANK] = {0};
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank)
    return fail(b->ctx, HONE_E_SHAPE, node_place(node), "axis out of range");
  const int64_t length = view.shape.dims[axis], at = index_at(index->constant, 0, length);
  if (is_one && (at < 0 || at >= length))
    return fail(b->ctx, HONE_E_SHAPE, node_place(node), "index %lld of %lld", (long long)at,
                (long long)length);
  if (!find_steps(index->constant, length, steps)) return HONE_OK;
  result = view;
  result.offset += at * view.stride[axis];
  if (tensor_i64(index->constant, 0) < 0) TRY(move_to_end(b, &view, (int)axis, &result));
  result.shape = node->outputs[0]->shape;
  int to = 0;
  for (int i = 0; i < rank; i++) {
    if (i != axis)
      result.stride[to++] = view.stride[i];
    else
      for (int j = 0; j < index->shape.rank; j++)
        result.stride[to++] = steps[j] * view.stride[axis];
  }
  set_view(b, node->outputs[0], &result);
  *out_done = true;
  return HONE_OK;
}

hone_status lower_view(struct builder *b, const struct node *node, bool *out_done) {
  switch (node->op->id) {
    case OP_Slice:
      return view_of_slice(b, node, out_done);
    case OP_Gather:
      return view_of_gather(b, node, out_done);
    case OP_Transpose:
      TRY(as_transpose(b, node));
      break;
    case OP_Expand:
      TRY(as_expand(b, node));
      break;
    case OP_Dropout:
      if (node->output_count > 1 && node->outputs[1]) return HONE_OK;
      TRY(as_reshape(b, node));
      break;
    default:
      TRY(as_reshape(b, node));
  }
  *out_done = true;
  return HONE_OK;
}

hone_status lower_split(struct builder *b, const struct node *node, bool *out_done) {
  struct view view;
  TRY(get_stored(b, node->inputs[0], &view));
  int64_t axis = node_int(node, "axis", 0);
  if (axis < 0) axis += view.shape.rank;
  if (axis < 0 || axis >= view.shape.rank)
    return fail(b->ctx, HONE_E_SHAPE, node_place(node), "axis out of range");
  for (size_t i = 0; i < node->output_count; i++) {
    if (!node->outputs[i])
      return fail(b->ctx, HONE_E_UNSUP, node_place(node), "an output of Split is missing");
    struct view part = view;
    part.shape = node->outputs[i]->shape;
    set_view(b, node->outputs[i], &part);
    view.offset += view.stride[axis] * part.shape.dims[axis];
  }
  *out_done = true;
  return HONE_OK;
}

/* The best order for a copy of `value`: that of its source. */
static void follow_order_of(bool channels_last, const struct value *value, struct view *out) {
  if (channels_last)
    view_channels_last(out, NULL, value->dtype, &value->shape);
  else
    view_dense(out, NULL, value->dtype, &value->shape);
}

/* A view that repeats elements (Expand) has no physical order. */
static bool is_repeated(const struct view *view) {
  for (int d = 0; d < view->shape.rank; d++)
    if (!view->stride[d] && view->shape.dims[d] > 1) return true;
  return false;
}

/* True if most elements of a Concat's inputs are stored channels last. */
static hone_status most_run_channels_last(struct builder *b, const struct node *node, bool *out) {
  int64_t last = 0, all = 0;
  for (size_t i = 0; i < node->input_count; i++) {
    struct view from;
    int64_t count;
    bool is_packed;
    TRY(get_packed(b, node->inputs[i], &from, &is_packed));
    if (!shape_count(&from.shape, &count) || is_repeated(&from)) continue;
    if (view_runs_channels_last(&from)) last += count;
    all += count;
  }
  *out = 2 * last > all;
  return HONE_OK;
}

/* True if `next` directly follows `view` along the axis, as a part of one tensor. */
static bool continues_view(const struct view *view, const struct view *next, int64_t axis) {
  bool alike = view->buffer == next->buffer && view->dtype == next->dtype && !view->slope &&
               !next->slope && !view->offset_slope && !next->offset_slope && view->stride[axis] > 0;
  for (int d = 0; d < view->shape.rank; d++)
    alike =
        alike && (view->stride[d] == next->stride[d] || (d != axis && view->shape.dims[d] == 1));
  return alike && next->offset == view->offset + view->stride[axis] * view->shape.dims[axis];
}

/* Operands that are already adjacent in memory: parts of a Split, or of a larger Concat that is
   written part by part. */
static hone_status as_adjacent_views(struct builder *b, const struct node *node, int64_t axis,
                                     bool *out_done) {
  struct view result, view, next;
  bool is_packed;
  if (value_is_open(node->outputs[0])) return HONE_OK;
  /* elements past the actual size may be written, which a constant does not allow */
  if (node->inputs[0]->constant && node->inputs[0]->slope) return HONE_OK;
  TRY(get_packed(b, node->inputs[0], &view, &is_packed));
  result = view;
  for (size_t i = 1; i < node->input_count; i++, view = next) {
    TRY(get_packed(b, node->inputs[i], &next, &is_packed));
    if (value_is_open(node->inputs[i]) || !continues_view(&view, &next, axis)) return HONE_OK;
  }
  if (result.dtype != storage_of(b, node->outputs[0])) return HONE_OK;
  result.shape = node->outputs[0]->shape;
  set_view(b, node->outputs[0], &result);
  *out_done = true;
  return HONE_OK;
}

static bool lies_at(const struct view *view, const struct view *place) {
  return view->buffer == place->buffer && view->offset == place->offset &&
         view_same_strides(view, place);
}

/* The copies of one Concat run at the same time. */
static hone_status add_part(struct builder *b, const struct node *node, const struct view *from,
                            bool is_packed, const struct view *part, bool *first) {
  struct step *step;
  if (is_packed)
    TRY(add_packed_copy(b, node, from, part, port_dimensions(from), 0));
  else if (from->dtype == part->dtype)
    TRY(add_copy(b, node, from, part, &step));
  else
    TRY(add_conversion(b, node, from, part));
  step = b->plan->steps.at[b->plan->steps.count - 1];
  step->overlaps_previous = !*first;
  *first = false;
  return HONE_OK;
}

/* The view of the result: where parts of it were written already, else in the order of most of
   its elements. */
static hone_status concat_output(struct builder *b, const struct node *node, struct view *out) {
  const struct value *value = node->outputs[0];
  struct view like;
  bool channels_last;
  if (b->values[value->index].count) return get_stored(b, value, out);
  TRY(most_run_channels_last(b, node, &channels_last));
  follow_order_of(channels_last, value, &like);
  like.dtype = storage_of(b, value);
  return make_output(b, value, &like, out);
}

/* True if the memory order of the dimensions is their logical order. */
static bool view_runs_in_order(const struct view *view) {
  int order[HONE_MAX_RANK], last = -1;
  view_order(view, order);
  for (int i = 0; i < view->shape.rank; i++) {
    if (view->shape.dims[order[i]] == 1) continue;
    if (order[i] < last) return false;
    last = order[i];
  }
  return true;
}

hone_status lower_concat(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *value = node->outputs[0];
  struct view to, from;
  int64_t axis = node_int(node, "axis", 0);
  if (axis < 0) axis += value->shape.rank;
  if (!b->values[value->index].count) TRY(as_adjacent_views(b, node, axis, out_done));
  if (*out_done) return HONE_OK;
  TRY(concat_output(b, node, &to));
  bool first = true;
  for (size_t i = 0; i < node->input_count; i++) {
    int64_t count;
    bool is_packed;
    TRY(get_packed(b, node->inputs[i], &from, &is_packed));
    if (is_packed && (from.dtype != to.dtype || !view_runs_in_order(&to))) {
      is_packed = false;
      TRY(get_stored(b, node->inputs[i], &from));
    }
    if (!shape_count(&from.shape, &count) || !count) continue;
    struct view part = to;
    part.shape = from.shape;
    part.slope = from.slope;
    if (!lies_at(&from, &part)) TRY(add_part(b, node, &from, is_packed, &part, &first));
    to.offset += to.stride[axis] * from.shape.dims[axis];
    const struct slope slope = view_slope(&from, (int)axis),
                       ahead = slope_times(&slope, to.stride[axis]);
    TRY(move_view(b, &to, &ahead));
  }
  *out_done = true;
  return HONE_OK;
}

static hone_status fill_of(struct builder *b, const struct node *node, uint64_t *out,
                           bool *out_known) {
  const struct value *value = node_input(node, 2);
  *out = 0;
  *out_known = !value || value->constant;
  if (value && value->constant) {
    if (value->constant->bytes > sizeof *out || !value->constant->bytes)
      return fail(b->ctx, HONE_E_SHAPE, node_place(node), "constant_value is not one element");
    memcpy(out, value->constant->data, value->constant->bytes);
  }
  return HONE_OK;
}

/* The order of the tensor around `from`, or logical order if the result leaves the model; the
   same for planes of a volume. */
static void follow_parent_order(const struct builder *b, const struct view *from,
                                const struct value *value, struct view *out) {
  int order[HONE_MAX_RANK], index;
  int64_t stride = 1;
  const bool channels_last = view_runs_channels_last(from);
  follow_order_of(channels_last, value, out);
  if (channels_last || is_repeated(from) || ends_in_output(b, value, &index)) return;
  view_order(from, order);
  for (int i = value->shape.rank; i-- > 0;) {
    out->stride[order[i]] = stride;
    stride *= value->shape.dims[order[i]];
  }
}

struct pads {
  int64_t before[HONE_MAX_RANK], after[HONE_MAX_RANK];
};

/* False: some pads are unknown. */
static hone_status read_pads(struct builder *b, const struct node *node, struct pads *out,
                             bool *out_known) {
  const struct value *pads = node_input(node, 1);
  const int rank = node->inputs[0]->shape.rank;
  int64_t list[2 * HONE_MAX_RANK], axes[HONE_MAX_RANK];
  size_t count, axis_count;
  *out = (struct pads){0};
  *out_known = false;
  if (!pads || !pads->constant || !tensor_read_ints(pads->constant, COUNT(list), list, &count))
    return HONE_OK;
  axis_count = count / 2;
  for (size_t i = 0; i < axis_count; i++) axes[i] = (int64_t)i;
  if (node_input(node, 3) && (!constant_ints(node, 3, axes, &count) || count != axis_count))
    return HONE_OK;
  for (size_t i = 0; i < axis_count; i++) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank)
      return fail(b->ctx, HONE_E_SHAPE, node_place(node), "axis out of range");
    out->before[axis] = list[i];
    out->after[axis] = list[axis_count + i];
  }
  *out_known = true;
  return HONE_OK;
}

/* Copies `count` elements before or after `region` along d: its mirror image (without the edge
   element itself), or its edge. */
static hone_status add_side(struct builder *b, const struct node *node, const struct view *region,
                            int d, int64_t count, bool is_before, bool is_edge) {
  struct view from = *region, to = *region;
  struct step *step;
  const int64_t n = region->shape.dims[d], last = is_before ? 0 : n - 1;
  if (!count) return HONE_OK;
  from.shape.dims[d] = to.shape.dims[d] = count;
  to.offset += (is_before ? -count : n) * region->stride[d];
  from.offset += (is_edge ? last : is_before ? count : n - 2) * region->stride[d];
  from.stride[d] = is_edge ? 0 : -region->stride[d];
  TRY(add_copy(b, node, &from, &to, &step));
  return HONE_OK;
}

/* Pad by mirror image or edge: first the inside, then its sides, one axis after the other. */
static hone_status lower_mirror(struct builder *b, const struct node *node, bool is_edge,
                                bool *out_done) {
  const struct value *x = node->inputs[0], *y = node->outputs[0];
  struct pads pads;
  struct view from, like, region;
  struct step *step;
  bool known;
  TRY(read_pads(b, node, &pads, &known));
  if (!known || value_is_open(x) || is_below_byte(y)) return HONE_OK;
  for (int d = 0; d < x->shape.rank; d++) {
    const int64_t least = pads.before[d] < pads.after[d] ? pads.before[d] : pads.after[d],
                  most = pads.before[d] < pads.after[d] ? pads.after[d] : pads.before[d];
    if (least < 0 || !x->shape.dims[d] || (most >= x->shape.dims[d] && !is_edge)) return HONE_OK;
  }
  TRY(get_view(b, x, &from));
  follow_parent_order(b, &from, y, &like);
  TRY(make_output(b, y, &like, &region));
  for (int d = 0; d < x->shape.rank; d++) region.offset += pads.before[d] * region.stride[d];
  region.shape = x->shape;
  TRY(add_copy(b, node, &from, &region, &step));
  for (int d = 0; d < x->shape.rank; d++) {
    TRY(add_side(b, node, &region, d, pads.before[d], true, is_edge));
    TRY(add_side(b, node, &region, d, pads.after[d], false, is_edge));
    region.offset -= pads.before[d] * region.stride[d];
    region.shape.dims[d] += pads.before[d] + pads.after[d];
  }
  *out_done = true;
  return HONE_OK;
}

/* Pad with a constant: a copy with a border. Negative pads first crop the source. */
hone_status lower_pad(struct builder *b, const struct node *node, bool *out_done) {
  struct pads pads;
  uint64_t fill;
  bool known;
  const char *mode = node_string(node, "mode", "constant");
  if (!strcmp(mode, "reflect") || !strcmp(mode, "edge"))
    return lower_mirror(b, node, !strcmp(mode, "edge"), out_done);
  if (strcmp(mode, "constant")) return HONE_OK;
  TRY(read_pads(b, node, &pads, &known));
  if (!known) return HONE_OK;
  TRY(fill_of(b, node, &fill, &known));
  if (!known) return HONE_OK;
  struct view from, like, to;
  TRY(get_view(b, node->inputs[0], &from));
  for (int d = 0; d < from.shape.rank; d++) {
    if (pads.before[d] < 0) {
      from.offset -= pads.before[d] * from.stride[d];
      from.shape.dims[d] += pads.before[d];
      pads.before[d] = 0;
    }
    if (pads.after[d] < 0) from.shape.dims[d] += pads.after[d];
    if (from.shape.dims[d] <= 0) return HONE_OK;
  }
  follow_parent_order(b, &from, node->outputs[0], &like);
  TRY(make_output(b, node->outputs[0], &like, &to));
  struct step *step;
  TRY(add_copy_border(b, node, &from, &to, pads.before, fill, &step));
  *out_done = true;
  return HONE_OK;
}

/* A copy between views with two dimensions per dimension: the whole `repeats` times, or each
   element `repeats` times. The source has stride 0 along a repeat. */
static hone_status add_repeats(struct builder *b, const struct node *node, const struct view *from,
                               const struct view *to, const int64_t *repeats, bool each) {
  struct view wide_from = *from, wide_to = *to;
  struct step *step;
  const int rank = from->shape.rank;
  /* over all elements, also if a symbol is below its bound */
  wide_from.slope = wide_to.slope = NULL;
  wide_from.shape.rank = wide_to.shape.rank = 2 * rank;
  for (int i = 0; i < rank; i++) {
    const int whole = 2 * i + !each, repeat = 2 * i + each;
    const int64_t size = from->shape.dims[i];
    wide_from.shape.dims[repeat] = wide_to.shape.dims[repeat] = repeats[i];
    wide_from.shape.dims[whole] = wide_to.shape.dims[whole] = size;
    wide_from.stride[repeat] = 0;
    wide_from.stride[whole] = from->stride[i];
    wide_to.stride[repeat] = to->stride[i] * (each ? 1 : size);
    wide_to.stride[whole] = to->stride[i] * (each ? repeats[i] : 1);
  }
  return add_copy(b, node, &wide_from, &wide_to, &step);
}

hone_status lower_tile(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *out = node->outputs[0];
  struct view from, to, like;
  int64_t repeats[HONE_MAX_RANK];
  TRY(get_view(b, node->inputs[0], &from));
  if (2 * from.shape.rank > HONE_MAX_RANK) return HONE_OK;
  view_dense(&like, NULL, out->dtype, &out->shape);
  TRY(make_output(b, out, &like, &to));
  for (int i = 0; i < from.shape.rank; i++)
    repeats[i] = from.shape.dims[i] ? out->shape.dims[i] / from.shape.dims[i] : 0;
  TRY(add_repeats(b, node, &from, &to, repeats, false));
  *out_done = true;
  return HONE_OK;
}

/* Nearest-neighbour Resize by an integer factor: a copy. */
hone_status lower_resize(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *out = node->outputs[0];
  struct view from, to, like;
  int64_t repeats[HONE_MAX_RANK];
  if (value_is_open(node->inputs[0]) || value_is_open(out) || is_below_byte(out) ||
      2 * out->shape.rank > HONE_MAX_RANK || !resize_repeats(b->ctx, node, repeats))
    return HONE_OK;
  TRY(get_view(b, node->inputs[0], &from));
  follow_order_of(view_runs_channels_last(&from), out, &like);
  TRY(make_output(b, out, &like, &to));
  TRY(add_repeats(b, node, &from, &to, repeats, true));
  *out_done = true;
  return HONE_OK;
}

/* DepthToSpace and SpaceToDepth as one copy between six-dimensional views. */
hone_status lower_blocks(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *out = node->outputs[0];
  bool to_space = node->op->id == OP_DepthToSpace;
  int64_t k = node_int(node, "blocksize", 1);
  bool crd = !strcmp(node_string(node, "mode", "DCR"), "CRD");
  struct view from, to, like;
  TRY(get_view(b, node->inputs[0], &from));
  follow_order_of(view_runs_channels_last(&from), out, &like);
  TRY(make_output(b, out, &like, &to));
  const struct view *deep = to_space ? &from : &to, *wide = to_space ? &to : &from;
  int64_t n = deep->shape.dims[0], c = deep->shape.dims[1] / (k * k), h = deep->shape.dims[2],
          w = deep->shape.dims[3], channel = deep->stride[1];
  /* logical order of both: n, c, h, kh, w, kw */
  int64_t c_step = crd ? k * k * channel : channel;
  int64_t row_step = crd ? k * channel : k * c * channel;
  int64_t column_step = crd ? channel : c * channel;
  struct shape shape = {6, {n, c, h, k, w, k}};
  struct view d = {
      .buffer = deep->buffer,
      .dtype = deep->dtype,
      .shape = shape,
      .offset = deep->offset,
      .stride = {deep->stride[0], c_step, deep->stride[2], row_step, deep->stride[3], column_step}};
  struct view s = {.buffer = wide->buffer,
                   .dtype = wide->dtype,
                   .shape = shape,
                   .offset = wide->offset,
                   .stride = {wide->stride[0], wide->stride[1], wide->stride[2] * k,
                              wide->stride[2], wide->stride[3] * k, wide->stride[3]}};
  struct step *step;
  TRY(add_copy(b, node, to_space ? &d : &s, to_space ? &s : &d, &step));
  *out_done = true;
  return HONE_OK;
}
