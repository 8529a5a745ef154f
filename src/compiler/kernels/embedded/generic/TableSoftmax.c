/* TableSoftmax (hone): softmax of 8-bit numbers in fixed point; input 1 holds exp of each distance
 * from the maximum. For 16-bit numbers input 2 holds 513 samples of 1 / (1 + x).
 */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *x = in[0];
  const int32_t *table = in[1];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int64_t to_bits = 8 * (int64_t)sizeof(OUT0_T), n = dims[axis];
  const int64_t low = (OUT0_T)-1 > 0 ? 0 : -((int64_t)1 << (to_bits - 1));
  const int64_t high = low + ((int64_t)1 << to_bits) - 1, half = (int64_t)1 << 30;
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
#ifdef IN2_T
  const int16_t *words = in[1], *curve = in[2];
#endif
#define FIXED_MULTIPLY(a, b) (((a) * (b) + ((a) * (b) >= 0 ? half : 1 - half)) / ((int64_t)1 << 31))
#define FIXED_SHIFT(a, mask, bits) (((a) >> (bits)) + (((a) & (mask)) > ((mask) >> 1) + ((a) < 0)))
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t l = begin * PLAIN_LINES; l < end * PLAIN_LINES; l++) {
    const int64_t u = l / PLAIN_LINES, at = u % blocks * PLAIN_LINES + l % PLAIN_LINES;
    if (at >= inner) continue;
    const int64_t base = u / blocks * inner * n + at;
    int64_t most = x[base], sum = 0;
    for (int64_t i = 1; i < n; i++)
      if (x[base + i * inner] > most) most = x[base + i * inner];
#ifdef IN2_T
    for (int64_t i = 0; i < n; i++) sum += words[most - x[base + i * inner]];
    int size = 2;
    while (size < 31 && sum >> size) size++;
    int64_t near = size > 17 ? (sum + ((int64_t)1 << (size - 18))) >> (size - 17)
                             : sum * ((int64_t)1 << (17 - size));
    near -= 3 << 15;
    near = near < INT16_MIN ? INT16_MIN : near > INT16_MAX ? INT16_MAX : near;
    const int64_t from = 256 + (near >> 7), part = near & 127;
    const int16_t slope = (int16_t)(curve[from + 1] - curve[from]);
    const int64_t inverse = (int16_t)(curve[from] + ((slope * part + 64) >> 7));
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = words[most - x[base + i * inner]];
      const int64_t value = (e * inverse + ((int64_t)1 << (size - 2))) >> (size - 1);
      y[base + i * inner] = (OUT0_T)(value < 0 ? 0 : value > INT16_MAX ? INT16_MAX : value);
    }
    continue;
#endif
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = table[most - x[base + i * inner]];
      sum += FIXED_SHIFT(e, 4095, 12);
    }
    int zeros = 0; /* leading zeros of the sum as a 32-bit number */
    while (sum > 0 && !((uint32_t)sum << zeros & 1u << 31)) zeros++;
    const int64_t rest = (int32_t)(((uint32_t)sum << zeros) - ((uint32_t)1 << 31));
    const int64_t denominator = (rest + INT32_MAX + 1) / 2;
    int64_t scale = 1515870810 + FIXED_MULTIPLY(denominator, (int64_t)-1010580540);
    for (int i = 0; i < 3; i++) {
      const int64_t error = ((int64_t)1 << 29) - FIXED_MULTIPLY(denominator, scale);
      int64_t step = 4 * FIXED_MULTIPLY(scale, error);
      step = step > INT32_MAX ? INT32_MAX : step < INT32_MIN ? INT32_MIN : step;
      scale += step;
    }
    scale = 2 * scale > INT32_MAX ? INT32_MAX : 2 * scale;
    const int64_t wanted = 12 - zeros + 31 - to_bits, bits = wanted < 0 ? 0 : wanted;
    const int64_t mask = ((int64_t)1 << bits) - 1;
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = table[most - x[base + i * inner]];
      const int64_t product = FIXED_MULTIPLY(scale, e);
      const int64_t value = FIXED_SHIFT(product, mask, bits) + low;
      y[base + i * inner] = (OUT0_T)(value < low ? low : value > high ? high : value);
    }
  }
  return 0;
}
#undef FIXED_MULTIPLY
#undef FIXED_SHIFT
#undef ATTR_axis
