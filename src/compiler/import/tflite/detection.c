/* detection: TFLite_Detection_PostProcess, the custom operator at the end of detectors (SSD,
 * EfficientDet-Lite), as in LiteRT's own kernel (tensorflow/lite/kernels/detection_postprocess.cc).
 * Boxes are decoded from their anchors; of overlapping boxes the one with the best score is kept.
 * "Fast" compares each box by its best class, "regular" compares the boxes of each class
 * separately. Outputs are padded with zeros. */
#include "flexbuffer.h"
#include "tflite.h"

#include <math.h>

enum { ENCODINGS, PREDICTIONS, ANCHORS, BOX = 4, MOST_CLASSES = 1024 };
struct detection {
  struct tf_op *op;
  int64_t anchors, classes, most; /* most: number of output boxes */
  int64_t each, per_class;        /* classes per box in "fast"; boxes per class in "regular" */
  struct value *boxes;            /* [anchors, 4]: y, x, y, x */
  struct value *scores;           /* [anchors, classes] */
  struct value *limits[3];        /* overlap, lowest score, sigma: of SuppressBoxes */
  struct value *zero;
};

/* -- operands */

static hone_status whole_option(struct detection *d, const struct flex_map *map, const char *name,
                                double otherwise, int64_t most, int64_t *out) {
  double x;
  TRY(flex_number(d->op->ctx, tf_place(d->op), map, name, otherwise, &x));
  if (!(x >= 1 && x <= (double)most)) return tf_refuse(d->op, "with %s %g", name, x);
  *out = (int64_t)x;
  return HONE_OK;
}

/* SuppressBoxes requires a score above the lowest and an overlap below the limit; here both may be
 * equal. */
static hone_status read_limits(struct detection *d, const struct flex_map *map) {
  double overlap, least;
  struct tf_op *op = d->op;
  TRY(flex_number(op->ctx, tf_place(op), map, "nms_iou_threshold", NAN, &overlap));
  TRY(flex_number(op->ctx, tf_place(op), map, "nms_score_threshold", NAN, &least));
  if (!(overlap > 0 && overlap <= 1) || isnan(least))
    return tf_refuse(op, "with an overlap of %g and a score of %g", overlap, least);
  BUILD(op->b,
        d->limits[0] = x_scalar(op->b, HONE_F32, (double)nextafterf((float)overlap, INFINITY)));
  BUILD(op->b,
        d->limits[1] = x_scalar(op->b, HONE_F32, (double)nextafterf((float)least, -INFINITY)));
  BUILD(op->b, d->limits[2] = x_scalar(op->b, HONE_F32, 0));
  return x_give(op->b, &d->zero, x_scalar(op->b, HONE_F32, 0));
}

/* Columns [from, to) of x. */
static struct value *columns(const struct detection *d, struct value *x, int64_t from, int64_t to) {
  struct graph_builder *b = d->op->b;
  return x_op(
      b, OP_Slice,
      VALUES(x, x_list(b, &from, 1), x_list(b, &to, 1), x_list(b, (const int64_t[]){1}, 1)));
}

/* Operand k of one image as [anchors, n]; it may be quantised. */
static hone_status read_rows(struct detection *d, size_t k, int64_t least, struct value **out) {
  struct tf_op *op = d->op;
  TRY(tf_dequantised(op, tf_in(op, k), out));
  const struct shape *shape = &(*out)->shape;
  const int64_t n = shape->rank ? shape->dims[shape->rank - 1] : 0;
  const int64_t count = make_elements(*out);
  if ((*out)->dtype != HONE_F32) return tf_refuse(op, "of %s", dtype_name((*out)->dtype));
  if (n < least || count % n || (d->anchors && count != d->anchors * n))
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: operand %zu does not fit %lld anchors",
                op->kind->name, k, (long long)d->anchors);
  if (!d->anchors) d->anchors = count / n;
  return x_give(op->b, out, x_reshape(op->b, *out, (const int64_t[]){d->anchors, n}, 2));
}

/* Two of the options y_scale, x_scale, h_scale, w_scale. */
static hone_status read_scales(struct detection *d, const struct flex_map *map,
                               const char *const names[2], struct value **out) {
  static const struct shape pair = {1, {2}};
  double scales[2];
  for (size_t i = 0; i < 2; i++) {
    TRY(flex_number(d->op->ctx, tf_place(d->op), map, names[i], NAN, &scales[i]));
    if (!(scales[i] != 0)) return tf_refuse(d->op, "with %s %g", names[i], scales[i]);
  }
  return x_give(d->op->b, out, x_numbers(d->op->b, HONE_F32, &pair, scales));
}

