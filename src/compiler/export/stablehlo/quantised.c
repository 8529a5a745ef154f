/* Rules of quantised models: quantisation, integer contractions, and TensorFlow Lite's fixed-point
 * arithmetic (src/core/ops/operators/requantize.c defines the operators). */
#include "core/ops/ops_internal.h"
#include "core/ops/operators/quantize.h"
#include "stablehlo.h"

#include <math.h>

/* -- to and from floats */

/* Input k; 4-bit constants are widened to 8 bits, which StableHLO source can express. */
static hone_status input_of_bits(struct hlo *h, const struct node *node, size_t k,
                                 struct term *out) {
  const struct value *value = node_input(node, k);
  const struct tensor *from = value ? value->constant : NULL;
  struct tensor *to;
  if (!from || (from->dtype != HONE_I4 && from->dtype != HONE_U4))
    return hlo_input(h, node, k, out);
  TRY(tensor_create(h->ctx, h->arena, from->dtype == HONE_I4 ? HONE_I8 : HONE_U8, &from->shape,
                    &to));
  for (size_t i = 0; i < tensor_count(to); i++) tensor_set_i64(to, i, tensor_i64(from, i));
  return hlo_constant(h, to, out);
}

/* Repeats one number per block of `size` elements along an axis; the last block may be shorter. */
static struct term spread_blocks(struct hlo *h, struct term x, int axis, int64_t size,
                                 const struct shape *shape) {
  struct shape wide = {.rank = x.shape.rank + 1}, joined = *shape;
  int64_t places[HONE_MAX_RANK];
  for (int d = 0, at = 0; d < x.shape.rank; d++) {
    places[d] = at;
    wide.dims[at++] = x.shape.dims[d];
    if (d == axis) wide.dims[at++] = size;
  }
  joined.dims[axis] = x.shape.dims[axis] * size;
  x = hlo_reshape(h, hlo_broadcast_dims(h, x, places, &wide), &joined);
  return joined.dims[axis] == shape->dims[axis] ? x : hlo_head(h, x, shape);
}

/* A scale or zero point for every element of x: a scalar, one per index of the axis, or one per
 * block. */
static hone_status spread_operand(struct hlo *h, const struct node *node, size_t k,
                                  const struct shape *shape, hone_dtype dtype, struct term *out) {
  int axis = 0;
  const int64_t block = node_int(node, "block_size", 0);
  TRY(input_of_bits(h, node, k, out));
  *out = hlo_convert(h, *out, dtype);
  if (block > 0 && out->shape.rank == shape->rank && shape->rank < HONE_MAX_RANK) {
    TRY(axis_attribute(h->ctx, node, "axis", 1, shape->rank, &axis));
    *out = spread_blocks(h, *out, axis, block, shape);
    return HONE_OK;
  }
  if (out->shape.rank > 1)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: %s by block", node->op->name);
  if (out->shape.rank && out->shape.dims[0] != 1)
    TRY(axis_attribute(h->ctx, node, "axis", 1, shape->rank, &axis));
  *out = hlo_spread(h, *out, axis, shape);
  return HONE_OK;
}

static hone_status put_dequantize(struct hlo *h, const struct node *node) {
  const hone_dtype dtype = node->outputs[0]->dtype;
  struct term x, scale, zero;
  TRY(input_of_bits(h, node, 0, &x));
  TRY(spread_operand(h, node, 1, &x.shape, dtype, &scale));
  x = hlo_convert(h, x, dtype);
  if (node_input(node, 2)) {
    TRY(spread_operand(h, node, 2, &x.shape, dtype, &zero));
    x = hlo_binary(h, "stablehlo.subtract", x, zero);
  }
  hlo_bind(h, node, 0, hlo_binary(h, "stablehlo.multiply", x, scale));
  return HONE_OK;
}

/* Clamped to the range of the type, and converted. */
static hone_status put_held(struct hlo *h, const struct node *node, struct term x, hone_dtype to) {
  double low, high;
  if (!hlo_type(to) || !integer_range(to, &low, &high))
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: %s to %s", node->op->name,
                dtype_name(to));
  x = hlo_binary(h, "stablehlo.maximum", x, hlo_splat(h, low, x.dtype, &x.shape));
  x = hlo_binary(h, "stablehlo.minimum", x, hlo_splat(h, high, x.dtype, &x.shape));
  hlo_bind(h, node, 0, hlo_convert(h, x, to));
  return HONE_OK;
}

