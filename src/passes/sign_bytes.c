/* sign-bytes: quantised u8 become i8 with a zero point that is 128 less, which is the same numbers: formats whose
 * integer kernels know signed bytes alone then have what they ask for. From a QuantizeLinear over operators that only
 * move elements to DequantizeLinear, and in front of a DequantizeLinear of constants; bytes that anything else sees
 * stay as they are. */
#include "rewrite.h"

enum { SHIFT = 128 };

struct signer {
  struct ctx *ctx;
  struct graph *graph;
  struct graph_readers readers;
  uint32_t *uses;
  bool *is_signed; /* by value index: becomes i8 */
  size_t count, changes;
};

static bool is_signed(const struct signer *s, const struct value *value) {
  return graph_owns(s->graph, value) && value->index < s->count && s->is_signed[value->index];
}

static size_t data_inputs(const struct node *node) {
  return is_op(node, OP_Concat) ? node->input_count : 1;
}

static bool moves(const struct node *node) {
  return is_op(node, OP_Concat) || is_op(node, OP_Pad) || only_moves(node);
}

static bool is_known_zero(const struct value *zero) {
  return !zero || (zero->constant && zero->dtype == HONE_U8);
}

static bool is_constant_border(const struct node *node) {
  double fill;
  return !node_input(node, 2) || constant_scalar(node_input(node, 2), &fill);
}

static bool is_made_here(const struct value *value) {
  const struct node *node = value->producer;
  if (value->dtype != HONE_U8 || value->is_input || value->is_output || value->constant || !node)
    return false;
  if (is_op(node, OP_QuantizeLinear)) return is_known_zero(node_input(node, 2));
  return moves(node) && (!is_op(node, OP_Pad) || is_constant_border(node)) &&
         node->outputs[0] == value;
}

/* What it moves, and all who read it, become signed as well. */
static bool fits(const struct signer *s, const struct value *value) {
  const struct node *from = value->producer;
  const uint32_t first = s->readers.first[value->index], end = s->readers.first[value->index + 1];
  if (end - first != s->uses[value->index]) return false; /* a body reads it */
  if (!is_op(from, OP_QuantizeLinear))
    for (size_t k = 0; k < data_inputs(from); k++)
      if (!is_signed(s, from->inputs[k])) return false;
  for (uint32_t i = first; i < end; i++) {
    const struct node *reader = s->graph->nodes.at[s->readers.at[i]];
    bool is_data = false;
    for (size_t k = 0; k < data_inputs(reader); k++) is_data |= reader->inputs[k] == value;
    if (!is_data) return false;
    if (is_op(reader, OP_DequantizeLinear) && is_known_zero(node_input(reader, 2))) continue;
    if (!moves(reader) || !is_signed(s, reader->outputs[0])) return false;
  }
  return true;
}

/* The largest set in which every value fits. */
static void find_signed(struct signer *s) {
  bool is_done = false;
  for (size_t v = 0; v < s->count; v++) s->is_signed[v] = is_made_here(s->graph->values.at[v]);
  while (!is_done) {
    is_done = true;
    for (size_t v = 0; v < s->count; v++)
      if (s->is_signed[v] && !fits(s, s->graph->values.at[v])) is_done = s->is_signed[v] = false;
  }
}

/* Input k, bytes of u8 or left out (zero points: one a scale), as i8: each 128 less. */
static hone_status shift_input(struct signer *s, struct node *node, size_t k) {
  static const struct shape scalar = {0};
  const struct value *from = node_input(node, k);
  const struct shape *none = is_op(node, OP_Pad) ? &scalar : &node->inputs[1]->shape;
  struct value **inputs;
  struct tensor *tensor;
  TRY(tensor_create(s->ctx, s->graph->arena, HONE_I8, from ? &from->shape : none, &tensor));
  for (size_t i = 0; i < tensor_count(tensor); i++)
    tensor_set_i64(tensor, i, (from ? tensor_i64(from->constant, i) : 0) - SHIFT);
  if (k >= node->input_count) {
    TRY(NEW_ARRAY(s->ctx, s->graph->arena, inputs, k + 1));
    memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
    node->inputs = inputs;
    node->input_count = k + 1;
  }
  return graph_constant(s->ctx, s->graph, NULL, tensor, &node->inputs[k]);
}

/* Which of its bytes: those that it makes, reads, or is given as constants. */
static hone_status sign(struct signer *s, struct node *node) {
  struct value *out = node->outputs[0];
  const struct value *in = node_input(node, 0);
  if (!out || !in) return HONE_OK;
  const bool makes = is_signed(s, out), reads = is_signed(s, in);
  const bool is_dequantised = is_op(node, OP_DequantizeLinear);
  const bool is_weights = is_dequantised && in->constant && in->dtype == HONE_U8 &&
                          is_known_zero(node_input(node, 2)) && !node_int(node, "block_size", 0);
  if (!makes && !(is_dequantised && reads) && !is_weights) return HONE_OK;
  if (is_weights) TRY(shift_input(s, node, 0));
  if (is_op(node, OP_QuantizeLinear) || is_dequantised || is_op(node, OP_Pad))
    TRY(shift_input(s, node, 2));
  if (makes) out->dtype = HONE_I8;
  if (makes && node_attribute(node, "output_dtype"))
    TRY(node_set_int(s->ctx, s->graph, node, "output_dtype", (int64_t)HONE_I8));
  s->changes++;
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_sign_bytes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  struct signer s = {.ctx = ctx, .graph = graph, .count = graph->values.count};
  struct arena *scratch;
  size_t removed;
  TRY(arena_create(ctx, 0, &scratch));
  hone_status status = graph_find_readers(ctx, scratch, graph, &s.readers);
  if (!status) status = graph_uses(ctx, scratch, graph, &s.uses);
  if (!status) status = NEW_ARRAY(ctx, scratch, s.is_signed, s.count + 1);
  if (!status) find_signed(&s);
  for (size_t n = 0; !status && n < graph->nodes.count; n++)
    if (graph->nodes.at[n]) status = sign(&s, graph->nodes.at[n]);
  arena_destroy(scratch);
  *out_changes = s.changes;
  if (!status && s.changes) status = graph_sweep(ctx, graph, &removed);
  return status;
}
