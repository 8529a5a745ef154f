/* Quantised operators of ONNX Runtime, also dynamically quantised ones, expressed in ONNX
 * operators. Passes recognise the matmuls in them and keep int8 between them. Source:
 * docs/ContribOperators.md of ONNX Runtime. */
#include "expand.h"

/* -- QLinear*: dequantised, computed in float, quantised */

static struct value *dequantised(struct graph_builder *e, size_t k) {
  struct value *x = x_in(e, k), *scale = x_in(e, k + 1), *zero = x_in(e, k + 2);
  return x_op(e, OP_DequantizeLinear, (struct value *[]){x, scale, zero}, zero ? 3 : 2);
}

static void out_quantised(struct graph_builder *e, struct value *y, size_t k) {
  struct value *zero = x_in(e, k + 1);
  x_out(e, 0, x_op(e, OP_QuantizeLinear, (struct value *[]){y, x_in(e, k), zero}, zero ? 3 : 2));
}

void expand_qlinear_binary(struct graph_builder *e) {
  enum op_id op = is_op(e->node, OP_QLinearAdd) ? OP_Add : OP_Mul;
  out_quantised(e, x_2(e, op, dequantised(e, 0), dequantised(e, 3)), 6);
}

void expand_qlinear_where(struct graph_builder *e) {
  out_quantised(e, x_3(e, OP_Where, x_in(e, 0), dequantised(e, 1), dequantised(e, 4)), 7);
}

void expand_qlinear_unary(struct graph_builder *e) {
  struct value *x = dequantised(e, 0);
  if (is_op(e->node, OP_QLinearLeakyRelu)) x_with_float(e, "alpha", x_float(e, "alpha", 0.01));
  out_quantised(e, x_1(e, is_op(e->node, OP_QLinearLeakyRelu) ? OP_LeakyRelu : OP_Sigmoid, x), 3);
}

void expand_qlinear_pool(struct graph_builder *e) {
  static const char *const kept[] = {"auto_pad",     "ceil_mode", "count_include_pad",
                                     "kernel_shape", "pads",      "strides"};
  bool is_global = is_op(e->node, OP_QLinearGlobalAveragePool);
  int last = x_in(e, 0)->shape.rank - 1;
  bool is_last = x_int(e, "channels_last", 0) != 0;
  struct value *x = dequantised(e, 0);
  if (is_last && last != 3) x_fail(e, HONE_E_UNSUP, "channels last of rank %d", last + 1);
  if (is_last) x = x_transpose(e, x, (int64_t[]){0, 3, 1, 2});
  for (size_t i = 0; !is_global && i < COUNT(kept); i++) {
    const struct attribute *a = node_attribute(e->node, kept[i]);
    if (a) e->attributes[e->attribute_count++] = *a;
  }
  x = x_1(e, is_global ? OP_GlobalAveragePool : OP_AveragePool, x);
  if (is_last) x = x_transpose(e, x, (int64_t[]){0, 2, 3, 1});
  out_quantised(e, x, 3);
}

/* y scale, y zero point, then x, scale, zero point of each input */
void expand_qlinear_concat(struct graph_builder *e) {
  struct value *parts[64];
  size_t count = (e->node->input_count - 2) / 3;
  if (!count || count > COUNT(parts) || e->node->input_count != 2 + 3 * count) {
    x_fail(e, HONE_E_FORMAT, "QLinearConcat of %zu inputs", e->node->input_count);
    return;
  }
  for (size_t i = 0; i < count; i++) parts[i] = dequantised(e, 2 + 3 * i);
  out_quantised(e, x_concat(e, x_int(e, "axis", 0), parts, count), 0);
}

/* X, scale, zero point; opset and axis determine the kind of softmax. */
void expand_qlinear_softmax(struct graph_builder *e) {
  int rank = x_in(e, 0)->shape.rank;
  int64_t axis = x_int(e, "axis", -1);
  if (axis < 0) axis += rank;
  if (x_int(e, "opset", 13) < 13 && axis != rank - 1)
    x_fail(e, HONE_E_UNSUP, "a softmax over axes %lld to %d", (long long)axis, rank - 1);
  struct value *x = dequantised(e, 0);
  x_with_int(e, "axis", axis);
  out_quantised(e, x_1(e, OP_Softmax, x), 3);
}

/* The scale of the sums, one value or one per column; a constant if its factors are. */
static struct value *product_scale(struct graph_builder *e, struct value *a, struct value *b) {
  const struct tensor *out;
  if (!a->constant || !b->constant || !tensor_count(a->constant)) return x_2(e, OP_Mul, a, b);
  struct value *scale = x_constant(e, HONE_F32, &b->shape, &out);
  for (size_t i = 0; !e->status && i < tensor_count(out); i++)
    tensor_set_f64(out, i, tensor_f64(a->constant, 0) * tensor_f64(b->constant, i));
  return scale;
}

