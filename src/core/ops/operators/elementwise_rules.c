/* Elementwise ops whose types or operands need more than a row of the expression tables: logic,
 * Where, the variadic ones, Pow over mixed types, Mod, shifts, Clip with run-time bounds, Cast.
 *
 * Cases that ONNX leaves undefined are defined here: x / 0 and x mod 0 of integers are 0, shifts by
 * the width or more give 0, float to integer saturates and NaN gives 0. */
#include <math.h>

#include "core/ops/ops_internal.h"

/* The broadcast shape of inputs [first, count) and `out`. */
static hone_status broadcast_inputs(struct ctx *ctx, const struct node *node, struct shape *out) {
  *out = node->inputs[0]->shape;
  for (size_t k = 1; k < node->input_count; k++) {
    if (!node->inputs[k])
      return fail(ctx, HONE_E_FORMAT, node_place(node), "input %zu is missing", k);
    struct shape joined;
    if (!shape_broadcast(out, &node->inputs[k]->shape, &joined))
      return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu does not broadcast to the others",
                  k);
    *out = joined;
  }
  return HONE_OK;
}

static bool is_number(hone_dtype dtype) { return dtype_is_float(dtype) || dtype_is_integer(dtype); }

static hone_status want_number(struct ctx *ctx, const struct node *node, size_t k) {
  hone_dtype dtype = node->inputs[k]->dtype;
  if (is_number(dtype)) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "%s is not defined for %s", node->op->name,
              dtype_name(dtype));
}

static hone_status want_integer(struct ctx *ctx, const struct node *node, size_t k) {
  hone_dtype dtype = node->inputs[k]->dtype;
  if (dtype_is_integer(dtype)) return HONE_OK;
  return fail(ctx, HONE_E_TYPE, node_place(node), "%s is not defined for %s", node->op->name,
              dtype_name(dtype));
}

/* Not, And, Or, Xor: bool only. */
hone_status infer_logical(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape;
  for (size_t k = 0; k < node->input_count; k++)
    if (node->inputs[k]->dtype != HONE_BOOL)
      return fail(ctx, HONE_E_TYPE, node_place(node), "input %zu is %s, not bool", k,
                  dtype_name(node->inputs[k]->dtype));
  TRY(broadcast_inputs(ctx, node, &shape));
  return set_output(ctx, node, 0, HONE_BOOL, &shape);
}

/* BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor, BitShift: integers only. */
hone_status infer_bitwise(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape;
  TRY(want_integer(ctx, node, 0));
  if (node->input_count > 1) TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(broadcast_inputs(ctx, node, &shape));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &shape);
}

/* The slope of PRelu broadcasts to the input, never the other way round. */
hone_status infer_prelu(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape;
  TRY(want_number(ctx, node, 0));
  TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(broadcast_inputs(ctx, node, &shape));
  if (!shape_equal(&shape, &node->inputs[0]->shape))
    return fail(ctx, HONE_E_SHAPE, node_place(node), "slope does not broadcast to the input");
  return set_output_like(ctx, node, 0, 0);
}

/* -- Where */

hone_status infer_where(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape;
  if (node->inputs[0]->dtype != HONE_BOOL)
    return fail(ctx, HONE_E_TYPE, node_place(node), "condition is %s, not bool",
                dtype_name(node->inputs[0]->dtype));
  TRY(want_same_dtype(ctx, node, 1, 2));
  TRY(broadcast_inputs(ctx, node, &shape));
  return set_output(ctx, node, 0, node->inputs[1]->dtype, &shape);
}

