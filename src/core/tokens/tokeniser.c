/* A vocabulary with its tables; special tokens are found before the rest of a text is encoded. */
#include <stdlib.h>

#include "tokeniser.h"

/* -- create */

/* Printable bytes of Latin-1 stand for themselves, the others for code points from 256 on. */
static hone_status map_bytes(struct ctx *ctx, struct arena *arena, struct tokeniser *t) {
  uint32_t next = 256;
  memset(t->unmapped, 0xFF, sizeof t->unmapped);
  for (uint32_t b = 0; b < 256; b++) {
    const bool is_printable = (b > 32 && b < 127) || (b > 160 && b != 173);
    const uint32_t code = is_printable ? b : next++;
    const char *bytes;
    char utf8[4];
    const size_t size = utf8_write(code, utf8);
    TRY(arena_string(ctx, arena, utf8, size, &bytes));
    t->mapped[b] = (struct token_text){bytes, size};
    t->unmapped[code] = (int16_t)b;
  }
  return HONE_OK;
}

static bool is_one_of(const struct token_text *text, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strlen(names[i]) == text->size && !memcmp(names[i], text->bytes, text->size)) return true;
  return false;
}

#define DEEPSEEK(name) "<\xEF\xBD\x9C" name "\xEF\xBD\x9C>"
/* Tokens that end an answer, in models whose files do not say so. */
static const char *const ends[] = {"<|eot_id|>",
                                   "<|im_end|>",
                                   "<|end|>",
                                   "<|return|>",
                                   "<|call|>",
                                   "<|flush|>",
                                   "<|calls|>",
                                   "<end_of_turn>",
                                   "<|endoftext|>",
                                   "</s>",
                                   "<|eom_id|>",
                                   "<EOT>",
                                   "_<EOT>",
                                   "[EOT]",
                                   "[EOS]",
                                   "<|end_of_text|>",
                                   "<end_of_utterance>",
                                   "<eos>",
                                   "<turn|>",
                                   DEEPSEEK("end\xE2\x96\x81of\xE2\x96\x81sentence")};
/* Tokens of code models for text between two others. */
static const char *const infill[] = {"<|fim_prefix|>",
                                     "<fim-prefix>",
                                     "<fim_prefix>",
                                     "<PRE>",
                                     "\xE2\x96\x81<PRE>",
                                     "<|code_prefix|>",
                                     "<|fim_suffix|>",
                                     "<fim-suffix>",
                                     "<fim_suffix>",
                                     "<SUF>",
                                     "\xE2\x96\x81<SUF>",
                                     "<|code_suffix|>",
                                     "<|fim_middle|>",
                                     "<fim-middle>",
                                     "<fim_middle>",
                                     "<MID>",
                                     "\xE2\x96\x81<MID>",
                                     "<|code_middle|>",
                                     "<|fim_pad|>",
                                     "<fim-pad>",
                                     "<fim_pad>",
                                     "<PAD>",
                                     "[PAD]",
                                     "<|fim_repo|>",
                                     "<|repo_name|>",
                                     "<fim-repo>",
                                     "<REPO>",
                                     "<reponame>",
                                     "<|file_sep|>",
                                     DEEPSEEK("fim\xE2\x96\x81"
                                              "begin"),
                                     DEEPSEEK("fim\xE2\x96\x81hole"),
                                     DEEPSEEK("fim\xE2\x96\x81"
                                              "end")};

static void mark_as_control(struct tokeniser *t, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const int64_t token = string_table_find(&t->tokens, names[i], strlen(names[i]));
    if (token >= 0) t->kinds[token] = TOKEN_CONTROL;
  }
}

static hone_status set_kinds(struct ctx *ctx, struct arena *arena, struct tokeniser *t) {
  TRY(NEW_ARRAY(ctx, arena, t->kinds, t->v.count + 1));
  for (size_t i = 0; i < t->v.count; i++) t->kinds[i] = t->v.kinds ? t->v.kinds[i] : TOKEN_NORMAL;
  /* control tokens that a conversion declared as ordinary ones */
  mark_as_control(t, ends, COUNT(ends));
  mark_as_control(t, infill, COUNT(infill));
  return HONE_OK;
}

static bool is_special(const struct tokeniser *t, size_t i) {
  return t->v.texts[i].size && (t->kinds[i] == TOKEN_CONTROL || t->kinds[i] == TOKEN_USER ||
                                t->kinds[i] == TOKEN_UNKNOWN);
}

static int longest_first(const void *a, const void *b, void *user) {
  const struct token_text *texts = ((const struct tokeniser *)user)->v.texts;
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  if (texts[x].size != texts[y].size) return texts[x].size > texts[y].size ? -1 : 1;
  return x < y ? -1 : 1;
}

