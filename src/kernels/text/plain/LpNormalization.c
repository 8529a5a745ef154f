/* LpNormalization along an axis: x / |x|_p with p = 1 or 2; a zero vector stays zero. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_p
#define ATTR_p 2
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t outer = 1, inner = 1;
  (void)scratch;
  for (int k = 0; k < axis; k++) outer *= dims[k];
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      const int64_t base = o * dims[axis] * inner + i;
      double sum = 0;
      for (int64_t k = 0; k < dims[axis]; k++) {
        const double value = (double)x[base + k * inner];
        sum += ATTR_p == 1 ? fabs(value) : value * value;
      }
      const double norm = ATTR_p == 1 ? sum : sqrt(sum);
      for (int64_t k = 0; k < dims[axis]; k++)
        y[base + k * inner] = norm != 0 ? (OUT0_T)((double)x[base + k * inner] / norm) : 0;
    }
  return 0;
}
#undef ATTR_axis
#undef ATTR_p
