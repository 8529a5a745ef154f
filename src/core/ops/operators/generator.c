/* Ops that make tensors from attributes and shapes: Constant, ConstantOfShape, Range, Shape,
 * Size, EyeLike. Counts are computed without overflow; inference checks sizes before memory is
 * allocated. */
#include <math.h>

#include "view.h"

/* -- Constant */

/* The tensor that an attribute gives; *out NULL if the attribute is absent. */
static hone_status constant_tensor(struct ctx *ctx, struct arena *arena, const struct node *node,
                                   const char *name, hone_dtype dtype, const struct tensor **out) {
  const struct attribute *attribute = node_attribute(node, name);
  *out = NULL;
  if (!attribute) return HONE_OK;
  if (attribute->kind == ATTRIBUTE_TENSOR) {
    *out = attribute->tensor;
    return HONE_OK;
  }
  bool is_list = attribute->kind == ATTRIBUTE_INTS || attribute->kind == ATTRIBUTE_FLOATS ||
                 attribute->kind == ATTRIBUTE_STRINGS;
  struct shape shape = {is_list, {(int64_t)attribute->count}};
  struct tensor *tensor;
  TRY(tensor_create(ctx, arena, dtype, &shape, &tensor));
  size_t count = is_list ? attribute->count : 1;
  for (size_t i = 0; i < count; i++) {
    if (dtype == HONE_STRING)
      ((struct string *)tensor_data(tensor))[i] = is_list ? attribute->strings[i] : attribute->s;
    else if (dtype == HONE_I64)
      tensor_set_i64(tensor, i, is_list ? attribute->ints[i] : attribute->i);
    else
      tensor_set_f64(tensor, i, is_list ? attribute->floats[i] : attribute->f);
  }
  *out = tensor;
  return HONE_OK;
}

static hone_status read_constant(struct ctx *ctx, struct arena *arena, const struct node *node,
                                 const struct tensor **out) {
  static const struct {
    const char *name;
    hone_dtype dtype;
  } forms[] = {
      {"value", HONE_UNDEFINED},      {"value_float", HONE_F32}, {"value_floats", HONE_F32},
      {"value_int", HONE_I64},        {"value_ints", HONE_I64},  {"value_string", HONE_STRING},
      {"value_strings", HONE_STRING},
  };
  for (size_t k = 0; k < COUNT(forms); k++) {
    if (node_attribute(node, forms[k].name))
      return constant_tensor(ctx, arena, node, forms[k].name, forms[k].dtype, out);
  }
  return fail(ctx, HONE_E_UNSUP, node_place(node), "Constant without a dense value");
}

hone_status infer_constant(struct ctx *ctx, struct graph *graph, struct node *node) {
  const struct tensor *tensor;
  TRY(read_constant(ctx, graph->arena, node, &tensor));
  TRY(set_output(ctx, node, 0, tensor->dtype, &tensor->shape));
  node->outputs[0]->constant = tensor; /* large ones are not copied */
  return HONE_OK;
}

hone_status eval_constant(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  (void)in;
  const struct tensor *tensor;
  TRY(read_constant(ctx, scratch, node, &tensor));
  if (tensor->bytes != out[0]->bytes)
    return fail(ctx, HONE_E_INTERNAL, node_place(node), "constant changed its size");
  if (tensor->bytes) memcpy(tensor_data(out[0]), tensor->data, tensor->bytes);
  return HONE_OK;
}

/* -- ConstantOfShape */

hone_status infer_constant_of_shape(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct attribute *value = node_attribute(node, "value");
  struct shape to = {0, {0}};
  size_t rank;
  TRY(want_ints(ctx, node, 0, "shape", HONE_MAX_RANK, to.dims, &rank));
  to.rank = (int)rank;
  if (value && tensor_count(value->tensor) != 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "value is not a tensor of one element");
  return set_output(ctx, node, 0, value ? value->tensor->dtype : HONE_F32, &to);
}

hone_status eval_constant_of_shape(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                   const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch, (void)in;
  const struct attribute *value = node_attribute(node, "value");
  if (!value) return HONE_OK; /* results start as zeros */
  size_t size;
  TRY(movable_bytes(ctx, node, out[0]->dtype, &size));
  for (size_t i = 0; i < tensor_count(out[0]); i++)
    memcpy((char *)tensor_data(out[0]) + i * size, value->tensor->data, size);
  return HONE_OK;
}

/* -- Range: start, limit, delta */

/* Number of elements of an integer range; differences of int64 are computed in uint64, so they
 * never overflow. */
