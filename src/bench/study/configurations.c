/* Expands cases to configurations and computes the study's key. The key covers the configurations,
 * every option that changes results, and the build of hone, so that the same command resumes a
 * study and another one does not.
 */
#include "study_internal.h"
#include "bench/wire/transport.h"

#include <math.h>
#include <stdlib.h>

static const char *base_name(const char *path) {
  const char *slash = strncmp(path, "zoo:", 4) ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path;
}

/* The base name, with its folder if two models of the study share the name. */
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

/* True if "a=1;b=2" contains the option. */
static bool has_option(const char *options, const char *option) {
  const size_t n = strlen(option);
  for (const char *at = options; (at = strstr(at, option)); at += n)
    if ((at == options || at[-1] == ';') && (!at[n] || at[n] == ';')) return true;
  return false;
}

static void add_option(char out[512], const char *option) {
  const size_t used = strlen(out);
  if (!option[0] || has_option(out, option)) return;
  snprintf(out + used, 512 - used, "%s%s", used ? ";" : "", option);
}

/* Joins the variant's options and every --backend-option of this backend. Added options become part
   of the variant's name. */
static void join_options(const struct bench_options *o, const struct backend_choice *choice,
                         struct config *out) {
  char added[512] = "";
  if (choice->variant) snprintf(out->options, sizeof out->options, "%s", choice->variant->options);
  for (size_t i = 0; i < o->backend_option_count; i++) {
    const struct bench_pair *pair = &o->backend_options[i];
    if (strcmp(pair->name, choice->backend->name)) continue;
    if (!has_option(out->options, pair->value)) add_option(added, pair->value);
    add_option(out->options, pair->value);
  }
  snprintf(out->variant, sizeof out->variant, "%.31s%s%.31s",
           choice->variant ? choice->variant->name : "", choice->variant && added[0] ? " " : "",
           added);
  if (!choice->variant)
    snprintf(out->variant, sizeof out->variant, "%.63s", added[0] ? added : "default");
}

/* Number of other files with the same content before this one. */
static int copy_number(const struct bench *bench, const struct bench_case *one) {
  int count = 0;
  for (const struct bench_case *c = bench->study.cases; c < one; c++) {
    bool is_other = !strcmp(c->hash, one->hash) && strcmp(c->path, one->path) != 0;
    for (const struct bench_case *b = bench->study.cases; is_other && b < c; b++)
      is_other = strcmp(b->path, c->path) != 0; /* each file once */
    count += is_other;
  }
  return count;
}

/* A point of the study's dimensions, apart from the model. */
struct point {
  const char *device, *scenario, *cache_state, *precision, *route;
  struct backend_choice engine;
  int threads, load, label;
};

static void fill_config(const struct bench *bench, const struct bench_case *one,
                        const struct point *point, struct config *out) {
  const struct bench_options *o = &bench->options;
  *out = (struct config){.batch = one->batch,
                         .threads = point->threads,
                         .label = point->label,
                         .load = point->load,
                         .copy = copy_number(bench, one)};
  snprintf(out->model, sizeof out->model, "%s", display_name(o, one->model));
  snprintf(out->model_path, sizeof out->model_path, "%s", one->path);
  snprintf(out->model_hash, sizeof out->model_hash, "%s", one->hash);
  if (strlen(one->shapes) < sizeof out->shapes)
    memcpy(out->shapes, one->shapes, strlen(one->shapes) + 1);
  else
    hash_hex(out->shapes, one->shapes, strlen(one->shapes));
  snprintf(out->open_dimensions, sizeof out->open_dimensions, "%s", one->open_dimensions);
  snprintf(out->backend, sizeof out->backend, "%s", point->engine.backend->name);
  join_options(o, &point->engine, out);
  snprintf(out->route, sizeof out->route, "%s", point->route);
  snprintf(out->device, sizeof out->device, "%s", point->device);
  snprintf(out->precision, sizeof out->precision, "%s", point->precision);
  snprintf(out->scenario, sizeof out->scenario, "%s", point->scenario);
  snprintf(out->cache_state, sizeof out->cache_state, "%s", point->cache_state);
  config_key(out);
}

static void add_config(struct bench_study *study, size_t case_index, const struct config *config) {
  for (size_t i = 0; i < study->config_count; i++)
    if (!strcmp(study->configs[i].key, config->key)) return; /* duplicates are measured once */
  study->config_case[study->config_count] = case_index;
  study->configs[study->config_count++] = *config;
}

/* Without --backend, engines with their own worker are included only if installed. describe only
   reads their folder. */
