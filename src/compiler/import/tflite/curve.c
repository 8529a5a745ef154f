/* curve: quantised HARD_SWISH, PRELU, SQUARED_DIFFERENCE and BATCH_MATMUL, bit-exact with the
 * format's reference kernels. */
#include "core/ops/operators/fixed_point.h"
#include "tflite.h"

#include <math.h>

enum { TABLE = 256 };

static hone_status rescaled(struct tf_op *op, struct value *x, double scale, hone_dtype dtype,
                            int64_t zero, struct value **out) {
  struct tf_rescale how = {.scales = &scale, .count = 1, .dtype = dtype, .zero_point = zero};
  return tf_rescale(op, x, &how, out);
}

/* -- HARD_SWISH: 16-bit fixed point; the curve times the input, each on its own scale */

static int16_t saturate16(int64_t x) {
  return (int16_t)(x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x);
}

struct swish {
  int16_t curve, output; /* multipliers */
  int curve_shift, output_shift;
  int64_t from_zero, to_zero;
  double low, high;
};

/* x as a 16-bit multiplier and a shift. */
static int16_t multiplier16(double x, int *out_shift) {
  int32_t multiplier;
  tf_multiplier(x, &multiplier, out_shift);
  return multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX
                                             : (int16_t)((multiplier + (1 << 15)) >> 16);
}

static double swish_of(const struct swish *s, int64_t x) {
  int16_t fine = (int16_t)((x - s->from_zero) * 128);
  int16_t scaled = fixed16_multiply(fine, s->output), curve = fine;
  if (s->curve_shift > 0) curve = saturate16(curve * (INT64_C(1) << (s->curve_shift - 1)));
  curve = fixed16_multiply(curve, s->curve);
  if (s->curve_shift > 0) curve = saturate16((int32_t)curve * 2);
  if (s->curve_shift < 0) curve = (int16_t)fixed_divide_by_pot(curve, -s->curve_shift);
  curve = (int16_t)((curve + (1 << 15)) >> 1); /* from [-1, 1] to [0, 1] */
  int32_t y = saturate16((int32_t)curve * scaled / (1 << 15));
  if (s->output_shift < 0) y = fixed_divide_by_pot(y, -s->output_shift);
  return fmin(fmax((double)(y + s->to_zero), s->low), s->high);
}

hone_status tf_quantised_hard_swish(struct tf_op *op) {
  double from, to, results[TABLE];
  struct swish s;
  struct shape shape = {.rank = 1, .dims = {TABLE}};
  struct value *x;
  struct tf_tensor *in = tf_in(op, 0), *out = tf_out(op, 0);
  if (in->dtype == HONE_I16 || out->dtype != in->dtype)
    return tf_refuse(op, "of these element types");
  TRY(tf_one_scale(op, in, &from, &s.from_zero));
  TRY(tf_one_scale(op, out, &to, &s.to_zero));
  tf_type_range(out->dtype, &s.low, &s.high);
  float fine = (1.0f / 128.0f) * (float)from;
  s.output = multiplier16((double)(fine / (float)to), &s.output_shift);
  s.curve = multiplier16((double)(fine / (3.0f / 32768.0f)), &s.curve_shift);
  if (s.output_shift > 0) return tf_refuse(op, "with a scale of %g to %g", from, to);
  for (int i = 0; i < TABLE; i++) results[i] = swish_of(&s, in->dtype == HONE_I8 ? (int8_t)i : i);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, in, image, &x));
  struct value *table = x_numbers(op->b, out->dtype, &shape, results);
  BUILD(op->b, x = x_cast(op->b, x, HONE_I32));
  return tf_write(op, 0, image, x_gather(op->b, table, x, 0));
}

/* -- PRELU: non-negative inputs rescaled, negative ones times the slope */

