/* The choice. A time bound is met if the whole interval meets it; a candidate whose interval
 * contains the bound is "unsure" and not chosen. Among candidates tied with the best one and at
 * most TIE_MOST worse by their figures, the one with the smallest memory is chosen, then the
 * smallest size: if speed does not decide, cost does. A tied candidate with a worse figure than
 * that has few samples, and is not chosen.
 */
#include "advise.h"

#include <math.h>

#define TIE_MOST 1.03 /* the resolution that studies aim for: docs/understand/measuring.md */

static double bytes(int64_t n) { return n >= 0 ? (double)n : (double)NAN; }

/* The share of the reference's accuracy on a labelled set; without labels the share of rows
   whose largest output is the reference's, or the cosine if the model has no such rows. */
static double agreement(const struct record *r) {
  if (isfinite(r->worst.accuracy_retention)) return r->worst.accuracy_retention;
  return isfinite(r->worst.top1) ? r->worst.top1 : r->worst.cosine;
}

#define CONSTRAINT(name, title, amount, unit, more, expression) \
  static double value_of_##name(const struct record *r) { return expression; }
#include "constraints.def"
#undef CONSTRAINT

const struct constraint_kind constraint_kinds[CONSTRAINT_COUNT] = {
#define CONSTRAINT(name, title, amount, unit, more, expression) \
  {#name, title, amount, unit, more, value_of_##name},
#include "constraints.def"
#undef CONSTRAINT
};

void constraints_init(struct constraints *constraints) {
  for (int d = 0; d < CONSTRAINT_COUNT; d++) constraints->bound[d] = NAN;
  constraints->objective = CONSTRAINT_latency;
}

/* Latency, throughput and energy have an interval; of other values it is the value itself. */
static struct interval range_of(const struct record *r, enum constraint_id id) {
  const double x = constraint_kinds[id].value(r);
  struct interval range = {x, x, x};
  if (id == CONSTRAINT_latency && isfinite(r->p50_lo_ms)) {
    range.low = r->p50_lo_ms;
    range.high = r->p50_hi_ms;
  } else if (id == CONSTRAINT_throughput && r->p50_lo_ms > 0) {
    range.low = x * r->p50_ms / r->p50_hi_ms;
    range.high = x * r->p50_ms / r->p50_lo_ms;
  } else if (id == CONSTRAINT_energy && isfinite(r->energy_lo_mj)) {
    range.low = r->energy_lo_mj;
    range.high = r->energy_hi_mj;
  }
  return range;
}

static enum bound_state check_bound(const struct record *r, const struct constraints *d,
                                    enum constraint_id id) {
  const double bound = d->bound[id];
  const struct interval range = range_of(r, id);
  if (isnan(bound)) return BOUND_HELD;
  /* an unknown value meets no bound, except that a longer round may measure the accuracy */
  if (isnan(range.value)) return id == CONSTRAINT_accuracy ? BOUND_UNSURE : BOUND_MISSED;
  if (constraint_kinds[id].is_more_better)
    return range.low >= bound ? BOUND_HELD : range.high >= bound ? BOUND_UNSURE : BOUND_MISSED;
  return range.high <= bound ? BOUND_HELD : range.low <= bound ? BOUND_UNSURE : BOUND_MISSED;
}

static bool is_candidate(const struct record *r) {
  return r->status == STATUS_ok && r->config.label == 0 && isfinite(r->p50_ms);
}

/* The worst state of all bounds. */
static enum bound_state check_all(const struct record *r, const struct constraints *d,
                                  enum bound_state out[CONSTRAINT_COUNT]) {
  enum bound_state worst = BOUND_HELD;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) {
    out[id] = check_bound(r, d, (enum constraint_id)id);
    if (out[id] > worst) worst = out[id];
  }
  return worst;
}

/* By which factor one candidate is better than another. */
struct margin {
  struct interval by;
  enum verdict verdict; /* on the other one: slower if it is significantly worse */
};

