/* c = epilogue(a * b) with several elements of k in four bytes: int8 summed in int32 (K_STEP 4),
 * bf16 summed in float (K_STEP 2). The grid of pixels, panels and work items are those of grid.h. A
 * lane of b holds K_STEP elements of one column: [COLUMNS / NR][k / K_STEP][NR][K_STEP],
 * zero-padded. k is not split into blocks, so each result is stored once.
 *
 * Int8: a is unsigned; a signed a is computed as a + 128 (kernel_signed_shift), and the epilogue's
 * operands subtract 128 * (sum of the column) again in the initial sums: FIRST_SUMS(j, lanes).
 * A_TYPE, C_TYPE: ONNX numbers. EPILOGUE(x, o, j, lanes) makes from the sums x a vec, or a veci if
 * c has integers.
 */
#include "types.h"
#define B_T int32_t
#define NR (VECTORS * LANES)
#define DEPTH_GROUPS ((DEPTH + K_STEP - 1) / K_STEP)
#define BLOCK_GROUPS K_ALL
#include "grid.h"
#if K_STEP == 4
#define ACC veci
#define DOT dot_bytes_
#define FIRST(j, lanes) FIRST_SUMS(j, lanes)
#else
#define ACC vec
#define DOT dot_halves_
#define FIRST(j, lanes) splat_(0)
#endif
#if A_TYPE == 3
#define FLIP(x) flip_(x)
#else
#define FLIP(x) (x)
#endif
#if !HAS_EPILOGUE && K_STEP == 4 && (C_TYPE == 1 || C_TYPE == 16)
#define RESULT(x, o, j, lanes) floats_(x)
#else
#define RESULT(x, o, j, lanes) EPILOGUE(x, o, j, lanes)
#endif

/* One group of k in one set of accumulators; part: elements of k past the last whole group. For
   int8 they are read together with the elements before them, whose weights there are zeros. */
#if K_STEP == 4 && DEPTH > K_STEP
#define LOAD_PART_(q, part) load_group_((q) + (part) - K_STEP)
#else
#define LOAD_PART_(q, part) load_part_(q, (part) * (int)sizeof(A_T))
#endif
#if AHEAD && TILES == 1 /* each panel is read once: all panels are one stream */
#define FETCH_(p) PREFETCH_((p) + AHEAD)
#else
#define FETCH_(p) (void)(p)
#endif
#define GROUP_(u, at, part)                                                                    \
  {                                                                                            \
    veci w[VECTORS];                                                                           \
    UNROLL for (int v = 0; v < vectors; v++) {                                                 \
      w[v] = load_panel_(b + (u) * NR + v * LANES);                                            \
      FETCH_(b + (u) * NR + v * LANES);                                                        \
    }                                                                                          \
    UNROLL for (int y = 0; y < rows; y++)                                                      \
      UNROLL for (int x = 0; x < columns; x++) {                                               \
        const A_T *q = p + y * A_Y + x * A_X + (at);                                           \
        const veci t = FLIP((part) ? LOAD_PART_(q, part) : load_group_(q));                    \
        UNROLL for (int v = 0; v < vectors; v++) acc[u][y][x][v] = DOT(acc[u][y][x][v], t, w[v]); \
      }                                                                                        \
  }

