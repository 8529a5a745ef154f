/* quantised: quantised arithmetic, bit-exact with the format's reference kernels.
 *
 * Sums and matmuls are exact integers; hone.Requantize converts them to the output's scale with a
 * fixed-point multiplier (tf_multiplier). Functions of one number are tables (tables.c). */
#include "tflite.h"

#include <math.h>

enum { TABLE = 256, RELU_CODE = 19, RELU6_CODE = 21, RELU_N1_CODE = 20, RELU_01_CODE = 152 };

bool tf_is_quantised(const struct tf_tensor *tensor) {
  return tensor->quantisation.count > 0 &&
         (dtype_is_byte(tensor->dtype) || tensor->dtype == HONE_I16);
}

void tf_type_range(hone_dtype dtype, double *low, double *high) {
  *low = dtype == HONE_U8 ? 0 : dtype == HONE_I8 ? -128 : dtype == HONE_I16 ? -32768 : INT32_MIN;
  *high = dtype == HONE_U8 ? 255 : dtype == HONE_I8 ? 127 : dtype == HONE_I16 ? 32767 : INT32_MAX;
}

static hone_status one_scale(struct tf_op *op, const struct tf_tensor *tensor, double *scale,
                             int64_t *zero_point) {
  *scale = 1, *zero_point = 0;
  if (tensor->quantisation.count != 1 || !(tensor->quantisation.scales[0] > 0))
    return tf_refuse(op, "with a quantised operand that does not have exactly one positive scale");
  *scale = tensor->quantisation.scales[0];
  *zero_point = tensor->quantisation.zero_points[0];
  return HONE_OK;
}

/* The one scale and zero point of a quantised tensor. */
hone_status tf_one_scale(struct tf_op *op, const struct tf_tensor *tensor, double *scale,
                         int64_t *zero_point) {
  *scale = 1, *zero_point = 0;
  if (!tensor || !tf_is_quantised(tensor))
    return tf_refuse(op, "with a quantised operand that does not have exactly one positive scale");
  return one_scale(op, tensor, scale, zero_point);
}

static double quantised(double x, double scale, int64_t zero_point) {
  return (double)zero_point + round((double)((float)x / (float)scale));
}

static hone_status clamp_range(struct tf_op *op, double least, double most, double *low,
                               double *high) {
  double scale;
  int64_t zero;
  const struct tf_tensor *y = tf_out(op, 0);
  TRY(tf_one_scale(op, y, &scale, &zero));
  tf_type_range(y->dtype, low, high);
  if (!isinf(least)) *low = fmax(*low, quantised(least, scale, zero));
  if (!isinf(most)) *high = fmin(*high, quantised(most, scale, zero));
  return HONE_OK;
}

hone_status tf_range(struct tf_op *op, int field, double *out_low, double *out_high) {
  static const double bounds[][2] = {{-INFINITY, INFINITY}, {0, INFINITY}, {-1, 1}, {0, 6}};
  int64_t kind;
  TRY(tf_option(op, (unsigned)field, FLAT_I8, 0, &kind));
  if (kind < 0 || kind >= (int64_t)COUNT(bounds))
    return tf_refuse(op, "with fused activation %lld of quantised numbers", (long long)kind);
  return clamp_range(op, bounds[kind][0], bounds[kind][1], out_low, out_high);
}

void tf_multiplier(double x, int32_t *out_multiplier, int *out_shift) {
  int shift = 0;
  *out_multiplier = 0;
  *out_shift = 0;
  if (!(fabs(x) > 0) || isinf(x)) return;
  int64_t fixed = (int64_t)round(frexp(x, &shift) * 2147483648.0);
  if (fixed == INT64_C(1) << 31 || fixed == -(INT64_C(1) << 31)) fixed /= 2, shift++;
  if (shift < -31) return;
  if (shift > 30) shift = 30, fixed = x > 0 ? INT32_MAX : -INT32_MAX;
  *out_multiplier = (int32_t)fixed;
  *out_shift = shift;
}

