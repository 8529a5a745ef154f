/* hone bench: runs a study into the store, and prints it. A block is acknowledged when its transaction is committed. Ctrl-C
 * ends the study after the running block, and the same command resumes it.
 */
#include "bench/study/study_internal.h"
#include "core/format/format.h"
#include "judge/gate/gate.h"
#include "cli.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int signal) {
  (void)signal;
  interrupted++;
}

/* Storage of the lists in bench_options. */
struct lists {
  const char *backends[64];
  const char *precisions[8];
  int batches[64], threads[64], loads[16];
  struct bench_pair engines[REPEATS], backend_options[REPEATS], inputs[REPEATS];
  char texts[4 * REPEATS][512];
  size_t text_count;
  char backend_text[1024], precision_text[64], device_text[1024], cache_text[256],
      scenario_text[256], route_text[256];
  const char *devices[64], *cache_states[64], *scenarios[64], *routes[64];
};

struct session_state {
  bool has_earlier; /* the study's earlier data was read */
  struct ctx *ctx;
  const struct args *args;
  struct store *store;
  struct sinks sinks;
  struct fail_on fail_on;
  struct study_row row;
  struct arena *arena;
  struct study_peaks peaks;
  struct fingerprint print;
  bool resumes, shows_progress;
  double budget_s; /* 0: none */
  const struct bench_options *options;
  struct progress_line line;
  struct phase_time { /* time spent in each phase, for --verbose and the study's options */
    char name[16];
    uint64_t ns;
  } phases[16];
  size_t phase_count, phase; /* `phase` is the current one */
  uint64_t phase_start_ns;
};

/* -- options */

static hone_status pairs(struct ctx *ctx, const struct args *args, enum flag_id flag,
                         char separator, struct lists *lists, struct bench_pair *out,
                         size_t *out_count) {
  const struct repeated *given = &args->repeated[flag];
  char spelling[64];
  for (size_t i = 0; i < given->count; i++) {
    char *name = lists->texts[lists->text_count++];
    const char *cut = strchr(given->at[i], separator);
    const size_t n = cut ? (size_t)(cut - given->at[i]) : 0;
    if (!n || !cut[1] || n >= sizeof lists->texts[0])
      return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)),
                  "\"%s\" is not NAME%cVALUE", given->at[i], separator);
    snprintf(name, sizeof lists->texts[0], "%.*s", (int)n, given->at[i]);
    out[i] = (struct bench_pair){name, cut + 1};
  }
  *out_count = given->count;
  return HONE_OK;
}

/* --alias is an option of hone's own engine, native. */
static hone_status read_backend_options(struct ctx *ctx, const struct args *args,
                                        struct lists *lists, size_t *count) {
  const struct repeated *given = &args->repeated[FLAG_alias];
  size_t used = 0;
  TRY(pairs(ctx, args, FLAG_backend_option, '.', lists, lists->backend_options, count));
  for (size_t i = 0; i < given->count; i++) {
    char *text = lists->texts[lists->text_count++];
    used += strlen(given->at[i]) + sizeof "alias=;";
    if (*count == REPEATS || used > 400 || strchr(given->at[i], ';'))
      return fail(ctx, HONE_E_USAGE, place_name("--alias"),
                  "\"%.200s\": at most 400 characters in all, without \";\"", given->at[i]);
    snprintf(text, sizeof lists->texts[0], "alias=%s", given->at[i]);
    lists->backend_options[(*count)++] = (struct bench_pair){"native", text};
  }
  return HONE_OK;
}

#define LIST_MAX 64
/* A comma-separated list; the flag may be repeated. */
static hone_status split_words(struct ctx *ctx, const struct args *args, enum flag_id flag,
                               char *text, size_t size, const char **out, size_t *out_count) {
  char spelling[64];
  size_t used = 0;
  *out_count = 0;
  text[0] = 0;
  for (size_t r = 0; r < args->repeated[flag].count; r++) {
    const int n =
        snprintf(text + used, size - used, "%s%s", used ? "," : "", args->repeated[flag].at[r]);
    if (n < 0 || (size_t)n >= size - used)
      return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)), "too long a list");
    used += (size_t)n;
  }
  for (char *p = text; *p;) {
    const size_t n = strcspn(p, ",");
    const bool is_last = !p[n];
    p[n] = 0;
    if (*out_count == LIST_MAX)
      return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)), "too long a list");
    if (*p) out[(*out_count)++] = p;
    p += n + !is_last;
  }
  return HONE_OK;
}

