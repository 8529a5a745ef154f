/* products: quantised REDUCE_PROD and 16-bit DIV, bit-exact with the format's reference kernels. */
#include "core/ops/operators/fixed_point.h"
#include "tflite.h"

#include <math.h>

/* -- REDUCE_PROD: rescaled to 32 bits after each factor, by the share of the result's scale per
 * factor */

/* x in 64 bits as [rest, count], with the axes of input 1 last; dims: of the result. */
struct factors {
  struct value *x;
  int64_t count, dims[HONE_MAX_RANK];
  size_t rank;
};

static hone_status read_factors(struct tf_op *op, int64_t zero, struct factors *f) {
  int64_t axes[HONE_MAX_RANK], perm[HONE_MAX_RANK], keep, rest = 1;
  bool is_reduced[HONE_MAX_RANK] = {false};
  size_t axis_count, at = 0;
  struct value *x;
  TRY(tf_option(op, 0, FLAT_U8, 0, &keep));
  TRY(tf_ints(op, 1, HONE_MAX_RANK, axes, &axis_count));
  TRY(tf_value(op, tf_in(op, 0), &x));
  const int rank = x->shape.rank;
  for (size_t i = 0; i < axis_count; i++) {
    TRY(tf_axis(op, axes[i], rank, &axes[i]));
    is_reduced[axes[i]] = true;
  }
  *f = (struct factors){.count = 1};
  for (int last = 0; last < 2; last++)
    for (int d = 0; d < rank; d++) {
      if (is_reduced[d] != last) continue;
      perm[at++] = d;
      if (!checked_mul(last ? f->count : rest, x->shape.dims[d], last ? &f->count : &rest))
        return tf_refuse(op, "of that many elements");
    }
  for (int d = 0; d < rank; d++)
    if (!is_reduced[d] || keep) f->dims[f->rank++] = is_reduced[d] ? 1 : x->shape.dims[d];
  BUILD(op->b, x = x_cast(op->b, x_transpose(op->b, x, perm), HONE_I64));
  if (zero) BUILD(op->b, x = x_by(op->b, OP_Sub, x, (double)zero));
  return x_give(op->b, &f->x, x_reshape(op->b, x, (const int64_t[]){rest, f->count}, 2));
}

static struct value *factor_at(struct tf_op *op, const struct factors *f, int64_t k) {
  return x_gather(op->b, f->x, x_scalar(op->b, HONE_I64, (double)k), 1);
}

hone_status tf_quantised_reduced_product(struct tf_op *op) {
  enum { MOST_FACTORS = 1024 }; /* each factor is a few nodes */
  double from, to;
  int64_t from_zero, to_zero;
  struct factors f;
  struct value *y, *factor;
  TRY(tf_one_scale(op, tf_in(op, 0), &from, &from_zero));
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &to_zero));
  TRY(read_factors(op, from_zero, &f));
  if (f.count < 1 || f.count > MOST_FACTORS)
    return tf_refuse(op, "of %lld quantised numbers", (long long)f.count);
  const double scale = from / pow(to, 1 / (double)f.count);
  const struct tf_rescale step = {.scales = &scale, .count = 1, .dtype = HONE_I32};
  struct tf_rescale last = step;
  last.dtype = tf_out(op, 0)->dtype;
  last.zero_point = to_zero;
  BUILD(op->b, y = factor_at(op, &f, 0));
  for (int64_t k = 1; k < f.count; k++) {
    factor = factor_at(op, &f, k);
    BUILD(op->b, y = x_2(op->b, OP_Mul, y, factor));
    TRY(tf_rescale(op, y, &step, &y));
    BUILD(op->b, y = x_cast(op->b, y, HONE_I64));
  }
  TRY(tf_rescale(op, y, &last, &y));
  BUILD(op->b, y = x_reshape(op->b, y, f.dims, (int)f.rank));
  return tf_write(op, 0, false, y);
}

/* -- DIV of 16-bit numbers: the dividend, shifted left as far as possible, times the inverse of the
 * divisor. Both are tables with their shifts */

enum { WORDS = 65536, LEAST = INT16_MIN };
struct division {
  struct value *dividends, *headrooms, *inverses, *bits; /* tables of i32 */
};

