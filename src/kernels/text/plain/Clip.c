/* Clip between bounds that may be known only at run time; a missing bound does not bind. */
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  (void)scratch;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    IN0_T value = x[i];
#if IN_COUNT > 1 && IN1_PRESENT
    const IN0_T low = ((const IN1_T *)in[1])[0];
    if (value < low) value = low;
#endif
#if IN_COUNT > 2 && IN2_PRESENT
    const IN0_T high = ((const IN2_T *)in[2])[0];
    if (value > high) value = high;
#endif
    y[i] = value;
  }
  return 0;
}
