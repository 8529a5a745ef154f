/* Predictions as text and as JSON. */
#include "core/format/format.h"
#include "elimination.h"

#include <math.h>
#include <stdlib.h>

static void put_interval(struct strbuf *out, const struct interval *x, bool is_ms) {
  void (*const put)(struct strbuf *, double) = is_ms ? put_ms : put_bytes;
  put(out, x->value);
  strbuf_puts(out, " (");
  put(out, x->low);
  strbuf_puts(out, " to ");
  put(out, x->high);
  strbuf_puts(out, ")");
}

static void put_reason(struct strbuf *out, const struct candidate_prediction *row,
                       const struct constraints *d) {
  const bool by_throughput = row->against == CONSTRAINT_throughput;
  const enum constraint_id id = by_throughput ? CONSTRAINT_latency : row->against;
  const bool is_ms = constraint_kinds[id].amount == AMOUNT_MS;
  const struct interval x = predicted_value(row, id);
  strbuf_printf(out, "the budget is too short for all candidates; predicted %s ",
                constraint_kinds[id].title);
  put_interval(out, &x, is_ms);
  if (isnan(d->bound[id]) || by_throughput) return;
  strbuf_puts(out, ", above the limit of ");
  (is_ms ? put_ms : put_bytes)(out, d->bound[id]);
}

void put_dropped_predictions(const struct predictions *predictions, const struct constraints *d,
                             struct strbuf *lines, json_t *list) {
  for (size_t i = 0; i < predictions->count; i++) {
    const struct candidate_prediction *row = &predictions->at[i];
    struct strbuf reason = {0};
    if (!row->is_dropped) continue;
    put_reason(&reason, row, d);
    strbuf_printf(lines, "  not tried  %s, %s, %d thread%s", row->backend, row->precision,
                  row->threads, row->threads == 1 ? "" : "s");
    if (row->batch != 1) strbuf_printf(lines, ", batch %d", row->batch);
    strbuf_printf(lines, ": %s\n", reason.at ? reason.at : "");
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:i, s:i, s:i, s:s*}", "backend", row->backend, "precision",
                        row->precision, "threads", row->threads, "batch", row->batch, "look", 0,
                        "reason", reason.at));
    strbuf_deinit(&reason);
  }
}

/* -- the table of --predict */

static void put_quality(struct strbuf *out, const struct prediction_table *t) {
  static const char *const targets[] = {"latency", "memory", "size"};
  static const char *const methods[] = {"nothing", "the roofline", "XGBoost"};
  if (!t->predictor || predictor_quality(t->predictor, TARGET_latency)->used == METHOD_none) {
    strbuf_printf(out,
                  "too few models are on record: %zu with %zu rows, %d are needed; 'hone bench' "
                  "records more, --records FILE reads records of others\n",
                  t->samples.model_count, t->samples.count, PREDICT_MIN_MODELS);
    return;
  }
  strbuf_printf(out,
                "trained on %zu rows of %zu models; mean |ln(predicted / measured)| on models left "
                "out of the training:\n",
                t->samples.count, t->samples.model_count);
  for (int k = 0; k < TARGET_COUNT; k++) {
    const struct held_out *q = predictor_quality(t->predictor, (enum target_id)k);
    strbuf_printf(out, "  %-8s roofline %.3f", targets[k], q->roofline);
    if (isfinite(q->xgboost)) strbuf_printf(out, ", XGBoost %.3f", q->xgboost);
    strbuf_printf(out, ": %s is used\n", methods[q->used]);
  }
  if (t->why_not[0]) strbuf_printf(out, "without XGBoost: %s\n", t->why_not);
}

void prediction_table_text(const struct prediction_table *t, struct strbuf *out) {
  for (size_t i = 0; i < t->found.count; i++) {
    const struct candidate_prediction *row = &t->found.at[i];
    strbuf_printf(out, "  %-14s %-5s batch %-4d %2d thread%s  ", row->backend, row->precision,
                  row->batch, row->threads, row->threads == 1 ? " " : "s");
    if (row->of[TARGET_latency].why)
      strbuf_puts(out, row->of[TARGET_latency].why);
    else
      put_interval(out, &row->of[TARGET_latency].value, true);
    for (int k = TARGET_memory; k < TARGET_COUNT; k++)
      if (!row->of[k].why) {
        strbuf_puts(out, k == TARGET_memory ? ", memory " : ", size ");
        put_interval(out, &row->of[k].value, false);
      }
    strbuf_puts(out, "\n");
  }
  put_quality(out, t);
}

static json_t *rows_json(const struct predictions *found) {
  static const char *const targets[] = {"latency_ms", "memory_bytes", "size_bytes"};
  json_t *rows = json_array();
  for (size_t i = 0; i < found->count; i++) {
    json_t *row = json_pack("{s:s, s:s, s:i, s:i}", "backend", found->at[i].backend, "precision",
                            found->at[i].precision, "batch", found->at[i].batch, "threads",
                            found->at[i].threads);
    for (int k = 0; k < TARGET_COUNT; k++) {
      const struct prediction *p = &found->at[i].of[k];
      json_object_set_new(
          row, targets[k],
          p->why ? json_pack("{s:s}", "abstained", p->why)
                 : json_pack("[f, f, f]", p->value.value, p->value.low, p->value.high));
    }
    json_array_append_new(rows, row);
  }
  return rows;
}

static json_t *quality_json(const struct predictor *predictor) {
  static const char *const targets[] = {"latency_ms", "memory_bytes", "size_bytes"};
  static const char *const methods[] = {"none", "roofline", "xgboost"};
  json_t *quality = json_object();
  for (int k = 0; predictor && k < TARGET_COUNT; k++) {
    const struct held_out *q = predictor_quality(predictor, (enum target_id)k);
    json_object_set_new(
        quality, targets[k],
        json_pack("{s:o, s:o, s:s, s:i}", "roofline", json_finite(q->roofline), "xgboost",
                  json_finite(q->xgboost), "used", methods[q->used], "rows", (int)q->rows));
  }
  return quality;
}

hone_status prediction_table_json(struct ctx *ctx, const struct prediction_table *t,
                                  struct strbuf *out) {
  json_t *json = json_pack("{s:i, s:i, s:o, s:o}", "models", (int)t->samples.model_count,
                           "left_out", (int)t->samples.left_out, "left_out_errors",
                           quality_json(t->predictor), "rows", rows_json(&t->found));
  char *dumped = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
  json_decref(json);
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  strbuf_printf(out, "%s\n", dumped);
  free(dumped);
  return strbuf_finish(ctx, out);
}
