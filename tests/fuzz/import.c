/* import: a fuzz target of the readers of model files, for libFuzzer. FUZZ_FORMAT chooses the mutator:
 * 1 FlatBuffers (words become offsets, counts and neighbours of what they were), 2 zip archives (as
 * bytes, then every member's checksum is made right again, so that JSON is reached), 3 protocol buffers
 * (protobuf.h).
 *
 * Whatever the bytes are, the import ends with success or an error that is not E_INTERNAL; sanitizers
 * watch the rest. */
#include <stdlib.h>

#include "import/import.h"
#include "protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Blocks of 64 KiB go through the quarantine once an execution: a small one stays in the cache. */
const char *__asan_default_options(void) { return "quarantine_size_mb=8:malloc_context_size=4"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ctx ctx;
  struct arena *arena;
  struct model_file file;
  struct graph *graph;
  ctx_init(&ctx);
  ctx.limits[LIMIT_value_bytes] = 1 << 20; /* so that no execution is long */
  ctx.limits[LIMIT_total_value_bytes] = 16 << 20;
  ctx.limits[LIMIT_fold_bytes] = 1 << 20;
  if (arena_create(&ctx, 256 << 20, &arena)) return 0;
  hone_status status = import_bytes(&ctx, arena, data, size, NULL, &file, &graph);
  if (status == HONE_E_INTERNAL) abort();
  if (!status) model_file_close(&file);
  arena_destroy(arena);
  return 0;
}

#if FUZZ_FORMAT == 1
static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  static const uint32_t words[] = {0, 1, 2, 4, 127, 255, 0x7fffffff, 0x80000000, 0xffffffff, 1u << 30};
  uint32_t state = seed;
  if (size < 16 || next(&state) >> 28 == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (uint32_t n = 1 + (next(&state) >> 30); n--;) {
    size_t at = (next(&state) >> 4) % (size / 4) * 4, from = (next(&state) >> 4) % (size / 4) * 4;
    uint32_t word;
    memcpy(&word, data + at, 4);
    switch (next(&state) >> 29) {
      case 0: /* a table, vector or number of elsewhere */
        word = (uint32_t)(from - at);
        break;
      case 1:
        memcpy(&word, data + from, 4);
        break;
      case 2:
        word = words[next(&state) % COUNT(words)];
        break;
      case 3:
        word += next(&state) % 17 - 8;
        break;
      case 4: /* one half: vtables */
        word = (word & 0xffff0000) | (next(&state) >> 24) * 2;
        break;
      case 5:
        data[at + (next(&state) >> 30)] = (uint8_t)(next(&state) >> 24);
        continue;
      default:
        word ^= 1u << (next(&state) >> 27);
    }
    memcpy(data + at, &word, 4);
  }
  return size;
}
#elif FUZZ_FORMAT == 2
static uint32_t get(const uint8_t *p, int width) {
  uint32_t x = 0;
  for (int i = 0; i < width; i++) x |= (uint32_t)p[i] << (8 * i);
  return x;
}
static uint32_t crc_of(const uint8_t *p, size_t n) {
  static uint32_t table[256];
  uint32_t x = UINT32_MAX;
  for (uint32_t i = 0; i < 256 && !table[255]; i++) {
    table[i] = i;
    for (int k = 0; k < 8; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
  }
  for (; n--; p++) x = x >> 8 ^ table[(x ^ *p) & 0xff];
  return ~x;
}

/* Checksums of every member that the directory points to. */
static void repair(uint8_t *data, size_t size) {
  const uint8_t *next = data;
  for (; (next = memchr(next, 'P', size - (size_t)(next - data))); next++) {
    size_t at = (size_t)(next - data);
    if (at + 46 > size || memcmp(next, "PK\1\2", 4)) continue;
    size_t header = get(data + at + 42, 4), bytes = get(data + at + 24, 4);
    if (header > size || size - header < 30 || memcmp(data + header, "PK\3\4", 4)) continue;
    size_t start = header + 30 + get(data + header + 26, 2) + get(data + header + 28, 2);
    if (start > size || bytes > size - start) continue;
    uint32_t crc = crc_of(data + start, bytes);
    memcpy(data + at + 16, &crc, 4);
    memcpy(data + header + 14, &crc, 4);
  }
}

/* Mostly in place, so that the directory still fits: a number or a letter of the JSON changes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  static const char digits[] = "0123456789-.e\"[]{},:tnfa_";
  if (seed % 8 == 0) {
    size = LLVMFuzzerMutate(data, size, max_size);
  } else {
    for (unsigned n = 1 + seed % 3; n-- && size;) {
      seed = seed * 1664525u + 1013904223u;
      size_t at = seed % size;
      for (size_t i = 0; i < size && !(data[at] >= '0' && data[at] <= '9') && seed >> 31; i++)
        at = (at + 1) % size;
      data[at] = seed >> 30 & 1 ? (uint8_t)digits[seed / 7 % (sizeof digits - 1)]
                                : (uint8_t)(seed >> 16);
    }
  }
  if (seed % 16) repair(data, size);
  return size;
}
#else
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  for (unsigned n = 1 + seed % 3; n--; seed = seed * 1664525u + 1013904223u)
    size = pb_mutate(data, size, max_size, seed);
  return size;
}
#endif
