/* hone tokens: the tokens of a text, as the tokeniser of a model file makes them. */
#include <jansson.h>
#include <stdlib.h>

#include "cli.h"
#include "compiler/import/gguf/gguf.h"

static hone_status make_json(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                             const int32_t *ids, size_t count, struct strbuf *out) {
  strbuf_puts(out, "[");
  for (size_t i = 0; i < count; i++) {
    struct token_text piece;
    struct strbuf shown = {0};
    const char *bytes;
    TRY(tokeniser_piece(ctx, arena, t, ids[i], true, &piece));
    TRY(arena_string(ctx, arena, piece.bytes, piece.size, &bytes));
    strbuf_put_safe(&shown, bytes, 12 * piece.size + 16);
    json_t *json = json_pack("{s:i, s:s}", "id", (int)ids[i], "piece", shown.at ? shown.at : "");
    char *dumped = json ? json_dumps(json, JSON_COMPACT) : NULL;
    strbuf_printf(out, "%s\n  %s", i ? "," : "", dumped ? dumped : "null");
    free(dumped);
    json_decref(json);
    strbuf_deinit(&shown);
  }
  strbuf_puts(out, "\n]\n");
  return HONE_OK;
}

static hone_status print_ids(struct ctx *ctx, const struct args *args, struct arena *arena,
                             const struct tokeniser *t, const int32_t *ids, size_t count) {
  struct strbuf out = {0};
  hone_status status = HONE_OK;
  const char *json = value_of(args, FLAG_json, NULL);
  if (json)
    status = make_json(ctx, arena, t, ids, count, &out);
  else
    for (size_t i = 0; i < count; i++) strbuf_printf(&out, "%s%d", i ? " " : "", ids[i]);
  if (!json) strbuf_puts(&out, "\n");
  if (!status) status = write_output(ctx, json ? json : "-", &out);
  strbuf_deinit(&out);
  return status;
}

static hone_status tokens(struct ctx *ctx, const struct args *args, struct arena *arena,
                          const struct mapping *file) {
  struct tokeniser *t;
  struct strbuf text = {0};
  int32_t *ids;
  size_t count;
  TRY(gguf_tokeniser(ctx, arena, file, &t));
  hone_status status = read_text(ctx, value_of(args, FLAG_text, "-"), &text);
  if (!status)
    status = tokeniser_encode(ctx, arena, t, text.at ? text.at : "", text.length,
                              TOKENS_ADD_SPECIAL | TOKENS_PARSE_SPECIAL, &ids, &count);
  if (!status) status = print_ids(ctx, args, arena, t, ids, count);
  strbuf_deinit(&text);
  return status;
}

int verb_tokens(struct ctx *ctx, struct args *args) {
  const char *path;
  struct arena *arena = NULL;
  struct mapping file = {.data = NULL};
  hone_status status = one_word(ctx, args, "a GGUF file", &path);
  if (!status) status = file_map(ctx, path, &file);
  if (!status) status = arena_create(ctx, 0, &arena);
  if (!status) status = tokens(ctx, args, arena, &file);
  arena_destroy(arena);
  if (file.data) file_unmap(&file);
  return status ? report_failure(ctx) : finish_output(0);
}
