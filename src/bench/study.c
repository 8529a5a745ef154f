/* bench_run: options -> cases (each model at each batch, prepared) -> cells -> measurement, case by
 * case. The order of what happens is at the end of this file.
 *
 * A study's key covers its cells and every option that changes figures, so that the same command
 * resumes and another one does not.
 */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

bool bench_is_interrupted(const struct bench *bench) {
  return bench->options.interrupted && *bench->options.interrupted;
}

void bench_report(struct bench *bench, const struct cell *cell, const char *model,
                  const char *phase) {
  if (!bench->callbacks->progress) return;
  double elapsed = (double)(clock_ns() - bench->start_ns) / 1e9;
  double done = (double)bench->step, all = (double)bench->step_count;
  /* the first steps say little: begin with the estimate and move over to what was seen */
  double seen = done > 0 ? elapsed / done * (all - done) : 0;
  double weight = all > 0 ? fmin(1.0, 4 * done / all) : 0;
  const struct bench_progress progress = {
      .model = model,
      .backend = cell ? cell->backend : "",
      .phase = phase,
      .threads = cell ? cell->threads : 0,
      .step = bench->step,
      .step_count = bench->step_count,
      .seconds_left =
          weight * seen + (1 - weight) * fmax(0, bench->study.estimate.seconds - elapsed),
  };
  bench->callbacks->progress(bench->callbacks->user, &progress);
}

hone_status bench_worker(struct bench *bench, const char *cell, int threads, struct worker *out) {
  char dir[4096 + 32];
  snprintf(dir, sizeof dir, "%.4000s/worker-%d", bench->dir, bench->worker_number++);
  return worker_start(bench->ctx, &bench->harness, dir, cell, threads, out);
}

static const char *pair_value(const struct bench_pair *pairs, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(pairs[i].name, name)) return pairs[i].value;
  return NULL;
}

static json_t *names_of(const struct backend_tensor *tensors, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(list, json_string(tensors[i].name));
  return list;
}

json_t *open_command(const struct bench *bench, const struct cell *cell,
                     const struct bench_case *one, bool use_cache) {
  const struct bench_options *options = &bench->options;
  const char *engine = pair_value(options->engines, options->engine_count, cell->backend);
  char path[4096];
  if (!engine || !realpath(engine, path)) snprintf(path, sizeof path, "%s", engine ? engine : "");
  json_t *steps = json_array();
  for (size_t i = 0; i < one->output_count; i++)
    json_array_append_new(steps, json_real(one->steps[i]));
  bool is_lower = one->tolerance[0] && strcmp(one->tolerance, "fp32") != 0;
  return json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:s, s:I, s:o, s:o, s:o, s:s}", "do", "open",
      "backend", cell->backend, "model", one->path, "shapes", one->shapes, "precision",
      cell->precision, "threads", cell->threads, "options", cell->options, "engine", path,
      "use_cache", use_cache, "dir", one->data_dir, "seed", (json_int_t)options->seed, "inputs",
      names_of(one->inputs, one->input_count), "outputs", names_of(one->outputs, one->output_count),
      "steps", steps, "tolerance", is_lower ? one->tolerance : cell->precision);
}

/* -- options ------------------------------------------------------------------------------------
 */

static hone_status check_backends(struct ctx *ctx, const struct bench_options *options) {
  for (size_t i = 0; i < options->backend_count; i++) {
    const char *name = options->backends[i], *nearest = backend_list[0]->name;
    if (backend_find(name)) continue;
    for (size_t k = 0; k < backend_count; k++)
      if (!backend_list[k]->testing_only &&
          edit_distance(name, backend_list[k]->name) < edit_distance(name, nearest))
        nearest = backend_list[k]->name;
    return fail(ctx, HONE_E_USAGE, place_name(name), "no such backend; did you mean %s?", nearest);
  }
  return HONE_OK;
}

static hone_status check_models(struct ctx *ctx, const struct bench_options *options) {
  if (!options->model_count) return fail(ctx, HONE_E_USAGE, place_none(), "no model was named");
  for (size_t i = 0; i < options->model_count; i++) {
    const char *model = options->models[i];
    if (strncmp(model, "zoo:", 4) && access(model, R_OK))
      return fail(ctx, HONE_E_NOFILE, place_file(model), "%s", strerror(errno));
  }
  for (size_t i = 0; i < options->input_count; i++)
    if (access(options->inputs[i].value, R_OK))
      return fail(ctx, HONE_E_NOFILE, place_file(options->inputs[i].value), "%s", strerror(errno));
  return HONE_OK;
}

#define DEFAULT(field, value) \
  if ((field) == 0) (field) = (value)
