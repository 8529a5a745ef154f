/* NormalizeWords (hone): a line of 16-bit numbers less its mean, divided by its standard deviation,
 * in steps of 1/1024 in fixed point.
 */
#ifndef ATTR_least
#define ATTR_least 1
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const int16_t *x = in[0];
  int32_t *y = out[0];
  const int64_t dims[] = IN0_DIMS, n = dims[IN0_RANK - 1], one = (int64_t)1 << 20;
  (void)scratch;
#include "generic/fixed.h"
  for (int64_t base = begin * n; base < end * n; base += n) {
    int64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
      sum += x[base + i];
      squares += (int64_t)x[base + i] * x[base + i];
    }
    const int64_t mean = sum * 1024 / n, variance = (squares * (one / n) - mean * mean) / one;
#define ROOT_OF (variance < 1 ? (ATTR_least) : variance)
#include "generic/inverse_root.h"
    const int64_t mask = ((int64_t)1 << right) - 1;
    for (int64_t i = 0; i < n; i++) {
      const int64_t e = (int64_t)x[base + i] * 1024 - mean, product = FIXED_MULTIPLY(e, root);
      y[base + i] = (int32_t)(FIXED_SHIFT(product, mask, right));
    }
  }
  return 0;
}
#undef FIXED_MULTIPLY
#undef FIXED_SHIFT
#undef FIXED_SATURATE
#undef ATTR_least