/* From centre and size relative to the anchor, to corners. */
static hone_status decode(struct detection *d, const struct flex_map *map) {
  static const char *const places[] = {"y_scale", "x_scale"}, *const sizes[] = {"h_scale",
                                                                                "w_scale"};
  struct graph_builder *b = d->op->b;
  struct value *anchors, *given, *scales;
  TRY(read_rows(d, ANCHORS, BOX, &anchors));
  TRY(read_rows(d, ENCODINGS, BOX, &given));
  struct value *anchor = columns(d, anchors, 0, 2);
  struct value *size = columns(d, anchors, 2, BOX);
  TRY(read_scales(d, map, places, &scales));
  struct value *centre = columns(d, given, 0, 2);
  centre = x_2(b, OP_Add, x_2(b, OP_Mul, x_2(b, OP_Div, centre, scales), size), anchor);
  TRY(read_scales(d, map, sizes, &scales));
  struct value *half = columns(d, given, 2, BOX);
  half = x_2(b, OP_Mul, x_by(b, OP_Mul, x_1(b, OP_Exp, x_2(b, OP_Div, half, scales)), 0.5), size);
  struct value *low = x_2(b, OP_Sub, centre, half);
  return x_give(b, &d->boxes, x_concat(b, 1, VALUES(low, x_2(b, OP_Add, centre, half))));
}

/* -- shared by both modes */

/* `count` numbers i / each, of a type. */
static hone_status steps(const struct detection *d, hone_dtype dtype, int64_t count, int64_t each,
                         struct value **out) {
  const struct shape shape = {1, {count}};
  double *numbers;
  TRY(NEW_ARRAY(d->op->ctx, d->op->tf->arena, numbers, (size_t)count));
  for (int64_t i = 0; i < count; i++) numbers[i] = (double)(i / each);
  return x_give(d->op->b, out, x_numbers(d->op->b, dtype, &shape, numbers));
}

/* [length]: true for the first `count`. */
static hone_status in_front(const struct detection *d, int64_t length, struct value *count,
                            struct value **out) {
  TRY(steps(d, HONE_I32, length, 1, out));
  return x_give(d->op->b, out, x_2(d->op->b, OP_Less, *out, count));
}

static hone_status best(const struct detection *d, struct value *x, int64_t k,
                        struct value *outs[2]) {
  struct value *count = x_list(d->op->b, &k, 1);
  BUILD(d->op->b, x_nodes(d->op->b, OP_TopK, VALUES(x, count), ARGS(INT_ARG("axis", -1)), 2, outs));
  return HONE_OK;
}

static hone_status suppress(const struct detection *d, struct value *scores, int64_t limit,
                            struct value *outs[3]) {
  struct graph_builder *b = d->op->b;
  scores = x_reshape(b, scores, &d->anchors, 1);
  BUILD(b, x_nodes(b, OP_SuppressBoxes,
                   VALUES(d->boxes, scores, d->limits[0], d->limits[1], d->limits[2]),
                   ARGS(INT_ARG("limit", limit)), 3, outs));
  return HONE_OK;
}

/* Output k: rows `at` of x, zeros where there is no detection, `each` times along the second-last
 * axis. */
static hone_status write_rows(const struct detection *d, size_t k, struct value *x,
                              struct value *at, struct value *is_there) {
  struct graph_builder *b = d->op->b;
  const int64_t boxes[] = {1, d->most * d->each, BOX}, column[] = {d->most, 1},
                row[] = {1, d->most * x->shape.dims[1]};
  x = x_gather(b, x, at, 0);
  x = x_3(b, OP_Where, x_reshape(b, is_there, column, 2), x, d->zero);
  if (k) {
    x = x_reshape(b, x, row, 2);
    return tf_write(d->op, k, false, x);
  }
  x = x_2(b, OP_Expand, x_reshape(b, x, (const int64_t[]){d->most, 1, BOX}, 3),
          x_list(b, (const int64_t[]){d->most, d->each, BOX}, 3));
  return tf_write(d->op, 0, false, x_reshape(b, x, boxes, 3));
}

