/* tokens: text to the token ids of a language model, and back.
 *
 *   tokeniser.c     a vocabulary with its tables; special tokens; pieces
 *   string_table.c  strings to indices
 *   merge.c         symbols that are joined in pairs
 *   bpe.c           byte-level byte-pair encoding ("gpt2")
 *   sentencepiece.c merges by score ("llama")
 *   split.c         pre-tokenisers: text to words
 *   pattern.c       the patterns of pre-tokenisers
 *   unicode.c       UTF-8, categories of code points
 *
 * The ids are those of llama.cpp for the same vocabulary, also for text that is not UTF-8.
 */
#ifndef HONE_TOKENS_H
#define HONE_TOKENS_H

#include "core/base/base.h"

struct token_text {
  const char *bytes;
  size_t size;
};

enum token_kind {
  TOKEN_NORMAL = 1,
  TOKEN_UNKNOWN,
  TOKEN_CONTROL, /* special, such as <|im_start|> */
  TOKEN_USER,    /* found in a text before it is split */
  TOKEN_UNUSED,
  TOKEN_BYTE /* "<0x0A>" */
};

enum vocabulary_kind { VOCABULARY_BPE, VOCABULARY_SENTENCEPIECE };

/* What a model file says about its tokens. The caller keeps the memory as long as the tokeniser. */
struct vocabulary {
  enum vocabulary_kind kind;
  const char *pre; /* name of the pre-tokeniser; "": the default one */
  size_t count, merge_count;
  const struct token_text *texts;  /* [count] */
  const struct token_text *merges; /* [merge_count] "left right", in order of rank */
  const float *scores;             /* [count]; NULL: all 0 */
  const uint8_t *kinds;            /* [count], enum token_kind; NULL: all normal */
  int32_t bos, eos, eot, unknown;  /* -1: none */
  bool adds_bos, adds_eos;
  bool adds_space; /* SentencePiece: a space before a text */
};

struct tokeniser;
/* E_UNSUP names a pre-tokeniser that hone does not know. */
MUST_USE hone_status tokeniser_create(struct ctx *ctx, struct arena *arena,
                                      const struct vocabulary *vocabulary, struct tokeniser **out);
enum {
  TOKENS_ADD_SPECIAL = 1,  /* bos and eos as the vocabulary says */
  TOKENS_PARSE_SPECIAL = 2 /* the text of a control token is that token */
};
/* Any bytes. The ids are in the arena. */
MUST_USE hone_status tokeniser_encode(struct ctx *ctx, struct arena *arena,
                                      const struct tokeniser *tokeniser, const char *bytes,
                                      size_t size, int flags, int32_t **out_ids, size_t *out_count);
/* The bytes of a token, which may be a part of a character; of a control token: none, or its name
   with_special. In the arena, or in the vocabulary. E_USAGE for an id out of range. */
MUST_USE hone_status tokeniser_piece(struct ctx *ctx, struct arena *arena,
                                     const struct tokeniser *tokeniser, int32_t id,
                                     bool with_special, struct token_text *out);
/* True for a token that ends an answer. */
bool tokeniser_ends(const struct tokeniser *tokeniser, int32_t id);
/* Whether a pre-tokeniser of this name adds bos, if the model file does not say it. */
bool pre_tokeniser_adds_bos(const char *name);

#endif
