/* One filter a channel: channels are lanes, blocks of output columns stay in registers, a row of taps
 * reads each input vector once. Padding is inside: rows are clipped, columns outside count as zero.
 * b is packed [channel vector][KH][KW][LANES], zero-padded. A unit is one output row of one image.
 * Bytes of a are floats less A_ZERO as soon as they are read; sums of bytes are exact in a float.
 * From defines(): A_TYPE C_TYPE CHANNELS (at a time), BLOCK (columns of the wide blocks), BLOCKS (in a row),
 * WIDE_BLOCKS (the others have one column less). */
#define TAIL (IC % LANES)
#include "types.h"
#if A_TYPE == 2 || A_TYPE == 3
#define LOAD(p, lanes) (LOAD_A(p, lanes) - splat_((float)A_ZERO))
#else
#define LOAD LOAD_A
#endif
#if HAS_EPILOGUE
#define RESULT(x, o, j, lanes) EPILOGUE_AT(x, o, j, lanes)
#define COLUMN(j, lanes) EPILOGUE_COLUMN(j, lanes)
#elif C_TYPE == 1 || C_TYPE == 16
#define RESULT(x, o, j, lanes) (x)
#define COLUMN(j, lanes)
#else
#define RESULT(x, o, j, lanes) integers_(x)
#define COLUMN(j, lanes)
#endif
/* Every block of columns reaches over the left or the right edge of the image. */
#define BEYOND_RIGHT ((OW - 1) * SW + (KW - 1) * DW + 1 - PL > IW)
#define ONLY_EDGES \
  ((BLOCKS == 1 && (PL > 0 || BEYOND_RIGHT)) || (BLOCKS == 2 && PL > 0 && BEYOND_RIGHT))
#define SPAN(columns) (((columns) - 1) * SW + (KW - 1) * DW + 1) /* input columns of a block */

/* `columns` outputs at element o from the input column `left` of the rows that taps [top, bottom)
   reach; lanes: valid channels; checked: some input columns lie outside. */
INLINE_ void PASTE_(NAME, block)(const A_T *a, const float *b, C_T *c, const void *const *e,
                                 long left, long top, long bottom, long o, long j, const int columns,
                                 const long lanes, const int checked) {
  (void)e;
  vec acc[BLOCK];
  UNROLL for (int x = 0; x < columns; x++) acc[x] = (vec){0};
  for (long ty = top; ty < bottom; ty++) {
    const A_T *row = a + ty * DH * I_ROW + left * I_PIXEL;
    const float *w = b + ty * KW * LANES;
#if DW == 1 && KW <= 7
    vec in[SPAN(BLOCK)];
    UNROLL for (int i = 0; i < SPAN(columns); i++) {
      in[i] = checked && (left + i < 0 || left + i >= IW) ? (vec){0}
                                                          : LOAD(row + i * I_PIXEL, lanes);
      IN_REGISTER_(in[i]);
    }
    UNROLL for (int tx = 0; tx < KW; tx++) {
      vec tap = loadu_(w + tx * LANES);
      UNROLL for (int x = 0; x < columns; x++) acc[x] += in[x * SW + tx] * tap;
    }
#else
    for (long tx = 0; tx < KW; tx++) {
      vec tap = loadu_(w + tx * LANES);
      UNROLL for (int x = 0; x < columns; x++) {
        const long at = left + x * SW + tx * DW;
        if (!checked || (at >= 0 && at < IW))
          acc[x] += LOAD(row + (x * SW + tx * DW) * I_PIXEL, lanes) * tap;
      }
    }
#endif
  }
  (void)j;
  /* All results before one is stored: operands of columns are read once. */
  RESULT_T result[BLOCK];
  COLUMN(j, lanes)
  UNROLL for (int x = 0; x < columns; x++)
    result[x] = RESULT(acc[x], (o + x * O_PIXEL), j, lanes);
#ifdef STORE_TWO
  const int twos = lanes < LANES ? 0 : columns / 2 * 2;
  UNROLL for (int x = 0; x < twos; x += 2)
    STORE_TWO(c + o + x * O_PIXEL, result[x], c + o + (x + 1) * O_PIXEL, result[x + 1])
#else
  const int twos = 0;
#endif
  UNROLL for (int x = twos; x < columns; x++) STORE_C(c + o + x * O_PIXEL, result[x], lanes);
}

/* Channels [j, last) of one block of columns. */
INLINE_ void PASTE_(NAME, channels)(const A_T *a, const float *b, C_T *c,
                                    const void *const *e, long left, long top, long bottom, long o,
                                    long j, long last, const int columns) {
#if !ONLY_EDGES
  const int checked = left < 0 || left + SPAN(columns) > IW;
#endif
#define BLOCK_(lanes, checked)                                                                     \
  PASTE_(NAME, block)(a + j, b + j * KH * KW, c, e, left, top, bottom, o + j, j, columns, (lanes), \
                      (checked))
#if !ONLY_EDGES
  if (!checked)
    for (; j + LANES <= last; j += LANES) BLOCK_(LANES, 0);
#endif
  for (; j + LANES <= last; j += LANES) BLOCK_(LANES, 1);
#if TAIL
  if (j < last) BLOCK_(TAIL, 1);
#endif
#undef BLOCK_
}

/* Channels [channel, last) of one output row. */
static void PASTE_(NAME, row)(const A_T *a, const float *b, C_T *c, const void *const *e,
                              long u, long channel, long last) {
  const long image = u / OH, y = u % OH, first = y * SH - PT; /* input row of the first tap */
  long top = 0, bottom = KH;
  while (top < KH && first + top * DH < 0) top++;
  while (bottom > top && first + (bottom - 1) * DH >= IH) bottom--;
  const A_T *rows = a + image * I_IMAGE + first * I_ROW;
  const long o = image * O_IMAGE + y * O_ROW;
  long x = 0;
  for (int block = 0; block < BLOCKS; block++)
#if WIDE_BLOCKS < BLOCKS
    if (block >= WIDE_BLOCKS) {
      PASTE_(NAME, channels)
      (rows, b, c, e, x * SW - PL, top, bottom, o + x * O_PIXEL, channel, last, BLOCK - 1);
      x += BLOCK - 1;
    } else
#endif
    {
      PASTE_(NAME, channels)
      (rows, b, c, e, x * SW - PL, top, bottom, o + x * O_PIXEL, channel, last, BLOCK);
      x += BLOCK;
    }
}

/* Few channels at a time, so that the input rows of one output row are still in L1 for the next. */
void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const A_T *a = a_;
  const float *b = b_;
  C_T *c = c_;
  (void)scratch;
  for (long channel = 0; channel < IC; channel += CHANNELS) {
    const long last = channel + CHANNELS < IC ? channel + CHANNELS : IC;
    for (long u = begin; u < end; u++) PASTE_(NAME, row)(a, b, c, e, u, channel, last);
  }
}
#undef TAIL
#undef LOAD
#undef RESULT
#undef COLUMN
#undef BEYOND_RIGHT
#undef ONLY_EDGES
#undef SPAN
