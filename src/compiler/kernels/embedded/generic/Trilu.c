/* Trilu: the upper or lower triangle of each matrix, the rest zero. */
#ifndef ATTR_upper
#define ATTR_upper 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS, columns = dims[IN0_RANK - 1], rows = dims[IN0_RANK - 2];
  int64_t k = 0;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  k = (int64_t)((const IN1_T *)in[1])[0];
#endif
  if (k > columns) k = columns;
  if (k < -rows) k = -rows;
  for (int64_t r = begin; r < end; r++) {
    /* columns before `first` are the lower part, with the diagonal if it belongs there */
    int64_t first = r % rows + k + !ATTR_upper;
    first = first < 0 ? 0 : first > columns ? columns : first;
    for (int64_t j = 0; j < first; j++) y[r * columns + j] = ATTR_upper ? 0 : x[r * columns + j];
    for (int64_t j = first; j < columns; j++) y[r * columns + j] = ATTR_upper ? x[r * columns + j] : 0;
  }
  return 0;
}
#undef ATTR_upper