hone_status tf_quantised_prelu(struct tf_op *op) {
  double from, slope_scale, to;
  int64_t from_zero, slope_zero, to_zero;
  struct value *x, *slope, *y, *z;
  const hone_dtype dtype = tf_out(op, 0)->dtype;
  TRY(tf_one_scale(op, tf_in(op, 0), &from, &from_zero));
  TRY(tf_one_scale(op, tf_in(op, 1), &slope_scale, &slope_zero));
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &to_zero));
  bool image = tf_follows_images(op, 2);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(tf_read(op, tf_in(op, 1), image, &slope));
  x = tf_centred(op, x, from_zero);
  BUILD(op->b, z = x_2(op->b, OP_Mul, x, tf_centred(op, slope, slope_zero)));
  TRY(rescaled(op, x, (double)((float)from / (float)to), dtype, to_zero, &y));
  TRY(rescaled(op, z, (double)((float)from * (float)slope_scale / (float)to), dtype, to_zero, &z));
  return tf_write(op, 0, image,
                  x_3(op->b, OP_Where, x_2(op->b, OP_Less, x, x_scalar(op->b, HONE_I32, 0)), z, y));
}

/* -- SQUARED_DIFFERENCE: both at twice the larger scale with 7 bits more */

hone_status tf_quantised_squared_difference(struct tf_op *op) {
  enum { MORE = 7 };
  double scales[2], to;
  int64_t zeros[2], to_zero;
  struct value *in[2];
  bool image = tf_follows_images(op, 2);
  if (tf_in(op, 0)->dtype == HONE_I16) return tf_refuse(op, "of 16-bit numbers");
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &to_zero));
  for (size_t k = 0; k < 2; k++) TRY(tf_one_scale(op, tf_in(op, k), &scales[k], &zeros[k]));
  const double twice = 2 * fmax(scales[0], scales[1]);
  for (size_t k = 0; k < 2; k++) {
    double scale = scales[k] / twice;
    struct tf_rescale how = {
        .scales = &scale, .count = 1, .offset = zeros[k], .left_shift = MORE, .dtype = HONE_I32};
    TRY(tf_read(op, tf_in(op, k), image, &in[k]));
    TRY(tf_rescale(op, in[k], &how, &in[k]));
  }
  struct value *y = x_2(op->b, OP_Sub, in[0], in[1]);
  BUILD(op->b, y = x_2(op->b, OP_Mul, y, y));
  TRY(rescaled(op, y, twice * twice / (ldexp(1, 2 * MORE) * to), tf_out(op, 0)->dtype, to_zero,
               &y));
  return tf_write(op, 0, image, y);
}

/* -- BATCH_MATMUL, operands already transposed */

hone_status tf_quantised_matmul(struct tf_op *op, struct value *const *in) {
  double scales[2], to;
  int64_t zeros[2], to_zero;
  struct value *points[2], *y, *wide[2];
  const bool is_word = in[0]->dtype == HONE_I16;
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &to_zero));
  for (size_t k = 0; k < 2; k++) {
    TRY(tf_one_scale(op, tf_in(op, k), &scales[k], &zeros[k]));
    points[k] = x_scalar(op->b, in[k]->dtype, (double)zeros[k]);
  }
  if (is_word) { /* sums of 64 bits, exact in double */
    if (zeros[0] || zeros[1]) return tf_refuse(op, "of 16-bit numbers with a zero point");
    for (size_t k = 0; k < 2; k++) wide[k] = x_cast(op->b, in[k], HONE_F64);
    y = x_cast(op->b, x_2(op->b, OP_MatMul, wide[0], wide[1]), HONE_I64);
  } else {
    BUILD(op->b, y = x_op(op->b, OP_MatMulInteger, VALUES(in[0], in[1], points[0], points[1])));
  }
  TRY(rescaled(op, y, (double)((float)scales[0] * (float)scales[1]) / to, tf_out(op, 0)->dtype,
               to_zero, &y));
  return tf_write(op, 0, false, y);
}
