/* EyeLike: ones on the diagonal k. */
#ifndef ATTR_k
#define ATTR_k 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = OUT0_DIMS;
  (void)in, (void)scratch;
  for (int64_t r = begin; r < end; r++) {
    memset(y + r * dims[1], 0, (size_t)dims[1] * sizeof *y);
    if (ATTR_k < dims[1] && ATTR_k > -dims[0] && r + ATTR_k >= 0 && r + ATTR_k < dims[1])
      y[r * dims[1] + r + ATTR_k] = 1;
  }
  return 0;
}
#undef ATTR_k