static hone_status put_quantize(struct hlo *h, const struct node *node) {
  struct term x, scale, zero;
  TRY(hlo_input(h, node, 0, &x));
  TRY(spread_operand(h, node, 1, &x.shape, x.dtype, &scale));
  x = hlo_unary(h,
                is_op(node, OP_QuantizeHalfAway) ? "stablehlo.round_nearest_afz"
                                                 : "stablehlo.round_nearest_even",
                hlo_binary(h, "stablehlo.divide", x, scale));
  if (node_input(node, 2)) {
    TRY(spread_operand(h, node, 2, &x.shape, x.dtype, &zero));
    x = hlo_binary(h, "stablehlo.add", x, zero);
  }
  return put_held(h, node, x, node->outputs[0]->dtype);
}

/* Outputs: uint8, scale and zero point, so that the range of x and zero is 255 steps. */
static hone_status put_dynamic_quantize(struct hlo *h, const struct node *node) {
  const bool all[HONE_MAX_RANK] = {true, true, true, true, true, true, true, true};
  const struct shape scalar = {0};
  const struct term none = hlo_splat(h, 0, HONE_F32, &scalar);
  struct term x;
  TRY(hlo_input(h, node, 0, &x));
  const struct term low = hlo_reduce(h, "stablehlo.minimum", 0, x, all);
  const struct term high = hlo_reduce(h, "stablehlo.maximum", 0, x, all);
  const struct term scale =
      hlo_binary(h, "stablehlo.divide", hlo_binary(h, "stablehlo.subtract", high, low),
                 hlo_splat(h, 255, HONE_F32, &scalar));
  /* all zero: any scale represents it */
  const struct term is_flat = hlo_compare(h, "LE", scale, none);
  const struct term divisor = hlo_select(h, is_flat, hlo_splat(h, 1, HONE_F32, &scalar), scale);
  const struct term zero =
      hlo_unary(h, "stablehlo.round_nearest_even",
                hlo_binary(h, "stablehlo.divide", hlo_unary(h, "stablehlo.negate", low), divisor));
  hlo_bind(h, node, 1, scale);
  hlo_bind(h, node, 2, hlo_convert(h, zero, HONE_U8));
  const struct term steps =
      hlo_unary(h, "stablehlo.round_nearest_even",
                hlo_binary(h, "stablehlo.divide", x, hlo_broadcast(h, divisor, &x.shape)));
  return put_held(h, node, hlo_binary(h, "stablehlo.add", steps, hlo_broadcast(h, zero, &x.shape)),
                  HONE_U8);
}

/* -- integer contractions */

/* Input k minus its zero point, a scalar or one per index of the axis. */
static hone_status centred(struct hlo *h, const struct node *node, size_t k, size_t zero_point,
                           int axis, struct term *out) {
  struct term zero;
  TRY(hlo_input(h, node, k, out));
  *out = hlo_convert(h, *out, HONE_I32);
  if (!node_input(node, zero_point)) return HONE_OK;
  TRY(hlo_input(h, node, zero_point, &zero));
  zero = hlo_spread(h, hlo_convert(h, zero, HONE_I32), axis, &out->shape);
  *out = hlo_binary(h, "stablehlo.subtract", *out, zero);
  return HONE_OK;
}

static hone_status sums_of_conv(struct hlo *h, const struct node *node, size_t x_zero, size_t w,
                                size_t w_zero, struct term *out) {
  struct term x, weights;
  TRY(centred(h, node, 0, x_zero, 0, &x));
  TRY(centred(h, node, w, w_zero, 0, &weights));
  return hlo_convolve(h, node, x, weights, out);
}

static hone_status sums_of_matmul(struct hlo *h, const struct node *node, size_t a_zero, size_t b,
                                  size_t b_zero, struct term *out) {
  const int a_rank = node->inputs[0]->shape.rank, b_rank = node->inputs[b]->shape.rank;
  struct term x, weights;
  TRY(centred(h, node, 0, a_zero, a_rank > 1 ? a_rank - 2 : 0, &x));
  TRY(centred(h, node, b, b_zero, b_rank - 1, &weights));
  return hlo_multiply(h, node, x, weights, out);
}

static hone_status put_conv_integer(struct hlo *h, const struct node *node) {
  struct term y;
  TRY(sums_of_conv(h, node, 2, 1, 3, &y));
  hlo_bind(h, node, 0, y);
  return HONE_OK;
}

