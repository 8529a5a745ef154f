/* fixed_point: see fixed_point.h. exp is a polynomial around -1/8 on (-1/4, 0], times one factor for
 * each bit of the rest; 1 / (1 + x) is three Newton steps. */
#include "fixed_point.h"

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
  int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
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

/* a <= 0 with `fraction` bits behind the point */
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

/* 2 / (1 + x) in Q2 for x in [0, 1) of Q0: Newton's steps for the inverse of half the denominator. */
static int32_t double_inverse(int32_t x) {
  const int32_t a = 1515870810, b = -1010580540, one = 1 << 29; /* 48/17, -32/17, 1 in Q2 */
  int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t y = a + fixed_multiply(half, b);
  for (int i = 0; i < 3; i++) {
    int32_t error = one - fixed_multiply(half, y);
    y += saturate((int64_t)fixed_multiply(y, error) * 4);
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
