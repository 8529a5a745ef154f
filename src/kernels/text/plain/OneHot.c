/* OneHot: values[1] where the new axis equals the index, values[0] elsewhere. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *indices = in[0];
  const IN2_T *values = in[2];
  OUT0_T *to = out[0];
  const int64_t dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + OUT0_RANK : (ATTR_axis));
  const int64_t depth = dims[axis];
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < OUT0_RANK; k++) inner *= dims[k];
  for (int64_t i = 0; i < OUT0_COUNT; i++) to[i] = values[0];
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    const double index = (double)indices[i];
    if (!(index >= (double)-depth && index < (double)depth)) continue;
    int64_t at = (int64_t)index;
    if (at < 0) at += depth;
    to[(i / inner * depth + at) * inner + i % inner] = values[1];
  }
  return 0;
}
#undef ATTR_axis
