/* profile: where a compiled model spends its time, step by step, against what the machine allows. */
#ifndef HONE_PROFILE_H
#define HONE_PROFILE_H

#include "compiler/pipeline/pipeline.h"
#include "compiler/run/run.h"

/* Times are nanoseconds; those of a step are its busiest thread's, medians over the runs. */
struct profile {
  const char *model, *precision;
  struct compile_profile plan;
  struct target target;
  const struct peaks *peaks; /* with plan.threads; NULL: not measured, limits are NaN */
  size_t run_count;
  double total_ns;   /* from the first step's begin to the last one's end */
  double waiting_ns; /* what the steps leave of it: barriers, and threads that came late to them */
  struct profile_time {
    double ns, least_ns;
    double balance;                     /* the threads' mean over the busiest; 1: all work alike */
  } * times;                            /* [plan.step_count] */
  const struct hone_profile_entry *run; /* [threads][steps] of the run of median length */
};

/* Runs the artifact for about `seconds`, at least 15 times and once before it counts, and fills what
   follows `peaks` in out; out->plan, set before, says how it was compiled. Samples in `arena`. A run that
   fails is its status: the data does not fit the model. */
MUST_USE hone_status profile_measure(struct ctx *ctx, struct arena *arena,
                                     const struct loaded *loaded, struct team *team,
                                     const struct hone_io *io, double seconds, struct profile *out);

/* What the machine allows at best: the products of the step's own algorithm at the peak of their type and what is
   done to their results at that of floats, or its bytes, constants at the bandwidth that a set of all the model's constants has, values at that of a
   set of their own size. NaN without peaks, and where the step was faster: then a peak was disturbed, or the step's data
   lay nearer than the smallest set of the curve. */
double profile_limit_ns(const struct profile *profile, size_t step);
/* Whether a step was faster than the peaks allow: they are worth measuring again. */
bool profile_passes_peaks(const struct profile *profile);
/* Steps by time, longest first; brackets and what never ran are left out. */
MUST_USE hone_status profile_order(struct ctx *ctx, struct arena *arena,
                                   const struct profile *profile, size_t **out, size_t *out_count);

/* -- one file each */
MUST_USE hone_status profile_table(struct ctx *ctx, const struct profile *profile, int width,
                                   struct strbuf *out);
MUST_USE hone_status profile_json(struct ctx *ctx, const struct profile *profile,
                                  struct strbuf *out);
/* Chrome's trace format, which Perfetto reads: one row a thread, of the run of median length. */
MUST_USE hone_status profile_trace(struct ctx *ctx, const struct profile *profile,
                                   struct strbuf *out);
/* "Conv conv1, Relu relu1": the step's nodes of the model; the op alone where none is known. Untrusted. */
void profile_nodes(const struct profiled_step *step, struct strbuf *out);
#endif
