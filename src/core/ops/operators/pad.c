/* Pad (constant, reflect, edge, wrap; negative pads crop), PadToBound and ReverseSequence. Pad
 * is evaluated through one table per axis: the source index of each result index, -1 for the
 * constant. */
#include "view.h"

struct pads {
  int64_t before[HONE_MAX_RANK], after[HONE_MAX_RANK];
};

static hone_status resolve_pads(struct ctx *ctx, const struct node *node, int rank,
                                const struct tensor *const *in, struct pads *out) {
  int64_t pads[2 * HONE_MAX_RANK], axes[HONE_MAX_RANK];
  size_t count, axis_count = (size_t)rank;
  bool seen[HONE_MAX_RANK] = {false};
  for (int k = 0; k < rank; k++) axes[k] = k, out->before[k] = out->after[k] = 0;
  TRY(tensor_ints(ctx, node, 1, in[1], 2 * HONE_MAX_RANK, pads, &count));
  if (node_input(node, 3)) TRY(tensor_ints(ctx, node, 3, in[3], HONE_MAX_RANK, axes, &axis_count));
  if (count != 2 * axis_count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%zu pads for %zu axes", count, axis_count);
  for (size_t k = 0; k < axis_count; k++) {
    int axis;
    TRY(axis_normalise(ctx, node, "axis", axes[k], rank, &axis));
    if (seen[axis]) return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %d twice", axis);
    seen[axis] = true;
    out->before[axis] = pads[k];
    out->after[axis] = pads[k + axis_count];
  }
  return HONE_OK;
}

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };
static hone_status read_mode(struct ctx *ctx, const struct node *node, enum pad_mode *out) {
  static const char *const names[] = {"constant", "reflect", "edge", "wrap"};
  const char *mode = node_string(node, "mode", "constant");
  for (size_t k = 0; k < COUNT(names); k++)
    if (strcmp(mode, names[k]) == 0) {
      *out = (enum pad_mode)k;
      return HONE_OK;
    }
  return fail(ctx, HONE_E_UNSUP, node_place(node), "Pad has an unknown mode");
}

bool pad_amounts(const struct node *node, int d, int64_t *before, int64_t *after) {
  const struct value *pads = node_input(node, 1), *axes = node_input(node, 3);
  struct pads all;
  struct ctx ctx; /* a failure means that they are not known */
  ctx_init(&ctx);
  if (!pads || !pads->constant || (axes && !axes->constant)) return false;
  const struct tensor *const in[] = {NULL, pads->constant, NULL, axes ? axes->constant : NULL};
  if (resolve_pads(&ctx, node, node->inputs[0]->shape.rank, in, &all)) return false;
  *before = all.before[d];
  *after = all.after[d];
  return true;
}

hone_status infer_pad(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct tensor *in[CONSTANTS_MAX];
  struct shape to = node->inputs[0]->shape;
  struct pads pads;
  enum pad_mode mode;
  node_constants(node, in);
  TRY(read_mode(ctx, node, &mode));
  TRY(resolve_pads(ctx, node, to.rank, in, &pads));
  for (int k = 0; k < to.rank; k++) {
    int64_t from = to.dims[k];
    if (!checked_add(to.dims[k], pads.before[k], &to.dims[k]) ||
        !checked_add(to.dims[k], pads.after[k], &to.dims[k]))
      return fail(ctx, HONE_E_LIMIT, node_place(node), "axis %d grows too large", k);
    if (to.dims[k] < 0)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %d is cropped to %lld", k,
                  (long long)to.dims[k]);
    if (from == 0 && to.dims[k] > 0 && mode != PAD_CONSTANT)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %d has nothing to repeat", k);
  }
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

static int64_t positive_mod(int64_t i, int64_t period) {
  int64_t m = i % period;
  return m < 0 ? m + period : m;
}

static int64_t pad_source(int64_t i, int64_t dim, enum pad_mode mode) {
  if (i >= 0 && i < dim) return i;
  if (mode == PAD_CONSTANT) return -1;
  if (mode == PAD_EDGE) return i < 0 ? 0 : dim - 1;
  if (mode == PAD_WRAP) return positive_mod(i, dim);
  if (dim == 1) return 0;
  int64_t m = positive_mod(i, 2 * (dim - 1));
  return m < dim ? m : 2 * (dim - 1) - m;
}

/* map[axis][o]: source offset in elements, or -1. */
static hone_status map_axes(struct ctx *ctx, struct arena *scratch, const struct tensor *in,
                            const struct tensor *out, const struct pads *pads, enum pad_mode mode,
                            int64_t *map[HONE_MAX_RANK]) {
  int64_t strides[HONE_MAX_RANK];
  shape_strides(&in->shape, strides);
  for (int k = 0; k < in->shape.rank; k++) {
    int64_t dim = in->shape.dims[k];
    TRY(NEW_ARRAY(ctx, scratch, map[k], (size_t)out->shape.dims[k]));
    for (int64_t o = 0; o < out->shape.dims[k]; o++) {
      int64_t i = dim ? pad_source(o - pads->before[k], dim, mode) : -1;
      map[k][o] = i < 0 ? -1 : i * strides[k];
    }
  }
  return HONE_OK;
}

