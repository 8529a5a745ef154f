/* GlobalAveragePool, GlobalMaxPool and GlobalLpPool (POOL_MODE 0, 1, 2): one value a channel. */
#ifndef ATTR_p
#define ATTR_p 2
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t plane = 1;
  (void)scratch;
  for (int k = 2; k < IN0_RANK; k++) plane *= dims[k];
  for (int64_t p = 0; p < dims[0] * dims[1]; p++, x += plane) {
    double sum = 0;
    IN0_T best = plane ? x[0] : 0;
    for (int64_t i = 0; i < plane; i++) {
      sum += POOL_MODE == 2 ? pow(fabs((double)x[i]), (double)ATTR_p) : (double)x[i];
      if (x[i] > best || x[i] != x[i]) best = x[i];
    }
    y[p] = POOL_MODE == 1   ? (OUT0_T)best
           : POOL_MODE == 2 ? (OUT0_T)pow(sum, 1 / (double)ATTR_p)
                            : (OUT0_T)(sum / (double)plane);
  }
  return 0;
}
#undef ATTR_p
