/* Sampling between pixels: GridSample, RoiAlign, DeformConv. Each axis gives taps (an index and a
 * weight) for every point; a point is the weighted sum of the rows of a table [pixels, channels]
 * over all combinations of taps. Coordinates are computed in the type of the operand. */
#include "expand.h"

enum { TAPS = 4, AXES = 3 };

struct axis_taps {
  int count;
  struct value *index[TAPS]; /* whole numbers inside the axis, in the float type */
  struct value *weight[TAPS];
  int64_t size;
};

static struct value *times(struct graph_builder *e, struct value *x, double by) {
  return by == 1 ? x : x_by(e, OP_Mul, x, by);
}
static struct value *plus(struct graph_builder *e, struct value *x, double by) {
  return by == 0 ? x : x_by(e, OP_Add, x, by);
}
static struct value *clipped(struct graph_builder *e, struct value *x, double low, double high) {
  return x_3(e, OP_Clip, x, x_scalar(e, x->dtype, low), x_scalar(e, x->dtype, high));
}
/* 1 where low <= x <= high, else 0 */
static struct value *inside(struct graph_builder *e, struct value *x, double low, double high) {
  struct value *a = x_by(e, OP_GreaterOrEqual, x, low);
  struct value *b = x_by(e, OP_LessOrEqual, x, high);
  return x_cast(e, x_2(e, OP_And, a, b), x->dtype);
}

/* Sum (or maximum) over all combinations of taps of weight * table[base + index]; the shape of the
 * points followed by the channels. base: i64, broadcasts to the points; may be NULL. */
static struct value *combine(struct graph_builder *e, struct value *table, struct value *base,
                             const struct axis_taps *axes, int count, bool is_max) {
  struct value *result = NULL;
  int at[AXES] = {0};
  for (bool more = true; more && !e->status;) {
    struct value *row = NULL, *weight = NULL;
    for (int a = 0; a < count; a++) {
      struct value *i = axes[a].index[at[a]], *w = axes[a].weight[at[a]];
      row = row ? x_2(e, OP_Add, times(e, row, (double)axes[a].size), i) : i;
      weight = weight ? x_2(e, OP_Mul, weight, w) : w;
    }
    row = x_cast(e, row, HONE_I64);
    if (base) row = x_2(e, OP_Add, row, base);
    struct value *part = x_gather(e, table, row, 0);
    part = x_2(e, OP_Mul, part, x_unsqueeze(e, weight, weight->shape.rank));
    result = result ? x_2(e, is_max ? OP_Max : OP_Add, result, part) : part;
    int a = count - 1;
    while (a >= 0 && ++at[a] == axes[a].count) at[a--] = 0;
    more = a >= 0;
  }
  return result ? result : table;
}

/* [n, c, spatial...] as [n * pixels, c] */
static struct value *pixel_table(struct graph_builder *e, struct value *x, int64_t *out_pixels) {
  int64_t n = x->shape.dims[0], c = x->shape.dims[1];
  *out_pixels = dims_product(&x->shape, 2, x->shape.rank);
  x = x_reshape(e, x, (int64_t[]){n, c, *out_pixels}, 3);
  return x_reshape(e, x_swap(e, x, 1, 2), (int64_t[]){n * *out_pixels, c}, 2);
}

/* Taps floor(x) and floor(x) + 1; values outside count as zero. */
static struct axis_taps linear_zero_taps(struct graph_builder *e, struct value *x, int64_t size) {
  struct axis_taps taps = {.count = 2, .size = size};
  struct value *floor = x_1(e, OP_Floor, x), *part = x_2(e, OP_Sub, x, floor);
  struct value *first = plus(e, times(e, part, -1), 1);
  for (int k = 0; k < 2; k++) {
    struct value *i = plus(e, floor, k);
    taps.weight[k] = x_2(e, OP_Mul, k ? part : first, inside(e, i, 0, (double)size - 1));
    taps.index[k] = clipped(e, i, 0, (double)size - 1);
  }
  return taps;
}

/* -- GridSample */

enum padding { ZEROS, BORDER, REFLECTION };

