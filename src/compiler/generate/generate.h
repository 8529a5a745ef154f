/* generate: text from a language model in a GGUF file.
 *
 *   build.c      the artifact of a model, for one token up to a chunk of a prompt; it is compiled once
 *                and kept in the artifact cache
 *   generator.c  a loaded model: caches of keys and values, steps
 *   sample.c     the next token from logits
 *   pieces.c     tokens to UTF-8, stop strings
 *   text.c       a request: prompt to tokens, the loop over new tokens
 *   reference_text.c  the same steps by the float reference
 *   score.c      how well a model predicts a text, compared with the float reference
 *   genai.c      a folder for ONNX Runtime GenAI
 *   api.c        the functions of hone.h
 */
#ifndef HONE_GENERATE_H
#define HONE_GENERATE_H

#include <jansson.h>

#include "compiler/pipeline/pipeline.h"
#include "core/metrics/metrics.h"
#include "core/tokens/tokens.h"

/* A loaded model; serves one request at a time. */
struct hone_generator;
struct generator_options {
  struct compile_options compile; /* target, threads, compiler */
  int64_t context; /* tokens of prompt and answer; 0: GENERATE_CONTEXT, or the model's if less */
  /* a library of generator_compile for this context; NULL: from the artifact cache, or compiled */
  const char *artifact;
  void (*notice)(void *user, const char *text); /* before a compilation; may be NULL */
  void *user;
};
enum { GENERATE_CONTEXT = 4096, DEFAULT_TOP_K = 40 };
#define DEFAULT_TOP_P 0.95
#define DEFAULT_MIN_P 0.05

MUST_USE hone_status generator_open(struct ctx *ctx, const char *path,
                                    const struct generator_options *options,
                                    struct hone_generator **out);
void generator_close(struct hone_generator *generator); /* NULL is fine */
/* Writes the artifact of a model: up to CHUNK_TOKENS tokens at once, with caches as state. */
MUST_USE hone_status generator_compile(struct ctx *ctx, const char *path,
                                       const struct compile_options *options, int64_t context,
                                       const char *artifact, struct compile_report *out_report);
/* Computes `count` tokens that follow the first `past` of the text so far. *out_logits: float
   [vocabulary] of the last, valid until the next call. */
MUST_USE hone_status generator_extend(struct ctx *ctx, struct hone_generator *generator,
                                      const int32_t *tokens, int64_t past, int64_t count,
                                      const float **out_logits);
int64_t generator_context(const struct hone_generator *generator);
/* general.name of the file, "" if it has none. */
const char *generator_name(const struct hone_generator *generator);
double generator_load_ms(const struct hone_generator *generator);

/* How the next token is drawn. Candidates are first reduced to the top_k most likely, then to those
   whose probabilities sum up to top_p, then to those with at least min_p of the largest probability.
   Temperature divides their logits. */
struct sampling {
  double temperature;  /* 0: the most likely token */
  int32_t top_k;       /* 0: all */
  double top_p, min_p; /* 1, 0: all */
  uint64_t seed;       /* the same seed gives the same text */
};
/* logits: [count], finite; `order` has room for count indices. */
int32_t sample_token(const struct sampling *sampling, struct random *random, const float *logits,
                     int32_t count, int32_t *order);

struct generate_request {
  const char *prompt;     /* text; NULL: messages */
  const json_t *messages; /* [{role, content}], rendered by the model's chat template */
  bool is_raw;            /* special tokens in the prompt are ordinary text */
  int64_t most_tokens;    /* 0: until the context is full */
  bool ignores_end;       /* does not stop at an end-of-text token */
  struct sampling sampling;
  const char *const *stops; /* text that ends generation, and is not part of it */
  size_t stop_count;
};
/* A piece of valid UTF-8; false ends the generation. */
typedef bool generate_piece(void *user, const char *bytes, size_t size);
struct generate_result {
  int64_t prompt_tokens, cached_tokens; /* cached: of the prompt, left from the request before */
  int64_t new_tokens;
  const char *reason;    /* "stop": an end token or a stop string; "length"; "cancelled" */
  const int32_t *tokens; /* the new ones, valid until the next request */
  double prompt_ms;      /* until the first token */
  double rest_ms;        /* of the others */
};
/* E_USAGE: an empty prompt, messages without a template. E_LIMIT: a prompt that fills the context.
   E_NUM: logits that are not finite. */
