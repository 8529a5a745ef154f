/* The metrics, one row each: how a sample is added, how the score is computed, and its direction.
 *
 * top1, top5: rows of the last dimension whose label is the largest element, or among the five
 * largest. f1: of the largest element, averaged over the classes that occur (macro). wer, cer: edit
 * distance in words or characters divided by the label's length (V. I. Levenshtein 1966); outputs
 * are decoded greedily as CTC (A. Graves et al. 2006) if the labels have "symbols". bleu: of token
 * ids, n-grams to 4, over the corpus, with the brevity penalty (K. Papineni et al. 2002).
 * perplexity: exp of the mean negative log likelihood. map: mean over classes of the average
 * precision at an overlap of 0.5, area under the interpolated curve (PASCAL VOC 2010). agreement:
 * with stored outputs (agreement.c), mean over samples and outputs. */
#include "core/os/os.h"
#include "metrics_internal.h"

#include <math.h>
#include <stdlib.h>

static const struct metric metrics[] = {
    {"top1", ERRORS_NOT, add_top, value_share, 1},
    {"top5", ERRORS_NOT, add_top, value_share, 5},
    {"f1", ERRORS_NOT, add_f1, value_f1, 1},
    {"wer", ERRORS_SHARE, add_text, value_share, 0},
    {"cer", ERRORS_SHARE, add_text, value_share, 1},
    {"bleu", ERRORS_NOT, add_bleu, value_bleu, 4},
    {"perplexity", ERRORS_LEVEL, add_perplexity, value_perplexity, 0},
    {"map", ERRORS_NOT, add_boxes, value_map, 0},
    {"agreement", ERRORS_NOT, add_agreement, value_share, 0}};

/* -- the file */

static MUST_USE hone_status bad(struct ctx *ctx, const char *path, const char *why) {
  return fail(ctx, HONE_E_FORMAT, place_file(path), "%s", why);
}

/* Lines "FOLDER CLASS" as the equivalent JSON. */
static MUST_USE hone_status read_lines(struct ctx *ctx, const char *path, const char *at,
                                       const char *end, json_t **out) {
  json_t *samples = json_array();
  hone_status status = HONE_OK;
  for (size_t line = 1; !status && at < end; line++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);
    char text[512], *blank;
    int64_t label;
    snprintf(text, sizeof text, "%.*s", length < sizeof text ? (int)length : 0, at);
    at += length + 1;
    if (!length || text[0] == '#') continue;
    blank = strrchr(text, ' ');
    if (!blank || !parse_i64(blank + 1, 0, INT64_MAX, &label)) {
      status = fail(ctx, HONE_E_FORMAT, place_file(path),
                    "line %zu is not \"FOLDER LABEL\", a label being the number of a class", line);
      break;
    }
    *blank = 0;
    json_array_append_new(samples,
                          json_pack("{s:s, s:I}", "folder", text, "label", (json_int_t)label));
  }
  *out = json_pack("{s:s, s:o}", "metric", "top1", "samples", samples);
  return status;
}

static MUST_USE hone_status check_labels(struct ctx *ctx, const char *path, struct labels *out) {
  const char *metric = json_string_value(json_object_get(out->root, "metric"));
  const json_t *output = json_object_get(out->root, "output");
  out->samples = json_object_get(out->root, "samples");
  for (size_t i = 0; metric && i < COUNT(metrics); i++)
    if (!strcmp(metrics[i].name, metric)) out->metric = &metrics[i];
  if (!out->metric)
    return bad(ctx, path,
               "needs \"metric\": top1, top5, f1, wer, cer, bleu, perplexity, map or "
               "agreement");
  if (!json_array_size(out->samples)) return bad(ctx, path, "needs \"samples\", a list");
  out->output_name = json_string_value(output);
  out->output = out->output_name ? -1 : (int)json_integer_value(output);
  if (output && !out->output_name && (!json_is_integer(output) || out->output < 0))
    return bad(ctx, path, "\"output\" is the name or the number of an output");
  for (size_t i = 0; i < json_array_size(out->samples); i++) {
    const char *folder = labels_folder(out, i);
    if (!*folder || strstr(folder, "..") ||
        !json_object_get(json_array_get(out->samples, i), "label"))
      return fail(ctx, HONE_E_FORMAT, place_file(path),
                  "sample %zu needs a \"folder\" next to the file and a \"label\"", i);
  }
  return HONE_OK;
}

