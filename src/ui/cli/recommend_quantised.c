/* hone recommend --min-accuracy: smaller forms of the model, made by `hone quantise` in processes of their own, as more
 * candidates; and a labelled set by which every engine's outputs of every form are judged. Nothing is said of a form's
 * accuracy that was not measured on the engine that would run it.
 */
#include "recommend.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MADE_UP "16" /* samples where the user gives none */
#define LEAST_S 0.5  /* a form is tried where nothing is left, too */

static const struct {
  const char *name, *title; /* of --to; as a row is called: sums are in f32 behind narrow weights */
} forms_known[FORM_COUNT] = {{"int8", "int8"},
                             {"int4-weights", "int4-weights"},
                             {"fp16", "fp16-weights"},
                             {"bf16", "bf16-weights"}};

/* -- the labelled set */

static bool has_labels(const char *dir, char out[4200]) {
  static const char *const names[] = {"labels.json", "labels.txt"};
  for (size_t i = 0; dir && i < COUNT(names); i++) {
    snprintf(out, 4200, "%.4000s/%s", dir, names[i]);
    if (!access(out, R_OK)) return true;
  }
  return false;
}

/* A folder with the user's samples, as links, and the user's labels beside them. */
static hone_status join_labels(struct ctx *ctx, const char *samples, const char *labels_path,
                               struct forms *out) {
  struct labels labels;
  char dir[4096], at[4096 + 600], to[4096 + 600];
  if (!realpath(samples, dir))
    return fail(ctx, HONE_E_NOFILE, place_file(samples), "the folder of samples cannot be read");
  TRY(labels_open(ctx, labels_path, &labels));
  snprintf(out->set, sizeof out->set, "%.4000s/set", out->dir);
  hone_status status = dir_create(ctx, out->set);
  for (size_t s = 0; !status && s < labels_sample_count(&labels); s++) {
    snprintf(at, sizeof at, "%s/%.500s", out->set, labels_folder(&labels, s));
    snprintf(to, sizeof to, "%s/%.500s", dir, labels_folder(&labels, s));
    unlink(at);
    if (symlink(to, at)) status = fail(ctx, HONE_E_WRITE, place_file(at), "no link can be made");
  }
  labels_close(&labels);
  TRY(status);
  snprintf(at, sizeof at, "%s/labels.json", out->set);
  return file_copy(ctx, labels_path, at, 0600, NULL);
}

/* -- hone quantise */

struct making {
  struct ctx *ctx;
  const struct args *args;
  struct forms *forms;
  uint64_t end_ns;
  const char *samples, *labels; /* --calibrate, --labels; NULL: made up, none */
  char bound[32];
};

static hone_status begin_command(const struct making *m, const char *form, const char *path,
                                 struct command *command) {
  static char self[4096];
  static const enum flag_id given[] = {FLAG_shape, FLAG_side_files_from, FLAG_batch, FLAG_seed,
                                       FLAG_limit};
  TRY(self_path(m->ctx, self));
  TRY(command_add(m->ctx, command, self));
  TRY(command_add(m->ctx, command, "quantise"));
  TRY(command_add_model(m->ctx, command, m->args->words[0]));
  TRY(command_add_given(m->ctx, m->args, given, COUNT(given), command));
  TRY(command_add_flag(m->ctx, command, FLAG_to, form));
  TRY(command_add_flag(m->ctx, command, FLAG_output, path));
  if (m->samples) return command_add_flag(m->ctx, command, FLAG_calibrate, m->samples);
  return command_add_flag(m->ctx, command, FLAG_generate, MADE_UP);
}

