/* All cells of one case, interleaved. One pass makes one incarnation of every cell: workers are
 * opened and warmed up in random order and stopped; then rounds, each visiting the cells in random
 * order for one slice; then they are closed. Residents together stay under half of RAM: what does
 * not fit is measured in further groups of the same pass, each with the anchor (the pass's first
 * cell) again.
 *
 * A block is handed on after its worker was stopped again, never during a slice.
 */
#include "transport.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SLICES_PER_CHECK \
  3 /* one of so many has an inference checked at random; all have the last */
#define REWARM_NS 5000000ull
#define FALLBACK_SHOWN 0.01 /* a share that nobody would notice is no flag */
#define CLOSE_GRACE_NS 5000000000ull

struct member { /* one cell in a group */
  const struct cell *cell;
  struct cell_run *progress;
  struct worker worker;
  struct incarnation record;
  struct memory_log memory;
  char witness[4096]; /* where an engine that can object leaves outputs that differ */
  bool is_live, is_anchor;
  double median_ns; /* of the warm-up */
  int rounds, wanted_rounds;
  int64_t rss, rss_peak;
  int verified;
  struct noise noise; /* sums over its blocks */
  double measured_ns;
  /* sums for the line through (iterations, rss) */
  double n, sum_x, sum_y, sum_xx, sum_xy;
};
/* -- one member ---------------------------------------------------------------------------------
 */

static struct bench_case *case_of(const struct bench *bench, const struct member *member) {
  return &bench->study.cases[bench->study.cell_case[member->progress->cell]];
}

static void record_init(const struct bench *bench, size_t cell, int number,
                        struct incarnation *out) {
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

static void take_accuracy(const json_t *message, struct incarnation *record) {
  record->max_abs_diff = message_number(message, "max_abs_diff");
  record->max_rel_diff = message_number(message, "max_rel_diff");
  record->rel_l2 = message_number(message, "rel_l2");
  record->cosine = message_number(message, "cosine");
  record->top1 = message_number(message, "top1");
}

static void take_end(struct member *member, const struct worker_end *end) {
  if (isfinite(end->rel_l2)) member->record.rel_l2 = end->rel_l2;
  member->record.status = end->status;
  member->record.stage = end->stage;
  snprintf(member->record.reason, sizeof member->record.reason, "%s", end->reason);
  member->is_live = false;
}

/* Libraries as the worker saw them, and the model's files where these ship as well. */
static int64_t shipped_bytes(const struct bench *bench, const struct member *member,
                             const json_t *reply) {
  const struct backend *backend = backend_find(member->cell->backend);
  int64_t bytes = message_int(reply, "artifact_bytes", -1);
  if (bytes < 0 || !backend || !backend->ships_model) return bytes;
  /* of a file that hone wrote the worker has counted */
  return route_is_hones(member->cell->route) ? bytes : bytes + case_of(bench, member)->file_bytes;
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
  take_accuracy(reply, r);
}

/* As-is means what the file computes in. */
static void judge_fallback(const struct bench *bench, struct member *member) {
  struct incarnation *r = &member->record;
  const char *wanted = member->cell->precision, *own = case_of(bench, member)->tolerance;
  if (!strcmp(wanted, "as-is") || (own[0] && strcmp(own, "fp32"))) wanted = own[0] ? own : "fp32";
  bool is_other = strcmp(r->effective_precision, wanted) ||
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
  take_end(member, &end);
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
  take_end(member, &end);
  return false;
}

static bool ask_open(struct bench *bench, struct member *member) {
  struct bench_case *one = case_of(bench, member);
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
    take_end(member, &end);
    return false;
  }
  json_t *reply = worker_ask(&member->worker, command, "opened", ASK_PATIENT, &end);
  if (!reply) {
    take_end(member, &end);
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
    take_end(member, &end);
    return false;
  }
  member->record.warmup_ms = message_number(reply, "ms");
  member->median_ns = message_number(reply, "median_ns");
  member->rss = message_int(reply, "rss", member->rss);
  if (!message_bool(reply, "is_stationary")) member->record.flags |= FLAG_MASK(unsteady);
  json_decref(reply);
  return true;
}

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

