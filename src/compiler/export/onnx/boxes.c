/* boxes: hone's SuppressBoxes for engines that have only ONNX's NonMaxSuppression, whose result has
 * a data-dependent length: padded with -1 and cropped to the requested length. */
#include "compiler/export/export_internal.h"

#include <math.h>

enum { GRAPH_INITIALIZER = 5, MOST_INPUTS = 5 };
enum { BOXES, SCORES, OVERLAP, LEAST, SIGMA };

struct writer {
  struct exporter *e;
  struct message *graph;
  const struct node *node;
  const char *name; /* name of the next node; the others are unnamed */
};

/* A constant [count], or a scalar where count is 0. */
static hone_status put(struct writer *w, hone_dtype dtype, const void *data, int64_t count,
                       struct value *out) {
  const size_t bytes = (size_t)(count ? count : 1) * dtype_bits(dtype) / 8;
  const struct tensor tensor = {
      .dtype = dtype, .shape = {count > 0, {count}}, .data = data, .bytes = bytes};
  *out = (struct value){0};
  TRY(export_fresh_name(w->e, &out->name));
  return export_tensor(w->e, w->graph, GRAPH_INITIALIZER, out->name, &tensor);
}

static hone_status put_ints(struct writer *w, const int64_t *ints, int64_t count,
                            struct value *out) {
  return put(w, HONE_I64, ints, count, out);
}

static hone_status step(struct writer *w, enum op_id id, struct value *a, struct value *b,
                        struct value *c, const struct attribute *attribute, struct value *out) {
  struct value *inputs[] = {a, b, c}, *outputs[] = {out};
  struct attribute attributes[1];
  struct node node = {.op = &op_table[id],
                      .name = "",
                      .index = w->node->index,
                      .written_as = w->node->written_as,
                      .input_count = c   ? 3
                                     : b ? 2
                                         : 1,
                      .output_count = 1,
                      .attribute_count = attribute ? 1 : 0,
                      .inputs = inputs,
                      .outputs = outputs,
                      .attributes = attributes};
  if (attribute) attributes[0] = *attribute;
  if (!out->name) TRY(export_fresh_name(w->e, &out->name));
  return export_node(w->e, w->graph, &node, "");
}

/* Indices of the selected boxes, [at most limit]. SuppressBoxes removes a box whose overlap equals
 * the threshold, ONNX only one above it, so the next smaller number is the threshold. At 0 every
 * box but the first is removed. */
static hone_status put_numbers(struct writer *w, int64_t limit, struct value *out) {
  const struct node *node = w->node;
  const float overlap = (float)tensor_f64(node->inputs[OVERLAP]->constant, 0);
  const float below = overlap > 0 ? nextafterf(overlap, -1) : 0;
  const int64_t n = node->inputs[SCORES]->shape.dims[0], most = overlap > 0 || !limit ? limit : 1;
  const int64_t box_dims[] = {1, n, 4}, score_dims[] = {1, 1, n}, column = 2;
  struct value dims, boxes = {0}, scores = {0}, count, share, rows = {0}, two;
  struct value *inputs[MOST_INPUTS] = {&boxes, &scores, &count, &share, node->inputs[LEAST]};
  struct value *outputs[] = {&rows};
  struct node nms = {.op = &op_table[OP_NonMaxSuppression],
                     .index = node->index,
                     .written_as = node->written_as,
                     .input_count = MOST_INPUTS,
                     .output_count = 1,
                     .inputs = inputs,
                     .outputs = outputs};
  const struct attribute axis = {.name = "axis", .kind = ATTRIBUTE_INT, .i = 1};
  TRY(put_ints(w, box_dims, 3, &dims));
  TRY(step(w, OP_Reshape, node->inputs[BOXES], &dims, NULL, NULL, &boxes));
  TRY(put_ints(w, score_dims, 3, &dims));
  TRY(step(w, OP_Reshape, node->inputs[SCORES], &dims, NULL, NULL, &scores));
  TRY(put_ints(w, &most, 1, &count));
  TRY(put(w, HONE_F32, &below, 1, &share));
  TRY(export_fresh_name(w->e, &rows.name));
  TRY(export_node(w->e, w->graph, &nms, w->name));
  TRY(put_ints(w, &column, 0, &two));
  return step(w, OP_Gather, &rows, &two, NULL, &axis, out);
}