static hone_status split_backends(struct ctx *ctx, const struct args *args, struct lists *lists,
                                  size_t *out_count) {
  TRY(split_words(ctx, args, FLAG_backend, lists->backend_text, sizeof lists->backend_text,
                  lists->backends, out_count));
  for (size_t i = 0; i < *out_count; i++) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(lists->backends[i], ":"), lists->backends[i]);
    if (!backend_find(name)) return unknown_backend(ctx, name);
  }
  return HONE_OK;
}

/* "fp32,bf16" */
static hone_status split_precisions(struct ctx *ctx, const struct args *args, struct lists *lists,
                                    size_t *out_count) {
  const char *given = value_of(args, FLAG_precision, NULL);
  char *const text = lists->precision_text;
  *out_count = 0;
  if (!given) return HONE_OK;
  snprintf(text, sizeof lists->precision_text, "%s", given);
  for (char *p = text, *next; p; p = next) {
    next = strchr(p, ',');
    if (next) *next++ = 0;
    const enum precision k = precision_find(p);
    if (k == PRECISION_COUNT || !precisions[k].can_ask ||
        strlen(given) >= sizeof lists->precision_text || *out_count == COUNT(lists->precisions)) {
      char names[64];
      precision_names(names, sizeof names);
      return fail(ctx, HONE_E_USAGE, place_name("--precision"),
                  "\"%s\" is not a precision of hone bench; there are %s", given, names);
    }
    lists->precisions[(*out_count)++] = precisions[k].name;
  }
  return HONE_OK;
}

/* Requests to workers are JSON, and the study stores its command: both need UTF-8. */
static hone_status check_text(struct ctx *ctx, const char *text) {
  json_t *json = json_string(text);
  if (!json) return fail(ctx, HONE_E_USAGE, place_name(text), "is not UTF-8");
  json_decref(json);
  return HONE_OK;
}

static hone_status check_texts(struct ctx *ctx, const struct args *args) {
  for (size_t i = 0; i < args->word_count; i++) TRY(check_text(ctx, args->words[i]));
  for (int f = 0; f < FLAG_ID_COUNT; f++)
    for (size_t i = 0; i < args->repeated[f].count; i++)
      TRY(check_text(ctx, args->repeated[f].at[i]));
  return HONE_OK;
}

static bool is_number_list(const char *text) { return !text[strspn(text, "0123456789,")]; }

static hone_status read_generation(struct ctx *ctx, const struct args *args,
                                   struct bench_options *out) {
  const char *prompt = value_of(args, FLAG_prompt, NULL);
  int64_t number;
  if (prompt && is_number_list(prompt))
    TRY(ints_of(ctx, args, FLAG_prompt, 1, 65536, out->prompt_tokens, COUNT(out->prompt_tokens),
                &out->prompt_count));
  else
    out->prompt_file = prompt;
  out->quality_text = value_of(args, FLAG_quality_text, NULL);
  TRY(int_of(ctx, args, FLAG_new_tokens, 2, 65536, 0, &number));
  out->new_tokens = (int)number;
  return HONE_OK;
}

static hone_status read_times(struct ctx *ctx, const struct args *args, struct bench_options *out) {
  TRY(number_of(ctx, args, FLAG_min_time, 0.001, 1e6, 0, &out->min_time_s));
  TRY(number_of(ctx, args, FLAG_max_time, 0.001, 1e6, 0, &out->max_time_s));
  TRY(number_of(ctx, args, FLAG_warmup, 0.001, 1e6, 0, &out->warmup_s));
  TRY(amount_of(ctx, args, FLAG_budget, AMOUNT_SECONDS, 0.01, 1e6, 0, &out->budget_s));
  TRY(number_of(ctx, args, FLAG_timeout, 0.1, 1e6, 0, &out->timeout_s));
  out->keeps_budget = has(args, FLAG_keep_budget);
  return number_of(ctx, args, FLAG_reference_budget, 0.1, 1e6, 0, &out->reference_s);
}