static hone_status put_matmul_integer(struct hlo *h, const struct node *node) {
  struct term y;
  TRY(sums_of_matmul(h, node, 2, 1, 3, &y));
  hlo_bind(h, node, 0, y);
  return HONE_OK;
}

/* Inputs 1, 4 and 6 are the scales of both operands, scalars or one per index of the axis, and of
 * the result; 7 its zero point. */
static hone_status put_scaled(struct hlo *h, const struct node *node, struct term sums, int axis) {
  struct term a, b, y, zero;
  TRY(hlo_input(h, node, 1, &a));
  TRY(hlo_input(h, node, 4, &b));
  TRY(hlo_input(h, node, 6, &y));
  TRY(hlo_input(h, node, 7, &zero));
  struct term scale = hlo_binary(h, "stablehlo.multiply", hlo_spread(h, a, 0, &b.shape), b);
  scale = hlo_binary(h, "stablehlo.divide", scale, hlo_spread(h, y, 0, &b.shape));
  scale = hlo_spread(h, scale, axis, &sums.shape);
  struct term x = hlo_convert(h, sums, scale.dtype);
  x = hlo_unary(h, "stablehlo.round_nearest_even", hlo_binary(h, "stablehlo.multiply", x, scale));
  zero = hlo_spread(h, hlo_convert(h, zero, x.dtype), 0, &x.shape);
  return put_held(h, node, hlo_binary(h, "stablehlo.add", x, zero), node->outputs[0]->dtype);
}

static hone_status put_qlinear_conv(struct hlo *h, const struct node *node) {
  struct term sums, bias;
  TRY(sums_of_conv(h, node, 2, 3, 5, &sums));
  if (node_input(node, 8)) {
    TRY(hlo_input(h, node, 8, &bias));
    sums = hlo_binary(h, "stablehlo.add", sums, hlo_spread(h, bias, 1, &sums.shape));
  }
  return put_scaled(h, node, sums, 1);
}

static hone_status put_qlinear_matmul(struct hlo *h, const struct node *node) {
  struct term sums;
  TRY(sums_of_matmul(h, node, 2, 3, 5, &sums));
  return put_scaled(h, node, sums, sums.shape.rank - 1);
}

/* -- fixed point */

/* x / 2^bits of i64, halves up; half: 2^(bits - 1). */
static struct term rounded_up(struct hlo *h, struct term x, struct term half, struct term bits) {
  return hlo_binary(h, "stablehlo.shift_right_arithmetic", hlo_binary(h, "stablehlo.add", x, half),
                    bits);
}

/* The same with halves away from zero; half is 0 if bits is 0. */
static struct term rounded_away(struct hlo *h, struct term x, struct term half, struct term bits) {
  return hlo_binary(h, "stablehlo.multiply", hlo_unary(h, "stablehlo.sign", x),
                    rounded_up(h, hlo_unary(h, "stablehlo.abs", x), half, bits));
}

/* a * b / 2^31, of i64. */
static struct term product_of(struct hlo *h, struct term a, struct term b) {
  return rounded_up(h, hlo_binary(h, "stablehlo.multiply", a, b),
                    hlo_splat(h, 1 << 30, HONE_I64, &a.shape),
                    hlo_splat(h, 31, HONE_I64, &a.shape));
}

/* A multiplier and shift of a Requantize, in the form that its rounding needs. */
struct rescaling {
  enum { TWICE, ONCE, WIDE, WIDE_ONCE } way;
  int64_t left;
  const struct tensor *multipliers, *shifts;
};
typedef int64_t slice_fn(const struct rescaling *r, size_t i);

static int64_t factor_of(const struct rescaling *r, size_t i) {
  const int64_t shift = tensor_i64(r->shifts, i);
  const int64_t left = r->left + (r->way != TWICE || shift < 0 ? 0 : shift > 31 ? 31 : shift);
  return left < 32 ? INT64_C(1) << left : 0;
}
static int64_t multiplier_of(const struct rescaling *r, size_t i) {
  const int64_t multiplier = tensor_i64(r->multipliers, i);
  if (r->way != WIDE) return multiplier;
  return multiplier < 0x7fff0000 ? (multiplier + (1 << 15)) >> 16 : 0x7fff;
}
static int64_t bits_of(const struct rescaling *r, size_t i) {
  static const struct {
    int64_t from, low, high;
  } bounds[] = {
      [TWICE] = {0, 0, 31}, [ONCE] = {31, 1, 62}, [WIDE] = {15, 1, 62}, [WIDE_ONCE] = {31, 1, 62}};
  const int64_t bits = bounds[r->way].from - tensor_i64(r->shifts, i);
  return bits < bounds[r->way].low    ? bounds[r->way].low
         : bits > bounds[r->way].high ? bounds[r->way].high
                                      : bits;
}
static int64_t half_of(const struct rescaling *r, size_t i) {
  return (INT64_C(1) << bits_of(r, i)) >> 1;
}

