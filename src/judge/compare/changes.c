/* changes: compares two studies, configuration by configuration.
 *
 * The ratio is latency after / latency before. If both studies have samples, its confidence interval is bootstrapped from
 * them. A study from a JSON file has none; then the interval is the widest that the two medians' intervals allow. A
 * regression is a configuration whose whole interval is above 1 + fail_above, or one that was ok before and is not after.
 * A configuration whose interval is too wide to show such a slowdown is open, and the gate does not pass.
 */
#include "core/format/format.h"
#include "compare.h"

#include <math.h>

enum { RESAMPLES = 2000 };
#define CONFIDENCE 0.95

typedef VEC(struct change) change_list;

static size_t find_config(const struct summary *summary, const char *key) {
  size_t i = 0;
  while (i < summary->record_count && strcmp(summary->records[i].config.key, key) != 0) i++;
  return i < summary->record_count ? i : SIZE_MAX;
}

static bool has_samples(const struct summary *summary, const struct record *record) {
  return config_data_of(summary, record) != NULL;
}

static MUST_USE hone_status ratio_of_samples(struct ctx *ctx, struct arena *arena,
                                             const struct changes *changes,
                                             const struct record *old, const struct record *new,
                                             struct interval *out) {
  struct sample_set set_new, set_old;
  const uint64_t seed = seed_of(changes->before->study.key) ^ seed_of(changes->after->study.key);
  TRY(make_sample_set(ctx, arena, config_data_of(changes->after, new), &set_new));
  TRY(make_sample_set(ctx, arena, config_data_of(changes->before, old), &set_old));
  return bootstrap_ratio(ctx, &set_new, &set_old, CONFIDENCE, RESAMPLES, seed, out);
}

static MUST_USE hone_status compare_records(struct ctx *ctx, struct arena *arena,
                                            const struct changes *changes, struct change *change) {
  const struct record *new = &changes->after->records[change->after],
                      *old = &changes->before->records[change->before];
  if (has_samples(changes->after, new) && has_samples(changes->before, old))
    TRY(ratio_of_samples(ctx, arena, changes, old, new, &change->ratio));
  else
    change->ratio = (struct interval){new->p50_ms / old->p50_ms, new->p50_lo_ms / old->p50_hi_ms,
                                      new->p50_hi_ms / old->p50_lo_ms};
  if (new->rounds < 2 || old->rounds < 2) change->ratio.low = change->ratio.high = (double)NAN;
  change->verdict = verdict_of(new, old, &change->ratio, NULL);
  return HONE_OK;
}

static void judge(struct changes *changes, struct change *change) {
  const struct record *new = &changes->after->records[change->after],
                      *old = &changes->before->records[change->before];
  change->is_compared = is_measured(new) && is_measured(old) && old->p50_ms > 0 && new->p50_ms > 0;
  change->is_broken =
      old->status == STATUS_ok && new->status != STATUS_ok &&new->status != STATUS_interrupted;
}

static MUST_USE hone_status add_both(struct ctx *ctx, struct arena *arena, struct changes *changes,
                                     change_list *list) {
  for (size_t i = 0; i < changes->after->record_count; i++) {
    struct change change = {.after = i, .ratio = {NAN, NAN, NAN}};
    change.before = find_config(changes->before, changes->after->records[i].config.key);
    if (change.before == SIZE_MAX) {
      changes->only_after++;
    } else {
      judge(changes, &change);
      if (change.is_compared) TRY(compare_records(ctx, arena, changes, &change));
      changes->compared += change.is_compared;
      changes->decided += change.is_compared && change.verdict != VERDICT_undecided;
      change.is_slower = !change.is_broken && change.verdict == VERDICT_slower &&
                         change.ratio.low > 1 + fmax(changes->fail_above, 0);
      changes->slower += change.is_slower;
      changes->broken += change.is_broken;
    }
    VEC_PUSH(ctx, arena, list, change);
  }
  return HONE_OK;
}

hone_status changes_find(struct ctx *ctx, struct arena *arena, const struct summary *before,
                         const struct summary *after, double fail_above, struct changes *out) {
  change_list list = {0};
  *out = (struct changes){.before = before, .after = after, .fail_above = fail_above};
  TRY(add_both(ctx, arena, out, &list));
  for (size_t i = 0; i < before->record_count; i++) {
    if (find_config(after, before->records[i].config.key) != SIZE_MAX) continue;
    VEC_PUSH(ctx, arena, &list,
             (struct change){.before = i, .after = SIZE_MAX, .ratio = {NAN, NAN, NAN}});
    out->only_before++;
  }
  out->at = list.at;
  out->count = list.count;
  return HONE_OK;
}

const struct record *change_record(const struct changes *changes, const struct change *change) {
  return change->after != SIZE_MAX ? &changes->after->records[change->after]
                                   : &changes->before->records[change->before];
}

