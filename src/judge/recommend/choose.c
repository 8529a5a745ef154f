/* The choice. A bound on time holds when the whole interval holds it; a row whose interval contains the bound is
 * "unsure" and not chosen while another is sure. Of rows that cannot be told apart from the best one and were seen at most
 * TIE_MOST behind it, the one with the smallest memory wins, then the smallest size: where speed does not decide, cost does.
 * Few samples tell little apart: a row that was seen farther behind is tied, but no better bet.
 */
#include "advise.h"

#include <math.h>

#define TIE_MOST 1.03 /* the resolution that studies aim at: docs/understand/measuring.md */

static double bytes(int64_t n) { return n >= 0 ? (double)n : (double)NAN; }

/* What is left of the reference's accuracy on a labelled set; else the share of rows whose largest output is the reference's,
   and the cosine where a model has no such rows. */
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

/* The interval of a figure: latency, what follows from it and energy have one, the rest is what was seen. */
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
  /* what nobody knows holds no bound; accuracy is found out by a longer look */
  if (isnan(range.value)) return id == CONSTRAINT_accuracy ? BOUND_UNSURE : BOUND_MISSED;
  if (constraint_kinds[id].is_more_better)
    return range.low >= bound ? BOUND_HELD : range.high >= bound ? BOUND_UNSURE : BOUND_MISSED;
  return range.high <= bound ? BOUND_HELD : range.low <= bound ? BOUND_UNSURE : BOUND_MISSED;
}

static bool is_candidate(const struct record *r) {
  return r->status == STATUS_ok && r->config.label == 0 && isfinite(r->p50_ms);
}

/* The worst of all bounds. */
static enum bound_state check_all(const struct record *r, const struct constraints *d,
                                  enum bound_state out[CONSTRAINT_COUNT]) {
  enum bound_state worst = BOUND_HELD;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) {
    out[id] = check_bound(r, d, (enum constraint_id)id);
    if (out[id] > worst) worst = out[id];
  }
  return worst;
}

/* How many times better one row is than another. */
struct lead {
  struct interval by;
  enum verdict verdict; /* of the other one: slower where it is proven to be behind */
};

static bool is_by_slices(enum constraint_id id) {
  return id == CONSTRAINT_latency || id == CONSTRAINT_throughput || id == CONSTRAINT_energy;
}

/* By a study's rule where the figures are of slices. What was seen once, as a size, differs or not. */
static struct lead judge(const struct summary *s, size_t a, size_t b, enum constraint_id id,
                         struct interval by) {
  const enum verdict seen = isnan(by.value) ? VERDICT_undecided
                            : by.low > 1    ? VERDICT_slower
                            : by.high < 1   ? VERDICT_faster
                                            : VERDICT_tie;
  const enum verdict verdict = verdict_of(&s->records[b], &s->records[a], &by, NULL);
  if (!is_by_slices(id)) return (struct lead){by, seen};
  /* floors are of times */
  return (struct lead){by,
                       id == CONSTRAINT_energy && verdict != VERDICT_undecided ? seen : verdict};
}

static enum verdict turn(enum verdict verdict) {
  return verdict == VERDICT_slower   ? VERDICT_faster
         : verdict == VERDICT_faster ? VERDICT_slower
                                     : verdict;
}

/* By slices side by side, with the study's verdict, where there are such; else by the two rows' own intervals. */
static struct lead lead_of(const struct summary *s, size_t a, size_t b, enum constraint_id id) {
  const struct interval x = range_of(&s->records[a], id), y = range_of(&s->records[b], id);
  const struct comparison *pair = find_comparison(s, b, a), *turned = find_comparison(s, a, b);
  const bool by_time =
      id == CONSTRAINT_latency ||
      (id == CONSTRAINT_throughput && s->records[a].config.batch == s->records[b].config.batch);
  if (by_time && pair && isfinite(pair->ratio.value))
    return (struct lead){pair->ratio, pair->verdict};
  if (by_time && turned && turned->ratio.low > 0)
    return (struct lead){{1 / turned->ratio.value, 1 / turned->ratio.high, 1 / turned->ratio.low},
                         turn(turned->verdict)};
  const bool is_more = constraint_kinds[id].is_more_better;
  const struct interval by =
      is_more ? (struct interval){x.value / y.value, x.low / y.high, x.high / y.low}
              : (struct interval){y.value / x.value, y.low / x.high, y.high / x.low};
  return judge(s, a, b, id, by);
}

