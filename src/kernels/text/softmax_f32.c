/* c[r] = exp(a[r] - max) / sum over COLUMNS; a unit is a row. Sums run in four accumulators, in an
 * order that depends on COLUMNS and the vector width only. c may be a.
 * A_TYPE, C_TYPE: ONNX numbers, f32 or bf16; what is not stored as a float waits in `scratch`. */
#include "types.h"
void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const A_T *a = a_;
  C_T *c = c_;
  (void)b_, (void)e, (void)scratch;
  for (long r = begin; r < end; r++) {
    const A_T *x = a + r * I_STRIDE;
    C_T *out = c + r * O_STRIDE;
#if C_TYPE == 1
    float *y = out;
#else
    float *y = scratch;
#endif
    vec high[4], sum[4];
    UNROLL for (int i = 0; i < 4; i++) high[i] = splat_(-INFINITY), sum[i] = (vec){0};
    long j = 0;
    for (; j + 4 * LANES <= COLUMNS; j += 4 * LANES)
      UNROLL for (int i = 0; i < 4; i++) high[i] = MAX2_(high[i], LOAD_A(x + j + i * LANES, LANES));
    for (; j + LANES <= COLUMNS; j += LANES) high[0] = MAX2_(high[0], LOAD_A(x + j, LANES));
#if COLUMNS % LANES
    high[1] = MAX2_(high[1], fill_lanes_(LOAD_A(x + j, COLUMNS % LANES), COLUMNS % LANES,
                                         splat_(-INFINITY)));
#endif
    const vec top = max_lanes_(MAX2_(MAX2_(high[0], high[1]), MAX2_(high[2], high[3])));
    for (j = 0; j + 4 * LANES <= COLUMNS; j += 4 * LANES)
      UNROLL for (int i = 0; i < 4; i++) {
        vec t = expv_(LOAD_A(x + j + i * LANES, LANES) - top);
        sum[i] += t;
        storeu_(y + j + i * LANES, t);
      }
    for (; j + LANES <= COLUMNS; j += LANES) {
      vec t = expv_(LOAD_A(x + j, LANES) - top);
      sum[0] += t;
      storeu_(y + j, t);
    }
#if COLUMNS % LANES
    vec rest = fill_lanes_(expv_(LOAD_A(x + j, COLUMNS % LANES) - top), COLUMNS % LANES, (vec){0});
    sum[1] += rest;
    store_lanes_(y + j, rest, COLUMNS % LANES);
#endif
    const vec scale = splat_(1.0f) / sum_lanes_((sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (j = 0; j < COLUMNS; j += LANES) {
      const long n = COLUMNS - j < LANES ? COLUMNS - j : LANES;
      vec t = load_lanes_(y + j, n) * scale;
#if HAS_EPILOGUE
      t = EPILOGUE(t, (r * O_STRIDE + j), j, n);
#endif
      STORE_C(out + j, t, n);
    }
  }
}