static hone_status read_options(struct ctx *ctx, const struct args *args, struct lists *lists,
                                struct bench_options *out) {
  int64_t number;
  double bytes;
  bool has_load = false;
  if (!args->word_count)
    return fail(ctx, HONE_E_USAGE, place_none(),
                "no model; 'hone zoo list' prints the built-in ones");
  TRY(check_texts(ctx, args));
  *out = (struct bench_options){.models = args->words,
                                .model_count = args->word_count,
                                .backends = lists->backends,
                                .batches = lists->batches,
                                .threads = lists->threads,
                                .loads = lists->loads,
                                .devices = lists->devices,
                                .device_hone = value_of(args, FLAG_device_hone, NULL),
                                .cache_states = lists->cache_states,
                                .scenarios = lists->scenarios,
                                .routes = lists->routes,
                                .shapes = value_of(args, FLAG_shape, NULL),
                                .side_files_from = value_of(args, FLAG_side_files_from, NULL),
                                .precisions = lists->precisions,
                                .engines = lists->engines,
                                .backend_options = lists->backend_options,
                                .inputs = lists->inputs,
                                .inputs_dir = value_of(args, FLAG_inputs, NULL),
                                .aa = has(args, FLAG_aa),
                                .is_dry_run = has(args, FLAG_dry_run),
                                .keep_dir = value_of(args, FLAG_keep, NULL),
                                .interrupted = &interrupted};
  TRY(split_backends(ctx, args, lists, &out->backend_count));
  TRY(split_words(ctx, args, FLAG_device, lists->device_text, sizeof lists->device_text,
                  lists->devices, &out->device_count));
  TRY(split_words(ctx, args, FLAG_cache_state, lists->cache_text, sizeof lists->cache_text,
                  lists->cache_states, &out->cache_state_count));
  TRY(split_words(ctx, args, FLAG_scenario, lists->scenario_text, sizeof lists->scenario_text,
                  lists->scenarios, &out->scenario_count));
  TRY(split_words(ctx, args, FLAG_route, lists->route_text, sizeof lists->route_text, lists->routes,
                  &out->route_count));
  TRY(int_of(ctx, args, FLAG_streams, 1, BENCH_SETS, 0, &number));
  out->streams = (int)number;
  TRY(read_generation(ctx, args, out));
  out->finds_rate = !strcmp(value_of(args, FLAG_rate, ""), "max");
  if (!out->finds_rate) TRY(number_of(ctx, args, FLAG_rate, 0.001, 1e6, 0, &out->rate_per_s));
  TRY(amount_of(ctx, args, FLAG_latency_bound, AMOUNT_MS, 1e-6, 1e9, 0, &out->bound_ms));
  TRY(split_precisions(ctx, args, lists, &out->precision_count));
  TRY(ints_of(ctx, args, FLAG_batch, 1, 1 << 20, lists->batches, COUNT(lists->batches),
              &out->batch_count));
  TRY(ints_of(ctx, args, FLAG_threads, 1, 4096, lists->threads, COUNT(lists->threads),
              &out->thread_count));
  TRY(ints_of(ctx, args, FLAG_load, 0, BENCH_MAX_LOAD, lists->loads, COUNT(lists->loads),
              &out->load_count));
  TRY(pairs(ctx, args, FLAG_engine, '=', lists, lists->engines, &out->engine_count));
  TRY(read_backend_options(ctx, args, lists, &out->backend_option_count));
  TRY(pairs(ctx, args, FLAG_input, '=', lists, lists->inputs, &out->input_count));
  TRY(int_of(ctx, args, FLAG_min_samples, 1, 1000000000, 0, &number));
  out->min_samples = (int)number;
  TRY(int_of(ctx, args, FLAG_rounds, 1, 100000, 0, &number));
  out->rounds = (int)number;
  TRY(int_of(ctx, args, FLAG_processes, 1, 1000, 0, &number));
  out->processes = (int)number;
  /* the processes of --load have priority 0; any other priority here would change the load */
  for (size_t i = 0; i < out->load_count; i++) has_load |= lists->loads[i] > 0;
  TRY(int_of(ctx, args, FLAG_nice, -20, 19, has_load ? 0 : -20, &number));
  out->nice = (int)number;
  TRY(int_of(ctx, args, FLAG_seed, 0, INT64_MAX, 0, &number));
  out->seed = (uint64_t)number;
  TRY(int_of(ctx, args, FLAG_largest_batch, 1, 1 << 20, 0, &number));
  out->largest_batch = (int)number;
  TRY(read_times(ctx, args, out));
  TRY(amount_of(ctx, args, FLAG_memory_limit, AMOUNT_BYTES, 1, 1e18, 0, &bytes));
  out->memory_limit_bytes = (uint64_t)bytes;
  return HONE_OK;
}