hone_status tf_rescale(struct tf_op *op, struct value *x, const struct tf_rescale *how,
                       struct value **out) {
  double *m, *s, low = how->low, high = how->high;
  struct shape shape = {.rank = how->count > 1, .dims = {(int64_t)how->count}};
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, m, how->count));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, s, how->count));
  for (size_t i = 0; i < how->count; i++) {
    int32_t multiplier;
    int shift;
    tf_multiplier(how->scales[i], &multiplier, &shift);
    m[i] = multiplier, s[i] = shift;
  }
  if (low == 0 && high == 0) tf_type_range(how->dtype, &low, &high);
  struct value *multipliers = x_numbers(op->b, HONE_I32, &shape, m);
  struct value *shifts = x_numbers(op->b, HONE_I32, &shape, s);
  return x_give(
      op->b, out,
      x_args(op->b, OP_Requantize, VALUES(x, multipliers, shifts),
             ARGS(INT_ARG("axis", how->axis), INT_ARG("offset", how->offset),
                  INT_ARG("left_shift", how->left_shift), INT_ARG("single_rounding", how->once),
                  INT_ARG("zero_point", how->zero_point), INT_ARG("low", (int64_t)low),
                  INT_ARG("high", (int64_t)high), INT_ARG("to", (int64_t)how->dtype))));
}

/* -- between floats and quantised numbers */

/* Scales and zero points for numbers of type `dtype`. */
static hone_status scale_values(struct tf_op *op, const struct tf_tensor *tensor, hone_dtype dtype,
                                struct value **scale, struct value **zero) {
  const struct tf_quantisation *q = &tensor->quantisation;
  struct shape shape = {.rank = q->count > 1, .dims = {(int64_t)q->count}};
  double *points;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, points, q->count));
  for (size_t i = 0; i < q->count; i++) points[i] = (double)q->zero_points[i];
  *scale = x_numbers(op->b, HONE_F32, &shape, q->scales);
  return x_give(op->b, zero, x_numbers(op->b, dtype, &shape, points));
}

/* A constant converted to another type, of any size: passes recognise weights with constant
 * scales. */
static hone_status constant_as(struct tf_op *op, const struct tensor *from, hone_dtype dtype,
                               struct value **out) {
  TRY(graph_new_constant(op->ctx, op->b->graph, dtype, &from->shape, out));
  for (size_t i = 0; i < tensor_count(from); i++)
    if (dtype_is_float(dtype))
      tensor_set_f64((*out)->constant, i, tensor_f64(from, i));
    else
      tensor_set_i64((*out)->constant, i, tensor_i64(from, i));
  return HONE_OK;
}

/* Scales or zero points of a block-quantised tensor: a constant of the graph. */
static hone_status block_operand(struct tf_op *op, int64_t index, const char *what,
                                 hone_dtype dtype, struct value **out) {
  const struct tf_graph *graph = &op->tf->graph;
  if (index < 0 || (uint64_t)index >= graph->tensor_count || !graph->tensors[index].constant ||
      dtype_is_float(graph->tensors[index].dtype) != dtype_is_float(dtype) ||
      graph->tensors[index].dtype == HONE_STRING)
    return fail(op->ctx, HONE_E_FORMAT, tf_place(op), "%s: the %s of blocks are tensor %lld of %zu",
                op->kind->name, what, (long long)index, graph->tensor_count);
  *out = graph->tensors[index].value;
  return (*out)->dtype == dtype ? HONE_OK : constant_as(op, (*out)->constant, dtype, out);
}

static hone_status read_blocks(struct tf_op *op, const struct tf_tensor *tensor,
                               struct value **scale, struct value **zero) {
  const struct tf_quantisation *q = &tensor->quantisation;
  *zero = NULL;
  TRY(block_operand(op, q->block_scales, "scales", HONE_F32, scale));
  if (q->block_zeros < 0) return HONE_OK;
  return block_operand(op, q->block_zeros, "zero points", tensor->dtype, zero);
}

static struct value *by_blocks(struct tf_op *op, const struct tf_quantisation *q, struct value *x,
                               struct value *scale, struct value *zero) {
  return x_args(op->b, OP_DequantizeLinear, VALUES(x, scale, zero),
                ARGS(INT_ARG("axis", x->shape.rank - 1), INT_ARG("block_size", q->block)));
}

