/* `hone worker`: one process that prepares one model or measures one cell with one backend. It
 * reads commands from descriptor 3 and answers on 4; stdout and stderr belong to the engine. Its
 * own limits (CPUs, memory, file sizes, no new privileges) are set before any engine is loaded.
 *
 * A cell that fails answers "failed" once and the process ends. The end of commands is the end.
 */
#include "bench.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE_BYTES (32ull << 30)
#define MAX_OPEN_FILES 4096
#define DATA_SLACK (256ull << 20)

struct state {
  char cell[33];
  enum record_stage stage;
  const struct backend *backend;
  char model[4096], shapes[8192], options[512], engine[4096], precision[32], tolerance[32],
      dir[4096];
  char work_dir[4096]; /* our own folder; an engine may change the current one */
  struct backend_request request;
  struct backend_facts facts;
  struct backend_io io;
  struct loop loop;
  double compile_ms, load_ms, first_ms;
  int64_t rss_compile, rss_load;
  struct accuracy accuracy; /* so far */
  char output_hash[33];
};

/* -- own limits ---------------------------------------------------------------------------------
 */

static void set_limit(__rlimit_resource_t resource, uint64_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit)) return;
  if (limit.rlim_max != RLIM_INFINITY && value > limit.rlim_max) value = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = value;
  setrlimit(resource, &limit);
}

/* The first `threads` of the CPUs that we may use. */
static void set_affinity(int64_t threads) {
  cpu_set_t allowed, wanted;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
  CPU_ZERO(&wanted);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && threads > 0; cpu++)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &wanted);
      threads--;
    }
  sched_setaffinity(0, sizeof wanted, &wanted);
}

static void confine(int64_t threads, int64_t memory_bytes) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, MAX_FILE_BYTES);
  set_limit(RLIMIT_NOFILE, MAX_OPEN_FILES);
#ifdef __SANITIZE_ADDRESS__
  (void)memory_bytes; /* its shadow memory counts as data */
#else
  /* the harness looks at the resident set; this catches what grows faster than it looks */
  if (memory_bytes > 0)
    set_limit(RLIMIT_DATA, (uint64_t)memory_bytes + (uint64_t)memory_bytes / 4 + DATA_SLACK);
#endif
  if (threads > 0) set_affinity(threads);
}

static int64_t peak_resident_bytes(void) {
  char text[4096];
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  const char *line = strstr(text, "VmHWM:");
  long long kib;
  return line && sscanf(line, "VmHWM: %lld", &kib) == 1 ? (int64_t)kib * 1024 : -1;
}

/* -- answers ------------------------------------------------------------------------------------
 */

static bool answer(const struct state *state, json_t *message) {
  if (message) json_object_set_new(message, "cell", json_string(state->cell));
  return message_write(WORKER_FD_OUT, message);
}

static void enter(struct state *state, enum record_stage stage) {
  state->stage = stage;
  answer(state, json_pack("{s:s, s:s}", "event", "stage", "stage", stage_text(stage)));
}

static void set_accuracy(json_t *message, const struct accuracy *accuracy) {
  message_set_number(message, "max_abs_diff", accuracy->max_abs_diff);
  message_set_number(message, "max_rel_diff", accuracy->max_rel_diff);
  message_set_number(message, "rel_l2", accuracy->rel_l2);
  message_set_number(message, "cosine", fmin(1.0, accuracy->cosine));
  message_set_number(message, "top1", accuracy->top1);
}

static enum record_status status_of(hone_status status) {
  switch (status) {
    case HONE_E_MISSING:
      return STATUS_not_installed;
    case HONE_E_UNSUP:
      return STATUS_unsupported;
    case HONE_E_OOM:
      return STATUS_out_of_memory;
    case HONE_E_TIMEOUT:
      return STATUS_timeout;
    case HONE_E_ACCURACY:
      return STATUS_wrong;
    default:
      return STATUS_error;
  }
}

