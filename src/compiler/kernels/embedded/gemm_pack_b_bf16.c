/* Packs a run-time b in bf16 as pack() packs constants: [OUTER][panel][k / 2][NR][2], zero-padded.
 * A work item is one panel. b[k][n] is at k * B_ROW + n * B_COLUMN; the two usual cases read it
 * along its contiguous direction: rows are interleaved two by two, columns move as pairs of k. From
 * defines(): WIDTH (columns of a vector or tile), K_GROUPS (multiple to which groups of k are
 * padded: 1, for tiles 16).
 */
#define NR (VECTORS * WIDTH)
#define PANELS ((N + NR - 1) / NR)
#define PAIRS ((K + 1) / 2)
#define STORED ((PAIRS + K_GROUPS - 1) / K_GROUPS * K_GROUPS)

#if B_ROW == 1 && LANES > 1
#define WORD int32_t
#define ELEMENT uint16_t
#include "transpose.h"
#endif

void NAME(const void *b_, void *packed_, long begin, long end) {
  const uint16_t *b = b_;
  int32_t *packed = packed_;
  for (long u = begin; u < end; u++) {
    const long outer = u / PANELS, n = u % PANELS * NR, width = N - n < NR ? N - n : NR;
    const uint16_t *from = b + outer / BATCH1 * B_BATCH0 + outer % BATCH1 * B_BATCH1 + n * B_COLUMN;
    int32_t *to = packed + u * STORED * NR;
#if B_COLUMN == 1
    for (long k = 0; k < PAIRS; k++)
      for (long v = 0; v < NR / LANES; v++) {
        const uint16_t *p = from + 2 * k * B_ROW + v * LANES;
        const long left = width - v * LANES;
        veci low = {0}, high = {0};
        if (left > 0) low = widen_u16(p, left);
        if (left > 0 && 2 * k + 1 < K) high = widen_u16(p + B_ROW, left);
        STORE_WORDS_(to + k * NR + v * LANES, low | high << 16);
      }
#else
    long j = 0;
#if B_ROW == 1 && LANES > 1
    for (; j + 4 <= width; j += 4) {
      long k = 0;
      for (; k + 4 <= K / 2; k += 4)
        PASTE_(NAME, transpose)(from + j * B_COLUMN + 2 * k, to + k * NR + j);
      for (; k < PAIRS; k++)
        for (long i = j; i < j + 4; i++) {
          const uint16_t *p = from + i * B_COLUMN + 2 * k;
          to[k * NR + i] = (int32_t)(p[0] | (2 * k + 1 < K ? (uint32_t)p[1] << 16 : 0));
        }
    }
#endif
    for (; j < NR; j++)
      for (long k = 0; k < PAIRS; k++) {
        const uint16_t *p = from + 2 * k * B_ROW + j * B_COLUMN;
        to[k * NR + j] = j >= width ? 0
                                    : (int32_t)(p[0] | (2 * k + 1 < K ? (uint32_t)p[B_ROW] << 16 : 0));
      }
#endif
#if STORED > PAIRS
    for (long i = PAIRS * NR; i < STORED * NR; i++) to[i] = 0;
#endif
  }
}
#undef NR
#undef PANELS
#undef PAIRS
#undef STORED