static bool is_default(const struct backend *backend) {
  struct backend_info info = {.status = BACKEND_READY};
  struct ctx ctx;
  ctx_init(&ctx);
  if (backend->testing_only || backend->only_named) return false;
  if (backend->worker || backend->is_absent || backend->only_installed)
    backend->describe(&ctx, backend, NULL, &info);
  return info.status == BACKEND_READY;
}

static MUST_USE hone_status list_engines(struct ctx *ctx, const struct bench_options *o,
                                         struct backend_choice *out, size_t *out_count) {
  *out_count = 0;
  for (size_t i = 0; i < o->backend_count; i++)
    TRY(backend_choose(ctx, o->backends[i], &out[(*out_count)++]));
  for (size_t i = 0; !o->backend_count && i < backend_count; i++)
    if (is_default(backend_list[i])) out[(*out_count)++].backend = backend_list[i];
  return HONE_OK;
}

/* Adds the configurations of one engine in a group: by route, and the copies of --aa. */
static void expand_engine(struct bench *bench, size_t c, struct point point) {
  const struct bench_options *o = &bench->options;
  const size_t route_count = o->route_count ? o->route_count : 1;
  for (size_t r = 0; r < route_count; r++)
    for (int label = 0; label < (o->aa ? 2 : 1); label++) {
      struct config config;
      char route[64];
      backend_route(point.engine.backend, bench->study.cases[c].format,
                    o->route_count ? o->routes[r] : NULL, route);
      point.route = route;
      point.label = label;
      fill_config(bench, &bench->study.cases[c], &point, &config);
      add_config(&bench->study, c, &config);
    }
}

/* Adds a group: the configurations of one case at one scenario, load and thread count. Rows of a
   group are compared. */
static void expand_group(struct bench *bench, size_t c, struct point point,
                         const struct backend_choice *engines, size_t count) {
  static const char *const warm[] = {"warm"};
  const struct bench_options *o = &bench->options;
  const char *const *states = o->cache_state_count ? o->cache_states : warm;
  const size_t state_count = o->cache_state_count ? o->cache_state_count : 1;
  for (size_t d = 0; d < bench->device_count; d++)
    for (size_t s = 0; s < state_count; s++)
      for (size_t b = 0; b < count; b++) {
        point.device = bench->devices[d].name;
        point.cache_state = states[s];
        point.engine = engines[b];
        expand_engine(bench, c, point);
      }
}

static void expand_case(struct bench *bench, size_t c, const struct backend_choice *engines,
                        size_t count) {
  const struct bench_options *o = &bench->options;
  const size_t points = (o->thread_count ? o->thread_count : 1) * o->precision_count;
  for (size_t p = 0; p < points; p++)
    for (size_t l = 0; l < (o->load_count ? o->load_count : 1); l++)
      for (size_t s = 0; s < bench->scenario_count; s++) {
        const size_t t = p / o->precision_count;
        const struct point point = {
            .scenario = bench->scenarios[s].text,
            .precision = o->precisions[p % o->precision_count],
            .load = o->load_count ? o->loads[l] : 0,
            .threads = o->thread_count ? o->threads[t] : usable_core_count()};
        expand_group(bench, c, point, engines, count);
      }
}

hone_status study_expand(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct bench_study *study = &bench->study;
  struct backend_choice *engines;
  size_t count;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, engines, o->backend_count + backend_count));
  TRY(list_engines(bench->ctx, o, engines, &count));
  size_t most = study->case_count * count * bench->device_count * bench->scenario_count;
  most *= o->precision_count;
  most *= o->aa ? 2 : 1;
  most *= o->route_count ? o->route_count : 1;
  most *= o->thread_count ? o->thread_count : 1;
  most *= o->load_count ? o->load_count : 1;
  most *= o->cache_state_count ? o->cache_state_count : 1;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, study->configs, most));
  TRY(NEW_ARRAY(bench->ctx, bench->arena, study->config_case, most));
  TRY(NEW_ARRAY(bench->ctx, bench->arena, bench->overheads, most));
  for (size_t c = 0; c < study->case_count; c++) expand_case(bench, c, engines, count);
  for (size_t i = 0; i < study->config_count; i++) bench->overheads[i] = NAN;
  return HONE_OK;
}

