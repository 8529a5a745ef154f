/* Types and elementwise operations that simd.h supports on vectors. */
#include "builder.h"

bool is_vector_type(hone_dtype dtype) {
  return dtype == HONE_F32 || dtype_is_byte(dtype) || dtype == HONE_I32;
}

bool is_clip_to(hone_dtype byte, enum op_id op, double alpha, double beta) {
  double low = byte == HONE_U8 ? 0 : -128;
  return op == OP_Clip && alpha >= low && beta <= low + 255;
}

bool is_vector_cast(hone_dtype from, hone_dtype to, bool is_clipped) {
  if (!is_vector_type(from) || !is_vector_type(to)) return false;
  return from != HONE_F32 || to == HONE_F32 || (dtype_is_byte(to) && is_clipped);
}

const int64_t *byte_table_of(const struct node *node) {
  size_t count;
  return is_op(node, OP_ByteTable) ? node_ints(node, "table", &count) : NULL;
}

/* Operations that simd.h has for int32 vectors. */
static bool is_integer_vector(enum op_id op) {
  static const enum op_id known[] = {OP_Add,       OP_Max,       OP_Min,     OP_Mul,
                                     OP_Sub,       OP_Sum,       OP_Rescale, OP_RescaleOnce,
                                     OP_RescaleUp, OP_ShiftRight};
  for (size_t i = 0; i < COUNT(known); i++)
    if (known[i] == op) return true;
  return false;
}

bool is_vector_operation(const struct op *op, hone_dtype to, const hone_dtype *from, int count) {
  if (op->id == OP_ByteTable) return dtype_is_byte(to) && dtype_is_byte(from[0]);
  if (to != HONE_F32 && to != HONE_I32) return false;
  for (int k = 0; k < count; k++)
    if (from[k] != to) return false;
  if (to == HONE_I32) return is_integer_vector(op->id);
  return op->expression || op->id == OP_Mean;
}
