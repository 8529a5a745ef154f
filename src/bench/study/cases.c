/* A case: one model at one batch, ready for every backend. The model is read in a worker, because
 * the file may be hostile. Input sets and reference outputs are stored in the cache under a hash of
 * everything that they depend on; a folder appears there complete or not at all.
 */
#include "study_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_REFERENCE_WORKERS 4

static json_t *optional_text(const char *text) { return json_string(text ? text : ""); }

/* The absolute path of a user's file or folder: a worker has another current directory. */
static json_t *absolute_path(const char *path) {
  char absolute[4096];
  if (!path) return json_string("");
  return json_string(realpath(path, absolute) ? absolute : path);
}

static void set_failure(struct bench_case *one, const struct worker_end *end) {
  one->status = end->status;
  one->stage = end->stage;
  snprintf(one->reason, sizeof one->reason, "%s", end->reason);
}

static void take_description(struct bench *bench, const json_t *reply, struct bench_case *one) {
  if (case_take_description(bench, reply, one)) {
    /* without --batch the model's own batch is used; it is known for zoo: models */
    if (!strncmp(one->model, "zoo:", 4) && one->input_count && one->inputs[0].info.rank)
      one->batch = (int)one->inputs[0].info.shape[0];
    return;
  }
  one->status = STATUS_unsupported;
  one->stage = STAGE_import;
  snprintf(one->reason, sizeof one->reason, "an input or output cannot be measured");
}

/* Without costs the case has no roofline limit; that is not a failure. */
static void read_costs(struct bench *bench, const struct worker *worker, struct bench_case *one) {
  char path[4096 + 16];
  snprintf(path, sizeof path, "%s/costs.npy", worker->dir);
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor tensor = {.data = NULL};
  if (npy_read(&ctx, path, NULL, &tensor)) return;
  bool is_sound = tensor.dtype == HONE_F64 && tensor.rank == 2 && tensor.shape[1] == 3;
  size_t count = is_sound ? (size_t)tensor.shape[0] : 0;
  if (is_sound && !NEW_ARRAY(&ctx, bench->arena, one->contractions, count)) {
    memcpy(one->contractions, tensor.data, count * sizeof *one->contractions);
    one->contraction_count = count;
  }
  free(tensor.data);
}

/* If engines describe a file that hone refused, its batch must be the requested one: a file with a
   fixed batch is not measured under another batch. */
static void check_batch(struct bench_case *one, int batch, const struct worker_end *refusal) {
  bool is_known = one->input_count && one->inputs[0].info.rank;
  if (batch <= 1 || one->status != STATUS_ok || (is_known && one->inputs[0].info.shape[0] == batch))
    return;
  one->status = STATUS_unsupported;
  one->stage = STAGE_import;
  snprintf(one->reason, sizeof one->reason, "batch %d: %.900s", batch, refusal->reason);
}

/* An unknown built-in model, or an option that fits no model, is an error of the command. */
static hone_status check_command(struct bench *bench, const char *model,
                                 const struct worker_end *end) {
  static const hone_status ids[] = {HONE_E_USAGE, HONE_E_NOFILE};
  for (size_t i = 0; i < COUNT(ids); i++) {
    const char *name = hone_status_name(ids[i]), *colon = strstr(end->reason, ": ");
    if (end->stage != STAGE_import || strncmp(end->reason, name, strlen(name)) != 0) continue;
    const hone_status status =
        fail(bench->ctx, ids[i], place_name(model), "%s", colon ? colon + 2 : end->reason);
    return strncmp(model, "zoo:", 4)
               ? status
               : advise(bench->ctx, status,
                        "'hone zoo list' lists the built-in models and their options");
  }
  return HONE_OK;
}