static hone_status fill_division(struct tf_op *op, struct division *d) {
  const struct shape shape = {1, {WORDS}};
  double *numbers, *shifts;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, numbers, WORDS));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, shifts, WORDS));
  for (int i = 0; i < WORDS; i++) {
    const int32_t x = i + LEAST;
    const int headroom = __builtin_clrsb(x);
    numbers[i] = (int32_t)((uint32_t)x << headroom), shifts[i] = headroom;
  }
  BUILD(op->b, d->dividends = x_numbers(op->b, HONE_I32, &shape, numbers));
  BUILD(op->b, d->headrooms = x_numbers(op->b, HONE_I32, &shape, shifts));
  for (int i = 0; i < WORDS; i++) {
    const int32_t x = i + LEAST;
    int bits = 0;
    const int32_t inverse = x ? fixed_inverse(x < 0 ? -x : x, 31, &bits) : 0;
    numbers[i] = x < 0 ? -inverse : inverse, shifts[i] = bits;
  }
  BUILD(op->b, d->inverses = x_numbers(op->b, HONE_I32, &shape, numbers));
  return x_give(op->b, &d->bits, x_numbers(op->b, HONE_I32, &shape, shifts));
}

/* Entries of two tables at x. */
static hone_status look_up_both(struct tf_op *op, struct value *x, struct value *first,
                                struct value *second, struct value **out_first,
                                struct value **out_second) {
  x = x_by(op->b, OP_Sub, x, LEAST);
  *out_first = x_gather(op->b, first, x, 0);
  return x_give(op->b, out_second, x_gather(op->b, second, x, 0));
}

/* Division by zero, which the format leaves undefined: the bound with the sign of the dividend. */
static struct value *bound_by_zero(struct tf_op *op, struct value *dividend, struct value *divisor,
                                   struct value *low, struct value *high, struct value *y) {
  struct value *none = x_scalar(op->b, HONE_I32, 0);
  struct value *bound = x_3(op->b, OP_Where, x_2(op->b, OP_Less, dividend, none), low, high);
  return x_3(op->b, OP_Where, x_2(op->b, OP_Equal, divisor, none), bound, y);
}

/* x less its zero point, for both operands. */
static hone_status read_words(struct tf_op *op, bool image, double scales[3], struct value *in[2]) {
  int64_t zero;
  for (size_t k = 0; k < 3; k++) {
    TRY(tf_one_scale(op, k < 2 ? tf_in(op, k) : tf_out(op, 0), &scales[k], &zero));
    if (zero) return tf_refuse(op, "of 16-bit numbers with a zero point");
    if (k == 2) break;
    TRY(tf_read(op, tf_in(op, k), image, &in[k]));
    BUILD(op->b, in[k] = x_cast(op->b, in[k], HONE_I32));
  }
  return HONE_OK;
}

hone_status tf_word_quotient(struct tf_op *op) {
  enum { MOST_SHIFT = 15 }; /* otherwise the right shift could be negative */
  double scales[3], least, most;
  int32_t multiplier;
  int shift;
  struct division d;
  struct value *in[2], *a, *b, *headroom, *bits, *high;
  bool image = tf_follows_images(op, 2);
  TRY(read_words(op, image, scales, in));
  TRY(tf_range(op, 0, &least, &most));
  tf_multiplier((double)((float)scales[0] / ((float)scales[1] * (float)scales[2])), &multiplier,
                &shift);
  if (shift > MOST_SHIFT) return tf_refuse(op, "with scales of %g and %g", scales[0], scales[1]);
  TRY(fill_division(op, &d));
  TRY(look_up_both(op, in[0], d.dividends, d.headrooms, &a, &headroom));
  TRY(look_up_both(op, in[1], d.inverses, d.bits, &b, &bits));
  struct value *low = x_scalar(op->b, HONE_I32, 0);
  struct value *y = x_3(op->b, OP_Rescale, a, b, low);
  bits = x_by(op->b, OP_Min, x_by(op->b, OP_Sub, x_2(op->b, OP_Add, headroom, bits), shift), 31);
  y = x_3(op->b, OP_Rescale, y, x_scalar(op->b, HONE_I32, multiplier), bits);
  low = x_scalar(op->b, HONE_I32, least);
  BUILD(op->b, high = x_scalar(op->b, HONE_I32, most));
  return tf_write(
      op, 0, image,
      x_cast(op->b, bound_by_zero(op, in[0], in[1], low, high, x_3(op->b, OP_Clip, y, low, high)),
             tf_out(op, 0)->dtype));
}