static bool is_by_slices(enum constraint_id id) {
  return id == CONSTRAINT_latency || id == CONSTRAINT_throughput || id == CONSTRAINT_energy;
}

/* The verdict on values of slices is verdict_of's. Values that were seen once, such as sizes,
   differ or are equal. */
static struct margin judge(const struct summary *s, size_t a, size_t b, enum constraint_id id,
                           struct interval by) {
  const enum verdict seen = isnan(by.value) ? VERDICT_undecided
                            : by.low > 1    ? VERDICT_slower
                            : by.high < 1   ? VERDICT_faster
                                            : VERDICT_tie;
  const enum verdict verdict = verdict_of(&s->records[b], &s->records[a], &by, NULL);
  if (!is_by_slices(id)) return (struct margin){by, seen};
  /* verdict_of's overhead is a time: for energy only its interval counts */
  return (struct margin){by,
                         id == CONSTRAINT_energy && verdict != VERDICT_undecided ? seen : verdict};
}

static enum verdict swapped(enum verdict verdict) {
  return verdict == VERDICT_slower   ? VERDICT_faster
         : verdict == VERDICT_faster ? VERDICT_slower
                                     : verdict;
}

/* From the study's paired slices and verdict if it has them, else from the intervals of the two
   candidates. */
static struct margin margin_of(const struct summary *s, size_t a, size_t b, enum constraint_id id) {
  const struct interval x = range_of(&s->records[a], id), y = range_of(&s->records[b], id);
  const struct comparison *pair = find_comparison(s, b, a), *reversed = find_comparison(s, a, b);
  const bool by_time =
      id == CONSTRAINT_latency ||
      (id == CONSTRAINT_throughput && s->records[a].config.batch == s->records[b].config.batch);
  if (by_time && pair && isfinite(pair->ratio.value))
    return (struct margin){pair->ratio, pair->verdict};
  if (by_time && reversed && reversed->ratio.low > 0)
    return (struct margin){
        {1 / reversed->ratio.value, 1 / reversed->ratio.high, 1 / reversed->ratio.low},
        swapped(reversed->verdict)};
  const bool is_more = constraint_kinds[id].is_more_better;
  const struct interval by =
      is_more ? (struct interval){x.value / y.value, x.low / y.high, x.high / y.low}
              : (struct interval){y.value / x.value, y.low / x.high, y.high / x.low};
  return judge(s, a, b, id, by);
}

static bool is_proven_worse(const struct summary *s, size_t a, size_t b, enum constraint_id id) {
  return margin_of(s, a, b, id).verdict == VERDICT_slower;
}

static bool is_smaller(const struct record *a, const struct record *b) {
  static const enum constraint_id costs[] = {CONSTRAINT_memory, CONSTRAINT_size};
  for (size_t i = 0; i < COUNT(costs); i++) {
    const double x = constraint_kinds[costs[i]].value(a), y = constraint_kinds[costs[i]].value(b);
    if (isfinite(x) && isfinite(y) && x != y) return x < y;
  }
  return false;
}

#define OF(status) (1u << CANDIDATE_##status)
/* May be as good as the choice. */
#define POSSIBLY_BEST (OF(tied) | OF(undecided))

static bool is_one_of(const struct advice *a, size_t i, unsigned statuses) {
  return statuses >> a->at[i].status & 1;
}

/* The one with the best figure among candidates of some statuses; SIZE_MAX: none. */
static size_t best_of(const struct summary *s, const struct constraints *d, const struct advice *a,
                      unsigned statuses, size_t without) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < s->record_count; i++) {
    if (!is_one_of(a, i, statuses) || i == without) continue;
    if (isnan(constraint_kinds[d->objective].value(&s->records[i]))) continue;
    if (best == SIZE_MAX || margin_of(s, i, best, d->objective).by.value > 1) best = i;
  }
  return best;
}