/* -- the machine as JSON */

static json_t *machine_json(const struct session_state *state, const struct fingerprint *print) {
  json_t *list = study_peaks_json(&state->peaks);
  char meter[160];
  energy_meter(meter);
  return json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:s, s:i, s:s, "
      "s:o}",
      "cpu", print->cpu_model, "features", print->features, "kernel", print->kernel, "libc",
      print->libc, "compiler", print->compiler, "governor", print->governor, "hypervisor",
      print->hypervisor, "cores_usable", print->cores_usable, "cores_online", print->cores_online,
      "threads_per_core", print->threads_per_core, "numa_nodes", print->numa_nodes, "ram_bytes",
      (json_int_t)print->ram_bytes, "l1d_bytes", (json_int_t)print->l1d_bytes, "l2_bytes",
      (json_int_t)print->l2_bytes, "l3_bytes", (json_int_t)print->l3_bytes, "hone",
      print->hone_version, "nice", getpriority(PRIO_PROCESS, 0), "energy", meter, "peaks", list);
}

/* True if the JSON fits; else "{}" is stored. */
static bool store_json(json_t *json, char *out, size_t size) {
  char *dumped = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
  bool fits = dumped && strlen(dumped) < size;
  snprintf(out, size, "%s", fits ? dumped : "{}");
  free(dumped);
  json_decref(json);
  return fits;
}

/* -- callbacks */

static void enter_phase(struct session_state *state, const char *name) {
  uint64_t now = clock_ns();
  if (state->phase_count) state->phases[state->phase].ns += now - state->phase_start_ns;
  state->phase_start_ns = now;
  for (state->phase = 0; state->phase < state->phase_count; state->phase++)
    if (!strcmp(state->phases[state->phase].name, name)) return;
  if (state->phase_count == COUNT(state->phases)) {
    state->phase--;
    return;
  }
  snprintf(state->phases[state->phase_count++].name, sizeof state->phases[0].name, "%s", name);
}

/* Models that could not be described are not part of the estimate. */
static void print_unknown(const struct bench_study *study) {
  for (size_t c = 0; c < study->case_count; c++) {
    const struct bench_case *one = &study->cases[c];
    struct strbuf line = {0};
    if (one->status == STATUS_ok) continue;
    strbuf_puts(&line, "not in the estimate: ");
    strbuf_put_safe(&line, one->model, 80);
    strbuf_puts(&line, ": ");
    strbuf_put_safe(&line, one->reason[0] ? one->reason : status_text(one->status), 300);
    if (line.at) puts(line.at);
    strbuf_deinit(&line);
  }
}

/* Engines of --engine that cannot be used, with the reason. */
static void print_refused_engines(const struct bench_options *options) {
  for (size_t i = 0; i < options->engine_count; i++) {
    struct ctx quiet;
    ctx_init(&quiet);
    if (engine_check_kind(&quiet, options->engines[i].value))
      printf("  %s: no row will run: %s\n", options->engines[i].name, quiet.message);
  }
}

