/* Workers of a study and the commands that several files send them. */
#include "bench.h"

#include <stdlib.h>

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
