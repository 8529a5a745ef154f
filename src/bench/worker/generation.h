/* Text generation with a language model, as an application runs it: a prompt goes in, the most
 * likely next token comes out and goes in again, together with key/value caches that grow with
 * every token.
 *
 *   generation.c            roles of inputs and outputs, sizes of a call, the plan as numbers
 *   generation_reference.c  in a worker: the tokens of hone's reference evaluation
 *   generation_configs.c    in the harness: requests both
 *   loop_generate.c         in a worker: timed generation with an engine
 *   tokens.c                compares tokens with the reference's
 */
#ifndef HONE_BENCH_GENERATION_H
#define HONE_BENCH_GENERATION_H

#include "loop.h"

#define GENERATION_MAX_CACHES 512
#define GENERATION_MAX_TENSORS (2 * GENERATION_MAX_CACHES + 8)
#define GENERATION_MAX_TOKENS 65536
/* The size of a tensor's growing dimension. */
enum grows { GROWS_NOT, GROWS_TOKENS, GROWS_PAST, GROWS_TOTAL };
struct generation_tensor {
  hone_tensor form; /* data NULL; growing dimension as described */
  int axis;         /* the growing axis, or -1 */
  enum grows grows;
};
struct generation {
  /* indices in the model's lists; mask and position: -1 if none */
  int token, mask, position, logits;
  bool takes_prompt; /* a call takes several tokens */
  int64_t holds;     /* length of caches of fixed size; 0: caches grow */
  size_t input_count, output_count, cache_count;
  struct generation_tensor tensors[GENERATION_MAX_TENSORS]; /* inputs, then outputs */
  struct generation_cache {
    int in, out;
  } caches[GENERATION_MAX_CACHES];
};
/* One call of the model: number of tokens in the caches, and of new tokens. */
struct generation_call {
  int64_t past, tokens;
};

/* Finds the roles of inputs and outputs from two descriptions: `one`, and the same with one token
   more, or NULL if the model takes one token per call. E_UNSUP names the input or output that does
   not fit a generative model. */
MUST_USE hone_status generation_find(struct ctx *ctx, const struct backend_io *one,
                                     const struct backend_io *two, struct generation *out);
/* Input shapes with one token more than described. */
MUST_USE hone_status generation_longer(struct ctx *ctx, const struct generation *generation,
                                       const char *const *names, struct strbuf *out);
/* E_UNSUP if neither tokens nor caches can grow. */
MUST_USE hone_status generation_check(struct ctx *ctx, const struct generation *generation);
/* Uses caches of fixed length `places`, for engines with fixed input sizes; the mask hides unused
   places. False if the model lacks caches, an integer mask or positions. */
MUST_USE bool generation_hold(struct generation *generation, int64_t places);
/* With caches of fixed size: moves what a call appended to its place in the next call's caches. */
void generation_keep(const struct generation *generation, struct generation_call call,
                     const hone_tensor *outputs, const hone_tensor *inputs);
/* The index-th call of a generation. The first calls process the prompt. */
struct generation_call generation_call(const struct generation *generation, int64_t prompt,
                                       int64_t index);
/* Number of calls for the prompt. */
int64_t generation_prompt_calls(const struct generation *generation, int64_t prompt);
/* Type and shape of tensor `at` (inputs, then outputs) in that call. */
hone_tensor generation_form(const struct generation *generation, size_t at,
                            struct generation_call call);
int64_t generation_vocabulary(const struct generation *generation);
/* Shapes of all inputs: "token[1,1],past[2,P<=47,4]"; bound 0: with the sizes of that call. */
MUST_USE hone_status generation_shapes(struct ctx *ctx, const struct generation *generation,
                                       const char *const *names, struct generation_call call,
                                       int64_t bound, struct strbuf *out);
/* Fills ids, positions and masks of that call into the inputs. tokens: all so far. */
void generation_fill(const struct generation *generation, struct generation_call call,
                     const int64_t *tokens, hone_tensor *inputs);
/* The most likely next token; *out_lead: its margin over the second, as a share of the largest
   |logit|. -1 if logits are not finite. */
int64_t generation_argmax(const struct generation *generation, const hone_tensor *logits,
                          double *out_lead);
/* The same of the logits of one token. */
int64_t generation_argmax_floats(const struct generation *generation, const float *logits,
                                 double *out_lead);
/* Serialise as a list of integers. generation_unpack returns false if the list is invalid. */
json_t *generation_pack(const struct generation *generation);
MUST_USE bool generation_unpack(const json_t *list, struct generation *out);

/* generation_reference.c: the worker's command "generate". Answers the plan; writes tokens_SET.npy
   (prompt and generated tokens) and leads_SET.npy (margins) to the command's folder. */
MUST_USE hone_status prepare_generation(struct ctx *ctx, const json_t *command, json_t **out_reply);
/* Reads token ids from a .npy of integers; data is malloc'ed. */
MUST_USE hone_status prompt_read(struct ctx *ctx, const char *path, int64_t **out,
                                 size_t *out_count);

/* quality.c: files of the text that measures quality: token ids; float rows of the reference and of
   an engine, [tokens - 1][vocabulary] logits or, of an engine, [tokens - 1] log probabilities. */
#define QUALITY_TOKENS "quality_tokens.npy"
#define QUALITY_REFERENCE "quality_reference.f32"
#define QUALITY_ROWS "quality.f32"

/* loop_generate.c */
struct generator;
struct generator_spec {
  const struct generation *plan;
  const int *input_place, *output_place; /* index in the model's lists of each engine tensor */
  int64_t prompt, count;
  bool is_own;     /* the engine's own loop (backend.extend) */
  double limit;    /* of a reference token's margin */
  const char *dir; /* tokens_SET.npy, leads_SET.npy */
};
MUST_USE hone_status generator_create(struct ctx *ctx, const struct loop *loop,
                                      const struct generator_spec *spec, struct generator **out);
void generator_destroy(struct generator *generator);
/* One untimed generation, compared like all others; *out_ns is the time of the first token. */
MUST_USE hone_status generate_once(struct ctx *ctx, struct loop *loop, struct accuracy *accuracy,
                                   uint64_t *out_ns);
MUST_USE hone_status generate_warmup(struct ctx *ctx, struct loop *loop, uint64_t max_ns,
                                     bool *out_is_stationary);
/* The timed part of a slice: whole generations. For each token: when its generation was requested
   (scheduled), when its step began (started), and the duration of the step (samples). */
MUST_USE hone_status generate_slice(struct ctx *ctx, struct loop *loop,
                                    const struct slice_plan *plan, struct slice *out);
/* Logits of the first token, for the output hash. */
const void *generator_logits(const struct generator *generator, size_t *out_bytes);

#endif
