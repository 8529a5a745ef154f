/* Choices, cost and packing for conv_winograd_f32.c: F(2, 3) and F(4, 3), two or three vectors
 * wide; F(2, 3) also on bf16. The predicted cost decides against the direct convolution.
 */
#include <string.h>

#include "families.h"

#define MOST_GROUP 64

/* The values of a choice, in the order of kernels.def: outputs of a tile per direction, vectors
   of a panel, tiles of a block, rows of a register tile, panels of a work item, four-byte
   elements to prefetch; halves 1: multiplies in bf16. */
struct tile {
  int64_t out, vectors, block, group, unit_panels, ahead, halves;
};

/* The choice and what follows from it; names as in the source. */
struct winograd {
  struct tile tile;
  int64_t tiles_x, tiles_y, groups, wide_groups, size, panels, panel_width, blocks;
  int64_t depth; /* four-byte elements of k */
};

static void lay_out(struct winograd *w, const struct problem *p,
                    const struct kernel_target *target) {
  w->size = w->tile.out + 2;
  w->depth = w->tile.halves ? p->ic / 2 : p->ic;
  w->tiles_x = ceil_div(p->ow, w->tile.out);
  w->tiles_y = ceil_div(p->oh, w->tile.out);
  w->panel_width = w->tile.vectors * lanes_of(target);
  w->panels = ceil_div(p->oc, w->panel_width);
}

static void cut(struct winograd *w) {
  const struct tile *tile = &w->tile;
  w->blocks = ceil_div(w->tiles_x * w->tiles_y, tile->block);
  w->groups = ceil_div(tile->block, tile->group);
  w->wide_groups = w->groups - (tile->group * w->groups - tile->block);
}

static struct winograd winograd_of(const struct problem *p, const struct kernel_target *target,
                                   const struct choice *choice) {
  struct winograd w = {0};
  memcpy(&w.tile, choice->value, sizeof w.tile);
  lay_out(&w, p, target);
  cut(&w);
  return w;
}

static void choose_blocks(struct winograd *w, const struct problem *p,
                          const struct kernel_target *target) {
  struct tile *tile = &w->tile;
  int64_t points = w->size * w->size, tiles = w->tiles_x * w->tiles_y;
  int64_t threads = max_i64(1, target->threads), l2 = (int64_t)target->l2_bytes;
  int64_t tile_bytes = points * (w->depth + w->panel_width) * 4;
  int64_t fit = max_i64(12, l2 * 5 / 8 / tile_bytes);
  int64_t blocks = ceil_div(tiles, fit), images = at_least_1(p->images);
  if (blocks > 1) blocks = ceil_div(blocks * images, threads) * threads / images;
  blocks = max_i64(1, min_i64(blocks, tiles));
  tile->block = ceil_div(tiles, blocks);
  int64_t capacity = tile_capacity(tile->vectors, target);
  if (tile->halves) capacity = (target->vector_registers - tile->vectors - 2) / tile->vectors;
  tile->group = ceil_div(tile->block, ceil_div(tile->block, capacity));
  cut(w);
  /* Work is split by panels only if there are too few blocks. */
  bool even = w->blocks * images % threads == 0 || w->blocks * images >= 4 * threads;
  tile->unit_panels = even ? w->panels : ceil_div(w->panels, 2 * threads);
  int64_t weights = points * w->depth * w->panels * w->panel_width * 4;
  tile->ahead = weights > l2 / 4 ? ceil_div(w->panel_width, w->groups) : 0;
}

/* Cycles of one core: the multiplications or the stream of weights, whichever is longer, and
   both transforms. */
static void predict(const struct winograd *w, const struct problem *p,
                    const struct kernel_target *target, struct choice *out) {
  double points = (double)(w->size * w->size), vectors = (double)(w->panels * w->tile.vectors);
  double rows = (double)(at_least_1(p->images) * w->blocks * w->tile.block);
  double threads = (double)max_i64(1, target->threads);
  /* multiply-adds on vectors, or on vectors of bf16 pairs */
  double starts = w->tile.halves ? target->bf16_macs / 2 : target->f32_macs;
  starts /= (double)lanes_of(target);
  double full = (double)(w->tile.group * w->tile.vectors) / starts; /* one k of a register tile */
  double slowed = full < target->fma_latency ? target->fma_latency / full : 1;
  double product = points * rows * (double)w->depth * vectors / starts * slowed *
                   target->winograd_loss / threads;
  double weights = points * (double)w->depth * (double)(w->panels * w->panel_width) * 4;
  double sharing = w->blocks > 1 ? 1 : threads > 1 ? target->memory_sharing : 1;
  double stream = weights / target->memory_bytes_per_cycle / sharing;
  double input_vectors = (double)ceil_div(p->ic, lanes_of(target));
  const bool halves = p->types.a == TYPE_BF16;
  double each = halves ? target->transform_half_cycles : target->transform_cycles;
  /* with f32 multiplications the transformed values are written and read again as f32 */
  if (!w->tile.halves && each < target->transform_cycles) each = target->transform_cycles;
  double transforms = points * rows * (input_vectors + vectors) * each / threads;
  if (stream > product) product = stream;
  out->cycles = product + transforms;
  out->cost = out->cycles / target->clock_ghz / 0.95;
}