/* The worker's end, and the record of this incarnation. */
static hone_status member_close(struct bench *bench, struct member *member) {
  struct incarnation *record = &member->record;
  bool has_survived =
      !member->is_live || member->record.number ||
      (ask_survey(member) && ask_labels(bench, case_of(bench, member), &member->worker, record));
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
      take_end(member, &end);
    json_decref(reply);
  }
  bool is_clean =
      worker_close(&member->worker, member->is_live ? CLOSE_GRACE_NS : 0) && has_survived;
  if (member->is_live && !is_clean) record->flags |= FLAG_MASK(unclean_exit);
  if (member->is_live && !member->verified) doubt(case_of(bench, member), record);
  int64_t seen = member->worker.rss_peak_seen;
  record->rss_peak = member->rss_peak > seen ? member->rss_peak : seen > 0 ? seen : -1;
  record->rss_steady = member->rounds ? member->rss : -1;
  record->rss_slope = slope(member);
  record->memory_when = member->memory.when_ns;
  record->memory_bytes = member->memory.bytes;
  record->memory_when_count = record->memory_count = member->memory.count;
  judge_noise(member);
  bool is_ended = record->status != STATUS_interrupted;
  if (is_ended && !member->is_anchor) member->progress->complete++;
  if (is_ended && record->status != STATUS_ok && record->status != STATUS_unverified &&
      record->status != STATUS_disputed)
    member->progress->has_failed = true;
  const struct bench_callbacks *callbacks = bench->callbacks;
  if (callbacks->incarnation) TRY(callbacks->incarnation(callbacks->user, record));
  return kept;
}

/* -- one slice ----------------------------------------------------------------------------------
 */

/* rate_per_s 0: as the worker was opened for. */
static json_t *ask_slice(int round, int64_t min_samples, double min_ns, double max_ns, bool checks,
                         double rate_per_s) {
  json_t *command =
      json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:i}", "do", "slice", "round", round, "min_samples",
                (json_int_t)min_samples, "min_ns", (json_int_t)min_ns, "max_ns", (json_int_t)max_ns,
                "rewarm_ns", (json_int_t)REWARM_NS, "checks", checks);
  if (command && rate_per_s > 0) message_set_number(command, "rate", rate_per_s);
  return command;
}

static json_t *slice_command(struct bench *bench, const struct member *member, int round) {
  const struct bench_options *o = &bench->options;
  int rounds = member->wanted_rounds * o->incarnations;
  int64_t min_samples = (o->min_samples + rounds - 1) / rounds;
  return ask_slice(round, min_samples, o->min_time_s * 1e9 / rounds, o->max_time_s * 1e9 / rounds,
                   round == 0 || random_below(&bench->random, SLICES_PER_CHECK) == 0,
                   member->progress->rate_per_s);
}

/* What a file of times can be: calls one after the other, which together are no longer than the slice;
   latencies of requests that overlap; instants since the slice began. */
enum times { TIMES_IN_TURN, TIMES_OVERLAPPING, TIMES_INSTANTS };

/* The worker's file must hold what its message said, and no sample can be longer than the slice. */
static bool read_samples(struct member *member, const char *kind, enum times times, int round,
                         int64_t count, uint64_t wall_ns, uint64_t **out) {
  char path[4096 + 64], file[48];
  snprintf(file, sizeof file, "%s_%d.npy", kind, round);
  snprintf(path, sizeof path, "%s/%s", member->worker.dir, file);
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor tensor = {.data = NULL};
  if (member->worker.transport->get(&ctx, &member->worker, file) ||
      npy_read(&ctx, path, NULL, &tensor))
    return false;
  uint64_t *samples = tensor.data, sum = 0;
  bool is_sound = tensor.dtype == HONE_U64 && tensor.rank == 1 && tensor.shape[0] == count;
  for (int64_t i = 0; is_sound && i < count; i++)
    is_sound = (samples[i] > 0 || times == TIMES_INSTANTS) && samples[i] <= wall_ns &&
               checked_add(sum, samples[i], &sum);
  unlink(path);
  *out = samples;
  if (is_sound && (times != TIMES_IN_TURN || sum <= wall_ns)) return true;
  free(samples);
  *out = NULL;
  return false;
}

