/* Gather: [outer, axis, inner] by indices to [outer, indices, inner]; a unit is one row of inner. */
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
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  int64_t o = begin / IN1_COUNT, i = begin % IN1_COUNT;
  for (int64_t u = begin; u < end; o++, i = 0) {
    const int64_t width = IN1_COUNT - i < end - u ? IN1_COUNT - i : end - u;
    const IN0_T *restrict from = data + o * length * inner;
    for (int64_t j = 0; j < width; j++)
      if ((int64_t)indices[i + j] < -length || (int64_t)indices[i + j] >= length) return 8;
    for (int64_t j = 0; j < width; j++) {
      int64_t at = (int64_t)indices[i + j];
      at += at < 0 ? length : 0;
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