/* Copies bytes, so that NaN payloads, wide integers and strings are unchanged. */
hone_status eval_where(struct ctx *ctx, struct arena *scratch, const struct node *node,
                       const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *shape = &out[0]->shape;
  int64_t strides[3][HONE_MAX_RANK], index[HONE_MAX_RANK] = {0};
  size_t size = element_bytes(out[0]->dtype), count = tensor_count(out[0]);
  if (size == 0)
    return fail(ctx, HONE_E_TYPE, node_place(node), "Where is not defined for %s",
                dtype_name(out[0]->dtype));
  for (size_t k = 0; k < 3; k++) broadcast_strides(&in[k]->shape, shape, strides[k]);
  const uint8_t *condition = in[0]->data;
  for (size_t i = 0; i < count; i++) {
    size_t k = condition[index_offset(shape->rank, index, strides[0])] ? 1 : 2;
    size_t from = (size_t)index_offset(shape->rank, index, strides[k]);
    memcpy((char *)tensor_data(out[0]) + i * size, (const char *)in[k]->data + from * size, size);
    (void)index_next(shape->rank, shape->dims, index);
  }
  return HONE_OK;
}

/* -- Max, Min, Sum, Mean over any number of operands */

hone_status infer_variadic(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape;
  bool is_order = node->op->id == OP_Max || node->op->id == OP_Min;
  TRY(broadcast_inputs(ctx, node, &shape));
  if (is_order)
    TRY(want_number(ctx, node, 0));
  else
    TRY(want_float(ctx, node, 0));
  for (size_t k = 1; k < node->input_count; k++) TRY(want_same_dtype(ctx, node, 0, k));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &shape);
}

/* Floats are accumulated in double and rounded once. */
hone_status eval_variadic(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  const struct op *join = &op_table[node->op->id == OP_Mean ? OP_Sum : node->op->id];
  const struct op *add = &op_table[OP_Add];
  size_t count = node->input_count, elements = tensor_count(out[0]);
  struct tensor *sum = out[0], zero = {.dtype = out[0]->dtype};
  static const double nothing = 0;
  zero.data = &nothing;
  zero.bytes = sizeof nothing;
  if (dtype_is_float(out[0]->dtype)) {
    TRY(tensor_create(ctx, scratch, HONE_F64, &out[0]->shape, &sum));
    zero.dtype = HONE_F64;
  }
  /* -0 + x is x for every x, +0 too: the first operand broadcast to the result */
  static const double negative_zero = -0.0;
  if (zero.dtype == HONE_F64) zero.data = &negative_zero;
  const struct tensor *first[] = {in[0], &zero};
  TRY(elementwise_apply(ctx, add, node_place(node), 0, 0, first, 2, sum));
  for (size_t k = 1; k < count; k++) {
    const struct tensor *pair[] = {sum, in[k]};
    TRY(elementwise_apply(ctx, join, node_place(node), 0, 0, pair, 2, sum));
  }
  if (sum == out[0]) return HONE_OK;
  double divisor = node->op->id == OP_Mean ? (double)count : 1;
  for (size_t i = 0; i < elements; i++)
    tensor_set_f64(out[0], i, ((const double *)sum->data)[i] / divisor);
  return HONE_OK;
}

/* -- Pow: the exponent may have another type */

hone_status infer_pow(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape;
  TRY(want_number(ctx, node, 0));
  TRY(want_number(ctx, node, 1));
  TRY(broadcast_inputs(ctx, node, &shape));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &shape);
}

/* x of an integer type: results outside its range saturate. */
static void set_saturated(const struct tensor *out, size_t i, double x) {
  if (dtype_is_float(out->dtype)) {
    tensor_set_f64(out, i, x);
    return;
  }
  const bool is_unsigned = dtype_is_unsigned(out->dtype);
  const double high = ldexp(1, (int)dtype_bits(out->dtype) - !is_unsigned);
  const double low = is_unsigned ? 0 : -high;
  if (isnan(x))
    tensor_set_i64(out, i, 0);
  else if (x >= high || x <= low)
    tensor_set_i64(out, i, integer_edge(out->dtype, x >= high));
  else
    tensor_set_i64(out, i, is_unsigned ? (int64_t)(uint64_t)x : (int64_t)x);
}

