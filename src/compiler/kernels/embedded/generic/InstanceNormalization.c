/* InstanceNormalization: each channel of each image with its own mean and variance, in double. */
#include "generic/planes.h"
  for (int64_t p = begin; p < end; p++) {
    const IN0_T *restrict from = x + p * plane;
    OUT0_T *restrict to = y + p * plane;
#define LENGTH plane
#include "generic/moments.h"
    const double by = (double)scale[p % dims[1]] / sqrt(variance / (double)plane + (double)ATTR_epsilon);
    const double more = (double)bias[p % dims[1]];
    for (int64_t i = 0; i < plane; i++) to[i] = (OUT0_T)(((double)from[i] - mean) * by + more);
  }
  return 0;
}
#undef ATTR_epsilon
