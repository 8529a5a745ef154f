/* Ops that move elements by strides: Transpose, Concat, Split, Slice, Expand, Tile,
 * DepthToSpace, SpaceToDepth. Each evaluation describes its move as a view and copies it; no
 * element is computed. */
#include "view.h"

/* -- Transpose */

static hone_status read_permutation(struct ctx *ctx, const struct node *node, int rank,
                                    int perm[HONE_MAX_RANK]) {
  size_t count;
  const int64_t *given = node_ints(node, "perm", &count);
  if (!given) {
    for (int k = 0; k < rank; k++) perm[k] = rank - 1 - k;
    return HONE_OK;
  }
  if (count != (size_t)rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "perm has %zu entries for rank %d", count,
                rank);
  bool seen[HONE_MAX_RANK] = {false};
  for (int k = 0; k < rank; k++) {
    if (given[k] < 0 || given[k] >= rank)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "perm names axis %lld of rank %d",
                  (long long)given[k], rank);
    perm[k] = (int)given[k];
    if (seen[perm[k]]) return fail(ctx, HONE_E_SHAPE, node_place(node), "perm repeats %d", perm[k]);
    seen[perm[k]] = true;
  }
  return HONE_OK;
}

hone_status infer_transpose(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *from = &node->inputs[0]->shape;
  int perm[HONE_MAX_RANK];
  TRY(read_permutation(ctx, node, from->rank, perm));
  struct shape to = {from->rank, {0}};
  for (int k = 0; k < to.rank; k++) to.dims[k] = from->dims[perm[k]];
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status eval_transpose(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size;
  int perm[HONE_MAX_RANK];
  int64_t from[HONE_MAX_RANK], to[HONE_MAX_RANK];
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(read_permutation(ctx, node, in[0]->shape.rank, perm));
  shape_strides(&in[0]->shape, from);
  shape_strides(&out[0]->shape, to);
  struct view view = {0};
  for (int k = 0; k < out[0]->shape.rank; k++)
    view_add(&view, out[0]->shape.dims[k], from[perm[k]], to[k]);
  view_copy(&view, tensor_data(out[0]), in[0]->data, size);
  return HONE_OK;
}

/* -- Concat and Split: blocks of [outer][axis][inner] */

hone_status infer_concat(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape to = node->inputs[0]->shape;
  if (!node_attribute(node, "axis"))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "attribute axis is missing");
  int axis;
  TRY(axis_attribute(ctx, node, "axis", 0, to.rank, &axis));
  for (size_t k = 1; k < node->input_count; k++) {
    if (!node->inputs[k])
      return fail(ctx, HONE_E_FORMAT, node_place(node), "input %zu is missing", k);
    const struct shape *from = &node->inputs[k]->shape;
    if (node->inputs[k]->dtype != node->inputs[0]->dtype)
      return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s, the first is %s", k,
                  dtype_name(node->inputs[k]->dtype), dtype_name(node->inputs[0]->dtype));
    if (from->rank != to.rank)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu has rank %d, the first %d", k,
                  from->rank, to.rank);
    for (int d = 0; d < to.rank; d++)
      if (d != axis && from->dims[d] != to.dims[d])
        return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu has %lld at axis %d, not %lld",
                    k, (long long)from->dims[d], d, (long long)to.dims[d]);
    if (!checked_add(to.dims[axis], from->dims[axis], &to.dims[axis]))
      return fail(ctx, HONE_E_LIMIT, node_place(node), "axis %d grows too large", axis);
  }
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

/* Copies `part` from or to `whole` at `offset` on the axis. */
static void copy_block(const struct tensor *whole, const struct tensor *part, int axis,
                       int64_t offset, size_t size, bool part_is_result) {
  int64_t outer = dims_product(&whole->shape, 0, axis);
  int64_t inner = dims_product(&whole->shape, axis + 1, whole->shape.rank);
  int64_t whole_row = whole->shape.dims[axis] * inner, part_row = part->shape.dims[axis] * inner;
  char *whole_at = (char *)tensor_data(whole) + (size_t)(offset * inner) * size;
  char *part_at = tensor_data(part);
  if (part_row == 0) return;
  for (int64_t o = 0; o < outer; o++) {
    char *w = whole_at + (size_t)(o * whole_row) * size;
    char *p = part_at + (size_t)(o * part_row) * size;
    memcpy(part_is_result ? p : w, part_is_result ? w : p, (size_t)part_row * size);
  }
}

