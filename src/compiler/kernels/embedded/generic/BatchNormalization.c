/* BatchNormalization for inference: (x - mean) / sqrt(variance + epsilon) * scale + bias. */
#include "generic/planes.h"
  const IN3_T *mean = in[3];
  const IN4_T *variance = in[4];
  for (int64_t p = begin; p < end; p++) {
    const int64_t c = p % IN1_COUNT;
    const double middle = (double)mean[c], by = (double)scale[c], more = (double)bias[c];
    const double width = sqrt((double)variance[c] + (double)ATTR_epsilon);
    for (int64_t i = p * plane; i < (p + 1) * plane; i++)
      y[i] = (OUT0_T)(((double)x[i] - middle) / width * by + more);
  }
  return 0;
}
#undef ATTR_epsilon
