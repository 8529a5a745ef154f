/* c = epilogue(a * b) with block-quantised b of 4 or 8 bits as in gemm_wq.c, by int8 dot products.
 * A block of a row of a is rounded to integers of DIGITS int8 digits in base 256, scaled so that the
 * largest is 127 * 256 with two digits and 127 * 65536 with three; b's elements are multiplied
 * unsigned. All integer sums are exact: the error is that of rounding a, 2^-16 or 2^-24 of the
 * largest in the block. An infinity or NaN in a block makes the row NaN.
 *
 * Panels of NR columns hold, STEP rows of b at a time (at most 256), [scale][NR] (f16 if
 * B_HALVES), [zero or minimum][NR] if B_ZEROS, then groups of four rows [NR][4], or of eight rows for 4 bits:
 * the fifth is in the upper half of the first one's byte. SIGN_ is added to signed elements. As many
 * groups as fit in registers (SLAB_) are unpacked once for all TILE_ROWS rows of a. From defines():
 * VECTORS, PANEL_VECTORS, TILE_ROWS, STEP, DIGITS, B_TYPE (ONNX), B_BITS.
 */
#define PAIR (8 / B_BITS)
#define GROUP (4 * PAIR)
#define GROUPS_(rows) (((rows) + GROUP - 1) / GROUP)
#define BLOCKS_ ((K + STEP - 1) / STEP)
#define LAST_ (K - (BLOCKS_ - 1) * STEP)
#include "gemm_wq_head.h"
#define BLOCK_BYTES (HEAD_BYTES_ + GROUPS_(STEP) * 4l * NR)
#define PANEL_BYTES (BLOCKS_ * BLOCK_BYTES)
/* Bytes: prefetch distance into L2. Zen 4, one row, the matmuls of Gemma 3 270M: with 64-byte vectors
   and 8192, 22 GB/s, with 512 to 2048, 31 to 35; with 32-byte vectors 28 to 34 and 17 to 28. */
#define AHEAD_(rows) ((rows) == 1 && HONE_VECTOR_BYTES == 64 ? 1024 : 8192)
/* Groups unpacked at once, in `registers` vectors if there are so many. */
#define FITS_(registers, vectors) \
  ((registers) / PAIR / (vectors) > 0 ? (registers) / PAIR / (vectors) : 1)
#define SLAB_(vectors) FITS_((vectors) > 1 && HONE_VECTOR_BYTES == 64 ? 16 : 8, vectors)
#define UNPACKED_ 16 /* at most, of SLAB_ * PAIR */
#if PAIR == 2
#define SUMS_ nibble_sums_
#define DOT_ dot_nibbles_
#define JOIN_ join_nibbles_
#else
#define SUMS_ veci
#define DOT_ dot_bytes_
#define JOIN_(sums) (sums)
#endif
#if B_TYPE == 22
#define SIGN_ 8
#elif B_TYPE == 3
#define SIGN_ 128
#else
#define SIGN_ 0
#endif

#if DIGITS == 2
#define LARGEST_ 32512.0f /* 127 * 256 */
#else
#define LARGEST_ 8323072.0f
#endif
#define SUMS_OF_DIGITS_ (DIGITS - 1) /* the two lower digits have one sum */

/* Of one row of a: digits, the low ones first. */
struct PASTE_(NAME, block) {
  /* the value of an integer 1; the sum of all integers, times that with minima */
  float step, all;
  int32_t first[SUMS_OF_DIGITS_]; /* initial sums, which subtract SIGN_ */
  int8_t digit[DIGITS][GROUPS_(STEP) * GROUP];
};

