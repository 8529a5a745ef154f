/* The tokeniser of a GGUF file: pairs tokenizer.ggml.*, and the chat template. */
#include "gguf.h"

enum { MOST_TOKENS = 1 << 22 };

static hone_status find_array(struct ctx *ctx, const struct gguf *file, const char *key,
                              enum gguf_kind element, const struct gguf_value **out) {
  const struct gguf_value *value = *out = gguf_find(file, key);
  if (!value) return HONE_OK;
  if (value->kind != GGUF_ARRAY || value->element != element)
    return fail(ctx, HONE_E_FORMAT, place_offset(value->offset), "\"%s\" is not such an array",
                key);
  if (value->count <= MOST_TOKENS) return HONE_OK;
  return fail(ctx, HONE_E_LIMIT, place_offset(value->offset),
              "\"%s\" has %llu elements, more than %d", key, (unsigned long long)value->count,
              MOST_TOKENS);
}

/* Strings whose bytes stay in the file; reading the pairs has checked their lengths. */
static hone_status read_strings(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                                const char *key, const struct token_text **out, size_t *out_count) {
  const struct gguf_value *value;
  struct token_text *texts;
  *out_count = 0;
  TRY(find_array(ctx, file, key, GGUF_STRING, &value));
  TRY(NEW_ARRAY(ctx, arena, texts, value ? (size_t)value->count : 0));
  const uint8_t *at = value ? value->at : NULL;
  for (size_t i = 0; value && i < value->count; i++) {
    texts[i].size = (size_t)little_endian(at, 8);
    texts[i].bytes = (const char *)at + 8;
    at += 8 + texts[i].size;
  }
  *out = texts;
  *out_count = value ? (size_t)value->count : 0;
  return HONE_OK;
}

static hone_status lacks(struct ctx *ctx, const char *key) {
  return fail(ctx, HONE_E_FORMAT, place_name(key), "is missing in the GGUF file, or too short");
}

static hone_status read_scores(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                               struct vocabulary *out) {
  const struct gguf_value *value;
  float *scores;
  TRY(find_array(ctx, file, "tokenizer.ggml.scores", GGUF_F32, &value));
  if (!value) return HONE_OK;
  if (value->count < out->count) return lacks(ctx, "tokenizer.ggml.scores");
  TRY(NEW_ARRAY(ctx, arena, scores, out->count));
  for (size_t i = 0; i < out->count; i++) {
    const uint32_t bits = (uint32_t)little_endian(value->at + 4 * i, 4);
    memcpy(&scores[i], &bits, 4);
    if (scores[i] != scores[i])
      return fail(ctx, HONE_E_FORMAT, place_offset(value->offset), "the score of token %zu is NaN",
                  i);
  }
  out->scores = scores;
  return HONE_OK;
}

static hone_status read_kinds(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                              struct vocabulary *out) {
  const struct gguf_value *value;
  uint8_t *kinds;
  TRY(find_array(ctx, file, "tokenizer.ggml.token_type", GGUF_I32, &value));
  if (!value) return HONE_OK;
  if (value->count < out->count) return lacks(ctx, "tokenizer.ggml.token_type");
  TRY(NEW_ARRAY(ctx, arena, kinds, out->count));
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t kind = little_endian(value->at + 4 * i, 4);
    kinds[i] = kind >= TOKEN_NORMAL && kind <= TOKEN_BYTE ? (uint8_t)kind : TOKEN_NORMAL;
  }
  out->kinds = kinds;
  return HONE_OK;
}

static hone_status read_id(struct ctx *ctx, const struct gguf *file, const char *key,
                           const struct vocabulary *vocabulary, int32_t otherwise, int32_t *out) {
  int64_t id;
  if (otherwise >= (int64_t)vocabulary->count) otherwise = -1;
  TRY(gguf_int(ctx, file, key, 0, (int64_t)vocabulary->count - 1, otherwise, &id));
  *out = (int32_t)id;
  return HONE_OK;
}