static void add_point(struct member *member, double x, double y) {
  member->n++;
  member->sum_x += x;
  member->sum_y += y;
  member->sum_xx += x * x;
  member->sum_xy += x * y;
}

static void take_block(struct member *member, const json_t *reply, const struct block *block,
                       uint64_t wall_ns) {
  member->rounds++;
  member->verified += block->verified;
  member->rss = message_int(reply, "rss", -1);
  member->rss_peak = message_int(reply, "rss_peak", -1);
  const int busy = (int)message_int(reply, "busy_threads", -1);
  if (busy > member->record.busy_threads) member->record.busy_threads = busy;
  member->noise.steal_fraction += fmax(0, block->noise.steal_fraction);
  member->noise.pressure_some += fmax(0, block->noise.pressure_some);
  member->noise.involuntary_switches += block->noise.involuntary_switches;
  member->measured_ns += (double)wall_ns;
  if (member->rounds > 1) /* in the first round caches of the allocator still settle */
    add_point(member, message_number(reply, "iterations"), (double)member->rss);
  take_accuracy(reply, &member->record);
  if (message_bool(reply, "is_within")) return;
  struct worker_end end = {.status = STATUS_wrong, .stage = STAGE_verify, .rel_l2 = NAN};
  snprintf(end.reason, sizeof end.reason, "inside the timed run: %s", message_text(reply, "where"));
  take_end(member, &end);
}

static hone_status hand_on(struct bench *bench, struct member *member, const json_t *reply,
                           struct block *block, uint64_t wall_ns) {
  int64_t count = message_int(reply, "samples", 0), rewarm = message_int(reply, "rewarm", 0);
  const bool is_single = !strcmp(member->cell->scenario, "single");
  bool is_sound =
      message_int(reply, "round", -1) == block->round &&
      read_samples(member, "block", is_single ? TIMES_IN_TURN : TIMES_OVERLAPPING, block->round,
                   count, wall_ns, &block->samples) &&
      read_samples(member, "rewarm", TIMES_IN_TURN, block->round, rewarm, wall_ns, &block->rewarm);
  if (is_sound && !is_single)
    is_sound = read_samples(member, "scheduled", TIMES_INSTANTS, block->round, count, wall_ns,
                            &block->scheduled) &&
               read_samples(member, "started", TIMES_INSTANTS, block->round, count, wall_ns,
                            &block->started);
  hone_status status = HONE_OK;
  if (!is_sound) {
    struct worker_end end = {.status = STATUS_protocol_error, .stage = STAGE_run, .rel_l2 = NAN};
    snprintf(end.reason, sizeof end.reason, "its samples are not what its message says");
    take_end(member, &end);
  } else {
    block->sample_count = (size_t)count;
    if (!is_single) block->scheduled_count = block->started_count = (size_t)count;
    block->rewarm_count = (size_t)rewarm;
    take_block(member, reply, block, wall_ns);
    const struct bench_callbacks *callbacks = bench->callbacks;
    /* a wrong answer leaves no figures behind */
    if (callbacks->block && member->is_live) status = callbacks->block(callbacks->user, block);
    if (!status && member->is_live)
      status = slice_log_add(bench->ctx, bench->arena, &member->progress->slices,
                             block->incarnation, block);
  }
  free(block->samples);
  free(block->rewarm);
  free(block->scheduled);
  free(block->started);
  return status;
}

/* -- the highest rate ---------------------------------------------------------------------------
 */

#define PROBE_ROUND (1 << 19) /* beyond those that count: its samples are kept nowhere */
#define PROBE_SAMPLES 400     /* from 368 on the 99th percentile has an upper end */
#define PROBE_NS 60000000000ll
#define RATE_MOST 1e6
#define RATE_GAP 1.05 /* the search ends where the next higher rate that failed is so near */

/* As for the row itself. */
static bool is_within_bound(const uint64_t *samples, size_t count, double bound_ms) {
  size_t over = 0;
  for (size_t i = 0; i < count; i++) over += (double)samples[i] > bound_ms * 1e6;
  return latency_bound_holds(count, over);
}