hone_status eval_concat(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size;
  int axis;
  int64_t offset = 0;
  TRY(movable_bytes(ctx, node, out[0]->dtype, &size));
  TRY(axis_attribute(ctx, node, "axis", 0, out[0]->shape.rank, &axis));
  for (size_t k = 0; k < node->input_count; k++) {
    copy_block(out[0], in[k], axis, offset, size, false);
    offset += in[k]->shape.dims[axis];
  }
  return HONE_OK;
}

/* Sizes of the parts: input 1, else equal parts, the last of which may be smaller. */
static hone_status split_part(struct ctx *ctx, const struct node *node, int64_t dim,
                              const int64_t *given, size_t k, int64_t *out) {
  if (given) {
    *out = given[k];
    return HONE_OK;
  }
  int64_t parts = node_int(node, "num_outputs", (int64_t)node->output_count);
  if (parts != (int64_t)node->output_count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "num_outputs is %lld, the node has %zu",
                (long long)parts, node->output_count);
  int64_t chunk = dim / parts + (dim % parts != 0), begin;
  if (!checked_mul(chunk, (int64_t)k, &begin) || begin > dim)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%lld elements do not make %lld parts",
                (long long)dim, (long long)parts);
  *out = dim - begin < chunk ? dim - begin : chunk;
  return HONE_OK;
}

hone_status infer_split(struct ctx *ctx, struct graph *graph, struct node *node) {
  struct shape to = node->inputs[0]->shape;
  int axis;
  TRY(axis_attribute(ctx, node, "axis", 0, to.rank, &axis));
  int64_t dim = to.dims[axis], sum = 0, *sizes = NULL;
  if (node_input(node, 1)) {
    size_t count;
    TRY(NEW_ARRAY(ctx, graph->arena, sizes, node->output_count));
    TRY(want_ints(ctx, node, 1, "split", node->output_count, sizes, &count));
    if (count != node->output_count)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "split has %zu sizes for %zu outputs", count,
                  node->output_count);
  }
  for (size_t k = 0; k < node->output_count; k++) {
    int64_t part;
    TRY(split_part(ctx, node, dim, sizes, k, &part));
    if (part < 0 || part > dim || !checked_add(sum, part, &sum))
      return fail(ctx, HONE_E_SHAPE, node_place(node), "part %zu has %lld of %lld elements", k,
                  (long long)part, (long long)dim);
    to.dims[axis] = part;
    TRY(set_output(ctx, node, k, node->inputs[0]->dtype, &to));
  }
  if (sum != dim)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "parts sum to %lld, axis %d has %lld",
                (long long)sum, axis, (long long)dim);
  return HONE_OK;
}

hone_status eval_split(struct ctx *ctx, struct arena *scratch, const struct node *node,
                       const struct tensor *const *in, struct tensor *const *out) {
  size_t size;
  int axis;
  int64_t dim, offset = 0, *sizes = NULL;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(axis_attribute(ctx, node, "axis", 0, in[0]->shape.rank, &axis));
  dim = in[0]->shape.dims[axis];
  if (node_input(node, 1)) {
    size_t count;
    TRY(NEW_ARRAY(ctx, scratch, sizes, node->output_count));
    TRY(tensor_ints(ctx, node, 1, in[1], node->output_count, sizes, &count));
    if (count != node->output_count)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "split has %zu sizes", count);
  }
  for (size_t k = 0; k < node->output_count; k++) {
    int64_t part;
    TRY(split_part(ctx, node, dim, sizes, k, &part));
    if (part < 0 || part > dim - offset || (out[k] && out[k]->shape.dims[axis] != part))
      return fail(ctx, HONE_E_SHAPE, node_place(node), "part %zu has a different size at run time",
                  k);
    if (out[k]) copy_block(in[0], out[k], axis, offset, size, true);
    offset += part;
  }
  return HONE_OK;
}

/* -- Slice */

struct slice {
  struct shape to;
  int64_t starts[HONE_MAX_RANK], steps[HONE_MAX_RANK];
};

/* One axis by ONNX rules: negative counts from the end, then clamped. Sets start, step, count. */
static void slice_axis(int64_t dim, int64_t start, int64_t end, int64_t step, int axis,
                       struct slice *out) {
  if (step < -INT64_MAX) step = -INT64_MAX;
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  int64_t first = start < 0 ? 0 : start > high ? high : start;
  int64_t last = end < low ? low : end > high ? high : end;
  int64_t count = 0;
  if (step > 0 && first < last) count = (last - first - 1) / step + 1;
  if (step < 0 && first > last) count = (first - last - 1) / -step + 1;
  out->starts[axis] = count ? first : 0;
  out->steps[axis] = step;
  out->to.dims[axis] = count;
}

