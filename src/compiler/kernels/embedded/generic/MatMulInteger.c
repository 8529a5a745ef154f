/* MatMulInteger (QLINEAR 0: a, b, zero points of both) and QLinearMatMul (QLINEAR 1: each operand
 * with scale and zero point): int32 sums of int8 less their zero points. Zero points of a may be
 * per row; those of b and its scales per column.
 */
#if QLINEAR
#define B_AT 3
#define B_T IN3_T
#define B_RANK IN3_RANK
#define B_DIMS IN3_DIMS
#define A_ZERO (IN2_PRESENT ? (int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0] : 0)
#define B_ZERO (IN5_PRESENT ? (int32_t)((const IN5_T *)in[5])[IN5_COUNT > 1 ? j : 0] : 0)
#else
#define B_AT 1
#define B_T IN1_T
#define B_RANK IN1_RANK
#define B_DIMS IN1_DIMS
#if IN_COUNT > 2 && IN2_PRESENT
#define A_ZERO ((int32_t)((const IN2_T *)in[2])[IN2_COUNT > 1 ? i : 0])
#else
#define A_ZERO 0
#endif
#if IN_COUNT > 3 && IN3_PRESENT
#define B_ZERO ((int32_t)((const IN3_T *)in[3])[IN3_COUNT > 1 ? j : 0])
#else
#define B_ZERO 0
#endif
#endif
#include "generic/batches.h"
    const int32_t a_zero = A_ZERO;
    OUT0_T *restrict to = c + u * n;
    for (int64_t j0 = 0; j0 < n; j0 += 64) {
      const int64_t width = n - j0 < 64 ? n - j0 : 64;
      uint32_t sum[64] = {0};
      int32_t zero[64];
      for (int64_t j = j0; j < j0 + width; j++) zero[j - j0] = B_ZERO;
      for (int64_t p = 0; p < k; p++) {
        const int32_t x = (int32_t)a[a_at + i * k + p] - a_zero;
        const B_T *restrict row = b + b_at + p * n + j0;
        for (int64_t j = 0; j < width; j++) sum[j] += (uint32_t)(x * ((int32_t)row[j] - zero[j]));
      }
#if QLINEAR
      const IN4_T *b_scale = in[4];
      const float a_scale = (float)((const IN1_T *)in[1])[0], c_scale = (float)((const IN6_T *)in[6])[0];
      const double c_zero = (double)((const IN7_T *)in[7])[0];
      const double low = (OUT0_T)-1 > 0 ? 0 : -128, high = low + 255;
      for (int64_t j = 0; j < width; j++) {
        const float scale = a_scale * (float)b_scale[IN4_COUNT > 1 ? j0 + j : 0] / c_scale;
        const double value = rint((double)(int32_t)sum[j] * (double)scale) + c_zero;
        to[j0 + j] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);
      }
#else
      for (int64_t j = 0; j < width; j++) to[j0 + j] = (int32_t)sum[j];
#endif
    }
  }
  return 0;
}
#undef B_AT
#undef B_T
#undef B_RANK
#undef B_DIMS
#undef A_ZERO
#undef B_ZERO
