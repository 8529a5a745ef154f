/* GroupNormalization: mean and variance of each group of channels, in double; scale and bias per
 * channel.
 */
#include "generic/planes.h"
  const int64_t channels = dims[1] / ATTR_num_groups; /* of one group */
  const int64_t length = channels * plane;
  for (int64_t g = begin; g < end; g++) {
    const IN0_T *restrict from = x + g * length;
#define LENGTH length
#include "generic/moments.h"
    const double inverse = 1 / sqrt(variance / (double)length + (double)ATTR_epsilon);
    for (int64_t c = 0; c < channels; c++) {
      const int64_t channel = g % ATTR_num_groups * channels + c;
      const double by = inverse * (double)scale[channel], more = (double)bias[channel];
      OUT0_T *restrict to = y + g * length + c * plane;
      for (int64_t i = 0; i < plane; i++)
        to[i] = (OUT0_T)(((double)from[c * plane + i] - mean) * by + more);
    }
  }
  return 0;
}
#undef ATTR_epsilon
