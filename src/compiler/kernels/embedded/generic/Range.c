/* Range: start + i * delta, for the count known at compile time. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T start = ((const IN0_T *)in[0])[0], delta = ((const IN2_T *)in[2])[0];
  OUT0_T *y = out[0];
  (void)scratch;
  for (int64_t i = begin; i < end; i++)
    y[i] = (OUT0_T)_Generic((OUT0_T)0, float: (double)start + (double)i * (double)delta,
                            double: (double)start + (double)i * (double)delta,
                            default: (uint64_t)start + (uint64_t)i * (uint64_t)delta);
  return 0;
}
