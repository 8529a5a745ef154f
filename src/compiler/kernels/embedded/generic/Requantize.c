/* Requantize (hone): sums to a quantised type by a fixed-point multiplier, one for all or one per
 * channel. 32-bit sums are rounded twice or once, 64-bit ones once, with 16 bits of the multiplier
 * or all.
 */
#ifndef ATTR_axis
#define ATTR_axis 0
#endif
#ifndef ATTR_offset
#define ATTR_offset 0
#endif
#ifndef ATTR_left_shift
#define ATTR_left_shift 0
#endif
#ifndef ATTR_zero_point
#define ATTR_zero_point 0
#endif
#ifndef ATTR_single_rounding
#define ATTR_single_rounding 0
#endif
#ifndef ATTR_low
#define ATTR_low INT32_MIN
#endif
#ifndef ATTR_high
#define ATTR_high INT32_MAX
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *restrict x = in[0];
  const int32_t *multiplier = in[1], *shift = in[2];
  OUT0_T *restrict y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int64_t axis = (ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis);
  int64_t inner = 1;
  (void)scratch;
  for (int64_t k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
  for (int64_t i = begin; i < end; i++) {
    const int64_t c = IN1_COUNT > 1 ? i / inner % IN1_COUNT : 0;
    int64_t value = (int64_t)((uint64_t)((int64_t)x[i] - (ATTR_offset)) << (ATTR_left_shift));
    if (sizeof(IN0_T) == 8 && ATTR_single_rounding) { /* the product as two words */
      const int bits = shift[c] > 30 ? 1 : shift[c] < -31 ? 62 : 31 - shift[c];
      const uint64_t low = (uint64_t)(uint32_t)value * (uint64_t)(int64_t)multiplier[c] +
                           ((uint64_t)1 << (bits - 1));
      const int64_t high = (value >> 32) * multiplier[c] + (int64_t)(low >> 32);
      value = bits >= 32 ? high >> (bits - 32)
                         : (int64_t)((uint64_t)high << (32 - bits) | (low & UINT32_MAX) >> bits);
    } else if (sizeof(IN0_T) == 8) {
      const int64_t m = multiplier[c] < 0x7fff0000 ? (multiplier[c] + (1 << 15)) >> 16 : 0x7fff;
      int64_t bits = 15 - (int64_t)shift[c];
      bits = bits < 1 ? 1 : bits > 62 ? 62 : bits;
      value = (int64_t)((uint64_t)value * (uint64_t)m + ((uint64_t)1 << (bits - 1))) >> bits;
    } else if (ATTR_single_rounding) {
      const int bits = shift[c] > 30 ? 1 : shift[c] < -31 ? 62 : 31 - shift[c];
      value = ((int64_t)(int32_t)value * multiplier[c] + ((int64_t)1 << (bits - 1))) >> bits;
    } else {
      int left = shift[c] > 0 ? shift[c] : 0, right = shift[c] < 0 ? -shift[c] : 0;
      if (left > 31) left = 31;
      if (right > 31) right = 31;
      const int32_t shifted = (int32_t)(uint32_t)((uint64_t)value << left);
      const int64_t product = (int64_t)shifted * multiplier[c], half = (int64_t)1 << 30;
      value = (product + (product >= 0 ? half : 1 - half)) / ((int64_t)1 << 31);
      if (shifted == INT32_MIN && multiplier[c] == INT32_MIN) value = INT32_MAX;
      const int64_t mask = ((int64_t)1 << right) - 1;
      value = (value >> right) + ((value & mask) > (mask >> 1) + (value < 0));
    }
    value += (ATTR_zero_point);
    y[i] = (OUT0_T)(value < (ATTR_low) ? (ATTR_low) : value > (ATTR_high) ? (ATTR_high) : value);
  }
  return 0;
}
#undef ATTR_axis
#undef ATTR_offset
#undef ATTR_left_shift
#undef ATTR_zero_point
#undef ATTR_single_rounding
#undef ATTR_low
#undef ATTR_high