hone_status labels_open(struct ctx *ctx, const char *path, struct labels *out) {
  struct mapping map;
  json_error_t error;
  *out = (struct labels){.metric = NULL};
  snprintf(out->dir, sizeof out->dir, "%s", strchr(path, '/') ? path : ".");
  char *const slash = strrchr(out->dir, '/');
  if (slash) slash[slash == out->dir] = 0;
  TRY(file_map(ctx, path, &map));
  const char *bytes = (const char *)map.data, *first = bytes;
  while (first < bytes + map.size && strchr(" \t\r\n", *first)) first++;
  hone_status status = HONE_OK;
  if (first < bytes + map.size && *first == '{')
    out->root = json_loadb(bytes, map.size, 0, &error);
  else
    status = read_lines(ctx, path, bytes, bytes + map.size, &out->root);
  file_unmap(&map);
  if (!status && !out->root)
    status = fail(ctx, HONE_E_FORMAT, place_file(path), "line %d: %.200s", error.line, error.text);
  if (!status) status = check_labels(ctx, path, out);
  if (status) labels_close(out);
  return status;
}

void labels_close(struct labels *labels) {
  json_decref(labels->root);
  labels->root = labels->samples = NULL;
}
size_t labels_sample_count(const struct labels *labels) { return json_array_size(labels->samples); }
const char *labels_folder(const struct labels *labels, size_t sample) {
  const char *text =
      json_string_value(json_object_get(json_array_get(labels->samples, sample), "folder"));
  return text ? text : "";
}
const char *labels_metric(const struct labels *labels) { return labels->metric->name; }
bool labels_are_outputs(const struct labels *labels) {
  return labels->metric->add == add_agreement;
}

/* -- the sums */

void score_begin(const struct labels *labels, struct score *out) {
  *out = (struct score){.labels = labels};
}

hone_status score_add(struct ctx *ctx, struct score *score, size_t sample,
                      const hone_tensor *outputs, const char *const *names, size_t count) {
  const struct labels *labels = score->labels;
  size_t place = labels->output < 0 ? count : (size_t)labels->output;
  for (size_t i = 0; names && labels->output_name && i < count; i++)
    if (!strcmp(names[i], labels->output_name)) place = i;
  if (place >= count)
    return fail(ctx, HONE_E_SHAPE, place_none(),
                "the labels refer to output %s, the model has %zu outputs",
                labels->output_name ? labels->output_name : "of a higher number", count);
  const struct sample at = {
      .label = json_object_get(json_array_get(labels->samples, sample), "label"),
      .outputs = outputs,
      .count = count,
      .judged = &outputs[place]};
  if (!tensor_elements(at.judged) || at.judged->rank < 1)
    return fail(ctx, HONE_E_SHAPE, place_none(), "the labelled output is a scalar or empty");
  return labels->metric->add(ctx, score, &at);
}

double score_value(const struct score *score) { return score->labels->metric->value(score); }

void score_end(struct score *score) {
  free(score->matches);
  free(score->guesses);
  free(score->answers);
  free(score->found);
  *score = (struct score){.labels = score->labels};
}

double score_retention(const struct labels *labels, double value, double reference) {
  switch (labels->metric->errors) {
    case ERRORS_SHARE:
      return reference < 1 ? (1 - value) / (1 - reference) : (double)NAN;
    case ERRORS_LEVEL:
      return value > 0 ? reference / value : (double)NAN;
    default:
      return reference > 0 ? value / reference : (double)NAN;
  }
}