/* One number for all of x, or one per index of the axis. */
static hone_status slices(struct hlo *h, const struct rescaling *r, slice_fn *of, int axis,
                          hone_dtype dtype, const struct shape *shape, struct term *out) {
  struct tensor *numbers;
  TRY(tensor_create(h->ctx, h->arena, dtype, &r->multipliers->shape, &numbers));
  for (size_t i = 0; i < tensor_count(numbers); i++) tensor_set_i64(numbers, i, of(r, i));
  TRY(hlo_constant(h, numbers, out));
  *out = hlo_spread(h, *out, axis, shape);
  return HONE_OK;
}

static hone_status read_rescaling(struct hlo *h, const struct node *node, struct rescaling *r) {
  const bool is_wide = node->inputs[0]->dtype == HONE_I64;
  const bool is_once = node_int(node, "single_rounding", 0) != 0;
  bool is_positive = true;
  *r = (struct rescaling){is_wide   ? (is_once ? WIDE_ONCE : WIDE)
                          : is_once ? ONCE
                                    : TWICE,
                          node_int(node, "left_shift", 0), node->inputs[1]->constant,
                          node->inputs[2]->constant};
  for (size_t i = 0; r->multipliers && i < tensor_count(r->multipliers); i++)
    is_positive &= tensor_i64(r->multipliers, i) >= 0; /* the lowest value would saturate */
  if (!r->multipliers || !r->shifts || !is_positive)
    return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                "StableHLO: Requantize by multipliers that are computed or below zero");
  for (size_t i = 0; r->way == WIDE_ONCE && i < tensor_count(r->multipliers); i++)
    if (bits_of(r, i) < 32)
      return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                  "StableHLO: Requantize of 64-bit sums by a multiplier of 0.5 or more");
  return HONE_OK;
}

/* The same for a product of up to 95 bits, in two words; at least 32 bits are dropped. */
static struct term rounded_wide(struct hlo *h, struct term x, struct term multiplier,
                                struct term half, struct term bits) {
  const struct term word = hlo_splat(h, 32, HONE_I64, &x.shape);
  const struct term mask = hlo_splat(h, 4294967295.0, HONE_I64, &x.shape);
  const struct term low =
      hlo_binary(h, "stablehlo.multiply", hlo_binary(h, "stablehlo.and", x, mask), multiplier);
  const struct term carry = hlo_binary(h, "stablehlo.shift_right_logical",
                                       hlo_binary(h, "stablehlo.add", low, half), word);
  const struct term high =
      hlo_binary(h, "stablehlo.multiply",
                 hlo_binary(h, "stablehlo.shift_right_arithmetic", x, word), multiplier);
  return hlo_binary(h, "stablehlo.shift_right_arithmetic",
                    hlo_binary(h, "stablehlo.add", high, carry),
                    hlo_binary(h, "stablehlo.subtract", bits, word));
}

