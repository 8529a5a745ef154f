/* Copies of graphs: a second graph in another arena, which passes may change while the original
 * stays as imported; and inlining, a body's nodes in place of the node that contains it. Both share
 * names of nodes, constants and the contents of attributes with the original; subgraphs are copied
 * too. */
#include "graph.h"

/* A graph and the new values of its values. */
struct clone {
  const struct graph *from;
  struct graph *to;
  struct value **map; /* by index in `from` */
  size_t outer;       /* the clone of the enclosing graph; the outermost refers to itself */
};
struct cloner {
  struct ctx *ctx;
  struct arena *arena;
  VEC(struct clone) clones;
};

/* A value from outside the outermost clone is not replaced. */
static struct value *became(const struct cloner *c, size_t clone, struct value *value) {
  if (!value) return NULL;
  for (;;) {
    const struct clone *at = &c->clones.at[clone];
    if (graph_owns(at->from, value)) return at->map[value->index];
    if (at->outer == clone) return value;
    clone = at->outer;
  }
}

static hone_status clone_list(struct cloner *c, size_t clone, struct value *const *from,
                              size_t count, struct value ***out) {
  TRY(NEW_ARRAY(c->ctx, c->arena, *out, count));
  for (size_t i = 0; i < count; i++) (*out)[i] = became(c, clone, from[i]);
  return HONE_OK;
}

/* Values with their names and indices. */
static hone_status clone_values(struct cloner *c, size_t clone) {
  struct clone at = c->clones.at[clone];
  for (size_t i = 0; i < at.from->values.count; i++) {
    struct value *value;
    TRY(NEW(c->ctx, c->arena, value));
    *value = *at.from->values.at[i];
    value->producer = NULL;
    value->sizes = NULL; /* they refer to values of the original */
    at.map[i] = value;
    VEC_PUSH(c->ctx, c->arena, &at.to->values, value);
  }
  return HONE_OK;
}

static hone_status add_clone(struct cloner *c, const struct graph *from, struct graph *to,
                             size_t outer) {
  struct clone clone = {.from = from, .to = to, .outer = outer};
  TRY(NEW_ARRAY(c->ctx, c->arena, clone.map, from->values.count));
  VEC_PUSH(c->ctx, c->arena, &c->clones, clone);
  return HONE_OK;
}

static hone_status add_nested(struct cloner *c, struct attribute *attribute, size_t outer) {
  const struct graph *from = attribute->graph;
  struct graph *to;
  TRY(graph_create(c->ctx, c->arena, &to));
  to->name = from->name;
  to->impossible = from->impossible;
  to->is_dynamic = from->is_dynamic;
  to->parent = c->clones.at[outer].to;
  attribute->graph = to;
  TRY(add_clone(c, from, to, outer));
  return clone_values(c, c->clones.count - 1);
}

static hone_status clone_node(struct cloner *c, size_t clone, const struct node *from,
                              struct node **out) {
  struct node *node;
  TRY(NEW(c->ctx, c->arena, node));
  *node = *from;
  TRY(clone_list(c, clone, from->inputs, from->input_count, &node->inputs));
  TRY(clone_list(c, clone, from->outputs, from->output_count, &node->outputs));
  TRY(NEW_ARRAY(c->ctx, c->arena, node->attributes, from->attribute_count));
  if (from->attribute_count)
    memcpy(node->attributes, from->attributes, from->attribute_count * sizeof *node->attributes);
  for (size_t i = 0; i < node->output_count; i++)
    if (node->outputs[i]) node->outputs[i]->producer = node;
  for (size_t a = 0; a < node->attribute_count; a++)
    if (node->attributes[a].kind == ATTRIBUTE_GRAPH && node->attributes[a].graph)
      TRY(add_nested(c, &node->attributes[a], clone));
  *out = node;
  return HONE_OK;
}

