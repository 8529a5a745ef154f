/* fixed_point: see fixed_point.h. exp is a polynomial around -1/8 on (-1/4, 0], times one factor
 * for each remaining bit; 1 / (1 + x) is three Newton steps. */
#include "fixed_point.h"

#include <math.h>
#include <stdbool.h>

static int32_t saturate(int64_t x) {
  return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

int32_t fixed_multiply(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  int64_t product = (int64_t)a * b, half = INT64_C(1) << 30;
  return (int32_t)((product + (product >= 0 ? half : 1 - half)) / (INT64_C(1) << 31));
}

int32_t fixed_divide_by_pot(int32_t x, int exponent) {
  int64_t mask = (INT64_C(1) << exponent) - 1, rest = x & mask;
  return (int32_t)((x >> exponent) + (rest > (mask >> 1) + (x < 0)));
}

int32_t fixed_rescale(int32_t x, int32_t multiplier, int shift) {
  int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : shift < -31 ? 31 : -shift;
  int32_t shifted = (int32_t)((uint32_t)x << left);
  return fixed_divide_by_pot(fixed_multiply(shifted, multiplier), right);
}

/* exp(a), -1/4 < a <= 0 in Q0 */
static int32_t exp_near_zero(int32_t a) {
  const int32_t exp_eighth = 1895147668, third = 715827883; /* exp(-1/8), 1/3 in Q0 */
  int32_t x = a + (1 << 28);
  int32_t x2 = fixed_multiply(x, x), x3 = fixed_multiply(x2, x), x4 = fixed_multiply(x2, x2);
  int32_t tail = fixed_multiply(fixed_divide_by_pot(x4, 2) + x3, third) + x2;
  return saturate((int64_t)exp_eighth +
                  fixed_multiply(exp_eighth, x + fixed_divide_by_pot(tail, 1)));
}

/* a <= 0 with `fraction` fractional bits */
static int32_t exp_negative(int32_t a, int fraction) {
  static const int32_t factors[] = {
      /* exp(-2^k) in Q0, k from -2 to 4 */
      1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  if (a == 0) return INT32_MAX;
  int32_t quarter = 1 << (fraction - 2);
  int32_t near = (a & (quarter - 1)) - quarter;
  int32_t result = exp_near_zero(saturate((int64_t)near * (INT64_C(1) << (31 - fraction))));
  int32_t rest = near - a;
  for (int k = 0; k < 7 && fraction - 2 + k < 31; k++)
    if (rest & (INT32_C(1) << (fraction - 2 + k))) result = fixed_multiply(result, factors[k]);
  return result;
}

int32_t fixed_exp_of_negative(int32_t a) { return exp_negative(a, 26); }

/* 2 / (1 + x) in Q2 for x in [0, 1) of Q0: Newton's steps for the inverse of half the
 * denominator. */
static int32_t double_inverse(int32_t x) {
  const int32_t a = 1515870810, b = -1010580540, one = 1 << 29; /* 48/17, -32/17, 1 in Q2 */
  int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t y = a + fixed_multiply(half, b);
  for (int i = 0; i < 3; i++) {
    int32_t error = one - fixed_multiply(half, y);
    /* wraps outside the range, as the format's code does in practice */
    y = (int32_t)((uint32_t)y + (uint32_t)saturate((int64_t)fixed_multiply(y, error) * 4));
  }
  return y;
}

/* 1 / (1 + exp(-|a|)) with a in Q4 */
int32_t fixed_logistic(int32_t a) {
  if (a == 0) return 1 << 30;
  int32_t y = saturate((int64_t)double_inverse(exp_negative(a > 0 ? -a : a, 27)) * 2);
  return a > 0 ? y : INT32_MAX - y;
}

/* (1 - exp(-2|a|)) / (1 + exp(-2|a|)): twice the argument is the same number in Q5. */
int32_t fixed_tanh(int32_t a) {
  if (a == 0) return 0;
  int32_t y = double_inverse(exp_negative(a > 0 ? -a : a, 26));
  int32_t result = saturate(((int64_t)y - (1 << 29)) * 4);
  return a > 0 ? result : -result;
}

int32_t fixed_inverse(int32_t x, int digits, int *out_bits) {
  const int zeros = x > 0 ? __builtin_clz((uint32_t)x) : 0;
  const int32_t rest = (int32_t)(((uint32_t)x << zeros) - (UINT32_C(1) << 31));
  *out_bits = digits - zeros;
  return saturate((int64_t)double_inverse(rest) * 2);
}

/* x * 2^bits, saturated */
static int32_t shifted_left(int32_t x, int bits) { return saturate((int64_t)x * (1 << bits)); }

/* Five Newton steps from 1 in Q3, on x scaled to [1/4, 1) by an even number of bits. */
int32_t fixed_inverse_root(int32_t x, int *out_right) {
  const int32_t three_halves = 3 << 27, root_half = 1518500250; /* Q3, Q0 */
  int right = 11;
  *out_right = 0;
  if (x <= 1) return INT32_MAX;
  while (x >= 1 << 29) x /= 4, right++;
  const int pairs = (__builtin_clz((uint32_t)x) - 1) / 2 - 1;
  const int32_t scaled = (int32_t)((uint32_t)x << (2 * pairs)) >> 1;
  const int32_t half = fixed_divide_by_pot(scaled, 1);
  int32_t y = 1 << 28;
  for (int i = 0; i < 5; i++) {
    const int32_t cube = shifted_left(fixed_multiply(fixed_multiply(y, y), y), 6);
    y = shifted_left(fixed_multiply(three_halves, y) - fixed_multiply(half, cube), 3);
  }
  y = fixed_multiply(y, root_half);
  right -= pairs;
  if (right < 0) y = (int32_t)((uint32_t)y << -right), right = 0;
  *out_right = right;
  return y;
}

/* -- 16 bits */

static int16_t saturate16(int32_t x) {
  return (int16_t)(x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x);
}

int16_t fixed16_multiply(int16_t a, int16_t b) {
  const int32_t product = (int32_t)a * b, half = 1 << 14;
  return saturate16((product + (product >= 0 ? half : 1 - half)) / (1 << 15));
}

static int16_t exp16_near_zero(int16_t a) {
  const int16_t exp_eighth = 28918, third = 10923; /* exp(-1/8), 1/3 in Q0 */
  const int16_t x = (int16_t)(a + (1 << 12));
  const int16_t x2 = fixed16_multiply(x, x), x3 = fixed16_multiply(x2, x);
  const int32_t x4 = fixed_divide_by_pot(fixed16_multiply(x2, x2), 2);
  const int32_t tail = fixed_divide_by_pot(fixed16_multiply((int16_t)(x4 + x3), third) + x2, 1);
  return saturate16(exp_eighth + fixed16_multiply(exp_eighth, (int16_t)(x + tail)));
}

/* exp(-x) in Q0 of every x > 0 with `fraction` fractional bits: exp of the remainder modulo a
 * quarter, times one factor for each bit of the multiple. The highest bit is the last factor, so
 * that the product of the others is already in the table. */
static void exp16_of_all(int fraction, int16_t out[FIXED16_ENTRIES / 2 + 1]) {
  enum { FACTORS = 6 }; /* as in 32 bits; further factors are 0 */
  static const int16_t factors[FACTORS] = {25520, 19875, 12055, 4435, 600, 11};
  const int quarter = 1 << (fraction - 2);
  for (int x = 1; x <= quarter; x++)
    out[x] = exp16_near_zero(saturate16(-x * (1 << (15 - fraction))));
  for (int bit = 0, from = quarter; from <= INT16_MAX; bit++, from *= 2) {
    const int16_t factor = bit < FACTORS ? factors[bit] : 0;
    for (int x = 1; x <= from; x++) out[from + x] = fixed16_multiply(out[x], factor);
  }
}

/* Like double_inverse. */
static int16_t double_inverse16(int16_t x) {
  const int16_t half = (int16_t)((x + INT16_MAX + 1) / 2);
  int16_t y = (int16_t)(23130 + fixed16_multiply(half, -15420));
  for (int i = 0; i < 3; i++) {
    const int16_t error = (int16_t)((1 << 13) - fixed16_multiply(half, y));
    y = (int16_t)(y + saturate16(fixed16_multiply(y, error) * 4));
  }
  return y;
}

/* Both functions are symmetric; the inverse of most entries equals that of the previous one. */
void fixed16_table(int digits, int16_t out[FIXED16_ENTRIES]) {
  const bool is_tanh = digits >= 0;
  int16_t exps[FIXED16_ENTRIES / 2 + 1], *zero = out - INT16_MIN, exp = 0,
                                         inverse = double_inverse16(exp);
  exp16_of_all(is_tanh ? 14 - digits : 12, exps);
  for (int x = 1; x <= -INT16_MIN; x++) {
    if (exps[x] != exp) inverse = double_inverse16(exps[x]);
    exp = exps[x];
    const int16_t y = saturate16(is_tanh ? (inverse - (1 << 13)) * 4 : inverse * 2);
    if (x <= INT16_MAX) zero[x] = y;
    zero[-x] = (int16_t)(is_tanh ? -y : INT16_MAX - y);
  }
  zero[0] = is_tanh ? 0 : 1 << 14;
}

/* -- sampled curves */

void curve_sample(curve_fn *f, float otherwise, float from, float to, float scale, int16_t *out) {
  enum { PIECES = CURVE_POINTS - 1 };
  const float step = (to - from) / PIECES, half = step / 2;
  for (int i = 0; i < PIECES; i++) {
    const float at = from + (float)i * step, here = f(at, otherwise) * scale;
    const float next = f(from + (float)(i + 1) * step, otherwise) * scale;
    const float line = roundf((next + roundf(here)) / 2);
    const float error = line - roundf(f(at + half, otherwise) * scale);
    const float y = roundf(here) - roundf(error / 2);
    out[i] = (int16_t)fminf(fmaxf(y, INT16_MIN), INT16_MAX);
  }
  out[PIECES] = (int16_t)fminf(fmaxf(roundf(f(to, otherwise) * scale), INT16_MIN), INT16_MAX);
}

int16_t curve_at(const int16_t *curve, int x) {
  const int at = 256 + (x >> 7), offset = x & 127;
  const int16_t slope = (int16_t)(curve[at + 1] - curve[at]);
  return (int16_t)(curve[at] + ((slope * offset + 64) >> 7));
}
