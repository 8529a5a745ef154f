/* Gather: [outer, axis, inner] by indices to [outer, indices, inner]. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *data = in[0];
  const IN1_T *indices = in[1];
  OUT0_T *to = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)(ATTR_axis < 0 ? ATTR_axis + IN0_RANK : ATTR_axis);
  int64_t outer = 1, inner = 1;
  (void)scratch;
  for (int k = 0; k < axis; k++) outer *= dims[k];
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t i = 0; i < IN1_COUNT; i++)
    if ((int64_t)indices[i] < -dims[axis] || (int64_t)indices[i] >= dims[axis]) return 8;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < IN1_COUNT; i++, to += inner) {
      int64_t at = (int64_t)indices[i];
      if (at < 0) at += dims[axis];
      memcpy(to, data + (o * dims[axis] + at) * inner, (size_t)inner * sizeof *to);
    }
  return 0;
}
#undef ATTR_axis
