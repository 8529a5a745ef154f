/* EyeLike: ones on the diagonal k. */
#ifndef ATTR_k
#define ATTR_k 0
#endif
static int NAME(const void *const *in, void *const *out, void *scratch) {
  OUT0_T *y = out[0];
  const int64_t dims[] = OUT0_DIMS;
  (void)in, (void)scratch;
  memset(y, 0, (size_t)OUT0_COUNT * sizeof *y);
  if (ATTR_k >= dims[1] || ATTR_k <= -dims[0]) return 0;
  for (int64_t r = 0; r < dims[0]; r++)
    if (r + ATTR_k >= 0 && r + ATTR_k < dims[1]) y[r * dims[1] + r + ATTR_k] = 1;
  return 0;
}
#undef ATTR_k
