/* SentencePiece's byte-pair encoding (Kudo and Richardson 2018, arXiv:1808.06226): characters are merged to
 * tokens, the token with the highest score first; the rest is written as bytes.
 */
#include "tokeniser.h"

#define SPACE "\xE2\x96\x81" /* U+2581 stands for a space */

static bool find_score(const struct tokeniser *t, const char *left, size_t left_size,
                       size_t right_size, double *out_key) {
  const int64_t id = string_table_find(&t->tokens, left, left_size + right_size);
  if (id < 0) return false;
  *out_key = t->v.scores ? -(double)t->v.scores[id] : 0;
  return true;
}

static hone_status add_symbol(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                              const char *bytes, size_t size, struct ids *ids) {
  const int64_t id = string_table_find(&t->tokens, bytes, size);
  if (id >= 0) {
    VEC_PUSH(ctx, arena, &ids->list, (int32_t)id);
    return HONE_OK;
  }
  for (size_t i = 0; i < size; i++) {
    const int32_t byte = t->bytes[(uint8_t)bytes[i]];
    if (byte >= 0 || t->v.unknown >= 0)
      VEC_PUSH(ctx, arena, &ids->list, byte >= 0 ? byte : t->v.unknown);
  }
  return HONE_OK;
}

/* By the first byte alone, whether or not the others follow. */
static size_t character_size(char first, size_t left) {
  const uint8_t high = (uint8_t)first >> 4;
  const size_t size = high < 12 ? 1 : high < 14 ? 2 : high == 14 ? 3 : 4;
  return size < left ? size : left;
}

hone_status encode_sentencepiece(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                                 const char *bytes, size_t size, bool adds_space, struct ids *ids) {
  struct merger m = {.find = find_score};
  char *text;
  size_t length = 0, count = 0;
  TRY(NEW_ARRAY(ctx, arena, text, 3 * (size + 1) + 1));
  if (adds_space) {
    memcpy(text, SPACE, 3);
    length = 3;
  }
  for (size_t i = 0; i < size; i++) {
    const size_t n = bytes[i] == ' ' ? 3 : 1;
    memcpy(text + length, n == 3 ? SPACE : bytes + i, n);
    length += n;
  }
  TRY(NEW_ARRAY(ctx, arena, m.symbols, length + 1));
  TRY(NEW_ARRAY(ctx, arena, m.heap, 3 * length + 1));
  m.text = text;
  for (size_t at = 0; at < length; at += m.symbols[count++].size)
    m.symbols[count] = (struct symbol){.at = (uint32_t)at,
                                       .size = (uint32_t)character_size(text[at], length - at)};
  merge_symbols(t, &m, count);
  for (size_t i = 0; i < count; i++)
    if (m.symbols[i].size)
      TRY(add_symbol(ctx, arena, t, text + m.symbols[i].at, m.symbols[i].size, ids));
  return HONE_OK;
}
