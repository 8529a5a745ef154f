/* ConvInteger (QLINEAR 0: x, w, zero points of both) and QLinearConv (QLINEAR 1: each operand with
 * scale and zero point, then an int32 bias): int32 sums of int8 less their zero points, rows of 64
 * at a time.
 */
#ifndef ATTR_group
#define ATTR_group 1
#endif
#if QLINEAR
#define W_AT 3
#define W_T IN3_T
#define W_DIMS IN3_DIMS
#define X_ZERO (IN2_PRESENT ? (int32_t)((const IN2_T *)in[2])[0] : 0)
#define W_ZERO (IN5_PRESENT ? (int32_t)((const IN5_T *)in[5])[IN5_COUNT > 1 ? m : 0] : 0)
#else
#define W_AT 1
#define W_T IN1_T
#define W_DIMS IN1_DIMS
#if IN_COUNT > 2 && IN2_PRESENT
#define X_ZERO ((int32_t)((const IN2_T *)in[2])[0])
#else
#define X_ZERO 0
#endif
#if IN_COUNT > 3 && IN3_PRESENT
#define W_ZERO ((int32_t)((const IN3_T *)in[3])[IN3_COUNT > 1 ? m : 0])
#else
#define W_ZERO 0
#endif
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const W_T *w = in[W_AT]; /* [m, c / group, kernel...] */
  OUT0_T *restrict y = out[0];
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = W_DIMS, y_dims[] = OUT0_DIMS;
#include "generic/window.h"
  (void)scratch, (void)plane;
  const int64_t channels = w_dims[1], features = y_dims[1] / ATTR_group;
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1];
    const int32_t x_zero = X_ZERO, w_zero = W_ZERO;
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) {
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          int32_t sum[64] = {0};
          for (int64_t c = 0; c < channels; c++)
            for (int64_t k0 = 0; k0 < kd[0]; k0++)
              for (int64_t k1 = 0; k1 < kd[1]; k1++) {
                const int64_t i0 = o0 * stride[0] + k0 * dilation[0] - pad[0];
                const int64_t i1 = o1 * stride[1] + k1 * dilation[1] - pad[1];
                if (i0 < 0 || i0 >= id[0] || i1 < 0 || i1 >= id[1]) continue;
                const IN0_T *restrict row = x +
                                   (n * x_dims[1] + m / features * channels + c) * image +
                                   (i0 * id[1] + i1) * id[2];
                const W_T *tap = w + (((m * channels + c) * kd[0] + k0) * kd[1] + k1) * kd[2];
                for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                  const int32_t weight = (int32_t)tap[k2] - w_zero;
                  const int64_t shift = start * stride[2] + k2 * dilation[2] - pad[2];
                  TAP_SPAN(id[2], width);
                  /* unsigned: sums wrap around */
                  if (stride[2] == 1)
                    for (int64_t o = first; o < last; o++)
                      sum[o] = (int32_t)((uint32_t)sum[o] +
                                         (uint32_t)(((int32_t)row[o + shift] - x_zero) * weight));
                  else
                    for (int64_t o = first; o < last; o++)
                      sum[o] = (int32_t)((uint32_t)sum[o] +
                                         (uint32_t)(((int32_t)row[o * stride[2] + shift] - x_zero) * weight));
                }
              }
          OUT0_T *restrict to = y + ((u * od[0] + o0) * od[1] + o1) * od[2] + start;
#if QLINEAR
          int32_t bias = 0;
#if IN_COUNT > 8 && IN8_PRESENT
          bias = ((const IN8_T *)in[8])[m];
#endif
          const float scale = (float)((const IN1_T *)in[1])[0] *
                              (float)((const IN4_T *)in[4])[IN4_COUNT > 1 ? m : 0] /
                              (float)((const IN6_T *)in[6])[0];
          const double zero = (double)((const IN7_T *)in[7])[0];
          const double low = (OUT0_T)-1 > 0 ? 0 : -128, high = low + 255;
          for (int64_t o = 0; o < width; o++) {
            const int32_t total = (int32_t)((uint32_t)sum[o] + (uint32_t)bias);
            const double value = rint((double)total * (double)scale) + zero;
            to[o] = (OUT0_T)(int32_t)(value < low ? low : value > high ? high : value);
          }
#else
          for (int64_t o = 0; o < width; o++) to[o] = sum[o];
#endif
        }
  }
  return 0;
}
#undef ATTR_group
#undef W_AT
#undef W_T
#undef W_DIMS
#undef X_ZERO
#undef W_ZERO