static void answer_failure(const struct state *state, const struct ctx *ctx) {
  json_t *message =
      json_pack("{s:s, s:s, s:s, s:s}", "event", "failed", "stage", stage_text(state->stage),
                "status", status_text(status_of(ctx->status)), "reason", ctx->message);
  if (!message)
    message = json_pack("{s:s, s:s, s:s, s:s}", "event", "failed", "stage", "run", "status",
                        "error", "reason", "a failure whose words are not UTF-8");
  if (ctx->status == HONE_E_ACCURACY) set_accuracy(message, &state->accuracy);
  answer(state, message);
}

/* -- open ---------------------------------------------------------------------------------------
 */

static void copy_text(char *out, size_t size, const json_t *command, const char *key) {
  snprintf(out, size, "%s", message_text(command, key));
}

static hone_status read_request(struct ctx *ctx, struct state *state, const json_t *command) {
  copy_text(state->model, sizeof state->model, command, "model");
  copy_text(state->shapes, sizeof state->shapes, command, "shapes");
  copy_text(state->options, sizeof state->options, command, "options");
  copy_text(state->engine, sizeof state->engine, command, "engine");
  copy_text(state->precision, sizeof state->precision, command, "precision");
  copy_text(state->dir, sizeof state->dir, command, "dir");
  copy_text(state->tolerance, sizeof state->tolerance, command, "tolerance");
  state->request = (struct backend_request){
      .model_path = state->model,
      .shapes = state->shapes[0] ? state->shapes : NULL,
      .precision = state->precision,
      .threads = (int)message_int(command, "threads", 1),
      .options = state->options,
      .engine_path = state->engine[0] ? state->engine : NULL,
      .work_dir = state->work_dir,
      .use_cache = message_bool(command, "use_cache"),
  };
  const char *name = message_text(command, "backend");
  state->backend = backend_find(name);
  if (!state->backend) return fail(ctx, HONE_E_USAGE, place_name(name), "no such backend");
  return HONE_OK;
}

