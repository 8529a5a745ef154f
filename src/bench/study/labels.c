/* A labelled set in a study: the folder of --inputs has labels.json (or labels.txt) and a folder
 * per sample. The reference evaluates every sample once; each configuration's first process
 * evaluates them after everything is timed.
 */
#include "study_internal.h"
#include "bench/wire/transport.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

hone_status labels_find(struct bench *bench) {
  static const char *const names[] = {"labels.json", "labels.txt"};
  struct bench_options *o = &bench->options;
  char path[4096 + 32];
  if (!o->inputs_dir || !realpath(o->inputs_dir, bench->labels_dir)) return HONE_OK;
  for (size_t i = 0; i < COUNT(names); i++) {
    snprintf(path, sizeof path, "%s/%s", bench->labels_dir, names[i]);
    if (access(path, F_OK)) continue;
    TRY(labels_open(bench->ctx, path, &bench->labels));
    snprintf(bench->first_sample, sizeof bench->first_sample, "%s/%.500s", bench->labels_dir,
             labels_folder(&bench->labels, 0));
    o->inputs_dir = bench->first_sample;
    return HONE_OK;
  }
  return HONE_OK;
}

/* Adds sample `s` with outputs DIR/KIND_NUMBER_I.npy. */
static hone_status add_sample(struct ctx *ctx, const struct bench_case *one, struct score *score,
                              size_t s, const char *dir, const char *kind, size_t number) {
  hone_tensor *outputs = calloc(one->output_count + 1, sizeof *outputs);
  const char **names = calloc(one->output_count + 1, sizeof *names);
  hone_status status =
      outputs && names ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "no memory for outputs");
  for (size_t i = 0; !status && i < one->output_count; i++) {
    char path[4096];
    data_path(path, dir, kind, (int)number, i);
    names[i] = one->outputs[i].name;
    status = npy_read(ctx, path, NULL, &outputs[i]);
    unlink(path);
  }
  if (!status) status = score_add(ctx, score, s, outputs, names, one->output_count);
  for (size_t i = 0; outputs && i < one->output_count; i++) free(outputs[i].data);
  free(outputs);
  free(names);
  return status;
}

static json_t *reference_of(const struct bench *bench, const struct bench_case *one, size_t s,
                            const char *dir) {
  char sides[4096] = "", sample[4096 + 512];
  const struct bench_options *o = &bench->options;
  if (o->side_files_from && !realpath(o->side_files_from, sides)) sides[0] = 0;
  snprintf(sample, sizeof sample, "%s/%.500s", bench->labels_dir, labels_folder(&bench->labels, s));
  /* not set 0, for which the worker also computes the conditioning */
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:{}}", "do", "reference", "path",
                   one->path, "shapes", one->shapes, "side_files_from", sides, "dir", dir,
                   "inputs_dir", sample, "seed", (json_int_t)o->seed, "set", (int)s + 1, "files");
}

/* Without a reference there is a warning and no retention. */
hone_status case_label(struct bench *bench, struct bench_case *one) {
  struct score score;
  struct worker worker;
  struct worker_end end = {.status = STATUS_ok};
  char dir[4096];
  one->task_reference = NAN;
  if (bench->labels.root && labels_are_outputs(&bench->labels)) one->task_reference = 1;
  if (isfinite(one->task_reference)) return HONE_OK;
  if (!bench->labels.root || one->status != STATUS_ok || one->is_from_peers) return HONE_OK;
  snprintf(dir, sizeof dir, "%.4000s/labels-%d", bench->dir, bench->worker_number);
  TRY(dir_create(bench->ctx, dir));
  TRY(bench_worker(bench, CASE_CONFIG, 0, &worker));
  score_begin(&bench->labels, &score);
  bench_report(bench, NULL, one->model, "reference");
  reference_deadline_begin(bench);
  struct ctx own;
  ctx_init(&own);
  bool is_sound = true;
  for (size_t s = 0; is_sound && s < labels_sample_count(&bench->labels); s++) {
    json_t *reply =
        worker_ask(&worker, reference_of(bench, one, s, dir), "referenced", ASK_PATIENT, &end);
    is_sound = reply && !add_sample(&own, one, &score, s, dir, "out", s + 1);
    json_decref(reply);
    if (!is_sound)
      warn(bench->ctx, "labels: sample \"%.100s\": %.300s", labels_folder(&bench->labels, s),
           reply ? own.message : end.reason);
  }
  reference_deadline_end(bench);
  worker_close(&worker, 0);
  if (is_sound) one->task_reference = score_value(&score);
  score_end(&score);
  dir_remove_tree(dir);
  return HONE_OK;
}

static bool take_samples(struct bench *bench, const struct bench_case *one, struct worker *worker,
                         struct score *score) {
  struct ctx ctx;
  ctx_init(&ctx);
  for (size_t s = 0; s < labels_sample_count(&bench->labels); s++) {
    for (size_t i = 0; i < one->output_count; i++) {
      char file[64];
      snprintf(file, sizeof file, "task_%zu_%zu.npy", s, i);
      if (worker->transport->get(&ctx, worker, file)) return false;
    }
    if (!add_sample(&ctx, one, score, s, worker->dir, "task", s)) continue;
    warn(bench->ctx, "labels: sample \"%.100s\": %.300s", labels_folder(&bench->labels, s),
         ctx.message);
    return false;
  }
  return true;
}

/* Comes after all measurements: a failure loses only the accuracy. */
bool ask_labels(struct bench *bench, const struct bench_case *one, struct worker *worker,
                struct process_record *record) {
  if (!bench->labels.root || !worker->transport->shares_files || !one->is_described ||
      worker->checked_case != one)
    return true;
  json_t *samples = json_array();
  for (size_t s = 0; s < labels_sample_count(&bench->labels); s++)
    json_array_append_new(samples, json_string(labels_folder(&bench->labels, s)));
  struct worker_end end;
  json_t *reply =
      worker_ask(worker,
                 json_pack("{s:s, s:s, s:o, s:o, s:o}", "do", "label", "folder", bench->labels_dir,
                           "samples", samples, "inputs", names_of(one->inputs, one->input_count),
                           "outputs", names_of(one->outputs, one->output_count)),
                 "labelled", ASK_PATIENT, &end);
  struct score score;
  score_begin(&bench->labels, &score);
  if (!reply) {
    warn(bench->ctx, "labels: %.300s", end.reason);
  } else if (message_int(reply, "samples", -1) != (int64_t)labels_sample_count(&bench->labels)) {
    warn(bench->ctx, "labels: %.300s", message_text(reply, "where"));
  } else if (take_samples(bench, one, worker, &score)) {
    snprintf(record->task_metric, sizeof record->task_metric, "%s", labels_metric(&bench->labels));
    record->task_accuracy = score_value(&score);
    record->task_reference = one->task_reference;
    if (isfinite(one->task_reference))
      record->accuracy_retention =
          score_retention(&bench->labels, record->task_accuracy, one->task_reference);
  }
  score_end(&score);
  json_decref(reply);
  return reply != NULL;
}
