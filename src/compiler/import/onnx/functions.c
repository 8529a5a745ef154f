/* functions: model-local functions, and the queue of calls to expand. */
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
                  "recursion: function \"%s\" calls itself through \"%s\"", function->name,
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
