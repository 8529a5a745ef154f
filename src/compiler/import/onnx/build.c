/* build: raw graphs to graphs. Names become values, constants leave the node list, nodes are
 * upgraded to HONE_OPSET, bodies of If, Loop and Scan get the enclosing scope.
 *
 * Every value of a graph is declared before its nodes are resolved, so nodes may be in any order;
 * graph_sort sorts them at the end. Subgraphs in attributes wait in a list: no recursion. */
#include "onnx.h"

/* -- declaring values */

/* A later constant with the same name replaces the earlier one everywhere, as in ONNX Runtime:
 * initializers, then Constant nodes, each in their order. */
static hone_status add_constant(struct builder *builder, struct scope *scope, const char *name,
                                const struct tensor *tensor, struct place at) {
  struct ctx *ctx = builder->reader.ctx;
  struct value *value = names_find(&scope->names, name);
  if (value && value->constant && !builder->options->strict) {
    if (value->dtype != tensor->dtype || !shape_equal(&value->shape, &tensor->shape))
      return fail(ctx, HONE_E_FORMAT, at,
                  "duplicate: \"%s\" is defined twice, with another type or shape", name);
    if (!builder->redefined++) builder->first_redefined = name;
    value->constant = tensor;
    return HONE_OK;
  }
  TRY(graph_constant(ctx, scope->graph, name, tensor, &value));
  return declare(builder, scope, value, at);
}

static hone_status add_constants(struct builder *builder, struct scope *scope,
                                 const struct raw_graph *raw) {
  for (size_t i = 0; i < raw->tensors.count; i++) {
    const struct raw_tensor *tensor = &raw->tensors.at[i];
    TRY(add_constant(builder, scope, tensor->name, tensor->tensor, place_offset(tensor->offset)));
  }
  return HONE_OK;
}

/* Old files list initializers among the inputs; hone treats those as constants. */
static void find_real_inputs(const struct scope *scope, const struct raw_graph *raw,
                             bool *is_real) {
  for (size_t i = 0; i < raw->inputs.count; i++)
    is_real[i] = !names_find(&scope->names, raw->inputs.at[i].name);
}

/* The size of the input dimension with that name, -1: none. */
static int64_t size_of_name(const struct builder *builder, const struct scope *scope,
                            const char *name) {
  for (size_t i = 0; *name && i < builder->main.inputs.count; i++) {
    const struct raw_value *input = &builder->main.inputs.at[i];
    const struct value *value = names_find(&scope->names, input->name);
    for (int d = 0; value && value->has_shape && d < input->rank; d++)
      if (!strcmp(input->dims[d].param, name) && d < value->shape.rank) return value->shape.dims[d];
  }
  return -1;
}

static void declare_shape(const struct builder *builder, const struct scope *scope,
                          const struct raw_value *raw, struct value *value) {
  value->shape.rank = raw->rank;
  for (int d = 0; d < raw->rank; d++)
    value->shape.dims[d] = raw->dims[d].value >= 0
                               ? raw->dims[d].value
                               : size_of_name(builder, scope, raw->dims[d].param);
}

static hone_status add_input(struct builder *builder, struct scope *scope,
                             const struct raw_value *raw, const struct shape *shape) {
  struct ctx *ctx = builder->reader.ctx;
  struct value *value;
  /* its elements are known at the call */
  if (scope->parent && (raw->is_sequence || raw->is_optional)) {
    TRY(graph_input(ctx, scope->graph, raw->name, HONE_UNDEFINED, NULL, &value));
    return declare(builder, scope, value, place_offset(raw->offset));
  }
  if (!scope->parent && !raw->dtype)
    return fail(ctx, HONE_E_TYPE, place_name(raw->name), "an input without element type");
  int64_t elements;
  size_t bytes;
  if (raw->dtype && shape)
    TRY(shape_check(ctx, place_name(raw->name), raw->dtype, shape, &elements, &bytes));
  TRY(graph_input(ctx, scope->graph, raw->name, raw->dtype, raw->dtype ? shape : NULL, &value));
  if (!shape && raw->has_shape) declare_shape(builder, scope, raw, value);
  return declare(builder, scope, value, place_offset(raw->offset));
}

