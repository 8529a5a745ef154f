/* The product as gemm_f32.c, gemm_vector_f32.c, gemm_dot.c and gemm_amx.c see it: matrix products and convolutions (as
 * implicit products) on one register tile. A choice says the tile, the blocks of k and the units (gemm_choice.c); what
 * else shapes the text (gemm.c) and b (gemm_pack.c) follows from it and the problem. */
#ifndef HONE_GEMM_H
#define HONE_GEMM_H

#include "families.h"

enum {
  AMX_SIDE = 16,  /* pixels, columns and groups of k of an AMX tile */
  LINE_BYTES = 64 /* of a cache */
};

/* The values of a choice, in the order of TILE_NAMES in kernels.def. */
struct tile {
  int64_t vectors;                 /* of columns in a tile */
  int64_t rows, columns;           /* pixels of a tile */
  int64_t k_unroll;                /* sets of accumulators */
  int64_t tap_block, depth_block;  /* of k, before the next panel */
  int64_t unit_tiles, unit_panels; /* of one unit */
  int64_t ahead;                   /* floats of the next panel that each k fetches into L2 */
  int64_t registers;               /* 1: the epilogue runs while the tile is in registers */
  int64_t rows_first; /* 1: a block of tiles meets all panels before the next block does */
  int64_t near;       /* k that a panel of floats is fetched into L1 ahead; 0: it is not */
};
_Static_assert(sizeof(struct tile) <= sizeof((struct choice *)0)->value, "too many values");

/* The product as the text sees it: first what follows from the problem alone. */
struct layout {
  int64_t pixel_rows, pixel_columns, outer, inner;
  int64_t columns, taps, taps_x;
  int64_t row_stride, column_stride; /* of pixels, in elements of a */
  int64_t group;                     /* elements of k in four bytes, summed by one lane at a time */
  uint8_t stored;                    /* type of the elements of b */
  int64_t group_bytes;               /* of b: four, or two where floats are stored in 16 bits */
  int64_t elements;                  /* of k in one tap */
  int64_t depth, k_all;              /* groups of k in one tap, in all */
  bool amx;                          /* on AMX tiles: two of pixels by two of columns */
  struct tile tile;
  int64_t panel_width, panels, column_tiles, wide_tiles, tiles;
};

/* As far as the problem says it, and the row of the choice. */
void gemm_describe(const struct problem *problem, const struct choice *choice, struct layout *out);
/* What follows from its tile. */
void gemm_cut(struct layout *t, const struct kernel_target *target);
/* Both, for the values of the choice. */
struct layout gemm_layout(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice);
struct tile tile_of(const struct choice *choice);
/* Columns of b that stand together in a panel for each vector of the tile. */
int64_t width_of(const struct layout *t, const struct kernel_target *target);

#endif
