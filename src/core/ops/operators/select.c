/* Ops that choose elements by their values: OneHot, TopK, Trilu, Compress, NonZero, Unique. The
 * result size of the last three depends on data: it is exact where that is constant, else a bound
 * (extents.c). Ties in TopK and Unique keep the order of the input; NaN counts as the largest number. */
#include <stdlib.h>

#include "view.h"

/* -- ordering */

/* -1, 0, 1. Integers compare as integers, u64 unsigned; NaN is above every number. */
static int compare_elements(const struct tensor *tensor, size_t a, size_t b) {
  if (dtype_is_float(tensor->dtype)) {
    double x = tensor_f64(tensor, a), y = tensor_f64(tensor, b);
    if (x != x || y != y) return (x != x) - (y != y);
    return (x > y) - (x < y);
  }
  int64_t x = tensor_i64(tensor, a), y = tensor_i64(tensor, b);
  if (tensor->dtype == HONE_U64) return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
  return (x > y) - (x < y);
}

struct order {
  const struct tensor *tensor;
  size_t offset, stride;  /* element i is at offset + i * stride */
  size_t run, run_stride; /* elements compared together, in order (1 except for Unique) */
  bool descending;
};

static int compare_places(const void *pa, const void *pb, void *user) {
  const struct order *order = user;
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  (void)order->run_stride;
  for (size_t r = 0; r < order->run; r++) {
    size_t at = order->offset + r * order->run_stride;
    int sign = compare_elements(order->tensor, at + (size_t)a * order->stride,
                                at + (size_t)b * order->stride);
    if (sign) return order->descending ? -sign : sign;
  }
  return (a > b) - (a < b);
}

/* -- TopK */

static hone_status read_k(struct ctx *ctx, const struct node *node, const struct tensor *tensor,
                          int64_t dim, int64_t *out) {
  size_t count;
  TRY(tensor_ints(ctx, node, 1, tensor, 1, out, &count));
  if (count != 1 || *out < 0 || *out > dim)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "k is %lld for %lld elements",
                count == 1 ? (long long)*out : -1, (long long)dim);
  return HONE_OK;
}

hone_status infer_topk(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape to = node->inputs[0]->shape;
  int axis;
  int64_t k;
  if (!dtype_is_float(node->inputs[0]->dtype) && !dtype_is_integer(node->inputs[0]->dtype))
    return fail(ctx, HONE_E_TYPE, node_place(node), "TopK of %s",
                dtype_name(node->inputs[0]->dtype));
  TRY(axis_attribute(ctx, node, "axis", -1, to.rank, &axis));
  TRY(read_k(ctx, node, node->inputs[1]->constant, to.dims[axis], &k));
  to.dims[axis] = k;
  TRY(set_output(ctx, node, 0, node->inputs[0]->dtype, &to));
  return set_output(ctx, node, 1, HONE_I64, &to);
}

/* One line along the axis; the chosen ones are in the input's order unless sorted. */
static int compare_i64(const void *pa, const void *pb) {
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  return (a > b) - (a < b);
}

hone_status eval_topk(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  const struct shape *from = &in[0]->shape;
  const struct tensor *values = out[0], *indices = node->output_count > 1 ? out[1] : NULL;
  size_t size;
  int axis;
  int64_t *places, k;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(axis_attribute(ctx, node, "axis", -1, from->rank, &axis));
  int64_t dim = from->dims[axis];
  TRY(read_k(ctx, node, in[1], dim, &k));
  const struct tensor *known = values ? values : indices;
  if (!known || tensor_count(in[0]) == 0) return HONE_OK;
  if (known->shape.dims[axis] != k)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "k is %lld at run time", (long long)k);
  TRY(NEW_ARRAY(ctx, scratch, places, (size_t)dim));
  int64_t outer = dims_product(from, 0, axis), inner = dims_product(from, axis + 1, from->rank);
  for (int64_t line = 0; line < outer * inner; line++) {
    int64_t o = line / inner, i = line % inner;
    struct order order = {in[0], (size_t)(o * dim * inner + i),    (size_t)inner, 1,
                          0,     node_int(node, "largest", 1) != 0};
    for (int64_t d = 0; d < dim; d++) places[d] = d;
    qsort_r(places, (size_t)dim, sizeof *places, compare_places, &order);
    if (!node_int(node, "sorted", 1)) qsort(places, (size_t)k, sizeof *places, compare_i64);
    for (int64_t d = 0; d < k; d++) {
      size_t to = (size_t)((o * k + d) * inner + i);
      if (values)
        memcpy((char *)tensor_data(values) + to * size,
               (const char *)in[0]->data + (order.offset + (size_t)(places[d] * inner)) * size,
               size);
      if (indices) ((int64_t *)tensor_data(indices))[to] = places[d];
    }
  }
  return HONE_OK;
}

