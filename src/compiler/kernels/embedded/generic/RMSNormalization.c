/* RMSNormalization over the axes from `axis` on: x / sqrt(mean of squares + epsilon) * scale; the scale
 * broadcasts to the input. */
#include "generic/scaled_rows.h"
  for (int64_t r = begin; r < end; r++) {
    const IN0_T *restrict from = x + r * columns;
    OUT0_T *restrict to = y + r * columns;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < columns; i++) sum += (double)from[i] * (double)from[i];
    const double inverse = 1 / sqrt(sum / (double)columns + (double)ATTR_epsilon);
    if (is_flat) {
      for (int64_t i = 0; i < columns; i++)
        to[i] = (OUT0_T)((double)from[i] * inverse * (double)scale[i]);
      continue;
    }
    int64_t rest = r;
    for (int k = IN0_RANK - 1; k >= 0; k--) at[k] = k < axis ? rest % dims[k] : 0, rest /= k < axis ? dims[k] : 1;
    for (int64_t i = 0; i < columns; i++) {
      int64_t s = 0;
      for (int k = 0; k < IN0_RANK; k++) s += at[k] * scale_strides[k];
      to[i] = (OUT0_T)((double)from[i] * inverse * (double)scale[s]);
      for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == dims[k]; k--) at[k] = 0;
    }
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_epsilon
