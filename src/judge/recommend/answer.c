/* The answer as text and as JSON: the last round's records, what earlier rounds dropped,
   variants, the hybrid proposal. */
#include "elimination.h"

#include <stdlib.h>

static const struct round *last_round(const struct recommendation *r) {
  return &r->rounds[r->round_count - 1];
}

const struct summary *recommendation_summary(const struct recommendation *r) {
  return &last_round(r)->summary;
}
const struct advice *recommendation_advice(const struct recommendation *r) {
  return &last_round(r)->advice;
}

const char *recommendation_model(const struct recommendation *r) {
  const struct round *last = last_round(r);
  const size_t v =
      last->advice.choice == SIZE_MAX
          ? 0
          : variant_of(&r->variants, last->summary.records[last->advice.choice].config.model);
  return v ? r->variants.at[v - 1].path : r->options->model;
}

/* A candidate of an earlier round, with that round's reason: a line and a row of the JSON. */
static void put_one_dropped(const struct recommendation *r, size_t k, size_t i,
                            struct strbuf *lines, json_t *list) {
  const struct round *round = &r->rounds[k];
  const struct record *record = &round->summary.records[i];
  struct strbuf reason = {0};
  advise_reason(&reason, &round->summary, &r->options->constraints, &round->advice, i);
  strbuf_puts(lines, "  dropped    ");
  advise_name(lines, &round->summary, i);
  strbuf_printf(lines, ": %s (round %zu)\n", reason.at ? reason.at : "", k + 1);
  json_array_append_new(
      list, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:s*}", "model", record->config.model,
                      "backend", record->config.backend, "variant", record->config.variant,
                      "precision", record->config.precision, "threads", record->config.threads,
                      "batch", record->config.batch, "look", (int)k + 1, "reason", reason.at));
  strbuf_deinit(&reason);
}

/* The lines; the JSON rows are the caller's to decref. */
static json_t *put_dropped(const struct recommendation *r, struct strbuf *lines) {
  json_t *list = json_array();
  for (size_t k = 0; k + 1 < r->round_count; k++)
    for (size_t i = 0; i < r->rounds[k].summary.record_count; i++)
      if (last_round_with(r, k, r->rounds[k].summary.records[i].config.key) == k)
        put_one_dropped(r, k, i, lines, list);
  put_dropped_predictions(&r->predictions, &r->options->constraints, lines, list);
  return list;
}

static void put_time(struct strbuf *out, const struct recommendation *r) {
  strbuf_printf(out, "time: %.3g s of a budget of %.3g s", r->all_s, r->options->budget_s);
  if (r->reference_s >= 0.1)
    strbuf_printf(out, ", including %.3g s for the reference's outputs, which are kept",
                  r->reference_s);
  if (r->variants_s >= 0.1)
    strbuf_printf(out, ", including %.3g s to make smaller variants", r->variants_s);
  strbuf_puts(out, "\n");
}

void recommendation_table(const struct recommendation *r, struct strbuf *out) {
  const struct round *last = last_round(r);
  advise_table(&last->summary, &r->options->constraints, &last->advice, out);
}

void recommendation_text(const struct recommendation *r, struct strbuf *out) {
  const struct round *last = last_round(r);
  recommendation_table(r, out);
  json_decref(put_dropped(r, out));
  put_variants(out, &r->variants);
  if (r->hybrid.words[0]) {
    strbuf_puts(out, "hybrid: ");
    strbuf_put_safe(out, r->hybrid.words, sizeof r->hybrid.words);
    strbuf_puts(out, "\n");
  }
  put_time(out, r);
  if (last->advice.choice != SIZE_MAX)
    strbuf_printf(out, "again: %s\n", last->summary.records[last->advice.choice].repeat);
  strbuf_printf(out, "study: hone report %.12s\n", last->summary.study.key);
}

static json_t *time_json(const struct recommendation *r) {
  return json_pack("{s:f, s:f, s:f, s:f, s:O}", "budget_s", r->options->budget_s, "all_s", r->all_s,
                   "reference_s", r->reference_s, "forms_s", r->variants_s, "phases", r->phases);
}

hone_status recommendation_json(struct ctx *ctx, const struct recommendation *r,
                                struct strbuf *out) {
  const struct round *last = last_round(r);
  struct strbuf lines = {0};
  json_t *json = advise_json(&last->summary, &r->options->constraints, &last->advice);
  if (!json) return fail(ctx, HONE_E_INTERNAL, place_none(), "a record has text that is not UTF-8");
  json_object_set_new(json, "dropped", put_dropped(r, &lines));
  strbuf_deinit(&lines);
  if (r->hybrid.json) json_object_set(json, "hybrid", r->hybrid.json);
  json_object_set_new(json, "time", time_json(r));
  if (r->variants.dir[0]) json_object_set_new(json, "quantised", variants_json(&r->variants));
  char *dumped = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  json_decref(json);
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for the JSON");
  strbuf_printf(out, "%s\n", dumped);
  free(dumped);
  return strbuf_finish(ctx, out);
}
