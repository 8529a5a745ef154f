/* reduce: reductions, ArgMax, cumulative sums, normalisations, resizing and the real Fourier
 * transform. */
#include "tflite.h"

#include <math.h>

/* Axes of input 1 in the order that `image` selects. */
static hone_status read_axes(struct tf_op *op, bool image, struct value **out) {
  int64_t axes[HONE_MAX_RANK];
  size_t count;
  TRY(tf_ints(op, 1, HONE_MAX_RANK, axes, &count));
  for (size_t i = 0; i < count; i++) {
    TRY(tf_axis(op, axes[i], tf_rank_of(tf_in(op, 0)), &axes[i]));
    if (image) axes[i] = tf_image_axis(axes[i]);
  }
  return x_give(op->b, out, x_list(op->b, axes, count));
}

/* MEAN, SUM, REDUCE_*: x, axes; option 0: keep_dims. No axes: nothing is reduced. */
hone_status tf_reduce(struct tf_op *op) {
  int64_t keep;
  struct value *x, *axes, *y;
  enum op_id id = (enum op_id)op->kind->parameter;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_option(op, 0, FLAT_U8, 0, &keep));
  if (tf_is_quantised(tf_in(op, 0))) {
    const struct value *in = tf_in(op, 0)->value;
    if (in && value_is_open(in)) return tf_refuse(op, "of a dynamic dimension");
    if (id == OP_ReduceMean || id == OP_ReduceSum) return tf_quantised_mean(op);
    if (id == OP_ReduceProd) return tf_quantised_reduced_product(op);
    if (id != OP_ReduceMax && id != OP_ReduceMin) return tf_refuse(op, "of quantised numbers");
  }
  bool image = keep && tf_follows_images(op, 1);
  if (!image && tf_in(op, 0)->image && !tf_in(op, 0)->value) {
    /* the remaining axes are in file order if both spatial ones are removed */
    int64_t list[HONE_MAX_RANK];
    size_t count;
    TRY(tf_ints(op, 1, HONE_MAX_RANK, list, &count));
    bool gone[4] = {false};
    for (size_t i = 0; i < count; i++) {
      TRY(tf_axis(op, list[i], 4, &list[i]));
      gone[list[i]] = true;
    }
    if ((gone[1] && gone[2]) || gone[3]) {
      TRY(read_axes(op, true, &axes));
      y = x_args(op->b, id, VALUES(tf_in(op, 0)->image, axes),
                 ARGS(INT_ARG("keepdims", 0), INT_ARG("noop_with_empty_axes", 1)));
      return tf_write(op, 0, false, y);
    }
  }
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(read_axes(op, image, &axes));
  y = x_args(op->b, id, VALUES(x, axes),
             ARGS(INT_ARG("keepdims", keep), INT_ARG("noop_with_empty_axes", 1)));
  return tf_write(op, 0, image, y);
}

/* REDUCE_ANY, REDUCE_ALL: the largest or smallest of 0 and 1. */
hone_status tf_reduce_bool(struct tf_op *op) {
  int64_t keep;
  struct value *x, *axes;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_option(op, 0, FLAT_U8, 0, &keep));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(read_axes(op, false, &axes));
  x = x_cast(op->b, x, HONE_U8);
  struct value *y = x_args(op->b, (enum op_id)op->kind->parameter, VALUES(x, axes),
                           ARGS(INT_ARG("keepdims", keep), INT_ARG("noop_with_empty_axes", 1)));
  return tf_write(op, 0, false, x_cast(op->b, y, HONE_BOOL));
}

/* ARG_MAX, ARG_MIN: x, axis. */
hone_status tf_arg(struct tf_op *op) {
  int64_t axis;
  struct value *x;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_one_int(op, 1, &axis));
  struct tf_tensor *in = tf_in(op, 0);
  TRY(tf_axis(op, axis, tf_rank_of(in), &axis));
  bool image = in->image && !in->value && axis == 3; /* the remaining axes are in order */
  TRY(tf_read(op, in, image, &x));
  struct value *y = x_args(op->b, (enum op_id)op->kind->parameter, VALUES(x),
                           ARGS(INT_ARG("axis", image ? 1 : axis), INT_ARG("keepdims", 0)));
  return tf_write(op, 0, false, x_cast(op->b, y, tf_out(op, 0)->dtype));
}

