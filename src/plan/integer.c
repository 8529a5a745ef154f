/* Contractions of bytes: what their kernels take, and what takes the zero point of a off again,
 *     sum (a - zero) * w = sum a * w - zero * (sum of w's column).
 * Most kernels add a signed a up as a + 128. */
#include "builder.h"

bool contraction_types(const struct group *g, struct problem_types *out) {
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

/* One element a column of the output, times `factor`, wrapping as int32 sums do. */
static hone_status column_sums(struct builder *b, const struct node *node, int64_t factor,
                               struct tensor **out) {
  const struct tensor *w = node->inputs[1]->constant;
  bool conv = is_op(node, OP_ConvInteger); /* [oc, ...] there, [k, n] here */
  size_t count = tensor_count(w), columns = (size_t)w->shape.dims[conv ? 0 : 1];
  size_t rows = columns ? count / columns : 0;
  struct shape shape = {1, {(int64_t)columns}};
  TRY(tensor_create(b->ctx, b->arena, HONE_I32, &shape, out));
  const int8_t *data = w->data;
  for (size_t j = 0; j < columns; j++) {
    int64_t sum = 0;
    for (size_t i = 0; i < rows; i++) sum += data[conv ? j * rows + i : i * columns + j];
    tensor_set_i64(*out, j, (int32_t)(uint32_t)(uint64_t)(sum * factor));
  }
  return HONE_OK;
}

/* Puts a view in front of the epilogue's operands. */
static void push_front(struct epilogue *e, const struct view *view, enum operand_kind kind) {
  for (size_t k = e->count; k-- > 0;) {
    e->operands[k + 1] = e->operands[k];
    e->kinds[k + 1] = e->kinds[k];
  }
  e->operands[0] = *view;
  e->kinds[0] = kind;
  e->count++;
}

hone_status make_integer_epilogue(struct builder *b, const struct group *g,
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
  if (!factor) return HONE_OK;
  struct view view;
  if (at_run) {
    TRY(get_view(b, zero, &view));
    push_front(epilogue, &view, OPERAND_SCALAR);
  }
  TRY(column_sums(b, node, factor, &sums));
  struct buffer *buffer;
  TRY(new_buffer(b, BUFFER_WEIGHTS, sums->bytes, &buffer));
  buffer->tensor = sums;
  view_dense(&view, buffer, HONE_I32, &sums->shape);
  push_front(epilogue, &view, OPERAND_COLUMN);
  epilogue->sums = at_run ? SUMS_AT_RUN : SUMS_ADDED;
  return HONE_OK;
}
