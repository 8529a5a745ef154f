/* Choices for tiled matmuls and convolutions: which exist, which fit, and their predicted costs. */
#include "gemm.h"

#include <string.h>

#define ARM_ACCUMULATORS 20  /* gcc 12 spills none of 20, but 15 of 24 */
#define MOST_ACCUMULATORS 64 /* of a tile from a choice table: more would only spill */
#define STREAM_AHEAD 4096    /* four-byte elements to prefetch, for panels that are read once */
#define NEAR_AHEAD 16        /* k to prefetch ahead into L1 */
#define MOST_NEAR 256

bool gemm_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  return problem->m > 0 && problem->n > 0 && problem->k > 0;
}

bool conv_accepts(const struct problem *problem, const struct kernel_target *target) {
  (void)target;
  int64_t groups = at_least_1(problem->groups);
  return problem->oh > 0 && problem->ow > 0 && problem->kh > 0 && problem->kw > 0 &&
         problem->ic >= groups && problem->oc >= groups && problem->ic % groups == 0 &&
         problem->oc % groups == 0;
}

/* The broadcast needs a register, and so does the multiplication if there is no FMA. Arm
   compilers load several elements of a ahead, each into a register, and spill with more
   accumulators than these. */
int64_t tile_capacity(int64_t vectors, const struct kernel_target *target) {
  bool arm = target->features & FEATURE_NEON;
  bool fused = arm || target->features & FEATURE_FMA;
  int64_t spare = target->vector_registers - vectors - (fused ? 1 : 2);
  if (arm) spare = min_i64(spare, ARM_ACCUMULATORS);
  return max_i64(1, min_i64(spare / vectors, 28));
}

enum { HALVED_BYTES = 10 };
/* As tile_capacity; without a dot-product instruction both 16-bit halves of b and of a need
   registers. */
static int64_t capacity_of(const struct layout *t, int64_t vectors,
                           const struct kernel_target *target) {
  if (t->group == 1) return tile_capacity(vectors, target);
  uint32_t wanted = t->group == 2               ? FEATURE_AVX512_BF16
                    : target->vector_bytes > 32 ? FEATURE_AVX512_VNNI
                                                : FEATURE_AVX_VNNI;
  int64_t others = target->features & wanted ? vectors + 2 : 2 * vectors + 5;
  /* only signed int8 is multiplied: each element of a becomes two vectors, for several pixels at
     a time */
  bool halved = target->features & FEATURE_NEON && !(target->features & FEATURE_I8MM);
  if (t->group == 4 && halved) others += HALVED_BYTES;
  return max_i64(1, min_i64((target->vector_registers - others) / vectors, 28));
}

static double macs_of(const struct layout *t, const struct kernel_target *target) {
  return t->group == 4 ? target->i8_macs : t->group == 2 ? target->bf16_macs : target->f32_macs;
}

/* Tiles of nearly equal size, of `capacity` pixels at most. */
static void choose_pixels(struct layout *t, int64_t capacity) {
  int64_t column_tiles = ceil_div(t->pixel_columns, capacity);
  t->tile.columns = ceil_div(t->pixel_columns, column_tiles);
  t->tile.rows = 1;
  if (column_tiles == 1 && t->pixel_rows > 1) {
    int64_t row_tiles = ceil_div(t->pixel_rows, max_i64(1, capacity / t->tile.columns));
    t->tile.rows = ceil_div(t->pixel_rows, row_tiles);
  }
}

/* Two AMX tiles of pixels: two parts of one run, or two rows of an image. */
static void choose_amx_pixels(struct layout *t) {
  int64_t column_tiles = ceil_div(t->pixel_columns, 2 * AMX_SIDE);
  t->tile.columns = ceil_div(t->pixel_columns, column_tiles);
  t->tile.rows = t->tile.columns <= AMX_SIDE && t->pixel_rows > 1 ? 2 : 1;
}

/* Cycles of one image on AMX tiles: a tile multiplication takes the same time for any number of
   rows, and a tile load half as long; sums are stored and read back. */
