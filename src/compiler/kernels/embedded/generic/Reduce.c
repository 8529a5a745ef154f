/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the
 * sum of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares, 10 variance. Axes
 * are input 1 at run time, or the attribute; none: all axes. Floats are summed in double, integers
 * wrap around; roots and logarithms are computed in double.
 */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#if OUT0_TYPE == 1 || OUT0_TYPE == 11 || (REDUCE_OP >= 6 && REDUCE_OP <= 8)
#define ACC double
#else
#define ACC uint64_t
#endif
/* To integers: truncated; NaN becomes 0, out of range the nearest int64. */
#define STORED(x)                                                                                \
  _Generic((OUT0_T)0, float: (OUT0_T)(x), double: (OUT0_T)(x),                                   \
           default: (OUT0_T)((x) != (x) ? 0 : (x) <= -0x1p63 ? INT64_MIN : (x) >= 0x1p63 ? INT64_MAX : (int64_t)(x)))
#define WIDTH 64
/* The next of n independent sums, products or extrema, with j as index of both. */
#define MEET(j, value, high)                                                                     \
  do {                                                                                           \
    const IN0_T a = (value), b = best[j];                                                        \
    const ACC wide = (ACC)a;                                                                     \
    (void)b, (void)wide;                                                                         \
    if (REDUCE_OP == 2) best[j] = a > b || a != a ? a : b;                                       \
    if (REDUCE_OP == 3) best[j] = a < b || a != a ? a : b;                                       \
    if (REDUCE_OP == 4) sum[j] *= wide;                                                          \
    if (REDUCE_OP == 5) sum[j] += a < 0 ? -wide : wide;                                          \
    if (REDUCE_OP == 6 || REDUCE_OP == 9) sum[j] += wide * wide;                                 \
    if (REDUCE_OP == 8) sum[j] += (ACC)exp((double)(wide - (high)));                             \
    if (REDUCE_OP == 10) sum[j] += (wide - (high)) * (wide - (high));                              \
    if (REDUCE_OP < 2 || REDUCE_OP == 7) sum[j] += wide;                                         \
  } while (0)
/* Runs `statement` for every index of the reduced dimensions except the last n of `gone`: offset
   `at`. */
#define OVER_GONE(first_gone, statement)                                   \
  do {                                                                     \
    int64_t at = 0, in_at[17] = {0};                                       \
    for (int64_t r = 0; r < outer_length; r++) {                           \
      statement;                                                           \
      for (int k = (first_gone); k < gone_count; k++) {                    \
        at += gone_step[k];                                                \
        if (++in_at[k] < gone[k]) break;                                   \
        at -= gone_step[k] * gone[k];                                      \
        in_at[k] = 0;                                                      \
      }                                                                    \
    }                                                                      \
  } while (0)
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17] = {0}, gone[17] = {0}, kept_step[17] = {0}, gone_step[17] = {0};
  int64_t length = 1, step = 1;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  for (int64_t k = 0; k < IN1_COUNT; k++) {
    int64_t axis = (int64_t)((const IN1_T *)in[1])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    reduced[axis < 0 ? axis + IN0_RANK : axis] = is_given = 1;
  }
