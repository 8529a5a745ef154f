/* Ops that give the same elements another shape: Identity, Reshape, Flatten, Squeeze, Unsqueeze.
 * In: nodes with known input shapes. Out: shapes by ONNX rules; evaluation is one copy. */
#include "view.h"

hone_status infer_identity(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return set_output_like(ctx, node, 0, 0);
}

/* Reinterprets the bits as another type of the same width. */
hone_status infer_bit_cast(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  int64_t to = node_int(node, "to", 0);
  hone_dtype from = node->inputs[0]->dtype;
  if (!dtype_bits(from) || dtype_bits(dtype_of_number(to)) != dtype_bits(from))
    return fail(ctx, HONE_E_TYPE, node_place(node), "the bits of %s as type %lld", dtype_name(from),
                (long long)to);
  return set_output(ctx, node, 0, (hone_dtype)to, &node->inputs[0]->shape);
}

/* dims[] as Reshape means them: 0 copies the input's dim (unless allowzero), one -1 takes the rest.
 */
static hone_status resolve_reshape(struct ctx *ctx, const struct node *node,
                                   const struct shape *from, struct shape *to) {
  bool keeps_zero = node_int(node, "allowzero", 0) != 0;
  int open = -1;
  int64_t total, known = 1;
  bool has_zero = false;
  for (int k = 0; k < to->rank; k++) {
    int64_t *dim = &to->dims[k];
    if (*dim == 0 && !keeps_zero) {
      if (k >= from->rank)
        return fail(ctx, HONE_E_SHAPE, node_place(node), "0 at %d copies a dimension of a rank %d",
                    k, from->rank);
      *dim = from->dims[k];
    } else if (*dim == -1) {
      if (open >= 0) return fail(ctx, HONE_E_SHAPE, node_place(node), "shape has -1 twice");
      open = k;
      continue;
    } else if (*dim < 0) {
      return fail(ctx, HONE_E_SHAPE, node_place(node), "shape holds %lld", (long long)*dim);
    }
    if (*dim == 0) has_zero = true;
    if (!has_zero && !checked_mul(known, *dim, &known))
      return fail(ctx, HONE_E_LIMIT, node_place(node), "shape has too many elements");
  }
  if (has_zero) known = 0;
  if (!shape_count(from, &total))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "input has too many elements");
  if (open >= 0) {
    if (known == 0 || total % known)
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "%lld elements cannot be divided among the other dimensions of %lld",
                  (long long)total, (long long)known);
    to->dims[open] = total / known;
  } else if (known != total) {
    return fail(ctx, HONE_E_SHAPE, node_place(node), "shape has %lld elements, input has %lld",
                (long long)known, (long long)total);
  }
  return HONE_OK;
}

hone_status infer_reshape(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape = {0, {0}};
  size_t rank;
  TRY(want_ints(ctx, node, 1, "shape", HONE_MAX_RANK, shape.dims, &rank));
  shape.rank = (int)rank;
  TRY(resolve_reshape(ctx, node, &node->inputs[0]->shape, &shape));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &shape);
}

hone_status infer_flatten(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *from = &node->inputs[0]->shape;
  int64_t axis = node_int(node, "axis", 1);
  if (axis < -from->rank || axis > from->rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %lld is outside [%d, %d]",
                (long long)axis, -from->rank, from->rank);
  int split = (int)(axis < 0 ? axis + from->rank : axis);
  struct shape to = {2, {1, 1}};
  for (int k = 0; k < from->rank; k++)
    if (!checked_mul(to.dims[k >= split], from->dims[k], &to.dims[k >= split]))
      return fail(ctx, HONE_E_LIMIT, node_place(node), "the result has too many elements");
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

/* Marks the axes of input 1 in marks[rank]; E_SHAPE if one is out of range or given twice. */
static hone_status mark_axes(struct ctx *ctx, const struct node *node, int rank,
                             bool marks[HONE_MAX_RANK]) {
  int64_t axes[HONE_MAX_RANK];
  size_t count;
  TRY(want_ints(ctx, node, 1, "axes", HONE_MAX_RANK, axes, &count));
  for (size_t k = 0; k < count; k++) {
    int axis;
    TRY(axis_normalise(ctx, node, "axis", axes[k], rank, &axis));
    if (marks[axis]) return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %d twice", axis);
    marks[axis] = true;
  }
  return HONE_OK;
}

hone_status infer_squeeze(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *from = &node->inputs[0]->shape;
  bool marks[HONE_MAX_RANK] = {false};
  if (node_input(node, 1)) {
    TRY(mark_axes(ctx, node, from->rank, marks));
  } else {
    for (int k = 0; k < from->rank; k++) marks[k] = from->dims[k] == 1;
  }
  struct shape to = {0, {0}};
  for (int k = 0; k < from->rank; k++) {
    if (!marks[k])
      to.dims[to.rank++] = from->dims[k];
    else if (from->dims[k] != 1)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "squeezed axis %d has %lld elements", k,
                  (long long)from->dims[k]);
  }
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status infer_unsqueeze(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *from = &node->inputs[0]->shape;
  int64_t axes[HONE_MAX_RANK];
  size_t count;
  TRY(want_ints(ctx, node, 1, "axes", HONE_MAX_RANK, axes, &count));
  struct shape to = {from->rank + (int)count, {0}};
  if (to.rank > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node), "result has %d dimensions, at most %d",
                to.rank, HONE_MAX_RANK);
  bool marks[HONE_MAX_RANK] = {false};
  TRY(mark_axes(ctx, node, to.rank, marks));
  for (int k = 0, i = 0; k < to.rank; k++) to.dims[k] = marks[k] ? 1 : from->dims[i++];
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status eval_copy(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  if (!out[0]) return HONE_OK;
  if (in[0]->bytes != out[0]->bytes)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%zu bytes do not fill %zu", in[0]->bytes,
                out[0]->bytes);
  if (in[0]->bytes) memcpy(tensor_data(out[0]), in[0]->data, in[0]->bytes);
  return HONE_OK;
}