/* x, in file order, dequantised with the scales of `tensor`. */
static hone_status dequantised(struct tf_op *op, const struct tf_tensor *tensor, struct value *x,
                               int64_t axis, struct value **out) {
  const struct tf_quantisation *q = &tensor->quantisation;
  struct value *scale, *zero = NULL;
  if (!q->block) {
    TRY(scale_values(op, tensor, x->dtype, &scale, &zero));
    return x_give(
        op->b, out,
        x_args(op->b, OP_DequantizeLinear, VALUES(x, scale, zero), ARGS(INT_ARG("axis", axis))));
  }
  TRY(read_blocks(op, tensor, &scale, &zero));
  return x_give(op->b, out, by_blocks(op, q, x, scale, zero));
}

hone_status tf_dequantised(struct tf_op *op, struct tf_tensor *tensor, struct value **out) {
  const struct tf_quantisation *q = &tensor->quantisation;
  TRY(tf_value(op, tensor, out));
  if (tensor->dtype == HONE_F16) return x_give(op->b, out, x_cast(op->b, *out, HONE_F32));
  if (dtype_is_float(tensor->dtype) || (!q->count && !q->block)) return op->b->status;
  op->tf->root->is_dynamic = true;
  if (tensor->constant && dtype_bits(tensor->dtype) < 4 &&
      !q->block) /* kernels read 4-bit weights */
    TRY(constant_as(op, tensor->constant, dtype_is_signed(tensor->dtype) ? HONE_I4 : HONE_U4, out));
  return dequantised(op, tensor, *out, q->axis, out);
}

/* Scales or zero points of the rows that `indices` select, with `rank` axes to broadcast. */
static struct value *numbers_of_rows(struct tf_op *op, const double *numbers, size_t count,
                                     struct value *indices, int rank) {
  const struct shape shape = {1, {(int64_t)count}};
  int64_t dims[HONE_MAX_RANK];
  for (int d = 0; d < rank; d++) dims[d] = d < indices->shape.rank ? make_kept_size(indices, d) : 1;
  struct value *out = x_2(op->b, OP_Gather, x_numbers(op->b, HONE_F32, &shape, numbers), indices);
  return x_reshape(op->b, out, dims, rank);
}

/* Rows with their own scale: (x - zero) * scale. */
static hone_status scaled_rows(struct tf_op *op, const struct tf_quantisation *q,
                               struct value *indices, struct value *rows, struct value **out) {
  struct value *zero;
  double *points;
  bool is_shifted = false;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, points, q->count));
  for (size_t i = 0; i < q->count; i++) {
    points[i] = (double)q->zero_points[i];
    is_shifted |= q->zero_points[i] != 0;
  }
  *out = x_cast(op->b, rows, HONE_F32);
  if (is_shifted) {
    zero = numbers_of_rows(op, points, q->count, indices, rows->shape.rank);
    *out = x_2(op->b, OP_Sub, *out, zero);
  }
  struct value *scale = numbers_of_rows(op, q->scales, q->count, indices, rows->shape.rank);
  return x_give(op->b, out, x_2(op->b, OP_Mul, *out, scale));
}

hone_status tf_dequantised_rows(struct tf_op *op, struct tf_tensor *tensor, struct value *indices,
                                struct value **out) {
  const struct tf_quantisation *q = &tensor->quantisation;
  struct value *table, *scale, *zero = NULL;
  TRY(tf_value(op, tensor, &table));
  if (dtype_is_float(tensor->dtype) || (!q->count && !q->block)) {
    TRY(tf_dequantised(op, tensor, &table));
    return x_give(op->b, out, x_2(op->b, OP_Gather, table, indices));
  }
  const bool by_rows = q->count > 1 && q->axis == 0;
  if (by_rows && (int64_t)q->count != table->shape.dims[0])
    return fail(op->ctx, HONE_E_SHAPE, tf_place(op), "%s: %zu scales for %lld rows", op->kind->name,
                q->count, (long long)table->shape.dims[0]);
  op->tf->root->is_dynamic = true;
  BUILD(op->b, *out = x_2(op->b, OP_Gather, table, indices));
  if (by_rows) return scaled_rows(op, q, indices, *out, out);
  if (!q->block) return dequantised(op, tensor, *out, q->axis + indices->shape.rank - 1, out);
  TRY(read_blocks(op, tensor, &scale, &zero));
  BUILD(op->b, scale = x_2(op->b, OP_Gather, scale, indices));
  if (zero) BUILD(op->b, zero = x_2(op->b, OP_Gather, zero, indices));
  return x_give(op->b, out, by_blocks(op, q, *out, scale, zero));
}

