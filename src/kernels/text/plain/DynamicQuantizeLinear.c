/* DynamicQuantizeLinear: u8 over the range of x joined with zero; in float as the specification. */
static int NAME(const void *const *in, void *const *out, void *scratch) {
  const float *x = in[0];
  float low = 0, high = 0;
  (void)scratch;
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
  }
  const float scale = (high - low) / 255.0f;
  float zero = scale > 0 ? rintf((0 - low) / scale) : 0;
  zero = zero < 0 ? 0 : zero > 255 ? 255 : zero;
#if OUT0_PRESENT
  for (int64_t i = 0; i < IN0_COUNT; i++) {
    float value = scale > 0 ? rintf(x[i] / scale) + zero : 0;
    if (value != value) value = zero;
    ((uint8_t *)out[0])[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
  }
#endif
#if OUT_COUNT > 1 && OUT1_PRESENT
  ((float *)out[1])[0] = scale;
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
  ((uint8_t *)out[2])[0] = (uint8_t)zero;
#endif
  return 0;
}