static int64_t count_integers(int64_t start, int64_t limit, int64_t delta) {
  bool is_empty = delta > 0 ? start >= limit : start <= limit;
  if (is_empty) return 0;
  uint64_t distance =
      delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
  uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
  uint64_t count = (distance - 1) / step + 1;
  return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static hone_status count_range(struct ctx *ctx, const struct node *node,
                               const struct tensor *const *in, int64_t *out) {
  static const char *const names[] = {"start", "limit", "delta"};
  for (size_t k = 0; k < 3; k++) {
    if (!in[k])
      return fail(ctx, HONE_E_UNSUP, node_place(node),
                  "%s must be a constant: it is known only at run time", names[k]);
    if (tensor_count(in[k]) != 1)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "%s is not one number", names[k]);
  }
  if (dtype_is_integer(in[0]->dtype)) {
    int64_t delta = tensor_i64(in[2], 0);
    if (delta == 0) return fail(ctx, HONE_E_NUM, node_place(node), "delta is 0");
    *out = count_integers(tensor_i64(in[0], 0), tensor_i64(in[1], 0), delta);
    return HONE_OK;
  }
  double count = ceil((tensor_f64(in[1], 0) - tensor_f64(in[0], 0)) / tensor_f64(in[2], 0));
  if (isnan(count) || tensor_f64(in[2], 0) == 0)
    return fail(ctx, HONE_E_NUM, node_place(node), "start, limit and delta give no count");
  *out = count <= 0 ? 0 : count >= 0x1p62 ? INT64_MAX : (int64_t)count;
  return HONE_OK;
}

hone_status infer_range(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct tensor *in[CONSTANTS_MAX];
  struct shape to = {1, {0}};
  hone_dtype dtype = node->inputs[0]->dtype;
  if (!dtype_is_float(dtype) && !dtype_is_integer(dtype))
    return fail(ctx, HONE_E_TYPE, node_place(node), "Range of %s", dtype_name(dtype));
  TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(want_same_dtype(ctx, node, 0, 2));
  node_constants(node, in);
  TRY(count_range(ctx, node, in, &to.dims[0]));
  return set_output(ctx, node, 0, dtype, &to);
}

hone_status eval_range(struct ctx *ctx, struct arena *scratch, const struct node *node,
                       const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  int64_t count;
  TRY(count_range(ctx, node, in, &count));
  if (count != out[0]->shape.dims[0])
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "the size of the range at run time differs from the output's shape");
  for (int64_t i = 0; i < count; i++) {
    if (dtype_is_integer(out[0]->dtype)) {
      uint64_t start = (uint64_t)tensor_i64(in[0], 0), delta = (uint64_t)tensor_i64(in[2], 0);
      tensor_set_i64(out[0], (size_t)i, (int64_t)(start + (uint64_t)i * delta));
    } else {
      tensor_set_f64(out[0], (size_t)i, tensor_f64(in[0], 0) + (double)i * tensor_f64(in[2], 0));
    }
  }
  return HONE_OK;
}

/* -- Shape and Size */

static int clamp_axis(int64_t axis, int rank) {
  if (axis < 0) axis = axis < -rank ? 0 : axis + rank;
  return (int)(axis > rank ? rank : axis);
}

hone_status infer_shape(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct shape *from = &node->inputs[0]->shape;
  int start = clamp_axis(node_int(node, "start", 0), from->rank);
  int end = clamp_axis(node_int(node, "end", from->rank), from->rank);
  struct shape to = {1, {end > start ? end - start : 0}};
  return set_output(ctx, node, 0, HONE_I64, &to);
}

hone_status eval_shape(struct ctx *ctx, struct arena *scratch, const struct node *node,
                       const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch;
  const struct shape *from = &in[0]->shape;
  int start = clamp_axis(node_int(node, "start", 0), from->rank);
  for (int64_t k = 0; k < out[0]->shape.dims[0]; k++)
    tensor_set_i64(out[0], (size_t)k, from->dims[start + (int)k]);
  return HONE_OK;
}

hone_status infer_size(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return set_output(ctx, node, 0, HONE_I64, &(struct shape){0, {0}});
}

hone_status eval_size(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch, (void)node;
  tensor_set_i64(out[0], 0, (int64_t)tensor_count(in[0]));
  return HONE_OK;
}

/* -- EyeLike */

hone_status infer_eye_like(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  int64_t dtype = node_int(node, "dtype", (int64_t)node->inputs[0]->dtype);
  TRY(want_rank(ctx, node, 0, 2));
  if (dtype_bits(dtype_of_number(dtype)) < 8)
    return fail(ctx, HONE_E_TYPE, node_place(node), "EyeLike of type %lld", (long long)dtype);
  return set_output(ctx, node, 0, (hone_dtype)dtype, &node->inputs[0]->shape);
}

hone_status eval_eye_like(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch, (void)in;
  int64_t rows = out[0]->shape.dims[0], columns = out[0]->shape.dims[1];
  int64_t k = node_int(node, "k", 0);
  for (int64_t r = 0; r < rows; r++) {
    int64_t column;
    if (checked_add(r, k, &column) && column >= 0 && column < columns)
      tensor_set_f64(out[0], (size_t)(r * columns + column), 1);
  }
  return HONE_OK;
}
