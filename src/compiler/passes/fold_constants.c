/* fold-constants: evaluates nodes with constant inputs by the reference. Nodes that only enlarge a
 * small constant (Expand, Tile, ConstantOfShape) stay: computing the result is as cheap as reading
 * it. But if the reader combines it with a constant as large as the result (block scales and their
 * weights), it is evaluated together with its reader.
 */
#include "rewrite.h"

enum {
  ALWAYS_FOLDED_BYTES = 64 << 10,
  LARGEST_GROWTH = 4,
  MOST_SPREADING = 4,
  SPARED_BYTES = 1 << 20
};

static size_t bytes_of(const struct value *value) {
  int64_t elements;
  if (!value || !value->has_shape || !shape_count(&value->shape, &elements)) return 0;
  return (size_t)elements * dtype_bits(value->dtype) / 8;
}

static bool is_worth_it(const struct rewrite *r, const struct node *node) {
  size_t in = 0, out = 0;
  if (r->graph->keeps_sizes && depends_on_sizes(node)) return true; /* at all sizes, or at none */
  for (size_t i = 0; i < node->input_count; i++) in += bytes_of(node->inputs[i]);
  for (size_t o = 0; o < node->output_count; o++) out += bytes_of(node->outputs[o]);
  return out <= ALWAYS_FOLDED_BYTES || out / LARGEST_GROWTH <= in;
}

static bool is_spared(const struct rewrite *r, const struct node *node) {
  const struct value *out = node->output_count ? node->outputs[0] : NULL;
  return r->spared && out && r->spared[out->index];
}

/* The nodes that make the value from constants, each with one reader, the last node first; 0:
   none, or too many. */
static size_t spreading_nodes(const struct rewrite *r, struct value *value,
                              struct node *out[MOST_SPREADING]) {
  size_t count = 0;
  while (value) {
    struct node *node = value->producer;
    if (!node || count == MOST_SPREADING || !is_pure(node) || is_spared(r, node) ||
        !rewrite_single_use(r, value))
      return 0;
    out[count++] = node;
    value = NULL;
    for (size_t i = 0; i < node->input_count; i++) {
      struct value *input = node->inputs[i];
      if (!input || input->constant) continue;
      if (value) return 0;
      value = input;
    }
  }
  return count;
}

/* Makes a constant of the node's only input that is not constant, if the other inputs are as
   large as the result. */
static hone_status fold_spread(struct rewrite *r, struct node *node) {
  struct node *chain[MOST_SPREADING];
  struct value *spread = NULL;
  size_t constant_bytes = 0, result_bytes = bytes_of(node->outputs[0]);
  for (size_t i = 0; i < node->input_count; i++) {
    struct value *input = node->inputs[i];
    if (!input) continue;
    if (input->constant)
      constant_bytes += bytes_of(input);
    else if (spread)
      return HONE_OK;
    else
      spread = input;
  }
  if (!spread || !result_bytes || bytes_of(spread) > result_bytes || constant_bytes < result_bytes)
    return HONE_OK;
  bool folded = true;
  for (size_t count = spreading_nodes(r, spread, chain); folded && count-- > 0;)
    TRY(node_fold(r->ctx, r->graph, chain[count], &folded));
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  bool folded = false;
  if (is_spared(r, node)) return HONE_OK;
  if (node->output_count && is_pure(node)) TRY(fold_spread(r, node));
  if (is_pure(node) && is_worth_it(r, node)) TRY(node_fold(r->ctx, r->graph, node, &folded));
  r->changes += folded;
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_fold_all_constants(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}

/* Marks values that must not be folded. */
typedef hone_status spare_fn(struct ctx *ctx, struct arena *scratch, const struct graph *graph,
                             bool *spared);

static hone_status fold_but(struct ctx *ctx, struct graph *graph, spare_fn *spare,
                            size_t *out_changes) {
  struct arena *scratch;
  bool *spared = NULL;
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = NEW_ARRAY(ctx, scratch, spared, graph->values.count + 1);
  if (!status) status = spare(ctx, scratch, graph, spared);
  if (!status) status = rewrite_nodes_but(ctx, graph, visit, spared, out_changes);
  arena_destroy(scratch);
  return status;
}

/* -- fold-constants: a large transposed matrix that only matmuls read is packed from the
   original, not copied */

/* The value, if it is such a matrix as operand b of the node. */
static const struct value *turned_weights(const struct graph *graph, const struct node *node) {
  if (!is_op(node, OP_MatMul) || node->input_count < 2) return NULL;
  const struct node *turn = producer_of(node->inputs[1], OP_Transpose);
  const struct value *from = turn ? turn->inputs[0] : NULL;
  bool is_large = from && from->constant && from->dtype == HONE_F32 && from->shape.rank == 2 &&
                  from->constant->bytes >= SPARED_BYTES;
  return is_large && graph_owns(graph, node->inputs[1]) ? node->inputs[1] : NULL;
}

static hone_status spare_turned(struct ctx *ctx, struct arena *scratch, const struct graph *graph,
                                bool *spared) {
  uint32_t *uses, *reads;
  TRY(graph_uses(ctx, scratch, graph, &uses));
  TRY(NEW_ARRAY(ctx, scratch, reads, graph->values.count + 1));
  for (size_t n = 0; n < graph->nodes.count; n++) {
    const struct value *value =
        graph->nodes.at[n] ? turned_weights(graph, graph->nodes.at[n]) : NULL;
    if (value) spared[value->index] = ++reads[value->index] == uses[value->index];
  }
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_fold_constants(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return fold_but(ctx, graph, spare_turned, out_changes);
}

/* -- fold-but-weights: int8 operands of integer operators stay int8 */

static const struct node *dequantiser_of_bytes(const struct value *value) {
  const struct node *node = producer_of(value, OP_DequantizeLinear);
  return node && !node_int(node, "block_size", 0) && node->inputs[1]->constant ? node : NULL;
}

/* Constant int8 operands next to computed ones. */
static void spare_bytes(const struct node *node, bool *spared) {
  static const enum op_id ops[] = {OP_Add, OP_Conv, OP_Gemm, OP_MatMul, OP_Mul, OP_Sub};
  bool is_known = false;
  const struct node *from;
  for (size_t i = 0; i < COUNT(ops); i++) is_known |= is_op(node, ops[i]);
  if (!is_known) return;
  is_known = false;
  for (size_t k = 0; k < node->input_count; k++)
    is_known |= (from = dequantiser_of_bytes(node->inputs[k])) && !from->inputs[0]->constant;
  for (size_t k = 0; is_known && k < node->input_count; k++)
    if ((from = dequantiser_of_bytes(node->inputs[k])) && from->inputs[0]->constant)
      spared[node->inputs[k]->index] = true;
}

static hone_status spare_weights(struct ctx *ctx, struct arena *scratch, const struct graph *graph,
                                 bool *spared) {
  (void)ctx, (void)scratch;
  for (size_t n = 0; n < graph->nodes.count; n++)
    if (graph->nodes.at[n]) spare_bytes(graph->nodes.at[n], spared);
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_fold_but_weights(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return fold_but(ctx, graph, spare_weights, out_changes);
}