static hone_status list_special(struct ctx *ctx, struct arena *arena, struct tokeniser *t) {
  TRY(NEW_ARRAY(ctx, arena, t->special, t->v.count + 1));
  for (size_t i = 0; i < t->v.count; i++)
    if (is_special(t, i)) t->special[t->special_count++] = (int32_t)i;
  qsort_r(t->special, t->special_count, sizeof *t->special, longest_first, t);
  return HONE_OK;
}

static void find_bytes(struct tokeniser *t) {
  for (int b = 0; b < 256; b++) {
    char name[8];
    snprintf(name, sizeof name, "<0x%02X>", b);
    t->bytes[b] = (int32_t)string_table_find(&t->tokens, name, 6);
  }
}

static hone_status make_patterns(struct ctx *ctx, struct arena *arena, struct tokeniser *t) {
  struct strbuf names = {0};
  t->pre = pre_tokeniser_find(t->v.pre);
  if (!t->pre) {
    pre_tokeniser_names(&names);
    hone_status status = fail(ctx, HONE_E_UNSUP, place_name("tokenizer.ggml.pre"),
                              "the pre-tokeniser \"%.60s\" is not supported", t->v.pre);
    hint(ctx, "hone knows %s", names.at ? names.at : "none");
    strbuf_deinit(&names);
    return status;
  }
  TRY(NEW_ARRAY(ctx, arena, t->patterns, PATTERNS));
  for (int k = 0; k < PATTERNS && t->pre->patterns[k]; k++)
    TRY(pattern_parse(ctx, t->pre->patterns[k], &t->patterns[k]));
  return HONE_OK;
}

hone_status tokeniser_create(struct ctx *ctx, struct arena *arena,
                             const struct vocabulary *vocabulary, struct tokeniser **out) {
  struct tokeniser *t;
  TRY(NEW(ctx, arena, t));
  t->v = *vocabulary;
  TRY(string_table_make(ctx, arena, t->v.texts, t->v.count, true, &t->tokens));
  TRY(string_table_make(ctx, arena, t->v.merges, t->v.merge_count, false, &t->merges));
  for (size_t i = 0; i < t->v.merge_count; i++)
    if (t->v.merges[i].size > t->longest_merge) t->longest_merge = t->v.merges[i].size;
  TRY(set_kinds(ctx, arena, t));
  TRY(list_special(ctx, arena, t));
  find_bytes(t);
  if (t->v.kind == VOCABULARY_BPE) TRY(map_bytes(ctx, arena, t));
  if (t->v.kind == VOCABULARY_BPE) TRY(make_patterns(ctx, arena, t));
  *out = t;
  return HONE_OK;
}

/* -- encode */

/* A part of the text, or a special token. */
struct part {
  const char *bytes;
  size_t size;
  int32_t token; /* -1: text */
};
struct parts {
  VEC(struct part) list;
};

/* Splits the texts of `from` at each occurrence of the token. */
static hone_status split_at(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                            int32_t token, const struct parts *from, struct parts *to) {
  const struct token_text *text = &t->v.texts[token];
  to->list.count = 0;
  for (size_t i = 0; i < from->list.count; i++) {
    struct part part = from->list.at[i];
    const char *found;
    while (part.token < 0 && (found = memmem(part.bytes, part.size, text->bytes, text->size))) {
      const size_t before = (size_t)(found - part.bytes);
      if (before) VEC_PUSH(ctx, arena, &to->list, (struct part){part.bytes, before, -1});
      VEC_PUSH(ctx, arena, &to->list, (struct part){NULL, 0, token});
      part.bytes = found + text->size;
      part.size -= before + text->size;
    }
    if (part.token >= 0 || part.size) VEC_PUSH(ctx, arena, &to->list, part);
  }
  return HONE_OK;
}

static bool occurs(const char *bytes, size_t size, const struct token_text *text) {
  return text->size <= size && memmem(bytes, size, text->bytes, text->size);
}

static hone_status split_special(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                                 const char *bytes, size_t size, int flags, struct parts *out) {
  struct parts other = {{0}};
  if (size) VEC_PUSH(ctx, arena, &out->list, (struct part){bytes, size, -1});
  for (size_t i = 0; i < t->special_count; i++) {
    const int32_t token = t->special[i];
    if (t->kinds[token] != TOKEN_USER && !(flags & TOKENS_PARSE_SPECIAL)) continue;
    if (!occurs(bytes, size, &t->v.texts[token])) continue;
    TRY(split_at(ctx, arena, t, token, out, &other));
    const struct parts held = *out;
    *out = other;
    other = held;
  }
  return HONE_OK;
}

