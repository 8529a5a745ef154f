/* NonZero: [rank, found]; the distance of rows follows from the bound. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  int64_t *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  int64_t found = 0;
  (void)begin, (void)end, (void)scratch;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    if (!x[i]) continue;
    int64_t rest = i;
    for (int d = IN0_RANK - 1; d >= 0; d--) {
      y[d * to_dims[1] + found] = rest % dims[d];
      rest /= dims[d];
    }
    found++;
  }
  (void)dims, (void)y;
#ifdef OUT0_OPEN
  const int64_t numbers[] = OUT0_EXTENTS;
  ((int64_t *)out[OUT_COUNT])[numbers[1]] = found;
#endif
  return 0;
}
