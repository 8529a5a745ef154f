/* Tiling and packing of text/gemm_f32.c: matrix products and convolutions as implicit products.
 * In: the problem and the target. Out: the literals that shape the text. The choice is a pure
 * function of both, so packing at compile time and the code agree. */
#include <string.h>

#include "families.h"

#define ARM_ACCUMULATORS 20 /* gcc 12: none spilled; 15 of 24 are */
#define FMA_LATENCY 4.0     /* cycles; two FMAs and two loads start in each */
#define L2_BYTES_PER_CYCLE 32.0

/* Names as in the text. */
struct tiling {
  int64_t pixel_rows, pixel_columns, outer, inner;
  int64_t tile_rows, tile_columns, column_tiles, wide_tiles;
  int64_t vectors, k_unroll;
  int64_t tap_block, depth_block;
  int64_t unit_tiles, unit_panels, ahead;
  /* not in the text */
  int64_t columns, taps, taps_x, depth, k_all, tiles, panels, panel_width;
};

/* The problem as a grid of pixels and the k that runs over them. */
static void describe_gemm(const struct problem *p, struct tiling *t) {
  int64_t batch0 = at_least_1(p->batch0), batch1 = at_least_1(p->batch1);
  t->pixel_rows = 1;
  t->pixel_columns = p->m;
  t->outer = p->b_batches > 1 ? batch0 * batch1 : 1;
  t->inner = p->b_batches > 1 ? 1 : batch0 * batch1;
  t->columns = p->n;
  t->taps = t->taps_x = 1;
  t->depth = p->k;
  /* Batches that follow one another with the stride of a row are rows of one product. */
  bool inner_joins =
      batch1 == 1 || (p->a_batch1 == p->m * p->a_row && p->c_batch1 == p->m * p->c_row);
  int64_t rows = p->m * batch1;
  bool outer_joins =
      batch0 == 1 || (p->a_batch0 == rows * p->a_row && p->c_batch0 == rows * p->c_row);
  if (t->outer == 1 && inner_joins && outer_joins) {
    t->pixel_columns = rows * batch0;
    t->inner = 1;
  }
}

static void describe_conv(const struct problem *p, struct tiling *t) {
  int64_t groups = at_least_1(p->groups), images = at_least_1(p->images);
  t->pixel_rows = p->oh;
  t->pixel_columns = p->ow;
  t->outer = groups;
  t->inner = images;
  t->columns = p->oc / groups;
  t->taps = p->kh;
  bool row_contiguous = at_least_1(p->dw) == 1 && p->i_pixel == p->ic / groups;
  t->taps_x = row_contiguous ? 1 : p->kw;
  t->depth = p->ic / groups * (row_contiguous ? p->kw : 1);
  /* Rows of pixels that follow one another with the stride of a pixel are one row. */
  if (p->oh == 1 ||
      (p->sh * p->i_row == p->ow * p->sw * p->i_pixel && p->o_row == p->ow * p->o_pixel)) {
    t->pixel_rows = 1;
    t->pixel_columns = p->oh * p->ow;
    if (images == 1 || (p->i_image == t->pixel_columns * p->sw * p->i_pixel &&
                        p->o_image == t->pixel_columns * p->o_pixel)) {
      t->pixel_columns *= images;
      t->inner = 1;
    }
  }
}

/* The broadcast needs a register, without FMA the product another. On Arm compilers fetch several
   elements of a ahead, each in a register; more accumulators than these are spilled. */
int64_t tile_capacity(int64_t vectors, const struct kernel_target *target) {
  bool arm = target->features & FEATURE_NEON;
  bool fused = arm || target->features & FEATURE_FMA;
  int64_t spare = target->vector_registers - vectors - (fused ? 1 : 2);
  if (arm) spare = min_i64(spare, ARM_ACCUMULATORS);
  return max_i64(1, min_i64(spare / vectors, 28));
}

