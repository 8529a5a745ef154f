/* Ops that read at data-dependent addresses: Gather, GatherElements, GatherND,
 * ArrayFeatureExtractor. Every index is checked against its dimension: at inference if it is
 * constant, else at use. Negative indices count from the end. */
#include "view.h"

/* E_SHAPE if a constant index is outside [-dim, dim). */
static hone_status check_indices(struct ctx *ctx, const struct node *node,
                                 const struct value *indices, int64_t dim) {
  if (!indices->constant) return HONE_OK;
  size_t count = tensor_count(indices->constant);
  for (size_t i = 0; i < count; i++) {
    int64_t at;
    TRY(node_index(ctx, node, tensor_i64(indices->constant, i), dim, &at));
  }
  return HONE_OK;
}

static hone_status check_index_type(struct ctx *ctx, const struct node *node,
                                    const struct value *indices) {
  if (indices->dtype != HONE_I64 && indices->dtype != HONE_I32)
    return fail(ctx, HONE_E_TYPE, node_place(node), "indices are %s, not i32 or i64",
                dtype_name(indices->dtype));
  return HONE_OK;
}

/* -- Gather: [outer, axis, inner] by indices to [outer, indices, inner] */

hone_status infer_gather(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *data = node->inputs[0], *indices = node->inputs[1];
  int axis;
  TRY(check_index_type(ctx, node, indices));
  TRY(axis_attribute(ctx, node, "axis", 0, data->shape.rank, &axis));
  TRY(check_indices(ctx, node, indices, data->shape.dims[axis]));
  struct shape to = {data->shape.rank - 1 + indices->shape.rank, {0}};
  if (to.rank > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "result has %d dimensions", to.rank);
  int k = 0;
  for (int d = 0; d < axis; d++) to.dims[k++] = data->shape.dims[d];
  for (int d = 0; d < indices->shape.rank; d++) to.dims[k++] = indices->shape.dims[d];
  for (int d = axis + 1; d < data->shape.rank; d++) to.dims[k++] = data->shape.dims[d];
  return set_output(ctx, node, 0, data->dtype, &to);
}

hone_status eval_gather(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size, count = tensor_count(in[1]);
  int axis;
  const struct shape *shape = &in[0]->shape;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(axis_attribute(ctx, node, "axis", 0, shape->rank, &axis));
  int64_t outer = dims_product(shape, 0, axis), dim = shape->dims[axis];
  size_t inner = (size_t)dims_product(shape, axis + 1, shape->rank) * size;
  if (tensor_count(out[0]) == 0) return HONE_OK;
  char *to = tensor_data(out[0]);
  for (int64_t o = 0; o < outer; o++)
    for (size_t i = 0; i < count; i++, to += inner) {
      int64_t at;
      TRY(node_index(ctx, node, tensor_i64(in[1], i), dim, &at));
      memcpy(to, (const char *)in[0]->data + (size_t)(o * dim + at) * inner, inner);
    }
  return HONE_OK;
}

/* -- GatherElements */

hone_status infer_gather_elements(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *data = node->inputs[0], *indices = node->inputs[1];
  int axis;
  TRY(check_index_type(ctx, node, indices));
  TRY(axis_attribute(ctx, node, "axis", 0, data->shape.rank, &axis));
  if (indices->shape.rank != data->shape.rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "indices have rank %d, data %d",
                indices->shape.rank, data->shape.rank);
  for (int k = 0; k < data->shape.rank; k++)
    if (k != axis && indices->shape.dims[k] > data->shape.dims[k])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "indices exceed the data along axis %d", k);
  TRY(check_indices(ctx, node, indices, data->shape.dims[axis]));
  return set_output(ctx, node, 0, data->dtype, &indices->shape);
}

hone_status eval_gather_elements(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                 const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size, count = tensor_count(out[0]);
  int axis;
  const struct shape *from = &in[0]->shape, *to = &out[0]->shape;
  int64_t strides[HONE_MAX_RANK], at[HONE_MAX_RANK] = {0};
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(axis_attribute(ctx, node, "axis", 0, from->rank, &axis));
  shape_strides(from, strides);
  for (size_t o = 0; o < count; o++) {
    int64_t index, offset = 0;
    TRY(node_index(ctx, node, tensor_i64(in[1], o), from->dims[axis], &index));
    for (int k = 0; k < to->rank; k++) offset += (k == axis ? index : at[k]) * strides[k];
    memcpy((char *)tensor_data(out[0]) + o * size,
           (const char *)in[0]->data + offset * (int64_t)size, size);
    for (int k = to->rank - 1; k >= 0 && ++at[k] == to->dims[k]; k--) at[k] = 0;
  }
  return HONE_OK;
}

