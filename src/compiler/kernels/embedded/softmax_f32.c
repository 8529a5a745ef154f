/* c[r] = exp(a[r] - max) / sum over COLUMNS; a work item is a row. Sums use four accumulators, in
 * an order that depends only on COLUMNS and the vector width. c may be a. Several short rows share
 * a vector (TOGETHER). A_TYPE, C_TYPE: ONNX numbers, f32 or bf16; rows not stored as floats are
 * kept in `scratch`.
 */
#include "types.h"
#define TOGETHER                                                                              \
  (2 * COLUMNS <= LANES && (COLUMNS & (COLUMNS - 1)) == 0 && I_STRIDE == COLUMNS && \
   O_STRIDE == COLUMNS && !HAS_EPILOGUE)
#if TOGETHER
#if COLUMNS == 8
#define EACH_DISTANCE_(f) f(1) f(2) f(4)
#elif COLUMNS == 4
#define EACH_DISTANCE_(f) f(1) f(2)
#elif COLUMNS == 2
#define EACH_DISTANCE_(f) f(1)
#else
#define EACH_DISTANCE_(f)
#endif
#define HIGHER_(distance) top = MAX2_(top, EXCHANGE_(top, distance));
#define MORE_(distance) sum += EXCHANGE_(sum, distance);
#endif
void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const A_T *a = a_;
  C_T *c = c_;
  (void)b_, (void)e, (void)scratch;
#if TOGETHER
  for (long o = begin * COLUMNS; o < end * COLUMNS; o += LANES) {
    const vec x = LOAD_A(a + o, end * COLUMNS - o);
    vec top = x, sum;
    EACH_DISTANCE_(HIGHER_)
    const vec t = exp_down_(x - top);
    sum = t;
    EACH_DISTANCE_(MORE_)
    STORE_C(c + o, t / sum, end * COLUMNS - o);
  }
#else
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
        vec t = exp_down_(LOAD_A(x + j + i * LANES, LANES) - top);
        sum[i] += t;
        storeu_(y + j + i * LANES, t);
      }
    for (; j + LANES <= COLUMNS; j += LANES) {
      vec t = exp_down_(LOAD_A(x + j, LANES) - top);
      sum[0] += t;
      storeu_(y + j, t);
    }
#if COLUMNS % LANES
    vec rest = fill_lanes_(exp_down_(LOAD_A(x + j, COLUMNS % LANES) - top), COLUMNS % LANES, (vec){0});
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
#endif
}
#undef TOGETHER
#undef EACH_DISTANCE_
#undef HIGHER_
#undef MORE_
