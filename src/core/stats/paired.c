/* paired: the ratio of two configurations from slices measured next to each other.
 *
 * In: the medians of the slices of both, each with its process and round. Out: ratio and interval.
 * Disturbances of a shared machine last longer than two adjacent slices, so the ratio within a
 * round is much more stable than either time. Per process the median of these log ratios is taken:
 * no slice is dropped, and a disturbed one does not move it. Processes are the unit of variance
 * (memory layout and thread placement differ between them and not within one): the ratio is the
 * mean over processes, with Student's interval. Sources: L. Bulej et al., Duet Benchmarking:
 * Improving Measurement Accuracy in the Cloud, ICPE 2020; T. Kalibera, R. Jones, ISMM 2013, section
 * 6. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static int order_of(const struct slice_median *a, const struct slice_median *b) {
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  return (a->round > b->round) - (a->round < b->round);
}

/* Log ratios of the common rounds of the next common process; 0 at the end. */
static size_t next_process(const struct slice_median *a, size_t na, size_t *ia,
                           const struct slice_median *b, size_t nb, size_t *ib, double *out) {
  size_t n = 0;
  int process = 0;
  while (*ia < na && *ib < nb) {
    const int order = order_of(&a[*ia], &b[*ib]);
    if (order < 0) {
      ++*ia;
    } else if (order > 0) {
      ++*ib;
    } else {
      if (n && a[*ia].process != process) break;
      process = a[*ia].process;
      const double ratio = a[*ia].ns / b[*ib].ns;
      if (ratio > 0 && isfinite(ratio)) out[n++] = log(ratio);
      ++*ia;
      ++*ib;
    }
  }
  return n;
}

static double middle(double *x, size_t n) {
  sort_doubles(x, n);
  return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

hone_status paired_ratio(struct ctx *ctx, const struct slice_median *a, size_t a_count,
                         const struct slice_median *b, size_t b_count, double confidence,
                         struct paired *out) {
  const size_t most = a_count < b_count ? a_count : b_count;
  double *logs = calloc(2 * most + 1, sizeof *logs), *processes = logs + most;
  if (!logs) return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu slices", most);
  *out = (struct paired){.ratio = {NAN, NAN, NAN}};
  size_t at_a = 0, at_b = 0, n;
  while ((n = next_process(a, a_count, &at_a, b, b_count, &at_b, logs))) {
    processes[out->processes++] = middle(logs, n);
    out->rounds += (int)n;
  }
  const size_t count = (size_t)out->processes;
  if (count) {
    const struct interval mean = student_interval(processes, count, confidence);
    out->ratio = (struct interval){exp(mean.value), exp(mean.low), exp(mean.high)};
  }
  free(logs);
  return HONE_OK;
}