/* The tile at a, its output at element o of c. */
INLINE_ void PASTE_(NAME, tile)(const struct PASTE_(NAME, panel) *s, const A_T *a, long o,
                                const int rows, const int columns, const int vectors,
                                const long lanes) {
  ACC acc[K_UNROLL][TILE_ROWS][TILE_COLUMNS][VECTORS];
  const void *const *e = s->e;
  (void)e;
  UNROLL for (int v = 0; v < vectors; v++) {
    const ACC first = FIRST(s->column + v * LANES, v == vectors - 1 ? lanes : LANES);
    UNROLL for (int u = 0; u < K_UNROLL; u++)
      UNROLL for (int y = 0; y < rows; y++)
        UNROLL for (int x = 0; x < columns; x++) acc[u][y][x][v] = u ? (ACC){0} : first;
  }
  const int32_t *b = s->b;
#if AHEAD && TILES > 1
  const int32_t *ahead = s->ahead;
#endif
  for (long ty = 0; ty < TAPS_Y; ty++)
    for (long tx = 0; tx < TAPS_X; tx++) {
      const A_T *p = a + ty * TAP_Y + tx * TAP_X;
      long k = 0;
      for (; k + K_STEP * K_UNROLL <= DEPTH; k += K_STEP * K_UNROLL, b += NR * K_UNROLL) {
#if AHEAD && TILES > 1
        PREFETCH_(ahead);
        ahead += AHEAD * K_UNROLL;
#endif
        UNROLL for (int u = 0; u < K_UNROLL; u++) GROUP_(u, k + u * K_STEP, 0)
      }
#if K_UNROLL > 1
      for (; k + K_STEP <= DEPTH; k += K_STEP, b += NR) GROUP_(0, k, 0)
#endif
#if DEPTH % K_STEP
      GROUP_(0, k, DEPTH % K_STEP)
      b += NR;
#endif
    }
  UNROLL for (int u = 1; u < K_UNROLL; u++)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) acc[0][y][x][v] += acc[u][y][x][v];
  /* All results are computed before any is stored: operands per column are read once. */
  RESULT_T result[TILE_ROWS][TILE_COLUMNS][VECTORS];
  UNROLL for (int v = 0; v < vectors; v++) {
    const long n = v == vectors - 1 ? lanes : LANES, j = s->column + v * LANES;
    (void)n, (void)j;
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        result[y][x][v] = RESULT(acc[0][y][x][v], (o + y * C_Y + x * C_X + v * LANES), j, n);
  }
#ifdef STORE_TWO /* adjacent vectors in a row of c, or two pixels */
  const int in_pairs = (vectors - (lanes < LANES)) / 2 * 2;
#else
  const int in_pairs = 0;
#endif
#define AT_(y, x, v) s->c + (o + (y) * C_Y + (x) * C_X + (v) * LANES)
#ifdef STORE_TWO
  const int by_two = columns / 2 * 2;
  UNROLL for (int y = 0; y < rows; y++)
    UNROLL for (int v = 0; v < in_pairs; v += 2) {
      UNROLL for (int x = 0; x < by_two; x += 2)
        STORE_FOUR(AT_(y, x, v), result[y][x][v], result[y][x][v + 1], AT_(y, x + 1, v),
                   result[y][x + 1][v], result[y][x + 1][v + 1])
      UNROLL for (int x = by_two; x < columns; x++)
        STORE_TWO(AT_(y, x, v), result[y][x][v], AT_(y, x, v + 1), result[y][x][v + 1])
    }
#endif
  UNROLL for (int v = in_pairs; v < vectors; v++) {
    const long n = v == vectors - 1 ? lanes : LANES;
    UNROLL for (int y = 0; y < rows; y++) {
#ifdef STORE_TWO
      const int twos = n < LANES ? 0 : columns / 2 * 2;
      UNROLL for (int x = 0; x < twos; x += 2)
        STORE_TWO(AT_(y, x, v), result[y][x][v], AT_(y, x + 1, v), result[y][x + 1][v])
#else
      const int twos = 0;
#endif
      UNROLL for (int x = twos; x < columns; x++) STORE_C(AT_(y, x, v), result[y][x][v], n);
    }
  }
#undef AT_
}

#define TILE(rows, columns) PASTE_(NAME, tile)(s, p, at, rows, columns, vectors, lanes)
#include "walk.h"
#undef ACC
#undef DOT
#undef FIRST
#undef FLIP
#undef RESULT
#undef GROUP_
#undef FETCH_
#undef LOAD_PART_
