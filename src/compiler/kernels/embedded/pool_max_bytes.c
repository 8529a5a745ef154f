/* The largest int8 of each window; channels are lanes of one byte. A_TYPE: 2 unsigned, 3 signed. A
 * window completely outside gives the least value.
 */
#include "types.h"
#define LEAST ((A_T)(A_TYPE == 2 ? 0 : -128))
#if LANES > 1
typedef A_T PASTE_(NAME, wide) __attribute__((vector_size(HONE_VECTOR_BYTES), aligned(1), may_alias));
typedef A_T PASTE_(NAME, few) __attribute__((vector_size(16), aligned(1), may_alias));

/* Channels [j, last) in vectors of type V. */
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

INLINE_ void PASTE_(NAME, channels)(const A_T *p, C_T *c, const void *const *e, long top,
                                    long bottom, long left, long right, long o, long j,
                                    long last) {
  (void)e;
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

#include "pool_walk.h"
#undef LEAST
#undef CHANNELS_