static bool holds_rate(struct bench *bench, struct member *member, double rate, double bound_ms) {
  struct worker_end end;
  uint64_t *samples = NULL;
  bench_report(bench, member->cell, member->cell->model, "rate");
  json_t *command = ask_slice(PROBE_ROUND, PROBE_SAMPLES, 0, PROBE_NS, false, rate);
  const uint64_t start = clock_ns();
  json_t *reply = worker_ask(&member->worker, command, "block", ASK_TIMED, &end);
  const uint64_t wall_ns = clock_ns() - start;
  if (!reply) {
    take_end(member, &end);
    return false;
  }
  const int64_t count = message_int(reply, "samples", 0);
  const bool is_sound =
      message_int(reply, "round", -1) == PROBE_ROUND &&
      read_samples(member, "block", TIMES_OVERLAPPING, PROBE_ROUND, count, wall_ns, &samples);
  json_decref(reply);
  const bool holds = is_sound && is_within_bound(samples, (size_t)count, bound_ms);
  free(samples);
  return holds;
}

/* LoadGen's search: doubled or halved from half of what one request after the other allows, then bisected by
   ratio. 0: not even a sixteenth of that holds. */
static double highest_rate(struct bench *bench, struct member *member, double bound_ms) {
  const double first = fmin(0.5e9 / fmax(1, member->median_ns), RATE_MOST);
  double good = 0, bad = 0;
  if (member->median_ns > bound_ms * 1e6) return 0; /* no request would be within it */
  for (double rate = first; member->is_live && !bench_is_interrupted(bench);) {
    if (holds_rate(bench, member, rate, bound_ms))
      good = rate;
    else
      bad = rate;
    if (good >= RATE_MOST || (good > 0 && bad > 0 && bad / good <= RATE_GAP)) break;
    if (!(good > 0) && bad <= first / 16) break;
    rate = good > 0 && bad > 0 ? sqrt(good * bad) : good > 0 ? fmin(2 * good, RATE_MOST) : bad / 2;
  }
  return good;
}

/* By the first process of a cell; the others are measured at what it found. */
static void find_rate(struct bench *bench, struct member *member) {
  double bound_ms = 0;
  for (size_t i = 0; i < bench->scenario_count; i++)
    if (bench->scenarios[i].finds_rate && !strcmp(bench->scenarios[i].text, member->cell->scenario))
      bound_ms = bench->scenarios[i].bound_ms;
  if (!(bound_ms > 0)) return;
  double *const rate = &member->progress->rate_per_s;
  if (!(*rate > 0)) *rate = highest_rate(bench, member, bound_ms);
  if (*rate > 0) member->record.rate_per_s = *rate;
  if (*rate > 0 || !member->is_live || bench_is_interrupted(bench)) return;
  struct worker_end end = {.status = STATUS_unsupported, .stage = STAGE_run, .rel_l2 = NAN};
  snprintf(end.reason, sizeof end.reason,
           "at no rate were 99 %% of the requests within %.4g ms; one alone takes %.4g ms",
           bound_ms, member->median_ns / 1e6);
  take_end(member, &end);
}

static hone_status member_slice(struct bench *bench, struct member *member, int round) {
  struct block block = {.incarnation = member->record.number, .round = round};
  snprintf(block.study, sizeof block.study, "%s", bench->study.key);
  snprintf(block.cell, sizeof block.cell, "%s", member->cell->key);
  bench_report(bench, member->cell, member->cell->model, "measure");
  block.started_unix_ms = clock_unix_ms();
  const int load = member->cell->load;
  if (load) TRY(neighbours_run(bench, load));
  struct noise_mark mark;
  noise_begin(&mark);
  uint64_t start = clock_ns();
  struct worker_end end;
  json_t *reply =
      worker_ask(&member->worker, slice_command(bench, member, round), "block", ASK_TIMED, &end);
  uint64_t wall_ns = clock_ns() - start;
  if (member->worker.transport->shares_files) block.energy_uj = noise_energy(&mark);
  if (load) neighbours_rest(bench);
  if (!reply) {
    take_end(member, &end);
    return HONE_OK;
  }
  if (!worker_stop(&member->worker)) member->record.flags |= FLAG_MASK(noisy);
  block.verified = (int)message_int(reply, "verified", 0);
  noise_end(&mark, message_int(reply, "involuntary", -1), &block.noise);
  hone_status status = hand_on(bench, member, reply, &block, wall_ns);
  json_decref(reply);
  return status;
}

