/* Starts the workers of a study; commands that several files use. */
#include "bench/worker/loop.h"
#include "study_internal.h"
#include "bench/wire/transport.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

hone_status bench_worker(struct bench *bench, const char *config, int threads, struct worker *out) {
  char dir[4096 + 32];
  snprintf(dir, sizeof dir, "%.4000s/worker-%d", bench->dir, bench->worker_number++);
  const struct worker_spec spec = {.dir = dir, .config = config, .threads = threads};
  return worker_start(bench->ctx, &bench->harness, &spec, out);
}

#define MAX_ENVIRONMENT 16

static const char *pair_value(const struct bench_pair *pairs, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(pairs[i].name, name)) return pairs[i].value;
  return NULL;
}

static const struct device *device_of(const struct bench *bench, const struct config *config) {
  for (size_t i = 0; i < bench->device_count; i++)
    if (!strcmp(bench->devices[i].name, config->device)) return &bench->devices[i];
  return NULL;
}

hone_status bench_config_worker(struct bench *bench, const struct config *config, const char *key,
                                struct worker *out) {
  char dir[4096 + 32], text[MAX_ENVIRONMENT][320], name[64], value[256];
  const char *environment[MAX_ENVIRONMENT + 3] = {NULL};
  const struct bench_options *options = &bench->options;
  const struct device *device = device_of(bench, config);
  size_t count = 0, written = 0;
  snprintf(dir, sizeof dir, "%.4000s/worker-%d", bench->dir, bench->worker_number++);
  for (size_t i = 0; device && i < COUNT(device->environment) && device->environment[i][0]; i++)
    environment[count++] = device->environment[i];
  for (const char *at = config->options;
       option_next(&at, name, value) && written < MAX_ENVIRONMENT;) {
    if (strncmp(name, "env.", 4)) continue;
    snprintf(text[written], sizeof text[written], "%s=%s", name + 4, value);
    environment[count++] = text[written++];
  }
  const struct worker_spec spec = {
      .backend = config->backend,
      .engine_path = pair_value(options->engines, options->engine_count, config->backend),
      .device = device,
      .dir = dir,
      .config = key,
      .threads = config->threads,
      .environment = environment};
  return worker_start(bench->ctx, &bench->harness, &spec, out);
}

/* Sends a file under a plain name and puts its remote path into the command. */
static bool send_named(struct worker *worker, json_t *command, const char *key, const char *path,
                       const char *name, struct worker_end *end) {
  char far[4096 + 160];
  struct ctx ctx;
  ctx_init(&ctx);
  if (worker->transport->put(&ctx, worker, path, name) && !worker->is_lost) {
    end->status = STATUS_error;
    snprintf(end->reason, sizeof end->reason, "%.1000s", ctx.message);
    return false;
  }
  snprintf(far, sizeof far, "%s/%s", worker->far_dir, name);
  json_object_set_new(command, key, json_string(far));
  return true;
}

static bool send_data(struct worker *worker, const struct bench_case *one, const char *kind,
                      size_t count, struct worker_end *end) {
  struct ctx ctx;
  ctx_init(&ctx);
  for (int set = 0; set < BENCH_SETS; set++)
    for (size_t i = 0; i < count && !worker->is_lost; i++) {
      char path[4096];
      data_path(path, one->data_dir, kind, set, i);
      if (access(path, R_OK)) continue; /* no reference, or inputs that the worker makes itself */
      if (!worker->transport->put(&ctx, worker, path, strrchr(path, '/') + 1) || worker->is_lost)
        continue;
      end->status = STATUS_error;
      snprintf(end->reason, sizeof end->reason, "%.1000s", ctx.message);
      return false;
    }
  return true;
}

bool send_case(struct worker *worker, const struct bench_case *one, json_t *command,
               struct worker_end *end) {
  struct stat info;
  const char *ending = strrchr(one->path, '.');
  char name[32];
  if (worker->transport->shares_files || !command) return true;
  *end = (struct worker_end){.status = STATUS_unsupported, .stage = STAGE_load, .rel_l2 = NAN};
  if (!stat(one->path, &info) && one->file_bytes > info.st_size) {
    snprintf(
        end->reason, sizeof end->reason,
        "models with side files cannot be sent to a device: store the weights in the model file");
    return false;
  }
  snprintf(name, sizeof name, "model%.12s", ending && is_plain_file_name(ending + 1) ? ending : "");
  json_object_set_new(command, "dir", json_string(worker->far_dir));
  return send_named(worker, command, "model", one->path, name, end) &&
         send_data(worker, one, "in", one->input_count, end) &&
         send_data(worker, one, "out", one->output_count, end);
}

