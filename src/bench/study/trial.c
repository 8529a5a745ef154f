/* member: a cell's process from its opening to its end, and the record of it. */
#include "study_internal.h"
#include "trial.h"

#include <math.h>

#define FALLBACK_SHOWN 0.01 /* a share that nobody would notice is no flag */
#define CLOSE_GRACE_NS 5000000000ull

/* -- opening */

struct bench_case *member_case(const struct bench *bench, const struct member *member) {
  return &bench->study.cases[bench->study.cell_case[member->progress->cell]];
}

void member_record(const struct bench *bench, size_t cell, int number, struct incarnation *out) {
  *out = (struct incarnation){
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
      .floor_ns = bench->floors[cell],
      .fallback_share = NAN,
      .max_abs_diff = NAN,
      .max_rel_diff = NAN,
      .rel_l2 = NAN,
      .cosine = NAN,
      .top1 = NAN,
      .task_accuracy = NAN,
      .task_reference = NAN,
      .accuracy_retention = NAN,
  };
  snprintf(out->study, sizeof out->study, "%s", bench->study.key);
  snprintf(out->cell, sizeof out->cell, "%s", bench->study.cells[cell].key);
}

void member_accuracy(const json_t *message, struct incarnation *record) {
  record->max_abs_diff = message_number(message, "max_abs_diff");
  record->max_rel_diff = message_number(message, "max_rel_diff");
  record->rel_l2 = message_number(message, "rel_l2");
  record->cosine = message_number(message, "cosine");
  record->top1 = message_number(message, "top1");
}

/* What an engine's own front end refuses may run as hone writes it: its last route. In front, as reasons are cut behind. */
static void put_reason(const struct worker_end *end, const struct cell *cell, char *out,
                       size_t size) {
  const struct backend *backend = backend_find(cell->backend);
  const char *last = backend && backend->routes ? strrchr(backend->routes, ' ') : NULL;
  const bool is_refused = end->status == STATUS_unsupported &&
                          (end->stage == STAGE_import || end->stage == STAGE_compile);
  if (is_refused && last && !route_is_hones(cell->route) && !strstr(end->reason, "--route"))
    snprintf(out, size, "--route%s may run it; as it is: %.900s", last, end->reason);
  else
    snprintf(out, size, "%s", end->reason);
}

void member_end(struct member *member, const struct worker_end *end) {
  if (isfinite(end->rel_l2)) member->record.rel_l2 = end->rel_l2;
  member->record.status = end->status;
  member->record.stage = end->stage;
  put_reason(end, member->cell, member->record.reason, sizeof member->record.reason);
  member->is_live = false;
}

/* Libraries as the worker saw them, and the model's files where these ship as well. */
static int64_t shipped_bytes(const struct bench *bench, const struct member *member,
                             const json_t *reply) {
  const struct backend *backend = backend_find(member->cell->backend);
  int64_t bytes = message_int(reply, "artifact_bytes", -1);
  if (bytes < 0 || !backend || !backend->ships_model) return bytes;
  /* of a file that hone wrote the worker has counted */
  return route_is_hones(member->cell->route) ? bytes
                                             : bytes + member_case(bench, member)->file_bytes;
}

static void take_opened(const struct bench *bench, struct member *member, const json_t *reply) {
  struct incarnation *r = &member->record;
  snprintf(r->engine_version, sizeof r->engine_version, "%s", message_text(reply, "version"));
  snprintf(r->effective_device, sizeof r->effective_device, "%s", message_text(reply, "device"));
  snprintf(r->effective_precision, sizeof r->effective_precision, "%s",
           message_text(reply, "precision"));
  snprintf(r->output_hash, sizeof r->output_hash, "%s", message_text(reply, "output_hash"));
  r->effective_threads = (int)message_int(reply, "threads", 0);
  r->fallback_share = message_number(reply, "fallback_share");
  r->artifact_bytes = shipped_bytes(bench, member, reply);
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
  member->rss = r->rss_load;
  member_accuracy(reply, r);
}

/* As-is means what the file computes in; in dynamic range an engine may as well compute in floats. */
static void judge_fallback(const struct bench *bench, struct member *member) {
  struct incarnation *r = &member->record;
  const char *wanted = row_precision(member_case(bench, member), member->cell);
  const bool is_either = !strcmp(wanted, "dynamic") && !strcmp(r->effective_precision, "fp32");
  if (!strcmp(wanted, "as-is")) wanted = "fp32";
  bool is_other = (strcmp(r->effective_precision, wanted) && !is_either) ||
                  (isfinite(r->fallback_share) && r->fallback_share > FALLBACK_SHOWN);
  if (is_other) r->flags |= FLAG_MASK(fallback);
}

