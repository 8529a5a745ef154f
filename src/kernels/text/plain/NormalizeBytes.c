/* NormalizeBytes (hone): a line of bytes less the zero point, divided by its length, to 1/128, in fixed point: five
 * Newton steps for the inverse root of the sum of squares. */
#ifndef ATTR_axis
#define ATTR_axis -1
#endif
#ifndef ATTR_zero_point
#define ATTR_zero_point 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN0_T *x = in[0];
  OUT0_T *y = out[0];
  const int64_t dims[] = IN0_DIMS;
  const int axis = (int)((ATTR_axis) < 0 ? (ATTR_axis) + IN0_RANK : (ATTR_axis));
  const int is_signed = (OUT0_T)-1 < 0;
  const int64_t n = dims[axis], half = (int64_t)1 << 30, low = is_signed ? -128 : 0;
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
#define FIXED_MULTIPLY(a, b) (((a) * (b) + ((a) * (b) >= 0 ? half : 1 - half)) / ((int64_t)1 << 31))
#define FIXED_SHIFT(a, mask, bits) (((a) >> (bits)) + (((a) & (mask)) > ((mask) >> 1) + ((a) < 0)))
#define FIXED_SATURATE(a) ((a) > INT32_MAX ? INT32_MAX : (a) < INT32_MIN ? INT32_MIN : (a))
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t l = begin * PLAIN_LINES; l < end * PLAIN_LINES; l++) {
    const int64_t u = l / PLAIN_LINES, at = u % blocks * PLAIN_LINES + l % PLAIN_LINES;
    if (at >= inner) continue;
    const int64_t base = u / blocks * inner * n + at;
    int64_t sum = 0, root = INT32_MAX, right = 0;
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = (int64_t)x[base + i * inner] - (ATTR_zero_point);
      sum += e * e;
    }
    if (sum > INT32_MAX) sum = INT32_MAX;
    if (sum > 1) {
      right = 11;
      for (; sum >= 1 << 29; sum /= 4) right++;
      for (; sum < 1 << 27; sum *= 4) right--;
      const int64_t fine = sum >> 1, half_of = FIXED_SHIFT(fine, (int64_t)1, 1);
      root = 1 << 28;
      for (int k = 0; k < 5; k++) {
        const int64_t square = FIXED_MULTIPLY(root, root), third = FIXED_MULTIPLY(square, root);
        const int64_t cube = FIXED_SATURATE(third * 64);
        const int64_t more = FIXED_MULTIPLY(((int64_t)3 << 27), root);
        const int64_t less = FIXED_MULTIPLY(half_of, cube), step = (more - less) * 8;
        root = FIXED_SATURATE(step);
      }
      root = FIXED_MULTIPLY(root, (int64_t)1518500250);
      if (right < 0) root = (int32_t)((uint32_t)root << -right), right = 0;
    }
    const int64_t left = is_signed && right > 7 ? 0 : is_signed ? 7 - right : 7;
    const int64_t bits = is_signed && right <= 7 ? 0 : is_signed ? right - 7 : right;
    const int64_t mask = ((int64_t)1 << bits) - 1;
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = ((int64_t)x[base + i * inner] - (ATTR_zero_point)) * ((int64_t)1 << left);
      const int64_t product = FIXED_MULTIPLY(e, root);
      const int64_t value = FIXED_SHIFT(product, mask, bits) + (is_signed ? 0 : 128);
      y[base + i * inner] = (OUT0_T)(value < low ? low : value > low + 255 ? low + 255 : value);
    }
  }
  return 0;
}
#undef FIXED_MULTIPLY
#undef FIXED_SHIFT
#undef FIXED_SATURATE
#undef ATTR_axis
#undef ATTR_zero_point
