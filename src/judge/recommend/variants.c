/* Smaller variants of the model as candidates (--min-accuracy): `hone quantise` makes them in child
 * processes. Each candidate's accuracy is measured on its own engine, over a labelled set.
 */
#include "core/metrics/metrics.h"
#include "elimination.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MADE_UP "16" /* samples if the user gives none */
#define LEAST_S 0.5  /* a variant is tried for this long even if no time is left */

/* Name for --to, and the precision in its rows: only weights are narrow, sums are in f32. */
static const struct {
  const char *name, *title;
} kinds[VARIANT_COUNT] = {{"int8", "int8"},
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

/* Makes a labelled set of links to the user's samples and a copy of the user's labels. */
static hone_status link_labelled_set(struct ctx *ctx, const char *samples, const char *labels_path,
                                     struct variants *out) {
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
    if (symlink(to, at)) status = fail(ctx, HONE_E_WRITE, place_file(at), "cannot make the link");
  }
  labels_close(&labels);
  TRY(status);
  snprintf(at, sizeof at, "%s/labels.json", out->set);
  return file_copy(ctx, labels_path, at, 0600, NULL);
}

/* -- hone quantise */

struct making {
  struct ctx *ctx;
  const struct recommend_options *options;
  struct variants *variants;
  uint64_t end_ns;
  const char *samples, *labels; /* NULL: made up, none */
  char bound[32];
};

static hone_status begin_command(const struct making *m, const char *to, const char *path,
                                 struct command *command) {
  TRY(command_add(m->ctx, command, m->options->program));
  TRY(command_add(m->ctx, command, "quantise"));
  TRY(command_add_model(m->ctx, command, m->options->model));
  TRY(command_add_all(m->ctx, command, &m->options->quantise_flags));
  TRY(command_add_option(m->ctx, command, "--to", to));
  TRY(command_add_option(m->ctx, command, "--output", path));
  if (m->samples) return command_add_option(m->ctx, command, "--calibrate", m->samples);
  return command_add_option(m->ctx, command, "--generate", MADE_UP);
}

/* share: of the time that is left for variants. */
static hone_status run_command(const struct making *m, const struct command *command, double share,
                               char words[300], bool *out_ok) {
  const uint64_t now = clock_ns(), left = m->end_ns > now ? m->end_ns - now : 0;
  const double limit_s = fmax(LEAST_S, share * (double)left / 1e9);
  struct process_result result = {0};
  TRY(command_run(m->ctx, command, limit_s, &result));
  *out_ok = !result.exit_code && !result.signal && !result.timed_out;
  const char *output = result.output.at ? result.output.at : "hone quantise ended without output";
  const char *line = strstr(output, "hone: ");
  if (result.timed_out)
    snprintf(words, 300, "making it took longer than %.2g s, its share of the budget", limit_s);
  else
    safe_copy(words, 300, line ? line + strlen("hone: ") : output);
  words[strcspn(words, "\n")] = 0;
  strbuf_deinit(&result.output);
  return HONE_OK;
}

/* Runs `hone quantise --to fp32` for its labelled set; the ONNX file that it also writes is
   removed. */
static hone_status make_set(struct making *m, bool *out_ok) {
  struct command command = {.count = 0};
  char path[4200], words[300];
  snprintf(path, sizeof path, "%.4000s/fp32.onnx", m->variants->dir);
  snprintf(m->variants->set, sizeof m->variants->set, "%.4000s/set", m->variants->dir);
  TRY(begin_command(m, "fp32", path, &command));
  TRY(command_add_option(m->ctx, &command, "--labelled-set", m->variants->set));
  TRY(run_command(m, &command, 0.5, words, out_ok));
  unlink(path);
  if (*out_ok) return HONE_OK;
  m->variants->set[0] = 0;
  safe_copy(m->variants->words, sizeof m->variants->words, words);
  return HONE_OK;
}

/* int8: first with the accuracy bound, which keeps the most sensitive matmuls in float. If that
   takes too long or fails, a second attempt without: the rounds then measure its accuracy. */
