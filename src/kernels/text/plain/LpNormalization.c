/* LpNormalization along an axis: x / |x|_p with p = 1 or 2; a zero vector stays zero. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_p
#define ATTR_p 2
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
    double norm[PLAIN_LINES] = {0};
    if (inner == 1) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < length; k++)
        sum += ATTR_p == 1 ? fabs((double)from[k]) : (double)from[k] * (double)from[k];
      norm[0] = ATTR_p == 1 ? sum : sqrt(sum);
      for (int64_t k = 0; k < length; k++)
        to[k] = norm[0] != 0 ? (OUT0_T)((double)from[k] / norm[0]) : 0;
      continue;
    }
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++) {
        const double value = (double)from[k * inner + j];
        norm[j] += ATTR_p == 1 ? fabs(value) : value * value;
      }
    for (int64_t j = 0; j < width; j++) norm[j] = ATTR_p == 1 ? norm[j] : sqrt(norm[j]);
    for (int64_t k = 0; k < length; k++)
      for (int64_t j = 0; j < width; j++)
        to[k * inner + j] = norm[j] != 0 ? (OUT0_T)((double)from[k * inner + j] / norm[j]) : 0;
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_p
