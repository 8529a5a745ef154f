/* inflate: DEFLATE data to bytes (RFC 1951): stored, fixed and dynamic blocks. Canonical Huffman codes are
 * decoded bit by bit against the number of codes of each length, so no table can be overrun. */
#include "zip.h"

enum { LONGEST_CODE = 15, LITERALS = 288, DISTANCES = 32, LENGTH_CODES = 19, END_OF_BLOCK = 256 };

struct bits {
  const uint8_t *at, *end;
  uint32_t held;
  int count;   /* bits in `held` */
  bool is_bad; /* more bits were requested than are left */
};

static uint32_t take(struct bits *b, int count) {
  while (b->count < count) {
    b->is_bad = b->is_bad || b->at == b->end;
    b->held |= (uint32_t)(b->at == b->end ? 0 : *b->at++) << b->count;
    b->count += 8;
  }
  uint32_t x = b->held & ((1u << count) - 1);
  b->held >>= count;
  b->count -= count;
  return x;
}

/* A canonical code: how many symbols have each length, and the symbols by length. */
struct code {
  uint16_t count[LONGEST_CODE + 1], symbol[LITERALS];
};

/* False: more codes than their lengths allow. Fewer are accepted: missing ones are never read. */
static bool code_init(struct code *code, const uint8_t *lengths, int symbols) {
  uint16_t start[LONGEST_CODE + 2] = {0};
  int room = 1;
  memset(code, 0, sizeof *code);
  for (int i = 0; i < symbols; i++) code->count[lengths[i]]++;
  code->count[0] = 0;
  for (int n = 1; n <= LONGEST_CODE; n++) {
    room = 2 * room - code->count[n];
    if (room < 0) return false;
    start[n + 1] = (uint16_t)(start[n] + code->count[n]);
  }
  for (int i = 0; i < symbols; i++)
    if (lengths[i]) code->symbol[start[lengths[i]]++] = (uint16_t)i;
  return true;
}

/* -1: no symbol has this code. */
static int next_symbol(struct bits *b, const struct code *code) {
  int value = 0, first = 0, index = 0;
  for (int n = 1; n <= LONGEST_CODE && !b->is_bad; n++) {
    value |= (int)take(b, 1);
    int count = code->count[n];
    if (value - count < first) return code->symbol[index + value - first];
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  return -1;
}

struct unpacked {
  uint8_t *bytes;
  size_t size, count;
};

static bool copy_stored(struct bits *b, struct unpacked *out) {
  b->held = 0;
  b->count = 0; /* skips to the next byte */
  uint32_t length = take(b, 16), inverse = take(b, 16);
  if (b->is_bad || length != (inverse ^ 0xffff) || length > (size_t)(b->end - b->at) ||
      length > out->size - out->count)
    return false;
  memcpy(out->bytes + out->count, b->at, length);
  out->count += length;
  b->at += length;
  return true;
}

static bool copy_match(struct bits *b, struct unpacked *out, int symbol,
                       const struct code *distances) {
  static const uint16_t lengths[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                     15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                     67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                        2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const uint16_t steps[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                   33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                   1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  size_t k = (size_t)symbol - END_OF_BLOCK - 1;
  if (k >= COUNT(lengths)) return false;
  size_t length = lengths[k] + take(b, length_bits[k]);
  int code = next_symbol(b, distances);
  if (code < 0 || (size_t)code >= COUNT(steps)) return false;
  size_t distance = steps[code] + take(b, code < 2 ? 0 : code / 2 - 1);
  if (b->is_bad || distance > out->count || length > out->size - out->count) return false;
  for (; length--; out->count++) out->bytes[out->count] = out->bytes[out->count - distance];
  return true;
}

static bool copy_block(struct bits *b, struct unpacked *out, const struct code *literals,
                       const struct code *distances) {
  for (;;) {
    int symbol = next_symbol(b, literals);
    if (symbol < 0) return false;
    if (symbol == END_OF_BLOCK) return true;
    if (symbol > END_OF_BLOCK) {
      if (!copy_match(b, out, symbol, distances)) return false;
      continue;
    }
    if (out->count == out->size) return false;
    out->bytes[out->count++] = (uint8_t)symbol;
  }
}

static bool read_codes(struct bits *b, struct code *literals, struct code *distances) {
  static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15};
  uint8_t lengths[LITERALS + DISTANCES] = {0}; /* as many as five bits each can ask for */
  struct code code;
  int symbols = (int)take(b, 5) + 257, steps = (int)take(b, 5) + 1, given = (int)take(b, 4) + 4;
  for (int i = 0; i < given; i++) lengths[order[i]] = (uint8_t)take(b, 3);
  if (!code_init(&code, lengths, LENGTH_CODES)) return false;
  memset(lengths, 0, sizeof lengths);
  for (int i = 0; i < symbols + steps;) {
    int symbol = next_symbol(b, &code);
    if (symbol < 0) return false;
    if (symbol < 16) {
      lengths[i++] = (uint8_t)symbol;
      continue;
    }
    if (symbol == 16 && !i) return false;
    uint8_t again = symbol == 16 ? lengths[i - 1] : 0;
    int count = symbol == 16   ? 3 + (int)take(b, 2)
                : symbol == 17 ? 3 + (int)take(b, 3)
                               : 11 + (int)take(b, 7);
    if (count > symbols + steps - i) return false;
    while (count--) lengths[i++] = again;
  }
  return lengths[END_OF_BLOCK] && code_init(literals, lengths, symbols) &&
         code_init(distances, lengths + symbols, steps);
}

static void fixed_codes(struct code *literals, struct code *distances) {
  uint8_t lengths[LITERALS];
  for (int i = 0; i < LITERALS; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  (void)code_init(literals, lengths, LITERALS); /* valid by the standard */
  memset(lengths, 5, DISTANCES);
  (void)code_init(distances, lengths, DISTANCES);
}

bool inflate_bytes(const uint8_t *packed, size_t packed_size, uint8_t *bytes, size_t size) {
  struct bits b = {.at = packed, .end = packed + packed_size};
  struct unpacked out = {bytes, size, 0};
  struct code literals, distances;
  bool is_last = false;
  while (!is_last) {
    is_last = take(&b, 1) != 0;
    bool good = false;
    switch (take(&b, 2)) {
      case 0:
        good = copy_stored(&b, &out);
        break;
      case 1:
        fixed_codes(&literals, &distances);
        good = copy_block(&b, &out, &literals, &distances);
        break;
      case 2:
        good = read_codes(&b, &literals, &distances) && copy_block(&b, &out, &literals, &distances);
        break;
      default:
        break;
    }
    if (!good || b.is_bad) return false;
  }
  return out.count == size;
}
