/* Mean average precision: detected boxes against labelled ones. The labels name the outputs with
 * boxes (x1, y1, x2, y2), scores and, unless scores have a column per class, classes: "boxes",
 * "scores", "classes". A label is a list of [class, x1, y1, x2, y2]. */
#include "metrics_internal.h"

#include <math.h>
#include <stdlib.h>

#define OVERLAP 0.5
#define MOST 1000000

static MUST_USE hone_status keep(struct ctx *ctx, struct score *score,
                                 const struct detection *one) {
  if (score->found_count >= MOST)
    return fail(ctx, HONE_E_LIMIT, place_none(), "more than %d boxes", MOST);
  if (!(score->found_count & (score->found_count - 1))) {
    const size_t room = score->found_count ? 2 * score->found_count : 1;
    struct detection *more = realloc(score->found, room * sizeof *more);
    if (!more) return fail(ctx, HONE_E_OOM, place_none(), "no memory for boxes");
    score->found = more;
  }
  score->found[score->found_count++] = *one;
  return HONE_OK;
}

static MUST_USE hone_status output_of(struct ctx *ctx, const struct score *score,
                                      const struct sample *s, const char *key,
                                      const hone_tensor **out) {
  const json_t *place = json_object_get(score->labels->root, key);
  *out = NULL;
  if (!place) return HONE_OK;
  const json_int_t i = json_integer_value(place);
  if (!json_is_integer(place) || i < 0 || (size_t)i >= s->count)
    return fail(ctx, HONE_E_FORMAT, place_name(key), "is not the number of an output");
  *out = &s->outputs[i];
  return HONE_OK;
}

static MUST_USE hone_status add_answers(struct ctx *ctx, struct score *score,
                                        const struct sample *s) {
  for (size_t i = 0; i < json_array_size(s->label); i++) {
    const json_t *box = json_array_get(s->label, i);
    struct detection one = {.sample = (int64_t)score->all, .is_answer = true};
    if (json_array_size(box) != 5)
      return fail(ctx, HONE_E_FORMAT, place_none(), "a label of map is [class, x1, y1, x2, y2]");
    one.class = json_integer_value(json_array_get(box, 0));
    for (size_t d = 0; d < 4; d++) one.box[d] = json_number_value(json_array_get(box, d + 1));
    TRY(keep(ctx, score, &one));
  }
  return HONE_OK;
}

hone_status add_boxes(struct ctx *ctx, struct score *score, const struct sample *s) {
  const hone_tensor *boxes, *scores, *classes;
  const double least = json_number_value(json_object_get(score->labels->root, "least_score"));
  TRY(output_of(ctx, score, s, "boxes", &boxes));
  TRY(output_of(ctx, score, s, "scores", &scores));
  TRY(output_of(ctx, score, s, "classes", &classes));
  if (!boxes || !scores || !json_is_array(s->label))
    return fail(ctx, HONE_E_FORMAT, place_none(),
                "map needs \"boxes\" and \"scores\", numbers of outputs, and a list of boxes");
  TRY(add_answers(ctx, score, s));
  const size_t count = tensor_elements(boxes) / 4;
  const size_t columns = classes || !count ? 1 : tensor_elements(scores) / count;
  if (!count || tensor_elements(scores) != count * columns || !columns ||
      (classes && tensor_elements(classes) != count))
    return fail(ctx, HONE_E_SHAPE, place_none(), "boxes, scores and classes do not fit each other");
  for (size_t i = 0; i < count * columns; i++) {
    const size_t box = i / columns;
    struct detection one = {.sample = (int64_t)score->all};
    one.score = element_number(scores->data, scores->dtype, i);
    one.class = classes ? (int64_t)element_number(classes->data, classes->dtype, box)
                        : (int64_t)(i % columns);
    for (size_t d = 0; d < 4; d++)
      one.box[d] = element_number(boxes->data, boxes->dtype, 4 * box + d);
    if (one.score > least) TRY(keep(ctx, score, &one));
  }
  score->all++;
  return HONE_OK;
}

static double overlap(const double a[4], const double b[4]) {
  const double w = fmin(a[2], b[2]) - fmax(a[0], b[0]), h = fmin(a[3], b[3]) - fmax(a[1], b[1]);
  const double both = w > 0 && h > 0 ? w * h : 0;
  const double all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
  return all > 0 ? both / all : 0;
}

/* By class, labels first, then by descending score; in sample order for equal scores. */
static int compare(const void *a, const void *b) {
  const struct detection *x = a, *y = b;
  if (x->class != y->class) return x->class < y->class ? -1 : 1;
  if (x->is_answer != y->is_answer) return x->is_answer ? -1 : 1;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return (x->sample > y->sample) - (x->sample < y->sample);
}

/* True if an unmatched labelled box overlaps this one. */
static bool hits(const struct detection *answers, size_t count, const struct detection *one,
                 bool *is_taken) {
  size_t best = count;
  double most = OVERLAP;
  for (size_t i = 0; i < count; i++) {
    const double here = answers[i].sample == one->sample ? overlap(answers[i].box, one->box) : 0;
    if (here >= most && !is_taken[i]) best = i, most = here;
  }
  if (best < count) is_taken[best] = true;
  return best < count;
}

/* Area under the precision-recall curve, with precision made monotonic from the end. */
static double average_precision(const struct detection *at, size_t answers, size_t all) {
  bool *is_taken = calloc(answers + 1, sizeof *is_taken);
  double *precision = calloc(all + 1, sizeof *precision), area = 0, best = 0;
  bool *is_hit = calloc(all + 1, sizeof *is_hit);
  size_t right = 0;
  for (size_t i = answers; is_taken && precision && is_hit && i < all; i++) {
    is_hit[i] = hits(at, answers, &at[i], is_taken);
    right += is_hit[i];
    precision[i] = (double)right / (double)(i - answers + 1);
  }
  for (size_t i = all; is_taken && precision && is_hit && i > answers; i--) {
    best = fmax(best, precision[i - 1]);
    if (is_hit[i - 1]) area += best / (double)answers;
  }
  free(is_taken);
  free(precision);
  free(is_hit);
  return area;
}

double value_map(const struct score *score) {
  double sum = 0;
  int classes = 0;
  if (score->found_count) qsort(score->found, score->found_count, sizeof *score->found, compare);
  for (size_t i = 0; i < score->found_count;) {
    size_t answers = 0, all = 0;
    while (i + all < score->found_count && score->found[i + all].class == score->found[i].class) {
      answers += score->found[i + all].is_answer;
      all++;
    }
    if (answers) sum += average_precision(&score->found[i], answers, all), classes++;
    i += all;
  }
  return classes ? sum / classes : (double)NAN;
}
