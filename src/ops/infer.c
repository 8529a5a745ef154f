/* infer: dtype and shape of every value, in node order, and the folding that this needs. Extents
 * are checked against the limits as soon as they are known, before anything of that size is
 * allocated.
 */
#include "expand.h"

/* Results of at most this many elements are folded during inference: shapes, axes, scales. */
#define FOLD_ELEMENTS 1024

/* Their result depends on the input's shape alone. */
static const char *const shape_only[] = {"Shape", "Size"};

static bool is_named(const struct node *node, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(node->op->name, names[i]) == 0) return true;
  return false;
}

/* -- one node ------------------------------------------------------------------------------------
 */

static hone_status check_arity(struct ctx *ctx, const struct node *node, size_t inputs) {
  const struct op *op = node->op;
  if (inputs < (size_t)op->min_inputs || (op->max_inputs >= 0 && inputs > (size_t)op->max_inputs))
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%s has %zu inputs, expected %d to %d",
                op->name, inputs, op->min_inputs, op->max_inputs);
  if (op->max_outputs >= 0 && node->output_count > (size_t)op->max_outputs)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "%s has %zu outputs, expected at most %d",
                op->name, node->output_count, op->max_outputs);
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (!value && k < (size_t)op->min_inputs)
      return fail(ctx, HONE_E_FORMAT, node_place(node), "%s lacks input %zu", op->name, k);
    if (value && (!value->has_shape || value->dtype == HONE_UNDEFINED))
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "type or shape of input %zu \"%s\" is not known", k, value->name);
  }
  return HONE_OK;
}

static hone_status output_bytes(struct ctx *ctx, const struct node *node, size_t *out_bytes) {
  *out_bytes = 0;
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *value = node->outputs[k];
    if (!value) continue;
    if (!value->has_shape || value->dtype == HONE_UNDEFINED)
      return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s left output %zu without a shape",
                  node->op->name, k);
    /* a string takes two words, whatever it holds */
    hone_dtype dtype = value->dtype == HONE_STRING ? HONE_U64 : value->dtype;
    int64_t elements = 0;
    size_t bytes = 0;
    TRY(extent(ctx, node_place(node), dtype, &value->shape, &elements, &bytes));
    if (!checked_add(*out_bytes, bytes, out_bytes)) *out_bytes = SIZE_MAX;
  }
  return HONE_OK;
}

/* The op's own inference first; the fused program keeps the shape and sets the dtype. */
static hone_status infer_own(struct ctx *ctx, struct graph *graph, struct node *node,
                             size_t *out_bytes) {
  if (node->fused_input_count > node->input_count)
    return fail(ctx, HONE_E_INTERNAL, node_place(node), "more fused inputs than inputs");
  size_t all = node->input_count;
  TRY(check_arity(ctx, node, all - node->fused_input_count));
  node->input_count = all - node->fused_input_count;
  hone_status status = node->op->infer(ctx, graph, node);
  node->input_count = all;
  TRY(status);
  if (node->fused_count > 0 && node->output_count > 0 && node->outputs[0])
    node->outputs[0]->dtype = node->fused[node->fused_count - 1].dtype;
  return output_bytes(ctx, node, out_bytes);
}

hone_status node_infer(struct ctx *ctx, struct graph *graph, struct node *node) {
  size_t bytes = 0;
  return infer_own(ctx, graph, node, &bytes);
}

/* -- folding
 * --------------------------------------------------------------------------------------- */

static bool has_graph_attribute(const struct node *node) {
  for (size_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].kind == ATTRIBUTE_GRAPH) return true;
  return false;
}

static bool is_foldable(struct ctx *ctx, const struct node *node) {
  if (has_graph_attribute(node)) return false;
  bool by_shape = is_named(node, shape_only, COUNT(shape_only));
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (value && !value->constant && !(by_shape && value->has_shape)) return false;
  }
  size_t bytes = 0;
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *value = node->outputs[k];
    if (!value) continue;
    int64_t elements = 0;
    /* graph outputs stay computed: a run has to write them somewhere anyway */
    if (!value->has_shape || value->is_output || value->dtype == HONE_STRING) return false;
    if (!shape_count(&value->shape, &elements)) return false;
    size_t size = 0;
    if (!checked_mul((size_t)elements, (size_t)dtype_bits(value->dtype), &size)) return false;
    if (!checked_add(bytes, size / 8, &bytes)) return false;
  }
  return bytes <= (uint64_t)ctx->limits[LIMIT_fold_bytes];
}

