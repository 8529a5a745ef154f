/* Trilu: the upper or lower triangle of each matrix, the rest zero. */
#ifndef ATTR_upper
#define ATTR_upper 1
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, columns = dims[IN0_RANK - 1], rows = dims[IN0_RANK - 2];
  int64_t k = 0;
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  k = (int64_t)((const IN1_T *)in[1])[0];
#endif
  if (k > columns) k = columns;
  if (k < -rows) k = -rows;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    const int64_t column = i % columns, row = i / columns % rows;
    y[i] = (ATTR_upper ? column >= row + k : column <= row + k) ? x[i] : 0;
  }
  return 0;
}
#undef ATTR_upper