static hone_status make_variant(struct making *m, struct variant *variant, int attempt,
                                bool *out_ok) {
  struct command command = {.count = 0};
  const bool is_int8 = !strcmp(variant->name, "int8");
  char json[4200];
  json_error_t error;
  snprintf(json, sizeof json, "%.4000s/%s.json", m->variants->dir, variant->name);
  TRY(begin_command(m, variant->name, variant->path, &command));
  TRY(command_add_option(m->ctx, &command, "--json", json));
  if (is_int8) TRY(command_add_option(m->ctx, &command, "--recipe", "mse+bias"));
  if (is_int8 && m->labels) TRY(command_add_option(m->ctx, &command, "--labels", m->labels));
  if (is_int8 && !attempt)
    TRY(command_add_option(m->ctx, &command, m->labels ? "--min-retention" : "--min-agreement",
                           m->bound));
  TRY(run_command(m, &command, is_int8 && attempt ? 1 : 0.6, variant->words, out_ok));
  if (!*out_ok) return HONE_OK;
  variant->words[0] = 0;
  variant->report = json_load_file(json, 0, &error);
  unlink(json);
  return HONE_OK;
}

/* int8 takes longest and comes last, with the time that the others leave. */
static hone_status make_all(struct making *m) {
  char dir[VARIANT_DIR];
  snprintf(dir, sizeof dir, "%.*s", VARIANT_DIR - 1, m->variants->dir);
  for (size_t i = VARIANT_COUNT; i-- > 0;) {
    struct variant *variant = &m->variants->at[i];
    variant->name = kinds[i].name;
    variant->title = kinds[i].title;
    /* never the model's own name, which identifies its rows */
    snprintf(variant->path, sizeof variant->path, "%s/%s-%s.onnx", dir, m->variants->model,
             variant->name);
    const int attempts = strcmp(variant->name, "int8") ? 1 : 2;
    for (int attempt = 0; attempt < attempts && !variant->is_made; attempt++)
      TRY(make_variant(m, variant, attempt, &variant->is_made));
  }
  return HONE_OK;
}

/* -- folder, samples and labels */

/* Files stay: the answer names them, and its command measures them again. One folder for each
   model, shape, batch and seed. */
static hone_status make_folder(struct ctx *ctx, const struct recommend_options *options,
                               struct variants *out) {
  char cache[4096], path[4096], hex[33];
  struct strbuf key = {0};
  strbuf_puts(&key, realpath(options->model, path) ? path : options->model);
  strbuf_printf(&key, "\n%s\n", options->shapes ? options->shapes : "");
  if (options->batch_count) strbuf_printf(&key, "%d", options->batches[0]);
  strbuf_printf(&key, "\n%s", options->seed ? options->seed : "");
  hone_status status = strbuf_finish(ctx, &key);
  if (!status) hash_hex(hex, key.at, key.length);
  strbuf_deinit(&key);
  TRY(status);
  const char *slash = strrchr(options->model, '/');
  slug(out->model, slash ? slash + 1 : options->model);
  TRY(dir_user(ctx, "cache", cache));
  const int n = snprintf(out->dir, sizeof out->dir, "%.4000s/quantised/%.12s", cache, hex);
  if (n >= VARIANT_DIR)
    return fail(ctx, HONE_E_PATH, place_file(cache), "the path of the cache is too long");
  return dir_create(ctx, out->dir);
}

static hone_status find_samples(struct making *m, bool *out_ok) {
  static char path[4200];
  const char *inputs = m->options->inputs;
  *out_ok = true;
  m->samples = m->options->calibrate;
  m->labels = m->options->labels;
  if (m->labels && !m->samples)
    return fail(m->ctx, HONE_E_USAGE, place_name("--labels"), "needs --calibrate DIR");
  if (m->labels) return link_labelled_set(m->ctx, m->samples, m->labels, m->variants);
  if (!m->samples) m->samples = inputs;
  if (!has_labels(inputs, path) && !has_labels(m->samples, path)) return make_set(m, out_ok);
  snprintf(m->variants->set, sizeof m->variants->set, "%.*s", (int)(strrchr(path, '/') - path),
           path);
  m->labels = path;
  return HONE_OK;
}

/* `hone quantise` takes labels of the metric top1 only. */
static hone_status drop_other_labels(struct making *m) {
  struct labels labels;
  if (!m->labels) return HONE_OK;
  TRY(labels_open(m->ctx, m->labels, &labels));
  if (strcmp(labels_metric(&labels), "top1") != 0) m->labels = NULL;
  labels_close(&labels);
  return HONE_OK;
}

static const char *why_not_tried(const struct recommend_options *o) {
  return o->tries_hybrid      ? "not tried together with --hybrid"
         : o->has_input       ? "not tried together with --input"
         : o->precisions      ? "not tried together with --precision"
         : o->batch_count > 1 ? "not tried with several batches"
                              : NULL;
}

