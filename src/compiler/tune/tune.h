/* tune: times the choices for a problem on this machine in interleaved slices, and decides which to
 * keep.
 *
 * trial.c  one problem: its candidates built into one library, checked and timed in turns
 * tune.c   all problems of a model within a budget, and the resulting choice table
 */
#ifndef HONE_TUNE_H
#define HONE_TUNE_H

#include "compiler/pipeline/pipeline.h"
#include "compiler/run/run.h"
#include "core/stats/stats.h"

struct candidate {
  struct choice choice;  /* with its predicted cost */
  double ns;             /* median of its slices, all threads; NaN: not timed */
  struct interval ratio; /* its time relative to the first candidate: below 1 is faster */
  double off;            /* relative L2 distance from the correct result; NaN: not checked */
  size_t units;
  struct slice_median *slices; /* ascending */
  size_t slice_count;
};
struct trial {
  struct problem problem;
  double macs; /* 0: a kind without multiplications */
  size_t count;
  /* the lowest predicted cost first: the choice without a table */
  struct candidate *candidates;
  bool by_reference; /* `off` is relative to simple loops in double, else to the first candidate */
};
struct trial_options {
  const struct target *target;
  int threads;
  const char *cc;
  size_t most;               /* maximum number of candidates, cheapest predictions first */
  const struct choice *only; /* NULL, or the one candidate to compare with the usual choice */
  /* number of times that operands are allocated anew; an interval needs two */
  int processes;
  double seconds;    /* of timing, approximately */
  double check_macs; /* above this the first candidate is the reference */
  uint64_t seed;
  bool times_one; /* times even a single candidate, which decides nothing */
};
/* E_UNSUP if no row solves the problem or the target does not run here. Lives in the arena. */
MUST_USE hone_status trial_run(struct ctx *ctx, struct arena *arena, const struct problem *problem,
                               const struct trial_options *options, struct trial *out);

/* The fastest candidate proven faster than the first; 0: there is none. */
size_t trial_best(const struct trial *trial);

struct tune_options {
  struct compile_options compile; /* target, threads, cc; choices are not used */
  double budget_s;
  uint64_t seed;
  void (*progress)(void *user, const struct trial *trial, size_t number, size_t count);
  void *user;
};
struct tune_report {
  size_t problems, tried, kept; /* distinct problems of the model; timed; changed choice */
  size_t known;                 /* already in the cache's table */
  /* time of the model with the table relative to without; NaN: not run */
  struct interval model;
  bool refused;    /* the whole model was not proven faster: nothing was kept */
  char path[4096]; /* of the table */
};
/* Times the model's problems, the costliest first, until the budget is used up, and adds the
   results to the cache's table (compiler/pipeline/tuned.c), unless the whole model is not faster
   with it. */
MUST_USE hone_status tune_model(struct ctx *ctx, const struct model *model,
                                const struct tune_options *options, struct tune_report *out);
/* The last step: adds the results to the table if report->model says that the whole model is
   faster with them. */
MUST_USE hone_status tune_keep(struct ctx *ctx, struct arena *arena,
                               const struct compile_options *options,
                               const struct choice_table *found, struct tune_report *report);
#endif
