/* change_points: when a series of figures changed its level.
 *
 * In: figures in chronological order. Out: the first figure of each new level. E-divisive with
 * means of distances (Matteson & James, A Nonparametric Approach for Multiple Change Point Analysis
 * of Multivariate Data, JASA 2014; used for performance series: Daly et al., The Use of Change
 * Point Detection to Identify Software Performance Regressions, ICPE 2020): a segment is cut where
 * the energy distance of its two sides is largest, if fewer than a share `significance` of seeded
 * permutations of the segment reach that distance. No distribution is assumed; an outlier is one
 * figure, not a level. The same figures and seed give the same cuts. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

enum { PERMUTATIONS = 499, LEAST_SIDE = 2 };

struct cut {
  size_t at; /* first of the right side; 0: none */
  double energy;
};

/* Moves one figure at a time from the right side to the left, updating the three sums of
 * distances. */
static struct cut best_cut(const double *x, size_t n) {
  struct cut best = {0, -INFINITY};
  double left = 0, right = 0, across = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t k = i + 1; k < n; k++) right += fabs(x[i] - x[k]);
  for (size_t at = 1; at + LEAST_SIDE <= n; at++) {
    double to_left = 0, to_right = 0;
    for (size_t k = 0; k + 1 < at; k++) to_left += fabs(x[at - 1] - x[k]);
    for (size_t k = at; k < n; k++) to_right += fabs(x[at - 1] - x[k]);
    left += to_left;
    right -= to_right;
    across += to_right - to_left;
    if (at < LEAST_SIDE) continue;
    const double a = (double)at, b = (double)(n - at);
    const double energy =
        a * b / (a + b) *
        (2 * across / (a * b) - left / (a * (a - 1) / 2) - right / (b * (b - 1) / 2));
    if (energy > best.energy) best = (struct cut){at, energy};
  }
  return best;
}

static void shuffle(struct random *random, double *x, size_t n) {
  for (size_t i = n; i > 1; i--) {
    const size_t k = (size_t)random_below(random, i);
    const double swapped = x[i - 1];
    x[i - 1] = x[k];
    x[k] = swapped;
  }
}

/* Stops as soon as the answer is determined. */
static bool is_significant(const double *x, size_t n, double energy, double significance,
                           struct random *random, double *scratch) {
  const int allowed = (int)floor(significance * (PERMUTATIONS + 1)) - 1;
  int as_good = 0;
  memcpy(scratch, x, n * sizeof *x);
  for (int i = 0; i < PERMUTATIONS && as_good <= allowed; i++) {
    shuffle(random, scratch, n);
    as_good += best_cut(scratch, n).energy >= energy;
  }
  return as_good <= allowed;
}

static double median_in(const double *x, size_t n, double *scratch) {
  memcpy(scratch, x, n * sizeof *x);
  sort_doubles(scratch, n);
  return n % 2 ? scratch[n / 2] : (scratch[n / 2 - 1] + scratch[n / 2]) / 2;
}

/* Segments are cut from left to right; `ends` is the stack of segments still to be examined. */
static size_t find_cuts(const double *x, size_t n, double significance, struct random *random,
                        double *scratch, size_t *ends, size_t *cuts) {
  size_t depth = 1, count = 0, begin = 0;
  ends[0] = n;
  while (depth) {
    const size_t end = ends[depth - 1];
    const struct cut cut =
        end - begin >= 2 * LEAST_SIDE ? best_cut(x + begin, end - begin) : (struct cut){0, 0};
    if (cut.at && cut.energy > 0 &&
        is_significant(x + begin, end - begin, cut.energy, significance, random, scratch)) {
      ends[depth++] = begin + cut.at;
      continue;
    }
    depth--;
    if (depth) cuts[count++] = end;
    begin = end;
  }
  return count;
}

hone_status change_points(struct ctx *ctx, struct arena *arena, const double *x, size_t n,
                          double significance, uint64_t seed, struct change_point **out,
                          size_t *out_count) {
  double *scratch;
  size_t *ends, *cuts;
  struct random random;
  *out_count = 0;
  if (n > CHANGE_POINTS_MAX)
    return fail(ctx, HONE_E_LIMIT, place_none(), "%zu figures in a series, at most %d", n,
                CHANGE_POINTS_MAX);
  random_init(&random, seed);
  TRY(NEW_ARRAY(ctx, arena, scratch, n));
  TRY(NEW_ARRAY(ctx, arena, ends, n + 1));
  TRY(NEW_ARRAY(ctx, arena, cuts, n + 1));
  const size_t count = find_cuts(x, n, significance, &random, scratch, ends, cuts);
  TRY(NEW_ARRAY(ctx, arena, *out, count));
  for (size_t i = 0; i < count; i++) {
    const size_t before = i ? cuts[i - 1] : 0, after = i + 1 < count ? cuts[i + 1] : n;
    (*out)[i] = (struct change_point){
        .at = cuts[i],
        .before = median_in(x + before, cuts[i] - before, scratch),
        .after = median_in(x + cuts[i], after - cuts[i], scratch),
    };
  }
  *out_count = count;
  return HONE_OK;
}
