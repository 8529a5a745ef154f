/* Attention in one step: MatMul, what is done to each score, Softmax over the keys, MatMul. The first of
 * these groups finds the others and they wait for the last, which becomes the step; what is done to the
 * scores (a scale, a mask, whatever its shape) is the step's epilogue.
 */
#include "builder.h"

static bool is_waiting_for(const struct attention *a, const struct group *g) {
  for (int i = 0; i < a->between_count; i++)
    if (a->between[i] == g) return true;
  return a->softmax == g;
}

/* -- finding ------------------------------------------------------------------------------------- */

/* Elementwise on floats, but for the condition of a Where; of the scores' own shape. */
static bool is_between(const struct group *g, const struct value *scores) {
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

/* Both products run over all of their operands' batches. */
static bool is_product(const struct group *g) {
  const struct node *node = g->node;
  int rank = node->outputs[0]->shape.rank;
  return is_op(node, OP_MatMul) && all_f32(g) && rank >= 2 && rank <= 4 &&
         node->inputs[0]->shape.rank == rank && node->inputs[1]->shape.rank == rank &&
         !node->inputs[0]->constant && !node->inputs[1]->constant;
}

static bool find_attention(const struct builder *b, const struct group *scores,
                           struct attention *out) {
  *out = (struct attention){.scores = scores};
  if (!is_product(scores)) return false;
  const struct value *value = scores->result;
  const struct group *reader = graph_owns(b->graph, value) ? b->reader[value->index] : NULL;
  while (reader && out->between_count < (int)COUNT(out->between) && is_between(reader, value)) {
    out->between[out->between_count++] = reader;
    value = reader->result;
    reader = b->reader[value->index];
  }
  if (!reader || !is_softmax(reader->node)) return false;
  out->softmax = reader;
  value = reader->result;
  reader = b->reader[value->index];
  if (!reader || !is_product(reader) || reader->node->inputs[0] != value || reader->count)
    return false;
  out->product = reader;
  return true;
}

/* -- the problem --------------------------------------------------------------------------------- */

/* The batches of a view of up to four dimensions, broadcast to `batches`. */
static void batch_strides(const struct view *view, const struct shape *full, int64_t *batch0,
                          int64_t *batch1) {
  struct shape shape = *full;
  struct view wide;
  int rank = shape.rank;
  shape.dims[rank - 2] = view->shape.dims[rank - 2];
  shape.dims[rank - 1] = view->shape.dims[rank - 1];
  view_broadcast(view, &shape, &wide);
  *batch0 = rank > 3 ? wide.stride[rank - 4] : 0;
  *batch1 = rank > 2 ? wide.stride[rank - 3] : 0;
}

/* The view of a value whose last dimension is contiguous. */
static hone_status row_view(struct builder *b, const struct value *value, struct view *out) {
  int last = value->shape.rank - 1;
  TRY(get_view(b, value, out));
  return last < 0 || value->shape.dims[last] == 1 || out->stride[last] == 1
             ? HONE_OK
             : ensure_dense(b, value, out);
}

/* Sizes alone: what the choice of a kernel depends on is known before the operands are. */
static struct problem sizes_of(const struct attention *a) {
  const struct shape *s = &a->scores->result->shape;
  int r = s->rank;
  return (struct problem){
      .kind = PROBLEM_attention,
      .types = SAME_TYPES(TYPE_F32),
      .m = s->dims[r - 2],
      .n = s->dims[r - 1],
      .k = a->scores->node->inputs[0]->shape.dims[r - 1],
      .columns = a->product->result->shape.dims[r - 1],
      .batch0 = r > 3 ? s->dims[r - 4] : 1,
      .batch1 = r > 2 ? s->dims[r - 3] : 1,
  };
}

struct operands {
  struct view q, k, v, out;
};

static hone_status place_operands(struct builder *b, const struct attention *a, struct problem *p,
                                  struct operands *o) {
  const struct shape *full = &a->scores->result->shape;
  struct view like;
  int r = full->rank;
  TRY(row_view(b, a->scores->node->inputs[0], &o->q));
  TRY(get_view(b, a->scores->node->inputs[1], &o->k));
  TRY(row_view(b, a->product->node->inputs[1], &o->v));
  product_order(b, a->product->result, &like);
  TRY(make_output(b, a->product->result, &like, &o->out));
  p->a_row = o->q.stride[r - 2];
  p->b_row = o->k.stride[r - 2];
  p->b_column = o->k.stride[r - 1];
  p->v_row = o->v.stride[r - 2];
  p->c_row = o->out.stride[r - 2];
  batch_strides(&o->q, full, &p->a_batch0, &p->a_batch1);
  batch_strides(&o->k, full, &p->b_batch0, &p->b_batch1);
  batch_strides(&o->v, full, &p->v_batch0, &p->v_batch1);
  batch_strides(&o->out, full, &p->c_batch0, &p->c_batch1);
  return HONE_OK;
}

/* -- what is done to the scores -------------------------------------------------------------------- */

static bool has_strides(const struct view *view, int from, int to) {
  for (int i = from; i < to; i++)
    if (view->shape.dims[i] != 1 && view->stride[i]) return true;
  return false;
}

/* Broadcast to the scores, its last dimension contiguous or of one element. */
static hone_status place_score_operand(struct builder *b, const struct value *value,
                                       const struct shape *scores, struct view *out,
                                       enum operand_kind *kind) {
  struct view made;
  int last = scores->rank - 1;
  TRY(row_view(b, value, &made));
  view_broadcast(&made, scores, out);
  bool rows = has_strides(out, 0, last), columns = has_strides(out, last, last + 1);
  *kind = rows ? OPERAND_BROADCAST : columns ? OPERAND_COLUMN : OPERAND_SCALAR;
  return HONE_OK;
}

static hone_status make_score_epilogue(struct builder *b, const struct attention *a,
                                       const struct view *v, struct epilogue *out) {
  const struct value **operands;
  const struct shape *scores = &a->scores->result->shape;
  size_t count;
  *out = (struct epilogue){0};
  TRY(make_chain_program(b, a->scores, a->between, (size_t)a->between_count, &out->program,
                         &operands, &count));
  TRY(NEW_ARRAY(b->ctx, b->arena, out->operands, count + 1));
  TRY(NEW_ARRAY(b->ctx, b->arena, out->kinds, count + 1));
  for (size_t i = 0; i < count; i++)
    TRY(place_score_operand(b, operands[i], scores, &out->operands[i], &out->kinds[i]));
  out->operands[count] = *v; /* the kernel's own, behind the program's */
  out->kinds[count] = OPERAND_FULL;
  out->count = count + 1;
  return HONE_OK;
}

static hone_status add_attention(struct builder *b, const struct attention *a) {
  struct problem problem = sizes_of(a);
  struct operands o;
  struct epilogue epilogue;
  struct choice choice;
  struct step *step;
  double products = (double)problem.m * (double)problem.n * (double)(problem.k + problem.columns);
  double flops = 2 * products * (double)problem.batch0 * (double)problem.batch1;
  TRY(place_operands(b, a, &problem, &o));
  TRY(make_score_epilogue(b, a, &o.v, &epilogue));
  problem.v_operand = (int64_t)epilogue.count - 1;
  if (!choose_kernel(b, &problem, &choice))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(a->product->node),
                "kernel choice depends on strides");
  return add_kernel(b, a->product->node, &choice, &problem, (struct view[]){o.q, o.k, o.out},
                    &epilogue, flops, &step);
}

hone_status lower_attention(struct builder *b, const struct group *g, bool *out_done) {
  struct attention found;
  struct choice choice;
  for (size_t i = 0; i < b->waiting.count; i++) {
    struct attention *a = &b->waiting.at[i];
    *out_done = is_waiting_for(a, g) || a->product == g;
    if (!*out_done) continue;
    if (a->product != g) return HONE_OK;
    found = *a;
    *a = b->waiting.at[--b->waiting.count];
    return add_attention(b, &found);
  }
  if (!is_op(g->node, OP_MatMul) || !find_attention(b, g, &found)) return HONE_OK;
  struct problem problem = sizes_of(&found);
  if (!kernel_choose(&problem, &b->plan->kernel_target, &choice)) return HONE_OK;
  VEC_PUSH(b->ctx, b->arena, &b->waiting, found);
  *out_done = true;
  return HONE_OK;
}
