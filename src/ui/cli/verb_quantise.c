/* hone quantise: quantises a float model with calibration samples, writes it as ONNX and reports the error. */
#include "core/format/format.h"
#include "compiler/quantise/quantise.h"
#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum target_form { TO_INT8, TO_FP32, TO_FP16, TO_BF16, TO_INT4_WEIGHTS, TO_COUNT };
static const char *const form_names[TO_COUNT] = {"int8", "fp32", "fp16", "bf16", "int4-weights"};

struct quantising {
  struct ctx *ctx;
  const struct args *args;
  struct arena *arena;
  struct model model;
  enum target_form to;
  struct compile_options compile;
  struct samples samples;
  struct quantise_options options;
  struct recipe recipe;
  struct quantise_report report;
  struct graph *graph;
  size_t weights;       /* that were quantised */
  size_t before, after; /* file sizes in bytes */
  struct progress_line line;
  int64_t *labels; /* for each sample, -1: unknown; NULL: --labels was not given */
  size_t right_before, right_after, labelled;
};

/* -- options */

static hone_status check_flags(const struct quantising *q) {
  static const enum flag_id of_int8[] = {FLAG_recipe, FLAG_max_error, FLAG_min_agreement};
  static const enum flag_id of_int4[] = {FLAG_block};
  TRY(flags_need(q->ctx, q->args, of_int8, COUNT(of_int8), q->to == TO_INT8, "--to int8"));
  return flags_need(q->ctx, q->args, of_int4, COUNT(of_int4), q->to == TO_INT4_WEIGHTS,
                    "--to int4-weights");
}

static hone_status read_form(struct quantising *q) {
  const char *word = value_of(q->args, FLAG_to, "int8");
  for (int i = 0; i < TO_COUNT; i++)
    if (!strcmp(word, form_names[i])) {
      q->to = (enum target_form)i;
      return check_flags(q);
    }
  return fail(q->ctx, HONE_E_USAGE, place_name("--to"),
              "\"%s\" is not int8, fp32, fp16, bf16 or int4-weights", word);
}

/* "mse+bias+equalise" */
static hone_status read_recipe(struct quantising *q) {
  const char *text = value_of(q->args, FLAG_recipe, "auto");
  size_t n = strcspn(text, "+");
  int range = 0;
  if (!strcmp(text, "auto")) return HONE_OK;
  while (range < RANGE_METHOD_COUNT &&
         (strncmp(text, range_method_names[range], n) || range_method_names[range][n]))
    range++;
  bool known = range < RANGE_METHOD_COUNT;
  q->recipe = (struct recipe){.range = (enum range_method)(known ? range : 0)};
  for (text += n; known && *text; text += n) {
    n = 1 + strcspn(text + 1, "+");
    if (n == 5 && !strncmp(text, "+bias", n))
      q->recipe.corrects_bias = true;
    else if (n == 9 && !strncmp(text, "+equalise", n))
      q->recipe.equalises = true;
    else
      known = false;
  }
  q->options.recipe = &q->recipe;
  return known ? HONE_OK
               : fail(q->ctx, HONE_E_USAGE, place_name("--recipe"),
                      "\"%s\" is not auto, minmax, percentile or mse (the last three with +bias, "
                      "+equalise)",
                      value_of(q->args, FLAG_recipe, ""));
}

static hone_status check_output_name(struct quantising *q) {
  const char *path = value_of(q->args, FLAG_output, NULL);
  static struct inputs_seen seen;
  size_t length = path ? strlen(path) : 0;
  if (!path) return fail(q->ctx, HONE_E_USAGE, place_none(), "-o FILE.onnx is missing");
  if (!strcmp(path, "-")) return HONE_OK;
  if (length < 6 || strcmp(path + length - 5, ".onnx"))
    return fail(q->ctx, HONE_E_USAGE, place_name(path), "give FILE.onnx");
  inputs_of_command(q->args, &seen);
  inputs_of_model(&q->model, &seen);
  return output_check(q->ctx, path, OUTPUT_ONNX, seen.at, seen.count);
}