hone_status tf_integer_weights(struct tf_op *op, struct tf_tensor *tensor, struct value **out) {
  const bool is_signed = dtype_is_signed(tensor->dtype);
  TRY(tf_value(op, tensor, out));
  if (tensor->quantisation.block) return tf_refuse(op, "of integers with block-quantised weights");
  if (!dtype_is_integer(tensor->dtype) || dtype_bits(tensor->dtype) >= 8) return HONE_OK;
  if (!tensor->constant)
    return tf_refuse(op, "with weights of %s that are not constant", dtype_name(tensor->dtype));
  return constant_as(op, tensor->constant, is_signed ? HONE_I8 : HONE_U8, out);
}

/* DEQUANTIZE: also from float16. */
hone_status tf_dequantize(struct tf_op *op) {
  struct value *x, *y;
  struct tf_tensor *in = tf_in(op, 0);
  TRY(tf_arity(op, 1, 1, 1));
  bool image = tf_follows_images(op, 1) && !in->quantisation.block;
  TRY(tf_read(op, in, image, &x));
  if (dtype_is_float(in->dtype)) {
    y = x_cast(op->b, x, tf_out(op, 0)->dtype);
    return tf_write(op, 0, image, y);
  }
  if (!in->quantisation.count && !in->quantisation.block)
    return tf_refuse(op, "of a tensor without a scale");
  const int64_t axis = in->quantisation.axis;
  TRY(dequantised(op, in, x, image ? tf_image_axis(axis) : axis, &y));
  return tf_write(op, 0, image, y);
}

static hone_status rescale_one(struct tf_op *op, struct value *x, double scale, int64_t offset,
                               double low, double high, struct value **out) {
  const struct tf_tensor *y = tf_out(op, 0);
  struct tf_rescale how = {.scales = &scale,
                           .count = 1,
                           .offset = offset,
                           .dtype = y->dtype,
                           .zero_point = y->quantisation.zero_points[0],
                           .low = low,
                           .high = high};
  return tf_rescale(op, x, &how, out);
}

/* QUANTIZE: from float (halves away from zero) or from another scale; 32-bit sums have a scale
 * too. */
hone_status tf_quantize(struct tf_op *op) {
  struct value *x, *scale, *zero, *y;
  struct tf_tensor *in = tf_in(op, 0), *out = tf_out(op, 0);
  double from, to;
  int64_t from_zero, to_zero;
  TRY(tf_arity(op, 1, 1, 1));
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, in, image, &x));
  if (dtype_is_float(in->dtype)) {
    if (!out->quantisation.count) return tf_refuse(op, "to a tensor without a scale");
    int64_t axis = out->quantisation.axis;
    TRY(scale_values(op, out, out->dtype, &scale, &zero));
    y = x_args(op->b, OP_QuantizeHalfAway, VALUES(x, scale, zero),
               ARGS(INT_ARG("axis", image ? tf_image_axis(axis) : axis)));
    return tf_write(op, 0, image, y);
  }
  if (dtype_is_float(out->dtype) || dtype_bits(in->dtype) > 32 || dtype_bits(out->dtype) > 32)
    return tf_refuse(op, "from %s to %s", dtype_name(in->dtype), dtype_name(out->dtype));
  TRY(one_scale(op, in, &from, &from_zero));
  TRY(one_scale(op, out, &to, &to_zero));
  TRY(rescale_one(op, x, from / to, from_zero, 0, 0, &y));
  return tf_write(op, 0, image, y);
}

/* RELU and its bounded forms. */
hone_status tf_quantised_relu(struct tf_op *op) {
  struct value *x, *y;
  double from, to, low, high;
  int64_t from_zero, to_zero;
  int code = op->kind->code;
  bool image = tf_follows_images(op, 1);
  TRY(tf_one_scale(op, tf_in(op, 0), &from, &from_zero));
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &to_zero));
  TRY(clamp_range(op, code == RELU_N1_CODE ? -1 : 0,
                  code == RELU_CODE    ? INFINITY
                  : code == RELU6_CODE ? 6
                                       : 1,
                  &low, &high));
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  TRY(rescale_one(op, x, (double)((float)from / (float)to), from_zero, low, high, &y));
  return tf_write(op, 0, image, y);
}

/* -- sums and products of two operands */

