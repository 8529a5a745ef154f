/* tables: functions of one quantised number, of two int8 numbers, and softmax, by tables that are
 * computed here, bit-exact with the format's reference kernels. An 8-bit number has 256 entries, a
 * 16-bit number 65536. */
#include "core/ops/operators/fixed_point.h"
#include "tflite.h"

#include <math.h>
#include <stdlib.h>

enum { BYTES = 256, WORDS = 65536 };
/* BuiltinOperator */
enum {
  LOGISTIC = 14,
  TANH = 28,
  EXP = 47,
  LOG = 73,
  SQRT = 75,
  RSQRT = 76,
  LEAKY_RELU = 98,
  ABS = 101,
  ELU = 111,
  GELU = 150,
};

struct scales {
  double from, to, low, high;
  int64_t from_zero, to_zero;
};

static hone_status read_scales(struct tf_op *op, struct scales *s) {
  TRY(tf_one_scale(op, tf_in(op, 0), &s->from, &s->from_zero));
  TRY(tf_one_scale(op, tf_out(op, 0), &s->to, &s->to_zero));
  tf_type_range(tf_out(op, 0)->dtype, &s->low, &s->high);
  return HONE_OK;
}

/* The number for entry i of a table: an 8-bit sign is in the index, as Gather counts negative
 * indices from the end. */
static int64_t number_at(hone_dtype dtype, int64_t i) {
  return dtype == HONE_I16 ? i + INT16_MIN : dtype == HONE_I8 ? (int8_t)i : i;
}

/* Gather from `results`, one for each value of x, in the order of number_at. */
static struct value *look_up(struct tf_op *op, struct value *x, const double *results,
                             hone_dtype dtype) {
  const bool is_word = x->dtype == HONE_I16;
  const struct shape shape = {.rank = 1, .dims = {is_word ? WORDS : BYTES}};
  struct value *table = x_numbers(op->b, dtype, &shape, results);
  x = x_cast(op->b, x, HONE_I32);
  if (is_word) x = x_by(op->b, OP_Add, x, -INT16_MIN);
  return x_gather(op->b, table, x, 0);
}

/* -- 8-bit numbers */

/* EXP, LOG, ELU, TANH to another scale and, by its option, GELU. */
static double in_float(const struct tf_op *op, bool approximate, double x) {
  switch (op->kind->code) {
    case EXP:
      return (double)expf((float)x);
    case LOG:
      return (double)logf((float)x);
    case TANH:
      return (double)tanhf((float)x);
    case ELU:
      return x < 0 ? (double)expm1f((float)x) : x;
    default:
      return 0.5 * x *
             (1 + (approximate ? tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))
                               : erf(x * 0.7071067811865476)));
  }
}

/* TANH to the scale of its fixed-point form. */
static bool is_own_scale(const struct scales *t) {
  return t->to == 1.0 / 128 && t->to_zero == (t->low < 0 ? 0 : 128);
}

/* LOGISTIC and TANH in fixed point with four integer bits; clamped out of their range. */
static double in_fixed_point(struct tf_op *op, const struct scales *t, int64_t x) {
  int32_t multiplier;
  int shift;
  bool is_logistic = op->kind->code == LOGISTIC;
  tf_multiplier(t->from * (double)(INT64_C(1) << 27), &multiplier, &shift);
  int64_t radius = (int64_t)floor(15.0 * (double)(INT64_C(1) << 27) / ldexp(1, shift));
  int64_t centre = x - t->from_zero;
  if (centre <= -radius) return t->low;
  if (centre >= radius) return t->high;
  int32_t fixed = fixed_rescale((int32_t)centre, multiplier, shift);
  int64_t y = fixed_divide_by_pot(is_logistic ? fixed_logistic(fixed) : fixed_tanh(fixed),
                                  is_logistic ? 23 : 24);
  int64_t limit = is_logistic ? 255 : 127;
  if (y > limit) y = limit;
  return (double)(is_logistic ? y + (int64_t)t->low : t->low == 0 ? y + 128 : y);
}

static hone_status leaky(struct tf_op *op, const struct scales *t, int64_t x, double *out) {
  double alpha;
  int32_t multiplier;
  int shift;
  TRY(flat_float(&op->options, 0, 0, &alpha));
  int64_t centre = x - t->from_zero;
  tf_multiplier((double)(centre >= 0 ? (float)t->from / (float)t->to
                                     : (float)t->from * (float)alpha / (float)t->to),
                &multiplier, &shift);
  *out = (double)(t->to_zero + fixed_rescale((int32_t)centre, multiplier, shift));
  return HONE_OK;
}

