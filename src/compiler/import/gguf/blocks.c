/* blocks: element types of GGUF files. All but the plain floats are stored in blocks: small integers, with a scale and
 * perhaps a minimum in half precision for the block or for sub-blocks of 16 or 32 elements.
 *
 * Each decoder rounds as float32 arithmetic does, in this order: scale of the sub-block, product, minimum. The results equal those
 * of the Python package `gguf` bit for bit. Source: ggml's block layouts (github.com/ggml-org/ggml, src/ggml-common.h).
 */
#include "gguf.h"

enum { SMALL = 32, SUPER = 256 }; /* elements of a block */

static uint16_t word(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }
static float half(const uint8_t *at) { return f16_to_f32(word(at)); }
static int low4(uint8_t byte) { return byte & 15; }
static int high4(uint8_t byte) { return byte >> 4; }

static void decode_f32(const uint8_t *b, float *out) { memcpy(out, b, 4); }
static void decode_f16(const uint8_t *b, float *out) { *out = half(b); }
static void decode_bf16(const uint8_t *b, float *out) { *out = bf16_to_f32(word(b)); }

/* -- blocks of 32: bytes hold element i in their low and element i + 16 in their high half */

static void decode_q4_0(const uint8_t *b, float *out) {
  const float scale = half(b);
  for (int i = 0; i < 16; i++) {
    out[i] = scale * (float)(low4(b[2 + i]) - 8);
    out[i + 16] = scale * (float)(high4(b[2 + i]) - 8);
  }
}

static void decode_q4_1(const uint8_t *b, float *out) {
  const float scale = half(b), minimum = half(b + 2);
  for (int i = 0; i < 16; i++) {
    out[i] = scale * (float)low4(b[4 + i]) + minimum;
    out[i + 16] = scale * (float)high4(b[4 + i]) + minimum;
  }
}

/* Element i of 5 bits: its fifth bit is bit i of the 32 at `fifths`. */
static int five_bits(const uint8_t *fifths, const uint8_t *fours, int i) {
  const int four = i < 16 ? low4(fours[i]) : high4(fours[i - 16]);
  return four | (fifths[i / 8] >> i % 8 & 1) << 4;
}

static void decode_q5_0(const uint8_t *b, float *out) {
  const float scale = half(b);
  for (int i = 0; i < SMALL; i++) out[i] = scale * (float)(five_bits(b + 2, b + 6, i) - 16);
}

static void decode_q5_1(const uint8_t *b, float *out) {
  const float scale = half(b), minimum = half(b + 2);
  for (int i = 0; i < SMALL; i++) out[i] = scale * (float)five_bits(b + 4, b + 8, i) + minimum;
}

static void decode_q8_0(const uint8_t *b, float *out) {
  const float scale = half(b);
  for (int i = 0; i < SMALL; i++) out[i] = (float)(int8_t)b[2 + i] * scale;
}

/* Levels of the non-linear 4-bit types. */
static const int8_t nonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};

static void decode_nonlinear(const uint8_t *fours, float scale, float *out) {
  for (int i = 0; i < 16; i++) {
    out[i] = scale * (float)nonlinear[low4(fours[i])];
    out[i + 16] = scale * (float)nonlinear[high4(fours[i])];
  }
}

static void decode_iq4_nl(const uint8_t *b, float *out) { decode_nonlinear(b + 2, half(b), out); }

