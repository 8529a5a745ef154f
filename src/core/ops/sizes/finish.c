/* finish: after all sizes were followed: constants that depend on sizes become values computed at run
 * time, and sizes at which the model is not defined are refused by a run. */
#include "core/ops/control/control.h"
#include "follow.h"

/* -- values computed from sizes at run time */

/* The graph and its subgraphs, with new nodes that go before those of each. */
struct growth {
  struct ctx *ctx;
  struct graph_list graphs;
  struct node_list *first;
};

/* The graph that owns the value; `otherwise` if none does: the value is added to it. */
static hone_status owner_of(struct growth *g, struct value *value, size_t otherwise, size_t *out) {
  for (*out = 0; *out < g->graphs.count; ++*out)
    if (graph_owns(g->graphs.at[*out], value)) return HONE_OK;
  struct graph *graph = g->graphs.at[ *out = otherwise];
  value->index = (uint32_t)graph->values.count;
  VEC_PUSH(g->ctx, graph->arena, &graph->values, value);
  return HONE_OK;
}

/* Makes the value one that is computed at run time. reader: the graph of the node that reads it */
static hone_status make_sized(struct growth *g, size_t reader, struct value *value) {
  if (!value || !value->constant || !(value->elements || value->is_computed)) return HONE_OK;
  if (!value->is_computed) {
    value->at_bounds = value->constant;
    value->constant = NULL;
    return HONE_OK;
  }
  const struct node *from = value->folded_from;
  struct node *node;
  size_t owner;
  TRY(owner_of(g, value, reader, &owner));
  struct arena *arena = g->graphs.at[owner]->arena;
  value->constant = NULL;
  value->elements = NULL;
  value->begin = NULL;
  TRY(NEW(g->ctx, arena, node));
  *node = *from;
  TRY(NEW_ARRAY(g->ctx, arena, node->outputs, 1));
  node->outputs[0] = value;
  value->producer = node;
  for (size_t k = 0; k < node->input_count; k++) {
    size_t unused;
    if (!node->inputs[k]) continue;
    TRY(owner_of(g, node->inputs[k], owner, &unused));
    TRY(make_sized(g, owner, node->inputs[k]));
  }
  VEC_PUSH(g->ctx, arena, &g->first[owner], node);
  return HONE_OK;
}

/* -- sizes at which the model is not defined */

/* How far each size is below its bound where every symbol has its least. */
static void least_sizes(const struct symbols *symbols, int64_t less[HONE_MAX_SIZES]) {
  for (size_t k = 0; k < symbols->count; k++) less[k] = symbols->at[k].bound - symbols->at[k].least;
  for (size_t j = 0; j < symbols->derived_count; j++) /* a run refuses factors below 0 */
    if (!derived_less(&symbols->derived[j], less, &less[HONE_MAX_SYMBOLS + j]))
      less[HONE_MAX_SYMBOLS + j] = symbols->derived[j].bound;
}

/* A number that would be negative at the least sizes becomes a derived size, so that a run refuses
   such sizes. */
static hone_status guard(struct ctx *ctx, struct symbols *symbols, struct place place,
                         int64_t bound, const struct slope *slope,
                         const int64_t less[HONE_MAX_SIZES]) {
  const struct derived_size size = {
      .bound = bound, .a = bound, .b = 1, .a_slope = *slope, .divisor = 1};
  size_t j = 0;
  if (bound >= slope_loss(slope, less)) return HONE_OK;
  while (j < symbols->derived_count && !same_size(&symbols->derived[j], &size)) j++;
  if (j == HONE_MAX_DERIVED) {
    hone_status status =
        fail(ctx, HONE_E_UNSUP, place, "too many sizes are derived from the dynamic dimensions");
    hint(ctx, "lower bounds need fewer: --shape \"x[1,3,32<=H<=640,32<=W<=640]\"");
    return status;
  }
  if (j == symbols->derived_count) symbols->derived[symbols->derived_count++] = size;
  return HONE_OK;
}

