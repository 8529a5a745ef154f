/* How well a model predicts a text, compared with a reference: perplexity, and the Kullback-Leibler divergence of the
 * reference's distributions of the next token from the model's.
 */
#include <math.h>

#include "metrics.h"

/* log(sum(exp(x))) */
static double log_sum(const float *x, int64_t count) {
  double top = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++) top = fmax(top, (double)x[i]);
  for (int64_t i = 0; i < count; i++) sum += exp((double)x[i] - top);
  return top + log(sum);
}

static bool has_unknown(const float *x, int64_t count) {
  bool has_any = false;
  for (int64_t i = 0; i < count; i++) has_any |= isnan(x[i]);
  return has_any;
}

/* Rounding of a sum of float probabilities. */
#define LEAST_REST 1e-7

static int64_t top_of(const float *x, int64_t count) {
  int64_t top = 0;
  for (int64_t i = 1; i < count; i++)
    if (x[i] > x[top]) top = i;
  return top;
}

void text_score_add(const float *wanted, const float *got, int64_t count, int64_t next,
                    struct text_score *s) {
  const bool is_whole = !has_unknown(got, count);
  const double wanted_sum = log_sum(wanted, count), sum = is_whole ? log_sum(got, count) : 0;
  double divergence = 0, wanted_rest = 0, rest = 1;
  for (int64_t i = 0; i < count; i++) {
    const double p = (double)wanted[i] - wanted_sum, q = (double)got[i] - sum;
    if (isnan(q)) {
      wanted_rest += exp(p);
      continue;
    }
    divergence += exp(p) * (p - q);
    rest -= exp(q);
  }
  if (wanted_rest > 0) divergence += wanted_rest * (log(wanted_rest) - log(fmax(rest, LEAST_REST)));
  s->tokens++;
  s->reference_perplexity += wanted_sum - (double)wanted[next];
  s->perplexity += sum - (double)got[next];
  s->divergence += divergence;
  s->largest_divergence = fmax(s->largest_divergence, divergence);
  s->agreement += top_of(wanted, count) == top_of(got, count);
}

void text_score_add_next(const float *wanted, int64_t count, int64_t next, double log_probability,
                         struct text_score *s) {
  s->tokens++;
  s->reference_perplexity += log_sum(wanted, count) - (double)wanted[next];
  s->perplexity -= log_probability;
  s->divergence = s->largest_divergence = s->agreement = NAN;
}

hone_status text_score_finish(struct ctx *ctx, struct text_score *s) {
  if (!s->tokens)
    return fail(ctx, HONE_E_USAGE, place_name("the text"), "has fewer than two tokens");
  const double n = (double)s->tokens;
  s->perplexity = exp(s->perplexity / n);
  s->reference_perplexity = exp(s->reference_perplexity / n);
  s->divergence /= n;
  s->agreement /= n;
  return isfinite(s->perplexity) && !isinf(s->divergence)
             ? HONE_OK
             : fail(ctx, HONE_E_NUM, place_name("logits"), "are not finite");
}