const char *change_text(const struct change *change) {
  if (change->after == SIZE_MAX) return "only before";
  if (change->before == SIZE_MAX) return "only after";
  if (change->is_broken) return "broken";
  return change->is_compared ? verdict_text(change->verdict) : "not measured";
}

/* For a ratio r times as high the interval would begin at r * low / value, which is above 1 if r > value / low. */
double change_detectable(const struct change *change) {
  const bool has_interval =
      change->is_compared && isfinite(change->ratio.low) && change->ratio.low > 0;
  return has_interval ? change->ratio.value / change->ratio.low - 1 : (double)NAN;
}

bool change_is_open(const struct changes *changes, const struct change *change) {
  const double most = 1 + changes->fail_above, detectable = change_detectable(change);
  if (isnan(changes->fail_above) || !change->is_compared || change->is_slower || change->is_broken)
    return false;
  if (change->verdict == VERDICT_undecided || !isfinite(detectable)) return true;
  return change->ratio.high > most && (change->ratio.value > most || 1 + detectable > most);
}

static size_t count_open(const struct changes *changes) {
  size_t count = 0;
  for (size_t i = 0; i < changes->count; i++) count += change_is_open(changes, &changes->at[i]);
  return count;
}

int changes_exit_code(const struct changes *changes) {
  if (isnan(changes->fail_above)) return 0;
  if (changes->slower || changes->broken) return 1;
  return changes->decided && !count_open(changes) ? 0 : 5;
}

/* "1.05x slower [1.03, 1.07]" */
void put_change(struct strbuf *out, const struct change *change) {
  const bool is_faster = change->verdict == VERDICT_faster;
  if (!change->is_compared || change->is_broken) {
    strbuf_puts(out, change_text(change));
    return;
  }
  put_ratio(out, is_faster ? 1 / change->ratio.value : change->ratio.value);
  strbuf_printf(out, " %s", verdict_text(change->verdict));
  if (!isfinite(change->ratio.low)) return;
  LITERAL(out, " [");
  put_significant(out, is_faster ? 1 / change->ratio.high : change->ratio.low, 3);
  LITERAL(out, ", ");
  put_significant(out, is_faster ? 1 / change->ratio.low : change->ratio.high, 3);
  LITERAL(out, "]");
}

/* ", smallest detectable slowdown 1.2 to 82 %": of the most and the least precise configuration. */
static void put_detectable(struct strbuf *out, const struct changes *changes) {
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < changes->count; i++) {
    const double detectable = change_detectable(&changes->at[i]);
    if (!isfinite(detectable)) continue;
    least = fmin(least, detectable);
    most = fmax(most, detectable);
  }
  if (least > most) return;
  LITERAL(out, ", smallest detectable slowdown ");
  if (least < most) {
    put_significant(out, 100 * least, 2);
    LITERAL(out, " to ");
  }
  put_significant(out, 100 * most, 2);
  LITERAL(out, " %");
}

/* "2 regressions above 5 % among 15 configurations compared; 1 configuration only before, ..." */
void put_changes_sentence(struct strbuf *out, const struct changes *changes) {
  const size_t bad = changes->slower + changes->broken;
  if (isfinite(changes->fail_above)) {
    strbuf_printf(out, "%zu regression%s above ", bad, bad == 1 ? "" : "s");
    put_percent(out, changes->fail_above);
    LITERAL(out, " among ");
  }
  strbuf_printf(out, "%zu configuration%s measured in both", changes->compared,
                changes->compared == 1 ? "" : "s");
  if (changes->broken) strbuf_printf(out, ", %zu broken", changes->broken);
  const size_t undecided =
      isnan(changes->fail_above) ? changes->compared - changes->decided : count_open(changes);
  if (undecided) strbuf_printf(out, ", %zu undecided", undecided);
  if (changes->only_before) strbuf_printf(out, ", %zu only before", changes->only_before);
  if (changes->only_after) strbuf_printf(out, ", %zu only after", changes->only_after);
  put_detectable(out, changes);
}

void put_changes_remedy(struct strbuf *out, const struct changes *changes) {
  if (changes_exit_code(changes) != 5 || !changes->decided) return;
  LITERAL(out, "Undecided: a slowdown above ");
  put_percent(out, changes->fail_above);
  LITERAL(out,
          " cannot be ruled out. Measure longer (--rounds, --min-time, --processes), on an idle "
          "machine, or raise --fail-above.\n");
}

bool changes_differ_in_machine(const struct changes *changes) {
  return strcmp(changes->before->study.fingerprint, changes->after->study.fingerprint) != 0;
}

bool changes_lack_samples(const struct changes *changes) {
  return !changes->before->data || !changes->after->data;
}
