/* c = epilogue(a * b) with block-quantised b of 4, 5, 6 or 8 bits, by int8 dot products.
 * A block of a row of a is rounded to integers of DIGITS int8 digits in base 256, scaled so that the
 * largest is 127 * 256 with two digits and 127 * 65536 with three, or at least half of that where the
 * scale is a power of two (SUMS_ARE_FLOATS_); b's elements are multiplied unsigned. All integer sums are
 * exact: the error is that of rounding a, 2^-15 or 2^-23 of the largest in the block. An infinity or NaN in a
 * block, or with SUMS_ARE_FLOATS_ a number above 2^110, makes the row NaN. With WORDS_ an integer of two digits
 * is a word of 16 bits, and b's bytes are made words when they are unpacked.
 *
 * A panel of NR columns holds, with B_HALVES 2, the f16 numbers of its runs of blocks (scale[NR], and
 * minimum[NR] if B_ZEROS), then its blocks of STEP rows of b, at most 256: scale[NR] (B_HALVES 0: f32,
 * 1: f16, 2: an integer of 8 bits, times that of its run), zero or minimum[NR] if B_ZEROS, upper bits, groups of
 * rows. A group of bytes is four rows [NR][4]. With fewer bits it is eight: the byte of a row has the lower half of its
 * element and that of the fourth row after it. What 5 or 6 bits have above that is packed
 * into vectors [NR][4], the first row in the lowest bits.
 *
 * SIGN_ is added to signed elements. As many groups as fit in registers (SLAB_) are unpacked once for all
 * TILE_ROWS rows of a. With TILES, the integer sums of 16 rows are made by AMX: the same numbers. From
 * defines(): VECTORS, PANEL_VECTORS, TILE_ROWS, STEP, DIGITS, TILES, B_TYPE (ONNX), B_BITS, AHEAD: the bytes
 * from what a row reads to what it fetches into L2.
 */
#include "gemm_wq_block.h"
#define HAS_RUNS_ (B_HALVES == 2)
#include "gemm_wq_head.h"
#if B_BITS == 5 || B_BITS == 6
#define UPPER_ (B_BITS - 4)
#define UPPER_GROUPS_ (4 / UPPER_) /* whose upper bits are in a vector */
#define UPPERS_ ((GROUPS_(STEP) + UPPER_GROUPS_ - 1) / UPPER_GROUPS_)
#else
#define UPPER_ 0
#define UPPERS_ 0
#endif
#define ELEMENTS_ (HEAD_BYTES_ + UPPERS_ * 4l * NR) /* before the groups of a block */
#define BLOCK_BYTES (ELEMENTS_ + GROUPS_(STEP) * 4l * NR)
#define PANEL_BYTES (RUNS_BYTES_ + BLOCKS_ * BLOCK_BYTES)
#define AHEAD_(rows) ((rows) == 1 ? AHEAD : 8192)
/* Groups unpacked at once, in `registers` vectors if there are so many. */
#define FITS_(registers, vectors) \
  ((registers) / PAIR / (vectors) > 0 ? (registers) / PAIR / (vectors) : 1)
#define SLAB_FITS_(vectors) FITS_((vectors) > 1 && HONE_VECTOR_BYTES == 64 ? 16 : 8, vectors)
#ifdef SUMMED_IN_WORDS_ /* elements in so many bits that their sums fit */
#define SUMMED_ (SUMMED_IN_WORDS_ >> UPPER_)
#define SLAB_OF_DIGITS_(vectors) \
  (SLAB_FITS_(vectors) * PAIR > SUMMED_ ? SUMMED_ / PAIR : SLAB_FITS_(vectors))
#else
#define SLAB_OF_DIGITS_(vectors) SLAB_FITS_(vectors)
#endif
#define ARE_WORDS_(rows) (WORDS_ && !(DIGITS_TOO_ && (rows) == 1))
#define SLAB_(rows, vectors)                                                          \
  (!ARE_WORDS_(rows) ? SLAB_OF_DIGITS_(vectors)                                       \
                     : (SLAB_FITS_(vectors) > 1 ? SLAB_FITS_(vectors) / 2 : 1))
#define UNPACKED_ 16 /* at most, of SLAB_ * PAIR */
#if PAIR == 2
#define SUMS_ nibble_sums_
#define DOT_ dot_nibbles_
#else
#define SUMS_ veci
#define DOT_ dot_bytes_
#endif
/* Sums in words begin with 0 and are added to the totals; others begin with them. */
#if PAIR == 2 && defined SUMMED_IN_WORDS_
#define BEGIN_(total) ((SUMS_){0})
#define END_(total, sums) (total) += join_nibbles_(sums)
#else
#define BEGIN_(total) (total)
#define END_(total, sums) (total) = (sums)
#endif
#if A_SPLIT
#define ROWS_(count) a_
#define STRIDE_(count) M
#else
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

