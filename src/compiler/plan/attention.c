/* Finds groups that form attention and become one step (lower_attention.c): MatMul, elementwise on
 * the scores, Softmax over the keys, optionally NaN replaced by zeros, MatMul.
 */
#include "builder.h"

/* Elementwise on floats (except for the condition of a Where), with the shape of the scores. */
static bool is_between(const struct fusion_group *g, const struct value *scores) {
  const struct node *node = g->node;
  const struct value *out = g->result;
  double alpha, beta;
  if (node->op->class != OP_ELEMENTWISE || !node->op->expression || is_op(node, OP_Clip))
    return false;
  if (node->output_count != 1 || out->dtype != HONE_F32 ||
      !shape_equal(&out->shape, &scores->shape))
    return false;
  if (node->input_count != elementwise_operands(node) &&
      !elementwise_parameters(node, &alpha, &beta))
    return false;
  for (size_t i = 0; i < group_input_count(g); i++) {
    const struct value *input = group_input(g, i);
    bool condition = i == 0 && is_op(node, OP_Where) && input->dtype == HONE_BOOL;
    if (!input || (input->dtype != HONE_F32 && !condition)) return false;
  }
  return is_op(node, OP_Where) || is_vector_program(g);
}

static bool is_softmax(const struct node *node) {
  int rank = node->inputs[0]->shape.rank;
  int64_t axis = node_int(node, "axis", -1);
  return is_op(node, OP_Softmax) && (axis == -1 || axis == rank - 1);
}

/* Both matmuls run over all batches of their operands. */
static bool is_batched_matmul(const struct fusion_group *g) {
  const struct node *node = g->node;
  int rank = node->outputs[0]->shape.rank;
  return is_op(node, OP_MatMul) && all_f32(g) && rank >= 2 && rank <= 4 &&
         node->inputs[0]->shape.rank == rank && node->inputs[1]->shape.rank == rank &&
         !node->inputs[0]->constant && !node->inputs[1]->constant;
}

/* Where(IsNaN(v), 0, v), the only reader of both: a row that sees no key gets zero weights. */
static bool is_clearing(const struct builder *b, const struct fusion_group *g,
                        const struct value *v) {
  double x = 1;
  if (!g || g->count || !is_op(g->node, OP_Where) || g->node->inputs[2] != v) return false;
  const struct value *condition = g->node->inputs[0];
  const struct node *test = graph_owns(b->graph, condition) ? condition->producer : NULL;
  return test && is_op(test, OP_IsNaN) && test->inputs[0] == v && b->uses[v->index] == 2 &&
         b->uses[condition->index] == 1 && constant_scalar(g->node->inputs[1], &x) && x == 0;
}

bool find_attention(const struct builder *b, const struct fusion_group *scores,
                    struct attention *out) {
  *out = (struct attention){.scores = scores};
  if (!is_batched_matmul(scores)) return false;
  const struct value *value = scores->result;
  const struct fusion_group *reader = graph_owns(b->graph, value) ? b->reader[value->index] : NULL;
  while (reader && out->between_count < (int)COUNT(out->between) && is_between(reader, value)) {
    out->between[out->between_count++] = reader;
    value = reader->result;
    reader = b->reader[value->index];
  }
  if (!reader || !is_softmax(reader->node)) return false;
  out->softmax = reader;
  value = reader->result;
  if (is_clearing(b, b->last_reader[value->index], value)) {
    out->clearing = b->last_reader[value->index];
    value = out->clearing->result;
  }
  reader = b->reader[value->index];
  if (!reader || !is_batched_matmul(reader) || reader->node->inputs[0] != value || reader->count)
    return false;
  out->output_matmul = reader;
  return true;
}

/* Sizes alone: enough to choose a kernel before the operands exist. */
struct problem attention_sizes(const struct attention *a) {
  const struct shape *s = &a->scores->result->shape;
  int r = s->rank;
  return (struct problem){
      .kind = PROBLEM_attention,
      .types = SAME_TYPES(TYPE_F32),
      .m = s->dims[r - 2],
      .n = s->dims[r - 1],
      .k = a->scores->node->inputs[0]->shape.dims[r - 1],
      .columns = a->output_matmul->result->shape.dims[r - 1],
      .batch0 = r > 3 ? s->dims[r - 4] : 1,
      .batch1 = r > 2 ? s->dims[r - 3] : 1,
      .clears = a->clearing != NULL,
  };
}

bool attention_is_served(const struct builder *b, const struct attention *a) {
  const struct problem problem = attention_sizes(a);
  struct choice choice;
  return kernel_choose(&problem, &b->plan->schedule.kernels, &choice);
}

bool attention_reads(const struct builder *b, const struct fusion_group *g,
                     const struct value *out[3]) {
  struct attention found;
  if (!is_op(g->node, OP_MatMul) || !find_attention(b, g, &found) ||
      !attention_is_served(b, &found))
    return false;
  out[0] = found.scores->node->inputs[0];
  out[1] = found.scores->node->inputs[1];
  out[2] = found.output_matmul->node->inputs[1];
  return true;
}
