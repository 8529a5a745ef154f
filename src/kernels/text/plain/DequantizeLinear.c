/* DequantizeLinear: (x - zero point) * scale, granularity as in QuantizeLinear. */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  const IN1_T *scale = in[1];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    int64_t s = 0;
    if (!is_single) {
      s = i / inner % length / block;
      if (ATTR_block_size) s = (i / (inner * length) * blocks + s) * inner + i % inner;
    }
    double value = (double)x[i];
#if IN_COUNT > 2 && IN2_PRESENT
    value -= (double)((const IN2_T *)in[2])[s];
#endif
    y[i] = (OUT0_T)(value * (double)scale[s]);
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_block_size