/* A body's input has a shape only if all its dimensions are fixed in the file. */
static const struct shape *fixed_shape(const struct raw_value *raw, struct shape *shape) {
  shape->rank = raw->rank;
  for (int d = 0; d < raw->rank; d++) {
    if (raw->dims[d].value < 0) return NULL;
    shape->dims[d] = raw->dims[d].value;
  }
  return raw->has_shape ? shape : NULL;
}

static hone_status add_fixed_inputs(struct builder *builder, struct scope *scope,
                                    const struct raw_graph *raw, const bool *is_real) {
  struct reader *reader = &builder->reader;
  struct shape *shapes, fixed;
  TRY(NEW_ARRAY(reader->ctx, reader->arena, shapes, raw->inputs.count));
  if (!scope->parent)
    TRY(bind_shapes(reader->ctx, reader->arena, builder->options, raw->inputs.at, is_real,
                    raw->inputs.count, shapes, scope->graph));
  for (size_t i = 0; i < raw->inputs.count; i++) {
    const struct raw_value *input = &raw->inputs.at[i];
    if (is_real[i])
      TRY(add_input(builder, scope, input,
                    scope->parent ? fixed_shape(input, &fixed) : &shapes[i]));
  }
  return HONE_OK;
}

static hone_status add_inputs(struct builder *builder, struct scope *scope,
                              const struct raw_graph *raw) {
  struct reader *reader = &builder->reader;
  struct raw_graph tensors = *raw; /* sequences are declared by their elements */
  bool *is_real;
  for (size_t i = 0; i < raw->inputs.count; i++)
    if (raw->inputs.at[i].other_type)
      return fail(reader->ctx, HONE_E_UNSUP, place_name(raw->inputs.at[i].name),
                  "an input that is %s", raw->inputs.at[i].other_type);
  if (!scope->parent) TRY(expand_lists(builder, raw, &tensors));
  TRY(NEW_ARRAY(reader->ctx, reader->arena, is_real, tensors.inputs.count));
  find_real_inputs(scope, &tensors, is_real);
  TRY(add_fixed_inputs(builder, scope, &tensors, is_real));
  return scope->parent ? HONE_OK : join_lists(builder, scope, raw);
}

/* -- Constant nodes */

static hone_status list_tensor(struct builder *builder, hone_dtype dtype, size_t count,
                               bool is_scalar, struct tensor **out) {
  struct shape shape = {.rank = is_scalar ? 0 : 1, .dims = {(int64_t)count}};
  return tensor_create(builder->reader.ctx, builder->reader.arena, dtype, &shape, out);
}

static hone_status attribute_tensor(struct builder *builder, const struct attribute *attribute,
                                    const struct tensor **out) {
  struct tensor *tensor;
  bool is_list = attribute->kind >= ATTRIBUTE_FLOATS;
  size_t count = is_list ? attribute->count : 1;
  switch (attribute->kind) {
    case ATTRIBUTE_TENSOR:
      *out = attribute->tensor;
      return HONE_OK;
    case ATTRIBUTE_FLOAT:
    case ATTRIBUTE_FLOATS:
      TRY(list_tensor(builder, HONE_F32, count, !is_list, &tensor));
      for (size_t i = 0; i < count; i++)
        tensor_set_f64(tensor, i, is_list ? attribute->floats[i] : attribute->f);
      break;
    case ATTRIBUTE_INT:
    case ATTRIBUTE_INTS:
      TRY(list_tensor(builder, HONE_I64, count, !is_list, &tensor));
      for (size_t i = 0; i < count; i++)
        tensor_set_i64(tensor, i, is_list ? attribute->ints[i] : attribute->i);
      break;
    case ATTRIBUTE_STRING:
    case ATTRIBUTE_STRINGS:
      TRY(list_tensor(builder, HONE_STRING, count, !is_list, &tensor));
      if (count)
        memcpy((void *)(uintptr_t)tensor->data, is_list ? attribute->strings : &attribute->s,
               count * sizeof(struct string));
      break;
    case ATTRIBUTE_GRAPH:
      return fail(builder->reader.ctx, HONE_E_FORMAT, place_name(attribute->name),
                  "Constant with a graph attribute is not supported");
  }
  *out = tensor;
  return HONE_OK;
}

