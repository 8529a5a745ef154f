/* GatherElements: out[i][j] = data[index[i][j]][j] for axis 0. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict data = in[0];
  const IN1_T *restrict indices = in[1];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  enum { LAST = OUT0_RANK > 0 ? OUT0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[axis];
  int64_t strides[17], step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int64_t r = begin; r < end; r++) { /* one row of the output */
    int64_t offset = 0, rest = r;
    int is_outside = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--)
      offset += k == axis ? 0 : rest % to_dims[k] * strides[k];
    const IN1_T *restrict index = indices + r * columns;
    for (int64_t j = 0; j < columns; j++) is_outside |= index[j] < -length || index[j] >= length;
    if (is_outside) return 8;
    const int64_t by = strides[axis], along = axis == LAST ? 0 : 1;
    for (int64_t j = 0; j < columns; j++) {
      const int64_t at = (int64_t)index[j] + (index[j] < 0 ? length : 0);
      to[r * columns + j] = data[offset + at * by + j * along];
    }
  }
  return 0;
}
#undef ATTR_axis
