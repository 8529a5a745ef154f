/* tune: what the ways to do a problem take on this machine, side by side, and which of them to keep.
 *
 *   trial.c  one problem: its candidates built into one library, checked and timed in turns
 *   tune.c   all problems of a model within a budget; the choice table that comes of it
 */
#ifndef HONE_TUNE_H
#define HONE_TUNE_H

#include "compiler/pipeline/pipeline.h"
#include "compiler/run/run.h"
#include "core/stats/stats.h"

struct candidate {
  struct choice choice;  /* with its predicted cost */
  double ns;             /* median of its slices, all threads; NaN: not timed */
  struct interval ratio; /* its time by the first candidate's: under 1 is faster */
  double off;            /* relative L2 distance from what is right; NaN: not checked */
  size_t units;
  struct slice_median *slices; /* ascending */
  size_t slice_count;
};
struct trial {
  struct problem problem;
  double macs; /* 0: of a kind that does not multiply */
  size_t count;
  /* the cheapest by prediction first: what is taken without a table */
  struct candidate *candidates;
  bool by_reference; /* `off` is against plain loops in double, else against the first */
};
struct trial_options {
  const struct target *target;
  int threads;
  const char *cc;
  size_t most;               /* candidates, the cheapest by prediction */
  const struct choice *only; /* NULL, or the one candidate beside the usual choice */
  int processes;             /* times that operands are laid out anew; an interval needs two */
  double seconds;            /* of timing, about */
  double check_macs;         /* above that the reference is the first candidate */
  uint64_t seed;
  bool times_one; /* a single candidate too, which decides nothing */
};
/* E_UNSUP if no row does the problem or the target does not run here. Lives in the arena. */
MUST_USE hone_status trial_run(struct ctx *ctx, struct arena *arena, const struct problem *problem,
                               const struct trial_options *options, struct trial *out);

/* The candidate that is faster than the first for sure, the fastest of them; 0: there is none. */
size_t trial_best(const struct trial *trial);

struct tune_options {
  struct compile_options compile; /* target, threads, cc; choices are not read */
  double budget_s;
  uint64_t seed;
  void (*progress)(void *user, const struct trial *trial, size_t number, size_t count);
  void *user;
};
struct tune_report {
  size_t problems, tried, kept; /* distinct problems of the model, timed, with another choice */
  size_t known;                 /* that the cache's table had */
  struct interval model;        /* time of the model with the table by that without; NaN: not run */
  bool refused;                 /* the whole model was not faster for sure: nothing was kept */
  char path[4096];              /* of the table */
};
/* Times the model's problems, the costliest first, until the budget is spent, and adds what was found
   to the cache's table (compiler/pipeline/tuned.c), unless the whole model is not faster with it. */
MUST_USE hone_status tune_model(struct ctx *ctx, const struct model *model,
                                const struct tune_options *options, struct tune_report *out);
/* Its last step: what was found goes into the table if report->model says that the whole model is faster with it. */
MUST_USE hone_status tune_keep(struct ctx *ctx, struct arena *arena,
                               const struct compile_options *options,
                               const struct choice_table *found, struct tune_report *report);
#endif
