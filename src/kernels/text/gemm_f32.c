/* c = epilogue(a * b): matrix products and convolutions (as implicit products) on one register tile.
 *
 * The output is a grid of pixels (PIXEL_ROWS x PIXEL_COLUMNS, each COLUMNS channels wide), cut in tiles
 * of TILE_ROWS x TILE_COLUMNS pixels x VECTORS vectors that stay in registers over a block of k. All
 * strides are literals, so a tile needs one pointer into a, whatever rows it spans. b is packed in
 * panels [COLUMNS / NR][k][NR], NR = VECTORS * LANES, zero-padded. k runs over TAPS_Y kernel rows x
 * TAPS_X kernel columns x DEPTH contiguous elements of a, in this order at any thread count.
 *
 * A unit is (outer, panels, inner, tiles): outer has its own b, inner shares it. From choose():
 * PIXEL_ROWS PIXEL_COLUMNS OUTER INNER TILE_ROWS TILE_COLUMNS COLUMN_TILES WIDE_TILES (tiles of
 * TILE_COLUMNS; the others have one less) VECTORS K_UNROLL (accumulator sets) TAP_BLOCK DEPTH_BLOCK
 * UNIT_TILES UNIT_PANELS AHEAD (floats of the next panel that each k fetches into L2; 0: none)
 * EPILOGUE_IN_REGISTERS (1: k is so short that one more pass over the tile would count). */
#ifdef A_ROW /* gemm */
#define COLUMNS_ N
#define TAPS_Y 1
#define TAPS_X 1
#define DEPTH K
#define A_Y 0
#define A_X A_ROW
#define TAP_Y 0
#define TAP_X 0
#define C_Y 0
#define C_X C_ROW
#else /* conv */
#define COLUMNS_ (OC / GROUPS)
#define TAPS_Y KH
#if DW == 1 && I_PIXEL == IC / GROUPS /* a kernel row is contiguous in a */
#define TAPS_X 1
#define DEPTH (KW * (IC / GROUPS))
#else
#define TAPS_X KW
#define DEPTH (IC / GROUPS)
#endif
#define A_Y (SH * I_ROW)
#define A_X (SW * I_PIXEL)
#define TAP_Y (DH * I_ROW)
#define TAP_X (DW * I_PIXEL)
#define C_Y O_ROW
#define C_X O_PIXEL
#endif
#define NR (VECTORS * LANES)
#define PANELS ((COLUMNS_ + NR - 1) / NR)
#define TAIL (COLUMNS_ % NR)
#define TILES (((PIXEL_ROWS + TILE_ROWS - 1) / TILE_ROWS) * COLUMN_TILES)
#define TILE_BLOCKS ((TILES + UNIT_TILES - 1) / UNIT_TILES)
#define PANEL_BLOCKS ((PANELS + UNIT_PANELS - 1) / UNIT_PANELS)
#define K_ALL ((long)TAPS_Y * TAPS_X * DEPTH)

/* One block of k for one panel: what the tiles share. */
struct PASTE_(NAME, block) {
  const float *b;
  const float *ahead; /* what comes after this panel */
  float *c;
  const void *const *e;
  long column; /* of the output, first of the panel */
  long lanes;  /* valid in the last vector */
  long taps, depth;
  int first, last;
};

/* The tile at a, its output at element o of c. */
INLINE_ void PASTE_(NAME, tile)(const struct PASTE_(NAME, block) *s, const float *a, long o,
                                const int rows, const int columns, const int vectors) {
  vec acc[K_UNROLL][TILE_ROWS][TILE_COLUMNS][VECTORS];
  float *c = s->c + o;
  const long lanes = s->lanes;
  UNROLL for (int u = 0; u < K_UNROLL; u++)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) acc[u][y][x][v] = (vec){0};
  if (!s->first)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++)
          acc[0][y][x][v] = load_lanes_(c + y * C_Y + x * C_X + v * LANES,
                                        v == vectors - 1 ? lanes : LANES);
  const float *b = s->b;