hone_status study_key(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct strbuf text = {0};
  for (size_t i = 0; i < bench->study.config_count; i++)
    strbuf_printf(&text, "%s\n", bench->study.configs[i].key);
  char times[3][32];
  format_f64(times[0], o->min_time_s);
  format_f64(times[1], o->max_time_s);
  format_f64(times[2], o->warmup_s);
  strbuf_printf(&text, "%d %d %d %d %s %s %s %llu %s\n", o->min_samples, o->processes,
                o->most_processes, o->rounds, times[0], times[1], times[2],
                (unsigned long long)o->seed, HONE_VERSION);
  for (size_t i = 0; i < o->engine_count; i++)
    strbuf_printf(&text, "engine %s=%s\n", o->engines[i].name, o->engines[i].value);
  for (size_t i = 0; i < o->input_count; i++)
    strbuf_printf(&text, "input %s=%s\n", o->inputs[i].name, o->inputs[i].value);
  strbuf_printf(&text, "inputs %s\n", o->inputs_dir ? o->inputs_dir : "");
  if (bench->labels.root) strbuf_printf(&text, "labels %s\n", bench->labels_dir);
  if (o->largest_batch) strbuf_printf(&text, "largest batch %d\n", o->largest_batch);
  if (o->device_hone) strbuf_printf(&text, "device hone %s\n", o->device_hone);
  put_file_stamp(&text, o->worker_path ? o->worker_path : "/proc/self/exe");
  hone_status status = strbuf_finish(bench->ctx, &text);
  if (!status) hash_hex(bench->study.key, text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

/* Memory of a worker while running, and its peak during import and compilation: a base, and a
   multiple of the weights. Measured with zoo:mlp and resnet18, one thread (native and the last row
   also with resnet50 and transformer; Zen 5 and Xeon servers, 2026-11). */
static const struct footprint {
  const char *backend; /* NULL: all others */
  double base_bytes, steady_weights, peak_bytes, peak_weights;
} footprints[] = {
    {"native", 16e6, 2.5, 16e6, 7},    {"emx", 60e6, 2.7, 195e6, 16},
    {"iree", 115e6, 3.2, 276e6, 6.5},  {"xla", 235e6, 3.2, 300e6, 3.2},
    {"torch", 750e6, 2.4, 750e6, 4.4}, {"executorch", 854e6, 6.2, 856e6, 29},
    {"tvm", 267e6, 1.4, 268e6, 2.4},   {"mnn", 50e6, 3.2, 187e6, 3.2},
    {NULL, 64e6, 3.2, 64e6, 3.2},
};

static const struct footprint *footprint_of(const char *backend) {
  const struct footprint *at = footprints;
  while (at->backend && strcmp(at->backend, backend) != 0) at++;
  return at;
}

/* One worker of each configuration of a case is alive while the next is opened. */
static double case_memory(const struct bench_study *study, size_t index) {
  const struct bench_case *one = &study->cases[index];
  double weights =
      (double)(one->file_bytes > one->weights_bytes ? one->file_bytes : one->weights_bytes);
  double read = one->weights_bytes > 0 ? (double)one->weights_bytes : 0, steady = 0, extra = 0;
  /* intermediate values: each is written once and read at least once */
  double between = isfinite(one->bytes) && one->bytes > read ? (one->bytes - read) / 2 : 0;
  for (size_t i = 0; i < study->config_count; i++) {
    if (study->config_case[i] != index) continue;
    const struct footprint *print = footprint_of(study->configs[i].backend);
    steady += print->base_bytes + print->steady_weights * weights + between +
              (double)one->value_bytes * BENCH_SETS;
    extra = fmax(extra, print->peak_bytes - print->base_bytes +
                            (print->peak_weights - print->steady_weights) * weights);
  }
  return steady + extra;
}

/* Rough estimate: the reference at 1 GFLOP/s per core, plus eta_expect for the configurations. */
hone_status study_estimate(struct bench *bench) {
  const struct bench_options *o = &bench->options;
  struct bench_estimate *e = &bench->study.estimate;
  *e = (struct bench_estimate){.cells = bench->study.config_count,
                               .workers = bench->study.config_count * (size_t)o->processes};
  TRY(eta_expect(bench, &e->seconds));
  for (size_t c = 0; c < bench->study.case_count; c++) {
    const struct bench_case *one = &bench->study.cases[c];
    if (isfinite(one->flops)) e->seconds += one->flops / 1e9 * BENCH_SETS / usable_core_count();
    e->disk_bytes += (uint64_t)one->value_bytes * BENCH_SETS;
    e->memory_bytes = (uint64_t)fmax((double)e->memory_bytes, case_memory(&bench->study, c));
  }
  if (o->budget_s > 0) e->seconds = fmin(e->seconds, o->budget_s);
  bench->step_count = e->workers * (size_t)(1 + schedule_rounds(o, 0));
  return HONE_OK;
}
