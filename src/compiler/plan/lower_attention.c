/* Attention in one step: MatMul, elementwise operations on each score, Softmax over the keys,
 * MatMul. The first of these groups finds the others, and the last one becomes the step. The
 * operations on the scores (a scale, a mask of any shape) become the step's epilogue.
 */
#include <math.h>

#include "builder.h"

static bool is_waiting_for(const struct attention *a, const struct fusion_group *g) {
  for (int i = 0; i < a->between_count; i++)
    if (a->between[i] == g) return true;
  if (a->clearing && a->clearing->node->inputs[0]->producer == g->node) return true;
  return a->softmax == g || a->clearing == g;
}

/* -- the problem */

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

/* The view of a value in the given type, its last dimension contiguous. */
static hone_status row_view(struct builder *b, const struct value *value, hone_dtype dtype,
                            struct view *out) {
  int last = value->shape.rank - 1;
  TRY(ensure_type(b, value, dtype, out));
  return last < 0 || value->shape.dims[last] == 1 || out->stride[last] == 1
             ? HONE_OK
             : ensure_dense_as(b, value, dtype, out);
}

/* The type in which keys and values are read: their stored type, if they share it. */
static hone_status type_of_cache(struct builder *b, const struct attention *a, hone_dtype *out) {
  struct view k, v;
  TRY(get_stored(b, a->scores->node->inputs[1], &k));
  TRY(get_stored(b, a->output_matmul->node->inputs[1], &v));
  *out = k.dtype == v.dtype ? k.dtype : HONE_F32;
  return HONE_OK;
}

struct operands {
  struct view q, k, v, out;
};

