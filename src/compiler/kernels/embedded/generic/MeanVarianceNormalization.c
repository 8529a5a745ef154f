/* MeanVarianceNormalization over `axes`: (x - mean) / (sqrt(variance) + 1e-9). A work item is a
 * share of all groups, the indices of the axes that are kept.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
#ifdef ATTR_axes
  const int64_t axes[] = ATTR_axes;
  const int axis_count = ATTR_axes_COUNT;
#else
  const int64_t axes[] = {0, 2, 3};
  const int axis_count = 3;
#endif
  int64_t step[17], groups = 1, lines = 1, length = 1, stride = 1;
  int gone[17] = {0};
  (void)scratch;
  for (int k = 0; k < axis_count; k++) gone[axes[k] < 0 ? axes[k] + IN0_RANK : axes[k]] = 1;
  /* a group is `lines` lines of `length` contiguous elements: the reduced axes at the end,
     merged */
  int tail = IN0_RANK;
  while (tail > 0 && gone[tail - 1]) length *= dims[--tail];
  for (int k = IN0_RANK - 1; k >= 0; k--) {
    step[k] = stride;
    stride *= dims[k];
    if (k < tail) *(gone[k] ? &lines : &groups) *= dims[k];
  }
  const double share = 1 / (double)(lines * length);
  for (int64_t g = groups * begin / UNITS; g < groups * end / UNITS; g++) {
    int64_t base = 0, rest = g;
    for (int k = tail - 1; k >= 0; k--)
      if (!gone[k]) base += rest % dims[k] * step[k], rest /= dims[k];
    double mean = 0, variance = 0;
    for (int pass = 0; pass < 3; pass++) {
      for (int64_t line = 0; line < lines; line++) {
        int64_t at = base;
        rest = line;
        for (int k = tail - 1; k >= 0; k--)
          if (gone[k]) at += rest % dims[k] * step[k], rest /= dims[k];
        double sum = 0;
        if (pass == 0) {
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < length; i++) sum += (double)x[at + i];
          mean += sum * share;
        } else if (pass == 1) {
#pragma omp simd reduction(+ : sum)
          for (int64_t i = 0; i < length; i++) {
            const double value = (double)x[at + i] - mean;
            sum += value * value;
          }
          variance += sum * share;
        } else {
          const double width = sqrt(variance) + 1e-9;
          for (int64_t i = 0; i < length; i++) y[at + i] = (OUT0_T)(((double)x[at + i] - mean) / width);
        }
      }
    }
  }
  return 0;
}
