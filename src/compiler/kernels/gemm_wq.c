/* Choices and packing for gemm_wq.c and gemm_wq_dot.c: matmuls with block-quantised weights of 4 to
 * 8 bits. b is [k][n] of these (4 bits: two per byte, low bits first; else bytes), then float scales
 * [blocks][n], then as many zero points in b's type if b_zeros is 1, or minima as floats if it is 2;
 * or all three transposed.
 */
#include <math.h>
#include <string.h>

#include "families.h"

static bool is_turned(const struct problem *p) { return p->b_column != 1; }

int64_t gemm_wq_scale(const struct problem *p, int64_t block, int64_t column) {
  return is_turned(p) ? column * ceil_div(p->k, p->block) + block : block * p->n + column;
}

static bool has_nibbles(const struct problem *p) {
  return p->types.b == TYPE_U4 || p->types.b == TYPE_I4;
}

/* Of a packed element if the kernel multiplies integers: the values of bytes may need fewer. */
static int bits_of(const struct problem *p) {
  return has_nibbles(p) ? 4 : p->b_used_bits ? (int)p->b_used_bits : 8;
}

/* Lower halves of elements in a byte. */
static int64_t pair_of(int bits) { return bits < 8 ? 2 : 1; }

/* Of an element of a in int8 dot products. */
static int64_t digits_of(const struct problem *p) { return p->a_digits ? p->a_digits : 3; }

/* Consecutive rows of k in four bytes, for an int8 dot product. */
static int64_t quad_of(const struct choice *choice) {
  return choice->kernel->traits & SPLITS_A ? 4 : 1;
}

static int packed_bits(const struct problem *p, const struct choice *choice) {
  return quad_of(choice) > 1 || has_nibbles(p) ? bits_of(p) : 8;
}

/* Rows of k per scale after packing: int8 sums must not overflow, so longer blocks are split
   evenly. */
enum { MOST_SUMMED = 256 };
static int64_t step_of(const struct problem *p, const struct choice *choice) {
  int64_t step = min_i64(p->block, MOST_SUMMED);
  if (quad_of(choice) == 1) return p->block;
  while (p->block < p->k && p->block % step) step--;
  return step;
}

bool gemm_wq_accepts(const struct problem *p, const struct kernel_target *target) {
  (void)target;
  return p->m > 0 && p->n > 0 && p->k > 0 && p->block > 0 && p->block <= p->k && p->batch0 <= 1 &&
         p->batch1 <= 1 && p->b_row == (is_turned(p) ? 1 : p->n) &&
         p->b_column == (is_turned(p) ? p->k : 1) &&
         (!p->a_digits || p->a_digits == 2 || p->a_digits == 3) &&
         (!p->b_used_bits || (!has_nibbles(p) && (p->b_used_bits == 5 || p->b_used_bits == 6))) &&
         (!has_nibbles(p) || p->block % 2 == 0 || p->block == p->k) &&
         (p->b_halves != 2 ||
          (p->b_run > 0 && p->b_run <= MOST_SUMMED && p->k % (p->b_run * p->block) == 0 &&
           p->block <= MOST_SUMMED && p->b_zeros != 1));
}

bool gemm_wq_small_accepts(const struct problem *p, const struct kernel_target *target) {
  return gemm_wq_accepts(p, target) && bits_of(p) < 8;
}

/* Integers of two digits are words (gemm_wq_block.h), except those of one row. */
bool gemm_wq_words_accepts(const struct problem *p, const struct kernel_target *target) {
  return gemm_wq_accepts(p, target) && (bits_of(p) < 8 || (digits_of(p) == 2 && p->m > 1));
}

static bool has_words(const struct problem *p, const struct choice *choice) {
  return choice->kernel->features & FEATURE_AVX2 && digits_of(p) == 2;
}

/* Rows of a per read of b: the sums of a tile (of dot products one, in floats) must fit in
   registers. */
static int64_t most_rows(int64_t vectors, const struct kernel_target *target,
                         const struct choice *choice) {
  return quad_of(choice) > 1 ? max_i64(1, 16 / vectors)
                             : max_i64(1, (target->vector_registers - 4) / (3 * vectors));
}

/* Vectors of columns in a panel: one row needs several chains of sums to hide latency. Wide vectors
   are long enough: with AVX-512 VNNI one was 7 to 20 % faster than four in decode steps. It does not
   depend on the number of rows, so that one packed copy serves one row and many. */
static int64_t panel_vectors(const struct problem *p, const struct kernel_target *target,
                             const struct choice *choice) {
  const bool is_wide = choice->kernel->features & FEATURE_AVX512_VNNI;
  const int64_t most = is_wide ? 1 : max_i64(1, min_i64(4, target->vector_registers / 8));
  return ceil_div(p->n, lanes_of(target)) < most ? 1 : most;
}