static hone_status widen(struct tf_op *op, struct value *x, double scale, int64_t zero, int shift,
                         struct value **out) {
  struct tf_rescale how = {
      .scales = &scale, .count = 1, .offset = zero, .left_shift = shift, .dtype = HONE_I32};
  return tf_rescale(op, x, &how, out);
}

/* Both operands, with the scales and zero points of all three tensors and the bounds of the
 * result. */
struct pair {
  struct value *x, *y;
  double a, b, to, low, high;
  int64_t a_zero, b_zero, to_zero;
  bool image; /* memory order of the operands and the result */
};

static hone_status read_pair(struct tf_op *op, struct pair *out) {
  out->image = tf_follows_images(op, 2);
  TRY(tf_one_scale(op, tf_in(op, 0), &out->a, &out->a_zero));
  TRY(tf_one_scale(op, tf_in(op, 1), &out->b, &out->b_zero));
  TRY(tf_one_scale(op, tf_out(op, 0), &out->to, &out->to_zero));
  TRY(tf_range(op, 0, &out->low, &out->high));
  TRY(tf_read(op, tf_in(op, 0), out->image, &out->x));
  return tf_read(op, tf_in(op, 1), out->image, &out->y);
}

static hone_status write_pair(struct tf_op *op, const struct pair *p, struct value *z,
                              double scale) {
  TRY(rescale_one(op, z, scale, 0, p->low, p->high, &z));
  return tf_write(op, 0, p->image, z);
}

/* The exponent of a power of two, within the tolerance of the format. */
static bool is_power_of_two(double scale, int *out_exponent) {
  const double exponent = log2(scale);
  *out_exponent = (int)round(exponent);
  return fabs(exponent - *out_exponent) < 1e-3;
}

/* x / 2^bits, to nearest with halves away from zero. */
static hone_status divided(struct tf_op *op, struct value *x, int bits, struct value **out) {
  if (!bits) return x_give(op->b, out, x_cast(op->b, x, HONE_I32));
  return widen(op, x, ldexp(1, -bits - 1), 0, 1, out); /* twice x: the product is exact */
}

/* ADD, SUB of 16-bit numbers by option 1, with power-of-two scales: one operand is rescaled to the
 * scale that the result and the other one share. *out_done false: other scales. */
static hone_status sum_of_powers(struct tf_op *op, const struct pair *p, bool *out_done) {
  int64_t wanted;
  int a, b, to;
  struct value *x, *y;
  *out_done = false;
  TRY(tf_option(op, 1, FLAT_U8, 1, &wanted));
  if (!wanted || p->x->dtype != HONE_I16 || !is_power_of_two(p->a, &a) ||
      !is_power_of_two(p->b, &b) || !is_power_of_two(p->to, &to))
    return HONE_OK;
  if (a > to || b > to || (a != to && b != to) || to - a > 15 || to - b > 15)
    return tf_refuse(op, "of 16-bit numbers with scales 2^%d and 2^%d to 2^%d", a, b, to);
  *out_done = true;
  TRY(divided(op, p->x, to - a, &x));
  TRY(divided(op, p->y, to - b, &y));
  struct value *z = x_2(op->b, (enum op_id)op->kind->parameter, x, y);
  return tf_write(op, 0, p->image,
                  x_cast(op->b,
                         x_3(op->b, OP_Clip, z, x_scalar(op->b, HONE_I32, p->low),
                             x_scalar(op->b, HONE_I32, p->high)),
                         tf_out(op, 0)->dtype));
}

/* ADD, SUB: both operands at twice the larger scale with 20 (16-bit numbers: 15) additional
 * bits. */
hone_status tf_quantised_sum(struct tf_op *op) {
  struct pair p;
  struct value *z;
  bool is_done;
  TRY(read_pair(op, &p));
  TRY(sum_of_powers(op, &p, &is_done));
  if (is_done) return HONE_OK;
  int shift = tf_in(op, 0)->dtype == HONE_I16 ? 15 : 20;
  double twice = 2 * fmax(p.a, p.b);
  TRY(widen(op, p.x, p.a / twice, p.a_zero, shift, &p.x));
  TRY(widen(op, p.y, p.b / twice, p.b_zero, shift, &p.y));
  BUILD(op->b, z = x_2(op->b, (enum op_id)op->kind->parameter, p.x, p.y));
  return write_pair(op, &p, z, twice / (ldexp(1, shift) * p.to));
}