/* After engines have failed too: the file is not a model, or must not be loaded. */
static void note_refusal(struct bench_case *one, const struct worker_end *end) {
  static const hone_status ids[] = {HONE_E_FORMAT, HONE_E_TRUST};
  if (end->stage != STAGE_import || one->input_count || one->output_count) return;
  for (size_t i = 0; i < COUNT(ids); i++) {
    const char *name = hone_status_name(ids[i]), *colon = strstr(end->reason, ": ");
    if (strncmp(end->reason, name, strlen(name)) != 0) continue;
    one->refusal = ids[i];
    snprintf(one->refusal_reason, sizeof one->refusal_reason, "%.255s",
             colon ? colon + 2 : end->reason);
  }
}

/* Detects the format by the first bytes: FlatBuffer identifier, zip, or GGUF. */
static void find_format(const char *path, char out[8]) {
  char bytes[8] = "";
  FILE *file = fopen(path, "re");
  const size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);
  const bool is_tflite = n == sizeof bytes && !memcmp(bytes + 4, "TFL3", 4);
  const bool is_zip = n == sizeof bytes && !memcmp(bytes, "PK\3\4", 4);
  const bool is_gguf = n == sizeof bytes && !memcmp(bytes, "GGUF", 4);
  snprintf(out, 8, "%s", is_tflite ? "tflite" : is_zip ? "pt2" : is_gguf ? "gguf" : "onnx");
}

static MUST_USE hone_status begin_case(struct bench *bench, const char *model, int batch,
                                       struct bench_case *out) {
  *out = (struct bench_case){.model = model,
                             .shapes = "",
                             .open_dimensions = "",
                             .batch = batch ? batch : 1,
                             .flops = NAN,
                             .bytes = NAN};
  hash_hex(out->hash, model, strlen(model)); /* until the file is read */
  bool is_file = strncmp(model, "zoo:", 4) != 0;
  if (is_file && !realpath(model, out->path)) /* a worker has another current directory */
    return fail(bench->ctx, HONE_E_NOFILE, place_file(model), "%s", strerror(errno));
  struct stat info;
  if (is_file && !stat(out->path, &info)) out->file_bytes = (int64_t)info.st_size;
  if (is_file)
    find_format(out->path, out->format);
  else
    snprintf(out->format, sizeof out->format, "onnx");
  return HONE_OK;
}

/* cache_dir: folder for a built-in model. If the model is not described, *out_end has the
   reason. */
static MUST_USE hone_status describe(struct bench *bench, int batch, const char *cache_dir,
                                     struct bench_case *out, struct worker_end *out_end,
                                     bool *out_is_described) {
  struct worker worker;
  TRY(bench_worker(bench, CASE_CONFIG, 0, &worker));
  json_t *reply = worker_ask(
      &worker,
      json_pack("{s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:s}", "do", "describe", "model",
                out->path[0] ? out->path : out->model, "batch", batch, "open_is",
                bench_generates(bench) ? 1 : 0, "is_dry_run", bench->options.is_dry_run ? 1 : 0,
                "shapes", optional_text(bench->options.shapes), "side_files_from",
                absolute_path(bench->options.side_files_from), "cache_dir", cache_dir),
      "described", ASK_PATIENT, out_end);
  if (!reply)
    set_failure(out, out_end);
  else
    take_description(bench, reply, out);
  if (reply) read_costs(bench, &worker, out);
  *out_is_described = reply != NULL;
  json_decref(reply);
  worker_close(&worker, 1000000000ull);
  if (!*out_is_described && out_end->status == STATUS_interrupted)
    return fail(bench->ctx, HONE_E_INTERRUPTED, place_none(), "stopped while models were prepared");
  return HONE_OK;
}

hone_status case_describe(struct bench *bench, const char *model, int batch,
                          struct bench_case *out) {
  struct worker_end end;
  bool is_described;
  bench_report(bench, NULL, model, "prepare");
  TRY(begin_case(bench, model, batch, out));
  TRY(describe(bench, batch, bench->cache_dir, out, &end, &is_described));
  if (!is_described) TRY(check_command(bench, model, &end));
  if (is_described || bench->options.is_dry_run) return HONE_OK;
  TRY(case_from_peers(bench, out));
  check_batch(out, batch, &end);
  note_refusal(out, &end);
  return HONE_OK;
}