#define ROWS_(count) PASTE_(NAME, split_rows)(a_, scratch, count)
#define STRIDE_(count) (count)
#endif

/* Rows whose sums are made at the same time: one row's are too few chains of additions for cores with
   small schedulers. */
#if HONE_VECTOR_BYTES == 64
#define TOGETHER_ 2
#else
#define TOGETHER_ 1
#endif

/* A sum of each digit of a row. */
#define TOTALS_ veci total[PARTS_][TILE_ROWS][PANEL_VECTORS]

/* What the sum of digit d of a block begins with. */
#define FIRST_(block, d) splati_(SIGN_ || SUMS_ARE_FLOATS_ ? (block).first[d] : 0)

#if WORDS_
/* Adds the products of groups of b, from group g on, with row m of a. */
INLINE_ void PASTE_(NAME, words)(TOTALS_, const veci w[2 * UNPACKED_][PANEL_VECTORS],
                                 const struct PASTE_(NAME, block) *a, const long g,
                                 const long groups, const int m, const int vectors) {
  veci sum[PANEL_VECTORS];
  UNROLL for (int v = 0; v < vectors; v++) sum[v] = g ? total[0][m][v] : FIRST_(a[m], 0);
  UNROLL for (long i = 0; i < 2 * groups * PAIR; i++) {
    const veci x = load_group_(a[m].word + g * GROUP + 2 * i);
    UNROLL for (int v = 0; v < vectors; v++) {
      sum[v] += dot_words_(w[i][v], x);
      IN_REGISTER_(sum[v]);
    }
  }
  UNROLL for (int v = 0; v < vectors; v++) total[0][m][v] = sum[v];
}
#if DIGITS_TOO_
/* The same with the digits of one row. */
INLINE_ void PASTE_(NAME, digits)(TOTALS_, const veci w[UNPACKED_][PANEL_VECTORS],
                                  const struct PASTE_(NAME, block) *a, const long g,
                                  const long groups, const int vectors) {
  SUMS_ sum[DIGITS][PANEL_VECTORS];
  UNROLL for (int d = 0; d < DIGITS; d++)
    UNROLL for (int v = 0; v < vectors; v++) sum[d][v] = (SUMS_){0};
  UNROLL for (long i = 0; i < groups * PAIR; i++)
    UNROLL for (int d = 0; d < DIGITS; d++) {
      const veci x = load_group_(a->digit[d] + g * GROUP + 4 * i);
      UNROLL for (int v = 0; v < vectors; v++) sum[d][v] = DOT_(sum[d][v], w[i][v], x);
    }
  UNROLL for (int v = 0; v < vectors; v++) {
    const veci begun = g ? total[0][0][v] : FIRST_(*a, 0);
    total[0][0][v] = begun + (join_nibbles_(sum[1][v]) << 8) + join_nibbles_(sum[0][v]);
  }
}
#endif
#else
/* The same with the digits of rows from m on. The totals begin here, because compilers keep what is read for
   later rows in registers. */
INLINE_ void PASTE_(NAME, digits)(TOTALS_, const veci w[UNPACKED_][PANEL_VECTORS],
                                  const struct PASTE_(NAME, block) *a, const long g,
                                  const long groups, const int m, const int rows,
                                  const int vectors) {
  SUMS_ sum[TOGETHER_][DIGITS][PANEL_VECTORS];
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int d = 0; d < DIGITS; d++)
      UNROLL for (int v = 0; v < vectors; v++) {
        if (g == 0) total[d][m + r][v] = FIRST_(a[m + r], d);
        sum[r][d][v] = BEGIN_(total[d][m + r][v]);
      }
  UNROLL for (long i = 0; i < groups * PAIR; i++)
    UNROLL for (int r = 0; r < rows; r++)
      UNROLL for (int d = 0; d < DIGITS; d++) {
        const int8_t *digit = a[m + r].digit[d] + g * GROUP + 4 * i;
#if HONE_VECTOR_BYTES == 64 && defined __AVX512VNNI__
        if (vectors == 1) {
          sum[r][d][0] = dot_bytes_at_(sum[r][d][0], w[i][0], digit);
          continue;
        }
#endif
        const veci x = load_group_(digit);
        UNROLL for (int v = 0; v < vectors; v++) sum[r][d][v] = DOT_(sum[r][d][v], w[i][v], x);
      }
  UNROLL for (int r = 0; r < rows; r++)
    UNROLL for (int d = 0; d < DIGITS; d++)
      UNROLL for (int v = 0; v < vectors; v++) END_(total[d][m + r][v], sum[r][d][v]);
}
#endif

