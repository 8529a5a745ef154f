/* Int8 depthwise convolution by dot products down the window. A lane is a channel; its four bytes
 * are taps of four rows (fewer at the end, with zero weights), read as 16 channels of each row and
 * transposed by one permutation. A column of taps is made once for all outputs that use it. b is
 * packed as [channel vector][KW][GROUPS_][LANES][4]; if the channels end within a vector, the last
 * vector overlaps the one before. Elements outside the image are A_ZERO: whole columns are set to
 * it, and for rows their weights move into the initial sums. A work item is one output row of one
 * image.
 *
 * a is unsigned; a signed a is computed as a + 128 (kernel_signed_shift). From defines(): A_TYPE
 * C_TYPE CHANNELS (at a time), BLOCK (columns of the wide blocks), BLOCKS (per row), WIDE_BLOCKS
 * (the others have one column less).
 */
#include "types.h"
#define GROUPS_ ((KH + 3) / 4)
#define SPAN(columns) (((columns) - 1) * SW + (KW - 1) * DW + 1) /* input columns of a block */
#if A_TYPE == 3
#define FLIP(x) flip_(x)
#else
#define FLIP(x) (x)
#endif
#if HAS_EPILOGUE
#define RESULT(x, o, j, lanes) EPILOGUE_AT(x, o, j, lanes)
#define COLUMN(j, lanes) EPILOGUE_COLUMN(j, lanes)
#elif C_TYPE == 1 || C_TYPE == 16
#define RESULT(x, o, j, lanes) floats_(x)
#define COLUMN(j, lanes)
#else
#define RESULT(x, o, j, lanes) (x)
#define COLUMN(j, lanes)
#endif
#define OUTSIDE_ FLIP(splati_((int32_t)(((uint32_t)(A_ZERO) & 255) * 0x01010101u)))

/* Shared by the blocks of one row: the rows of taps; rows outside the image are replaced. */
struct PASTE_(NAME, row) {
  const A_T *rows[KH];
  veci inside[GROUPS_]; /* all ones in the bytes of rows inside the image */
};
typedef A_T PASTE_(NAME, quarter) __attribute__((vector_size(16), aligned(1), may_alias));

