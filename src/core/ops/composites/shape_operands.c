/* Operators whose shape operand has dynamic sizes (shape_values.c): computed at the bounds, then
 * cropped to the actual sizes. A size is a dimension of another value, or a number computed at run
 * time with a known bound (ranges.c). */
#include "expand.h"

/* The list with bounds; false and an error if its entries are not known one by one. */
static bool sizes(struct graph_builder *e, size_t k, struct size_list *out) {
  if (!node_sizes(e->node, k, out))
    x_fail(e, HONE_E_UNSUP, "%s to sizes known only at run time is not supported",
           e->node->op->name);
  return !e->status && x_bounds(e, out);
}

static struct value *open_all(struct graph_builder *e, struct value *x, const struct size_list *to,
                              int first) {
  for (size_t i = 0; i < to->count; i++) x = x_open_entry(e, x, first + (int)i, to, i);
  return x;
}

static bool is_input(const struct graph *graph, const struct value *x) {
  while (graph->parent) graph = graph->parent;
  return x->is_input && graph_owns(graph, x);
}

void expand_sized_constant(struct graph_builder *e) {
  struct size_list to;
  const struct value *shape = x_in(e, 0);
  if (is_input(e->graph, shape)) {
    x_fail(e, HONE_E_UNSUP,
           "the shape is the model input \"%s\" without an upper bound: make "
           "it an initializer of the file, or add a Min before it",
           shape->name);
    return;
  }
  if (!sizes(e, 0, &to)) return;
  struct value *y = x_again(e, (struct value *[]){x_list(e, to.at, to.count)}, 1);
  x_out(e, 0, open_all(e, y, &to, 0));
}

/* Ascending from a constant. */
void expand_sized_range(struct graph_builder *e) {
  static const int64_t most = INT32_MAX;
  struct size_list to;
  const struct value *start = x_in(e, 0), *step = x_in(e, 2);
  if (!sizes(e, 1, &to)) return;
  const bool known = to.count == 1 && start->constant && step->constant &&
                     tensor_count(start->constant) == 1 && tensor_count(step->constant) == 1;
  const int64_t first = known ? tensor_i64(start->constant, 0) : 0,
                by = known ? tensor_i64(step->constant, 0) : 0;
  if (by < 1 || by > most || first < -most || first > most || to.at[0] > most) {
    x_fail(e, HONE_E_UNSUP, "Range to a size known only at run time must ascend from a constant");
    return;
  }
  struct value *n = x_entry(e, &to, 0);
  const int64_t room = to.at[0] > first ? (to.at[0] - first + by - 1) / by : 0;
  if (first || by > 1) {
    n = x_2(e, OP_Add, n, x_scalar(e, HONE_I64, (double)(by - 1 - first)));
    n = x_2(e, OP_Max, n, x_scalar(e, HONE_I64, 0));
    n = x_2(e, OP_Div, n, x_scalar(e, HONE_I64, (double)by));
  }
  x_out(e, 0, x_first(e, x_range(e, x_in(e, 1)->dtype, room, (double)first, (double)by), 0, n));
}

/* Repeats a single element of an axis as often as a size gives. */
void expand_sized_tile(struct graph_builder *e) {
  struct size_list to;
  struct value *x = x_in(e, 0);
  if (!sizes(e, 1, &to)) return;
  bool fits = to.count == (size_t)x->shape.rank;
  for (size_t i = 0; i < to.count && fits; i++)
    fits = !(to.extent[i] || to.number[i]) || (x->shape.dims[i] == 1 && !x->extents[i]);
  if (!fits) {
    x_fail(e, HONE_E_UNSUP,
           "Tile of more than one element by a count known only at run time is not supported");
    return;
  }
  x_out(e, 0, open_all(e, x_2(e, OP_Tile, x, x_list(e, to.at, to.count)), &to, 0));
}

/* To a size that the operand already has, or from 1. */
void expand_sized_expand(struct graph_builder *e) {
  struct size_list to;
  struct value *x = x_in(e, 0);
  if (!sizes(e, 1, &to)) return;
  struct size_list later = to;
  const int count = (int)to.count, rank = count > x->shape.rank ? count : x->shape.rank;
  int64_t dims[HONE_MAX_RANK];
  for (int i = 0; i < count; i++) {
    const int d = i - count + x->shape.rank;
    const uint32_t own = d < 0 ? 0 : x->extents[d];
    const bool same = own && own == to.extent[i];
    dims[i] = same ? 1 : to.at[i];
    if (same) later.extent[i] = 0;
    if (!(later.extent[i] || later.number[i])) continue;
    if (d >= 0 && (own || x->shape.dims[d] != 1)) {
      x_fail(
          e, HONE_E_UNSUP,
          "Expand of one dynamic dimension to another, equal only at run time, is not supported");
      return;
    }
  }
  struct value *y = x_2(e, OP_Expand, x, x_list(e, dims, to.count));
  x_out(e, 0, open_all(e, y, &later, rank - count));
}