static hone_status member_open(struct bench *bench, struct cell_run *progress, int number,
                               bool is_anchor, struct member *out) {
  *out = (struct member){.cell = &bench->study.cells[progress->cell],
                         .progress = progress,
                         .is_anchor = is_anchor,
                         .rss_peak = -1};
  record_init(bench, progress->cell, number, &out->record);
  progress->next_number = number + 1;
  out->record.largest_batch = progress->largest_batch;
  memcpy(out->record.largest_batch_end, progress->largest_batch_end,
         sizeof out->record.largest_batch_end);
  bench_report(bench, out->cell, out->cell->model, "open");
  TRY(bench_cell_worker(bench, out->cell, out->cell->key, &out->worker));
  memory_log_begin(&out->memory);
  out->worker.memory = &out->memory;
  const struct bench_case *one = case_of(bench, out);
  const bool is_lower = one->tolerance[0] && strcmp(one->tolerance, "fp32") != 0;
  out->worker.judged = one;
  snprintf(out->worker.precision, sizeof out->worker.precision, "%s",
           is_lower ? one->tolerance : out->cell->precision);
  out->is_live = ask_open(bench, out) && ask_warmup(out, (int64_t)(bench->options.warmup_s * 1e9));
  if (out->is_live) find_rate(bench, out);
  if (out->is_live && !worker_stop(&out->worker)) out->record.flags |= FLAG_MASK(noisy);
  return HONE_OK;
}

/* -- a group ------------------------------------------------------------------------------------
 */

static void shuffle(struct random *random, size_t *order, size_t count) {
  for (size_t i = count; i > 1; i--) {
    size_t k = (size_t)random_below(random, i), kept = order[i - 1];
    order[i - 1] = order[k];
    order[k] = kept;
  }
}

static hone_status run_rounds(struct bench *bench, struct member *members, size_t count) {
  int rounds = 0;
  for (size_t i = 0; i < count; i++) {
    struct member *member = &members[i];
    member->wanted_rounds = schedule_rounds(&bench->options, member->median_ns);
    if (member->is_live && member->wanted_rounds > rounds) rounds = member->wanted_rounds;
  }
  size_t *order = malloc((count + 1) * sizeof *order);
  if (!order) return fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a round");
  for (size_t i = 0; i < count; i++) order[i] = i;
  hone_status status = HONE_OK;
  for (int round = 0; !status && round < rounds; round++) {
    shuffle(&bench->random, order, count);
    for (size_t i = 0; !status && i < count && !bench_is_interrupted(bench); i++) {
      struct member *member = &members[order[i]];
      const uint64_t begin = clock_ns();
      bench->step++;
      if (member->is_live && schedule_takes_part(member->wanted_rounds, rounds, round))
        status = member_slice(bench, member, round);
      if (!member->is_anchor) pace_add(bench, member->progress->cell, begin);
    }
  }
  free(order);
  return status;
}

/* Opens members until memory is full or none is left; *at moves over what was opened. */
static hone_status open_group(struct bench *bench, struct cell_run *const *cells, size_t count,
                              size_t *at, struct member *members, size_t *out_count) {
  int64_t budget = (int64_t)(usable_ram_bytes() / 2), sum = 0, largest = 0;
  *out_count = 0;
  int number = 0; /* one for the whole group: cells are compared where it is the same */
  for (size_t i = 0; i < count; i++)
    if (cells[i]->next_number > number) number = cells[i]->next_number;
  if (*at) { /* the anchor links this group to the first one */
    TRY(member_open(bench, cells[0], number, true, &members[(*out_count)++]));
    sum = members[0].rss;
  }
  for (size_t opened = 0; *at < count && !bench_is_interrupted(bench); opened++) {
    if (opened && sum + largest > budget) break;
    struct member *member = &members[*out_count];
    const uint64_t begin = clock_ns();
    TRY(member_open(bench, cells[(*at)++], number, false, member));
    pace_add(bench, member->progress->cell, begin);
    (*out_count)++;
    bench->step++;
    sum += member->is_live ? member->rss : 0;
    if (member->is_live && member->rss > largest) largest = member->rss;
  }
  return HONE_OK;
}

