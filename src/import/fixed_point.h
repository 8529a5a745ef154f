/* fixed_point: 32-bit fixed point as quantised formats define it: products are rounded to nearest
 * after doubling, divisions by powers of two to nearest with halves away from zero. "Qm" has m bits
 * before the point. Source: the definition of gemmlowp's fixed-point types, and Jacob et al.,
 * "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference"
 * (2018), section 2.2 and appendix. */
#ifndef HONE_IMPORT_FIXED_POINT_H
#define HONE_IMPORT_FIXED_POINT_H

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

#endif
