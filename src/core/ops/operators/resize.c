/* resize: Resize by nearest, linear and cubic interpolation, with or without antialiasing.
 * Separable: for each axis a table of taps (input index, weight) for every output coordinate, then
 * one axis after the other in double. Formulas of the ONNX specification. */
#include <math.h>

#include "core/ops/ops_internal.h"

enum mode { NEAREST, LINEAR, CUBIC };
enum transform {
  HALF_PIXEL,
  HALF_PIXEL_SYMMETRIC,
  PYTORCH_HALF_PIXEL,
  ALIGN_CORNERS,
  ASYMMETRIC,
  TF_HALF_PIXEL_FOR_NN,
  TF_CROP_AND_RESIZE
};
enum rounding { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, FLOOR, CEIL };

struct resize {
  enum mode mode;
  enum transform transform;
  enum rounding rounding;
  bool antialias, exclude_outside;
  double cubic_a, extrapolation;
  struct shape in, out;
  double scale[HONE_MAX_RANK];
  double roi_start[HONE_MAX_RANK], roi_end[HONE_MAX_RANK];
};

static hone_status read_modes(struct ctx *ctx, const struct node *node, struct resize *r) {
  static const char *const modes[] = {"nearest", "linear", "cubic"};
  static const char *const transforms[] = {
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                          "ceil"};
  int mode = 0, transform = 0, rounding = 0;
  TRY(word_attribute(ctx, node, "mode", modes, COUNT(modes), &mode));
  TRY(word_attribute(ctx, node, "coordinate_transformation_mode", transforms, COUNT(transforms),
                     &transform));
  TRY(word_attribute(ctx, node, "nearest_mode", roundings, COUNT(roundings), &rounding));
  r->mode = (enum mode)mode, r->transform = (enum transform)transform;
  r->rounding = (enum rounding)rounding;
  r->antialias = node_int(node, "antialias", 0) != 0;
  r->exclude_outside = node_int(node, "exclude_outside", 0) != 0;
  r->cubic_a = node_float(node, "cubic_coeff_a", -0.75);
  r->extrapolation = node_float(node, "extrapolation_value", 0);
  return HONE_OK;
}

/* The axes that scales, sizes and roi refer to; all by default. */
static hone_status read_axes(struct ctx *ctx, const struct node *node, int rank, int *axes,
                             size_t *out_count) {
  size_t count = 0;
  const int64_t *list = node_ints(node, "axes", &count);
  bool seen[HONE_MAX_RANK] = {false};
  if (!list) {
    *out_count = (size_t)rank;
    for (int i = 0; i < rank; i++) axes[i] = i;
    return HONE_OK;
  }
  if (count > (size_t)rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "axes has %zu values for rank %d", count,
                rank);
  for (size_t i = 0; i < count; i++) {
    TRY(axis_normalise(ctx, node, "axes", list[i], rank, &axes[i]));
    if (seen[axes[i]])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "axes names axis %d twice", axes[i]);
    seen[axes[i]] = true;
  }
  *out_count = count;
  return HONE_OK;
}

static hone_status set_dim(struct ctx *ctx, const struct node *node, struct resize *r, int axis,
                           double size, double scale) {
  if (!(scale > 0) || isinf(scale) || !(size >= 0) || size > INT32_MAX)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "scales or sizes give %g elements (scale %g) along axis %d", size, scale, axis);
  r->out.dims[axis] = (int64_t)size;
  r->scale[axis] = scale;
  return HONE_OK;
}

static hone_status by_scales(struct ctx *ctx, const struct node *node, const struct tensor *scales,
                             const int *axes, size_t count, struct resize *r) {
  if (tensor_count(scales) != count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "scales has %zu values, expected %zu",
                tensor_count(scales), count);
  for (size_t i = 0; i < count; i++) {
    float scale = (float)tensor_f64(scales, i); /* the size is defined by float arithmetic */
    float size = floorf((float)r->in.dims[axes[i]] * scale);
    TRY(set_dim(ctx, node, r, axes[i], (double)size, (double)scale));
  }
  return HONE_OK;
}

