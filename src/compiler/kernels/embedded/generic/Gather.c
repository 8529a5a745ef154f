/* Gather: [outer, axis, inner] by indices to [outer, indices, inner]; a work item is one row of
 * inner. Elements past the actual size of dynamic indices are not indices. With ATTR_panel the rows
 * of a matrix are the columns of packed weights, [panel][k][column].
 */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  const int64_t length = dims[axis];
  int64_t inner = 1;
#ifdef IN1_OPEN
  const int64_t index_dims[] = IN1_DIMS, numbers[] = IN1_EXTENTS;
#endif
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  int64_t o = begin / IN1_COUNT, i = begin % IN1_COUNT;
  for (int64_t u = begin; u < end; o++, i = 0) {
    const int64_t width = IN1_COUNT - i < end - u ? IN1_COUNT - i : end - u;
    const IN0_T *restrict from = data + o * length * inner;
    for (int64_t j = 0; j < width; j++)
      if ((int64_t)indices[i + j] < -length || (int64_t)indices[i + j] >= length)
#ifdef IN1_OPEN
        if (inside_(i + j, IN1_RANK, index_dims, numbers, out[OUT_COUNT]))
#endif
          return 8;
    for (int64_t j = 0; j < width; j++) {
      int64_t at = (int64_t)indices[i + j];
      at += at < 0 ? length : 0;
#ifdef IN1_OPEN
      if (at < 0 || at >= length) {
#if IN0_IS_TEXT
        for (int64_t k = 0; k < inner; k++) to[(u + j) * inner + k] = (OUT0_T){"", 0};
#endif
        continue;
      }
#endif
#ifdef ATTR_panel
      const IN0_T *restrict row = data + at / ATTR_panel * (ATTR_panel * inner) + at % ATTR_panel;
      for (int64_t k = 0; k < inner; k++) to[(u + j) * inner + k] = row[k * ATTR_panel];
      continue;
#endif
      if (inner == 1)
        to[u + j] = from[at];
      else
        memcpy(to + (u + j) * inner, from + at * inner, (size_t)inner * sizeof *to);
    }
    u += width;
  }
  return 0;
}
#undef ATTR_axis