static double absolute(const struct scales *t, int64_t x) {
  int32_t multiplier, centre = (int32_t)llabs(x - t->from_zero);
  int shift;
  if (t->from == t->to) return (double)(centre + t->to_zero);
  tf_multiplier((double)((float)t->from / (float)t->to), &multiplier, &shift);
  return (double)(fixed_rescale(centre, multiplier, shift) + t->to_zero);
}

/* 1 / sqrt(x) with 20 fractional bits; the largest number unless x is positive. */
static double inverse_root(const struct scales *t, int64_t x) {
  enum { MORE = 20 };
  const int32_t centre = (int32_t)(x - t->from_zero);
  int32_t multiplier;
  int shift, right;
  if (centre <= 0) return t->high;
  const int32_t root = fixed_inverse_root(centre, &right);
  const int32_t fixed = fixed_rescale(1, root, MORE - right);
  tf_multiplier(1 / (double)(sqrtf((float)t->from) * (float)t->to), &multiplier, &shift);
  return (double)(fixed_rescale(fixed, multiplier, shift - MORE) + t->to_zero);
}

static hone_status byte_entry(struct tf_op *op, const struct scales *t, int64_t x, double *out) {
  const int code = op->kind->code;
  switch (code == TANH && !is_own_scale(t) ? EXP : code) {
    case LEAKY_RELU:
      TRY(leaky(op, t, x, out));
      break;
    case ABS:
      *out = absolute(t, x);
      break;
    case RSQRT:
      *out = inverse_root(t, x);
      break;
    case LOGISTIC:
    case TANH:
      *out = in_fixed_point(op, t, x);
      break;
    case SQRT: { /* towards zero */
      const float y = sqrtf((float)t->from * (float)(x - t->from_zero)) / (float)t->to;
      *out = (isnan(y) ? t->low : trunc((double)y)) + (double)t->to_zero;
      break;
    }
    /* the kernels' table of floats: multiplied by the inverse of the scale, which differs from the
     * quotient and may be infinite */
    default: {
      int64_t approximate = 0;
      if (op->kind->code == GELU) TRY(tf_option(op, 0, FLAT_U8, 0, &approximate));
      const double y =
          in_float(op, approximate, (double)((float)t->from * (float)(x - t->from_zero)));
      const double steps = (double)((float)y * (1.0f / (float)t->to));
      *out = isnan(steps) ? t->low : round(steps) + (double)t->to_zero;
    }
  }
  *out = fmin(fmax(*out, t->low), t->high);
  return HONE_OK;
}

/* -- 16-bit numbers, zero points 0 */

/* LOGISTIC and TANH: 256 samples of the first, 24 per unit, linearly interpolated, shifted by half
 * of their error in the middle. TANH is two LOGISTIC of twice the argument minus 1. */
struct sigmoid {
  int64_t multiplier;
  int shift;
  uint32_t samples[BYTES];
};

static double logistic_of(double x) { return 65536 / (1 + exp(-x)); }

/* Scales of 2^-12 (TANH: also 2^-11) are exact; other ones become a 15-bit multiplier. */
static void plan_sigmoid(double scale, bool is_tanh, struct sigmoid *s) {
  const double threefold = scale * 4096 * 3;
  s->multiplier = 3, s->shift = 0;
  if (is_tanh && scale == ldexp(1, -11)) s->multiplier = 6;
  if (scale != ldexp(1, -12) && !(is_tanh && scale == ldexp(1, -11))) {
    double multiplier = threefold;
    for (; multiplier <= 32767.0 / 2 && s->shift <= 30; multiplier *= 2) s->shift++;
    s->multiplier = (int64_t)fmin(multiplier, 32767);
  }
  for (int i = 0; i < BYTES; i++) {
    const double here = logistic_of(i / 24.0), line = (here + logistic_of((i + 1) / 24.0)) / 2;
    s->samples[i] = (uint32_t)round(here + (logistic_of((i + 0.5) / 24.0) - line) / 2);
  }
  s->samples[BYTES - 1] = 65535;
}