/* -- GatherND: the last dimension of indices is an address into data after batch_dims */

hone_status infer_gather_nd(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *data = &node->inputs[0]->shape, *indices = &node->inputs[1]->shape;
  int64_t batch = node_int(node, "batch_dims", 0);
  TRY(check_index_type(ctx, node, node->inputs[1]));
  if (indices->rank < 1 || data->rank < 1 || batch < 0 || batch >= data->rank ||
      batch >= indices->rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "batch_dims %lld for ranks %d and %d",
                (long long)batch, data->rank, indices->rank);
  for (int k = 0; k < batch; k++)
    if (data->dims[k] != indices->dims[k])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "batch axis %d differs", k);
  int64_t length = indices->dims[indices->rank - 1];
  if (length < 1 || length > data->rank - batch)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "addresses have %lld entries for rank %d",
                (long long)length, data->rank);
  struct shape to = {0, {0}};
  int rest = data->rank - (int)(batch + length);
  if (indices->rank - 1 + rest > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "result has too many dimensions");
  for (int k = 0; k < indices->rank - 1; k++) to.dims[to.rank++] = indices->dims[k];
  for (int k = data->rank - rest; k < data->rank; k++) to.dims[to.rank++] = data->dims[k];
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status eval_gather_nd(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *data = &in[0]->shape, *indices = &in[1]->shape;
  int batch = (int)node_int(node, "batch_dims", 0), last = indices->rank - 1;
  int length = (int)indices->dims[last];
  size_t size;
  int64_t strides[HONE_MAX_RANK];
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  if (tensor_count(out[0]) == 0) return HONE_OK;
  shape_strides(data, strides);
  int64_t batches = dims_product(data, 0, batch), block = dims_product(data, batch, data->rank);
  int64_t rows = dims_product(indices, batch, last);
  size_t run = (size_t)dims_product(data, batch + length, data->rank) * size;
  char *to = tensor_data(out[0]);
  for (int64_t b = 0, row = 0; b < batches; b++)
    for (int64_t r = 0; r < rows; r++, row++, to += run) {
      int64_t offset = b * block, at;
      for (int k = 0; k < length; k++) {
        int64_t i = tensor_i64(in[1], (size_t)(row * length + k));
        TRY(node_index(ctx, node, i, data->dims[batch + k], &at));
        offset += at * strides[batch + k];
      }
      memcpy(to, (const char *)in[0]->data + (size_t)offset * size, run);
    }
  return HONE_OK;
}

/* -- ArrayFeatureExtractor: columns of the last axis */

hone_status infer_array_feature_extractor(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *data = node->inputs[0], *indices = node->inputs[1];
  struct shape to = data->shape;
  int64_t count;
  if (to.rank < 1) return fail(ctx, HONE_E_SHAPE, node_place(node), "input is a scalar");
  TRY(check_index_type(ctx, node, indices));
  TRY(check_indices(ctx, node, indices, to.dims[to.rank - 1]));
  if (!shape_count(&indices->shape, &count))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "too many indices");
  if (to.rank == 1) to = (struct shape){2, {1, 0}};
  to.dims[to.rank - 1] = count;
  return set_output(ctx, node, 0, data->dtype, &to);
}

hone_status eval_array_feature_extractor(struct ctx *ctx, struct arena *scratch,
                                         const struct node *node, const struct tensor *const *in,
                                         struct tensor *const *out) {
  (void)scratch;
  const struct shape *shape = &in[0]->shape;
  int64_t columns = shape->dims[shape->rank - 1];
  size_t size, count = tensor_count(in[1]);
  size_t rows = count ? tensor_count(out[0]) / count : 0;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < count; i++) {
      int64_t at;
      TRY(node_index(ctx, node, tensor_i64(in[1], i), columns, &at));
      memcpy((char *)tensor_data(out[0]) + (r * count + i) * size,
             (const char *)in[0]->data + (r * (size_t)columns + (size_t)at) * size, size);
    }
  return HONE_OK;
}

bool is_indexed_at(const struct node *node, int d) {
  const struct value *index = node->inputs[1];
  if (is_op(node, OP_GatherND) || is_op(node, OP_ScatterND)) {
    const int64_t first = node_int(node, "batch_dims", 0);
    return d >= first && d < first + index->shape.dims[index->shape.rank - 1];
  }
  const int64_t axis = node_int(node, "axis", 0);
  return d == (axis < 0 ? axis + node->inputs[0]->shape.rank : axis);
}
