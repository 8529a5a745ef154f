/* Editing: replace values, sort, sweep. All three include subgraphs (If, Loop, Scan bodies), whose
 * nodes may read values of the enclosing graphs. A pass that replaces many values records them in a
 * map and applies it once: one replacement is linear in the graph. */
#include "graph.h"

static struct value *mapped(const struct substitution *map, const struct graph *graph,
                            const struct value *value) {
  return graph_owns(graph, value) && value->index < map->count ? map->at[value->index] : NULL;
}

struct value *substitution_find(struct substitution *map, const struct graph *graph,
                                struct value *value) {
  struct value *next, *beyond;
  while ((next = mapped(map, graph, value))) {
    beyond = mapped(map, graph, next);
    if (beyond) map->at[value->index] = beyond; /* path halving for later look-ups */
    value = next;
  }
  return value;
}

hone_status substitution_add(struct ctx *ctx, struct graph *graph, struct substitution *map,
                             const struct value *from, struct value *to) {
  if (!graph_owns(graph, from) || from == to)
    return fail(ctx, HONE_E_INTERNAL, place_name(from->name), "the value cannot be replaced");
  while (map->count <= from->index) VEC_PUSH(ctx, graph->arena, map, NULL);
  map->at[from->index] = to;
  return HONE_OK;
}

void substitution_apply(struct substitution *map, const struct graph *graph, struct node *node) {
  for (size_t i = 0; i < node->input_count; i++)
    node->inputs[i] = substitution_find(map, graph, node->inputs[i]);
}

/* An output keeps its name: the new value takes it, or an Identity copies it. */
static hone_status replace_output(struct ctx *ctx, struct graph *graph, size_t k, struct value *to,
                                  const struct op *identity) {
  struct value *from = graph->outputs.at[k];
  const char *name = from->name;
  from->is_output = false;
  if (!graph_owns(graph, to) || to->is_input || to->constant || to->is_output || !to->producer) {
    struct node *node;
    if (!identity)
      return fail(ctx, HONE_E_INTERNAL, place_name(name), "an output cannot become another value");
    TRY(graph_node(ctx, graph, identity, &to, 1, 1, &node));
    node->outputs[0]->dtype = to->dtype;
    node->outputs[0]->has_shape = to->has_shape;
    node->outputs[0]->shape = to->shape;
    memcpy(node->outputs[0]->extents, to->extents, sizeof to->extents);
    to = node->outputs[0];
  }
  from->name = to->name;
  to->name = name;
  to->is_output = true;
  graph->outputs.at[k] = to;
  return HONE_OK;
}

static hone_status replace_outputs(struct ctx *ctx, struct graph *graph, struct substitution *map,
                                   const struct op *identity) {
  struct value **before;
  TRY(NEW_ARRAY(ctx, graph->arena, before, graph->outputs.count));
  for (size_t k = 0; k < graph->outputs.count; k++) {
    struct value *from = before[k] = graph->outputs.at[k];
    struct value *to = substitution_find(map, graph, from);
    if (to == from) continue;
    size_t first = k; /* a value that is output twice has been replaced already */
    for (size_t j = 0; j < k && !from->is_output && first == k; j++)
      if (before[j] == from) first = j;
    if (first < k)
      graph->outputs.at[k] = graph->outputs.at[first];
    else
      TRY(replace_output(ctx, graph, k, to, identity));
  }
  return HONE_OK;
}

hone_status graph_substitute(struct ctx *ctx, struct graph *graph, struct substitution *map,
                             const struct op *identity) {
  struct graph_list graphs;
  TRY(graph_nested(ctx, graph->arena, graph, &graphs));
  for (size_t g = 0; g < graphs.count; g++) {
    struct graph *at = graphs.at[g];
    for (size_t n = 0; n < at->nodes.count; n++)
      if (at->nodes.at[n]) substitution_apply(map, graph, at->nodes.at[n]);
    for (size_t k = 0; at != graph && k < at->outputs.count; k++)
      at->outputs.at[k] = substitution_find(map, graph, at->outputs.at[k]);
  }
  return replace_outputs(ctx, graph, map, identity);
}

hone_status graph_replace(struct ctx *ctx, struct graph *graph, struct value *from,
                          struct value *to, const struct op *identity) {
  struct substitution map = {0};
  TRY(substitution_add(ctx, graph, &map, from, to));
  return graph_substitute(ctx, graph, &map, identity);
}