static bool same_form(const hone_tensor *a, const hone_tensor *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

/* Place of the engine's tensor in the model's list: by name, else by position. */
static size_t find_named(const json_t *names, const char *name, size_t otherwise) {
  for (size_t i = 0; i < json_array_size(names); i++)
    if (!strcmp(json_string_value(json_array_get(names, i)), name)) return i;
  return otherwise;
}

static void shape_text(const hone_tensor *tensor, char out[256]) {
  struct text text = {0};
  text_printf(&text, "%s[", dtype_name(tensor->dtype));
  for (int32_t i = 0; i < tensor->rank; i++)
    text_printf(&text, "%s%lld", i ? "," : "", (long long)tensor->shape[i]);
  text_puts(&text, "]");
  snprintf(out, 256, "%s", text.at ? text.at : "");
  text_deinit(&text);
}

/* Reads the file of one tensor; it must have the form that the engine says. */
static hone_status read_data(struct ctx *ctx, struct state *state, const char *kind, int set,
                             size_t place, const struct backend_tensor *wanted, hone_tensor *out) {
  char path[4096], here[256], there[256];
  data_path(path, state->dir, kind, set, place);
  *out = wanted->info;
  if (kind[0] == 'o' && access(path, F_OK)) return HONE_OK; /* no reference: data stays NULL */
  TRY(npy_read(ctx, path, &wanted->info, out));
  if (same_form(&wanted->info, out)) return HONE_OK;
  shape_text(&wanted->info, there);
  shape_text(out, here);
  bool is_output = kind[0] == 'o';
  if (is_output) state->stage = STAGE_verify;
  return fail(ctx, is_output ? HONE_E_ACCURACY : HONE_E_SHAPE, place_name(wanted->name),
              "the engine has %s, the model %s", there, here);
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
  const json_t *names = json_object_get(command, "inputs");
  for (size_t i = 0; i < io->input_count; i++)
    TRY(read_data(ctx, state, "in", index, find_named(names, io->inputs[i].name, i), &io->inputs[i],
                  &set->inputs[i]));
  names = json_object_get(command, "outputs");
  const json_t *steps = json_object_get(command, "steps");
  for (size_t i = 0; i < io->output_count; i++) {
    size_t *bytes = &state->loop.output_bytes[i];
    size_t place = find_named(names, io->outputs[i].name, i);
    state->loop.steps[i] = fmax(0, json_number_value(json_array_get(steps, place)));
    TRY(read_data(ctx, state, "out", index, place, &io->outputs[i], &set->expected[i]));
    TRY(tensor_bytes(ctx, io->outputs[i].name, &set->expected[i], bytes));
    set->outputs[i] = set->expected[i];
    if (posix_memalign(&set->outputs[i].data, 64, *bytes + 64))
      return fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
  }
  return HONE_OK;
}

static hone_status check_counts(struct ctx *ctx, struct state *state, const json_t *command) {
  size_t inputs = json_array_size(json_object_get(command, "inputs"));
  size_t outputs = json_array_size(json_object_get(command, "outputs"));
  if (state->io.input_count != inputs)
    return fail(ctx, HONE_E_SHAPE, place_none(), "the engine has %zu inputs, the model %zu",
                state->io.input_count, inputs);
  if (state->io.output_count == outputs) return HONE_OK;
  state->stage = STAGE_verify;
  return fail(ctx, HONE_E_ACCURACY, place_none(), "the engine has %zu outputs, the model %zu",
              state->io.output_count, outputs);
}

static void hash_outputs(struct state *state, size_t set) {
  struct text all = {0};
  for (size_t i = 0; i < state->io.output_count; i++) {
    char one[33];
    hash_hex(one, state->loop.sets[set].outputs[i].data, state->loop.output_bytes[i]);
    text_puts(&all, one);
  }
  hash_hex(state->output_hash, all.at ? all.at : "", all.length);
  text_deinit(&all);
}

static hone_status wrong_outputs(struct ctx *ctx, struct state *state, const char *when) {
  state->stage = STAGE_verify;
  return fail(ctx, HONE_E_ACCURACY, place_none(), "%s: %s", when, state->accuracy.where);
}

/* The first inference on every set, compared with the reference. */
static hone_status first_inferences(struct ctx *ctx, struct state *state) {
  for (size_t set = 0; set < BENCH_SETS; set++) {
    uint64_t ns;
    loop_poison(&state->loop, set);
    TRY(loop_once(ctx, &state->loop, &ns));
    if (set) continue;
    state->first_ms = (double)ns / 1e6;
    hash_outputs(state, set);
  }
  enter(state, STAGE_verify);
  for (size_t set = 0; set < BENCH_SETS; set++) loop_compare(&state->loop, set, &state->accuracy);
  if (!state->accuracy.is_within) return wrong_outputs(ctx, state, "first inference");
  enter(state, STAGE_run);
  return HONE_OK;
}

static hone_status open_backend(struct ctx *ctx, struct state *state) {
  uint64_t start;
  if (state->backend->prepare) {
    enter(state, STAGE_compile);
    start = clock_ns();
    TRY(state->backend->prepare(ctx, &state->request, &state->facts));
    state->compile_ms = (double)(clock_ns() - start) / 1e6;
    state->rss_compile = resident_bytes();
  }
  enter(state, STAGE_load);
  start = clock_ns();
  TRY(session_open(ctx, state->backend, &state->request, &state->loop.session, &state->facts,
                   &state->io));
  state->load_ms = (double)(clock_ns() - start) / 1e6;
  state->rss_load = resident_bytes();
  return HONE_OK;
}

static hone_status open_cell(struct ctx *ctx, struct state *state, const json_t *command) {
  enter(state, STAGE_load);
  TRY(read_request(ctx, state, command));
  backend_facts_init(&state->facts);
  accuracy_init(&state->accuracy);
  TRY(open_backend(ctx, state));
  TRY(check_counts(ctx, state, command));
  state->loop.backend = state->backend;
  state->loop.io = &state->io;
  state->loop.precision = state->tolerance;
  random_init(&state->loop.random, (uint64_t)message_int(command, "seed", 0) ^ (uint64_t)getpid());
  state->loop.output_bytes = calloc(state->io.output_count + 1, sizeof *state->loop.output_bytes);
  if (!state->loop.output_bytes)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
  enter(state, STAGE_run);
  for (int set = 0; set < BENCH_SETS; set++) {
    TRY(make_set(ctx, state, command, set));
    TRY(state->backend->bind(ctx, state->loop.session, set, state->loop.sets[set].inputs,
                             state->loop.sets[set].outputs));
  }
  return first_inferences(ctx, state);
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

/* -- warm-up and slices -------------------------------------------------------------------------
 */

static hone_status warm_up(struct ctx *ctx, struct state *state, const json_t *command,
                           json_t **out_reply) {
  uint64_t start = clock_ns();
  bool is_stationary;
  TRY(loop_warmup(ctx, &state->loop, (uint64_t)message_int(command, "max_ns", 0), &is_stationary));
  *out_reply =
      json_pack("{s:s, s:f, s:f, s:b, s:I}", "event", "warm", "ms",
                (double)(clock_ns() - start) / 1e6, "median_ns", fmax(1.0, state->loop.median_ns),
                "is_stationary", is_stationary, "rss", (json_int_t)resident_bytes());
  return HONE_OK;
}

static hone_status write_samples(struct ctx *ctx, const struct state *state, const char *kind,
                                 int round, const uint64_t *samples, size_t count) {
  char path[4096 + 64];
  snprintf(path, sizeof path, "%s/%s_%d.npy", state->work_dir, kind, round);
  umask(077); /* an engine may have changed it */
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)samples, .dtype = HONE_U64, .rank = 1, .shape = {(int64_t)count}};
  return npy_write(ctx, path, &tensor);
}