#elif defined ATTR_axes
  const int64_t axes[] = ATTR_axes;
  for (int k = 0; k < ATTR_axes_COUNT; k++)
    reduced[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = is_given = 1;
#endif
  int was = -1;
  /* from the last on, adjacent dimensions that are both kept or both reduced are merged */
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    const int goes = is_given ? reduced[k] : !ATTR_noop_with_empty_axes;
    int *const count = goes ? &gone_count : &kept_count;
    int64_t *const size = goes ? gone : kept, *const by = goes ? gone_step : kept_step;
    if (goes) length *= dims[k];
    if (dims[k] != 1 || (k == 0 && was < 0)) {
      if (was == goes) {
        size[*count - 1] *= dims[k];
      } else {
        by[*count] = step;
        size[(*count)++] = dims[k];
      }
      was = goes;
    }
    step *= dims[k];
  }
  const int keeps_last = kept_count > 0 && kept_step[0] == 1;
  /* adjacent elements that are reduced */
  const int64_t run = !keeps_last && gone_count > 0 ? gone[0] : 1;
  const int64_t outer_length = length == 0 ? 0 : length / run;
  const int first_gone = run > 1 || (gone_count && !keeps_last) ? 1 : 0;
  for (int64_t o = begin; o < end;) {
    int64_t base = 0, rest = o, width = 1;
    for (int k = 0; k < kept_count; rest /= kept[k], k++) base += rest % kept[k] * kept_step[k];
    if (keeps_last) { /* adjacent results together */
      width = kept[0] - o % kept[0];
      if (width > end - o) width = end - o;
      if (width > WIDTH) width = WIDTH;
    }
    const IN0_T *restrict from = x + base;
    ACC sum[WIDTH], high[WIDTH] = {0};
    IN0_T best[WIDTH];
    for (int64_t j = 0; j < WIDTH; j++) {
      sum[j] = REDUCE_OP == 4 ? 1 : 0;
      best[j] = length ? from[keeps_last && j < width ? j : 0] : 0;
    }
    if (REDUCE_OP == 8 && length) {
      for (int64_t j = 0; j < width; j++) high[j] = (ACC)from[j];
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] =
                                  (ACC)from[at + j] > high[j] ? (ACC)from[at + j] : high[j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] =
                                  (ACC)from[at + i] > high[0] ? (ACC)from[at + i] : high[0]);
      for (int64_t j = 0; j < width; j++)
        if ((double)high[j] - (double)high[j] != 0) high[j] = 0; /* infinite */
    }
    if (REDUCE_OP == 10) { /* the means */
      if (keeps_last)
        OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) high[j] += (ACC)from[at + j]);
      else
        OVER_GONE(first_gone, for (int64_t i = 0; i < run; i++) high[0] += (ACC)from[at + i]);
      for (int64_t j = 0; j < width && length; j++) high[j] /= (ACC)length;
    }
    if (keeps_last) {
      OVER_GONE(first_gone, for (int64_t j = 0; j < width; j++) MEET(j, from[at + j], high[j]));
    } else if (REDUCE_OP != 2 && REDUCE_OP != 3 && REDUCE_OP != 4) { /* one reduced row at a time */
      const ACC top = high[0];
      int64_t at = 0, in_at[17] = {0};
      for (int64_t r = 0; r < outer_length; r++) {
        const IN0_T *restrict row = from + at;
        ACC part = 0;
#pragma omp simd reduction(+ : part)
        for (int64_t i = 0; i < run; i++) {
          const ACC wide = (ACC)row[i];
          part += REDUCE_OP == 5                     ? (row[i] < 0 ? -wide : wide)
                  : REDUCE_OP == 6 || REDUCE_OP == 9 ? wide * wide
                  : REDUCE_OP == 8                   ? (ACC)exp((double)(wide - top))
                  : REDUCE_OP == 10                  ? (wide - top) * (wide - top)
                                                     : wide;
        }
        sum[0] += part;
        for (int k = first_gone; k < gone_count; k++) {
          at += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          at -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
    } else { /* WIDTH extrema or products of one row, combined at its end */
      OVER_GONE(first_gone, for (int64_t i = 0; i < run; i += WIDTH) {
        const int64_t n = run - i < WIDTH ? run - i : WIDTH;
        for (int64_t j = 0; j < n; j++) MEET(j, from[at + i + j], high[0]);
      });
      for (int j = 1; j < WIDTH; j++) {
        if (REDUCE_OP == 2) best[0] = best[j] > best[0] || best[j] != best[j] ? best[j] : best[0];
        if (REDUCE_OP == 3) best[0] = best[j] < best[0] || best[j] != best[j] ? best[j] : best[0];
        sum[0] *= sum[j];
      }
    }
    for (int64_t j = 0; j < width; j++, o++) {
      if (REDUCE_OP == 2 || REDUCE_OP == 3) {
        if (length == 0) { /* the other extreme of the type */
          const IN0_T far = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                     default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                    : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
          best[j] = REDUCE_OP == 3 ? far : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -far : -1 - far);
        }
        y[o] = best[j];
      } else if (REDUCE_OP == 1 || REDUCE_OP == 10) {
        y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum[j] / (ACC)length, double: sum[j] / (ACC)length,
                                 default: (!length ? 0 : IN0_TYPE == 13 ? (int64_t)((uint64_t)sum[j] / (uint64_t)length)
                                                                : (int64_t)sum[j] / length)));
      } else if (REDUCE_OP == 6) {
        y[o] = STORED(sqrt((double)sum[j]));
      } else if (REDUCE_OP == 7) {
        y[o] = STORED(log((double)sum[j]));
      } else if (REDUCE_OP == 8) {
        y[o] = STORED(log((double)sum[j]) + (double)high[j]);
      } else {
        y[o] = (OUT0_T)sum[j];
      }
    }
  }
  return 0;
}
#undef ACC
#undef WIDTH
#undef MEET
#undef STORED
#undef OVER_GONE
#undef ATTR_noop_with_empty_axes