/* NEG: exact if both scales are equal and there is no zero point. */
hone_status tf_quantised_negative(struct tf_op *op) {
  double from, to;
  int64_t from_zero, to_zero;
  struct value *x;
  TRY(tf_one_scale(op, tf_in(op, 0), &from, &from_zero));
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &to_zero));
  if (from != to || from_zero || to_zero)
    return tf_refuse(op, "of quantised numbers with different scales or a zero point");
  bool image = tf_follows_images(op, 1);
  TRY(tf_read(op, tf_in(op, 0), image, &x));
  return tf_write(op, 0, image, x_1(op->b, OP_Neg, x));
}

/* EQUAL, LESS and similar ones: both operands at scale 1 with 8 additional bits, so that close
 * numbers with a small scale are equal. Source: reference_ops::ComparisonWithScaling. */
hone_status tf_quantised_compared(struct tf_op *op, struct value **x, struct value **y) {
  double a, b;
  int64_t a_zero, b_zero;
  TRY(tf_one_scale(op, tf_in(op, 0), &a, &a_zero));
  TRY(tf_one_scale(op, tf_in(op, 1), &b, &b_zero));
  if (!(a < 1) || !(b < 1)) return tf_refuse(op, "of quantised numbers whose scale is not below 1");
  TRY(widen(op, *x, a, a_zero, 8, x));
  return widen(op, *y, b, b_zero, 8, y);
}

struct value *tf_centred(struct tf_op *op, struct value *x, int64_t zero) {
  struct value *out = x_cast(op->b, x, HONE_I32);
  if (zero) out = x_by(op->b, OP_Sub, out, (double)zero);
  return out;
}

hone_status tf_quantised_product(struct tf_op *op) {
  struct pair p;
  struct value *z;
  TRY(read_pair(op, &p));
  BUILD(op->b, p.x = tf_centred(op, p.x, p.a_zero));
  p.y = tf_centred(op, p.y, p.b_zero);
  BUILD(op->b, z = x_2(op->b, OP_Mul, p.x, p.y));
  return write_pair(op, &p, z, (double)((float)p.a * (float)p.b / (float)p.to));
}

/* -- reductions, concatenation, resizing */

/* Sum over axes of `count` elements of x - zero, in i32; computed in floats where they are exact,
 * since those have fast kernels. */
struct value *tf_quantised_total(struct tf_op *op, struct value *x, int64_t zero,
                                 struct value *axes, int64_t count, int64_t keep) {
  bool exact = x->dtype != HONE_I16 && count <= (1 << 24) / 255;
  x = x_cast(op->b, x, exact ? HONE_F32 : HONE_I32);
  if (zero) x = x_by(op->b, OP_Sub, x, (double)zero);
  struct value *out = x_args(op->b, OP_ReduceSum, VALUES(x, axes),
                             ARGS(INT_ARG("keepdims", keep), INT_ARG("noop_with_empty_axes", 1)));
  if (exact) out = x_cast(op->b, out, HONE_I32);
  return out;
}

/* SUM of signed numbers, `count` of them: the sum times the quotient of the scales, in float,
 * halves away from zero. LiteRT's reference kernel writes nothing here: this matches its optimised
 * one. */
static struct value *float_sum(struct tf_op *op, struct value *sum, int64_t count) {
  const struct tf_tensor *in = tf_in(op, 0), *y = tf_out(op, 0);
  const float scale = (float)in->quantisation.scales[0] / (float)y->quantisation.scales[0];
  const float bias = (float)-in->quantisation.zero_points[0] * scale * (float)count;
  sum = x_by(op->b, OP_Mul, x_cast(op->b, sum, HONE_F32), (double)scale);
  if (bias != 0) sum = x_by(op->b, OP_Add, sum, (double)bias);
  return x_3(op->b, OP_QuantizeHalfAway, sum, x_scalar(op->b, HONE_F32, 1),
             x_scalar(op->b, y->dtype, (double)y->quantisation.zero_points[0]));
}

/* The sum of `count` numbers minus zero points, rescaled to the output; for a mean the multiplier
 * includes the count. */
