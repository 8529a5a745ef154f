/* NormalizeBytes (hone): a line of int8 less the zero point, divided by its length, in steps of
 * 1/128, in fixed point: five Newton steps for the inverse root of the sum of squares.
 */
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
  const int64_t n = dims[axis], low = is_signed ? -128 : 0;
  int64_t inner = 1;
  (void)scratch;
  for (int k = axis + 1; k < IN0_RANK; k++) inner *= dims[k];
#include "generic/fixed.h"
  const int64_t blocks = (inner + PLAIN_LINES - 1) / PLAIN_LINES;
  for (int64_t l = begin * PLAIN_LINES; l < end * PLAIN_LINES; l++) {
    const int64_t u = l / PLAIN_LINES, at = u % blocks * PLAIN_LINES + l % PLAIN_LINES;
    if (at >= inner) continue;
    const int64_t base = u / blocks * inner * n + at;
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = (int64_t)x[base + i * inner] - (ATTR_zero_point);
      sum += e * e;
    }
#define ROOT_OF (sum > INT32_MAX ? INT32_MAX : sum)
#include "generic/inverse_root.h"
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
