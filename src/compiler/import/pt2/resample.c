/* resample: ATen's resampling of images. Output element i of an axis reads the input at a
 * coordinate that PyTorch computes differently from ONNX's Resize: with align_corners only the
 * sizes determine it, and some modes copy an axis whose size does not change although a factor
 * is given.
 *
 * Source: PyTorch's aten/src/ATen/native/UpSample.h, cpu/UpSampleKernel.cpp and
 * GridSamplerUtils.h. */
#include "pt2.h"

#include <math.h>

/* In the order of the table. ANTIALIASED and later: filters, which exclude pixels outside the
 * image. */
enum mode { NEAREST, LINEAR, CUBIC, NEAREST_EXACT, ANTIALIASED_LINEAR, ANTIALIASED_CUBIC };

struct axis {
  int64_t in, out;
  double factor; /* as given; 0: none */
  double step;   /* input elements per output element */
};
struct upsample {
  enum mode mode;
  bool is_corners, is_filter;
  size_t n; /* spatial dimensions, the last ones of x */
  struct axis axes[HONE_MAX_RANK];
};

/* A size or factors, or both: then the factors determine the coordinates. */
static hone_status read_sizes(struct pt_op *op, const struct value *x, struct upsample *u) {
  static const char *const names[] = {"scales_d", "scales_h", "scales_w"};
  int64_t sizes[HONE_MAX_RANK];
  double factors[HONE_MAX_RANK] = {0};
  size_t factor_count, size_count;
  TRY(pt_floats(op, "scale_factors", u->n, factors, &factor_count));
  TRY(pt_ints(op, "output_size", u->n, sizes, &size_count));
  if (factor_count != u->n && size_count != u->n) return pt_refuse(op, "without a size");
  for (size_t i = 0; i < u->n; i++) {
    struct axis *a = &u->axes[i];
    if (!factor_count && u->n == 1) TRY(pt_float(op, "scales", 0, &factors[i]));
    if (!factor_count && u->n > 1 && u->n <= COUNT(names))
      TRY(pt_float(op, names[COUNT(names) - u->n + i], 0, &factors[i]));
    a->in = x->shape.dims[2 + i];
    a->factor = factors[i] > 0 ? factors[i] : 0;
    const double size = size_count ? (double)sizes[i] : trunc((double)a->in * a->factor);
    if (a->in < 1 || !(size >= 1 && size <= INT32_MAX))
      return pt_refuse(op, "from %lld to %g elements", (long long)a->in, size);
    a->out = (int64_t)size;
  }
  return HONE_OK;
}

static double step_of(const struct upsample *u, const struct axis *a) {
  if (u->is_corners) return a->out > 1 ? (double)(a->in - 1) / (double)(a->out - 1) : 0;
  return a->factor > 0 ? 1 / a->factor : (double)a->in / (double)a->out;
}

/* -- nearest */

/* In float, as PyTorch. Two-dimensional images have two special cases. */
static int64_t nearest_place(const struct upsample *u, const struct axis *a, int64_t i) {
  const float step = a->factor > 0 ? (float)(1 / a->factor) : (float)a->in / (float)a->out;
  const bool is_exact = u->mode == NEAREST_EXACT;
  if (u->n == 2 && !is_exact && a->in == a->out) return i;
  if (u->n == 2 && !is_exact && a->in * 2 == a->out) return i / 2;
  const float x = is_exact ? (float)(((double)i + 0.5) * (double)step) : (float)i * step;
  return x < (float)(a->in - 1) ? (int64_t)x : a->in - 1;
}

/* True if each element is repeated equally often, which Resize does fast. */
static bool repeats(const struct upsample *u) {
  for (size_t k = 0; k < u->n; k++) {
    const struct axis *a = &u->axes[k];
    if (a->out % a->in) return false;
    for (int64_t i = 0; i < a->out; i++)
      if (nearest_place(u, a, i) != i / (a->out / a->in)) return false;
  }
  return true;
}

static hone_status gather_nearest(struct pt_op *op, const struct upsample *u, struct value **x) {
  for (size_t k = 0; k < u->n; k++) {
    const struct axis *a = &u->axes[k];
    int64_t *list;
    bool is_same = a->in == a->out;
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, list, (size_t)a->out));
    for (int64_t i = 0; i < a->out; i++) {
      list[i] = nearest_place(u, a, i);
      is_same &= list[i] == i;
    }
    if (is_same) continue;
    BUILD(op->b, *x = x_gather(op->b, *x, x_list(op->b, list, (size_t)a->out), 2 + (int64_t)k));
  }
  return HONE_OK;
}

/* -- linear and cubic */

/* True if an axis is copied, for any factor. */
static bool is_copied(const struct upsample *u, const struct axis *a) {
  return a->in == a->out && (u->mode != CUBIC || u->is_corners);
}