/* Samples are read in the order of their folders' names and written as s000, s001, ...: in the same folder they would be
   overwritten. */
static hone_status check_labelled_set(const struct quantising *q) {
  const char *set = value_of(q->args, FLAG_labelled_set, NULL);
  const char *samples = value_of(q->args, FLAG_calibrate, NULL);
  struct stat one, other;
  if (!set || !samples || stat(set, &one) || stat(samples, &other) || one.st_dev != other.st_dev ||
      one.st_ino != other.st_ino)
    return HONE_OK;
  return fail(q->ctx, HONE_E_PATH, place_file(set),
              "is an input of this command and cannot be an output");
}

/* -- samples */

typedef VEC(const char *) path_list;

/* The subfolders in order of their names, or the folder itself if it has none. */
static hone_status list_samples(struct quantising *q, const char *path, path_list *out) {
  DIR *dir = opendir(path);
  hone_status status = HONE_OK;
  if (!dir)
    return fail(q->ctx, HONE_E_NOFILE, place_file(path), "the folder of samples: %s",
                strerror(errno));
  for (struct dirent *entry; !status && (entry = readdir(dir));) {
    char name[4096];
    const char *kept;
    struct stat info;
    if (entry->d_name[0] == '.') continue;
    int n = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (n < 0 || (size_t)n >= sizeof name || stat(name, &info) || !S_ISDIR(info.st_mode)) continue;
    status = arena_string(q->ctx, q->arena, name, (size_t)n, &kept);
    if (!status)
      status = vec_grow(q->ctx, q->arena, &out->at, out->count, &out->capacity, sizeof kept);
    if (!status) out->at[out->count++] = kept;
  }
  closedir(dir);
  TRY(status);
  if (out->count) qsort(out->at, out->count, sizeof *out->at, by_text);
  if (!out->count) VEC_PUSH(q->ctx, q->arena, out, path);
  return HONE_OK;
}

static hone_status read_sample(struct quantising *q, const char *dir, hone_tensor **out) {
  const struct graph *graph = q->model.graph;
  const struct given given = {NULL, 0, dir};
  const char **names;
  TRY(NEW_ARRAY(q->ctx, q->arena, names, graph->inputs.count));
  TRY(NEW_ARRAY(q->ctx, q->arena, *out, graph->inputs.count));
  for (size_t i = 0; i < graph->inputs.count; i++) names[i] = graph->inputs.at[i]->name;
  const struct given_model one = {"the model", names, graph->inputs.count, NULL};
  TRY(given_check(q->ctx, &given, &one, 1));
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const struct value *input = graph->inputs.at[i];
    const hone_tensor want = value_tensor(input, NULL);
    char path[4096];
    TRY(given_find(q->ctx, &given, input->name, i, path));
    if (!path[0])
      return fail(q->ctx, HONE_E_NOFILE, place_file(dir), "no file for the input %.100s",
                  input->name);
    TRY(given_read(q->ctx, q->arena, path, input->name, &want, &(*out)[i]));
  }
  return HONE_OK;
}

/* Random samples: the first `count` input sets of the seed. */
static hone_status make_samples(struct quantising *q, int64_t count) {
  const struct graph *graph = q->model.graph;
  hone_tensor **at;
  int64_t seed;
  TRY(int_of(q->ctx, q->args, FLAG_seed, 0, INT64_MAX, 1, &seed));
  TRY(NEW_ARRAY(q->ctx, q->arena, at, (size_t)count));
  for (int s = 0; s < (int)count; s++) {
    TRY(NEW_ARRAY(q->ctx, q->arena, at[s], graph->inputs.count));
    for (size_t i = 0; i < graph->inputs.count; i++)
      TRY(input_generate(q->ctx, q->arena, graph, i, (uint64_t)seed, s, &at[s][i]));
  }
  q->samples = (struct samples){(size_t)count, (hone_tensor *const *)at};
  return HONE_OK;
}

