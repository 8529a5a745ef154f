/* Shared by the tiled matmuls (gemm_f32.c, gemm_dot.c, gemm_amx.c), up to the tile itself.
 *
 * The output is a grid of pixels (PIXEL_ROWS x PIXEL_COLUMNS, each COLUMNS_ channels wide), split
 * into tiles of TILE_ROWS x TILE_COLUMNS pixels x VECTORS vectors that stay in registers over a
 * block of k. All strides are literals, so a tile needs one pointer into a for any number of rows.
 * b is packed in panels [COLUMNS_ / NR][k][NR], zero-padded. k iterates over TAPS_Y kernel rows x
 * TAPS_X kernel columns x DEPTH contiguous elements of a, in this order for any thread count.
 *
 * A work item is (outer, panels, inner, tiles), the last varying fastest, or with ROWS_FIRST
 * (outer, tiles, inner, panels): each outer has its own b, inner ones share it. The choice defines:
 * PIXEL_ROWS PIXEL_COLUMNS OUTER INNER TILE_ROWS TILE_COLUMNS COLUMN_TILES WIDE_TILES (tiles of
 * TILE_COLUMNS; the others have one less) VECTORS K_UNROLL (accumulator sets) TAP_BLOCK DEPTH_BLOCK
 * UNIT_TILES UNIT_PANELS AHEAD (four-byte elements of the next panel that each k prefetches into
 * L2; with a single tile and a b that is not float: the prefetch distance of the panels; 0: none).
 *
 * The including source defines A_T, B_T, C_T, NR (columns of a panel) and DEPTH_GROUPS (groups of k
 * of one tap in a panel). After this file it defines PASTE_(NAME, tile), TILE(rows, columns), which
 * calls it for the tile at p with its output at element `at`, `vectors` wide with `lanes` valid in
 * the last one, both literals, and BLOCK_GROUPS (groups of k that a tile processes). It ends with
 * walk.h.
 */
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

/* One block of k for one panel: shared by the tiles. */
struct PASTE_(NAME, panel) {
  const B_T *b;
  const B_T *ahead; /* the panel to prefetch */
  C_T *c;
  const void *const *e;
  void *own;    /* of the source, per thread */
  long column;  /* first output column of the panel */
  long columns; /* output columns in the panel */
#if !WHOLE
  long taps, depth;
  int first, last;
#endif
};
/* Properties of a block of k: literals if there is only one block, so that code for others is
   not compiled. */
#if WHOLE
#define BLOCK_TAPS TAPS_Y
#define BLOCK_DEPTH DEPTH_GROUPS
#define IS_LAST 1
#else
#define BLOCK_TAPS s->taps
#define BLOCK_DEPTH s->depth
#define IS_LAST s->last
#endif