/* share: of the time that is left for forms. Whether it was made; words say why not. */
static hone_status run_command(const struct making *m, const struct command *command, double share,
                               char words[300], bool *out_ok) {
  const uint64_t now = clock_ns(), left = m->end_ns > now ? m->end_ns - now : 0;
  const double limit_s = fmax(LEAST_S, share * (double)left / 1e9);
  const struct process_options options = {.argv = command->at,
                                          .environ_ = (const char *const *)environ,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = (uint64_t)(limit_s * 1e9)};
  struct process_result result = {0};
  TRY(process_run(m->ctx, &options, &result));
  *out_ok = !result.exit_code && !result.signal && !result.timed_out;
  const char *said = result.output.at ? result.output.at : "hone quantise ended without a word";
  const char *line = strstr(said, "hone: ");
  if (result.timed_out)
    snprintf(words, 300, "making it took longer than %.2g s, its share of the budget", limit_s);
  else
    safe_copy(words, 300, line ? line + strlen("hone: ") : said);
  words[strcspn(words, "\n")] = 0;
  strbuf_deinit(&result.output);
  return HONE_OK;
}

/* The float model as ONNX is a by-product: what is wanted are its outputs. */
static hone_status make_set(struct making *m, bool *out_ok) {
  struct command command = {.count = 0};
  char path[4200], words[300];
  snprintf(path, sizeof path, "%.4000s/fp32.onnx", m->forms->dir);
  snprintf(m->forms->set, sizeof m->forms->set, "%.4000s/set", m->forms->dir);
  TRY(begin_command(m, "fp32", path, &command));
  TRY(command_add_flag(m->ctx, &command, FLAG_labelled_set, m->forms->set));
  TRY(run_command(m, &command, 0.5, words, out_ok));
  unlink(path);
  if (*out_ok) return HONE_OK;
  m->forms->set[0] = 0;
  safe_copy(m->forms->words, sizeof m->forms->words, words);
  return HONE_OK;
}

/* int8 with the bound in mind, products that do most harm in float; where that takes too long or cannot be had, without:
   the race will say what it is worth. */
static hone_status make_form(struct making *m, struct form *form, int attempt, bool *out_ok) {
  struct command command = {.count = 0};
  const bool is_int8 = !strcmp(form->name, "int8");
  char json[4200];
  json_error_t error;
  snprintf(json, sizeof json, "%.4000s/%s.json", m->forms->dir, form->name);
  TRY(begin_command(m, form->name, form->path, &command));
  TRY(command_add_flag(m->ctx, &command, FLAG_json, json));
  if (is_int8) TRY(command_add_flag(m->ctx, &command, FLAG_recipe, "mse+bias"));
  if (is_int8 && m->labels) TRY(command_add_flag(m->ctx, &command, FLAG_labels, m->labels));
  if (is_int8 && !attempt)
    TRY(command_add_flag(m->ctx, &command, m->labels ? FLAG_min_retention : FLAG_min_agreement,
                         m->bound));
  TRY(run_command(m, &command, is_int8 && attempt ? 1 : 0.6, form->words, out_ok));
  if (!*out_ok) return HONE_OK;
  form->words[0] = 0;
  form->report = json_load_file(json, 0, &error);
  unlink(json);
  return HONE_OK;
}

/* What is quickly made goes first: int8 has what they leave. */
static hone_status make_forms(struct making *m) {
  char dir[FORM_DIR];
  snprintf(dir, sizeof dir, "%.*s", FORM_DIR - 1, m->forms->dir);
  for (size_t i = FORM_COUNT; i-- > 0;) {
    struct form *form = &m->forms->at[i];
    form->name = forms_known[i].name;
    form->title = forms_known[i].title;
    /* never the name of the model itself: rows are told apart by it */
    snprintf(form->path, sizeof form->path, "%s/%s-%s.onnx", dir, m->forms->model, form->name);
    const int attempts = strcmp(form->name, "int8") ? 1 : 2; /* with the bound, without */
    for (int attempt = 0; attempt < attempts && !form->is_there; attempt++)
      TRY(make_form(m, form, attempt, &form->is_there));
  }
  return HONE_OK;
}

/* -- what is made of what */

/* Files stay: the answer names them, and its command measures them again. One folder a model and the values of its open
   sizes. */
