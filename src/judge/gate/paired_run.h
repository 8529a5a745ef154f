/* duel: two builds of hone on the same models: which one's code is slower. Each build compiles the model to a program
 * that needs nothing else; a pair is a turn of each in the same place in memory, one right after the other in random
 * order, and a turn is the fastest of the runs that fit in it: of long runs on one thread by their processor's time, which
 * neighbours lengthen little, of long runs on several threads by the clock and by their processors' time.
 *
 * Where both builds make the same code the two turns of a pair are exchangeable, whatever the machine does meanwhile, and
 * the order-statistics interval of the median ratio is exact (Conover 1999, 3.2): its error is the share of false alarms.
 * The number of pairs is fixed beforehand: nobody looks at the figures before all are there.
 */
#ifndef HONE_PAIRED_RUN_H
#define HONE_PAIRED_RUN_H

#include "bench/study/study.h"
#include "judge/compare/compare.h"

struct paired_config {
  const char *model; /* file or zoo: name */
  int threads;
  int batch;             /* 0: as the model says */
  const char *precision; /* "as-is" */
};
struct paired_options {
  const char *builds[2];                /* programs: the base, the new one */
  const char *shapes, *side_files_from; /* of every model; may be NULL */
  int pairs;                            /* 0: as many as fit into about 4 s, 40 to 120 */
  double turn_s;
  /* share of runs without a change that end in a verdict, over all configurations together */
  double false_alarms;
  double fail_above;  /* 0.05 */
  bool measures_same; /* programs that are equal byte for byte, too */
  uint64_t seed;
  void (*progress)(void *user, const char *line); /* may be NULL */
  void *user;
};
enum { PAIRED_MIN_PAIRS = 12, PAIRED_MAX_PAIRS = 1000, PAIRED_MAX_INPUTS = 64 };

/* How many runs a turn has and how many pairs of them there are, by how long a run of the probe took: fixed before there
   is a pair. */
struct paired_turns {
  int runs, pairs;
};
struct paired_turns paired_turns(const struct paired_options *options, double run_s,
                                 bool by_processor);
/* Ratio of medians over pairs new / base with its interval at 1 - error; NaN ends where there are too few pairs. `ratios`
   is sorted. */
struct interval paired_interval(double *ratios, size_t count, double error);
/* Of long runs on several threads both figures have an interval, each at half of the error. The clock's counts where it lies on
   one side of what is allowed, or is the narrower one; whether the processors' does. */
bool paired_by_processor_time(const struct interval *clock, const struct interval *processors,
                              double fail_above);
/* All configurations, as two summaries and what changed between them: an output of the new build that is not the base's is a configuration
   that broke. E_MISSING for a build that is no program. */
MUST_USE hone_status paired_run(struct ctx *ctx, struct arena *arena,
                                const struct paired_config *cells, size_t count,
                                const struct paired_options *options, struct changes *out);
#endif
