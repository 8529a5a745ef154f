/* --keep DIR: copies what engines made of the models from the folder of each configuration's first
 * worker to DIR/ENGINE/MODEL-KEY/, with cell.json, which describes the configuration and why files
 * are missing. The worker names the files; only plain names in its own folder are accepted.
 */
#include "study_internal.h"
#include "bench/wire/transport.h"

#include <stdlib.h>

#define MOST_NAME 100

static bool is_plain(const char *name) {
  const size_t length = name ? strlen(name) : 0;
  return length && length <= MOST_NAME && name[0] != '.' && !strchr(name, '/');
}

/* Copies one file; a missing one is noted in the list. */
static hone_status keep_file(struct bench *bench, struct worker *worker, const char *name,
                             const char *dir, json_t *list) {
  char from[4096 + MOST_NAME + 2], to[4096 + MOST_NAME + 2];
  struct ctx other;
  struct mapping file;
  size_t bytes = 0;
  ctx_init(&other);
  if (!is_plain(name)) {
    json_array_append_new(
        list, json_pack("{s:s}", "error", "the worker named a file outside its folder"));
    return HONE_OK;
  }
  snprintf(from, sizeof from, "%s/%s", worker->dir, name);
  snprintf(to, sizeof to, "%s/%s", dir, name);
  hone_status status = worker->transport->get(&other, worker, name);
  if (!status) status = file_map(&other, from, &file);
  if (status) {
    json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "error", other.message));
    return HONE_OK;
  }
  file_unmap(&file);
  TRY(file_copy(bench->ctx, from, to, 0644, &bytes));
  json_array_append_new(list, json_pack("{s:s, s:I}", "name", name, "bytes", (json_int_t)bytes));
  return HONE_OK;
}

static hone_status config_dir(struct bench *bench, const struct config *config, char out[4096]) {
  char model[65], engine[65];
  slug(model, config->model);
  slug(engine, config->backend);
  const int n =
      snprintf(out, 4096, "%s/%s/%.48s-%.8s", bench->options.keep_dir, engine, model, config->key);
  if (n >= 4096)
    return fail(bench->ctx, HONE_E_PATH, place_file(bench->options.keep_dir), "is too long");
  return dir_output(bench->ctx, out);
}

/* Takes ownership of the list. */
static hone_status write_config(struct bench *bench, const struct config *config, const char *dir,
                                const struct process_record *record, json_t *list,
                                const char *why) {
  char path[4096 + 16];
  json_t *facts = json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:o, s:s}", "made_by",
      "hone " HONE_VERSION, "model", config->model, "model_hash", config->model_hash, "shapes",
      config->shapes, "backend", config->backend, "variant", config->variant, "engine_version",
      record->engine_version, "route", config->route, "precision", config->precision, "threads",
      config->threads, "device", config->device, "cell", config->key, "files", list, "why", why);
  char *text = facts ? json_dumps(facts, JSON_INDENT(2)) : NULL;
  json_decref(facts);
  if (!text) return fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for cell.json");
  snprintf(path, sizeof path, "%s/cell.json", dir);
  hone_status status = output_check(bench->ctx, path, OUTPUT_JSON, NULL, 0);
  if (!status) status = file_write_atomic(bench->ctx, path, text, strlen(text), 0644);
  free(text);
  return status;
}

hone_status keep_config(struct bench *bench, const struct config *config, struct worker *worker,
                        const struct process_record *record, bool *out_survived) {
  char dir[4096];
  struct worker_end end = {.reason = ""};
  json_t *list = json_array();
  *out_survived = true;
  if (!list) return fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for cell.json");
  json_t *reply = worker_ask(worker, json_pack("{s:s}", "do", "keep"), "kept", ASK_PATIENT, &end);
  *out_survived = reply != NULL;
  const json_t *files = json_object_get(reply, "files");
  hone_status status = config_dir(bench, config, dir);
  for (size_t i = 0; !status && i < json_array_size(files); i++) {
    const char *name = json_string_value(json_array_get(files, i));
    status = keep_file(bench, worker, name, dir, list);
  }
  if (!status)
    status = write_config(bench, config, dir, record, list,
                          reply ? message_text(reply, "why") : end.reason);
  else
    json_decref(list);
  json_decref(reply);
  return status;
}