/* Cuts the pixels in tiles of nearly equal size. */
static void cut_pixels(struct tiling *t, int64_t capacity) {
  t->column_tiles = ceil_div(t->pixel_columns, capacity);
  t->tile_columns = ceil_div(t->pixel_columns, t->column_tiles);
  t->wide_tiles = t->column_tiles - (t->tile_columns * t->column_tiles - t->pixel_columns);
  t->tile_rows = 1;
  if (t->column_tiles == 1 && t->pixel_rows > 1) {
    int64_t row_tiles = ceil_div(t->pixel_rows, max_i64(1, capacity / t->tile_columns));
    t->tile_rows = ceil_div(t->pixel_rows, row_tiles);
  }
  t->tiles = ceil_div(t->pixel_rows, t->tile_rows) * t->column_tiles;
}

/* Cycles of one k of one tile. */
static double tile_cycles(double pixels, double vectors, double unroll, double b_bytes) {
  double cycles = pixels * vectors / 2;
  if (cycles < (pixels + vectors) / 2) cycles = (pixels + vectors) / 2;
  if (cycles < FMA_LATENCY / unroll) cycles = FMA_LATENCY / unroll;
  if (cycles < b_bytes / L2_BYTES_PER_CYCLE) cycles = b_bytes / L2_BYTES_PER_CYCLE;
  return cycles;
}

/* Cycles of one image with the tiling; start and end of a tile cost about its registers twice. */
static double tiling_cycles(const struct tiling *t, const struct kernel_target *target) {
  int64_t lanes = lanes_of(target), full = t->columns / t->panel_width;
  int64_t tail = ceil_div(t->columns % t->panel_width, lanes);
  int64_t row_tiles = t->pixel_rows / t->tile_rows, row_rest = t->pixel_rows % t->tile_rows;
  double total = 0;
  for (int part = 0; part < 2; part++) {
    double vectors = (double)(part ? tail : t->vectors), panels = part ? tail > 0 : (double)full;
    double counts[3] = {(double)(row_tiles * t->wide_tiles),
                        (double)(row_tiles * (t->column_tiles - t->wide_tiles)), row_rest > 0};
    double pixels[3] = {(double)(t->tile_rows * t->tile_columns),
                        (double)(t->tile_rows * (t->tile_columns - 1)),
                        (double)(row_rest * t->tile_columns)};
    for (int i = 0; i < 3; i++)
      if (counts[i] > 0 && panels > 0)
        total += panels * counts[i] *
                 ((double)t->k_all * tile_cycles(pixels[i], vectors, (double)t->k_unroll,
                                                 vectors * target->vector_bytes) +
                  10 + 2 * pixels[i] * vectors);
  }
  return total;
}

static int64_t unroll_for(const struct tiling *t, const struct kernel_target *target) {
  int64_t registers = t->tile_rows * t->tile_columns * t->vectors, unroll = 1;
  while (registers * unroll < 8 && t->depth >= 8 * unroll &&
         registers * unroll * 2 + t->vectors + 1 <= target->vector_registers)
    unroll *= 2;
  return unroll;
}

/* The tile of least predicted cycles; two vectors wide unless another is clearly better. */
static void choose_tile(struct tiling *t, const struct kernel_target *target) {
  static const int64_t widths[] = {2, 1, 3, 4, 5, 6, 8};
  struct tiling best = *t;
  double best_cycles = 0;
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    struct tiling now = *t;
    now.vectors = widths[i];
    if (i && now.vectors > ceil_div(t->columns, lanes_of(target))) continue;
    now.panel_width = now.vectors * lanes_of(target);
    cut_pixels(&now, tile_capacity(now.vectors, target));
    now.k_unroll = unroll_for(&now, target);
    double cycles = tiling_cycles(&now, target);
    if (i && cycles >= 0.97 * best_cycles) continue;
    best = now;
    best_cycles = cycles;
  }
  *t = best;
  t->panels = ceil_div(t->columns, t->panel_width);
}