/* Scales of the vector of columns at `at` of a panel, and its zero points or minima. Kept in registers:
   compilers convert them again for each row. */
struct PASTE_(NAME, columns) {
  vec scale, zero;
};
INLINE_ struct PASTE_(NAME, columns) PASTE_(NAME, columns)(const uint8_t *panel, const uint8_t *run,
                                                      const long at) {
  struct PASTE_(NAME, columns) columns = {LOAD_SCALE_(panel, run, at), {0}};
  IN_REGISTER_(columns.scale);
#if B_ZEROS
  columns.zero = LOAD_ZERO_(panel, run, at);
  IN_REGISTER_(columns.zero);
#endif
  (void)run;
  return columns;
}

/* Adds the sums of a block to acc. */
INLINE_ vec PASTE_(NAME, scaled)(vec acc, const veci sums[PARTS_],
                                 const struct PASTE_(NAME, block) *a,
                                 const struct PASTE_(NAME, columns) columns) {
#if SUMS_ARE_FLOATS_
  vec t = (vec)sums[0] - splat_(a->middle[0]);
  UNROLL for (int d = 1; d < PARTS_; d++) t += (vec)sums[d] - splat_(a->middle[d]);
#elif WORDS_
  vec t = floats_(sums[0]);
#else
  vec t = floats_((sums[1] << 8) + sums[0]);
  if (DIGITS == 3) t += floats_(sums[DIGITS - 1]) * splat_(65536.0f);
#endif
#if B_ZEROS == 1
  t -= columns.zero * splat_(a->all);
#elif B_ZEROS == 2
  acc += columns.zero * splat_(a->all);
#endif
  return acc + columns.scale * (SUMS_ARE_FLOATS_ ? t : splat_(a->step) * t);
}

/* The words of group g of a block, of the vector of columns at `at` of the panel. */
INLINE_ void PASTE_(NAME, unpack)(veci *first, veci *second, const uint8_t *panel, const long g,
                                  const long at, const long ahead) {
  const uint8_t *p = panel + ELEMENTS_ + (g * NR + at) * 4;
  const veci x = load_panel_((const int32_t *)(const void *)p);
  PREFETCH_(p + ahead);
#if PAIR == 1
  *first = x;
  (void)second;
#else
  *first = x & 0x0f0f0f0f;
  *second = (x >> 4) & 0x0f0f0f0f;
#endif
#if UPPER_
  const uint8_t *q = panel + HEAD_BYTES_ + (g / UPPER_GROUPS_ * NR + at) * 4;
  const veci y = load_panel_((const int32_t *)(const void *)q) >> g % UPPER_GROUPS_ * 2 * UPPER_;
  const int32_t mask = UPPER_ == 1 ? 0x10101010 : 0x30303030;
  *first |= (y << 4) & mask;
  *second |= (y << (4 - UPPER_)) & mask;
#endif
}

#if WORDS_
/* Bytes to words: the first and the third of each four, the second and the fourth. In registers, because compilers would
   make them again for each row. */
INLINE_ void PASTE_(NAME, widen)(veci words[2 * UNPACKED_][PANEL_VECTORS],
                                 const veci w[UNPACKED_][PANEL_VECTORS], const long count,
                                 const int vectors) {
  UNROLL for (long i = 0; i < count; i++)
    UNROLL for (int v = 0; v < vectors; v++) {
      words[2 * i][v] = w[i][v] & 0x00ff00ff;
      words[2 * i + 1][v] = (veci)((vecu16_)w[i][v] >> 8);
      IN_REGISTER_(words[2 * i][v]);
      IN_REGISTER_(words[2 * i + 1][v]);
    }
}
#endif

