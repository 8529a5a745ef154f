/* Strings to indices: open addressing over XXH3. */
#include "tokeniser.h"

static size_t slot_of(const struct string_table *t, const char *bytes, size_t size) {
  size_t at = (size_t)hash_64(bytes, size) & (t->capacity - 1);
  while (t->slots[at]) {
    const struct token_text *text = &t->texts[t->slots[at] - 1];
    if (text->size == size && !memcmp(text->bytes, bytes, size)) break;
    at = (at + 1) & (t->capacity - 1);
  }
  return at;
}

hone_status string_table_make(struct ctx *ctx, struct arena *arena, const struct token_text *texts,
                              size_t count, bool last_wins, struct string_table *out) {
  *out = (struct string_table){.texts = texts, .capacity = 16};
  while (out->capacity < 2 * count) out->capacity *= 2;
  TRY(NEW_ARRAY(ctx, arena, out->slots, out->capacity));
  for (size_t i = 0; i < count; i++) {
    const size_t at = slot_of(out, texts[i].bytes, texts[i].size);
    if (!out->slots[at] || last_wins) out->slots[at] = (uint32_t)i + 1;
  }
  return HONE_OK;
}

int64_t string_table_find(const struct string_table *t, const char *bytes, size_t size) {
  return t->capacity ? (int64_t)t->slots[slot_of(t, bytes, size)] - 1 : -1;
}