static hone_status fold_into(struct ctx *ctx, struct arena *scratch, struct graph *graph,
                             struct node *node) {
  const struct tensor **in;
  struct tensor **out;
  TRY(NEW_ARRAY(ctx, scratch, in, node->input_count + 1));
  TRY(NEW_ARRAY(ctx, scratch, out, node->output_count + 1));
  for (size_t k = 0; k < node->input_count; k++) {
    struct value *value = node->inputs[k];
    if (!value) continue;
    struct tensor *shape;
    TRY(NEW(ctx, scratch, shape));
    *shape = (struct tensor){.dtype = value->dtype, .shape = value->shape};
    in[k] = value->constant ? value->constant : shape;
  }
  for (size_t k = 0; k < node->output_count; k++) {
    struct value *value = node->outputs[k];
    if (value) TRY(tensor_create(ctx, graph->arena, value->dtype, &value->shape, &out[k]));
  }
  TRY(node_evaluate(ctx, scratch, node, in, out));
  for (size_t k = 0; k < node->output_count; k++) {
    if (!node->outputs[k]) continue;
    node->outputs[k]->constant = out[k];
    node->outputs[k]->producer = NULL;
    node->outputs[k] = NULL;
  }
  return HONE_OK;
}

hone_status node_fold(struct ctx *ctx, struct graph *graph, struct node *node, bool *out_folded) {
  *out_folded = false;
  if (!is_foldable(ctx, node)) return HONE_OK;
  struct arena *scratch;
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = fold_into(ctx, scratch, graph, node);
  arena_destroy(scratch);
  *out_folded = status == HONE_OK;
  return status;
}

static bool is_small(const struct node *node) {
  /* quantised weights are for a pass that keeps them bytes */
  if (is_op(node, OP_DequantizeLinear)) return false;
  for (size_t k = 0; k < node->output_count; k++) {
    int64_t elements = 0;
    const struct value *value = node->outputs[k];
    if (value && (!shape_count(&value->shape, &elements) || elements > FOLD_ELEMENTS)) return false;
  }
  return true;
}

/* -- the whole graph
 * --------------------------------------------------------------------------------- */

/* The nodes of an expansion stand where the composite stood; each output keeps its value and name. */
static hone_status expand_in_place(struct ctx *ctx, struct graph *graph, struct node *node,
                                   size_t *out_bytes) {
  struct expansion e;
  TRY(expand_node(ctx, graph, node, expand_find(node), &e));
  *out_bytes = e.bytes;
  for (size_t k = 0; k < node->output_count; k++) {
    struct value *to = node->outputs[k];
    struct node *identity;
    if (!to) continue;
    TRY(graph_node(ctx, graph, &op_table[OP_Identity], &e.results[k], 1, 0, &identity));
    identity->name = node->name;
    identity->index = node->index;
    identity->outputs = &node->outputs[k];
    identity->output_count = 1;
    to->producer = identity;
    TRY(node_infer(ctx, graph, identity));
  }
  return HONE_OK;
}

hone_status graph_infer(struct ctx *ctx, struct graph *graph) {
  size_t total = 0, budget = (size_t)ctx->limits[LIMIT_total_value_bytes];
  size_t count = graph->nodes.count;
  struct node **nodes = graph->nodes.at;
  memset(&graph->nodes, 0, sizeof graph->nodes);
  for (size_t i = 0; i < count; i++) {
    struct node *node = nodes[i];
    if (!node) continue;
    size_t bytes = 0;
    bool folded = false;
    if (expand_find(node)) {
      TRY(check_arity(ctx, node, node->input_count));
      TRY(expand_in_place(ctx, graph, node, &bytes));
    } else {
      TRY(infer_own(ctx, graph, node, &bytes));
      if (is_small(node)) TRY(node_fold(ctx, graph, node, &folded));
      if (!folded) VEC_PUSH(ctx, graph->arena, &graph->nodes, node);
    }
    if (!checked_add(total, bytes, &total) || total > budget)
      return fail(ctx, HONE_E_LIMIT, node_place(node),
                  "values up to here take more than %zu bytes (limit total_value_bytes)", budget);
  }
  return HONE_OK;
}
