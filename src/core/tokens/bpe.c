/* Byte-level byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909; Radford et al. 2019): a word is the
 * characters that stand for its bytes, which are merged by rank.
 */
#include "tokeniser.h"

enum { MERGE_MOST = 1024 }; /* bytes of a longer merge are never looked up */

static bool find_rank(const struct tokeniser *t, const char *left, size_t left_size,
                      size_t right_size, double *out_rank) {
  char key[MERGE_MOST];
  const size_t size = left_size + right_size + 1;
  if (size > t->longest_merge || size > sizeof key) return false;
  memcpy(key, left, left_size);
  key[left_size] = ' ';
  memcpy(key + left_size + 1, left + left_size, right_size);
  const int64_t rank = string_table_find(&t->merges, key, size);
  *out_rank = (double)rank;
  return rank >= 0;
}

/* Bytes that the vocabulary has no token for are looked up one by one, and left out. */
static hone_status add_symbol(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                              const char *bytes, size_t size, struct ids *ids) {
  int64_t id = string_table_find(&t->tokens, bytes, size);
  if (id >= 0) {
    VEC_PUSH(ctx, arena, &ids->list, (int32_t)id);
    return HONE_OK;
  }
  for (size_t i = 0; i < size; i++)
    if ((id = string_table_find(&t->tokens, bytes + i, 1)) >= 0)
      VEC_PUSH(ctx, arena, &ids->list, (int32_t)id);
  return HONE_OK;
}

struct words {
  char *mapped;         /* of the current word */
  struct merger merger; /* with room for the longest word */
};

static hone_status encode_word(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                               const uint32_t *codes, size_t count, struct words *w,
                               struct ids *ids) {
  size_t size = 0, symbols = 0;
  struct symbol *s = w->merger.symbols;
  for (size_t i = 0; i < count; i++) {
    char bytes[4];
    const size_t length = utf8_write(codes[i], bytes);
    for (size_t k = 0; k < length; k++) {
      const struct token_text *to = &t->mapped[(uint8_t)bytes[k]];
      memcpy(w->mapped + size, to->bytes, to->size);
      s[symbols++] = (struct symbol){.at = (uint32_t)size, .size = (uint32_t)to->size};
      size += to->size;
    }
  }
  if (t->pre->keeps_words && string_table_find(&t->tokens, w->mapped, size) >= 0)
    return add_symbol(ctx, arena, t, w->mapped, size, ids);
  merge_symbols(t, &w->merger, symbols);
  for (size_t i = 0; i < symbols; i++)
    if (s[i].size) TRY(add_symbol(ctx, arena, t, w->mapped + s[i].at, s[i].size, ids));
  return HONE_OK;
}

static hone_status make_words(struct ctx *ctx, struct arena *arena, size_t longest,
                              struct words *out) {
  const size_t bytes = 4 * longest;
  *out = (struct words){.merger = {.find = find_rank}};
  TRY(NEW_ARRAY(ctx, arena, out->mapped, 2 * bytes + 1));
  TRY(NEW_ARRAY(ctx, arena, out->merger.symbols, bytes + 1));
  out->merger.text = out->mapped;
  return NEW_ARRAY(ctx, arena, out->merger.heap, 3 * bytes + 1);
}

hone_status encode_bpe(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                       const char *bytes, size_t size, struct ids *ids) {
  uint32_t *codes, *lengths, *scratch;
  size_t count = 0, longest = 0;
  struct words words;
  TRY(NEW_ARRAY(ctx, arena, codes, size + 1));
  TRY(NEW_ARRAY(ctx, arena, lengths, size + 1));
  TRY(NEW_ARRAY(ctx, arena, scratch, size + 1));
  for (size_t at = 0, length; at < size; at += length)
    codes[count++] = utf8_read(bytes + at, size - at, &length);
  const size_t word_count = split_words(t, codes, count, lengths, scratch);
  for (size_t i = 0; i < word_count; i++)
    if (lengths[i] > longest) longest = lengths[i];
  TRY(make_words(ctx, arena, longest, &words));
  for (size_t i = 0, at = 0; i < word_count; at += lengths[i++])
    TRY(encode_word(ctx, arena, t, codes + at, lengths[i], &words, ids));
  return HONE_OK;
}