hone_status eval_pad(struct ctx *ctx, struct arena *scratch, const struct node *node,
                     const struct tensor *const *in, struct tensor *const *out) {
  const struct shape *to = &out[0]->shape;
  size_t size;
  struct pads pads;
  enum pad_mode mode;
  int64_t *map[HONE_MAX_RANK], at[HONE_MAX_RANK] = {0};
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(read_mode(ctx, node, &mode));
  TRY(resolve_pads(ctx, node, in[0]->shape.rank, in, &pads));
  for (int k = 0; k < to->rank; k++)
    if (to->dims[k] != in[0]->shape.dims[k] + pads.before[k] + pads.after[k])
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "the pads at run time differ from the output's shape");
  TRY(map_axes(ctx, scratch, in[0], out[0], &pads, mode, map));
  bool has_fill = node_input(node, 2) && tensor_count(in[2]) == 1;
  const char *from = in[0]->data, *fill = has_fill ? in[2]->data : NULL;
  char *result = tensor_data(out[0]);
  size_t count = tensor_count(out[0]);
  for (size_t o = 0; o < count; o++) {
    int64_t offset = 0;
    for (int k = 0; k < to->rank && offset >= 0; k++)
      offset = map[k][at[k]] < 0 ? -1 : offset + map[k][at[k]];
    if (offset >= 0)
      memcpy(result + o * size, from + offset * (int64_t)size, size);
    else if (fill)
      memcpy(result + o * size, fill, size);
    for (int k = to->rank - 1; k >= 0 && ++at[k] == to->dims[k]; k--) at[k] = 0;
  }
  return HONE_OK;
}

/* -- ReverseSequence */

static hone_status read_sequence_axes(struct ctx *ctx, const struct node *node,
                                      const struct shape *shape, int *batch, int *time) {
  int64_t b = node_int(node, "batch_axis", 1), t = node_int(node, "time_axis", 0);
  if (shape->rank < 2 || b + t != 1 || (b != 0 && b != 1))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "batch_axis and time_axis must be 0 and 1");
  *batch = (int)b;
  *time = (int)t;
  return HONE_OK;
}

hone_status infer_reverse_sequence(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *shape = &node->inputs[0]->shape, *lengths = &node->inputs[1]->shape;
  int batch, time;
  TRY(read_sequence_axes(ctx, node, shape, &batch, &time));
  if (lengths->rank != 1 || lengths->dims[0] != shape->dims[batch])
    return fail(ctx, HONE_E_SHAPE, node_place(node), "sequence_lens must hold one entry a batch");
  return set_output(ctx, node, 0, node->inputs[0]->dtype, shape);
}

hone_status eval_reverse_sequence(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                  const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  size_t size;
  int batch, time;
  int64_t strides[HONE_MAX_RANK];
  const struct shape *shape = &in[0]->shape;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(read_sequence_axes(ctx, node, shape, &batch, &time));
  shape_strides(shape, strides);
  size_t inner = (size_t)dims_product(shape, 2, shape->rank) * size;
  if (inner == 0) return HONE_OK;
  for (int64_t b = 0; b < shape->dims[batch]; b++) {
    int64_t length = tensor_i64(in[1], (size_t)b);
    if (length < 0 || length > shape->dims[time])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "sequence length %lld is outside [0, %lld]",
                  (long long)length, (long long)shape->dims[time]);
    for (int64_t t = 0; t < shape->dims[time]; t++) {
      int64_t source = t < length ? length - 1 - t : t;
      memcpy(
          (char *)tensor_data(out[0]) + (b * strides[batch] + t * strides[time]) * (int64_t)size,
          (const char *)in[0]->data + (b * strides[batch] + source * strides[time]) * (int64_t)size,
          inner);
    }
  }
  return HONE_OK;
}

/* -- PadToBound: pads an axis to `length` with input 1; must_be: the size required at run time, -1
 * for any; grows: it is shorter if the caller's sizes make the bound of its operand smaller, else it
 * has the length of the largest -- */

hone_status infer_pad_to_bound(struct ctx *ctx, struct graph *graph, struct node *node) {
  struct shape to = node->inputs[0]->shape;
  int64_t rest;
  int axis;
  (void)graph;
  TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(axis_attribute(ctx, node, "axis", 0, to.rank, &axis));
  const int64_t length = node_int(node, "length", 0);
  if (length < to.dims[axis] || !shape_count(&node->inputs[1]->shape, &rest) || rest != 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "length is %lld for an axis of %lld, or the fill value is not a scalar",
                (long long)length, (long long)to.dims[axis]);
  to.dims[axis] = length;
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &to);
}

hone_status eval_pad_to_bound(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, struct tensor *const *out) {
  const struct shape *from = &in[0]->shape, *to = &out[0]->shape;
  size_t size;
  int axis;
  (void)scratch;
  TRY(movable_bytes(ctx, node, in[0]->dtype, &size));
  TRY(axis_attribute(ctx, node, "axis", 0, from->rank, &axis));
  const int64_t room = from->dims[axis], length = to->dims[axis];
  const int64_t inner = dims_product(from, axis + 1, from->rank),
                must_be = node_int(node, "must_be", -1);
  if (must_be >= 0 && room != must_be)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %d has size %lld, but must be %lld",
                axis, (long long)room, (long long)must_be);
  for (int64_t i = 0; i < (int64_t)tensor_count(out[0]); i++) {
    const int64_t at = i / inner % length,
                  source = (i / inner / length * room + at) * inner + i % inner;
    memcpy((char *)tensor_data(out[0]) + (size_t)i * size,
           at < room ? (const char *)in[0]->data + (size_t)source * size : in[1]->data, size);
  }
  return HONE_OK;
}
