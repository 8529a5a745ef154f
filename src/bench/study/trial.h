/* A trial is one process of a configuration, from opening to closing.
 *
 *   trial.c         opens, warms up and closes it, and fills its record
 *   trial_slice.c   measures one slice; its samples are a block
 *   trial_rate.c    searches the highest arrival rate within a latency bound
 */
#ifndef HONE_BENCH_TRIAL_H
#define HONE_BENCH_TRIAL_H

#include "study_internal.h"
#include "bench/wire/transport.h"
#include "study_internal.h"

struct trial {
  const struct config *config;
  struct config_run *progress;
  struct worker worker;
  struct process_record record;
  struct memory_log memory;
  char engine_outputs[4096]; /* folder for outputs that differ from the reference */
  bool is_live, is_anchor;
  double median_ns; /* of the warm-up */
  int rounds, wanted_rounds;
  int64_t rss, rss_peak;
  int verified;
  struct noise noise; /* sums over its blocks */
  double measured_ns;
  /* sums for the regression line of rss over iterations */
  double n, sum_x, sum_y, sum_xx, sum_xy;
};

struct bench_case *trial_case(const struct bench *bench, const struct trial *trial);
/* Initialises a record: everything unknown. */
void trial_record(const struct bench *bench, size_t config, int number, struct process_record *out);
/* Opens and warms up. On failure is_live is false and the record has the reason. */
MUST_USE hone_status trial_open(struct bench *bench, struct config_run *progress, int number,
                                bool is_anchor, struct trial *out);
/* Marks it as ended with this reason. */
void trial_end(struct trial *trial, const struct worker_end *end);
void trial_accuracy(const json_t *message, struct trial *trial);
/* Ends the worker and passes its record to the callback. */
MUST_USE hone_status trial_close(struct bench *bench, struct trial *trial);

/* Measures a slice, stops the worker, then passes the block to the callback. */
MUST_USE hone_status trial_slice(struct bench *bench, struct trial *trial, int round);
/* The command for a slice. rate_per_s 0: the rate given when the worker was opened. */
json_t *slice_ask(int round, int64_t min_samples, double min_ns, double max_ns, bool checks,
                  double rate_per_s);
/* Kinds of times in a file: durations of consecutive calls, whose sum is at most the slice;
   latencies of overlapping requests; instants since the start of the slice. */
enum times { TIMES_IN_TURN, TIMES_OVERLAPPING, TIMES_INSTANTS };
/* Reads a worker's file of times. False if it does not match the message, or a sample is longer
   than the slice. The caller frees *out. */
bool slice_samples(struct trial *trial, const char *kind, enum times times, int round,
                   int64_t count, uint64_t wall_ns, uint64_t **out);

/* With --rate max: the first process of a configuration searches the rate; the others use it. */
void trial_rate(struct bench *bench, struct trial *trial);

#endif