/* Adds groups g, g + 1, ... of a block to `total`, and at the end of the block that to acc. */
INLINE_ void PASTE_(NAME, slab)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                const uint8_t *run, TOTALS_, vec acc[TILE_ROWS][PANEL_VECTORS], const long g,
                                const long groups, const int is_last, const long first,
                                const int rows, const int vectors) {
  veci w[UNPACKED_][PANEL_VECTORS];
  UNROLL for (int i = 0; i < groups; i++)
    UNROLL for (int v = 0; v < vectors; v++)
      PASTE_(NAME, unpack)(&w[PAIR * i][v], &w[PAIR * i + PAIR - 1][v], panel, g + i,
                           (first + v) * LANES, AHEAD_(rows));
#if WORDS_
  veci words[2 * UNPACKED_][PANEL_VECTORS];
  if (ARE_WORDS_(rows))
    PASTE_(NAME, widen)(words, (const veci(*)[PANEL_VECTORS])w, groups * PAIR, vectors);
#endif
  struct PASTE_(NAME, columns) columns[PANEL_VECTORS];
  if (is_last)
    UNROLL for (int v = 0; v < vectors; v++)
      columns[v] = PASTE_(NAME, columns)(panel, run, (first + v) * LANES);
  UNROLL for (int r = 0; r < rows; r++) {
#if DIGITS_TOO_
    if (!ARE_WORDS_(rows))
      PASTE_(NAME, digits)(total, (const veci(*)[PANEL_VECTORS])w, a, g, groups, vectors);
    else
#endif
#if WORDS_
      PASTE_(NAME, words)(total, (const veci(*)[PANEL_VECTORS])words, a, g, groups, r, vectors);
#else
    if (r % TOGETHER_ == 0)
      PASTE_(NAME, digits)(total, (const veci(*)[PANEL_VECTORS])w, a, g, groups, r,
                           rows - r < TOGETHER_ ? rows - r : TOGETHER_, vectors);
#endif
    UNROLL for (int v = 0; is_last && v < vectors; v++) {
      veci sums[PARTS_];
      UNROLL for (int d = 0; d < PARTS_; d++) sums[d] = total[d][r][v];
      acc[r][v] = PASTE_(NAME, scaled)(acc[r][v], sums, a + r, columns[v]);
    }
  }
}

INLINE_ void PASTE_(NAME, add_block)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                     const uint8_t *run,
                                     vec acc[TILE_ROWS][PANEL_VECTORS], const long groups,
                                     const long first, const int rows, const int vectors) {
  const long slab = SLAB_(rows, vectors), last = (groups - 1) / slab * slab;
  TOTALS_;
  UNROLL for (int i = 0; i < ELEMENTS_; i += 64) PREFETCH_(panel + AHEAD_(rows) + i);
  UNROLL for (long g = 0; g < last; g += slab)
    PASTE_(NAME, slab)(a, panel, run, total, acc, g, slab, 0, first, rows, vectors);
  PASTE_(NAME, slab)(a, panel, run, total, acc, last, groups - last, 1, first, rows, vectors);
}

#if TILES
#define TILE_BYTES_ (GROUPS_(STEP) * GROUP) /* of a block in a row of a */
#define PART_ (TILE_BYTES_ < 64 ? TILE_BYTES_ : 64)

/* The elements of a block as bytes, in the order of a tile of b. */
INLINE_ const void *PASTE_(NAME, bytes)(veci *to, const uint8_t *panel) {
#if PAIR == 2
  UNROLL for (int g = 0; g < GROUPS_(STEP); g++)
    PASTE_(NAME, unpack)(&to[2 * g], &to[2 * g + 1], panel, g, 0, AHEAD_(TILE_ROWS));
  return to;
#else
  const uint8_t *p = panel + ELEMENTS_;
  UNROLL for (int g = 0; g < GROUPS_(STEP); g++) PREFETCH_(p + g * 64 + AHEAD_(TILE_ROWS));
  (void)to;
  return p;
#endif
}

/* sums[digit][row]: of 16 rows of a block, in tiles low and high, with the elements in tile b. */
#define PRODUCTS_(low, high, elements)                                   \
  {                                                                      \
    const uint8_t *w = PASTE_(NAME, bytes)(unpacked[high / 2], panel);    \
    TILE_ZERO_(low);                                                     \
    TILE_ZERO_(high);                                                    \
    UNROLL for (long k = 0; k < TILE_BYTES_; k += PART_) {               \
      TILE_LOAD_(elements, w + k * 16, 64);                              \
      TILE_LOAD_(4, a->digit[0] + k, sizeof *a);                         \
      TILE_DOT_SU8_(low, 4, elements);                                   \
      TILE_LOAD_(5, a->digit[1] + k, sizeof *a);                         \
      TILE_DOT_SU8_(high, 5, elements);                                  \
    }                                                                    \
    TILE_STORE_(low, sums[high / 2][0], 64);                             \
    TILE_STORE_(high, sums[high / 2][1], 64);                            \
  }

