/* worker: a process that prepares one model or measures one configuration with one engine.
 *
 *   worker.c     table of commands and command loop; worker_internal.h lists its files
 *   prepare.c    a model as every engine gets it, input sets, reference outputs
 *   inputs.c     random inputs from a seed
 *   given.c      the user's inputs
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
/* Random values for input `index` from the seed: floats are normal, integers are valid indices of
   the tables that they index, masks are ones. Allocated in `arena`. */
MUST_USE hone_status input_generate(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                    size_t index, uint64_t seed, int set, hone_tensor *out);

/* The same without a graph: integers are ones. */
MUST_USE hone_status input_fill(struct ctx *ctx, const char *name, const hone_tensor *tensor,
                                size_t index, uint64_t seed, int set);

/* -- prepare.c (in the worker): model -> ONNX file, input sets, reference outputs */
/* dir: the worker's folder, for costs.npy. */
MUST_USE hone_status prepare_describe(struct ctx *ctx, const json_t *command, const char *dir,
                                      json_t **out_reply);
MUST_USE hone_status prepare_reference(struct ctx *ctx, const json_t *command, json_t **out_reply);

/* -- given.c */
/* The user's inputs: --input NAME=FILE and --inputs DIR. */
struct given {
  const struct bench_pair *files;
  size_t file_count;
  const char *dir; /* NULL: none */
};
struct given_model {
  const char *title;
  const char *const *names; /* its inputs, in order */
  size_t count;
  /* per input: a state, which has its initial value if no file is given; NULL: none */
  const bool *is_state;
};
/* Checks that all files exist and are inputs of one of the models, and that each model uses a file
   of the folder. An input without a file is a warning. E_USAGE, E_NOFILE. */
MUST_USE hone_status given_check(struct ctx *ctx, const struct given *given,
                                 const struct given_model *models, size_t model_count);
/* The file of input `index`, or "". E_USAGE if two files are given for it. */
MUST_USE hone_status given_find(struct ctx *ctx, const struct given *given, const char *name,
                                size_t index, char out[4096]);
/* Reads it; data in the arena. E_SHAPE, E_TYPE if it does not fit the input. */
MUST_USE hone_status given_read(struct ctx *ctx, struct arena *arena, const char *path,
                                const char *name, const hone_tensor *want, hone_tensor *out);
/* In a worker: reads the given inputs of a command. */
bool has_given(const json_t *command);
MUST_USE hone_status given_of_command(struct ctx *ctx, const json_t *command, const char *name,
                                      size_t index, char out[4096]);

#endif
