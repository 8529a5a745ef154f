/* Depthwise convolution: channels are lanes, blocks of output columns stay in registers, a row of
 * taps reads each input vector once. Padding is handled here: rows are clipped, columns outside
 * count as zero. b is packed as [channel vector][KH][KW][LANES], zero-padded. A work item is one
 * output row of one image. Int8 elements of a are converted to floats and A_ZERO subtracted when
 * read; sums of int8 products are exact in a float. Literals are the window (KH KW SH SW DH DW), PL
 * and PR (columns outside on the left and on the right), A_ZERO and, from defines(), A_TYPE C_TYPE,
 * BLOCK (columns of the wide blocks), NARROW (1: some blocks have one column less), TAIL (channels
 * after the last whole vector). Sizes may be read at run time, so that layers that differ only in
 * them are one function: the problem's sizes, CHANNELS (at a time), BLOCKS (per row), WIDE_BLOCKS.
 */
#include "types.h"
#if A_TYPE == 2 || A_TYPE == 3
#define LOAD(p, lanes) (LOAD_A(p, lanes) - splat_((float)A_ZERO))
#else
#define LOAD LOAD_A
#endif
#if HAS_EPILOGUE
#define RESULT(x, o, j, lanes) EPILOGUE_AT(x, o, j, lanes)
#define COLUMN(j, lanes) EPILOGUE_COLUMN(j, lanes)
#elif C_TYPE == 1 || C_TYPE == 10 || C_TYPE == 16
#define RESULT(x, o, j, lanes) (x)
#define COLUMN(j, lanes)
#else
#define RESULT(x, o, j, lanes) integers_(x)
#define COLUMN(j, lanes)
#endif
#define SPAN(columns) (((columns) - 1) * SW + (KW - 1) * DW + 1) /* input columns of a block */
/* True if input column i of such a block is outside the image: only the first and the last few
   can be. */
#define IS_OUTSIDE(i, columns) \
  (((i) < PL && left + (i) < 0) || ((i) >= SPAN(columns) - PR && left + (i) >= s->width))

/* One row of outputs with the taps [top, bottom). */
struct PASTE_(NAME, line) {
  const A_T *a;
  C_T *c;
  const float *b;
  const void *const *e;
  long top, bottom, last;             /* end of the channels */
  long width, i_row, i_pixel, o_pixel; /* sizes, read once */
};

/* `columns` outputs at element o, of the channels from j on, from the input column `left`;
   lanes: valid channels. */
INLINE_ void PASTE_(NAME, block)(const struct PASTE_(NAME, line) *s, long left, long o, long j,
                                 const int columns, const long lanes) {
  const void *const *e = s->e;
  C_T *c = s->c + o;
  (void)e;
  vec acc[BLOCK];
  UNROLL for (int x = 0; x < columns; x++) acc[x] = (vec){0};
  for (long ty = s->top; ty < s->bottom; ty++) {
    const A_T *row = s->a + j + ty * DH * s->i_row + left * s->i_pixel;
    const float *w = s->b + (j * KH + ty * LANES) * KW;
#if DW == 1 && KW <= 7
    vec in[SPAN(BLOCK)];
    UNROLL for (int i = 0; i < SPAN(columns); i++) {
      vec t = IS_OUTSIDE(i, columns) ? (vec){0} : LOAD(row + i % 4 * s->i_pixel, lanes);
      IN_REGISTER_(t);
      in[i] = t;
      if (i % 4 == 3) STEP_POINTER_(row, 4 * s->i_pixel);
    }
    UNROLL for (int tx = 0; tx < KW; tx++) {
      vec tap = loadu_(w + tx * LANES);
      UNROLL for (int x = 0; x < columns; x++) acc[x] += in[x * SW + tx] * tap;
    }
#else
    for (long tx = 0; tx < KW; tx++) {
      vec tap = loadu_(w + tx * LANES);
      UNROLL for (int x = 0; x < columns; x++) {
        const long i = x * SW + tx * DW;
        if (!IS_OUTSIDE(i, columns)) acc[x] += LOAD(row + i * s->i_pixel, lanes) * tap;
      }
    }
#endif
  }
  (void)j;
  /* All results are computed before any is stored: operands per column are read once. */
  RESULT_T result[BLOCK];
  COLUMN(j, lanes)
  UNROLL for (int x = 0; x < columns; x++)
    result[x] = RESULT(acc[x], (o + x * s->o_pixel), j, lanes);
#ifdef STORE_TWO
  const int twos = lanes < LANES ? 0 : columns / 2 * 2;
  UNROLL for (int x = 0; x < twos; x += 2)
    STORE_TWO(c + x * s->o_pixel, result[x], c + (x + 1) * s->o_pixel, result[x + 1])
  UNROLL for (int x = twos; x < columns; x++) STORE_C(c + x * s->o_pixel, result[x], lanes);
#else
  UNROLL for (int x = 0; x < columns; x++) {
    STORE_C(c + x % 4 * s->o_pixel, result[x], lanes);
    if (x % 4 == 3) STEP_POINTER_(c, 4 * s->o_pixel);
  }
#endif
}

/* The channels from j on of one block of columns. */
INLINE_ void PASTE_(NAME, channels)(const struct PASTE_(NAME, line) *s, long left, long o, long j,
                                    const int columns) {
  for (; j + LANES <= s->last; j += LANES)
    PASTE_(NAME, block)(s, left, o + j, j, columns, LANES);
#if TAIL
  if (j < s->last) PASTE_(NAME, block)(s, left, o + j, j, columns, TAIL);
#endif
}

/* The channels from `channel` on of one output row. */
static void PASTE_(NAME, row)(struct PASTE_(NAME, line) *line, const A_T *a, long u, long channel) {
  const void *const *e = line->e;
  (void)e;
  const long height = IH, image = u / OH, y = u % OH;
  const long first = y * SH - PT; /* input row of the first tap */
  struct PASTE_(NAME, line) s = *line;
  for (s.top = 0; s.top < KH && first + s.top * DH < 0;) s.top++;
  for (s.bottom = KH; s.bottom > s.top && first + (s.bottom - 1) * DH >= height;) s.bottom--;
  s.a = a + image * I_IMAGE + first * s.i_row;
  const long o = image * O_IMAGE + y * O_ROW, blocks = BLOCKS, wide = WIDE_BLOCKS;
  (void)wide;
  long x = 0;
  for (long block = 0; block < blocks; block++) {
#if NARROW
    if (block >= wide) {
      PASTE_(NAME, channels)(&s, x * SW - PL, o + x * s.o_pixel, channel, BLOCK - 1);
      x += BLOCK - 1;
      continue;
    }
#endif
    PASTE_(NAME, channels)(&s, x * SW - PL, o + x * s.o_pixel, channel, BLOCK);
    x += BLOCK;
  }
}

/* Few channels at a time, so that the input rows of one output row are still in L1 for the next. */
void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const long all = IC, some = CHANNELS;
  struct PASTE_(NAME, line) s = {.c = c_, .b = b_, .e = e};
  s.width = IW, s.i_row = I_ROW, s.i_pixel = I_PIXEL, s.o_pixel = O_PIXEL;
  (void)scratch;
  for (long channel = 0; channel < all; channel += some) {
    s.last = channel + some < all ? channel + some : all;
    for (long u = begin; u < end; u++) PASTE_(NAME, row)(&s, a_, u, channel);
  }
}
#undef LOAD
#undef RESULT
#undef COLUMN
#undef SPAN
#undef IS_OUTSIDE
