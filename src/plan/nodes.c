/* Questions about nodes that several lowerings ask. */
#include "builder.h"

bool all_f32(const struct node *node) {
  for (size_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] && node->inputs[i]->dtype != HONE_F32) return false;
  for (size_t i = 0; i < node->output_count; i++)
    if (node->outputs[i] && node->outputs[i]->dtype != HONE_F32) return false;
  for (size_t i = 0; i < node->fused_count; i++)
    if (node->fused[i].dtype != HONE_F32) return false;
  return true;
}

size_t own_input_count(const struct node *node) {
  return node->input_count - node->fused_input_count;
}

hone_status find_readers(struct builder *b) {
  TRY(graph_uses(b->ctx, b->arena, b->graph, &b->uses));
  TRY(NEW_ARRAY(b->ctx, b->arena, b->reader, b->graph->values.count + b->graph->nodes.count));
  for (size_t n = 0; n < b->graph->nodes.count; n++) {
    const struct node *node = b->graph->nodes.at[n];
    for (size_t i = 0; i < node->input_count; i++)
      if (node->inputs[i] && b->uses[node->inputs[i]->index] == 1)
        b->reader[node->inputs[i]->index] = node;
  }
  return HONE_OK;
}
