/* index: rules with data-dependent indices: Gather and GatherND, TopK, OneHot; GatherElements and
 * Scatter by their coordinates. Indices may be negative in the graph, but not in the format. */
#include "core/ops/ops_internal.h"
#include "tflite.h"

int32_t lite_inside(struct lite *l, const struct value *places, const int64_t *sizes,
                    size_t count) {
  int32_t x = lite_plain(l, places);
  bool is_positive = places->constant != NULL;
  for (size_t i = 0; is_positive && i < tensor_count(places->constant); i++)
    is_positive = tensor_i64(places->constant, i) >= 0;
  if (is_positive) return x;
  const int32_t all = count == 1 ? lite_number(l, places->dtype, (double)sizes[0])
                                 : lite_cast(l, lite_ints(l, sizes, count), places->dtype);
  const int32_t is_below = lite_binary(l, LITE_LESS, x, lite_number(l, places->dtype, 0));
  return lite_put(l, LITE_SELECT_V2, LITE_INPUTS(is_below, lite_binary(l, LITE_ADD, x, all), x),
                  NULL, 0, places->dtype, &places->shape);
}

static bool axis_of(struct lite *l, const struct node *node, int64_t otherwise, int rank,
                    int *out) {
  if (!l->status) l->status = axis_attribute(l->ctx, node, "axis", otherwise, rank, out);
  return !l->status;
}

void lite_gather(struct lite *l, const struct node *node) {
  const int32_t x = lite_input(l, node, 0);
  int axis;
  if (!node_input(node, 1)) return lite_refuse(l, node, "with an omitted input");
  if (!axis_of(l, node, 0, lite_shape(l, x)->rank, &axis)) return;
  const int64_t size = lite_shape(l, x)->dims[axis];
  const int32_t places = lite_inside(l, node_input(node, 1), &size, 1);
  lite_bind(l, node, 0,
            lite_put(l, LITE_GATHER, LITE_INPUTS(x, places), LITE_OPTIONS({0, FLAT_WORD, axis}),
                     lite_dtype(l, x), &node->outputs[0]->shape),
            false);
}

/* -- coordinates */

/* The coordinates of each element of `places`, indices along `axis`: i32 [count, rank]. */
static int32_t coordinates(struct lite *l, const struct value *places, int64_t size, int axis) {
  const struct shape *shape = &places->shape;
  int32_t columns[HONE_MAX_RANK];
  const size_t rank = (size_t)shape->rank;
  int64_t count = 1, inner = 1;
  for (int d = 0; d < shape->rank; d++) count *= shape->dims[d];
  const struct shape column = {2, {count, 1}}, all = {2, {count, shape->rank}};
  for (int d = shape->rank; d-- > 0; inner *= shape->dims[d]) {
    if (d == axis) {
      const int32_t at = lite_cast(l, lite_inside(l, places, &size, 1), HONE_I32);
      columns[d] = lite_reshape(l, at, &column);
      continue;
    }
    struct tensor *numbers = NULL;
    if (!l->status) l->status = tensor_create(l->ctx, l->arena, HONE_I32, &column, &numbers);
    if (l->status) return 0;
    for (int64_t i = 0; i < count; i++)
      tensor_set_i64(numbers, (size_t)i, i / inner % shape->dims[d]);
    columns[d] = lite_constant(l, numbers);
  }
  return lite_put(l, LITE_CONCATENATION, columns, rank, LITE_OPTIONS({0, FLAT_WORD, 1}), HONE_I32,
                  &all);
}

static int32_t gathered(struct lite *l, int32_t x, int32_t at, const struct shape *shape) {
  return lite_put(l, LITE_GATHER_ND, LITE_INPUTS(x, at), NULL, 0, lite_dtype(l, x), shape);
}

void lite_gather_nd(struct lite *l, const struct node *node) {
  const int32_t x = lite_input(l, node, 0);
  const struct value *at = node_input(node, 1);
  if (!at || node_int(node, "batch_dims", 0)) return lite_refuse(l, node, "with batch_dims");
  const size_t count = (size_t)at->shape.dims[at->shape.rank - 1];
  const int32_t places = lite_inside(l, at, lite_shape(l, x)->dims, count);
  lite_bind(l, node, 0, gathered(l, x, places, &node->outputs[0]->shape), false);
}

void lite_gather_elements(struct lite *l, const struct node *node) {
  const int32_t x = lite_input(l, node, 0);
  const struct value *at = node_input(node, 1);
  int axis;
  if (!at || !axis_of(l, node, 0, at->shape.rank, &axis)) return;
  const int32_t places = coordinates(l, at, lite_shape(l, x)->dims[axis], axis);
  const int32_t y = gathered(l, x, places, &(struct shape){1, {lite_shape(l, places)->dims[0]}});
  lite_bind(l, node, 0, lite_reshape(l, y, &node->outputs[0]->shape), false);
}

/* Sums of the updates at their destinations; elsewhere 0. */
static int32_t scattered(struct lite *l, int32_t at, int32_t updates, const struct shape *shape) {
  const int32_t sizes = lite_ints(l, shape->dims, (size_t)shape->rank);
  return lite_put(l, LITE_SCATTER_ND, LITE_INPUTS(at, updates, sizes), NULL, 0,
                  lite_dtype(l, updates), shape);
}

