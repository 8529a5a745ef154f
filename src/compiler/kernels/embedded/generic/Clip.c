/* Clip with bounds that may be known only at run time; a missing bound has no effect. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  OUT0_T *restrict y = out[0];
  (void)scratch;
#if IN_COUNT > 1 && IN1_PRESENT
  const IN0_T low = ((const IN1_T *)in[1])[0];
#endif
#if IN_COUNT > 2 && IN2_PRESENT
  const IN0_T high = ((const IN2_T *)in[2])[0];
#endif
  for (int64_t i = begin; i < end; i++) {
    IN0_T value = x[i];
#if IN_COUNT > 1 && IN1_PRESENT
    value = value < low ? low : value;
#endif
#if IN_COUNT > 2 && IN2_PRESENT
    value = value > high ? high : value;
#endif
    y[i] = value;
  }
  return 0;
}
