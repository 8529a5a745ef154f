/* operands: the operands of one operator of a file, and error messages about it. */
#include "tflite.h"

struct place tf_place(const struct tf_op *op) {
  return x_place(op->b);
}

static struct tf_tensor *operand(const struct tf_op *op, const struct flat_vector *list, size_t k) {
  if (k >= list->count) return NULL;
  int32_t i = flat_i32_at(list, k);
  return i < 0 ? NULL : &op->tf->graph.tensors[i];
}
struct tf_tensor *tf_in(const struct tf_op *op, size_t k) {
  return operand(op, &op->inputs, k);
}
struct tf_tensor *tf_out(const struct tf_op *op, size_t k) {
  return operand(op, &op->outputs, k);
}

hone_status tf_refuse(const struct tf_op *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const hone_status status = make_refuse(op->b, "TFLite", op->kind->name, format, args);
  va_end(args);
  return status;
}

hone_status tf_arity(const struct tf_op *op, size_t least, size_t most, size_t outputs) {
  bool fits = op->inputs.count >= least && op->inputs.count <= most && op->outputs.count == outputs;
  for (size_t k = 0; fits && k < least; k++) fits = tf_in(op, k) != NULL;
  for (size_t k = 0; fits && k < outputs; k++) fits = tf_out(op, k) != NULL;
  if (fits) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, tf_place(op),
              "%s has %zu inputs and %zu outputs, or a required one is missing", op->kind->name,
              op->inputs.count, op->outputs.count);
}