static hone_status resolve_slice(struct ctx *ctx, const struct node *node, const struct shape *from,
                                 const struct tensor *const *in, struct slice *out) {
  int64_t starts[HONE_MAX_RANK], ends[HONE_MAX_RANK], axes[HONE_MAX_RANK], steps[HONE_MAX_RANK];
  size_t count, end_count, axis_count, step_count;
  bool seen[HONE_MAX_RANK] = {false};
  TRY(tensor_ints(ctx, node, 1, in[1], HONE_MAX_RANK, starts, &count));
  TRY(tensor_ints(ctx, node, 2, in[2], HONE_MAX_RANK, ends, &end_count));
  for (size_t k = 0; k < HONE_MAX_RANK; k++) axes[k] = (int64_t)k, steps[k] = 1;
  axis_count = step_count = count;
  if (node_input(node, 3)) TRY(tensor_ints(ctx, node, 3, in[3], HONE_MAX_RANK, axes, &axis_count));
  if (node_input(node, 4)) TRY(tensor_ints(ctx, node, 4, in[4], HONE_MAX_RANK, steps, &step_count));
  if (end_count != count || axis_count != count || step_count != count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%zu starts, %zu ends, %zu axes, %zu steps",
                count, end_count, axis_count, step_count);
  out->to = *from;
  for (int k = 0; k < from->rank; k++) out->starts[k] = 0, out->steps[k] = 1;
  for (size_t k = 0; k < count; k++) {
    int axis;
    TRY(axis_normalise(ctx, node, "axis", axes[k], from->rank, &axis));
    if (seen[axis]) return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %d twice", axis);
    seen[axis] = true;
    if (steps[k] == 0)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "step of axis %d is 0", axis);
    slice_axis(from->dims[axis], starts[k], ends[k], steps[k], axis, out);
  }
  return HONE_OK;
}

hone_status infer_slice(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct tensor *in[CONSTANTS_MAX];
  struct slice slice;
  node_constants(node, in);
  TRY(resolve_slice(ctx, node, &node->inputs[0]->shape, in, &slice));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &slice.to);
}

hone_status eval_slice(struct ctx *ctx, struct arena *scratch, const struct node *node,
                       const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size;
  struct slice slice;
  int64_t from[HONE_MAX_RANK], to[HONE_MAX_RANK], offset = 0;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(resolve_slice(ctx, node, &in[0]->shape, in, &slice));
  if (!shape_equal(&slice.to, &out[0]->shape))
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the size of the slice at run time differs from the output's shape");
  shape_strides(&in[0]->shape, from);
  shape_strides(&out[0]->shape, to);
  struct view view = {0};
  for (int k = 0; k < slice.to.rank; k++) {
    int64_t dim = slice.to.dims[k];
    offset += slice.starts[k] * from[k];
    view_add(&view, dim, dim > 1 ? slice.steps[k] * from[k] : 0, to[k]);
  }
  view_copy(&view, tensor_data(out[0]), (const char *)in[0]->data + offset * (int64_t)size, size);
  return HONE_OK;
}

/* -- Expand and Tile */

hone_status infer_expand(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape wanted = {0, {0}}, to;
  size_t rank;
  TRY(want_ints(ctx, node, 1, "shape", HONE_MAX_RANK, wanted.dims, &rank));
  wanted.rank = (int)rank;
  for (int k = 0; k < wanted.rank; k++)
    if (wanted.dims[k] < 0)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "shape holds %lld",
                  (long long)wanted.dims[k]);
  if (!shape_broadcast(&node->inputs[0]->shape, &wanted, &to))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "input does not broadcast to the shape");
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status eval_expand(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size;
  int64_t from[HONE_MAX_RANK], to[HONE_MAX_RANK];
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  shape_strides(&in[0]->shape, from);
  shape_strides(&out[0]->shape, to);
  struct view view = {0};
  int lead = out[0]->shape.rank - in[0]->shape.rank;
  for (int k = 0; k < out[0]->shape.rank; k++) {
    bool moves = k >= lead && in[0]->shape.dims[k - lead] != 1;
    view_add(&view, out[0]->shape.dims[k], moves ? from[k - lead] : 0, to[k]);
  }
  view_copy(&view, tensor_data(out[0]), in[0]->data, size);
  return HONE_OK;
}