/* -- OneHot */

static hone_status read_depth(struct ctx *ctx, const struct node *node, const struct tensor *tensor,
                              int64_t *out) {
  if (!tensor)
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "depth (input 1) must be a constant: it is known only at run time");
  double depth = tensor_count(tensor) == 1 ? tensor_f64(tensor, 0) : -1;
  if (!(depth >= 0))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "depth is not one number >= 0");
  if (depth > 0x1p53) return fail(ctx, HONE_E_LIMIT, node_place(node), "depth is %g", depth);
  *out = (int64_t)depth;
  return HONE_OK;
}

hone_status infer_one_hot(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *from = &node->inputs[0]->shape;
  struct shape to = {from->rank + 1, {0}};
  int axis;
  int64_t depth = 0, values = 0;
  TRY(axis_attribute(ctx, node, "axis", -1, to.rank, &axis));
  TRY(read_depth(ctx, node, node->inputs[1]->constant, &depth));
  if (to.rank > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "result has %d dimensions", to.rank);
  if (!shape_count(&node->inputs[2]->shape, &values) || values != 2)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "values must be [off, on]");
  for (int k = 0, i = 0; k < to.rank; k++) to.dims[k] = k == axis ? depth : from->dims[i++];
  return set_output(ctx, node, 0, node->inputs[2]->dtype, &to);
}

hone_status eval_one_hot(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *to = &out[0]->shape;
  const char *values = in[2]->data;
  size_t size, count = tensor_count(out[0]), indices = tensor_count(in[0]);
  int axis;
  TRY(movable_bytes(ctx, node, out[0]->dtype, &size));
  TRY(axis_attribute(ctx, node, "axis", -1, to->rank, &axis));
  int64_t depth = to->dims[axis], inner = dims_product(to, axis + 1, to->rank);
  for (size_t i = 0; i < count; i++) memcpy((char *)tensor_data(out[0]) + i * size, values, size);
  for (size_t i = 0; i < indices; i++) {
    double index = tensor_f64(in[0], i);
    if (!(index >= (double)-depth && index < (double)depth)) continue; /* off everywhere */
    int64_t at = (int64_t)index;
    if (at < 0) at += depth;
    if (at >= depth) continue; /* -0.5 truncates to 0 of depth 0 */
    size_t outer = i / (size_t)inner, rest = i % (size_t)inner;
    size_t place = (outer * (size_t)depth + (size_t)at) * (size_t)inner + rest;
    memcpy((char *)tensor_data(out[0]) + place * size, values + size, size);
  }
  return HONE_OK;
}

/* -- Trilu */

hone_status infer_trilu(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_rank_at_least(ctx, node, 0, 2));
  return set_output_like(ctx, node, 0, 0);
}

hone_status eval_trilu(struct ctx *ctx, struct arena *scratch, const struct node *node,
                       const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *shape = &in[0]->shape;
  size_t size, count = tensor_count(in[0]);
  int64_t columns = shape->dims[shape->rank - 1], rows = shape->dims[shape->rank - 2], k = 0;
  bool is_upper = node_int(node, "upper", 1) != 0;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  if (has_input(node, 1)) {
    size_t given;
    TRY(tensor_ints(ctx, node, 1, in[1], 1, &k, &given));
  }
  /* The diagonal as the first column kept (upper) or the last one (lower), without overflow. */
  if (k > columns) k = columns;
  if (k < -rows) k = -rows;
  for (size_t i = 0; i < count; i++) {
    int64_t column = (int64_t)i % columns, row = (int64_t)i / columns % rows;
    bool is_kept = is_upper ? column >= row + k : column <= row + k;
    if (is_kept)
      memcpy((char *)tensor_data(out[0]) + i * size, (const char *)in[0]->data + i * size, size);
  }
  return HONE_OK;
}

/* -- Compress */

static int64_t count_true(const struct tensor *condition, int64_t dim) {
  int64_t count = 0;
  for (size_t i = 0; i < tensor_count(condition) && (int64_t)i < dim; i++)
    count += tensor_i64(condition, i) != 0;
  return count;
}