#if AHEAD
  const float *ahead = s->ahead;
#endif
  for (long ty = 0; ty < s->taps; ty++)
    for (long tx = 0; tx < TAPS_X; tx++) {
      const float *p = a + ty * TAP_Y + tx * TAP_X;
      long k = 0;
      for (; k + K_UNROLL <= s->depth; k += K_UNROLL, b += NR * K_UNROLL) {
#if AHEAD
        __builtin_prefetch(ahead, 0, 2);
        ahead += AHEAD * K_UNROLL;
#endif
        UNROLL for (int u = 0; u < K_UNROLL; u++) {
          vec w[VECTORS];
          UNROLL for (int v = 0; v < vectors; v++) w[v] = loadu_(b + u * NR + v * LANES);
          UNROLL for (int y = 0; y < rows; y++)
            UNROLL for (int x = 0; x < columns; x++) {
              float t = p[y * A_Y + x * A_X + k + u];
              UNROLL for (int v = 0; v < vectors; v++) acc[u][y][x][v] += t * w[v];
            }
        }
      }
#if K_UNROLL > 1
      for (; k < s->depth; k++, b += NR)
        UNROLL for (int y = 0; y < rows; y++)
          UNROLL for (int x = 0; x < columns; x++) {
            float t = p[y * A_Y + x * A_X + k];
            UNROLL for (int v = 0; v < vectors; v++)
              acc[0][y][x][v] += t * loadu_(b + v * LANES);
          }
#endif
    }
  UNROLL for (int u = 1; u < K_UNROLL; u++)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) acc[0][y][x][v] += acc[u][y][x][v];
#if HAS_EPILOGUE && EPILOGUE_IN_REGISTERS
  const void *const *e = s->e;
  (void)e;
  if (s->last)
    UNROLL for (int y = 0; y < rows; y++)
      UNROLL for (int x = 0; x < columns; x++)
        UNROLL for (int v = 0; v < vectors; v++) {
          const long n = v == vectors - 1 ? lanes : LANES;
          const long at = o + y * C_Y + x * C_X + v * LANES, j = s->column + v * LANES;
          (void)at, (void)j, (void)n;
          acc[0][y][x][v] = EPILOGUE(acc[0][y][x][v], at, j, n);
        }
#endif
  UNROLL for (int y = 0; y < rows; y++)
    UNROLL for (int x = 0; x < columns; x++)
      UNROLL for (int v = 0; v < vectors; v++)
        store_lanes_(c + y * C_Y + x * C_X + v * LANES, acc[0][y][x][v],
                     v == vectors - 1 ? lanes : LANES);
#if HAS_EPILOGUE && !EPILOGUE_IN_REGISTERS
  const void *const *e = s->e;
  (void)e;
  if (s->last)
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < columns; x++)
        for (int v = 0; v < vectors; v++) {
          const long n = v == vectors - 1 ? lanes : LANES;
          const long at = o + y * C_Y + x * C_X + v * LANES, j = s->column + v * LANES;
          (void)j;
          store_lanes_(s->c + at, EPILOGUE(load_lanes_(s->c + at, n), at, j, n), n);
        }
#endif
}

