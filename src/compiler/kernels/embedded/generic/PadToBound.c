/* PadToBound (hone): makes an axis as long as the result's by appending input 1 after the actual
 * size. The actual size must be must_be if that is given; a work item is a row.
 */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_must_be
#define ATTR_must_be -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *const x = in[0];
  const IN1_T rest = ((const IN1_T *)in[1])[0];
  OUT0_T *const y = out[0];
  const int64_t dims[] = IN0_DIMS, to[] = OUT0_DIMS;
  const int axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis), last = IN0_RANK - 1;
  const int64_t room = dims[axis], length = to[axis], width = dims[last], new_width = to[last];
  int64_t size = room, lines = 1;
#ifdef IN0_OPEN
  const int64_t numbers[] = IN0_EXTENTS;
  if (numbers[axis]) size = ((const int64_t *)out[OUT_COUNT])[numbers[axis]];
#endif
  (void)scratch;
  if (ATTR_must_be >= 0 && size != ATTR_must_be) return 8;
  for (int d = axis + 1; d < last; d++) lines *= to[d]; /* rows of one index of the axis */
  for (int64_t u = begin; u < end; u++) {
    const int64_t at = axis == last ? 0 : u / lines % length;
    const int64_t row = axis == last ? u : (u / lines / length * room + at) * lines + u % lines;
    const int64_t count = axis == last ? size : at < size ? width : 0;
    for (int64_t k = 0; k < new_width; k++)
      y[u * new_width + k] = k < count ? x[row * width + k] : rest;
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_must_be
