/* Choice, cost and packing of text/conv_winograd_f32.c. Of F(2, 3) and F(4, 3) the one of less
 * predicted time is taken; against the direct convolution the cost decides. Sources of the figures:
 * bench/kernels on a Zen 5 (FMA peak 242 GFLOP/s a core, about 40 GB/s from memory). */
#include <string.h>

#include "families.h"

#define CYCLES_A_NS 3.8
#define MEMORY_BYTES_PER_CYCLE 9.0

/* Names as in the text. */
struct winograd {
  int64_t out, tiles_x, tiles_y, block, groups, group, wide_groups, vectors, unit_panels, ahead;
  int64_t size, panels, panel_width, blocks;
  double cycles; /* of one core with its share of the units */
};

static void cut_blocks(struct winograd *w, const struct problem *p,
                       const struct kernel_target *target) {
  int64_t points = w->size * w->size, tiles = w->tiles_x * w->tiles_y;
  int64_t threads = max_i64(1, target->threads), l2 = (int64_t)target->l2_bytes;
  int64_t tile_bytes = points * (p->ic + w->panel_width) * 4;
  int64_t fit = max_i64(12, l2 * 5 / 8 / tile_bytes);
  w->blocks = ceil_div(tiles, fit);
  int64_t images = at_least_1(p->images);
  if (w->blocks > 1) w->blocks = ceil_div(w->blocks * images, threads) * threads / images;
  w->blocks = max_i64(1, min_i64(w->blocks, tiles));
  w->block = ceil_div(tiles, w->blocks);
  w->blocks = ceil_div(tiles, w->block);
  /* Panels are shared out only where the blocks cannot be. */
  bool even = w->blocks * images % threads == 0 || w->blocks * images >= 4 * threads;
  w->unit_panels = even ? w->panels : ceil_div(w->panels, 2 * threads);
  int64_t capacity = tile_capacity(w->vectors, target);
  w->groups = ceil_div(w->block, capacity);
  w->group = ceil_div(w->block, w->groups);
  w->wide_groups = w->groups - (w->group * w->groups - w->block);
  int64_t weights = points * p->ic * w->panels * w->panel_width * 4;
  w->ahead = weights > l2 / 4 ? ceil_div(w->panel_width, w->groups) : 0;
}

/* Cycles of one core: products against the stream of weights, and both transforms. */
static double predict(const struct winograd *w, const struct problem *p,
                      const struct kernel_target *target) {
  double points = (double)(w->size * w->size), vectors = (double)(w->panels * w->vectors);
  double rows = (double)(at_least_1(p->images) * w->blocks * w->block);
  double threads = (double)max_i64(1, target->threads);
  double full = (double)(w->group * w->vectors) / 2; /* cycles of one k of a register tile */
  double slowed = full < 4 ? 4 / full : 1;           /* by the latency of an FMA */
  double product = points * rows * (double)p->ic * vectors / 2 * slowed * 1.08 / threads;
  double weights = points * (double)p->ic * (double)(w->panels * w->panel_width) * 4;
  double stream = weights / MEMORY_BYTES_PER_CYCLE / (w->blocks > 1 ? 1 : threads > 1 ? 1.5 : 1);
  double input_vectors = (double)ceil_div(p->ic, lanes_of(target));
  double transforms = points * rows * (input_vectors * 3.5 + vectors * 3.5) / threads;
  if (stream > product) product = stream;
  return product + transforms;
}

static void winograd_init(struct winograd *best, const struct problem *p,
                          const struct kernel_target *target) {
  memset(best, 0, sizeof *best);
  for (int64_t out = 2; out <= 4; out += 2)
    for (int64_t vectors = 2; vectors <= 3; vectors++) {
      struct winograd w = {.out = out, .size = out + 2, .vectors = vectors};
      w.tiles_x = ceil_div(p->ow, out);
      w.tiles_y = ceil_div(p->oh, out);
      w.panel_width = vectors * lanes_of(target);
      w.panels = ceil_div(p->oc, w.panel_width);
      cut_blocks(&w, p, target);
      w.cycles = predict(&w, p, target);
      if (!best->out || w.cycles < best->cycles) *best = w;
    }
}

