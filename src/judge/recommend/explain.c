/* The advice in words, as a table and as JSON. */
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

static void put_bound_reason(struct strbuf *out, const struct record *r,
                             const struct constraints *d, enum constraint_id id, bool is_sure) {
  const struct constraint_kind *kind = &constraint_kinds[id];
  strbuf_printf(out, "%s ", kind->title);
  put_amount(out, id, kind->value(r));
  strbuf_printf(out, is_sure ? ", %s is " : ", %s of ", kind->is_more_better ? "least" : "most");
  put_amount(out, id, d->bound[id]);
  if (!is_sure)
    strbuf_puts(out, isnan(kind->value(r)) ? ": not measured" : " lies within its interval");
}

/* Every bound that it does not hold: whoever eases one wants to know what comes next. */
static void put_bound_reasons(struct strbuf *out, const struct record *r,
                              const struct constraints *d, const struct standing_of *at) {
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

static void put_standing(struct strbuf *out, const struct summary *s, const struct constraints *d,
                         const struct advice *a, size_t i) {
  const struct record *r = &s->records[i];
  switch (a->at[i].standing) {
    case STANDING_chosen:
      strbuf_printf(out, "the best %s%s", constraint_kinds[d->objective].title,
                    has_bound(d) ? " that holds every bound" : "");
      break;
    case STANDING_runner_up:
    case STANDING_behind:
      put_against(out, s, d, a, i);
      break;
    case STANDING_undecided:
      if (i == a->choice) {
        strbuf_puts(out, "measured alone: there was no time for anything to compare it with");
        break;
      }
      put_against(out, s, d, a, i);
      strbuf_puts(out, ", too little measured to decide");
      break;
    case STANDING_tied:
      strbuf_puts(out, a->is_by_cost ? "not told apart from the choice, which needs less memory"
                                     : "not told apart from the choice, slower by what was seen");
      break;
    case STANDING_unproven:
      strbuf_puts(out, "not proven faster than one engine alone");
      break;
    case STANDING_out:
    case STANDING_unsure:
      put_bound_reasons(out, r, d, &a->at[i]);
      break;
    case STANDING_invalid:
      strbuf_puts(out, r->config.label ? "a second copy" : status_text(r->status));
      if (r->reason[0]) {
        strbuf_puts(out, ": ");
        strbuf_put_safe(out, r->reason, 160);
      }
      break;
  }
}

void advise_reason(struct strbuf *out, const struct summary *s, const struct constraints *d,
                   const struct advice *a, size_t i) {
  const struct standing_of *at = &a->at[i];
  put_standing(out, s, d, a, i);
  if (!at->late) return;
  if (at->look) strbuf_printf(out, "; as look %zu saw it", at->look);
  strbuf_printf(out, "; look %zu had no time for it: ", at->late_look);
  strbuf_put_safe(out, at->late, 160);
}

static const char *const standing_words[] = {
    "chosen", "runner-up", "behind", "tied", "undecided", "unproven", "out", "unsure", "invalid"};

/* A limit that a row would hold: where it was measured with an interval, the far end of that. */
static void put_need(struct strbuf *out, const struct constraints *d, enum constraint_id id,
                     double needed) {
  strbuf_puts(out, "a limit of ");
  put_amount(out, id, needed);
  strbuf_puts(out, " instead of ");
  put_amount(out, id, d->bound[id]);
}

/* What is in the way, and what would be needed. */
static void put_no_choice(struct strbuf *out, const struct summary *s, const struct constraints *d,
                          const struct advice *a) {
  bool has_run = false, misses = false;
  for (size_t i = 0; i < a->record_count; i++) has_run |= a->at[i].standing != STANDING_invalid;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) misses |= !isnan(a->needs[id]);
  if (!has_run) {
    strbuf_puts(out, "nothing ran as it should: each row says why\n");
  } else if (a->binding != CONSTRAINT_COUNT) {
    strbuf_printf(out, "nothing holds every bound: what stands in the way is %s; with ",
                  constraint_kinds[a->binding].title);
    put_need(out, d, a->binding, a->needed);
    strbuf_puts(out, " there is one\n");
  } else if (misses) {
    const char *between = ": ";
    strbuf_puts(out, "nothing holds every bound, and no single bound is to blame; nearest is ");
    advise_name(out, s, a->nearest);
    for (int id = 0; id < CONSTRAINT_COUNT; id++) {
      if (isnan(a->needs[id])) continue;
      strbuf_printf(out, "%s%s with ", between, constraint_kinds[id].title);
      put_need(out, d, (enum constraint_id)id, a->needs[id]);
      between = ", ";
    }
    strbuf_puts(out, "\n");
  } else if (a->nearest != SIZE_MAX && a->at[a->nearest].standing == STANDING_unproven) {
    strbuf_puts(out, "parts on several engines are not proven faster than one engine alone\n");
  } else {
    strbuf_printf(out, "nothing that ran has a figure for %s\n",
                  a->nearest == SIZE_MAX ? "every bound" : constraint_kinds[d->objective].title);
  }
}

