/* elementwise: elementwise operators, in the memory order of their inputs. Quantised ones are in
 * quantised.c. */
#include "tflite.h"

#include <math.h>

/* Option 0 of ADD, SUB, MUL and DIV. */
enum { ACTIVATION = 0 };

hone_status tf_unary(struct tf_op *op) {
  struct value *x, *y;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_node(op->make, (enum op_id)op->kind->parameter, VALUES(x), NULL, &y));
  return tf_write(op, 0, image, y);
}

/* Both operands; *image tells in which order. */
static hone_status read_pair(struct tf_op *op, bool *image, struct value **x, struct value **y) {
  TRY(tf_arity(op, 2, 2, 1));
  *image = tf_follows_images(op, 2);
  TRY(tf_read(op, tf_in(op, 0), *image, x));
  return tf_read(op, tf_in(op, 1), *image, y);
}

static bool has_activation(enum op_id id) {
  return id == OP_Add || id == OP_Sub || id == OP_Mul || id == OP_Div;
}

/* Operators that only compare or select use quantised numbers unchanged if both operands have the
 * same scale and zero point. */
static bool is_quantised_alike(const struct tf_op *op) {
  const struct tf_quantisation *a = &tf_in(op, 0)->quantisation, *b = &tf_in(op, 1)->quantisation;
  return a->count == 1 && b->count == 1 && a->scales[0] == b->scales[0] &&
         a->zero_points[0] == b->zero_points[0];
}

static bool compares(enum op_id id) {
  return id == OP_Equal || id == OP_Less || id == OP_LessOrEqual || id == OP_Greater ||
         id == OP_GreaterOrEqual;
}

/* Operands of a comparison: of any scales, as the format compares them; 16-bit less-than
 * comparisons use the integers directly. */
static hone_status read_compared(struct tf_op *op, bool is_order, bool *image, struct value **x,
                                 struct value **y) {
  TRY(read_pair(op, image, x, y));
  const struct tf_tensor *first = tf_in(op, 0);
  const bool is_scaled = tf_is_quantised(first) && (dtype_is_byte(first->dtype) || !is_order);
  return is_scaled ? tf_quantised_compared(op, x, y) : HONE_OK;
}

hone_status tf_binary(struct tf_op *op) {
  struct value *x, *y, *z;
  bool image;
  enum op_id id = (enum op_id)op->kind->parameter;
  TRY(tf_arity(op, 2, 2, 1));
  if (tf_is_quantised(tf_in(op, 0))) {
    if (id == OP_Add || id == OP_Sub) return tf_quantised_sum(op);
    if (id == OP_Mul) return tf_quantised_product(op);
    if (id == OP_Div) return tf_quantised_quotient(op);
    if (id == OP_Pow || (!compares(id) && !is_quantised_alike(op)))
      return tf_refuse(op, "of quantised numbers");
  }
  TRY(compares(id) ? read_compared(op, id != OP_Equal, &image, &x, &y)
                   : read_pair(op, &image, &x, &y));
  TRY(make_node(op->make, id, VALUES(x, y), NULL, &z));
  if (has_activation(id)) TRY(tf_activate(op, ACTIVATION, z, &z));
  return tf_write(op, 0, image, z);
}

static hone_status refuse_quantised(struct tf_op *op, size_t inputs) {
  for (size_t k = 0; k < inputs; k++)
    if (tf_in(op, k) && tf_is_quantised(tf_in(op, k))) return tf_refuse(op, "of quantised numbers");
  return HONE_OK;
}