bool winograd_accepts(const struct problem *p, const struct kernel_target *target) {
  return conv_accepts(p, target) && p->kh == 3 && p->kw == 3 && p->sh == 1 && p->sw == 1 &&
         at_least_1(p->dh) == 1 && at_least_1(p->dw) == 1 && at_least_1(p->groups) == 1 &&
         p->ic >= 16 && p->oc >= 16 && p->ih >= p->oh + 2 && p->iw >= p->ow + 2;
}

int winograd_choose(const struct problem *problem, const struct kernel_target *target,
                    struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  struct winograd w;
  winograd_init(&w, problem, target);
  const struct kernel_define all[] = {
      {"OUT", w.out},
      {"TILES_X", w.tiles_x},
      {"TILES_Y", w.tiles_y},
      {"BLOCK", w.block},
      {"GROUPS_", w.groups},
      {"GROUP", w.group},
      {"WIDE_GROUPS", w.wide_groups},
      {"VECTORS", w.vectors},
      {"UNIT_PANELS", w.unit_panels},
      {"AHEAD", w.ahead},
  };
  memcpy(defines, all, sizeof all);
  return (int)(sizeof all / sizeof all[0]);
}

int64_t winograd_units(const struct problem *problem, const struct kernel_target *target) {
  struct winograd w;
  winograd_init(&w, problem, target);
  return at_least_1(problem->images) * w.blocks * ceil_div(w.panels, w.unit_panels);
}

size_t winograd_packed_bytes(const struct problem *problem, const struct kernel_target *target) {
  struct winograd w;
  winograd_init(&w, problem, target);
  return (size_t)(w.size * w.size * problem->ic * w.panels * w.panel_width) * sizeof(float);
}

size_t winograd_scratch_bytes(const struct problem *problem, const struct kernel_target *target) {
  struct winograd w;
  winograd_init(&w, problem, target);
  return (size_t)(w.size * w.size * (w.block * (problem->ic + w.panel_width) + 32)) * sizeof(float);
}

double winograd_cost(const struct problem *problem, const struct kernel_target *target) {
  struct winograd w;
  winograd_init(&w, problem, target);
  return w.cycles / CYCLES_A_NS / 0.95;
}

/* Rows of G: the weights' values at the points of the transform, over the points' products. */
static const double transform2[4][3] = {{-1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
#define ROOT 0.70710678118654752440
static const double transform4[6][3] = {{1, 0, 0},
                                        {-2.0 / 3, -2.0 / 3 * ROOT, -1.0 / 3},
                                        {-2.0 / 3, 2.0 / 3 * ROOT, -1.0 / 3},
                                        {1.0 / 6, 1.0 / 3 * ROOT, 1.0 / 3},
                                        {1.0 / 6, -1.0 / 3 * ROOT, 1.0 / 3},
                                        {0, 0, 1}};

/* Point (y, x) of G g G^T for one 3 x 3 filter. */
static float transformed(const float *g, const double *row, const double *column) {
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum += row[i] * column[j] * (double)g[i * 3 + j];
  return (float)sum;
}

/* ONNX order [oc, ic, 3, 3] to [panel][point][ic][lane]. */
void winograd_pack(const struct problem *problem, const struct kernel_target *target,
                   const float *b, float *packed) {
  struct winograd w;
  winograd_init(&w, problem, target);
  const double(*g)[3] = w.out == 2 ? transform2 : transform4;
  for (int64_t panel = 0; panel < w.panels; panel++)
    for (int64_t point = 0; point < w.size * w.size; point++)
      for (int64_t i = 0; i < problem->ic; i++)
        for (int64_t j = 0; j < w.panel_width; j++) {
          int64_t n = panel * w.panel_width + j;
          *packed++ = n < problem->oc ? transformed(b + (n * problem->ic + i) * 9,
                                                    g[point / w.size], g[point % w.size])
                                      : 0.0f;
        }
}
