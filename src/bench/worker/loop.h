/* The timed loop: the same code for all engines with a C API. */
#ifndef HONE_LOOP_H
#define HONE_LOOP_H

#include "bench/check/check.h"

/* -- loop.c */

struct run_set {
  hone_tensor *inputs, *outputs, *expected; /* expected[i].data NULL: no reference */
};
struct loop {
  const struct backend *backend;
  struct session *session;
  const struct backend_io *io;
  struct yardstick *yardsticks; /* per output */
  struct run_set sets[BENCH_SETS];
  size_t *output_bytes;
  size_t next_set;
  struct random random;
  uint64_t iterations;         /* all inferences so far */
  double median_ns;            /* of the last warm-up window; used to plan slices */
  struct generator *generator; /* loop_generate.c; NULL: one inference at a time */
  struct loop_texts *texts;    /* loop_outputs.c: copies of string outputs */
  int streams;                 /* requests in flight */
};
#define LOOP_MAX_SAMPLES (1u << 20)
struct slice_plan {
  uint64_t min_samples, min_ns, max_ns, rewarm_ns;
  int checks; /* timed iterations whose outputs are compared */
  struct scenario scenario;
};
struct slice {
  uint64_t *samples, *rewarm;    /* ns; slice_deinit frees them */
  uint64_t *scheduled, *started; /* ns since the timed part began; NULL for single */
  size_t sample_count, rewarm_count;
  uint64_t copy_in[BENCH_SETS]; /* ns; per input set, before the slice */
  size_t copy_in_count;         /* 0: no copies */
  int verified;
  struct accuracy accuracy;
};
/* Runs one inference of the next set. */
MUST_USE hone_status loop_once(struct ctx *ctx, struct loop *loop, uint64_t *out_ns);
MUST_USE hone_status loop_warmup(struct ctx *ctx, struct loop *loop, uint64_t max_ns,
                                 bool *out_is_stationary);
MUST_USE hone_status loop_slice(struct ctx *ctx, struct loop *loop, const struct slice_plan *plan,
                                struct slice *out);
void slice_deinit(struct slice *slice);
/* Fills the outputs of one set with a pattern that no engine writes. */
void loop_poison(const struct loop *loop, size_t set);
/* Copies the string outputs of the set's last inference, until loop_forget_text. Other outputs need
   no copy. */
MUST_USE hone_status loop_keep_text(struct ctx *ctx, struct loop *loop, size_t set);
void loop_forget_text(struct loop *loop);
/* Compares the outputs of one set with its reference; false if there is none. */
bool loop_compare(const struct loop *loop, size_t set, struct accuracy *accuracy);

/* -- arrivals.c */
/* True if requests arrive by the clock and not when the previous one is done. */
bool scenario_has_arrivals(const struct scenario *scenario);
/* Number of requests in flight. */
int scenario_streams(const struct scenario *scenario);
/* Time from one arrival to the next. */
uint64_t scenario_distance_ns(const struct scenario *scenario, struct random *random);
/* -- loop_scenario.c */
/* The timed part of a slice of all scenarios except single: samples, scheduled, started. */
MUST_USE hone_status loop_scenario(struct ctx *ctx, struct loop *loop,
                                   const struct slice_plan *plan, struct slice *out);

#endif