static hone_status put_requantize(struct hlo *h, const struct node *node) {
  const hone_dtype to = node->outputs[0]->dtype;
  const int64_t offset = node_int(node, "offset", 0), zero = node_int(node, "zero_point", 0);
  struct rescaling r;
  struct term x, factor, multiplier, half, bits;
  int axis = 0;
  TRY(hlo_input(h, node, 0, &x));
  TRY(read_rescaling(h, node, &r));
  if (r.multipliers->shape.rank) TRY(axis_attribute(h->ctx, node, "axis", 0, x.shape.rank, &axis));
  /* 32-bit sums wrap before the multiplication */
  x = hlo_convert(h, x, r.way >= WIDE ? HONE_I64 : HONE_I32);
  const struct shape shape = x.shape;
  if (offset)
    x = hlo_binary(h, "stablehlo.subtract", x, hlo_splat(h, (double)offset, x.dtype, &shape));
  TRY(slices(h, &r, factor_of, axis, x.dtype, &shape, &factor));
  TRY(slices(h, &r, multiplier_of, axis, HONE_I64, &shape, &multiplier));
  TRY(slices(h, &r, half_of, axis, HONE_I64, &shape, &half));
  TRY(slices(h, &r, bits_of, axis, HONE_I64, &shape, &bits));
  x = hlo_convert(h, hlo_binary(h, "stablehlo.multiply", x, factor), HONE_I64);
  x = r.way == TWICE ? rounded_away(h, product_of(h, x, multiplier), half, bits)
      : r.way == WIDE_ONCE
          ? rounded_wide(h, x, multiplier, half, bits)
          : rounded_up(h, hlo_binary(h, "stablehlo.multiply", x, multiplier), half, bits);
  if (zero) x = hlo_binary(h, "stablehlo.add", x, hlo_splat(h, (double)zero, HONE_I64, &shape));
  const double low = (double)node_int(node, "low", INT32_MIN);
  const double high = (double)node_int(node, "high", INT32_MAX);
  x = hlo_binary(h, "stablehlo.maximum", x, hlo_splat(h, low, HONE_I64, &shape));
  x = hlo_binary(h, "stablehlo.minimum", x, hlo_splat(h, high, HONE_I64, &shape));
  hlo_bind(h, node, 0, hlo_convert(h, x, to));
  return HONE_OK;
}

/* 1 / x of sums of exponentials in Q12, as y * 2^-(12 - zeros) with y in Q0 and zeros the number of
 * leading zeros of x: three Newton steps (src/core/ops/operators/fixed_point.c). Only the last one
 * can saturate. */
static struct term inverse_of(struct hlo *h, struct term x, struct term *out_zeros) {
  const struct shape *shape = &x.shape;
  const struct term zeros = hlo_convert(
      h, hlo_unary(h, "stablehlo.count_leading_zeros", hlo_convert(h, x, HONE_I32)), HONE_I64);
  const struct term one = hlo_splat(h, 1 << 29, HONE_I64, shape);
  /* half of the denominator: x without leading zeros, in Q0 */
  const struct term half =
      hlo_binary(h, "stablehlo.shift_right_arithmetic",
                 hlo_binary(h, "stablehlo.shift_left", x, zeros), hlo_splat(h, 1, HONE_I64, shape));
  struct term y = hlo_binary(h, "stablehlo.add", hlo_splat(h, 1515870810, HONE_I64, shape),
                             product_of(h, half, hlo_splat(h, -1010580540, HONE_I64, shape)));
  for (int i = 0; i < 3; i++) {
    const struct term error = hlo_binary(h, "stablehlo.subtract", one, product_of(h, half, y));
    const struct term step = hlo_binary(h, "stablehlo.multiply", product_of(h, y, error),
                                        hlo_splat(h, 4, HONE_I64, shape));
    y = hlo_binary(h, "stablehlo.add", y, step);
  }
  *out_zeros = zeros;
  return hlo_binary(h, "stablehlo.minimum", hlo_binary(h, "stablehlo.add", y, y),
                    hlo_splat(h, INT32_MAX, HONE_I64, shape));
}

/* A sampled curve at x of i64 in the range of i16 (curve_at): linear interpolation. */
static struct term on_curve(struct hlo *h, struct term curve, struct term x) {
  const struct shape *shape = &x.shape;
  const struct term at = hlo_convert(
      h,
      hlo_binary(
          h, "stablehlo.add", hlo_splat(h, 256, HONE_I64, shape),
          hlo_binary(h, "stablehlo.shift_right_arithmetic", x, hlo_splat(h, 7, HONE_I64, shape))),
      HONE_I32);
  const struct term next = hlo_binary(h, "stablehlo.add", at, hlo_splat(h, 1, HONE_I32, shape));
  const struct term here = hlo_take(h, curve, at, 0, shape);
  const struct term slope =
      hlo_binary(h, "stablehlo.subtract", hlo_take(h, curve, next, 0, shape), here);
  const struct term offset = hlo_binary(h, "stablehlo.and", x, hlo_splat(h, 127, HONE_I64, shape));
  const struct term rise =
      rounded_up(h, hlo_binary(h, "stablehlo.multiply", hlo_convert(h, slope, HONE_I64), offset),
                 hlo_splat(h, 64, HONE_I64, shape), hlo_splat(h, 7, HONE_I64, shape));
  return hlo_binary(h, "stablehlo.add", hlo_convert(h, here, HONE_I64), rise);
}

