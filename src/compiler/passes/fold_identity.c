/* fold-identity: removes nodes whose result is their input, bit for bit. */
#include "rewrite.h"

static bool same_type(const struct value *a, const struct value *b) {
  return a->dtype == b->dtype && a->has_shape && b->has_shape && shape_equal(&a->shape, &b->shape);
}

/* Dimensions of size 1 may move; the others keep their order. */
static bool moves_nothing(const struct node *node) {
  size_t count;
  const int64_t *perm = node_ints(node, "perm", &count);
  int rank = node->inputs[0]->shape.rank;
  int64_t last = -1;
  for (int i = 0; i < rank; i++) {
    int64_t from = perm && (int)count == rank ? perm[i] : rank - 1 - i;
    if (node->inputs[0]->shape.dims[from] == 1) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

/* Each element once, along every axis. */
static bool repeats_nothing(const struct node *node) {
  int64_t repeats[HONE_MAX_RANK];
  struct ctx quiet;
  ctx_init(&quiet);
  if (!resize_repeats(&quiet, node, repeats)) return false;
  for (int d = 0; d < node->inputs[0]->shape.rank; d++)
    if (repeats[d] != 1) return false;
  return true;
}

/* Each row and column is taken from the same index. */
static bool resizes_nothing(const struct node *node) {
  for (size_t places = 1; places <= 3; places += 2)
    for (int64_t i = 0, place; i < node->inputs[places]->shape.dims[1]; i++)
      if (!resize_int_copies(node, places, (size_t)i, &place) || place != i) return false;
  return true;
}

static bool operand_is(const struct node *node, size_t k, double x) {
  double found;
  return constant_scalar(node->inputs[k], &found) && found == x;
}

/* The input that the node passes on unchanged, or -1. */
static int passed_on(const struct node *node) {
  switch (node->op->id) {
    case OP_Identity:
      return 0;
    case OP_Dropout:
      return is_pure(node) && !(node->output_count > 1 && node->outputs[1]) ? 0 : -1;
    case OP_Cast:
    case OP_CastLike:
    case OP_Reshape:
    case OP_Flatten:
    case OP_Squeeze:
    case OP_Unsqueeze:
    case OP_Expand:
    case OP_Tile:
    case OP_Pad:
      return 0; /* same type and shape: no change */
    case OP_Transpose:
      return moves_nothing(node) ? 0 : -1;
    case OP_ResizeInt:
      return resizes_nothing(node) ? 0 : -1;
    case OP_Resize:
      return repeats_nothing(node) ? 0 : -1;
    case OP_Concat:
    case OP_Sum:
    case OP_Max:
    case OP_Min:
    case OP_Mean:
      return node->input_count == 1 ? 0 : -1;
    case OP_Mul:
      return operand_is(node, 1, 1) ? 0 : operand_is(node, 0, 1) ? 1 : -1;
    case OP_Div:
    case OP_Pow:
      return operand_is(node, 1, 1) ? 0 : -1;
    case OP_Sub:
      return operand_is(node, 1, 0) ? 0 : -1;
    default:
      return -1;
  }
}

/* Pad with negative and positive amounts may keep the shape and still move data. */
static bool pads_nothing(const struct node *node) {
  const struct value *pads = node_input(node, 1);
  if (!pads || !pads->constant) return false;
  size_t count = tensor_count(pads->constant);
  for (size_t i = 0; i < count; i++)
    if (tensor_i64(pads->constant, i)) return false;
  return true;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  if (!node->output_count || !node->outputs[0]) return HONE_OK;
  int k = passed_on(node);
  if (k < 0 || !node->inputs[k] || !same_type(node->inputs[k], node->outputs[0])) return HONE_OK;
  if (is_op(node, OP_Pad) && !pads_nothing(node)) return HONE_OK;
  if (r->graph->keeps_sizes && depends_on_sizes(node)) return HONE_OK;
  /* such an Identity gives an output to an input, a constant or a value with two names */
  const struct value *from = node->inputs[k];
  if (is_op(node, OP_Identity) && node->outputs[0]->is_output &&
      (!from->producer || from->is_output))
    return HONE_OK;
  return rewrite_replace(r, node->outputs[0], node->inputs[k]);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_fold_identity(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
