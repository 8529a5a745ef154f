/* The advice as text for the terminal and as JSON. */
#include "core/format/format.h"
#include "advise.h"

#include <jansson.h>
#include <math.h>

static void put_amount(struct strbuf *out, enum constraint_id id, double x) {
  const char *unit = constraint_kinds[id].unit;
  if (isnan(x))
    strbuf_puts(out, "unknown");
  else if (!strcmp(unit, "ms"))
    put_ms(out, x);
  else if (!strcmp(unit, "B"))
    put_bytes(out, x);
  else if (!strcmp(unit, "share"))
    strbuf_printf(out, "%.4g", x);
  else
    strbuf_printf(out, "%.4g %s", x, unit);
}

void advise_name(struct strbuf *out, const struct summary *s, size_t i) {
  const struct record *r = &s->records[i];
  strbuf_put_safe(out, r->config.backend, 32);
  if (strcmp(r->config.variant, "default") && r->config.variant[0]) {
    strbuf_puts(out, " (");
    strbuf_put_safe(out, r->config.variant, 64);
    strbuf_puts(out, ")");
  }
  strbuf_printf(out, ", %s, %d thread%s", r->config.precision, r->config.threads,
                r->config.threads == 1 ? "" : "s");
  if (r->config.batch != 1) strbuf_printf(out, ", batch %d", r->config.batch);
}

static void put_times(struct strbuf *out, const struct interval *ratio) {
  strbuf_printf(out, "%.2fx", ratio->value);
  if (isfinite(ratio->low)) strbuf_printf(out, " (%.2f to %.2f)", ratio->low, ratio->high);
}

/* "memory while running 97.1 MB, above the limit of 50.0 MB" */
static void put_bound_reason(struct strbuf *out, const struct record *r,
                             const struct constraints *d, enum constraint_id id, bool is_sure) {
  const struct constraint_kind *kind = &constraint_kinds[id];
  strbuf_printf(out, "%s ", kind->title);
  put_amount(out, id, kind->value(r));
  if (isnan(kind->value(r)))
    strbuf_puts(out, ", not measured; the limit is ");
  else if (!is_sure)
    strbuf_puts(out, ", with an interval that contains the limit of ");
  else
    strbuf_puts(out, kind->is_more_better ? ", below the limit of " : ", above the limit of ");
  put_amount(out, id, d->bound[id]);
}

/* Every bound that it does not meet: relaxing one of several may not be enough. */
static void put_bound_reasons(struct strbuf *out, const struct record *r,
                              const struct constraints *d, const struct candidate_state *at) {
  const char *between = "";
  for (int id = 0; id < CONSTRAINT_COUNT; id++) {
    if (at->bounds[id] == BOUND_HELD) continue;
    strbuf_puts(out, between);
    put_bound_reason(out, r, d, (enum constraint_id)id, at->bounds[id] == BOUND_MISSED);
    between = "; ";
  }
}

static bool has_bound(const struct constraints *d) {
  bool any = false;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) any |= !isnan(d->bound[id]);
  return any;
}

static void put_against(struct strbuf *out, const struct summary *s, const struct constraints *d,
                        const struct advice *a, size_t i) {
  const struct constraint_kind *kind = &constraint_kinds[d->objective];
  strbuf_printf(out, "%s ", kind->title);
  put_amount(out, d->objective, kind->value(&s->records[i]));
  strbuf_puts(out, " against ");
  put_amount(out, d->objective, kind->value(&s->records[a->choice]));
}

