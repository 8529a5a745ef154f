/* c = epilogue(a * b) for one pixel, b packed and stored as for gemm_f32.c: [COLUMNS_ALL /
 * NR][DEPTH_ALL][NR]. No address depends on a literal size, so sizes may be read at run time, and
 * all such matmuls of a model with the same VECTORS, K_UNROLL, AHEAD and epilogue are one function.
 * Sums are those of gemm_f32.c, in the same order. A work item is UNIT_PANELS panels.
 */
#include "types.h"
#include "stored.h"
#define NR (VECTORS * LANES)

/* The columns [j, j + vectors * LANES) of a panel; lanes: valid in the last vector. */
INLINE_ void PASTE_(NAME, columns)(const float *a, const B_T *b, C_T *c, const void *const *e,
                                   long depth, long j, const int vectors, long lanes) {
  vec acc[K_UNROLL][VECTORS];
  long k = 0;
#if AHEAD && B_TYPE == 1
  const B_T *ahead = b + depth * NR;
#endif
  (void)e;
  UNROLL for (int u = 0; u < K_UNROLL; u++)
    UNROLL for (int v = 0; v < vectors; v++) acc[u][v] = (vec){0};
  for (; k + K_UNROLL <= depth; k += K_UNROLL, b += NR * K_UNROLL) {
#if AHEAD && B_TYPE == 1
    PREFETCH_(ahead);
    ahead += AHEAD * K_UNROLL;
#elif AHEAD /* one stream */
    UNROLL for (int v = 0; v < K_UNROLL * vectors; v++) PREFETCH_(b + 2 * AHEAD + v * LANES);
#endif
    UNROLL for (int u = 0; u < K_UNROLL; u++) {
      const float t = a[k + u];
      UNROLL for (int v = 0; v < vectors; v++) acc[u][v] += t * LOAD_B(b + u * NR + v * LANES);
    }
  }
#if K_UNROLL > 1
  for (; k < depth; k++, b += NR) {
    const float t = a[k];
    UNROLL for (int v = 0; v < vectors; v++) acc[0][v] += t * LOAD_B(b + v * LANES);
  }
#endif
  UNROLL for (int u = 1; u < K_UNROLL; u++)
    UNROLL for (int v = 0; v < vectors; v++) acc[0][v] += acc[u][v];
  UNROLL for (int v = 0; v < vectors; v++) {
    const long n = v == vectors - 1 ? lanes : LANES, at = j + v * LANES;
    acc[0][v] = EPILOGUE(acc[0][v], at, at, n);
    (void)n, (void)at;
  }
  UNROLL for (int v = 0; v < vectors; v++)
    STORE_C(c + j + v * LANES, acc[0][v], v == vectors - 1 ? lanes : LANES);
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const long depth = DEPTH_ALL, columns = COLUMNS_ALL, panels = (columns + NR - 1) / NR;
  const long first = begin * UNIT_PANELS, last = end * UNIT_PANELS < panels ? end * UNIT_PANELS : panels;
  (void)scratch;
  for (long panel = first; panel < last; panel++) {
    const B_T *b = (const B_T *)b_ + panel * depth * NR;
    long j = panel * NR;
    if (j + NR <= columns)
      PASTE_(NAME, columns)(a_, b, c_, e, depth, j, VECTORS, LANES);
    else /* a vector at a time: nothing is computed past the last one */
      for (; j < columns; j += LANES, b += LANES)
        PASTE_(NAME, columns)
        (a_, b, c_, e, depth, j, 1, columns - j < LANES ? columns - j : LANES);
  }
}
#undef NR
#undef B_T