static hone_status encode_parts(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                                const struct parts *parts, struct ids *ids) {
  bool is_after_special = true;
  for (size_t i = 0; i < parts->list.count; i++) {
    const struct part *part = &parts->list.at[i];
    if (part->token >= 0)
      VEC_PUSH(ctx, arena, &ids->list, part->token);
    else if (t->v.kind == VOCABULARY_BPE)
      TRY(encode_bpe(ctx, arena, t, part->bytes, part->size, ids));
    else
      TRY(encode_sentencepiece(ctx, arena, t, part->bytes, part->size,
                               t->v.adds_space && is_after_special, ids));
    is_after_special = part->token >= 0;
  }
  return HONE_OK;
}

hone_status tokeniser_encode(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                             const char *bytes, size_t size, int flags, int32_t **out_ids,
                             size_t *out_count) {
  struct parts parts = {{0}};
  struct ids ids = {{0}};
  const bool adds = flags & TOKENS_ADD_SPECIAL;
  if (size > (size_t)1 << 26)
    return fail(ctx, HONE_E_LIMIT, place_none(), "a text of more than 64 MiB");
  TRY(split_special(ctx, arena, t, bytes, size, flags, &parts));
  if (adds && t->v.adds_bos && t->v.bos >= 0) VEC_PUSH(ctx, arena, &ids.list, t->v.bos);
  TRY(encode_parts(ctx, arena, t, &parts, &ids));
  if (adds && t->v.adds_eos && t->v.eos >= 0) VEC_PUSH(ctx, arena, &ids.list, t->v.eos);
  *out_ids = ids.list.at;
  *out_count = ids.list.count;
  return HONE_OK;
}

/* -- pieces */

static hone_status unmap(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                         const struct token_text *text, struct token_text *out) {
  char *to;
  size_t size = 0;
  TRY(NEW_ARRAY(ctx, arena, to, text->size + 1));
  for (size_t at = 0, length; at < text->size; at += length) {
    const uint32_t code = utf8_read(text->bytes + at, text->size - at, &length);
    if (code < COUNT(t->unmapped) && t->unmapped[code] >= 0) {
      to[size++] = (char)t->unmapped[code];
      continue;
    }
    memcpy(to + size, text->bytes + at, length);
    size += length;
  }
  *out = (struct token_text){to, size};
  return HONE_OK;
}

/* U+2581 becomes a space. */
static hone_status unescape(struct ctx *ctx, struct arena *arena, const struct token_text *text,
                            struct token_text *out) {
  char *to;
  size_t size = 0;
  TRY(NEW_ARRAY(ctx, arena, to, text->size + 1));
  for (size_t at = 0; at < text->size;) {
    const bool is_space = text->size - at >= 3 && !memcmp(text->bytes + at, "\xE2\x96\x81", 3);
    to[size++] = is_space ? ' ' : text->bytes[at];
    at += is_space ? 3 : 1;
  }
  *out = (struct token_text){to, size};
  return HONE_OK;
}

static hone_status one_byte(struct ctx *ctx, struct arena *arena, const struct token_text *text,
                            struct token_text *out) {
  const char *bytes;
  char *end, byte = text->size == 6 ? (char)strtoul(text->bytes + 3, &end, 16) : 0;
  TRY(arena_string(ctx, arena, &byte, 1, &bytes));
  *out = (struct token_text){bytes, text->size == 6};
  return HONE_OK;
}

hone_status tokeniser_piece(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                            int32_t id, bool with_special, struct token_text *out) {
  if (id < 0 || (size_t)id >= t->v.count)
    return fail(ctx, HONE_E_USAGE, place_none(), "token %d is not one of %zu", id, t->v.count);
  const struct token_text *text = &t->v.texts[id];
  switch (t->kinds[id]) {
    case TOKEN_CONTROL:
    case TOKEN_UNKNOWN:
      *out = with_special ? *text : (struct token_text){"", 0};
      return HONE_OK;
    case TOKEN_USER:
      *out = *text;
      return HONE_OK;
    case TOKEN_BYTE:
      return one_byte(ctx, arena, text, out);
    default:
      return t->v.kind == VOCABULARY_BPE ? unmap(ctx, arena, t, text, out)
                                         : unescape(ctx, arena, text, out);
  }
}

bool tokeniser_ends(const struct tokeniser *t, int32_t id) {
  if (id < 0 || (size_t)id >= t->v.count) return false;
  return id == t->v.eos || id == t->v.eot || is_one_of(&t->v.texts[id], ends, COUNT(ends));
}