static void print_estimate(const struct bench_study *study) {
  char memory[32], disk[32], usable[32];
  const uint64_t ram = usable_ram_bytes();
  format_bytes(memory, (double)study->estimate.memory_bytes);
  format_bytes(disk, (double)study->estimate.disk_bytes);
  format_bytes(usable, (double)ram);
  printf(
      "%zu configurations, %zu worker processes, about %.1f minutes, up to %s of %s available "
      "memory%s, %s disk space\n",
      study->estimate.cells, study->estimate.workers, study->estimate.seconds / 60, memory, usable,
      study->estimate.memory_bytes > ram ? " (not enough)" : "", disk);
  print_unknown(study);
  for (size_t i = 0; i < study->config_count; i++) {
    struct strbuf line = {0};
    strbuf_printf(&line, "  ");
    strbuf_put_safe(&line, study->configs[i].model, 80);
    char word[64];
    strbuf_printf(&line, "  %s  batch %d  threads %d", backend_word(&study->configs[i], word),
                  study->configs[i].batch, study->configs[i].threads);
    if (strcmp(study->configs[i].route, "onnx") && study->configs[i].route[0])
      strbuf_printf(&line, "  route %s", study->configs[i].route);
    if (study->configs[i].load) strbuf_printf(&line, "  load %d", study->configs[i].load);
    if (strcmp(study->configs[i].precision, "fp32") != 0)
      strbuf_printf(&line, "  %s", study->configs[i].precision);
    if (study->configs[i].label) strbuf_puts(&line, "  (A/A copy)");
    if (strcmp(study->configs[i].device, "cpu"))
      strbuf_printf(&line, "  device %s", study->configs[i].device);
    if (strcmp(study->configs[i].scenario, "single"))
      strbuf_printf(&line, "  %s", study->configs[i].scenario);
    if (strcmp(study->configs[i].cache_state, "warm"))
      strbuf_printf(&line, "  caches %s", study->configs[i].cache_state);
    if (line.at) puts(line.at);
    strbuf_deinit(&line);
  }
}

/* " --flag value" for every flag that `wanted` accepts, with shell quotes. */
static void put_flags(const struct args *args, bool (*wanted)(enum flag_id, const char *value),
                      struct strbuf *out) {
  for (int f = 0; f < FLAG_ID_COUNT; f++)
    for (size_t i = 0; i < args->repeated[f].count; i++) {
      char spelling[64];
      const char *value = args->repeated[f].at[i];
      if (!wanted((enum flag_id)f, value)) continue;
      strbuf_printf(out, " %s", flag_spelling((enum flag_id)f, spelling));
      if (!*value) continue;
      strbuf_puts(out, " ");
      put_shell_word(out, value);
    }
}

/* Flags that influence the figures of a row, besides its configuration. */
static bool changes_figures(enum flag_id flag, const char *value) {
  static const enum flag_id flags[] = {
      FLAG_new_tokens, FLAG_device_hone, FLAG_engine,      FLAG_shape,        FLAG_side_files_from,
      FLAG_input,      FLAG_inputs,      FLAG_min_time,    FLAG_max_time,     FLAG_min_samples,
      FLAG_warmup,     FLAG_rounds,      FLAG_processes,   FLAG_memory_limit, FLAG_largest_batch,
      FLAG_seed,       FLAG_limit,       FLAG_quality_text};
  for (size_t i = 0; i < COUNT(flags); i++)
    if (flags[i] == flag) return true;
  return flag == FLAG_prompt && !is_number_list(value); /* numbers are in the configuration */
}
/* Models, also those of a suite, are words. */
static bool is_no_model(enum flag_id flag, const char *value) {
  (void)value;
  return flag != FLAG_model && flag != FLAG_suite;
}

static void command_line(const struct args *args, char *out, size_t size) {
  struct strbuf text = {0};
  strbuf_puts(&text, "hone bench");
  for (size_t i = 0; i < args->word_count; i++) {
    strbuf_puts(&text, args->words[i][0] == '-' ? " ./" : " ");
    put_shell_word(&text, args->words[i]);
  }
  put_flags(args, is_no_model, &text);
  snprintf(out, size, "%s", text.at && text.length < size ? text.at : "");
  strbuf_deinit(&text);
}