static hone_status read_samples(struct quantising *q) {
  const char *path = value_of(q->args, FLAG_calibrate, NULL);
  path_list folders = {0};
  hone_tensor **at;
  int64_t made;
  TRY(int_of(q->ctx, q->args, FLAG_generate, 1, 1000, 0, &made));
  if (q->to != TO_INT8 && !has(q->args, FLAG_labels) && !has(q->args, FLAG_labelled_set))
    return HONE_OK;
  if (made && (path || has(q->args, FLAG_labels)))
    return fail(q->ctx, HONE_E_USAGE, place_name("--generate"),
                "replaces --calibrate and cannot be combined with --labels");
  if (made) return make_samples(q, made);
  if (!path)
    return fail(q->ctx, HONE_E_USAGE, place_none(),
                "--calibrate DIR is missing: int8 needs samples, one folder for each, with "
                "in_0.npy or NAME.npy");
  TRY(list_samples(q, path, &folders));
  TRY(NEW_ARRAY(q->ctx, q->arena, at, folders.count));
  for (size_t s = 0; s < folders.count; s++) TRY(read_sample(q, folders.at[s], &at[s]));
  q->samples = (struct samples){folders.count, (hone_tensor *const *)at};
  if (!has(q->args, FLAG_labels)) return HONE_OK;
  TRY(NEW_ARRAY(q->ctx, q->arena, q->labels, folders.count));
  return labels_read(q->ctx, value_of(q->args, FLAG_labels, ""), folders.at, folders.count,
                     q->labels);
}

/* -- the report */

static json_t *error_json(const struct quantise_error *e) {
  return json_pack("{s:I, s:o, s:o, s:o}", "samples", (json_int_t)e->samples, "relative_l2",
                   json_finite(e->relative_l2), "cosine", json_finite(e->cosine), "agreement",
                   json_finite(e->agreement));
}

static json_t *report_json(const struct quantising *q) {
  const struct quantise_report *r = &q->report;
  json_t *json = json_pack("{s:s, s:I, s:I}", "to", form_names[q->to], "bytes_before",
                           (json_int_t)q->before, "bytes_after", (json_int_t)q->after);
  if (q->labels)
    json_object_set_new(
        json, "labels",
        json_pack("{s:I, s:I, s:I}", "samples", (json_int_t)q->labelled, "right_before",
                  (json_int_t)q->right_before, "right_after", (json_int_t)q->right_after));
  if (q->to != TO_INT8) {
    json_object_set_new(json, "weights", json_integer((json_int_t)q->weights));
    return json;
  }
  json_t *kept = json_array();
  for (size_t i = 0; i < r->kept.count; i++)
    json_array_append_new(kept, json_pack("{s:s, s:o}", "node", r->kept.at[i].name, "error",
                                          json_finite(r->kept.at[i].error)));
  json_object_update_new(
      json,
      json_pack("{s:s, s:b, s:b, s:I, s:I, s:I, s:o, s:o, s:o}", "range",
                range_method_names[r->recipe.range], "bias", r->recipe.corrects_bias, "equalise",
                r->recipe.equalises, "recipes_tried", (json_int_t)r->recipes_tried, "products",
                (json_int_t)r->products, "quantised_products", (json_int_t)r->quantised_products,
                "kept_float", kept, "calibration", error_json(&r->calibration), "held_out",
                r->held_out.samples ? error_json(&r->held_out) : json_null()));
  return json;
}

static void put_error(struct strbuf *out, const char *title, const struct quantise_error *e) {
  if (!e->samples) return;
  strbuf_printf(out, "%-12s %4zu samples  relative L2 %.3g  cosine %.6f", title, e->samples,
                e->relative_l2, e->cosine);
  if (isfinite(e->agreement)) strbuf_printf(out, "  same top-1 %.1f %%", 100 * e->agreement);
  strbuf_puts(out, "\n");
}