static double sigmoid_entry(const struct sigmoid *s, bool is_tanh, int64_t x) {
  const int bits = is_tanh ? 8 : 9;
  const int64_t rounding = s->shift > 0 ? INT64_C(1) << (s->shift - 1) : 0;
  const int64_t scaled = (x * s->multiplier + rounding) >> s->shift, size = llabs(scaled);
  const int64_t at = size >> bits, part = size & ((1 << bits) - 1);
  int64_t y = is_tanh ? 0xffff << 8 : 0x7fff << 10;
  if (at < BYTES - 1)
    y = ((int64_t)s->samples[at] << bits) +
        part * ((int64_t)s->samples[at + 1] - (int64_t)s->samples[at]);
  if (is_tanh) return (double)((scaled >= 0 ? y - (1 << 23) + 128 : -y + (1 << 23) + 127) >> 8);
  return (double)((scaled >= 0 ? y + 512 : (1 << 25) - y + 511) >> 10);
}

static float exp_of(float x, float otherwise) {
  (void)otherwise;
  return expf(x);
}
static float log_of(float x, float otherwise) { return x > 0 ? logf(x) : otherwise; }
static float inverse_root_of(float x, float otherwise) {
  return x > 0 ? 1.0f / sqrtf(x) : otherwise;
}
static float gelu_of(float x, float otherwise) {
  (void)otherwise;
  return 0.5f * x * (1 + erff(x * 0.70710678118654752f));
}
static float gelu_near(float x, float otherwise) {
  (void)otherwise;
  return 0.5f * x * (1 + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
}
static float inverse_after_one(float x, float otherwise) {
  (void)otherwise;
  return 1.0f / (1.0f + x);
}

static hone_status fill_curve(struct tf_op *op, const struct scales *t, double *results) {
  int16_t curve[CURVE_POINTS];
  const int code = op->kind->code;
  int64_t is_near = 0;
  if (code == GELU) TRY(tf_option(op, 0, FLAT_U8, 0, &is_near));
  const float from = (float)t->from, to = (float)t->to, least = to * INT16_MIN,
              most = to * INT16_MAX;
  curve_sample(code == EXP    ? exp_of
               : code == LOG  ? log_of
               : code != GELU ? inverse_root_of
               : is_near      ? gelu_near
                              : gelu_of,
               code == LOG ? least : most, from * INT16_MIN, from * INT16_MAX,
               65536 / (most - least), curve);
  for (int i = 0; i < WORDS; i++) results[i] = curve_at(curve, i + INT16_MIN);
  return HONE_OK;
}

static hone_status fill_words(struct tf_op *op, const struct scales *t, double *results) {
  const int code = op->kind->code;
  struct sigmoid sigmoid = {.multiplier = 0};
  if (t->from_zero || t->to_zero) return tf_refuse(op, "of 16-bit numbers with a zero point");
  if (code == EXP || code == LOG || code == RSQRT || code == GELU)
    return fill_curve(op, t, results);
  const bool is_sigmoid = code == LOGISTIC || code == TANH;
  if (!is_sigmoid && code != LEAKY_RELU && code != ABS && code != SQRT)
    return tf_refuse(op, "of 16-bit numbers");
  if (is_sigmoid) {
    if (t->to != ldexp(1, -15))
      return tf_refuse(op, "to 16-bit numbers of a scale other than 2^-15");
    plan_sigmoid(t->from, code == TANH, &sigmoid);
  }
  for (int i = 0; i < WORDS; i++) {
    if (!is_sigmoid)
      TRY(byte_entry(op, t, i + INT16_MIN, &results[i]));
    else
      results[i] = sigmoid_entry(&sigmoid, code == TANH, i + INT16_MIN);
  }
  return HONE_OK;
}

hone_status tf_quantised_table(struct tf_op *op) {
  static const int known[] = {LOGISTIC, TANH, EXP, LOG, SQRT, RSQRT, LEAKY_RELU, ABS, ELU, GELU};
  struct scales t;
  double *results;
  struct value *x;
  bool is_known = false;
  struct tf_tensor *in = tf_in(op, 0), *out = tf_out(op, 0);
  if (op->kind->parameter == OP_Relu) return tf_quantised_relu(op);
  if (op->kind->parameter == OP_Neg) return tf_quantised_negative(op);
  for (size_t k = 0; k < COUNT(known); k++) is_known |= op->kind->code == known[k];
  if (!is_known || (in->dtype == HONE_I16) != (out->dtype == HONE_I16))
    return tf_refuse(op, "of quantised numbers");
  TRY(read_scales(op, &t));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, results, WORDS));
  if (in->dtype == HONE_I16) TRY(fill_words(op, &t, results));
  for (int i = 0; i < BYTES && in->dtype != HONE_I16; i++)
    TRY(byte_entry(op, &t, number_at(in->dtype, i), &results[i]));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, in, image, &x));
  return tf_write(op, 0, image, look_up(op, x, results, out->dtype));
}

