/* data: libFuzzer targets for hone's readers of other formats than models. FUZZ_FORMAT chooses one:
 * 10 .npy files, 11 DEFLATE streams, 12 choice tables, 13 graphs as text, 14 a study's JSON, 15 a
 * worker's messages.  For any input, the reader returns success or an error that is not E_INTERNAL;
 * sanitizers check the rest. Accepted data that hone can write is written and read again, and must
 * be equal. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "judge/compare/compare.h"
#include "words.h"

#if FUZZ_FORMAT == 11
#include "compiler/import/pt2/zip.h"
#elif FUZZ_FORMAT == 12
#include "compiler/plan/plan.h"
#elif FUZZ_FORMAT == 13
#include "core/ops/ops.h"
#elif FUZZ_FORMAT == 14
#elif FUZZ_FORMAT == 15
#include "bench/study/study.h"
#else
#include "core/base/base.h"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static void require(bool holds) {
  if (!holds) abort();
}

#if FUZZ_FORMAT == 10 || FUZZ_FORMAT == 14
/* Writes the bytes to a file, always the same one. */
static const char *file_of(const uint8_t *data, size_t size) {
  static int file = -1;
  static char path[64];
  if (file < 0) {
    file = memfd_create("fuzz", 0);
    require(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  }
  require(!ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size);
  return path;
}
#endif

#if FUZZ_FORMAT == 10
static void read_once(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  hone_tensor tensor = {0}, again = {0};
  struct strbuf text = {0};
  (void)arena;
  hone_status status = npy_read(ctx, file_of(data, size), NULL, &tensor);
  require(status != HONE_E_INTERNAL);
  if (status) return;
  require(!npy_text(ctx, "", &tensor, &text));
  require(!npy_read(ctx, file_of((const uint8_t *)text.at, text.length), NULL, &again));
  require(again.dtype == tensor.dtype && again.rank == tensor.rank);
  for (int d = 0; d < tensor.rank; d++) require(again.shape[d] == tensor.shape[d]);
  strbuf_deinit(&text);
  free(tensor.data);
  free(again.data);
}
#elif FUZZ_FORMAT == 11
/* The first two bytes are the expected size. */
static void read_once(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  size_t bytes = size < 2 ? 0 : (size_t)data[0] | (size_t)data[1] << 8;
  (void)ctx, (void)arena;
  uint8_t *out = malloc(bytes ? bytes : 1); /* exact size, so that one byte too many is detected */
  require(out != NULL);
  if (size >= 2) (void)!inflate_bytes(data + 2, size - 2, out, bytes);
  free(out);
}
#elif FUZZ_FORMAT == 12
static void read_once(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  struct choice_table table;
  hone_status status = choices_parse(ctx, arena, place_none(), (const char *)data, size, &table);
  require(status != HONE_E_INTERNAL);
  for (size_t i = 0; !status && i < table.entries.count; i++)
    require(choices_find(&table, &table.entries.at[i].problem) != NULL);
}
#elif FUZZ_FORMAT == 13
static void read_once(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  static const struct print_options with_data = {.with_data = true};
  struct graph *graph;
  struct strbuf once = {0}, twice = {0};
  hone_status status = graph_parse(ctx, arena, (const char *)data, size, op_find, &graph);
  if (!status) status = graph_infer(ctx, graph);
  if (!status) status = graph_verify(ctx, graph);
  require(status != HONE_E_INTERNAL);
  /* sizes known only at run time are skipped: inference gives its new ones numbers after those in the text */
  if (!status && !graph->extents.count && !graph_print(ctx, &once, graph, op_names, &with_data)) {
    require(!graph_parse(ctx, arena, once.at, once.length, op_find, &graph));
    require(!graph_print(ctx, &twice, graph, op_names, &with_data));
    require(once.length == twice.length && !memcmp(once.at, twice.at, once.length));
  }
  strbuf_deinit(&once);
  strbuf_deinit(&twice);
}
#elif FUZZ_FORMAT == 14
static void read_once(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  struct summary summary;
  require(summary_read_json(ctx, arena, file_of(data, size), &summary) != HONE_E_INTERNAL);
}
#elif FUZZ_FORMAT == 15
static void read_once(struct ctx *ctx, struct arena *arena, const uint8_t *data, size_t size) {
  char reason[256] = "";
  (void)ctx, (void)arena;
  json_t *message = event_parse((const char *)data, size, reason);
  require(message || reason[0]);
  json_decref(message);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct ctx ctx;
  struct arena *arena;
  ctx_init(&ctx);
  ctx.limits[LIMIT_value_bytes] = FUZZ_FORMAT == 13 ? 1 << 12 : 1 << 20; /* constants are printed */
  ctx.limits[LIMIT_total_value_bytes] = 16 << 20;
  ctx.limits[LIMIT_fold_bytes] = 1 << 16;
  if (arena_create(&ctx, 64 << 20, &arena)) return 0;
  read_once(&ctx, arena, data, size);
  arena_destroy(arena);
  return 0;
}

#if FUZZ_FORMAT == 10
/* Corrects the header's length: 2 bytes after 6 bytes of magic and 2 of version. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  if (size < 12 || seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  size = 10 + words_mutate(data + 10, size - 10, max_size - 10, seed);
  const uint8_t *end = memchr(data + 10, '\n', size - 10);
  size_t header = end ? (size_t)(end - data) - 9 : 0;
  if (seed % 16 > 1) data[8] = (uint8_t)header, data[9] = (uint8_t)(header >> 8);
  return size;
}
#elif FUZZ_FORMAT == 11
/* DEFLATE codes are not byte-aligned, so this inserts, removes and flips bits. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  if (size < 4 || seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  size_t at = 16 + words_next(&seed) % (8 * (size - 2)), end = 8 * size;
  if (seed % 3 == 0) {
    data[at / 8] ^= (uint8_t)(1u << at % 8);
    return size;
  }
  for (; at + 1 < end; at++) { /* one bit fewer */
    unsigned next = data[(at + 1) / 8] >> (at + 1) % 8 & 1;
    data[at / 8] = (uint8_t)((data[at / 8] & ~(1u << at % 8)) | next << at % 8);
  }
  return size;
}
#else
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  return words_mutate(data, size, max_size, seed);
}
#endif