/* Bytes of b from what one row reads to what it fetches into L2; for more rows it is fixed. */
static const int64_t ahead[] = {8192, 1024, 2048, 4096, 16384, 32768};

/* One row: memory is the limit. Few rows: all at once with two vectors if registers allow, so that
   each element of a that is read serves both; with words, for many rows too, because reading a is the limit. */
bool gemm_wq_enumerate(const struct problem *p, const struct kernel_target *target, int index,
                       struct choice *out) {
  const int64_t most = panel_vectors(p, target, out), best = target->fetch_ahead;
  int64_t vectors = p->m == 1                                                            ? most
                    : p->m <= max_i64(3, most_rows(2, target, out)) || has_words(p, out) ? 2
                                                                                         : 1;
  const bool has_ahead = quad_of(out) > 1 && (p->m == 1 || p->limit_operand);
  if (index && (index >= COUNT(ahead) || !has_ahead)) return false;
  out->value[0] = min_i64(vectors, most);
  int64_t tiles = ceil_div(p->m, most_rows(out->value[0], target, out));
  out->value[1] = ceil_div(p->m, tiles);
  out->value[2] = !index ? best : ahead[index] == best ? ahead[0] : ahead[index];
  return true;
}

bool gemm_wq_fits(const struct problem *p, const struct kernel_target *target,
                  struct choice *choice) {
  const int64_t most = panel_vectors(p, target, choice);
  if (!choice->value[2]) choice->value[2] = target->fetch_ahead; /* a table without it */
  return choice->value[0] >= 1 && most % choice->value[0] == 0 && choice->value[1] >= 1 &&
         choice->value[1] <= min_i64(p->m, 16) && choice->value[2] >= 0 &&
         choice->value[2] <= ahead[COUNT(ahead) - 1];
}

/* On AMX tiles: 16 rows of a times 16 columns, and blocks that are a part of a tile, or some. */
enum { TILE_SIDE = 16, TILE_BYTES = 64 };

bool gemm_wq_tiles_accepts(const struct problem *p, const struct kernel_target *target) {
  const int64_t group = 4 * pair_of(bits_of(p)), bytes = ceil_div(p->block, group) * group;
  return gemm_wq_accepts(p, target) && p->m >= TILE_SIDE && digits_of(p) == 2 &&
         p->block <= MOST_SUMMED && (bytes <= TILE_BYTES || bytes % TILE_BYTES == 0);
}

bool gemm_wq_tiles_enumerate(const struct problem *p, const struct kernel_target *target, int index,
                             struct choice *out) {
  (void)p;
  out->value[0] = 1;
  out->value[1] = TILE_SIDE;
  out->value[2] = target->fetch_ahead;
  return !index;
}

bool gemm_wq_tiles_fits(const struct problem *p, const struct kernel_target *target,
                        struct choice *choice) {
  return gemm_wq_fits(p, target, choice) && choice->value[1] == TILE_SIDE;
}

int gemm_wq_defines(const struct problem *p, const struct kernel_target *target,
                    const struct choice *choice, struct kernel_define defines[KERNEL_DEFINES_MAX]) {
  const struct kernel_define all[] = {
      {"VECTORS", choice->value[0]},
      {"PANEL_VECTORS", panel_vectors(p, target, choice)},
      {"TILE_ROWS", choice->value[1]},
      {"B_TYPE", p->types.b},
      {"B_BITS", packed_bits(p, choice)},
      {"AHEAD", choice->value[2]},
      {"STEP", step_of(p, choice)},
      {"DIGITS", digits_of(p)},
      {"TILES", (choice->kernel->features & FEATURE_AMX_TILE) != 0}};
  memcpy(defines, all, sizeof all);
  return COUNT(all);
}

/* A panel in the order in which the source reads it. */
struct panels {
  int64_t width, count, blocks, scale_bytes, zero_bytes, block_bytes;
  /* Blocks that share a half; bytes of these halves before the blocks of a panel. */
  int64_t run, run_bytes;
  /* rows of a block; consecutive rows in a word; consecutive rows in a byte */
  int64_t step, quad, pair;
  /* Bits of an element above its lower half, bytes of a column that hold them for a block. */
  int64_t upper_bits, upper_bytes;
};

