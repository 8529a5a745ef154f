/* worker: one process that prepares one model or measures one configuration with one engine.
 *
 *   worker.c     the table of commands and the loop that obeys them; worker_internal.h lists its files
 *   prepare.c    a model as every engine gets it, input sets, reference outputs
 *   inputs.c     seeded inputs
 *   given.c      inputs of the user's
 *   loop.h       the timed loop
 *   generation.h text generation
 */
#ifndef HONE_WORKER_H
#define HONE_WORKER_H

#include "bench/check/check.h"

struct bench_pair {
  const char *name, *value;
};

/* The hidden verb `hone worker`, argv[1] = "worker": returns the exit code. */
int worker_main(int argc, char **argv);
/* -- inputs.c */
/* Seeded values for input `index`: floats normal, integers within the tables that they index, masks
   ones. Allocated in `arena`. */
MUST_USE hone_status input_generate(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                    size_t index, uint64_t seed, int set, hone_tensor *out);

/* The same without a graph: integers that no graph explains are ones. */
MUST_USE hone_status input_fill(struct ctx *ctx, const char *name, const hone_tensor *tensor,
                                size_t index, uint64_t seed, int set);

/* -- prepare.c (in the worker): model -> ONNX file, input sets, reference outputs */
/* dir: the worker's own, for costs.npy. */
MUST_USE hone_status prepare_describe(struct ctx *ctx, const json_t *command, const char *dir,
                                      json_t **out_reply);
MUST_USE hone_status prepare_reference(struct ctx *ctx, const json_t *command, json_t **out_reply);

/* -- given.c */
/* Inputs that the user gives: --input NAME=FILE and --inputs DIR. */
struct given {
  const struct bench_pair *files;
  size_t file_count;
  const char *dir; /* NULL: none */
};
struct given_model {
  const char *title;
  const char *const *names; /* of its inputs, in order */
  size_t count;
  /* by input: begins as before any run where no file is given; NULL: none does */
  const bool *is_state;
};
/* All that is given is there, is an input of one of the models, and each model gets something of a folder. An
   input without a file is a warning. E_USAGE, E_NOFILE. */
MUST_USE hone_status given_check(struct ctx *ctx, const struct given *given,
                                 const struct given_model *models, size_t model_count);
/* The file of input `index`, or "". E_USAGE where two files are given for it. */
MUST_USE hone_status given_find(struct ctx *ctx, const struct given *given, const char *name,
                                size_t index, char out[4096]);
/* Reads it; data in the arena. E_SHAPE, E_TYPE where it is not what is wanted. */
MUST_USE hone_status given_read(struct ctx *ctx, struct arena *arena, const char *path,
                                const char *name, const hone_tensor *want, hone_tensor *out);
/* In a worker: what the harness's command says of it. */
bool has_given(const json_t *command);
MUST_USE hone_status given_of_command(struct ctx *ctx, const json_t *command, const char *name,
                                      size_t index, char out[4096]);

#endif