hone_status infer_tile(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape to = node->inputs[0]->shape;
  int64_t repeats[HONE_MAX_RANK];
  size_t count;
  TRY(want_ints(ctx, node, 1, "repeats", HONE_MAX_RANK, repeats, &count));
  if (count != (size_t)to.rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%zu repeats for rank %d", count, to.rank);
  for (int k = 0; k < to.rank; k++) {
    if (repeats[k] < 0)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "repeats holds %lld", (long long)repeats[k]);
    if (!checked_mul(to.dims[k], repeats[k], &to.dims[k]))
      return fail(ctx, HONE_E_LIMIT, node_place(node), "axis %d grows too large", k);
  }
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status eval_tile(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size;
  int64_t from[HONE_MAX_RANK], to[HONE_MAX_RANK];
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  shape_strides(&in[0]->shape, from);
  shape_strides(&out[0]->shape, to);
  struct view view = {0};
  for (int k = 0; k < out[0]->shape.rank; k++) {
    int64_t dim = in[0]->shape.dims[k], repeats = dim ? out[0]->shape.dims[k] / dim : 0;
    view_add(&view, repeats, 0, dim * to[k]);
    view_add(&view, dim, from[k], to[k]);
  }
  view_copy(&view, tensor_data(out[0]), in[0]->data, size);
  return HONE_OK;
}

/* -- DepthToSpace and SpaceToDepth */

static hone_status read_block(struct ctx *ctx, const struct node *node, int64_t *out) {
  const struct shape *from = &node->inputs[0]->shape;
  *out = node_int(node, "blocksize", 0);
  if (from->rank != 4)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "input has rank %d, not 4", from->rank);
  if (*out < 1 || *out > INT32_MAX)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "blocksize is %lld", (long long)*out);
  return HONE_OK;
}

hone_status infer_depth_to_space(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape to = node->inputs[0]->shape;
  int64_t block;
  TRY(read_block(ctx, node, &block));
  if (to.dims[1] % (block * block))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%lld channels do not split into %lld squared",
                (long long)to.dims[1], (long long)block);
  to.dims[1] /= block * block;
  if (!checked_mul(to.dims[2], block, &to.dims[2]) || !checked_mul(to.dims[3], block, &to.dims[3]))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "the image grows too large");
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status infer_space_to_depth(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape to = node->inputs[0]->shape;
  int64_t block;
  TRY(read_block(ctx, node, &block));
  if (to.dims[2] % block || to.dims[3] % block)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "image %lldx%lld is not a multiple of %lld",
                (long long)to.dims[2], (long long)to.dims[3], (long long)block);
  to.dims[2] /= block;
  to.dims[3] /= block;
  if (!checked_mul(to.dims[1], block * block, &to.dims[1]))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "too many channels");
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

/* Both ops pair a deep tensor [n, depth, h, w] with a wide one [n, c, h*block, w*block]. */
static hone_status move_blocks(struct ctx *ctx, const struct node *node, const struct tensor *in,
                               const struct tensor *out, bool to_space) {
  size_t size;
  int64_t block = node_int(node, "blocksize", 1);
  const struct tensor *deep = to_space ? in : out, *wide = to_space ? out : in;
  bool is_crd = strcmp(node_string(node, "mode", "DCR"), "CRD") == 0;
  TRY(movable_bytes(ctx, node, in->dtype, &size));
  int64_t d[HONE_MAX_RANK], w[HONE_MAX_RANK], channels = wide->shape.dims[1];
  shape_strides(&deep->shape, d);
  shape_strides(&wide->shape, w);
  const int64_t dims[6] = {deep->shape.dims[0], channels, deep->shape.dims[2], block,
                           deep->shape.dims[3], block};
  const int64_t wide_strides[6] = {w[0], w[1], w[2] * block, w[2], w[3] * block, w[3]};
  const int64_t deep_strides[6] = {d[0], d[1] * (is_crd ? block * block : 1),
                                   d[2], d[1] * (is_crd ? block : block * channels),
                                   d[3], d[1] * (is_crd ? 1 : channels)};
  struct view view = {0};
  for (int k = 0; k < 6; k++)
    view_add(&view, dims[k], to_space ? deep_strides[k] : wide_strides[k],
             to_space ? wide_strides[k] : deep_strides[k]);
  view_copy(&view, tensor_data(out), in->data, size);
  return HONE_OK;
}

hone_status eval_depth_to_space(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return move_blocks(ctx, node, in[0], out[0], true);
}

hone_status eval_space_to_depth(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return move_blocks(ctx, node, in[0], out[0], false);
}
