/* Hardmax: 1 at the first largest element along the axis, 0 elsewhere. */
#ifndef ATTR_axis
#define ATTR_axis -1
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
  memset(y, 0, (size_t)OUT0_COUNT * sizeof *y);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      const int64_t base = o * dims[axis] * inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < dims[axis]; k++)
        if (x[base + k * inner] > x[base + best * inner]) best = k;
      if (dims[axis] > 0) y[base + best * inner] = 1;
    }
  return 0;
}
#undef ATTR_axis
