/* c = epilogue(conv(a, b)) for few output channels, OC of a vector's LANES. k is vectorised, as it
 * is stored in a, and an output is the sum of its accumulator's lanes. b is packed as
 * [KH][TAPS_X][vectors of DEPTH][OC][LANES], zeros past DEPTH. A work item is UNIT_COLUMNS pixels
 * of a row of one image, PIXELS at a time. If pixels are contiguous in c, as with one channel, the
 * epilogue gets vectors of pixels: each of its operands is then one element, or one per pixel.
 */
#include "types.h"
#if DW == 1 && I_PIXEL == IC /* a kernel row is contiguous in a */
#define TAPS_X 1
#define DEPTH (KW * IC)
#else
#define TAPS_X KW
#define DEPTH IC
#endif
#define K_TAIL (DEPTH % LANES)
#define VECTORS_OF_(outputs) (((outputs) + LANES - 1) / LANES)
#define COLUMN_UNITS ((OW + UNIT_COLUMNS - 1) / UNIT_COLUMNS)

/* The sum of the lanes of each x[i], i < LANES, in lane i: repeatedly adds halves of two
   vectors. */
INLINE_ vec PASTE_(NAME, sums)(vec *x) {
#define ADD_HALVES_(count)                        \
  UNROLL for (int i = 0; i < (count); i++) x[i] = \
      INTERLEAVE_LOW_(x[i], x[i + (count)]) + INTERLEAVE_HIGH_(x[i], x[i + (count)])
#if LANES > 8
  ADD_HALVES_(8);
#endif
#if LANES > 4
  ADD_HALVES_(4);
#endif
  ADD_HALVES_(2);
  ADD_HALVES_(1);
#undef ADD_HALVES_
  return x[0];
}

/* The pixels from a on, outputs from element o of c on. */
INLINE_ void PASTE_(NAME, tile)(const A_T *a, const float *b, C_T *c, const void *const *e, long o,
                                const int pixels) {
  vec acc[VECTORS_OF_(PIXELS * OC) * LANES];
  (void)e;
  UNROLL for (int i = 0; i < VECTORS_OF_(PIXELS * OC) * LANES; i++) acc[i] = (vec){0};
  for (long ty = 0; ty < KH; ty++)
    for (long tx = 0; tx < TAPS_X; tx++) {
      const A_T *p = a + ty * DH * I_ROW + tx * DW * I_PIXEL;
#define STEP_(lanes)                                                                  \
  UNROLL for (int x = 0; x < pixels; x++) {                                           \
    const vec t = LOAD_A(p + x * SW * I_PIXEL, lanes);                                \
    UNROLL for (int j = 0; j < OC; j++) acc[x * OC + j] += t * loadu_(b + j * LANES); \
  }                                                                                   \
  b += OC * LANES
#if DEPTH >= LANES
      /* elements shared by neighbouring pixels are loaded again: kept in registers they would be
         spilled */
      ROLLED for (const A_T *end = p + DEPTH / LANES * LANES; p < end; p += LANES) { STEP_(LANES); }
#endif
#if K_TAIL
      STEP_(K_TAIL);
#endif
#undef STEP_
    }
#if OC == 1 && O_PIXEL == 1
  UNROLL for (int g = 0; g < VECTORS_OF_(pixels); g++) {
    const vec sums = PASTE_(NAME, sums)(acc + g * LANES);
    const long n = pixels - g * LANES < LANES ? pixels - g * LANES : LANES, at = o + g * LANES;
    (void)at;
    STORE_C(c + at, EPILOGUE(sums, at, 0, n), n);
  }
#else
  float sums[VECTORS_OF_(PIXELS * OC) * LANES];
  UNROLL for (int g = 0; g < VECTORS_OF_(pixels * OC); g++)
      storeu_(sums + g * LANES, PASTE_(NAME, sums)(acc + g * LANES));
  for (int x = 0; x < pixels; x++) {
    const long at = o + x * O_PIXEL;
    STORE_C(c + at, EPILOGUE(load_lanes_(sums + x * OC, OC), at, 0, OC), OC);
  }
#endif
}

void NAME(const void *a, const void *b, void *c, const void *const *e, void *scratch, long begin,
          long end) {
  (void)scratch;
  for (long u = begin; u < end; u++) {
    const long y = u / COLUMN_UNITS % OH, image = u / ((long)COLUMN_UNITS * OH);
    const A_T *row = (const A_T *)a + image * I_IMAGE + y * SH * I_ROW;
    const long o = image * O_IMAGE + y * O_ROW;
    long x = u % COLUMN_UNITS * UNIT_COLUMNS;
    const long last = x + UNIT_COLUMNS < OW ? x + UNIT_COLUMNS : OW;
    for (; x + PIXELS <= last; x += PIXELS)
      PASTE_(NAME, tile)(row + x * SW * I_PIXEL, b, c, e, o + x * O_PIXEL, PIXELS);
#if OW % PIXELS
    if (x < last) PASTE_(NAME, tile)(row + x * SW * I_PIXEL, b, c, e, o + x * O_PIXEL, OW % PIXELS);
#endif
  }
}
#undef TAPS_X
#undef DEPTH
#undef K_TAIL
#undef VECTORS_OF_
#undef COLUMN_UNITS