/* -- sort */

struct sorter {
  struct graph *graph;
  struct arena *scratch;
  uint32_t *owner; /* value index -> 1 + position of its producer */
  uint8_t *state;  /* of a node: 0 new, 1 open, 2 done */
  VEC(struct frame {
    uint32_t node;
    size_t next; /* of its dependencies */
    VEC(struct value *) deps;
  })
  stack;
};

/* The dependencies of a node: its inputs, and values that its subgraphs capture. */
static hone_status gather(struct ctx *ctx, struct sorter *s, uint32_t position,
                          struct frame *frame) {
  struct node *node = s->graph->nodes.at[position];
  *frame = (struct frame){.node = position};
  for (size_t i = 0; i < node->input_count; i++)
    VEC_PUSH(ctx, s->scratch, &frame->deps, node->inputs[i]);
  for (size_t a = 0; a < node->attribute_count; a++) {
    struct graph_list inner;
    if (node->attributes[a].kind != ATTRIBUTE_GRAPH) continue;
    TRY(graph_nested(ctx, s->scratch, node->attributes[a].graph, &inner));
    for (size_t g = 0; g < inner.count; g++) {
      for (size_t n = 0; n < inner.at[g]->nodes.count; n++) {
        struct node *reader = inner.at[g]->nodes.at[n];
        for (size_t i = 0; reader && i < reader->input_count; i++)
          VEC_PUSH(ctx, s->scratch, &frame->deps, reader->inputs[i]);
      }
      for (size_t k = 0; k < inner.at[g]->outputs.count; k++)
        VEC_PUSH(ctx, s->scratch, &frame->deps, inner.at[g]->outputs.at[k]);
    }
  }
  return HONE_OK;
}

static hone_status open_node(struct ctx *ctx, struct sorter *s, uint32_t position) {
  struct frame frame;
  s->state[position] = 1;
  TRY(gather(ctx, s, position, &frame));
  VEC_PUSH(ctx, s->scratch, &s->stack, frame);
  return HONE_OK;
}

/* Depth first in file order, so that a sorted list is unchanged. */
static hone_status emit_from(struct ctx *ctx, struct sorter *s, uint32_t root, struct node **sorted,
                             size_t *count) {
  TRY(open_node(ctx, s, root));
  while (s->stack.count) {
    struct frame *top = &s->stack.at[s->stack.count - 1];
    if (top->next == top->deps.count) {
      s->state[top->node] = 2;
      sorted[(*count)++] = s->graph->nodes.at[top->node];
      s->stack.count--;
      continue;
    }
    struct value *value = top->deps.at[top->next++];
    if (!graph_owns(s->graph, value) || !s->owner[value->index]) continue;
    uint32_t producer = s->owner[value->index] - 1;
    if (s->state[producer] == 1)
      return fail(ctx, HONE_E_FORMAT, node_place(s->graph->nodes.at[producer]),
                  "the node depends on its own result through \"%s\"", value->name);
    if (s->state[producer] == 0) TRY(open_node(ctx, s, producer));
  }
  return HONE_OK;
}

static hone_status sort_in(struct ctx *ctx, struct arena *scratch, struct graph *graph,
                           bool *out_was_sorted) {
  size_t count = graph->nodes.count, done = 0;
  struct sorter s = {.graph = graph, .scratch = scratch};
  struct node **sorted;
  TRY(NEW_ARRAY(ctx, scratch, s.owner, graph->values.count));
  TRY(NEW_ARRAY(ctx, scratch, s.state, count));
  TRY(NEW_ARRAY(ctx, scratch, sorted, count));
  for (size_t n = 0; n < count; n++) {
    struct node *node = graph->nodes.at[n];
    if (!node) s.state[n] = 2;
    for (size_t o = 0; node && o < node->output_count; o++)
      if (graph_owns(graph, node->outputs[o])) s.owner[node->outputs[o]->index] = (uint32_t)n + 1;
  }
  for (size_t n = 0; n < count; n++)
    if (!s.state[n]) TRY(emit_from(ctx, &s, (uint32_t)n, sorted, &done));
  *out_was_sorted = true;
  for (size_t n = 0; n < count; n++)
    if (n >= done || graph->nodes.at[n] != sorted[n]) *out_was_sorted = false;
  if (done) memcpy(graph->nodes.at, sorted, done * sizeof *sorted);
  graph->nodes.count = done;
  return HONE_OK;
}

