/* The invariants of a graph, checked after import and, in tests, after each pass: one producer per
 * value, topological order, flags that agree with the lists, types and shapes known.
 *
 * A violation is a bug in hone: E_INTERNAL; types and shapes that inference did not determine are
 * E_SHAPE/E_TYPE. */
#include "graph.h"

struct verifier {
  struct ctx *ctx;
  struct arena *scratch;
  const struct graph *graph;
  uint8_t *defined; /* by value index */
};

static hone_status broken(struct ctx *ctx, const struct node *node, const struct value *value,
                          const char *what) {
  struct place at = node ? node_place(node) : value ? place_name(value->name) : place_none();
  return fail(ctx, HONE_E_INTERNAL, at, "%s", what);
}

static hone_status check_constant(struct verifier *v, const struct value *value) {
  int64_t elements;
  size_t bytes;
  const struct tensor *tensor = value->constant;
  TRY(extent(v->ctx, place_name(value->name), tensor->dtype, &tensor->shape, &elements, &bytes));
  if (tensor->bytes != bytes || (bytes && !tensor->data))
    return broken(v->ctx, NULL, value, "a constant's payload does not fit its shape");
  if (value->dtype != tensor->dtype || !value->has_shape ||
      !shape_equal(&value->shape, &tensor->shape))
    return broken(v->ctx, NULL, value, "a constant's type differs from its value's");
  return HONE_OK;
}

static hone_status check_values(struct verifier *v) {
  const struct graph *graph = v->graph;
  for (size_t i = 0; i < graph->values.count; i++) {
    const struct value *value = graph->values.at[i];
    if (!value || value->index != i || !value->name)
      return broken(v->ctx, NULL, value, "a value's index or name is wrong");
    if (value->constant) TRY(check_constant(v, value));
    if (value->constant || value->is_input) v->defined[i] = 1;
    if (value->is_input && value->producer)
      return broken(v->ctx, value->producer, value, "an input has a producer");
  }
  return HONE_OK;
}

static hone_status check_lists(struct verifier *v) {
  const struct graph *graph = v->graph;
  for (size_t i = 0; i < graph->inputs.count; i++)
    if (!graph_owns(graph, graph->inputs.at[i]) || !graph->inputs.at[i]->is_input)
      return broken(v->ctx, NULL, graph->inputs.at[i], "an input is not marked as one");
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const struct value *value = graph->outputs.at[i];
    if (!value) return broken(v->ctx, NULL, NULL, "an output is missing");
    if (!graph_owns(graph, value)) {
      if (graph->parent) continue; /* a body may return a captured value */
      return broken(v->ctx, NULL, value, "an output belongs to another graph");
    }
    if (!value->is_output) return broken(v->ctx, NULL, value, "an output is not marked as one");
    if (!v->defined[value->index] && !graph->impossible)
      return broken(v->ctx, NULL, value, "an output is never computed");
  }
  return HONE_OK;
}

static hone_status check_inputs(struct verifier *v, const struct node *node) {
  for (size_t i = 0; i < node->input_count; i++) {
    const struct value *value = node->inputs[i];
    if (!value) continue;
    if (!graph_owns(v->graph, value)) {
      if (v->graph->parent) continue;
      return broken(v->ctx, node, value, "a node reads a value of another graph");
    }
    if (!v->defined[value->index])
      return broken(v->ctx, node, value, "a node reads a value before it is computed");
  }
  return HONE_OK;
}

static hone_status check_outputs(struct verifier *v, const struct node *node) {
  for (size_t i = 0; i < node->output_count; i++) {
    const struct value *value = node->outputs[i];
    if (!value) continue;
    if (!graph_owns(v->graph, value) || value->producer != node)
      return broken(v->ctx, node, value, "an output does not name its producer");
    if (v->defined[value->index] && !value->constant)
      return broken(v->ctx, node, value, "a value has two producers");
    v->defined[value->index] = 1;
    /* types in bodies are determined when they are inferred at run time */
    if (v->graph->parent) continue;
    if (!value->dtype)
      return fail(v->ctx, HONE_E_TYPE, node_place(node), "the type of output %zu is unknown", i);
    if (!value->has_shape)
      return fail(v->ctx, HONE_E_SHAPE, node_place(node), "the shape of output %zu is unknown", i);
  }
  return HONE_OK;
}

static hone_status verify_one(struct verifier *v) {
  TRY(NEW_ARRAY(v->ctx, v->scratch, v->defined, v->graph->values.count));
  TRY(check_values(v));
  for (size_t n = 0; n < v->graph->nodes.count; n++) {
    const struct node *node = v->graph->nodes.at[n];
    if (!node || !node->op) return broken(v->ctx, node, NULL, "the node list has a hole");
    TRY(check_inputs(v, node));
    TRY(check_outputs(v, node));
  }
  return check_lists(v);
}

hone_status graph_verify(struct ctx *ctx, const struct graph *graph) {
  struct verifier v = {.ctx = ctx};
  struct graph_list graphs;
  TRY(arena_create(ctx, 0, &v.scratch));
  hone_status status = graph_nested(ctx, v.scratch, graph, &graphs);
  for (size_t g = 0; !status && g < graphs.count; g++) {
    v.graph = graphs.at[g];
    status = verify_one(&v);
  }
  arena_destroy(v.scratch);
  return status;
}