static void put_report(struct strbuf *out, const struct quantising *q, const char *path) {
  const struct quantise_report *r = &q->report;
  char before[32], after[32];
  format_bytes(before, (double)q->before);
  format_bytes(after, (double)q->after);
  strbuf_put_safe(out, path, 200);
  strbuf_printf(out, ": %s, %s as ONNX in f32\n", after, before);
  if (q->labels)
    strbuf_printf(out, "correct labels: %zu of %zu; %zu with the float model\n", q->right_after,
                  q->labelled, q->right_before);
  if (q->to != TO_INT8) {
    if (q->to != TO_FP32) strbuf_printf(out, "%zu weights in %s\n", q->weights, form_names[q->to]);
    return;
  }
  strbuf_printf(out, "%zu of %zu matmuls in int8; ranges by %s%s%s", r->quantised_products,
                r->products, range_method_names[r->recipe.range],
                r->recipe.corrects_bias ? ", corrected biases" : "",
                r->recipe.equalises ? ", equalised channels" : "");
  if (r->recipes_tried) strbuf_printf(out, "; the best of %zu recipes", r->recipes_tried);
  strbuf_puts(out, "\n");
  put_error(out, "calibration", &r->calibration);
  put_error(out, "held out", &r->held_out);
  for (size_t i = 0; i < r->kept.count; i++) {
    strbuf_puts(out, "in float: ");
    strbuf_put_safe(out, r->kept.at[i].name, 80);
    strbuf_printf(out, " (alone in int8: relative L2 %.3g)\n", r->kept.at[i].error);
  }
}

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  json_t *json = report_json(user);
  char *dumped = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
  (void)form;
  strbuf_puts(out, dumped ? dumped : "");
  strbuf_puts(out, "\n");
  free(dumped);
  json_decref(json);
  return strbuf_finish(ctx, out);
}

/* -- the verb */

static void show_progress(void *user, const char *what, size_t step, size_t steps) {
  struct quantising *q = user;
  struct strbuf line = {0};
  strbuf_printf(&line, "[%zu/%zu] %s", step, steps, what);
  if (line.at) progress_put(&q->line, line.at);
  strbuf_deinit(&line);
}

enum { LABEL_STEPS = 8 };

static hone_status quantise(struct quantising *q) {
  int64_t block;
  TRY(int_of(q->ctx, q->args, FLAG_block, 16, 4096, 32, &block));
  if (block & (block - 1))
    return fail(q->ctx, HONE_E_USAGE, place_name("--block"), "%lld is not a power of two",
                (long long)block);
  const struct graph *from = q->model.graph;
  if (q->to == TO_INT8)
    return quantise_int8(q->ctx, q->arena, from, &q->options, &q->graph, &q->report);
  if (q->to == TO_FP32) return quantise_nothing(q->ctx, q->arena, from, &q->graph);
  hone_status status =
      q->to == TO_INT4_WEIGHTS
          ? quantise_weights_4(q->ctx, q->arena, from, block, &q->graph, &q->weights)
          : quantise_weights_16(q->ctx, q->arena, from, q->to == TO_FP16 ? HONE_F16 : HONE_BF16,
                                &q->graph, &q->weights);
  if (!status && !q->weights)
    return fail(q->ctx, HONE_E_UNSUP, place_none(), "the model has no weights for %s",
                form_names[q->to]);
  return status;
}

static hone_status count_labels(struct quantising *q, const struct graph *graph, size_t *out) {
  return labels_count(q->ctx, graph, &q->compile, &q->samples, q->labels, out, &q->labelled);
}