/* Blocks of k so that a panel of b stays well inside L2. */
static void choose_blocks(struct tiling *t, const struct kernel_target *target) {
  int64_t panel_budget = (int64_t)(target->l2_bytes / 4) / (t->panel_width * 4);
  t->tap_block = t->taps;
  t->depth_block = t->depth;
  if (t->tiles == 1 || t->k_all <= panel_budget * 3 / 2) return;
  if (t->taps > 1) {
    int64_t fit = max_i64(1, panel_budget / (t->taps_x * t->depth));
    t->tap_block = ceil_div(t->taps, ceil_div(t->taps, fit));
  } else if (t->taps_x == 1) {
    int64_t count = ceil_div(t->depth, max_i64(64, panel_budget));
    t->depth_block = ceil_div(ceil_div(t->depth, count), 16) * 16;
  }
}

/* Units: what one thread does at a time. The larger operand is read once, the other stays in L2. */
static void choose_units(struct tiling *t, const struct kernel_target *target) {
  int64_t l2 = (int64_t)target->l2_bytes, threads = max_i64(1, target->threads);
  int64_t pixels = t->tile_rows * t->tile_columns;
  int64_t k_block = t->tap_block * t->taps_x * t->depth_block;
  int64_t a_tile_bytes = at_least_1(pixels * k_block * 4),
          b_bytes = t->k_all * t->panel_width * t->panels * 4;
  int64_t goal = 4 * threads;
  int64_t fit_tiles = max_i64(1, l2 / 2 / a_tile_bytes);
  /* Panels share out evenly and all of a stays in L2: one panel a unit. */
  bool a_stays = fit_tiles >= t->tiles && t->outer * t->inner * t->panels % threads == 0;
  bool b_stays = b_bytes <= l2 / 2 && t->tiles >= goal && !a_stays;
  t->unit_panels = b_stays ? t->panels : 1;
  int64_t blocks = ceil_div(t->tiles, fit_tiles);
  int64_t others = t->outer * t->inner * ceil_div(t->panels, t->unit_panels);
  if (others % threads && others < 2 * goal) blocks = max_i64(blocks, ceil_div(2 * goal, others));
  if (b_stays) blocks = max_i64(blocks, min_i64(t->tiles, ceil_div(2 * goal, others)));
  blocks = min_i64(blocks, t->tiles);
  t->unit_tiles = ceil_div(t->tiles, blocks);
  if (b_bytes > l2 / 2 && t->unit_tiles > 1) t->ahead = ceil_div(t->panel_width, t->unit_tiles);
  if (!b_stays) { /* some panels together, so that a's rows in L1 serve several */
    int64_t units = others * blocks;
    if (units >= 8 * goal) t->unit_panels = min_i64(4, units / (8 * goal));
    t->unit_panels = at_least_1(t->unit_panels);
  }
}

static void tiling_init(struct tiling *t, const struct problem *problem,
                        const struct kernel_target *target) {
  memset(t, 0, sizeof *t);
  if (problem->kind == PROBLEM_gemm)
    describe_gemm(problem, t);
  else
    describe_conv(problem, t);
  t->k_all = t->taps * t->taps_x * t->depth;
  choose_tile(t, target);
  choose_blocks(t, target);
  choose_units(t, target);
}

static int write_defines(const struct tiling *t, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  const struct kernel_define all[] = {
      {"PIXEL_ROWS", t->pixel_rows},
      {"PIXEL_COLUMNS", t->pixel_columns},
      {"OUTER", t->outer},
      {"INNER", t->inner},
      {"TILE_ROWS", t->tile_rows},
      {"TILE_COLUMNS", t->tile_columns},
      {"COLUMN_TILES", t->column_tiles},
      {"WIDE_TILES", t->wide_tiles},
      {"VECTORS", t->vectors},
      {"K_UNROLL", t->k_unroll},
      {"TAP_BLOCK", t->tap_block},
      {"DEPTH_BLOCK", t->depth_block},
      {"UNIT_TILES", t->unit_tiles},
      {"UNIT_PANELS", t->unit_panels},
      {"AHEAD", t->ahead},
      {"EPILOGUE_IN_REGISTERS", t->k_all <= 256},
  };
  _Static_assert(sizeof all / sizeof all[0] <= KERNEL_DEFINES_MAX,
                 "more defines than a row may have");
  memcpy(defines, all, sizeof all);
  return (int)(sizeof all / sizeof all[0]);
}

