/* Searches the largest batch that an engine runs (--largest-batch MAX): doubles until it fails,
 * then bisects until the gap is at most a sixteenth. Each attempt is a separate process that opens
 * the model at that batch without caches and runs it once on random inputs, under the usual limits
 * (--memory-limit, --timeout), while no other process of the study runs. Outputs are not compared;
 * the row itself shows whether the engine is correct.
 */
#include "study_internal.h"

#include <math.h>
#include <stdlib.h>

#define ATTEMPT_CELL "largest"

struct search {
  struct bench *bench;
  const struct config *config;
  const struct bench_case *one;
  struct bench_case *at; /* the model at the current batch */
  char models_dir[4096]; /* for the built-in model of one attempt */
};

static void refuse(struct worker_end *end, const char *why) {
  *end = (struct worker_end){.status = STATUS_unsupported, .stage = STAGE_import, .rel_l2 = NAN};
  snprintf(end->reason, sizeof end->reason, "%s", why);
}

/* Describes the model at another batch and makes inputs; false: not possible. */
static MUST_USE hone_status prepare(struct search *s, int batch, struct worker_end *end,
                                    bool *out_is_ready) {
  *out_is_ready = false;
  TRY(case_at_batch(s->bench, s->one->model, batch, s->models_dir, s->at, end, out_is_ready));
  if (!*out_is_ready) return HONE_OK;
  if (batch != s->one->batch && !strcmp(s->at->shapes, s->one->shapes)) {
    *out_is_ready = false;
    refuse(end, "the model's inputs do not depend on the batch");
    return HONE_OK;
  }
  return case_inputs(s->bench, s->at, 1);
}

static MUST_USE hone_status open_once(struct search *s, struct worker_end *end, bool *out_runs) {
  struct worker worker;
  TRY(bench_config_worker(s->bench, s->config, ATTEMPT_CELL, &worker));
  json_t *command = open_command(s->bench, s->config, s->at, false);
  if (command) {
    json_object_set_new(command, "is_judged", json_false());
    json_object_set_new(command, "sets", json_integer(1));
  }
  json_t *reply = NULL;
  if (send_case(&worker, s->at, command, end))
    reply = worker_ask(&worker, command, "opened", ASK_PATIENT, end);
  else
    json_decref(command);
  *out_runs = reply != NULL;
  json_decref(reply);
  worker_close(&worker, 0);
  return HONE_OK;
}

static MUST_USE hone_status attempt(struct search *s, int batch, struct worker_end *end,
                                    bool *out_runs) {
  *end = (struct worker_end){.rel_l2 = NAN};
  *out_runs = false;
  bench_report(s->bench, s->config, s->config->model, "largest");
  hone_status status = dir_create(s->bench->ctx, s->models_dir);
  if (!status) status = prepare(s, batch, end, out_runs);
  if (!status && *out_runs) status = open_once(s, end, out_runs);
  if (s->at->data_dir[0]) dir_remove_tree(s->at->data_dir);
  dir_remove_tree(s->models_dir);
  return status;
}

static void say(char out[256], int batch, const struct worker_end *end) {
  const int n = snprintf(out, 256, "batch %d: %s: ", batch, status_text(end->status));
  if (n > 0 && n < 256) safe_copy(out + n, 256 - (size_t)n, end->reason);
}

static MUST_USE hone_status search(struct search *s, int most, int64_t *out_largest,
                                   char out_end[256]) {
  int good = 0, bad = 0; /* 0: none yet */
  struct worker_end end;
  for (int next = s->one->batch; next;) {
    bool runs;
    TRY(attempt(s, next, &end, &runs));
    if (bench_is_interrupted(s->bench)) return HONE_OK;
    if (runs) {
      *out_largest = good = next;
    } else {
      bad = next;
      say(out_end, bad, &end);
    }
    if (!good || (bad && (bad - good <= 1 || bad - good <= good / 16))) return HONE_OK;
    next = bad ? good + (bad - good) / 2 : good >= most ? 0 : good > most / 2 ? most : 2 * good;
  }
  snprintf(out_end, 256, "not searched above %d", most);
  return HONE_OK;
}

hone_status largest_batch(struct bench *bench, const struct config *config,
                          const struct bench_case *one, int64_t *out_largest, char out_end[256]) {
  struct search *s;
  *out_largest = -1;
  out_end[0] = 0;
  if (config_generates(config)) {
    snprintf(out_end, 256, "not searched in the scenario generate");
    return HONE_OK;
  }
  TRY(NEW(bench->ctx, bench->arena, s));
  TRY(NEW(bench->ctx, bench->arena, s->at));
  *s = (struct search){.bench = bench, .config = config, .one = one, .at = s->at};
  snprintf(s->models_dir, sizeof s->models_dir, "%.4000s/largest", bench->dir);
  return search(s, bench->options.largest_batch, out_largest, out_end);
}
