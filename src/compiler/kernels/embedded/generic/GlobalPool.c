/* GlobalAveragePool, GlobalMaxPool and GlobalLpPool (POOL_MODE 0, 1, 2): one value per channel. */
#ifndef ATTR_p
#define ATTR_p 2
#endif
/* Keeps NaN. */
#define MORE(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = begin; p < end; p++) {
    const IN0_T *restrict from = x + p * plane;
    if (POOL_MODE == 1) {
      IN0_T best[16];
      int64_t i = 0;
      for (int l = 0; l < 16; l++) best[l] = from[0];
      for (; i + 16 <= plane; i += 16)
        for (int l = 0; l < 16; l++) best[l] = MORE(from[i + l], best[l]);
      for (; i < plane; i++) best[0] = MORE(from[i], best[0]);
      for (int l = 1; l < 16; l++) best[0] = MORE(best[l], best[0]);
      y[p] = (OUT0_T)best[0];
      continue;
    }
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < plane; i++)
      sum += POOL_MODE == 0 ? (double)from[i]
             : ATTR_p == 1  ? fabs((double)from[i])
             : ATTR_p == 2  ? (double)from[i] * (double)from[i]
                            : pow(fabs((double)from[i]), (double)ATTR_p);
    y[p] = (OUT0_T)(POOL_MODE == 0 ? sum / (double)plane : pow(sum, 1 / (double)ATTR_p));
  }
  return 0;
}
#undef MORE
#undef ATTR_p
