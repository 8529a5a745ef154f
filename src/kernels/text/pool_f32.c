/* Max (MODE 0), average of valid (1) or average with padding (2) over windows, channels as lanes.
 * A unit is a block of UNIT_VECTORS channel vectors of one output row. A window that lies wholly
 * outside gives -inf (max) or 0. From defines(): UNIT_VECTORS, A_TYPE and C_TYPE
 * (ONNX numbers, f32 or bf16). */
#include "types.h"
#define UNIT_CHANNELS (UNIT_VECTORS * LANES)
#define CHANNEL_BLOCKS ((IC + UNIT_CHANNELS - 1) / UNIT_CHANNELS)

/* `vectors` channel vectors of one window: taps [top, bottom) x [left, right) from a. */
INLINE_ void PASTE_(NAME, window)(const A_T *a, C_T *c, const void *const *e, long top,
                                  long bottom, long left, long right, vec scale, long o, long j,
                                  long lanes, const int vectors) {
  (void)e, (void)j, (void)scale;
  vec acc[4];
  UNROLL for (int v = 0; v < vectors; v++) acc[v] = splat_(MODE == 0 ? -INFINITY : 0.0f);
  for (long ty = top; ty < bottom; ty++)
    for (long tx = left; tx < right; tx++) {
      const A_T *p = a + ty * DH * I_ROW + tx * DW * I_PIXEL;
      UNROLL for (int v = 0; v < vectors; v++) {
        vec x = LOAD_A(p + v * LANES, lanes);
        acc[v] = MODE == 0 ? max_(acc[v], x) : acc[v] + x;
      }
    }
  UNROLL for (int v = 0; v < vectors; v++) {
    vec x = MODE == 0 ? acc[v] : acc[v] / scale;
#if HAS_EPILOGUE
    x = EPILOGUE(x, (o + v * LANES), (j + v * LANES), lanes);
#endif
    STORE_C(c + o + v * LANES, x, lanes);
  }
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const A_T *a = a_;
  C_T *c = c_;
  (void)b_, (void)scratch;
  for (long u = begin; u < end; u++) {
    const long channel = u % CHANNEL_BLOCKS * UNIT_CHANNELS, row = u / CHANNEL_BLOCKS;
    const long last = channel + UNIT_CHANNELS < IC ? channel + UNIT_CHANNELS : IC;
    const long image = row / OH, y = row % OH, first_y = y * SH - PT;
    long top = 0, bottom = KH;
    while (top < KH && first_y + top * DH < 0) top++;
    while (bottom > top && first_y + (bottom - 1) * DH >= IH) bottom--;
    for (long x = 0; x < OW; x++) {
      const long first_x = x * SW - PL;
      long left = 0, right = KW;
      while (left < KW && first_x + left * DW < 0) left++;
      while (right > left && first_x + (right - 1) * DW >= IW) right--;
      const long valid = (bottom - top) * (right - left);
      const vec scale = splat_((float)(MODE == 2 ? (long)KH * KW : valid > 0 ? valid : 1));
      const A_T *p = a + image * I_IMAGE + first_y * I_ROW + first_x * I_PIXEL;
      const long o = image * O_IMAGE + y * O_ROW + x * O_PIXEL;
      long j = channel;
      for (; j + 4 * LANES <= last; j += 4 * LANES)
        PASTE_(NAME, window)(p + j, c, e, top, bottom, left, right, scale, o + j, j, LANES, 4);
      for (; j + LANES <= last; j += LANES)
        PASTE_(NAME, window)(p + j, c, e, top, bottom, left, right, scale, o + j, j, LANES, 1);
      if (j < last)
        PASTE_(NAME, window)(p + j, c, e, top, bottom, left, right, scale, o + j, j, last - j, 1);
    }
  }
}
#undef UNIT_CHANNELS
#undef CHANNEL_BLOCKS