static int64_t count_units(const struct tiling *t) {
  return t->outer * t->inner * ceil_div(t->panels, t->unit_panels) *
         ceil_div(t->tiles, t->unit_tiles);
}

bool gemm_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return problem->dtype == 1 && problem->m > 0 && problem->n > 0 && problem->k > 0;
}
int gemm_choose(const struct problem *problem, const struct kernel_target *target,
                struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  struct tiling t;
  tiling_init(&t, problem, target);
  return write_defines(&t, defines);
}
int64_t gemm_units(const struct problem *problem, const struct kernel_target *target) {
  struct tiling t;
  tiling_init(&t, problem, target);
  return count_units(&t);
}
size_t gemm_packed_bytes(const struct problem *problem, const struct kernel_target *target) {
  struct tiling t;
  tiling_init(&t, problem, target);
  return (size_t)(t.outer * t.panels * t.k_all * t.panel_width) * sizeof(float);
}
int64_t gemm_pack_units(const struct problem *problem, const struct kernel_target *target) {
  struct tiling t;
  tiling_init(&t, problem, target);
  return t.outer * t.panels;
}

void gemm_pack(const struct problem *problem, const struct kernel_target *target, const float *b,
               float *packed) {
  struct tiling t;
  tiling_init(&t, problem, target);
  int64_t batch1 = at_least_1(problem->batch1);
  for (int64_t outer = 0; outer < t.outer; outer++) {
    const float *from = b + outer / batch1 * problem->b_batch0 + outer % batch1 * problem->b_batch1;
    for (int64_t panel = 0; panel < t.panels; panel++)
      for (int64_t k = 0; k < t.k_all; k++)
        for (int64_t j = 0; j < t.panel_width; j++) {
          int64_t n = panel * t.panel_width + j;
          *packed++ = n < t.columns ? from[k * problem->b_row + n * problem->b_column] : 0.0f;
        }
  }
}

bool conv_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  int64_t groups = at_least_1(problem->groups);
  return problem->dtype == 1 && problem->oh > 0 && problem->ow > 0 && problem->kh > 0 &&
         problem->kw > 0 && problem->ic >= groups && problem->oc >= groups &&
         problem->ic % groups == 0 && problem->oc % groups == 0;
}
int conv_choose(const struct problem *problem, const struct kernel_target *target,
                struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  return gemm_choose(problem, target, defines);
}
int64_t conv_units(const struct problem *problem, const struct kernel_target *target) {
  return gemm_units(problem, target);
}
size_t conv_packed_bytes(const struct problem *problem, const struct kernel_target *target) {
  return gemm_packed_bytes(problem, target);
}

/* ONNX order [oc, ic / groups, kh, kw] to [group, panel, kh, kw, ic / groups, lane]. */
void conv_pack(const struct problem *problem, const struct kernel_target *target, const float *b,
               float *packed) {
  struct tiling t;
  tiling_init(&t, problem, target);
  int64_t ic = problem->ic / t.outer, area = problem->kh * problem->kw;
  for (int64_t group = 0; group < t.outer; group++)
    for (int64_t panel = 0; panel < t.panels; panel++)
      for (int64_t tap = 0; tap < area; tap++)
        for (int64_t i = 0; i < ic; i++)
          for (int64_t j = 0; j < t.panel_width; j++) {
            int64_t n = panel * t.panel_width + j;
            *packed++ = n < t.columns ? b[((group * t.columns + n) * ic + i) * area + tap] : 0.0f;
          }
}

/* The direct convolution; the clock of the machine does not matter, only the ratio to other rows.
 */
double conv_cost(const struct problem *problem, const struct kernel_target *target) {
  struct tiling t;
  tiling_init(&t, problem, target);
  double threads = (double)max_i64(1, target->threads);
  double cycles = tiling_cycles(&t, target) * (double)(t.outer * t.inner) / threads;
  double weights =
      (double)(t.outer * t.k_all * t.panels * t.panel_width) * 4 / 9.0 / (threads > 1 ? 1.5 : 1);
  return (cycles > weights ? cycles : weights) / 3.8 / 0.97;
}