bool winograd_accepts(const struct problem *p, const struct kernel_target *target) {
  /* not for one lane: it doubles the weights, and microcontrollers lack the memory */
  return target->vector_bytes > 4 && !target->prefers_size && conv_accepts(p, target) &&
         p->kh == 3 && p->kw == 3 && p->sh == 1 && p->sw == 1 && at_least_1(p->dh) == 1 &&
         at_least_1(p->dw) == 1 && at_least_1(p->groups) == 1 && p->ic >= 16 && p->oc >= 16 &&
         p->ih >= p->oh + 2 && p->iw >= p->ow + 2;
}

/* bf16 only if it is faster than f32, and only for F(2, 3): rounding its transforms adds 1.5
   times the error of rounding a and b, with F(4, 3) 4 times (random operands). */
static bool serves_halves(const struct problem *p, const struct kernel_target *target) {
  return p->types.a == TYPE_BF16 && p->ic % 2 == 0 && target->bf16_macs > target->f32_macs &&
         !(target->features & FEATURE_AMX_BF16);
}

bool winograd_enumerate(const struct problem *problem, const struct kernel_target *target,
                        int index, struct choice *out) {
  static const struct tile tiles[] = {{.out = 2, .vectors = 2},
                                      {.out = 2, .vectors = 3},
                                      {.out = 4, .vectors = 2},
                                      {.out = 4, .vectors = 3},
                                      {.out = 2, .vectors = 2, .halves = 1},
                                      {.out = 2, .vectors = 3, .halves = 1}};
  int count = serves_halves(problem, target) ? COUNT(tiles) : 4;
  if (index >= count) return false;
  struct winograd w = {.tile = tiles[index]};
  lay_out(&w, problem, target);
  choose_blocks(&w, problem, target);
  memcpy(out->value, &w.tile, sizeof w.tile);
  predict(&w, problem, target, out);
  return true;
}

bool winograd_fits(const struct problem *problem, const struct kernel_target *target,
                   struct choice *choice) {
  struct winograd w = {0};
  memcpy(&w.tile, choice->value, sizeof w.tile);
  const struct tile *tile = &w.tile;
  if ((tile->out != 2 && tile->out != 4) || tile->vectors < 1 || tile->vectors > 8) return false;
  bool pairs = problem->types.a == TYPE_BF16 && problem->ic % 2 == 0;
  if (tile->halves && (tile->halves != 1 || !pairs)) return false;
  lay_out(&w, problem, target);
  bool sound = tile->block > 0 && tile->block <= w.tiles_x * w.tiles_y && tile->group > 0 &&
               tile->group <= tile->block && tile->group * tile->vectors <= MOST_GROUP &&
               tile->unit_panels > 0 && tile->unit_panels <= w.panels && tile->ahead >= 0 &&
               tile->ahead <= 1024;
  if (!sound) return false;
  cut(&w);
  predict(&w, problem, target, choice);
  return w.wide_groups > 0;
}

int winograd_defines(const struct problem *problem, const struct kernel_target *target,
                     const struct choice *choice,
                     struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  struct winograd w = winograd_of(problem, target, choice);
  const struct kernel_define all[] = {
      {"OUT", w.tile.out},
      {"TILES_X", w.tiles_x},
      {"TILES_Y", w.tiles_y},
      {"BLOCK", w.tile.block},
      {"GROUPS_", w.groups},
      {"GROUP", w.tile.group},
      {"WIDE_GROUPS", w.wide_groups},
      {"VECTORS", w.tile.vectors},
      {"UNIT_PANELS", w.tile.unit_panels},
      {"AHEAD", w.tile.ahead},
      {"HALVES", w.tile.halves},
      {"A_TYPE", problem->types.a},
      {"C_TYPE", problem->types.c},
  };
  memcpy(defines, all, sizeof all);
  return (int)(sizeof all / sizeof all[0]);
}

int64_t winograd_units(const struct problem *problem, const struct kernel_target *target,
                       const struct choice *choice) {
  struct winograd w = winograd_of(problem, target, choice);
  return at_least_1(problem->images) * w.blocks * ceil_div(w.panels, w.tile.unit_panels);
}