/* One block of a row: `depth` elements at a. */
INLINE_ void PASTE_(NAME, split)(struct PASTE_(NAME, block) *to, const float *a, const long depth) {
  const long padded = GROUPS_(depth) * GROUP;
  veci most = {0}, sum = {0}, top = {0};
  for (long k = 0; k < depth; k += LANES)
    most = larger_(most, (veci)load_lanes_(a + k, depth - k) & 0x7fffffff);
  JOIN_LANES_(most, larger_);
  const float largest = LANE_((vec)larger_(most, splati_(23 << 23)), 0); /* at least 2^-104 */
  const vec scale = splat_(LARGEST_ / largest);
  for (long k = 0; k < padded; k += LANES) {
    veci x = nearest_(load_lanes_(a + k, depth - k) * scale);
    sum = veci_add_(sum, x);
    UNROLL for (int d = 0; d < DIGITS; d++) {
      if (d == 2) top = veci_add_(top, x);
      narrow_i8(to->digit[d] + k, x, padded - k);
      x = (x + 128) >> 8;
    }
  }
  to->step = LANE_(most, 0) < 0x7f800000 ? largest * (1 / LARGEST_) : NAN;
#if B_ZEROS || SIGN_
  JOIN_LANES_(sum, veci_add_);
  JOIN_LANES_(top, veci_add_);
  to->all = (float)LANE_(sum, 0) * (B_ZEROS == 2 ? to->step : 1);
  to->first[0] = -SIGN_ * (LANE_(sum, 0) - LANE_(top, 0) * 65536);
  if (DIGITS == 3) to->first[DIGITS - 2] = -SIGN_ * LANE_(top, 0);
#else
  (void)sum, (void)top;
#endif
}

/* All blocks of the first `count` rows, one block after the other. */
INLINE_ const struct PASTE_(NAME, block) *PASTE_(NAME, split_rows)(const float *a, void *scratch,
                                                                   long count) {
  struct PASTE_(NAME, block) *to = scratch;
  for (long block = 0; block < BLOCKS_ - 1; block++)
    for (long m = 0; m < count; m++) PASTE_(NAME, split)(to++, a + m * A_ROW + block * STEP, STEP);
  for (long m = 0; m < count; m++)
    PASTE_(NAME, split)(to++, a + m * A_ROW + (BLOCKS_ - 1) * STEP, LAST_);
  return scratch;
}

/* Sums of the products of groups of b, from group g on, with the digits of a. */
INLINE_ void PASTE_(NAME, digits)(veci total[DIGITS][PANEL_VECTORS],
                                  const veci w[UNPACKED_][PANEL_VECTORS],
                                  const struct PASTE_(NAME, block) *a, const long g,
                                  const long groups, const int vectors) {
  SUMS_ sum[DIGITS][PANEL_VECTORS];
  UNROLL for (int d = 0; d < DIGITS; d++)
    UNROLL for (int v = 0; v < vectors; v++) sum[d][v] = (SUMS_){0};
  UNROLL for (long i = 0; i < groups * PAIR; i++)
    UNROLL for (int d = 0; d < DIGITS; d++) {
      const int8_t *digit = a->digit[d] + g * GROUP + 4 * i;
#if HONE_VECTOR_BYTES == 64 && defined __AVX512VNNI__
      if (vectors == 1) {
        sum[d][0] = dot_bytes_at_(sum[d][0], w[i][0], digit);
        continue;
      }
#endif
      const veci x = load_group_(digit);
      UNROLL for (int v = 0; v < vectors; v++) sum[d][v] = DOT_(sum[d][v], w[i][v], x);
    }
  UNROLL for (int d = 0; d < DIGITS; d++)
    UNROLL for (int v = 0; v < vectors; v++) total[d][v] = JOIN_(sum[d][v]);
}

/* Sums of a block, of the two lower digits and of the third. */
#define TOTALS_ veci total[SUMS_OF_DIGITS_][TILE_ROWS][PANEL_VECTORS]

