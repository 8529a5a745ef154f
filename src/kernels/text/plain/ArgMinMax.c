/* ArgMax and ArgMin; ARG_MAX is 1 or 0. Ties: the first, or the last with select_last_index. */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_select_last_index
#define ATTR_select_last_index 0
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t outer = 1, inner = 1, length = IN0_RANK ? dims[axis] : 1;
  (void)scratch;
  for (int k = 0; k < axis; k++) outer *= dims[k];
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      const IN0_T *from = x + o * length * inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < length; k++) {
        const IN0_T a = from[k * inner], b = from[best * inner];
        if ((ARG_MAX ? a > b : a < b) || (ATTR_select_last_index && a == b)) best = k;
      }
      y[o * inner + i] = (OUT0_T)best;
    }
  return 0;
}
#undef ATTR_axis
#undef ATTR_select_last_index
