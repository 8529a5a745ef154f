/* generation: a language model as the application runs it. A prompt goes in, the likeliest next token comes out
 * and goes in again, beside caches of keys and values that grow with every token.
 *
 *   generation.c            which input and output is what, sizes of one call, the plan as numbers
 *   generation_reference.c  in a worker: the tokens that hone's reference evaluation generates
 *   generation_configs.c      in the harness: asks for both
 *   loop_generate.c         in a worker: the same with an engine, by the clock
 *   tokens.c                what came out beside the reference's
 */
#ifndef HONE_BENCH_GENERATION_H
#define HONE_BENCH_GENERATION_H

#include "loop.h"

#define GENERATION_MAX_CACHES 512
#define GENERATION_MAX_TENSORS (2 * GENERATION_MAX_CACHES + 8)
#define GENERATION_MAX_TOKENS 65536
/* Of which size a tensor's one growing dimension is. */
enum grows { GROWS_NOT, GROWS_TOKENS, GROWS_PAST, GROWS_TOTAL };
struct generation_tensor {
  hone_tensor form; /* data NULL; the growing dimension as it was described */
  int axis;         /* that grows, or -1 */
  enum grows grows;
};
struct generation {
  /* places in the model's lists; of mask and position -1: none */
  int token, mask, position, logits;
  bool takes_prompt; /* several tokens in one call */
  int64_t holds;     /* places in each cache where its size stays the same; 0: caches grow */
  size_t input_count, output_count, cache_count;
  struct generation_tensor tensors[GENERATION_MAX_TENSORS]; /* inputs, then outputs */
  struct generation_cache {
    int in, out;
  } caches[GENERATION_MAX_CACHES];
};
/* One call of the model: tokens that are in the caches, and tokens that are given. */
struct generation_call {
  int64_t past, tokens;
};

/* Finds out from two descriptions: `one`, and NULL or the same with one token more (then the model takes several
   tokens). E_UNSUP with the input or output that has no part in generating text. */
MUST_USE hone_status generation_find(struct ctx *ctx, const struct backend_io *one,
                                     const struct backend_io *two, struct generation *out);
/* Input shapes with one token more than it was described with. */
MUST_USE hone_status generation_longer(struct ctx *ctx, const struct generation *generation,
                                       const char *const *names, struct strbuf *out);
/* E_UNSUP where neither tokens nor caches can grow. */
MUST_USE hone_status generation_check(struct ctx *ctx, const struct generation *generation);
/* For an engine that is given one size of each input: caches of so many places, of which the mask hides those that
   are not used yet. False where the model lacks caches, a mask of whole numbers or positions. */
MUST_USE bool generation_hold(struct generation *generation, int64_t places);
/* What a call over held caches appended to them goes to its place in the next call's. */
void generation_keep(const struct generation *generation, struct generation_call call,
                     const hone_tensor *outputs, const hone_tensor *inputs);
/* The index-th call of a generation, which begins with the prompt. */
struct generation_call generation_call(const struct generation *generation, int64_t prompt,
                                       int64_t index);
/* Calls that a prompt takes before the first token is known. */
int64_t generation_prompt_calls(const struct generation *generation, int64_t prompt);
/* The form of tensor `at` (inputs, then outputs) in that call. */
hone_tensor generation_form(const struct generation *generation, size_t at,
                            struct generation_call call);
int64_t generation_vocabulary(const struct generation *generation);
/* "token[1,1],past[2,P<=47,4]" of all inputs; bound 0: with the sizes of that call. names: of the inputs. */
MUST_USE hone_status generation_shapes(struct ctx *ctx, const struct generation *generation,
                                       const char *const *names, struct generation_call call,
                                       int64_t bound, struct strbuf *out);
/* Ids, positions and masks of that call into the inputs, whose data is there. tokens: all so far. */
void generation_fill(const struct generation *generation, struct generation_call call,
                     const int64_t *tokens, hone_tensor *inputs);
/* The likeliest token after the last one; *out_lead: how far it leads the next, by the largest |logit|. Not
   finite logits: -1. */
int64_t generation_argmax(const struct generation *generation, const hone_tensor *logits,
                          double *out_lead);
/* As a list of integers, and back; false if that is damaged. */
json_t *generation_pack(const struct generation *generation);
MUST_USE bool generation_unpack(const json_t *list, struct generation *out);

/* generation_reference.c: the command "generate" of a worker: the plan, and tokens_SET.npy (prompt and what follows)
   and leads_SET.npy in the command's folder. */
MUST_USE hone_status prepare_generation(struct ctx *ctx, const json_t *command, json_t **out_reply);
/* Ids of a prompt from a .npy of integers; data is malloc'ed. */
MUST_USE hone_status prompt_read(struct ctx *ctx, const char *path, int64_t **out,
                                 size_t *out_count);

/* loop_generate.c */
struct generator;
struct generator_spec {
  const struct generation *plan;
  const int *input_place, *output_place; /* of the engine's tensors in the model's lists */
  int64_t prompt, count;
  const char *dir; /* tokens_SET.npy, leads_SET.npy */
};
MUST_USE hone_status generator_create(struct ctx *ctx, const struct loop *loop,
                                      const struct generator_spec *spec, struct generator **out);
void generator_destroy(struct generator *generator);
/* One generation that is not timed, compared like all: *out_ns is the time of the first token. */
MUST_USE hone_status generate_once(struct ctx *ctx, struct loop *loop, struct accuracy *accuracy,
                                   uint64_t *out_ns);
MUST_USE hone_status generate_warmup(struct ctx *ctx, struct loop *loop, uint64_t max_ns,
                                     bool *out_is_stationary);
/* The timed part of a slice: whole generations. Of each token: when its generation was asked for (scheduled), when
   its own step began (started), and how long that took (samples). */
MUST_USE hone_status generate_slice(struct ctx *ctx, struct loop *loop,
                                    const struct slice_plan *plan, struct slice *out);
/* The first token's last output, for its hash. */
const void *generator_logits(const struct generator *generator, size_t *out_bytes);

#endif