/* {"flags": ..., "seconds": {...}}: flags of the command that repeats a row, and the time spent in each phase. */
static void describe_options(const struct session_state *state, char *out, size_t size) {
  struct strbuf flags = {0};
  json_t *seconds = json_object();
  for (size_t i = 0; i < state->phase_count; i++)
    json_object_set_new(seconds, state->phases[i].name,
                        json_real((double)state->phases[i].ns / 1e9));
  put_flags(state->args, changes_figures, &flags);
  store_json(json_pack("{s:s, s:o}", "flags", flags.at ? flags.at : "", "seconds", seconds), out,
             size);
  strbuf_deinit(&flags);
}

static void describe_study(struct session_state *state, const struct bench_study *study,
                           const struct fingerprint *print) {
  state->row = (struct study_row){.started_unix_ms = clock_unix_ms()};
  snprintf(state->row.plan, sizeof state->row.plan, "%s", study->key);
  snprintf(state->row.fingerprint, sizeof state->row.fingerprint, "%s", print->key);
  snprintf(state->row.name, sizeof state->row.name, "%s", value_of(state->args, FLAG_name, ""));
  command_line(state->args, state->row.command, sizeof state->row.command);
  store_json(machine_json(state, print), state->row.machine_json, sizeof state->row.machine_json);
  describe_options(state, state->row.options_json, sizeof state->row.options_json);
}

/* --resume STUDY continues that study or fails. Without it the newest unfinished study of the same command continues. */
static hone_status begin_study(struct session_state *state) {
  const char *when = value_of(state->args, FLAG_resume, "");
  if (*when && strcmp(when, "never")) {
    struct study_row named;
    TRY(store_get_study(state->ctx, state->store, when, &named));
    memcpy(state->row.key, named.key, sizeof state->row.key);
  }
  return store_begin_study(state->ctx, state->store, &state->row, strcmp(when, "never") != 0,
                           &state->resumes);
}

/* The side files of the models are known now; no output may replace one. */
static hone_status check_sides(struct session_state *state, const struct bench_study *study) {
  struct inputs_seen *seen = &state->sinks.inputs;
  for (size_t c = 0; c < study->case_count; c++)
    for (size_t i = 0; i < study->cases[c].side_count && seen->count < COUNT(seen->at); i++)
      seen->at[seen->count++] = study->cases[c].sides[i];
  return sinks_check(state->ctx, &state->sinks);
}

/* "resuming study 9432aced08ee, which keeps 41 processes of 23 configurations: 147 configurations, about 9.7 minutes" */
static void print_study(const struct session_state *state, const struct bench_study *study) {
  struct config_progress progress;
  int processes = 0, configs = 0;
  if (has(state->args, FLAG_quiet)) return;
  for (size_t i = 0; state->resumes && i < study->config_count; i++) {
    if (store_config_progress(state->ctx, state->store, state->row.key, study->configs[i].key,
                              &progress))
      ctx_clear(state->ctx); /* the first block reports why the store cannot be read */
    else if (progress.complete) {
      processes += progress.complete;
      configs++;
    }
  }
  fprintf(stderr, "%s study %.12s", state->resumes ? "resuming" : "new", state->row.key);
  if (state->resumes)
    fprintf(stderr, ", which keeps %d process%s of %d configuration%s", processes,
            processes == 1 ? "" : "es", configs, configs == 1 ? "" : "s");
  fprintf(stderr, ": %zu configurations, about %.1f minutes\n", study->config_count,
          study->estimate.seconds / 60);
}

