/* Pad with the modes constant, reflect, edge and wrap; negative pads crop. */
/* The source index for index i of the padded dimension; -1: none. */
#if defined ATTR_mode_IS_edge
#define FROM(i, dim) ((i) < 0 ? 0 : (i) >= (dim) ? (dim)-1 : (i))
#elif defined ATTR_mode_IS_wrap
#define FROM(i, dim) ((((i) % (dim)) + (dim)) % (dim))
#elif defined ATTR_mode_IS_reflect
#define PERIOD(dim) ((dim) > 1 ? 2 * ((dim)-1) : 1)
#define INTO(i, dim) (((i) % PERIOD(dim) + PERIOD(dim)) % PERIOD(dim))
#define FROM(i, dim) (INTO(i, dim) >= (dim) ? PERIOD(dim) - INTO(i, dim) : INTO(i, dim))
#else
#define FROM(i, dim) ((i) < 0 || (i) >= (dim) ? -1 : (i))
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const IN1_T *pads = in[1];
  int64_t before[17] = {0}, strides[17], step = 1;
  OUT0_T fill = 0;
  (void)scratch;
#if IN_COUNT > 2 && IN2_PRESENT
  if (IN2_COUNT == 1) fill = ((const IN2_T *)in[2])[0];
#endif
#if IN_COUNT > 3 && IN3_PRESENT
  for (int64_t k = 0; k < IN3_COUNT; k++) {
    int64_t axis = (int64_t)((const IN3_T *)in[3])[k];
    if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
    if (axis < 0) axis += IN0_RANK;
    before[axis] = (int64_t)pads[k];
    if (dims[axis] + (int64_t)pads[k] + (int64_t)pads[k + IN3_COUNT] != to_dims[axis]) return 8;
  }
#else
  for (int k = 0; k < IN0_RANK; k++) {
    before[k] = (int64_t)pads[k];
    if (dims[k] + (int64_t)pads[k] + (int64_t)pads[k + IN0_RANK] != to_dims[k]) return 8;
  }
#endif
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  enum { LAST = IN0_RANK > 0 ? IN0_RANK - 1 : 0 };
  const int64_t columns = to_dims[LAST], length = dims[LAST];
  /* columns [first, last) of every row are copied from the input unchanged */
  int64_t first = before[LAST] > 0 ? before[LAST] : 0, last = length + before[LAST];
  if (last > columns) last = columns;
  if (first > last) first = last = 0;
  for (int64_t r = begin; r < end; r++) {
    int64_t offset = 0, rest = r, is_border = 0;
    for (int k = LAST - 1; k >= 0; rest /= to_dims[k], k--) {
      const int64_t i = FROM(rest % to_dims[k] - before[k], dims[k]);
      is_border |= i < 0;
      offset += i * strides[k];
    }
    OUT0_T *restrict to = y + r * columns;
    const IN0_T *restrict from = x + (is_border ? 0 : offset);
    if (is_border) {
      for (int64_t j = 0; j < columns; j++) to[j] = fill;
      continue;
    }
    for (int64_t j = 0; j < columns; j++) {
      if (j == first && last > first) {
        memcpy(to + j, from + j - before[LAST], (size_t)(last - first) * sizeof *to);
        j = last;
        if (j == columns) break;
      }
      const int64_t i = FROM(j - before[LAST], length);
      to[j] = i >= 0 ? from[i] : fill;
    }
  }
  return 0;
}
#undef FROM
#undef PERIOD
#undef INTO
