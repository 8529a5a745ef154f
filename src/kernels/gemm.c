/* Choices and packing of text/gemm_f32.c, gemm_vector_f32.c, gemm_dot.c and gemm_amx.c: matrix products and
 * convolutions as implicit products on one register tile. A choice says the tile, the blocks of k and the units; what else shapes the
 * text follows from it and the problem (lay_out). */
#include <string.h>

#include "families.h"

#define ARM_ACCUMULATORS 20  /* gcc 12: none spilled; 15 of 24 are */
#define MOST_ACCUMULATORS 64 /* of a tile that someone hands in: more only spills */
#define LINE_BYTES 64        /* of a cache */
#define STREAM_AHEAD 4096    /* four-byte elements, of panels that are read once */
#define NEAR_AHEAD 16        /* k that a panel is fetched into L1 ahead */
#define AMX_SIDE 16          /* pixels, columns and groups of k of an AMX tile */

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
};
_Static_assert(sizeof(struct tile) <= sizeof((struct choice *)0)->value, "too many values");

static struct tile tile_of(const struct choice *choice) {
  struct tile tile;
  memcpy(&tile, choice->value, sizeof tile);
  return tile;
}

/* The product as the text sees it: first what follows from the problem alone. */
struct layout {
  int64_t pixel_rows, pixel_columns, outer, inner;
  int64_t columns, taps, taps_x;
  int64_t row_stride, column_stride; /* of pixels, in elements of a */
  int64_t group;                     /* elements of k in four bytes, summed by one lane at a time */
  int64_t elements;                  /* of k in one tap */
  int64_t depth, k_all;              /* groups of k in one tap, in all */
  bool amx;                          /* on AMX tiles: two of pixels by two of columns */
  struct tile tile;
  int64_t panel_width, panels, column_tiles, wide_tiles, tiles;
};