/* The first `limit` entries of `list` followed by `limit` entries of -1. */
static hone_status put_filled(struct writer *w, int64_t limit, struct value *list,
                              struct value *out) {
  const int64_t zero = 0;
  const struct attribute axis = {.name = "axis", .kind = ATTRIBUTE_INT, .i = 0};
  struct value none, begin, end, longer = {0};
  int64_t *numbers;
  TRY(NEW_ARRAY(w->e->ctx, w->e->arena, numbers, (size_t)limit));
  for (int64_t i = 0; i < limit; i++) numbers[i] = -1;
  TRY(put_ints(w, numbers, limit, &none));
  TRY(step(w, OP_Concat, list, &none, NULL, &axis, &longer));
  TRY(put_ints(w, &zero, 1, &begin));
  TRY(put_ints(w, &limit, 1, &end));
  return step(w, OP_Slice, &longer, &begin, &end, NULL, out);
}

static hone_status put_cast(struct writer *w, struct value *x, struct value *out) {
  const struct attribute to = {.name = "to", .kind = ATTRIBUTE_INT, .i = HONE_I32};
  return step(w, OP_Cast, x, NULL, NULL, &to, out);
}

static struct value *wanted(const struct node *node, size_t k) {
  return k < node->output_count ? node->outputs[k] : NULL;
}

hone_status export_suppress_boxes(struct exporter *e, struct message *graph,
                                  const struct node *node, const char *name) {
  struct writer w = {e, graph, node, name};
  const int64_t limit = node_int(node, "limit", 0), zero = 0;
  const float none = 0;
  const struct attribute keep = {.name = "keepdims", .kind = ATTRIBUTE_INT, .i = 0};
  struct value numbers = {0}, filled = {0}, least, missing = {0}, chosen = {0};
  const struct tensor *sigma = node->inputs[SIGMA]->constant;
  if (!node->inputs[OVERLAP]->constant || !sigma || tensor_f64(sigma, 0) > 0 || limit < 1)
    return fail(
        e->ctx, HONE_E_UNSUP, node_place(node),
        "SuppressBoxes with a sigma, without boxes or with computed limits has no ONNX form");
  TRY(put_numbers(&w, limit, &numbers));
  TRY(put_filled(&w, limit, &numbers, &filled));
  TRY(put_ints(&w, &zero, 0, &least));
  TRY(step(&w, OP_Less, &filled, &least, NULL, NULL, &missing));
  TRY(step(&w, OP_Max, &filled, &least, NULL, NULL, &chosen));
  if (wanted(node, 0)) TRY(put_cast(&w, &chosen, node->outputs[0]));
  if (wanted(node, 1)) {
    struct value scores = {0}, nothing;
    TRY(put(&w, HONE_F32, &none, 0, &nothing));
    TRY(step(&w, OP_Gather, node->inputs[SCORES], &chosen, NULL, NULL, &scores));
    TRY(step(&w, OP_Where, &missing, &nothing, &scores, NULL, node->outputs[1]));
  }
  if (wanted(node, 2)) {
    struct value is_there = {0}, ones = {0}, axis;
    TRY(step(&w, OP_Not, &missing, NULL, NULL, NULL, &is_there));
    TRY(put_cast(&w, &is_there, &ones));
    TRY(put_ints(&w, &zero, 1, &axis));
    TRY(step(&w, OP_ReduceSum, &ones, &axis, NULL, &keep, node->outputs[2]));
  }
  return HONE_OK;
}
