/* Dynamic sizes: how a dimension depends on them. */
#include "graph.h"

bool slope_is_zero(const struct slope *slope) {
  for (int k = 0; k < HONE_MAX_SIZES; k++)
    if (slope->of[k]) return false;
  return true;
}

bool slope_equal(const struct slope *a, const struct slope *b) {
  return !memcmp(a->of, b->of, sizeof a->of);
}

struct slope slope_times(const struct slope *slope, int64_t factor) {
  struct slope out = *slope;
  for (int k = 0; k < HONE_MAX_SIZES; k++) out.of[k] *= factor;
  return out;
}

struct slope slope_plus(const struct slope *a, const struct slope *b) {
  struct slope out = *a;
  for (int k = 0; k < HONE_MAX_SIZES; k++) out.of[k] += b->of[k];
  return out;
}

int64_t slope_loss(const struct slope *slope, const int64_t less[HONE_MAX_SIZES]) {
  int64_t loss = 0;
  for (int k = 0; k < HONE_MAX_SIZES; k++) loss += slope->of[k] * less[k];
  return loss;
}

bool derived_less(const struct derived_size *size, const int64_t less[HONE_MAX_SIZES],
                  int64_t *out) {
  const int64_t a = size->a - slope_loss(&size->a_slope, less);
  const int64_t b = size->b - slope_loss(&size->b_slope, less);
  if (a < 0 || b < 0) return false;
  *out = size->bound - a * b / size->divisor;
  return true;
}

bool symbols_complete(const struct symbols *symbols, int64_t less[HONE_MAX_SIZES]) {
  for (size_t j = 0; j < symbols->derived_count; j++)
    if (!derived_less(&symbols->derived[j], less, &less[HONE_MAX_SYMBOLS + j])) return false;
  return true;
}

void symbols_print(struct strbuf *text, const struct symbols *symbols, const int64_t *sizes) {
  for (size_t k = 0; k < symbols->count; k++)
    strbuf_printf(text, "%s%s = %lld", k ? ", " : "", symbols->at[k].name, (long long)sizes[k]);
}
