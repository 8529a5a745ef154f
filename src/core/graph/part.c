/* A range of a graph's nodes as a separate graph: values that it reads from outside become its
 * inputs, values that are read later or are graph outputs become its outputs. Both are in the order
 * of the graph's values. */
#include "graph.h"

/* Calls the function once for every value of `graph` that the node reads, including values captured
 * by its subgraphs. */
typedef void mark_fn(void *user, const struct value *value);
static hone_status mark_reads(struct ctx *ctx, struct arena *scratch, const struct graph *graph,
                              const struct node *node, mark_fn *mark, void *user) {
  for (size_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] && graph_owns(graph, node->inputs[i])) mark(user, node->inputs[i]);
  for (size_t a = 0; a < node->attribute_count; a++) {
    struct graph_list nested = {0};
    if (node->attributes[a].kind != ATTRIBUTE_GRAPH || !node->attributes[a].graph) continue;
    TRY(graph_nested(ctx, scratch, node->attributes[a].graph, &nested));
    for (size_t g = 0; g < nested.count; g++) {
      const struct graph *body = nested.at[g];
      for (size_t n = 0; n < body->nodes.count; n++)
        for (size_t i = 0; i < body->nodes.at[n]->input_count; i++)
          if (graph_owns(graph, body->nodes.at[n]->inputs[i]))
            mark(user, body->nodes.at[n]->inputs[i]);
      for (size_t o = 0; o < body->outputs.count; o++)
        if (graph_owns(graph, body->outputs.at[o])) mark(user, body->outputs.at[o]);
    }
  }
  return HONE_OK;
}

struct reader {
  size_t *last;
  size_t position;
};
static void mark_last(void *user, const struct value *value) {
  const struct reader *reader = user;
  reader->last[value->index] = reader->position;
}

hone_status graph_find_lives(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                             struct graph_lives *out) {
  TRY(NEW_ARRAY(ctx, arena, out->made, graph->values.count));
  TRY(NEW_ARRAY(ctx, arena, out->last_read, graph->values.count));
  struct reader reader = {.last = out->last_read};
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct node *node = graph->nodes.at[n];
    for (size_t i = 0; i < node->output_count; i++)
      if (node->outputs[i]) out->made[node->outputs[i]->index] = n + 1;
    reader.position = n + 1;
    TRY(mark_reads(ctx, arena, graph, node, mark_last, &reader));
  }
  return HONE_OK;
}

static void mark_flag(void *user, const struct value *value) {
  bool *is_read = user;
  is_read[value->index] = true;
}

/* Removes nodes outside the range; values that they made have no producer any more. */
static void keep_nodes(struct graph *part, size_t from, size_t to) {
  for (size_t n = 0; n < part->nodes.count; n++) {
    struct node *node = part->nodes.at[n];
    if (n >= from && n < to) continue;
    for (size_t i = 0; i < node->output_count; i++)
      if (node->outputs[i]) node->outputs[i]->producer = NULL;
  }
  memmove(part->nodes.at, part->nodes.at + from, (to - from) * sizeof(struct node *));
  part->nodes.count = to - from;
}

hone_status graph_part(struct ctx *ctx, struct arena *arena, const struct graph *graph, size_t from,
                       size_t to, struct graph **out) {
  struct graph_lives lives;
  struct graph *part;
  bool *is_read;
  size_t removed;
  if (from >= to || to > graph->nodes.count)
    return fail(ctx, HONE_E_USAGE, place_none(), "nodes %zu to %zu of %zu are not a valid range",
                from, to, graph->nodes.count);
  TRY(graph_find_lives(ctx, arena, graph, &lives));
  TRY(NEW_ARRAY(ctx, arena, is_read, graph->values.count));
  for (size_t n = from; n < to; n++)
    TRY(mark_reads(ctx, arena, graph, graph->nodes.at[n], mark_flag, is_read));
  TRY(graph_copy(ctx, arena, graph, &part));
  keep_nodes(part, from, to);
  part->inputs.count = part->outputs.count = part->aliases.count = 0;
  for (size_t v = 0; v < graph->values.count; v++) {
    const struct value *whole = graph->values.at[v];
    struct value *value = part->values.at[v];
    const size_t made = lives.made[v]; /* 0: not made by a node */
    const bool is_inside = made > from && made <= to;
    value->is_input = !is_inside && is_read[v] && !whole->constant;
    value->is_output =
        is_inside && (whole->is_output || (!whole->constant && lives.last_read[v] > to));
    if (value->is_input) VEC_PUSH(ctx, arena, &part->inputs, value);
    if (value->is_output) VEC_PUSH(ctx, arena, &part->outputs, value);
  }
  TRY(graph_sweep(ctx, part, &removed));
  *out = part;
  return graph_verify(ctx, part);
}
