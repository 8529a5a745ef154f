/* tokeniser: what the files of this folder share. */
#ifndef HONE_TOKENISER_H
#define HONE_TOKENISER_H

#include "tokens.h"

/* Strings to indices. */
struct string_table {
  const struct token_text *texts;
  uint32_t *slots; /* index + 1; 0: free */
  size_t capacity; /* a power of two */
};
MUST_USE hone_status string_table_make(struct ctx *ctx, struct arena *arena,
                                       const struct token_text *texts, size_t count, bool last_wins,
                                       struct string_table *out);
/* -1: absent */
int64_t string_table_find(const struct string_table *table, const char *bytes, size_t size);

struct tokeniser {
  struct vocabulary v;
  struct string_table tokens, merges;
  size_t longest_merge; /* bytes of the longest entry of merges */
  uint8_t *kinds;       /* of the vocabulary, with corrections */
  int32_t *special;     /* found in texts before they are split, the longest first */
  size_t special_count;
  int32_t bytes[256];            /* SentencePiece: the token of a byte, -1: none */
  struct token_text mapped[256]; /* BPE: the character that stands for a byte in token texts */
  int16_t unmapped[512];         /* and back; -1: none */
  const struct pre_tokeniser *pre;
  struct pattern *patterns; /* of the pre-tokeniser */
};

struct ids {
  VEC(int32_t) list;
};

/* unicode.c */
enum category { IS_OTHER, IS_LETTER, IS_NUMBER, IS_PUNCTUATION, IS_MARK, IS_SYMBOL, IS_SPACE };
enum category category_of(uint32_t code);

/* pattern.c: a regular expression of the form that pre-tokenisers have */
enum { PATTERN_ITEMS = 8, PATTERN_ALTERNATIVES = 24, PATTERN_RANGES = 24, PATTERNS = 5 };
struct code_set {
  uint64_t ascii[2];
  uint8_t categories; /* of other code points, 1 << enum category */
  bool is_negated;
  uint8_t range_count;
  uint32_t ranges[PATTERN_RANGES][2];
};
struct pattern {
  size_t count;
  struct alternative {
    size_t count;
    struct pattern_item {
      struct code_set set;
      uint32_t least, most;
      bool is_lookahead; /* not followed by the set */
    } items[PATTERN_ITEMS];
  } alternatives[PATTERN_ALTERNATIVES];
};
/* From alternatives such as " ?\\p{L}+": characters, sets, \p{L}, \s, quantifiers, and (?!\S) at the
   end. Our own text, so that a mistake is E_INTERNAL. */
MUST_USE hone_status pattern_parse(struct ctx *ctx, const char *text, struct pattern *out);
/* Length of the match at the beginning of `codes`; 0: none. */
size_t pattern_match(const struct pattern *pattern, const uint32_t *codes, size_t count);

/* split.c */
struct pre_tokeniser {
  const char *names;              /* separated by spaces */
  const char *patterns[PATTERNS]; /* each splits what the one before it left */
  bool keeps_words;               /* a word that is a token is not split into its merges */
  bool adds_bos;
};
const struct pre_tokeniser *pre_tokeniser_find(const char *name); /* NULL: unknown */
void pre_tokeniser_names(struct strbuf *out);
/* Lengths of the words in code points; their sum is count. lengths has room for count. */
size_t split_words(const struct tokeniser *t, const uint32_t *codes, size_t count,
                   uint32_t *lengths, uint32_t *scratch);

/* bpe.c, sentencepiece.c: text without special tokens */
MUST_USE hone_status encode_bpe(struct ctx *ctx, struct arena *arena, const struct tokeniser *t,
                                const char *bytes, size_t size, struct ids *ids);
MUST_USE hone_status encode_sentencepiece(struct ctx *ctx, struct arena *arena,
                                          const struct tokeniser *t, const char *bytes, size_t size,
                                          bool adds_space, struct ids *ids);

/* merge.c: symbols that are joined in pairs, the best pair first */
struct merger {
  const char *text;
  struct symbol {
    int32_t before, after; /* -1: none */
    uint32_t at, size;     /* size 0: part of another one */
  } * symbols;
  struct pair {
    double key; /* smaller: earlier */
    int32_t left;
    uint32_t size;
  } * heap;
  size_t heap_count;
  /* False if the two may not be joined. */
  bool (*find)(const struct tokeniser *t, const char *left, size_t left_size, size_t right_size,
               double *out_key);
};
/* Joins until no pair is left. Symbols 0 .. count - 1 are set; heap has room for 3 * count. */
void merge_symbols(const struct tokeniser *t, struct merger *m, size_t count);

#endif