static hone_status on_begin(void *user, const struct bench_study *study) {
  struct session_state *state = user;
  struct fingerprint print;
  TRY(check_sides(state, study));
  if (has(state->args, FLAG_dry_run)) {
    print_estimate(study);
    print_refused_engines(state->options);
    return HONE_OK;
  }
  TRY(csv_dir_check(state->ctx, state->args, study->configs, study->config_count));
  /* only now: a dry run or a mistyped command must not create a store or wait for its lock */
  TRY(store_open(state->ctx, value_of(state->args, FLAG_store, NULL), true, &state->store));
  TRY(fingerprint_read(state->ctx, &print));
  enter_phase(state, "peaks");
  state->print = print;
  if (!has(state->args, FLAG_no_measure))
    TRY(study_peaks_measure(state->ctx, state->arena, study, state->budget_s, &state->peaks));
  describe_study(state, study, &print);
  TRY(begin_study(state));
  progress_clear(&state->line);
  print_study(state, study);
  for (size_t i = 0; i < study->config_count; i++) {
    struct config config = study->configs[i];
    study_peaks_limits(&state->peaks, i, &config);
    TRY(store_put_config(state->ctx, state->store, state->row.key, &config));
  }
  return HONE_OK;
}

/* Processes that an earlier run measured. If they cannot be read, the configuration is measured again. */
static void earlier_slices(struct session_state *state, const struct config *config,
                           struct bench_done *out) {
  static struct study_data data;
  struct slice_median *slices;
  if (!state->has_earlier &&
      store_read_study(state->ctx, state->store, state->arena, state->row.key, &data))
    return;
  state->has_earlier = true;
  for (size_t i = 0; i < data.config_count; i++)
    if (!strcmp(data.cells[i].config.key, config->key) &&
        !block_medians(state->ctx, state->arena, &data.cells[i], &slices, &out->slice_count))
      out->slices = slices;
}

/* If nothing can be read, the configuration starts from the beginning; the first write reports the store's error. */
static void on_done(void *user, const struct config *config, struct bench_done *out) {
  struct session_state *state = user;
  struct config_progress progress;
  *out = (struct bench_done){0};
  if (store_config_progress(state->ctx, state->store, state->row.key, config->key, &progress))
    return;
  *out = (struct bench_done){.complete = progress.complete,
                             .next_number = progress.next_number,
                             .has_failed = progress.has_failed,
                             .is_disputed = progress.is_disputed};
  if (progress.complete) earlier_slices(state, config, out);
}

static hone_status on_block(void *user, const struct block *block) {
  struct session_state *state = user;
  return store_put_block(state->ctx, state->store, block);
}

/* Repeats the probe between blocks. */
static hone_status on_process(void *user, const struct process_record *process_record) {
  struct session_state *state = user;
  TRY(study_peaks_again(state->ctx, process_record->config, &state->peaks));
  return store_put_process(state->ctx, state->store, process_record);
}

static void print_phases(struct session_state *state) {
  if (!has(state->args, FLAG_verbose) || !state->phase_count) return;
  enter_phase(state, "end");
  fprintf(stderr, "time:");
  for (size_t i = 0; i + 1 < state->phase_count; i++)
    fprintf(stderr, "%s %s %.1f s", i ? "," : "", state->phases[i].name,
            (double)state->phases[i].ns / 1e9);
  fprintf(stderr, "\n");
}

static void on_progress(void *user, const struct bench_progress *progress) {
  struct session_state *state = user;
  enter_phase(state, progress->phase ? progress->phase : "");
  struct strbuf line = {0};
  if (!state->shows_progress) return;
  strbuf_printf(&line, "[%zu/%zu] ", progress->step, progress->step_count);
  strbuf_put_safe(&line, progress->model ? progress->model : "", 40);
  strbuf_printf(&line, " %s %s", progress->backend ? progress->backend : "",
                progress->phase ? progress->phase : "");
  if (progress->seconds_left > 0)
    strbuf_printf(&line, ", %d:%02d left", (int)(progress->seconds_left / 60),
                  (int)progress->seconds_left % 60);
  if (line.at) progress_put(&state->line, line.at);
  strbuf_deinit(&line);
}

/* -- the verb */