/* -- Resize */

static struct value *f32(struct graph_builder *e, double x) { return x_scalar(e, HONE_F32, x); }

/* f32: the source coordinate of each place; in f32, as in ONNX Runtime. */
static struct value *sources(struct graph_builder *e, struct value *at, struct value *length,
                             struct value *count) {
  static const char how[] = "coordinate_transformation_mode", half[] = "half_pixel";
  struct value *scale = x_2(e, OP_Div, count, length), *x;
  const bool is_nn = x_is(e, how, half, "tf_half_pixel_for_nn"),
             is_aligned = x_is(e, how, half, "align_corners"),
             is_torch = x_is(e, how, half, "pytorch_half_pixel");
  if (x_is(e, how, half, "asymmetric")) return x_2(e, OP_Div, at, scale);
  if (is_aligned) {
    x = x_2(e, OP_Mul, at, x_2(e, OP_Sub, length, f32(e, 1)));
    x = x_2(e, OP_Div, x, x_2(e, OP_Sub, count, f32(e, 1)));
  } else {
    x = x_2(e, OP_Div, x_2(e, OP_Add, at, f32(e, 0.5)), scale);
    if (!is_nn) x = x_2(e, OP_Sub, x, f32(e, 0.5));
  }
  if (is_aligned || is_torch) /* with one element: the first */
    x = x_3(e, OP_Where, x_2(e, OP_Greater, count, f32(e, 1)), x, f32(e, 0));
  return x;
}

/* What is read at each of these indices, f32; those outside read the first or last element. */
static struct value *read_at(struct graph_builder *e, struct value *x, int axis,
                             struct value *index, struct value *length) {
  struct value *last = x_2(e, OP_Sub, x_cast(e, length, HONE_F32), f32(e, 1));
  index = x_2(e, OP_Min, x_2(e, OP_Max, index, f32(e, 0)), last);
  index = x_cast(e, index, HONE_I64);
  if (!length->constant) x_with_int(e, "within", 1);
  return x_gather(e, x, index, axis);
}

static struct value *nearest(struct graph_builder *e, struct value *at) {
  static const char how[] = "nearest_mode", down[] = "round_prefer_floor";
  if (x_is(e, how, down, down)) at = x_1(e, OP_Ceil, x_2(e, OP_Sub, at, f32(e, 0.5)));
  if (x_is(e, how, down, "round_prefer_ceil"))
    at = x_1(e, OP_Floor, x_2(e, OP_Add, at, f32(e, 0.5)));
  return x_1(e, x_is(e, how, down, "ceil") ? OP_Ceil : OP_Floor, at);
}

/* The polynomial in x, the factor of the highest power first. */
static struct value *polynomial(struct graph_builder *e, struct value *x, const double *factors,
                                size_t count) {
  struct value *y = f32(e, factors[0]);
  for (size_t i = 1; i < count; i++) y = x_2(e, OP_Add, x_2(e, OP_Mul, y, x), f32(e, factors[i]));
  return y;
}

/* The weight of neighbour i of a coordinate that lies `part` after the one before it; as kernel() of
 * resize.c. */
static struct value *weight(struct graph_builder *e, struct value *part, int i, bool is_cubic) {
  const double a = x_float(e, "cubic_coeff_a", -0.75);
  struct value *distance =
      i > 0 ? x_2(e, OP_Sub, f32(e, i), part) : x_2(e, OP_Sub, part, f32(e, i));
  if (!is_cubic) return x_2(e, OP_Sub, f32(e, 1), distance);
  const double near[] = {a + 2, -(a + 3), 0, 1}, far[] = {a, -5 * a, 8 * a, -4 * a};
  return polynomial(e, distance, i == 0 || i == 1 ? near : far, 4);
}

/* Interpolation of the two or four neighbours of each coordinate; edges are repeated. */
static struct value *between(struct graph_builder *e, struct value *x, int axis, struct value *at,
                             struct value *length, bool is_cubic) {
  int64_t dims[HONE_MAX_RANK];
  for (int d = 0; d < x->shape.rank; d++) dims[d] = d == axis ? at->shape.dims[0] : 1;
  struct value *low = x_1(e, OP_Floor, at), *part = x_2(e, OP_Sub, at, low), *sum = NULL;
  for (int i = is_cubic ? -1 : 0; i <= (is_cubic ? 2 : 1); i++) {
    struct value *by = x_reshape(e, weight(e, part, i, is_cubic), dims, x->shape.rank);
    struct value *y = read_at(e, x, axis, x_2(e, OP_Add, low, f32(e, i)), length);
    y = x_2(e, OP_Mul, y, x_cast(e, by, x->dtype));
    sum = sum ? x_2(e, OP_Add, sum, y) : y;
  }
  return sum;
}

