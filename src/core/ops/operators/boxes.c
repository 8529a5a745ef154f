/* NonMaxSuppression: for each image and class the boxes in descending order of score, without those
 * that overlap a better one by more than a threshold. Rows of the result are [image, class, box].
 * Scores and overlaps are compared in float, as every implementation does, so that thresholds are
 * met exactly. Among equal scores the first box wins.
 *
 * SuppressBoxes (hone): TFLite's form, one list of boxes into a fixed number of rows; with a sigma,
 * scores decrease with overlap (Bodla and others, Soft-NMS, 2017). */
#include <math.h>
#include <stdlib.h>

#include "core/ops/ops_internal.h"

static hone_status read_limit(struct ctx *ctx, const struct node *node, const struct tensor *tensor,
                              int64_t boxes, int64_t *out) {
  if (tensor_count(tensor) != 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "max_output_boxes_per_class is not a scalar");
  *out = tensor_i64(tensor, 0);
  if (*out < 0) *out = 0;
  if (*out > boxes) *out = boxes;
  return HONE_OK;
}

struct suppression {
  int64_t images, classes, boxes, limit;
  float overlap, score;
  bool has_score, is_centered;
  const float *at, *scores;
};

/* [low y, low x, high y, high x] */
static void corners(const struct suppression *s, int64_t image, int64_t box, float out[4]) {
  const float *b = s->at + (image * s->boxes + box) * 4;
  for (int i = 0; i < 2; i++) {
    float half = b[3 - i] / 2.0f; /* of [x, y, width, height] */
    float low = s->is_centered ? b[1 - i] - half : b[i];
    float high = s->is_centered ? b[1 - i] + half : b[2 + i];
    out[i] = low < high ? low : high;
    out[2 + i] = low < high ? high : low;
  }
}

/* Intersection over union; 0 if either box is empty. */
static float common_share(const struct suppression *s, int64_t image, int64_t x, int64_t y) {
  float a[4], b[4];
  corners(s, image, x, a);
  corners(s, image, y, b);
  float height = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
  float width = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
  if (!(height > 0) || !(width > 0)) return 0;
  float common = height * width;
  float one = (a[2] - a[0]) * (a[3] - a[1]), other = (b[2] - b[0]) * (b[3] - b[1]);
  float whole = one + other - common;
  return one > 0 && other > 0 && whole > 0 ? common / whole : 0;
}

static int by_score(const void *pa, const void *pb, void *user) {
  const float *scores = user;
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  if (scores[a] != scores[b]) return scores[a] < scores[b] ? 1 : -1;
  return (a > b) - (a < b);
}

/* Selects boxes of one class of one image into kept, and returns how many; places: room for all
 * boxes. */
static int64_t select_boxes(const struct suppression *s, int64_t image, int64_t class,
                            int64_t *places, int64_t *kept) {
  const float *scores = s->scores + (image * s->classes + class) * s->boxes;
  int64_t count = 0, chosen = 0;
  for (int64_t i = 0; i < s->boxes; i++)
    if (s->has_score ? scores[i] > s->score : scores[i] == scores[i]) places[count++] = i;
  qsort_r(places, (size_t)count, sizeof *places, by_score, (void *)(uintptr_t)scores);
  for (int64_t i = 0; i < count && chosen < s->limit; i++) {
    bool is_free = true;
    for (int64_t k = 0; k < chosen && is_free; k++)
      is_free = !(common_share(s, image, kept[k], places[i]) > s->overlap);
    if (is_free) kept[chosen++] = places[i];
  }
  return chosen;
}