static double amx_cycles(const struct layout *t, const struct kernel_target *target) {
  double product = AMX_SIDE * AMX_SIDE * AMX_SIDE * (double)t->group / macs_of(t, target);
  double pixels = t->tile.rows > 1 || t->tile.columns > AMX_SIDE ? 2 : 1;
  double vectors = (double)t->tile.vectors, loads = (pixels + vectors) * product / 2;
  double products = pixels * vectors * product;
  double stores = (double)(t->tile.rows * t->tile.columns) * vectors * 4 + target->amx_tile_cycles;
  double steps = (double)t->k_all / AMX_SIDE;
  return (double)(t->tiles * t->panels) * (steps * (products > loads ? products : loads) + stores);
}

/* Cost of widening a vector of b to floats, in multiply-adds. A dozen without an f16
   instruction. */
static double widening(const struct layout *t, const struct kernel_target *target) {
  const bool has_f16 = target->features & (FEATURE_F16C | FEATURE_NEON);
  return t->group_bytes == 4 ? 0 : t->stored == TYPE_F16 && !has_f16 ? 12 : 1;
}

/* Cycles of one k of one tile. */
static double tile_cycles(const struct layout *t, double pixels, double vectors,
                          const struct kernel_target *target) {
  const double macs = macs_of(t, target) / (double)t->group, unroll = (double)t->tile.k_unroll;
  double cycles = (pixels + widening(t, target)) * vectors * (double)lanes_of(target) / macs;
  double b_bytes = vectors * (double)(lanes_of(target) * t->group_bytes);
  if (cycles < (pixels + vectors) / target->loads) cycles = (pixels + vectors) / target->loads;
  /* with just enough sums to hide the latency, every late load stalls */
  const double latency = 1.25 * target->fma_latency / unroll;
  if (cycles < latency) cycles = latency;
  if (cycles < b_bytes / target->l2_bytes_per_cycle) cycles = b_bytes / target->l2_bytes_per_cycle;
  return cycles;
}

static bool is_among(int64_t x, const int64_t *list, int count) {
  for (int i = 0; i < count; i++)
    if (list[i] == x) return true;
  return false;
}

/* Cache lines of a that each k reads from L2 again: lines of a tile that map to the same L1 set
   and exceed its ways. If pixels are whole pages apart, all lines do, and a tile of fewer pixels
   is faster. */
static double refetched_lines(const struct layout *t, const struct kernel_target *target) {
  const int64_t sets = (int64_t)target->l1_way_bytes / LINE_BYTES;
  const int64_t ways = (int64_t)(target->l1_bytes / target->l1_way_bytes), size = 4 / t->group;
  int64_t lines[MOST_ACCUMULATORS];
  int count = 0, beyond = 0;
  for (int64_t y = 0; y < t->tile.rows; y++)
    for (int64_t x = 0; x < t->tile.columns; x++) {
      int64_t line = (y * t->row_stride + x * t->column_stride) * size / LINE_BYTES, same = 0;
      if (count == MOST_ACCUMULATORS || is_among(line, lines, count)) continue;
      for (int i = 0; i < count; i++) same += (lines[i] - line) % sets == 0;
      beyond += same >= ways;
      lines[count++] = line;
    }
  return beyond;
}

/* Cycles of one image with the tile; the start and end of a tile cost about twice its registers. */
static double image_cycles(const struct layout *t, const struct kernel_target *target) {
  const struct tile *tile = &t->tile;
  int64_t lanes = lanes_of(target), full = t->columns / t->panel_width;
  int64_t tail = ceil_div(t->columns % t->panel_width, lanes);
  int64_t row_tiles = t->pixel_rows / tile->rows, row_rest = t->pixel_rows % tile->rows;
  double total = 0;
  double refetch = refetched_lines(t, target) * LINE_BYTES / target->l2_bytes_per_cycle;
  for (int part = 0; part < 2; part++) {
    double vectors = (double)(part ? tail : tile->vectors), panels = part ? tail > 0 : (double)full;
    double counts[3] = {(double)(row_tiles * t->wide_tiles),
                        (double)(row_tiles * (t->column_tiles - t->wide_tiles)), row_rest > 0};
    double pixels[3] = {(double)(tile->rows * tile->columns),
                        (double)(tile->rows * (tile->columns - 1)),
                        (double)(row_rest * tile->columns)};
    for (int i = 0; i < 3; i++)
      if (counts[i] > 0 && panels > 0)
        total += panels * counts[i] *
                 ((double)t->k_all * (tile_cycles(t, pixels[i], vectors, target) + refetch) + 10 +
                  2 * pixels[i] * vectors);
  }
  return total;
}