/* A choice without a runner-up: whom it has beaten before, or what became of all others. */
static void put_alone(struct strbuf *out, const struct summary *s, const struct advice *a) {
  const struct rival *rival = &a->rival;
  size_t ran = 0, waited = 0;
  for (size_t i = 0; i < a->record_count; i++) {
    ran += i != a->choice && a->at[i].standing != STANDING_invalid;
    waited += s->records[i].status == STATUS_interrupted;
  }
  if (rival->summary) {
    strbuf_puts(out, rival->is_decided ? "; better than " : "; ahead of ");
    advise_name(out, rival->summary, rival->record);
    strbuf_puts(out, " by ");
    put_times(out, &rival->ratio);
    strbuf_printf(out, ", %s (look %zu)\n",
                  rival->is_decided ? "decided at 95 %" : "too little measured to decide",
                  rival->look);
  } else {
    strbuf_puts(out, a->is_undecided       ? "; the budget reached for nothing else\n"
                     : ran                 ? "; nothing else holds every bound\n"
                     : waited              ? "; the budget reached for nothing else\n"
                     : a->record_count > 1 ? "; nothing else ran as it should\n"
                                           : "; nothing was set against it\n");
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
  strbuf_printf(out, a->is_undecided ? " alone was measured, %s " : ": %s ",
                constraint_kinds[d->objective].title);
  put_amount(out, d->objective, constraint_kinds[d->objective].value(&s->records[a->choice]));
  if (a->runner_up == SIZE_MAX) {
    put_alone(out, s, a);
    return;
  }
  const bool is_tied = a->at[a->runner_up].standing == STANDING_tied || a->is_by_cost;
  strbuf_puts(out, a->is_decided ? "; better than "
                   : is_tied     ? "; not told apart from "
                                 : "; ahead of ");
  advise_name(out, s, a->runner_up);
  strbuf_puts(out, !a->is_decided && is_tied ? ", " : " by ");
  put_times(out, &a->ratio);
  strbuf_puts(out, a->is_decided   ? ", decided at 95 %"
                   : a->is_by_cost ? ": the smaller memory decided"
                   : is_tied       ? ": the faster by what was seen"
                                   : ", too little measured to decide");
  if (a->regret > 0 && isfinite(a->regret))
    strbuf_printf(out, "; at most %.1f %% behind the best", 100 * a->regret);
  strbuf_puts(out, "\n");
}

bool advise_had_no_turn(const struct record *r) {
  return r->status == STATUS_interrupted && r->stage == STAGE_none;
}

/* One line for all: where the budget is short they are many, and there is one thing to do. */
static void put_turnless(struct strbuf *out, const struct summary *s) {
  size_t count = 0, named = 0;
  for (size_t i = 0; i < s->record_count; i++) count += advise_had_no_turn(&s->records[i]);
  if (!count) return;
  strbuf_printf(out, "  no turn    %zu of %zu rows, which a longer --budget reaches:", count,
                s->record_count);
  for (size_t i = 0; i < s->record_count; i++) {
    const struct config *config = &s->records[i].config;
    bool is_new = advise_had_no_turn(&s->records[i]);
    for (size_t k = 0; k < i && is_new; k++)
      is_new = !advise_had_no_turn(&s->records[k]) ||
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
    if (advise_had_no_turn(&s->records[i])) continue;
    strbuf_printf(out, "  %-10s ", standing_words[a->at[i].standing]);
    advise_name(out, s, i);
    strbuf_puts(out, ": ");
    advise_reason(out, s, d, a, i);
    strbuf_puts(out, "\n");
  }
  put_turnless(out, s);
}

/* -- JSON */

/* What a row does not hold, with its figure and the limit; [] for one that holds all, or that has no figures. */
static json_t *missed_json(const struct record *r, const struct constraints *d,
                           const struct standing_of *at) {
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
  json_t *row =
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:s*, s:o}", "cell", r->config.key,
                "model", r->config.model, "backend", r->config.backend, "variant",
                r->config.variant, "precision", r->config.precision, "threads", r->config.threads,
                "batch", r->config.batch, "standing", standing_words[a->at[i].standing], "reason",
                reason.at, "missed", missed_json(r, d, &a->at[i]));
  strbuf_deinit(&reason);
  for (int id = 0; row && id < CONSTRAINT_COUNT; id++)
    json_object_set_new(row, constraint_kinds[id].name, json_finite(constraint_kinds[id].value(r)));
  if (row && a->at[i].look)
    json_object_set_new(row, "seen_in_look", json_integer((json_int_t)a->at[i].look));
  return row;
}

static json_t *rival_json(const struct rival *rival) {
  struct strbuf name = {0};
  advise_name(&name, rival->summary, rival->record);
  json_t *json = json_pack("{s:s*, s:s, s:[o,o,o], s:b, s:i}", "name", name.at, "cell",
                           rival->summary->records[rival->record].config.key, "ratio",
                           json_finite(rival->ratio.value), json_finite(rival->ratio.low),
                           json_finite(rival->ratio.high), "is_decided", rival->is_decided, "look",
                           (int)rival->look);
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
  if (json && a->rival.summary) json_object_set_new(json, "rival", rival_json(&a->rival));
  strbuf_deinit(&conclusion);
  return json;
}
