/* percentile: quantiles of a sorted sample, their distribution-free intervals, stationarity.
 *
 * In: samples in any unit. Out: values that are samples themselves (never interpolated), and the
 * ranks between which the true quantile lies. If such a rank does not exist the quantile is not
 * printed: p90 needs 36 samples, p99 368 and p99.9 3,688. Source: W. J. Conover, Practical
 * Nonparametric Statistics, 3rd ed. 1999, section 3.2. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void sort_doubles(double *x, size_t n) {
  if (n > 1) qsort(x, n, sizeof *x, compare_doubles);
}

/* 0-based index of the smallest sample with at least share p of n samples at or below it. The small
 * epsilon keeps 0.9 * 10 at 9 although the product of doubles may be slightly larger. */
static size_t percentile_index(size_t n, double p) {
  double rank = ceil(p * (double)n - 1e-9 * (double)n * p);
  if (!(rank >= 1)) return 0;
  return rank >= (double)n ? n - 1 : (size_t)rank - 1;
}

double percentile_sorted(const double *sorted, size_t n, double p) {
  return n ? sorted[percentile_index(n, p)] : NAN;
}

hone_status median_of(struct ctx *ctx, const uint64_t *x, size_t n, double *out) {
  double *copy = calloc(n + 1, sizeof *copy);
  if (!copy) return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu samples", n);
  for (size_t i = 0; i < n; i++) copy[i] = (double)x[i];
  sort_doubles(copy, n);
  *out = percentile_sorted(copy, n, 0.5);
  free(copy);
  return HONE_OK;
}

/* ln P(Y = k) for Y ~ Binomial(n, p). */
static double binomial_log_pmf(double n, double k, double p) {
  int sign;
  return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign) + k * log(p) +
         (n - k) * log1p(-p);
}

bool quantile_interval(size_t n, double p, double confidence, size_t *out_low, size_t *out_high) {
  if (n == 0 || !(p > 0 && p < 1) || !(confidence > 0 && confidence < 1)) return false;
  const double tail = (1 - confidence) / 2;
  const double mean = (double)n * p, deviation = sqrt(mean * (1 - p));
  /* Below ten deviations the mass is under 1e-20: starting there makes the cost O(sqrt n). */
  const double start = floor(mean - 10 * deviation - 50);
  size_t k = start > 0 ? (size_t)start : 0;
  double mass = exp(binomial_log_pmf((double)n, (double)k, p)), below = 0;
  bool has_low = false;
  size_t low = 0;
  /* 1-based: the low rank r is the greatest with P(Y < r) <= tail, the high rank s the smallest
     with P(Y < s) >= 1 - tail; `below` is P(Y < k). */
  for (; k <= n; k++) {
    if (k >= 1 && below <= tail) {
      low = k - 1;
      has_low = true;
    }
    if (below >= 1 - tail) {
      *out_low = low;
      *out_high = k - 1;
      return has_low && k >= 1;
    }
    below += mass;
    mass *= ((double)n - (double)k) / ((double)k + 1) * (p / (1 - p));
  }
  return false;
}

bool latency_bound_holds(size_t n, size_t over) {
  size_t low, high;
  return quantile_interval(n, 0.99, 0.95, &low, &high) && over < n - high;
}

/* Median of one window; a window longer than the buffer is subsampled evenly. */
static double window_median(const double *x, size_t n) {
  double copy[1024];
  const size_t used = n < COUNT(copy) ? n : COUNT(copy);
  for (size_t i = 0; i < used; i++) copy[i] = x[i * n / used];
  sort_doubles(copy, used);
  return percentile_sorted(copy, used, 0.5);
}

bool is_stationary(const double *x, size_t n, size_t window, double noise) {
  if (window == 0 || n / 3 < window) return false;
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 1; i <= 3; i++) {
    const double median = window_median(x + n - i * window, window);
    if (!isfinite(median)) return false;
    low = fmin(low, median);
    high = fmax(high, median);
  }
  return high - low <= noise * low;
}
