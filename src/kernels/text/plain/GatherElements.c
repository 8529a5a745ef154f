/* GatherElements: out[i][j] = data[index[i][j]][j] for axis 0. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *data = in[0];
  const IN1_T *indices = in[1];
  OUT0_T *to = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t strides[17], at[17] = {0}, step = 1;
  (void)scratch;
  for (int k = IN0_RANK - 1; k >= 0; k--) strides[k] = step, step *= dims[k];
  for (int64_t o = 0; o < OUT0_COUNT; o++) {
    int64_t index = (int64_t)indices[o], offset = 0;
    if (index < -dims[axis] || index >= dims[axis]) return 8;
    if (index < 0) index += dims[axis];
    for (int k = 0; k < IN0_RANK; k++) offset += (k == axis ? index : at[k]) * strides[k];
    to[o] = data[offset];
    for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == to_dims[k]; k--) at[k] = 0;
  }
  return 0;
}
#undef ATTR_axis
