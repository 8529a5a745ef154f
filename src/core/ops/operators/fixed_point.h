/* fixed_point: 32-bit fixed point as quantised formats define it: products are rounded to nearest
 * after doubling, divisions by powers of two to nearest with halves away from zero. "Qm" has m bits
 * before the point. Source: the definition of gemmlowp's fixed-point types, and Jacob et al.,
 * "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference"
 * (2018), section 2.2 and appendix. */
#ifndef HONE_OPS_FIXED_POINT_H
#define HONE_OPS_FIXED_POINT_H

#include <stdint.h>

/* round(a * b / 2^31), saturated */
int32_t fixed_multiply(int32_t a, int32_t b);
/* round(x / 2^exponent), 0 <= exponent <= 31 */
int32_t fixed_divide_by_pot(int32_t x, int exponent);
/* x * multiplier * 2^(shift - 31), rounded twice */
int32_t fixed_rescale(int32_t x, int32_t multiplier, int shift);
/* exp(a) of a <= 0 in Q5, in Q0 */
int32_t fixed_exp_of_negative(int32_t a);
/* 1 / (1 + exp(-a)) and tanh(a) of a in Q4, in Q0 */
int32_t fixed_logistic(int32_t a);
int32_t fixed_tanh(int32_t a);
/* 1 / x of x > 0 with `digits` bits before the point, as y * 2^-*out_bits with y in Q0. */
int32_t fixed_inverse(int32_t x, int digits, int *out_bits);
/* 1 / sqrt(x) of an integer x >= 0 (0 as 1), as y * 2^-*out_right with y in Q0. */
int32_t fixed_inverse_root(int32_t x, int *out_right);

/* The same in 16 bits: a product, and tanh of every number from the least on with `digits` bits
 * before the point, or (digits < 0) 1 / (1 + exp(-a)) in Q3. */
enum { FIXED16_ENTRIES = 1 << 16 };
int16_t fixed16_multiply(int16_t a, int16_t b);
void fixed16_table(int digits, int16_t out[FIXED16_ENTRIES]);

/* A look-up table for 16-bit numbers: a function sampled at 513 points with linear interpolation.
 * Each sample is shifted by half the interpolation error in the middle of its segment. */
enum { CURVE_POINTS = 513 };
typedef float curve_fn(float x, float otherwise);
void curve_sample(curve_fn *f, float otherwise, float from, float to, float scale, int16_t *out);
/* Its value at x of the whole 16-bit range. */
int16_t curve_at(const int16_t *curve, int x);

#endif
