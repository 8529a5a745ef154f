/* How well text is predicted: a text becomes tokens and the float reference's logits (quality_reference); an engine
 * that generates with a loop of its own computes its logits of the same tokens (quality), after everything was timed.
 * Both are files of float rows [vocabulary], one for each token but the last; the harness compares them.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/wire/wire.h"
#include "compiler/generate/generate.h"
#include "compiler/import/gguf/gguf.h"
#include "generation.h"
#include "worker_internal.h"

/* Prose, an address, code and a list: what people ask models for. */
static const char usual_text[] =
    "The lighthouse keeper climbed the stairs at dusk, as he had done every evening for thirty "
    "years. "
    "He lit the lamp, wrote the time and the weather into his book, and looked out over the water, "
    "where two ships were passing each other without a sound.\n\n"
    "def area(width: float, height: float) -> float:\n"
    "    \"\"\"The area of a rectangle, in square metres.\"\"\"\n"
    "    return width * height\n\n"
    "To make pancakes you need 250 g of flour, half a litre of milk, three eggs and a pinch of "
    "salt. "
    "First, mix the flour with the milk; then add the eggs one after the other.\n";

static hone_status write_rows(struct ctx *ctx, FILE *file, const float *rows, int64_t count,
                              int64_t vocabulary) {
  const size_t n = (size_t)(count * vocabulary);
  return fwrite(rows, sizeof *rows, n, file) == n
             ? HONE_OK
             : fail(ctx, HONE_E_IO, place_file("quality"), "%s", strerror(errno));
}

static hone_status open_rows(struct ctx *ctx, const char *dir, const char *name, FILE **out) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  *out = fopen(path, "wbe");
  return *out ? HONE_OK : fail(ctx, HONE_E_IO, place_file(path), "%s", strerror(errno));
}

static hone_status close_rows(struct ctx *ctx, hone_status status, FILE *file) {
  const bool is_written = !fclose(file);
  return status || is_written ? status
                              : fail(ctx, HONE_E_IO, place_file("quality"), "%s", strerror(errno));
}

/* -- the reference */

static hone_status make_tokens(struct ctx *ctx, struct arena *arena, const char *path,
                               const char *text_path, int32_t **out, size_t *out_count) {
  struct mapping file, text = {.data = (const uint8_t *)usual_text, .size = sizeof usual_text - 1};
  struct tokeniser *tokeniser;
  const bool is_given = text_path[0];
  TRY(file_map(ctx, path, &file));
  hone_status status = gguf_tokeniser(ctx, arena, &file, &tokeniser);
  if (!status && is_given) status = file_map(ctx, text_path, &text);
  if (!status)
    status = tokeniser_encode(ctx, arena, tokeniser, (const char *)text.data, text.size,
                              TOKENS_ADD_SPECIAL, out, out_count);
  if (!status && is_given) file_unmap(&text);
  file_unmap(&file);
  TRY(status);
  if (*out_count > SCORE_WINDOW) *out_count = SCORE_WINDOW;
  return *out_count > 1
             ? HONE_OK
             : fail(ctx, HONE_E_USAGE, place_file(text_path), "has fewer than two tokens");
}

static hone_status write_tokens(struct ctx *ctx, struct arena *arena, const char *dir,
                                const int32_t *tokens, size_t count) {
  char path[4096 + 32];
  int64_t *wide;
  TRY(NEW_ARRAY(ctx, arena, wide, count));
  for (size_t i = 0; i < count; i++) wide[i] = tokens[i];
  const hone_tensor tensor = {
      .data = wide, .dtype = HONE_I64, .rank = 1, .shape = {(int64_t)count}};
  snprintf(path, sizeof path, "%s/" QUALITY_TOKENS, dir);
  return npy_write(ctx, path, &tensor);
}

static hone_status make_reference(struct ctx *ctx, struct arena *arena, const json_t *command,
                                  int64_t *out_count) {
  const char *path = message_text(command, "path"), *dir = message_text(command, "dir");
  const struct cache_form cache = {.heads = message_int(command, "heads", 1),
                                   .depth = message_int(command, "depth", 1)};
  struct text_logits logits;
  int32_t *tokens;
  size_t count;
  FILE *file;
  TRY(make_tokens(ctx, arena, path, message_text(command, "text"), &tokens, &count));
  TRY(write_tokens(ctx, arena, dir, tokens, count));
  TRY(text_logits(ctx, arena, path, &cache, tokens, (int64_t)count, &logits));
  TRY(open_rows(ctx, dir, QUALITY_REFERENCE, &file));
  *out_count = (int64_t)count;
  return close_rows(ctx, write_rows(ctx, file, logits.at, (int64_t)count - 1, logits.vocabulary),
                    file);
}

hone_status prepare_quality(struct ctx *ctx, struct state *state, const json_t *command,
                            json_t **out_reply) {
  struct arena *arena;
  int64_t count = 0;
  enter(state, STAGE_verify);
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = make_reference(ctx, arena, command, &count);
  arena_destroy(arena);
  TRY(status);
  *out_reply = json_pack("{s:s, s:I}", "event", "quality_made", "tokens", (json_int_t)count);
  return HONE_OK;
}

/* -- an engine */

static hone_status predict(struct ctx *ctx, struct state *state, const int64_t *tokens,
                           int64_t count, FILE *file) {
  const int64_t vocabulary = generation_vocabulary(state->generation);
  hone_status status = HONE_OK;
  for (int64_t i = 0; !status && i < count - 1; i++) {
    const float *logits;
    status = state->backend->extend(ctx, state->loop.session, tokens + i, i, 1, &logits);
    if (!status) status = write_rows(ctx, file, logits, 1, vocabulary);
  }
  return status;
}

static hone_status predict_text(struct ctx *ctx, struct state *state, const json_t *command,
                                int64_t *out_rows) {
  char path[4096];
  int64_t *tokens;
  size_t count;
  FILE *file;
  *out_rows = 0;
  if (!state->request.text_tokens) return HONE_OK;
  snprintf(path, sizeof path, "%.4000s/" QUALITY_TOKENS, message_text(command, "dir"));
  TRY(prompt_read(ctx, path, &tokens, &count));
  hone_status status = open_rows(ctx, state->work_dir, QUALITY_ROWS, &file);
  if (!status) status = close_rows(ctx, predict(ctx, state, tokens, (int64_t)count, file), file);
  free(tokens);
  *out_rows = (int64_t)count - 1;
  return status;
}

/* Without rows the configuration lacks only its quality: it is already measured. */
hone_status measure_quality(struct ctx *ctx, struct state *state, const json_t *command,
                            json_t **out_reply) {
  int64_t rows = 0;
  if (!state->backend || !state->loop.session || !state->generation)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "no configuration is open");
  const hone_status status = predict_text(ctx, state, command, &rows);
  *out_reply = json_pack("{s:s, s:I, s:s}", "event", "predicted", "rows",
                         (json_int_t)(status ? 0 : rows), "where", status ? ctx->message : "");
  if (status) ctx_clear(ctx);
  return HONE_OK;
}
