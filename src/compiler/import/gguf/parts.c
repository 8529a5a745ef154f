/* parts: a model in several files NAME-00001-of-00003.gguf, as llama-gguf-split writes them. The first has all pairs and some
 * tensors, the others have tensors.
 */
#include "gguf.h"

enum { MAX_PARTS = 1000 };

hone_status gguf_part_count(struct ctx *ctx, const struct gguf *file, int64_t *out) {
  int64_t at;
  TRY(gguf_int(ctx, file, "split.count", 0, MAX_PARTS, 1, out));
  TRY(gguf_int(ctx, file, "split.no", 0, MAX_PARTS, 0, &at));
  if (*out < 2) *out = 1;
  if (*out < 2 || !at) return HONE_OK;
  return advise(ctx,
                fail(ctx, HONE_E_USAGE, place_name("split.no"), "part %lld of %lld of a model",
                     (long long)at + 1, (long long)*out),
                "pass the first part, NAME-00001-of-%05lld.gguf", (long long)*out);
}

hone_status gguf_part_path(struct ctx *ctx, const char *first, int64_t k, int64_t count,
                           char out[4096]) {
  char ending[64];
  const size_t length = strlen(first);
  const int n = snprintf(ending, sizeof ending, "-00001-of-%05lld.gguf", (long long)count);
  if (length < (size_t)n || strcmp(first + length - (size_t)n, ending) != 0)
    return advise(
        ctx,
        fail(ctx, HONE_E_USAGE, place_file(first),
             "the first of %lld parts, but its name does not end in %s", (long long)count, ending),
        "name the parts as llama-gguf-split does, or join them with its --merge");
  const int made = snprintf(out, 4096, "%.*s-%05lld-of-%05lld.gguf", (int)(length - (size_t)n),
                            first, (long long)k, (long long)count);
  return made < 4096 ? HONE_OK : fail(ctx, HONE_E_PATH, place_file(first), "the path is too long");
}

hone_status gguf_add_part(struct ctx *ctx, struct arena *arena, const uint8_t *bytes, size_t size,
                          struct gguf *file) {
  struct gguf part;
  struct gguf_tensor *all;
  TRY(gguf_read(ctx, arena, bytes, size, &part));
  const size_t count = file->tensor_count + part.tensor_count;
  if ((int64_t)count > ctx->limits[LIMIT_tensors])
    return fail(ctx, HONE_E_LIMIT, place_none(), "%zu tensors, at most %lld", count,
                (long long)ctx->limits[LIMIT_tensors]);
  TRY(NEW_ARRAY(ctx, arena, all, count));
  if (file->tensor_count) memcpy(all, file->tensors, file->tensor_count * sizeof *all);
  if (part.tensor_count)
    memcpy(all + file->tensor_count, part.tensors, part.tensor_count * sizeof *all);
  names_init(&file->by_name, arena);
  for (size_t i = 0; i < count; i++) {
    bool is_fresh;
    TRY(names_add(ctx, &file->by_name, all[i].name, &all[i], &is_fresh));
    if (!is_fresh)
      return fail(ctx, HONE_E_FORMAT, place_name(all[i].name), "is a tensor of two parts");
  }
  file->tensors = all;
  file->tensor_count = count;
  return HONE_OK;
}
