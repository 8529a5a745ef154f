/* Questions about nodes that several lowerings ask. */
#include "builder.h"

bool all_f32(const struct node *node) {
  for (size_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] && node->inputs[i]->dtype != HONE_F32) return false;
  for (size_t i = 0; i < node->output_count; i++)
    if (node->outputs[i] && node->outputs[i]->dtype != HONE_F32) return false;
  for (size_t i = 0; i < node->fused_count; i++)
    if (node->fused[i].dtype != HONE_F32) return false;
  return true;
}

size_t own_input_count(const struct node *node) {
  return node->input_count - node->fused_input_count;
}

hone_dtype raw_dtype(const struct node *node) {
  hone_dtype out = node->outputs[0]->dtype;
  if (is_op(node, OP_ConvInteger) || is_op(node, OP_MatMulInteger)) return HONE_I32;
  if (is_op(node, OP_Cast)) return (hone_dtype)node_int(node, "to", 0);
  if (is_op(node, OP_Sum)) return node->inputs[0]->dtype;
  return node->fused_count && (out == HONE_U8 || out == HONE_I8) ? HONE_F32 : out;
}

/* Bytes from floats: only behind a Clip to the type's range does a vector keep the low bits. */
static bool is_clipped(const struct node *node, const struct fused_step *cast) {
  int arg = cast->args[0];
  if (arg < 0 || node->fused[arg].op->id != OP_Clip) return false;
  double low = cast->dtype == HONE_U8 ? 0 : -128;
  return node->fused[arg].alpha >= low && node->fused[arg].beta <= low + 255;
}

static bool is_vector_type(hone_dtype dtype) {
  return dtype == HONE_F32 || dtype == HONE_U8 || dtype == HONE_I8 || dtype == HONE_I32;
}

static bool is_byte(hone_dtype dtype) { return dtype == HONE_U8 || dtype == HONE_I8; }

static bool is_zero(const struct value *value) {
  if (!value) return true;
  if (!value->constant) return false;
  for (size_t i = 0; i < tensor_count(value->constant); i++)
    if (tensor_i64(value->constant, i)) return false;
  return true;
}

bool is_integer_contraction(const struct node *node) {
  bool conv = is_op(node, OP_ConvInteger);
  if (!conv && !is_op(node, OP_MatMulInteger)) return false;
  const struct value *x = node->inputs[0], *w = node->inputs[1], *zero = NULL, *w_zero = NULL;
  if (own_input_count(node) > 2) zero = node->inputs[2];
  if (own_input_count(node) > 3) w_zero = node->inputs[3];
  if (!is_byte(x->dtype) || w->dtype != HONE_I8 || !w->constant || !is_zero(w_zero)) return false;
  int64_t points = 1;
  if (zero && (!shape_count(&zero->shape, &points) || points != 1)) return false;
  if (!conv) return x->shape.rank >= 2 && w->shape.rank == 2;
  if (x->shape.rank != 3 && x->shape.rank != 4) return false;
  return !zero || zero->constant; /* the border of the input holds it */
}

bool is_vector_program(const struct node *node) {
  bool integer = is_integer_contraction(node);
  for (size_t s = 0; s < node->fused_count; s++) {
    const struct fused_step *step = &node->fused[s];
    bool to_byte = is_byte(step->dtype);
    bool cast = step->op->id == OP_Cast && (step->dtype == HONE_F32 || is_clipped(node, step));
    if (cast ? !is_vector_type(step->dtype) : to_byte || step->dtype != HONE_F32) return false;
    if (integer && !s && !cast) return false; /* sums become floats first */
  }
  if (node->op->class != OP_ELEMENTWISE) return true;
  if (is_op(node, OP_Cast)) return raw_dtype(node) == HONE_F32;
  for (size_t i = 0; i < own_input_count(node); i++)
    if (node->inputs[i] && node->inputs[i]->dtype != HONE_F32) return false;
  return node->op->expression && raw_dtype(node) == HONE_F32;
}

hone_status find_only_readers(struct builder *b) {
  struct graph_readers readers;
  size_t room = b->graph->values.count + b->graph->nodes.count;
  TRY(NEW_ARRAY(b->ctx, b->arena, b->values, room));
  b->value_count = (uint32_t)b->graph->values.count;
  TRY(graph_uses(b->ctx, b->arena, b->graph, &b->uses));
  TRY(NEW_ARRAY(b->ctx, b->arena, b->reader, room));
  TRY(graph_find_readers(b->ctx, b->arena, b->graph, &readers));
  for (size_t v = 0; v < b->graph->values.count; v++)
    if (b->uses[v] == 1 && readers.first[v] < readers.first[v + 1])
      b->reader[v] = b->graph->nodes.at[readers.at[readers.first[v]]];
  return HONE_OK;
}