/* The units of a block of tiles, one for each block of panels, follow each other: whole blocks. */
bool winograd_active_prefix(const struct problem *problem, const struct kernel_target *target,
                            const struct choice *choice, struct active_prefix *out) {
  const struct winograd w = winograd_of(problem, target, choice);
  const int64_t panels = ceil_div(w.panels, w.tile.unit_panels);
  const int64_t part = w.tiles_x * panels, whole = w.tile.out * w.tile.block;
  *out = (struct active_prefix){w.blocks * panels, part, whole,
                                (w.tile.out - 1) * part + (panels - 1) * whole};
  return true;
}

size_t winograd_packed_bytes(const struct problem *problem, const struct kernel_target *target,
                             const struct choice *choice) {
  struct winograd w = winograd_of(problem, target, choice);
  return (size_t)(w.size * w.size * w.depth * w.panels * w.panel_width) * sizeof(float);
}

size_t winograd_scratch_bytes(const struct problem *problem, const struct kernel_target *target,
                              const struct choice *choice) {
  struct winograd w = winograd_of(problem, target, choice);
  return (size_t)(w.size * w.size * (w.tile.block * (w.depth + w.panel_width) + 32)) *
         sizeof(float);
}

/* Rows of G: the weights' values at the transform's points, divided by the products of point
   differences. */
static const double transform2[4][3] = {{-1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
#define ROOT 0.70710678118654752440
static const double transform4[6][3] = {{1, 0, 0},
                                        {-2.0 / 3, -2.0 / 3 * ROOT, -1.0 / 3},
                                        {-2.0 / 3, 2.0 / 3 * ROOT, -1.0 / 3},
                                        {1.0 / 6, 1.0 / 3 * ROOT, 1.0 / 3},
                                        {1.0 / 6, -1.0 / 3 * ROOT, 1.0 / 3},
                                        {0, 0, 1}};

enum { STRIP = 16 }; /* filters that are transformed together */

/* Points (y, x) of G g G^T for several filters, each sum in double. */
static void transform_strip(const double (*g)[3], int64_t size, const float filter[9][STRIP],
                            float points[36][STRIP]) {
  double rows[6][3][STRIP];
  for (int64_t y = 0; y < size; y++)
    for (int x = 0; x < 3; x++)
      for (int j = 0; j < STRIP; j++)
        rows[y][x][j] = g[y][0] * (double)filter[x][j] + g[y][1] * (double)filter[3 + x][j] +
                        g[y][2] * (double)filter[6 + x][j];
  for (int64_t y = 0; y < size; y++)
    for (int64_t x = 0; x < size; x++)
      for (int j = 0; j < STRIP; j++)
        points[y * size + x][j] =
            (float)(rows[y][0][j] * g[x][0] + rows[y][1][j] * g[x][1] + rows[y][2][j] * g[x][2]);
}

/* The nearest bf16, ties to even; x is finite. */
static uint16_t half_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Weights of one point: input channel i, `count` lanes from `lane` on. */
static void put_point(const struct winograd *w, float *point, int64_t i, int64_t lane,
                      const float *from, int64_t count) {
  if (!w->tile.halves) {
    memcpy(point + i * w->panel_width + lane, from, (size_t)count * sizeof *from);
    return;
  }
  uint16_t *pairs = (uint16_t *)(void *)point + (i / 2 * w->panel_width + lane) * 2 + i % 2;
  for (int64_t j = 0; j < count; j++) pairs[2 * j] = half_of(from[j]);
}

/* ONNX order [oc, ic, 3, 3] to [panel][point][ic][lane], or [panel][point][ic / 2][lane][2]. */
void winograd_pack(const struct problem *problem, const struct kernel_target *target,
                   const struct choice *choice, const void *b, void *packed) {
  struct winograd w = winograd_of(problem, target, choice);
  const double(*g)[3] = w.tile.out == 2 ? transform2 : transform4;
  float *to = packed, filter[9][STRIP], points[36][STRIP];
  int64_t ic = problem->ic, point_floats = w.depth * w.panel_width;
  for (int64_t n = 0, left; n < w.panels * w.panel_width; n += left) {
    const int64_t lane = n % w.panel_width;
    left = min_i64(STRIP, w.panel_width - lane);
    memset(filter, 0, sizeof filter);
    for (int64_t i = 0; i < ic; i++) {
      for (int64_t j = 0; j < left && n + j < problem->oc; j++)
        for (int k = 0; k < 9; k++)
          filter[k][j] = float_weight(problem, b, ((n + j) * ic + i) * 9 + k);
      transform_strip(g, w.size, (const float(*)[STRIP])filter, points);
      float *at = to + n / w.panel_width * w.size * w.size * point_floats;
      for (int64_t point = 0; point < w.size * w.size; point++)
        put_point(&w, at + point * point_floats, i, lane, points[point], left);
    }
  }
}
