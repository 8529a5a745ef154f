/* DynamicQuantizeLinear: u8 over the range of x joined with zero; in float as the specification.
 * Every thread looks for the range itself, which costs one reading, then writes its own part. */
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *restrict x = in[0];
  float low = 0, high = 0, lows[16] = {0}, highs[16] = {0};
  int64_t k = 0;
  (void)scratch, (void)begin, (void)end;
  for (; k + 16 <= IN0_COUNT; k += 16)
    for (int l = 0; l < 16; l++) {
      lows[l] = x[k + l] < lows[l] ? x[k + l] : lows[l];
      highs[l] = x[k + l] > highs[l] ? x[k + l] : highs[l];
    }
  for (; k < IN0_COUNT; k++) {
    low = x[k] < low ? x[k] : low;
    high = x[k] > high ? x[k] : high;
  }
  for (int l = 0; l < 16; l++) {
    low = lows[l] < low ? lows[l] : low;
    high = highs[l] > high ? highs[l] : high;
  }
  const float scale = (high - low) / 255.0f;
  float zero = scale > 0 ? rintf((0 - low) / scale) : 0;
  zero = zero < 0 ? 0 : zero > 255 ? 255 : zero;
#if OUT0_PRESENT
  uint8_t *restrict y = out[0];
  const int is_flat = !(scale > 0);
  for (int64_t i = begin; i < end; i++) {
    const float whole = is_flat ? 0 : rintf(x[i] / scale) + zero;
    const float value = whole != whole ? zero : whole;
    y[i] = (uint8_t)(int32_t)(value < 0 ? 0 : value > 255 ? 255 : value);
  }
#endif
#if OUT_COUNT > 1 && OUT1_PRESENT
  if (begin == 0) ((float *)out[1])[0] = scale;
#endif
#if OUT_COUNT > 2 && OUT2_PRESENT
  if (begin == 0) ((uint8_t *)out[2])[0] = (uint8_t)zero;
#endif
  return 0;
}
