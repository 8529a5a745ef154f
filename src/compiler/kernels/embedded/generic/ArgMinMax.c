/* ArgMax and ArgMin; ARG_MAX is 1 or 0. Ties: the first, or the last with select_last_index. NaN
 * beats every number, as in NumPy. Adjacent lines are read twice: for their extremum, then for its
 * index.
 */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_select_last_index
#define ATTR_select_last_index 0
#endif
/* Indices within a stretch have a type as wide as the elements, so that vectors of both have
   equally many lanes. */
#if IN0_TYPE == 2 || IN0_TYPE == 3 || IN0_TYPE == 9
#define STEP uint8_t
#define STRETCH 255
#elif IN0_TYPE == 4 || IN0_TYPE == 5
#define STEP uint16_t
#define STRETCH 65535
#elif IN0_TYPE == 7 || IN0_TYPE == 11 || IN0_TYPE == 13
#define STEP uint64_t
#define STRETCH ((int64_t)1 << 62)
#else
#define STEP uint32_t
#define STRETCH ((int64_t)1 << 31)
#endif
#if IN0_TYPE == 1 || IN0_TYPE == 11
#define IS_NAN(a) ((a) != (a))
#else
#define IS_NAN(a) 0
#endif
#define SMALLER(a, b) (ARG_MAX ? (a) < (b) : (b) < (a)) /* on the way to the result */
#define BETTER(a, b) ((SMALLER(b, a) | IS_NAN(a)) & !IS_NAN(b))
/* Adjacent lines, COUNT of them: a constant if all exist, so that the loop stays a vector. `at`
   counts from 1 within a stretch, 0 means none; the first stretch begins at index 1. */
#define SCAN(COUNT)                                                                 \
  {                                                                                 \
    IN0_T best[PLAIN_LINES];                                                        \
    for (int64_t j = 0; j < COUNT; j++) best[j] = from[j];                          \
    for (int64_t j = 0; j < COUNT && length == 1; j++) to[j] = 0;                   \
    for (int64_t first = 1; first < length; first += STRETCH) {                     \
      const int64_t last = length - first < STRETCH ? length - first : STRETCH;     \
      STEP at[PLAIN_LINES] = {0};                                                   \
      for (int64_t k = 0; k < last; k++)                                            \
        for (int64_t j = 0; j < COUNT; j++) {                                       \
          const IN0_T a = from[(first + k) * inner + j], b = best[j];               \
          const int is_better =                                                     \
              BETTER(a, b) | (ATTR_select_last_index & ((a == b) | (IS_NAN(a) & IS_NAN(b)))); \
          best[j] = is_better ? a : b;                                              \
          at[j] = is_better ? (STEP)(k + 1) : at[j];                                \
        }                                                                           \
      if (first == 1)                                                               \
        for (int64_t j = 0; j < COUNT; j++) to[j] = (OUT0_T)at[j];                  \
      else                                                                          \
        for (int64_t j = 0; j < COUNT; j++)                                         \
          to[j] = at[j] ? (OUT0_T)(first + (int64_t)at[j] - 1) : to[j];             \
    }                                                                               \
  }
#include "generic/lines.h"
    OUT0_T *restrict to = y + o * inner + i;
    if (inner == 1) {
      const int64_t first = ATTR_select_last_index ? length - 1 : 0, step = ATTR_select_last_index ? -1 : 1;
      int64_t best = -1, k = 0;
#if IN0_TYPE == 1 || IN0_TYPE == 11
      IN0_T poison = 0; /* NaN if there is a NaN or an infinity */
#pragma omp simd reduction(+ : poison)
      for (int64_t i = 0; i < length; i++) poison += from[i] - from[i];
      if (IS_NAN(poison))
        for (best = first; best >= 0 && best < length && !IS_NAN(from[best]); best += step) continue;
#endif
      if (best < 0 || best == length) {
        IN0_T lane[16];
        for (int l = 0; l < 16; l++) lane[l] = from[0];
        for (; k + 16 <= length; k += 16)
          for (int l = 0; l < 16; l++) lane[l] = SMALLER(lane[l], from[k + l]) ? from[k + l] : lane[l];
        for (; k < length; k++) lane[0] = SMALLER(lane[0], from[k]) ? from[k] : lane[0];
        for (int l = 1; l < 16; l++) lane[0] = SMALLER(lane[0], lane[l]) ? lane[l] : lane[0];
        for (best = first; from[best] != lane[0]; best += step) continue;
      }
      to[0] = (OUT0_T)best;
      continue;
    }
    if (width == PLAIN_LINES)
      SCAN(PLAIN_LINES)
    else
      SCAN(width)
  }
  return 0;
}
#undef BETTER
#undef SMALLER
#undef IS_NAN
#undef SCAN
#undef STEP
#undef STRETCH
#undef ATTR_axis
#undef ATTR_select_last_index