static void put_status(struct strbuf *out, const struct summary *s, const struct constraints *d,
                       const struct advice *a, size_t i) {
  const struct record *r = &s->records[i];
  switch (a->at[i].status) {
    case CANDIDATE_chosen:
      strbuf_printf(out, "the best %s%s", constraint_kinds[d->objective].title,
                    has_bound(d) ? " that meets every bound" : "");
      break;
    case CANDIDATE_runner_up:
    case CANDIDATE_behind:
      put_against(out, s, d, a, i);
      break;
    case CANDIDATE_undecided:
      if (i == a->choice) {
        strbuf_puts(out, "the only candidate measured: the budget ended before another one");
        break;
      }
      put_against(out, s, d, a, i);
      strbuf_puts(out, ", not enough measurements to decide");
      break;
    case CANDIDATE_tied:
      strbuf_puts(out, a->is_by_cost ? "tied with the choice, which needs less memory"
                                     : "tied with the choice, which has the better value");
      break;
    case CANDIDATE_unproven:
      strbuf_puts(out, "not proven faster than a single engine");
      break;
    case CANDIDATE_out:
    case CANDIDATE_unsure:
      put_bound_reasons(out, r, d, &a->at[i]);
      break;
    case CANDIDATE_invalid:
      strbuf_puts(out, r->config.label ? "an --aa copy" : status_text(r->status));
      if (r->reason[0]) {
        strbuf_puts(out, ": ");
        strbuf_put_safe(out, r->reason, 160);
      }
      break;
  }
}

void advise_reason(struct strbuf *out, const struct summary *s, const struct constraints *d,
                   const struct advice *a, size_t i) {
  const struct candidate_state *at = &a->at[i];
  put_status(out, s, d, a, i);
  if (!at->late_reason) return;
  if (at->measured_in) strbuf_printf(out, "; measured in round %zu", at->measured_in);
  strbuf_printf(out, "; round %zu had no time for it: ", at->late_round);
  strbuf_put_safe(out, at->late_reason, 160);
}

static const char *const status_words[] = {"chosen",   "runner-up", "behind", "tied",   "undecided",
                                           "unproven", "out",       "unsure", "invalid"};

/* A limit that a candidate would meet with its whole interval. */
static void put_need(struct strbuf *out, const struct constraints *d, enum constraint_id id,
                     double needed) {
  strbuf_puts(out, "a limit of ");
  put_amount(out, id, needed);
  strbuf_puts(out, " instead of ");
  put_amount(out, id, d->bound[id]);
}

/* Which bound excludes the candidates, and the limit that one would meet. */
static void put_no_choice(struct strbuf *out, const struct summary *s, const struct constraints *d,
                          const struct advice *a) {
  bool has_run = false, misses = false;
  for (size_t i = 0; i < a->record_count; i++) has_run |= a->at[i].status != CANDIDATE_invalid;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) misses |= !isnan(a->needs[id]);
  if (!has_run) {
    strbuf_puts(out, "no candidate ran correctly: each row gives the reason\n");
  } else if (a->binding != CONSTRAINT_COUNT) {
    strbuf_printf(out, "no candidate meets every bound: the reason is %s; with ",
                  constraint_kinds[a->binding].title);
    put_need(out, d, a->binding, a->needed);
    strbuf_puts(out, " one would\n");
  } else if (misses) {
    const char *between = ": ";
    strbuf_puts(
        out, "no candidate meets every bound, and relaxing one bound is not enough; nearest is ");
    advise_name(out, s, a->nearest);
    for (int id = 0; id < CONSTRAINT_COUNT; id++) {
      if (isnan(a->needs[id])) continue;
      strbuf_printf(out, "%s%s with ", between, constraint_kinds[id].title);
      put_need(out, d, (enum constraint_id)id, a->needs[id]);
      between = ", ";
    }
    strbuf_puts(out, "\n");
  } else if (a->nearest != SIZE_MAX && a->at[a->nearest].status == CANDIDATE_unproven) {
    strbuf_puts(out, "the hybrid is not proven faster than a single engine\n");
  } else {
    strbuf_printf(out, "no candidate that ran has a value for %s\n",
                  a->nearest == SIZE_MAX ? "every bound" : constraint_kinds[d->objective].title);
  }
}

