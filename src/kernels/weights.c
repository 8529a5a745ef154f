/* Choices and packing of text/gemm_weights.c: products of few rows with weights of 4 or 8 bits. b is
 * [k][n] of these (4 bits: two in a byte, low bits first), then a float scale for each block of k and
 * column, then as many zero points in b's type where there are some (b_zeros). */
#include <string.h>

#include "families.h"

static int bits_of(const struct problem *p) {
  return p->types.b == TYPE_U4 || p->types.b == TYPE_I4 ? 4 : 8;
}

bool weights_accepts(const struct problem *p, const struct kernel_target *target) {
  (void)target;
  return p->m > 0 && p->n > 0 && p->k > 0 && p->block > 0 && p->block <= p->k && p->batch0 <= 1 &&
         p->batch1 <= 1 && (bits_of(p) == 8 || p->block % 2 == 0 || p->block == p->k);
}

/* Rows of a that one reading of b serves: both sums of a tile and its result stay in registers. */
static int64_t most_rows(int64_t vectors, const struct kernel_target *target) {
  return max_i64(1, (target->vector_registers - 4) / (3 * vectors));
}

/* Wide panels give one row enough sums to wait for; the memory is what counts. Of few rows all are done at once beside two
 * vectors where registers allow, so that an element of a that is read serves both. */
bool weights_enumerate(const struct problem *p, const struct kernel_target *target, int index,
                       struct choice *out) {
  int64_t vectors = p->m == 1 ? 4 : p->m <= max_i64(3, most_rows(2, target)) ? 2 : 1;
  if (index) return false;
  vectors = min_i64(vectors, max_i64(1, target->vector_registers / 8));
  out->value[0] = min_i64(vectors, ceil_div(p->n, lanes_of(target)));
  out->value[1] = min_i64(p->m, most_rows(out->value[0], target));
  out->value[2] = 1;
  return true;
}

bool weights_fits(const struct problem *p, const struct kernel_target *target,
                  struct choice *choice) {
  int64_t panels = ceil_div(p->n, lanes_of(target) * max_i64(1, choice->value[0]));
  return choice->value[0] >= 1 && choice->value[0] <= 8 && choice->value[1] >= 1 &&
         choice->value[1] <= min_i64(p->m, 16) && choice->value[2] >= 1 &&
         choice->value[2] <= panels;
}

int weights_defines(const struct problem *p, const struct kernel_target *target,
                    const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  (void)target;
  const struct kernel_define all[] = {{"VECTORS", choice->value[0]},
                                      {"TILE_ROWS", choice->value[1]},
                                      {"UNIT_PANELS", choice->value[2]},
                                      {"B_TYPE", p->types.b},
                                      {"B_BITS", bits_of(p)}};
  memcpy(defines, all, sizeof all);
  return COUNT(all);
}

/* A panel as the text reads it. */
struct panels {
  int64_t width, count, blocks, block_bytes;
};

static struct panels panels_of(const struct problem *p, const struct kernel_target *target,
                               const struct choice *choice) {
  struct panels t = {.width = choice->value[0] * lanes_of(target)};
  int64_t pair = bits_of(p) == 4 ? 2 : 1;
  t.count = ceil_div(p->n, t.width);
  t.blocks = ceil_div(p->k, p->block);
  t.block_bytes = (p->b_zeros ? 8 : 4) * t.width + ceil_div(p->block, pair) * t.width;
  return t;
}

int64_t weights_units(const struct problem *p, const struct kernel_target *target,
                      const struct choice *choice) {
  return ceil_div(panels_of(p, target, choice).count, choice->value[2]);
}

size_t weights_packed_bytes(const struct problem *p, const struct kernel_target *target,
                            const struct choice *choice) {
  struct panels t = panels_of(p, target, choice);
  return (size_t)(t.count * t.blocks * t.block_bytes);
}

static int element(const struct problem *p, const uint8_t *from, int64_t i) {
  if (bits_of(p) == 4) return from[i / 2] >> (i % 2 * 4) & 15;
  return from[i];
}

static float zero_at(const struct problem *p, const uint8_t *from, int64_t i) {
  int x = element(p, from, i);
  if (p->types.b == TYPE_I4) x = (x ^ 8) - 8;
  if (p->types.b == TYPE_I8) x = (x ^ 128) - 128;
  return (float)x;
}

void weights_pack(const struct problem *p, const struct kernel_target *target,
                  const struct choice *choice, const void *b, void *packed) {
  struct panels t = panels_of(p, target, choice);
  const uint8_t *q = b;
  const uint8_t *scales = q + (bits_of(p) == 4 ? (p->k * p->n + 1) / 2 : p->k * p->n);
  const uint8_t *zeros = scales + t.blocks * p->n * 4;
  int64_t pair = bits_of(p) == 4 ? 2 : 1;
  uint8_t *to = packed;
  memset(packed, 0, weights_packed_bytes(p, target, choice));
  for (int64_t panel = 0; panel < t.count; panel++)
    for (int64_t block = 0; block < t.blocks; block++, to += t.block_bytes) {
      uint8_t *elements = to + (p->b_zeros ? 8 : 4) * t.width;
      int64_t first = block * p->block, depth = min_i64(p->block, p->k - first);
      for (int64_t j = 0; j < t.width; j++) {
        int64_t n = panel * t.width + j, at = block * p->n + n;
        if (n >= p->n) break;
        memcpy(to + 4 * j, scales + 4 * at, 4);
        float zero = p->b_zeros ? zero_at(p, zeros, at) : 0;
        if (p->b_zeros) memcpy(to + 4 * (t.width + j), &zero, 4);
        for (int64_t k = 0; k < depth; k++)
          elements[k / pair * t.width + j] |=
              (uint8_t)(element(p, q, (first + k) * p->n + n) << (k % pair * 4));
      }
    }
}
