/* paired_run: two builds of hone on the same models: which build's code is slower?
 *
 * Each build compiles the model to a standalone program. A pair is one measurement ("turn") of each program, one right after
 * the other, in random order, at the same place in memory. A turn is the fastest of several runs. Long runs on one thread
 * are measured by processor time, which other processes lengthen little; long runs on several threads by wall time and by
 * processor time.
 *
 * If both builds generate the same code, the two turns of a pair are exchangeable, also on a busy machine. The
 * order-statistics interval of the median ratio is then exact (Conover 1999, 3.2): its error is the false-alarm rate. The
 * number of pairs is fixed beforehand, so that no figure influences when the measurement stops.
 */
#ifndef HONE_PAIRED_RUN_H
#define HONE_PAIRED_RUN_H

#include "bench/study/study.h"
#include "judge/compare/compare.h"

struct paired_config {
  const char *model; /* file or zoo: name */
  int threads;
  int batch;             /* 0: the model's own */
  const char *precision; /* "as-is" */
};
struct paired_options {
  const char *builds[2];                /* programs: the base, then the new one */
  const char *shapes, *side_files_from; /* for all models; may be NULL */
  int pairs;                            /* 0: 40 to 120, as many as fit into about 4 s */
  double turn_s;
  /* share of comparisons of equal builds that may report a difference, over all configurations together */
  double false_alarms;
  double fail_above;  /* 0.05 */
  bool measures_same; /* also measure programs of identical bytes */
  uint64_t seed;
  void (*progress)(void *user, const char *line); /* may be NULL */
  void *user;
};
enum { PAIRED_MIN_PAIRS = 12, PAIRED_MAX_PAIRS = 1000, PAIRED_MAX_INPUTS = 64 };

/* Runs of a turn, and pairs of turns, from the duration of a run in the probe: fixed before the first pair. */
struct paired_turns {
  int runs, pairs;
};
struct paired_turns paired_turns(const struct paired_options *options, double run_s,
                                 bool by_processor);
/* Median of the pairs' ratios new / base, with its interval at confidence 1 - error; NaN ends if there are too few pairs.
   Sorts `ratios`. */
struct interval paired_interval(double *ratios, size_t count, double error);
/* Long runs on several threads have an interval of wall time and one of processor time, each at half of the error. Wall time
   is used if its interval is on one side of 1 + fail_above, or is the narrower one. True: processor time is used. */
bool paired_by_processor_time(const struct interval *clock, const struct interval *processors,
                              double fail_above);
/* Measures all configurations. The result is two summaries and the changes between them; a configuration is broken if the
   new build's output differs from the base's. E_MISSING for a build that cannot be executed. */
MUST_USE hone_status paired_run(struct ctx *ctx, struct arena *arena,
                                const struct paired_config *configs, size_t count,
                                const struct paired_options *options, struct changes *out);
#endif