static hone_status member_floor(struct bench *bench, struct member *member) {
  if (bench_is_interrupted(bench)) return HONE_OK;
  TRY(measure_floor(bench, member->progress->cell));
  member->record.floor_ns = bench->floors[member->progress->cell];
  return HONE_OK;
}

static bool objects(const struct member *member) {
  return member->witness[0] && member->record.status == STATUS_wrong &&
         !access(member->witness, R_OK);
}

/* Two engines that differ from hone's reference and agree with each other: then none of the rows is
   right or wrong, and hone is told first. Reference and native share an importer, so a misreading of
   ours must not make every peer wrong. */
static bool find_dispute(const struct bench *bench, const struct member *members, size_t count) {
  for (size_t a = 0; a < count; a++)
    for (size_t b = a + 1; b < count; b++) {
      const struct member *x = &members[a], *y = &members[b];
      struct bench_case *one = case_of(bench, x);
      struct accuracy accuracy;
      if (!objects(x) || !objects(y) || !strcmp(x->cell->backend, y->cell->backend) ||
          strcmp(x->cell->precision, y->cell->precision) ||
          !witnesses_agree(one, x->witness, y->witness, x->cell->precision, &accuracy))
        continue;
      one->is_disputed = true;
      snprintf(one->dispute, sizeof one->dispute,
               "%s and %s agree with each other (relative L2 %.2g) and not with hone's reference "
               "(%.3g): hone may misread this model, tell hone first",
               x->cell->backend, y->cell->backend, accuracy.rel_l2, x->record.rel_l2);
      return true;
    }
  return false;
}

/* As if it had never been opened. */
static void discard_group(struct member *members, size_t count) {
  for (size_t i = 0; i < count; i++) {
    worker_close(&members[i].worker, 0);
    members[i].progress->next_number = members[i].record.number;
  }
}

static hone_status open_undisputed(struct bench *bench, struct cell_run *const *cells, size_t count,
                                   size_t *at, struct member *members, size_t *out_count) {
  const size_t first = *at, step = bench->step;
  TRY(open_group(bench, cells, count, at, members, out_count));
  if (!find_dispute(bench, members, *out_count)) return HONE_OK;
  discard_group(members, *out_count);
  *at = first;
  bench->step = step;
  return open_group(bench, cells, count, at, members, out_count);
}

static int left_of(const struct cell_run *progress) {
  const int left = progress->wanted - progress->complete;
  return progress->has_failed || left < 0 ? 0 : left;
}

static hone_status run_group(struct bench *bench, struct cell_run *const *cells, size_t count,
                             size_t *at, struct member *members) {
  size_t opened = 0;
  hone_status status = open_undisputed(bench, cells, count, at, members, &opened);
  if (!status) status = run_rounds(bench, members, opened);
  for (size_t i = 0; i < opened; i++) {
    const struct cell_run *progress = members[i].progress;
    const uint64_t begin = clock_ns();
    if (!status && members[i].is_live && !isfinite(members[i].record.floor_ns))
      status = member_floor(bench, &members[i]);
    if (members[i].is_live && bench_is_interrupted(bench)) {
      const struct worker_end end = {STATUS_interrupted, STAGE_run, "stopped by the user", NAN};
      take_end(&members[i], &end);
    }
    hone_status closed = member_close(bench, &members[i]);
    if (!status) status = closed;
    if (members[i].is_anchor) continue;
    pace_add(bench, progress->cell, begin);
    pace_end(bench, progress->cell, progress->has_failed, left_of(progress));
  }
  return status;
}

