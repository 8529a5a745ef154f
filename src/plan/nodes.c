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
  if (is_op(node, OP_ConvInteger) || is_op(node, OP_MatMulInteger)) return HONE_I32;
  if (is_op(node, OP_Cast)) return (hone_dtype)node_int(node, "to", 0);
  if (is_op(node, OP_Sum)) return node->inputs[0]->dtype;
  if (!node->fused_count) return node->outputs[0]->dtype;
  return node->inputs[is_op(node, OP_Where) ? 1 : 0]->dtype;
}

/* Nothing but one number, if there are any. */
static bool is_one_number(const struct value *value) {
  if (!value) return true;
  if (!value->constant) return false;
  for (size_t i = 1; i < tensor_count(value->constant); i++)
    if (tensor_i64(value->constant, i) != tensor_i64(value->constant, 0)) return false;
  return true;
}

static bool is_depthwise(const struct node *node) {
  const struct shape *x = &node->inputs[0]->shape, *w = &node->inputs[1]->shape;
  return is_op(node, OP_ConvInteger) && x->rank > 2 && w->rank == x->rank &&
         w->dims[0] == x->dims[1] && w->dims[1] == 1 && node_int(node, "group", 1) == x->dims[1];
}

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
  if (!dtype_is_byte(x->dtype) || !dtype_is_byte(w->dtype) || !w->constant) return false;
  bool is_centred = w->dtype == HONE_I8 && is_zero(w_zero);
  if (!is_centred && (!is_depthwise(node) || !is_one_number(w_zero))) return false;
  int64_t points = 1;
  if (zero && (!shape_count(&zero->shape, &points) || points != 1)) return false;
  if (!conv) return x->shape.rank >= 2 && w->shape.rank == 2;
  if (x->shape.rank != 3 && x->shape.rank != 4) return false;
  return !zero || zero->constant; /* the border of the input holds it */
}

static hone_dtype type_of(const struct node *node, int arg) {
  return arg == FUSED_SELF ? raw_dtype(node)
         : arg >= 0        ? node->fused[arg].dtype
                           : node->inputs[FUSED_INPUT_INDEX(arg)]->dtype;
}

static bool is_vector_step(const struct node *node, const struct fused_step *step) {
  hone_dtype from[COUNT(step->args)];
  int first = step->args[0];
  for (int k = 0; k < step->arg_count; k++) from[k] = type_of(node, step->args[k]);
  if (step->op->id != OP_Cast)
    return is_vector_operation(step->op, step->dtype, from, step->arg_count);
  bool is_clipped = first >= 0 && is_clip_to(step->dtype, node->fused[first].op->id,
                                             node->fused[first].alpha, node->fused[first].beta);
  return is_vector_cast(from[0], step->dtype, is_clipped);
}

bool is_vector_program(const struct node *node) {
  hone_dtype raw = raw_dtype(node), from[3];
  size_t own = own_input_count(node);
  for (size_t s = 0; s < node->fused_count; s++)
    if (!is_vector_step(node, &node->fused[s])) return false;
  if (node->op->class != OP_ELEMENTWISE) return is_vector_type(raw);
  if (is_op(node, OP_Cast))
    return raw == HONE_F32 || is_vector_cast(node->inputs[0]->dtype, raw, false);
  for (size_t i = 0; i < own; i++)
    if (node->inputs[i] && node->inputs[i]->dtype != raw) return false;
  if (own > elementwise_operands(node)) own = elementwise_operands(node); /* Clip's bounds */
  if (own > COUNT(from)) own = COUNT(from); /* any number of one type */
  for (size_t k = 0; k < own; k++) from[k] = raw;
  return is_vector_operation(node->op, raw, from, (int)own);
}

hone_status find_only_readers(struct builder *b) {
  struct graph_readers readers;
  size_t room = b->graph->values.count + SPARE_VALUES * b->graph->nodes.count;
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
