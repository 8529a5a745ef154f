/* infer_node: dtype and shape of one node's results, checked against the limits before any memory
 * of that size is allocated. */
#include "ops_internal.h"

hone_status node_form(struct ctx *ctx, const struct node *node) {
  const struct op *op = node->op;
  const size_t inputs = node->input_count;
  if (inputs < (size_t)op->min_inputs || (op->max_inputs >= 0 && inputs > (size_t)op->max_inputs))
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%s has %zu inputs, expected %d to %d",
                op->name, inputs, op->min_inputs, op->max_inputs);
  if (op->max_outputs >= 0 && node->output_count > (size_t)op->max_outputs)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%s has %zu outputs, expected at most %d",
                op->name, node->output_count, op->max_outputs);
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (!value && k < (size_t)op->min_inputs)
      return fail(ctx, HONE_E_FORMAT, node_place(node), "%s is missing input %zu", op->name, k);
    if (value && !value->list && (!value->has_shape || value->dtype == HONE_UNDEFINED))
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "type or shape of input %zu \"%s\" is not known", k, value->name);
  }
  return attributes_check(ctx, node_place(node), op->name, node->attributes, node->attribute_count);
}

static hone_status output_bytes(struct ctx *ctx, const struct node *node, size_t *out_bytes) {
  *out_bytes = 0;
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *value = node->outputs[k];
    if (!value) continue;
    if (!value->has_shape || value->dtype == HONE_UNDEFINED)
      return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s left output %zu without a shape",
                  node->op->name, k);
    /* a string element takes two words */
    hone_dtype dtype = value->dtype == HONE_STRING ? HONE_U64 : value->dtype;
    int64_t elements = 0;
    size_t bytes = 0;
    TRY(extent(ctx, node_place(node), dtype, &value->shape, &elements, &bytes));
    if (!checked_add(*out_bytes, bytes, out_bytes)) *out_bytes = SIZE_MAX;
  }
  return HONE_OK;
}

hone_status node_infer_bytes(struct ctx *ctx, struct graph *graph, struct node *node,
                             size_t *out_bytes) {
  TRY(node_form(ctx, node));
  TRY(node->op->infer(ctx, graph, node));
  TRY(infer_extents(ctx, graph, node));
  TRY(infer_ranges(ctx, graph, node));
  TRY(infer_sizes(ctx, graph, node));
  return output_bytes(ctx, node, out_bytes);
}

hone_status node_infer(struct ctx *ctx, struct graph *graph, struct node *node) {
  size_t bytes = 0;
  return node_infer_bytes(ctx, graph, node, &bytes);
}