static hone_status place_operands(struct builder *b, const struct attention *a, struct problem *p,
                                  struct operands *o) {
  const struct shape *full = &a->scores->result->shape;
  struct view like;
  int r = full->rank;
  hone_dtype cache;
  TRY(type_of_cache(b, a, &cache));
  p->types.b = problem_type(cache);
  TRY(row_view(b, a->scores->node->inputs[0], HONE_F32, &o->q));
  TRY(ensure_type(b, a->scores->node->inputs[1], cache, &o->k));
  TRY(row_view(b, a->output_matmul->node->inputs[1], cache, &o->v));
  matmul_order(b, a->output_matmul->result, &like);
  like.dtype = storage_of(b, a->output_matmul->result);
  TRY(make_output(b, a->output_matmul->result, &like, &o->out));
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

/* -- operations on the scores */

static bool has_strides(const struct view *view, int from, int to) {
  for (int i = from; i < to; i++)
    if (view->shape.dims[i] != 1 && view->stride[i]) return true;
  return false;
}

/* Broadcast to the scores; the last dimension is contiguous or has one element. */
static hone_status place_score_operand(struct builder *b, const struct value *value,
                                       const struct shape *scores, struct view *out,
                                       enum operand_kind *kind) {
  struct view made;
  int last = scores->rank - 1;
  TRY(row_view(b, value, value->dtype, &made));
  view_broadcast(&made, scores, out);
  bool rows = has_strides(out, 0, last), columns = has_strides(out, last, last + 1);
  *kind = rows ? OPERAND_BROADCAST : columns ? OPERAND_COLUMN : OPERAND_SCALAR;
  return HONE_OK;
}

/* A score at or below this has zero weight next to any score that a model computes. */
#define NOTHING (-0x1p100)

/* What masks scores, as the condition of a Where or as a term that is added; NULL: nothing. */
struct mask {
  const struct value *at;
  const struct value *hidden; /* what the Where puts in place of a score */
  bool is_condition, hides_true;
};

static const struct value *operand_of(const struct value **operands, int arg) {
  return arg < PROGRAM_RAW ? operands[PROGRAM_INPUT_INDEX(arg)] : NULL;
}

static bool is_nothing(const struct value *x) {
  return x && x->constant && tensor_count(x->constant) == 1 &&
         tensor_f64(x->constant, 0) <= NOTHING;
}

/* Only if it is the last operation on the score: a later one could unmask it. */
static struct mask find_mask(const struct expr *p, const struct value **operands) {
  const struct operation *last = p->result >= 0 ? &p->at[p->result] : NULL;
  struct mask mask = {0};
  for (int k = 0; last && last->op->id == OP_Add && k < 2; k++)
    if (operand_of(operands, last->args[k])) mask.at = operand_of(operands, last->args[k]);
  for (int k = 1; last && last->op->id == OP_Where && k <= 2; k++)
    if (is_nothing(operand_of(operands, last->args[k])))
      mask = (struct mask){operand_of(operands, last->args[0]), operand_of(operands, last->args[k]),
                           true, k == 1};
  return mask;
}

static bool is_hidden(const struct mask *mask, int64_t i) {
  const double x = tensor_f64(mask->at->constant, (size_t)i);
  return mask->is_condition ? (x != 0) == mask->hides_true : x <= NOTHING;
}

/* The columns that a row sees, by a constant mask; 0 if a row sees none, because Softmax then weighs
   all of them. */
static int64_t visible_columns(const struct mask *mask, int64_t m, int64_t n) {
  const struct shape *shape = mask->at && mask->at->constant ? &mask->at->shape : NULL;
  int64_t visible = 1;
  if (!shape || shape->rank < 2 || shape->dims[shape->rank - 1] != n ||
      shape->dims[shape->rank - 2] != m)
    return 0;
  for (int64_t line = 0; line < (int64_t)tensor_count(mask->at->constant) / n; line++) {
    int64_t end = n;
    while (end && is_hidden(mask, line * n + end - 1)) end--;
    if (!end) return 0;
    visible = end - line % m > visible ? end - line % m : visible;
  }
  return visible < n ? visible : 0;
}

/* True for 0, 1, ... n - 1. */
static bool counts_up(const struct value *x, int64_t n) {
  if (!x || !x->constant || x->dtype != HONE_I64 || (int64_t)tensor_count(x->constant) != n)
    return false;
  for (int64_t i = 0; i < n; i++)
    if (tensor_i64(x->constant, (size_t)i) != i) return false;
  return x->shape.dims[x->shape.rank - 1] == n;
}

static const struct node *maker(const struct builder *b, const struct value *value) {
  return value && graph_owns(b->graph, value) ? value->producer : NULL;
}

/* The scalar k if the condition holds at least for columns k, k + 1, ... of n: GreaterOrEqual of the
   column, or that and other conditions joined by Or. NULL: not of that form. */
static const struct value *find_key_count(const struct builder *b, const struct value *condition,
                                          int64_t n) {
  const struct node *node = maker(b, condition);
  while (node && is_op(node, OP_Or)) {
    const struct node *first = maker(b, node->inputs[0]), *second = maker(b, node->inputs[1]);
    node = second && is_op(second, OP_GreaterOrEqual) ? second : first;
  }
  if (!node || !is_op(node, OP_GreaterOrEqual) || !counts_up(node->inputs[0], n)) return NULL;
  int64_t count;
  const struct value *keys = node->inputs[1];
  return shape_count(&keys->shape, &count) && count == 1 && graph_owns(b->graph, keys) &&
                 b->values[keys->index].count
             ? keys
             : NULL;
}

/* -inf has no weight in any row; a large finite number has, in a row that sees no key. */
static bool is_minus_infinity(const struct value *x) {
  return is_nothing(x) && isinf(tensor_f64(x->constant, 0));
}

/* The number of keys that any query sees, if the mask computes with it; NULL: unknown. */
static const struct value *key_count_of(const struct builder *b, const struct mask *mask,
                                        int64_t n) {
  if (!mask->at || mask->at->constant) return NULL;
  if (mask->is_condition)
    return mask->hides_true && is_minus_infinity(mask->hidden) ? find_key_count(b, mask->at, n)
                                                               : NULL;
  const struct node *node = maker(b, mask->at);
  if (!node || !is_op(node, OP_Where) || !is_minus_infinity(node->inputs[1])) return NULL;
  return find_key_count(b, node->inputs[0], n);
}

static hone_status make_score_epilogue(struct builder *b, const struct attention *a,
                                       const struct view *v, struct problem *problem,
                                       struct epilogue *out) {
  const struct value **operands;
  const struct shape *scores = &a->scores->result->shape;
  size_t count;
  *out = (struct epilogue){0};
  TRY(make_chain_program(b, a->scores, a->between, (size_t)a->between_count, &out->program,
                         &operands, &count));
  TRY(NEW_ARRAY(b->ctx, b->arena, out->operands, count + 2));
  TRY(NEW_ARRAY(b->ctx, b->arena, out->kinds, count + 2));
  for (size_t i = 0; i < count; i++)
    TRY(place_score_operand(b, operands[i], scores, &out->operands[i], &out->kinds[i]));
  out->operands[count] = *v; /* operands of the kernel itself, after the program's */
  out->kinds[count] = OPERAND_FULL;
  out->count = count + 1;
  const struct mask mask = find_mask(&out->program, operands);
  problem->v_operand = (int64_t)count;
  if (!mask.at || !mask.at->begin) /* else it moves at run time */
    problem->visible = visible_columns(&mask, problem->m, problem->n);
  const struct value *keys = key_count_of(b, &mask, problem->n);
  const bool is_open = is_open_at(a->scores->result, -1);
  if (is_open)
    TRY(sizes_operand(b, 1, &problem->n, &a->scores->result->slope[scores->rank - 1],
                      &out->operands[out->count]));
  else if (keys)
    TRY(get_view(b, keys, &out->operands[out->count]));
  else
    return HONE_OK;
  out->kinds[out->count++] = OPERAND_FULL;
  problem->keys_operand = (int64_t)out->count;
  return HONE_OK;
}

static hone_status add_attention(struct builder *b, const struct attention *a) {
  struct problem problem = attention_sizes(a);
  problem.types.c = problem_type(storage_of(b, a->output_matmul->result));
  struct operands o;
  struct epilogue epilogue;
  struct choice choice;
  struct step *step;
  double products = (double)problem.m * (double)problem.n * (double)(problem.k + problem.columns);
  double flops = 2 * products * (double)problem.batch0 * (double)problem.batch1;
  TRY(place_operands(b, a, &problem, &o));
  TRY(make_score_epilogue(b, a, &o.v, &problem, &epilogue));
  if (!choose_kernel(b, &problem, &choice))
    return fail(b->ctx, HONE_E_INTERNAL, node_place(a->output_matmul->node),
                "kernel choice depends on strides");
  return add_kernel(b, a->output_matmul->node, &choice, &problem, (struct view[]){o.q, o.k, o.out},
                    &epilogue, flops, &step);
}

/* Lengths of queries and keys and the batches may be dynamic; elements past them are not read. */
static bool may_be_open(const struct attention *a) {
  const struct value *q = a->scores->node->inputs[0], *y = a->output_matmul->result;
  if (is_open_at(q, -1) || is_open_at(y, -1)) return false;
  for (size_t k = 0; k < 2; k++)
    if (a->scores->node->inputs[k]->begin || a->output_matmul->node->inputs[k]->begin) return false;
  return true;
}

hone_status lower_attention(struct builder *b, const struct fusion_group *g, bool *out_done) {
  struct attention found;
  for (size_t i = 0; i < b->pending.count; i++) {
    struct attention *a = &b->pending.at[i];
    *out_done = is_waiting_for(a, g) || a->output_matmul == g;
    if (!*out_done) continue;
    if (a->output_matmul != g) return HONE_OK;
    found = *a;
    *a = b->pending.at[--b->pending.count];
    return add_attention(b, &found);
  }
  if (!is_op(g->node, OP_MatMul) || !find_attention(b, g, &found)) return HONE_OK;
  if (!attention_is_served(b, &found) || !may_be_open(&found)) return HONE_OK;
  VEC_PUSH(b->ctx, b->arena, &b->pending, found);
  *out_done = true;
  return HONE_OK;
}
