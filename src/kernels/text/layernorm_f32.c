/* c[r] = (a[r] - mean) / sqrt(variance + epsilon) * scale + bias over COLUMNS; b: scale, e[0]: bias.
 * A unit is a row. The variance is the mean of squared distances (second pass over a row in L1), each
 * sum in four accumulators. c may be a. A_TYPE, C_TYPE: ONNX numbers, f32
 * or bf16. */
#include "types.h"
void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const A_T *a = a_;
  const float *b = b_;
  C_T *c = c_;
  (void)b, (void)e, (void)scratch;
  const union {
    uint32_t bits;
    float value;
  } epsilon = {.bits = (uint32_t)EPSILON_BITS};
  for (long r = begin; r < end; r++) {
    const A_T *x = a + r * I_STRIDE;
    C_T *y = c + r * O_STRIDE;
    vec mean = {0}, variance = {0};
    UNROLL for (int pass = 0; pass < 2; pass++) {
      vec sum[4];
      UNROLL for (int i = 0; i < 4; i++) sum[i] = (vec){0};
      long j = 0;
      for (; j + 4 * LANES <= COLUMNS; j += 4 * LANES)
        UNROLL for (int i = 0; i < 4; i++) {
          vec d = LOAD_A(x + j + i * LANES, LANES) - mean;
          sum[i] += pass ? d * d : d;
        }
      for (; j + LANES <= COLUMNS; j += LANES) {
        vec d = LOAD_A(x + j, LANES) - mean;
        sum[0] += pass ? d * d : d;
      }
#if COLUMNS % LANES
      vec d = fill_lanes_(LOAD_A(x + j, COLUMNS % LANES) - mean, COLUMNS % LANES, (vec){0});
      sum[1] += pass ? d * d : d;
#endif
      const vec total = sum_lanes_((sum[0] + sum[1]) + (sum[2] + sum[3])) / splat_((float)COLUMNS);
      if (pass) variance = total;
      else mean = total;
    }
    const vec scale = splat_(1.0f / sqrtf(LANE_(variance, 0) + epsilon.value));
    for (long j = 0; j < COLUMNS; j += LANES) {
      const long n = COLUMNS - j < LANES ? COLUMNS - j : LANES;
      vec t = (LOAD_A(x + j, n) - mean) * scale;
#if HAS_SCALE
      t = t * load_lanes_(b + j, n);
#endif
#if HAS_BIAS
      t = t + load_lanes_((const float *)e[0] + j, n);
#endif
#if HAS_EPILOGUE
      t = EPILOGUE(t, (r * O_STRIDE + j), j, n);
#endif
      STORE_C(y + j, t, n);
    }
  }
}