hone_status eval_pow(struct ctx *ctx, struct arena *scratch, const struct node *node,
                     const struct tensor *const *in, struct tensor *const *out) {
  bool x_float = dtype_is_float(in[0]->dtype), y_float = dtype_is_float(in[1]->dtype);
  if (x_float == y_float)
    return elementwise_apply(ctx, node->op, node_place(node), 0, 0, in, 2, out[0]);
  struct tensor y = *in[1], *wide;
  double *copy;
  TRY(to_f64(ctx, scratch, in[1], &copy));
  y.dtype = HONE_F64;
  y.data = copy;
  TRY(tensor_create(ctx, scratch, HONE_F64, &out[0]->shape, &wide));
  const struct tensor *pair[] = {in[0], &y};
  TRY(elementwise_apply(ctx, node->op, node_place(node), 0, 0, pair, 2, wide));
  for (size_t i = 0; i < tensor_count(wide); i++)
    set_saturated(out[0], i, ((const double *)wide->data)[i]);
  return HONE_OK;
}

/* -- Mod and BitShift */

hone_status infer_mod(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct shape shape;
  TRY(want_number(ctx, node, 0));
  TRY(want_same_dtype(ctx, node, 0, 1));
  TRY(broadcast_inputs(ctx, node, &shape));
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &shape);
}

