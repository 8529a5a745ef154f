/* Opens one configuration in a worker: the engine opens the model, the input sets are bound, and
 * the first inference on every set is compared with the reference before timing.
 */
#include "bench/wire/wire.h"
#include "worker_internal.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void copy_text(char *out, size_t size, const json_t *command, const char *key) {
  snprintf(out, size, "%s", message_text(command, key));
}

/* Copies the options without the harness's own keys (env.NAME). */
static void copy_engine_options(const char *options, char out[512]) {
  char key[64], value[256];
  size_t length = 0;
  out[0] = 0;
  while (option_next(&options, key, value)) {
    if (!strncmp(key, "env.", 4) || length >= 511) continue;
    int n = snprintf(out + length, 512 - length, "%s%s%s%s", length ? ";" : "", key,
                     value[0] ? "=" : "", value);
    length += n > 0 ? (size_t)n : 0;
  }
}

hone_status read_request(struct ctx *ctx, struct state *state, const json_t *command) {
  copy_text(state->model, sizeof state->model, command, "model");
  free(state->shapes);
  state->shapes = strdup(message_text(command, "shapes"));
  if (!state->shapes) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a request");
  copy_engine_options(message_text(command, "options"), state->options);
  copy_text(state->file_precision, sizeof state->file_precision, command, "file_precision");
  copy_text(state->engine, sizeof state->engine, command, "engine");
  copy_text(state->precision, sizeof state->precision, command, "precision");
  copy_text(state->dir, sizeof state->dir, command, "dir");
  copy_text(state->tolerance, sizeof state->tolerance, command, "tolerance");
  copy_text(state->engine_outputs, sizeof state->engine_outputs, command, "witness");
  copy_text(state->route, sizeof state->route, command, "route");
  state->scenario = (struct scenario){
      .kind = (enum scenario_kind)message_int(command, "scenario", SCENARIO_single),
      .streams = (int)message_int(command, "streams", 1),
      .rate_per_s = fmax(0, message_number(command, "rate"))};
  state->request = (struct backend_request){
      .model_path = state->model,
      .shapes = state->shapes[0] ? state->shapes : NULL,
      .precision = state->precision,
      .file_precision = state->file_precision[0] ? state->file_precision : "fp32",
      .threads = (int)message_int(command, "threads", 1),
      .in_flight = scenario_streams(&state->scenario),
      .options = state->options,
      .engine_path = state->engine[0] ? state->engine : NULL,
      .work_dir = state->work_dir,
      .use_cache = message_bool(command, "use_cache"),
  };
  state->is_checked = message_bool(command, "is_judged");
  /* fewer if nothing will be timed */
  const int64_t sets = message_int(command, "sets", BENCH_SETS);
  state->set_count = sets > 0 && sets < BENCH_SETS ? (size_t)sets : BENCH_SETS;
  const char *name = message_text(command, "backend");
  state->backend = backend_find(name);
  if (!state->backend) return fail(ctx, HONE_E_USAGE, place_name(name), "unknown backend");
  return HONE_OK;
}

static size_t output_place(const struct state *state, const json_t *command, size_t index) {
  return find_named(json_object_get(command, "outputs"), state->io.outputs[index].name, index);
}

static void shape_text(const hone_tensor *tensor, char out[256]) {
  struct strbuf text = {0};
  strbuf_printf(&text, "%s[", dtype_name(tensor->dtype));
  for (int32_t i = 0; i < tensor->rank; i++)
    strbuf_printf(&text, "%s%lld", i ? "," : "", (long long)tensor->shape[i]);
  strbuf_puts(&text, "]");
  snprintf(out, 256, "%s", text.at ? text.at : "");
  strbuf_deinit(&text);
}

/* Reads the file of one tensor; type and shape must be those of the engine. */
static hone_status read_data(struct ctx *ctx, struct state *state, const char *kind, int set,
                             size_t place, const struct backend_tensor *wanted, hone_tensor *out) {
  char path[4096], here[256], there[256];
  data_path(path, state->dir, kind, set, place);
  *out = wanted->info;
  /* no reference: data stays NULL */
  if (kind[0] == 'o' && (!state->is_checked || access(path, F_OK))) return HONE_OK;
  TRY(npy_read(ctx, path, &wanted->info, out));
  if (same_form(&wanted->info, out)) return HONE_OK;
  shape_text(&wanted->info, there);
  shape_text(out, here);
  bool is_output = kind[0] == 'o';
  if (is_output) state->stage = STAGE_verify;
  return fail(ctx, is_output ? HONE_E_ACCURACY : HONE_E_SHAPE, place_name(wanted->name),
              "the engine has %s, the model %s", there, here);
}

