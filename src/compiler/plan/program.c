/* Elementwise programs: the expression of a node and of the nodes fused into it, or the bias and
 * the group's program after a kernel, as one list of operations that does not need the nodes any
 * more.
 */
#include "builder.h"

#include <math.h>

struct maker {
  struct builder *b;
  const struct fusion_group *group;
  const struct node *node; /* its own */
  struct expr *program;
  size_t capacity;
};

static hone_status push(struct maker *m, const struct operation *operation) {
  struct expr *p = m->program;
  if (p->count == m->capacity)
    return fail(m->b->ctx, HONE_E_INTERNAL, node_place(m->node), "program of %zu operations",
                p->count);
  p->at[p->count] = *operation;
  p->result = (int)p->count++;
  return HONE_OK;
}

static hone_status begin(struct maker *m, size_t inputs, size_t operations) {
  struct expr *p = m->program;
  *p = (struct expr){.result = PROGRAM_RAW, .input_count = inputs};
  m->capacity = operations;
  TRY(NEW_ARRAY(m->b->ctx, m->b->arena, p->inputs, inputs));
  return NEW_ARRAY(m->b->ctx, m->b->arena, p->at, operations);
}

/* Max, Min, Sum, Mean: the binary expression over all operands in turn. */
static hone_status push_variadic(struct maker *m, size_t own, hone_dtype dtype) {
  bool mean = is_op(m->node, OP_Mean);
  m->program->result = PROGRAM_INPUT(0);
  for (size_t k = 1; k < own; k++)
    TRY(push(m, &(struct operation){.op = mean ? &op_table[OP_Add] : m->node->op,
                                    .arg_count = 2,
                                    .args = {m->program->result, PROGRAM_INPUT((int)k)},
                                    .dtype = dtype}));
  if (!mean) return HONE_OK;
  return push(m, &(struct operation){.op = m->node->op,
                                     .arg_count = 1,
                                     .args = {m->program->result},
                                     .alpha = (double)own,
                                     .dtype = dtype});
}

static hone_status push_own(struct maker *m, hone_dtype dtype) {
  const struct node *node = m->node;
  size_t own = node->input_count, operands = elementwise_operands(node);
  if (is_variadic(node->op)) return push_variadic(m, own, dtype);
  struct operation o = {.op = node->op, .dtype = dtype, .table = byte_table_of(node)};
  o.arg_count = (int)(operands < own ? operands : own);
  if (o.arg_count > (int)COUNT(o.args))
    return fail(m->b->ctx, HONE_E_LIMIT, node_place(node), "too many operands");
  for (int k = 0; k < o.arg_count; k++) o.args[k] = PROGRAM_INPUT(k);
  o.c_remainder = node_int(node, "fmod", 0) != 0;
  o.is_stored_small = node->outputs[0]->dtype != dtype;
  if (!elementwise_parameters(node, &o.alpha, &o.beta) && is_op(node, OP_Clip)) {
    if (!dtype_is_float(dtype))
      return fail(m->b->ctx, HONE_E_UNSUP, node_place(node),
                  "Clip of integers with run-time bounds");
    o.alpha = -INFINITY;
    o.beta = INFINITY;
    if (own > 1 && node->inputs[1]) o.alpha_input = 1;
    if (own > 2 && node->inputs[2]) o.beta_input = 2;
  }
  return push(m, &o);
}

/* first_input: the program's input for the group's first operand. */
static hone_status push_fused(struct maker *m, size_t first_input) {
  const int raw = m->program->result, before = (int)m->program->count;
  for (size_t s = 0; s < m->group->count; s++) {
    struct operation o = m->group->program[s];
    for (int k = 0; k < o.arg_count; k++) {
      int arg = o.args[k];
      o.args[k] = arg >= 0             ? before + arg
                  : arg == PROGRAM_RAW ? raw
                                       : PROGRAM_INPUT(PROGRAM_INPUT_INDEX(arg) + (int)first_input);
    }
    TRY(push(m, &o));
  }
  return HONE_OK;
}

/* The range of an operand's elements. */
static struct number_range operand_range(const struct value *x) {
  const struct tensor *constant = x->constant;
  struct number_range range = type_range(x->dtype);
  const size_t count = constant ? tensor_count(constant) : 0;
  if (!count || x->dtype == HONE_STRING) return range;
  range = (struct number_range){INFINITY, -INFINITY};
  for (size_t i = 0; i < count; i++) {
    const double element = tensor_f64(constant, i);
    if (isnan(element)) return type_range(x->dtype);
    range.low = fmin(range.low, element);
    range.high = fmax(range.high, element);
  }
  return range;
}

/* first_input: the program's input for the group's first operand. */
static hone_status simplify(struct maker *m, size_t first_input, bool is_epilogue) {
  struct number_range *inputs;
  TRY(NEW_ARRAY(m->b->ctx, m->b->arena, inputs, m->program->input_count));
  for (size_t i = 0; i < m->program->input_count; i++)
    inputs[i] =
        i < first_input ? type_range(HONE_F32) : operand_range(m->group->operands[i - first_input]);
  return simplify_program(m->b, m->program, inputs, is_epilogue);
}

