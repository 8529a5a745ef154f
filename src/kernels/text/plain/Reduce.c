/* All reductions; REDUCE_OP: 0 sum, 1 mean, 2 max, 3 min, 4 product, 5 sum of |x|, 6 root of the sum
 * of squares, 7 log of the sum, 8 log of the sum of exp, 9 sum of squares. Axes come from input 1 at
 * run time, or from the attribute; none: all axes. Floats add in double, integers wrap. */
#ifndef ATTR_noop_with_empty_axes
#define ATTR_noop_with_empty_axes 0
#endif
#define ACC __typeof__(_Generic((OUT0_T)0, float: 0.0, double: 0.0, default: (uint64_t)0))
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int reduced[17] = {0}, is_given = 0, kept_count = 0, gone_count = 0;
  int64_t kept[17], gone[17], kept_step[17], gone_step[17], at[17] = {0}, in_at[17] = {0};
  int64_t length = 1, base = 0;
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
  int64_t step = 1;
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    if (is_given ? reduced[k] : !ATTR_noop_with_empty_axes) {
      gone[gone_count] = dims[k];
      gone_step[gone_count++] = step;
      length *= dims[k];
    } else {
      kept[kept_count] = dims[k];
      kept_step[kept_count++] = step;
    }
    step *= dims[k];
  }
  for (int64_t o = 0; o < OUT0_COUNT; o++) { /* the last axis comes first in kept and gone */
    ACC sum = REDUCE_OP == 4 ? 1 : 0, high = 0;
    IN0_T best = 0;
    int64_t i = base;
    if (REDUCE_OP == 8) {
      for (int64_t r = 0; r < length; r++) {
        if (r == 0 || (ACC)x[i] > high) high = (ACC)x[i];
        for (int k = 0; k < gone_count; k++) {
          i += gone_step[k];
          if (++in_at[k] < gone[k]) break;
          i -= gone_step[k] * gone[k];
          in_at[k] = 0;
        }
      }
      if ((double)high - (double)high != 0) high = 0; /* infinite */
    }
    for (int64_t r = 0; r < length; r++) {
      const ACC value = (ACC)x[i];
      switch (REDUCE_OP) {
        case 2:
          if (r == 0 || x[i] > best || x[i] != x[i]) best = x[i];
          break;
        case 3:
          if (r == 0 || x[i] < best || x[i] != x[i]) best = x[i];
          break;
        case 4: sum *= value; break;
        case 5: sum += x[i] < 0 ? -value : value; break;
        case 6:
        case 9: sum += value * value; break;
        case 8: sum += (ACC)exp((double)(value - high)); break;
        default: sum += value;
      }
      for (int k = 0; k < gone_count; k++) {
        i += gone_step[k];
        if (++in_at[k] < gone[k]) break;
        i -= gone_step[k] * gone[k];
        in_at[k] = 0;
      }
    }
    if (REDUCE_OP == 2 || REDUCE_OP == 3) {
      if (length == 0) { /* the other end of the type */
        const IN0_T end = _Generic((IN0_T)0, float: INFINITY, double: INFINITY,
                                   default: (IN0_T)((IN0_T)-1 > 0 ? (IN0_T)-1
                                                                  : (IN0_T)(UINT64_MAX >> (65 - 8 * sizeof(IN0_T)))));
        best = REDUCE_OP == 3 ? end : (IN0_T)((IN0_T)-1 > 0 ? 0 : (IN0_T)0.5 != 0 ? -end : -1 - end);
      }
      y[o] = best;
    } else if (REDUCE_OP == 1) {
      y[o] = (OUT0_T)(_Generic((OUT0_T)0, float: sum / (ACC)length, double: sum / (ACC)length,
                               default: (length ? (int64_t)sum / length : 0)));
    } else if (REDUCE_OP == 6) {
      y[o] = (OUT0_T)sqrt((double)sum);
    } else if (REDUCE_OP == 7) {
      y[o] = (OUT0_T)log((double)sum);
    } else if (REDUCE_OP == 8) {
      y[o] = (OUT0_T)(log((double)sum) + (double)high);
    } else {
      y[o] = (OUT0_T)sum;
    }
    for (int k = 0; k < kept_count; k++) {
      base += kept_step[k];
      if (++at[k] < kept[k]) break;
      base -= kept_step[k] * kept[k];
      at[k] = 0;
    }
  }
  return 0;
}
#undef ACC
#undef ATTR_noop_with_empty_axes