/* Boxes, classes, scores and their number: of boxes `box`, `row` of the other two. */
static hone_status write_results(const struct detection *d, struct value *box, struct value *row,
                                 struct value *classes, struct value *scores, struct value *count) {
  static const int64_t one[] = {1};
  struct value *is_there;
  TRY(in_front(d, d->most, count, &is_there));
  TRY(write_rows(d, 0, d->boxes, box, is_there));
  TRY(write_rows(d, 1, classes, row, is_there));
  TRY(write_rows(d, 2, scores, row, is_there));
  return tf_write(d->op, 3, false, x_reshape(d->op->b, x_cast(d->op->b, count, HONE_F32), one, 1));
}

/* -- fast and regular */

static hone_status fast(const struct detection *d) {
  struct value *top[2], *first, *chosen[3];
  TRY(best(d, d->scores, d->each, top));
  BUILD(d->op->b, first = columns(d, top[0], 0, 1));
  TRY(suppress(d, first, d->most, chosen));
  BUILD(d->op->b, top[1] = x_cast(d->op->b, top[1], HONE_F32));
  return write_results(d, chosen[0], chosen[0], top[1], top[0], chosen[2]);
}

/* Boxes of all classes, one class after the other; selects the best of them, and their number. */
static hone_status regular(const struct detection *d) {
  struct graph_builder *b = d->op->b;
  const int64_t all = d->classes * d->per_class, flat[] = {all, 1};
  struct value **boxes, **scores, *lowest, *count = NULL, *classes, *top[2];
  lowest = x_scalar(b, HONE_F32, -INFINITY);
  TRY(NEW_ARRAY(d->op->ctx, d->op->tf->arena, boxes, (size_t)d->classes));
  TRY(NEW_ARRAY(d->op->ctx, d->op->tf->arena, scores, (size_t)d->classes));
  for (int64_t c = 0; c < d->classes; c++) {
    struct value *column, *chosen[3], *is_there;
    BUILD(b, column = columns(d, d->scores, c, c + 1));
    TRY(suppress(d, column, d->per_class, chosen));
    TRY(in_front(d, d->per_class, chosen[2], &is_there));
    boxes[c] = chosen[0];
    BUILD(b, scores[c] = x_3(b, OP_Where, is_there, chosen[1], lowest));
    if (!c) count = chosen[2];
    if (c) count = x_2(b, OP_Add, count, chosen[2]);
  }
  struct value *score;
  const struct attribute *along = ARGS(INT_ARG("axis", 0));
  struct value *box = x_args(b, OP_Concat, boxes, (size_t)d->classes, along);
  BUILD(b, score = x_args(b, OP_Concat, scores, (size_t)d->classes, along));
  TRY(best(d, score, d->most, top));
  box = x_args(b, OP_Gather, VALUES(box, top[1]), along);
  BUILD(b, score = x_reshape(b, score, flat, 2));
  TRY(steps(d, HONE_F32, all, d->per_class, &classes));
  BUILD(b, classes = x_reshape(b, classes, flat, 2));
  BUILD(b, count = x_by(b, OP_Min, count, (double)d->most));
  return write_results(d, box, top[1], classes, score, count);
}

/* encodings [1, n, 4 or more], predictions [1, n, classes] or with a background class first,
 * anchors [n, 4]. */
hone_status tf_detections(struct tf_op *op) {
  struct detection d = {.op = op};
  struct flex_map map;
  double is_regular;
  int64_t all;
  TRY(tf_arity(op, 3, 3, 4));
  const struct flat_vector *custom = &op->custom;
  TRY(flex_open(op->ctx, tf_place(op), custom->flat ? custom->flat->bytes + custom->at : NULL,
                custom->count, &map));
  TRY(whole_option(&d, &map, "max_detections", NAN, 1 << 20, &d.most));
  TRY(whole_option(&d, &map, "num_classes", NAN, MOST_CLASSES, &d.classes));
  TRY(whole_option(&d, &map, "max_classes_per_detection", NAN, d.classes, &d.each));
  TRY(whole_option(&d, &map, "detections_per_class", 100, 1 << 20, &d.per_class));
  TRY(flex_number(op->ctx, tf_place(op), &map, "use_regular_nms", 0, &is_regular));
  TRY(read_limits(&d, &map));
  TRY(decode(&d, &map));
  TRY(read_rows(&d, PREDICTIONS, d.classes, &d.scores));
  all = d.scores->shape.dims[1];
  BUILD(op->b, d.scores = columns(&d, d.scores, all - d.classes, all));
  if (is_regular == 0) return fast(&d);
  if (d.each > 1 || d.most > d.classes * d.per_class)
    return tf_refuse(op, "with %lld classes per box and at most %lld boxes, class by class",
                     (long long)d.each, (long long)d.most);
  return regular(&d);
}
