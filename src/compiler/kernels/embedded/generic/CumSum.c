/* CumSum, or CumProd with CUMULATIVE_PRODUCT 1, along the axis of input 1; exclusive omits the
 * element itself, reverse starts at the end. Integers wrap around. Adjacent lines are computed
 * together; a work item is a share of all blocks of lines along the axis.
 */
#ifndef ATTR_exclusive
#define ATTR_exclusive 0
#endif
#ifndef ATTR_reverse
#define ATTR_reverse 0
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC double
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (int64_t)((const IN1_T *)in[1])[0], outer = 1, inner = 1;
  (void)scratch;
  if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
  if (axis < 0) axis += IN0_RANK;
  for (int64_t k = 0; k < axis; k++) outer *= dims[k];
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES, length = dims[axis];
  for (int64_t u = outer * blocks * begin / UNITS; u < outer * blocks * end / UNITS; u++) {
    const int64_t o = u / blocks, i = u % blocks * PLAIN_LINES;
    const int64_t width = inner - i < PLAIN_LINES ? inner - i : PLAIN_LINES;
    ACC sum[PLAIN_LINES];
    for (int64_t j = 0; j < width; j++) sum[j] = CUMULATIVE_PRODUCT;
    for (int64_t k = 0; k < length; k++) {
      const int64_t at = (o * length + (ATTR_reverse ? length - 1 - k : k)) * inner + i;
      for (int64_t j = 0; j < width; j++) {
        const ACC value = (ACC)x[at + j];
        const ACC next = CUMULATIVE_PRODUCT ? sum[j] * value : sum[j] + value;
        y[at + j] = (OUT0_T)(ATTR_exclusive ? sum[j] : next);
        sum[j] = next;
      }
    }
  }
  return 0;
}
#undef ACC
#undef ATTR_exclusive
#undef ATTR_reverse