/* Random values for an undescribed input: equal on all engines that report the same name, type and
   shape. */
static hone_status make_up(struct ctx *ctx, const json_t *command, int set, size_t index,
                           const struct backend_tensor *wanted, hone_tensor *out) {
  char path[4096];
  size_t bytes;
  TRY(given_of_command(ctx, command, wanted->name, index, path));
  *out = wanted->info;
  if (path[0]) return npy_read(ctx, path, &wanted->info, out);
  if (has_given(command))
    return fail(ctx, HONE_E_NOFILE, place_name(wanted->name), "no file given for this input");
  TRY(tensor_bytes(ctx, wanted->name, out, &bytes));
  if (posix_memalign(&out->data, 64, bytes + 64))
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
  return input_fill(ctx, wanted->name, out, index, (uint64_t)message_int(command, "seed", 0), set);
}

hone_status make_input_of(struct ctx *ctx, struct state *state, const json_t *command, int set,
                          size_t index, hone_tensor *out) {
  const struct backend_tensor *wanted = &state->io.inputs[index];
  const json_t *names = json_object_get(command, "inputs");
  size_t place = find_named(names, wanted->name, index);
  char path[4096], here[256], there[256];
  data_path(path, state->dir, "in", set, place);
  if (!access(path, F_OK)) return read_data(ctx, state, "in", set, place, wanted, out);
  TRY(make_up(ctx, command, set, index, wanted, out));
  if (same_form(&wanted->info, out)) return HONE_OK;
  shape_text(&wanted->info, there);
  shape_text(out, here);
  TRY(given_of_command(ctx, command, wanted->name, index, path));
  return fail(ctx, HONE_E_SHAPE, place_file(path), "is %s, the input \"%s\" %s", here, wanted->name,
              there);
}

static hone_status make_set(struct ctx *ctx, struct state *state, const json_t *command,
                            int index) {
  struct backend_io *io = &state->io;
  struct run_set *set = &state->loop.sets[index];
  set->inputs = calloc(io->input_count + 1, sizeof *set->inputs);
  set->outputs = calloc(io->output_count + 1, sizeof *set->outputs);
  set->expected = calloc(io->output_count + 1, sizeof *set->expected);
  if (!set->inputs || !set->outputs || !set->expected)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
  for (size_t i = 0; i < io->input_count; i++)
    TRY(make_input_of(ctx, state, command, index, i, &set->inputs[i]));
  for (size_t i = 0; i < io->output_count; i++) {
    size_t *bytes = &state->loop.output_bytes[i];
    size_t place = output_place(state, command, i);
    TRY(read_data(ctx, state, "out", index, place, &io->outputs[i], &set->expected[i]));
    TRY(tensor_bytes(ctx, io->outputs[i].name, &set->expected[i], bytes));
    set->outputs[i] = set->expected[i];
    if (posix_memalign(&set->outputs[i].data, 64, *bytes + 64))
      return fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
  }
  return HONE_OK;
}

hone_status check_counts(struct ctx *ctx, struct state *state, const json_t *command) {
  if (!json_object_get(command, "inputs")) return HONE_OK; /* the model is not described yet */
  size_t inputs = json_array_size(json_object_get(command, "inputs"));
  size_t outputs = json_array_size(json_object_get(command, "outputs"));
  const char *routes = state->backend->routes;
  const size_t kept = (size_t)message_int(command, "kept_inputs", 0);
  if (kept && state->io.input_count + kept == inputs)
    return fail(
        ctx, HONE_E_UNSUP, place_name(state->backend->name),
        "keeps the model's state (%zu) internal between inferences, so that a single output "
        "cannot be checked%s%s",
        kept, routes ? "; for states as inputs: --route " : "", routes ? routes : "");
  if (state->io.input_count != inputs)
    return fail(ctx, HONE_E_SHAPE, place_none(), "the engine has %zu inputs, the model %zu",
                state->io.input_count, inputs);
  if (state->io.output_count == outputs) return HONE_OK;
  state->stage = STAGE_verify;
  return fail(ctx, HONE_E_ACCURACY, place_none(), "the engine has %zu outputs, the model %zu",
              state->io.output_count, outputs);
}

