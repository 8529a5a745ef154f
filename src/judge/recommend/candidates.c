/* Which candidates take part in the next round. */
#include "elimination.h"

#include <math.h>

#define FAR_BEHIND 1.5 /* times worse than the best: dropped without a verdict */

static const struct constraint_kind *objective_of(const struct recommendation *r) {
  return &constraint_kinds[r->options->constraints.objective];
}

static bool is_better(const struct recommendation *r, double x, double y) {
  return objective_of(r)->is_more_better ? x > y : x < y;
}

static bool is_far_behind(const struct recommendation *r, double x, double best) {
  return is_better(r, best, objective_of(r)->is_more_better ? x * FAR_BEHIND : x / FAR_BEHIND);
}

/* After the screening round: all that are not FAR_BEHIND. Later: those tied with the best, and
   undecided ones that are not FAR_BEHIND. */
static bool stays(const struct recommendation *r, const struct round *last, size_t i) {
  const struct advice *a = &last->advice;
  const struct record *record = &last->summary.records[i];
  const struct constraint_kind *kind = objective_of(r);
  const enum candidate_status status = a->at[i].status;
  if (status == CANDIDATE_invalid || status == CANDIDATE_out) return false;
  if (a->choice == SIZE_MAX) return true; /* no candidate is proven to meet every bound yet */
  if (!strcmp(last->summary.records[a->choice].config.backend, "hybrid") &&
      strcmp(record->config.backend, "hybrid"))
    return true; /* a hybrid must be better than each single engine in the last round too */
  if (r->round_count > 1 && status != CANDIDATE_undecided)
    return status != CANDIDATE_behind && status != CANDIDATE_runner_up;
  const double x = kind->value(record), best = kind->value(&last->summary.records[a->choice]);
  return kind->is_more_better ? x * FAR_BEHIND >= best : x <= best * FAR_BEHIND;
}

static void add(const struct recommendation *r, const struct record *record, struct candidate *list,
                size_t *count) {
  list[(*count)++] = (struct candidate){record, objective_of(r)->value(record)};
}

/* Whether a later round found that the round's choice fails or may miss a bound. */
static bool choice_was_wrong(const struct recommendation *r, size_t round) {
  const struct round *at = &r->rounds[round];
  if (at->advice.choice == SIZE_MAX) return false;
  const char *key = at->summary.records[at->advice.choice].config.key;
  const struct round *last = &r->rounds[last_round_with(r, round, key)];
  const size_t i = find_record(&last->summary, key);
  return last->advice.at[i].status >= CANDIDATE_out &&
         !had_no_time(last, &last->summary.records[i]);
}

/* Candidates that meet every bound and were dropped in favour of a choice that was wrong, unless
   they are FAR_BEHIND the best one now. */
static size_t bring_back(const struct recommendation *r, struct candidate *list) {
  const struct round *last = &r->rounds[r->round_count - 1];
  double best = NAN;
  size_t found = 0, count = 0;
  if (last->advice.choice != SIZE_MAX)
    best = objective_of(r)->value(&last->summary.records[last->advice.choice]);
  for (size_t k = 0; k + 1 < r->round_count; k++)
    for (size_t i = 0; choice_was_wrong(r, k) && i < r->rounds[k].summary.record_count; i++) {
      const struct record *record = &r->rounds[k].summary.records[i];
      const enum candidate_status status = r->rounds[k].advice.at[i].status;
      if (status == CANDIDATE_chosen || status > CANDIDATE_undecided) continue;
      if (last_round_with(r, k, record->config.key) != k) continue;
      add(r, record, list, &found);
      if (isnan(best) || is_better(r, list[found - 1].value, best)) best = list[found - 1].value;
    }
  for (size_t i = 0; i < found; i++)
    if (!is_far_behind(r, list[i].value, best)) list[count++] = list[i];
  return count;
}

/* After the screening round: those that the budget did not reach or interrupted get a second
   chance. */
static size_t add_unmeasured(const struct recommendation *r, struct candidate *list) {
  const struct summary *first = &r->rounds[0].summary;
  size_t found = 0;
  for (size_t i = 0; r->round_count == 1 && i < first->record_count; i++)
    if (first->records[i].status == STATUS_interrupted)
      list[found++] = (struct candidate){&first->records[i], NAN};
  return found;
}

hone_status list_candidates(const struct recommendation *r, struct candidate **out,
                            size_t *out_count, size_t *out_back) {
  const struct round *last = &r->rounds[r->round_count - 1];
  size_t most = 0;
  for (size_t k = 0; k < r->round_count; k++) most += r->rounds[k].summary.record_count;
  TRY(NEW_ARRAY(r->ctx, r->arena, *out, most + 1));
  *out_count = *out_back = bring_back(r, *out);
  for (size_t i = 0; i < last->summary.record_count; i++)
    if (stays(r, last, i)) add(r, &last->summary.records[i], *out, out_count);
  for (size_t i = 1; i < *out_count; i++) /* insertion sort, the best first */
    for (size_t k = i; k && is_better(r, (*out)[k].value, (*out)[k - 1].value); k--) {
      const struct candidate other = (*out)[k - 1];
      (*out)[k - 1] = (*out)[k];
      (*out)[k] = other;
    }
  *out_count += add_unmeasured(r, *out + *out_count);
  return HONE_OK;
}

const struct record *find_measured_alone(const struct recommendation *r) {
  const struct round *first = &r->rounds[0];
  const struct record *found = NULL;
  bool has_waiting = false;
  for (size_t i = 0; i < first->summary.record_count; i++) {
    const struct record *record = &first->summary.records[i];
    has_waiting |= record->status == STATUS_interrupted;
    if (first->advice.at[i].status == CANDIDATE_invalid) continue;
    if (found) return NULL;
    found = record;
  }
  return r->round_count == 1 && has_waiting ? found : NULL;
}

/* Measured time of one process of the candidate with the shortest slices. */
static double start_time_s(const struct record *r) {
  const double parts[] = {r->worst.import_ms, r->worst.compile_ms, r->worst.load_ms,
                          r->worst.first_inference_ms, r->worst.warmup_ms};
  double ms = 1500; /* start and end of the process and of the one for its overhead; slices */
  for (size_t i = 0; i < COUNT(parts); i++) ms += isfinite(parts[i]) ? parts[i] : 0;
  return ms / 1000;
}

double start_times_s(const struct candidate *list, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    if (!isnan(list[i].value)) sum += start_time_s(list[i].record);
  return sum;
}

size_t prefer_unmeasured(struct candidate *list, size_t count, double left_s) {
  size_t kept = 0;
  bool has_unmeasured = false;
  for (size_t i = 0; i < count; i++) has_unmeasured |= isnan(list[i].value);
  if (!has_unmeasured || start_times_s(list, count) <= left_s) return count;
  for (size_t i = 0; i < count; i++)
    if (!i || isnan(list[i].value)) list[kept++] = list[i];
  return kept;
}