/* A choice without a runner-up: the one of an earlier round, or why there is none. */
static void put_no_runner_up(struct strbuf *out, const struct summary *s, const struct advice *a) {
  const struct earlier_runner_up *earlier = &a->earlier;
  size_t ran = 0, waited = 0;
  for (size_t i = 0; i < a->record_count; i++) {
    ran += i != a->choice && a->at[i].status != CANDIDATE_invalid;
    waited += s->records[i].status == STATUS_interrupted;
  }
  if (earlier->summary) {
    strbuf_puts(out, earlier->is_decided ? "; better than " : "; ahead of ");
    advise_name(out, earlier->summary, earlier->record);
    strbuf_puts(out, " by ");
    put_times(out, &earlier->ratio);
    strbuf_printf(out, ", %s (round %zu)\n",
                  earlier->is_decided ? "significant at 95 %" : "not enough measurements to decide",
                  earlier->round);
  } else if (a->is_undecided || (!ran && waited)) {
    strbuf_puts(out, "; the budget ended before another candidate was measured\n");
  } else {
    strbuf_puts(out, ran                   ? "; no other candidate meets every bound\n"
                     : a->record_count > 1 ? "; no other candidate ran correctly\n"
                                           : "; there was no other candidate\n");
  }
}

static void put_conclusion(struct strbuf *out, const struct summary *s, const struct constraints *d,
                           const struct advice *a) {
  if (a->choice == SIZE_MAX) {
    put_no_choice(out, s, d, a);
    return;
  }
  if (a->is_undecided) strbuf_puts(out, "undecided: ");
  advise_name(out, s, a->choice);
  strbuf_printf(out, a->is_undecided ? " is the only candidate measured, %s " : ": %s ",
                constraint_kinds[d->objective].title);
  put_amount(out, d->objective, constraint_kinds[d->objective].value(&s->records[a->choice]));
  if (a->runner_up == SIZE_MAX) {
    put_no_runner_up(out, s, a);
    return;
  }
  const bool is_tied = a->at[a->runner_up].status == CANDIDATE_tied || a->is_by_cost;
  strbuf_puts(out, a->is_decided ? "; better than " : is_tied ? "; tied with " : "; ahead of ");
  advise_name(out, s, a->runner_up);
  strbuf_puts(out, !a->is_decided && is_tied ? ", " : " by ");
  put_times(out, &a->ratio);
  strbuf_puts(out, a->is_decided   ? ", significant at 95 %"
                   : a->is_by_cost ? ": chosen for its smaller memory"
                   : is_tied       ? ": chosen for the better value"
                                   : ", not enough measurements to decide");
  if (a->regret > 0 && isfinite(a->regret))
    strbuf_printf(out, "; at most %.1f %% worse than the best", 100 * a->regret);
  strbuf_puts(out, "\n");
}

bool advise_was_not_reached(const struct record *r) {
  return r->status == STATUS_interrupted && r->stage == STAGE_none;
}

/* One line for all of them: a short budget leaves many, with the same remedy. */
static void put_not_reached(struct strbuf *out, const struct summary *s) {
  size_t count = 0, named = 0;
  for (size_t i = 0; i < s->record_count; i++) count += advise_was_not_reached(&s->records[i]);
  if (!count) return;
  strbuf_printf(out, "  not run    %zu of %zu candidates; pass a longer --budget to measure them:",
                count, s->record_count);
  for (size_t i = 0; i < s->record_count; i++) {
    const struct config *config = &s->records[i].config;
    bool is_new = advise_was_not_reached(&s->records[i]);
    for (size_t k = 0; k < i && is_new; k++)
      is_new = !advise_was_not_reached(&s->records[k]) ||
               strcmp(s->records[k].config.backend, config->backend) != 0;
    if (!is_new) continue;
    strbuf_puts(out, named++ ? ", " : " ");
    strbuf_put_safe(out, config->backend, 32);
  }
  strbuf_puts(out, "\n");
}

void advise_table(const struct summary *s, const struct constraints *d, const struct advice *a,
                  struct strbuf *out) {
  put_conclusion(out, s, d, a);
  for (size_t i = 0; i < s->record_count; i++) {
    if (advise_was_not_reached(&s->records[i])) continue;
    strbuf_printf(out, "  %-10s ", status_words[a->at[i].status]);
    advise_name(out, s, i);
    strbuf_puts(out, ": ");
    advise_reason(out, s, d, a, i);
    strbuf_puts(out, "\n");
  }
  put_not_reached(out, s);
}

/* -- JSON */

