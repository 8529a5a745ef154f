/* Which operators are composites, and the expansion of one: see expand.h. */
#include "expand.h"

static bool is_true(const struct value *value) {
  return value && value->constant && tensor_count(value->constant) == 1 &&
         tensor_i64(value->constant, 0) != 0;
}

/* Shrink of integers: computed in floats, truncated toward zero. */
static void expand_integer_shrink(struct graph_builder *e) {
  struct value *x = x_in(e, 0);
  const hone_dtype dtype = x->dtype;
  x = x_cast(e, x, dtype_bits(dtype) <= 16 ? HONE_F32 : HONE_F64);
  x_with_float(e, "lambd", x_float(e, "lambd", 0.5));
  x_with_float(e, "bias", x_float(e, "bias", 0));
  x_out(e, 0, x_cast(e, x_1(e, OP_Shrink, x), dtype));
}

expand_fn *expand_by_row(const struct expand_row *rows, size_t count, const struct node *node) {
  for (size_t i = 0; i < count; i++)
    if (is_op(node, rows[i].op) && rows[i].is(node)) return rows[i].expand;
  return NULL;
}

expand_fn *expand_find(const struct node *node) {
  if (is_op(node, OP_Dropout) &&
      (is_true(node_input(node, 2)) || (node->output_count > 1 && node->outputs[1])))
    return expand_dropout;
  if (is_op(node, OP_Equal) && node->input_count && node->inputs[0] &&
      node->inputs[0]->dtype == HONE_STRING)
    return expand_string_equal;
  if (is_op(node, OP_Cast) && node->input_count && node->inputs[0] &&
      dtype_is_integer(node->inputs[0]->dtype) && node_int(node, "to", 0) == HONE_STRING)
    return expand_cast_text;
  if (is_op(node, OP_Shrink) && node->input_count && node->inputs[0] &&
      dtype_is_integer(node->inputs[0]->dtype))
    return expand_integer_shrink;
  expand_fn *open = expand_open_find(node);
  if (open) return open;
  if (is_op(node, OP_BatchNormalization) && node_int(node, "training_mode", 0))
    return expand_batch_norm;
  switch (node->op->id) {
#define COMPOSITE(name, expand) \
  case OP_##name:               \
    return expand;
#include "composites.def"
#undef COMPOSITE
    default:
      return NULL;
  }
}

bool x_is(const struct graph_builder *e, const char *attribute, const char *otherwise,
          const char *word) {
  return !strcmp(node_string(e->node, attribute, otherwise), word);
}

void x_out(struct graph_builder *e, size_t k, struct value *value) {
  if (k < e->node->output_count && k < COUNT(e->results)) e->results[k] = value;
}

size_t x_ints(struct graph_builder *e, size_t k, const char *what, size_t max, int64_t *out) {
  size_t count = 0;
  if (e->status) return 0;
  hone_status status = want_ints(e->ctx, e->node, k, what, max, out, &count);
  if (status) e->status = status;
  return status ? 0 : count;
}

/* -- one composite */

hone_status expand_node(struct ctx *ctx, struct graph *graph, const struct node *node,
                        expand_fn *expand, struct graph_builder *e) {
  *e = (struct graph_builder){.ctx = ctx, .graph = graph, .node = node};
  if (node->output_count > COUNT(e->results))
    return fail(ctx, HONE_E_LIMIT, node_place(node), "%s has %zu outputs, at most %zu are read",
                node->op->name, node->output_count, COUNT(e->results));
  expand(e);
  TRY(e->status);
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k] && !e->results[k])
      return fail(ctx, HONE_E_UNSUP, node_place(node), "output %zu of %s is not supported", k,
                  node->op->name);
  return HONE_OK;
}

hone_status infer_composite(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s was not expanded", node->op->name);
}

hone_status eval_composite(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch, (void)in, (void)out;
  return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s was not expanded", node->op->name);
}
