/* Workers of a study and the commands that several files send them. */
#include "bench.h"

#include <stdlib.h>

hone_status bench_worker(struct bench *bench, const char *cell, int threads, struct worker *out) {
  char dir[4096 + 32];
  snprintf(dir, sizeof dir, "%.4000s/worker-%d", bench->dir, bench->worker_number++);
  const struct worker_spec spec = {.dir = dir, .cell = cell, .threads = threads};
  return worker_start(bench->ctx, &bench->harness, &spec, out);
}

#define MAX_ENVIRONMENT 16

static const char *pair_value(const struct bench_pair *pairs, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(pairs[i].name, name)) return pairs[i].value;
  return NULL;
}

/* Without it `hone worker` says what is missing. */
static bool has_python(const struct bench *bench, const struct backend *backend, char out[4096]) {
  const struct bench_options *options = &bench->options;
  struct ctx ctx;
  ctx_init(&ctx);
  return !engine_python(&ctx, backend->name,
                        pair_value(options->engines, options->engine_count, backend->name), out);
}

/* Its files are part of this program: they lie in the worker's folder while it runs. */
static hone_status write_worker(struct ctx *ctx, const char *dir, const struct backend *backend) {
  const char *const files[] = {"protocol.py", backend->worker};
  TRY(dir_create(ctx, dir));
  for (size_t i = 0; i < COUNT(files); i++) {
    char name[128], path[4096 + 128];
    size_t length = 0;
    snprintf(name, sizeof name, "workers/%s", files[i]);
    const char *text = hone_embedded_text(name, &length);
    if (!text) return fail(ctx, HONE_E_INTERNAL, place_name(name), "is not in this program");
    snprintf(path, sizeof path, "%s/%s", dir, files[i]);
    TRY(file_write_atomic(ctx, path, text, length, 0600));
  }
  return HONE_OK;
}

hone_status bench_cell_worker(struct bench *bench, const struct cell *cell, const char *key,
                              struct worker *out) {
  char dir[4096 + 32], text[MAX_ENVIRONMENT][320], name[64], value[256];
  const char *environment[MAX_ENVIRONMENT + 1] = {NULL};
  size_t count = 0;
  snprintf(dir, sizeof dir, "%.4000s/worker-%d", bench->dir, bench->worker_number++);
  for (const char *at = cell->options; option_next(&at, name, value) && count < MAX_ENVIRONMENT;) {
    if (strncmp(name, "env.", 4)) continue;
    snprintf(text[count], sizeof text[count], "%s=%s", name + 4, value);
    environment[count] = text[count];
    count++;
  }
  struct worker_spec spec = {
      .dir = dir, .cell = key, .threads = cell->threads, .environment = environment};
  char python[4096];
  const struct backend *backend = backend_find(cell->backend);
  if (backend && backend->worker && has_python(bench, backend, python)) {
    spec.program = python;
    spec.script = backend->worker;
    TRY(write_worker(bench->ctx, dir, backend));
  }
  return worker_start(bench->ctx, &bench->harness, &spec, out);
}

void budget_begin(struct bench *bench) {
  bench->harness.deadline_ns = clock_ns() + (uint64_t)(bench->options.reference_s * 1e9);
}
void budget_end(struct bench *bench) { bench->harness.deadline_ns = 0; }

static json_t *names_of(const struct backend_tensor *tensors, size_t count) {
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

/* Lists by input and output; absent while nobody has described the model. */
static void add_description(json_t *command, const struct bench_case *one) {
  json_t *steps = json_array(), *conditions = json_array();
  for (size_t i = 0; i < one->output_count; i++) {
    json_array_append_new(steps, json_real(one->steps ? one->steps[i] : 0));
    for (size_t k = 0; k < 2; k++)
      json_array_append_new(conditions, json_real(one->conditions ? one->conditions[i][k] : 0));
  }
  json_object_set_new(command, "inputs", names_of(one->inputs, one->input_count));
  json_object_set_new(command, "outputs", names_of(one->outputs, one->output_count));
  json_object_set_new(command, "steps", steps);
  json_object_set_new(command, "conditions", conditions);
}

json_t *open_command(const struct bench *bench, const struct cell *cell,
                     const struct bench_case *one, bool use_cache) {
  const struct bench_options *options = &bench->options;
  const char *engine = pair_value(options->engines, options->engine_count, cell->backend);
  char path[4096];
  if (!engine || !realpath(engine, path)) snprintf(path, sizeof path, "%s", engine ? engine : "");
  bool is_lower = one->tolerance[0] && strcmp(one->tolerance, "fp32") != 0;
  json_t *command =
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:b, s:s, s:I, s:b, s:s, s:s}", "do",
                "open", "backend", cell->backend, "model", one->path, "shapes", one->shapes,
                "precision", cell->precision, "threads", cell->threads, "options", cell->options,
                "engine", path, "use_cache", use_cache, "dir", one->data_dir, "seed",
                (json_int_t)options->seed, "is_judged", !one->is_disputed, "tolerance",
                is_lower ? one->tolerance : cell->precision, "file_precision", one->tolerance);
  if (!command) return NULL; /* a text that is not UTF-8: worker_ask says so */
  add_given_inputs(bench, command);
  if (one->is_described) add_description(command, one);
  return command;
}