void reference_deadline_begin(struct bench *bench) {
  bench->harness.deadline_reason = "the reference's budget (--reference-budget)";
  bench->harness.deadline_ns = clock_ns() + (uint64_t)(bench->options.reference_s * 1e9);
  budget_cap_deadline(bench);
}
void reference_deadline_end(struct bench *bench) { bench->harness.deadline_ns = 0; }

json_t *names_of(const struct backend_tensor *tensors, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(list, json_string(tensors[i].name));
  return list;
}

void add_given_inputs(const struct bench *bench, json_t *command) {
  json_t *files = json_object();
  char path[4096], inputs_dir[4096] = "";
  for (size_t i = 0; i < bench->options.input_count; i++)
    if (realpath(bench->options.inputs[i].value, path)) /* a worker has another current folder */
      json_object_set_new(files, bench->options.inputs[i].name, json_string(path));
  if (bench->options.inputs_dir && !realpath(bench->options.inputs_dir, inputs_dir))
    inputs_dir[0] = 0;
  json_object_set_new(command, "files", files);
  json_object_set_new(command, "inputs_dir", json_string(inputs_dir));
}

/* Adds names, steps and conditioning of inputs and outputs, if the model is described. */
static void add_description(json_t *command, const struct bench_case *one) {
  json_t *steps = json_array(), *conditions = json_array();
  for (size_t i = 0; i < one->output_count; i++) {
    json_array_append_new(steps, json_real(one->steps ? one->steps[i] : 0));
    for (size_t k = 0; k < 2; k++)
      json_array_append_new(conditions, json_real(one->conditions ? one->conditions[i][k] : 0));
  }
  json_object_set_new(command, "inputs", names_of(one->inputs, one->input_count));
  json_object_set_new(command, "outputs", names_of(one->outputs, one->output_count));
  json_object_set_new(command, "kept_inputs", json_integer((json_int_t)one->kept_inputs));
  json_object_set_new(command, "steps", steps);
  json_object_set_new(command, "conditions", conditions);
}

/* Adds the scenario. Without one requests come one after the other, as for overheads and reference
   outputs. */
static void add_scenario(const struct bench *bench, const struct config *config, json_t *command) {
  for (size_t i = 0; i < bench->scenario_count; i++) {
    const struct scenario *scenario = &bench->scenarios[i];
    if (strcmp(scenario->text, config->scenario) || scenario->kind == SCENARIO_single) continue;
    json_object_set_new(command, "scenario", json_integer(scenario->kind));
    json_object_set_new(command, "streams", json_integer(scenario_streams(scenario)));
    message_set_number(command, "rate", scenario->finds_rate ? 1 : scenario->rate_per_s);
    json_object_set_new(command, "prompt", json_integer(scenario->prompt));
    json_object_set_new(command, "count", json_integer(scenario->count));
  }
}

/* Python workers call this program to convert the model. */
static void add_route(const struct config *config, json_t *command) {
  char program[4096];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  if (route_is_hones(config->route))
    json_object_set_new(command, "route", json_string(config->route));
  if (n <= 0) return;
  program[n] = 0;
  json_object_set_new(command, "hone", json_string(program));
}

json_t *open_command(const struct bench *bench, const struct config *config,
                     const struct bench_case *one, bool use_cache) {
  const struct bench_options *options = &bench->options;
  const char *engine = pair_value(options->engines, options->engine_count, config->backend);
  char path[4096];
  if (!engine || !realpath(engine, path)) snprintf(path, sizeof path, "%s", engine ? engine : "");
  json_t *command = json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:s, s:I, s:b, s:s, s:s}", "do", "open",
      "backend", config->backend, "model", one->path, "shapes", one->shapes, "precision",
      config->precision, "threads", config->threads, "options", config->options, "engine", path,
      "use_cache", use_cache, "dir", one->data_dir, "seed", (json_int_t)options->seed, "is_judged",
      !one->is_disputed, "tolerance", row_precision(one, config), "file_precision", one->tolerance);
  if (!command) return NULL; /* a string is not UTF-8: worker_ask reports it */
  add_scenario(bench, config, command);
  add_route(config, command);
  add_given_inputs(bench, command);
  if (one->is_described) add_description(command, one);
  return command;
}