/* Half of 2^(e - 127): the levels below are twice those of the format's e2m1 elements. */
static float half_power(uint8_t e) {
  const uint32_t bits = e < 2 ? 0x00200000u << e : (uint32_t)(e - 1) << 23;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void decode_mxfp4(const uint8_t *b, float *out) {
  static const int8_t levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const float scale = half_power(b[0]);
  for (int i = 0; i < 16; i++) {
    out[i] = scale * (float)levels[low4(b[1 + i])];
    out[i + 16] = scale * (float)levels[high4(b[1 + i])];
  }
}

/* -- blocks of 256 */

/* 16 sub-blocks of 16 elements, each with a scale and a minimum of 4 bits. A run of 32 bytes holds 128 elements of 2 bits. */
static void decode_q2_k(const uint8_t *b, float *out) {
  const uint8_t *twos = b + 16;
  const float scale = half(b + 80), minimum = half(b + 82);
  for (int i = 0; i < SUPER; i++) {
    const uint8_t sub = b[i / 16];
    const int q = twos[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    out[i] = scale * (float)low4(sub) * (float)q - minimum * (float)high4(sub);
  }
}

/* As Q2_K, with a third bit that subtracts 4 where it is 0, and scales of 6 bits: the low four in 8 bytes, the high two in 4. */
static void decode_q3_k(const uint8_t *b, float *out) {
  const uint8_t *thirds = b, *twos = b + 32, *scales = b + 96;
  const float scale = half(b + 108);
  for (int i = 0; i < SUPER; i++) {
    const int sub = i / 16;
    const int low = sub < 8 ? low4(scales[sub]) : high4(scales[sub - 8]);
    const int high = scales[8 + sub % 4] >> sub / 4 * 2 & 3;
    const int q = twos[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
    const int offset = thirds[i % 32] >> i / 32 & 1 ? 0 : 4;
    out[i] = scale * (float)((low | high << 4) - 32) * (float)(q - offset);
  }
}

/* Scale and minimum of sub-block `sub` of 8, 6 bits each, in 12 bytes: the first four of both are whole, the others have their
   high two bits in the spare bits of those. */
static void scale_of(const uint8_t *packed, int sub, float *out_scale, float *out_minimum) {
  if (sub < 4) {
    *out_scale = (float)(packed[sub] & 63);
    *out_minimum = (float)(packed[sub + 4] & 63);
    return;
  }
  *out_scale = (float)(low4(packed[sub + 4]) | (packed[sub - 4] >> 6) << 4);
  *out_minimum = (float)(high4(packed[sub + 4]) | (packed[sub] >> 6) << 4);
}

/* 8 sub-blocks of 32 elements; `fifths`, of Q5_K: bit s of byte i is the fifth bit of element i of sub-block s; NULL: 4 bits. */
static void decode_k(const uint8_t *b, const uint8_t *fifths, const uint8_t *fours, float *out) {
  const float all = half(b), all_minimum = half(b + 2);
  for (int sub = 0; sub < 8; sub++) {
    float scale, minimum;
    scale_of(b + 4, sub, &scale, &minimum);
    scale *= all;
    minimum *= all_minimum;
    for (int i = 0; i < 32; i++) {
      const uint8_t byte = fours[sub / 2 * 32 + i];
      int q = sub % 2 ? high4(byte) : low4(byte);
      if (fifths) q |= (fifths[i] >> sub & 1) << 4;
      out[sub * 32 + i] = scale * (float)q - minimum;
    }
  }
}

static void decode_q4_k(const uint8_t *b, float *out) { decode_k(b, NULL, b + 16, out); }
static void decode_q5_k(const uint8_t *b, float *out) { decode_k(b, b + 16, b + 48, out); }

/* 16 sub-blocks of 16 elements with scales of 8 bits; elements of 6 bits less 32. 64 bytes hold the low four bits of 128 elements, 32
   the high two. */
static void decode_q6_k(const uint8_t *b, float *out) {
  const uint8_t *fours = b, *twos = b + 128, *scales = b + 192;
  const float scale = half(b + 208);
  for (int i = 0; i < SUPER; i++) {
    const int part = i / 128, at = i % 128;
    const uint8_t byte = fours[part * 64 + at % 64];
    const int low = at < 64 ? low4(byte) : high4(byte);
    const int high = twos[part * 32 + at % 32] >> at / 32 * 2 & 3;
    out[i] = scale * (float)(int8_t)scales[i / 16] * (float)((low | high << 4) - 32);
  }
}

/* 8 sub-blocks of 32 non-linear elements with scales of 6 bits. */
static void decode_iq4_xs(const uint8_t *b, float *out) {
  const float all = half(b);
  const uint16_t highs = word(b + 2);
  for (int sub = 0; sub < 8; sub++) {
    const uint8_t byte = b[4 + sub / 2];
    const int low = sub % 2 ? high4(byte) : low4(byte);
    const float scale = all * (float)((low | (highs >> 2 * sub & 3) << 4) - 32);
    decode_nonlinear(b + 8 + sub * 16, scale, out + sub * 32);
  }
}

const struct block_type block_types[] = {
    {"F32", 0, 1, 4, decode_f32},
    {"F16", 1, 1, 2, decode_f16},
    {"Q4_0", 2, SMALL, 18, decode_q4_0},
    {"Q4_1", 3, SMALL, 20, decode_q4_1},
    {"Q5_0", 6, SMALL, 22, decode_q5_0},
    {"Q5_1", 7, SMALL, 24, decode_q5_1},
    {"Q8_0", 8, SMALL, 34, decode_q8_0},
    {"Q2_K", 10, SUPER, 84, decode_q2_k},
    {"Q3_K", 11, SUPER, 110, decode_q3_k},
    {"Q4_K", 12, SUPER, 144, decode_q4_k},
    {"Q5_K", 13, SUPER, 176, decode_q5_k},
    {"Q6_K", 14, SUPER, 210, decode_q6_k},
    {"IQ4_NL", 20, SMALL, 18, decode_iq4_nl},
    {"IQ4_XS", 23, SUPER, 136, decode_iq4_xs},
    {"BF16", 30, 1, 2, decode_bf16},
    {"MXFP4", 39, SMALL, 17, decode_mxfp4},
};
const size_t block_type_count = COUNT(block_types);

const struct block_type *block_type_find(uint32_t id) {
  for (size_t i = 0; i < block_type_count; i++)
    if (block_types[i].id == id) return &block_types[i];
  return NULL;
}

void blocks_decode(const struct block_type *type, const uint8_t *data, size_t elements,
                   float *out) {
  for (size_t i = 0; i < elements; i += type->elements, data += type->bytes)
    type->decode(data, out + i);
}
