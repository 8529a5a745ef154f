/* c[r, j] = reduce over k < K of a[r, k, j], j < COLUMNS. MODE 0 sum, 1 mean, 2 max, 3 min, 4
 * product, 5 variance of all K, in two passes; a NaN gives NaN. A work item is UNIT_COLUMNS columns
 * of one row; one column of contiguous elements is reduced along the lanes in four accumulators
 * (LINES). From defines(): A_TYPE and C_TYPE (ONNX numbers, f32 or bf16), MODE, WIDE (four vectors
 * of columns at a time), and the sizes, which may be read at run time unless LINES.
 */
#include "types.h"
#define COLUMN_BLOCKS ((COLUMNS + UNIT_COLUMNS - 1) / UNIT_COLUMNS)
#define START splat_(MODE == 2 ? -INFINITY : MODE == 3 ? INFINITY : MODE == 4 ? 1.0f : 0.0f)
#define JOIN(x, y) \
  (MODE == 2 ? max_((x), (y)) : MODE == 3 ? min_((x), (y)) : MODE == 4 ? (x) * (y) : (x) + (y))

/* The term of an element: in a variance's second pass, the square of its distance from the mean. */
#define TERM(t, mean) (squares ? ((t) - (mean)) * ((t) - (mean)) : (t))

#if LINES
INLINE_ vec PASTE_(NAME, row)(const A_T *x, const vec mean, const int squares) {
  vec acc[4];
  (void)mean, (void)squares;
  UNROLL for (int i = 0; i < 4; i++) acc[i] = START;
  long k = 0;
  for (; k + 4 * LANES <= K; k += 4 * LANES)
    UNROLL for (int i = 0; i < 4; i++) acc[i] =
        JOIN(acc[i], TERM(LOAD_A(x + k + i * LANES, LANES), mean));
  for (; k + LANES <= K; k += LANES) acc[0] = JOIN(acc[0], TERM(LOAD_A(x + k, LANES), mean));
#if K % LANES
  acc[1] = JOIN(acc[1], fill_lanes_(TERM(LOAD_A(x + k, K % LANES), mean), K % LANES, START));
#endif
  const vec pair = JOIN(acc[0], acc[1]), other = JOIN(acc[2], acc[3]), all = JOIN(pair, other);
  vec result = all;
  JOIN_LANES_(result, JOIN);
  return result;
}
#else
/* Sums of `vectors` vectors of columns; a single vector in four accumulators, to hide the
   latency of the addition. */
INLINE_ void PASTE_(NAME, rows)(const A_T *x, const void *const *e, const vec *mean, vec *sums,
                                const int vectors, long lanes, const int squares) {
  const long stride = R_STRIDE, last = K;
  long k = 0;
  vec acc[4];
  (void)e, (void)mean, (void)squares;
  UNROLL for (int v = 0; v < 4; v++) acc[v] = START;
  if (vectors == 1)
    for (; k + 4 <= last; k += 4, x += 4 * stride)
      UNROLL for (int i = 0; i < 4; i++) acc[i] =
          JOIN(acc[i], TERM(LOAD_A(x + i * stride, lanes), mean[0]));
  for (; k < last; k++, x += stride)
    UNROLL for (int v = 0; v < vectors; v++) acc[v] =
        JOIN(acc[v], TERM(LOAD_A(x + v * LANES, lanes), mean[v]));
  if (vectors == 1) {
    const vec pair = JOIN(acc[0], acc[1]), other = JOIN(acc[2], acc[3]);
    acc[0] = JOIN(pair, other);
  }
  UNROLL for (int v = 0; v < vectors; v++) sums[v] = acc[v];
}
#endif

/* Columns of `vectors` vectors; lanes: valid in the last. */
INLINE_ void PASTE_(NAME, columns)(const A_T *x, C_T *c, const void *const *e, long o, long j,
                                   const int vectors, long lanes) {
  (void)e, (void)j;
  vec acc[4], mean[4] = {0};
#if LINES
#define SUM_(squares) acc[0] = PASTE_(NAME, row)(x, mean[0], squares)
#else
#define SUM_(squares) PASTE_(NAME, rows)(x, e, mean, acc, vectors, lanes, squares)
#endif
  SUM_(0);
#if MODE == 5
  UNROLL for (int v = 0; v < vectors; v++) mean[v] = acc[v] / splat_((float)K);
  SUM_(1);
#endif
#undef SUM_
  UNROLL for (int v = 0; v < vectors; v++) {
    vec t = MODE == 1 || MODE == 5 ? acc[v] / splat_((float)K) : acc[v];
#if HAS_EPILOGUE
    t = EPILOGUE(t, (o + v * LANES), (j + v * LANES), lanes);
#endif
    STORE_C(c + o + v * LANES, t, lanes);
  }
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch, long begin,
          long end) {
  const A_T *a = a_;
  C_T *c = c_;
  (void)b_, (void)scratch;
  for (long u = begin; u < end; u++) {
    const long r = u / COLUMN_BLOCKS, first = u % COLUMN_BLOCKS * UNIT_COLUMNS;
    const long last = first + UNIT_COLUMNS < COLUMNS ? first + UNIT_COLUMNS : COLUMNS;
    const A_T *x = a + r * I_STRIDE;
    const long o = r * O_STRIDE;
    long j = first;
#if WIDE
    for (; j + 4 * LANES <= last; j += 4 * LANES)
      PASTE_(NAME, columns)(x + j, c, e, o + j, j, 4, LANES);
#endif
    for (; j + LANES <= last; j += LANES) PASTE_(NAME, columns)(x + j, c, e, o + j, j, 1, LANES);
    if (j < last) PASTE_(NAME, columns)(x + j, c, e, o + j, j, 1, last - j);
  }
}
#undef COLUMN_BLOCKS
#undef START
#undef JOIN
#undef TERM
