/* One configuration of a group while its process lives: what the files below rounds.c share.
 *
 *   trial.c         its process: opened and warmed up, closed, and the record that it leaves
 *   trial_slice.c   one slice of it, whose samples are a block
 *   trial_rate.c    the highest rate of arrivals that holds a latency bound
 */
#ifndef HONE_BENCH_MEMBER_H
#define HONE_BENCH_MEMBER_H

#include "study_internal.h"
#include "bench/wire/transport.h"
#include "study_internal.h"

struct trial {
  const struct config *config;
  struct config_run *progress;
  struct worker worker;
  struct process_record record;
  struct memory_log memory;
  char engine_outputs[4096]; /* where an engine that can object leaves outputs that differ */
  bool is_live, is_anchor;
  double median_ns; /* of the warm-up */
  int rounds, wanted_rounds;
  int64_t rss, rss_peak;
  int verified;
  struct noise noise; /* sums over its blocks */
  double measured_ns;
  /* sums for the line through (iterations, rss) */
  double n, sum_x, sum_y, sum_xx, sum_xy;
};

struct bench_case *trial_case(const struct bench *bench, const struct trial *trial);
/* A record of which nothing is known yet. */
void trial_record(const struct bench *bench, size_t config, int number, struct process_record *out);
/* Opened and warmed up, or is_live false and its record says why. */
MUST_USE hone_status trial_open(struct bench *bench, struct config_run *progress, int number,
                                bool is_anchor, struct trial *out);
/* It lives no more, and its record says how that came. */
void trial_end(struct trial *trial, const struct worker_end *end);
void trial_accuracy(const json_t *message, struct process_record *record);
/* The worker's end; its record is handed on. */
MUST_USE hone_status trial_close(struct bench *bench, struct trial *trial);

/* Its block is handed on after its worker was stopped again. */
MUST_USE hone_status trial_slice(struct bench *bench, struct trial *trial, int round);
/* The command of a slice. rate_per_s 0: as the worker was opened for. */
json_t *slice_ask(int round, int64_t min_samples, double min_ns, double max_ns, bool checks,
                  double rate_per_s);
/* What a file of times can be: calls one after the other, which together are no longer than the slice;
   latencies of requests that overlap; instants since the slice began. */
enum times { TIMES_IN_TURN, TIMES_OVERLAPPING, TIMES_INSTANTS };
/* The worker's file must hold what its message said, and no sample can be longer than the slice. The
   caller frees them. */
bool slice_samples(struct trial *trial, const char *kind, enum times times, int round,
                   int64_t count, uint64_t wall_ns, uint64_t **out);

/* Where its scenario asks for it, by the first process of a configuration; the others are measured at what it
   found. */
void trial_rate(struct bench *bench, struct trial *trial);

#endif