static int32_t ones_like(struct lite *l, int32_t x) {
  const struct shape *shape = lite_shape(l, x);
  struct tensor *ones = NULL;
  if (!l->status) l->status = tensor_create(l->ctx, l->arena, HONE_F32, shape, &ones);
  if (l->status) return 0;
  for (size_t i = 0; i < tensor_count(ones); i++) tensor_set_f64(ones, i, 1);
  return lite_constant(l, ones);
}

/* SCATTER_ND starts with zeros and adds: x plus its result, or its result where an update was
 * written. */
void lite_scatter(struct lite *l, const struct node *node) {
  const int32_t x = lite_input(l, node, 0);
  int32_t updates = lite_input(l, node, 2), at;
  const struct value *places = node_input(node, 1);
  const struct shape shape = *lite_shape(l, x);
  const char *reduction = node_string(node, "reduction", "none");
  const bool adds = !strcmp(reduction, "add");
  int axis = 0;
  if (!adds && strcmp(reduction, "none")) return lite_refuse(l, node, "with this reduction");
  if (!places) return lite_refuse(l, node, "with an omitted input");
  if (is_op(node, OP_ScatterElements)) {
    if (!axis_of(l, node, 0, shape.rank, &axis)) return;
    at = coordinates(l, places, shape.dims[axis], axis);
    updates = lite_reshape(l, updates, &(struct shape){1, {lite_shape(l, at)->dims[0]}});
  } else {
    const size_t count = (size_t)places->shape.dims[places->shape.rank - 1];
    at = lite_cast(l, lite_inside(l, places, shape.dims, count), HONE_I32);
  }
  int32_t y = scattered(l, at, updates, &shape);
  if (adds) {
    y = lite_binary(l, LITE_ADD, x, y);
  } else {
    const int32_t is_hit =
        lite_binary(l, LITE_GREATER, scattered(l, at, ones_like(l, updates), &shape),
                    lite_number(l, HONE_F32, 0));
    y = lite_put(l, LITE_SELECT_V2, LITE_INPUTS(is_hit, y, x), NULL, 0, lite_dtype(l, x), &shape);
  }
  lite_bind(l, node, 0, y, false);
}

/* -- OneHot and TopK */

void lite_one_hot(struct lite *l, const struct node *node) {
  const struct value *at = node_input(node, 0), *values = node_input(node, 2);
  const struct shape *shape = &node->outputs[0]->shape;
  int axis;
  if (!at || !values || !values->constant || !axis_of(l, node, -1, shape->rank, &axis))
    return lite_refuse(l, node, "with computed values");
  const int64_t depth = shape->dims[axis];
  int32_t places = lite_inside(l, at, &depth, 1);
  if (lite_dtype(l, places) != HONE_I64) places = lite_cast(l, places, HONE_I32);
  const int32_t off = lite_number(l, values->dtype, tensor_f64(values->constant, 0));
  const int32_t on = lite_number(l, values->dtype, tensor_f64(values->constant, 1));
  const int32_t size = lite_number(l, HONE_I32, (double)depth);
  lite_bind(l, node, 0,
            lite_put(l, LITE_ONE_HOT, LITE_INPUTS(places, size, on, off),
                     LITE_OPTIONS({0, FLAT_WORD, axis}), values->dtype, shape),
            false);
}

/* Along the last axis; others are transposed to the end and back. The smallest are the largest of
 * -x. */
void lite_top_k(struct lite *l, const struct node *node) {
  int32_t x = lite_input(l, node, 0), results[2];
  const struct value *some = node->outputs[0] ? node->outputs[0] : node->outputs[1];
  const bool is_largest = node_int(node, "largest", 1) != 0;
  const int last = lite_shape(l, x)->rank - 1;
  int64_t order[HONE_MAX_RANK];
  int axis;
  if (!axis_of(l, node, -1, last + 1, &axis)) return;
  if (!is_largest && !dtype_is_float(lite_dtype(l, x)))
    return lite_refuse(l, node, "of the smallest integers");
  for (int d = 0; d <= last; d++) order[d] = d;
  order[axis] = last;
  order[last] = axis;
  x = lite_transpose(l, x, order);
  if (!is_largest) x = lite_unary(l, LITE_NEG, x);
  struct shape shape = *lite_shape(l, x);
  shape.dims[last] = some->shape.dims[axis];
  results[0] = lite_tensor(l, lite_dtype(l, x), &shape);
  results[1] = lite_tensor(l, HONE_I32, &shape);
  lite_put_into(l, LITE_TOPK_V2, LITE_INPUTS(x, lite_number(l, HONE_I32, (double)shape.dims[last])),
                NULL, 0, results, 2);
  if (!is_largest) results[0] = lite_unary(l, LITE_NEG, results[0]);
  if (node->outputs[0]) lite_bind(l, node, 0, lite_transpose(l, results[0], order), false);
  if (node->output_count > 1 && node->outputs[1])
    lite_bind(l, node, 1, lite_cast(l, lite_transpose(l, results[1], order), HONE_I64), false);
}
