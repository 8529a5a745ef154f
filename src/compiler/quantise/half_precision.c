/* 16-bit floats become f32. Scales belong to computed values, and values stay int8 between two
 * nodes only if nothing is rounded to 16 bits between them. Inputs and outputs keep their types,
 * with Casts.
 */
#include "compiler/passes/rewrite.h"
#include "quantise_internal.h"

static bool has_half(struct value *const *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i] && dtype_is_half(values[i]->dtype)) return true;
  return false;
}

/* Reads a value from before its rounding to 16 bits. */
static hone_status as_float(struct rewrite *r, struct value *from, struct value **out) {
  const struct node *cast = producer_of(from, OP_Cast);
  if (cast && cast->inputs[0]->dtype == HONE_F32) {
    *out = cast->inputs[0];
    return HONE_OK;
  }
  if (!from->constant || from->slope) return x_give(r->b, out, x_cast(r->b, from, HONE_F32));
  TRY(rewrite_constant(r, HONE_F32, &from->shape, out));
  for (size_t i = 0; i < tensor_count(from->constant); i++)
    tensor_set_f64((*out)->constant, i, tensor_f64(from->constant, i));
  return r->b->status;
}

static hone_status copy_attributes(struct rewrite *r, const struct node *from, struct node *to) {
  static const char *const types[] = {"to", "dtype", "output_dtype", "stash_type", "precision"};
  for (size_t a = 0; a < from->attribute_count; a++) {
    struct attribute attribute = from->attributes[a];
    for (size_t i = 0; i < COUNT(types); i++)
      if (!strcmp(attribute.name, types[i]) && dtype_is_half((hone_dtype)attribute.i))
        attribute.i = HONE_F32;
    TRY(node_set(r->ctx, r->graph, to, &attribute));
  }
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct value **inputs, *narrow;
  struct node *wide;
  if (node->op->class == OP_CONTROL ||
      (!has_half(node->inputs, node->input_count) && !has_half(node->outputs, node->output_count)))
    return HONE_OK;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, inputs, node->input_count));
  for (size_t k = 0; k < node->input_count; k++) {
    inputs[k] = node->inputs[k];
    if (has_half(&inputs[k], 1)) TRY(as_float(r, inputs[k], &inputs[k]));
  }
  TRY(graph_node(r->ctx, r->graph, node->op, inputs, node->input_count, node->output_count, &wide));
  node_stand_for(wide, node);
  for (size_t k = 0; k < node->output_count; k++)
    if (!node->outputs[k]) wide->outputs[k] = NULL;
  TRY(copy_attributes(r, node, wide));
  TRY(node_infer(r->ctx, r->graph, wide));
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k]) continue;
    narrow = wide->outputs[k];
    if (dtype_is_half(node->outputs[k]->dtype))
      BUILD(r->b, narrow = x_cast(r->b, narrow, node->outputs[k]->dtype));
    TRY(rewrite_replace(r, node->outputs[k], narrow));
  }
  return HONE_OK;
}

hone_status widen_halves(struct ctx *ctx, struct graph *graph) {
  size_t changes;
  return rewrite_nodes(ctx, graph, visit, &changes);
}
