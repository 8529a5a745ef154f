/* c[r] = (a[r] - mean) / sqrt(variance + epsilon) * scale + bias over COLUMNS; b: scale, e[0]:
 * bias. With IS_RMS the mean is 0. A work item is a row; two rows are computed together, because each waits for the latency of
 * its own sums. The variance is the mean of squared distances (a second pass over a row in L1),
 * each sum in four accumulators. c may be a. A_TYPE, C_TYPE: ONNX numbers, f32 or bf16.
 */
#include "types.h"
#define SIDE_BY_SIDE 2

/* The rows from r on. */
INLINE_ void PASTE_(NAME, rows)(const A_T *a, const float *b, C_T *c, const void *const *e, long r,
                                const int rows) {
  (void)b, (void)e;
  const union {
    uint32_t bits;
    float value;
  } epsilon = {.bits = (uint32_t)EPSILON_BITS};
  const A_T *x = a + r * I_STRIDE;
  C_T *y = c + r * O_STRIDE;
  vec mean[SIDE_BY_SIDE], scale[SIDE_BY_SIDE];
  UNROLL for (int i = 0; i < rows; i++) mean[i] = (vec){0};
  UNROLL for (int pass = IS_RMS; pass < 2; pass++) {
    vec sum[SIDE_BY_SIDE][4];
    UNROLL for (int i = 0; i < rows; i++)
      UNROLL for (int k = 0; k < 4; k++) sum[i][k] = (vec){0};
    long j = 0;
    for (; j + 4 * LANES <= COLUMNS; j += 4 * LANES)
      UNROLL for (int i = 0; i < rows; i++)
        UNROLL for (int k = 0; k < 4; k++) {
          const vec d = LOAD_A(x + i * I_STRIDE + j + k * LANES, LANES) - mean[i];
          sum[i][k] += pass ? d * d : d;
        }
    for (; j + LANES <= COLUMNS; j += LANES)
      UNROLL for (int i = 0; i < rows; i++) {
        const vec d = LOAD_A(x + i * I_STRIDE + j, LANES) - mean[i];
        sum[i][0] += pass ? d * d : d;
      }
#if COLUMNS % LANES
    UNROLL for (int i = 0; i < rows; i++) {
      const vec d = fill_lanes_(LOAD_A(x + i * I_STRIDE + j, COLUMNS % LANES) - mean[i],
                                COLUMNS % LANES, (vec){0});
      sum[i][1] += pass ? d * d : d;
    }
#endif
    UNROLL for (int i = 0; i < rows; i++) {
      const vec total =
          sum_lanes_((sum[i][0] + sum[i][1]) + (sum[i][2] + sum[i][3])) / splat_((float)COLUMNS);
      if (pass) scale[i] = splat_(1.0f / sqrtf(LANE_(total, 0) + epsilon.value));
      else mean[i] = total;
    }
  }
  for (long j = 0; j < COLUMNS; j += LANES) {
    const long n = COLUMNS - j < LANES ? COLUMNS - j : LANES;
    UNROLL for (int i = 0; i < rows; i++) {
      vec t = (LOAD_A(x + i * I_STRIDE + j, n) - mean[i]) * scale[i];
#if HAS_SCALE
      t = t * load_lanes_(b + j, n);
#endif
#if HAS_BIAS
      t = t + load_lanes_((const float *)e[0] + j, n);
#endif
#if HAS_EPILOGUE
      t = EPILOGUE(t, ((r + i) * O_STRIDE + j), j, n);
#endif
      STORE_C(y + i * O_STRIDE + j, t, n);
    }
  }
}

void NAME(const void *a, const void *b, void *c, const void *const *e, void *scratch,
          long begin, long end) {
  (void)scratch;
  long r = begin;
  for (; r + SIDE_BY_SIDE <= end; r += SIDE_BY_SIDE) PASTE_(NAME, rows)(a, b, c, e, r, SIDE_BY_SIDE);
  for (; r < end; r++) PASTE_(NAME, rows)(a, b, c, e, r, 1);
}
#undef SIDE_BY_SIDE