MUST_USE hone_status generator_run(struct ctx *ctx, struct hone_generator *generator,
                                   const struct generate_request *request, generate_piece *piece,
                                   void *user, struct generate_result *out);

enum { SCORE_WINDOW = 512 };
/* Of the tokens of a text, each predicted from those before it in its window of SCORE_WINDOW tokens.
   Scores the text by the loaded model and by the float reference of the model in the file at `path`.
   E_USAGE: fewer than two tokens. E_NUM: logits that are not finite. */
MUST_USE hone_status generator_score(struct ctx *ctx, struct hone_generator *generator,
                                     const char *path, const char *text, struct text_score *out);
/* The float reference's logits [count][vocabulary] of a text without a past; the
   memory is the arena's. */
struct cache_form {
  int64_t heads, depth;
};
struct text_logits {
  const float *at;
  int64_t vocabulary;
};
MUST_USE hone_status text_logits(struct ctx *ctx, struct arena *arena, const char *path,
                                 const struct cache_form *cache, const int32_t *ids, int64_t count,
                                 struct text_logits *out);
/* -- reference_text.c: the same steps by the float reference, for texts of at most `context` tokens.
   path must stay valid. Close it also after a failure. */
struct text_reference;
MUST_USE hone_status text_reference_open(struct ctx *ctx, const char *path, int64_t context,
                                         struct text_reference **out);
MUST_USE hone_status text_reference_extend(struct ctx *ctx, struct text_reference *reference,
                                           const int64_t *tokens, int64_t past, int64_t count,
                                           const float **out_logits);
void text_reference_close(struct text_reference *reference); /* NULL is fine */

/* -- genai.c: writes the GGUF model at `path` as a folder for ONNX Runtime GenAI. E_FORMAT for other models. */
MUST_USE hone_status export_genai(struct ctx *ctx, const char *path, const char *folder);

/* -- inside the room */

/* Tokens that a step computes at most: it reads the weights once for all of them. */
enum { CHUNK_TOKENS = 64 };

struct hone_generator {
  struct arena *arena;
  struct mapping file;
  const char *name, *template;
  const char *bos, *eos; /* their text, for the template */
  struct tokeniser *tokeniser;
  struct loaded artifact;
  struct team *team;
  int64_t context;
  int32_t vocabulary;
  size_t cache_count;
  void **caches;
  size_t cache_bytes; /* of each */
  const void **inputs;
  void **outputs;
  const int64_t **input_dims;
  float *logits;
  int32_t *order;  /* [vocabulary], for sampling */
  int32_t *tokens; /* [context] of the current text */
  int64_t count;   /* tokens in the caches */
  /* Of those, computed in whole chunks. A prompt that begins with the same tokens uses them again:
     it would compute them in the same steps, which gives the same bits. */
  int64_t settled;
  double load_ms;
};

/* build.c */
/* From the artifact cache, or compiled and put there. hash: of the model's files. */
MUST_USE hone_status generator_artifact(struct ctx *ctx, const char *path, const char *hash,
                                        const struct generator_options *options, int64_t context,
                                        struct loaded *out);

/* generator.c */
/* Computes up to CHUNK_TOKENS more tokens; if is_end, the logits of the last are in
   generator->logits. */
MUST_USE hone_status generator_step(struct ctx *ctx, struct hone_generator *generator,
                                    const int32_t *tokens, int64_t count, bool is_end);

/* pieces.c */
/* Joins the bytes of tokens to characters, and holds back what may become a stop string. */
struct pieces {
  const struct generate_request *request;
  generate_piece *piece;
  void *user;
  struct strbuf held; /* not passed on yet */
  bool is_stopped, is_cancelled;
};
void pieces_add(struct pieces *pieces, const char *bytes, size_t size);
/* Passes on the rest, with U+FFFD for an incomplete character. */
void pieces_end(struct pieces *pieces);

#endif