static int64_t unroll_for(const struct layout *t, const struct kernel_target *target) {
  int64_t registers = t->tile.rows * t->tile.columns * t->tile.vectors, unroll = 1;
  while (registers * unroll < 8 && t->depth >= 8 * unroll &&
         registers * unroll * 2 + t->tile.vectors + 1 <= target->vector_registers)
    unroll *= 2;
  return unroll;
}

/* Blocks of k such that a panel of b fits well into L2. */
static void choose_blocks(struct layout *t, const struct problem *problem,
                          const struct kernel_target *target) {
  int64_t panel_budget = (int64_t)(target->l2_bytes / 4) / (t->panel_width * t->group_bytes);
  t->tile.tap_block = t->taps;
  t->tile.depth_block = t->depth;
  if (t->group > 1 || problem->types.c != TYPE_F32) return; /* c cannot hold partial sums */
  if (t->tiles == 1 || t->k_all <= panel_budget * 3 / 2) return;
  if (t->taps > 1) {
    int64_t fit = max_i64(1, panel_budget / (t->taps_x * t->depth));
    t->tile.tap_block = ceil_div(t->taps, ceil_div(t->taps, fit));
  } else if (t->taps_x == 1) {
    int64_t count = ceil_div(t->depth, max_i64(64, panel_budget));
    t->tile.depth_block = min_i64(t->depth, ceil_div(ceil_div(t->depth, count), 16) * 16);
  }
}

/* If L2 holds neither operand, either a block of tiles stays in L2 while all panels pass (b is
   read again per block), or a panel stays (a is read again per panel). Windows overlap, so a is
   smaller than its tiles. Not measured on AMX. */
static bool choose_rows_first(struct layout *t, int64_t threads, int64_t fit, int64_t a_tile_bytes,
                              int64_t b_bytes) {
  struct tile *tile = &t->tile;
  const int64_t a_bytes = t->tiles * a_tile_bytes, blocks = ceil_div(t->tiles, fit);
  const int64_t shared = min_i64(t->tiles, ceil_div(blocks, threads) * threads);
  if (t->amx || t->outer * t->inner * t->taps * t->taps_x > 1 || blocks < 2) return false;
  /* at half the bytes a matmul took 1.04 times as long, at a sixth 0.97 times */
  if (4 * (b_bytes * shared + a_bytes) >= b_bytes + a_bytes * t->panels) return false;
  tile->rows_first = 1;
  tile->unit_panels = 1;
  tile->unit_tiles = ceil_div(t->tiles, shared);
  tile->ahead = ceil_div(t->panel_width, tile->unit_tiles);
  return true;
}

/* Sets the work items: the work that a thread takes at a time. The larger operand is read once,
   the other stays in L2. If b stays, a work item is as few tiles as share L1 with a panel, times
   all panels: rows of a are read from L2 once, whole rows of c are written, and a thread keeps
   its rows from one step to the next. Not measured on AMX; no gain for int8 on one thread. */
