/* c = epilogue(a * b) on AMX tiles: two tiles of 16 pixels by two of 16 columns are summed in tmm0
 * to tmm3, from tmm4, tmm5 (a: 16 rows of 64 bytes of k, read in place) and tmm6, tmm7 (b: 16
 * groups of k by 16 columns). The grid of pixels, panels and work items are those of grid.h. b is
 * packed as [COLUMNS / NR][k / K_STEP][NR][K_STEP], as for gemm_dot.c, in whole tiles of k,
 * zero-padded. The rest of k in a row of a is copied, so that nothing past its end is read or
 * multiplied.
 *
 * Each call configures the tiles for its own thread and releases them at its end: between two calls
 * a thread has no tile state to save. Missing rows of a tail tile are configured away, not
 * computed. Sources: Intel SDM volume 1 chapter 18, optimization manual chapter 20.
 */
#include "types.h"
#define B_T int32_t
#define NR (VECTORS * 16)
#define K_TILE (16 * K_STEP)
#define DEPTH_GROUPS ((DEPTH + K_TILE - 1) / K_TILE * 16)
#define BLOCK_GROUPS K_ALL
#define OWN struct tile_config_
#define END_CALL TILE_RELEASE_()
#include "grid.h"
#if K_STEP == 4
#define ACC veci
#else
#define ACC vec
#endif
#if K_STEP == 2
#define DOT TILE_DOT_BF16_
#elif A_TYPE == 3
#define DOT TILE_DOT_I8_
#else
#define DOT TILE_DOT_U8_
#endif
#if !HAS_EPILOGUE && K_STEP == 4 && (C_TYPE == 1 || C_TYPE == 16)
#define RESULT(x, o, j, lanes) floats_(x)
#elif K_STEP == 4
#define RESULT(x, o, j, lanes) EPILOGUE(veci_add_(x, FIRST_SUMS(j, lanes)), o, j, lanes)
#else
#define RESULT(x, o, j, lanes) EPILOGUE(x, o, j, lanes)
#endif

/* The last elements of k of `rows` rows of a, zero-padded. */
INLINE_ void PASTE_(NAME, rest)(A_T (*to)[K_TILE], const A_T *a, const int rows, const int count) {
  for (int y = 0; y < rows; y++) {
    __builtin_memset(to[y], 0, sizeof to[y]);
    __builtin_memcpy(to[y], a + y * A_X, (unsigned long)count * sizeof(A_T));
  }
}

/* 64 bytes of k: p, q: the first pixels of the two tiles of a, whose rows are `row` bytes apart. */
#define PRODUCTS_(p, q, row)               \
  {                                        \
    TILE_LOAD_(6, b, NR * 4);              \
    TILE_LOAD_(4, p, row);                 \
    DOT(0, 4, 6);                          \
    if (vectors > 1) {                     \
      TILE_LOAD_(7, b + 16, NR * 4);       \
      DOT(1, 4, 7);                        \
    }                                      \
    if (second) {                          \
      TILE_LOAD_(5, q, row);               \
      DOT(2, 5, 6);                        \
      if (vectors > 1) DOT(3, 5, 7);       \
    }                                      \
    b += 16 * NR;                          \
  }

/* The tile at a, its output at element o of c: `first` pixels and, `apart` elements of a further
   on, `second` pixels; vectors: tiles of columns. */
INLINE_ void PASTE_(NAME, tile)(const struct PASTE_(NAME, panel) *s, const A_T *a, long o,
                                const int first, const int second, const long a_apart,
                                const long c_apart, const int vectors) {
  const int32_t *b = s->b;
  configure_tiles_(s->own, first, second ? second : first);
  TILE_ZERO_(0);
  if (vectors > 1) TILE_ZERO_(1);
  if (second) TILE_ZERO_(2);
  if (second && vectors > 1) TILE_ZERO_(3);
  for (long ty = 0; ty < TAPS_Y; ty++)
    for (long tx = 0; tx < TAPS_X; tx++) {
      const A_T *p = a + ty * TAP_Y + tx * TAP_X, *q = p + a_apart;
      for (long k = 0; k + K_TILE <= DEPTH; k += K_TILE)
        PRODUCTS_(p + k, q + k, A_X * (long)sizeof(A_T))
#if DEPTH % K_TILE
      A_T rest[2][16][K_TILE] __attribute__((aligned(64)));
      PASTE_(NAME, rest)(rest[0], p + DEPTH / K_TILE * K_TILE, first, DEPTH % K_TILE);
      if (second) PASTE_(NAME, rest)(rest[1], q + DEPTH / K_TILE * K_TILE, second, DEPTH % K_TILE);
      PRODUCTS_(rest[0], rest[1], 64)
#endif
    }
  ACC sums[2 * 16 * NR / LANES];
  ACC *const later = sums + 16 * NR / LANES;
  TILE_STORE_(0, sums, NR * 4);
  if (vectors > 1) TILE_STORE_(1, (int32_t *)sums + 16, NR * 4);
  if (second) TILE_STORE_(2, later, NR * 4);
  if (second && vectors > 1) TILE_STORE_(3, (int32_t *)later + 16, NR * 4);
  const void *const *e = s->e;
  (void)e, (void)later;
  for (int y = 0; y < first + second; y++) {
    const ACC *from = y < first ? sums + y * (NR / LANES) : later + (y - first) * (NR / LANES);
    const long row = o + (y < first ? y * C_X : c_apart + (y - first) * C_X);
    for (long v = 0; v < s->columns; v += LANES) {
      const long n = s->columns - v < LANES ? s->columns - v : LANES, at = row + v, j = s->column + v;
      (void)j;
      STORE_C(s->c + at, RESULT(from[v / LANES], at, j, n), n);
    }
  }
}

/* Rows of pixels: two rows as one tile each, one row as two tiles if it does not fit in one. */
#define TILE(rows, columns)                                                                    \
  if ((rows) > 1)                                                                              \
    PASTE_(NAME, tile)(s, p, at, (columns), (columns), A_Y, C_Y, vectors);                     \
  else                                                                                         \
    PASTE_(NAME, tile)(s, p, at, (columns) > 16 ? ((columns) + 1) / 2 : (columns),             \
                       (columns) > 16 ? (columns) / 2 : 0, ((columns) + 1) / 2 * A_X,          \
                       ((columns) + 1) / 2 * C_X, vectors)
#include "walk.h"
#undef K_TILE
#undef ACC
#undef DOT
#undef RESULT
#undef PRODUCTS_