/* 2^(bits - 1), and 0 for no bits. */
static struct term half_bit(struct hlo *h, struct term bits) {
  const struct term one = hlo_splat(h, 1, HONE_I64, &bits.shape);
  return hlo_binary(h, "stablehlo.shift_right_arithmetic",
                    hlo_binary(h, "stablehlo.shift_left", one, bits), one);
}

/* Clamps x of i64. */
static struct term held(struct hlo *h, struct term x, double low, double high) {
  x = hlo_binary(h, "stablehlo.maximum", x, hlo_splat(h, low, HONE_I64, &x.shape));
  return hlo_binary(h, "stablehlo.minimum", x, hlo_splat(h, high, HONE_I64, &x.shape));
}

/* 16-bit numbers: the sum, in Q16.15, is scaled to [1, 2) in Q1.16, where the curve is 1 / x. */
static hone_status put_softmax_16(struct hlo *h, const struct node *node, struct term powers,
                                  const bool axes[HONE_MAX_RANK]) {
  const struct shape *shape = &powers.shape;
  const struct term none = hlo_splat(h, 0, HONE_I64, shape);
  struct term curve;
  TRY(hlo_input(h, node, 2, &curve));
  const struct term sum = hlo_reduce_back(h, "stablehlo.add", 0, powers, axes);
  const struct term bits =
      held(h,
           hlo_binary(h, "stablehlo.subtract", hlo_splat(h, 64, HONE_I64, shape),
                      hlo_unary(h, "stablehlo.count_leading_zeros", sum)),
           2, 31);
  const struct term right =
      hlo_binary(h, "stablehlo.subtract", bits, hlo_splat(h, 17, HONE_I64, shape));
  const struct term down = hlo_binary(h, "stablehlo.maximum", right, none);
  const struct term up =
      hlo_binary(h, "stablehlo.maximum", hlo_unary(h, "stablehlo.negate", right), none);
  struct term near =
      rounded_up(h, hlo_binary(h, "stablehlo.shift_left", sum, up), half_bit(h, down), down);
  near = hlo_binary(h, "stablehlo.subtract", near, hlo_splat(h, 3 << 15, HONE_I64, shape));
  const struct term inverse = on_curve(h, curve, held(h, near, INT16_MIN, INT16_MAX));
  const struct term by =
      hlo_binary(h, "stablehlo.subtract", bits, hlo_splat(h, 1, HONE_I64, shape));
  const struct term y =
      rounded_up(h, hlo_binary(h, "stablehlo.multiply", powers, inverse), half_bit(h, by), by);
  hlo_bind(h, node, 0, hlo_convert(h, held(h, y, 0, INT16_MAX), HONE_I16));
  return HONE_OK;
}

static hone_status put_table_softmax(struct hlo *h, const struct node *node) {
  const hone_dtype to = node->outputs[0]->dtype;
  const int bits = (int)dtype_bits(to);
  bool axes[HONE_MAX_RANK] = {false};
  struct term x, table, zeros;
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(hlo_input(h, node, 1, &table));
  TRY(axis_attribute(h->ctx, node, "axis", -1, x.shape.rank, &axis));
  axes[axis] = true;
  const bool is_wide = x.dtype == HONE_I16;
  x = hlo_convert(h, x, HONE_I32);
  const struct shape shape = x.shape;
  const struct term most = hlo_reduce_back(h, "stablehlo.maximum", -INFINITY, x, axes);
  const struct term places = hlo_binary(h, "stablehlo.subtract", most, x);
  const struct term powers = hlo_convert(h, hlo_take(h, table, places, 0, &shape), HONE_I64);
  if (is_wide) return put_softmax_16(h, node, powers, axes);
  const struct term parts = rounded_up(h, powers, hlo_splat(h, 1 << 11, HONE_I64, &shape),
                                       hlo_splat(h, 12, HONE_I64, &shape));
  const struct term sum = hlo_reduce_back(h, "stablehlo.add", 0, parts, axes);
  const struct term inverse = inverse_of(h, sum, &zeros);
  struct term right =
      hlo_binary(h, "stablehlo.subtract", hlo_splat(h, 12 + 31 - bits, HONE_I64, &shape), zeros);
  right = hlo_binary(h, "stablehlo.maximum", right, hlo_splat(h, 0, HONE_I64, &shape));
  const struct term y = rounded_up(h, product_of(h, inverse, powers), half_bit(h, right), right);
  const double low = to == HONE_U8 ? 0 : -ldexp(1, bits - 1);
  return put_held(h, node, hlo_binary(h, "stablehlo.add", y, hlo_splat(h, low, HONE_I64, &shape)),
                  to);
}

