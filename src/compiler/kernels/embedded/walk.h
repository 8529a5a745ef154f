/* From work items to tiles: the second part of grid.h. OWN: per-call state, END_CALL: its cleanup;
 * both are optional. With LIMIT_OPERAND, only a leading part is computed: of the images or batches,
 * and of the pixels of each (of the rows of pixels, if there are several).
 */

#if LIMIT_OPERAND
#define LIMIT_(i) ((long)((const int64_t *)e[LIMIT_OPERAND - 1])[i])
#else
#define LIMIT_(i) INT64_MAX
#endif

/* The tiles [begin, end) of one image, up to the limit; o: the image's first element in c. */
INLINE_ void PASTE_(NAME, tiles)(struct PASTE_(NAME, panel) *s, const A_T *a, long o, long begin,
                                 long end, long limit, const int vectors, const long lanes) {
  (void)lanes;
  for (long t = begin; t < end; t++) {
#if AHEAD
    s->ahead += BLOCK_GROUPS * AHEAD;
#endif
    const long row = t / COLUMN_TILES * TILE_ROWS, tile = t % COLUMN_TILES;
#if WIDE_TILES < COLUMN_TILES
    const long column = tile * (TILE_COLUMNS - 1) + (tile < WIDE_TILES ? tile : WIDE_TILES);
#else
    const long column = tile * TILE_COLUMNS;
#endif
    if ((PIXEL_ROWS == 1 ? column : row) >= limit) return;
    const A_T *p = a + row * A_Y + column * A_X;
    const long at = o + row * C_Y + column * C_X;
#if PIXEL_ROWS % TILE_ROWS
    if (row + TILE_ROWS > PIXEL_ROWS) {
      TILE(PIXEL_ROWS % TILE_ROWS, TILE_COLUMNS);
      continue;
    }
#endif
#if WIDE_TILES < COLUMN_TILES
    if (tile >= WIDE_TILES) {
      TILE(TILE_ROWS, TILE_COLUMNS - 1);
      continue;
    }
#endif
    TILE(TILE_ROWS, TILE_COLUMNS);
  }
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
          long begin, long end) {
  const A_T *a = a_;
  const B_T *b = b_;
#ifdef OWN
  OWN own = {0};
#endif
  (void)scratch;
  for (long u = begin; u < end; u++) {
#if ROWS_FIRST
    const long panel_block = u % PANEL_BLOCKS, inner = u / PANEL_BLOCKS % INNER;
    const long tile_block = u / ((long)PANEL_BLOCKS * INNER) % TILE_BLOCKS;
#else
    const long tile_block = u % TILE_BLOCKS, inner = u / TILE_BLOCKS % INNER;
    const long panel_block = u / ((long)TILE_BLOCKS * INNER) % PANEL_BLOCKS;
#endif
    const long outer = u / ((long)TILE_BLOCKS * INNER * PANEL_BLOCKS);
#ifdef A_ROW
    const long batch = outer * INNER + inner, batch0 = batch / BATCH1, batch1 = batch % BATCH1;
    const A_T *a_image = a + batch0 * A_BATCH0 + batch1 * A_BATCH1;
    const long o = batch0 * C_BATCH0 + batch1 * C_BATCH1, channel = 0;
    if (batch >= LIMIT_(0)) continue;
#else
    if (inner >= LIMIT_(0)) continue;
    const A_T *a_image = a + inner * I_IMAGE + outer * (IC / GROUPS);
    const long channel = outer * (OC / GROUPS), o = inner * O_IMAGE + channel;
#endif
    const long first_tile = tile_block * UNIT_TILES;
    const long last_tile = first_tile + UNIT_TILES < TILES ? first_tile + UNIT_TILES : TILES;
    const long first_panel = panel_block * UNIT_PANELS;
    const long last_panel = first_panel + UNIT_PANELS < PANELS ? first_panel + UNIT_PANELS : PANELS;
#if WHOLE
    const long tap = 0, k = 0;
      {
#else
    for (long tap = 0; tap < TAPS_Y; tap += TAP_BLOCK)
      /* split where a group is one element */
      for (long k = 0; k < DEPTH_GROUPS; k += DEPTH_BLOCK) {
#endif
        struct PASTE_(NAME, panel) panel_ = {.e = e, .c = c_}, *const s = &panel_;
#ifdef OWN
        s->own = &own;
#endif
#if !WHOLE
        s->taps = TAPS_Y - tap < TAP_BLOCK ? TAPS_Y - tap : TAP_BLOCK;
        s->depth = DEPTH_GROUPS - k < DEPTH_BLOCK ? DEPTH_GROUPS - k : DEPTH_BLOCK;
        s->first = tap == 0 && k == 0;
        s->last = tap + s->taps == TAPS_Y && k + s->depth == DEPTH_GROUPS;
#endif
        const A_T *a_block = a_image + tap * TAP_Y + k;
        for (long panel = first_panel; panel < last_panel; panel++) {
          s->b = b + ((outer * PANELS + panel) * K_ALL + tap * TAPS_X * DEPTH_GROUPS + k) * NR;
          s->ahead = s->b + K_ALL * NR - BLOCK_GROUPS * AHEAD;
          s->column = channel + panel * NR;
          s->columns = NR;
          const long at = o + panel * NR;
#if TAIL
          if (panel == PANELS - 1) {
            s->columns = TAIL;
            PASTE_(NAME, tiles)
            (s, a_block, at, first_tile, last_tile, LIMIT_(1), (TAIL * VECTORS + NR - 1) / NR,
             (TAIL + LANES - 1) % LANES + 1);
            continue;
          }
#endif
#if COLUMNS_ >= NR
          PASTE_(NAME, tiles)(s, a_block, at, first_tile, last_tile, LIMIT_(1), VECTORS, LANES);
#endif
        }
      }
  }
#ifdef END_CALL
  if (begin < end) END_CALL;
#endif
}
#undef OWN
#undef END_CALL
#undef BLOCK_GROUPS
#undef WHOLE
#undef BLOCK_TAPS
#undef BLOCK_DEPTH
#undef IS_LAST
#undef DEPTH_GROUPS
#undef TILE
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
#undef B_T
#undef LIMIT_