static hone_status by_sizes(struct ctx *ctx, const struct node *node, const struct tensor *sizes,
                            const int *axes, size_t count, struct resize *r) {
  static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};
  int64_t wanted[HONE_MAX_RANK];
  size_t found = 0;
  int policy = 0;
  double common = 0;
  TRY(word_attribute(ctx, node, "keep_aspect_ratio_policy", policies, COUNT(policies), &policy));
  if (!tensor_read_ints(sizes, HONE_MAX_RANK, wanted, &found) || found != count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "sizes is not a list of %zu integers", count);
  for (size_t i = 0; i < count; i++) {
    double scale = (double)wanted[i] / (double)r->in.dims[axes[i]];
    if (i == 0 || (policy == 1 ? scale < common : scale > common)) common = scale;
  }
  for (size_t i = 0; i < count; i++) {
    double in = (double)r->in.dims[axes[i]];
    if (policy == 0)
      TRY(set_dim(ctx, node, r, axes[i], (double)wanted[i], (double)wanted[i] / in));
    else
      TRY(set_dim(ctx, node, r, axes[i], floor(common * in + 0.5), common));
  }
  return HONE_OK;
}

static hone_status read_roi(struct ctx *ctx, const struct node *node, const struct tensor *roi,
                            const int *axes, size_t count, struct resize *r) {
  if (r->transform != TF_CROP_AND_RESIZE) return HONE_OK;
  if (!roi || tensor_count(roi) != 2 * count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "roi does not have %zu values", 2 * count);
  for (size_t i = 0; i < count; i++) {
    r->roi_start[axes[i]] = tensor_f64(roi, i);
    r->roi_end[axes[i]] = tensor_f64(roi, i + count);
  }
  return HONE_OK;
}

/* The operands as tensors: constants during inference. roi may be NULL then. */
static hone_status resize_plan(struct ctx *ctx, const struct node *node, const struct shape *x,
                               const struct tensor *scales, const struct tensor *sizes,
                               struct resize *r) {
  int axes[HONE_MAX_RANK];
  size_t count = 0;
  *r = (struct resize){.in = *x, .out = *x};
  for (int i = 0; i < HONE_MAX_RANK; i++) r->scale[i] = 1, r->roi_end[i] = 1;
  TRY(read_modes(ctx, node, r));
  TRY(read_axes(ctx, node, x->rank, axes, &count));
  bool has_scales = scales && tensor_count(scales) > 0,
       has_sizes = sizes && tensor_count(sizes) > 0;
  if (has_scales == has_sizes && count > 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "expected one of scales and sizes");
  if (has_scales) return by_scales(ctx, node, scales, axes, count, r);
  return has_sizes ? by_sizes(ctx, node, sizes, axes, count, r) : HONE_OK;
}

/* A constant operand, NULL if absent or without elements. */
static hone_status constant_operand(struct ctx *ctx, const struct node *node, size_t k,
                                    const char *what, const struct tensor **out) {
  const struct value *value = node_input(node, k);
  int64_t count = 0;
  *out = value ? value->constant : NULL;
  if (!value || *out || (shape_count(&value->shape, &count) && count == 0)) return HONE_OK;
  return fail(ctx, HONE_E_UNSUP, node_place(node),
              "%s (input %zu) must be a constant: it is known only at run time", what, k);
}

hone_status infer_resize(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct tensor *scales, *sizes;
  struct resize r;
  if (node->inputs[0]->dtype == HONE_STRING)
    return fail(ctx, HONE_E_TYPE, node_place(node), "Resize is not defined for strings");
  TRY(constant_operand(ctx, node, 2, "scales", &scales));
  TRY(constant_operand(ctx, node, 3, "sizes", &sizes));
  TRY(resize_plan(ctx, node, &node->inputs[0]->shape, scales, sizes, &r));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &r.out);
}

/* -- taps */

struct taps {
  int64_t count;  /* per output coordinate */
  int64_t *index; /* [out][count] */
  double *weight; /* [out][count] */
  bool *outside;  /* [out]: outside the input, takes the extrapolation value */
};