/* The bounds that a candidate does not meet, with value and limit. */
static json_t *missed_json(const struct record *r, const struct constraints *d,
                           const struct candidate_state *at) {
  json_t *list = json_array();
  for (int id = 0; id < CONSTRAINT_COUNT; id++)
    if (at->bounds[id] != BOUND_HELD)
      json_array_append_new(
          list, json_pack("{s:s, s:o, s:f, s:b}", "bound", constraint_kinds[id].name, "value",
                          json_finite(constraint_kinds[id].value(r)), "limit", d->bound[id],
                          "is_sure", at->bounds[id] == BOUND_MISSED));
  return list;
}

static json_t *row_json(const struct summary *s, const struct constraints *d,
                        const struct advice *a, size_t i) {
  const struct record *r = &s->records[i];
  struct strbuf reason = {0};
  advise_reason(&reason, s, d, a, i);
  json_t *row = json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:s*, s:o}", "cell", r->config.key, "model",
      r->config.model, "backend", r->config.backend, "variant", r->config.variant, "precision",
      r->config.precision, "threads", r->config.threads, "batch", r->config.batch, "standing",
      status_words[a->at[i].status], "reason", reason.at, "missed", missed_json(r, d, &a->at[i]));
  strbuf_deinit(&reason);
  for (int id = 0; row && id < CONSTRAINT_COUNT; id++)
    json_object_set_new(row, constraint_kinds[id].name, json_finite(constraint_kinds[id].value(r)));
  if (row && a->at[i].measured_in)
    json_object_set_new(row, "seen_in_look", json_integer((json_int_t)a->at[i].measured_in));
  return row;
}

static json_t *earlier_json(const struct earlier_runner_up *earlier) {
  struct strbuf name = {0};
  advise_name(&name, earlier->summary, earlier->record);
  json_t *json = json_pack("{s:s*, s:s, s:[o,o,o], s:b, s:i}", "name", name.at, "cell",
                           earlier->summary->records[earlier->record].config.key, "ratio",
                           json_finite(earlier->ratio.value), json_finite(earlier->ratio.low),
                           json_finite(earlier->ratio.high), "is_decided", earlier->is_decided,
                           "look", (int)earlier->round);
  strbuf_deinit(&name);
  return json;
}

json_t *advise_json(const struct summary *s, const struct constraints *d, const struct advice *a) {
  json_t *rows = json_array(), *bounds = json_object(), *needs = json_object();
  struct strbuf conclusion = {0};
  put_conclusion(&conclusion, s, d, a);
  if (conclusion.length) conclusion.at[conclusion.length - 1] = 0;
  for (size_t i = 0; i < s->record_count; i++) json_array_append_new(rows, row_json(s, d, a, i));
  for (int id = 0; id < CONSTRAINT_COUNT; id++)
    if (!isnan(d->bound[id]))
      json_object_set_new(bounds, constraint_kinds[id].name, json_finite(d->bound[id]));
  for (int id = 0; id < CONSTRAINT_COUNT; id++)
    if (!isnan(a->needs[id]))
      json_object_set_new(needs, constraint_kinds[id].name, json_finite(a->needs[id]));
  json_t *json =
      json_pack("{s:s, s:s, s:o, s:s*, s:s*, s:s*, s:b, s:b, s:[o,o,o], s:o, s:s*, s:o, s:o, s:o}",
                "study", s->study.key, "objective", constraint_kinds[d->objective].name, "bounds",
                bounds, "conclusion", conclusion.at, "choice",
                a->choice == SIZE_MAX || a->is_undecided ? NULL : s->records[a->choice].config.key,
                "runner_up", a->runner_up == SIZE_MAX ? NULL : s->records[a->runner_up].config.key,
                "is_undecided", a->is_undecided, "is_decided", a->is_decided, "ratio",
                json_finite(a->ratio.value), json_finite(a->ratio.low), json_finite(a->ratio.high),
                "regret", a->choice == SIZE_MAX ? json_null() : json_finite(a->regret), "binding",
                a->binding == CONSTRAINT_COUNT ? NULL : constraint_kinds[a->binding].name, "needed",
                json_finite(a->needed), "needs", needs, "rows", rows);
  if (json && a->earlier.summary) json_object_set_new(json, "rival", earlier_json(&a->earlier));
  strbuf_deinit(&conclusion);
  return json;
}
