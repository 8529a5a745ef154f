/* The defines of the tiled matmul sources, and how their work items are ordered. */
#include "gemm.h"

#include <string.h>

int gemm_defines(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  struct layout t = gemm_layout(problem, target, choice);
  const struct kernel_define all[] = {
      {"PIXEL_ROWS", t.pixel_rows},
      {"PIXEL_COLUMNS", t.pixel_columns},
      {"OUTER", t.outer},
      {"INNER", t.inner},
      {"TILE_ROWS", t.tile.rows},
      {"TILE_COLUMNS", t.tile.columns},
      {"COLUMN_TILES", t.column_tiles},
      {"WIDE_TILES", t.wide_tiles},
      {"VECTORS", t.tile.vectors},
      {"K_UNROLL", t.tile.k_unroll},
      {"TAP_BLOCK", t.tile.tap_block},
      {"DEPTH_BLOCK", t.tile.depth_block},
      {"UNIT_TILES", t.tile.unit_tiles},
      {"UNIT_PANELS", t.tile.unit_panels},
      {"ROWS_FIRST", t.tile.rows_first},
      {"AHEAD", t.tile.ahead},
      {"NEAR", t.tile.near},
      {"EPILOGUE_IN_REGISTERS", t.tile.registers},
      {"K_STEP", t.group},
      {"A_TYPE", problem->types.a},
      {"B_TYPE", problem->types.b},
      {"C_TYPE", problem->types.c},
      {"WIDTH", width_of(&t, target)},
      {"K_GROUPS", t.amx ? AMX_SIDE : 1},
  };
  _Static_assert(COUNT(all) <= KERNEL_DEFINES_MAX, "more defines than a row may have");
  memcpy(defines, all, sizeof all);
  return COUNT(all);
}

/* A vector times a matrix, all of k in one run: no address depends on a literal. */
int gemm_shared_defines(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice,
                        struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes) {
  const struct layout t = gemm_layout(problem, target, choice);
  const struct kernel_define all[] = {
      {"VECTORS", t.tile.vectors},
      {"K_UNROLL", t.tile.k_unroll},
      {"AHEAD", t.tile.ahead},
      {"A_TYPE", problem->types.a},
      {"B_TYPE", problem->types.b},
      {"C_TYPE", problem->types.c},
      {"DEPTH_ALL", t.depth},
      {"COLUMNS_ALL", t.columns},
      {"UNIT_PANELS", t.tile.unit_panels},
  };
  const bool is_vector = t.outer * t.inner * t.pixel_rows * t.pixel_columns == 1 &&
                         t.taps * t.taps_x == 1 && t.tile.depth_block == t.depth;
  *out_sizes = 3;
  memcpy(defines, all, sizeof all);
  return is_vector ? COUNT(all) : 0;
}

bool kernel_sums_at_once(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice) {
  struct layout t = gemm_layout(problem, target, choice);
  return t.tile.tap_block == t.taps && t.tile.depth_block == t.depth;
}

int64_t gemm_units(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice) {
  struct layout t = gemm_layout(problem, target, choice);
  return t.outer * t.inner * ceil_div(t.panels, t.tile.unit_panels) *
         ceil_div(t.tiles, t.tile.unit_tiles);
}

/* Rows or images: the blocks of tiles of all merged batches, or of each batch. Tiles with one
   column less come last. */
void gemm_limits(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, int64_t *out_batches, int64_t *out_pixels) {
  const struct layout t = gemm_layout(problem, target, choice);
  *out_batches = problem->kind == PROBLEM_conv ? t.inner : t.outer * t.inner;
  *out_pixels = t.pixel_rows == 1 ? t.pixel_columns : t.pixel_rows;
}

bool gemm_active_prefix(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice, enum prefix_of of, struct active_prefix *out) {
  struct layout t = gemm_layout(problem, target, choice);
  if (t.tile.rows_first) return false;
  const bool is_conv = problem->kind == PROBLEM_conv;
  const int64_t blocks = ceil_div(t.tiles, t.tile.unit_tiles);
  const int64_t width = t.tile.columns - (t.wide_tiles < t.column_tiles);
  /* of one image or batch */
  const int64_t pixels = is_conv ? problem->oh * problem->ow : problem->m;
  const int64_t count = is_conv ? at_least_1(problem->images)
                                : at_least_1(problem->batch0) * at_least_1(problem->batch1);
  const bool joined = t.pixel_rows == 1 && t.pixel_columns == pixels * count;
  const bool in_one = t.pixel_rows == 1 && t.pixel_columns == pixels;
  if (of == PREFIX_IMAGE_ROWS && in_one) {
    const int64_t row = problem->oh == 1 ? 1 : problem->ow;
    *out = (struct active_prefix){blocks, row, t.tile.unit_tiles * width, 0};
  } else if (of == PREFIX_IMAGE_ROWS && is_conv && t.pixel_rows == problem->oh) {
    const int64_t rows = t.tile.rows; /* the last tile may begin at the last row */
    *out = (struct active_prefix){blocks, t.column_tiles, rows * t.tile.unit_tiles,
                                  (rows - 1) * t.column_tiles};
  } else if (of == PREFIX_BATCH_ROWS ? !is_conv && in_one : of == PREFIX_ALL && joined) {
    *out = (struct active_prefix){blocks, is_conv ? pixels : 1, t.tile.unit_tiles * width, 0};
  } else if (of != PREFIX_ALL) {
    return false;
  } else if (is_conv) {
    *out = (struct active_prefix){t.inner * blocks, blocks, 1, 0};
  } else {
    int64_t panels = t.outer > 1 ? ceil_div(t.panels, t.tile.unit_panels) : 1;
    *out = (struct active_prefix){t.outer * t.inner * panels * blocks, panels * blocks, pixels, 0};
  }
  return true;
}

int conv_defines(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  return gemm_defines(problem, target, choice, defines);
}
int64_t conv_units(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice) {
  return gemm_units(problem, target, choice);
}