static void hash_outputs(struct state *state, size_t set) {
  struct strbuf all = {0};
  for (size_t i = 0; i < state->io.output_count; i++) {
    char one[33];
    const hone_tensor *output = &state->loop.sets[set].outputs[i];
    const hone_string *strings = output->dtype == HONE_STRING ? output->data : NULL;
    hash_hex(one, output->data, strings ? 0 : state->loop.output_bytes[i]);
    strbuf_puts(&all, one);
    for (size_t k = 0; strings && k < state->loop.output_bytes[i] / sizeof *strings; k++) {
      hash_hex(one, strings[k].bytes, strings[k].length);
      strbuf_puts(&all, one);
    }
  }
  hash_hex(state->output_hash, all.at ? all.at : "", all.length);
  strbuf_deinit(&all);
}

/* Makes the tolerance of each output from the command's lists, which are in the model's order. */
static hone_status make_yardsticks(struct ctx *ctx, struct state *state, const json_t *command) {
  const json_t *steps = json_object_get(command, "steps");
  const json_t *conditions = json_object_get(command, "conditions");
  struct yardstick *all = calloc(state->io.output_count + 1, sizeof *all);
  if (!all) return fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
  for (size_t i = 0; i < state->io.output_count; i++) {
    size_t place = output_place(state, command, i);
    all[i] = (struct yardstick){.precision = state->tolerance,
                                .step = fmax(0, json_number_value(json_array_get(steps, place)))};
    for (size_t k = 0; k < 2; k++)
      all[i].condition[k] = json_number_value(json_array_get(conditions, 2 * place + k));
  }
  state->loop.yardsticks = all;
  return HONE_OK;
}

/* Writes out_SET_I.npy in the model's order; the harness compares them with other engines'. */
static hone_status leave_engine_outputs(struct ctx *ctx, struct state *state,
                                        const json_t *command) {
  if (!state->engine_outputs[0]) return HONE_OK;
  TRY(dir_create(ctx, state->engine_outputs));
  for (int set = 0; set < BENCH_SETS; set++)
    for (size_t i = 0; i < state->io.output_count; i++) {
      char path[4096];
      data_path(path, state->engine_outputs, "out", set, output_place(state, command, i));
      TRY(npy_write(ctx, path, &state->loop.sets[set].outputs[i]));
    }
  return HONE_OK;
}

static hone_status wrong_outputs(struct ctx *ctx, struct state *state, const char *when) {
  state->stage = STAGE_verify;
  return fail(ctx, HONE_E_ACCURACY, place_none(), "%s: %s", when, state->accuracy.where);
}

/* The first inference on every set, compared with the reference. */
static hone_status first_inferences(struct ctx *ctx, struct state *state, const json_t *command) {
  for (size_t set = 0; set < state->set_count; set++) {
    uint64_t ns;
    loop_poison(&state->loop, set);
    TRY(loop_once(ctx, &state->loop, &ns));
    TRY(loop_keep_text(ctx, &state->loop, set));
    if (set) continue;
    state->first_ms = (double)ns / 1e6;
    hash_outputs(state, set);
  }
  enter(state, STAGE_verify);
  bool has_reference = true;
  for (size_t set = 0; set < state->set_count; set++)
    has_reference &= loop_compare(&state->loop, set, &state->accuracy);
  if (!has_reference || !state->accuracy.is_within) TRY(leave_engine_outputs(ctx, state, command));
  if (!state->accuracy.is_within) return wrong_outputs(ctx, state, "first inference");
  enter(state, STAGE_run);
  return HONE_OK;
}

static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }

/* Peak memory of the largest child process, a C compiler. */
static int64_t children_peak_bytes(void) {
  struct rusage usage;
  return getrusage(RUSAGE_CHILDREN, &usage) ? -1 : (int64_t)usage.ru_maxrss * 1024;
}

/* Converts the model for a route, if the engine is installed. */
static hone_status take_route(struct ctx *ctx, struct state *state) {
  struct backend_info info = {.status = BACKEND_READY};
  if (!route_is_hones(state->route)) return HONE_OK;
  state->backend->describe(ctx, state->backend, state->request.engine_path, &info);
  if (info.status != BACKEND_READY) return HONE_OK;
  enter(state, STAGE_import);
  return route_convert(ctx, state->route, &state->request, &state->facts, state->route_path);
}