/* -- NormalizeBytes */

/* 1 / sqrt(x) of i64 from 0 to INT32_MAX, as y * 2^-right with y in Q0: five Newton steps
 * (fixed_inverse_root). */
static struct term inverse_root(struct hlo *h, struct term x, struct term *out_right) {
  const struct shape *shape = &x.shape;
  const struct term one = hlo_splat(h, 1, HONE_I64, shape), none = hlo_splat(h, 0, HONE_I64, shape);
  const struct term is_one = hlo_compare(h, "LE", x, one);
  const struct term is_large = hlo_compare(h, "GE", x, hlo_splat(h, 1 << 29, HONE_I64, shape));
  x = hlo_binary(h, "stablehlo.shift_right_arithmetic", x,
                 hlo_select(h, is_large, hlo_splat(h, 2, HONE_I64, shape), none));
  /* pairs of leading zeros of x, as 31 bits with one bit left */
  struct term pairs =
      hlo_binary(h, "stablehlo.subtract", hlo_unary(h, "stablehlo.count_leading_zeros", x),
                 hlo_splat(h, 33, HONE_I64, shape));
  pairs = hlo_binary(h, "stablehlo.subtract",
                     hlo_binary(h, "stablehlo.shift_right_arithmetic", pairs, one), one);
  const struct term scaled = hlo_binary(
      h, "stablehlo.shift_right_arithmetic",
      hlo_binary(h, "stablehlo.shift_left", x, hlo_binary(h, "stablehlo.add", pairs, pairs)), one);
  const struct term half = rounded_up(h, scaled, one, one);
  struct term y = hlo_splat(h, 1 << 28, HONE_I64, shape);
  for (int i = 0; i < 5; i++) {
    const struct term cube =
        hlo_binary(h, "stablehlo.multiply", product_of(h, product_of(h, y, y), y),
                   hlo_splat(h, 64, HONE_I64, shape));
    const struct term step = hlo_binary(h, "stablehlo.subtract",
                                        product_of(h, hlo_splat(h, 3 << 27, HONE_I64, shape), y),
                                        product_of(h, half, held(h, cube, INT32_MIN, INT32_MAX)));
    y = held(h, hlo_binary(h, "stablehlo.multiply", step, hlo_splat(h, 8, HONE_I64, shape)),
             INT32_MIN, INT32_MAX);
  }
  y = product_of(h, y, hlo_splat(h, 1518500250, HONE_I64, shape)); /* sqrt(1/2) */
  struct term right = hlo_binary(
      h, "stablehlo.subtract",
      hlo_select(h, is_large, hlo_splat(h, 12, HONE_I64, shape), hlo_splat(h, 11, HONE_I64, shape)),
      pairs);
  const struct term left =
      hlo_binary(h, "stablehlo.maximum", hlo_unary(h, "stablehlo.negate", right), none);
  y = hlo_binary(h, "stablehlo.shift_left", y, left);
  *out_right = hlo_select(h, is_one, none, hlo_binary(h, "stablehlo.maximum", right, none));
  return hlo_select(h, is_one, hlo_splat(h, INT32_MAX, HONE_I64, shape), y);
}

/* To 1/128: i8 is shifted left before the product if the net shift is to the left, u8 always by
 * seven bits. */
