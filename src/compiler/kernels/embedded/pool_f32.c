/* Max (MODE 0), average of valid elements (1) or average including padding (2) over windows;
 * channels are lanes. A window completely outside gives -inf (max) or 0. A_TYPE, C_TYPE: ONNX
 * numbers, f32 or bf16.
 */
#include "types.h"

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

INLINE_ void PASTE_(NAME, channels)(const A_T *p, C_T *c, const void *const *e, long top,
                                    long bottom, long left, long right, long o, long j,
                                    long last) {
  const long valid = (bottom - top) * (right - left);
  const vec scale = splat_((float)(MODE == 2 ? (long)KH * KW : valid > 0 ? valid : 1));
  for (; j + 4 * LANES <= last; j += 4 * LANES)
    PASTE_(NAME, window)(p + j, c, e, top, bottom, left, right, scale, o + j, j, LANES, 4);
  for (; j + LANES <= last; j += LANES)
    PASTE_(NAME, window)(p + j, c, e, top, bottom, left, right, scale, o + j, j, LANES, 1);
  if (j < last)
    PASTE_(NAME, window)(p + j, c, e, top, bottom, left, right, scale, o + j, j, last - j, 1);
}

#include "pool_walk.h"
