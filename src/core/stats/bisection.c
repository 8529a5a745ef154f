/* bisection: finds the first bad one of n + 1 consecutive states with a noisy test.
 *
 * State 0 is good, state n bad. The posterior over the first bad state starts uniform and is
 * updated by each answer; the next question is the state that splits it most evenly (Ben-Or &
 * Hassidim, FOCS 2008). Without errors this is git bisect; with errors a state near the boundary is
 * tested again until the answer is certain enough. */
#include "stats.h"

#include <math.h>

hone_status bisection_begin(struct ctx *ctx, struct arena *arena, size_t n, double error,
                            struct bisection *out) {
  *out = (struct bisection){.count = n, .error = error};
  if (!n || !(error >= 0 && error < 0.5))
    return fail(ctx, HONE_E_INTERNAL, place_none(), "a bisection of %zu states with error %g", n,
                error);
  TRY(NEW_ARRAY(ctx, arena, out->weight, n + 1));
  TRY(NEW_ARRAY(ctx, arena, out->is_skipped, n + 1));
  for (size_t k = 1; k <= n; k++) out->weight[k] = 1 / (double)n;
  return HONE_OK;
}

size_t bisection_next(const struct bisection *b) {
  double bad = 0, best = 2;
  size_t next = 0;
  for (size_t i = 1; i < b->count; i++) {
    bad += b->weight[i]; /* probability that state i is bad */
    if (b->is_skipped[i] || bad <= 0 || bad >= 1) continue;
    if (fabs(bad - 0.5) < best) best = fabs(bad - 0.5), next = i;
  }
  return best < 0.5 - 1e-12 ? next : 0;
}

void bisection_answer(struct bisection *b, size_t i, bool is_bad) {
  double sum = 0;
  for (size_t k = 1; k <= b->count; k++) {
    b->weight[k] *= (i >= k) == is_bad ? 1 - b->error : b->error;
    sum += b->weight[k];
  }
  for (size_t k = 1; k <= b->count; k++) b->weight[k] /= sum > 0 ? sum : 1;
  b->answers++;
}

void bisection_skip(struct bisection *b, size_t i) { b->is_skipped[i] = true; }

size_t bisection_best(const struct bisection *b, double *out_share) {
  size_t best = 1;
  for (size_t k = 2; k <= b->count; k++)
    if (b->weight[k] > b->weight[best]) best = k;
  *out_share = b->weight[best];
  return best;
}

/* Skipped states cannot be distinguished from the next tested one. */
void bisection_range(const struct bisection *b, size_t at, size_t *out_low, size_t *out_high) {
  *out_low = *out_high = at;
  while (*out_low > 1 && b->is_skipped[*out_low - 1]) --*out_low;
  while (*out_high < b->count && b->is_skipped[*out_high]) ++*out_high;
}