/* The problem as a grid of pixels and the k that runs over them. */
static void describe_gemm(const struct problem *p, struct layout *t) {
  int64_t batch0 = at_least_1(p->batch0), batch1 = at_least_1(p->batch1);
  t->pixel_rows = 1;
  t->pixel_columns = p->m;
  t->column_stride = p->a_row;
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

static void describe_conv(const struct problem *p, struct layout *t) {
  int64_t groups = at_least_1(p->groups), images = at_least_1(p->images);
  t->pixel_rows = p->oh;
  t->pixel_columns = p->ow;
  t->row_stride = p->sh * p->i_row;
  t->column_stride = p->sw * p->i_pixel;
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

enum { HALVED_BYTES = 10 };
/* As tile_capacity; without a dot product both halves of b, and of a, take registers. */
static int64_t capacity_of(const struct layout *t, int64_t vectors,
                           const struct kernel_target *target) {
  if (t->group == 1) return tile_capacity(vectors, target);
  uint32_t wanted = t->group == 2               ? FEATURE_AVX512_BF16
                    : target->vector_bytes > 32 ? FEATURE_AVX512_VNNI
                                                : FEATURE_AVX_VNNI;
  int64_t others = target->features & wanted ? vectors + 2 : 2 * vectors + 5;
  /* signed bytes alone are multiplied: each element of a is two vectors, of several pixels at a time */
  bool halved = target->features & FEATURE_NEON && !(target->features & FEATURE_I8MM);
  if (t->group == 4 && halved) others += HALVED_BYTES;
  return max_i64(1, min_i64((target->vector_registers - others) / vectors, 28));
}

static int64_t group_of(const struct problem *problem) {
  return problem->types.acc == TYPE_I32 ? 4 : problem->types.a == TYPE_BF16 ? 2 : 1;
}

static double macs_of(const struct layout *t, const struct kernel_target *target) {
  return t->group == 4 ? target->i8_macs : t->group == 2 ? target->bf16_macs : target->f32_macs;
}

static void describe(const struct problem *problem, const struct choice *choice, struct layout *t) {
  *t = (struct layout){.amx = choice->kernel->features & FEATURE_AMX_TILE};
  if (problem->kind == PROBLEM_gemm)
    describe_gemm(problem, t);
  else
    describe_conv(problem, t);
  t->group = group_of(problem);
  t->elements = t->depth;
  t->depth = ceil_div(t->elements, t->group);
  if (t->amx) t->depth = ceil_div(t->depth, AMX_SIDE) * AMX_SIDE; /* whole tiles of b */
  t->k_all = t->taps * t->taps_x * t->depth;
}

/* Columns of b that stand together in a panel. */
static int64_t width_of(const struct layout *t, const struct kernel_target *target) {
  return t->amx ? AMX_SIDE : lanes_of(target);
}

/* What follows from the tile. */
static void cut(struct layout *t, const struct kernel_target *target) {
  const struct tile *tile = &t->tile;
  t->panel_width = tile->vectors * width_of(t, target);
  t->panels = ceil_div(t->columns, t->panel_width);
  t->column_tiles = ceil_div(t->pixel_columns, tile->columns);
  t->wide_tiles = t->column_tiles - (tile->columns * t->column_tiles - t->pixel_columns);
  t->tiles = ceil_div(t->pixel_rows, tile->rows) * t->column_tiles;
}

static struct layout lay_out(const struct problem *problem, const struct kernel_target *target,
                             const struct choice *choice) {
  struct layout t;
  describe(problem, choice, &t);
  t.tile = tile_of(choice);
  cut(&t, target);
  return t;
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

/* Two AMX tiles of pixels: halves of one run of them, or two rows of an image. */
static void choose_amx_pixels(struct layout *t) {
  int64_t column_tiles = ceil_div(t->pixel_columns, 2 * AMX_SIDE);
  t->tile.columns = ceil_div(t->pixel_columns, column_tiles);
  t->tile.rows = t->tile.columns <= AMX_SIDE && t->pixel_rows > 1 ? 2 : 1;
}

/* Cycles of one image on AMX tiles: a product of two takes as long however many rows they have, and
   loading one half as long; sums are stored and read back. */
static double amx_cycles(const struct layout *t, const struct kernel_target *target) {
  double product = AMX_SIDE * AMX_SIDE * AMX_SIDE * (double)t->group / macs_of(t, target);
  double pixels = t->tile.rows > 1 || t->tile.columns > AMX_SIDE ? 2 : 1;
  double vectors = (double)t->tile.vectors, loads = (pixels + vectors) * product / 2;
  double products = pixels * vectors * product;
  double stores = (double)(t->tile.rows * t->tile.columns) * vectors * 4 + 60;
  double steps = (double)t->k_all / AMX_SIDE;
  return (double)(t->tiles * t->panels) * (steps * (products > loads ? products : loads) + stores);
}

/* Cycles of one k of one tile. */
static double tile_cycles(double pixels, double vectors, double unroll, double macs,
                          const struct kernel_target *target) {
  double cycles = pixels * vectors * (double)lanes_of(target) / macs;
  double b_bytes = vectors * target->vector_bytes;
  if (cycles < (pixels + vectors) / target->loads) cycles = (pixels + vectors) / target->loads;
  const double latency =
      1.25 * target->fma_latency / unroll; /* sums that just hide it wait for every late load */
  if (cycles < latency) cycles = latency;
  if (cycles < b_bytes / target->l2_bytes_per_cycle) cycles = b_bytes / target->l2_bytes_per_cycle;
  return cycles;
}

static bool is_among(int64_t x, const int64_t *list, int count) {
  for (int i = 0; i < count; i++)
    if (list[i] == x) return true;
  return false;
}

/* Lines of a that each k fetches from L2 again: those of a tile that share a set of L1 and that it does not hold. Where
   pixels are whole pages apart all do, and a tile of fewer pixels is faster. */
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

/* Cycles of one image with the tile; its start and end cost about its registers twice. */
static double image_cycles(const struct layout *t, const struct kernel_target *target) {
  const struct tile *tile = &t->tile;
  int64_t lanes = lanes_of(target), full = t->columns / t->panel_width;
  int64_t tail = ceil_div(t->columns % t->panel_width, lanes);
  int64_t row_tiles = t->pixel_rows / tile->rows, row_rest = t->pixel_rows % tile->rows;
  double total = 0, macs = macs_of(t, target) / (double)t->group;
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
        total +=
            panels * counts[i] *
            ((double)t->k_all *
                 (tile_cycles(pixels[i], vectors, (double)tile->k_unroll, macs, target) + refetch) +
             10 + 2 * pixels[i] * vectors);
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

/* Blocks of k so that a panel of b stays well inside L2. */
static void choose_blocks(struct layout *t, const struct kernel_target *target) {
  int64_t panel_budget = (int64_t)(target->l2_bytes / 4) / (t->panel_width * 4);
  t->tile.tap_block = t->taps;
  t->tile.depth_block = t->depth;
  if (t->group > 1) return; /* sums are not stored half-way: c has another type */
  if (t->tiles == 1 || t->k_all <= panel_budget * 3 / 2) return;
  if (t->taps > 1) {
    int64_t fit = max_i64(1, panel_budget / (t->taps_x * t->depth));
    t->tile.tap_block = ceil_div(t->taps, ceil_div(t->taps, fit));
  } else if (t->taps_x == 1) {
    int64_t count = ceil_div(t->depth, max_i64(64, panel_budget));
    t->tile.depth_block = min_i64(t->depth, ceil_div(ceil_div(t->depth, count), 16) * 16);
  }
}

/* Where L2 holds neither operand: tiles of which `fit` leave it room for panels either stay there while all panels pass, and
   b is read again for each such block, or a is read again for each panel. a of windows overlaps, so it is smaller than its
   tiles; AMX was not measured. */
static bool choose_rows_first(struct layout *t, int64_t threads, int64_t fit, int64_t a_tile_bytes,
                              int64_t b_bytes) {
  struct tile *tile = &t->tile;
  const int64_t a_bytes = t->tiles * a_tile_bytes, blocks = ceil_div(t->tiles, fit);
  const int64_t shared = min_i64(t->tiles, ceil_div(blocks, threads) * threads);
  if (t->amx || t->outer * t->inner * t->taps * t->taps_x > 1 || blocks < 2) return false;
  /* at half the bytes a product took 1.04 times as long, at a sixth 0.97 times */
  if (4 * (b_bytes * shared + a_bytes) >= b_bytes + a_bytes * t->panels) return false;
  tile->rows_first = 1;
  tile->unit_panels = 1;
  tile->unit_tiles = ceil_div(t->tiles, shared);
  tile->ahead = ceil_div(t->panel_width, tile->unit_tiles);
  return true;
}

/* Units: what one thread does at a time. The larger operand is read once, the other stays in L2. Where that is b, a unit is
   as few tiles as share L1 with a panel, and all panels: a's rows come from L2 once, whole rows of c are written, and
   threads have rows of their own from one step to the next. Not measured on AMX, and no gain for bytes on one thread. */
static void choose_units(struct layout *t, const struct kernel_target *target) {
  struct tile *tile = &t->tile;
  int64_t l2 = (int64_t)target->l2_bytes, threads = max_i64(1, target->threads);
  int64_t pixels = tile->rows * tile->columns;
  int64_t k_block = tile->tap_block * t->taps_x * tile->depth_block;
  int64_t a_tile_bytes = at_least_1(pixels * k_block * 4),
          b_bytes = t->k_all * t->panel_width * t->panels * 4;
  int64_t goal = 4 * threads;
  int64_t fit_tiles = max_i64(1, l2 / 2 / a_tile_bytes);
  const int64_t near_tiles = max_i64(1, (int64_t)target->l1_bytes / 3 / a_tile_bytes);
  const bool by_rows = !t->amx && (t->group < 4 || threads > 1);
  /* Panels share out evenly and all of a stays in L2: one panel a unit. */
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
  /* Weights of bytes stream by, too: those of a whole model are more than L2 holds from one run to the next. */
  if ((b_bytes > l2 / 2 || t->group == 4) && tile->unit_tiles > 1)
    tile->ahead = ceil_div(t->panel_width, tile->unit_tiles);
  if (b_bytes > l2 / 2 && t->tiles == 1 && t->group > 1 && !t->amx) tile->ahead = STREAM_AHEAD;
  if (!b_stays) { /* some panels together, so that a's rows in L1 serve several; as far as L2 holds them for the next rows */
    const int64_t units = others * blocks, panel_bytes = t->k_all * t->panel_width * 4;
    if (units >= 8 * goal) tile->unit_panels = min_i64(4, units / (8 * goal));
    if (blocks > 1) tile->unit_panels = min_i64(tile->unit_panels, l2 / 2 / panel_bytes);
    tile->unit_panels = at_least_1(tile->unit_panels);
  }
}

/* Rows that are one tile of four vectors: each panel of b is read once, and a wide one without a break. */
static bool has_few_rows(const struct layout *t, const struct kernel_target *target) {
  const int64_t pixels = t->pixel_rows * t->pixel_columns;
  return !t->amx && pixels > 1 && pixels <= capacity_of(t, 4, target);
}

/* The largest thread's share of few rows' panels, in even shares: each is a unit. */
static double unevenness(const struct layout *t, int64_t threads) {
  const int64_t panels = t->outer * t->inner * t->panels;
  return (double)(ceil_div(panels, threads) * threads) / (double)panels;
}

/* Cost and cycles: all cores' shares of the multiply-adds, or one pass over the weights. */
static void predict(const struct layout *t, const struct kernel_target *target,
                    struct choice *out) {
  double threads = (double)max_i64(1, target->threads);
  out->cycles = (t->amx ? amx_cycles(t, target) : image_cycles(t, target)) *
                (double)(t->outer * t->inner) / threads;
  if (has_few_rows(t, target)) out->cycles *= unevenness(t, max_i64(1, target->threads));
  double weights = (double)(t->outer * t->k_all * t->columns) * 4 / target->memory_bytes_per_cycle /
                   (threads > 1 ? target->memory_sharing : 1);
  out->cost = (out->cycles > weights ? out->cycles : weights) / target->clock_ghz / 0.97;
}

/* One choice a width: the tile that fills the registers. Two vectors first; of few rows four, which took 0.77 to 0.94 of the
   time of two, 2 to 8 rows on AVX-512. */
bool gemm_enumerate(const struct problem *problem, const struct kernel_target *target, int index,
                    struct choice *out) {
  static const int64_t orders[2][7] = {{2, 1, 3, 4, 5, 6, 8}, {4, 2, 1, 3, 5, 6, 8}};
  struct layout t;
  describe(problem, out, &t);
  const int64_t *widths = orders[has_few_rows(&t, target)];
  int64_t most = t.amx ? 2 : max_i64(2, ceil_div(t.columns, lanes_of(target)));
  for (int i = 0; i < COUNT(orders[0]); i++) {
    if (widths[i] > most || index--) continue;
    t.tile.vectors = widths[i];
    if (t.amx)
      choose_amx_pixels(&t);
    else
      choose_pixels(&t, capacity_of(&t, widths[i], target));
    cut(&t, target);
    t.tile.k_unroll = t.amx ? 1 : unroll_for(&t, target);
    choose_blocks(&t, target);
    choose_units(&t, target);
    t.tile.registers = t.group > 1 || t.k_all <= 256;
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
  describe(problem, choice, &t);
  t.tile = tile_of(choice);
  const struct tile *tile = &t.tile;
  bool sound = in_range(tile->vectors, 1, 8) && in_range(tile->rows, 1, t.pixel_rows) &&
               in_range(tile->columns, 1, t.pixel_columns) && in_range(tile->k_unroll, 1, 8) &&
               in_range(tile->tap_block, 1, t.taps) && in_range(tile->depth_block, 1, t.depth) &&
               in_range(tile->ahead, 0, STREAM_AHEAD) && in_range(tile->registers, 0, 1) &&
               in_range(tile->rows_first, 0, 1);
  if (!sound || tile->rows > MOST_ACCUMULATORS || tile->columns > MOST_ACCUMULATORS ||
      tile->rows * tile->columns * tile->vectors * tile->k_unroll > MOST_ACCUMULATORS)
    return false;
  int64_t most = tile->rows > 1 ? AMX_SIDE : 2 * AMX_SIDE;
  if (t.amx && (tile->vectors > 2 || tile->rows > 2 || tile->columns > most || tile->k_unroll > 1))
    return false;
  cut(&t, target);
  /* rows of tiles are cut only where each is one tile; k within a tap only where there is one */
  if (t.wide_tiles < 1 || (tile->rows > 1 && t.column_tiles > 1)) return false;
  if (tile->depth_block < t.depth && t.taps * t.taps_x > 1) return false;
  bool whole = tile->tap_block == t.taps && tile->depth_block == t.depth && tile->registers;
  if (t.group > 1 && !whole) return false;
  if (!in_range(tile->unit_tiles, 1, t.tiles) || !in_range(tile->unit_panels, 1, t.panels))
    return false;
  predict(&t, target, choice);
  return true;
}

/* Panels that L1 does not hold beside a's rows come from L2 for each tile: they are asked for ahead, where the tile leaves
   room between its loads. A vector is a line; not measured with smaller ones. */
static int64_t near_of(const struct layout *t, const struct kernel_target *target) {
  const int64_t pixels = t->tile.rows * t->tile.columns, vectors = t->tile.vectors;
  const double cycles = (double)(pixels * vectors * lanes_of(target)) / target->f32_macs;
  const bool has_room = (double)(pixels + 2 * vectors + 1) <= target->loads * cycles;
  const bool streams = t->k_all * t->panel_width * 4 > (int64_t)target->l1_bytes / 2;
  const bool is_known = t->group == 1 && t->tile.k_unroll == 1;
  return is_known && target->vector_bytes == LINE_BYTES && has_room && streams ? NEAR_AHEAD : 0;
}

int gemm_defines(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  struct layout t = lay_out(problem, target, choice);
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
      {"NEAR", near_of(&t, target)},
      {"EPILOGUE_IN_REGISTERS", t.tile.registers},
      {"K_STEP", t.group},
      {"A_TYPE", problem->types.a},
      {"C_TYPE", problem->types.c},
      {"WIDTH", width_of(&t, target)},
      {"K_GROUPS", t.amx ? AMX_SIDE : 1},
  };
  _Static_assert(COUNT(all) <= KERNEL_DEFINES_MAX, "more defines than a row may have");
  memcpy(defines, all, sizeof all);
  return COUNT(all);
}

/* A vector times a matrix, all of its k in one run: no address depends on a literal. */
int gemm_shared_defines(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice,
                        struct kernel_define defines[KERNEL_DEFINES_MAX], int *out_sizes) {
  const struct layout t = lay_out(problem, target, choice);
  const struct kernel_define all[] = {
      {"VECTORS", t.tile.vectors}, {"K_UNROLL", t.tile.k_unroll},
      {"AHEAD", t.tile.ahead},     {"DEPTH_ALL", t.depth},
      {"COLUMNS_ALL", t.columns},  {"UNIT_PANELS", t.tile.unit_panels},
  };
  const bool is_vector = t.outer * t.inner * t.pixel_rows * t.pixel_columns == 1 &&
                         t.taps * t.taps_x == 1 && t.tile.depth_block == t.depth;
  *out_sizes = 3;
  memcpy(defines, all, sizeof all);
  return is_vector ? COUNT(all) : 0;
}

bool kernel_sums_at_once(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice) {
  struct layout t = lay_out(problem, target, choice);
  return t.tile.tap_block == t.taps && t.tile.depth_block == t.depth;
}

int64_t gemm_units(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice) {
  struct layout t = lay_out(problem, target, choice);
  return t.outer * t.inner * ceil_div(t.panels, t.tile.unit_panels) *
         ceil_div(t.tiles, t.tile.unit_tiles);
}

size_t gemm_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice) {
  struct layout t = lay_out(problem, target, choice);
  return (size_t)(t.outer * t.panels * t.k_all * t.panel_width) * sizeof(float);
}

int64_t gemm_pack_units(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice) {
  struct layout t = lay_out(problem, target, choice);
  return t.outer * t.panels;
}

/* Rows, or images: the blocks of tiles of all that are joined, or of each. Tiles of one column less come last. */
bool gemm_lead(const struct problem *problem, const struct kernel_target *target,
               const struct choice *choice, bool in_batch, struct lead *out) {
  struct layout t = lay_out(problem, target, choice);
  if (t.tile.rows_first) return false;
  bool is_conv = problem->kind == PROBLEM_conv;
  int64_t blocks = ceil_div(t.tiles, t.tile.unit_tiles);
  int64_t width = t.tile.columns - (t.wide_tiles < t.column_tiles);
  int64_t rows = is_conv ? problem->oh * problem->ow : problem->m; /* of one image or batch */
  int64_t count = is_conv ? at_least_1(problem->images)
                          : at_least_1(problem->batch0) * at_least_1(problem->batch1);
  bool joined = t.pixel_rows == 1 && t.pixel_columns == rows * count;
  if (in_batch ? !is_conv && t.pixel_columns == rows : joined) {
    *out = (struct lead){blocks, is_conv ? rows : 1, t.tile.unit_tiles * width};
  } else if (in_batch) {
    return false;
  } else if (is_conv) {
    *out = (struct lead){t.inner * blocks, blocks, 1};
  } else {
    int64_t panels = t.outer > 1 ? ceil_div(t.panels, t.tile.unit_panels) : 1;
    *out = (struct lead){t.outer * t.inner * panels * blocks, panels * blocks, rows};
  }
  return true;
}

/* One tile a unit: neighbouring units share their panel of b, which stays in L2. */
void gemm_shorten(const struct problem *problem, const struct kernel_target *target,
                  struct choice *choice) {
  struct choice one = *choice;
  struct tile tile = tile_of(choice);
  tile.unit_tiles = 1;
  tile.ahead = tile.rows_first = 0;
  memcpy(one.value, &tile, sizeof tile);
  if (gemm_fits(problem, target, &one)) *choice = one;
}

/* Where element (k, column) of one outer part of b lies before packing. */
typedef int64_t source_fn(const struct problem *problem, const struct layout *t, int64_t outer,
                          int64_t k, int64_t n);

static int64_t gemm_source(const struct problem *p, const struct layout *t, int64_t outer,
                           int64_t k, int64_t n) {
  (void)t;
  int64_t batch1 = at_least_1(p->batch1);
  return outer / batch1 * p->b_batch0 + outer % batch1 * p->b_batch1 + k * p->b_row +
         n * p->b_column;
}

/* ONNX order [oc, ic / groups, kh, kw]; k runs over kh, kw, ic / groups. */
static int64_t conv_source(const struct problem *p, const struct layout *t, int64_t outer,
                           int64_t k, int64_t n) {
  int64_t ic = p->ic / t->outer;
  return ((outer * t->columns + n) * ic + k % ic) * p->kh * p->kw + k / ic;
}

/* Bytes of k that the last group of a tap does not have: zeros in front of the others, as text/gemm_dot.c reads the end of
   a row by a whole group. On AMX, of bf16 and where a row is shorter they come last. */
static int64_t leading_zeros(const struct layout *t) {
  bool reads_back = t->group == 4 && !t->amx && t->elements > t->group;
  return reads_back ? t->depth * t->group - t->elements : 0;
}

/* [outer][panel][tap][group of k][column][element of the group], zeros where there is none. */
static inline __attribute__((always_inline)) void pack_groups(const struct problem *problem,
                                                              const struct layout *t,
                                                              source_fn *source, const void *b,
                                                              void *packed) {
  size_t size = 4 / (size_t)t->group;
  char *to = packed;
  memset(packed, 0, (size_t)(t->outer * t->panels * t->k_all * t->panel_width) * 4);
  for (int64_t outer = 0; outer < t->outer; outer++)
    for (int64_t panel = 0; panel < t->panels; panel++)
      for (int64_t tap = 0; tap < t->taps * t->taps_x; tap++)
        for (int64_t k = 0; k < t->depth * t->group; k += t->group) {
          const int64_t zeros = k + t->group > t->elements ? leading_zeros(t) : 0;
          for (int64_t j = 0; j < t->panel_width; j++)
            for (int64_t i = 0; i < t->group; i++, to += size) {
              int64_t n = panel * t->panel_width + j, from = k + i - zeros;
              if (n >= t->columns || i < zeros || from >= t->elements) continue;
              int64_t at = source(problem, t, outer, tap * t->elements + from, n);
              memcpy(to, (const char *)b + (size_t)at * size, size);
            }
        }
}

/* One panel of floats, k from `first` on: to[k][j] = from[k * k_stride + j * n_stride], in squares that L1
   holds along both directions. */
static void pack_floats(const float *from, int64_t k_stride, int64_t n_stride, int64_t k_count,
                        int64_t columns, int64_t width, float *to) {
  enum { SQUARE = 16 };
  if (n_stride == 1) {
    for (int64_t k = 0; k < k_count; k++)
      memcpy(to + k * width, from + k * k_stride, (size_t)columns * sizeof *to);
  } else {
    for (int64_t first = 0; first < k_count; first += SQUARE) {
      int64_t end = min_i64(first + SQUARE, k_count);
      for (int64_t j = 0; j < columns; j++)
        for (int64_t k = first; k < end; k++) to[k * width + j] = from[k * k_stride + j * n_stride];
    }
  }
  for (int64_t k = 0; k < k_count && columns < width; k++)
    memset(to + k * width + columns, 0, (size_t)(width - columns) * sizeof *to);
}

/* As pack_groups, for floats. A tap's k are `k_stride` apart, taps and outer parts as given. */
struct float_source {
  int64_t k_stride, n_stride, tap_stride;
};
static void pack_panels(const struct layout *t, const struct float_source *s, const float *from,
                        float *to) {
  for (int64_t panel = 0; panel < t->panels; panel++)
    for (int64_t tap = 0; tap < t->k_all / t->depth; tap++, to += t->depth * t->panel_width) {
      int64_t n = panel * t->panel_width;
      pack_floats(from + n * s->n_stride + tap * s->tap_stride, s->k_stride, s->n_stride, t->depth,
                  min_i64(t->panel_width, t->columns - n), t->panel_width, to);
    }
}

static void pack_float_gemm(const struct problem *p, const struct layout *t, const float *from,
                            float *to) {
  struct float_source source = {.k_stride = p->b_row, .n_stride = p->b_column};
  for (int64_t outer = 0; outer < t->outer; outer++)
    pack_panels(t, &source, from + gemm_source(p, t, outer, 0, 0),
                to + outer * t->panels * t->k_all * t->panel_width);
}

/* k runs over the channels of one place of the window, then over the places. */
static void pack_float_conv(const struct problem *p, const struct layout *t, const float *from,
                            float *to) {
  struct layout places = *t;
  int64_t ic = p->ic / t->outer, window = p->kh * p->kw;
  struct float_source source = {.k_stride = window, .n_stride = ic * window, .tap_stride = 1};
  places.depth = ic;
  for (int64_t outer = 0; outer < t->outer; outer++)
    pack_panels(&places, &source, from + outer * t->columns * ic * window,
                to + outer * t->panels * t->k_all * t->panel_width);
}

void gemm_pack(const struct problem *problem, const struct kernel_target *target,
               const struct choice *choice, const void *b, void *packed) {
  struct layout t = lay_out(problem, target, choice);
  if (t.group == 1)
    pack_float_gemm(problem, &t, b, packed);
  else
    pack_groups(problem, &t, gemm_source, b, packed);
}

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
bool conv_enumerate(const struct problem *problem, const struct kernel_target *target, int index,
                    struct choice *out) {
  return gemm_enumerate(problem, target, index, out);
}
bool conv_fits(const struct problem *problem, const struct kernel_target *target,
               struct choice *choice) {
  return gemm_fits(problem, target, choice);
}
int conv_defines(const struct problem *problem, const struct kernel_target *target,
                 const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  return gemm_defines(problem, target, choice, defines);
}
int64_t conv_units(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice) {
  return gemm_units(problem, target, choice);
}
size_t conv_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                         const struct choice *choice) {
  return gemm_packed_bytes(problem, target, choice);
}

void conv_pack(const struct problem *problem, const struct kernel_target *target,
               const struct choice *choice, const void *b, void *packed) {
  struct layout t = lay_out(problem, target, choice);
  if (t.group == 1)
    pack_float_conv(problem, &t, b, packed);
  else
    pack_groups(problem, &t, conv_source, b, packed);
}