/* fmod: the sign of x; else the sign of y. x mod 0 is 0. */
static int64_t integer_mod(int64_t x, int64_t y, bool is_fmod, bool is_unsigned) {
  if (y == 0 || (y == -1 && !is_unsigned)) return 0;
  if (is_unsigned) return (int64_t)((uint64_t)x % (uint64_t)y);
  int64_t rest = x % y;
  return !is_fmod && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static double float_mod(double x, double y, bool is_fmod) {
  double rest = fmod(x, y);
  if (is_fmod) return rest;
  if (rest == 0) return copysign(rest, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Right shifts of signed types are arithmetic. A shift by a negative amount, or by the width or
 * more, gives only fill bits. */
static int64_t shift_bits(int64_t x, int64_t y, bool is_left, bool is_signed, unsigned width) {
  uint64_t by = (uint64_t)y, bits = (uint64_t)x, fill = !is_left && is_signed && x < 0 ? ~0ull : 0;
  if (by >= width) return (int64_t)fill;
  if (is_left) return (int64_t)(bits << by);
  return (int64_t)(fill ? ~(~bits >> by) : bits >> by);
}

hone_status infer_bit_shift(struct ctx *ctx, struct graph *graph, struct node *node) {
  const char *direction = node_string(node, "direction", "");
  if (strcmp(direction, "LEFT") && strcmp(direction, "RIGHT"))
    return fail(ctx, HONE_E_FORMAT, node_place(node), "direction is neither LEFT nor RIGHT");
  return infer_bitwise(ctx, graph, node);
}

/* Both integer ops with an attribute, and Mod of floats. */
static hone_status eval_pairs(const struct node *node, const struct tensor *const *in,
                              const struct tensor *out) {
  const struct shape *shape = &out->shape;
  int64_t strides[2][HONE_MAX_RANK], index[HONE_MAX_RANK] = {0};
  bool is_unsigned = out->dtype == HONE_U64, is_fmod = node_int(node, "fmod", 0) != 0;
  bool is_left = strcmp(node_string(node, "direction", ""), "LEFT") == 0;
  bool is_signed = dtype_is_signed(out->dtype);
  for (size_t k = 0; k < 2; k++) broadcast_strides(&in[k]->shape, shape, strides[k]);
  for (size_t i = 0; i < tensor_count(out); i++) {
    size_t a = (size_t)index_offset(shape->rank, index, strides[0]);
    size_t b = (size_t)index_offset(shape->rank, index, strides[1]);
    if (dtype_is_float(out->dtype)) {
      tensor_set_f64(out, i, float_mod(tensor_f64(in[0], a), tensor_f64(in[1], b), is_fmod));
    } else {
      int64_t x = tensor_i64(in[0], a), y = tensor_i64(in[1], b);
      tensor_set_i64(out, i,
                     node->op->id == OP_Mod
                         ? integer_mod(x, y, is_fmod, is_unsigned)
                         : shift_bits(x, y, is_left, is_signed, dtype_bits(out->dtype)));
    }
    (void)index_next(shape->rank, shape->dims, index);
  }
  return HONE_OK;
}

hone_status eval_mod(struct ctx *ctx, struct arena *scratch, const struct node *node,
                     const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch;
  return eval_pairs(node, in, out[0]);
}

hone_status eval_bit_shift(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch;
  return eval_pairs(node, in, out[0]);
}

/* -- Clip */

hone_status infer_clip(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  TRY(want_number(ctx, node, 0));
  for (size_t k = 1; k < node->input_count; k++) {
    int64_t count;
    if (!node->inputs[k]) continue;
    TRY(want_same_dtype(ctx, node, 0, k));
    if (!shape_count(&node->inputs[k]->shape, &count) || count != 1)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "bound %zu is not one number", k);
  }
  return set_output_like(ctx, node, 0, 0);
}

hone_status eval_clip(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  static const enum op_id steps[] = {OP_Max, OP_Min};
  const struct tensor *x = in[0];
  for (size_t k = 0; k < 2; k++) {
    if (k + 1 >= node->input_count || !in[k + 1]) continue;
    const struct tensor *pair[] = {x, in[k + 1]};
    TRY(elementwise_apply(ctx, &op_table[steps[k]], node_place(node), 0, 0, pair, 2, out[0]));
    x = out[0];
  }
  if (x == in[0] && x->bytes) memcpy(tensor_data(out[0]), x->data, x->bytes);
  return HONE_OK;
}

/* -- Cast */

static hone_status infer_cast_to(struct ctx *ctx, const struct node *node, int64_t to) {
  hone_dtype from = node->inputs[0]->dtype;
  bool from_known = is_number(from) || from == HONE_BOOL;
  bool to_known = is_number(dtype_of_number(to)) || to == HONE_BOOL;
  if (!from_known || !to_known)
    return fail(ctx, HONE_E_UNSUP, node_place(node), "cast from %s to type %lld", dtype_name(from),
                (long long)to);
  return set_output(ctx, node, 0, (hone_dtype)to, &node->inputs[0]->shape);
}

hone_status infer_cast(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_cast_to(ctx, node, node_int(node, "to", 0));
}

hone_status infer_cast_like(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return infer_cast_to(ctx, node, (int64_t)node->inputs[1]->dtype);
}

/* Floats of 8 and 4 bits: `saturate`, and for e8m0 `round_mode`. */
static void cast_to_tiny(const struct node *node, const struct tensor *in, struct tensor *out) {
  const char *mode = node_string(node, "round_mode", "up");
  enum tiny_rounding rounding = !strcmp(mode, "up")     ? TINY_UP
                                : !strcmp(mode, "down") ? TINY_DOWN
                                                        : TINY_NEAREST;
  bool saturate = node_int(node, "saturate", 1) != 0;
  for (size_t i = 0; i < tensor_count(out); i++)
    tensor_set_tiny(out, i, tensor_f64(in, i), rounding, saturate);
}

/* float32 to 16 bits is rounded once: the way through double gives the same, since double is exact.
 * To integers, where the standard does not define values out of range: toward zero, NaN is 0,
 * values beyond 64 bits saturate, narrower types keep the low bits. Generated C does the same. */
hone_status eval_cast(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch;
  bool from_float = dtype_is_float(in[0]->dtype), to_float = dtype_is_float(out[0]->dtype);
  if (dtype_is_tiny_float(out[0]->dtype)) {
    cast_to_tiny(node, in[0], out[0]);
    return HONE_OK;
  }
  for (size_t i = 0; i < tensor_count(out[0]); i++) {
    if (out[0]->dtype == HONE_BOOL)
      tensor_set_i64(out[0], i, from_float ? tensor_f64(in[0], i) != 0 : tensor_i64(in[0], i) != 0);
    else if (from_float)
      tensor_set_f64(out[0], i, tensor_f64(in[0], i));
    else if (to_float)
      tensor_set_f64(out[0], i, tensor_f64(in[0], i));
    else
      tensor_set_i64(out[0], i, tensor_i64(in[0], i));
  }
  return HONE_OK;
}
