/* Softmax and LogSoftmax along any axis; SOFTMAX_LOG is 0 or 1. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#define REAL __typeof__(_Generic((OUT0_T)0, float: 0.0f, default: 0.0))
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  int64_t outer = 1, inner = 1, length = IN0_RANK ? dims[axis] : 1;
  (void)scratch;
  for (int k = 0; k < axis; k++) outer *= dims[k];
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t o = 0; o < outer && length > 0; o++)
    for (int64_t i = 0; i < inner; i++) {
      const IN0_T *from = x + o * length * inner + i;
      OUT0_T *to = y + o * length * inner + i;
      REAL high = (REAL)from[0], sum = 0;
      for (int64_t k = 1; k < length; k++)
        if ((REAL)from[k * inner] > high) high = (REAL)from[k * inner];
      for (int64_t k = 0; k < length; k++) {
        const REAL e = sizeof(REAL) == 4 ? (REAL)expf((float)((REAL)from[k * inner] - high))
                                         : (REAL)exp((double)((REAL)from[k * inner] - high));
        sum += e;
        to[k * inner] = (OUT0_T)(SOFTMAX_LOG ? (REAL)from[k * inner] - high : e);
      }
      const REAL log_sum = (REAL)log((double)sum);
      for (int64_t k = 0; k < length; k++)
        to[k * inner] = (OUT0_T)(SOFTMAX_LOG ? to[k * inner] - log_sum : to[k * inner] / sum);
    }
  return 0;
}
#undef REAL
#undef ATTR_axis