hone_status make_variants(struct ctx *ctx, const struct recommend_options *options, double budget_s,
                          struct variants *out) {
  struct making m = {.ctx = ctx,
                     .options = options,
                     .variants = out,
                     .end_ns = clock_ns() + (uint64_t)(budget_s * 1e9)};
  const double least = options->constraints.bound[CONSTRAINT_accuracy];
  const char *why_not = why_not_tried(options);
  bool is_ok;
  if (why_not) {
    snprintf(out->words, sizeof out->words, "%s", why_not);
    return HONE_OK;
  }
  out->reference = NAN;
  snprintf(m.bound, sizeof m.bound, "%.9g", fmin(1, fmax(1e-6, least)));
  TRY(make_folder(ctx, options, out));
  TRY(find_samples(&m, &is_ok));
  out->is_made_up = !m.samples;
  if (!is_ok) return HONE_OK;
  TRY(drop_other_labels(&m));
  return make_all(&m);
}

size_t variant_of(const struct variants *variants, const char *model) {
  for (size_t i = 0; i < VARIANT_COUNT; i++)
    if (variants->at[i].is_made && !strcmp(strrchr(variants->at[i].path, '/') + 1, model))
      return i + 1;
  return 0;
}

/* -- accuracy */

/* The batch of a zoo: model is known from its row, that of a variant's file is not. */
static void label_variant(const struct variants *variants, struct record *r) {
  const size_t v = variant_of(variants, r->config.model);
  if (!v) return;
  snprintf(r->config.precision, sizeof r->config.precision, "%s", variants->at[v - 1].title);
  r->throughput_per_s *= (double)variants->batch / r->config.batch;
  r->config.batch = variants->batch;
}

hone_status judge_variants(struct ctx *ctx, struct variants *variants, struct summary *summary) {
  char path[4200];
  struct labels labels;
  if (!variants->set[0] || !has_labels(variants->set, path)) return HONE_OK;
  TRY(labels_open(ctx, path, &labels));
  if (labels_are_outputs(&labels)) variants->reference = 1;
  for (size_t i = 0; i < summary->record_count; i++) {
    const struct record *r = &summary->records[i];
    if (variant_of(variants, r->config.model)) continue;
    variants->batch = r->config.batch;
    if (isfinite(r->worst.task_reference)) variants->reference = r->worst.task_reference;
  }
  for (size_t i = 0; i < summary->record_count; i++) {
    struct record *r = &summary->records[i];
    r->worst.accuracy_retention =
        isfinite(variants->reference) && isfinite(r->worst.task_accuracy)
            ? score_retention(&labels, r->worst.task_accuracy, variants->reference)
            : (double)NAN;
    if (variants->batch) label_variant(variants, r);
  }
  labels_close(&labels);
  return HONE_OK;
}

void put_variants(struct strbuf *out, const struct variants *variants) {
  if (variants->words[0]) {
    strbuf_puts(out, "smaller variants: ");
    strbuf_put_safe(out, variants->words, sizeof variants->words);
    strbuf_puts(out, "\n");
  }
  for (size_t i = 0; i < VARIANT_COUNT; i++) {
    const struct variant *variant = &variants->at[i];
    if (!variant->name || variant->is_made) continue;
    strbuf_printf(out, "  dropped    %s: ", variant->name);
    strbuf_put_safe(out, variant->words, sizeof variant->words);
    strbuf_puts(out, "\n");
  }
  if (variants->set[0] && variants->is_made_up)
    strbuf_puts(out, "accuracy: agreement on " MADE_UP
                     " generated inputs, which also gave int8 its ranges; for a reliable figure "
                     "pass real samples (--calibrate DIR) or labels (--labels FILE)\n");
}

json_t *variants_json(const struct variants *variants) {
  if (!variants->dir[0]) return NULL;
  json_t *list = json_array();
  for (size_t i = 0; i < VARIANT_COUNT; i++) {
    const struct variant *variant = &variants->at[i];
    if (!variant->name) continue;
    json_array_append_new(
        list, json_pack("{s:s, s:s*, s:s*, s:O*}", "form", variant->name, "file",
                        variant->is_made ? variant->path : NULL, "reason",
                        variant->is_made ? NULL : variant->words, "report", variant->report));
  }
  return json_pack("{s:s*, s:b, s:o}", "set", variants->set[0] ? variants->set : NULL, "is_made_up",
                   variants->is_made_up, "forms", list);
}
