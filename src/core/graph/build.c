/* Building: values, constants, nodes and attributes, all in the graph's arena. Nodes are appended;
 * the caller keeps topological order by building producers first (or calls graph_sort). */
#include "graph.h"

enum { FRESH_DIGITS = 18 }; /* "%N" with more digits cannot equal a fresh name */

hone_status graph_create(struct ctx *ctx, struct arena *arena, struct graph **out) {
  struct graph *graph;
  TRY(NEW(ctx, arena, graph));
  graph->arena = arena;
  graph->name = "";
  *out = graph;
  return HONE_OK;
}

static struct graph *outermost(struct graph *graph) {
  while (graph->parent) graph = graph->parent;
  return graph;
}

/* A given name "%N" moves the counter past N, so that fresh names stay unique. */
static void reserve_fresh(struct graph *graph, const char *name) {
  uint64_t number = 0;
  size_t digits = 0;
  if (name[0] != '%') return;
  for (const char *p = name + 1; *p; p++) {
    if (*p < '0' || *p > '9' || ++digits > FRESH_DIGITS) return;
    number = number * 10 + (uint64_t)(*p - '0');
  }
  struct graph *root = outermost(graph);
  if (digits && number >= root->fresh) root->fresh = number + 1;
}

hone_status graph_value(struct ctx *ctx, struct graph *graph, const char *name,
                        struct value **out) {
  struct value *value;
  TRY(NEW(ctx, graph->arena, value));
  if (name) {
    TRY(arena_string(ctx, graph->arena, name, strlen(name), &value->name));
    reserve_fresh(graph, name);
  } else {
    TRY(arena_printf(ctx, graph->arena, &value->name, "%%%llu",
                     (unsigned long long)outermost(graph)->fresh++));
  }
  if (graph->values.count >= UINT32_MAX)
    return fail(ctx, HONE_E_LIMIT, place_name(value->name), "too many values in one graph");
  value->index = (uint32_t)graph->values.count;
  VEC_PUSH(ctx, graph->arena, &graph->values, value);
  *out = value;
  return HONE_OK;
}

hone_status graph_input(struct ctx *ctx, struct graph *graph, const char *name, hone_dtype dtype,
                        const struct shape *shape, struct value **out) {
  int64_t elements;
  size_t bytes;
  if (shape) TRY(extent(ctx, place_name(name), dtype, shape, &elements, &bytes));
  TRY(graph_value(ctx, graph, name, out));
  (*out)->dtype = dtype;
  (*out)->has_shape = shape != NULL;
  if (shape) (*out)->shape = *shape;
  (*out)->is_input = true;
  VEC_PUSH(ctx, graph->arena, &graph->inputs, *out);
  return HONE_OK;
}

hone_status graph_extent(struct ctx *ctx, struct graph *graph, int64_t bound, uint32_t *out) {
  struct graph *root = outermost(graph);
  if (root->extents.count >= HONE_MAX_EXTENTS)
    return fail(ctx, HONE_E_LIMIT, place_name(root->name),
                "more than %d sizes that are known only at run time", HONE_MAX_EXTENTS);
  VEC_PUSH(ctx, root->arena, &root->extents, (struct extent){bound});
  *out = (uint32_t)root->extents.count;
  return HONE_OK;
}

hone_status graph_constant(struct ctx *ctx, struct graph *graph, const char *name,
                           const struct tensor *tensor, struct value **out) {
  TRY(graph_value(ctx, graph, name, out));
  (*out)->dtype = tensor->dtype;
  (*out)->has_shape = true;
  (*out)->shape = tensor->shape;
  (*out)->constant = tensor;
  return HONE_OK;
}

hone_status tensor_create(struct ctx *ctx, struct arena *arena, hone_dtype dtype,
                          const struct shape *shape, struct tensor **out) {
  struct tensor *tensor;
  int64_t elements;
  char *data;
  TRY(NEW(ctx, arena, tensor));
  TRY(extent(ctx, place_none(), dtype, shape, &elements, &tensor->bytes));
  TRY(NEW_ARRAY(ctx, arena, data, tensor->bytes));
  tensor->dtype = dtype;
  tensor->shape = *shape;
  tensor->data = data;
  *out = tensor;
  return HONE_OK;
}

