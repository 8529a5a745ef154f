/* c = epilogue(a * b) on AMX tiles: two tiles of 16 pixels by two of 16 columns are summed in tmm0 to
 * tmm3, from tmm4, tmm5 (a: 16 rows of 64 bytes of k, read where they lie) and tmm6, tmm7 (b: 16 groups
 * of k by 16 columns). The grid of pixels, panels, units and names are those of gemm_f32.c; b is packed
 * [COLUMNS / NR][k / K_STEP][NR][K_STEP] as for gemm_dot.c, in whole tiles of k, zeros where there is
 * none. What is left of k in a row of a is copied, so that nothing past its end is read or multiplied.
 *
 * Tiles are configured by each call for its own thread and released at its end: a thread between two
 * calls has no tile state to save. Rows of tiles that a tail lacks are configured away, not computed.
 * Sources: Intel SDM volume 1 chapter 18, optimization manual chapter 20. */
#ifndef HONE_TILES_
#define HONE_TILES_
struct tile_config_ {
  uint8_t palette, start_row, zero[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} __attribute__((aligned(64)));
#ifndef TILE_LOAD_ /* the tests bring their own, in C */
#define TILE_CONFIG_(p) __asm__ volatile("ldtilecfg %0" : : "m"(*(p)) : "memory")
#define TILE_RELEASE_() __asm__ volatile("tilerelease" : : : "memory")
#define TILE_ZERO_(t) __asm__ volatile("tilezero %%tmm" #t : :)
#define TILE_LOAD_(t, p, stride)                                                                  \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(p), "r"((long)(stride)) : "memory")
#define TILE_STORE_(t, p, stride)                                                                 \
  __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(p), "r"((long)(stride)) : "memory")
#define TILE_DOT_BF16_(c, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#define TILE_DOT_U8_(c, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#define TILE_DOT_I8_(c, a, b) __asm__ volatile("tdpbssd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#endif
/* Sums and a of the first and of the second tile of pixels have so many rows. */
INLINE_ void configure_tiles_(struct tile_config_ *config, int first, int second) {
  if (config->palette && config->rows[0] == first && config->rows[2] == second) return;
  config->palette = 1;
  for (int t = 0; t < 8; t++) {
    config->row_bytes[t] = 64;
    config->rows[t] = (uint8_t)(t > 5 ? 16 : t == 4 || t < 2 ? first : second);
  }
  TILE_CONFIG_(config);
}
#endif

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
#define NR (VECTORS * 16)
#define PANELS ((COLUMNS_ + NR - 1) / NR)
#define TAIL (COLUMNS_ % NR)
#define TILES (((PIXEL_ROWS + TILE_ROWS - 1) / TILE_ROWS) * COLUMN_TILES)
#define TILE_BLOCKS ((TILES + UNIT_TILES - 1) / UNIT_TILES)
#define PANEL_BLOCKS ((PANELS + UNIT_PANELS - 1) / UNIT_PANELS)
#define K_TILE (16 * K_STEP)
#define K_ALL ((long)TAPS_Y * TAPS_X * ((DEPTH + K_TILE - 1) / K_TILE * 16))

#if K_STEP == 4
#define A_T unsigned char
#define ACC veci
#else
#define A_T uint16_t
#define ACC vec
#endif
#if K_STEP == 2
#define DOT TILE_DOT_BF16_
#elif A_TYPE == 3
#define DOT TILE_DOT_I8_
#else
#define DOT TILE_DOT_U8_
#endif
#if C_TYPE == 1
#define C_T float
#define STORE store_lanes_
#elif C_TYPE == 2
#define C_T uint8_t
#define STORE narrow_u8
#elif C_TYPE == 3
#define C_T int8_t
#define STORE narrow_i8
#elif C_TYPE == 6
#define C_T int32_t
#define STORE narrow_i32
#else
#define C_T uint16_t
#define STORE store_bf16_
#endif
#if !HAS_EPILOGUE && K_STEP == 4 && (C_TYPE == 1 || C_TYPE == 16)
#define RESULT(x, o, j, lanes) floats_(x)
#else
#define RESULT(x, o, j, lanes) EPILOGUE(x, o, j, lanes)
#endif

/* One panel: what the tiles share. */
struct PASTE_(NAME, panel) {
  const int32_t *b;
  C_T *c;
  const void *const *e;
  struct tile_config_ *config;
  long column; /* of the output, first of the panel */
  long valid;  /* columns of the output in it */
};

/* The last elements of k of `rows` rows of a, zeros behind them. */
INLINE_ void PASTE_(NAME, rest)(A_T (*to)[K_TILE], const A_T *a, const int rows, const int count) {
  for (int y = 0; y < rows; y++) {
    __builtin_memset(to[y], 0, sizeof to[y]);
    __builtin_memcpy(to[y], a + y * A_X, (unsigned long)count * sizeof(A_T));
  }
}

/* 64 bytes of k: p, q: the first pixel of the tiles of a, whose rows are `row` bytes apart. */
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