bool x_can_resize(const struct graph_builder *e) {
  const bool is_nearest = x_is(e, "mode", "nearest", "nearest");
  return !x_int(e, "antialias", 0) && !x_int(e, "exclude_outside", 0) &&
         !x_is(e, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize") &&
         !x_is(e, "coordinate_transformation_mode", "half_pixel", "half_pixel_symmetric") &&
         x_is(e, "keep_aspect_ratio_policy", "stretch", "stretch") &&
         (is_nearest || dtype_is_float(x_in(e, 0)->dtype));
}

int x_resized_axis(const struct graph_builder *e, size_t i) {
  size_t count = 0;
  const int64_t *axes = node_ints(e->node, "axes", &count);
  const int rank = x_in(e, 0)->shape.rank;
  const int64_t axis = !axes ? (int64_t)i : i < count ? axes[i] + (axes[i] < 0 ? rank : 0) : -1;
  return axis >= 0 && axis < rank ? (int)axis : -1;
}

struct value *x_resize(struct graph_builder *e, struct value *x, int axis, struct value *at,
                       struct value *length, struct value *count) {
  at = sources(e, at, x_cast(e, length, HONE_F32), x_cast(e, count, HONE_F32));
  if (!x_is(e, "mode", "nearest", "nearest"))
    return between(e, x, axis, at, length, x_is(e, "mode", "nearest", "cubic"));
  return read_at(e, x, axis, nearest(e, at), length);
}

/* Resizes the axes with constant sizes. */
static struct value *resized_by_file(struct graph_builder *e, struct value *x,
                                     const struct size_list *to) {
  int64_t known[HONE_MAX_RANK];
  bool any = false;
  for (size_t i = 0; i < to->count; i++) {
    const int64_t own = x->shape.dims[x_resized_axis(e, i)];
    known[i] = to->extent[i] || to->number[i] ? own : to->at[i];
    any = any || known[i] != own;
  }
  return any ? x_again(e, (struct value *[]){x, NULL, NULL, x_list(e, known, to->count)}, 4) : x;
}

static struct value *resized_along(struct graph_builder *e, struct value *x, int axis,
                                   const struct size_list *to, size_t i) {
  const int64_t length = x->shape.dims[axis];
  if (x->extents[axis] && x->extents[axis] == to->extent[i]) return x;
  if (x->extents[axis] || length < 1) {
    x_fail(e, HONE_E_UNSUP, "Resize from one dynamic dimension to another is not supported");
    return x;
  }
  struct value *at = x_range(e, HONE_F32, to->at[i], 0, 1);
  return x_resize(e, x, axis, at, x_scalar(e, HONE_I64, (double)length), x_entry(e, to, i));
}

/* One axis after the other, computed at the bounds; by sizes and not by scales. */
void expand_sized_resize(struct graph_builder *e) {
  struct size_list to;
  struct value *x = x_in(e, 0), *scales = x_in(e, 2);
  const hone_dtype dtype = x->dtype;
  if (!sizes(e, 3, &to)) return;
  bool fits = x_can_resize(e) && !(scales && dims_product(&scales->shape, 0, scales->shape.rank));
  bool is_axis = true;
  for (size_t i = 0; i < to.count; i++) is_axis = is_axis && x_resized_axis(e, i) >= 0;
  if (!fits)
    x_fail(e, HONE_E_UNSUP,
           "Resize to sizes known only at run time supports neither antialias nor scales");
  if (!is_axis || (!node_attribute(e->node, "axes") && to.count != (size_t)x->shape.rank))
    x_fail(e, HONE_E_SHAPE, "%zu sizes do not fit rank %d", to.count, x->shape.rank);
  if (e->status) return;
  x = resized_by_file(e, x, &to);
  if (!x_is(e, "mode", "nearest", "nearest")) x = x_widened(e, x);
  for (size_t i = 0; i < to.count && !e->status; i++)
    if (to.extent[i] || to.number[i]) x = resized_along(e, x, x_resized_axis(e, i), &to, i);
  x = x_cast(e, x, dtype);
  for (size_t i = 0; i < to.count && !e->status; i++)
    if (!x->extents[x_resized_axis(e, i)]) x = x_open_entry(e, x, x_resized_axis(e, i), &to, i);
  x_out(e, 0, x);
}