/* -- DIV of 8-bit numbers: a table of every pair */

struct quotient {
  int64_t zeros[2], to_zero;
  int32_t multiplier;
  int shift;
  double low, high;
};

/* a / b by the inverse of b; division by zero, which the format leaves undefined, gives the bound
 * with the sign of a. A shift by more than 31, for quotients far below one, is undefined too: it is
 * clamped to 31, which gives the correct zero. */
static double quotient_of(const struct quotient *q, int64_t x, int64_t y) {
  const int32_t a = (int32_t)(x - q->zeros[0]), b = (int32_t)(y - q->zeros[1]);
  int bits;
  if (!b) return a < 0 ? q->low : q->high;
  const int32_t inverse = fixed_inverse(b < 0 ? -b : b, 31, &bits);
  const int headroom = __builtin_clrsb(a);
  const int32_t shifted = (int32_t)((uint32_t)a << headroom);
  const int32_t whole = fixed_multiply(shifted, b < 0 ? -inverse : inverse);
  const int right = bits + headroom - q->shift;
  const double z = (double)(q->to_zero + fixed_divide_by_pot(fixed_multiply(whole, q->multiplier),
                                                             right > 31 ? 31 : right));
  return fmin(fmax(z, q->low), q->high);
}

hone_status tf_quantised_quotient(struct tf_op *op) {
  struct quotient q;
  double scales[2], to, *results;
  struct value *in[2];
  const hone_dtype dtype = tf_in(op, 0)->dtype;
  const struct shape shape = {.rank = 1, .dims = {WORDS}};
  if (tf_in(op, 1)->dtype != dtype || tf_out(op, 0)->dtype != dtype)
    return tf_refuse(op, "of numbers of several types");
  if (dtype == HONE_I16) return tf_word_quotient(op);
  for (size_t k = 0; k < 2; k++) TRY(tf_one_scale(op, tf_in(op, k), &scales[k], &q.zeros[k]));
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &q.to_zero));
  TRY(tf_range(op, 0, &q.low, &q.high));
  tf_multiplier((double)((float)scales[0] / ((float)scales[1] * (float)to)), &q.multiplier,
                &q.shift);
  if (q.shift > 20) return tf_refuse(op, "with scales of %g and %g", scales[0], scales[1]);
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, results, WORDS));
  const int least = dtype == HONE_I8 ? INT8_MIN : 0;
  for (int i = 0; i < WORDS; i++)
    results[i] = quotient_of(&q, i / BYTES + least, i % BYTES + least);
  bool image = tf_follows_images(op, 2);
  for (size_t k = 0; k < 2; k++) {
    TRY(tf_read(op, tf_in(op, k), image, &in[k]));
    BUILD(op->b, in[k] = x_cast(op->b, in[k], HONE_I32));
  }
  BUILD(op->b, in[0] = x_by(op->b, OP_Mul, in[0], BYTES));
  struct value *z = x_2(op->b, OP_Add, in[0], in[1]);
  if (least) z = x_by(op->b, OP_Sub, z, least * (BYTES + 1));
  z = x_gather(op->b, x_numbers(op->b, dtype, &shape, results), z, 0);
  return tf_write(op, 0, image, z);
}

/* -- softmax: exp of every possible distance to the largest element */

/* 16-bit numbers: exp from -10 to 0, then 1 / (1 + x) of the sum scaled to [1, 2), both sampled. */
static hone_status softmax_words(struct tf_op *op, double scale, double beta, struct value *x,
                                 int64_t axis, struct value **out) {
  const struct shape shape = {.rank = 1, .dims = {WORDS}}, points = {1, {CURVE_POINTS}};
  int16_t curve[CURVE_POINTS];
  double *entries;
  int32_t multiplier;
  int shift;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, entries, WORDS));
  tf_multiplier((double)((float)scale * (float)beta) / (10.0 / 65535.0), &multiplier, &shift);
  if (shift > 14) return tf_refuse(op, "with a scale of %g", scale);
  curve_sample(exp_of, 0, -10, 0, 32768, curve);
  for (int d = 0; d < WORDS; d++) {
    const int64_t at = (int64_t)fixed_rescale(-d, multiplier, shift) + INT16_MAX;
    entries[d] = curve_at(curve, (int)(at < INT16_MIN ? INT16_MIN : at));
  }
  struct value *exps = x_numbers(op->b, HONE_I16, &shape, entries);
  curve_sample(inverse_after_one, 0, 0, 1, 32768, curve);
  for (int i = 0; i < CURVE_POINTS; i++) entries[i] = curve[i];
  return x_give(
      op->b, out,
      x_args(op->b, OP_TableSoftmax, VALUES(x, exps, x_numbers(op->b, HONE_I16, &points, entries)),
             ARGS(INT_ARG("axis", axis), INT_ARG("to", HONE_I16))));
}