static int64_t involuntary_switches(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) ? -1 : (int64_t)usage.ru_nivcsw;
}

static hone_status measure(struct ctx *ctx, struct state *state, const json_t *command,
                           json_t **out_reply) {
  const struct slice_plan plan = {.min_samples = (uint64_t)message_int(command, "min_samples", 1),
                                  .min_ns = (uint64_t)message_int(command, "min_ns", 0),
                                  .max_ns = (uint64_t)message_int(command, "max_ns", INT64_MAX),
                                  .rewarm_ns = (uint64_t)message_int(command, "rewarm_ns", 0),
                                  .checks = (int)message_int(command, "checks", 0)};
  int round = (int)message_int(command, "round", 0);
  struct slice slice;
  int64_t switches = involuntary_switches();
  TRY(loop_slice(ctx, &state->loop, &plan, &slice));
  switches = involuntary_switches() - switches;
  hone_status status = write_samples(ctx, state, "block", round, slice.samples, slice.sample_count);
  if (!status)
    status = write_samples(ctx, state, "rewarm", round, slice.rewarm, slice.rewarm_count);
  accuracy_merge(&state->accuracy, &slice.accuracy);
  slice_deinit(&slice);
  TRY(status);
  *out_reply = json_pack(
      "{s:s, s:i, s:I, s:I, s:i, s:b, s:I, s:I, s:I, s:I}", "event", "block", "round", round,
      "samples", (json_int_t)slice.sample_count, "rewarm", (json_int_t)slice.rewarm_count,
      "verified", slice.verified, "is_within", state->accuracy.is_within, "involuntary",
      (json_int_t)switches, "iterations", (json_int_t)state->loop.iterations, "rss",
      (json_int_t)resident_bytes(), "rss_peak", (json_int_t)peak_resident_bytes());
  set_accuracy(*out_reply, &state->accuracy);
  if (!state->accuracy.is_within)
    json_object_set_new(*out_reply, "where", json_string(state->accuracy.where));
  return HONE_OK;
}

