/* ConvTranspose, up to three spatial dimensions: every input element adds its filter to the result.
 * The inner loop runs along a row: out[x * stride + tap * dilation - pad] += in[x] * w.
 */
#ifndef ATTR_group
#define ATTR_group 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0]; /* [n, c, id...] */
  const IN1_T *w = in[1]; /* [c, m / group, kernel...] */
  OUT0_T *restrict y = out[0];     /* [n, m, od...] */
  const int64_t x_dims[] = IN0_DIMS, w_dims[] = IN1_DIMS, y_dims[] = OUT0_DIMS;
#include "generic/window.h"
  (void)scratch;
  const int64_t channels = x_dims[1], per_group = channels / ATTR_group;
  const int64_t features = w_dims[1]; /* of one group */
  for (int64_t u = begin; u < end; u++) { /* one output plane */
    const int64_t n = u / y_dims[1], m = u % y_dims[1], group = m / features;
    OUT0_T *restrict to = y + u * plane;
    OUT0_T start = 0;
#if IN_COUNT > 2 && IN2_PRESENT
    start = ((const IN2_T *)in[2])[m];
#endif
    for (int64_t i = 0; i < plane; i++) to[i] = start;
    for (int64_t c = group * per_group; c < (group + 1) * per_group; c++) {
      const IN0_T *restrict from = x + (n * channels + c) * image;
      const IN1_T *filter = w + (c * features + m % features) * kd[0] * kd[1] * kd[2];
      for (int64_t k0 = 0; k0 < kd[0]; k0++)
        for (int64_t k1 = 0; k1 < kd[1]; k1++)
          for (int64_t k2 = 0; k2 < kd[2]; k2++) {
            const OUT0_T weight = filter[(k0 * kd[1] + k1) * kd[2] + k2];
            const int64_t shift = k2 * dilation[2] - pad[2];
            TAP_SPAN(od[2], id[2]);
            for (int64_t i0 = 0; i0 < id[0]; i0++) {
              const int64_t o0 = i0 * stride[0] + k0 * dilation[0] - pad[0];
              if (o0 < 0 || o0 >= od[0]) continue;
              for (int64_t i1 = 0; i1 < id[1]; i1++) {
                const int64_t o1 = i1 * stride[1] + k1 * dilation[1] - pad[1];
                if (o1 < 0 || o1 >= od[1]) continue;
                const IN0_T *restrict a = from + (i0 * id[1] + i1) * id[2];
                OUT0_T *restrict b = to + (o0 * od[1] + o1) * od[2];
                if (stride[2] == 1)
                  for (int64_t i = first; i < last; i++) b[i + shift] += a[i] * weight;
                else
                  for (int64_t i = first; i < last; i++) b[i * stride[2] + shift] += a[i] * weight;
              }
            }
          }
    }
  }
  return 0;
}
#undef ATTR_group