/* x, axis; options exclusive, reverse. */
hone_status tf_cumsum(struct tf_op *op) {
  int64_t exclusive, reverse;
  struct value *x, *axis;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_option(op, 0, FLAT_U8, 0, &exclusive));
  TRY(tf_option(op, 1, FLAT_U8, 0, &reverse));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_value(op, tf_in(op, 1), &axis));
  struct value *y = x_args(op->b, OP_CumSum, VALUES(x, x_reshape(op->b, axis, NULL, 0)),
                           ARGS(INT_ARG("exclusive", exclusive), INT_ARG("reverse", reverse)));
  return tf_write(op, 0, false, y);
}

/* x / max(|x|, 1e-6) over the last axis. */
hone_status tf_l2_normalise(struct tf_op *op) {
  static const int64_t last[] = {-1};
  struct value *x;
  int64_t activation;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_option(op, 0, FLAT_I8, 0, &activation));
  if (activation) return tf_refuse(op, "with fused activation %lld", (long long)activation);
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_l2_normalise(op);
  TRY(tf_value(op, tf_in(op, 0), &x));
  return tf_write(op, 0, false,
                  x_2(op->b, OP_Div, x,
                      x_by(op->b, OP_Max, x_reduce(op->b, OP_ReduceL2, x, last, 1, 1), 1e-6)));
}

/* Options radius, bias, alpha, beta; ONNX divides alpha by the window's size. The window is
 * TensorFlow's, radius on both sides; LiteRT's reference kernel (not its fast one) omits the last
 * element. */
hone_status tf_lrn(struct tf_op *op) {
  int64_t radius;
  double bias, alpha, beta;
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_option(op, 0, FLAT_I32, 0, &radius));
  TRY(flat_float(&op->options, 1, 0, &bias));
  TRY(flat_float(&op->options, 2, 0, &alpha));
  TRY(flat_float(&op->options, 3, 0, &beta));
  if (radius < 0 || radius > INT32_MAX / 4)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "radius %lld", (long long)radius);
  double size = (double)(2 * radius + 1);
  TRY(tf_image(op, tf_in(op, 0), &x));
  struct value *y = x_args(op->b, OP_LRN, VALUES(x),
                           ARGS(INT_ARG("size", 2 * radius + 1), FLOAT_ARG("bias", bias),
                                FLOAT_ARG("alpha", alpha * size), FLOAT_ARG("beta", beta)));
  return tf_write(op, 0, true, y);
}

/* RESIZE_BILINEAR (parameter 1; options 2, 3) and RESIZE_NEAREST_NEIGHBOR (0, 1): x, [h, w];
   options align_corners, half_pixel_centers. */
hone_status tf_resize(struct tf_op *op) {
  int64_t align, half, size[2], all[4];
  size_t count;
  struct value *x;
  bool bilinear = op->kind->parameter != 0;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_option(op, bilinear ? 2 : 0, FLAT_U8, 0, &align));
  TRY(tf_option(op, bilinear ? 3 : 1, FLAT_U8, 0, &half));
  TRY(tf_ints(op, 1, 2, size, &count));
  if (count != 2 || size[0] < 1 || size[1] < 1)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s to %lld x %lld", op->kind->name,
                (long long)size[0], (long long)size[1]);
  if (align && half) return tf_refuse(op, "with both align_corners and half_pixel_centers");
  if (bilinear && tf_is_quantised(tf_in(op, 0))) return tf_quantised_resize(op);
  TRY(tf_image(op, tf_in(op, 0), &x));
  memcpy(all, x->shape.dims, 2 * sizeof *all);
  all[2] = size[0], all[3] = size[1];
  struct value *sizes = x_list(op->b, all, 4);
  const char *how = align ? "align_corners" : half ? "half_pixel" : "asymmetric";
  /* nearest: floor, or rounded with align_corners; half pixels are floor(x + 0.5) */
  const char *nearest = align ? "round_prefer_ceil" : "floor";
  if (!bilinear && half && !align) how = "tf_half_pixel_for_nn";
  struct value *y = x_args(
      op->b, OP_Resize, VALUES(x, NULL, NULL, sizes),
      ARGS(STRING_ARG("mode", bilinear ? "linear" : "nearest"),
           STRING_ARG("coordinate_transformation_mode", how), STRING_ARG("nearest_mode", nearest)));
  return tf_write(op, 0, true, y);
}

