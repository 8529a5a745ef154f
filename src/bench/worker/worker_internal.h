/* Declarations shared by the files of `hone worker`. The harness does not include this.
 *
 *   confine.c       limits that the worker sets before it loads an engine
 *   answer.c        answers, stages and failures
 *   open.c          one configuration: request, engine, input sets, first inferences
 *   generate.c      a configuration that generates text
 *   quality.c       how well a text is predicted, by the reference and by an engine
 *   slice.c         warm-up and slices
 *   probe.c         an engine in place of the reference
 *   keep.c          the files that an engine made of the model
 *   worker.c        table of commands and command loop
 */
#ifndef HONE_BENCH_WORKER_H
#define HONE_BENCH_WORKER_H

#include "loop.h"
#include "worker.h"

struct state {
  char config[33];
  enum record_stage stage;
  const struct backend *backend;
  char *shapes; /* on the heap, freed with the state */
  char model[4096], options[512], engine[4096], precision[32], tolerance[32], file_precision[8],
      dir[4096], engine_outputs[4096], route[64];
  char route_path[4096]; /* file that hone wrote for the engine */
  size_t set_count;      /* bound input sets */
  bool is_checked;       /* outputs are compared with the reference, if there is one */
  char work_dir[4096];   /* the worker's folder; an engine may change the current directory */
  struct backend_request request;
  struct backend_facts facts;
  struct backend_io io;
  struct loop loop;
  struct scenario scenario;
  struct generation *generation; /* scenario generate, on the heap; its shapes and tensor indices */
  char *first_shapes;
  int *input_place, *output_place;
  double compile_ms, load_ms, first_ms;
  int64_t rss_compile, rss_load;
  struct accuracy accuracy; /* so far */
  char output_hash[33];
};

/* -- confine.c */
/* Sets limits on files, descriptors and memory, no new privileges, and the first `threads` CPUs. 0:
   no limit. */
void confine(int64_t threads, int64_t memory_bytes);

/* -- answer.c */
/* Sends a message (takes ownership) with the configuration's key; false if the harness is gone. */
bool answer(const struct state *state, json_t *message);
/* Reports the begin of a stage; its time limit starts. */
void enter(struct state *state, enum record_stage stage);
void answer_failure(const struct state *state, const struct ctx *ctx);
void set_accuracy(json_t *message, const struct accuracy *accuracy);
int64_t peak_resident_bytes(void); /* -1 unknown */

/* -- open.c */
/* Reads the command into state->request and finds its backend. */
MUST_USE hone_status read_request(struct ctx *ctx, struct state *state, const json_t *command);
/* Makes input `index` of the engine from the case's file, the user's file, or random values. Its
   data is malloc'ed. */
MUST_USE hone_status make_input_of(struct ctx *ctx, struct state *state, const json_t *command,
                                   int set, size_t index, hone_tensor *out);
MUST_USE hone_status open_backend(struct ctx *ctx, struct state *state);
MUST_USE hone_status check_counts(struct ctx *ctx, struct state *state, const json_t *command);
MUST_USE hone_status open_config(struct ctx *ctx, struct state *state, const json_t *command,
                                 json_t **out_reply);
void release_config(struct state *state);

/* -- generate.c */
/* Before the engine opens: reads the plan of the command and computes the shapes for the engine. */
MUST_USE hone_status read_generation(struct ctx *ctx, struct state *state, const json_t *command);
/* With the engine open: allocates buffers and compares the first generation with the reference. */
MUST_USE hone_status begin_generation(struct ctx *ctx, struct state *state, const json_t *command);
void release_generation(struct state *state);

/* quality.c: the commands quality_reference, for a model, and quality, for an open engine. */
MUST_USE hone_status prepare_quality(struct ctx *ctx, struct state *state, const json_t *command,
                                     json_t **out_reply);
MUST_USE hone_status measure_quality(struct ctx *ctx, struct state *state, const json_t *command,
                                     json_t **out_reply);

/* label.c: writes the outputs for each sample of a labelled set to task_SAMPLE_I.npy, in the
   model's order. */
MUST_USE hone_status label_samples(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply);

/* keep.c: answers "kept" with the names of files in the worker's folder, or why there are none. */
MUST_USE hone_status keep_artifact(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply);

/* -- slice.c, probe.c */
MUST_USE hone_status warm_up(struct ctx *ctx, struct state *state, const json_t *command,
                             json_t **out_reply);
MUST_USE hone_status measure_slice(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply);
/* Makes inputs by the engine's list of inputs, and the engine's outputs for them. */
MUST_USE hone_status probe(struct ctx *ctx, struct state *state, const json_t *command,
                           json_t **out_reply);

#endif