/* Reflected at low and high as often as needed. */
static struct value *reflect(struct graph_builder *e, struct value *x, double low, double high) {
  double period = 2 * (high - low);
  if (period <= 0) return times(e, x, 0);
  struct value *y = plus(e, x, -low);
  struct value *turns = x_1(e, OP_Floor, times(e, y, 1 / period));
  y = x_2(e, OP_Sub, y, times(e, turns, period));
  y = x_2(e, OP_Min, y, plus(e, times(e, y, -1), period));
  return plus(e, y, low);
}

/* Weight of the pixel at distance t in (0, 1] or (1, 2]: Keys' cubic, a = -0.75. */
static struct value *cubic(struct graph_builder *e, struct value *t, bool is_near) {
  const double a = -0.75;
  struct value *y;
  if (is_near) { /* ((a + 2) t - (a + 3)) t^2 + 1 */
    y = plus(e, times(e, t, a + 2), -(a + 3));
    return plus(e, x_2(e, OP_Mul, x_2(e, OP_Mul, y, t), t), 1);
  }
  y = plus(e, times(e, t, a), -5 * a); /* ((a t - 5 a) t + 8 a) t - 4 a */
  y = plus(e, x_2(e, OP_Mul, y, t), 8 * a);
  return plus(e, x_2(e, OP_Mul, y, t), -4 * a);
}

static void settle(struct graph_builder *e, struct axis_taps *taps, int k, struct value *i,
                   struct value *weight, enum padding padding, bool corners) {
  double last = (double)taps->size - 1;
  if (padding == ZEROS) weight = x_2(e, OP_Mul, weight, inside(e, i, 0, last));
  if (padding == REFLECTION) i = reflect(e, i, corners ? 0 : -0.5, corners ? last : last + 0.5);
  taps->index[k] = clipped(e, i, 0, last);
  taps->weight[k] = weight;
}

static struct axis_taps grid_taps(struct graph_builder *e, struct value *g, int64_t size,
                                  enum padding padding) {
  bool corners = x_int(e, "align_corners", 0) != 0;
  double last = (double)size - 1;
  struct axis_taps taps = {.count = 1, .size = size};
  struct value *x = corners ? times(e, plus(e, g, 1), last / 2)
                            : times(e, plus(e, times(e, plus(e, g, 1), (double)size), -1), 0.5);
  bool is_cubic = x_is(e, "mode", "linear", "cubic") || x_is(e, "mode", "linear", "bicubic");
  bool is_nearest = x_is(e, "mode", "linear", "nearest");
  if (is_nearest) x = x_1(e, OP_Round, x);
  if (padding == BORDER) x = clipped(e, x, 0, last);
  if (padding == REFLECTION) x = reflect(e, x, corners ? 0 : -0.5, corners ? last : last + 0.5);
  if (is_nearest) {
    struct value *one = x_expand(e, x_scalar(e, x->dtype, 1), &x->shape);
    settle(e, &taps, 0, x_1(e, OP_Round, x), one, padding, corners);
    return taps;
  }
  struct value *floor = x_1(e, OP_Floor, x), *part = x_2(e, OP_Sub, x, floor);
  struct value *rest = plus(e, times(e, part, -1), 1);
  taps.count = is_cubic ? 4 : 2;
  for (int k = 0; k < taps.count; k++) {
    struct value *weight = k ? part : rest;
    if (is_cubic)
      weight = k == 0   ? cubic(e, plus(e, part, 1), false)
               : k == 1 ? cubic(e, part, true)
               : k == 2 ? cubic(e, rest, true)
                        : cubic(e, plus(e, rest, 1), false);
    settle(e, &taps, k, plus(e, floor, k - is_cubic), weight, padding, corners);
  }
  return taps;
}

