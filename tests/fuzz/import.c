/* import: a libFuzzer target for the readers of model files. FUZZ_FORMAT chooses the mutator: 1
 * FlatBuffers (words become offsets, counts and values close to the old ones), 2 zip archives
 * (archive.h), 3 protocol buffers (protobuf.h), 4 GGUF (like 1), whose tokeniser also encodes a text.
 * For any input, the import returns success or an
 * error that is not E_INTERNAL; sanitizers check the rest. */
#include <stdlib.h>

#include "archive.h"
#include "compiler/import/gguf/gguf.h"
#include "protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Each execution puts blocks of 64 KiB through ASan's quarantine; a small quarantine stays in the
   cache. */
const char *__asan_default_options(void) { return "quarantine_size_mb=8:malloc_context_size=4"; }

#if FUZZ_FORMAT == 2
#include <jansson.h>
#include <sanitizer/asan_interface.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* JSON needs hundreds of small allocations, on which ASan's allocator spent most of the time. They
 * come from one block, reset for each execution, with poisoned gaps and poison after free. None may
 * be left at the end. */
enum { JSON_BYTES = 8 << 20, JSON_HEAD = 16 };
static char json_block[JSON_BYTES] __attribute__((aligned(16)));
static size_t json_used, json_pieces;

__attribute__((no_sanitize("address"))) static void *json_take(size_t bytes) {
  char *at = json_block + json_used;
  const size_t whole = JSON_HEAD + (bytes + 15) / 16 * 16;
  if (bytes > JSON_BYTES || whole > JSON_BYTES - json_used) return NULL;
  *(size_t *)(void *)at = bytes;
  ASAN_UNPOISON_MEMORY_REGION(at + JSON_HEAD, bytes);
  json_used += whole;
  json_pieces++;
  return at + JSON_HEAD;
}
__attribute__((no_sanitize("address"))) static void json_give(void *piece) {
  const char *at = piece;
  if (!piece) return;
  ASAN_POISON_MEMORY_REGION(at, *(const size_t *)(const void *)(at - JSON_HEAD));
  json_pieces--;
}
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  ASAN_POISON_MEMORY_REGION(json_block, JSON_BYTES);
  json_set_alloc_funcs(json_take, json_give);
  return 0;
}
static void json_rewind(void) {
  if (json_pieces) abort();
  json_used = 0;
}
#else
static void json_rewind(void) {}
#endif

#if FUZZ_FORMAT == 4
static const struct import_options options = {.open_is = 2, .cache = 64};

static void use_tokeniser(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  static const char text[] = "hello <|im_end|> \xF0\x9F\x99\x82\xFF  1234 it's\n";
  struct gguf file;
  struct vocabulary vocabulary;
  struct tokeniser *t;
  struct token_text piece;
  const char *template;
  int32_t *ids;
  size_t count;
  if (gguf_read(ctx, arena, data, size, &file) || gguf_vocabulary(ctx, arena, &file, &vocabulary) ||
      gguf_chat_template(ctx, arena, &file, &template) ||
      tokeniser_create(ctx, arena, &vocabulary, &t) ||
      tokeniser_encode(ctx, arena, t, text, sizeof text, TOKENS_ADD_SPECIAL | TOKENS_PARSE_SPECIAL,
                       &ids, &count))
    return;
  for (size_t i = 0; i < count; i++)
    if (tokeniser_piece(ctx, arena, t, ids[i], i % 2, &piece)) abort();
}
#else
static const struct import_options options;

static void use_tokeniser(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  (void)ctx, (void)arena, (void)data, (void)size;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ctx ctx;
  struct arena *arena;
  struct model_file file;
  struct graph *graph;
  ctx_init(&ctx);
  ctx.limits[LIMIT_value_bytes] = 1 << 20; /* bounds the time of an execution */
  ctx.limits[LIMIT_total_value_bytes] = 16 << 20;
  ctx.limits[LIMIT_fold_bytes] = 1 << 20;
  if (arena_create(&ctx, 256 << 20, &arena)) return 0;
  hone_status status = import_bytes(&ctx, arena, data, size, &options, &file, &graph);
  if (status == HONE_E_INTERNAL) abort();
  if (!status) model_file_close(&file);
  ctx_clear(&ctx);
  use_tokeniser(&ctx, arena, data, size);
  arena_destroy(arena);
  json_rewind();
  return 0;
}

#if FUZZ_FORMAT == 1 || FUZZ_FORMAT == 4
static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  static const uint32_t words[] = {0,   1,          2,          4,          127,
                                   255, 0x7fffffff, 0x80000000, 0xffffffff, 1u << 30};
  uint32_t state = seed;
  /* words are not aligned in GGUF, and much of it is text */
  if (size < 16 || next(&state) >> 28 < (FUZZ_FORMAT == 4 ? 8 : 1))
    return LLVMFuzzerMutate(data, size, max_size);
  for (uint32_t n = 1 + (next(&state) >> 30); n--;) {
    enum { STEP = FUZZ_FORMAT == 4 ? 1 : 4 };
    const size_t places = (size - 4) / STEP;
    size_t at = (next(&state) >> 4) % places * STEP, from = (next(&state) >> 4) % places * STEP;
    uint32_t word;
    memcpy(&word, data + at, 4);
    switch (next(&state) >> 29) {
      case 0: /* a table, vector or number from another offset */
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
/* Checksums of every member that the directory points to. */
static void repair(uint8_t *data, size_t size) {
  const uint8_t *next = data;
  for (; (next = memchr(next, 'P', size - (size_t)(next - data))); next++) {
    size_t at = (size_t)(next - data);
    if (at + 46 > size || memcmp(next, "PK\1\2", 4)) continue;
    size_t header = zip_get(data + at + 42, 4), bytes = zip_get(data + at + 24, 4);
    if (header > size || size - header < 30 || memcmp(data + header, "PK\3\4", 4)) continue;
    size_t start = header + 30 + zip_get(data + header + 26, 2) + zip_get(data + header + 28, 2);
    if (start > size || bytes > size - start) continue;
    uint32_t crc = zip_crc(data + start, bytes);
    memcpy(data + at + 16, &crc, 4);
    memcpy(data + header + 14, &crc, 4);
  }
}

/* Mostly changes a member's content; sometimes the archive's own bytes, with or without correct
   checksums. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  const size_t made = seed % 16 ? zip_mutate(data, size, max_size, seed / 16) : 0;
  if (made) return made;
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed / 16 % 2) repair(data, size);
  return size;
}
#else
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  for (unsigned n = 1 + seed % 3; n--; seed = seed * 1664525u + 1013904223u)
    size = pb_mutate(data, size, max_size, seed);
  return size;
}
#endif