static double source(const struct resize *r, int axis, int64_t at) {
  double x = (double)at, scale = r->scale[axis];
  double in = (double)r->in.dims[axis], out = (double)r->out.dims[axis];
  double length = scale * in; /* before it is rounded to whole elements */
  switch (r->transform) {
    case HALF_PIXEL:
      return (x + 0.5) / scale - 0.5;
    case HALF_PIXEL_SYMMETRIC:
      return in / 2 * (1 - out / length) + (x + 0.5) / scale - 0.5;
    case PYTORCH_HALF_PIXEL:
      return out > 1 ? (x + 0.5) / scale - 0.5 : 0;
    case ALIGN_CORNERS:
      return out > 1 ? x * (in - 1) / (length - 1) : 0;
    case ASYMMETRIC:
      return x / scale;
    case TF_HALF_PIXEL_FOR_NN:
      return (x + 0.5) / scale;
    case TF_CROP_AND_RESIZE:
      break;
  }
  double start = r->roi_start[axis], end = r->roi_end[axis];
  if (out > 1) return start * (in - 1) + x * (end - start) * (in - 1) / (length - 1);
  return 0.5 * (start + end) * (in - 1);
}

static double nearest(enum rounding rounding, double x) {
  switch (rounding) {
    case ROUND_PREFER_FLOOR:
      return ceil(x - 0.5);
    case ROUND_PREFER_CEIL:
      return floor(x + 0.5);
    case FLOOR:
      return floor(x);
    case CEIL:
      return ceil(x);
  }
  return floor(x);
}

/* Weight of an input element at distance d from the source coordinate. */
static double kernel(const struct resize *r, double d) {
  double x = fabs(d), a = r->cubic_a;
  if (r->mode == LINEAR) return x < 1 ? 1 - x : 0;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t clamp_index(double x, int64_t dim) {
  if (!(x > 0)) return 0;
  return x >= (double)dim ? dim - 1 : (int64_t)x;
}

/* Neighbours of x within the kernel's reach, edges repeated, weights normalised to sum 1. */
static void fill_taps(const struct resize *r, int axis, double x, double shrink, int64_t count,
                      int64_t *index, double *weight) {
  int64_t dim = r->in.dims[axis];
  double first = floor(x) - (double)(count / 2 - 1), sum = 0;
  for (int64_t i = 0; i < count; i++) {
    double at = first + (double)i;
    bool is_outside = at < 0 || at > (double)(dim - 1);
    index[i] = clamp_index(at, dim);
    weight[i] = r->exclude_outside && is_outside ? 0 : kernel(r, (at - x) * shrink);
    sum += weight[i];
  }
  for (int64_t i = 0; i < count && sum != 0; i++) weight[i] /= sum;
}

static hone_status make_taps(struct ctx *ctx, struct arena *scratch, const struct resize *r,
                             int axis, struct taps *out) {
  double scale = r->scale[axis], shrink = r->antialias && scale < 1 ? scale : 1;
  int64_t dim = r->in.dims[axis], n = r->out.dims[axis];
  double reach = r->mode == CUBIC ? 2 : 1;
  out->count = r->mode == NEAREST ? 1 : 2 * (int64_t)ceil(reach / shrink);
  size_t total = 0;
  if (!checked_mul((size_t)n, (size_t)out->count, &total))
    return fail(ctx, HONE_E_LIMIT, place_none(), "resizing needs too many taps");
  TRY(NEW_ARRAY(ctx, scratch, out->index, total));
  TRY(NEW_ARRAY(ctx, scratch, out->weight, total));
  TRY(NEW_ARRAY(ctx, scratch, out->outside, (size_t)n));
  for (int64_t i = 0; i < n; i++) {
    double x = source(r, axis, i);
    out->outside[i] = r->transform == TF_CROP_AND_RESIZE && !(x >= 0 && x <= (double)(dim - 1));
    if (r->mode == NEAREST) {
      out->index[i] = clamp_index(nearest(r->rounding, x), dim);
      out->weight[i] = 1;
      continue;
    }
    fill_taps(r, axis, x, shrink, out->count, out->index + i * out->count,
              out->weight + i * out->count);
  }
  return HONE_OK;
}

/* to[outer][out][inner] from from[outer][in][inner] */
static void apply_taps(const struct taps *taps, const double *from, double *to, int64_t outer,
                       int64_t in, int64_t out, int64_t inner) {
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < out; i++) {
      double *row = to + (o * out + i) * inner;
      memset(row, 0, (size_t)inner * sizeof *row);
      for (int64_t t = 0; t < taps->count; t++) {
        double weight = taps->weight[i * taps->count + t];
        const double *x = from + (o * in + taps->index[i * taps->count + t]) * inner;
        if (weight == 0) continue;
        for (int64_t k = 0; k < inner; k++) row[k] += weight * x[k];
      }
    }
}

