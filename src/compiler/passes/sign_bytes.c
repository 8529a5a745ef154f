/* sign-bytes: quantised u8 become i8 with a zero point 128 lower, which are the same numbers, for
 * formats whose integer kernels support only i8. From a QuantizeLinear over operators that only
 * move elements to DequantizeLinear, and before a DequantizeLinear of constants; u8 with other
 * readers stay.
 * unsign-bytes: the reverse, also between integer matmuls and Requantize: most processors multiply
 * unsigned by signed int8, and a matmul would add 128 to each signed element that it reads, again
 * for every tile.
 */
#include "rewrite.h"

/* For operators that make or read int8: the input that is the zero point of input 0, and of the
   output; 0: none. Those of a Requantize are attributes. */
static const struct boundary {
  enum op_id op;
  size_t in, out;
  bool is_lowered; /* only for unsign-bytes: exporters need such values unchanged */
} boundaries[] = {
    {OP_QuantizeLinear, 0, 2, false}, {OP_DequantizeLinear, 2, 0, false},
    {OP_ConvInteger, 2, 0, true},     {OP_MatMulInteger, 2, 0, true},
    {OP_QLinearConv, 2, 7, true},     {OP_QLinearMatMul, 2, 7, true},
    {OP_Requantize, 0, 0, true},
};

struct signer {
  struct ctx *ctx;
  struct graph *graph;
  hone_dtype from, to;
  int64_t shift; /* of zero points */
  struct graph_readers readers;
  uint32_t *uses;
  bool *is_signed; /* by value index: becomes `to` */
  size_t count, changes;
};

static int64_t type_low(hone_dtype dtype) { return dtype == HONE_I8 ? -128 : 0; }

/* NULL: an operator that the pass does not support. */
static const struct boundary *boundary_of(const struct signer *s, const struct node *node) {
  for (size_t i = 0; i < COUNT(boundaries); i++)
    if (is_op(node, boundaries[i].op))
      return boundaries[i].is_lowered && s->to != HONE_U8 ? NULL : &boundaries[i];
  return NULL;
}

static bool is_signed(const struct signer *s, const struct value *value) {
  return graph_owns(s->graph, value) && value->index < s->count && s->is_signed[value->index];
}

static size_t data_inputs(const struct node *node) {
  return is_op(node, OP_Concat) ? node->input_count : 1;
}

static bool moves(const struct node *node) {
  return is_op(node, OP_Concat) || is_op(node, OP_Pad) || only_moves(node);
}

static bool is_known_zero(const struct signer *s, const struct node *node, size_t k) {
  const struct value *zero = node_input(node, k);
  return !zero || (zero->constant && zero->dtype == s->from);
}

static bool is_constant_border(const struct node *node) {
  double fill;
  return !node_input(node, 2) || constant_scalar(node_input(node, 2), &fill);
}

static bool is_made_here(const struct signer *s, const struct value *value) {
  const struct node *node = value->producer;
  if (value->dtype != s->from || value->is_input || value->is_output || value->constant || !node ||
      node->outputs[0] != value)
    return false;
  const struct boundary *boundary = boundary_of(s, node);
  if (boundary && boundary->out) return is_known_zero(s, node, boundary->out);
  if (boundary) return is_op(node, OP_Requantize);
  return moves(node) && (!is_op(node, OP_Pad) || is_constant_border(node));
}

/* True if the node reads the value only as data, and the pass supports it. */
static bool is_read_well(const struct signer *s, const struct node *reader,
                         const struct value *value) {
  const struct boundary *boundary = boundary_of(s, reader);
  for (size_t k = 0; k < reader->input_count; k++)
    if ((reader->inputs[k] == value) && k >= data_inputs(reader)) return false;
  if (boundary && boundary->in) return is_known_zero(s, reader, boundary->in);
  if (boundary) return is_op(reader, OP_Requantize);
  return moves(reader) && is_signed(s, reader->outputs[0]);
}

/* What it moves, and all its readers, become signed as well. */
static bool fits(const struct signer *s, const struct value *value) {
  const struct node *from = value->producer;
  const uint32_t first = s->readers.first[value->index], end = s->readers.first[value->index + 1];
  if (end - first != s->uses[value->index]) return false; /* a body reads it */
  for (size_t k = 0; moves(from) && k < data_inputs(from); k++)
    if (!is_signed(s, from->inputs[k])) return false;
  for (uint32_t i = first; i < end; i++)
    if (!is_read_well(s, s->graph->nodes.at[s->readers.at[i]], value)) return false;
  return true;
}

