/* model: a model's graphs, with calls of model-local functions inlined.
 *
 * A function sees only its arguments, so a call has its own scope, whose values are added to the
 * caller's graph under fresh names. Calls wait in a queue and are expanded one after another: no
 * recursion, and the limit on nodes counts the expanded nodes. A recursive function is an error. */
#include "onnx.h"

static hone_status define(struct builder *builder, struct scope *scope, const char *name,
                          const struct value *value) {
  bool fresh;
  TRY(names_add(builder->reader.ctx, &scope->names, name, (void *)(uintptr_t)value, &fresh));
  if (fresh) return HONE_OK;
  return fail(builder->reader.ctx, HONE_E_FORMAT, place_name(name),
              "duplicate: defined twice in a function");
}

/* The value in which a call wants a function's output; NULL if unused. */
static struct value *wanted(const struct call *call, const char *name) {
  for (size_t k = 0; k < call->node->outputs.count; k++)
    if (!strcmp(call->function->outputs.at[k], name)) return call->node->outputs.at[k];
  return NULL;
}

static hone_status define_inputs(struct builder *builder, const struct call *call,
                                 struct scope *scope) {
  for (size_t k = 0; k < call->function->inputs.count; k++) {
    const char *name = call->function->inputs.at[k];
    struct value *given = k < call->node->inputs.count ? call->node->inputs.at[k] : NULL;
    TRY(define(builder, scope, name, given ? given : &absent_value));
    struct value *out = wanted(call, name);
    if (out && given) TRY(add_identity(builder, call->graph, given, out));
  }
  return HONE_OK;
}

static hone_status define_constant(struct builder *builder, const struct call *call,
                                   struct scope *scope, const struct raw_node *node) {
  const struct tensor *tensor;
  struct value *value;
  TRY(constant_of(builder, node, &tensor));
  TRY(graph_constant(builder->reader.ctx, call->graph, NULL, tensor, &value));
  struct value *out = wanted(call, node->output_names.at[0]);
  if (out) TRY(add_identity(builder, call->graph, value, out));
  return define(builder, scope, node->output_names.at[0], value);
}

static hone_status define_outputs(struct builder *builder, const struct call *call,
                                  struct scope *scope, struct raw_node *node) {
  struct reader *reader = &builder->reader;
  if (is_constant_node(node)) return define_constant(builder, call, scope, node);
  for (size_t i = 0; i < node->output_names.count; i++) {
    const char *name = node->output_names.at[i];
    struct value *value = *name ? wanted(call, name) : NULL;
    if (*name && !value) TRY(graph_value(reader->ctx, call->graph, NULL, &value));
    if (*name) TRY(define(builder, scope, name, value));
    VEC_PUSH(reader->ctx, reader->arena, &node->outputs, value);
  }
  return HONE_OK;
}

static hone_status check_wanted(struct builder *builder, const struct call *call,
                                const struct scope *scope) {
  for (size_t k = 0; k < call->node->outputs.count; k++) {
    const struct value *found = names_find(&scope->names, call->function->outputs.at[k]);
    if (call->node->outputs.at[k] && (!found || found == &absent_value))
      return fail(builder->reader.ctx, HONE_E_FORMAT, place_raw(call->node),
                  "output \"%s\" of function \"%s\" is not defined in it",
                  call->function->outputs.at[k], call->function->name);
  }
  return HONE_OK;
}

/* Repeated reading of function bodies may cost this much per byte of the file, plus a free
 * allowance. */
enum { WORK_PER_BYTE = 64, FREE_WORK = 4 << 20 };

static hone_status count_work(struct builder *builder, const struct call *call) {
  const struct wire *body = &call->function->message;
  builder->work_bytes += (size_t)(body->end - body->at);
  if (builder->work_bytes / WORK_PER_BYTE <= builder->file_bytes ||
      builder->work_bytes <= FREE_WORK)
    return HONE_OK;
  return fail(builder->reader.ctx, HONE_E_LIMIT, place_raw(call->node),
              "function calls expand to more than %d times the file", WORK_PER_BYTE);
}