static hone_status put_normalize_bytes(struct hlo *h, const struct node *node) {
  const hone_dtype to = node->outputs[0]->dtype;
  bool axes[HONE_MAX_RANK] = {false};
  struct term x, right;
  int axis;
  TRY(hlo_input(h, node, 0, &x));
  TRY(axis_attribute(h->ctx, node, "axis", -1, x.shape.rank, &axis));
  axes[axis] = true;
  x = hlo_convert(h, x, HONE_I64);
  const struct shape shape = x.shape;
  const struct term none = hlo_splat(h, 0, HONE_I64, &shape);
  const struct term seven = hlo_splat(h, 7, HONE_I64, &shape);
  x = hlo_binary(h, "stablehlo.subtract", x,
                 hlo_splat(h, (double)node_int(node, "zero_point", 0), HONE_I64, &shape));
  const struct term squares =
      hlo_reduce_back(h, "stablehlo.add", 0, hlo_binary(h, "stablehlo.multiply", x, x), axes);
  const struct term root = inverse_root(h, held(h, squares, 0, INT32_MAX), &right);
  const struct term net = hlo_binary(h, "stablehlo.subtract", right, seven);
  const bool is_signed = to == HONE_I8;
  const struct term left =
      is_signed ? hlo_binary(h, "stablehlo.maximum", hlo_unary(h, "stablehlo.negate", net), none)
                : seven;
  if (is_signed) right = hlo_binary(h, "stablehlo.maximum", net, none);
  x = product_of(h, hlo_binary(h, "stablehlo.shift_left", x, left), root);
  x = rounded_away(h, x, half_bit(h, right), right);
  if (!is_signed) x = hlo_binary(h, "stablehlo.add", x, hlo_splat(h, 128, HONE_I64, &shape));
  return put_held(h, node, x, to);
}

/* -- ResizeInt */

/* x at the upper or lower positions of an axis, and their weights. */
static hone_status neighbours(struct hlo *h, const struct node *node, struct term x, int axis,
                              int side, struct term *out, struct term *out_weights) {
  const size_t k = axis == 2 ? 1 : 3;
  struct term places, weights;
  struct shape shape = x.shape;
  TRY(hlo_input(h, node, k, &places));
  TRY(hlo_input(h, node, k + 1, &weights));
  shape.dims[axis] = places.shape.dims[1];
  *out = hlo_take(h, x, hlo_row(h, places, side), axis, &shape);
  *out_weights = hlo_row(h, weights, side);
  return HONE_OK;
}

static hone_status put_resize_int(struct hlo *h, const struct node *node) {
  const hone_dtype dtype = node->inputs[2]->dtype;
  const bool in_floats = dtype == HONE_F32;
  struct term x, row, column, row_weights, column_weights, sum = {0};
  TRY(hlo_input(h, node, 0, &x));
  x = hlo_convert(h, x, dtype);
  for (int right = 0; right < 2; right++)
    for (int lower = 0; lower < 2; lower++) {
      TRY(neighbours(h, node, x, 2, lower, &row, &row_weights));
      TRY(neighbours(h, node, row, 3, right, &column, &column_weights));
      struct term part =
          hlo_binary(h, "stablehlo.multiply", column, hlo_spread(h, row_weights, 2, &column.shape));
      part = hlo_binary(h, "stablehlo.multiply", part,
                        hlo_spread(h, column_weights, 3, &column.shape));
      sum = sum.number ? hlo_binary(h, "stablehlo.add", sum, part) : part;
    }
  struct term half = hlo_splat(h, in_floats ? 0.5 : 1 << 19, dtype, &sum.shape);
  if (!in_floats)
    half = hlo_binary(h, "stablehlo.multiply", half, hlo_unary(h, "stablehlo.sign", sum));
  sum = hlo_binary(h, "stablehlo.add", sum, half);
  sum = in_floats
            ? hlo_convert(h, sum, HONE_I32)
            : hlo_binary(h, "stablehlo.divide", sum, hlo_splat(h, 1 << 20, HONE_I64, &sum.shape));
  hlo_bind(h, node, 0, hlo_convert(h, sum, node->outputs[0]->dtype));
  return HONE_OK;
}

/* -- the table */

const struct hlo_row hlo_quantised_rules[] = {
    {OP_ConvInteger, put_conv_integer},
    {OP_DequantizeLinear, put_dequantize},
    {OP_DynamicQuantizeLinear, put_dynamic_quantize},
    {OP_MatMulInteger, put_matmul_integer},
    {OP_NormalizeBytes, put_normalize_bytes},
    {OP_QLinearConv, put_qlinear_conv},
    {OP_QLinearMatMul, put_qlinear_matmul},
    {OP_QuantizeHalfAway, put_quantize},
    {OP_QuantizeLinear, put_quantize},
    {OP_Requantize, put_requantize},
    {OP_ResizeInt, put_resize_int},
    {OP_TableSoftmax, put_table_softmax},
    {.rule = NULL},
};
