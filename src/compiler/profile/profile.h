/* profile: the time of each step of a compiled model, compared with the machine's limits. */
#ifndef HONE_PROFILE_H
#define HONE_PROFILE_H

#include "compiler/pipeline/pipeline.h"
#include "compiler/run/run.h"

/* Times are nanoseconds; a step's time is that of its busiest thread, the median over the runs. */
struct profile {
  const char *model, *precision;
  struct compile_profile plan;
  struct target target;
  const struct peaks *peaks; /* with plan.threads; NULL: not measured, limits are NaN */
  size_t run_count;
  double total_ns;   /* from the begin of the first step to the end of the last */
  double waiting_ns; /* the rest after all steps: barriers, and threads that arrived late */
  struct profile_time {
    double ns, least_ns;
    /* mean of the threads over the busiest; 1: evenly distributed */
    double balance;
  } * times;                            /* [plan.step_count] */
  const struct hone_profile_entry *run; /* [threads][steps] of the run of median length */
};

/* Runs the artifact for about `seconds`, at least 15 times after one warm-up run, and fills the
   fields after `peaks`; out->plan, set before, says how it was compiled. Samples in `arena`.
   Returns the status of a run that fails: the data does not fit the model. */
MUST_USE hone_status profile_measure(struct ctx *ctx, struct arena *arena,
                                     const struct loaded *loaded, struct team *team,
                                     const struct hone_io *io, double seconds, struct profile *out);

/* The shortest time that the machine allows: the multiplications of the step's own algorithm at
   the peak of their type plus elementwise operations at that of floats; or its bytes, constants
   at the bandwidth for a working set of all the model's constants, values at that for their own
   size. NaN without peaks, and if the step was faster: then a peak was disturbed, or the data
   was in a faster cache than the smallest set of the curve. */
double profile_limit_ns(const struct profile *profile, size_t step);
/* True if a step was faster than the peaks allow: the peaks should be measured again. */
bool profile_passes_peaks(const struct profile *profile);
/* Steps by time, longest first; without brackets and steps that never ran. */
MUST_USE hone_status profile_order(struct ctx *ctx, struct arena *arena,
                                   const struct profile *profile, size_t **out, size_t *out_count);

/* -- one file each */
MUST_USE hone_status profile_table(struct ctx *ctx, const struct profile *profile, int width,
                                   struct strbuf *out);
MUST_USE hone_status profile_json(struct ctx *ctx, const struct profile *profile,
                                  struct strbuf *out);
/* Chrome's trace format, for Perfetto: one row per thread, of the run of median length. */
MUST_USE hone_status profile_trace(struct ctx *ctx, const struct profile *profile,
                                   struct strbuf *out);
/* "Conv conv1, Relu relu1": the model's nodes in the step; only the op if none is known.
   Untrusted. */
void profile_nodes(const struct profiled_step *step, struct strbuf *out);
#endif
