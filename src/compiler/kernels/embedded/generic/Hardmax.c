/* Hardmax: 1 at the first largest element along the axis, 0 elsewhere. NaN is the largest. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#include "generic/lines.h"
    OUT0_T *restrict to = y + o * length * inner + i;
    IN0_T best[PLAIN_LINES];
    int64_t at[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) best[j] = from[j], at[j] = 0;
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const IN0_T a = from[k * inner + j], b = best[j];
        const int is_better = ((a > b) | (a != a)) & (b == b);
        best[j] = is_better ? a : b;
        at[j] = is_better ? k : at[j];
      }
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++) to[k * inner + j] = at[j] == k;
  }
  return 0;
}
#undef ATTR_axis