/* Four rows of taps from g * 4 on for 16 channels, at `offset` in each row. */
INLINE_ veci PASTE_(NAME, taps)(const struct PASTE_(NAME, row) *r, const int g, long offset) {
  const veci lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const veci turn = lane * 0x01010101 + 0x30201000; /* bytes lane, 16 + lane, 32 + lane, 48 + lane */
  veci t;
#define QUARTER_(y) (*(const PASTE_(NAME, quarter) *)(r->rows[g * 4 + (y)] + offset))
#define INSERT_(y) \
  if (g * 4 + y < KH) __asm__("vinserti32x4 $" #y ", %1, %0, %0" : "+v"(t) : "m"(QUARTER_(y)))
  __asm__("vbroadcasti32x4 %1, %0" : "=v"(t) : "m"(QUARTER_(0)));
  INSERT_(1);
  INSERT_(2);
  INSERT_(3);
  __asm__("vpermb %0, %1, %0" : "+v"(t) : "v"(turn));
#undef QUARTER_
#undef INSERT_
  return FLIP(t);
}

/* `columns` outputs of 16 channels from j on, at element o, from the input column `left`; w:
   weights inside the image, first: initial sums; checked: some input columns are outside. */
INLINE_ void PASTE_(NAME, block)(const struct PASTE_(NAME, row) *r, veci w[KW][GROUPS_],
                                 const veci first, C_T *c, const void *const *e, long left, long o,
                                 long j, const int columns, const int checked) {
  (void)e, (void)j;
  veci acc[BLOCK];
  UNROLL for (int x = 0; x < columns; x++) acc[x] = first;
  UNROLL for (int i = 0; i < SPAN(columns); i++) {
    veci t[GROUPS_];
    const int is_outside = checked && (left + i < 0 || left + i >= IW);
    UNROLL for (int g = 0; g < GROUPS_; g++)
      t[g] = is_outside ? OUTSIDE_ : PASTE_(NAME, taps)(r, g, (left + i) * I_PIXEL + j);
    UNROLL for (int tx = 0; tx < KW; tx++) {
      const int at = i - tx * DW;
      if (at < 0 || at % SW || at / SW >= columns) continue;
      UNROLL for (int g = 0; g < GROUPS_; g++)
        acc[at / SW] = dot_bytes_(acc[at / SW], t[g], w[tx][g]);
    }
  }
  /* All results are computed before any is stored: operands per column are read once. */
  RESULT_T result[BLOCK];
  COLUMN(j, LANES)
  UNROLL for (int x = 0; x < columns; x++)
    result[x] = RESULT(acc[x], (o + x * O_PIXEL), j, LANES);
#ifdef STORE_TWO
  const int twos = columns / 2 * 2;
  UNROLL for (int x = 0; x < twos; x += 2)
    STORE_TWO(c + o + x * O_PIXEL, result[x], c + o + (x + 1) * O_PIXEL, result[x + 1])
#else
  const int twos = 0;
#endif
  UNROLL for (int x = twos; x < columns; x++) STORE_C(c + o + x * O_PIXEL, result[x], LANES);
}

/* 16 channels from j on of a row, first element at o; b: their weights. */
INLINE_ void PASTE_(NAME, channels)(const struct PASTE_(NAME, row) *r, const int32_t *b, C_T *c,
                                    const void *const *e, long o, long j) {
  veci w[KW][GROUPS_], first = FIRST_SUMS(j, LANES);
  UNROLL for (int tx = 0; tx < KW; tx++)
    UNROLL for (int g = 0; g < GROUPS_; g++) {
      const veci all = load_panel_(b + (tx * GROUPS_ + g) * LANES);
      w[tx][g] = all & r->inside[g];
      first = dot_bytes_(first, OUTSIDE_, all & ~r->inside[g]);
    }
#define BLOCK_(columns)                                                                  \
  {                                                                                      \
    const long left = x * SW - PL, at = o + x * O_PIXEL;                                 \
    if (left < 0 || left + SPAN(columns) > IW)                                           \
      PASTE_(NAME, block)(r, w, first, c, e, left, at, j, (columns), 1);                 \
    else                                                                                 \
      PASTE_(NAME, block)(r, w, first, c, e, left, at, j, (columns), 0);                 \
    x += (columns);                                                                      \
  }
  long x = 0;
  for (int block = 0; block < WIDE_BLOCKS; block++) BLOCK_(BLOCK)
#if WIDE_BLOCKS < BLOCKS
  for (int block = WIDE_BLOCKS; block < BLOCKS; block++) BLOCK_(BLOCK - 1)
#endif
#undef BLOCK_
}

/* Row y of an image at a. */
INLINE_ struct PASTE_(NAME, row) PASTE_(NAME, rows)(const A_T *a, long y) {
  struct PASTE_(NAME, row) r;
  UNROLL for (int g = 0; g < GROUPS_; g++) r.inside[g] = (veci){0};
  UNROLL for (int ty = 0; ty < KH; ty++) {
    const long at = y * SH - PT + ty * DH;
    const int is_inside = at >= 0 && at < IH;
    r.rows[ty] = a + (at < 0 ? 0 : at < IH ? at : IH - 1) * I_ROW;
    r.inside[ty / 4] |= splati_(is_inside ? (int32_t)(0xffu << ty % 4 * 8) : 0);
  }
  return r;
}

/* Few channels at a time, so that the input rows of one output row are still in L1 for the next. */
void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const A_T *a = a_;
  const int32_t *b = b_;
  C_T *c = c_;
  (void)scratch;
  for (long channel = 0; channel < IC; channel += CHANNELS) {
    const long last = channel + CHANNELS < IC ? channel + CHANNELS : IC;
    for (long u = begin; u < end; u++) {
      const long image = u / OH, y = u % OH, o = image * O_IMAGE + y * O_ROW;
      const struct PASTE_(NAME, row) r = PASTE_(NAME, rows)(a + image * I_IMAGE, y);
      for (long v = channel; v < last; v += LANES) {
        const long j = v + LANES <= IC ? v : IC - LANES;
        PASTE_(NAME, channels)(&r, b + v * KW * GROUPS_, c, e, o + j, j);
      }
    }
  }
}
#undef GROUPS_
#undef SPAN
#undef FLIP
#undef RESULT
#undef COLUMN
#undef OUTSIDE_
