/* LayerNormalization over the axes from `axis` on; statistics in double. Scale and bias broadcast to
 * the input. */
#include "generic/scaled_rows.h"
  int64_t bias_strides[17] = {0};
#if IN_COUNT > 2 && IN2_PRESENT
  const IN2_T *restrict bias = in[2];
  const int64_t bias_dims[] = IN2_DIMS;
  step = 1;
  for (int k = IN2_RANK - 1; k >= 0; k--) {
    bias_strides[k + IN0_RANK - IN2_RANK] = bias_dims[k] == 1 ? 0 : step;
    step *= bias_dims[k];
  }
  is_flat &= step == columns;
  for (int k = 0; k < axis; k++) is_flat &= !bias_strides[k];
#endif
  for (int64_t r = begin; r < end; r++) {
    const IN0_T *restrict from = x + r * columns;
    OUT0_T *restrict to = y + r * columns;
#define LENGTH columns
#include "generic/moments.h"
    const double inverse = 1 / sqrt(variance / (double)columns + (double)ATTR_epsilon);
    if (is_flat) { /* scale and bias have the layout of a row */
      for (int64_t i = 0; i < columns; i++) {
        double value = ((double)from[i] - mean) * inverse * (double)scale[i];
#if IN_COUNT > 2 && IN2_PRESENT
        value += (double)bias[i];
#endif
        to[i] = (OUT0_T)value;
      }
    } else {
      int64_t rest = r;
      for (int k = IN0_RANK - 1; k >= 0; k--) at[k] = k < axis ? rest % dims[k] : 0, rest /= k < axis ? dims[k] : 1;
      for (int64_t i = 0; i < columns; i++) {
        int64_t s = 0, b = 0;
        for (int k = 0; k < IN0_RANK; k++) s += at[k] * scale_strides[k], b += at[k] * bias_strides[k];
        double value = ((double)from[i] - mean) * inverse * (double)scale[s];
#if IN_COUNT > 2 && IN2_PRESENT
        value += (double)bias[b];
#endif
        to[i] = (OUT0_T)value;
        for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == dims[k]; k--) at[k] = 0;
      }
    }
#if OUT_COUNT > 1 && OUT1_PRESENT
    ((OUT1_T *)out[1])[r] = (OUT1_T)mean;
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
    ((OUT2_T *)out[2])[r] = (OUT2_T)inverse;
#endif
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_epsilon
