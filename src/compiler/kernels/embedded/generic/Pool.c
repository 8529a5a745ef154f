/* AveragePool, MaxPool and LpPool (POOL_MODE 0, 1, 2), up to three spatial dimensions. Elements
 * outside the input do not count; with count_include_pad those within the padding do.
 */
#ifndef ATTR_count_include_pad
#define ATTR_count_include_pad 0
#endif
#ifndef ATTR_storage_order
#define ATTR_storage_order 0
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#if OUT0_TYPE == 1 /* f32 */
#define SUM float
#else
#define SUM double
#endif
#define LOWEST _Generic((IN0_T)0, float: -INFINITY, double: -INFINITY, default: 0)
#define IS_FLOAT ((IN0_T)0.5 != 0)
#if OUT_COUNT > 1 && OUT1_PRESENT
#define HAS_INDEX 1
#else
#define HAS_INDEX 0
#endif
#if POOL_MODE == 1
/* Floats begin at -inf and need no index to tell that no element was seen. Keeps NaN. */
#define TAKE(i2)                                                                              \
  do {                                                                                        \
    const IN0_T value = row[i2], old = best[j];                                               \
    const int is_better = (!(IS_FLOAT && !HAS_INDEX) && best_at[j] < 0) || value > old ||     \
                          (value != value && old == old);                                     \
    best[j] = is_better ? value : old;                                                        \
    if (HAS_INDEX || !IS_FLOAT)                                                               \
      best_at[j] = !is_better           ? best_at[j]                                          \
                   : ATTR_storage_order ? ((i2)*id[1] + i1) * id[0] + i0                      \
                                        : (i0 * id[1] + i1) * id[2] + (i2);                   \
  } while (0)
#elif POOL_MODE == 2
#define TAKE(i2)                                                       \
  sum[j] += ATTR_p == 1   ? fabs((double)row[i2])                      \
            : ATTR_p == 2 ? row[i2] * row[i2]                          \
                          : pow(fabs((double)row[i2]), (double)ATTR_p)
#else
#define TAKE(i2) (count[j] += !ATTR_count_include_pad, sum[j] += row[i2])
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
#include "generic/window.h"
  const int64_t pad_end[] = WINDOW_PAD_END;
  (void)scratch;
  for (int64_t u = begin; u < end; u++)
    for (int64_t o0 = 0; o0 < od[0]; o0++)
      for (int64_t o1 = 0; o1 < od[1]; o1++)
        for (int64_t start = 0; start < od[2]; start += 64) { /* one part of a row */
          const int64_t width = od[2] - start < 64 ? od[2] - start : 64;
          SUM sum[64] = {0};
          IN0_T best[64] = {0};
          int64_t best_at[64];
          int32_t count[64] = {0};
          for (int64_t j = 0; j < 64; j++) {
            best_at[j] = -1;
            best[j] = (IN0_T)LOWEST;
          }
          for (int64_t k0 = 0; k0 < kd[0]; k0++)
            for (int64_t k1 = 0; k1 < kd[1]; k1++)
              for (int64_t k2 = 0; k2 < kd[2]; k2++) {
                const int64_t i0 = o0 * stride[0] - pad[0] + k0 * dilation[0];
                const int64_t i1 = o1 * stride[1] - pad[1] + k1 * dilation[1];
                const int64_t shift = start * stride[2] - pad[2] + k2 * dilation[2];
                if (i0 >= id[0] + pad_end[0] || i1 >= id[1] + pad_end[1]) continue;
                if (ATTR_count_include_pad)
                  for (int64_t j = 0; j < width; j++)
                    count[j] += j * stride[2] + shift < id[2] + pad_end[2];
                if (i0 < 0 || i1 < 0 || i0 >= id[0] || i1 >= id[1]) continue;
                TAP_SPAN(id[2], width);
                const IN0_T *restrict row = x + u * image + (i0 * id[1] + i1) * id[2];
                if (stride[2] == 1)
                  for (int64_t j = first; j < last; j++) TAKE(j + shift);
                else
                  for (int64_t j = first; j < last; j++) TAKE(j * stride[2] + shift);
              }
          const int64_t place = u * plane + (o0 * od[1] + o1) * od[2] + start;
          for (int64_t j = 0; j < width; j++) {
#if POOL_MODE == 1
            y[place + j] = (IS_FLOAT && !HAS_INDEX) || best_at[j] >= 0 ? best[j] : (OUT0_T)LOWEST;
#if OUT_COUNT > 1 && OUT1_PRESENT
            ((OUT1_T *)out[1])[place + j] = u * image + best_at[j];
#endif
#elif POOL_MODE == 2
            y[place + j] = (OUT0_T)(ATTR_p == 1   ? (double)sum[j]
                                    : ATTR_p == 2 ? sqrt((double)sum[j])
                                                  : pow((double)sum[j], 1.0 / (double)ATTR_p));
#else
            y[place + j] = (OUT0_T)(sum[j] / (OUT0_T)count[j]);
#endif
          }
          (void)sum, (void)best, (void)best_at, (void)count;
        }
  return 0;
}
#undef ATTR_count_include_pad
#undef ATTR_storage_order
#undef ATTR_p
#undef SUM
#undef TAKE
#undef IS_FLOAT
#undef HAS_INDEX
#undef LOWEST