/* The tile at a, its output at element o of c: `first` pixels and, `apart` elements of a further on,
   `second` ones; vectors: tiles of columns. */
INLINE_ void PASTE_(NAME, tile)(const struct PASTE_(NAME, panel) *s, const A_T *a, long o,
                                const int first, const int second, const long a_apart,
                                const long c_apart, const int vectors) {
  const int32_t *b = s->b;
  configure_tiles_(s->config, first, second ? second : first);
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
    for (long v = 0; v < s->valid; v += LANES) {
      const long n = s->valid - v < LANES ? s->valid - v : LANES, at = row + v, j = s->column + v;
      (void)j;
      STORE(s->c + at, RESULT(from[v / LANES], at, j, n), n);
    }
  }
}

/* Of pixels in a row: as two tiles where one is too small. */
#define ROW_(columns)                                                                          \
  PASTE_(NAME, tile)(s, p, at, (columns) > 16 ? ((columns) + 1) / 2 : (columns),               \
                     (columns) > 16 ? (columns) / 2 : 0, ((columns) + 1) / 2 * A_X,            \
                     ((columns) + 1) / 2 * C_X, vectors)

/* The tiles [begin, end) of one image; o: the image's first element in c. */
INLINE_ void PASTE_(NAME, tiles)(struct PASTE_(NAME, panel) *s, const A_T *a, long o, long begin,
                                 long end, const int vectors) {
  for (long t = begin; t < end; t++) {
    const long row = t / COLUMN_TILES * TILE_ROWS, tile = t % COLUMN_TILES;
#if WIDE_TILES < COLUMN_TILES
    const long column = tile * (TILE_COLUMNS - 1) + (tile < WIDE_TILES ? tile : WIDE_TILES);
#else
    const long column = tile * TILE_COLUMNS;
#endif
    const A_T *p = a + row * A_Y + column * A_X;
    const long at = o + row * C_Y + column * C_X;
#if TILE_ROWS > 1
    if (row + TILE_ROWS <= PIXEL_ROWS)
      PASTE_(NAME, tile)(s, p, at, TILE_COLUMNS, TILE_COLUMNS, A_Y, C_Y, vectors);
    else
      ROW_(TILE_COLUMNS);
#else
#if WIDE_TILES < COLUMN_TILES
    if (tile >= WIDE_TILES) {
      ROW_(TILE_COLUMNS - 1);
      continue;
    }
#endif
    ROW_(TILE_COLUMNS);
#endif
  }
}

void NAME(const void *a_, const void *b_, void *c_, const void *const *e, void *scratch,
                 long begin, long end) {
  const A_T *a = a_;
  const int32_t *b = b_;
  struct tile_config_ config = {0};
  (void)scratch;
  for (long u = begin; u < end; u++) {
    const long tile_block = u % TILE_BLOCKS, inner = u / TILE_BLOCKS % INNER;
    const long panel_block = u / ((long)TILE_BLOCKS * INNER) % PANEL_BLOCKS;
    const long outer = u / ((long)TILE_BLOCKS * INNER * PANEL_BLOCKS);
#ifdef A_ROW
    const long batch = outer * INNER + inner, batch0 = batch / BATCH1, batch1 = batch % BATCH1;
    const A_T *a_image = a + batch0 * A_BATCH0 + batch1 * A_BATCH1;
    const long o = batch0 * C_BATCH0 + batch1 * C_BATCH1, channel = 0;
#else
    const A_T *a_image = a + inner * I_IMAGE + outer * (IC / GROUPS);
    const long channel = outer * (OC / GROUPS), o = inner * O_IMAGE + channel;
#endif
    const long first_tile = tile_block * UNIT_TILES;
    const long last_tile = first_tile + UNIT_TILES < TILES ? first_tile + UNIT_TILES : TILES;
    const long first_panel = panel_block * UNIT_PANELS;
    const long last_panel = first_panel + UNIT_PANELS < PANELS ? first_panel + UNIT_PANELS : PANELS;
    for (long panel = first_panel; panel < last_panel; panel++) {
      struct PASTE_(NAME, panel) s = {.e = e, .c = c_, .valid = NR, .config = &config};
      s.b = b + (outer * PANELS + panel) * K_ALL * NR;
      s.column = channel + panel * NR;
      const long at = o + panel * NR;
#if TAIL
      if (panel == PANELS - 1) {
        s.valid = TAIL;
        PASTE_(NAME, tiles)(&s, a_image, at, first_tile, last_tile, (TAIL + 15) / 16);
        continue;
      }
#endif
#if COLUMNS_ >= NR
      PASTE_(NAME, tiles)(&s, a_image, at, first_tile, last_tile, VECTORS);
#endif
    }
  }
  if (begin < end) TILE_RELEASE_();
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
#undef K_TILE
#undef K_ALL
#undef A_T
#undef ACC
#undef DOT
#undef C_T
#undef STORE
#undef RESULT
#undef PRODUCTS_
#undef ROW_