static void extrapolate(const struct resize *r, const struct taps *taps, double *y) {
  int64_t index[HONE_MAX_RANK] = {0}, at = 0;
  do {
    for (int i = 0; i < r->out.rank; i++)
      if (taps[i].outside && taps[i].outside[index[i]]) y[at] = r->extrapolation;
    at++;
  } while (index_next(r->out.rank, r->out.dims, index));
}

/* Converts a sum to an integer type: truncated, as in ONNX Runtime, with a tolerance just below a
 * whole number; with antialias rounded half up. Values out of range saturate. */
static void make_whole(const struct resize *r, hone_dtype dtype, size_t count, double *y) {
  const int bits = (int)dtype_bits(dtype) - dtype_is_signed(dtype);
  const double high = ldexp(1, bits), low = dtype_is_signed(dtype) ? -high : 0;
  if (dtype_is_float(dtype) || r->mode == NEAREST) return;
  for (size_t i = 0; i < count; i++) {
    const double x = y[i], close = fmin(0x1p-20 + fabs(x) * 0x1p-44, 0.25);
    y[i] = r->antialias ? floor(x + 0.5 + close) : trunc(x < 0 ? x - close : x + close);
    y[i] = fmax(fmin(y[i], bits < 54 ? high - 1 : high), low); /* 2^63 and 2^64 saturate */
  }
}

static hone_status resize_all(struct ctx *ctx, struct arena *scratch, const struct resize *r,
                              hone_dtype dtype, double *x, double **out) {
  struct taps taps[HONE_MAX_RANK] = {{0}};
  struct shape shape = r->in;
  for (int i = shape.rank - 1; i >= 0;
       i--) { /* columns first: with antialias their sums are whole */
    bool is_same = r->out.dims[i] == r->in.dims[i] && r->scale[i] == 1 &&
                   r->transform != TF_CROP_AND_RESIZE && r->transform != TF_HALF_PIXEL_FOR_NN;
    if (is_same) continue;
    TRY(make_taps(ctx, scratch, r, i, &taps[i]));
    int64_t outer = dims_product(&shape, 0, i), inner = dims_product(&shape, i + 1, shape.rank);
    int64_t dim = shape.dims[i];
    shape.dims[i] = r->out.dims[i];
    int64_t elements = 0;
    size_t bytes = 0;
    double *y;
    TRY(extent(ctx, place_none(), HONE_F64, &shape, &elements, &bytes));
    TRY(NEW_ARRAY(ctx, scratch, y, (size_t)elements));
    apply_taps(&taps[i], x, y, outer, dim, shape.dims[i], inner);
    x = y;
    if (r->antialias && i == shape.rank - 1) make_whole(r, dtype, (size_t)elements, x);
  }
  if (r->transform == TF_CROP_AND_RESIZE) extrapolate(r, taps, x);
  make_whole(r, dtype, (size_t)dims_product(&shape, 0, shape.rank), x);
  *out = x;
  return HONE_OK;
}