static hone_status check_places(struct ctx *ctx, const struct symbols *symbols,
                                const struct node *node, const struct value *value) {
  for (size_t k = 0;
       value && value->seen && value->seen->places && !value->is_computed && k < symbols->count;
       k++)
    for (int d = 0; d < value->shape.rank; d++)
      if (!is_placed(value, d, k))
        return fail(ctx, HONE_E_UNSUP, node_place(node),
                    "the part of constant \"%s\" that is read moves unevenly with %s", value->name,
                    symbols->at[k].name);
  return HONE_OK;
}

static hone_status guard_node(struct ctx *ctx, struct symbols *symbols, const struct node *node,
                              const int64_t less[HONE_MAX_SIZES]) {
  const struct value *x = node->input_count ? node->inputs[0] : NULL;
  struct window w;
  bool has_window = false;
  if (x && x->slope && !is_op(node, OP_ConvTranspose))
    TRY(window_of_node(ctx, node, &w, &has_window));
  for (int i = 0; has_window && i < w.rank; i++)
    TRY(guard(ctx, symbols, node_place(node), window_room(&w, i), &x->slope[i + 2], less));
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *y = node->outputs[k];
    for (int d = 0; y && y->slope && d < y->shape.rank; d++)
      TRY(guard(ctx, symbols, node_place(node), y->shape.dims[d], &y->slope[d], less));
  }
  return HONE_OK;
}

static hone_status finish_graph(struct growth *g, size_t k, struct symbols *symbols,
                                const int64_t less[HONE_MAX_SIZES]) {
  const struct graph *graph = g->graphs.at[k];
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct node *node = graph->nodes.at[i];
    TRY(guard_node(g->ctx, symbols, node, less)); /* windows that do not fit, negative dimensions */
    for (size_t n = 0; n < node->input_count; n++) {
      if (is_shape_operand(node, n)) continue;
      TRY(check_places(g->ctx, symbols, node, node->inputs[n]));
      TRY(make_sized(g, k, node->inputs[n]));
    }
  }
  for (size_t i = 0; i < graph->outputs.count; i++) TRY(make_sized(g, k, graph->outputs.at[i]));
  return HONE_OK;
}

static hone_status put_first(struct growth *g, size_t k) {
  struct graph *graph = g->graphs.at[k];
  struct node_list *all = &g->first[k];
  if (!all->count) return HONE_OK;
  for (size_t i = 0; i < graph->nodes.count; i++)
    VEC_PUSH(g->ctx, graph->arena, all, graph->nodes.at[i]);
  graph->nodes.at = all->at;
  graph->nodes.count = all->count;
  graph->nodes.capacity = all->capacity;
  return HONE_OK;
}

/* A branch that no size chose which was tried: how it depends on them is not known, so a run that takes it fails. */
static hone_status forbid_unseen(struct ctx *ctx, const struct graph_list *graphs) {
  for (size_t k = 0; k < graphs->count; k++)
    for (size_t i = 0; i < graphs->at[k]->nodes.count; i++) {
      const struct node *node = graphs->at[k]->nodes.at[i];
      const struct tensor *condition = is_op(node, OP_If) ? node->inputs[0]->constant : NULL;
      struct graph *other;
      if (!condition) continue;
      TRY(control_branch(ctx, node, !tensor_i64(condition, 0), &other));
      if (other->is_followed) continue;
      other->impossible = true;
      other->nodes.count = 0;
    }
  return HONE_OK;
}

hone_status symbol_finish(struct ctx *ctx, struct graph *graph) {
  struct growth g = {.ctx = ctx};
  int64_t less[HONE_MAX_SIZES] = {0};
  if (!graph->symbols.derived)
    TRY(NEW_ARRAY(ctx, graph->arena, graph->symbols.derived, HONE_MAX_DERIVED));
  least_sizes(&graph->symbols, less);
  TRY(graph_nested(ctx, graph->arena, graph, &g.graphs));
  TRY(forbid_unseen(ctx, &g.graphs));
  TRY(NEW_ARRAY(ctx, graph->arena, g.first, g.graphs.count));
  for (size_t k = 0; k < g.graphs.count; k++) TRY(finish_graph(&g, k, &graph->symbols, less));
  for (size_t k = 0; k < g.graphs.count; k++) TRY(put_first(&g, k));
  return HONE_OK;
}