/* 8-bit numbers: five integer bits. */
static hone_status softmax_bytes(struct tf_op *op, double scale, double beta, struct value *x,
                                 int64_t axis, struct value **out) {
  const struct shape shape = {.rank = 1, .dims = {BYTES}};
  double entries[BYTES] = {0};
  int32_t multiplier;
  int shift;
  tf_multiplier(fmin(beta * scale * (1 << 26), 2147483647.0), &multiplier, &shift);
  if (shift < 0) return tf_refuse(op, "with a scale of %g", scale);
  double radius = floor(31.0 * (1 << 26) / ldexp(1, shift));
  for (int d = 0; d < BYTES && d <= radius; d++)
    entries[d] = fixed_exp_of_negative(fixed_rescale(-d, multiplier, shift));
  struct value *table = x_numbers(op->b, HONE_I32, &shape, entries);
  return x_give(op->b, out,
                x_args(op->b, OP_TableSoftmax, VALUES(x, table),
                       ARGS(INT_ARG("axis", axis), INT_ARG("to", (int64_t)tf_out(op, 0)->dtype))));
}

/* The kernel writes probabilities with a scale that the format fixes, independent of the file's. */
static hone_status check_share_scale(struct tf_op *op) {
  static const struct {
    enum hone_dtype in, out;
    int64_t steps, zero;
  } rows[] = {{HONE_I8, HONE_I8, 256, -128},
              {HONE_U8, HONE_U8, 256, 0},
              {HONE_I8, HONE_I16, 65536, -32768},
              {HONE_I16, HONE_I16, 32768, 0}};
  double scale;
  int64_t zero;
  TRY(tf_one_scale(op, tf_out(op, 0), &scale, &zero));
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (rows[i].in != tf_in(op, 0)->dtype || rows[i].out != tf_out(op, 0)->dtype) continue;
    if (zero == rows[i].zero && fabs(scale * (double)rows[i].steps - 1) < 0.001) return HONE_OK;
    return tf_refuse(op, "to a scale other than 1/%lld", (long long)rows[i].steps);
  }
  return tf_refuse(op, "of these element types");
}

hone_status tf_quantised_softmax(struct tf_op *op) {
  double beta, scale;
  int64_t zero;
  struct value *x, *y;
  struct tf_tensor *in = tf_in(op, 0);
  const bool is_word = in->dtype == HONE_I16;
  if (op->kind->parameter) return tf_refuse(op, "of these element types");
  TRY(check_share_scale(op));
  TRY(flat_float(&op->options, 0, 0, &beta));
  TRY(tf_one_scale(op, in, &scale, &zero));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, in, image, &x));
  TRY((is_word ? softmax_words : softmax_bytes)(op, scale, beta, x, image ? 1 : -1, &y));
  return tf_write(op, 0, image, y);
}

/* -- L2_NORMALIZATION of 8-bit numbers: to 1/128, by a fixed-point inverse root of the sum of
 * squares */

hone_status tf_quantised_l2_normalise(struct tf_op *op) {
  double from, to;
  int64_t from_zero, to_zero;
  struct value *x;
  struct tf_tensor *in = tf_in(op, 0), *out = tf_out(op, 0);
  if (!dtype_is_byte(in->dtype) || out->dtype != in->dtype)
    return tf_refuse(op, "of 16-bit numbers");
  TRY(tf_one_scale(op, in, &from, &from_zero));
  TRY(tf_one_scale(op, out, &to, &to_zero));
  if (to != 1.0 / 128 || to_zero != (out->dtype == HONE_U8 ? 128 : 0))
    return tf_refuse(op, "to another scale than 1/128");
  TRY(tf_value(op, in, &x));
  return tf_write(op, 0, false,
                  x_args(op->b, OP_NormalizeBytes, VALUES(x),
                         ARGS(INT_ARG("axis", -1), INT_ARG("zero_point", from_zero))));
}