/* The largest set in which every value fits. */
static void find_signed(struct signer *s) {
  bool is_done = false;
  for (size_t v = 0; v < s->count; v++) s->is_signed[v] = is_made_here(s, s->graph->values.at[v]);
  while (!is_done) {
    is_done = true;
    for (size_t v = 0; v < s->count; v++)
      if (s->is_signed[v] && !fits(s, s->graph->values.at[v])) is_done = s->is_signed[v] = false;
  }
}

/* Input k converted from `from` to `to`: int8 values, or a missing zero point (one per scale). */
static hone_status shift_input(struct signer *s, struct node *node, size_t k) {
  static const struct shape scalar = {0};
  const struct value *from = node_input(node, k);
  const bool has_scale = is_op(node, OP_QuantizeLinear) || is_op(node, OP_DequantizeLinear);
  const struct shape *none = has_scale ? &node->inputs[1]->shape : &scalar;
  struct value **inputs;
  struct tensor *tensor;
  TRY(tensor_create(s->ctx, s->graph->arena, s->to, from ? &from->shape : none, &tensor));
  for (size_t i = 0; i < tensor_count(tensor); i++)
    tensor_set_i64(tensor, i, (from ? tensor_i64(from->constant, i) : 0) + s->shift);
  if (k >= node->input_count) {
    TRY(NEW_ARRAY(s->ctx, s->graph->arena, inputs, k + 1));
    memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
    node->inputs = inputs;
    node->input_count = k + 1;
  }
  return graph_constant(s->ctx, s->graph, NULL, tensor, &node->inputs[k]);
}

static hone_status shift_attribute(struct signer *s, struct node *node, const char *name) {
  return node_set_int(s->ctx, s->graph, node, name, node_int(node, name, 0) + s->shift);
}

static hone_status shift_requantize(struct signer *s, struct node *node, bool makes, bool reads) {
  if (reads) TRY(shift_attribute(s, node, "offset"));
  if (!makes) return HONE_OK;
  TRY(shift_attribute(s, node, "zero_point"));
  if (node_attribute(node, "low")) TRY(shift_attribute(s, node, "low"));
  if (node_attribute(node, "high")) TRY(shift_attribute(s, node, "high"));
  return node_set_int(s->ctx, s->graph, node, "to", (int64_t)s->to);
}

/* Which of its int8 values: outputs, inputs, or constants. */
static hone_status sign(struct signer *s, struct node *node) {
  struct value *out = node->outputs[0];
  const struct value *in = node_input(node, 0);
  if (!out || !in) return HONE_OK;
  const bool makes = is_signed(s, out), reads = is_signed(s, in);
  const struct boundary *boundary = boundary_of(s, node);
  const bool is_weights = s->to == HONE_I8 && is_op(node, OP_DequantizeLinear) && in->constant &&
                          in->dtype == s->from && is_known_zero(s, node, 2) &&
                          !node_int(node, "block_size", 0);
  if (!makes && !(boundary && reads) && !is_weights) return HONE_OK;
  if (is_weights) TRY(shift_input(s, node, 0));
  if (is_op(node, OP_Requantize)) TRY(shift_requantize(s, node, makes, reads));
  if (boundary && boundary->in && (reads || is_weights)) TRY(shift_input(s, node, boundary->in));
  if (boundary && boundary->out && makes) TRY(shift_input(s, node, boundary->out));
  if (is_op(node, OP_Pad)) TRY(shift_input(s, node, 2));
  if (makes) out->dtype = s->to;
  if (makes && node_attribute(node, "output_dtype"))
    TRY(node_set_int(s->ctx, s->graph, node, "output_dtype", (int64_t)s->to));
  s->changes++;
  return HONE_OK;
}

static hone_status change_all(struct ctx *ctx, struct graph *graph, hone_dtype from, hone_dtype to,
                              size_t *out_changes) {
  struct signer s = {.ctx = ctx, .graph = graph, .from = from, .to = to};
  struct arena *scratch;
  size_t removed;
  s.count = graph->values.count;
  s.shift = type_low(to) - type_low(from);
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

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_sign_bytes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return change_all(ctx, graph, HONE_U8, HONE_I8, out_changes);
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_unsign_bytes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return change_all(ctx, graph, HONE_I8, HONE_U8, out_changes);
}