void expand_grid_sample(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *grid = x_in(e, 1);
  int d = x->shape.rank - 2;
  if (d < 1 || d > AXES || grid->shape.rank != x->shape.rank || grid->shape.dims[d + 1] != d ||
      grid->shape.dims[0] != x->shape.dims[0]) {
    x_fail(e, HONE_E_SHAPE, "the grid does not fit an input of rank %d", x->shape.rank);
    return;
  }
  enum padding padding = x_is(e, "padding_mode", "zeros", "border")       ? BORDER
                         : x_is(e, "padding_mode", "zeros", "reflection") ? REFLECTION
                                                                          : ZEROS;
  struct axis_taps axes[AXES];
  int64_t pixels, n = x->shape.dims[0], points = dims_product(&grid->shape, 1, d + 1);
  struct shape out = grid->shape;
  struct value *flat = x_reshape(e, grid, (int64_t[]){n, points, d}, 3);
  for (int a = 0; a < d; a++) { /* the last axis comes first in the grid */
    struct value *g = x_squeeze(e, x_slice(e, flat, 2, d - 1 - a, d - a), 2);
    axes[a] = grid_taps(e, g, x->shape.dims[2 + a], padding);
  }
  struct value *table = pixel_table(e, x, &pixels);
  struct value *base = x_unsqueeze(e, x_range(e, HONE_I64, n, 0, (double)pixels), 1);
  struct value *y = x_swap(e, combine(e, table, base, axes, d, false), 1, 2);
  for (int i = d + 1; i-- > 2;) out.dims[i] = grid->shape.dims[i - 1];
  for (int i = 0; i < d; i++) out.dims[2 + i] = grid->shape.dims[1 + i];
  out.dims[1] = x->shape.dims[1];
  x_out(e, 0, x_reshape(e, y, out.dims, d + 2));
}

/* -- RoiAlign */

/* Sample points along one axis: [rois, bins * samples]. */
static struct value *roi_points(struct graph_builder *e, struct value *rois, int64_t from,
                                int64_t to, int64_t bins, int64_t samples) {
  bool half = x_is(e, "coordinate_transformation_mode", "half_pixel", "half_pixel");
  double scale = x_float(e, "spatial_scale", 1), offset = half ? -0.5 : 0;
  struct value *start = plus(e, times(e, x_slice(e, rois, 1, from, from + 1), scale), offset);
  struct value *end = plus(e, times(e, x_slice(e, rois, 1, to, to + 1), scale), offset);
  struct value *length = x_2(e, OP_Sub, end, start);
  if (!half) length = x_by(e, OP_Max, length, 1);
  double step = 1 / (double)(bins * samples);
  struct value *at = x_range(e, rois->dtype, bins * samples, step / 2, step);
  return x_2(e, OP_Add, start, x_2(e, OP_Mul, length, at));
}

/* Two taps; zero more than one pixel outside. */
static struct axis_taps roi_taps(struct graph_builder *e, struct value *x, int64_t size) {
  struct axis_taps taps = {.count = 2, .size = size};
  double last = (double)size - 1;
  struct value *known = inside(e, x, -1, (double)size);
  x = clipped(e, x, 0, last);
  struct value *floor = x_1(e, OP_Floor, x), *part = x_2(e, OP_Sub, x, floor);
  taps.index[0] = floor;
  taps.index[1] = clipped(e, plus(e, floor, 1), 0, last);
  taps.weight[0] = x_2(e, OP_Mul, plus(e, times(e, part, -1), 1), known);
  taps.weight[1] = x_2(e, OP_Mul, part, known);
  return taps;
}

/* x and regions [r, 4], pooled into a grid of bins. Attributes of the new node are set only
 * here. */
static void pool_regions(struct graph_builder *e, struct value *rois, struct value *pictures,
                         int64_t high, int64_t wide, bool is_whole) {
  struct value *x = x_in(e, 0), *wide_x = x_cast(e, x, HONE_F32);
  rois = x_cast(e, rois, HONE_F32);
  pictures = x_cast(e, pictures, HONE_I64);
  x_with_int(e, "output_height", high);
  x_with_int(e, "output_width", wide);
  x_with_float(e, "spatial_scale", x_float(e, "spatial_scale", 1));
  x_with_int(e, "whole_pixels", is_whole);
  x_with_int(e, "half_pixel",
             x_is(e, "coordinate_transformation_mode", "half_pixel", "half_pixel"));
  x_out(e, 0, x_cast(e, x_3(e, OP_PoolRegions, wide_x, rois, pictures), x->dtype));
}

