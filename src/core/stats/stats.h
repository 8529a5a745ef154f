/* stats: percentiles, intervals, ties, stationarity. Pure: the same numbers and seed give the same
 * answer. Implements the rules of MEASURING.md; sources at each function. */
#ifndef HONE_STATS_H
#define HONE_STATS_H

#include "core/base/base.h"

/* Smallest sample with at least share p (0 < p <= 1) of the samples at or below it. n > 0; `sorted`
 * must be ascending. */
double percentile_sorted(const double *sorted, size_t n, double p);
void sort_doubles(double *x, size_t n);
/* The median (percentile 0.5) of n > 0 times. E_OOM. */
MUST_USE hone_status median_of(struct ctx *ctx, const uint64_t *x, size_t n, double *out);
/* Distribution-free interval of quantile p at `confidence` from binomial order statistics (Conover
 * 1999, section 3.2). false if the upper (or lower) order statistic does not exist. 0-based
 * indices. */
MUST_USE bool quantile_interval(size_t n, double p, double confidence, size_t *out_low,
                                size_t *out_high);
/* True if a latency bound holds that `over` of n requests exceeded: LoadGen's server scenario
 * requires 99 % of them within it; here the upper end of the 95 % interval of the 99th percentile
 * must be within it, so that few samples do not pass by chance. */
bool latency_bound_holds(size_t n, size_t over);

/* Samples of one configuration: processes, each with rounds, each with samples. */
struct sample_set {
  size_t process_count;
  struct sample_process {
    size_t round_count;
    struct sample_round {
      const double *samples; /* ns, any order */
      size_t count;
    } * rounds;
  } * processes;
};
struct interval {
  double value, low, high;
};
/* Median of all samples with a hierarchical bootstrap interval: processes resampled, then rounds
   (Kalibera & Jones 2013). resamples e.g. 2000. E_OOM. */
MUST_USE hone_status bootstrap_median(struct ctx *ctx, const struct sample_set *set,
                                      double confidence, int resamples, uint64_t seed,
                                      struct interval *out);
/* Ratio median(a)/median(b), same resampling, the same rounds drawn for both. */
MUST_USE hone_status bootstrap_ratio(struct ctx *ctx, const struct sample_set *a,
                                     const struct sample_set *b, double confidence, int resamples,
                                     uint64_t seed, struct interval *out);

/* The t with P(|T| <= t) = confidence. freedom > 0. */
double student_quantile(double confidence, int freedom);
/* Mean of n values and Student's interval for it; low and high are NaN for a single value. */
struct interval student_interval(const double *x, size_t n, double confidence);

/* One slice of a configuration: its median, and where it was measured. */
struct slice_median {
  int process, round;
  double ns;
};
struct paired {
  struct interval ratio; /* NaN if it is undefined: no common round, a single process */
  int processes, rounds; /* common to both configurations */
};
/* Ratio a / b of slices measured next to each other: same process and round number. Both are sorted
 * by process, then round. Median of log ratios per process, Student's interval over processes
 * (Bulej et al., ICPE 2020). E_OOM. */
MUST_USE hone_status paired_ratio(struct ctx *ctx, const struct slice_median *a, size_t a_count,
                                  const struct slice_median *b, size_t b_count, double confidence,
                                  struct paired *out);

/* bisection.c: the first bad one of states 1 to count, from answers of which the share `error` is
 * wrong. */
struct bisection {
  size_t count, answers;
  double error;
  double *weight;   /* [count + 1], from 1: probability that this state is the first bad one */
  bool *is_skipped; /* cannot be tested */
};
MUST_USE hone_status bisection_begin(struct ctx *ctx, struct arena *arena, size_t n, double error,
                                     struct bisection *out);
/* the next state to test; 0: none is left */
size_t bisection_next(const struct bisection *bisection);
void bisection_answer(struct bisection *bisection, size_t i, bool is_bad);
void bisection_skip(struct bisection *bisection, size_t i);
/* The most probable first bad state and its probability. */
size_t bisection_best(const struct bisection *bisection, double *out_share);
/* The states that it may be, because those between cannot be tested. */
void bisection_range(const struct bisection *bisection, size_t at, size_t *out_low,
                     size_t *out_high);

enum verdict { VERDICT_undecided, VERDICT_tie, VERDICT_faster, VERDICT_slower };
const char *verdict_text(enum verdict verdict);
struct verdict_rule {
  int min_processes;          /* 3 */
  int min_rounds;             /* 12, of both sides */
  double floor_difference_ns; /* a difference smaller than this is a tie */
};
/* a against b: faster if the whole interval of a/b is below 1. */
enum verdict decide(const struct interval *ratio, int processes_a, int processes_b, int rounds_a,
                    int rounds_b, double median_a_ns, double median_b_ns,
                    const struct verdict_rule *rule);
/* At least three consecutive windows whose medians agree within `noise` (relative). */
bool is_stationary(const double *x, size_t n, size_t window, double noise);

/* Change points of a chronological series: E-divisive (Matteson & James 2014); a cut is kept if
 * fewer than `significance` of seeded permutations reach it (0.01: 1 of 100 steady series gets a
 * cut). Fewer than about 10 figures cannot be distinguished at 0.01. E_OOM, E_LIMIT. */
enum { CHANGE_POINTS_MAX = 512 };
struct change_point {
  size_t at;            /* the first figure of the new level */
  double before, after; /* medians of the levels before and after */
};
MUST_USE hone_status change_points(struct ctx *ctx, struct arena *arena, const double *x, size_t n,
                                   double significance, uint64_t seed, struct change_point **out,
                                   size_t *out_count);

#endif