/* Halves the allowed output error until enough labels are correct: the most sensitive matmuls return to float. */
static hone_status quantise_by_labels(struct quantising *q) {
  double least;
  TRY(amount_of(q->ctx, q->args, FLAG_min_retention, AMOUNT_SHARE, 0, 1, 0, &least));
  if (least > 0 && !q->labels)
    return fail(q->ctx, HONE_E_USAGE, place_name("--min-retention"), "needs --labels FILE");
  if (!q->labels) return quantise(q);
  TRY(count_labels(q, q->model.graph, &q->right_before));
  for (int step = 0;; step++) {
    TRY(quantise(q));
    TRY(count_labels(q, q->graph, &q->right_after));
    if ((double)q->right_after >= least * (double)q->right_before) return HONE_OK;
    if (q->to != TO_INT8 || step == LABEL_STEPS)
      return fail(q->ctx, HONE_E_ACCURACY, place_name("--min-retention"),
                  "%zu of %zu labels are correct, %zu with the float model", q->right_after,
                  q->labelled, q->right_before);
    q->options.max_error = q->report.calibration.relative_l2 / 2;
  }
}

static hone_status write_model(struct quantising *q, const char *path) {
  struct strbuf bytes = {0}, original = {0};
  hone_status status = export_onnx(q->ctx, q->graph, export_opset(q->graph), &bytes);
  if (!status)
    status = export_onnx(q->ctx, q->model.graph, export_opset(q->model.graph), &original);
  q->before = original.length;
  q->after = bytes.length;
  if (!status) status = write_output(q->ctx, path, &bytes);
  strbuf_deinit(&bytes);
  strbuf_deinit(&original);
  return status;
}

static hone_status read_bounds(struct quantising *q) {
  TRY(number_of(q->ctx, q->args, FLAG_max_error, 1e-9, 1e9, 0, &q->options.max_error));
  return number_of(q->ctx, q->args, FLAG_min_agreement, 1e-9, 1, 0, &q->options.min_agreement);
}

static hone_status run(struct quantising *q, struct sinks *sinks) {
  const char *path;
  TRY(one_word(q->ctx, q->args, "model", &path));
  TRY(read_form(q));
  TRY(read_recipe(q));
  TRY(read_bounds(q));
  TRY(arena_create(q->ctx, (size_t)64 << 30, &q->arena));
  TRY(load_model(q->ctx, q->args, path, &q->model));
  TRY(check_output_name(q));
  TRY(sinks_read_flags(q->ctx, q->args, sinks));
  TRY(sinks_check_model(q->ctx, sinks, &q->model));
  TRY(check_labelled_set(q));
  TRY(read_compile_options(q->ctx, q->args, &q->compile));
  TRY(read_samples(q));
  q->options.compile = &q->compile;
  q->options.samples = &q->samples;
  q->options.user = q;
  if (isatty(2) && !has(q->args, FLAG_quiet)) q->options.progress = show_progress;
  const char *set = value_of(q->args, FLAG_labelled_set, NULL);
  if (set)
    TRY(agreement_set_write(q->ctx, q->arena, q->model.graph, &q->compile, &q->samples, set));
  hone_status status = quantise_by_labels(q);
  progress_clear(&q->line);
  TRY(about_model(q->ctx, status));
  return write_model(q, value_of(q->args, FLAG_output, NULL));
}

int verb_quantise(struct ctx *ctx, struct args *args) {
  static struct quantising q;
  static struct sinks sinks;
  q = (struct quantising){.ctx = ctx, .args = args};
  const char *path = value_of(args, FLAG_output, "-");
  hone_status status = run(&q, &sinks);
  int code = 0;
  if (!status) {
    struct strbuf shown = {0};
    put_report(&shown, &q, path);
    if (!has(args, FLAG_quiet) && shown.at) fputs(shown.at, stderr);
    strbuf_deinit(&shown);
    code = sinks_write(ctx, &sinks, render, &q);
  }
  model_unload(&q.model);
  arena_destroy(q.arena);
  return status ? report_failure(ctx) : code;
}