static int study_code(struct session_state *state) {
  static struct study_data data;
  static struct summary summary;
  size_t failed;
  if (store_read_study(state->ctx, state->store, state->arena, state->row.key, &data) ||
      summarise(state->ctx, state->arena, &data, wants_synthetic(state->args), &summary))
    return report_failure(state->ctx);
  /* A suite's --backend is not the user's: an engine of it that is not installed is not a failure. */
  const struct repeated *named = &state->args->repeated[FLAG_backend];
  const int code = fail_on_exit_code(&state->fail_on, named->at,
                                     state->args->has_suite_backends ? 0 : named->count,
                                     summary.records, summary.record_count, &failed);
  if (code == 1)
    fprintf(stderr, "hone: %zu of %zu rows failed (--fail-on): exit code 1\n", failed,
            summary.record_count);
  return code;
}

static hone_status store_limits(struct session_state *state) {
  static char machine[sizeof state->row.machine_json];
  if (state->peaks.count == 0) return HONE_OK;
  for (size_t i = 0; i < state->peaks.config_count; i++) {
    struct config config = state->peaks.configs[i].config;
    study_peaks_limits(&state->peaks, i, &config);
    if (config.limit_ms > 0)
      TRY(store_lower_limits(state->ctx, state->store, state->row.key, &config));
  }
  if (!store_json(machine_json(state, &state->print), machine, sizeof machine)) return HONE_OK;
  return store_put_machine(state->ctx, state->store, state->row.key, machine);
}

/* Stores the machine again, with the peaks as raised during the study, and the time of each phase. */
static hone_status end_study(struct session_state *state) {
  TRY(store_limits(state));
  enter_phase(state, "end");
  describe_options(state, state->row.options_json, sizeof state->row.options_json);
  TRY(store_put_options(state->ctx, state->store, state->row.key, state->row.options_json));
  return store_finish_study(state->ctx, state->store, state->row.key);
}

static hone_status run_study(struct session_state *state, const struct bench_options *options) {
  struct bench_callbacks callbacks = {.user = state,
                                      .begin = on_begin,
                                      .done = on_done,
                                      .block = on_block,
                                      .process_record = on_process,
                                      .progress = on_progress};
  struct sigaction action = {.sa_handler = on_signal}, old_int, old_term, old_hup;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
  sigaction(SIGHUP, &action, &old_hup);
  state->budget_s = options->budget_s;
  state->options = options;
  hone_status status = bench_run(state->ctx, options, &callbacks);
  sigaction(SIGINT, &old_int, NULL);
  sigaction(SIGTERM, &old_term, NULL);
  sigaction(SIGHUP, &old_hup, NULL);
  progress_clear(&state->line);
  print_phases(state);
  return status || options->is_dry_run ? status : end_study(state);
}

/* Results from before an interrupt are shown as well; the exit code stays that of the failure. */
static int finish(struct session_state *state, hone_status status) {
  int code = status ? report_failure(state->ctx) : 0;
  if (status && status != HONE_E_INTERRUPTED) return code;
  if (has(state->args, FLAG_dry_run) || !state->row.key[0]) return code;
  ctx_clear(state->ctx);
  int shown = show_study(state->ctx, state->args, &state->sinks, state->store, state->row.key);
  if (!code) code = shown;
  ctx_clear(state->ctx);
  return code ? code : study_code(state);
}

int verb_bench(struct ctx *ctx, struct args *args) {
  static struct session_state state;
  static struct lists lists;
  struct bench_options options;
  state.ctx = ctx;
  state.args = args;
  state.shows_progress = isatty(2) && !has(args, FLAG_quiet);
  if (arena_create(ctx, 0, &state.arena)) return report_failure(ctx);
  if (suites_expand(ctx, state.arena, args) || zoo_dir_expand(ctx, state.arena, args) ||
      output_folder_expand(ctx, state.arena, args) || read_options(ctx, args, &lists, &options) ||
      (options.model_count &&
       shapes_of_inputs(ctx, args, options.models[0], state.arena, &options.shapes)) ||
      fail_on_parse(ctx, value_of(args, FLAG_fail_on, NULL), &state.fail_on) ||
      sinks_read(ctx, args, &state.sinks)) {
    arena_destroy(state.arena);
    return report_failure(ctx);
  }
  int code = finish(&state, run_study(&state, &options));
  store_close(state.store);
  arena_destroy(state.arena);
  return code;
}