static struct value *rescale_total(struct tf_op *op, struct value *total, double scale,
                                   int64_t count, bool is_mean) {
  const struct tf_tensor *y = tf_out(op, 0);
  int32_t multiplier;
  int shift;
  tf_multiplier(scale, &multiplier, &shift);
  if (is_mean) { /* multiplier / count, with as many bits as fit */
    int bits = 63 - __builtin_clzll((unsigned long long)count);
    if (bits > 32) bits = 32;
    if (bits > 31 + shift) bits = 31 + shift;
    multiplier = (int32_t)(((int64_t)multiplier << bits) / count);
    shift -= bits;
  }
  /* exactly representable, but tf_rescale would split it into other numbers unless it is
   * normalised, so they are passed unchanged */
  double m = multiplier, s = shift, low, high;
  struct shape scalar = {.rank = 0};
  tf_type_range(y->dtype, &low, &high);
  struct value *multipliers = x_numbers(op->b, HONE_I32, &scalar, &m);
  struct value *shifts = x_numbers(op->b, HONE_I32, &scalar, &s);
  return x_args(
      op->b, OP_Requantize, VALUES(total, multipliers, shifts),
      ARGS(INT_ARG("zero_point", y->quantisation.zero_points[0]), INT_ARG("low", (int64_t)low),
           INT_ARG("high", (int64_t)high), INT_ARG("to", (int64_t)y->dtype)));
}

/* MEAN, SUM: the sum in 32 bits. */
hone_status tf_quantised_mean(struct tf_op *op) {
  double from, to;
  int64_t from_zero, to_zero, keep, axes[HONE_MAX_RANK], count = 1;
  size_t axis_count;
  bool is_mean = op->kind->parameter == OP_ReduceMean;
  struct tf_tensor *in = tf_in(op, 0), *out = tf_out(op, 0);
  struct value *x, *list, *y;
  TRY(tf_option(op, 0, FLAT_U8, 0, &keep));
  TRY(tf_one_scale(op, in, &from, &from_zero));
  TRY(tf_one_scale(op, out, &to, &to_zero));
  TRY(tf_ints(op, 1, HONE_MAX_RANK, axes, &axis_count));
  bool image = in->image && !in->value && keep;
  TRY(tf_read(op, in, image, &x));
  for (size_t i = 0; i < axis_count; i++) {
    TRY(tf_axis(op, axes[i], x->shape.rank, &axes[i]));
    if (image) axes[i] = tf_image_axis(axes[i]);
    /* the same axis repeatedly */
    if (!checked_mul(count, x->shape.dims[axes[i]], &count)) count = 0;
  }
  if (count < 1) return tf_refuse(op, "of no elements");
  BUILD(op->b, list = x_list(op->b, axes, axis_count));
  const bool in_float = !is_mean && in->dtype != HONE_U8;
  BUILD(op->b, y = tf_quantised_total(op, x, in_float ? 0 : from_zero, list, count, keep));
  y = in_float ? float_sum(op, y, count) : rescale_total(op, y, from / to, count, is_mean);
  return tf_write(op, 0, image, y);
}

/* Parts with another scale (8-bit; unsigned in practice) are converted through float as the format
 * does; 16-bit ones are copied unchanged. */
static hone_status concat_part(struct tf_op *op, struct tf_tensor *in, bool image,
                               struct value **out) {
  double from, to;
  int64_t from_zero, to_zero;
  TRY(tf_one_scale(op, in, &from, &from_zero));
  TRY(tf_one_scale(op, tf_out(op, 0), &to, &to_zero));
  TRY(tf_read(op, in, image, out));
  if ((from == to && from_zero == to_zero) || in->dtype == HONE_I16) return HONE_OK;
  float inverse = 1.0f / (float)to, scale = (float)from * inverse;
  float bias = -(float)from_zero * scale;
  double results[TABLE], low, high;
  struct shape shape = {.rank = 1, .dims = {TABLE}};
  tf_type_range(in->dtype, &low, &high);
  for (int i = 0; i < TABLE; i++) {
    float x = (float)(in->dtype == HONE_I8 ? (int8_t)i : i);
    double y = round((double)(x * scale + bias)) + (double)to_zero;
    results[i] = fmin(fmax(y, low), high);
  }
  struct value *table = x_numbers(op->b, in->dtype, &shape, results);
  return x_give(op->b, out, x_gather(op->b, table, x_cast(op->b, *out, HONE_I32), 0));
}