static struct value *resize(struct pt_op *op, const struct upsample *u, struct value *scales,
                            struct value *sizes, struct value *x) {
  static const char *const modes[] = {"nearest", "linear", "cubic", "nearest", "linear", "cubic"};
  const char *where = u->mode == NEAREST || u->mode == NEAREST_EXACT ? "asymmetric"
                      : u->is_corners && !u->is_filter               ? "align_corners"
                                                                     : "half_pixel";
  return x_args(
      op->b, OP_Resize, VALUES(x, NULL, scales, sizes),
      ARGS(STRING_ARG("mode", modes[u->mode]), STRING_ARG("coordinate_transformation_mode", where),
           STRING_ARG("nearest_mode", "floor"),
           FLOAT_ARG("cubic_coeff_a", u->is_filter ? -0.5 : -0.75),
           INT_ARG("antialias", u->is_filter), INT_ARG("exclude_outside", u->is_filter)));
}

static hone_status resize_by_sizes(struct pt_op *op, const struct upsample *u, struct value **x) {
  struct value *sizes;
  int64_t dims[HONE_MAX_RANK] = {(*x)->shape.dims[0], (*x)->shape.dims[1]};
  for (size_t k = 0; k < u->n; k++) dims[2 + k] = u->axes[k].out;
  BUILD(op->b, sizes = x_list(op->b, dims, 2 + u->n));
  return x_give(op->b, x, resize(op, u, NULL, sizes, *x));
}

/* True if the sizes alone give Resize's coordinates. */
static bool is_by_sizes(const struct upsample *u) {
  for (size_t k = 0; k < u->n; k++) {
    const struct axis *a = &u->axes[k];
    const double length = (double)a->in;
    if (is_copied(u, a) || (u->is_corners && !u->is_filter)) continue;
    if (fabs(a->step * (double)a->out - length) > 1e-12 * length) return false;
  }
  return true;
}

static hone_status resize_by_scales(struct pt_op *op, const struct upsample *u, struct value **x,
                                    bool *out_done) {
  struct value *scales;
  double list[HONE_MAX_RANK] = {1, 1};
  const struct shape shape = {.rank = 1, .dims = {2 + (int64_t)u->n}};
  *out_done = false;
  for (size_t k = 0; k < u->n; k++) { /* ONNX computes the size in float */
    const struct axis *a = &u->axes[k];
    const float scale = is_copied(u, a) ? 1 : (float)(1 / a->step);
    if (!(a->step > 0) || floorf((float)a->in * scale) != (float)a->out) return HONE_OK;
    list[2 + k] = (double)scale;
  }
  BUILD(op->b, scales = x_numbers(op->b, HONE_F32, &shape, list));
  *out_done = true;
  return x_give(op->b, x, resize(op, u, scales, NULL, *x));
}

/* Weight of an element at distance d. */
static double weight_at(const struct upsample *u, double d) {
  const double a = u->is_filter ? -0.5 : -0.75;
  if (u->mode == LINEAR || u->mode == ANTIALIASED_LINEAR) return d < 1 ? 1 - d : 0;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Column i of a matrix [in, out]: the weights of output element i. */
static void weigh(const struct upsample *u, const struct axis *a, int64_t i, double *matrix) {
  const double stretch = u->is_filter && a->step > 1 ? a->step : 1;
  const double reach = (u->mode == CUBIC || u->mode == ANTIALIASED_CUBIC ? 2 : 1) * stretch;
  const double at =
      u->is_corners && !u->is_filter ? a->step * (double)i : a->step * ((double)i + 0.5) - 0.5;
  const double last = (double)(a->in - 1);
  double sum = 0;
  for (double t = ceil(at - reach); t <= at + reach; t++)
    if (!u->is_filter || (t >= 0 && t <= last)) sum += weight_at(u, fabs(t - at) / stretch);
  for (double t = ceil(at - reach); t <= at + reach; t++) {
    const int64_t place = (int64_t)fmin(fmax(t, 0), last);
    if (u->is_filter && (t < 0 || t > last)) continue;
    matrix[place * a->out + i] += weight_at(u, fabs(t - at) / stretch) / sum;
  }
}

/* Modes that Resize does not have: one matmul per axis. */
static hone_status multiply_axes(struct pt_op *op, const struct upsample *u, struct value **x) {
  for (size_t k = 0; k < u->n; k++) {
    const struct axis *a = &u->axes[k];
    double *matrix;
    int64_t count = 0;
    if (is_copied(u, a)) continue;
    if (!checked_mul(a->in, a->out, &count) || !(a->step * (double)a->out < INT32_MAX))
      return pt_refuse(op, "of this size");
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, matrix, (size_t)count));
    for (int64_t i = 0; i < a->out; i++) weigh(u, a, i, matrix);
    BUILD(op->b, *x = pt_multiply_axis(op, 2 + (int)k, a->out, matrix, *x));
  }
  return HONE_OK;
}

