/* Results across rounds. A round that has no time for a candidate, or that is too short for a
 * verdict, does not undo what an earlier round measured. */
#include "elimination.h"

#include <math.h>

size_t find_record(const struct summary *s, const char *key) {
  for (size_t k = 0; k < s->record_count; k++)
    if (!strcmp(s->records[k].config.key, key)) return k;
  return SIZE_MAX;
}

bool had_no_time(const struct round *round, const struct record *r) {
  return r->status == STATUS_interrupted || (round->is_bounded && r->status == STATUS_timeout);
}

size_t last_round_with(const struct recommendation *r, size_t round, const char *key) {
  size_t last = r->round_count - 1;
  while (last > round && find_record(&r->rounds[last].summary, key) == SIZE_MAX) last--;
  return last;
}

/* The last round that had time for a configuration; SIZE_MAX: none. */
static size_t last_round_measuring(const struct recommendation *r, const char *key,
                                   size_t *out_record) {
  for (size_t k = r->round_count; k-- > 0;) {
    const struct round *round = &r->rounds[k];
    *out_record = find_record(&round->summary, key);
    if (*out_record != SIZE_MAX && !had_no_time(round, &round->summary.records[*out_record]))
      return k;
  }
  return SIZE_MAX;
}

/* The comparisons of an earlier round's record with records that are in this one too. */
static hone_status carry_pairs(const struct recommendation *r, const struct summary *from,
                               size_t record, struct round *to) {
  struct summary *s = &to->summary;
  for (size_t c = 0; c < from->comparison_count; c++) {
    struct comparison one = from->comparisons[c];
    if (one.a != record && one.b != record) continue;
    one.a = find_record(s, from->records[one.a].config.key);
    one.b = find_record(s, from->records[one.b].config.key);
    if (one.a == SIZE_MAX || one.b == SIZE_MAX || find_comparison(s, one.a, one.b)) continue;
    VEC_PUSH(r->ctx, r->arena, &to->pairs, one);
    s->comparisons = to->pairs.at;
    s->comparison_count = to->pairs.count;
  }
  return HONE_OK;
}

/* An undecided comparison gets the verdict of the last round that decided it. */
static void keep_verdict(const struct recommendation *r, const struct summary *s,
                         struct comparison *one) {
  for (size_t k = r->round_count; k-- > 0 && one->verdict == VERDICT_undecided;) {
    const struct summary *before = &r->rounds[k].summary;
    const struct comparison *pair =
        find_comparison(before, find_record(before, s->records[one->a].config.key),
                        find_record(before, s->records[one->b].config.key));
    if (!pair || pair->verdict == VERDICT_undecided) continue;
    one->ratio = pair->ratio;
    one->verdict = pair->verdict;
  }
}

/* Accuracy does not depend on load or time: one measurement holds for all rounds. */
static void keep_accuracy(const struct recommendation *r, struct record *record) {
  for (size_t k = r->round_count; k-- > 0 && isnan(record->worst.task_accuracy);) {
    const struct summary *before = &r->rounds[k].summary;
    const size_t i = find_record(before, record->config.key);
    if (i == SIZE_MAX) continue;
    const struct process_record *seen = &before->records[i].worst;
    memcpy(record->worst.task_metric, seen->task_metric, sizeof record->worst.task_metric);
    record->worst.task_accuracy = seen->task_accuracy;
    record->worst.task_reference = seen->task_reference;
    record->worst.accuracy_retention = seen->accuracy_retention;
  }
}

hone_status carry_over(const struct recommendation *r, struct round *round) {
  struct summary *s = &round->summary;
  TRY(NEW_ARRAY(r->ctx, r->arena, round->carried, s->record_count + 1));
  for (size_t c = 0; c < s->comparison_count; c++)
    VEC_PUSH(r->ctx, r->arena, &round->pairs, s->comparisons[c]);
  for (size_t i = 0; i < s->record_count; i++) {
    struct record *record = &s->records[i];
    size_t earlier;
    keep_accuracy(r, record);
    if (!had_no_time(round, record)) continue;
    const size_t k = last_round_measuring(r, record->config.key, &earlier);
    if (k == SIZE_MAX) continue;
    const struct round *before = &r->rounds[k];
    TRY(arena_printf(r->ctx, r->arena, &round->carried[i].reason, "%s", record->reason));
    round->carried[i].round =
        before->carried[earlier].round ? before->carried[earlier].round : k + 1;
    *record = before->summary.records[earlier];
    TRY(carry_pairs(r, &before->summary, earlier, round));
  }
  for (size_t c = 0; c < s->comparison_count; c++) keep_verdict(r, s, &s->comparisons[c]);
  return HONE_OK;
}

hone_status append_measured_alone(const struct recommendation *r, struct summary *s) {
  struct record *records;
  if (!r->measured_alone || find_record(s, r->measured_alone->config.key) != SIZE_MAX)
    return HONE_OK;
  TRY(NEW_ARRAY(r->ctx, r->arena, records, s->record_count + 1));
  memcpy(records, s->records, s->record_count * sizeof *records);
  records[s->record_count] = *r->measured_alone;
  records[s->record_count].status = STATUS_interrupted;
  snprintf(records[s->record_count].reason, sizeof records->reason,
           "it went to candidates that had no result yet");
  s->records = records;
  s->record_count++;
  return HONE_OK;
}

void mark_carried(const struct recommendation *r, struct round *round) {
  for (size_t i = 0; i < round->summary.record_count; i++) {
    if (!round->carried[i].round) continue;
    round->advice.at[i].measured_in = round->carried[i].round;
    round->advice.at[i].late_reason = round->carried[i].reason;
    round->advice.at[i].late_round = r->round_count;
  }
}

void drop_empty_round(struct recommendation *r) {
  const struct round *last = &r->rounds[r->round_count - 1];
  struct round *before = &r->rounds[r->round_count - 2];
  for (size_t i = 0; i < last->summary.record_count; i++)
    if (!last->carried[i].round && !had_no_time(last, &last->summary.records[i])) return;
  for (size_t i = 0; i < last->summary.record_count; i++) {
    const size_t k = find_record(&before->summary, last->summary.records[i].config.key);
    if (k == SIZE_MAX || !last->carried[i].round) continue;
    before->advice.at[k].late_reason = last->carried[i].reason;
    before->advice.at[k].late_round = r->round_count;
  }
  r->round_count--;
}
