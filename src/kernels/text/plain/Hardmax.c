/* Hardmax: 1 at the first largest element along the axis, 0 elsewhere. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t length = dims[axis];
  (void)scratch;
  int64_t inner = 1;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t u = begin; u < end; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    const IN0_T *restrict from = x + o * length * inner + i;
    OUT0_T *restrict to = y + o * length * inner + i;
    IN0_T best[PLAIN_LINES];
    int64_t at[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) best[j] = from[j], at[j] = 0;
    for (int64_t k = 1; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const int is_better = from[k * inner + j] > best[j];
        best[j] = is_better ? from[k * inner + j] : best[j];
        at[j] = is_better ? k : at[j];
      }
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++) to[k * inner + j] = at[j] == k;
  }
  return 0;
}
#undef ATTR_axis