static void set_defaults(struct bench_options *o, struct harness *harness) {
  uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  if (!o->precision) o->precision = "fp32";
  DEFAULT(o->min_samples, 30);
  DEFAULT(o->min_time_s, 1);
  DEFAULT(o->max_time_s, 20);
  DEFAULT(o->warmup_s, 1);
  DEFAULT(o->incarnations, 3);
  DEFAULT(o->rounds, 12);
  DEFAULT(o->timeout_s, 600);
  DEFAULT(o->memory_limit_bytes, ram / 10 * 8);
  if (o->rounds < o->incarnations) o->rounds = o->incarnations;
  *harness = (struct harness){.worker_path = o->worker_path,
                              .memory_bytes = o->memory_limit_bytes,
                              .timeout_ns = (uint64_t)(o->timeout_s * 1e9),
                              .interrupted = o->interrupted};
}

/* -- cells --------------------------------------------------------------------------------------
 */

static hone_status describe_cases(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct bench_study *study = &bench->study;
  size_t batches = o->batch_count ? o->batch_count : 1;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, study->cases, o->model_count * batches));
  for (size_t m = 0; m < o->model_count; m++)
    for (size_t b = 0; b < batches; b++)
      TRY(case_describe(bench, o->models[m], o->batch_count ? o->batches[b] : 0,
                        &study->cases[study->case_count++]));
  return HONE_OK;
}

static const char *base_name(const char *path) {
  const char *slash = strncmp(path, "zoo:", 4) ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path;
}

/* The base name, or with its folder where two models of the study share it. */
static const char *display_name(const struct bench_options *o, const char *path) {
  const char *base = base_name(path);
  for (size_t i = 0; i < o->model_count; i++) {
    if (!strcmp(o->models[i], path) || strcmp(base_name(o->models[i]), base) || base == path)
      continue;
    const char *folder = base - 1;
    while (folder > path && folder[-1] != '/') folder--;
    return folder;
  }
  return base;
}

/* "key=value;..." from every --backend-option of this backend. */
static void join_options(const struct bench_options *o, const char *backend, char out[512]) {
  size_t length = 0;
  out[0] = 0;
  for (size_t i = 0; i < o->backend_option_count; i++) {
    const struct bench_pair *pair = &o->backend_options[i];
    if (strcmp(pair->name, backend) || !pair->value[0] || length >= 511) continue;
    int n = snprintf(out + length, 512 - length, "%s%s", length ? ";" : "", pair->value);
    length += n > 0 ? (size_t)n : 0;
  }
}

static void fill_cell(const struct bench *bench, const struct bench_case *one, const char *backend,
                      int threads, int label, struct cell *out) {
  const struct bench_options *o = &bench->options;
  *out = (struct cell){.batch = one->batch, .threads = threads, .label = label};
  snprintf(out->model, sizeof out->model, "%s", display_name(o, one->model));
  snprintf(out->model_path, sizeof out->model_path, "%s", one->path);
  snprintf(out->model_hash, sizeof out->model_hash, "%s", one->hash);
  if (strlen(one->shapes) < sizeof out->shapes)
    memcpy(out->shapes, one->shapes, strlen(one->shapes) + 1);
  else
    hash_hex(out->shapes, one->shapes, strlen(one->shapes));
  snprintf(out->backend, sizeof out->backend, "%s", backend);
  join_options(o, backend, out->options);
  snprintf(out->variant, sizeof out->variant, "%.63s", out->options[0] ? out->options : "default");
  snprintf(out->route, sizeof out->route, "onnx");
  snprintf(out->device, sizeof out->device, "cpu");
  snprintf(out->precision, sizeof out->precision, "%s", o->precision);
  snprintf(out->scenario, sizeof out->scenario, "single");
  snprintf(out->cache_state, sizeof out->cache_state, "warm");
  cell_key(out);
}

static void add_cell(struct bench_study *study, size_t case_index, const struct cell *cell) {
  for (size_t i = 0; i < study->cell_count; i++)
    if (!strcmp(study->cells[i].key, cell->key)) return; /* named twice: measured once */
  study->cell_case[study->cell_count] = case_index;
  study->cells[study->cell_count++] = *cell;
}

static size_t list_backends(const struct bench_options *o, const char **out) {
  size_t count = 0;
  for (size_t i = 0; i < o->backend_count; i++) out[count++] = o->backends[i];
  for (size_t i = 0; !o->backend_count && i < backend_count; i++)
    if (!backend_list[i]->testing_only) out[count++] = backend_list[i]->name;
  return count;
}

static hone_status expand(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct bench_study *study = &bench->study;
  const char **backends;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, backends, o->backend_count + backend_count));
  size_t per_case = list_backends(o, backends), labels = o->aa ? 2 : 1;
  size_t threads = o->thread_count ? o->thread_count : 1;
  size_t most = study->case_count * per_case * threads * labels;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, study->cells, most));
  TRY(NEW_ARRAY(bench->ctx, bench->arena, study->cell_case, most));
  TRY(NEW_ARRAY(bench->ctx, bench->arena, bench->floors, most));
  for (size_t c = 0; c < study->case_count; c++)
    for (size_t t = 0; t < threads; t++)
      for (size_t b = 0; b < per_case; b++)
        for (size_t label = 0; label < labels; label++) {
          struct cell cell;
          int thread_count = o->thread_count ? o->threads[t] : usable_core_count();
          fill_cell(bench, &study->cases[c], backends[b], thread_count, (int)label, &cell);
          add_cell(study, c, &cell);
        }
  for (size_t i = 0; i < study->cell_count; i++) bench->floors[i] = NAN;
  return HONE_OK;
}

