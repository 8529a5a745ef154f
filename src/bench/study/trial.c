/* A trial: one process of a configuration from opening to closing, and its record. */
#include "study_internal.h"
#include "trial.h"

#include <math.h>

#define FALLBACK_SHOWN 0.01 /* smaller fallback shares are not flagged */
#define CLOSE_GRACE_NS 5000000000ull

/* -- opening */

struct bench_case *trial_case(const struct bench *bench, const struct trial *trial) {
  return &bench->study.cases[bench->study.config_case[trial->progress->config]];
}

void trial_record(const struct bench *bench, size_t config, int number,
                  struct process_record *out) {
  *out = (struct process_record){
      .number = number,
      .compile_ms = NAN,
      .load_ms = NAN,
      .first_inference_ms = NAN,
      .warmup_ms = NAN,
      .import_ms = NAN,
      .cached_compile_ms = NAN,
      .rss_import = -1,
      .rss_compile = -1,
      .rss_load = -1,
      .rss_steady = -1,
      .rss_peak = -1,
      .rss_slope = NAN,
      .rate_per_s = NAN,
      .largest_batch = -1,
      .artifact_bytes = -1,
      .arena_bytes = -1,
      .busy_threads = -1,
      .floor_ns = bench->overheads[config],
      .fallback_share = NAN,
      .max_abs_diff = NAN,
      .max_rel_diff = NAN,
      .rel_l2 = NAN,
      .cosine = NAN,
      .top1 = NAN,
      .task_accuracy = NAN,
      .task_reference = NAN,
      .accuracy_retention = NAN,
      .kl_divergence = NAN,
  };
  snprintf(out->study, sizeof out->study, "%s", bench->study.key);
  snprintf(out->config, sizeof out->config, "%s", bench->study.configs[config].key);
}

void trial_accuracy(const json_t *message, struct trial *trial) {
  struct process_record *record = &trial->record;
  record->max_abs_diff = fmax(record->max_abs_diff, message_number(message, "max_abs_diff"));
  record->max_rel_diff = fmax(record->max_rel_diff, message_number(message, "max_rel_diff"));
  record->rel_l2 = fmax(record->rel_l2, message_number(message, "rel_l2"));
  record->cosine = fmin(record->cosine, message_number(message, "cosine"));
  record->top1 = fmin(record->top1, message_number(message, "top1"));
}

/* If the engine's importer refuses the model, suggests its last route, for which hone writes the
   model. The hint comes first because long reasons are cut at the end. */
static void put_reason(const struct worker_end *end, const struct config *config, char *out,
                       size_t size) {
  const struct backend *backend = backend_find(config->backend);
  const char *last = backend && backend->routes ? strrchr(backend->routes, ' ') : NULL;
  const bool is_refused = end->status == STATUS_unsupported &&
                          (end->stage == STAGE_import || end->stage == STAGE_compile);
  if (is_refused && last && !route_is_hones(config->route) && !strstr(end->reason, "--route"))
    snprintf(out, size, "--route%s may run it; without: %.900s", last, end->reason);
  else
    snprintf(out, size, "%s", end->reason);
}

void trial_end(struct trial *trial, const struct worker_end *end) {
  if (isfinite(end->rel_l2)) trial->record.rel_l2 = end->rel_l2;
  trial->record.status = end->status;
  trial->record.stage = end->stage;
  put_reason(end, trial->config, trial->record.reason, sizeof trial->record.reason);
  trial->is_live = false;
}

/* Size of the libraries as the worker saw them, plus the model's files if these are deployed
   too. */
static int64_t shipped_bytes(const struct bench *bench, const struct trial *trial,
                             const json_t *reply) {
  const struct backend *backend = backend_find(trial->config->backend);
  int64_t bytes = message_int(reply, "artifact_bytes", -1);
  if (bytes < 0 || !backend || !backend->ships_model) return bytes;
  /* the worker has counted files that hone wrote */
  return route_is_hones(trial->config->route) ? bytes
                                              : bytes + trial_case(bench, trial)->file_bytes;
}