hone_status open_backend(struct ctx *ctx, struct state *state) {
  uint64_t start;
  TRY(take_route(ctx, state));
  if (state->backend->prepare) {
    enter(state, STAGE_compile);
    start = clock_ns();
    hone_status status = state->backend->prepare(ctx, &state->request, &state->facts);
    if (status && state->facts.is_importing) state->stage = STAGE_import;
    TRY(status);
    state->compile_ms = (double)(clock_ns() - start) / 1e6;
    state->rss_compile = largest(resident_bytes(), children_peak_bytes());
  }
  enter(state, STAGE_load);
  start = clock_ns();
  TRY(session_open(ctx, state->backend, &state->request, &state->loop.session, &state->facts,
                   &state->io));
  state->load_ms = (double)(clock_ns() - start) / 1e6;
  if (state->facts.artifact_bytes >= 0) state->facts.artifact_bytes += state->facts.route_bytes;
  state->rss_load = resident_bytes();
  return HONE_OK;
}

static hone_status begin_cell(struct ctx *ctx, struct state *state, const json_t *command) {
  enter(state, STAGE_load);
  TRY(read_request(ctx, state, command));
  TRY(read_generation(ctx, state, command));
  backend_facts_init(&state->facts);
  accuracy_init(&state->accuracy);
  TRY(open_backend(ctx, state));
  if (!state->request.text_tokens) TRY(check_counts(ctx, state, command));
  state->loop.streams = state->facts.in_flight > 1 ? state->facts.in_flight : 1;
  if (state->scenario.kind == SCENARIO_multi && state->loop.streams < state->scenario.streams)
    return fail(ctx, HONE_E_UNSUP, place_name(state->backend->name),
                "takes %d request%s at a time, not %d", state->loop.streams,
                state->loop.streams == 1 ? "" : "s", state->scenario.streams);
  state->loop.backend = state->backend;
  state->loop.io = &state->io;
  random_init(&state->loop.random, (uint64_t)message_int(command, "seed", 0) ^ (uint64_t)getpid());
  if (state->generation) return begin_generation(ctx, state, command);
  state->loop.output_bytes = calloc(state->io.output_count + 1, sizeof *state->loop.output_bytes);
  if (!state->loop.output_bytes)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
  TRY(make_yardsticks(ctx, state, command));
  enter(state, STAGE_run);
  for (int set = 0; set < (int)state->set_count; set++) {
    TRY(make_set(ctx, state, command, set));
    TRY(state->backend->bind(ctx, state->loop.session, set, state->loop.sets[set].inputs,
                             state->loop.sets[set].outputs));
  }
  return first_inferences(ctx, state, command);
}

static json_t *opened_message(const struct state *state) {
  const struct backend_facts *facts = &state->facts;
  json_t *message = json_pack(
      "{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:b, s:i, s:f, s:f, s:I, s:I, s:I, s:s}", "event",
      "opened", "version", facts->version, "device", facts->device, "precision", facts->precision,
      "threads", facts->threads, "artifact_bytes", (json_int_t)facts->artifact_bytes, "arena_bytes",
      (json_int_t)facts->arena_bytes, "from_cache", facts->from_cache, "flags", (int)facts->flags,
      "load_ms", state->load_ms, "first_ms", state->first_ms, "rss_import",
      (json_int_t)facts->rss_import, "rss_compile", (json_int_t)state->rss_compile, "rss_load",
      (json_int_t)state->rss_load, "output_hash", state->output_hash);
  if (!message) return NULL;
  message_set_number(message, "fallback_share", facts->fallback_share);
  message_set_number(message, "import_ms", facts->import_ms);
  message_set_number(message, "compile_ms", state->compile_ms);
  set_accuracy(message, &state->accuracy);
  return message;
}

hone_status open_config(struct ctx *ctx, struct state *state, const json_t *command,
                        json_t **out_reply) {
  if (state->backend)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "a configuration is already open");
  TRY(begin_cell(ctx, state, command));
  *out_reply = opened_message(state);
  return HONE_OK;
}

void release_config(struct state *state) {
  loop_forget_text(&state->loop);
  if (state->loop.session) session_close(state->backend, state->loop.session);
  for (size_t set = 0; set < BENCH_SETS; set++) {
    struct run_set *at = &state->loop.sets[set];
    for (size_t i = 0; at->inputs && i < state->io.input_count; i++) free(at->inputs[i].data);
    for (size_t i = 0; at->outputs && i < state->io.output_count; i++) free(at->outputs[i].data);
    for (size_t i = 0; at->expected && i < state->io.output_count; i++) free(at->expected[i].data);
    free(at->inputs);
    free(at->outputs);
    free(at->expected);
  }
  release_generation(state);
  free(state->loop.output_bytes);
  free(state->loop.yardsticks);
  backend_io_destroy(&state->io);
}
