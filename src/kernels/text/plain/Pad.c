/* Pad with the modes constant, reflect, edge and wrap; negative pads cut. */
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS, to_dims[] = OUT0_DIMS;
  const IN1_T *pads = in[1];
  int64_t before[17] = {0}, strides[17], at[17] = {0}, step = 1;
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
  for (int64_t o = 0; o < OUT0_COUNT; o++) {
    int64_t offset = 0;
    for (int k = 0; k < IN0_RANK && offset >= 0; k++) {
      const int64_t dim = dims[k];
      int64_t i = at[k] - before[k];
      if (i < 0 || i >= dim) {
#if defined ATTR_mode_IS_edge
        i = i < 0 ? 0 : dim - 1;
#elif defined ATTR_mode_IS_wrap
        i = (i % dim + dim) % dim;
#elif defined ATTR_mode_IS_reflect
        const int64_t period = dim > 1 ? 2 * (dim - 1) : 1;
        i = (i % period + period) % period;
        if (i >= dim) i = period - i;
#else
        offset = -1;
        break;
#endif
      }
      offset += i * strides[k];
    }
    y[o] = offset >= 0 ? x[offset] : fill;
    for (int k = IN0_RANK - 1; k >= 0 && ++at[k] == to_dims[k]; k--) at[k] = 0;
  }
  return 0;
}