static void choose_units(struct layout *t, const struct kernel_target *target) {
  struct tile *tile = &t->tile;
  int64_t l2 = (int64_t)target->l2_bytes, threads = max_i64(1, target->threads);
  int64_t pixels = tile->rows * tile->columns;
  int64_t k_block = tile->tap_block * t->taps_x * tile->depth_block;
  int64_t a_tile_bytes = at_least_1(pixels * k_block * 4),
          b_bytes = t->k_all * t->panel_width * t->panels * t->group_bytes;
  int64_t goal = 4 * threads;
  int64_t fit_tiles = max_i64(1, l2 / 2 / a_tile_bytes);
  const int64_t near_tiles = max_i64(1, (int64_t)target->l1_bytes / 3 / a_tile_bytes);
  const bool by_rows = !t->amx && (t->group < 4 || threads > 1);
  /* panels divide evenly and all of a stays in L2: one panel per work item */
  bool a_stays = fit_tiles >= t->tiles && t->outer * t->inner * t->panels % threads == 0;
  bool b_stays = t->tiles >= goal && b_bytes <= (by_rows && threads > 1 ? l2 / 8 * 5 : l2 / 2) &&
                 (by_rows || !a_stays);
  if (!b_stays && choose_rows_first(t, threads, fit_tiles, a_tile_bytes, b_bytes)) return;
  tile->unit_panels = b_stays ? t->panels : 1;
  int64_t blocks = ceil_div(t->tiles, fit_tiles);
  int64_t others = t->outer * t->inner * ceil_div(t->panels, tile->unit_panels);
  if (others % threads && others < 2 * goal) blocks = max_i64(blocks, ceil_div(2 * goal, others));
  if (b_stays) blocks = max_i64(blocks, min_i64(t->tiles, ceil_div(2 * goal, others)));
  if (b_stays && by_rows && t->panels > 1) blocks = max_i64(blocks, ceil_div(t->tiles, near_tiles));
  blocks = min_i64(blocks, t->tiles);
  tile->unit_tiles = ceil_div(t->tiles, blocks);
  /* Int8 weights are streamed too: those of a whole model exceed L2 between two runs. */
  if ((b_bytes > l2 / 2 || t->group == 4) && tile->unit_tiles > 1)
    tile->ahead = ceil_div(t->panel_width, tile->unit_tiles);
  /* no gain for floats */
  const bool is_float = t->group == 1 && t->group_bytes == 4;
  if (b_bytes > l2 / 2 && t->tiles == 1 && !is_float && !t->amx) tile->ahead = STREAM_AHEAD;
  /* several panels together, so that rows of a in L1 serve all of them, as far as L2 keeps the
     panels for the next rows */
  if (!b_stays) {
    const int64_t units = others * blocks, panel_bytes = t->k_all * t->panel_width * t->group_bytes;
    if (units >= 8 * goal) tile->unit_panels = min_i64(4, units / (8 * goal));
    if (blocks > 1) tile->unit_panels = min_i64(tile->unit_panels, l2 / 2 / panel_bytes);
    tile->unit_panels = at_least_1(tile->unit_panels);
  }
}

/* All rows in one tile of four vectors: each panel of b is read once, and a wide panel without
   interruption. */
static bool has_few_rows(const struct layout *t, const struct kernel_target *target) {
  const int64_t pixels = t->pixel_rows * t->pixel_columns;
  return !t->amx && pixels > 1 && pixels <= capacity_of(t, 4, target);
}

/* The largest thread's number of panels relative to an even share, if each panel is a work item. */
static double unevenness(const struct layout *t, int64_t threads) {
  const int64_t panels = t->outer * t->inner * t->panels;
  return (double)(ceil_div(panels, threads) * threads) / (double)panels;
}

/* Panels that do not fit in L1 next to the rows of a are read from L2 for each tile: prefetches
   them if the tile leaves load slots free. A vector is a cache line; not measured with smaller
   vectors. */
static int64_t near_of(const struct layout *t, const struct kernel_target *target) {
  const int64_t pixels = t->tile.rows * t->tile.columns, vectors = t->tile.vectors;
  const double cycles = (double)(pixels * vectors * lanes_of(target)) / target->f32_macs;
  const bool has_room = (double)(pixels + 2 * vectors + 1) <= target->loads * cycles;
  const bool streams = t->k_all * t->panel_width * 4 > (int64_t)target->l1_bytes / 2;
  const bool is_known = t->group == 1 && t->group_bytes == 4 && t->tile.k_unroll == 1;
  return is_known && target->vector_bytes == LINE_BYTES && has_room && streams ? NEAR_AHEAD : 0;
}

/* Cost and cycles: the multiply-adds divided over all cores, or one pass over the weights. */
static void predict(const struct layout *t, const struct kernel_target *target,
                    struct choice *out) {
  double threads = (double)max_i64(1, target->threads);
  out->cycles = (t->amx ? amx_cycles(t, target) : image_cycles(t, target)) *
                (double)(t->outer * t->inner) / threads;
  if (has_few_rows(t, target)) out->cycles *= unevenness(t, max_i64(1, target->threads));
  double weights = (double)(t->outer * t->k_all * t->columns * t->group_bytes) /
                   target->memory_bytes_per_cycle / (threads > 1 ? target->memory_sharing : 1);
  out->cost = (out->cycles > weights ? out->cycles : weights) / target->clock_ghz / 0.97;
}

