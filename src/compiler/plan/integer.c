/* Int8 contractions: which ones kernels support, and how the zero point of a is subtracted: sum (a
 * - zero) * w = sum a * w - zero * (sum of w's column). Most kernels accumulate a signed a as a +
 * 128.
 */
#include "builder.h"

bool contraction_types(const struct fusion_group *g, struct problem_types *out) {
  const struct node *node = g->node;
  if (is_integer_contraction(node)) {
    *out = (struct problem_types){(uint8_t)node->inputs[0]->dtype, (uint8_t)node->inputs[1]->dtype,
                                  TYPE_I32, (uint8_t)g->result->dtype};
    return is_vector_program(g);
  }
  *out = SAME_TYPES(TYPE_F32);
  return all_f32(g);
}

const struct value *integer_zero(const struct node *node) {
  return is_integer_contraction(node) && node->input_count > 2 ? node->inputs[2] : NULL;
}

int64_t constant_zero(const struct node *node) {
  const struct value *zero = integer_zero(node);
  return zero && zero->constant ? tensor_i64(zero->constant, 0) : 0;
}

int64_t weights_zero(const struct node *node) {
  const struct value *zero = node->input_count > 3 ? node->inputs[3] : NULL;
  return zero && tensor_count(zero->constant) ? tensor_i64(zero->constant, 0) : 0;
}

static int64_t columns_of(const struct node *node) {
  return node->inputs[1]->shape.dims[is_op(node, OP_ConvInteger) ? 0 : 1];
}

/* One element per output column: the sum of its weights times `factor`, plus the bias (or NULL),
   wrapping around as int32 sums do. */
static hone_status column_sums(struct builder *b, const struct node *node, int64_t factor,
                               const struct tensor *bias, struct tensor **out) {
  const struct tensor *w = node->inputs[1]->constant;
  bool conv = is_op(node, OP_ConvInteger); /* [oc, ...] for convolutions, [k, n] for matmuls */
  size_t count = tensor_count(w), columns = (size_t)columns_of(node);
  size_t rows = columns ? count / columns : 0;
  struct shape shape = {1, {(int64_t)columns}};
  TRY(tensor_create(b->ctx, b->arena, HONE_I32, &shape, out));
  const int8_t *data = w->data;
  for (size_t j = 0; j < columns; j++) {
    int64_t sum = 0;
    for (size_t i = 0; i < rows; i++) sum += data[conv ? j * rows + i : i * columns + j];
    sum *= factor;
    if (bias) sum += tensor_i64(bias, tensor_count(bias) == 1 ? 0 : j);
    tensor_set_i64(*out, j, (int32_t)(uint32_t)(uint64_t)sum);
  }
  return HONE_OK;
}

/* Inserts a view before the epilogue's operands. */
static void push_front(struct epilogue *e, const struct view *view, enum operand_kind kind) {
  for (size_t k = e->count; k-- > 0;) {
    e->operands[k + 1] = e->operands[k];
    e->kinds[k + 1] = e->kinds[k];
  }
  e->operands[0] = *view;
  e->kinds[0] = kind;
  e->count++;
}

/* The constant that the program's first operation adds to the sums of a column, or NULL. */
static const struct tensor *bias_of(const struct fusion_group *g, const struct epilogue *program) {
  const struct expr *p = &program->program;
  const struct operation *sum = p->at;
  if (!p->count || sum->op->id != OP_Add || sum->dtype != HONE_I32) return NULL;
  const int k = sum->args[0] == PROGRAM_RAW, other = sum->args[k];
  if (sum->args[!k] != PROGRAM_RAW || other >= PROGRAM_RAW) return NULL;
  for (size_t i = 1; i < p->count; i++) /* other readers of the sums */
    for (int a = 0; a < p->at[i].arg_count; a++)
      if (p->at[i].args[a] == PROGRAM_RAW) return NULL;
  const size_t operand = (size_t)PROGRAM_INPUT_INDEX(other);
  const struct tensor *bias = g->operands[operand]->constant;
  const bool is_column = program->kinds[operand] == OPERAND_COLUMN && bias &&
                         (int64_t)tensor_count(bias) == columns_of(g->node);
  return is_column || program->kinds[operand] == OPERAND_SCALAR ? bias : NULL;
}

static void drop_first(struct expr *p) {
  p->count--;
  if (p->result >= 0) p->result--; /* result of the first operation: PROGRAM_RAW */
  for (size_t i = 0; i < p->count; i++) {
    p->at[i] = p->at[i + 1];
    for (int k = 0; k < p->at[i].arg_count; k++)
      if (p->at[i].args[k] >= 0) p->at[i].args[k]--;
  }
}

hone_status make_integer_epilogue(struct builder *b, const struct fusion_group *g,
                                  const struct kernel *kernel, const struct view *out, int column,
                                  struct epilogue *epilogue) {
  const struct node *node = g->node;
  struct epilogue program;
  struct tensor *sums;
  const struct value *zero = integer_zero(node);
  int64_t shift = node->inputs[0]->dtype == HONE_I8 ? kernel_signed_shift(kernel) : 0;
  TRY(make_epilogue(b, g, NULL, out, column, &program));
  *epilogue = program;
  TRY(NEW_ARRAY(b->ctx, b->arena, epilogue->operands, program.count + 2));
  TRY(NEW_ARRAY(b->ctx, b->arena, epilogue->kinds, program.count + 2));
  for (size_t k = 0; k < program.count; k++) {
    epilogue->operands[k] = program.operands[k];
    epilogue->kinds[k] = program.kinds[k];
  }
  bool at_run = zero && !zero->constant;
  int64_t factor = at_run ? 1 : -(constant_zero(node) + shift);
  const struct tensor *bias = at_run ? NULL : bias_of(g, &program);
  if (bias) drop_first(&epilogue->program);
  if (!factor && !bias) return HONE_OK;
  struct view view;
  if (at_run) {
    TRY(get_view(b, zero, &view));
    push_front(epilogue, &view, OPERAND_SCALAR);
  }
  TRY(column_sums(b, node, factor, bias, &sums));
  struct buffer *buffer;
  TRY(new_buffer(b, BUFFER_WEIGHTS, sums->bytes, &buffer));
  buffer->tensor = sums;
  view_dense(&view, buffer, HONE_I32, &sums->shape);
  push_front(epilogue, &view, OPERAND_COLUMN);
  epilogue->sums = at_run ? SUMS_AT_RUN : SUMS_FIRST;
  return HONE_OK;
}
