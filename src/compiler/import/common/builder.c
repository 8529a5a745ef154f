/* Refusals, outputs and subgraphs of the readers: see builder.h. */
#include "builder.h"

hone_status make_refuse(const struct graph_builder *b, const char *kind, const char *name,
                        const char *format, va_list args) {
  char text[256];
  vsnprintf(text, sizeof text, format, args);
  return fail(b->ctx, HONE_E_UNSUP, x_place(b), "%s operator %s %s is not supported", kind, name,
              text);
}

int64_t make_elements(const struct value *x) {
  int64_t count = 0;
  return shape_count(&x->shape, &count) ? count : 0;
}

hone_status make_graph_output(struct graph_builder *b, struct value *value, const char *name) {
  if (value->is_input || value->is_output || value->constant) {
    struct node *node;
    TRY(graph_node(b->ctx, b->graph, &op_table[OP_Identity], &value, 1, 1, &node));
    TRY(node_infer(b->ctx, b->graph, node));
    value = node->outputs[0];
  }
  if (name) value->name = name;
  return graph_output(b->ctx, b->graph, value);
}

/* -- subgraphs */

hone_status make_subgraph(struct graph_builder *b, struct graph **out) {
  TRY(graph_create(b->ctx, b->graph->arena, out));
  (*out)->parent = b->graph;
  return HONE_OK;
}

hone_status make_subgraph_output(struct graph_builder *b, struct graph *made, struct value *value) {
  struct graph *outer = b->graph;
  b->graph = made;
  if (!graph_owns(made, value)) BUILD(b, value = x_1(b, OP_Identity, value));
  TRY(make_graph_output(b, value, NULL));
  b->graph = outer;
  return HONE_OK;
}

hone_status make_holder(struct graph_builder *b, enum op_id id, struct value *const *inputs,
                        size_t input_count, const char *const *names, struct graph *const *made,
                        size_t name_count, size_t output_count, struct node **out) {
  TRY(graph_node(b->ctx, b->graph, &op_table[id], inputs, input_count, output_count, out));
  x_sign(b, *out);
  for (size_t i = 0; i < name_count; i++) {
    const struct attribute attribute = {
        .name = names[i], .kind = ATTRIBUTE_GRAPH, .graph = made[i]};
    TRY(node_set(b->ctx, b->graph, *out, &attribute));
  }
  return id == OP_If ? graph_infer_last_if(b->ctx, b->graph) : node_infer(b->ctx, b->graph, *out);
}