hone_status graph_sort(struct ctx *ctx, struct graph *graph, bool *out_was_sorted) {
  struct arena *scratch;
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = sort_in(ctx, scratch, graph, out_was_sorted);
  arena_destroy(scratch);
  return status;
}

/* -- sweep */

static void mark(const struct graph *graph, uint8_t *live, const struct value *value) {
  if (graph_owns(graph, value)) live[value->index] = 1;
}

static hone_status mark_captured(struct ctx *ctx, struct arena *scratch, const struct graph *graph,
                                 const struct node *node, uint8_t *live) {
  for (size_t a = 0; a < node->attribute_count; a++) {
    struct graph_list inner;
    if (node->attributes[a].kind != ATTRIBUTE_GRAPH || !node->attributes[a].graph) continue;
    TRY(graph_nested(ctx, scratch, node->attributes[a].graph, &inner));
    for (size_t g = 0; g < inner.count; g++) {
      for (size_t n = 0; n < inner.at[g]->nodes.count; n++) {
        const struct node *reader = inner.at[g]->nodes.at[n];
        for (size_t i = 0; reader && i < reader->input_count; i++)
          mark(graph, live, reader->inputs[i]);
      }
      for (size_t k = 0; k < inner.at[g]->outputs.count; k++)
        mark(graph, live, inner.at[g]->outputs.at[k]);
    }
  }
  return HONE_OK;
}

/* True if a node is still needed. Constants need no node, unless they are graph outputs. */
static bool is_live(const struct graph *graph, const struct node *node, const uint8_t *live) {
  for (size_t o = 0; o < node->output_count; o++) {
    const struct value *value = node->outputs[o];
    if (graph_owns(graph, value) && live[value->index] && (!value->constant || value->is_output))
      return true;
  }
  return false;
}

static void drop_values(struct graph *graph, const uint8_t *live) {
  size_t kept = 0;
  for (size_t v = 0; v < graph->values.count; v++) {
    struct value *value = graph->values.at[v];
    if (!live[v]) continue;
    value->index = (uint32_t)kept;
    graph->values.at[kept++] = value;
  }
  graph->values.count = kept;
}

static hone_status sweep_one(struct ctx *ctx, struct arena *scratch, struct graph *graph,
                             size_t *removed) {
  uint8_t *live;
  size_t kept = 0;
  TRY(NEW_ARRAY(ctx, scratch, live, graph->values.count));
  for (size_t i = 0; i < graph->outputs.count; i++) mark(graph, live, graph->outputs.at[i]);
  for (size_t i = 0; i < graph->inputs.count; i++) mark(graph, live, graph->inputs.at[i]);
  for (size_t n = graph->nodes.count; n-- > 0;) {
    struct node *node = graph->nodes.at[n];
    if (!node) continue;
    if (!is_live(graph, node, live)) {
      for (size_t o = 0; o < node->output_count; o++)
        if (node->outputs[o]) node->outputs[o]->producer = NULL;
      graph->nodes.at[n] = NULL;
      ++*removed;
      continue;
    }
    for (size_t i = 0; i < node->input_count; i++) mark(graph, live, node->inputs[i]);
    TRY(mark_captured(ctx, scratch, graph, node, live));
  }
  for (size_t n = 0; n < graph->nodes.count; n++) {
    struct node *node = graph->nodes.at[n];
    if (!node) continue;
    for (size_t o = 0; o < node->output_count; o++) mark(graph, live, node->outputs[o]);
    graph->nodes.at[kept++] = node;
  }
  graph->nodes.count = kept;
  drop_values(graph, live);
  return HONE_OK;
}

hone_status graph_sweep(struct ctx *ctx, struct graph *graph, size_t *out_removed) {
  struct arena *scratch;
  struct graph_list graphs;
  hone_status status;
  *out_removed = 0;
  TRY(arena_create(ctx, 0, &scratch));
  status = graph_nested(ctx, scratch, graph, &graphs);
  for (size_t g = status ? 0 : graphs.count; !status && g-- > 0;) /* inner graphs first */
    status = sweep_one(ctx, scratch, graphs.at[g], out_removed);
  arena_destroy(scratch);
  return status;
}