static hone_status begin(struct ctx *ctx, const struct node *node, const struct tensor *const *in,
                         struct suppression *out) {
  *out = (struct suppression){.images = in[0]->shape.dims[0],
                              .classes = in[1]->shape.dims[1],
                              .boxes = in[0]->shape.dims[1],
                              .is_centered = node_int(node, "center_point_box", 0) != 0,
                              .at = in[0]->data,
                              .scores = in[1]->data};
  size_t count = node->input_count;
  if (count > 2 && in[2]) TRY(read_limit(ctx, node, in[2], out->boxes, &out->limit));
  if (count > 3 && in[3] && tensor_count(in[3]) == 1) out->overlap = (float)tensor_f64(in[3], 0);
  out->has_score = count > 4 && in[4] && tensor_count(in[4]) == 1;
  if (out->has_score) out->score = (float)tensor_f64(in[4], 0);
  return HONE_OK;
}

static hone_status each(struct ctx *ctx, struct arena *scratch, const struct suppression *s,
                        int64_t *out_rows, int64_t room, int64_t *out_count) {
  int64_t *places, *kept;
  TRY(NEW_ARRAY(ctx, scratch, places, (size_t)s->boxes));
  TRY(NEW_ARRAY(ctx, scratch, kept, (size_t)s->boxes));
  *out_count = 0;
  for (int64_t u = 0; u < s->images * s->classes; u++) {
    int64_t count = select_boxes(s, u / s->classes, u % s->classes, places, kept);
    for (int64_t k = 0; out_rows && k < count && *out_count + k < room; k++) {
      int64_t *row = out_rows + 3 * (*out_count + k);
      row[0] = u / s->classes, row[1] = u % s->classes, row[2] = kept[k];
    }
    *out_count += count;
  }
  return HONE_OK;
}

hone_status infer_non_max_suppression(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct shape *boxes = &node->inputs[0]->shape, *scores = &node->inputs[1]->shape;
  struct shape to = {2, {0, 3}};
  int64_t limit = 0;
  bool is_known = true;
  const struct tensor *in[5] = {NULL};
  TRY(want_rank(ctx, node, 0, 3));
  TRY(want_rank(ctx, node, 1, 3));
  if (boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2])
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "boxes are not [n, k, 4], scores not [n, c, k]");
  for (size_t k = 0; k < 5; k++) {
    if (!has_input(node, k)) continue;
    if (node->inputs[k]->dtype != (k == 2 ? HONE_I64 : HONE_F32))
      return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s", k,
                  dtype_name(node->inputs[k]->dtype));
    in[k] = node->inputs[k]->constant;
    is_known &= in[k] != NULL;
  }
  if (has_input(node, 2)) limit = boxes->dims[1];
  if (in[2]) TRY(read_limit(ctx, node, in[2], boxes->dims[1], &limit));
  if (!checked_mul(scores->dims[0], scores->dims[1], &to.dims[0]) ||
      !checked_mul(to.dims[0], limit, &to.dims[0]))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "too many boxes");
  if (is_known) {
    struct suppression s;
    TRY(begin(ctx, node, in, &s));
    TRY(each(ctx, graph->arena, &s, NULL, 0, &to.dims[0]));
  }
  return set_output(ctx, node, 0, HONE_I64, &to);
}

hone_status eval_non_max_suppression(struct ctx *ctx, struct arena *scratch,
                                     const struct node *node, const struct tensor *const *in,
                                     struct tensor *const *out) {
  struct suppression s;
  int64_t count, room = out[0]->shape.dims[0];
  TRY(begin(ctx, node, in, &s));
  TRY(each(ctx, scratch, &s, tensor_data(out[0]), room, &count));
  if (count != room)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the number of boxes at run time differs from the output's shape");
  return HONE_OK;
}

/* -- SuppressBoxes (hone) */

enum { BOXES, SCORES, OVERLAP, LEAST, SIGMA };

/* boxes [n, 4] (y, x, y, x), scores [n], overlap, lowest score, sigma; attribute limit. Box indices
 * [limit], their scores [limit], their number; padded with zeros. */