bool is_constant_node(const struct raw_node *node) {
  return !strcmp(node->op_type, "Constant") && !*node->domain;
}

hone_status constant_of(struct builder *builder, const struct raw_node *node,
                        const struct tensor **out) {
  if (node->attributes.count != 1 || node->output_names.count != 1 || node->input_names.count)
    return fail(builder->reader.ctx, HONE_E_FORMAT, place_raw(node),
                "Constant must have one value attribute, one output and no input");
  return attribute_tensor(builder, &node->attributes.at[0], out);
}

static hone_status add_constant_node(struct builder *builder, struct scope *scope,
                                     const struct raw_node *node) {
  const struct tensor *tensor;
  TRY(constant_of(builder, node, &tensor));
  return add_constant(builder, scope, node->output_names.at[0], tensor, place_raw(node));
}

static hone_status declare_outputs(struct builder *builder, struct scope *scope,
                                   struct raw_node *node) {
  struct reader *reader = &builder->reader;
  if (is_constant_node(node)) return add_constant_node(builder, scope, node);
  for (size_t i = 0; i < node->output_names.count; i++) {
    struct value *value = NULL;
    if (*node->output_names.at[i]) {
      TRY(graph_value(reader->ctx, scope->graph, node->output_names.at[i], &value));
      TRY(declare(builder, scope, value, place_raw(node)));
    }
    VEC_PUSH(reader->ctx, reader->arena, &node->outputs, value);
  }
  return HONE_OK;
}

/* -- nodes */

static struct value *find_value(const struct scope *scope, const char *name) {
  for (; scope; scope = scope->parent) {
    struct value *value = names_find(&scope->names, name);
    if (value) return value;
  }
  return NULL;
}

static hone_status resolve_inputs(struct builder *builder, struct scope *scope,
                                  struct raw_node *node) {
  struct reader *reader = &builder->reader;
  for (size_t i = 0; i < node->input_names.count; i++) {
    const char *name = node->input_names.at[i];
    struct value *value = *name ? find_value(scope, name) : NULL;
    if (*name && !value)
      return fail(reader->ctx, HONE_E_FORMAT, place_raw(node),
                  "%s reads \"%s\", which is not defined in the graph", node->op_type, name);
    VEC_PUSH(reader->ctx, reader->arena, &node->inputs, value == &absent_value ? NULL : value);
  }
  return HONE_OK;
}

static hone_status check_arity(struct builder *builder, const struct raw_node *raw,
                               const struct op *op) {
  size_t inputs = raw->inputs.count, outputs = raw->outputs.count;
  if (inputs < (size_t)op->min_inputs || (op->max_inputs >= 0 && inputs > (size_t)op->max_inputs))
    return fail(builder->reader.ctx, HONE_E_FORMAT, place_raw(raw), "%s has %zu inputs", op->name,
                inputs);
  if (outputs < (size_t)op->min_outputs ||
      (op->max_outputs >= 0 && outputs > (size_t)op->max_outputs))
    return fail(builder->reader.ctx, HONE_E_FORMAT, place_raw(raw), "%s has %zu outputs", op->name,
                outputs);
  return HONE_OK;
}

/* An operator that hone does not have: E_UNSUP, except in the body of a control operator, where a
 * node reports it if the body runs. A branch that is never taken may contain anything, as in ONNX
 * Runtime. */
