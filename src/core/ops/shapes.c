/* shapes: checks and setters shared by inference functions. Every error is E_SHAPE, E_TYPE or
 * E_UNSUP at the node and names the input or attribute. */
#include "ops_internal.h"

hone_status axis_normalise(struct ctx *ctx, const struct node *node, const char *what, int64_t axis,
                           int rank, int *out_axis) {
  if (axis < -(int64_t)rank || axis >= rank)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%s is %lld, but the rank is %d", what,
                (long long)axis, rank);
  *out_axis = (int)(axis < 0 ? axis + rank : axis);
  return HONE_OK;
}

hone_status axis_attribute(struct ctx *ctx, const struct node *node, const char *name,
                           int64_t otherwise, int rank, int *out_axis) {
  return axis_normalise(ctx, node, name, node_int(node, name, otherwise), rank, out_axis);
}

hone_status set_output(struct ctx *ctx, const struct node *node, size_t k, hone_dtype dtype,
                       const struct shape *shape) {
  if (k >= node->output_count || !node->outputs[k]) return HONE_OK;
  if (shape->rank < 0 || shape->rank > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, node_place(node),
                "output %zu has rank %d, at most %d is supported", k, shape->rank, HONE_MAX_RANK);
  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "output %zu has %lld elements along axis %d",
                  k, (long long)shape->dims[i], i);
  struct value *value = node->outputs[k];
  value->dtype = dtype;
  value->shape = *shape;
  value->has_shape = true;
  return HONE_OK;
}

hone_status set_output_like(struct ctx *ctx, const struct node *node, size_t k, size_t j) {
  const struct value *value = node->inputs[j];
  return set_output(ctx, node, k, value->dtype, &value->shape);
}

hone_status want_rank(struct ctx *ctx, const struct node *node, size_t input, int rank) {
  int found = node->inputs[input]->shape.rank;
  if (found == rank) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu has rank %d, expected %d", input,
              found, rank);
}

hone_status want_rank_at_least(struct ctx *ctx, const struct node *node, size_t input, int rank) {
  int found = node->inputs[input]->shape.rank;
  if (found >= rank) return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu has rank %d, expected %d or more",
              input, found, rank);
}

hone_status want_float(struct ctx *ctx, const struct node *node, size_t input) {
  hone_dtype dtype = node->inputs[input]->dtype;
  if (dtype_is_float(dtype)) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s, expected a floating-point type",
              input, dtype_name(dtype));
}

hone_status want_same_dtype(struct ctx *ctx, const struct node *node, size_t a, size_t b) {
  hone_dtype x = node->inputs[a]->dtype, y = node->inputs[b]->dtype;
  if (x == y) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s and input %zu is %s", a,
              dtype_name(x), b, dtype_name(y));
}

hone_status want_ints(struct ctx *ctx, const struct node *node, size_t input, const char *what,
                      size_t max, int64_t *out, size_t *out_count) {
  const struct tensor *tensor = node->inputs[input]->constant;
  if (!tensor)
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "%s (input %zu) must be a constant: it is known only at run time", what, input);
  if (!tensor_read_ints(tensor, max, out, out_count))
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "%s (input %zu) is not a list of at most %zu integers", what, input, max);
  return HONE_OK;
}

hone_status ints_attribute(struct ctx *ctx, const struct node *node, const char *name, size_t count,
                           int64_t otherwise, int64_t *out, bool *out_given) {
  size_t found = 0;
  const int64_t *ints = node_ints(node, name, &found);
  if (ints && found != count)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "%s has %zu values, expected %zu", name, found,
                count);
  for (size_t i = 0; i < count; i++) out[i] = ints ? ints[i] : otherwise;
  if (out_given) *out_given = ints != NULL;
  return HONE_OK;
}

int64_t dims_product(const struct shape *shape, int from, int to) {
  int64_t product = 1;
  for (int i = from; i < to; i++) product *= shape->dims[i];
  return product;
}

hone_status word_attribute(struct ctx *ctx, const struct node *node, const char *name,
                           const char *const *words, size_t count, int *out) {
  const char *value = node_string(node, name, words[0]);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(value, words[i]) != 0) continue;
    *out = (int)i;
    return HONE_OK;
  }
  return fail(ctx, HONE_E_UNSUP, node_place(node), "%s has an unknown value", name);
}
