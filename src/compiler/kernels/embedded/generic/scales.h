/* Shared by QuantizeLinear and DequantizeLinear: one scale for all, one along the axis, or one per
 * block of block_size along it. The including source defines ELEMENT(s): element i + j of y with
 * scale and zero point number s.
 */
#ifndef ATTR_axis
#define ATTR_axis 1
#endif
#ifndef ATTR_block_size
#define ATTR_block_size 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const IN1_T *restrict scale = in[1];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis), inner = 1, length = 1;
  (void)scratch;
  const int is_single = IN1_COUNT == 1 && IN1_RANK <= 1 && ATTR_block_size == 0;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  if (!is_single) length = dims[axis];
  const int64_t block = ATTR_block_size ? ATTR_block_size : 1, blocks = (length + block - 1) / block;
  for (int64_t i = begin; i < end;) { /* runs in which the scale is constant, or advances with i */
    int64_t run = end - i, s = 0;
    const int moves = !is_single && (ATTR_block_size ? inner > 1 : inner == 1);
    if (!is_single) {
      const int64_t within = inner > 1 ? i % inner : 0, k = i / inner % length;
      int64_t rest = inner > 1 ? inner - within : length - k;
      s = ATTR_block_size ? (i / (inner * length) * blocks + k / block) * inner + within : k;
      if (ATTR_block_size && inner == 1 && rest > block - k % block) rest = block - k % block;
      if (run > rest) run = rest;
    }
    if (moves)
      for (int64_t j = 0; j < run; j++) ELEMENT(s + j);
    else
      for (int64_t j = 0; j < run; j++) ELEMENT(s);
    i += run;
  }
  return 0;
}
#undef ELEMENT
#undef ZERO
#undef ATTR_axis
#undef ATTR_block_size