static struct panels panels_of(const struct problem *p, const struct kernel_target *target,
                               const struct choice *choice) {
  struct panels t = {.width = panel_vectors(p, target, choice) * lanes_of(target)};
  t.step = step_of(p, choice);
  t.quad = quad_of(choice);
  t.pair = pair_of(packed_bits(p, choice));
  t.upper_bits = t.pair == 2 ? packed_bits(p, choice) - 4 : 0;
  t.count = ceil_div(p->n, t.width);
  t.blocks = ceil_div(p->k, t.step);
  t.run = p->b_halves == 2 && t.quad > 1 ? p->b_run : 0;
  t.scale_bytes = t.run ? 1 : p->b_halves == 1 ? 2 : 4;
  t.zero_bytes = p->b_zeros == 2 ? t.scale_bytes : p->b_zeros ? 4 : 0;
  t.run_bytes = t.run ? t.blocks / t.run * 2 * (p->b_zeros ? 2 : 1) * t.width : 0;
  const int64_t groups = ceil_div(t.step, t.quad * t.pair);
  t.upper_bytes = ceil_div(groups * t.pair * t.upper_bits, 8) * t.quad;
  t.block_bytes = (t.scale_bytes + t.zero_bytes + t.upper_bytes + groups * t.quad) * t.width;
  return t;
}

int64_t gemm_wq_units(const struct problem *p, const struct kernel_target *target,
                      const struct choice *choice) {
  return panels_of(p, target, choice).count;
}

size_t gemm_wq_packed_bytes(const struct problem *p, const struct kernel_target *target,
                            const struct choice *choice) {
  struct panels t = panels_of(p, target, choice);
  return (size_t)(t.count * (t.run_bytes + t.blocks * t.block_bytes));
}

/* What the source keeps of a: for each block two numbers, and for each digit two more and that of each element. */
size_t kernel_split_bytes(const struct problem *p, const struct kernel_target *target,
                          const struct choice *choice) {
  struct panels t = panels_of(p, target, choice);
  int64_t group = t.quad * t.pair;
  return (size_t)(p->m * t.blocks *
                  (2 * 4 + digits_of(p) * (2 * 4 + 2 * ceil_div(t.step, group) * group)));
}

size_t gemm_wq_scratch_bytes(const struct problem *p, const struct kernel_target *target,
                             const struct choice *choice) {
  return p->a_split ? 0 : kernel_split_bytes(p, target, choice);
}

int64_t gemm_wq_split_units(const struct problem *p, const struct kernel_target *target,
                            const struct choice *choice) {
  (void)target, (void)choice;
  return p->m;
}

static int element(const struct problem *p, const uint8_t *from, int64_t i) {
  if (has_nibbles(p)) return from[i / 2] >> (i % 2 * 4) & 15;
  return from[i];
}

/* Added to signed elements of so many bits, it makes them unsigned. */
static int sign_of(const struct problem *p, int bits) {
  return p->types.b == TYPE_I4 || p->types.b == TYPE_I8 ? 1 << (bits - 1) : 0;
}

static float zero_at(const struct problem *p, const uint8_t *from, int64_t i) {
  const int sign = sign_of(p, has_nibbles(p) ? 4 : 8);
  return (float)((element(p, from, i) ^ sign) - sign);
}

/* True if f16 has the value. */
static bool is_half(float x) {
  uint32_t bits;
  x = fabsf(x);
  memcpy(&bits, &x, 4);
  if (!(x < 65520)) return false;
  return x < 0x1p-14f ? x * 0x1p24f == (float)(uint32_t)(x * 0x1p24f) : !(bits & 0x1fff);
}

static bool are_multiples(const float *x, int64_t count, int64_t stride, float of, int8_t *bytes) {
  for (int64_t i = 0; i < count; i++) {
    const float times = x[i * stride] / of;
    if (!(times >= -128 && times <= 127)) return false;
    bytes[i] = (int8_t)times;
    if ((float)bytes[i] * of != x[i * stride]) return false;
  }
  return true;
}

bool gemm_wq_factors(const float *x, int64_t count, int64_t stride, float *out_half,
                     int8_t *bytes) {
  static const int8_t common[] = {63, -128, -32, 15}; /* of the largest, as quantisers make it */
  float largest = 0;
  for (int64_t i = 0; i < count; i++)
    if (fabsf(x[i * stride]) > fabsf(largest)) largest = x[i * stride];
  *out_half = 0;
  if (largest == 0) { /* or NaN */
    bool is_zero = true;
    for (int64_t i = 0; i < count; i++) bytes[i] = 0, is_zero = is_zero && x[i * stride] == 0;
    return is_zero;
  }
  for (int i = -COUNT(common); i < 127; i++) {
    *out_half = largest / (float)(i < 0 ? common[i + COUNT(common)] : i + 1);
    if (is_half(*out_half) && are_multiples(x, count, stride, *out_half, bytes)) return true;
  }
  return false;
}

/* The f16 with the value of x, which has one (problem.b_halves). */
static uint16_t exact_half(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  memcpy(&x, &size, 4);
  return (uint16_t)(sign |
                    (size < 113u << 23 ? (uint32_t)(x * 0x1p24f) : (size >> 13) - (112u << 10)));
}

