/* sequence: shared by the readers of recurrent operators: the input and output sequence, and the
 * gates' weights. */
#include "recurrent.h"

/* ONNX has them as input, output, forget, cell. */
static const int in_onnx_order[GATES] = {INPUT_GATE, OUTPUT_GATE, FORGET_GATE, CELL_GATE};

/* [n] or [n, m] as [1, n, m]; other shapes are an error. */
hone_status tf_as_slice(struct tf_op *op, struct value *x, int64_t rows, int64_t columns,
                        struct value **out) {
  const int64_t dims[] = {1, rows, columns};
  if (make_elements(x) != rows * columns)
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: the weights' shape does not match",
                op->kind->name);
  return x_give(op->b, out, x_reshape(op->b, x, dims, 3));
}

/* The gates' weights concatenated in ONNX's order: [1, 4 * rows, columns]; without an input gate: 1
 * minus the forget gate, whose weights are negated if `negate` is true. */
hone_status tf_stack_gates(struct tf_op *op, size_t first, int64_t rows, int64_t columns,
                           bool negate, struct value **out) {
  struct value *parts[GATES];
  for (int g = 0; g < GATES; g++) {
    struct tf_tensor *tensor = tf_in(op, first + (size_t)in_onnx_order[g]);
    const bool is_coupled = !tensor && in_onnx_order[g] == INPUT_GATE;
    if (is_coupled) tensor = tf_in(op, first + FORGET_GATE);
    if (!tensor)
      return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s is missing the weights of a gate",
                  op->kind->name);
    TRY(tf_dequantised(op, tensor, &parts[g]));
    TRY(tf_as_slice(op, parts[g], rows, columns, &parts[g]));
    if (is_coupled && negate) BUILD(op->b, parts[g] = x_1(op->b, OP_Neg, parts[g]));
  }
  return x_give(op->b, out, x_concat(op->b, 1, parts, GATES));
}

/* `major`: the default of the option. */
hone_status tf_read_sequence(struct tf_op *op, unsigned major_option, int64_t major,
                             struct sequence *out) {
  static const int64_t swap[] = {1, 0, 2};
  *out = (struct sequence){.is_step = op->kind->parameter != 0};
  if (!out->is_step) TRY(tf_option(op, major_option, FLAT_U8, major, &major));
  out->is_time_major = out->is_step || major != 0;
  TRY(tf_value(op, tf_in(op, 0), &out->x));
  if (out->x->shape.rank != (out->is_step ? 2 : 3))
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s of rank %d", op->kind->name,
                out->x->shape.rank);
  if (out->is_step) {
    const int64_t dims[] = {1, out->x->shape.dims[0], out->x->shape.dims[1]};
    BUILD(op->b, out->x = x_reshape(op->b, out->x, dims, 3));
  }
  if (!out->is_time_major) BUILD(op->b, out->x = x_transpose(op->b, out->x, swap));
  out->batch = out->x->shape.dims[1];
  out->input = out->x->shape.dims[2];
  return HONE_OK;
}

/* y [time, 1, batch, units] in the order of the operator's output. */
struct value *tf_order_sequence(struct tf_op *op, const struct sequence *s, struct value *y) {
  static const int64_t swap[] = {1, 0, 2};
  const int64_t dims[] = {y->shape.dims[0], y->shape.dims[2], y->shape.dims[3]};
  struct value *out = x_reshape(op->b, y, s->is_step ? dims + 1 : dims, s->is_step ? 2 : 3);
  if (!s->is_time_major) out = x_transpose(op->b, out, swap);
  return out;
}

hone_status tf_write_sequence(struct tf_op *op, const struct sequence *s, struct value *y) {
  return tf_write(op, 0, false, tf_order_sequence(op, s, y));
}
