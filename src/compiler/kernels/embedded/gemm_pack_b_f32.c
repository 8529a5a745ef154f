/* Packs a run-time b as pack() packs constants: [OUTER][panel][k][NR], zero-padded. A work item is
 * one panel. b[k][n] is at k * B_ROW + n * B_COLUMN; the two usual cases read it along its
 * contiguous direction. Defines as for gemm_f32.c.
 */
#define NR (VECTORS * LANES)
#define PANELS ((N + NR - 1) / NR)

#if B_COLUMN == 1
void NAME(const void *b_, void *packed_, long begin, long end) {
  const float *b = b_;
  float *packed = packed_;
  for (long u = begin; u < end; u++) {
    const long outer = u / PANELS, n = u % PANELS * NR, width = N - n < NR ? N - n : NR;
    const float *from = b + outer / BATCH1 * B_BATCH0 + outer % BATCH1 * B_BATCH1 + n;
    float *to = packed + u * K * NR;
    if (width == NR) {
      for (long k = 0; k < K; k++)
        UNROLL for (int v = 0; v < VECTORS; v++)
          storeu_(to + k * NR + v * LANES, loadu_(from + k * B_ROW + v * LANES));
      continue;
    }
    for (long k = 0; k < K; k++)
      for (long v = 0; v < VECTORS; v++) {
        const long n_left = width - v * LANES;
        storeu_(to + k * NR + v * LANES,
                n_left > 0 ? load_lanes_(from + k * B_ROW + v * LANES, n_left) : (vec){0});
      }
  }
}
#else
#if B_ROW == 1 && LANES > 1
#define WORD float
#define ELEMENT float
#include "transpose.h"
#endif

void NAME(const void *b_, void *packed_, long begin, long end) {
  const float *b = b_;
  float *packed = packed_;
  for (long u = begin; u < end; u++) {
    const long outer = u / PANELS, n = u % PANELS * NR, width = N - n < NR ? N - n : NR;
    const float *from = b + outer / BATCH1 * B_BATCH0 + outer % BATCH1 * B_BATCH1 + n * B_COLUMN;
    float *to = packed + u * K * NR;
    long j = 0;
#if B_ROW == 1 && LANES > 1
    for (; j + 4 <= width; j += 4) {
      long k = 0;
      for (; k + 4 <= K; k += 4) PASTE_(NAME, transpose)(from + j * B_COLUMN + k, to + k * NR + j);
      for (; k < K; k++)
        for (long i = j; i < j + 4; i++) to[k * NR + i] = from[i * B_COLUMN + k];
    }
#endif
    for (; j < NR; j++)
      for (long k = 0; k < K; k++)
        to[k * NR + j] = j < width ? from[k * B_ROW + j * B_COLUMN] : 0.0f;
  }
}
#endif
#undef NR
#undef PANELS