static bool is_hybrid(const struct record *r) { return !strcmp(r->config.backend, "hybrid"); }

/* A hybrid is more to ship and to maintain: it is not chosen unless it is proven better than
   every single engine that meets the bounds. */
static void exclude_unproven_hybrids(const struct summary *s, const struct constraints *d,
                                     struct advice *a) {
  bool has_single = false;
  for (size_t i = 0; i < s->record_count; i++)
    has_single |= a->at[i].status != CANDIDATE_invalid && !is_hybrid(&s->records[i]);
  for (size_t h = 0; h < s->record_count; h++) {
    if (a->at[h].status != CANDIDATE_behind || !is_hybrid(&s->records[h])) continue;
    if (!has_single) a->at[h].status = CANDIDATE_unproven;
    for (size_t i = 0; i < s->record_count && a->at[h].status == CANDIDATE_behind; i++) {
      if (a->at[i].status != CANDIDATE_behind || is_hybrid(&s->records[i])) continue;
      if (!is_proven_worse(s, h, i, d->objective)) a->at[h].status = CANDIDATE_unproven;
    }
  }
}

/* An excluded hybrid that is proven worse than the choice is not called unproven. */
static void mark_worse_hybrids(const struct summary *s, const struct constraints *d,
                               struct advice *a) {
  for (size_t h = 0; h < s->record_count; h++)
    if (a->at[h].status == CANDIDATE_unproven && is_proven_worse(s, a->choice, h, d->objective))
      a->at[h].status = CANDIDATE_behind;
}

static double regret_of(const struct summary *s, const struct constraints *d,
                        const struct advice *a) {
  double regret = 0;
  for (size_t i = 0; i < s->record_count; i++) {
    if (!is_one_of(a, i, POSSIBLY_BEST | OF(unproven))) continue;
    const double low = margin_of(s, a->choice, i, d->objective).by.low;
    regret = fmax(regret, low > 0 ? 1 / low - 1 : INFINITY);
  }
  return regret;
}

static void choose_best(const struct summary *s, const struct constraints *d, struct advice *a) {
  exclude_unproven_hybrids(s, d, a);
  const size_t fastest = best_of(s, d, a, OF(behind), SIZE_MAX);
  if (fastest == SIZE_MAX) return;
  a->choice = fastest;
  for (size_t i = 0; i < s->record_count; i++) {
    if (i == fastest || a->at[i].status != CANDIDATE_behind) continue;
    if (isnan(constraint_kinds[d->objective].value(&s->records[i])))
      continue; /* an unknown value is not a tie */
    const struct margin margin = margin_of(s, fastest, i, d->objective);
    if (margin.verdict == VERDICT_slower) continue;
    a->at[i].status = margin.verdict == VERDICT_undecided ? CANDIDATE_undecided : CANDIDATE_tied;
    if (margin.by.value <= TIE_MOST && is_smaller(&s->records[i], &s->records[a->choice]))
      a->choice = i;
  }
  a->is_by_cost = a->choice != fastest;
  if (a->is_by_cost) a->at[fastest].status = a->at[a->choice].status;
  a->at[a->choice].status = CANDIDATE_chosen;
  mark_worse_hybrids(s, d, a);
  a->regret = regret_of(s, d, a);
  a->runner_up = best_of(s, d, a, POSSIBLY_BEST, a->choice);
  if (a->runner_up == SIZE_MAX) a->runner_up = best_of(s, d, a, OF(behind), a->choice);
  if (a->runner_up == SIZE_MAX) return;
  const struct margin margin = margin_of(s, a->choice, a->runner_up, d->objective);
  a->ratio = margin.by;
  a->is_decided = margin.verdict == VERDICT_slower;
  if (a->at[a->runner_up].status == CANDIDATE_behind)
    a->at[a->runner_up].status = CANDIDATE_runner_up;
}