static struct value *dequantised_along(struct graph_builder *e, struct value *x,
                                       struct value *scale, struct value *zero, int64_t axis) {
  x_with_int(e, "axis", axis);
  return x_op(e, OP_DequantizeLinear, (struct value *[]){x, scale, zero}, zero ? 3 : 2);
}

/* A, scale, zero, B, scale, zero, C, [Y scale, zero]; C: i32, with the scale of A times that of
 * B */
void expand_qgemm(struct graph_builder *e) {
  bool turned = x_int(e, "transB", 0) != 0;
  struct value *a = dequantised(e, 0), *c = x_in(e, 6);
  struct value *b = dequantised_along(e, x_in(e, 3), x_in(e, 4), x_in(e, 5), turned ? 0 : 1);
  if (c) c = dequantised_along(e, c, product_scale(e, x_in(e, 1), x_in(e, 4)), NULL, -1);
  x_with_int(e, "transA", x_int(e, "transA", 0));
  x_with_int(e, "transB", turned);
  x_with_float(e, "alpha", x_float(e, "alpha", 1));
  struct value *y = x_op(e, OP_Gemm, (struct value *[]){a, b, c}, c ? 3 : 2);
  if (x_in(e, 7))
    out_quantised(e, y, 7);
  else
    x_out(e, 0, y);
}

/* -- dynamic quantisation */

/* The range of x extended to zero, in 256 steps, with zero exactly representable. */
struct dynamic {
  struct value *y, *scale, *zero;
};

/* Reduces rows first, which threads share, then the rest. */
static struct value *extreme(struct graph_builder *e, enum op_id op, enum op_id join,
                             struct value *x) {
  int64_t last = x->shape.rank - 1;
  if (last > 0) x = x_reduce(e, op, x, &last, 1, false);
  return x_2(e, join, x_reduce(e, op, x, NULL, 0, false), x_scalar(e, HONE_F32, 0));
}

static struct value *to_byte(struct graph_builder *e, struct value *x) {
  x = x_3(e, OP_Clip, x, x_scalar(e, HONE_F32, 0), x_scalar(e, HONE_F32, 255));
  return x_cast(e, x, HONE_U8);
}

static struct dynamic quantised(struct graph_builder *e, struct value *x) {
  struct dynamic q;
  const struct tensor *tensor;
  struct value *high = extreme(e, OP_ReduceMax, OP_Max, x);
  struct value *low = extreme(e, OP_ReduceMin, OP_Min, x);
  /* of rank 1, so that no pass turns the division into a multiplication by 1 / 255, which rounds
   * differently */
  struct value *steps = x_constant(e, HONE_F32, &(struct shape){1, {1}}, &tensor);
  if (!e->status) tensor_set_f64(tensor, 0, 255);
  q.scale = x_reshape(e, x_2(e, OP_Div, x_2(e, OP_Sub, high, low), steps), NULL, 0);
  /* if all elements are zero, 0 / 0 becomes 0 in the Cast */
  q.zero = to_byte(e, x_1(e, OP_Round, x_2(e, OP_Div, x_1(e, OP_Neg, low), q.scale)));
  x = x_1(e, OP_Round, x_2(e, OP_Div, x, q.scale));
  q.y = to_byte(e, x_2(e, OP_Add, x, x_cast(e, q.zero, HONE_F32)));
  return q;
}

void expand_dynamic_quantize(struct graph_builder *e) {
  struct dynamic q = quantised(e, x_in(e, 0));
  x_out(e, 0, q.y);
  x_out(e, 1, q.scale);
  x_out(e, 2, q.zero);
}

static struct value *scaled_product(struct graph_builder *e, struct value *const in[4],
                                    struct value *a_scale, struct value *b_scale,
                                    struct value *bias) {
  struct value *y = x_op(e, OP_MatMulInteger, in, in[3] ? 4 : in[2] ? 3 : 2);
  y = x_2(e, OP_Mul, x_cast(e, y, HONE_F32), product_scale(e, a_scale, b_scale));
  return bias ? x_2(e, OP_Add, y, bias) : y;
}

/* A, B, A scale, B scale, A zero, B zero, bias */
void expand_matmul_integer_to_float(struct graph_builder *e) {
  struct value *const in[] = {x_in(e, 0), x_in(e, 1), x_in(e, 4), x_in(e, 5)};
  x_out(e, 0, scaled_product(e, in, x_in(e, 2), x_in(e, 3), x_in(e, 6)));
}

/* A, B, B scale, B zero, bias */
void expand_dynamic_quantize_matmul(struct graph_builder *e) {
  struct dynamic q = quantised(e, x_in(e, 0));
  struct value *const in[] = {q.y, x_in(e, 1), q.zero, x_in(e, 3)};
  x_out(e, 0, scaled_product(e, in, q.scale, x_in(e, 2), x_in(e, 4)));
}