/* -- RFFT2D: a matmul with the cosines and sines of a constant length, as a pair of values */

static hone_status fourier_matrix(struct tf_op *op, int64_t in, int64_t length, int64_t bins,
                                  bool sine, struct value **out) {
  double *numbers;
  struct shape shape = {.rank = 2, .dims = {in, bins}};
  int64_t elements;
  size_t bytes;
  TRY(extent(op->ctx, tf_place(op), HONE_F64, &shape, &elements, &bytes));
  if (bytes > (size_t)op->ctx->limits[LIMIT_fold_bytes])
    return fail(op->ctx, HONE_E_LIMIT, tf_place(op), "a Fourier transform of length %lld",
                (long long)length);
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, numbers, (size_t)elements));
  for (int64_t n = 0; n < in; n++)
    for (int64_t k = 0; k < bins; k++) {
      double angle = 2 * 3.14159265358979323846 * (double)(n * k % length) / (double)length;
      numbers[n * bins + k] = sine ? -sin(angle) : cos(angle);
    }
  return x_give(op->b, out, x_numbers(op->b, HONE_F32, &shape, numbers));
}

/* x [.., h, w], lengths [h', w'] with h = h' = 1; rows are cropped or padded with zeros to w'. */
hone_status tf_rfft(struct tf_op *op) {
  int64_t lengths[2];
  size_t count;
  struct value *x, *matrix;
  TRY(tf_arity(op, 2, 2, 1));
  TRY(tf_ints(op, 1, 2, lengths, &count));
  TRY(tf_value(op, tf_in(op, 0), &x));
  int rank = x->shape.rank;
  if (count != 2 || rank < 2 || lengths[1] < 1 || lengths[0] < 1 || lengths[1] > 1 << 24)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "RFFT2D of rank %d", rank);
  if (lengths[0] != 1 || x->shape.dims[rank - 2] != 1)
    return tf_refuse(op, "of %lld rows", (long long)lengths[0]);
  if (!tf_out(op, 0)->is_complex)
    return fail(op->ctx, HONE_E_TYPE, tf_place(op), "RFFT2D to numbers that are not complex");
  int64_t width = x->shape.dims[rank - 1], bins = lengths[1] / 2 + 1;
  if (width > lengths[1]) {
    x = x_op(op->b, OP_Slice,
             VALUES(x, x_list(op->b, (int64_t[]){0}, 1), x_list(op->b, &lengths[1], 1),
                    x_list(op->b, (int64_t[]){rank - 1}, 1)));
    width = lengths[1];
  }
  TRY(fourier_matrix(op, width, lengths[1], bins, false, &matrix));
  struct value *real = x_2(op->b, OP_MatMul, x, matrix);
  TRY(fourier_matrix(op, width, lengths[1], bins, true, &matrix));
  struct value *imaginary = x_2(op->b, OP_MatMul, x, matrix);
  tf_out(op, 0)->imaginary = imaginary;
  return tf_write(op, 0, false, real);
}

/* REAL (0), IMAG (1), COMPLEX_ABS (2) */
hone_status tf_complex_part(struct tf_op *op) {
  struct value *x;
  struct tf_tensor *in = tf_in(op, 0);
  TRY(tf_arity(op, 1, 1, 1));
  if (!in->is_complex)
    return fail(op->ctx, HONE_E_TYPE, tf_place(op), "%s of real numbers", op->kind->name);
  TRY(tf_value(op, in, &x));
  if (op->kind->parameter == 0) return tf_write(op, 0, false, x);
  if (op->kind->parameter == 1) return tf_write(op, 0, false, in->imaginary);
  struct value *y = x_2(op->b, OP_Mul, x, x);
  return tf_write(
      op, 0, false,
      x_1(op->b, OP_Sqrt, x_2(op->b, OP_Add, y, x_2(op->b, OP_Mul, in->imaginary, in->imaginary))));
}