/* The tiles [begin, end) of one image; o: the image's first element in c. */
INLINE_ void PASTE_(NAME, tiles)(struct PASTE_(NAME, block) *s, const float *a, long o,
                                 long begin, long end, const int vectors) {
  for (long t = begin; t < end; t++) {
#if AHEAD
    s->ahead += s->taps * TAPS_X * s->depth * AHEAD;
#endif
    const long row = t / COLUMN_TILES * TILE_ROWS, tile = t % COLUMN_TILES;
#if WIDE_TILES < COLUMN_TILES
    const long column = tile * (TILE_COLUMNS - 1) + (tile < WIDE_TILES ? tile : WIDE_TILES);
#else
    const long column = tile * TILE_COLUMNS;
#endif
    const float *p = a + row * A_Y + column * A_X;
    const long at = o + row * C_Y + column * C_X;
#if PIXEL_ROWS % TILE_ROWS
    if (row + TILE_ROWS > PIXEL_ROWS) {
      PASTE_(NAME, tile)(s, p, at, PIXEL_ROWS % TILE_ROWS, TILE_COLUMNS, vectors);
      continue;
    }
#endif
#if WIDE_TILES < COLUMN_TILES
    if (tile >= WIDE_TILES) {
      PASTE_(NAME, tile)(s, p, at, TILE_ROWS, TILE_COLUMNS - 1, vectors);
      continue;
    }
#endif
    PASTE_(NAME, tile)(s, p, at, TILE_ROWS, TILE_COLUMNS, vectors);
  }
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const float *a = a_, *b = b_;
  float *c = c_;
  (void)scratch;
  for (long u = begin; u < end; u++) {
    const long tile_block = u % TILE_BLOCKS, inner = u / TILE_BLOCKS % INNER;
    const long panel_block = u / ((long)TILE_BLOCKS * INNER) % PANEL_BLOCKS;
    const long outer = u / ((long)TILE_BLOCKS * INNER * PANEL_BLOCKS);
#ifdef A_ROW
    const long batch = outer * INNER + inner, batch0 = batch / BATCH1, batch1 = batch % BATCH1;
    const float *a_image = a + batch0 * A_BATCH0 + batch1 * A_BATCH1;
    const long o = batch0 * C_BATCH0 + batch1 * C_BATCH1, channel = 0;
#else
    const float *a_image = a + inner * I_IMAGE + outer * (IC / GROUPS);
    const long channel = outer * (OC / GROUPS), o = inner * O_IMAGE + channel;
#endif
    const long first_tile = tile_block * UNIT_TILES;
    const long last_tile = first_tile + UNIT_TILES < TILES ? first_tile + UNIT_TILES : TILES;
    const long first_panel = panel_block * UNIT_PANELS;
    const long last_panel = first_panel + UNIT_PANELS < PANELS ? first_panel + UNIT_PANELS : PANELS;
    for (long tap = 0; tap < TAPS_Y; tap += TAP_BLOCK)
      for (long k = 0; k < DEPTH; k += DEPTH_BLOCK) {
        struct PASTE_(NAME, block) s = {.e = e, .c = c};
        s.taps = TAPS_Y - tap < TAP_BLOCK ? TAPS_Y - tap : TAP_BLOCK;
        s.depth = DEPTH - k < DEPTH_BLOCK ? DEPTH - k : DEPTH_BLOCK;
        s.first = tap == 0 && k == 0;
        s.last = tap + s.taps == TAPS_Y && k + s.depth == DEPTH;
        const float *a_block = a_image + tap * TAP_Y + k;
        for (long panel = first_panel; panel < last_panel; panel++) {
          s.b = b + ((outer * PANELS + panel) * K_ALL + tap * TAPS_X * DEPTH + k) * NR;
          s.ahead = s.b + K_ALL * NR - s.taps * TAPS_X * s.depth * AHEAD;
          s.column = channel + panel * NR;
          s.lanes = LANES;
          const long at = o + panel * NR;
#if TAIL
          if (panel == PANELS - 1) {
            s.lanes = (TAIL + LANES - 1) % LANES + 1;
            PASTE_(NAME, tiles)(&s, a_block, at, first_tile, last_tile, (TAIL + LANES - 1) / LANES);
            continue;
          }
#endif
#if COLUMNS_ >= NR
          PASTE_(NAME, tiles)(&s, a_block, at, first_tile, last_tile, VECTORS);
#endif
        }
      }
  }
}
#undef COLUMNS_
#undef TAPS_Y
#undef TAPS_X
#undef DEPTH
#undef A_Y
#undef A_X
#undef TAP_Y
#undef TAP_X
#undef C_Y
#undef C_X
#undef NR
#undef PANELS
#undef TAIL
#undef TILES
#undef TILE_BLOCKS
#undef PANEL_BLOCKS
#undef K_ALL