/* Before anything is opened, for cells that have no process yet: it is kept with their first one. */
static hone_status find_largest(struct bench *bench, struct cell_run *const *cells, size_t count) {
  for (size_t i = 0; bench->options.largest_batch && i < count; i++) {
    struct cell_run *at = cells[i];
    const struct bench_case *one = &bench->study.cases[bench->study.cell_case[at->cell]];
    if (at->next_number || bench_is_interrupted(bench)) continue;
    TRY(largest_batch(bench, &bench->study.cells[at->cell], one, &at->largest_batch,
                      at->largest_batch_end));
  }
  return HONE_OK;
}

/* One incarnation of every cell that still needs one. */
static hone_status run_pass(struct bench *bench, struct cell_run *all, size_t count) {
  struct cell_run **cells = calloc(count + 1, sizeof *cells);
  struct member *members = calloc(count + 2, sizeof *members);
  size_t *order = malloc((count + 1) * sizeof *order), active = 0, at = 0;
  hone_status status = cells && members && order
                           ? HONE_OK
                           : fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a pass");
  for (size_t i = 0; !status && i < count; i++)
    if (!all[i].has_failed && all[i].complete < all[i].wanted) order[active++] = i;
  if (!status) shuffle(&bench->random, order, active);
  for (size_t i = 0; !status && i < active; i++) cells[i] = &all[order[i]];
  if (!status) status = find_largest(bench, cells, active);
  while (!status && at < active && !bench_is_interrupted(bench))
    status = run_group(bench, cells, active, &at, members);
  free(order);
  free(members);
  free(cells);
  return status;
}

/* A case that could not be prepared: each of its cells says so. */
static hone_status report_failed_case(struct bench *bench, const struct bench_case *one,
                                      struct cell_run *all, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct incarnation record;
    record_init(bench, all[i].cell, all[i].next_number, &record);
    record.status = one->status;
    record.stage = one->stage;
    snprintf(record.reason, sizeof record.reason, "%s", one->reason);
    const struct bench_callbacks *callbacks = bench->callbacks;
    if (callbacks->incarnation && !all[i].has_failed)
      TRY(callbacks->incarnation(callbacks->user, &record));
  }
  return HONE_OK;
}

static hone_status list_cells(struct bench *bench, size_t case_index, struct cell_run *out,
                              size_t *out_count) {
  size_t count = 0;
  for (size_t i = 0; i < bench->study.cell_count; i++) {
    if (bench->study.cell_case[i] != case_index) continue;
    struct bench_done done = {.complete = 0};
    if (bench->callbacks->done)
      bench->callbacks->done(bench->callbacks->user, &bench->study.cells[i], &done);
    if (done.is_disputed) {
      struct bench_case *one = &bench->study.cases[case_index];
      one->is_disputed = true;
      snprintf(one->dispute, sizeof one->dispute,
               "two engines agreed with each other and not with hone's reference when this study "
               "began: tell hone first");
    }
    out[count] = (struct cell_run){.cell = i,
                                   .complete = done.complete,
                                   .wanted = bench->options.incarnations,
                                   .next_number = done.next_number,
                                   .largest_batch = -1,
                                   .has_failed = done.has_failed};
    bench->paces[i].left =
        bench->study.cases[case_index].status == STATUS_ok ? left_of(&out[count]) : 0;
    for (size_t k = 0; k < done.slice_count; k++)
      VEC_PUSH(bench->ctx, bench->arena, &out[count].slices, done.slices[k]);
    count++;
  }
  *out_count = count;
  return HONE_OK;
}

hone_status measure_case(struct bench *bench, size_t case_index) {
  const struct bench_case *one = &bench->study.cases[case_index];
  struct cell_run *all = calloc(bench->study.cell_count + 1, sizeof *all);
  if (!all) return fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for a case");
  size_t count = 0;
  hone_status status = list_cells(bench, case_index, all, &count);
  if (!status && one->status != STATUS_ok) status = report_failed_case(bench, one, all, count);
  bool goes_on = one->status == STATUS_ok;
  for (int pass = 0; !status && goes_on && !bench_is_interrupted(bench) &&
                     pass < bench->options.most_incarnations;
       pass++) {
    status = run_pass(bench, all, count);
    if (!status && pass + 1 >= bench->options.incarnations)
      status = schedule_want_more(bench->ctx, bench->study.cells, all, count, &goes_on);
  }
  free(all);
  return status;
}