static hone_status clone_nodes(struct cloner *c, size_t clone, struct node_list *out) {
  const struct graph *from = c->clones.at[clone].from;
  for (size_t i = 0; i < from->nodes.count; i++) {
    struct node *node;
    if (!from->nodes.at[i]) continue;
    TRY(clone_node(c, clone, from->nodes.at[i], &node));
    VEC_PUSH(c->ctx, c->arena, out, node);
  }
  return HONE_OK;
}

/* The nodes that computed constants, which are in no list. */
static hone_status clone_folded(struct cloner *c, size_t clone) {
  const struct clone at = c->clones.at[clone];
  for (size_t i = 0; i < at.from->values.count; i++) {
    const struct value *from = at.from->values.at[i];
    struct node *node;
    if (!from->folded_from || !at.map[i]) continue;
    TRY(clone_node(c, clone, from->folded_from, &node));
    at.map[i]->folded_from = node;
  }
  return HONE_OK;
}

/* Nodes, inputs and outputs of every clone from `first` on; subgraphs are appended to the list
 * meanwhile. */
static hone_status fill_clones(struct cloner *c, size_t first) {
  for (size_t k = first; k < c->clones.count; k++) {
    struct clone at = c->clones.at[k];
    struct node_list nodes = {0};
    TRY(clone_nodes(c, k, &nodes));
    TRY(clone_folded(c, k));
    for (size_t i = 0; i < nodes.count; i++) VEC_PUSH(c->ctx, c->arena, &at.to->nodes, nodes.at[i]);
    for (size_t i = 0; i < at.from->inputs.count; i++)
      VEC_PUSH(c->ctx, c->arena, &at.to->inputs, became(c, k, at.from->inputs.at[i]));
    for (size_t i = 0; i < at.from->outputs.count; i++)
      VEC_PUSH(c->ctx, c->arena, &at.to->outputs, became(c, k, at.from->outputs.at[i]));
  }
  return HONE_OK;
}

hone_status graph_copy(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                       struct graph **out) {
  struct cloner c = {.ctx = ctx, .arena = arena};
  TRY(graph_create(ctx, arena, out));
  (*out)->name = graph->name;
  (*out)->parent = graph->parent;
  (*out)->fresh = graph->fresh;
  (*out)->is_open = graph->is_open;
  (*out)->is_open_inside = graph->is_open_inside;
  for (size_t i = 0; i < graph->aliases.count; i++)
    VEC_PUSH(ctx, arena, &(*out)->aliases, graph->aliases.at[i]);
  for (size_t i = 0; i < graph->extents.count; i++)
    VEC_PUSH(ctx, arena, &(*out)->extents, graph->extents.at[i]);
  TRY(add_clone(&c, graph, *out, 0));
  TRY(clone_values(&c, 0));
  return fill_clones(&c, 0);
}

hone_status graph_inline(struct ctx *ctx, struct graph *graph, const struct graph *body,
                         struct value *const *inputs, struct node_list *out_nodes,
                         struct value **outputs) {
  struct cloner c = {.ctx = ctx, .arena = graph->arena};
  TRY(add_clone(&c, body, graph, 0));
  struct value **map = c.clones.at[0].map;
  for (size_t i = 0; i < body->inputs.count; i++) map[body->inputs.at[i]->index] = inputs[i];
  for (size_t i = 0; i < body->values.count; i++) {
    const struct value *from = body->values.at[i];
    if (map[i]) continue;
    TRY(graph_value(ctx, graph, NULL, &map[i]));
    map[i]->dtype = from->dtype;
    map[i]->has_shape = from->has_shape;
    map[i]->shape = from->shape;
    memcpy(map[i]->extents, from->extents, sizeof from->extents);
    map[i]->constant = from->constant;
  }
  TRY(clone_nodes(&c, 0, out_nodes));
  for (size_t i = 0; i < body->outputs.count; i++) outputs[i] = became(&c, 0, body->outputs.at[i]);
  return fill_clones(&c, 1);
}