INLINE_ void PASTE_(NAME, add_tile)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                    const uint8_t *run, veci sums[2][16], vec acc[TILE_ROWS][PANEL_VECTORS]) {
  const struct PASTE_(NAME, columns) columns = PASTE_(NAME, columns)(panel, run, 0);
  UNROLL for (int r = 0; r < 16; r++) {
    veci of[DIGITS];
    UNROLL for (int d = 0; d < DIGITS; d++)
      of[d] = FIRST_(a[r], d) + sums[d][r];
    acc[r][0] = PASTE_(NAME, scaled)(acc[r][0], of, a + r, columns);
  }
}

/* 16 rows: the tiles of a block are multiplied while the sums of the one before it are scaled. */
INLINE_ void PASTE_(NAME, tile_sums)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                     long stride, vec acc[TILE_ROWS][PANEL_VECTORS]) {
  veci sums[2][2][16], unpacked[2][PAIR == 2 ? TILE_BYTES_ / 4 : 1];
  const uint8_t *runs = panel;
  panel += RUNS_BYTES_;
  for (long block = 0; block < BLOCKS_; block++, a += stride, panel += BLOCK_BYTES) {
    if (block & 1)
      PRODUCTS_(2, 3, 7)
    else
      PRODUCTS_(0, 1, 6)
    if (block) PASTE_(NAME, add_tile)(a - stride, panel - BLOCK_BYTES, RUN_OF_(runs, block - 1),
                                      sums[~block & 1], acc);
  }
  PASTE_(NAME, add_tile)(a - stride, panel - BLOCK_BYTES, RUN_OF_(runs, BLOCKS_ - 1),
                         sums[~BLOCKS_ & 1], acc);
}

INLINE_ void PASTE_(NAME, configure)(void) {
  struct tile_config_ config = {.palette = 1};
  for (int t = 0; t < 8; t++) {
    config.row_bytes[t] = t == 4 || t == 5 ? PART_ : 64;
    config.rows[t] = t < 6 ? 16 : PART_ / 4;
  }
  TILE_CONFIG_(&config);
}
#define BEGIN_ROWS_(count) \
  if ((count) >= TILE_ROWS) PASTE_(NAME, configure)()
#define END_ROWS_(count) \
  if ((count) >= TILE_ROWS) TILE_RELEASE_()
#endif

/* Sums of `rows` rows of a with the vectors of a panel from `first` on; stride: from one block of a row
   to the next. */
INLINE_ void PASTE_(NAME, sums)(const struct PASTE_(NAME, block) *a, const uint8_t *panel,
                                long stride, long first, vec acc[TILE_ROWS][PANEL_VECTORS],
                                const int rows, const int vectors) {
#if TILES
  if (rows == TILE_ROWS) {
    PASTE_(NAME, tile_sums)(a, panel, stride, acc);
    return;
  }
#endif
  const uint8_t *runs = panel;
  UNROLL for (long i = 0; i < RUNS_BYTES_; i += 64) PREFETCH_(panel + AHEAD_(rows) + i);
  panel += RUNS_BYTES_;
  for (long block = 0; block < BLOCKS_ - 1; block++, a += stride, panel += BLOCK_BYTES)
    PASTE_(NAME, add_block)(a, panel, RUN_OF_(runs, block), acc, GROUPS_(STEP), first, rows, vectors);
  PASTE_(NAME, add_block)(a, panel, RUN_OF_(runs, BLOCKS_ - 1), acc, GROUPS_(LAST_), first, rows,
                          vectors);
}

#define ROW_T struct PASTE_(NAME, block)
#define ROW_STEP 1
#include "gemm_wq_walk.h"
#undef BLOCK_BYTES
#undef SLAB_
#undef SLAB_OF_DIGITS_
#undef ARE_WORDS_
#undef SLAB_FITS_
#undef SUMMED_
#undef UPPER_
#undef UPPER_GROUPS_
#undef UPPERS_
#undef ELEMENTS_
#undef FITS_
#undef UNPACKED_
#undef TOTALS_
#undef SUMS_
#undef DOT_
#undef FIRST_
#undef BEGIN_
#undef END_
#undef AHEAD_
#undef TOGETHER_
#undef TILE_BYTES_
#undef PART_
#undef PRODUCTS_
#undef BEGIN_ROWS_
#undef END_ROWS_
#undef SCALES_
#undef ZEROS_
#undef HEAD_BYTES_
#undef LOAD_SCALE_
#undef LOAD_ZERO_
#undef HALVES_
#undef HAS_RUNS_
#undef RUN_BYTES_
#undef RUNS_BYTES_
#undef RUN_OF_
#include "gemm_wq_block_end.h"