/* Adds groups g, g + 1, ... of a block to `total`, and at the end of the block that to acc. */
INLINE_ void PASTE_(NAME, slab)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                TOTALS_, vec acc[TILE_ROWS][PANEL_VECTORS], const long g,
                                const long groups, const int is_last, const long first,
                                const int rows, const int vectors) {
  veci w[UNPACKED_][PANEL_VECTORS];
  UNROLL for (int i = 0; i < groups; i++)
    UNROLL for (int v = 0; v < vectors; v++) {
      const uint8_t *p = panel + HEAD_BYTES_ + ((g + i) * NR + (first + v) * LANES) * 4;
      const veci x = load_panel_((const int32_t *)(const void *)p);
      PREFETCH_(p + AHEAD_(rows));
#if PAIR == 2
      w[2 * i][v] = x & 0x0f0f0f0f;
      w[2 * i + 1][v] = (x >> 4) & 0x0f0f0f0f;
#else
      w[i][v] = x;
#endif
    }
  UNROLL for (int r = 0; r < rows; r++) {
    veci digits[DIGITS][PANEL_VECTORS];
    PASTE_(NAME, digits)(digits, (const veci(*)[PANEL_VECTORS])w, a + r, g, groups, vectors);
    UNROLL for (int v = 0; v < vectors; v++) {
      veci sums[SUMS_OF_DIGITS_];
      sums[0] = total[0][r][v] + (digits[1][v] << 8) + digits[0][v];
      if (DIGITS == 3) sums[DIGITS - 2] = total[DIGITS - 2][r][v] + digits[DIGITS - 1][v];
      if (!is_last) {
        UNROLL for (int d = 0; d < SUMS_OF_DIGITS_; d++) total[d][r][v] = sums[d];
        continue;
      }
      vec t = floats_(sums[0]);
      if (DIGITS == 3) t += floats_(sums[DIGITS - 2]) * splat_(65536.0f);
#if B_ZEROS == 1
      t -= LOAD_ZERO_(panel, (first + v) * LANES) * splat_(a[r].all);
#elif B_ZEROS == 2
      acc[r][v] += LOAD_ZERO_(panel, (first + v) * LANES) * splat_(a[r].all);
#endif
      acc[r][v] += LOAD_SCALE_(panel, (first + v) * LANES) * splat_(a[r].step) * t;
    }
  }
}

INLINE_ void PASTE_(NAME, add_block)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                     vec acc[TILE_ROWS][PANEL_VECTORS], const long groups,
                                     const long first, const int rows, const int vectors) {
  const long slab = SLAB_(vectors), last = (groups - 1) / slab * slab;
  TOTALS_;
  UNROLL for (int i = 0; i < HEAD_BYTES_; i += 64) PREFETCH_(panel + AHEAD_(rows) + i);
  UNROLL for (int d = 0; d < SUMS_OF_DIGITS_; d++)
    UNROLL for (int r = 0; r < rows; r++)
      UNROLL for (int v = 0; v < vectors; v++) total[d][r][v] = splati_(SIGN_ ? a[r].first[d] : 0);
  for (long g = 0; g < last; g += slab)
    PASTE_(NAME, slab)(a, panel, total, acc, g, slab, 0, first, rows, vectors);
  PASTE_(NAME, slab)(a, panel, total, acc, last, groups - last, 1, first, rows, vectors);
}

/* Sums of `rows` rows of a with the vectors of a panel from `first` on; stride: from one block of a row
   to the next. */
INLINE_ void PASTE_(NAME, sums)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                long stride, long first, vec acc[TILE_ROWS][PANEL_VECTORS],
                                const int rows, const int vectors) {
  for (long block = 0; block < BLOCKS_ - 1; block++, a += stride, panel += BLOCK_BYTES)
    PASTE_(NAME, add_block)(a, panel, acc, GROUPS_(STEP), first, rows, vectors);
  PASTE_(NAME, add_block)(a, panel, acc, GROUPS_(LAST_), first, rows, vectors);
}

#define ROW_T struct PASTE_(NAME, block)
#define ROW_STEP 1
#define ROWS_(count) PASTE_(NAME, split_rows)(a_, scratch, count)
#include "gemm_wq_walk.h"
#undef PAIR
#undef GROUP
#undef GROUPS_
#undef BLOCKS_
#undef LAST_
#undef BLOCK_BYTES
#undef SIGN_
#undef SLAB_
#undef FITS_
#undef UNPACKED_
#undef LARGEST_
#undef SUMS_OF_DIGITS_
#undef TOTALS_
#undef SUMS_
#undef DOT_
#undef JOIN_
#undef AHEAD_
#undef SCALES_
#undef ZEROS_
#undef HEAD_BYTES_
#undef LOAD_SCALE_
#undef LOAD_ZERO_