static hone_status make_folder(struct ctx *ctx, const struct args *args, struct forms *out) {
  static const enum flag_id parts[] = {FLAG_shape, FLAG_batch, FLAG_seed};
  char cache[4096], path[4096], hex[33];
  struct strbuf key = {0};
  strbuf_puts(&key, realpath(args->words[0], path) ? path : args->words[0]);
  for (size_t i = 0; i < COUNT(parts); i++)
    strbuf_printf(&key, "\n%s", value_of(args, parts[i], ""));
  hone_status status = strbuf_finish(ctx, &key);
  if (!status) hash_hex(hex, key.at, key.length);
  strbuf_deinit(&key);
  TRY(status);
  const char *slash = strrchr(args->words[0], '/');
  slug(out->model, slash ? slash + 1 : args->words[0]);
  TRY(dir_user(ctx, "cache", cache));
  const int n = snprintf(out->dir, sizeof out->dir, "%.4000s/quantised/%.12s", cache, hex);
  if (n >= FORM_DIR)
    return fail(ctx, HONE_E_PATH, place_file(cache), "the path of the cache is too long");
  return dir_create(ctx, out->dir);
}

static hone_status find_set(struct making *m, bool *out_ok) {
  static char path[4200];
  const char *inputs = value_of(m->args, FLAG_inputs, NULL);
  *out_ok = true;
  m->samples = value_of(m->args, FLAG_calibrate, NULL);
  m->labels = value_of(m->args, FLAG_labels, NULL);
  if (m->labels && !m->samples)
    return fail(m->ctx, HONE_E_USAGE, place_name("--labels"), "needs --calibrate DIR");
  if (m->labels) return join_labels(m->ctx, m->samples, m->labels, m->forms);
  if (!m->samples) m->samples = inputs;
  if (!has_labels(inputs, path) && !has_labels(m->samples, path)) return make_set(m, out_ok);
  snprintf(m->forms->set, sizeof m->forms->set, "%.*s", (int)(strrchr(path, '/') - path), path);
  m->labels = path;
  return HONE_OK;
}

/* `hone quantise` counts classes alone. */
static hone_status check_metric(struct making *m) {
  struct labels labels;
  if (!m->labels) return HONE_OK;
  TRY(labels_open(m->ctx, m->labels, &labels));
  if (strcmp(labels_metric(&labels), "top1") != 0) m->labels = NULL;
  labels_close(&labels);
  return HONE_OK;
}

hone_status forms_find(struct ctx *ctx, const struct args *args, double least, double budget_s,
                       struct forms *out) {
  struct making m = {
      .ctx = ctx, .args = args, .forms = out, .end_ns = clock_ns() + (uint64_t)(budget_s * 1e9)};
  bool is_ok;
  static const enum flag_id others[] = {FLAG_hybrid, FLAG_input, FLAG_precision};
  for (size_t i = 0; i < COUNT(others); i++) {
    char spelling[64];
    if (!has(args, others[i])) continue;
    snprintf(out->words, sizeof out->words, "not tried beside %s",
             flag_spelling(others[i], spelling));
    return HONE_OK;
  }
  if (strchr(value_of(args, FLAG_batch, ""), ',')) {
    snprintf(out->words, sizeof out->words, "not tried at several batches");
    return HONE_OK;
  }
  out->reference = NAN;
  snprintf(m.bound, sizeof m.bound, "%.9g", fmin(1, fmax(1e-6, least)));
  TRY(make_folder(ctx, args, out));
  TRY(find_set(&m, &is_ok));
  out->is_made_up = !m.samples;
  if (!is_ok) return HONE_OK;
  TRY(check_metric(&m));
  return make_forms(&m);
}

void forms_free(struct forms *forms) {
  for (size_t i = 0; i < FORM_COUNT; i++) json_decref(forms->at[i].report);
}

const char *forms_model(const struct forms *forms, const struct args *args, const char *model) {
  for (size_t i = 0; i < FORM_COUNT; i++)
    if (forms->at[i].is_there && !strcmp(strrchr(forms->at[i].path, '/') + 1, model))
      return forms->at[i].path;
  return args->words[0];
}

/* -- what is left of the model that was asked for */

