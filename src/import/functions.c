/* functions: calls of model-local functions, written out where they are called.
 *
 * A function sees its arguments and nothing else, so a call is a scope of its own whose values live
 * in the caller's graph under fresh names. Calls wait in a list and are expanded one after another:
 * no recursion, and the limit on nodes counts what they expand to. A function that comes back to
 * itself is an error.
 */
#include "onnx.h"

const struct value absent_value = {.name = ""};

static hone_status key_of(struct builder *builder, const char *domain, const char *name,
                          const char *overload, const char **out) {
  return arena_printf(builder->reader.ctx, builder->reader.arena, out, "%s:%s:%s", domain, name,
                      overload);
}

hone_status read_functions(struct builder *builder) {
  struct reader *reader = &builder->reader;
  names_init(&builder->functions, reader->arena);
  for (size_t i = 0; i < builder->model.functions.count; i++) {
    struct raw_function *function;
    const char *key;
    bool fresh;
    TRY(NEW(reader->ctx, reader->arena, function));
    TRY(read_function(reader, builder->model.functions.at[i], function));
    for (size_t k = 0; k < function->opsets.count; k++)
      TRY(check_opset_version(reader->ctx, &function->opsets.at[k]));
    TRY(key_of(builder, function->domain, function->name, function->overload, &key));
    TRY(names_add(reader->ctx, &builder->functions, key, function, &fresh));
    if (!fresh)
      return fail(reader->ctx, HONE_E_FORMAT, place_name(function->name),
                  "duplicate function of domain \"%s\"", function->domain);
  }
  return HONE_OK;
}

const struct raw_function *function_of(const struct builder *builder, const struct raw_node *node) {
  char key[512];
  if (!builder->functions.count) return NULL;
  int length = snprintf(key, sizeof key, "%s:%s:%s", node->domain, node->op_type, node->overload);
  return length > 0 && (size_t)length < sizeof key ? names_find(&builder->functions, key) : NULL;
}

void enter_call(struct builder *builder, const struct call *call) {
  builder->reader.call = call;
  builder->opset = opset_of(builder, "");
}

hone_status note_call(struct builder *builder, const struct raw_function *function,
                      const struct scope *scope, const struct raw_node *node) {
  struct reader *reader = &builder->reader;
  const struct call *outer = reader->call;
  for (const struct call *c = outer; c; c = c->outer)
    if (c->function == function)
      return fail(reader->ctx, HONE_E_FORMAT, place_raw(node),
                  "recursion: function \"%s\" comes back to itself through \"%s\"", function->name,
                  outer->function->name);
  int depth = scope->depth + 1;
  if (depth > reader->ctx->limits[LIMIT_depth])
    return fail(reader->ctx, HONE_E_LIMIT, place_raw(node),
                "functions call each other more than %lld deep (limit depth)",
                (long long)reader->ctx->limits[LIMIT_depth]);
  if (node->inputs.count > function->inputs.count || node->outputs.count > function->outputs.count)
    return fail(reader->ctx, HONE_E_FORMAT, place_raw(node),
                "function \"%s\" has %zu inputs and %zu outputs, the call %zu and %zu",
                function->name, function->inputs.count, function->outputs.count, node->inputs.count,
                node->outputs.count);
  struct call *call;
  TRY(NEW(reader->ctx, reader->arena, call));
  *call = (struct call){function, node, outer, scope->graph, depth};
  VEC_PUSH(reader->ctx, reader->arena, &builder->calls, call);
  return HONE_OK;
}

/* -- one call ---- */

static hone_status define(struct builder *builder, struct scope *scope, const char *name,
                          const struct value *value) {
  bool fresh;
  TRY(names_add(builder->reader.ctx, &scope->names, name, (void *)(uintptr_t)value, &fresh));
  if (fresh) return HONE_OK;
  return fail(builder->reader.ctx, HONE_E_FORMAT, place_name(name),
              "duplicate: defined twice in a function");
}

/* The value that a call wants a function's output in; NULL if it does not. */
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
                  "output \"%s\" of function \"%s\" is defined by nothing",
                  call->function->outputs.at[k], call->function->name);
  }
  return HONE_OK;
}

/* Reading bodies again and again may cost this much for each byte of the file, and a free start. */
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

hone_status expand_call(struct builder *builder) {
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
