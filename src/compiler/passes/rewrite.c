/* The traversal that passes share, and small predicates on nodes: see rewrite.h. */
#include "rewrite.h"

hone_status rewrite_replace(struct rewrite *r, const struct value *from, struct value *to) {
  TRY(r->b->status);
  if (from->dtype != to->dtype || !shape_equal(&from->shape, &to->shape))
    return fail(r->ctx, HONE_E_INTERNAL, place_name(from->name),
                "a pass replaced a value by one of another type or shape");
  TRY(substitution_add(r->ctx, r->graph, &r->map, from, to));
  /* the reads add up; an estimate that is too high only makes later single-use tests fail */
  r->changes++;
  if (!graph_owns(r->graph, to)) return HONE_OK;
  while (r->uses.count <= to->index) VEC_PUSH(r->ctx, r->graph->arena, &r->uses, 0);
  if (from->index < r->uses.count) r->uses.at[to->index] += r->uses.at[from->index];
  return HONE_OK;
}

bool rewrite_single_use(const struct rewrite *r, const struct value *value) {
  return graph_owns(r->graph, value) && !value->is_output && value->index < r->uses.count &&
         r->uses.at[value->index] == 1;
}

hone_status rewrite_constant(struct rewrite *r, hone_dtype dtype, const struct shape *shape,
                             struct value **out) {
  return graph_new_constant(r->ctx, r->graph, dtype, shape, out);
}

hone_status rewrite_nodes(struct ctx *ctx, struct graph *graph, visit_fn *visit,
                          size_t *out_changes) {
  return rewrite_nodes_but(ctx, graph, visit, NULL, out_changes);
}

hone_status rewrite_nodes_but(struct ctx *ctx, struct graph *graph, visit_fn *visit,
                              const bool *spared, size_t *out_changes) {
  struct graph_builder b = {
      .ctx = ctx, .graph = graph, .index = -1, .name = "", .only_infers = true};
  struct rewrite r = {.ctx = ctx,
                      .graph = graph,
                      .b = &b,
                      .spared = spared,
                      .own_values = (uint32_t)graph->values.count};
  size_t count = graph->nodes.count, removed;
  bool was_sorted;
  TRY(graph_uses(ctx, graph->arena, graph, &r.uses.at));
  r.uses.count = r.uses.capacity = graph->values.count;
  for (size_t n = 0; n < count; n++) {
    struct node *node = graph->nodes.at[n];
    if (!node) continue;
    substitution_apply(&r.map, graph, node);
    b.node = node;
    TRY(visit(&r, node));
    TRY(b.status);
  }
  TRY(graph_substitute(ctx, graph, &r.map, &op_table[OP_Identity]));
  if (graph->nodes.count > count) TRY(graph_sort(ctx, graph, &was_sorted));
  if (r.changes) TRY(graph_sweep(ctx, graph, &removed));
  *out_changes = r.changes;
  return HONE_OK;
}

struct node *producer_of(const struct value *value, enum op_id op) {
  struct node *node = value ? value->producer : NULL;
  return node && is_op(node, op) && node->outputs[0] == value ? node : NULL;
}

bool is_shape_op(const struct node *node) {
  return is_op(node, OP_Reshape) || is_op(node, OP_Flatten) || is_op(node, OP_Squeeze) ||
         is_op(node, OP_Unsqueeze);
}

bool depends_on_sizes(const struct node *node) {
  for (size_t k = 0; k < node->input_count; k++)
    if (is_from_shape(node->inputs[k])) return true;
  return false;
}

bool is_pure(const struct node *node) {
  if (node->op->class == OP_CONTROL) return false;
  for (size_t a = 0; a < node->attribute_count; a++)
    if (node->attributes[a].kind == ATTRIBUTE_GRAPH) return false;
  if (!is_op(node, OP_Dropout)) return true;
  double training = 0; /* input 2: off by default */
  return !node_input(node, 2) || (constant_scalar(node->inputs[2], &training) && training == 0);
}