static hone_status study_key(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct text text = {0};
  for (size_t i = 0; i < bench->study.cell_count; i++)
    text_printf(&text, "%s\n", bench->study.cells[i].key);
  char times[3][32];
  format_f64(times[0], o->min_time_s);
  format_f64(times[1], o->max_time_s);
  format_f64(times[2], o->warmup_s);
  text_printf(&text, "%d %d %d %s %s %s %llu %s\n", o->min_samples, o->incarnations, o->rounds,
              times[0], times[1], times[2], (unsigned long long)o->seed, HONE_VERSION);
  for (size_t i = 0; i < o->engine_count; i++)
    text_printf(&text, "engine %s=%s\n", o->engines[i].name, o->engines[i].value);
  for (size_t i = 0; i < o->input_count; i++)
    text_printf(&text, "input %s=%s\n", o->inputs[i].name, o->inputs[i].value);
  text_printf(&text, "inputs %s\n", o->inputs_dir ? o->inputs_dir : "");
  hone_status status = text_finish(bench->ctx, &text);
  if (!status) hash_hex(bench->study.key, text.at, text.length);
  text_deinit(&text);
  return status;
}

/* Rough, from the work: 2 s to start and warm a worker, the slices, the reference at 1 GFLOP/s. */
static void estimate(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct bench_estimate *e = &bench->study.estimate;
  *e = (struct bench_estimate){.cells = bench->study.cell_count,
                               .workers = bench->study.cell_count * (size_t)o->incarnations};
  for (size_t c = 0; c < bench->study.case_count; c++) {
    const struct bench_case *one = &bench->study.cases[c];
    if (isfinite(one->flops)) e->seconds += one->flops / 1e9 * BENCH_SETS / usable_core_count();
    e->disk_bytes += (uint64_t)one->value_bytes * BENCH_SETS;
    if (isfinite(one->bytes)) e->memory_bytes += (uint64_t)one->bytes * 2;
  }
  e->seconds += (double)e->workers * 2 + (double)e->cells * (o->min_time_s + o->rounds * 0.03);
  int per_incarnation = (o->rounds + o->incarnations - 1) / o->incarnations;
  bench->step_count = e->workers * (size_t)(1 + per_incarnation);
}

/* -- the whole ----------------------------------------------------------------------------------
 */

static hone_status interrupted(struct bench *bench) {
  return fail(bench->ctx, HONE_E_INTERRUPTED, place_none(), "stopped; what was measured is kept");
}

static hone_status measure(struct bench *bench) {
  for (size_t c = 0; c < bench->study.case_count; c++) {
    struct bench_case *one = &bench->study.cases[c];
    if (bench_is_interrupted(bench)) return interrupted(bench);
    if (one->status == STATUS_ok) TRY(case_reference(bench, one));
    TRY(measure_case(bench, c));
  }
  return bench_is_interrupted(bench) ? interrupted(bench) : HONE_OK;
}

static hone_status run_study(struct bench *bench) {
  TRY(check_backends(bench->ctx, &bench->options));
  TRY(check_models(bench->ctx, &bench->options));
  TRY(describe_cases(bench));
  TRY(expand(bench));
  TRY(study_key(bench));
  estimate(bench);
  if (bench->callbacks->begin) TRY(bench->callbacks->begin(bench->callbacks->user, &bench->study));
  if (bench->options.is_dry_run) return HONE_OK;
  bench->start_ns = clock_ns();
  return measure(bench);
}

hone_status bench_run(struct ctx *ctx, const struct bench_options *options,
                      const struct bench_callbacks *callbacks) {
  struct bench bench = {
      .ctx = ctx, .options = *options, .callbacks = callbacks, .start_ns = clock_ns()};
  set_defaults(&bench.options, &bench.harness);
  random_init(&bench.random, bench.options.seed);
  if (options->cache_dir)
    snprintf(bench.cache_dir, sizeof bench.cache_dir, "%s", options->cache_dir);
  else
    TRY(dir_user(ctx, "cache", bench.cache_dir));
  TRY(arena_create(ctx, 0, &bench.arena));
  int lock_fd = -1;
  hone_status status = study_folder(ctx, bench.dir, &lock_fd);
  if (!status) {
    harness_begin(&bench.harness);
    status = run_study(&bench);
    harness_finish(&bench.harness);
    dir_remove_tree(bench.dir);
    close(lock_fd);
  }
  arena_destroy(bench.arena);
  return status;
}
