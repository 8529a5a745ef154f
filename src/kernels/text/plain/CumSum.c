/* CumSum, or CumProd with CUMULATIVE_PRODUCT 1, along the axis of input 1; exclusive leaves out the element itself, reverse starts at the
 * end. Integers wrap. */
#ifndef ATTR_exclusive
#define ATTR_exclusive 0
#endif
#ifndef ATTR_reverse
#define ATTR_reverse 0
#endif
#define ACC __typeof__(_Generic((OUT0_T)0, float: 0.0, double: 0.0, default: (uint64_t)0))
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  int64_t axis = (int64_t)((const IN1_T *)in[1])[0], outer = 1, inner = 1;
  (void)scratch;
  if (axis < -IN0_RANK || axis >= IN0_RANK) return 8;
  if (axis < 0) axis += IN0_RANK;
  for (int64_t k = 0; k < axis; k++) outer *= dims[k];
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      ACC sum = CUMULATIVE_PRODUCT;
      for (int64_t k = 0; k < dims[axis]; k++) {
        const int64_t at = (o * dims[axis] + (ATTR_reverse ? dims[axis] - 1 - k : k)) * inner + i;
        const ACC value = (ACC)x[at];
        y[at] = (OUT0_T)(ATTR_exclusive ? sum : CUMULATIVE_PRODUCT ? sum * value : sum + value);
        sum = CUMULATIVE_PRODUCT ? sum * value : sum + value;
      }
    }
  return 0;
}
#undef ACC
#undef ATTR_exclusive
#undef ATTR_reverse
