/* A second graph in another arena that shares names, constants and attributes with the first:
 * passes may change it while the original stays as imported. */
#include "graph.h"

static hone_status copy_values(struct ctx *ctx, struct arena *arena, const struct graph *from,
                               struct graph *to) {
  for (size_t i = 0; i < from->values.count; i++) {
    struct value *value;
    TRY(NEW(ctx, arena, value));
    *value = *from->values.at[i];
    value->producer = NULL;
    VEC_PUSH(ctx, arena, &to->values, value);
  }
  return HONE_OK;
}

static hone_status copy_list(struct ctx *ctx, struct arena *arena, const struct graph *to,
                             struct value *const *from, size_t count, struct value ***out) {
  TRY(NEW_ARRAY(ctx, arena, *out, count));
  for (size_t i = 0; i < count; i++) {
    if (!from[i]) continue;
    if (from[i]->index >= to->values.count)
      return fail(ctx, HONE_E_INTERNAL, place_name(from[i]->name), "value of another graph");
    (*out)[i] = to->values.at[from[i]->index];
  }
  return HONE_OK;
}

static hone_status copy_node(struct ctx *ctx, struct arena *arena, struct graph *to,
                             const struct node *from) {
  struct node *node;
  TRY(NEW(ctx, arena, node));
  *node = *from;
  TRY(copy_list(ctx, arena, to, from->inputs, from->input_count, &node->inputs));
  TRY(copy_list(ctx, arena, to, from->outputs, from->output_count, &node->outputs));
  TRY(NEW_ARRAY(ctx, arena, node->attributes, from->attribute_count));
  if (from->attribute_count)
    memcpy(node->attributes, from->attributes, from->attribute_count * sizeof *node->attributes);
  TRY(NEW_ARRAY(ctx, arena, node->fused, from->fused_count));
  if (from->fused_count) memcpy(node->fused, from->fused, from->fused_count * sizeof *node->fused);
  for (size_t i = 0; i < node->output_count; i++)
    if (node->outputs[i]) node->outputs[i]->producer = node;
  VEC_PUSH(ctx, arena, &to->nodes, node);
  return HONE_OK;
}

hone_status graph_copy(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                       struct graph **out) {
  struct graph *copy;
  struct value **list;
  TRY(graph_create(ctx, arena, &copy));
  copy->name = graph->name;
  copy->parent = graph->parent;
  copy->fresh = graph->fresh;
  TRY(copy_values(ctx, arena, graph, copy));
  TRY(copy_list(ctx, arena, copy, graph->inputs.at, graph->inputs.count, &list));
  for (size_t i = 0; i < graph->inputs.count; i++) VEC_PUSH(ctx, arena, &copy->inputs, list[i]);
  TRY(copy_list(ctx, arena, copy, graph->outputs.at, graph->outputs.count, &list));
  for (size_t i = 0; i < graph->outputs.count; i++) VEC_PUSH(ctx, arena, &copy->outputs, list[i]);
  for (size_t i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.at[i]) TRY(copy_node(ctx, arena, copy, graph->nodes.at[i]));
  *out = copy;
  return HONE_OK;
}
