/* fold: a node with constant operands becomes constants. */
#include "ops_internal.h"

/* Operators whose result depends only on the input's shape. */
static const char *const shape_only[] = {"Shape", "Size"};

static bool is_named(const struct node *node, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(node->op->name, names[i]) == 0) return true;
  return false;
}

static bool has_graph_attribute(const struct node *node) {
  for (size_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].kind == ATTRIBUTE_GRAPH) return true;
  return false;
}

/* True if an operand has as many elements: such a size is acceptable (f16 weights before a
 * Cast). */
static bool has_such_operand(const struct node *node) {
  int64_t elements = 0, wanted = 0;
  const struct value *out = node->output_count == 1 ? node->outputs[0] : NULL;
  if (!out || !shape_count(&out->shape, &wanted)) return false;
  for (size_t k = 0; k < node->input_count && elements < wanted; k++)
    if (node->inputs[k] && node->inputs[k]->constant)
      elements = (int64_t)tensor_count(node->inputs[k]->constant);
  return elements >= wanted;
}

static bool is_foldable(struct ctx *ctx, const struct node *node) {
  if (has_graph_attribute(node)) return false;
  bool by_shape = is_named(node, shape_only, COUNT(shape_only));
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (value && !value->constant && !(by_shape && value->has_shape && !value_is_open(value)))
      return false;
  }
  size_t bytes = 0;
  for (size_t k = 0; k < node->output_count; k++) {
    const struct value *value = node->outputs[k];
    if (!value) continue;
    int64_t elements = 0;
    /* a dynamic dimension holds only its bound, even if all operands are constant */
    if (!value->has_shape || value_is_open(value) || value->dtype == HONE_STRING) return false;
    if (!shape_count(&value->shape, &elements)) return false;
    size_t size = 0;
    if (!checked_mul((size_t)elements, (size_t)dtype_bits(value->dtype), &size)) return false;
    if (!checked_add(bytes, size / 8, &bytes)) return false;
  }
  return bytes <= (uint64_t)ctx->limits[LIMIT_fold_bytes] || has_such_operand(node);
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
    node->outputs[k]->folded_from = node->output_count == 1 ? node : NULL;
    node->outputs[k]->producer = NULL;
    node->outputs[k] = NULL;
  }
  return HONE_OK;
}

hone_status node_fold(struct ctx *ctx, struct graph *graph, struct node *node, bool *out_folded) {
  *out_folded = false;
  if (!is_foldable(ctx, node)) return HONE_OK;
  if (is_op(node,
            OP_Identity)) { /* the payload is shared: weights may be large, or mapped from a file */
    node->outputs[0]->constant = node->inputs[0]->constant;
    node->outputs[0]->folded_from = node->inputs[0]->folded_from;
    node->outputs[0]->producer = NULL;
    node->outputs[0] = NULL;
    *out_folded = true;
    return HONE_OK;
  }
  struct arena *scratch;
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = fold_into(ctx, scratch, graph, node);
  arena_destroy(scratch);
  *out_folded = status == HONE_OK;
  return status;
}

static bool has_shape_before(const struct value *value, size_t *left) {
  const struct node *node = value && value->constant ? value->folded_from : NULL;
  if (!node) return false;
  if (!*left || is_op(node, OP_Shape) || is_op(node, OP_Size)) return true;
  --*left;
  for (size_t k = 0; k < node->input_count; k++)
    if (has_shape_before(node->inputs[k], left)) return true;
  return false;
}

bool is_from_shape(const struct value *value) {
  size_t left = 256; /* nodes */
  return has_shape_before(value, &left);
}
