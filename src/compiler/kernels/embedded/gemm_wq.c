/* c = epilogue(a * b) for few rows, with b in 4 or 8 bits and a scale (and a zero point) per block
 * of BLOCK rows of a column: only the small elements are read from memory. Panels of NR columns
 * hold, block by block, [scale][NR] (f16 if B_HALVES is 1), [zero or minimum][NR] if B_ZEROS, then the
 * elements: 8 bits row by row, 4 bits with two rows per byte, the first in the low bits. All
 * products of a block are summed as floats before its scale is applied. From defines(): VECTORS,
 * PANEL_VECTORS, TILE_ROWS, B_TYPE (ONNX), B_BITS.
 */
#define BLOCKS_ ((K + BLOCK - 1) / BLOCK)
#define HAS_RUNS_ 0
#include "gemm_wq_head.h"
#if B_BITS == 4
#define PAIR 2 /* rows of b in one byte */
#else
#define PAIR 1
#endif
#define BLOCK_BYTES (HEAD_BYTES_ + (BLOCK + PAIR - 1) / PAIR * NR)
#define PANEL_BYTES (BLOCKS_ * BLOCK_BYTES)
#define AHEAD_ 16384 /* bytes: prefetch distance into L2 for panels that are read once */
#define FETCH_(from, bytes)                                         \
  UNROLL for (long i = 0; M <= TILE_ROWS && i < (bytes); i += 64) \
    PREFETCH_((const uint8_t *)(from) + AHEAD_ + i)

/* One block of `depth` rows of b, its elements at p, into sum. */
INLINE_ void PASTE_(NAME, block)(vec sum[2][TILE_ROWS][PANEL_VECTORS], const float *a,
                                 const uint8_t *p, const long depth, const int rows,
                                 const int vectors) {
  long k = 0;
#if B_BITS == 4
  const vec table = NIBBLE_TABLE_(B_TYPE == 22);
  for (; k + 2 <= depth; k += 2, p += NR) {
    FETCH_(p, vectors * LANES);
    UNROLL for (int v = 0; v < vectors; v++) {
      const veci x = widen_u8(p + v * LANES, LANES);
      const vec low = nibbles_(table, x), high = nibbles_(table, x >> 4);
      UNROLL for (int r = 0; r < rows; r++) {
        sum[0][r][v] += splat_(a[r * A_ROW + k]) * low;
        sum[1][r][v] += splat_(a[r * A_ROW + k + 1]) * high;
      }
    }
  }
  if (k < depth)
    UNROLL for (int v = 0; v < vectors; v++) {
      const vec low = nibbles_(table, widen_u8(p + v * LANES, LANES));
      UNROLL for (int r = 0; r < rows; r++) sum[0][r][v] += splat_(a[r * A_ROW + k]) * low;
    }
#else
#if B_TYPE == 3
#define ELEMENTS_(at) floats_(widen_i8((const int8_t *)p + (at), LANES))
#else
#define ELEMENTS_(at) floats_(widen_u8(p + (at), LANES))
#endif
  for (; k + 2 <= depth; k += 2, p += 2 * NR) {
    UNROLL for (int u = 0; u < 2; u++) FETCH_(p + u * NR, vectors * LANES);
    UNROLL for (int u = 0; u < 2; u++)
      UNROLL for (int v = 0; v < vectors; v++) {
        const vec w = ELEMENTS_(u * NR + v * LANES);
        UNROLL for (int r = 0; r < rows; r++) sum[u][r][v] += splat_(a[r * A_ROW + k + u]) * w;
      }
  }
  if (k < depth)
    UNROLL for (int v = 0; v < vectors; v++) {
      const vec w = ELEMENTS_(v * LANES);
      UNROLL for (int r = 0; r < rows; r++) sum[0][r][v] += splat_(a[r * A_ROW + k]) * w;
    }
#undef ELEMENTS_
#endif
}

/* Sums of `rows` rows of a with the vectors of a panel from `first` on. */
INLINE_ void PASTE_(NAME, sums)(const float *a, const uint8_t *panel, long stride,
                                long first, vec acc[TILE_ROWS][PANEL_VECTORS],
                                const int rows, const int vectors) {
  (void)stride;
  for (long block = 0; block < BLOCKS_; block++, panel += BLOCK_BYTES) {
    vec sum[2][TILE_ROWS][PANEL_VECTORS];
    const float *x = a + block * BLOCK;
    const uint8_t *p = panel + HEAD_BYTES_ + first * LANES;
    FETCH_(panel, HEAD_BYTES_);
    UNROLL for (int r = 0; r < rows; r++) {
      UNROLL for (int v = 0; v < vectors; v++) sum[0][r][v] = sum[1][r][v] = (vec){0};
    }
#if K % BLOCK
    if (block == BLOCKS_ - 1)
      PASTE_(NAME, block)(sum, x, p, K % BLOCK, rows, vectors);
    else
#endif
      PASTE_(NAME, block)(sum, x, p, BLOCK, rows, vectors);
    UNROLL for (int r = 0; r < rows; r++) {
#if B_ZEROS
      const long depth = block == BLOCKS_ - 1 ? K - (BLOCKS_ - 1) * BLOCK : BLOCK;
      vec all = {0};
      long k = 0;
      for (; k + LANES <= depth; k += LANES) all += loadu_(x + r * A_ROW + k);
      if (k < depth) all += load_lanes_(x + r * A_ROW + k, depth - k);
      all = sum_lanes_(all);
#endif
      UNROLL for (int v = 0; v < vectors; v++) {
        vec t = sum[0][r][v] + sum[1][r][v];
#if B_ZEROS == 1
        t -= LOAD_ZERO_(panel, panel, (first + v) * LANES) * all;
#elif B_ZEROS == 2
        acc[r][v] += LOAD_ZERO_(panel, panel, (first + v) * LANES) * all;
#endif
        acc[r][v] += LOAD_SCALE_(panel, panel, (first + v) * LANES) * t;
      }
    }
  }
}

#define ROW_T float
#define ROW_STEP A_ROW
#define ROWS_(count) ((const float *)a_)
#define STRIDE_(count) (count)
#include "gemm_wq_walk.h"
#undef BLOCKS_
#undef PAIR
#undef BLOCK_BYTES
#undef AHEAD_
#undef FETCH_
#undef SCALES_
#undef ZEROS_
#undef HEAD_BYTES_
#undef LOAD_SCALE_
#undef LOAD_ZERO_
#undef HALVES_
#undef HAS_RUNS_
#undef RUNS_BYTES_
#undef RUN_OF_