hone_status case_at_batch(struct bench *bench, const char *model, int batch, const char *cache_dir,
                          struct bench_case *out, struct worker_end *out_end, bool *out_is_ready) {
  TRY(begin_case(bench, model, batch, out));
  TRY(describe(bench, batch, cache_dir, out, out_end, out_is_ready));
  if (!*out_is_ready || out->status == STATUS_ok) return HONE_OK;
  *out_is_ready = false; /* described, but cannot be measured */
  *out_end = (struct worker_end){.status = out->status, .stage = out->stage, .rel_l2 = NAN};
  snprintf(out_end->reason, sizeof out_end->reason, "%s", out->reason);
  return HONE_OK;
}

/* -- reference */

void put_file_stamp(struct strbuf *text, const char *path) {
  struct stat info = {0};
  if (stat(path, &info)) info.st_size = -1;
  strbuf_printf(text, "%s %lld %lld.%ld\n", path, (long long)info.st_size,
                (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/* A hash of everything that the data depends on. */
static hone_status reference_key(struct bench *bench, const struct bench_case *one, char out[33]) {
  const struct bench_options *options = &bench->options;
  struct strbuf text = {0};
  strbuf_printf(&text, "%s\n%s\n%s\n%llu\n", HONE_VERSION, one->hash, one->shapes,
                (unsigned long long)options->seed);
  put_file_stamp(&text, options->worker_path ? options->worker_path : "/proc/self/exe");
  const struct given given = {options->inputs, options->input_count, options->inputs_dir};
  for (size_t i = 0; i < one->input_count; i++) {
    char path[4096];
    TRY(given_find(bench->ctx, &given, one->inputs[i].name, i, path));
    if (path[0]) put_file_stamp(&text, path);
  }
  hone_status status = strbuf_finish(bench->ctx, &text);
  if (!status) hash_hex(out, text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

static json_t *reference_command(const struct bench *bench, const struct bench_case *one,
                                 const char *dir, int set) {
  json_t *command = json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:i}", "do", "reference", "path",
                              one->path, "shapes", one->shapes, "side_files_from",
                              absolute_path(bench->options.side_files_from), "dir", dir, "seed",
                              (json_int_t)bench->options.seed, "set", set);
  if (command) add_given_inputs(bench, command);
  return command;
}

/* Worker k makes the sets k, k + worker_count, ... */
static hone_status compute_sets(struct bench *bench, struct bench_case *one, const char *dir) {
  int cores = usable_core_count();
  int count = cores < MAX_REFERENCE_WORKERS ? cores : MAX_REFERENCE_WORKERS;
  struct worker *workers;
  int started = 0;
  hone_status status = HONE_OK;
  TRY(NEW_ARRAY(bench->ctx, bench->arena, workers, (size_t)count));
  while (!status && started < count) {
    status = bench_worker(bench, CASE_CONFIG, 0, &workers[started]);
    if (!status) started++;
  }
  for (int first = 0; !status && one->status == STATUS_ok && first < BENCH_SETS; first += count) {
    bench_report(bench, NULL, one->model, "reference");
    for (int k = 0; k < count && first + k < BENCH_SETS; k++)
      worker_tell(&workers[k], reference_command(bench, one, dir, first + k));
    for (int k = 0; k < count && first + k < BENCH_SETS; k++) {
      struct worker_end end;
      json_t *reply = worker_hear(&workers[k], "referenced", ASK_PATIENT, &end);
      if (!reply && one->status == STATUS_ok) set_failure(one, &end);
      json_decref(reply);
    }
  }
  for (int k = 0; k < started; k++) worker_close(&workers[k], one->status ? 0 : 1000000000ull);
  if (!status && one->status == STATUS_interrupted)
    return fail(bench->ctx, HONE_E_INTERRUPTED, place_none(), "stopped while the reference ran");
  return status;
}

hone_status case_inputs(struct bench *bench, struct bench_case *one, int sets) {
  snprintf(one->data_dir, sizeof one->data_dir, "%.4000s/inputs-%d", bench->dir,
           bench->worker_number);
  TRY(dir_create(bench->ctx, one->data_dir));
  struct worker worker;
  struct worker_end end;
  bool is_made = true;
  TRY(bench_worker(bench, CASE_CONFIG, 0, &worker));
  for (int set = 0; is_made && set < sets; set++) {
    json_t *command = reference_command(bench, one, one->data_dir, set);
    if (command) json_object_set_new(command, "inputs_only", json_true());
    json_t *reply = worker_ask(&worker, command, "referenced", ASK_PATIENT, &end);
    is_made = reply != NULL;
    json_decref(reply);
  }
  worker_close(&worker, 0);
  return HONE_OK;
}

/* Without a conditioning the tolerance is not widened. */
static void read_conditions(struct bench *bench, struct bench_case *one) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/conditions.npy", one->data_dir);
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor tensor = {.data = NULL};
  if (npy_read(&ctx, path, NULL, &tensor)) return;
  if (tensor.dtype == HONE_F64 && tensor.rank == 2 && tensor.shape[1] == 2 &&
      (size_t)tensor.shape[0] == one->output_count &&
      !NEW_ARRAY(&ctx, bench->arena, one->conditions, one->output_count))
    memcpy(one->conditions, tensor.data, one->output_count * sizeof *one->conditions);
  free(tensor.data);
}

/* Makes the data in a temporary folder and renames it. */
static hone_status make_reference(struct bench *bench, struct bench_case *one) {
  char temporary[4096 + 32];
  snprintf(temporary, sizeof temporary, "%s.%d", one->data_dir, (int)getpid());
  TRY(dir_create(bench->ctx, temporary));
  uint64_t start = clock_ns();
  reference_deadline_begin(bench);
  hone_status status = compute_sets(bench, one, temporary);
  reference_deadline_end(bench);
  one->reference_s = (double)(clock_ns() - start) / 1e9;
  /* another process may have made the same data meanwhile */
  if (!status && one->status == STATUS_ok && rename(temporary, one->data_dir) &&
      access(one->data_dir, R_OK))
    status = fail(bench->ctx, HONE_E_WRITE, place_file(one->data_dir), "%s", strerror(errno));
  dir_remove_tree(temporary);
  *strrchr(temporary, '/') = 0;
  references_trim(temporary);
  return status;
}

static bool has_files(const char *dir, const char *kind, size_t count) {
  char path[4096];
  for (int set = 0; set < BENCH_SETS; set++)
    for (size_t i = 0; i < count; i++) {
      data_path(path, dir, kind, set, i);
      if (access(path, R_OK)) return false;
    }
  return true;
}

/* Locks the cached data; removes an incomplete folder. */
static bool hold_reference(struct bench_case *one) {
  one->hold_fd = reference_hold(one->data_dir);
  one->is_held = one->hold_fd >= 0;
  if (!one->is_held) return false;
  if (has_files(one->data_dir, "in", one->input_count) &&
      has_files(one->data_dir, "out", one->output_count))
    return true;
  case_release(one);
  reference_remove(one->data_dir);
  return false;
}

void case_release(struct bench_case *one) {
  if (one->is_held) close(one->hold_fd);
  one->is_held = false;
}

hone_status case_reference(struct bench *bench, struct bench_case *one) {
  if (one->is_from_peers) return HONE_OK; /* made when the case was described */
  char key[33];
  TRY(reference_key(bench, one, key));
  snprintf(one->data_dir, sizeof one->data_dir, "%.3900s/reference/%s", bench->cache_dir, key);
  if (!hold_reference(one)) {
    TRY(make_reference(bench, one));
    if (one->status != STATUS_ok && bench->budget.has_result && !budget_has_left(bench, 0)) {
      one->status = STATUS_interrupted;
      return HONE_OK;
    }
    if (one->status != STATUS_ok) {
      TRY(case_inputs(bench, one, BENCH_SETS));
      return case_from_peers(bench, one);
    }
    if (!hold_reference(one))
      return fail(bench->ctx, HONE_E_IO, place_file(one->data_dir),
                  "reference data disappeared right after it was made");
  }
  read_conditions(bench, one);
  return HONE_OK;
}