/* One choice per width: the tile that fills the registers. Two vectors come first; for 2 to 8
   rows four vectors, which took 0.77 to 0.94 of the time on AVX-512. */
bool gemm_enumerate(const struct problem *problem, const struct kernel_target *target, int index,
                    struct choice *out) {
  static const int64_t orders[2][7] = {{2, 1, 3, 4, 5, 6, 8}, {4, 2, 1, 3, 5, 6, 8}};
  struct layout t;
  gemm_describe(problem, out, &t);
  const int64_t *widths = orders[has_few_rows(&t, target)];
  int64_t most = t.amx ? 2 : max_i64(2, ceil_div(t.columns, lanes_of(target)));
  for (int i = 0; i < COUNT(orders[0]); i++) {
    if (widths[i] > most || index--) continue;
    t.tile.vectors = widths[i];
    if (t.amx)
      choose_amx_pixels(&t);
    else
      choose_pixels(&t, capacity_of(&t, widths[i], target));
    gemm_cut(&t, target);
    t.tile.k_unroll = t.amx ? 1 : unroll_for(&t, target);
    choose_blocks(&t, problem, target);
    choose_units(&t, target);
    t.tile.registers = t.group > 1 || t.k_all <= 256;
    t.tile.near = near_of(&t, target);
    memcpy(out->value, &t.tile, sizeof t.tile);
    predict(&t, target, out);
    return true;
  }
  return false;
}

static bool in_range(int64_t x, int64_t low, int64_t high) { return x >= low && x <= high; }

bool gemm_fits(const struct problem *problem, const struct kernel_target *target,
               struct choice *choice) {
  struct layout t;
  gemm_describe(problem, choice, &t);
  t.tile = tile_of(choice);
  const struct tile *tile = &t.tile;
  bool sound = in_range(tile->vectors, 1, 8) && in_range(tile->rows, 1, t.pixel_rows) &&
               in_range(tile->columns, 1, t.pixel_columns) && in_range(tile->k_unroll, 1, 8) &&
               in_range(tile->tap_block, 1, t.taps) && in_range(tile->depth_block, 1, t.depth) &&
               in_range(tile->ahead, 0, STREAM_AHEAD) && in_range(tile->registers, 0, 1) &&
               in_range(tile->rows_first, 0, 1) && in_range(tile->near, 0, MOST_NEAR);
  if (!sound || tile->rows > MOST_ACCUMULATORS || tile->columns > MOST_ACCUMULATORS ||
      tile->rows * tile->columns * tile->vectors * tile->k_unroll > MOST_ACCUMULATORS)
    return false;
  int64_t most = tile->rows > 1 ? AMX_SIDE : 2 * AMX_SIDE;
  if (t.amx && (tile->vectors > 2 || tile->rows > 2 || tile->columns > most || tile->k_unroll > 1))
    return false;
  gemm_cut(&t, target);
  /* only tiles of one row may be split into pixel rows; k within a tap only if there is one tap */
  if (t.wide_tiles < 1 || (tile->rows > 1 && t.column_tiles > 1)) return false;
  if (tile->depth_block < t.depth && t.taps * t.taps_x > 1) return false;
  bool whole = tile->tap_block == t.taps && tile->depth_block == t.depth;
  if (t.group > 1 && (!whole || !tile->registers || tile->near)) return false;
  if (problem->types.c != TYPE_F32 && !whole) return false;
  if (!in_range(tile->unit_tiles, 1, t.tiles) || !in_range(tile->unit_panels, 1, t.panels))
    return false;
  predict(&t, target, choice);
  return true;
}

bool conv_enumerate(const struct problem *problem, const struct kernel_target *target, int index,
                    struct choice *out) {
  return gemm_enumerate(problem, target, index, out);
}
bool conv_fits(const struct problem *problem, const struct kernel_target *target,
               struct choice *choice) {
  return gemm_fits(problem, target, choice);
}