/* x [n, c, h, w], rois [r, 5]: the image's index, then x, y, x, y. */
void expand_max_roi_pool(struct graph_builder *e) {
  struct value *rois = x_in(e, 1);
  size_t count = 0;
  const int64_t *bins = node_ints(e->node, "pooled_shape", &count);
  if (x_in(e, 0)->shape.rank != 4 || rois->shape.rank != 2 || rois->shape.dims[1] != 5 ||
      count != 2) {
    x_fail(e, HONE_E_SHAPE, "x, rois and pooled_shape do not fit");
    return;
  }
  struct value *pictures =
      x_reshape(e, x_slice(e, rois, 1, 0, 1), (int64_t[]){rois->shape.dims[0]}, 1);
  pool_regions(e, x_slice(e, rois, 1, 1, 5), pictures, bins[0], bins[1], true);
}

void expand_roi_align(struct graph_builder *e) {
  enum { MOST = 1 << 20 }; /* bins, and samples per bin */
  struct value *x = x_in(e, 0), *rois = x_in(e, 1), *batch = x_in(e, 2);
  int64_t high = x_int(e, "output_height", 1), wide = x_int(e, "output_width", 1);
  int64_t samples = x_int(e, "sampling_ratio", 0), pixels;
  bool is_max = x_is(e, "mode", "avg", "max");
  if (x->shape.rank != 4 || rois->shape.rank != 2 || rois->shape.dims[1] != 4 ||
      batch->shape.rank != 1 || batch->shape.dims[0] != rois->shape.dims[0] || high < 1 ||
      wide < 1 || high > MOST || wide > MOST || samples > MOST)
    x_fail(e, HONE_E_SHAPE, "input, rois and batch_indices do not fit");
  if (samples < 1 && is_max)
    x_fail(e, HONE_E_UNSUP, "RoiAlign with mode max and a sampling_ratio of 0 is not supported");
  if (e->status) return;
  if (samples < 1) {
    pool_regions(e, rois, batch, high, wide, false);
    return;
  }
  int64_t r = rois->shape.dims[0], c = x->shape.dims[1];
  struct axis_taps axes[2] = {
      roi_taps(e, x_unsqueeze(e, roi_points(e, rois, 1, 3, high, samples), 2), x->shape.dims[2]),
      roi_taps(e, x_unsqueeze(e, roi_points(e, rois, 0, 2, wide, samples), 1), x->shape.dims[3])};
  struct value *table = pixel_table(e, x, &pixels);
  struct value *base =
      x_2(e, OP_Mul, x_cast(e, batch, HONE_I64), x_scalar(e, HONE_I64, (double)pixels));
  base = x_reshape(e, base, (int64_t[]){r, 1, 1}, 3);
  struct value *y = combine(e, table, base, axes, 2, is_max); /* [r, rows, columns, c] */
  y = x_reshape(e, y, (int64_t[]){r, high, samples, wide, samples, c}, 6);
  y = x_reduce(e, is_max ? OP_ReduceMax : OP_ReduceMean, y, (int64_t[]){2, 4}, 2, false);
  x_out(e, 0, x_transpose(e, y, (int64_t[]){0, 3, 1, 2}));
}

/* -- DeformConv */

struct deform {
  int64_t n, c, groups, offset_groups, k, out, high, wide;
  int64_t kernel[2], step[2], dilation[2], pads[4];
};

/* Sampling positions without offsets, along one axis: [k, out]. */
static struct value *regular(struct graph_builder *e, const struct deform *d, hone_dtype dtype,
                             int axis) {
  const struct tensor *tensor;
  struct value *at = x_constant(e, dtype, &(struct shape){2, {d->k, d->out}}, &tensor);
  for (int64_t i = 0; !e->status && i < d->k * d->out; i++) {
    int64_t tap = i / d->out, place = i % d->out;
    int64_t kernel = axis ? tap % d->kernel[1] : tap / d->kernel[1];
    int64_t output = axis ? place % d->wide : place / d->wide;
    tensor_set_f64(tensor, (size_t)i,
                   (double)output * (double)d->step[axis] - (double)d->pads[axis] +
                       (double)kernel * (double)d->dilation[axis]);
  }
  return at;
}