static hone_status read_bool(struct ctx *ctx, const struct gguf *file, const char *key,
                             bool otherwise, bool *out) {
  int64_t value;
  TRY(gguf_int(ctx, file, key, 0, 1, otherwise, &value));
  *out = value != 0;
  return HONE_OK;
}

static hone_status read_kind(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                             struct vocabulary *out) {
  const char *model;
  TRY(gguf_string(ctx, arena, file, "tokenizer.ggml.model", &model));
  TRY(gguf_string(ctx, arena, file, "tokenizer.ggml.pre", &out->pre));
  if (!model) return lacks(ctx, "tokenizer.ggml.model");
  if (!out->pre) out->pre = "";
  out->kind = !strcmp(model, "llama") ? VOCABULARY_SENTENCEPIECE : VOCABULARY_BPE;
  if (!strcmp(model, "llama") || !strcmp(model, "gpt2")) return HONE_OK;
  return advise(ctx,
                fail(ctx, HONE_E_UNSUP, place_name("tokenizer.ggml.model"),
                     "the tokeniser \"%.60s\" is not supported", model),
                "hone reads gpt2 (byte-level BPE) and llama (SentencePiece)");
}

/* Ids that files of SentencePiece models leave out. */
enum { LLAMA_UNKNOWN, LLAMA_BOS, LLAMA_EOS };

static hone_status read_special(struct ctx *ctx, const struct gguf *file, struct vocabulary *out) {
  const bool is_llama = out->kind == VOCABULARY_SENTENCEPIECE;
  const bool adds_bos = is_llama || pre_tokeniser_adds_bos(out->pre);
  TRY(read_id(ctx, file, "tokenizer.ggml.bos_token_id", out, is_llama ? LLAMA_BOS : -1, &out->bos));
  TRY(read_id(ctx, file, "tokenizer.ggml.eos_token_id", out, is_llama ? LLAMA_EOS : -1, &out->eos));
  TRY(read_id(ctx, file, "tokenizer.ggml.eot_token_id", out, -1, &out->eot));
  TRY(read_id(ctx, file, "tokenizer.ggml.unknown_token_id", out, is_llama ? LLAMA_UNKNOWN : -1,
              &out->unknown));
  TRY(read_bool(ctx, file, "tokenizer.ggml.add_bos_token", adds_bos, &out->adds_bos));
  TRY(read_bool(ctx, file, "tokenizer.ggml.add_eos_token", false, &out->adds_eos));
  return read_bool(ctx, file, "tokenizer.ggml.add_space_prefix", is_llama, &out->adds_space);
}

hone_status gguf_vocabulary(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                            struct vocabulary *out) {
  int64_t parts;
  *out = (struct vocabulary){.pre = ""};
  TRY(gguf_part_count(ctx, file, &parts)); /* only the first part has it */
  TRY(read_kind(ctx, arena, file, out));
  TRY(read_strings(ctx, arena, file, "tokenizer.ggml.tokens", &out->texts, &out->count));
  if (!out->count) return lacks(ctx, "tokenizer.ggml.tokens");
  TRY(read_strings(ctx, arena, file, "tokenizer.ggml.merges", &out->merges, &out->merge_count));
  TRY(read_scores(ctx, arena, file, out));
  TRY(read_kinds(ctx, arena, file, out));
  return read_special(ctx, file, out);
}

hone_status gguf_chat_template(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                               const char **out) {
  const struct gguf_value *value = gguf_find(file, "tokenizer.chat_template");
  *out = NULL;
  if (!value || value->kind != GGUF_STRING) return HONE_OK;
  return arena_string(ctx, arena, (const char *)value->at, (size_t)value->count, out);
}

hone_status gguf_tokeniser(struct ctx *ctx, struct arena *arena, const struct mapping *file,
                           struct tokeniser **out) {
  struct gguf gguf;
  struct vocabulary vocabulary;
  TRY(gguf_read(ctx, arena, file->data, file->size, &gguf));
  TRY(gguf_vocabulary(ctx, arena, &gguf, &vocabulary));
  return tokeniser_create(ctx, arena, &vocabulary, out);
}
