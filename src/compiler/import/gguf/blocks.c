/* blocks: element types of GGUF files. All but the plain floats are stored in blocks: small integers, with a scale and
 * perhaps a minimum in half precision for the block or for sub-blocks of 16 or 32 elements.
 *
 * Source: ggml's block layouts (github.com/ggml-org/ggml, src/ggml-common.h).
 */
#include "gguf.h"

enum { SMALL = 32, SUPER = 256 }; /* elements of a block */

static uint16_t word(const uint8_t *at) { return (uint16_t)little_endian(at, 2); }
static float half(const uint8_t *at) { return f16_to_f32(word(at)); }
static int low4(uint8_t byte) { return byte & 15; }
static int high4(uint8_t byte) { return byte >> 4; }

/* 32 elements of 4 bits less `offset`: byte i holds element i in its low and element i + 16 in its high half. */
static void split_fours(const uint8_t *fours, int offset, int8_t *q) {
  for (int i = 0; i < 16; i++) {
    q[i] = (int8_t)(low4(fours[i]) - offset);
    q[i + 16] = (int8_t)(high4(fours[i]) - offset);
  }
}

/* As above with a fifth bit: bit i of the 32 at `fifths` is that of element i. */
static void split_fives(const uint8_t *fifths, const uint8_t *fours, int offset, int8_t *q) {
  split_fours(fours, offset, q);
  for (int i = 0; i < SMALL; i++) q[i] = (int8_t)(q[i] + (fifths[i / 8] >> i % 8 & 1) * 16);
}

/* -- blocks of 32 */

static void split_q4_0(const uint8_t *b, int8_t *q, float *scale, float *minimum) {
  (void)minimum;
  *scale = half(b);
  split_fours(b + 2, 8, q);
}

static void split_q4_1(const uint8_t *b, int8_t *q, float *scale, float *minimum) {
  *scale = half(b), *minimum = half(b + 2);
  split_fours(b + 4, 0, q);
}

static void split_q5_0(const uint8_t *b, int8_t *q, float *scale, float *minimum) {
  (void)minimum;
  *scale = half(b);
  split_fives(b + 2, b + 6, 16, q);
}

static void split_q5_1(const uint8_t *b, int8_t *q, float *scale, float *minimum) {
  *scale = half(b), *minimum = half(b + 2);
  split_fives(b + 4, b + 8, 0, q);
}

static void split_q8_0(const uint8_t *b, int8_t *q, float *scale, float *minimum) {
  (void)minimum;
  *scale = half(b);
  memcpy(q, b + 2, SMALL);
}

static void split_levels(const int8_t *levels, const uint8_t *fours, int8_t *q) {
  split_fours(fours, 0, q);
  for (int i = 0; i < SMALL; i++) q[i] = levels[q[i]];
}

/* Levels of the non-linear 4-bit types. */
static const int8_t nonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

static void split_iq4_nl(const uint8_t *b, int8_t *q, float *scale, float *minimum) {
  (void)minimum;
  *scale = half(b);
  split_levels(nonlinear, b + 2, q);
}

/* The scale is a power of two; it is halved, since the levels are twice those of the e2m1 elements. */
static void split_mxfp4(const uint8_t *b, int8_t *q, float *scale, float *minimum) {
  static const int8_t levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const uint32_t bits = b[0] < 2 ? 0x00200000u << b[0] : (uint32_t)(b[0] - 1) << 23;
  (void)minimum;
  memcpy(scale, &bits, sizeof bits);
  split_levels(levels, b + 1, q);
}

/* -- blocks of 256 */