hone_status eval_resize(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  struct resize r;
  int axes[HONE_MAX_RANK];
  size_t count = 0, total = tensor_count(out[0]);
  double *x, *y;
  TRY(resize_plan(ctx, node, &in[0]->shape, node->input_count > 2 ? in[2] : NULL,
                  node->input_count > 3 ? in[3] : NULL, &r));
  TRY(read_axes(ctx, node, in[0]->shape.rank, axes, &count));
  TRY(read_roi(ctx, node, node->input_count > 1 ? in[1] : NULL, axes, count, &r));
  if (total == 0) return HONE_OK;
  if (tensor_count(in[0]) == 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "Resize cannot make elements from an empty input");
  TRY(to_f64(ctx, scratch, in[0], &x));
  TRY(resize_all(ctx, scratch, &r, out[0]->dtype, x, &y));
  write_f64(out[0], 0, total, y);
  return HONE_OK;
}

bool resize_repeats(struct ctx *ctx, const struct node *node, int64_t repeats[HONE_MAX_RANK]) {
  const struct value *scales = node_input(node, 2), *sizes = node_input(node, 3);
  struct ctx quiet = *ctx; /* a Resize that cannot be planned is not a repetition */
  struct resize r;
  if ((scales && !scales->constant) || (sizes && !sizes->constant)) return false;
  if (resize_plan(&quiet, node, &node->inputs[0]->shape, scales ? scales->constant : NULL,
                  sizes ? sizes->constant : NULL, &r) ||
      r.mode != NEAREST || r.transform == TF_CROP_AND_RESIZE)
    return false;
  for (int d = 0; d < r.in.rank; d++) {
    const int64_t in = r.in.dims[d], out = r.out.dims[d];
    if (in < 1 || out < 1 || out % in) return false;
    repeats[d] = out / in;
    for (int64_t i = 0; i < out; i++)
      if (clamp_index(nearest(r.rounding, source(&r, d, i)), in) != i / repeats[d]) return false;
  }
  return true;
}

bool resize_keeps_places(const struct node *node, int d) {
  const struct value *x = node->inputs[0], *y = node->outputs[0];
  const struct slope none = {0}, in = x->slope ? x->slope[d] : none,
                     out = y->slope ? y->slope[d] : none;
  const struct slope to = slope_times(&out, x->shape.dims[d]),
                     from = slope_times(&in, y->shape.dims[d]);
  int64_t repeats[HONE_MAX_RANK];
  struct resize r = {0};
  struct ctx ctx;
  ctx_init(&ctx);
  if (x->shape.dims[d] == y->shape.dims[d] && slope_equal(&in, &out)) return true;
  if (!slope_equal(&to, &from) || read_modes(&ctx, node, &r)) return false;
  if (r.mode == NEAREST) return resize_repeats(&ctx, node, repeats);
  return dtype_is_float(x->dtype) && !r.antialias && !r.exclude_outside &&
         (r.transform == HALF_PIXEL || r.transform == PYTORCH_HALF_PIXEL ||
          r.transform == ASYMMETRIC);
}

hone_status resize_weights(struct ctx *ctx, struct arena *arena, const struct node *node, int axis,
                           struct tensor **out) {
  const struct tensor *scales, *sizes;
  struct taps taps;
  struct resize r;
  *out = NULL;
  TRY(constant_operand(ctx, node, 2, "scales", &scales));
  TRY(constant_operand(ctx, node, 3, "sizes", &sizes));
  TRY(resize_plan(ctx, node, &node->inputs[0]->shape, scales, sizes, &r));
  if (r.transform == TF_CROP_AND_RESIZE)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "a crop that reads values outside the input");
  const int64_t in = r.in.dims[axis], count = r.out.dims[axis];
  if (in == count && r.scale[axis] == 1 && r.transform != TF_HALF_PIXEL_FOR_NN) return HONE_OK;
  TRY(make_taps(ctx, arena, &r, axis, &taps));
  TRY(tensor_create(ctx, arena, HONE_F32, &(struct shape){2, {in, count}}, out));
  for (int64_t i = 0; i < count; i++)
    for (int64_t t = 0; t < taps.count; t++) {
      const size_t at = (size_t)(taps.index[i * taps.count + t] * count + i);
      tensor_set_f64(*out, at, tensor_f64(*out, at) + taps.weight[i * taps.count + t]);
    }
  return HONE_OK;
}