static void take_opened(const struct bench *bench, struct trial *trial, const json_t *reply) {
  struct process_record *r = &trial->record;
  snprintf(r->engine_version, sizeof r->engine_version, "%s", message_text(reply, "version"));
  snprintf(r->effective_device, sizeof r->effective_device, "%s", message_text(reply, "device"));
  snprintf(r->effective_precision, sizeof r->effective_precision, "%s",
           message_text(reply, "precision"));
  snprintf(r->output_hash, sizeof r->output_hash, "%s", message_text(reply, "output_hash"));
  r->effective_threads = (int)message_int(reply, "threads", 0);
  r->fallback_share = message_number(reply, "fallback_share");
  r->artifact_bytes = shipped_bytes(bench, trial, reply);
  r->arena_bytes = message_int(reply, "arena_bytes", -1);
  r->flags = (uint32_t)message_int(reply, "flags", 0);
  r->import_ms = message_number(reply, "import_ms");
  double compile_ms = message_number(reply, "compile_ms");
  if (message_bool(reply, "from_cache"))
    r->cached_compile_ms = compile_ms;
  else
    r->compile_ms = compile_ms;
  r->load_ms = message_number(reply, "load_ms");
  r->first_inference_ms = message_number(reply, "first_ms");
  r->rss_import = message_int(reply, "rss_import", -1);
  r->rss_compile = message_int(reply, "rss_compile", -1);
  r->rss_load = message_int(reply, "rss_load", -1);
  trial->rss = r->rss_load;
  trial_accuracy(reply, trial);
}

/* Precision "as-is" is the precision of the file; for dynamic-range quantised files floats are
   allowed too. */
static void flag_fallback(const struct bench *bench, struct trial *trial) {
  struct process_record *r = &trial->record;
  const char *wanted = row_precision(trial_case(bench, trial), trial->config);
  const bool is_either = !strcmp(wanted, "dynamic") && !strcmp(r->effective_precision, "fp32");
  if (!strcmp(wanted, "as-is")) wanted = "fp32";
  bool is_other = (strcmp(r->effective_precision, wanted) && !is_either) ||
                  (isfinite(r->fallback_share) && r->fallback_share > FALLBACK_SHOWN);
  if (is_other) r->flags |= FLAG_MASK(fallback);
}

/* Asks how the engine computed, by its own profile. Comes after all measurements, so a crash loses
   only this. */
static bool ask_survey(struct trial *trial) {
  struct worker_end end;
  json_t *reply =
      worker_ask(&trial->worker, json_pack("{s:s}", "do", "survey"), "surveyed", ASK_PATIENT, &end);
  if (!reply) return false;
  snprintf(trial->record.effective_precision, sizeof trial->record.effective_precision, "%s",
           message_text(reply, "precision"));
  trial->record.fallback_share = message_number(reply, "fallback_share");
  json_decref(reply);
  return true;
}

/* Strings are supported by some engines and in scenario single only: the outputs of a request are
   read before the next. */
static bool check_text(struct trial *trial, const struct bench_case *one,
                       const struct backend *backend) {
  const char *name = NULL;
  for (size_t i = 0; i < one->input_count; i++)
    if (one->inputs[i].info.dtype == HONE_STRING) name = one->inputs[i].name;
  for (size_t i = 0; i < one->output_count; i++)
    if (one->outputs[i].info.dtype == HONE_STRING) name = one->outputs[i].name;
  const bool is_single = !strcmp(trial->config->scenario, "single");
  if (!name || !backend || (backend->takes_text && is_single)) return true;
  struct worker_end end = {.status = STATUS_unsupported, .stage = STAGE_import, .rel_l2 = NAN};
  int n = snprintf(end.reason, sizeof end.reason, "%s: ", backend->title);
  if (n > 0 && (size_t)n < sizeof end.reason)
    snprintf(end.reason + n, sizeof end.reason - (size_t)n,
             backend->takes_text
                 ? "string tensors (\"%.100s\") are measured in the scenario single only"
                 : "string tensors (\"%.100s\") are not supported",
             name);
  trial_end(trial, &end);
  return false;
}

