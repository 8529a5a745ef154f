/* OneHot: values[1] where the new axis equals the index, values[0] elsewhere. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict indices = in[0];
  const IN2_T *values = in[2];
  OUT0_T *restrict to = out[0];
  const int64_t dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + OUT0_RANK : (ATTR_axis));
  const int64_t depth = dims[axis];
  const OUT0_T off = values[0], on = values[1];
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < OUT0_RANK; k++) inner *= dims[k];
  for (int64_t i = begin; i < end; i++) to[i] = off;
  for (int64_t row = begin / inner; row * inner < end; row++) { /* one index of depth, over inner */
    const int64_t o = row / depth, d = row % depth;
    if (inner == 1) {
      if (d && row > begin) continue; /* once per line of depth */
      const double index = (double)indices[o];
      const int64_t at = o * depth + (int64_t)(index < 0 ? index + (double)depth : index);
      if (index >= (double)-depth && index < (double)depth && at >= begin && at < end) to[at] = on;
      continue;
    }
    const int64_t first = row * inner > begin ? 0 : begin - row * inner;
    const int64_t last = (row + 1) * inner < end ? inner : end - row * inner;
    for (int64_t j = first; j < last; j++) {
      const int64_t at = (int64_t)indices[o * inner + j];
      to[row * inner + j] = at == d || at == d - depth ? on : off;
    }
  }
  return 0;
}
#undef ATTR_axis