/* How the engine computed, by its own profile. Everything is measured: a worker that dies of it has
   lost nothing but this. */
static bool ask_survey(struct member *member) {
  struct worker_end end;
  const int64_t peak = member->worker.rss_peak_seen;
  json_t *reply = worker_ask(&member->worker, json_pack("{s:s}", "do", "survey"), "surveyed",
                             ASK_PATIENT, &end);
  member->worker.rss_peak_seen = peak;
  if (!reply) return false;
  snprintf(member->record.effective_precision, sizeof member->record.effective_precision, "%s",
           message_text(reply, "precision"));
  member->record.fallback_share = message_number(reply, "fallback_share");
  json_decref(reply);
  return true;
}

/* Text goes to the engines that take it, one request at a time: what a request left is read before the next. */
static bool check_text(struct member *member, const struct bench_case *one,
                       const struct backend *backend) {
  const char *name = NULL;
  for (size_t i = 0; i < one->input_count; i++)
    if (one->inputs[i].info.dtype == HONE_STRING) name = one->inputs[i].name;
  for (size_t i = 0; i < one->output_count; i++)
    if (one->outputs[i].info.dtype == HONE_STRING) name = one->outputs[i].name;
  const bool is_single = !strcmp(member->cell->scenario, "single");
  if (!name || !backend || (backend->takes_text && is_single)) return true;
  struct worker_end end = {.status = STATUS_unsupported, .stage = STAGE_import, .rel_l2 = NAN};
  int n = snprintf(end.reason, sizeof end.reason, "%s: ", backend->title);
  if (n > 0 && (size_t)n < sizeof end.reason)
    snprintf(end.reason + n, sizeof end.reason - (size_t)n,
             backend->takes_text ? "text (\"%.100s\") is measured in the scenario single"
                                 : "hone hands it no text (\"%.100s\")",
             name);
  member_end(member, &end);
  return false;
}

static bool check_format(struct member *member, const struct bench_case *one,
                         const struct backend *backend) {
  if (!backend || backend->testing_only || backend_reads(backend, one->format) ||
      route_is_hones(member->cell->route))
    return true;
  struct worker_end end = {.status = STATUS_unsupported, .stage = STAGE_import, .rel_l2 = NAN};
  const char *last = backend->routes ? strrchr(backend->routes, ' ') : NULL;
  const bool has_other = last && route_is_hones(last + 1);
  snprintf(end.reason, sizeof end.reason, "%s reads %s; this model is %s%s%s%s", backend->title,
           backend->formats, one->format, has_other ? ": --route" : "", has_other ? last : "",
           has_other ? " hands it what hone writes" : "");
  member_end(member, &end);
  return false;
}

static bool ask_open(struct bench *bench, struct member *member) {
  struct bench_case *one = member_case(bench, member);
  const struct backend *backend = backend_find(member->cell->backend);
  if (!check_format(member, one, backend) || !check_text(member, one, backend)) return false;
  const bool use_cache = member->record.number > 0 && strcmp(member->cell->cache_state, "cold");
  json_t *command = open_command(bench, member->cell, one, use_cache);
  const bool is_near = member->worker.transport->shares_files;
  if (command && backend && backend_is_peer(bench, backend) && !one->is_disputed && is_near) {
    witness_dir(bench, one, member->witness);
    json_object_set_new(command, "witness", json_string(member->witness));
  }
  struct worker_end end;
  const bool generates = cell_generates(member->cell);
  if ((generates && !case_add_generation(one, member->cell, command, &end)) ||
      !send_case(&member->worker, one, command, &end)) {
    json_decref(command);
    member_end(member, &end);
    return false;
  }
  json_t *reply = worker_ask(&member->worker, command, "opened", ASK_PATIENT, &end);
  if (!reply) {
    member_end(member, &end);
    return false;
  }
  take_opened(bench, member, reply);
  json_decref(reply);
  return true;
}

static bool ask_warmup(struct member *member, int64_t max_ns) {
  struct worker_end end;
  json_t *reply = worker_ask(&member->worker,
                             json_pack("{s:s, s:I}", "do", "warmup", "max_ns", (json_int_t)max_ns),
                             "warm", ASK_TIMED, &end);
  if (!reply) {
    member_end(member, &end);
    return false;
  }
  member->record.warmup_ms = message_number(reply, "ms");
  member->median_ns = message_number(reply, "median_ns");
  member->rss = message_int(reply, "rss", member->rss);
  if (!message_bool(reply, "is_stationary")) member->record.flags |= FLAG_MASK(unsteady);
  json_decref(reply);
  return true;
}

