/* c = epilogue(a * b) for few rows, with block-quantised b of 4 or 8 bits as in gemm_wq.c, by int8
 * dot products: 64 multiplications take three instructions instead of twelve (eight for 4 bits
 * without VNNI). A block of a row of a is converted to integers below 2^22, scaled so that the
 * largest is at least 2^21, and each integer to three bytes; b's elements are multiplied unsigned.
 * All int8 sums are exact, so the result is as accurate as one in floats. An infinity or NaN in a
 * block makes the row NaN.
 *
 * Panels of NR columns hold, STEP rows of b at a time (at most 256), [scale][NR], [zero][NR] if
 * B_ZEROS, then groups of four rows [NR][4], or of eight rows for 4 bits: the fifth is in the upper
 * half of the first one's byte. SIGN_ is added to signed elements. From defines(): VECTORS,
 * TILE_ROWS, UNIT_PANELS, STEP, B_TYPE (ONNX), B_BITS.
 */
#define NR (VECTORS * LANES)
#define PAIR (8 / B_BITS)
#define GROUP (4 * PAIR)
#define GROUPS_(rows) (((rows) + GROUP - 1) / GROUP)
#define BLOCKS_ ((K + STEP - 1) / STEP)
#define LAST_ (K - (BLOCKS_ - 1) * STEP)
#define BLOCK_BYTES ((1 + B_ZEROS + GROUPS_(STEP)) * 4l * NR)
#define PANEL_BYTES (BLOCKS_ * BLOCK_BYTES)
#define AHEAD_ 16384 /* bytes: prefetch distance into L2 */
#if B_TYPE == 22
#define SIGN_ 8
#elif B_TYPE == 3
#define SIGN_ 128
#else
#define SIGN_ 0
#endif

/* Of one row of a: bytes and sums, low byte first. */
struct PASTE_(NAME, block) {
  float step, all;  /* the value of one integer step; the sum of all */
  int32_t first[3]; /* initial sums, which subtract SIGN_ */
  int8_t part[3][GROUPS_(STEP) * GROUP];
};

/* The low byte of x, signed; x becomes the rest. */
INLINE_ int32_t PASTE_(NAME, take)(int32_t *x) {
  const int32_t low = (int8_t)*x;
  *x = (*x >> 8) + (low < 0);
  return low;
}

/* One block of a row: `depth` elements at a. */
INLINE_ void PASTE_(NAME, split)(struct PASTE_(NAME, block) *to, const float *a, const long depth) {
  const veci finite = splati_(0x7f800000), least = splati_(23 << 23);
  const long padded = GROUPS_(depth) * GROUP;
  veci most = {0}, sum = {0};
  for (long k = 0; k < depth; k += LANES)
    most = larger_(most, (veci)load_lanes_(a + k, depth - k) & 0x7fffffff);
  JOIN_LANES_(most, larger_);
  const veci exponent = larger_(most & finite, least); /* 2^e, e >= -104 */
  const vec scale = (vec)(splati_(252 << 23) - (exponent - least));         /* 2^(21 - e) */
  const vec step = blendv_(exponent == finite, splat_(NAN), (vec)(exponent - (21 << 23)));
  for (long k = 0; k < padded; k += LANES) {
    veci x = nearest_(load_lanes_(a + k, depth - k) * scale);
    sum = veci_add_(sum, x);
    for (int i = 0; i < 3; i++, x = (x + 128) >> 8) narrow_i8(to->part[i] + k, x, padded - k);
  }
  JOIN_LANES_(sum, veci_add_);
  int32_t all = LANE_(sum, 0);
  to->step = LANE_(step, 0);
  to->all = (float)all;
  for (int i = 0; i < 2; i++) to->first[i] = -SIGN_ * PASTE_(NAME, take)(&all);
  to->first[2] = -SIGN_ * all;
}

INLINE_ const struct PASTE_(NAME, block) *PASTE_(NAME, split_rows)(const float *a, void *scratch) {
  struct PASTE_(NAME, block) *to = scratch;
  for (long m = 0; m < M; m++) {
    for (long block = 0; block < BLOCKS_ - 1; block++)
      PASTE_(NAME, split)(to++, a + m * A_ROW + block * STEP, STEP);
    PASTE_(NAME, split)(to++, a + m * A_ROW + (BLOCKS_ - 1) * STEP, LAST_);
  }
  return scratch;
}

/* Sums of `rows` rows of a with one panel. */
INLINE_ void PASTE_(NAME, sums)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                vec acc[TILE_ROWS][VECTORS], const int rows) {
  for (long block = 0; block < BLOCKS_; block++, a++, panel += BLOCK_BYTES) {
    const float *scale = (const float *)(const void *)panel;
    const int32_t *p = (const int32_t *)(const void *)panel + (1 + B_ZEROS) * NR;
    const long groups = block < BLOCKS_ - 1 ? GROUPS_(STEP) : GROUPS_(LAST_);
    veci sum[3][TILE_ROWS][VECTORS];
    UNROLL for (int i = 0; i < (1 + B_ZEROS) * VECTORS; i++) PREFETCH_(panel + AHEAD_ + i * 4 * LANES);
    UNROLL for (int i = 0; i < 3; i++)
      UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int v = 0; v < VECTORS; v++) sum[i][r][v] = splati_(a[r * BLOCKS_].first[i]);
    for (long g = 0; g < groups; g++, p += NR) {
      veci w[PAIR][VECTORS];
      UNROLL for (int v = 0; v < VECTORS; v++) {
        const veci x = load_panel_(p + v * LANES);
        PREFETCH_((const uint8_t *)(p + v * LANES) + AHEAD_);
#if PAIR == 2
        w[0][v] = x & 0x0f0f0f0f;
        w[1][v] = (x >> 4) & 0x0f0f0f0f;
#else
        w[0][v] = x;
#endif
      }
      UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int i = 0; i < 3; i++) {
          const veci x = load_group_(a[r * BLOCKS_].part[i] + g * GROUP);
#if PAIR == 2
          const veci y = load_group_(a[r * BLOCKS_].part[i] + g * GROUP + 4);
          UNROLL for (int v = 0; v < VECTORS; v++)
            sum[i][r][v] = dot_nibbles_(sum[i][r][v], w[0][v], x, w[1][v], y);
#else
          UNROLL for (int v = 0; v < VECTORS; v++) sum[i][r][v] = dot_bytes_(sum[i][r][v], w[0][v], x);
#endif
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
      UNROLL for (int v = 0; v < VECTORS; v++) {
        vec t = floats_(sum[2][r][v]) * splat_(256.0f) + floats_(sum[1][r][v]);
        t = t * splat_(256.0f) + floats_(sum[0][r][v]);
#if B_ZEROS
        t -= loadu_(scale + NR + v * LANES) * splat_(a[r * BLOCKS_].all);
#endif
        acc[r][v] += loadu_(scale + v * LANES) * splat_(a[r * BLOCKS_].step) * t;
      }
  }
}

#define ROW_T struct PASTE_(NAME, block)
#define ROW_STEP BLOCKS_
#define ROWS_ PASTE_(NAME, split_rows)(a_, scratch)
#include "gemm_wq_walk.h"
#undef PAIR
#undef GROUP
#undef GROUPS_
#undef BLOCKS_
#undef LAST_
#undef BLOCK_BYTES
#undef SIGN_
#undef AHEAD_
