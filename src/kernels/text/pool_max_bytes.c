/* The largest byte of each window, channels as lanes of one byte. A_TYPE: 2 unsigned, 3 signed. A unit
 * is a block of UNIT_VECTORS * LANES channels of one output row. A window that lies wholly outside
 * gives the least value. */
#define UNIT_CHANNELS (UNIT_VECTORS * LANES)
#define CHANNEL_BLOCKS ((IC + UNIT_CHANNELS - 1) / UNIT_CHANNELS)
#include "types.h"
#define LEAST (A_TYPE == 2 ? 0 : -128)
#if LANES > 1
typedef A_T PASTE_(NAME, wide) __attribute__((vector_size(HONE_VECTOR_BYTES), aligned(1), may_alias));
typedef A_T PASTE_(NAME, few) __attribute__((vector_size(16), aligned(1), may_alias));

/* Channels [j, last) in vectors of type V: taps [top, bottom) x [left, right) from a. */
#define CHANNELS_(V)                                                                      \
  for (; j + (long)sizeof(V) <= last; j += (long)sizeof(V)) {                             \
    V most = (V){0} + (A_T)LEAST;                                                         \
    for (long ty = top; ty < bottom; ty++)                                                \
      for (long tx = left; tx < right; tx++) {                                            \
        const V x = *(const V *)(p + ty * DH * I_ROW + tx * DW * I_PIXEL + j);            \
        const V above = (V)(x > most);                                                    \
        most = (x & above) | (most & ~above);                                             \
      }                                                                                   \
    *(V *)(c + o + j) = most;                                                             \
  }
#else
#define CHANNELS_(V)
#endif

INLINE_ void PASTE_(NAME, window)(const A_T *p, A_T *c, long top, long bottom, long left,
                                  long right, long o, long j, long last) {
  CHANNELS_(PASTE_(NAME, wide))
#if HONE_VECTOR_BYTES > 16
  CHANNELS_(PASTE_(NAME, few))
#endif
  for (; j < last; j++) {
    A_T most = LEAST;
    for (long ty = top; ty < bottom; ty++)
      for (long tx = left; tx < right; tx++) {
        const A_T x = p[ty * DH * I_ROW + tx * DW * I_PIXEL + j];
        most = x > most ? x : most;
      }
    c[o + j] = most;
  }
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const A_T *a = a_;
  A_T *c = c_;
  (void)b_, (void)e, (void)scratch;
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
      PASTE_(NAME, window)(a + image * I_IMAGE + first_y * I_ROW + first_x * I_PIXEL, c, top, bottom,
                           left, right, image * O_IMAGE + y * O_ROW + x * O_PIXEL, channel, last);
    }
  }
}
#undef UNIT_CHANNELS
#undef CHANNEL_BLOCKS
#undef LEAST
#undef CHANNELS_
