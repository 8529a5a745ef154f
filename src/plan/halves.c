/* bf16: contractions of floats computed on operands rounded to bf16 with sums in f32, and values
 * between steps stored in bf16 where every reader takes them so. Arithmetic is in f32 everywhere; a
 * value is rounded once, where it is stored. What a softmax reads stays f32: an error of 2^-9 of a
 * logit is one of a percent of a probability; and what attention in one step reads, as it computes in f32. */
#include "builder.h"

bool computes_in_halves(const struct builder *b, const struct group *g) {
  return b->options->bf16 && all_f32(g);
}

hone_dtype storage_of(const struct builder *b, const struct value *value) {
  return graph_owns(b->graph, value) && b->lies_in_half[value->index] ? HONE_BF16 : value->dtype;
}

uint8_t problem_type(hone_dtype dtype) {
  switch (dtype) {
    case HONE_F32:
    case HONE_U8:
    case HONE_I8:
    case HONE_I32:
    case HONE_BF16:
      return (uint8_t)dtype;
    default:
      return 0;
  }
}

/* What reads its operands in the type in which they lie, by operator: see the lowerings. */
static bool reads_stored(const struct builder *b, const struct group *g, size_t input) {
  const struct node *node = g->node;
  switch (node->op->id) {
    case OP_Identity:
    case OP_Reshape:
    case OP_Flatten:
    case OP_Squeeze:
    case OP_Unsqueeze:
    case OP_Transpose:
    case OP_Slice:
    case OP_Split: /* only views: as what reads them */
      for (size_t k = 0; k < node->output_count; k++)
        if (node->outputs[k] && !b->lies_in_half[node->outputs[k]->index]) return false;
      return !input;
    case OP_Conv:
    case OP_Gemm:
    case OP_MatMul:
      return all_f32(g) && node->inputs[0]->shape.rank > 1 && node->inputs[1]->shape.rank > 1;
    case OP_Concat:
      return b->lies_in_half[node->outputs[0]->index];
    case OP_LayerNormalization:
    case OP_MaxPool:
    case OP_AveragePool:
    case OP_GlobalAveragePool:
    case OP_GlobalMaxPool:
    case OP_ReduceMean:
      return !input && all_f32(g);
    default:
      return node->op->class == OP_ELEMENTWISE && all_f32(g) && is_vector_program(g);
  }
}

hone_status find_halves(struct builder *b) {
  size_t room = b->graph->values.count + b->graph->nodes.count;
  uint32_t *reads;
  bool *unrounded; /* by value index: attention reads it */
  TRY(NEW_ARRAY(b->ctx, b->arena, b->lies_in_half, room));
  if (!b->options->bf16 || b->options->plain) return HONE_OK;
  if (b->plan->symbols.count) return HONE_OK; /* conversions know no open size */
  TRY(NEW_ARRAY(b->ctx, b->arena, reads, room));
  TRY(NEW_ARRAY(b->ctx, b->arena, unrounded, room));
  for (size_t n = 0; n < b->groups.count; n++) {
    const struct value *attended[3];
    if (!attention_reads(b, b->groups.at[n], attended)) continue;
    for (int i = 0; i < 3; i++)
      if (graph_owns(b->graph, attended[i])) unrounded[attended[i]->index] = true;
  }
  /* from the end, so that a view's readers are known before what it views */
  for (size_t n = b->groups.count; n-- > 0;) {
    const struct group *g = b->groups.at[n];
    for (size_t k = 0; k < g->node->output_count; k++) {
      const struct value *value = group_output(g, k);
      if (!value || value->dtype != HONE_F32 || value->is_output) continue;
      /* all uses are reads that take it: none by a graph inside this one, none as an output */
      b->lies_in_half[value->index] =
          b->uses[value->index] && reads[value->index] == b->uses[value->index];
    }
    for (size_t i = 0; i < group_input_count(g); i++) {
      const struct value *input = group_input(g, i);
      if (graph_owns(b->graph, input) && !unrounded[input->index] && reads_stored(b, g, i))
        reads[input->index]++;
    }
  }
  return HONE_OK;
}

hone_status half_constant(struct builder *b, const struct value *value, struct tensor **out) {
  TRY(tensor_create(b->ctx, b->arena, HONE_BF16, &value->shape, out));
  size_t count = tensor_count(value->constant);
  for (size_t i = 0; i < count; i++) tensor_set_f64(*out, i, tensor_f64(value->constant, i));
  return HONE_OK;
}