hone_status make_program(struct builder *b, const struct fusion_group *g, struct expr *out) {
  const struct node *node = g->node;
  struct maker m = {.b = b, .group = g, .node = node, .program = out};
  hone_dtype dtype = dtype_widened(raw_dtype(g));
  const char *mode = node_string(node, "round_mode", "up");
  size_t inputs = group_input_count(g);
  TRY(begin(&m, inputs, node->input_count + 1 + g->count));
  for (size_t i = 0; i < inputs; i++)
    out->inputs[i] = group_input(g, i) ? dtype_widened(group_input(g, i)->dtype) : HONE_UNDEFINED;
  out->saturates = node_int(node, "saturate", 1) != 0;
  out->rounding = !strcmp(mode, "up") ? TINY_UP : !strcmp(mode, "down") ? TINY_DOWN : TINY_NEAREST;
  TRY(push_own(&m, dtype));
  TRY(push_fused(&m, node->input_count));
  return simplify(&m, node->input_count, false);
}

hone_status make_epilogue_program(struct builder *b, const struct fusion_group *g, bool has_bias,
                                  struct expr *out) {
  struct maker m = {.b = b, .group = g, .node = g->node, .program = out};
  size_t inputs = has_bias + g->operand_count;
  TRY(begin(&m, inputs, has_bias + g->count));
  out->raw = raw_dtype(g);
  for (size_t i = 0; i < inputs; i++)
    out->inputs[i] = has_bias && !i ? HONE_F32 : g->operands[i - has_bias]->dtype;
  if (has_bias)
    TRY(push(&m, &(struct operation){.op = &op_table[OP_Add],
                                     .arg_count = 2,
                                     .args = {PROGRAM_RAW, PROGRAM_INPUT(0)},
                                     .dtype = out->raw}));
  TRY(push_fused(&m, has_bias));
  return simplify(&m, has_bias, true);
}

/* -- several groups */

struct chain {
  struct maker maker;
  const struct value **operands;
};

/* Appends the program of one group: its own earlier results, the result of the group before, and
   its operands, after those already there. */
static hone_status append_program(struct chain *chain, const struct fusion_group *g,
                                  const struct expr *own, const struct value *before) {
  struct expr *p = chain->maker.program;
  const int raw = p->result, shift = (int)p->count;
  const size_t first = p->input_count;
  for (size_t k = 0; k < group_input_count(g); k++) {
    if (group_input(g, k) == before) continue;
    chain->operands[p->input_count] = group_input(g, k);
    p->inputs[p->input_count++] = HONE_F32;
  }
  for (size_t s = 0; s < own->count; s++) {
    struct operation o = own->at[s];
    for (int k = 0; k < o.arg_count; k++) {
      if (o.args[k] >= 0) {
        o.args[k] += shift;
        continue;
      }
      size_t input = (size_t)PROGRAM_INPUT_INDEX(o.args[k]), skipped = 0;
      for (size_t i = 0; i < input; i++) skipped += group_input(g, i) == before;
      o.args[k] =
          group_input(g, input) == before ? raw : PROGRAM_INPUT((int)(first + input - skipped));
    }
    TRY(push(&chain->maker, &o));
  }
  return HONE_OK;
}

hone_status make_chain_program(struct builder *b, const struct fusion_group *matmul,
                               const struct fusion_group *const *between, size_t between_count,
                               struct expr *out, const struct value ***out_operands,
                               size_t *out_count) {
  struct chain chain = {.maker = {.b = b, .group = matmul, .node = matmul->node, .program = out}};
  size_t inputs = group_input_count(matmul), operations = matmul->count + 1;
  for (size_t i = 0; i < between_count; i++) {
    inputs += group_input_count(between[i]);
    operations += between[i]->node->input_count + 2 + between[i]->count;
  }
  TRY(begin(&chain.maker, inputs, operations));
  TRY(NEW_ARRAY(b->ctx, b->arena, chain.operands, inputs));
  out->raw = HONE_F32;
  out->input_count = matmul->operand_count;
  for (size_t k = 0; k < out->input_count; k++) {
    out->inputs[k] = HONE_F32;
    chain.operands[k] = matmul->operands[k];
  }
  TRY(push_fused(&chain.maker, 0));
  const struct value *before = matmul->result;
  for (size_t i = 0; i < between_count; i++) {
    struct expr one;
    TRY(make_program(b, between[i], &one));
    TRY(append_program(&chain, between[i], &one, before));
    before = between[i]->result;
  }
  *out_operands = chain.operands;
  *out_count = out->input_count;
  return HONE_OK;
}

/* -- on vectors */

static hone_dtype type_of(const struct expr *p, int arg) {
  return arg == PROGRAM_RAW ? p->raw
         : arg >= 0         ? p->at[arg].dtype
                            : p->inputs[PROGRAM_INPUT_INDEX(arg)];
}

hone_dtype program_dtype(const struct expr *p) { return type_of(p, p->result); }

static bool is_vector_step(const struct expr *p, const struct operation *o) {
  hone_dtype from[COUNT(o->args)];
  int first = o->args[0];
  for (int k = 0; k < o->arg_count; k++) from[k] = type_of(p, o->args[k]);
  if (o->op->id != OP_Cast) return is_vector_operation(o->op, o->dtype, from, o->arg_count);
  bool is_clipped = first >= 0 && is_clip_to(o->dtype, p->at[first].op->id, p->at[first].alpha,
                                             p->at[first].beta);
  return is_vector_cast(from[0], o->dtype, is_clipped);
}

bool program_is_vector(const struct expr *p) {
  for (size_t s = 0; s < p->count; s++)
    if (!is_vector_step(p, &p->at[s])) return false;
  return is_vector_type(type_of(p, p->result));
}