/* In two or four bytes. */
static void put_scale(const struct panels *t, float scale, uint8_t *to) {
  const uint16_t half = t->scale_bytes == 2 ? exact_half(scale) : 0;
  memcpy(to, t->scale_bytes == 2 ? (const void *)&half : &scale, (size_t)t->scale_bytes);
}

/* Row k of a block, columns n, n + 1, ... */
static void pack_row(const struct problem *p, const struct panels *t, const uint8_t *b, int64_t k,
                     int64_t n, int64_t at, uint8_t *upper) {
  const int bits = bits_of(p), sign = t->quad > 1 ? sign_of(p, bits) : 0;
  const int mask = t->quad > 1 ? (1 << bits) - 1 : 255, below = t->upper_bits ? 15 : 255;
  const int64_t word = at / t->quad, byte = at % t->quad, bit = word * t->upper_bits;
  const int64_t columns = min_i64(t->width, p->n - n);
  const int shift = (int)(word % t->pair * 4), up = (int)(bit % 8);
  uint8_t *lower = upper + t->upper_bytes * t->width + word / t->pair * t->width * t->quad + byte;
  upper += bit / 8 * t->width * t->quad + byte;
  for (int64_t j = 0; j < columns; j++) {
    const int x = (element(p, b, k * p->b_row + (n + j) * p->b_column) ^ sign) & mask;
    lower[j * t->quad] |= (uint8_t)((x & below) << shift);
    if (t->upper_bits) upper[j * t->quad] |= (uint8_t)(x >> 4 << up);
  }
}

/* The scales (or minima) of a run of blocks of a column: an f16, and a byte in each block at `to`. */
static void pack_run(const struct panels *t, const float *scales, uint8_t *half, uint8_t *to) {
  int8_t bytes[MOST_SUMMED];
  float x;
  gemm_wq_factors(scales, t->run, 1, &x, bytes);
  const uint16_t bits = exact_half(x);
  memcpy(half, &bits, 2);
  for (int64_t i = 0; i < t->run; i++) to[i * t->block_bytes] = (uint8_t)bytes[i];
}

/* One block of a panel: `depth` rows from `first` on, columns from n on. run: its halves, or NULL for blocks
   inside a run. */
static void pack_block(const struct problem *p, const struct panels *t, const uint8_t *b,
                       int64_t first, int64_t n, uint8_t *run, uint8_t *to) {
  const uint8_t *scales = b + (has_nibbles(p) ? (p->k * p->n + 1) / 2 : p->k * p->n);
  const uint8_t *zeros = scales + ceil_div(p->k, p->block) * p->n * 4;
  uint8_t *points = to + t->scale_bytes * t->width;
  const int64_t depth = min_i64(t->step, p->k - first), columns = min_i64(t->width, p->n - n);
  for (int64_t j = 0; j < columns; j++) {
    const int64_t at = gemm_wq_scale(p, first / p->block, n + j), next = gemm_wq_scale(p, 1, 0);
    float scale[MOST_SUMMED], minimum[MOST_SUMMED];
    const int64_t count = t->run ? (run ? t->run : 0) : 1;
    for (int64_t i = 0; i < count; i++) {
      memcpy(scale + i, scales + 4 * (at + i * next), 4);
      if (p->b_zeros == 2) memcpy(minimum + i, zeros + 4 * (at + i * next), 4);
    }
    if (p->b_zeros == 1) minimum[0] = zero_at(p, zeros, at);
    if (run) {
      pack_run(t, scale, run + 2 * j, to + j);
      if (p->b_zeros) pack_run(t, minimum, run + 2 * (t->width + j), points + j);
    } else if (!t->run) {
      put_scale(t, scale[0], to + t->scale_bytes * j);
      if (p->b_zeros == 1) memcpy(points + 4 * j, minimum, 4);
      if (p->b_zeros == 2) put_scale(t, minimum[0], points + t->zero_bytes * j);
    }
  }
  for (int64_t k = 0; k < depth; k++)
    pack_row(p, t, b, first + k, n, k, points + t->zero_bytes * t->width);
}

void gemm_wq_pack(const struct problem *p, const struct kernel_target *target,
                  const struct choice *choice, const void *b, void *packed) {
  struct panels t = panels_of(p, target, choice);
  uint8_t *to = packed;
  memset(packed, 0, gemm_wq_packed_bytes(p, target, choice));
  for (int64_t panel = 0; panel < t.count; panel++) {
    uint8_t *runs = to;
    to += t.run_bytes;
    for (int64_t block = 0; block < t.blocks; block++, to += t.block_bytes) {
      uint8_t *run = NULL;
      if (t.run && block % t.run == 0) {
        run = runs;
        runs += t.run_bytes / (t.blocks / t.run);
      }
      pack_block(p, &t, b, block * t.step, panel * t.width, run, to);
    }
  }
}