hone_status graph_new_constant(struct ctx *ctx, struct graph *graph, hone_dtype dtype,
                               const struct shape *shape, struct value **out) {
  struct tensor *tensor;
  TRY(tensor_create(ctx, graph->arena, dtype, shape, &tensor));
  return graph_constant(ctx, graph, NULL, tensor, out);
}

hone_status graph_ints(struct ctx *ctx, struct graph *graph, const int64_t *numbers, size_t count,
                       struct value **out) {
  TRY(graph_new_constant(ctx, graph, HONE_I64, &(struct shape){1, {(int64_t)count}}, out));
  for (size_t i = 0; i < count; i++) tensor_set_i64((*out)->constant, i, numbers[i]);
  return HONE_OK;
}

hone_tensor value_tensor(const struct value *value, const void *data) {
  hone_tensor out = {
      .data = (void *)(uintptr_t)data, .dtype = value->dtype, .rank = value->shape.rank};
  memcpy(out.shape, value->shape.dims, (size_t)out.rank * sizeof *out.shape);
  return out;
}

hone_status value_memory(struct ctx *ctx, struct arena *arena, const struct value *value,
                         hone_tensor *out) {
  struct tensor *tensor;
  TRY(tensor_create(ctx, arena, value->dtype, &value->shape, &tensor));
  *out = value_tensor(value, tensor->data);
  return HONE_OK;
}

hone_status tensor_copy(struct ctx *ctx, struct arena *arena, const struct tensor *from,
                        struct tensor **out) {
  TRY(tensor_create(ctx, arena, from->dtype, &from->shape, out));
  if ((*out)->bytes != from->bytes)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "a tensor of %zu bytes should have %zu",
                from->bytes, (*out)->bytes);
  if (from->bytes) memcpy((void *)(uintptr_t)(*out)->data, from->data, from->bytes);
  return HONE_OK;
}

hone_status graph_node(struct ctx *ctx, struct graph *graph, const struct op *op,
                       struct value *const *inputs, size_t input_count, size_t output_count,
                       struct node **out) {
  struct node *node;
  if (!op) return fail(ctx, HONE_E_INTERNAL, place_none(), "a node without an operator");
  TRY(NEW(ctx, graph->arena, node));
  node->op = op;
  node->name = "";
  node->index = -1;
  node->input_count = input_count;
  node->output_count = output_count;
  TRY(NEW_ARRAY(ctx, graph->arena, node->inputs, input_count));
  TRY(NEW_ARRAY(ctx, graph->arena, node->outputs, output_count));
  if (input_count) memcpy(node->inputs, inputs, input_count * sizeof *inputs);
  for (size_t i = 0; i < output_count; i++) {
    TRY(graph_value(ctx, graph, NULL, &node->outputs[i]));
    node->outputs[i]->producer = node;
  }
  VEC_PUSH(ctx, graph->arena, &graph->nodes, node);
  *out = node;
  return HONE_OK;
}

hone_status graph_output(struct ctx *ctx, struct graph *graph, struct value *value) {
  value->is_output = true;
  VEC_PUSH(ctx, graph->arena, &graph->outputs, value);
  return HONE_OK;
}

hone_status graph_sized(struct ctx *ctx, struct graph *graph, hone_dtype dtype,
                        const struct shape *shape, int64_t bound, const struct slope *slope,
                        struct value **out) {
  struct tensor *at_bounds;
  struct slope *elements;
  TRY(graph_value(ctx, graph, NULL, out));
  TRY(tensor_create(ctx, graph->arena, dtype, shape, &at_bounds));
  TRY(NEW_ARRAY(ctx, graph->arena, elements, tensor_count(at_bounds) + 1));
  for (size_t i = 0; i < tensor_count(at_bounds); i++) {
    tensor_set_f64(at_bounds, i, (double)bound);
    elements[i] = *slope;
  }
  (*out)->dtype = dtype;
  (*out)->shape = *shape;
  (*out)->has_shape = true;
  (*out)->at_bounds = at_bounds;
  (*out)->elements = elements;
  return HONE_OK;
}