hone_status tf_square(struct tf_op *op) {
  struct value *x, *y;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(refuse_quantised(op, 1));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_node(op->make, OP_Mul, VALUES(x, x), NULL, &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_rsqrt(struct tf_op *op) {
  struct value *x, *y;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_node(op->make, OP_Sqrt, VALUES(x), NULL, &y));
  TRY(make_node(op->make, OP_Reciprocal, VALUES(y), NULL, &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_squared_difference(struct tf_op *op) {
  struct value *x, *y, *z;
  bool image;
  TRY(tf_arity(op, 2, 2, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_squared_difference(op);
  TRY(read_pair(op, &image, &x, &y));
  TRY(make_node(op->make, OP_Sub, VALUES(x, y), NULL, &z));
  TRY(make_node(op->make, OP_Mul, VALUES(z, z), NULL, &z));
  return tf_write(op, 0, image, z);
}

hone_status tf_not_equal(struct tf_op *op) {
  struct value *x, *y, *z;
  bool image;
  TRY(read_compared(op, false, &image, &x, &y));
  TRY(make_node(op->make, OP_Equal, VALUES(x, y), NULL, &z));
  TRY(make_node(op->make, OP_Not, VALUES(z), NULL, &z));
  return tf_write(op, 0, image, z);
}

/* Rounds toward minus infinity, for integers too: (x - x mod y) / y. */
hone_status tf_floor_div(struct tf_op *op) {
  struct value *x, *y, *z;
  bool image;
  TRY(read_pair(op, &image, &x, &y));
  TRY(refuse_quantised(op, 2));
  if (dtype_is_float(x->dtype)) {
    TRY(make_node(op->make, OP_Div, VALUES(x, y), NULL, &z));
    TRY(make_node(op->make, OP_Floor, VALUES(z), NULL, &z));
  } else {
    TRY(make_node(op->make, OP_Mod, VALUES(x, y), NULL, &z));
    TRY(make_node(op->make, OP_Sub, VALUES(x, z), NULL, &z));
    TRY(make_node(op->make, OP_Div, VALUES(z, y), NULL, &z));
  }
  return tf_write(op, 0, image, z);
}

/* The remainder has the divisor's sign. ONNX's Mod does so for integers; for floats the result of
 * C's fmod is corrected by y where the signs differ. */
hone_status tf_floor_mod(struct tf_op *op) {
  struct value *x, *y, *z, *is_below, *y_below, *zero, *moved;
  bool image;
  struct make *make = op->make;
  TRY(read_pair(op, &image, &x, &y));
  if (!dtype_is_float(x->dtype)) {
    TRY(make_node(make, OP_Mod, VALUES(x, y), NULL, &z));
    return tf_write(op, 0, image, z);
  }
  TRY(make_node(make, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", 1)), &z));
  TRY(make_scalar(make, x->dtype, 0, &zero));
  TRY(make_node(make, OP_Mul, VALUES(z, y), NULL, &is_below));
  TRY(make_node(make, OP_Less, VALUES(is_below, zero), NULL, &y_below));
  TRY(make_node(make, OP_Add, VALUES(z, y), NULL, &moved));
  TRY(make_node(make, OP_Where, VALUES(y_below, moved, z), NULL, &z));
  return tf_write(op, 0, image, z);
}

/* RELU6, RELU_N1_TO_1, RELU_0_TO_1: the parameter is the schema's code. */
hone_status tf_clip(struct tf_op *op) {
  struct value *x, *y, *low, *high;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_relu(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_scalar(op->make, x->dtype, op->kind->parameter < 0 ? -1 : 0, &low));
  TRY(make_scalar(op->make, x->dtype, op->kind->parameter == 6 ? 6 : 1, &high));
  TRY(make_node(op->make, OP_Clip, VALUES(x, low, high), NULL, &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_leaky(struct tf_op *op) {
  struct value *x, *y;
  double alpha;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(flat_float(&op->options, 0, 0, &alpha));
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_node(op->make, OP_LeakyRelu, VALUES(x), ARGS(FLOAT_ARG("alpha", alpha)), &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_gelu(struct tf_op *op) {
  struct value *x, *y;
  int64_t approximate;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_option(op, 0, FLAT_U8, 0, &approximate));
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_node(op->make, OP_Gelu, VALUES(x),
                ARGS(STRING_ARG("approximate", approximate ? "tanh" : "none")), &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_hard_swish(struct tf_op *op) {
  struct value *x, *y;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_hard_swish(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_node(op->make, OP_HardSwish, VALUES(x), NULL, &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_prelu(struct tf_op *op) {
  struct value *x, *slope, *y;
  bool image;
  TRY(tf_arity(op, 2, 2, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_prelu(op);
  TRY(read_pair(op, &image, &x, &slope));
  TRY(make_node(op->make, OP_PRelu, VALUES(x, slope), NULL, &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_cast(struct tf_op *op) {
  struct value *x, *y;
  TRY(tf_arity(op, 1, 1, 1));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_cast(op->make, x, tf_out(op, 0)->dtype, &y));
  return tf_write(op, 0, image, y);
}

/* SELECT (parameter 1): a condition of rank 1 selects whole rows. SELECT_V2 broadcasts. */
hone_status tf_select(struct tf_op *op) {
  struct value *condition, *x, *y, *z;
  TRY(tf_arity(op, 3, 3, 1));
  bool image = op->kind->parameter == 0 && tf_follows_images(op, 3);
  TRY(tf_read(op, tf_in(op, 0), image, &condition));
  TRY(tf_read(op, tf_in(op, 1), image, &x));
  TRY(tf_read(op, tf_in(op, 2), image, &y));
  if (op->kind->parameter && condition->shape.rank == 1 && x->shape.rank > 1) {
    int64_t dims[HONE_MAX_RANK] = {condition->shape.dims[0]};
    for (int d = 1; d < x->shape.rank; d++) dims[d] = 1;
    TRY(make_reshape(op->make, condition, dims, (size_t)x->shape.rank, &condition));
  }
  TRY(make_node(op->make, OP_Where, VALUES(condition, x, y), NULL, &z));
  return tf_write(op, 0, image, z);
}

hone_status tf_add_n(struct tf_op *op) {
  struct value *sum, *x;
  TRY(tf_arity(op, 1, SIZE_MAX, 1));
  TRY(refuse_quantised(op, op->inputs.count));
  bool image = tf_follows_images(op, op->inputs.count);
  TRY(tf_read(op, tf_in(op, 0), image, &sum));
  for (size_t k = 1; k < op->inputs.count; k++) {
    if (!tf_in(op, k)) return tf_arity(op, k + 1, k, 1);
    TRY(tf_read(op, tf_in(op, k), image, &x));
    TRY(make_node(op->make, OP_Add, VALUES(sum, x), NULL, &sum));
  }
  return tf_write(op, 0, image, sum);
}

/* SOFTMAX (beta is option 0) and LOG_SOFTMAX (parameter 1), over the last axis. */
hone_status tf_softmax(struct tf_op *op) {
  struct value *x, *y;
  double beta;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_softmax(op);
  TRY(flat_float(&op->options, 0, op->kind->parameter ? 1 : 0, &beta));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  if (beta != 1 && !op->kind->parameter) TRY(make_with_scalar(op->make, OP_Mul, x, beta, &x));
  TRY(make_node(op->make, op->kind->parameter ? OP_LogSoftmax : OP_Softmax, VALUES(x),
                ARGS(INT_ARG("axis", image ? 1 : -1)), &y));
  return tf_write(op, 0, image, y);
}

hone_status tf_zeros_like(struct tf_op *op) {
  struct value *x, *zero, *y;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  TRY(make_ints(op->make, x->shape.dims, (size_t)x->shape.rank, &y));
  TRY(make_scalar(op->make, x->dtype, 0, &zero));
  TRY(make_node(op->make, OP_Expand, VALUES(zero, y), NULL, &y));
  return tf_write(op, 0, false, y);
}

/* atan(y / x), plus or minus pi where x < 0. */
hone_status tf_atan2(struct tf_op *op) {
  struct value *y, *x, *angle, *zero, *is_left, *is_down, *plus, *minus, *moved;
  bool image;
  struct make *make = op->make;
  TRY(read_pair(op, &image, &y, &x));
  TRY(make_node(make, OP_Div, VALUES(y, x), NULL, &angle));
  TRY(make_node(make, OP_Atan, VALUES(angle), NULL, &angle));
  TRY(make_scalar(make, x->dtype, 0, &zero));
  TRY(make_node(make, OP_Less, VALUES(x, zero), NULL, &is_left));
  TRY(make_node(make, OP_Less, VALUES(y, zero), NULL, &is_down));
  TRY(make_with_scalar(make, OP_Add, angle, 3.14159265358979323846, &plus));
  TRY(make_with_scalar(make, OP_Sub, angle, 3.14159265358979323846, &minus));
  TRY(make_node(make, OP_Where, VALUES(is_down, minus, plus), NULL, &moved));
  TRY(make_node(make, OP_Where, VALUES(is_left, moved, angle), NULL, &angle));
  /* 0 / 0 and y / 0: 0 at the origin */
  TRY(make_node(make, OP_Equal, VALUES(y, zero), NULL, &is_down));
  TRY(make_node(make, OP_Equal, VALUES(x, zero), NULL, &is_left));
  TRY(make_node(make, OP_And, VALUES(is_down, is_left), NULL, &is_left));
  TRY(make_node(make, OP_Where, VALUES(is_left, zero, angle), NULL, &angle));
  return tf_write(op, 0, image, angle);
}

/* FAKE_QUANT (options min, max, bits, narrow range): rounds to the nearest of 2^bits evenly
 * spaced numbers, one of which is 0; halves away from the smallest. Source: Jacob et al. 2018,
 * section 3. */
hone_status tf_fake_quant(struct tf_op *op) {
  double low, high;
  int64_t bits, narrow;
  struct make *make = op->make;
  struct value *x, *least, *most, *whole, *rest, *y;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(flat_float(&op->options, 0, 0, &low));
  TRY(flat_float(&op->options, 1, 0, &high));
  TRY(tf_option(op, 2, FLAT_I32, 0, &bits));
  TRY(tf_option(op, 3, FLAT_U8, 0, &narrow));
  if (!(low <= 0) || !(high >= 0) || !(low < high) || bits < 2 || bits > 16)
    return fail(op->ctx, HONE_E_NUM, tf_place(op), "FAKE_QUANT to %g..%g in %lld bits", low, high,
                (long long)bits);
  float first = narrow != 0, last = (float)((1 << bits) - 1);
  float scale = ((float)high - (float)low) / (last - first);
  float zero = roundf(fminf(fmaxf(first - (float)low / scale, first), last));
  float bottom = (first - zero) * scale, top = (last - zero) * scale;
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(make_scalar(make, x->dtype, (double)bottom, &least));
  TRY(make_scalar(make, x->dtype, (double)top, &most));
  TRY(make_node(make, OP_Clip, VALUES(x, least, most), NULL, &x));
  TRY(make_node(make, OP_Sub, VALUES(x, least), NULL, &x));
  TRY(make_with_scalar(make, OP_Mul, x, (double)(1.0f / scale), &x));
  TRY(make_node(make, OP_Floor, VALUES(x), NULL, &whole));
  TRY(make_node(make, OP_Sub, VALUES(x, whole), NULL, &rest));
  TRY(make_with_scalar(make, OP_GreaterOrEqual, rest, 0.5, &rest));
  TRY(make_cast(make, rest, x->dtype, &rest));
  TRY(make_node(make, OP_Add, VALUES(whole, rest), NULL, &y));
  TRY(make_with_scalar(make, OP_Mul, y, (double)scale, &y));
  TRY(make_node(make, OP_Add, VALUES(y, least), NULL, &y));
  return tf_write(op, 0, image, y);
}

/* BITCAST between types of one width. */
hone_status tf_bitcast(struct tf_op *op) {
  struct value *x, *y;
  TRY(tf_arity(op, 1, 1, 1));
  hone_dtype to = tf_out(op, 0)->dtype;
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  if (dtype_bits(x->dtype) != dtype_bits(to))
    return tf_refuse(op, "from %s to %s", dtype_name(x->dtype), dtype_name(to));
  TRY(make_node(op->make, OP_BitCast, VALUES(x), ARGS(INT_ARG("to", (int64_t)to)), &y));
  return tf_write(op, 0, image, y);
}

/* RIGHT_SHIFT: x / 2^n rounded toward minus infinity, n clamped to the width of the type. */
hone_status tf_right_shift(struct tf_op *op) {
  struct value *x, *n, *least, *most, *y;
  bool image;
  TRY(read_pair(op, &image, &x, &n));
  hone_dtype dtype = x->dtype;
  if (dtype_is_float(dtype) || dtype_bits(dtype) > 32 || n->dtype != dtype)
    return tf_refuse(op, "of %s by %s", dtype_name(dtype), dtype_name(n->dtype));
  TRY(make_scalar(op->make, dtype, 0, &least));
  TRY(make_scalar(op->make, dtype, dtype_bits(dtype) - 1, &most));
  TRY(make_node(op->make, OP_Clip, VALUES(n, least, most), NULL, &n));
  TRY(make_node(op->make, OP_BitShift, VALUES(x, n), ARGS(STRING_ARG("direction", "RIGHT")), &y));
  return tf_write(op, 0, image, y);
}