static hone_status unknown_op(struct builder *builder, const struct graph *graph,
                              const struct raw_node *raw, const char **out_what) {
  struct ctx *ctx = builder->reader.ctx;
  TRY(arena_printf(ctx, builder->reader.arena, out_what,
                   "operator \"%.200s\" of domain \"%.200s\" (opset %lld)", raw->op_type,
                   raw->domain, (long long)opset_of(builder, raw->domain)));
  if (graph->parent) return HONE_OK;
  return fail(ctx, HONE_E_UNSUP, place_raw(raw), "%s is not supported", *out_what);
}

hone_status build_node(struct builder *builder, struct graph *graph, const struct raw_node *raw,
                       struct node **out) {
  struct ctx *ctx = builder->reader.ctx;
  const struct op *op = op_find(raw->domain, raw->op_type);
  const char *unknown = NULL;
  if (!op) TRY(unknown_op(builder, graph, raw, &unknown));
  if (unknown) op = &op_table[OP_Unsupported];
  TRY(check_arity(builder, raw, op));
  struct node *node;
  TRY(NEW(ctx, graph->arena, node));
  *node =
      (struct node){.op = op, .name = raw->name, .index = raw->index, .written_as = raw->op_type};
  node->inputs = raw->inputs.at;
  node->input_count = raw->inputs.count;
  node->outputs = raw->outputs.at;
  node->output_count = raw->outputs.count;
  for (size_t i = 0; i < node->output_count; i++)
    if (node->outputs[i]) node->outputs[i]->producer = node;
  VEC_PUSH(ctx, graph->arena, &graph->nodes, node);
  *out = node;
  if (unknown) return node_set_string(ctx, graph, node, "operator", unknown);
  for (size_t i = 0; i < raw->attributes.count; i++)
    TRY(node_set(ctx, graph, node, &raw->attributes.at[i]));
  return HONE_OK;
}

/* The operator must exist in the opset that the model imports. */
static hone_status check_opset(struct builder *builder, const struct raw_node *node) {
  struct ctx *ctx = builder->reader.ctx;
  const struct op *op = op_find(node->domain, node->op_type);
  int64_t opset = opset_of(builder, node->domain);
  /* the meaning of a node of this domain depends on the opset */
  if (op && !opset && !*node->domain)
    return fail(ctx, HONE_E_FORMAT, place_raw(node),
                "%s: the model does not import an opset of domain \"%s\"", node->op_type,
                node->domain);
  if (op && !opset) { /* as ONNX Runtime does */
    const struct raw_opset newest = {.domain = node->domain, .version = INT32_MAX};
    warn(ctx, "the model does not import an opset of domain \"%s\": the newest is assumed",
         node->domain);
    VEC_PUSH(ctx, builder->reader.arena, &builder->model.opsets, newest);
    return HONE_OK;
  }
  if (op && opset < op->since)
    return fail(ctx, HONE_E_UNSUP, place_raw(node),
                "operator \"%s\" of domain \"%s\" needs opset %d, the model has %lld",
                node->op_type, node->domain, op->since, (long long)opset);
  return HONE_OK;
}

static void trim_inputs(struct raw_node *node) {
  while (node->inputs.count && !node->inputs.at[node->inputs.count - 1]) node->inputs.count--;
}

/* Attributes of an unknown operator are not checked: the operator itself is reported. */
static hone_status check_attributes(struct builder *builder, const struct raw_node *node) {
  if (!op_find(node->domain, node->op_type) && (*node->domain || !is_upgraded(node->op_type)))
    return HONE_OK;
  return attributes_check(builder->reader.ctx, place_raw(node), node->op_type, node->attributes.at,
                          node->attributes.count);
}

