/* Ops that write at data-dependent addresses: ScatterElements (and its old name Scatter),
 * ScatterND, with reductions. The result starts as a copy of data; updates apply in the order of
 * the updates tensor. Integers wrap, floats round after every update. Indices are range-checked. */
#include "view.h"

enum reduction { REDUCE_NONE, REDUCE_ADD, REDUCE_MUL, REDUCE_MAX, REDUCE_MIN };

static hone_status read_reduction(struct ctx *ctx, const struct node *node, hone_dtype dtype,
                                  enum reduction *out) {
  static const char *const names[] = {"none", "add", "mul", "max", "min"};
  const char *reduction = node_string(node, "reduction", "none");
  size_t k = 0;
  while (k < COUNT(names) && strcmp(reduction, names[k])) k++;
  if (k == COUNT(names)) return fail(ctx, HONE_E_UNSUP, node_place(node), "unknown reduction");
  if (k && dtype == HONE_STRING)
    return fail(ctx, HONE_E_TYPE, node_place(node), "strings have no reduction");
  *out = (enum reduction)k;
  return HONE_OK;
}

static double reduce_f64(enum reduction reduction, double a, double b) {
  switch (reduction) {
    case REDUCE_ADD:
      return a + b;
    case REDUCE_MUL:
      return a * b;
    case REDUCE_MAX:
      return a > b || a != a ? a : b;
    case REDUCE_MIN:
      return a < b || a != a ? a : b;
    case REDUCE_NONE:
      break;
  }
  return b;
}

static int64_t reduce_i64(enum reduction reduction, int64_t a, int64_t b, bool is_unsigned) {
  uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  bool greater = is_unsigned ? ua > ub : a > b;
  switch (reduction) {
    case REDUCE_ADD:
      return (int64_t)(ua + ub);
    case REDUCE_MUL:
      return (int64_t)(ua * ub);
    case REDUCE_MAX:
      return greater ? a : b;
    case REDUCE_MIN:
      return greater ? b : a;
    case REDUCE_NONE:
      break;
  }
  return b;
}

/* out[o] = reduction(out[o], updates[i]) for count elements. */
static void update(const struct tensor *out, size_t o, const struct tensor *updates, size_t i,
                   size_t count, size_t size, enum reduction reduction) {
  if (reduction == REDUCE_NONE) {
    memcpy((char *)tensor_data(out) + o * size, (const char *)updates->data + i * size,
           count * size);
    return;
  }
  for (size_t k = 0; k < count; k++) {
    if (dtype_is_float(out->dtype))
      tensor_set_f64(out, o + k,
                     reduce_f64(reduction, tensor_f64(out, o + k), tensor_f64(updates, i + k)));
    else
      tensor_set_i64(out, o + k,
                     reduce_i64(reduction, tensor_i64(out, o + k), tensor_i64(updates, i + k),
                                out->dtype == HONE_U64));
  }
}

static hone_status check_types(struct ctx *ctx, const struct node *node) {
  hone_dtype indices = node->inputs[1]->dtype;
  if (indices != HONE_I64 && indices != HONE_I32)
    return fail(ctx, HONE_E_TYPE, node_place(node), "indices are %s, not i32 or i64",
                dtype_name(indices));
  if (node->inputs[2]->dtype != node->inputs[0]->dtype)
    return fail(ctx, HONE_E_TYPE, node_place(node), "updates are %s, data %s",
                dtype_name(node->inputs[2]->dtype), dtype_name(node->inputs[0]->dtype));
  return HONE_OK;
}

/* hone's own attribute `within`: indices count from the beginning, and updates with a negative one
 * are skipped (*out is -1). */
static hone_status place_along(struct ctx *ctx, const struct node *node, int64_t i, int64_t dim,
                               int64_t *out) {
  *out = -1;
  if (i < 0 && node_int(node, "within", 0)) return HONE_OK;
  return node_index(ctx, node, i, dim, out);
}

/* -- ScatterElements */

