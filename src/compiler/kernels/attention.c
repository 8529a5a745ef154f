/* Choices for attention_f32.c: softmax(a b) v in one step. */
#include <string.h>

#include "families.h"

#define MOST_SCRATCH ((int64_t)64 << 20) /* of it, a run touches what its keys need */
#define MOST_DIRECT 16                   /* rows up to which both variants are worth a trial */

/* The values of a choice, in the order of kernels.def. */
struct tile {
  int64_t vectors, rows, unit_blocks;
  int64_t direct; /* 1: b and v are read in place, not packed */
};

static struct tile tile_of(const struct choice *choice) {
  struct tile tile;
  memcpy(&tile, choice->value, sizeof tile);
  return tile;
}

static int64_t batches_of(const struct problem *p) {
  return at_least_1(p->batch0) * at_least_1(p->batch1);
}

/* Packed b and v, and the scores of one block. */
static int64_t scratch_floats(const struct problem *p, const struct kernel_target *target,
                              const struct tile *tile) {
  int64_t width = tile->vectors * lanes_of(target), panels = ceil_div(p->n, width);
  if (tile->direct) return tile->rows * panels * width;
  return panels * p->k * width + ceil_div(p->columns, width) * p->n * width +
         tile->rows * panels * width;
}

/* With few rows, packing would read b and v as often as the rows do. A cache of which only a part is in
   use stays in L2 meanwhile. */
static bool is_direct(const struct problem *p) { return p->m < (p->keys_operand ? 9 : 4); }

static struct tile make_tile(const struct problem *p, const struct kernel_target *target,
                             bool direct) {
  struct tile tile = {.vectors = direct ? 4 : 2, .direct = direct};
  int64_t blocks = ceil_div(p->m, tile_capacity(tile.vectors, target));
  int64_t threads = max_i64(1, target->threads), batches = batches_of(p), units = 1;
  tile.rows = ceil_div(p->m, blocks);
  /* A work item packs b and v. So it has whole batches, or, if these cannot be shared evenly, at
     least four blocks, which take several times as long as the packing. */
  if (batches % threads && batches < 4 * threads) units = ceil_div(4 * threads, batches);
  tile.unit_blocks = min_i64(blocks, max_i64(4, ceil_div(blocks, units)));
  return tile;
}

bool attention_accepts(const struct problem *p, const struct kernel_target *target) {
  if (p->m < 1 || p->n < 1 || p->k < 1 || p->columns < 1) return false;
  if (p->n > 1 << 16 || p->k > 4096 || p->columns > 4096) return false;
  const struct tile tile = make_tile(p, target, is_direct(p));
  return scratch_floats(p, target, &tile) * 4 <= MOST_SCRATCH;
}

bool attention_enumerate(const struct problem *problem, const struct kernel_target *target,
                         int index, struct choice *out) {
  const struct tile tile = make_tile(problem, target, is_direct(problem) != (index == 1));
  memcpy(out->value, &tile, sizeof tile);
  if (!index) return true;
  return index == 1 && problem->m <= MOST_DIRECT &&
         scratch_floats(problem, target, &tile) * 4 <= MOST_SCRATCH;
}

bool attention_fits(const struct problem *problem, const struct kernel_target *target,
                    struct choice *choice) {
  struct tile tile = tile_of(choice);
  if (tile.vectors < 1 || tile.vectors > 4 || tile.rows < 1 || tile.rows > problem->m ||
      tile.rows * tile.vectors > 64 || (tile.direct != 0 && tile.direct != 1))
    return false;
  int64_t blocks = ceil_div(problem->m, tile.rows);
  /* more than one row of padding per block */
  if (blocks * tile.rows - problem->m >= blocks) return false;
  return tile.unit_blocks >= 1 && tile.unit_blocks <= blocks &&
         scratch_floats(problem, target, &tile) * 4 <= MOST_SCRATCH;
}

int attention_defines(const struct problem *problem, const struct kernel_target *target,
                      const struct choice *choice,
                      struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  (void)target;
  struct tile tile = tile_of(choice);
  int64_t blocks = ceil_div(problem->m, tile.rows);
  const struct kernel_define all[] = {{"VECTORS", tile.vectors},
                                      {"ROWS", tile.rows},
                                      {"BLOCKS", blocks},
                                      {"WIDE_BLOCKS", blocks - (blocks * tile.rows - problem->m)},
                                      {"UNIT_BLOCKS", tile.unit_blocks},
                                      {"IS_DIRECT", tile.direct},
                                      {"A_TYPE", problem->types.a},
                                      {"B_TYPE", problem->types.b},
                                      {"C_TYPE", problem->types.c}};
  for (int i = 0; i < COUNT(all); i++) defines[i] = all[i];
  return COUNT(all);
}

int64_t attention_units(const struct problem *problem, const struct kernel_target *target,
                        const struct choice *choice) {
  (void)target;
  struct tile tile = tile_of(choice);
  return batches_of(problem) * ceil_div(ceil_div(problem->m, tile.rows), tile.unit_blocks);
}

size_t attention_scratch_bytes(const struct problem *problem, const struct kernel_target *target,
                               const struct choice *choice) {
  struct tile tile = tile_of(choice);
  return (size_t)scratch_floats(problem, target, &tile) * sizeof(float);
}

bool attention_active_prefix(const struct problem *problem, const struct choice *choice,
                             struct active_prefix *out) {
  const struct tile tile = tile_of(choice);
  const int64_t blocks = ceil_div(problem->m, tile.rows);
  const bool has_narrow = blocks * tile.rows > problem->m; /* blocks of one row less */
  *out = (struct active_prefix){.inner = ceil_div(blocks, tile.unit_blocks),
                                .part = 1,
                                .whole = tile.unit_blocks * (tile.rows - has_narrow)};
  return out->whole > 0;
}