/* A row of a form is called by its form, and has the batch of the model that it was made of: a zoo: model's own is known,
   a file's is not. */
static void call_by_form(const struct forms *forms, const struct args *args, int batch,
                         struct record *r) {
  const char *path = forms_model(forms, args, r->config.model);
  for (size_t i = 0; i < FORM_COUNT; i++) {
    if (path != forms->at[i].path) continue;
    snprintf(r->config.precision, sizeof r->config.precision, "%s", forms->at[i].title);
    r->throughput_per_s *= (double)batch / r->config.batch;
    r->config.batch = batch;
  }
}

hone_status forms_judge(struct ctx *ctx, struct forms *forms, const struct args *args,
                        struct summary *summary) {
  char path[4200];
  struct labels labels;
  if (!forms->set[0] || !has_labels(forms->set, path)) return HONE_OK;
  TRY(labels_open(ctx, path, &labels));
  if (labels_are_outputs(&labels)) forms->reference = 1;
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct record *r = &summary->records[i];
    if (forms_model(forms, args, r->config.model) != args->words[0]) continue;
    forms->batch = r->config.batch;
    if (isfinite(r->worst.task_reference)) forms->reference = r->worst.task_reference;
  }
  for (size_t i = 0; i < summary->record_count; i++) {
    struct record *r = &summary->records[i];
    r->worst.accuracy_retention =
        isfinite(forms->reference) && isfinite(r->worst.task_accuracy)
            ? score_retention(&labels, r->worst.task_accuracy, forms->reference)
            : (double)NAN;
    if (forms->batch) call_by_form(forms, args, forms->batch, r);
  }
  labels_close(&labels);
  return HONE_OK;
}

void forms_put(struct strbuf *out, const struct forms *forms) {
  if (forms->words[0]) {
    strbuf_puts(out, "smaller forms: ");
    strbuf_put_safe(out, forms->words, sizeof forms->words);
    strbuf_puts(out, "\n");
  }
  for (size_t i = 0; i < FORM_COUNT; i++) {
    if (!forms->at[i].name || forms->at[i].is_there) continue;
    strbuf_printf(out, "  dropped    %s: ", forms->at[i].name);
    strbuf_put_safe(out, forms->at[i].words, sizeof forms->at[i].words);
    strbuf_puts(out, "\n");
  }
  if (forms->set[0] && forms->is_made_up)
    strbuf_puts(out, "accuracy: agreement on " MADE_UP
                     " made-up inputs, which also gave int8 its ranges; --calibrate DIR with real "
                     "samples, or labels, say more\n");
}

hone_status forms_add_json(struct ctx *ctx, const struct forms *forms, struct strbuf *json) {
  if (!forms->dir[0]) return HONE_OK;
  json_t *list = json_array();
  for (size_t i = 0; i < FORM_COUNT; i++)
    if (forms->at[i].name)
      json_array_append_new(list,
                            json_pack("{s:s, s:s*, s:s*, s:O*}", "form", forms->at[i].name, "file",
                                      forms->at[i].is_there ? forms->at[i].path : NULL, "reason",
                                      forms->at[i].is_there ? NULL : forms->at[i].words, "report",
                                      forms->at[i].report));
  json_t *all = json_pack("{s:s*, s:b, s:o}", "set", forms->set[0] ? forms->set : NULL,
                          "is_made_up", forms->is_made_up, "forms", list);
  return answer_add_json(ctx, json, "quantised", all);
}

hone_status answer_add_json(struct ctx *ctx, struct strbuf *json, const char *key, json_t *value) {
  json_error_t error;
  json_t *root = json_loadb(json->at, json->length, 0, &error);
  char *dumped = NULL;
  if (root && value && !json_object_set(root, key, value))
    dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
  json_decref(root);
  json_decref(value);
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for the JSON");
  strbuf_deinit(json);
  *json = (struct strbuf){0};
  strbuf_puts(json, dumped);
  strbuf_puts(json, "\n");
  free(dumped);
  return strbuf_finish(ctx, json);
}