static bool read_deform(struct graph_builder *e, struct deform *d) {
  const struct shape *x = &x_in(e, 0)->shape, *w = &x_in(e, 1)->shape, *o = &x_in(e, 2)->shape;
  *d =
      (struct deform){.groups = x_int(e, "group", 1), .offset_groups = x_int(e, "offset_group", 1)};
  if (x->rank != 4 || w->rank != 4 || o->rank != 4 || d->groups < 1 || d->offset_groups < 1) {
    x_fail(e, HONE_E_UNSUP, "DeformConv with other than two spatial dimensions is not supported");
    return false;
  }
  const struct {
    const char *name;
    size_t count;
    int64_t otherwise, *to;
  } lists[] = {
      {"strides", 2, 1, d->step}, {"dilations", 2, 1, d->dilation}, {"pads", 4, 0, d->pads}};
  for (size_t i = 0; i < COUNT(lists); i++) {
    hone_status status = ints_attribute(e->ctx, e->node, lists[i].name, lists[i].count,
                                        lists[i].otherwise, lists[i].to, NULL);
    if (status) e->status = status;
    if (status) return false;
  }
  d->kernel[0] = w->dims[2], d->kernel[1] = w->dims[3];
  d->n = x->dims[0], d->c = x->dims[1], d->k = d->kernel[0] * d->kernel[1];
  d->high = o->dims[2], d->wide = o->dims[3], d->out = d->high * d->wide;
  int64_t offsets = 0;
  bool fits = d->k > 0 && d->c % d->groups == 0 && d->c % d->offset_groups == 0 &&
              w->dims[0] % d->groups == 0 && w->dims[1] == d->c / d->groups && o->dims[0] == d->n &&
              checked_mul(d->k, d->offset_groups, &offsets) && checked_mul(offsets, 2, &offsets) &&
              o->dims[1] == offsets;
  if (!fits) x_fail(e, HONE_E_SHAPE, "input, weight and offset do not fit together");
  return fits;
}

void expand_deform_conv(struct graph_builder *e) {
  struct value *x = x_in(e, 0), *w = x_in(e, 1), *bias = x_in(e, 3), *mask = x_in(e, 4);
  struct deform d;
  struct axis_taps axes[2];
  int64_t pixels;
  if (!read_deform(e, &d)) return;
  int64_t parts = d.n * d.offset_groups, each = d.c / d.offset_groups, high = x->shape.dims[2],
          wide = x->shape.dims[3];
  struct value *offset = x_reshape(e, x_in(e, 2), (int64_t[]){parts, d.k, 2, d.out}, 4);
  for (int a = 0; a < 2; a++) {
    struct value *at = x_squeeze(e, x_slice(e, offset, 2, a, a + 1), 2);
    at = x_2(e, OP_Add, at, regular(e, &d, x->dtype, a));
    axes[a] = linear_zero_taps(e, at, x->shape.dims[2 + a]);
  }
  struct value *table =
      pixel_table(e, x_reshape(e, x, (int64_t[]){parts, each, high, wide}, 4), &pixels);
  struct value *base = x_range(e, HONE_I64, parts, 0, (double)pixels);
  base = x_reshape(e, base, (int64_t[]){parts, 1, 1}, 3);
  struct value *columns = combine(e, table, base, axes, 2, false); /* [parts, k, out, each] */
  if (mask)
    columns = x_2(e, OP_Mul, columns, x_reshape(e, mask, (int64_t[]){parts, d.k, d.out, 1}, 4));
  columns = x_transpose(e, columns, (int64_t[]){0, 3, 1, 2});
  columns = x_reshape(e, columns, (int64_t[]){d.n, d.groups, d.c / d.groups * d.k, d.out}, 4);
  int64_t filters = w->shape.dims[0];
  w = x_reshape(e, w, (int64_t[]){d.groups, filters / d.groups, d.c / d.groups * d.k}, 3);
  struct value *y = x_2(e, OP_MatMul, w, columns);
  y = x_reshape(e, y, (int64_t[]){d.n, filters, d.high, d.wide}, 4);
  if (bias) y = x_2(e, OP_Add, y, x_reshape(e, bias, (int64_t[]){filters, 1, 1}, 3));
  x_out(e, 0, y);
}