static hone_status interpolate(struct pt_op *op, struct upsample *u, struct value **x) {
  bool is_done = false;
  if (is_by_sizes(u)) return resize_by_sizes(op, u, x);
  TRY(resize_by_scales(op, u, x, &is_done));
  return is_done ? HONE_OK : multiply_axes(op, u, x);
}

/* 8-bit images: computed in float, then rounded half up, with a tolerance for float errors. */
static hone_status interpolate_bytes(struct pt_op *op, struct upsample *u, struct value **x) {
  const hone_dtype dtype = (*x)->dtype;
  if (dtype != HONE_U8) return pt_refuse(op, "of %s", dtype_name(dtype));
  BUILD(op->b, *x = x_cast(op->b, *x, HONE_F32));
  TRY(interpolate(op, u, x));
  *x = x_by(op->b, OP_Add, *x, 0.5 + 0x1p-10);
  *x = x_1(op->b, OP_Floor, *x);
  *x = x_3(op->b, OP_Clip, *x, x_scalar(op->b, HONE_F32, 0), x_scalar(op->b, HONE_F32, 255));
  return x_give(op->b, x, x_cast(op->b, *x, dtype));
}

/* The parameter is the mode. */
hone_status build_upsample(struct pt_op *op) {
  struct upsample u = {.mode = (enum mode)op->parameter,
                       .is_filter = op->parameter >= ANTIALIASED_LINEAR};
  struct value *x;
  int64_t corners;
  u.n = strstr(op->target, "1d") ? 1 : strstr(op->target, "3d") ? 3 : 2;
  TRY(pt_tensor(op, "input", &x));
  if (!x) TRY(pt_need(op, "self", &x));
  if (x->shape.rank != (int)u.n + 2) return pt_refuse(op, "of rank %d", x->shape.rank);
  TRY(pt_int(op, "align_corners", 0, &corners));
  u.is_corners = corners != 0;
  TRY(read_sizes(op, x, &u));
  for (size_t k = 0; k < u.n; k++) u.axes[k].step = step_of(&u, &u.axes[k]);
  if (u.mode == NEAREST || u.mode == NEAREST_EXACT)
    TRY(repeats(&u) ? resize_by_sizes(op, &u, &x) : gather_nearest(op, &u, &x));
  else
    TRY(dtype_is_float(x->dtype) ? interpolate(op, &u, &x) : interpolate_bytes(op, &u, &x));
  return pt_result(op, 0, x);
}

/* -- grid_sample */

/* A cubic neighbour outside the border reads the border; in ONNX the point itself is moved to the
 * border first. So the border is extended for all neighbours, and the grid refers to the extended
 * image. */
static hone_status widen(struct pt_op *op, bool is_corners, struct value **x, struct value **grid) {
  enum { WIDTH = 3 };
  int64_t pads[2 * HONE_MAX_RANK] = {0};
  double ratios[2];
  const struct shape pair = {.rank = 1, .dims = {2}};
  for (int d = 2; d < 4; d++) {
    const double size = (double)(*x)->shape.dims[d] - is_corners;
    pads[d] = pads[4 + d] = WIDTH;
    ratios[3 - d] = size / (size + 2 * WIDTH); /* the last axis comes first */
  }
  BUILD(op->b, *x = x_args(op->b, OP_Pad, VALUES(*x, x_list(op->b, pads, 8)),
                           ARGS(STRING_ARG("mode", "edge"))));
  return x_give(op->b, grid,
                x_2(op->b, OP_Mul, *grid, x_numbers(op->b, (*grid)->dtype, &pair, ratios)));
}

hone_status build_grid_sample(struct pt_op *op) {
  static const char *const modes[] = {"linear", "nearest", "cubic"};
  static const char *const edges[] = {"zeros", "border", "reflection"};
  enum { BICUBIC = 2, BORDER = 1 };
  struct value *x, *grid;
  int64_t mode, edge, align;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "grid", &grid));
  TRY(pt_int(op, "interpolation_mode", 0, &mode));
  TRY(pt_int(op, "padding_mode", 0, &edge));
  TRY(pt_int(op, "align_corners", 0, &align));
  if (mode < 0 || mode > 2 || edge < 0 || edge > 2 || (mode == BICUBIC && x->shape.rank != 4))
    return pt_refuse(op, "with mode %lld and padding %lld", (long long)mode, (long long)edge);
  if (mode == BICUBIC && edge == BORDER) TRY(widen(op, align != 0, &x, &grid));
  struct value *y =
      x_args(op->b, OP_GridSample, VALUES(x, grid),
             ARGS(STRING_ARG("mode", modes[mode]), STRING_ARG("padding_mode", edges[edge]),
                  INT_ARG("align_corners", align)));
  return pt_result(op, 0, y);
}