hone_status member_open(struct bench *bench, struct cell_run *progress, int number, bool is_anchor,
                        struct member *out) {
  *out = (struct member){.cell = &bench->study.cells[progress->cell],
                         .progress = progress,
                         .is_anchor = is_anchor,
                         .rss_peak = -1};
  member_record(bench, progress->cell, number, &out->record);
  progress->next_number = number + 1;
  out->record.largest_batch = progress->largest_batch;
  memcpy(out->record.largest_batch_end, progress->largest_batch_end,
         sizeof out->record.largest_batch_end);
  bench_report(bench, out->cell, out->cell->model, "open");
  TRY(bench_cell_worker(bench, out->cell, out->cell->key, &out->worker));
  memory_log_begin(&out->memory);
  out->worker.memory = &out->memory;
  const struct bench_case *one = member_case(bench, out);
  out->worker.judged = one;
  out->worker.generates = cell_generates(out->cell) ? bench_generates(bench) : NULL;
  snprintf(out->worker.precision, sizeof out->worker.precision, "%s",
           row_precision(one, out->cell));
  out->is_live = ask_open(bench, out) && ask_warmup(out, (int64_t)(bench->options.warmup_s * 1e9));
  return HONE_OK;
}

/* -- closing */

static double slope(const struct member *m) {
  double spread = m->n * m->sum_xx - m->sum_x * m->sum_x;
  return m->n >= 2 && spread > 0 ? (m->n * m->sum_xy - m->sum_x * m->sum_y) / spread : NAN;
}

static void judge_noise(struct member *member) {
  if (!member->rounds || member->cell->load) return; /* it was asked for */
  struct noise mean = member->noise;
  mean.steal_fraction /= member->rounds;
  mean.pressure_some /= member->rounds;
  if (noise_is_high(&mean, (uint64_t)member->measured_ns)) member->record.flags |= FLAG_MASK(noisy);
}

/* It ran, and nothing says that its outputs are right. */
static void doubt(const struct bench_case *one, struct incarnation *record) {
  record->status = one->is_disputed ? STATUS_disputed : STATUS_unverified;
  record->stage = STAGE_verify;
  snprintf(record->reason, sizeof record->reason, "%s",
           one->is_disputed ? one->dispute
           : one->is_from_peers
               ? "hone has no reference for this model, and no two engines agree on it"
               : "no output of the timed run was compared");
}

hone_status member_close(struct bench *bench, struct member *member) {
  struct incarnation *record = &member->record;
  const bool asks = member->is_live && !record->number;
  if (asks) turn_survey(bench);
  bool has_survived = !asks || (ask_survey(member) && ask_labels(bench, member_case(bench, member),
                                                                 &member->worker, record));
  turn_close(bench);
  hone_status kept = HONE_OK;
  if (bench->options.keep_dir && member->is_live && has_survived && !record->number)
    kept = keep_cell(bench, member->cell, &member->worker, record, &has_survived);
  if (member->is_live) judge_fallback(bench, member);
  if (member->is_live && has_survived) {
    struct worker_end end;
    json_t *reply =
        worker_ask(&member->worker, json_pack("{s:s}", "do", "close"), "closed", ASK_PATIENT, &end);
    if (reply)
      member->rss_peak = message_int(reply, "rss_peak", member->rss_peak);
    else
      member_end(member, &end);
    json_decref(reply);
  }
  bench->harness.deadline_ns = 0;
  bool is_clean =
      worker_close(&member->worker, member->is_live ? CLOSE_GRACE_NS : 0) && has_survived;
  if (member->is_live && !is_clean) record->flags |= FLAG_MASK(unclean_exit);
  if (member->is_live && !member->verified) doubt(member_case(bench, member), record);
  int64_t seen = member->worker.rss_peak_seen;
  record->rss_peak = member->rss_peak > seen ? member->rss_peak : seen > 0 ? seen : -1;
  record->rss_steady = member->rounds ? member->rss : -1;
  record->rss_slope = slope(member);
  record->memory_when = member->memory.when_ns;
  record->memory_bytes = member->memory.bytes;
  record->memory_when_count = record->memory_count = member->memory.count;
  judge_noise(member);
  note_saturation(member_case(bench, member), member->cell, record);
  bool is_ended = record->status != STATUS_interrupted;
  if (is_ended && !member->is_anchor) member->progress->complete++;
  if (is_ended && record->status != STATUS_ok && record->status != STATUS_unverified &&
      record->status != STATUS_disputed)
    member->progress->has_failed = true;
  const struct bench_callbacks *callbacks = bench->callbacks;
  if (callbacks->incarnation) TRY(callbacks->incarnation(callbacks->user, record));
  return kept;
}