/* -- REDUCE_WINDOW */

/* A window's sizes, strides, dilations, and number of positions. */
struct sliding {
  int rank;
  int64_t sizes[HONE_MAX_RANK], steps[HONE_MAX_RANK], apart[HONE_MAX_RANK], places[HONE_MAX_RANK];
  int64_t elements; /* of the window */
};

static hone_status read_sliding(struct tf_op *op, const struct shape *shape, struct sliding *w) {
  enum { MOST_ELEMENTS = 4096 }; /* each element is a node */
  int64_t *const lists[] = {w->sizes, w->steps, w->apart};
  w->rank = shape->rank;
  w->elements = 1;
  for (size_t k = 0; k < COUNT(lists); k++) {
    size_t count;
    TRY(tf_ints(op, 2 + k, HONE_MAX_RANK, lists[k], &count));
    bool fits = (int)count == w->rank;
    for (size_t d = 0; d < count; d++) fits = fits && lists[k][d] >= 1;
    if (!fits)
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: input %zu does not fit rank %d",
                  op->kind->name, 2 + k, w->rank);
  }
  for (int d = 0; d < w->rank; d++) {
    int64_t reach;
    if (!checked_mul(w->elements, w->sizes[d], &w->elements) || w->elements > MOST_ELEMENTS)
      return tf_refuse(op, "with a window of more than %d elements", MOST_ELEMENTS);
    if (!checked_mul(w->sizes[d] - 1, w->apart[d], &reach) || reach >= shape->dims[d])
      return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: a window larger than the tensor",
                  op->kind->name);
    w->places[d] = (shape->dims[d] - reach - 1) / w->steps[d] + 1;
  }
  return HONE_OK;
}

/* Element `at` of the window, at all its positions. */
static struct value *window_element(struct tf_op *op, const struct sliding *w, struct value *x,
                                    int64_t at) {
  int64_t starts[HONE_MAX_RANK], ends[HONE_MAX_RANK], axes[HONE_MAX_RANK];
  struct value *operands[5] = {x};
  for (int d = w->rank - 1; d >= 0; d--) {
    axes[d] = d;
    starts[d] = at % w->sizes[d] * w->apart[d];
    ends[d] = starts[d] + (w->places[d] - 1) * w->steps[d] + 1;
    at /= w->sizes[d];
  }
  const int64_t *const lists[] = {starts, ends, axes, w->steps};
  for (size_t k = 0; k < COUNT(lists); k++)
    operands[1 + k] = x_list(op->b, lists[k], (size_t)w->rank);
  return x_op(op->b, OP_Slice, operands, COUNT(operands));
}

/* x, the initial value, window sizes, strides and dilations; option 0: the function. Window
 * elements are combined one after the other, as in LiteRT: float results depend on the order. */
hone_status tf_reduce_window(struct tf_op *op) {
  static const enum op_id ids[] = {[1] = OP_Add, OP_Mul, OP_Min, OP_Max, OP_And, OP_Or};
  int64_t what;
  struct sliding w;
  struct value *x, *y;
  TRY(tf_arity(op, 5, 5, 1));
  TRY(tf_option(op, 0, FLAT_I32, 0, &what));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(tf_value(op, tf_in(op, 1), &y));
  const hone_dtype dtype = x->dtype;
  if (what < 1 || what >= (int64_t)COUNT(ids))
    return tf_refuse(op, "with function %lld", (long long)what);
  if (tf_is_quantised(tf_in(op, 0)) && what < 3) return tf_refuse(op, "of quantised numbers");
  if (make_elements(y) != 1)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: input 1 is not one number",
                op->kind->name);
  TRY(read_sliding(op, &x->shape, &w));
  if (what > 4) {
    x = x_cast(op->b, x, HONE_BOOL);
    y = x_cast(op->b, y, HONE_BOOL);
  }
  y = x_reshape(op->b, y, NULL, 0);
  for (int64_t at = 0; at < w.elements; at++)
    BUILD(op->b, y = x_2(op->b, ids[what], y, window_element(op, &w, x, at)));
  BUILD(op->b, y = x_cast(op->b, y, dtype));
  return tf_write(op, 0, false, y);
}