hone_status infer_compress(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *data = node->inputs[0], *condition = node->inputs[1];
  struct shape to = data->shape;
  int axis = 0;
  if (condition->shape.rank != 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "condition has rank %d, not 1",
                condition->shape.rank);
  if (node_attribute(node, "axis")) {
    TRY(axis_attribute(ctx, node, "axis", 0, to.rank, &axis));
  } else {
    to.rank = 1;
    if (!shape_count(&data->shape, &to.dims[0]))
      return fail(ctx, HONE_E_LIMIT, node_place(node), "too many elements");
  }
  if (condition->shape.dims[0] > to.dims[axis])
    return fail(ctx, HONE_E_SHAPE, node_place(node), "condition is longer than axis %d", axis);
  to.dims[axis] = condition->constant ? count_true(condition->constant, to.dims[axis])
                                      : condition->shape.dims[0];
  return set_output(ctx, node, 0, data->dtype, &to);
}

hone_status eval_compress(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  struct shape from = in[0]->shape;
  size_t size;
  int axis = 0;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  if (node_attribute(node, "axis")) {
    TRY(axis_attribute(ctx, node, "axis", 0, from.rank, &axis));
  } else {
    from = (struct shape){1, {(int64_t)tensor_count(in[0])}};
  }
  int64_t dim = from.dims[axis], outer = dims_product(&from, 0, axis);
  size_t inner = (size_t)dims_product(&from, axis + 1, from.rank) * size;
  if (count_true(in[1], dim) != out[0]->shape.dims[axis])
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the number of true elements at run time differs from the output's shape");
  char *to = tensor_data(out[0]);
  int64_t given = (int64_t)tensor_count(in[1]);
  if (inner == 0) return HONE_OK;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t d = 0; d < dim && d < given; d++) {
      if (!tensor_i64(in[1], (size_t)d)) continue;
      memcpy(to, (const char *)in[0]->data + (size_t)(o * dim + d) * inner, inner);
      to += inner;
    }
  return HONE_OK;
}

/* -- NonZero */

static bool is_non_zero(const struct tensor *tensor, size_t i) {
  return dtype_is_float(tensor->dtype) ? tensor_f64(tensor, i) != 0 : tensor_i64(tensor, i) != 0;
}

hone_status infer_non_zero(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0];
  const struct tensor *known = x->constant;
  struct shape to = {2, {x->shape.rank, 0}};
  if (x->dtype == HONE_STRING)
    return fail(ctx, HONE_E_TYPE, node_place(node), "NonZero of strings");
  if (!known && !shape_count(&x->shape, &to.dims[1]))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "too many elements");
  for (size_t i = 0; known && i < tensor_count(known); i++) to.dims[1] += is_non_zero(known, i);
  return set_output(ctx, node, 0, HONE_I64, &to);
}

hone_status eval_non_zero(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *from = &in[0]->shape;
  int64_t *to = tensor_data(out[0]), found = 0, room = out[0]->shape.dims[1];
  int64_t at[HONE_MAX_RANK] = {0};
  for (size_t i = 0; i < tensor_count(in[0]); i++) {
    if (is_non_zero(in[0], i)) {
      if (found == room) break;
      for (int k = 0; k < from->rank; k++) to[k * room + found] = at[k];
      found++;
    }
    (void)index_next(from->rank, from->dims, at);
  }
  if (found != room)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the number of nonzero elements at run time differs from the output's shape");
  return HONE_OK;
}

/* -- Unique: slices along the axis, or all elements */

struct unique {
  struct shape view; /* [outer, dim, inner] */
  int64_t count;     /* distinct slices */
  int64_t *first;    /* [count] index of the first occurrence, in result order */
  int64_t *inverse;  /* [dim] result index of each slice */
  int64_t *counts;   /* [count] */
  int axis;          /* -1: flattened */
};

static bool same_slice(const struct tensor *tensor, const struct shape *view, int64_t a,
                       int64_t b) {
  int64_t inner = view->dims[2];
  for (int64_t o = 0; o < view->dims[0]; o++)
    for (int64_t i = 0; i < inner; i++)
      if (compare_elements(tensor, (size_t)((o * view->dims[1] + a) * inner + i),
                           (size_t)((o * view->dims[1] + b) * inner + i)))
        return false;
  return true;
}

/* Sorts slices lexicographically by their elements in row-major order. */
struct slice_order {
  const struct tensor *tensor;
  const struct shape *view;
};
static int compare_slices(const void *pa, const void *pb, void *user) {
  const struct slice_order *order = user;
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb, inner = order->view->dims[2];
  for (int64_t o = 0; o < order->view->dims[0]; o++)
    for (int64_t i = 0; i < inner; i++) {
      int sign =
          compare_elements(order->tensor, (size_t)((o * order->view->dims[1] + a) * inner + i),
                           (size_t)((o * order->view->dims[1] + b) * inner + i));
      if (sign) return sign;
    }
  return (a > b) - (a < b);
}