/* -- a peer in place of the reference
 * -------------------------------------------------------------- */

static hone_status probe_set(struct ctx *ctx, struct state *state, int set, uint64_t seed) {
  hone_tensor tensors[2 * BENCH_MAX_IO];
  struct backend_io *io = &state->io;
  size_t count = io->input_count + io->output_count, made = 0;
  hone_status status = HONE_OK;
  for (; !status && made < count; made++) {
    bool is_input = made < io->input_count;
    size_t index = is_input ? made : made - io->input_count, bytes = 0;
    const struct backend_tensor *from = is_input ? &io->inputs[index] : &io->outputs[index];
    tensors[made] = from->info;
    tensors[made].data = NULL;
    status = tensor_bytes(ctx, from->name, &from->info, &bytes);
    if (!status && posix_memalign(&tensors[made].data, 64, bytes + 64))
      status = fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
    if (!status && is_input) status = input_fill(ctx, from->name, &tensors[made], index, seed, set);
  }
  hone_tensor *outputs = tensors + io->input_count;
  if (!status) status = state->backend->bind(ctx, state->loop.session, set, tensors, outputs);
  if (!status) status = state->backend->submit(ctx, state->loop.session, set);
  if (!status) status = state->backend->wait(ctx, state->loop.session);
  for (size_t i = 0; !status && i < count; i++) {
    bool is_input = i < io->input_count;
    char path[4096];
    data_path(path, state->dir, is_input ? "in" : "out", set, is_input ? i : i - io->input_count);
    status = npy_write(ctx, path, &tensors[i]);
  }
  for (size_t i = 0; i < made; i++) free(tensors[i].data); /* the session is not run again */
  return status;
}

static json_t *form_list(const struct backend_tensor *tensors, size_t count, struct text *shapes) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *shape = json_array();
    if (shapes) text_printf(shapes, "%s%s[", i ? "," : "", tensors[i].name);
    for (int32_t d = 0; d < tensors[i].info.rank; d++) {
      json_array_append_new(shape, json_integer(tensors[i].info.shape[d]));
      if (shapes) text_printf(shapes, "%s%lld", d ? "," : "", (long long)tensors[i].info.shape[d]);
    }
    if (shapes) text_puts(shapes, "]");
    json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "name", tensors[i].name, "dtype",
                                          (int)tensors[i].info.dtype, "shape", shape));
  }
  return list;
}

/* Inputs by the engine's own list, and the outputs that it gives for them. */
static hone_status probe(struct ctx *ctx, struct state *state, const json_t *command,
                         json_t **out_reply) {
  enter(state, STAGE_load);
  TRY(read_request(ctx, state, command));
  backend_facts_init(&state->facts);
  struct mapping file;
  char hash[33];
  TRY(file_map(ctx, state->model, &file));
  hash_hex(hash, file.data, file.size);
  file_unmap(&file);
  TRY(open_backend(ctx, state));
  if (state->io.input_count > BENCH_MAX_IO || state->io.output_count > BENCH_MAX_IO)
    return fail(ctx, HONE_E_LIMIT, place_none(), "more than %d inputs or outputs", BENCH_MAX_IO);
  enter(state, STAGE_run);
  for (int set = 0; set < BENCH_SETS; set++)
    TRY(probe_set(ctx, state, set, (uint64_t)message_int(command, "seed", 0)));
  struct text shapes = {0};
  json_t *inputs = form_list(state->io.inputs, state->io.input_count, &shapes);
  json_t *outputs = form_list(state->io.outputs, state->io.output_count, NULL);
  *out_reply = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "event", "described", "path",
                         state->model, "hash", hash, "shapes", shapes.at ? shapes.at : "", "inputs",
                         inputs, "outputs", outputs);
  text_deinit(&shapes);
  return HONE_OK;
}

/* -- commands -----------------------------------------------------------------------------------
 */