static hone_status expand_call(struct builder *builder) {
  struct reader *reader = &builder->reader;
  const struct call *call = builder->calls.at[builder->next_call++];
  TRY(count_work(builder, call));
  struct scope *scope;
  struct raw_graph body;
  size_t first_pending = reader->pending.count;
  enter_call(builder, call);
  TRY(NEW(reader->ctx, reader->arena, scope));
  *scope = (struct scope){.graph = call->graph, .depth = call->depth};
  names_init(&scope->names, reader->arena);
  TRY(read_function_nodes(reader, call->function->message, call->depth, &body));
  adopt_pending(builder, first_pending, scope);
  TRY(define_inputs(builder, call, scope));
  for (size_t i = 0; i < body.nodes.count; i++)
    TRY(define_outputs(builder, call, scope, &body.nodes.at[i]));
  TRY(check_wanted(builder, call, scope));
  for (size_t i = 0; i < body.nodes.count; i++)
    if (!is_constant_node(&body.nodes.at[i])) TRY(add_node(builder, scope, &body.nodes.at[i]));
  return HONE_OK;
}

/* -- all graphs */

static hone_status start_graph(struct builder *builder, struct scope *parent, struct graph *graph,
                               struct wire message, int depth) {
  struct reader *reader = &builder->reader;
  struct scope *scope;
  TRY(NEW(reader->ctx, reader->arena, scope));
  *scope = (struct scope){.parent = parent, .graph = graph, .depth = depth};
  names_init(&scope->names, reader->arena);
  VEC_PUSH(reader->ctx, reader->arena, &builder->graphs, graph);
  return build_graph(builder, message, depth, scope);
}

static hone_status sort_graphs(struct builder *builder) {
  struct ctx *ctx = builder->reader.ctx;
  for (size_t i = 0; i < builder->graphs.count; i++) {
    struct graph *graph = builder->graphs.at[i];
    bool was_sorted = true;
    TRY(graph_sort(ctx, graph, &was_sorted));
    if (was_sorted || builder->calls.count) continue; /* calls are expanded at the end */
    if (builder->options->strict)
      return fail(ctx, HONE_E_FORMAT, place_name(graph->name),
                  "the nodes are not in topological order");
    warn(ctx, "the nodes of graph \"%s\" are not in topological order; they were sorted",
         graph->name);
  }
  return HONE_OK;
}

/* -- unused optional outputs */

static void leave_out(struct node *node, const uint32_t *uses) {
  if (node->op->max_outputs < 0) return; /* the number of outputs has a meaning */
  for (size_t k = 1; k < node->output_count; k++)
    if (node->outputs[k] && !uses[node->outputs[k]->index]) {
      node->outputs[k]->producer = NULL;
      node->outputs[k] = NULL;
    }
  while (node->output_count > 1 && !node->outputs[node->output_count - 1]) node->output_count--;
}

/* Removes unused outputs after the first one. */
static hone_status drop_unread(struct builder *builder) {
  for (size_t g = 0; g < builder->graphs.count; g++) {
    const struct graph *graph = builder->graphs.at[g];
    uint32_t *uses;
    TRY(graph_uses(builder->reader.ctx, builder->reader.arena, graph, &uses));
    for (size_t n = 0; n < graph->nodes.count; n++) leave_out(graph->nodes.at[n], uses);
  }
  return HONE_OK;
}

hone_status build_model(struct builder *builder, struct wire message, struct graph **out) {
  struct reader *reader = &builder->reader;
  builder->file_bytes = (size_t)(message.end - message.at);
  TRY(read_model(reader, message, &builder->model));
  TRY(check_versions(builder));
  TRY(read_functions(builder));
  TRY(graph_create(reader->ctx, reader->arena, out));
  TRY(start_graph(builder, NULL, *out, builder->model.graph, 1));
  for (size_t i = 0; i < reader->pending.count || builder->next_call < builder->calls.count;) {
    if (builder->next_call < builder->calls.count) {
      TRY(expand_call(builder));
      continue;
    }
    struct pending_graph next = reader->pending.at[i++];
    enter_call(builder, next.call);
    TRY(start_graph(builder, next.scope, next.graph, next.message, next.depth));
  }
  if (builder->redefined)
    warn(reader->ctx, "constant \"%s\"%s is defined more than once: the last definition is used",
         builder->first_redefined, builder->redefined > 1 ? ", like others," : "");
  TRY(drop_unread(builder));
  return sort_graphs(builder);
}
