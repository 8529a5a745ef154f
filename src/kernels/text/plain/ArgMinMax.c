/* ArgMax and ArgMin; ARG_MAX is 1 or 0. Ties: the first, or the last with select_last_index. A line
 * of neighbours is read twice: for its end, then for its place. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_select_last_index
#define ATTR_select_last_index 0
#endif
#define BETTER(a, b) (ARG_MAX ? (a) > (b) : (a) < (b))
#include "plain/lines.h"
    OUT0_T *restrict to = y + o * inner + i;
    if (inner == 1) {
      int64_t best = 0, k = 0;
      IN0_T lane[16];
      for (int l = 0; l < 16; l++) lane[l] = from[0];
      for (; k + 16 <= length; k += 16)
        for (int l = 0; l < 16; l++) lane[l] = BETTER(from[k + l], lane[l]) ? from[k + l] : lane[l];
      for (; k < length; k++) lane[0] = BETTER(from[k], lane[0]) ? from[k] : lane[0];
      for (int l = 1; l < 16; l++) lane[0] = BETTER(lane[l], lane[0]) ? lane[l] : lane[0];
      if (lane[0] != lane[0])
        best = 0; /* the first is NaN: nothing is better */
      else if (ATTR_select_last_index)
        for (best = length - 1; from[best] != lane[0]; best--) continue;
      else
        while (from[best] != lane[0]) best++;
      to[0] = (OUT0_T)best;
      continue;
    }
    IN0_T best[PLAIN_LINES];
    OUT0_T at[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) best[j] = from[j], at[j] = 0;
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const IN0_T a = from[k * inner + j], b = best[j];
        const int is_better = BETTER(a, b) || (ATTR_select_last_index && a == b);
        best[j] = is_better ? a : b;
        at[j] = is_better ? (OUT0_T)k : at[j];
      }
    for (int64_t j = 0; j < width; j++) to[j] = at[j];
  }
  return 0;
}
#undef BETTER
#undef ATTR_axis
#undef ATTR_select_last_index