hone_status tf_quantised_concat(struct tf_op *op) {
  int64_t axis;
  size_t count = op->inputs.count;
  struct value **parts;
  bool image = tf_follows_images(op, count);
  const struct tf_tensor *first = tf_in(op, 0);
  int rank = first->value ? first->value->shape.rank : 4;
  TRY(tf_option(op, 0, FLAT_I32, 0, &axis));
  TRY(tf_axis(op, axis, rank, &axis));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, parts, count));
  for (size_t k = 0; k < count; k++) TRY(concat_part(op, tf_in(op, k), image, &parts[k]));
  return tf_write(op, 0, image, x_concat(op->b, image ? tf_image_axis(axis) : axis, parts, count));
}

/* The source of result i of `out` along one axis. */
struct tap {
  int64_t low, high; /* elements */
  double at;         /* position between them; fixed: in 1/1024 */
};

static struct tap tap_of(int64_t i, int64_t in, int64_t out, bool align, bool half, bool fixed) {
  struct tap tap;
  if (fixed) {
    int64_t scale = align && out > 1 ? ((in - 1) * 1024 + (out - 1) / 2) / (out - 1)
                                     : (in * 1024 + out / 2) / out;
    int64_t at = half ? i * scale + scale / 2 - 512 : i * scale;
    tap.at = (double)at;
    at = at < 0 ? -((-at + 1023) / 1024) : at / 1024;
    tap.low = at < 0 ? 0 : at;
    tap.high = at + 1 < in - 1 ? at + 1 : in - 1;
  } else {
    float scale = align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    float at = half ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
    float whole = floorf(at);
    tap.at = (double)at;
    tap.low = (int64_t)whole < 0 ? 0 : (int64_t)whole;
    tap.high = (int64_t)whole + 1 < in - 1 ? (int64_t)whole + 1 : in - 1;
  }
  if (tap.low > in - 1) tap.low = in - 1;
  if (tap.high < 0) tap.high = 0;
  return tap;
}

/* The operands of hone.ResizeInt for one axis: positions [2, out], low and high, with their
 * weights. */
static hone_status plan_axis(struct tf_op *op, int64_t in, int64_t out, bool align, bool half,
                             bool fixed, struct value **out_places, struct value **out_weights) {
  const struct shape shape = {.rank = 2, .dims = {2, out}};
  double *places, *weights;
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, places, 2 * (size_t)out));
  TRY(NEW_ARRAY(op->ctx, op->tf->arena, weights, 2 * (size_t)out));
  for (int64_t i = 0; i < out; i++) {
    struct tap tap = tap_of(i, in, out, align, half, fixed);
    places[i] = (double)tap.low;
    places[out + i] = (double)tap.high;
    double base = (double)tap.low * (fixed ? 1024 : 1);
    double far = fixed ? tap.at - base : (double)((float)tap.at - (float)base);
    weights[out + i] = far;
    weights[i] = fixed ? 1024 - far : (double)(1.0f - (float)far);
  }
  *out_places = x_numbers(op->b, HONE_I32, &shape, places);
  return x_give(op->b, out_weights, x_numbers(op->b, fixed ? HONE_I64 : HONE_F32, &shape, weights));
}

/* Unsigned numbers are interpolated in float, signed ones in fixed point with ten bits. */
hone_status tf_quantised_resize(struct tf_op *op) {
  int64_t align, half, size[2];
  size_t count;
  struct tf_tensor *in = tf_in(op, 0);
  struct value *x, *axes[4];
  TRY(tf_option(op, 2, FLAT_U8, 0, &align));
  TRY(tf_option(op, 3, FLAT_U8, 0, &half));
  TRY(tf_ints(op, 1, 2, size, &count));
  TRY(tf_image(op, in, &x));
  for (int d = 0; d < 2; d++) {
    struct shape shape = {.rank = 2, .dims = {2, size[d]}};
    int64_t elements;
    size_t bytes;
    TRY(extent(op->ctx, tf_place(op), HONE_F64, &shape, &elements, &bytes));
    TRY(plan_axis(op, x->shape.dims[2 + d], size[d], align != 0, half != 0, in->dtype != HONE_U8,
                  &axes[2 * d], &axes[2 * d + 1]));
  }
  return tf_write(op, 0, true,
                  x_op(op->b, OP_ResizeInt, VALUES(x, axes[0], axes[1], axes[2], axes[3])));
}
