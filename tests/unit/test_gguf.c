/* The element types of GGUF files, bit for bit. The hashes are of the values that the Python
 * package gguf 0.19 (gguf.quants.dequantize) gives for the same 64 random blocks of each type; all
 * NaNs count as one value. */
#include "compiler/import/gguf/gguf.h"
#include "unit.h"

enum { BLOCKS = 64 };

static const struct {
  const char *type;
  uint64_t hash; /* FNV-1a of the floats' bytes, little endian */
} expected[] = {
    {"F32", 0xfe8cb1e72a557e52ull},    {"F16", 0xbb3aabc60f0f3665ull},
    {"BF16", 0xcafb0583798e4601ull},   {"Q4_0", 0x4ea9c114bd0c6dcfull},
    {"Q4_1", 0xf107cccea350ac40ull},   {"Q5_0", 0x06b76adcd9e5473cull},
    {"Q5_1", 0xe03f034a580fa946ull},   {"Q8_0", 0x84e5b070cafa91aeull},
    {"Q2_K", 0x00581c03f2059565ull},   {"Q3_K", 0xdb008f794022d0d8ull},
    {"Q4_K", 0x6f1abeb01bc3fa86ull},   {"Q5_K", 0x184e4f96f5976990ull},
    {"Q6_K", 0x253a2b5e696c7925ull},   {"IQ4_NL", 0x471acaa2b6859ec9ull},
    {"IQ4_XS", 0x737e0e51831d24e1ull}, {"MXFP4", 0xe4d89e1b7f4d037eull},
};

static const struct block_type *type_named(const char *name) {
  for (size_t i = 0; i < block_type_count; i++)
    if (!strcmp(block_types[i].name, name)) return &block_types[i];
  return NULL;
}

/* The high byte of a linear congruential generator (Knuth's MMIX). */
static void fill(uint8_t *bytes, size_t count) {
  uint64_t x = 12345;
  for (size_t i = 0; i < count; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    bytes[i] = (uint8_t)(x >> 56);
  }
}

static uint64_t hash_of(const float *x, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; i++) {
    uint32_t bits = 0x7fc00000;
    if (x[i] == x[i]) memcpy(&bits, &x[i], sizeof bits);
    for (int k = 0; k < 4; k++) hash = (hash ^ (bits >> 8 * k & 255)) * 0x100000001b3u;
  }
  return hash;
}

static void every_type_has_the_bits_of_the_gguf_package(void **state) {
  static uint8_t bytes[BLOCKS * 256];
  static float floats[BLOCKS * BLOCK_MAX];
  (void)state;
  assert_int_equal(COUNT(expected), block_type_count);
  for (size_t i = 0; i < COUNT(expected); i++) {
    const struct block_type *type = type_named(expected[i].type);
    assert_non_null(type);
    fill(bytes, BLOCKS * type->bytes);
    blocks_decode(type, bytes, BLOCKS * type->elements, floats);
    if (hash_of(floats, BLOCKS * type->elements) != expected[i].hash)
      print_error("%s differs\n", type->name);
    assert_true(hash_of(floats, BLOCKS * type->elements) == expected[i].hash);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_type_has_the_bits_of_the_gguf_package)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