hone_status node_set(struct ctx *ctx, struct graph *graph, struct node *node,
                     const struct attribute *attribute) {
  struct attribute *grown;
  size_t count = node->attribute_count;
  for (size_t i = 0; i < count; i++)
    if (!strcmp(node->attributes[i].name, attribute->name)) {
      node->attributes[i] = *attribute;
      return HONE_OK;
    }
  if ((int64_t)count >= ctx->limits[LIMIT_attributes_per_node])
    return fail(ctx, HONE_E_LIMIT, node_place(node), "more attributes than attributes_per_node");
  if ((count & (count - 1)) == 0) { /* capacity is the next power of two */
    TRY(NEW_ARRAY(ctx, graph->arena, grown, count ? 2 * count : 1));
    if (count) memcpy(grown, node->attributes, count * sizeof *grown);
    node->attributes = grown;
  }
  node->attributes[node->attribute_count++] = *attribute;
  return HONE_OK;
}

hone_status node_set_int(struct ctx *ctx, struct graph *graph, struct node *node, const char *name,
                         int64_t i) {
  struct attribute attribute = {.name = name, .kind = ATTRIBUTE_INT, .i = i};
  return node_set(ctx, graph, node, &attribute);
}

hone_status node_set_float(struct ctx *ctx, struct graph *graph, struct node *node,
                           const char *name, double f) {
  struct attribute attribute = {.name = name, .kind = ATTRIBUTE_FLOAT, .f = f};
  return node_set(ctx, graph, node, &attribute);
}

hone_status node_set_ints(struct ctx *ctx, struct graph *graph, struct node *node, const char *name,
                          const int64_t *ints, size_t count) {
  int64_t *copy;
  TRY(NEW_ARRAY(ctx, graph->arena, copy, count));
  if (count) memcpy(copy, ints, count * sizeof *ints);
  struct attribute attribute = {.name = name, .kind = ATTRIBUTE_INTS, .ints = copy, .count = count};
  return node_set(ctx, graph, node, &attribute);
}

hone_status node_set_string(struct ctx *ctx, struct graph *graph, struct node *node,
                            const char *name, const char *string) {
  struct attribute attribute = {.name = name, .kind = ATTRIBUTE_STRING};
  attribute.s.length = strlen(string);
  TRY(arena_string(ctx, graph->arena, string, attribute.s.length, &attribute.s.bytes));
  return node_set(ctx, graph, node, &attribute);
}

static hone_status find_port(struct ctx *ctx, struct value *const *list, size_t count,
                             const char *name, const char *side, size_t *out) {
  for (*out = 0; *out < count; ++*out)
    if (!strcmp(list[*out]->name, name)) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(name), "the model has no such %s", side);
}

hone_status graph_alias(struct ctx *ctx, struct graph *graph, const char *from, const char *to) {
  struct alias alias = {0};
  TRY(find_port(ctx, graph->inputs.at, graph->inputs.count, from, "input", &alias.input));
  TRY(find_port(ctx, graph->outputs.at, graph->outputs.count, to, "output", &alias.output));
  const struct value *in = graph->inputs.at[alias.input], *out = graph->outputs.at[alias.output];
  if (graph_state_of(graph, alias.input) || graph_state_at(graph, alias.output))
    return fail(ctx, HONE_E_USAGE, place_name(from), "it or \"%s\" is state already", to);
  if (in->dtype != out->dtype || in->dtype == HONE_STRING ||
      !shape_equal(&in->shape, &out->shape) || in->slope || out->slope || value_is_open(in) ||
      value_is_open(out))
    return fail(ctx, HONE_E_USAGE, place_name(from),
                "it and \"%s\" must have one type and one fixed shape", to);
  VEC_PUSH(ctx, graph->arena, &graph->aliases, alias);
  return HONE_OK;
}