static bool check_format(struct trial *trial, const struct bench_case *one,
                         const struct backend *backend) {
  if (!backend || backend->testing_only || backend_reads(backend, one->format) ||
      route_is_hones(trial->config->route))
    return true;
  struct worker_end end = {.status = STATUS_unsupported, .stage = STAGE_import, .rel_l2 = NAN};
  const char *last = backend->routes ? strrchr(backend->routes, ' ') : NULL;
  const bool has_other = last && route_is_hones(last + 1);
  snprintf(end.reason, sizeof end.reason, "%s reads %s; this model is %s%s%s%s", backend->title,
           backend->formats, one->format, has_other ? ": --route" : "", has_other ? last : "",
           has_other ? " converts it with hone" : "");
  trial_end(trial, &end);
  return false;
}

static bool ask_open(struct bench *bench, struct trial *trial) {
  struct bench_case *one = trial_case(bench, trial);
  const struct backend *backend = backend_find(trial->config->backend);
  if (!check_format(trial, one, backend) || !check_text(trial, one, backend)) return false;
  const bool use_cache = trial->record.number > 0 && strcmp(trial->config->cache_state, "cold");
  json_t *command = open_command(bench, trial->config, one, use_cache);
  const bool is_near = trial->worker.transport->shares_files;
  if (command && backend && backend_is_peer(bench, backend) && !one->is_disputed && is_near) {
    engine_output_dir(bench, one, trial->engine_outputs);
    json_object_set_new(command, "witness", json_string(trial->engine_outputs));
  }
  struct worker_end end;
  const bool generates = config_generates(trial->config);
  if ((generates && !case_add_generation(bench, one, trial->config, command, &end)) ||
      !send_case(&trial->worker, one, command, &end)) {
    json_decref(command);
    trial_end(trial, &end);
    return false;
  }
  json_t *reply = worker_ask(&trial->worker, command, "opened", ASK_PATIENT, &end);
  if (!reply) {
    trial_end(trial, &end);
    return false;
  }
  take_opened(bench, trial, reply);
  json_decref(reply);
  return true;
}

static bool ask_warmup(struct trial *trial, int64_t max_ns) {
  struct worker_end end;
  json_t *reply = worker_ask(&trial->worker,
                             json_pack("{s:s, s:I}", "do", "warmup", "max_ns", (json_int_t)max_ns),
                             "warm", ASK_TIMED, &end);
  if (!reply) {
    trial_end(trial, &end);
    return false;
  }
  trial->record.warmup_ms = message_number(reply, "ms");
  trial->median_ns = message_number(reply, "median_ns");
  trial->rss = message_int(reply, "rss", trial->rss);
  if (!message_bool(reply, "is_stationary")) trial->record.flags |= FLAG_MASK(unsteady);
  json_decref(reply);
  return true;
}

hone_status trial_open(struct bench *bench, struct config_run *progress, int number, bool is_anchor,
                       struct trial *out) {
  *out = (struct trial){.config = &bench->study.configs[progress->config],
                        .progress = progress,
                        .is_anchor = is_anchor,
                        .rss_peak = -1};
  trial_record(bench, progress->config, number, &out->record);
  progress->next_number = number + 1;
  out->record.largest_batch = progress->largest_batch;
  memcpy(out->record.largest_batch_end, progress->largest_batch_end,
         sizeof out->record.largest_batch_end);
  bench_report(bench, out->config, out->config->model, "open");
  TRY(bench_config_worker(bench, out->config, out->config->key, &out->worker));
  memory_log_begin(&out->memory);
  out->worker.memory = &out->memory;
  const struct bench_case *one = trial_case(bench, out);
  out->worker.checked_case = one;
  out->worker.generates = generation_scenario(bench, out->config);
  snprintf(out->worker.precision, sizeof out->worker.precision, "%s",
           row_precision(one, out->config));
  out->is_live = ask_open(bench, out) && ask_warmup(out, (int64_t)(bench->options.warmup_s * 1e9));
  return HONE_OK;
}