static bool is_behind(const struct summary *s, size_t a, size_t b, enum constraint_id id) {
  return lead_of(s, a, b, id).verdict == VERDICT_slower;
}

static bool is_smaller(const struct record *a, const struct record *b) {
  static const enum constraint_id costs[] = {CONSTRAINT_memory, CONSTRAINT_size};
  for (size_t i = 0; i < COUNT(costs); i++) {
    const double x = constraint_kinds[costs[i]].value(a), y = constraint_kinds[costs[i]].value(b);
    if (isfinite(x) && isfinite(y) && x != y) return x < y;
  }
  return false;
}

#define OF(standing) (1u << STANDING_##standing)
/* Rows that may be as good as the choice. */
#define OPEN (OF(tied) | OF(undecided))

static bool is_one_of(const struct advice *a, size_t i, unsigned standings) {
  return standings >> a->at[i].standing & 1;
}

/* The best by its figure among records of some standings; SIZE_MAX: none. */
static size_t best_of(const struct summary *s, const struct constraints *d, const struct advice *a,
                      unsigned standings, size_t without) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < s->record_count; i++) {
    if (!is_one_of(a, i, standings) || i == without) continue;
    if (isnan(constraint_kinds[d->objective].value(&s->records[i]))) continue;
    if (best == SIZE_MAX || lead_of(s, i, best, d->objective).by.value > 1) best = i;
  }
  return best;
}

static bool is_hybrid(const struct record *r) { return !strcmp(r->config.backend, "hybrid"); }

/* Parts on several engines are more to ship and to keep: they stand back unless they are proven better than every
   engine alone that holds the bounds. */
static void hold_back_unproven(const struct summary *s, const struct constraints *d,
                               struct advice *a) {
  bool has_single = false;
  for (size_t i = 0; i < s->record_count; i++)
    has_single |= a->at[i].standing != STANDING_invalid && !is_hybrid(&s->records[i]);
  for (size_t h = 0; h < s->record_count; h++) {
    if (a->at[h].standing != STANDING_behind || !is_hybrid(&s->records[h])) continue;
    if (!has_single) a->at[h].standing = STANDING_unproven;
    for (size_t i = 0; i < s->record_count && a->at[h].standing == STANDING_behind; i++) {
      if (a->at[i].standing != STANDING_behind || is_hybrid(&s->records[i])) continue;
      if (!is_behind(s, h, i, d->objective)) a->at[h].standing = STANDING_unproven;
    }
  }
}

/* What is proven to be behind the choice is simply behind. */
static void sort_unproven(const struct summary *s, const struct constraints *d, struct advice *a) {
  for (size_t h = 0; h < s->record_count; h++)
    if (a->at[h].standing == STANDING_unproven && is_behind(s, a->choice, h, d->objective))
      a->at[h].standing = STANDING_behind;
}

static double regret_of(const struct summary *s, const struct constraints *d,
                        const struct advice *a) {
  double regret = 0;
  for (size_t i = 0; i < s->record_count; i++) {
    if (!is_one_of(a, i, OPEN | OF(unproven))) continue;
    const double low = lead_of(s, a->choice, i, d->objective).by.low;
    regret = fmax(regret, low > 0 ? 1 / low - 1 : INFINITY);
  }
  return regret;
}

