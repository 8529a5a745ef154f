/* c = epilogue(a * b): matmuls, and convolutions as implicit matmuls, on one register tile. b may
 * be stored in 16 bits; it is widened to floats. c may be stored in 16 bits if k is not split into
 * blocks.
 */
#include "types.h"
#include "stored.h"
#define NR (VECTORS * LANES)
#define DEPTH_GROUPS DEPTH
#define BLOCK_GROUPS (BLOCK_TAPS * TAPS_X * BLOCK_DEPTH)
#include "grid.h"
/* Each panel is read once: all panels are one stream. */
#define STREAMS (AHEAD && TILES == 1 && B_TYPE != 1)
#define STORES_SUMS (!WHOLE || !HAS_EPILOGUE || EPILOGUE_IN_REGISTERS)

/* The tile at a, its output at element o of c. */
INLINE_ void PASTE_(NAME, tile)(const struct PASTE_(NAME, panel) *s, const float *a, long o,
                                const int rows, const int columns, const int vectors,
                                const long lanes) {
  vec acc[K_UNROLL][TILE_ROWS][TILE_COLUMNS][VECTORS];
#if STORES_SUMS
  C_T *c = s->c + o;
#endif
  UNROLL for (int u = 0; u < K_UNROLL; u++)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) acc[u][y][x][v] = (vec){0};
#if !WHOLE
  if (!s->first)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++)
          acc[0][y][x][v] = load_lanes_(c + y * C_Y + x * C_X + v * LANES,
                                        v == vectors - 1 ? lanes : LANES);
#endif
  const B_T *b = s->b;
#if AHEAD && !STREAMS
  const B_T *ahead = s->ahead;
#endif
  for (long ty = 0; ty < BLOCK_TAPS; ty++)
    for (long tx = 0; tx < TAPS_X; tx++) {
      const float *p = a + ty * TAP_Y + tx * TAP_X;
      long k = 0;
      for (; k + K_UNROLL <= BLOCK_DEPTH; k += K_UNROLL, b += NR * K_UNROLL) {
#if AHEAD && !STREAMS
        PREFETCH_(ahead);
        ahead += AHEAD * K_UNROLL;
#endif
#if STREAMS
        UNROLL for (int v = 0; v < K_UNROLL * vectors; v++)
          PREFETCH_(b + 2 * AHEAD + v * LANES);
#endif
#if NEAR /* the panel is read from L2 */
        UNROLL for (int v = 0; v < vectors; v++) PREFETCH_NEAR_(b + NEAR * NR + v * LANES);
#endif
        UNROLL for (int u = 0; u < K_UNROLL; u++) {
          vec w[VECTORS];
          UNROLL for (int v = 0; v < vectors; v++) w[v] = LOAD_B(b + u * NR + v * LANES);
          UNROLL for (int y = 0; y < rows; y++)
            UNROLL for (int x = 0; x < columns; x++) {
              float t = p[y * A_Y + x * A_X + k + u];
              UNROLL for (int v = 0; v < vectors; v++) acc[u][y][x][v] += t * w[v];
            }
        }
      }
#if K_UNROLL > 1
      for (; k < BLOCK_DEPTH; k++, b += NR)
        UNROLL for (int y = 0; y < rows; y++)
          UNROLL for (int x = 0; x < columns; x++) {
            float t = p[y * A_Y + x * A_X + k];
            UNROLL for (int v = 0; v < vectors; v++)
              acc[0][y][x][v] += t * LOAD_B(b + v * LANES);
          }
#endif
    }
  UNROLL for (int u = 1; u < K_UNROLL; u++)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) acc[0][y][x][v] += acc[u][y][x][v];
#if HAS_EPILOGUE && EPILOGUE_IN_REGISTERS
  /* with a short k, another pass over the tile would be noticeable */
  const void *const *e = s->e;
  (void)e;
  if (IS_LAST)
    UNROLL for (int v = 0; v < vectors; v++) {
      const long n = v == vectors - 1 ? lanes : LANES, j = s->column + v * LANES;
      (void)j, (void)n;
      EPILOGUE_COLUMN(j, n)
      UNROLL for (int y = 0; y < rows; y++)
        UNROLL for (int x = 0; x < columns; x++) {
          const long at = o + y * C_Y + x * C_X + v * LANES;
          (void)at;
          acc[0][y][x][v] = EPILOGUE_AT(acc[0][y][x][v], at, j, n);
        }
    }
#endif
#if HAS_EPILOGUE && !EPILOGUE_IN_REGISTERS
  const void *const *e = s->e;
  (void)e;
  if (IS_LAST) { /* an element of c is stored once: it may be one of e */
    vec sums[TILE_ROWS][TILE_COLUMNS][VECTORS];
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) sums[y][x][v] = acc[0][y][x][v];
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < columns; x++)
        for (int v = 0; v < vectors; v++) {
          const long n = v == vectors - 1 ? lanes : LANES;
          const long at = o + y * C_Y + x * C_X + v * LANES, j = s->column + v * LANES;
          (void)j;
          STORE_C(s->c + at, EPILOGUE(sums[y][x][v], at, j, n), n);
        }
    return;
  }
#endif
#if STORES_SUMS
  UNROLL for (int y = 0; y < rows; y++)
    UNROLL for (int x = 0; x < columns; x++)
      UNROLL for (int v = 0; v < vectors; v++)
        STORE_C(c + y * C_Y + x * C_X + v * LANES, acc[0][y][x][v],
                v == vectors - 1 ? lanes : LANES);
#endif
}

#define TILE(rows, columns) PASTE_(NAME, tile)(s, p, at, rows, columns, vectors, lanes)
#include "walk.h"
#undef STREAMS
#undef STORES_SUMS