hone_status add_node(struct builder *builder, struct scope *scope, struct raw_node *node) {
  struct node *built;
  bool was_upgraded = false;
  TRY(resolve_inputs(builder, scope, node));
  const struct raw_function *function = function_of(builder, node);
  if (function) return note_call(builder, function, scope, node);
  bool was_renamed = contrib_name(node);
  TRY(check_attributes(builder, node)); /* against the file's opset */
  if (!*node->domain) TRY(upgrade_node(builder, scope->graph, node, &was_upgraded));
  if (!was_upgraded && !was_renamed) TRY(check_opset(builder, node));
  trim_inputs(node);
  return build_node(builder, scope->graph, node, &built);
}

/* -- outputs */

hone_status add_identity(struct builder *builder, struct graph *graph, struct value *from,
                         struct value *to) {
  struct reader *reader = &builder->reader;
  struct raw_node copy = {.domain = "", .op_type = "Identity", .name = "", .index = -1};
  struct node *node;
  VEC_PUSH(reader->ctx, reader->arena, &copy.inputs, from);
  VEC_PUSH(reader->ctx, reader->arena, &copy.outputs, to);
  return build_node(builder, graph, &copy, &node);
}

/* Makes an output through an Identity if the graph does not own the value (a body may return a
 * value of an outer graph) or returns it already. */
static hone_status copy_output(struct builder *builder, struct scope *scope, const char *name,
                               struct value **value) {
  struct value *own;
  TRY(graph_value(builder->reader.ctx, scope->graph, name, &own));
  TRY(add_identity(builder, scope->graph, *value, own));
  *value = own;
  return HONE_OK;
}

static hone_status add_output(struct builder *builder, struct scope *scope,
                              const struct raw_value *raw) {
  struct ctx *ctx = builder->reader.ctx;
  struct value *value = find_value(scope, raw->name);
  if (!value || value == &absent_value)
    return fail(ctx, HONE_E_FORMAT, place_name(raw->name),
                "a graph output is not defined by any node, input or initializer");
  if (value->is_output && builder->options->strict)
    return fail(ctx, HONE_E_FORMAT, place_name(raw->name), "duplicate graph output");
  if (!graph_owns(scope->graph, value))
    TRY(copy_output(builder, scope, raw->name, &value));
  else if (value->is_output) /* as ONNX Runtime does */
    TRY(copy_output(builder, scope, NULL, &value));
  if (!value->has_shape && raw->has_shape) declare_shape(builder, scope, raw, value);
  return graph_output(ctx, scope->graph, value);
}

static hone_status add_outputs(struct builder *builder, struct scope *scope,
                               const struct raw_graph *raw) {
  if (!raw->outputs.count)
    return fail(builder->reader.ctx, HONE_E_FORMAT, place_none(), "a graph without outputs");
  for (size_t i = 0; i < raw->outputs.count; i++)
    TRY(add_output(builder, scope, &raw->outputs.at[i]));
  return HONE_OK;
}

/* -- graphs */

void adopt_pending(struct builder *builder, size_t first_pending, struct scope *scope) {
  for (size_t i = first_pending; i < builder->reader.pending.count; i++) {
    struct pending_graph *pending = &builder->reader.pending.at[i];
    pending->scope = scope;
    pending->graph->parent = scope->graph;
    pending->call = builder->reader.call;
  }
}

hone_status build_graph(struct builder *builder, struct wire message, int depth,
                        struct scope *scope) {
  struct reader *reader = &builder->reader;
  struct raw_graph raw;
  size_t first_pending = reader->pending.count;
  TRY(read_graph(reader, message, depth, &raw));
  if (!scope->parent) builder->main = raw;
  adopt_pending(builder, first_pending, scope);
  scope->graph->name = raw.name;
  TRY(add_constants(builder, scope, &raw));
  TRY(add_inputs(builder, scope, &raw));
  for (size_t i = 0; i < raw.nodes.count; i++)
    TRY(declare_outputs(builder, scope, &raw.nodes.at[i]));
  for (size_t i = 0; i < raw.nodes.count; i++)
    if (!is_constant_node(&raw.nodes.at[i])) TRY(add_node(builder, scope, &raw.nodes.at[i]));
  return add_outputs(builder, scope, &raw);
}