static void settle(const struct summary *s, const struct constraints *d, struct advice *a) {
  hold_back_unproven(s, d, a);
  const size_t fastest = best_of(s, d, a, OF(behind), SIZE_MAX);
  if (fastest == SIZE_MAX) return;
  a->choice = fastest;
  for (size_t i = 0; i < s->record_count; i++) {
    if (i == fastest || a->at[i].standing != STANDING_behind) continue;
    if (isnan(constraint_kinds[d->objective].value(&s->records[i])))
      continue; /* not known: no tie */
    const struct lead lead = lead_of(s, fastest, i, d->objective);
    if (lead.verdict == VERDICT_slower) continue;
    a->at[i].standing = lead.verdict == VERDICT_undecided ? STANDING_undecided : STANDING_tied;
    if (lead.by.value <= TIE_MOST && is_smaller(&s->records[i], &s->records[a->choice]))
      a->choice = i;
  }
  a->is_by_cost = a->choice != fastest;
  if (a->is_by_cost) a->at[fastest].standing = a->at[a->choice].standing;
  a->at[a->choice].standing = STANDING_chosen;
  sort_unproven(s, d, a);
  a->regret = regret_of(s, d, a);
  a->runner_up = best_of(s, d, a, OPEN, a->choice);
  if (a->runner_up == SIZE_MAX) a->runner_up = best_of(s, d, a, OF(behind), a->choice);
  if (a->runner_up == SIZE_MAX) return;
  const struct lead lead = lead_of(s, a->choice, a->runner_up, d->objective);
  a->ratio = lead.by;
  a->is_decided = lead.verdict == VERDICT_slower;
  if (a->at[a->runner_up].standing == STANDING_behind)
    a->at[a->runner_up].standing = STANDING_runner_up;
}

/* Which one bound, given up, would let something through; the one that lets most through. */
static void find_binding(const struct summary *s, const struct constraints *d, struct advice *a) {
  size_t most = 0;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) {
    struct constraints without = *d;
    size_t through = 0;
    double needed = NAN;
    if (isnan(d->bound[id])) continue;
    without.bound[id] = NAN;
    for (size_t i = 0; i < s->record_count; i++) {
      enum bound_state unused[CONSTRAINT_COUNT];
      if (!is_candidate(&s->records[i]) || check_all(&s->records[i], &without, unused)) continue;
      if (!check_bound(&s->records[i], d, (enum constraint_id)id))
        continue; /* it is not in the way */
      const struct interval range = range_of(&s->records[i], (enum constraint_id)id);
      const double x = constraint_kinds[id].is_more_better ? range.low : range.high;
      if (isnan(x)) continue;
      through++;
      if (isnan(needed) || (constraint_kinds[id].is_more_better ? x > needed : x < needed))
        needed = x;
    }
    if (through > most) most = through, a->binding = (enum constraint_id)id, a->needed = needed;
  }
}

/* By what factor a row misses a bound, and the figure that would have to be allowed; 1: it holds it. */
static double missed_by(const struct record *r, const struct constraints *d, enum constraint_id id,
                        double *out_figure) {
  const struct interval range = range_of(r, id);
  const bool is_more_better = constraint_kinds[id].is_more_better;
  const double bound = d->bound[id], x = is_more_better ? range.low : range.high;
  const double least = 1e-12; /* a bound or a figure of 0 is missed by much, not by infinity */
  *out_figure = x;
  if (isnan(bound)) return 1;
  if (isnan(x)) return INFINITY;
  return fmax(1, is_more_better ? bound / fmax(x, least) : x / fmax(bound, least));
}

/* Where several bounds are in the way together: the row that is nearest to holding them. */
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
    struct standing_of *at = &out->at[i];
    at->standing = STANDING_invalid;
    if (!is_candidate(r)) continue;
    const enum bound_state state = check_all(r, constraints, at->bounds);
    at->standing = state == BOUND_HELD     ? STANDING_behind
                   : state == BOUND_UNSURE ? STANDING_unsure
                                           : STANDING_out;
  }
  settle(summary, constraints, out);
  if (out->choice == SIZE_MAX) find_binding(summary, constraints, out);
  if (out->choice == SIZE_MAX && out->binding == CONSTRAINT_COUNT)
    find_nearest(summary, constraints, out);
  return HONE_OK;
}
