/* Metrics of classes: each row of the last dimension is one answer. */
#include "metrics_internal.h"

#include <math.h>
#include <stdlib.h>

/* The label of row `row`: a number, or a list with one for each row; -1: not labelled. */
static MUST_USE hone_status label_of(struct ctx *ctx, const struct sample *s, size_t row,
                                     size_t rows, int64_t *out) {
  const json_t *label = json_is_array(s->label) ? json_array_get(s->label, row) : s->label;
  const bool fits = json_is_array(s->label) ? json_array_size(s->label) == rows : rows == 1;
  if (!fits || !json_is_integer(label))
    return fail(ctx, HONE_E_SHAPE, place_none(),
                "the output has %zu rows, the label has another number of classes", rows);
  *out = json_integer_value(label);
  return HONE_OK;
}

static void rows_of(const hone_tensor *tensor, size_t *out_rows, size_t *out_width) {
  *out_width = (size_t)tensor->shape[tensor->rank - 1];
  *out_rows = tensor_elements(tensor) / *out_width;
}

static double at(const struct sample *s, size_t i) {
  return element_number(s->judged->data, s->judged->dtype, i);
}

/* Number of elements in the row that are larger than the label's, or equal with a smaller index. */
static size_t rank_of(const struct sample *s, size_t begin, size_t width, size_t label) {
  size_t rank = 0;
  const double own = at(s, begin + label);
  for (size_t i = 0; i < width; i++)
    rank += at(s, begin + i) > own || (i < label && at(s, begin + i) == own);
  return isnan(own) ? width : rank;
}

hone_status add_top(struct ctx *ctx, struct score *score, const struct sample *s) {
  size_t rows, width;
  rows_of(s->judged, &rows, &width);
  for (size_t row = 0; row < rows; row++) {
    int64_t label;
    TRY(label_of(ctx, s, row, rows, &label));
    if (label < 0) continue;
    if ((size_t)label >= width)
      return fail(ctx, HONE_E_SHAPE, place_none(), "class %lld of %zu", (long long)label, width);
    score->all++;
    score->right +=
        rank_of(s, row * width, width, (size_t)label) < (size_t)score->labels->metric->number;
  }
  return HONE_OK;
}

double value_share(const struct score *score) {
  return score->all > 0 ? score->right / score->all : (double)NAN;
}

static MUST_USE hone_status make_classes(struct ctx *ctx, struct score *score, size_t width) {
  if (score->class_count == width) return HONE_OK;
  if (score->class_count)
    return fail(ctx, HONE_E_SHAPE, place_none(), "the number of classes differs between samples");
  score->matches = calloc(width, sizeof *score->matches);
  score->guesses = calloc(width, sizeof *score->guesses);
  score->answers = calloc(width, sizeof *score->answers);
  if (!score->matches || !score->guesses || !score->answers)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for classes");
  score->class_count = width;
  return HONE_OK;
}

hone_status add_f1(struct ctx *ctx, struct score *score, const struct sample *s) {
  size_t rows, width;
  rows_of(s->judged, &rows, &width);
  TRY(make_classes(ctx, score, width));
  for (size_t row = 0; row < rows; row++) {
    int64_t label;
    TRY(label_of(ctx, s, row, rows, &label));
    if (label < 0) continue;
    if ((size_t)label >= width)
      return fail(ctx, HONE_E_SHAPE, place_none(), "class %lld of %zu", (long long)label, width);
    size_t guess = 0;
    for (size_t i = 1; i < width; i++)
      if (at(s, row * width + i) > at(s, row * width + guess)) guess = i;
    score->all++;
    score->answers[label]++;
    score->guesses[guess]++;
    score->matches[label] += (int64_t)guess == label;
  }
  return HONE_OK;
}

double value_f1(const struct score *score) {
  double sum = 0;
  int seen = 0;
  for (size_t i = 0; i < score->class_count; i++) {
    const int64_t both = score->answers[i] + score->guesses[i];
    if (!both) continue;
    sum += 2.0 * (double)score->matches[i] / (double)both;
    seen++;
  }
  return seen ? sum / seen : (double)NAN;
}

hone_status add_perplexity(struct ctx *ctx, struct score *score, const struct sample *s) {
  size_t rows, width;
  rows_of(s->judged, &rows, &width);
  for (size_t row = 0; row < rows; row++) {
    int64_t label;
    double largest = -INFINITY, sum = 0;
    TRY(label_of(ctx, s, row, rows, &label));
    if (label < 0) continue;
    if ((size_t)label >= width)
      return fail(ctx, HONE_E_SHAPE, place_none(), "token %lld of %zu", (long long)label, width);
    for (size_t i = 0; i < width; i++) largest = fmax(largest, at(s, row * width + i));
    for (size_t i = 0; i < width; i++) sum += exp(at(s, row * width + i) - largest);
    score->log_likelihood += at(s, row * width + (size_t)label) - largest - log(sum);
    score->all++;
  }
  return HONE_OK;
}

double value_perplexity(const struct score *score) {
  return score->all > 0 ? exp(-score->log_likelihood / score->all) : (double)NAN;
}

size_t largest_element(const void *data, hone_dtype dtype, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (element_number(data, dtype, i) > element_number(data, dtype, best)) best = i;
  return best;
}
