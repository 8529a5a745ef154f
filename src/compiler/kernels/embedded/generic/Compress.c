/* Compress: the elements along an axis (all elements without one) for which the condition is true.
 */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict condition = in[1];
  OUT0_T *restrict y = out[0];
  int64_t outer = 1, length = IN0_COUNT, inner = 1, *extents = out[OUT_COUNT];
  const int64_t numbers[] = OUT0_EXTENTS, to_dims[] = OUT0_DIMS;
  int axis = 0;
  (void)begin, (void)end, (void)scratch;
#ifdef ATTR_axis
  const int64_t dims[] = IN0_DIMS;
  axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  length = dims[axis];
  for (int d = 0; d < axis; d++) outer *= dims[d];
  for (int d = axis + 1; d < IN0_RANK; d++) inner *= dims[d];
#endif
  int64_t found = 0;
  for (int64_t i = 0; i < IN1_COUNT; i++) {
    if (!condition[i]) continue;
    for (int64_t o = 0; o < outer; o++)
      memcpy(y + (o * to_dims[axis] + found) * inner, x + (o * length + i) * inner, (size_t)inner * sizeof *y);
    found++;
  }
  extents[numbers[axis]] = found;
  return 0;
}