/* How the input is cut into slices; count: the largest number of them. */
static hone_status view_unique(struct ctx *ctx, const struct node *node, const struct shape *from,
                               struct unique *out) {
  out->axis = -1;
  out->view = (struct shape){3, {1, dims_product(from, 0, from->rank), 1}};
  if (node_attribute(node, "axis")) {
    TRY(axis_attribute(ctx, node, "axis", 0, from->rank, &out->axis));
    out->view.dims[0] = dims_product(from, 0, out->axis);
    out->view.dims[1] = from->dims[out->axis];
    out->view.dims[2] = dims_product(from, out->axis + 1, from->rank);
  }
  out->count = out->view.dims[1];
  return HONE_OK;
}

static hone_status find_unique(struct ctx *ctx, struct arena *arena, const struct node *node,
                               const struct tensor *tensor, struct unique *out) {
  TRY(view_unique(ctx, node, &tensor->shape, out));
  out->count = 0;
  size_t dim = (size_t)out->view.dims[1];
  int64_t *sorted, *rank;
  TRY(NEW_ARRAY(ctx, arena, sorted, dim));
  TRY(NEW_ARRAY(ctx, arena, rank, dim));
  TRY(NEW_ARRAY(ctx, arena, out->first, dim));
  TRY(NEW_ARRAY(ctx, arena, out->inverse, dim));
  TRY(NEW_ARRAY(ctx, arena, out->counts, dim));
  for (size_t i = 0; i < dim; i++) sorted[i] = (int64_t)i;
  struct slice_order order = {tensor, &out->view};
  qsort_r(sorted, dim, sizeof *sorted, compare_slices, &order);
  /* groups in sorted order, each starting with its first occurrence */
  for (size_t i = 0; i < dim; i++) {
    bool is_new = i == 0 || !same_slice(tensor, &out->view, sorted[i - 1], sorted[i]);
    if (is_new) out->first[out->count++] = sorted[i];
    out->inverse[sorted[i]] = out->count - 1;
  }
  if (!node_int(node, "sorted", 1)) { /* renumber by first occurrence */
    int64_t next = 0;
    for (size_t i = 0; i < dim; i++)
      if (out->first[out->inverse[i]] == (int64_t)i) rank[out->inverse[i]] = next++;
    for (size_t i = 0; i < dim; i++) out->inverse[i] = rank[out->inverse[i]];
    for (size_t i = dim; i-- > 0;) out->first[out->inverse[i]] = (int64_t)i;
  }
  for (size_t i = 0; i < dim; i++) out->counts[out->inverse[i]]++;
  return HONE_OK;
}

hone_status infer_unique(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct value *x = node->inputs[0];
  struct unique unique = {0};
  if (x->dtype == HONE_STRING)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "Unique of strings");
  if (x->constant)
    TRY(find_unique(ctx, graph->arena, node, x->constant, &unique));
  else
    TRY(view_unique(ctx, node, &x->shape, &unique));
  struct shape to = x->shape, count = {1, {unique.count}}, dim = {1, {unique.view.dims[1]}};
  if (unique.axis < 0)
    to = count;
  else
    to.dims[unique.axis] = unique.count;
  TRY(set_output(ctx, node, 0, x->dtype, &to));
  TRY(set_output(ctx, node, 1, HONE_I64, &count));
  TRY(set_output(ctx, node, 2, HONE_I64, &dim));
  return set_output(ctx, node, 3, HONE_I64, &count);
}

hone_status eval_unique(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  struct unique unique = {0};
  size_t size;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(find_unique(ctx, scratch, node, in[0], &unique));
  const int64_t *lists[] = {unique.first, unique.inverse, unique.counts};
  for (size_t k = 1; k < node->output_count && k < 4; k++) {
    size_t count = (size_t)(k == 2 ? unique.view.dims[1] : unique.count);
    if (!out[k]) continue;
    if (tensor_count(out[k]) != count)
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "the number of unique elements at run time differs from the output's shape");
    memcpy(tensor_data(out[k]), lists[k - 1], count * sizeof(int64_t));
  }
  if (!out[0]) return HONE_OK;
  int64_t outer = unique.view.dims[0], dim = unique.view.dims[1];
  size_t run = (size_t)unique.view.dims[2] * size;
  if (out[0]->bytes != (size_t)(outer * unique.count) * run)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the number of unique elements at run time differs from the output's shape");
  for (int64_t o = 0; o < outer && run; o++)
    for (int64_t i = 0; i < unique.count; i++)
      memcpy((char *)tensor_data(out[0]) + (size_t)(o * unique.count + i) * run,
             (const char *)in[0]->data + (size_t)(o * dim + unique.first[i]) * run, run);
  return HONE_OK;
}