/* -- closing */

static double slope(const struct trial *m) {
  double spread = m->n * m->sum_xx - m->sum_x * m->sum_x;
  return m->n >= 2 && spread > 0 ? (m->n * m->sum_xy - m->sum_x * m->sum_y) / spread : NAN;
}

static void flag_noise(struct trial *trial) {
  if (!trial->rounds || trial->config->load) return; /* load was requested */
  struct noise mean = trial->noise;
  mean.steal_fraction /= trial->rounds;
  mean.pressure_some /= trial->rounds;
  if (noise_is_high(&mean, (uint64_t)trial->measured_ns)) trial->record.flags |= FLAG_MASK(noisy);
}

/* It ran, but its outputs were not checked. */
static void mark_unverified(const struct bench_case *one, struct process_record *record) {
  record->status = one->is_disputed ? STATUS_disputed : STATUS_unverified;
  record->stage = STAGE_verify;
  snprintf(record->reason, sizeof record->reason, "%s",
           one->is_disputed ? one->dispute
           : one->is_from_peers
               ? "hone has no reference for this model, and no two engines agree on it"
               : "no output of the timed run was compared");
}

hone_status trial_close(struct bench *bench, struct trial *trial) {
  struct process_record *record = &trial->record;
  const bool asks = trial->is_live && !record->number;
  if (asks) budget_bound_survey(bench);
  const struct bench_case *one = trial_case(bench, trial);
  const int64_t seen =
      trial->worker.rss_peak_seen; /* before questions that need memory of their own */
  bool has_survived =
      !asks || (ask_survey(trial) && ask_labels(bench, one, &trial->worker, record) &&
                ask_quality(bench, one, &trial->worker, trial->config->backend, record));
  budget_bound_close(bench);
  hone_status kept = HONE_OK;
  if (bench->options.keep_dir && trial->is_live && has_survived && !record->number)
    kept = keep_config(bench, trial->config, &trial->worker, record, &has_survived);
  if (trial->is_live) flag_fallback(bench, trial);
  if (trial->is_live && has_survived) {
    struct worker_end end;
    json_t *reply =
        worker_ask(&trial->worker, json_pack("{s:s}", "do", "close"), "closed", ASK_PATIENT, &end);
    if (!reply) trial_end(trial, &end);
    json_decref(reply);
  }
  bench->harness.deadline_ns = 0;
  bool is_clean = worker_close(&trial->worker, trial->is_live ? CLOSE_GRACE_NS : 0) && has_survived;
  if (trial->is_live && !is_clean) record->flags |= FLAG_MASK(unclean_exit);
  if (trial->is_live && !trial->verified) mark_unverified(trial_case(bench, trial), record);
  record->rss_peak = trial->rss_peak > seen ? trial->rss_peak : seen > 0 ? seen : -1;
  record->rss_steady = trial->rounds ? trial->rss : -1;
  record->rss_slope = slope(trial);
  record->memory_when = trial->memory.when_ns;
  record->memory_bytes = trial->memory.bytes;
  record->memory_when_count = record->memory_count = trial->memory.count;
  flag_noise(trial);
  note_saturation(trial_case(bench, trial), trial->config, record);
  bool is_ended = record->status != STATUS_interrupted;
  if (is_ended && !trial->is_anchor) trial->progress->complete++;
  if (is_ended && record->status != STATUS_ok && record->status != STATUS_unverified &&
      record->status != STATUS_disputed)
    trial->progress->has_failed = true;
  const struct bench_callbacks *callbacks = bench->callbacks;
  if (callbacks->process_record) TRY(callbacks->process_record(callbacks->user, record));
  return kept;
}
