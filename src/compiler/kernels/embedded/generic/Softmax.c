/* Softmax and LogSoftmax along any axis; SOFTMAX_LOG is 0 or 1. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#if OUT0_TYPE == 1 /* f32 */
#define REAL float
#else
#define REAL double
#endif
/* exp of n adjacent elements minus `shift`, which is one number or one for each: e[j]. */
#define EXP_ROW(e, from, shift, by, n)                                                           \
  do {                                                                                           \
    for (int64_t j = 0; j < (n); j++) (e)[j] = (REAL)(from)[j] - (shift)[j * (by)];              \
    if (sizeof(REAL) == 4)                                                                       \
      for (int64_t j = 0; j < (n); j += LANES) {                                                 \
        float *const at = (float *)(void *)((e) + j);                                            \
        store_lanes_(at, exp_down_(load_lanes_(at, (n)-j)), (n)-j);                              \
      }                                                                                          \
    else                                                                                         \
      for (int64_t j = 0; j < (n); j++) (e)[j] = (REAL)exp((double)(e)[j]);                      \
  } while (0)
/* For a logarithm the ones are counted separately: it is log1p of the others, which would be
   lost next to 1. */
#define ADD_TERM(e, j)                                              \
  do {                                                              \
    const int is_top = SOFTMAX_LOG && !((e) < 1);                   \
    sum[j] += is_top ? (e)-1 : (e);                                 \
    tops[j] += is_top;                                              \
  } while (0)
#define LOG_OF(sum, tops) ((REAL)log1p((double)(sum) + ((double)(tops)-1)))
#include "generic/lines.h"
    OUT0_T *restrict to = y + o * length * inner + i;
    REAL high[PLAIN_LINES], sum[PLAIN_LINES] = {0}, tops[PLAIN_LINES] = {0}, e[PLAIN_LINES];
    if (inner == 1) { /* a row: PLAIN_LINES of its own elements at a time */
      for (int l = 0; l < PLAIN_LINES; l++) high[l] = (REAL)from[0];
      for (int64_t k = 0; k < length; k += PLAIN_LINES) {
        const int64_t n = length - k < PLAIN_LINES ? length - k : PLAIN_LINES;
        for (int64_t l = 0; l < n; l++)
          high[l] = (REAL)from[k + l] > high[l] ? (REAL)from[k + l] : high[l];
      }
      for (int l = 1; l < PLAIN_LINES; l++) high[0] = high[l] > high[0] ? high[l] : high[0];
      for (int64_t k = 0; k < length; k += PLAIN_LINES) {
        const int64_t n = length - k < PLAIN_LINES ? length - k : PLAIN_LINES;
        EXP_ROW(e, from + k, high, 0, n);
        for (int64_t l = 0; l < n; l++) {
          ADD_TERM(e[l], l);
          to[k + l] = (OUT0_T)(SOFTMAX_LOG ? (REAL)from[k + l] - high[0] : e[l]);
        }
      }
      for (int l = 1; l < PLAIN_LINES; l++) sum[0] += sum[l], tops[0] += tops[l];
      const REAL log_sum = LOG_OF(sum[0], tops[0]);
      for (int64_t k = 0; k < length; k++)
        to[k] = (OUT0_T)(SOFTMAX_LOG ? to[k] - log_sum : to[k] / sum[0]);
      continue;
    }
    for (int64_t j = 0; j < width; j++) high[j] = (REAL)from[j];
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        high[j] = (REAL)from[k * inner + j] > high[j] ? (REAL)from[k * inner + j] : high[j];
    for (int64_t k = 0; k < length; k++) {
      EXP_ROW(e, from + k * inner, high, 1, width);
      for (int64_t j = 0; j < width; j++) {
        ADD_TERM(e[j], j);
        to[k * inner + j] = (OUT0_T)(SOFTMAX_LOG ? (REAL)from[k * inner + j] - high[j] : e[j]);
      }
    }
    for (int64_t j = 0; j < width && SOFTMAX_LOG; j++) sum[j] = LOG_OF(sum[j], tops[j]);
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        to[k * inner + j] =
            (OUT0_T)(SOFTMAX_LOG ? to[k * inner + j] - sum[j] : to[k * inner + j] / sum[j]);
  }
  return 0;
}
#undef EXP_ROW
#undef ADD_TERM
#undef LOG_OF
#undef REAL
#undef ATTR_axis