/* The one bound without which most candidates would meet the others. */
static void find_binding(const struct summary *s, const struct constraints *d, struct advice *a) {
  size_t most = 0;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) {
    struct constraints without = *d;
    size_t qualified = 0;
    double needed = NAN;
    if (isnan(d->bound[id])) continue;
    without.bound[id] = NAN;
    for (size_t i = 0; i < s->record_count; i++) {
      enum bound_state unused[CONSTRAINT_COUNT];
      if (!is_candidate(&s->records[i]) || check_all(&s->records[i], &without, unused)) continue;
      if (!check_bound(&s->records[i], d, (enum constraint_id)id)) continue;
      const struct interval range = range_of(&s->records[i], (enum constraint_id)id);
      const double x = constraint_kinds[id].is_more_better ? range.low : range.high;
      if (isnan(x)) continue;
      qualified++;
      if (isnan(needed) || (constraint_kinds[id].is_more_better ? x > needed : x < needed))
        needed = x;
    }
    if (qualified > most) most = qualified, a->binding = (enum constraint_id)id, a->needed = needed;
  }
}

/* The factor by which a candidate misses a bound (1: it meets it), and the bound that it would
   meet. */
static double missed_by(const struct record *r, const struct constraints *d, enum constraint_id id,
                        double *out_figure) {
  const struct interval range = range_of(r, id);
  const bool is_more_better = constraint_kinds[id].is_more_better;
  const double bound = d->bound[id], x = is_more_better ? range.low : range.high;
  const double least = 1e-12; /* so that a bound or value of 0 gives a large factor, not infinity */
  *out_figure = x;
  if (isnan(bound)) return 1;
  if (isnan(x)) return INFINITY;
  return fmax(1, is_more_better ? bound / fmax(x, least) : x / fmax(bound, least));
}

/* If no single bound is the reason: the candidate that misses its worst bound by the smallest
   factor. */
static void find_nearest(const struct summary *s, const struct constraints *d, struct advice *a) {
  double best = INFINITY, figure;
  for (size_t i = 0; i < s->record_count; i++) {
    double worst = 1;
    if (!is_candidate(&s->records[i])) continue;
    for (int id = 0; id < CONSTRAINT_COUNT; id++)
      worst = fmax(worst, missed_by(&s->records[i], d, (enum constraint_id)id, &figure));
    if (worst < best) best = worst, a->nearest = i;
  }
  for (int id = 0; id < CONSTRAINT_COUNT && a->nearest != SIZE_MAX; id++)
    if (missed_by(&s->records[a->nearest], d, (enum constraint_id)id, &figure) > 1)
      a->needs[id] = figure;
}

hone_status advise_choose(struct ctx *ctx, struct arena *arena, const struct summary *summary,
                          const struct constraints *constraints, struct advice *out) {
  *out = (struct advice){.record_count = summary->record_count,
                         .choice = SIZE_MAX,
                         .runner_up = SIZE_MAX,
                         .binding = CONSTRAINT_COUNT,
                         .needed = NAN,
                         .nearest = SIZE_MAX};
  for (int id = 0; id < CONSTRAINT_COUNT; id++) out->needs[id] = NAN;
  TRY(NEW_ARRAY(ctx, arena, out->at, summary->record_count));
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct record *r = &summary->records[i];
    struct candidate_state *at = &out->at[i];
    at->status = CANDIDATE_invalid;
    if (!is_candidate(r)) continue;
    const enum bound_state state = check_all(r, constraints, at->bounds);
    at->status = state == BOUND_HELD     ? CANDIDATE_behind
                 : state == BOUND_UNSURE ? CANDIDATE_unsure
                                         : CANDIDATE_out;
  }
  choose_best(summary, constraints, out);
  if (out->choice == SIZE_MAX) find_binding(summary, constraints, out);
  if (out->choice == SIZE_MAX && out->binding == CONSTRAINT_COUNT)
    find_nearest(summary, constraints, out);
  return HONE_OK;
}