hone_status infer_suppress_boxes(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct shape *boxes = &node->inputs[BOXES]->shape, *scores = &node->inputs[SCORES]->shape;
  const struct shape list = {1, {node_int(node, "limit", 0)}}, one = {0};
  (void)graph;
  for (size_t k = 0; k <= SIGMA; k++)
    if (node->inputs[k]->dtype != HONE_F32 || (k >= OVERLAP && node->inputs[k]->shape.rank))
      return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s of rank %d", k,
                  dtype_name(node->inputs[k]->dtype), node->inputs[k]->shape.rank);
  if (boxes->rank != 2 || boxes->dims[1] != 4 || scores->rank != 1 ||
      scores->dims[0] != boxes->dims[0])
    return fail(ctx, HONE_E_SHAPE, node_place(node), "boxes are not [n, 4], scores not [n]");
  TRY(set_output(ctx, node, 0, HONE_I32, &list));
  TRY(set_output(ctx, node, 1, HONE_F32, &list));
  return set_output(ctx, node, 2, HONE_I32, &one);
}

struct soft {
  struct suppression boxes;
  float least, sigma;
  float *scores; /* current scores */
  int64_t *from; /* chosen boxes before this one have been processed */
  bool *is_out;
};

static int64_t best_box(const struct soft *s) {
  int64_t best = -1;
  for (int64_t i = 0; i < s->boxes.boxes; i++)
    if (!s->is_out[i] && (best < 0 || s->scores[i] > s->scores[best])) best = i;
  return best;
}

/* Is box `b` selected? Its score decreases with every chosen box not yet processed; if it
 * decreased, the box may be considered again. */
static bool takes(const struct soft *s, int64_t b, const int32_t *chosen, int64_t count) {
  const float scale = s->sigma > 0 ? -0.5f / s->sigma : 0, before = s->scores[b];
  for (int64_t k = count; k-- > s->from[b];) {
    const float share = common_share(&s->boxes, 0, b, chosen[k]);
    if (share >= s->boxes.overlap) {
      s->is_out[b] = true;
      return false;
    }
    if (s->sigma > 0) s->scores[b] *= expf(scale * share * share);
    if (!(s->scores[b] > s->least)) break;
  }
  s->from[b] = count;
  const bool is_same = s->scores[b] == before;
  s->is_out[b] = is_same || !(s->scores[b] > s->least);
  return is_same;
}

hone_status eval_suppress_boxes(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  const int64_t n = in[SCORES]->shape.dims[0], limit = node_int(node, "limit", 0);
  struct soft s = {.boxes = {.boxes = n, .at = in[BOXES]->data},
                   .least = (float)tensor_f64(in[LEAST], 0),
                   .sigma = (float)tensor_f64(in[SIGMA], 0)};
  int32_t *chosen, count = 0;
  float *kept;
  s.boxes.overlap = (float)tensor_f64(in[OVERLAP], 0);
  TRY(NEW_ARRAY(ctx, scratch, s.scores, (size_t)n));
  TRY(NEW_ARRAY(ctx, scratch, s.from, (size_t)n));
  TRY(NEW_ARRAY(ctx, scratch, s.is_out, (size_t)n));
  TRY(NEW_ARRAY(ctx, scratch, chosen, (size_t)limit));
  TRY(NEW_ARRAY(ctx, scratch, kept, (size_t)limit));
  for (int64_t i = 0; i < n; i++) {
    s.scores[i] = ((const float *)in[SCORES]->data)[i];
    s.is_out[i] = !(s.scores[i] > s.least);
  }
  for (int64_t b; count < limit && (b = best_box(&s)) >= 0;)
    if (takes(&s, b, chosen, count)) chosen[count] = (int32_t)b, kept[count++] = s.scores[b];
  if (out[0]) memcpy(tensor_data(out[0]), chosen, (size_t)limit * sizeof *chosen);
  if (out[1]) memcpy(tensor_data(out[1]), kept, (size_t)limit * sizeof *kept);
  if (out[2]) memcpy(tensor_data(out[2]), &count, sizeof count);
  return HONE_OK;
}