hone_status infer_scatter_elements(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *data = &node->inputs[0]->shape, *indices = &node->inputs[1]->shape;
  enum reduction reduction;
  int axis;
  TRY(check_types(ctx, node));
  TRY(read_reduction(ctx, node, node->inputs[0]->dtype, &reduction));
  TRY(axis_attribute(ctx, node, "axis", 0, data->rank, &axis));
  if (indices->rank != data->rank || !shape_equal(indices, &node->inputs[2]->shape))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "indices, updates and data do not fit");
  for (int k = 0; k < data->rank; k++)
    if (k != axis && indices->dims[k] > data->dims[k])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "indices exceed the data along axis %d", k);
  const struct tensor *known = node->inputs[1]->constant;
  for (size_t i = 0; known && i < tensor_count(known); i++) {
    int64_t at;
    TRY(place_along(ctx, node, tensor_i64(known, i), data->dims[axis], &at));
  }
  return set_output(ctx, node, 0, node->inputs[0]->dtype, data);
}

hone_status eval_scatter_elements(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                  const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *data = &in[0]->shape, *indices = &in[1]->shape;
  size_t size, count = tensor_count(in[1]);
  enum reduction reduction;
  int axis;
  int64_t strides[HONE_MAX_RANK], at[HONE_MAX_RANK] = {0};
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(read_reduction(ctx, node, in[0]->dtype, &reduction));
  TRY(axis_attribute(ctx, node, "axis", 0, data->rank, &axis));
  shape_strides(data, strides);
  if (in[0]->bytes) memcpy(tensor_data(out[0]), in[0]->data, in[0]->bytes);
  for (size_t i = 0; i < count; i++) {
    int64_t index, offset = 0;
    TRY(place_along(ctx, node, tensor_i64(in[1], i), data->dims[axis], &index));
    for (int k = 0; k < data->rank; k++) offset += (k == axis ? index : at[k]) * strides[k];
    if (index >= 0) update(out[0], (size_t)offset, in[2], i, 1, size, reduction);
    for (int k = indices->rank - 1; k >= 0 && ++at[k] == indices->dims[k]; k--) at[k] = 0;
  }
  return HONE_OK;
}

/* -- ScatterND */

hone_status infer_scatter_nd(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *data = &node->inputs[0]->shape, *indices = &node->inputs[1]->shape;
  enum reduction reduction;
  TRY(check_types(ctx, node));
  TRY(read_reduction(ctx, node, node->inputs[0]->dtype, &reduction));
  if (indices->rank < 1 || data->rank < 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "data or indices are scalar");
  int64_t length = indices->dims[indices->rank - 1];
  if (length < 0 || length > data->rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "addresses have %lld entries for rank %d",
                (long long)length, data->rank);
  struct shape wanted = {0, {0}};
  if (indices->rank - 1 + data->rank - length > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "updates have too many dimensions");
  for (int k = 0; k < indices->rank - 1; k++) wanted.dims[wanted.rank++] = indices->dims[k];
  for (int k = (int)length; k < data->rank; k++) wanted.dims[wanted.rank++] = data->dims[k];
  if (!shape_equal(&wanted, &node->inputs[2]->shape))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "updates do not fit indices and data");
  const struct tensor *known = node->inputs[1]->constant;
  for (size_t i = 0; known && length && i < tensor_count(known); i++) {
    int64_t at;
    TRY(place_along(ctx, node, tensor_i64(known, i), data->dims[i % (size_t)length], &at));
  }
  return set_output(ctx, node, 0, node->inputs[0]->dtype, data);
}

hone_status eval_scatter_nd(struct ctx *ctx, struct arena *scratch, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *data = &in[0]->shape, *indices = &in[1]->shape;
  int length = (int)indices->dims[indices->rank - 1];
  size_t size, rows = (size_t)dims_product(indices, 0, indices->rank - 1);
  enum reduction reduction;
  int64_t strides[HONE_MAX_RANK];
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(read_reduction(ctx, node, in[0]->dtype, &reduction));
  shape_strides(data, strides);
  size_t run = (size_t)dims_product(data, length, data->rank);
  if (in[0]->bytes) memcpy(tensor_data(out[0]), in[0]->data, in[0]->bytes);
  for (size_t row = 0; row < rows; row++) {
    int64_t offset = 0, at;
    bool is_skipped = false;
    for (int k = 0; k < length; k++) {
      int64_t i = tensor_i64(in[1], row * (size_t)length + (size_t)k);
      TRY(place_along(ctx, node, i, data->dims[k], &at));
      is_skipped |= at < 0;
      offset += at * strides[k];
    }
    if (!is_skipped) update(out[0], (size_t)offset, in[2], row * run, run, size, reduction);
  }
  return HONE_OK;
}