/* Element i of 2 bits: a run of 32 bytes holds 128 elements, in four layers. */
static int two_bits(const uint8_t *twos, int i) {
  return twos[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

/* 16 sub-blocks, each with a scale and a minimum of 4 bits. */
static void split_q2_k(const uint8_t *b, int8_t *q, float *scales, float *minima) {
  for (int sub = 0; sub < 16; sub++) {
    scales[sub] = half(b + 80) * (float)low4(b[sub]);
    minima[sub] = -(half(b + 82) * (float)high4(b[sub]));
  }
  for (int i = 0; i < SUPER; i++) q[i] = (int8_t)two_bits(b + 16, i);
}

/* 16 sub-blocks with scales of 6 bits: the low four in 8 bytes, the high two in 4. A third bit of an element subtracts 4 where it is
   0. */
static void split_q3_k(const uint8_t *b, int8_t *q, float *scales, float *minima) {
  const uint8_t *packed = b + 96;
  (void)minima;
  for (int sub = 0; sub < 16; sub++) {
    const int low = sub < 8 ? low4(packed[sub]) : high4(packed[sub - 8]);
    const int high = packed[8 + sub % 4] >> sub / 4 * 2 & 3;
    scales[sub] = half(b + 108) * (float)((low | high << 4) - 32);
  }
  for (int i = 0; i < SUPER; i++)
    q[i] = (int8_t)(two_bits(b + 32, i) - (b[i % 32] >> i / 32 & 1 ? 0 : 4));
}

/* Scale and minimum of 8 sub-blocks, 6 bits each, in 12 bytes: the first four of both are whole, the others have their high
   two bits in the spare bits of those. */
static void split_scales(const uint8_t *b, float *scales, float *minima) {
  const float scale = half(b), minimum = half(b + 2);
  const uint8_t *packed = b + 4;
  for (int sub = 0; sub < 4; sub++) {
    const uint8_t rest = packed[sub + 8];
    scales[sub] = scale * (float)(packed[sub] & 63);
    minima[sub] = -(minimum * (float)(packed[sub + 4] & 63));
    scales[sub + 4] = scale * (float)(low4(rest) | packed[sub] >> 6 << 4);
    minima[sub + 4] = -(minimum * (float)(high4(rest) | packed[sub + 4] >> 6 << 4));
  }
}

/* 256 elements of 4 bits: a run of 32 bytes holds 32 elements in the low halves and the next 32 in the high ones. */
static void split_four_runs(const uint8_t *fours, int8_t *q) {
  for (int i = 0; i < SUPER; i++) {
    const uint8_t byte = fours[i / 64 * 32 + i % 32];
    q[i] = (int8_t)(i % 64 < 32 ? low4(byte) : high4(byte));
  }
}

static void split_q4_k(const uint8_t *b, int8_t *q, float *scales, float *minima) {
  split_scales(b, scales, minima);
  split_four_runs(b + 16, q);
}

/* Bit s of byte i of the 32 at b + 16 is the fifth bit of element i of sub-block s. */
static void split_q5_k(const uint8_t *b, int8_t *q, float *scales, float *minima) {
  split_scales(b, scales, minima);
  split_four_runs(b + 48, q);
  for (int i = 0; i < SUPER; i++) q[i] = (int8_t)(q[i] | (b[16 + i % 32] >> i / 32 & 1) << 4);
}

/* 16 sub-blocks with scales of 8 bits; elements of 6 bits less 32. A run of 64 bytes holds the low four bits of 128 elements. */
static void split_q6_k(const uint8_t *b, int8_t *q, float *scales, float *minima) {
  (void)minima;
  for (int sub = 0; sub < 16; sub++) scales[sub] = half(b + 208) * (float)(int8_t)b[192 + sub];
  for (int i = 0; i < SUPER; i++) {
    const uint8_t byte = b[i / 128 * 64 + i % 64];
    const int low = i % 128 < 64 ? low4(byte) : high4(byte);
    q[i] = (int8_t)((low | two_bits(b + 128, i) << 4) - 32);
  }
}

/* 8 sub-blocks with scales of 6 bits: the low four in 4 bytes, the high two in 2. */
static void split_iq4_xs(const uint8_t *b, int8_t *q, float *scales, float *minima) {
  (void)minima;
  for (int sub = 0; sub < 8; sub++) {
    const int low = sub % 2 ? high4(b[4 + sub / 2]) : low4(b[4 + sub / 2]);
    scales[sub] = half(b) * (float)((low | (word(b + 2) >> 2 * sub & 3) << 4) - 32);
    split_levels(nonlinear, b + 8 + sub * 16, q + sub * SMALL);
  }
}

const struct block_type block_types[] = {
    {"F32", 0, 1, 4, 0, HONE_F32, false, NULL},
    {"F16", 1, 1, 2, 0, HONE_F16, false, NULL},
    {"Q4_0", 2, SMALL, 18, 32, HONE_I4, false, split_q4_0},
    {"Q4_1", 3, SMALL, 20, 32, HONE_U4, true, split_q4_1},
    {"Q5_0", 6, SMALL, 22, 32, HONE_I8, false, split_q5_0},
    {"Q5_1", 7, SMALL, 24, 32, HONE_I8, true, split_q5_1},
    {"Q8_0", 8, SMALL, 34, 32, HONE_I8, false, split_q8_0},
    {"Q2_K", 10, SUPER, 84, 16, HONE_U4, true, split_q2_k},
    {"Q3_K", 11, SUPER, 110, 16, HONE_I4, false, split_q3_k},
    {"Q4_K", 12, SUPER, 144, 32, HONE_U4, true, split_q4_k},
    {"Q5_K", 13, SUPER, 176, 32, HONE_I8, true, split_q5_k},
    {"Q6_K", 14, SUPER, 210, 16, HONE_I8, false, split_q6_k},
    {"IQ4_NL", 20, SMALL, 18, 32, HONE_I8, false, split_iq4_nl},
    {"IQ4_XS", 23, SUPER, 136, 32, HONE_I8, false, split_iq4_xs},
    {"BF16", 30, 1, 2, 0, HONE_BF16, false, NULL},
    {"MXFP4", 39, SMALL, 17, 32, HONE_I8, false, split_mxfp4},
};
const size_t block_type_count = COUNT(block_types);

const struct block_type *block_type_find(uint32_t id) {
  for (size_t i = 0; i < block_type_count; i++)
    if (block_types[i].id == id) return &block_types[i];
  return NULL;
}

static float plain_float(const struct block_type *type, const uint8_t *at) {
  float x;
  if (type->integer == HONE_F16) return half(at);
  if (type->integer == HONE_BF16) return bf16_to_f32(word(at));
  memcpy(&x, at, sizeof x);
  return x;
}

static void decode_block(const struct block_type *type, const uint8_t *block, float *out) {
  int8_t q[BLOCK_MAX];
  float scales[SUB_BLOCK_MAX], minima[SUB_BLOCK_MAX];
  type->split(block, q, scales, minima);
  for (uint32_t i = 0; i < type->elements; i++) {
    out[i] = scales[i / type->sub_elements] * (float)q[i];
    if (type->has_minimum) out[i] += minima[i / type->sub_elements];
  }
}

void blocks_decode(const struct block_type *type, const uint8_t *data, size_t elements,
                   float *out) {
  for (size_t i = 0; i < elements; i += type->elements, data += type->bytes) {
    if (type->split)
      decode_block(type, data, out + i);
    else
      out[i] = plain_float(type, data);
  }
}