static hone_status describe_model(struct ctx *ctx, struct state *state, const json_t *command,
                                  json_t **out_reply) {
  enter(state, STAGE_import);
  return prepare_describe(ctx, command, state->work_dir, out_reply);
}
static hone_status make_reference(struct ctx *ctx, struct state *state, const json_t *command,
                                  json_t **out_reply) {
  enter(state, STAGE_verify);
  return prepare_reference(ctx, command, out_reply);
}
static hone_status open_and_report(struct ctx *ctx, struct state *state, const json_t *command,
                                   json_t **out_reply) {
  if (state->backend) return fail(ctx, HONE_E_INTERNAL, place_none(), "a cell is open already");
  TRY(open_cell(ctx, state, command));
  *out_reply = opened_message(state);
  return HONE_OK;
}
static hone_status close_cell(struct ctx *ctx, struct state *state, const json_t *command,
                              json_t **out_reply) {
  (void)ctx, (void)state, (void)command;
  *out_reply =
      json_pack("{s:s, s:I}", "event", "closed", "rss_peak", (json_int_t)peak_resident_bytes());
  return HONE_OK;
}

static const struct command {
  const char *name;
  hone_status (*act)(struct ctx *ctx, struct state *state, const json_t *command,
                     json_t **out_reply);
} commands[] = {{"close", close_cell}, {"describe", describe_model},  {"open", open_and_report},
                {"probe", probe},      {"reference", make_reference}, {"slice", measure},
                {"warmup", warm_up}};

static hone_status obey(struct ctx *ctx, struct state *state, const json_t *command,
                        json_t **out_reply) {
  const char *name = message_text(command, "do");
  copy_text(state->cell, sizeof state->cell, command, "cell");
  for (size_t i = 0; i < COUNT(commands); i++)
    if (!strcmp(commands[i].name, name)) return commands[i].act(ctx, state, command, out_reply);
  return fail(ctx, HONE_E_USAGE, place_name(name), "no such command");
}

static void release(struct state *state) {
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
  free(state->loop.output_bytes);
  backend_io_destroy(&state->io);
}

/* False when the conversation is over. */
static bool serve(struct ctx *ctx, struct state *state, const char *line, size_t length) {
  json_error_t error;
  json_t *command = json_loadb(line, length, 0, &error);
  if (!command) return false;
  json_t *reply = NULL;
  hone_status status = obey(ctx, state, command, &reply);
  bool is_last = status || !strcmp(message_text(command, "do"), "close");
  json_decref(command);
  if (status) {
    answer_failure(state, ctx);
  } else if (!reply || !answer(state, reply)) {
    return false;
  }
  return !is_last;
}

int worker_main(int argc, char **argv) {
  int64_t threads = 0, memory_bytes = 0;
  if (argc != 4 || !parse_i64(argv[2], 0, 1 << 20, &threads) ||
      !parse_i64(argv[3], 0, INT64_MAX, &memory_bytes) || fcntl(WORKER_FD_IN, F_GETFD) < 0 ||
      fcntl(WORKER_FD_OUT, F_GETFD) < 0)
    return 2;
  fcntl(WORKER_FD_IN, F_SETFD, FD_CLOEXEC);
  fcntl(WORKER_FD_OUT, F_SETFD, FD_CLOEXEC);
  confine(threads, memory_bytes);
  struct state *state = calloc(1, sizeof *state);
  struct line_reader commands_in = {.fd = WORKER_FD_IN};
  struct ctx ctx;
  ctx_init(&ctx);
  if (!state || !getcwd(state->work_dir, sizeof state->work_dir)) return 71;
  state->compile_ms = NAN;
  state->rss_compile = -1;
  char *line;
  size_t length;
  while (line_next(&commands_in, &line, &length) == LINE_READY)
    if (!serve(&ctx, state, line, length)) break;
  line_reader_deinit(&commands_in);
  release(state);
  free(state);
  return 0;
}
