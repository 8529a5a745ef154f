/* The worker's own side of the pipe: what the files of `hone worker` share. The harness sees none of it.
 *
 *   confine.c       limits that it sets itself before any engine is loaded
 *   answer.c    answers, stages and failures
 *   open.c   one configuration: request, engine, input sets, first inferences
 *   generate.c  a configuration that generates text
 *   slice.c  warm-up and slices
 *   probe.c  an engine in place of the reference
 *   keep.c   the files that an engine made of the model
 *   worker.c        the table of commands, and the loop that obeys them
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
  char route_path[4096]; /* of the file that hone wrote for the engine */
  size_t set_count;      /* input sets that are bound */
  bool is_judged;        /* outputs are compared with the reference, where there is one */
  char work_dir[4096];   /* our own folder; an engine may change the current one */
  struct backend_request request;
  struct backend_facts facts;
  struct backend_io io;
  struct loop loop;
  struct scenario scenario;
  struct generation *generation; /* of generate, on the heap; and its shapes and places */
  char *first_shapes;
  int *input_place, *output_place;
  double compile_ms, load_ms, first_ms;
  int64_t rss_compile, rss_load;
  struct accuracy accuracy; /* so far */
  char output_hash[33];
};

/* -- confine.c */
/* Limits on files, descriptors and memory, no new privileges, the first `threads` CPUs. 0: no limit. */
void confine(int64_t threads, int64_t memory_bytes);

/* -- answer.c */
/* Sends a message (taken) in the name of the configuration; false if the harness is gone. */
bool answer(const struct state *state, json_t *message);
/* A stage begins: its time limit too. */
void enter(struct state *state, enum record_stage stage);
void answer_failure(const struct state *state, const struct ctx *ctx);
void set_accuracy(json_t *message, const struct accuracy *accuracy);
int64_t peak_resident_bytes(void); /* -1 unknown */

/* -- open.c */
/* The command's words into state->request, and the backend that it names. */
MUST_USE hone_status read_request(struct ctx *ctx, struct state *state, const json_t *command);
/* Input `index` of the engine: the case's file, the user's, or made up. Its data is malloc'ed. */
MUST_USE hone_status make_input_of(struct ctx *ctx, struct state *state, const json_t *command,
                                   int set, size_t index, hone_tensor *out);
MUST_USE hone_status open_backend(struct ctx *ctx, struct state *state);
MUST_USE hone_status check_counts(struct ctx *ctx, struct state *state, const json_t *command);
MUST_USE hone_status open_config(struct ctx *ctx, struct state *state, const json_t *command,
                                 json_t **out_reply);
void release_config(struct state *state);

/* -- generate.c */
/* Before the engine opens: the plan of the command, and the shapes that the engine is asked for. */
MUST_USE hone_status read_generation(struct ctx *ctx, struct state *state, const json_t *command);
/* With the engine open: buffers, and the first generation compared with the reference. */
MUST_USE hone_status begin_generation(struct ctx *ctx, struct state *state, const json_t *command);
void release_generation(struct state *state);

/* label.c: the outputs for each sample of a labelled set, as files task_SAMPLE_I.npy in the model's order. */
MUST_USE hone_status label_samples(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply);

/* keep.c: "kept", with the names of files in the worker's folder, or why there are none. */
MUST_USE hone_status keep_artifact(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply);

/* -- slice.c, probe.c */
MUST_USE hone_status warm_up(struct ctx *ctx, struct state *state, const json_t *command,
                             json_t **out_reply);
MUST_USE hone_status measure_slice(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply);
/* Inputs by the engine's own list, and the outputs that it gives for them. */
MUST_USE hone_status probe(struct ctx *ctx, struct state *state, const json_t *command,
                           json_t **out_reply);

#endif
