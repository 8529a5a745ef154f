/* Scale and zero point of a value from its observations. Ranges contain 0, so that padding and Relu
 * are exact. minmax: the full range. percentile: all but one in ten thousand. mse: the clipped
 * range with the smallest mean squared error by the bins (E. Park et al., CVPR 2017; M. Nagel et
 * al., arXiv 2106.08295, section 3.1).
 */
#include "quantise_internal.h"

#include <math.h>

#define STEPS 255.0
#define PERCENTILE 0.9999
#define CUTS 24 /* clipped ranges that mse tries per end, down to a quarter */

const char *const range_method_names[] = {"minmax", "percentile", "mse"};

static double bin_width(const struct scaled *v) { return (v->high - v->low) / RANGE_BINS; }

/* Clips at most the allowed number of elements, half of them on each side. */
static void percentile(const struct scaled *v, double *low, double *high) {
  double all = v->zeros, left = 0, right = 0;
  size_t first = 0, last = RANGE_BINS;
  for (size_t b = 0; b < RANGE_BINS; b++) all += v->bins[b];
  const double most = (1 - PERCENTILE) * all / 2;
  while (first < last && left + v->bins[first] <= most) left += v->bins[first++];
  while (last > first && right + v->bins[last - 1] <= most) right += v->bins[--last];
  *low = fmin(0, v->low + (double)first * bin_width(v));
  *high = fmax(0, v->low + (double)last * bin_width(v));
}

/* Sum of squared errors: inside, a uniform error within a step; outside, the distance to the
   bound. */
static double squared_error(const struct scaled *v, double low, double high) {
  const double step = (high - low) / STEPS, inside = step * step / 12, width = bin_width(v);
  double sum = 0;
  for (size_t b = 0; b < RANGE_BINS; b++) {
    const double x = v->low + ((double)b + 0.5) * width;
    const double off = x < low ? low - x : x > high ? x - high : 0;
    sum += v->bins[b] * (off > 0 ? off * off : inside);
  }
  return sum;
}

static void least_squares(const struct scaled *v, double *low, double *high) {
  const double full_low = *low, full_high = *high;
  double best = squared_error(v, full_low, full_high);
  for (int l = 0; l < CUTS; l++)
    for (int h = 0; h < CUTS; h++) {
      const double at_low = full_low * (1 - 0.75 * l / CUTS);
      const double at_high = full_high * (1 - 0.75 * h / CUTS);
      const double error = squared_error(v, at_low, at_high);
      if (error < best) best = error, *low = at_low, *high = at_high;
      if (full_high <= 0) break;
      if (full_low >= 0 && l) return;
    }
}

static void choose(struct scaled *v, enum range_method method) {
  double low = fmin(0, v->low), high = fmax(0, v->high);
  if (method != RANGE_MINMAX && high > low) {
    if (method == RANGE_PERCENTILE)
      percentile(v, &low, &high);
    else
      least_squares(v, &low, &high);
  }
  if (high - low < 1e-30) high = low + 1; /* all zero */
  v->scale = (double)(float)((high - low) / STEPS);
  v->zero = fmin(STEPS, fmax(0, rint(-low / v->scale)));
}

void ranges_choose(struct sites *sites, enum range_method method) {
  for (size_t i = 0; i < sites->graph->values.count; i++)
    if (sites->values[i].is_observed) choose(&sites->values[i], method);
  for (size_t i = 0; i < sites->graph->values.count; i++) {
    const struct scaled *root = &sites->values[sites->values[i].root];
    sites->values[i].scale = root->scale;
    sites->values[i].zero = root->zero;
  }
}
