/* The matmul as gemm_f32.c, gemm_vector_f32.c, gemm_dot.c and gemm_amx.c see it: matmuls, and
 * convolutions as implicit matmuls, on one register tile. A choice has the tile, the blocks of k
 * and the work items (gemm_choice.c). The other defines (gemm.c) and the layout of b (gemm_pack.c)
 * follow from it and the problem.
 */
#ifndef HONE_GEMM_H
#define HONE_GEMM_H

#include "families.h"

enum {
  AMX_SIDE = 16,  /* pixels, columns and groups of k of an AMX tile */
  LINE_BYTES = 64 /* of a cache */
};

/* The values of a choice, in the order of TILE_NAMES in kernels.def. */
struct tile {
  int64_t vectors;                 /* per tile, along columns */
  int64_t rows, columns;           /* pixels of a tile: rows x columns */
  int64_t k_unroll;                /* sets of accumulators */
  int64_t tap_block, depth_block;  /* of k, before the next panel */
  int64_t unit_tiles, unit_panels; /* of one work item */
  int64_t ahead;                   /* floats of the next panel that each k prefetches into L2 */
  int64_t registers;               /* 1: the epilogue reads the sums from registers */
  int64_t rows_first; /* 1: a block of tiles is multiplied with all panels before the next block */
  int64_t near;       /* k to prefetch ahead into L1, of a float panel; 0: none */
};
_Static_assert(sizeof(struct tile) <= sizeof((struct choice *)0)->value, "too many values");

/* The matmul as the source sees it. First what follows from the problem alone. */
struct layout {
  int64_t pixel_rows, pixel_columns, outer, inner;
  int64_t columns, taps, taps_x;
  int64_t row_stride, column_stride; /* between pixels, in elements of a */
  /* elements of k in four bytes, which one lane sums at a time */
  int64_t group;
  uint8_t stored;       /* type of the elements of b */
  int64_t group_bytes;  /* of b: four, or two if floats are stored in 16 bits */
  int64_t elements;     /* of k in one tap */
  int64_t depth, k_all; /* groups of k in one tap, and in total */
  bool amx;             /* on AMX tiles: two tiles of pixels by two of columns */
  struct tile tile;
  int64_t panel_width, panels, column_tiles, wide_tiles, tiles;
};

/* The part that follows from the problem and the kernel row. */
void gemm_describe(const struct problem *problem, const struct choice *choice, struct layout *out);
/* The part that follows from the tile. */
void gemm_cut(struct layout *t, const struct kernel_target *target);
/* Both, for the values of the choice. */
struct layout gemm_layout(const struct problem *problem, const struct kernel_target *target,
                          const struct choice *choice);
struct tile tile_of(const struct choice *choice);
/* Columns of b that are adjacent in a panel, for each vector of the tile. */
int64_t width_of(const struct layout *t, const struct kernel_target *target);

#endif
