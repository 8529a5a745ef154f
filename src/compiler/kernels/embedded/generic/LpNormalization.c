/* LpNormalization along an axis: x / |x|_p with p = 1 or 2; a zero vector stays zero. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
#include "generic/lines.h"
    OUT0_T *restrict to = y + o * length * inner + i;
    double norm[PLAIN_LINES] = {0};
    if (inner == 1) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < length; k++)
        sum += ATTR_p == 1 ? fabs((double)from[k]) : (double)from[k] * (double)from[k];
      norm[0] = ATTR_p == 1 ? sum : sqrt(sum);
      for (int64_t k = 0; k < length; k++)
        to[k] = norm[0] != 0 ? (OUT0_T)((double)from[k] / norm[0]) : 0;
      continue;
    }
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const double value = (double)from[k * inner + j];
        norm[j] += ATTR_p == 1 ? fabs(value) : value * value;
      }
    for (int64_t j = 0; j < width; j++) norm[j] = ATTR_p == 1 ? norm[j] : sqrt(norm[j]);
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        to[k * inner + j] = norm[j] != 0 ? (OUT0_T)((double)from[k * inner + j] / norm[j]) : 0;
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_p
