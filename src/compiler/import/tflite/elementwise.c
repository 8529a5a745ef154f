/* elementwise: elementwise operators, in the memory order of their inputs. Quantised ones are in
 * quantised.c. */
#include "tflite.h"

#include <math.h>

/* Option 0 of ADD, SUB, MUL and DIV. */
enum { ACTIVATION = 0 };

hone_status tf_unary(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image, x_1(op->b, (enum op_id)op->kind->parameter, x));
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
  BUILD(op->b, z = x_2(op->b, id, x, y));
  if (has_activation(id)) TRY(tf_activate(op, ACTIVATION, z, &z));
  return tf_write(op, 0, image, z);
}

static hone_status refuse_quantised(struct tf_op *op, size_t inputs) {
  for (size_t k = 0; k < inputs; k++)
    if (tf_in(op, k) && tf_is_quantised(tf_in(op, k))) return tf_refuse(op, "of quantised numbers");
  return HONE_OK;
}

hone_status tf_square(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(refuse_quantised(op, 1));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image, x_2(op->b, OP_Mul, x, x));
}

hone_status tf_rsqrt(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image, x_1(op->b, OP_Reciprocal, x_1(op->b, OP_Sqrt, x)));
}

hone_status tf_squared_difference(struct tf_op *op) {
  struct value *x, *y;
  bool image;
  TRY(tf_arity(op, 2, 2, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_squared_difference(op);
  TRY(read_pair(op, &image, &x, &y));
  struct value *z = x_2(op->b, OP_Sub, x, y);
  return tf_write(op, 0, image, x_2(op->b, OP_Mul, z, z));
}

hone_status tf_not_equal(struct tf_op *op) {
  struct value *x, *y;
  bool image;
  TRY(read_compared(op, false, &image, &x, &y));
  return tf_write(op, 0, image, x_1(op->b, OP_Not, x_2(op->b, OP_Equal, x, y)));
}

/* Rounds toward minus infinity, for integers too: (x - x mod y) / y. */
hone_status tf_floor_div(struct tf_op *op) {
  struct value *x, *y, *z;
  bool image;
  TRY(read_pair(op, &image, &x, &y));
  TRY(refuse_quantised(op, 2));
  if (dtype_is_float(x->dtype)) {
    z = x_1(op->b, OP_Floor, x_2(op->b, OP_Div, x, y));
  } else {
    z = x_2(op->b, OP_Div, x_2(op->b, OP_Sub, x, x_2(op->b, OP_Mod, x, y)), y);
  }
  return tf_write(op, 0, image, z);
}

/* The remainder has the divisor's sign. ONNX's Mod does so for integers; for floats the result of
 * C's fmod is corrected by y where the signs differ. */
hone_status tf_floor_mod(struct tf_op *op) {
  struct value *x, *y, *z;
  bool image;
  struct graph_builder *b = op->b;
  TRY(read_pair(op, &image, &x, &y));
  if (!dtype_is_float(x->dtype)) {
    z = x_2(b, OP_Mod, x, y);
    return tf_write(op, 0, image, z);
  }
  z = x_args(b, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", 1)));
  struct value *zero = x_scalar(b, x->dtype, 0);
  struct value *y_below = x_2(b, OP_Less, x_2(b, OP_Mul, z, y), zero);
  return tf_write(op, 0, image, x_3(b, OP_Where, y_below, x_2(b, OP_Add, z, y), z));
}

/* RELU6, RELU_N1_TO_1, RELU_0_TO_1: the parameter is the schema's code. */
hone_status tf_clip(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_relu(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  struct value *y =
      x_3(op->b, OP_Clip, x, x_scalar(op->b, x->dtype, op->kind->parameter < 0 ? -1 : 0),
          x_scalar(op->b, x->dtype, op->kind->parameter == 6 ? 6 : 1));
  return tf_write(op, 0, image, y);
}

hone_status tf_leaky(struct tf_op *op) {
  struct value *x;
  double alpha;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(flat_float(&op->options, 0, 0, &alpha));
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image,
                  x_args(op->b, OP_LeakyRelu, VALUES(x), ARGS(FLOAT_ARG("alpha", alpha))));
}

hone_status tf_gelu(struct tf_op *op) {
  struct value *x;
  int64_t approximate;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_table(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_option(op, 0, FLAT_U8, 0, &approximate));
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image,
                  x_args(op->b, OP_Gelu, VALUES(x),
                         ARGS(STRING_ARG("approximate", approximate ? "tanh" : "none"))));
}

hone_status tf_hard_swish(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_hard_swish(op);
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image, x_1(op->b, OP_HardSwish, x));
}

hone_status tf_prelu(struct tf_op *op) {
  struct value *x, *slope;
  bool image;
  TRY(tf_arity(op, 2, 2, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_prelu(op);
  TRY(read_pair(op, &image, &x, &slope));
  return tf_write(op, 0, image, x_2(op->b, OP_PRelu, x, slope));
}

hone_status tf_cast(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image, x_cast(op->b, x, tf_out(op, 0)->dtype));
}

/* SELECT (parameter 1): a condition of rank 1 selects whole rows. SELECT_V2 broadcasts. */
hone_status tf_select(struct tf_op *op) {
  struct value *condition, *x, *y;
  TRY(tf_arity(op, 3, 3, 1));
  bool image = op->kind->parameter == 0 && tf_follows_images(op, 3);
  TRY(tf_read(op, tf_in(op, 0), image, &condition));
  TRY(tf_read(op, tf_in(op, 1), image, &x));
  TRY(tf_read(op, tf_in(op, 2), image, &y));
  if (op->kind->parameter && condition->shape.rank == 1 && x->shape.rank > 1) {
    int64_t dims[HONE_MAX_RANK] = {condition->shape.dims[0]};
    for (int d = 1; d < x->shape.rank; d++) dims[d] = 1;
    BUILD(op->b, condition = x_reshape(op->b, condition, dims, x->shape.rank));
  }
  return tf_write(op, 0, image, x_3(op->b, OP_Where, condition, x, y));
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
    BUILD(op->b, sum = x_2(op->b, OP_Add, sum, x));
  }
  return tf_write(op, 0, image, sum);
}

/* SOFTMAX (beta is option 0) and LOG_SOFTMAX (parameter 1), over the last axis. */
hone_status tf_softmax(struct tf_op *op) {
  struct value *x;
  double beta;
  TRY(tf_arity(op, 1, 1, 1));
  if (tf_is_quantised(tf_in(op, 0))) return tf_quantised_softmax(op);
  TRY(flat_float(&op->options, 0, op->kind->parameter ? 1 : 0, &beta));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  if (beta != 1 && !op->kind->parameter) x = x_by(op->b, OP_Mul, x, beta);
  return tf_write(op, 0, image,
                  x_args(op->b, op->kind->parameter ? OP_LogSoftmax : OP_Softmax, VALUES(x),
                         ARGS(INT_ARG("axis", image ? 1 : -1))));
}

hone_status tf_zeros_like(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  TRY(tf_value(op, tf_in(op, 0), &x));
  return tf_write(op, 0, false,
                  x_2(op->b, OP_Expand, x_scalar(op->b, x->dtype, 0),
                      x_list(op->b, x->shape.dims, (size_t)x->shape.rank)));
}

/* atan(y / x), plus or minus pi where x < 0. */
hone_status tf_atan2(struct tf_op *op) {
  struct value *y, *x;
  bool image;
  struct graph_builder *b = op->b;
  TRY(read_pair(op, &image, &y, &x));
  struct value *angle = x_1(b, OP_Atan, x_2(b, OP_Div, y, x));
  struct value *zero = x_scalar(b, x->dtype, 0);
  struct value *is_left = x_2(b, OP_Less, x, zero);
  struct value *is_down = x_2(b, OP_Less, y, zero);
  struct value *plus = x_by(b, OP_Add, angle, 3.14159265358979323846);
  angle =
      x_3(b, OP_Where, is_left,
          x_3(b, OP_Where, is_down, x_by(b, OP_Sub, angle, 3.14159265358979323846), plus), angle);
  /* 0 / 0 and y / 0: 0 at the origin */
  is_down = x_2(b, OP_Equal, y, zero);
  return tf_write(
      op, 0, image,
      x_3(b, OP_Where, x_2(b, OP_And, is_down, x_2(b, OP_Equal, x, zero)), zero, angle));
}

/* FAKE_QUANT (options min, max, bits, narrow range): rounds to the nearest of 2^bits evenly
 * spaced numbers, one of which is 0; halves away from the smallest. Source: Jacob et al. 2018,
 * section 3. */
hone_status tf_fake_quant(struct tf_op *op) {
  double low, high;
  int64_t bits, narrow;
  struct graph_builder *b = op->b;
  struct value *x;
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
  struct value *least = x_scalar(b, x->dtype, (double)bottom);
  x = x_by(b, OP_Mul,
           x_2(b, OP_Sub, x_3(b, OP_Clip, x, least, x_scalar(b, x->dtype, (double)top)), least),
           (double)(1.0f / scale));
  struct value *whole = x_1(b, OP_Floor, x);
  struct value *y =
      x_2(b, OP_Add, whole,
          x_cast(b, x_by(b, OP_GreaterOrEqual, x_2(b, OP_Sub, x, whole), 0.5), x->dtype));
  return tf_write(op, 0, image, x_2(b, OP_Add, x_by(b, OP_Mul, y, (double)scale), least));
}

/* BITCAST between types of one width. */
hone_status tf_bitcast(struct tf_op *op) {
  struct value *x;
  TRY(tf_arity(op, 1, 1, 1));
  hone_dtype to = tf_out(op, 0)->dtype;
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  if (dtype_bits(x->dtype) != dtype_bits(to))
    return tf_refuse(op, "from %s to %s", dtype_name(x->dtype), dtype_name(to));
  return tf_write(op, 0, image,
                  x_args(op->b, OP_BitCast, VALUES(x), ARGS(INT_ARG("to", (int64_t)to))));
}

/* RIGHT_SHIFT: x / 2^n rounded toward minus infinity, n clamped to the width of the type. */
hone_status tf_right_shift(struct tf_op *op) {
  struct value *x, *n;
  bool image;
  TRY(read_pair(op, &image, &x, &n));
  hone_dtype dtype = x->dtype;
  if (dtype_is_float(dtype) || dtype_bits(dtype) > 32 || n->dtype != dtype)
    return tf_refuse(op, "of %s by %s", dtype_name(dtype), dtype_name(n->dtype));
  n = x_3(op->b, OP_Clip, n, x_scalar(op->b, dtype, 0),
          x_scalar(op->b, dtype, dtype_bits(dtype) - 1));
  return tf_write(op, 0, image,
                  x_args(op->b, OP_BitShift, VALUES(x, n), ARGS(STRING_ARG("direction", "RIGHT"))));
}
