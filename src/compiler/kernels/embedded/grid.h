/* What the products on tiles share (gemm_f32.c, gemm_dot.c, gemm_amx.c), up to the tile itself.
 *
 * The output is a grid of pixels (PIXEL_ROWS x PIXEL_COLUMNS, each COLUMNS_ channels wide), cut in tiles
 * of TILE_ROWS x TILE_COLUMNS pixels x VECTORS vectors that stay in registers over a block of k. All
 * strides are literals, so a tile needs one pointer into a, whatever rows it spans. b is packed in
 * panels [COLUMNS_ / NR][k][NR], zero-padded. k runs over TAPS_Y kernel rows x TAPS_X kernel columns x
 * DEPTH contiguous elements of a, in this order at any thread count.
 *
 * A unit is (outer, panels, inner, tiles), the last of these first, or with ROWS_FIRST (outer, tiles, inner, panels):
 * outer has its own b, inner shares it. The choice says:
 * PIXEL_ROWS PIXEL_COLUMNS OUTER INNER TILE_ROWS TILE_COLUMNS COLUMN_TILES WIDE_TILES (tiles of
 * TILE_COLUMNS; the others have one less) VECTORS K_UNROLL (accumulator sets) TAP_BLOCK DEPTH_BLOCK
 * UNIT_TILES UNIT_PANELS AHEAD (four-byte elements of the next panel that each k fetches into L2; where there is
 * one tile and b is no floats, how far ahead the panels are fetched; 0: none).
 *
 * The text around says A_T, B_T, C_T, NR (columns of a panel) and DEPTH_GROUPS (what the elements of k in
 * one tap are in a panel); defines PASTE_(NAME, tile), TILE(rows, columns), which calls it for the tile at
 * p with its output at element `at`, `vectors` wide and `lanes` of the last of them valid, both literals, and
 * BLOCK_GROUPS (of k that a tile goes through); and ends with walk.h. */
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
#define PANELS ((COLUMNS_ + NR - 1) / NR)
#define TAIL (COLUMNS_ % NR)
#define TILES (((PIXEL_ROWS + TILE_ROWS - 1) / TILE_ROWS) * COLUMN_TILES)
#define TILE_BLOCKS ((TILES + UNIT_TILES - 1) / UNIT_TILES)
#define PANEL_BLOCKS ((PANELS + UNIT_PANELS - 1) / UNIT_PANELS)
#define K_ALL ((long)TAPS_Y * TAPS_X * DEPTH_GROUPS)
#define WHOLE (TAP_BLOCK >= TAPS_Y && DEPTH_BLOCK >= DEPTH_GROUPS)

/* One block of k for one panel: what the tiles share. */
struct PASTE_(NAME, panel) {
  const B_T *b;
  const B_T *ahead; /* what comes after this panel */
  C_T *c;
  const void *const *e;
  void *own;    /* of the text, a thread */
  long column;  /* of the output, first of the panel */
  long columns; /* of the output in the panel */
#if !WHOLE
  long taps, depth;
  int first, last;
#endif
};
/* What is said of a block of k: literals where there is one, so that nothing is compiled for the others. */
#if WHOLE
#define BLOCK_TAPS TAPS_Y
#define BLOCK_DEPTH DEPTH_GROUPS
#define IS_LAST 1
#else
#define BLOCK_TAPS s->taps
#define BLOCK_DEPTH s->depth
#define IS_LAST s->last
#endif
