/* elementwise: elementwise ATen operators. */
#include "pt2.h"

#include <math.h>

/* Integers and booleans that PyTorch computes in float32. */
static hone_status as_float(struct pt_op *op, struct value **x) {
  return dtype_is_float((*x)->dtype) ? HONE_OK : make_cast(op->make, *x, HONE_F32, x);
}

/* self, as floats */
static hone_status need_float(struct pt_op *op, struct value **out) {
  TRY(pt_need(op, "self", out));
  return as_float(op, out);
}

/* Operators that leave integers unchanged. */
static bool keeps_integers(enum op_id id) {
  return id == OP_Ceil || id == OP_Floor || id == OP_Round;
}
static bool works_on_integers(enum op_id id) {
  return id == OP_Abs || id == OP_Neg || id == OP_Relu || id == OP_Sign || keeps_integers(id);
}

hone_status build_unary(struct pt_op *op) {
  struct value *x, *y;
  enum op_id id = (enum op_id)op->parameter;
  TRY(pt_need(op, "self", &x));
  bool is_float = dtype_is_float(x->dtype);
  int64_t decimals; /* for round only */
  TRY(pt_int(op, "decimals", 0, &decimals));
  const double power = pow(10, fabs((double)decimals));
  if (!is_float && keeps_integers(id)) return pt_result(op, 0, x);
  if (id == OP_Not) TRY(make_cast(op->make, x, HONE_BOOL, &x));
  if (id == OP_BitwiseNot && x->dtype == HONE_BOOL) id = OP_Not;
  if (id != OP_Not && id != OP_BitwiseNot && !works_on_integers(id)) TRY(as_float(op, &x));
  if (x->dtype == HONE_BOOL && id == OP_Sign) return pt_result(op, 0, x);
  if (decimals) TRY(make_with_scalar(op->make, decimals < 0 ? OP_Div : OP_Mul, x, power, &x));
  TRY(make_node(op->make, id, VALUES(x), NULL, &y));
  if (decimals) TRY(make_with_scalar(op->make, decimals < 0 ? OP_Mul : OP_Div, y, power, &y));
  return pt_result(op, 0, y);
}

/* max(0, min(1, x / 6 + 1/2)) */
hone_status build_hard_sigmoid(struct pt_op *op) {
  struct value *x, *y;
  TRY(need_float(op, &x));
  TRY(make_node(op->make, OP_HardSigmoid, VALUES(x), ARGS(FLOAT_ARG("alpha", 1.0 / 6)), &y));
  return pt_result(op, 0, y);
}

/* log(1 + exp(beta x)) / beta, and x where beta x is above the threshold */
hone_status build_softplus(struct pt_op *op) {
  struct value *x, *scaled, *y, *high;
  double beta, threshold;
  TRY(need_float(op, &x));
  TRY(pt_float(op, "beta", 1, &beta));
  TRY(pt_float(op, "threshold", 20, &threshold));
  TRY(make_with_scalar(op->make, OP_Mul, x, beta, &scaled));
  TRY(make_node(op->make, OP_Softplus, VALUES(scaled), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Div, y, beta, &y));
  TRY(make_with_scalar(op->make, OP_Greater, scaled, threshold, &high));
  TRY(make_node(op->make, OP_Where, VALUES(high, x, y), NULL, &y));
  return pt_result(op, 0, y);
}

/* -softplus(-x) */
hone_status build_log_sigmoid(struct pt_op *op) {
  struct value *x, *y;
  TRY(need_float(op, &x));
  TRY(make_node(op->make, OP_Neg, VALUES(x), NULL, &y));
  TRY(make_node(op->make, OP_Softplus, VALUES(y), NULL, &y));
  TRY(make_node(op->make, OP_Neg, VALUES(y), NULL, &y));
  return pt_result(op, 0, y);
}

/* log2, log10: log(x) / log(base) */
hone_status build_log_base(struct pt_op *op) {
  struct value *x, *y;
  TRY(need_float(op, &x));
  TRY(make_node(op->make, OP_Log, VALUES(x), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Mul, y, 1 / log((double)op->parameter), &y));
  return pt_result(op, 0, y);
}

/* tanh(x / 2) (exp(x) + 1): avoids the difference of close numbers */
hone_status build_expm1(struct pt_op *op) {
  struct value *x, *half, *y;
  TRY(need_float(op, &x));
  TRY(make_with_scalar(op->make, OP_Mul, x, 0.5, &half));
  TRY(make_node(op->make, OP_Tanh, VALUES(half), NULL, &half));
  TRY(make_node(op->make, OP_Exp, VALUES(x), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Add, y, 1, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(half, y), NULL, &y));
  return pt_result(op, 0, y);
}

/* 2 atanh(x / (2 + x)) near 0, log(1 + x) elsewhere */
hone_status build_log1p(struct pt_op *op) {
  struct value *x, *near, *far, *size, *is_near, *y;
  TRY(need_float(op, &x));
  TRY(make_with_scalar(op->make, OP_Add, x, 2, &near));
  TRY(make_node(op->make, OP_Div, VALUES(x, near), NULL, &near));
  TRY(make_node(op->make, OP_Atanh, VALUES(near), NULL, &near));
  TRY(make_with_scalar(op->make, OP_Mul, near, 2, &near));
  TRY(make_with_scalar(op->make, OP_Add, x, 1, &far));
  TRY(make_node(op->make, OP_Log, VALUES(far), NULL, &far));
  TRY(make_node(op->make, OP_Abs, VALUES(x), NULL, &size));
  TRY(make_with_scalar(op->make, OP_Less, size, 0.5, &is_near));
  TRY(make_node(op->make, OP_Where, VALUES(is_near, near, far), NULL, &y));
  return pt_result(op, 0, y);
}

/* 2^x */
hone_status build_exp2(struct pt_op *op) {
  struct value *x, *two, *y;
  TRY(need_float(op, &x));
  TRY(make_scalar(op->make, x->dtype, 2, &two));
  TRY(make_node(op->make, OP_Pow, VALUES(two, x), NULL, &y));
  return pt_result(op, 0, y);
}

/* Toward zero. */
static hone_status truncate(struct pt_op *op, struct value *x, struct value **out) {
  struct value *is_below, *up, *down;
  TRY(make_with_scalar(op->make, OP_Less, x, 0, &is_below));
  TRY(make_node(op->make, OP_Ceil, VALUES(x), NULL, &up));
  TRY(make_node(op->make, OP_Floor, VALUES(x), NULL, &down));
  return make_node(op->make, OP_Where, VALUES(is_below, up, down), NULL, out);
}

hone_status build_trunc(struct pt_op *op) { /* parameter 1: the fractional part */
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  if (!dtype_is_float(x->dtype) && !op->parameter) return pt_result(op, 0, x);
  TRY(truncate(op, x, &y));
  if (op->parameter) TRY(make_node(op->make, OP_Sub, VALUES(x, y), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_is_finite(struct pt_op *op) {
  struct value *x, *y, *z;
  TRY(need_float(op, &x));
  TRY(make_node(op->make, OP_IsInf, VALUES(x), NULL, &y));
  TRY(make_node(op->make, OP_IsNaN, VALUES(x), NULL, &z));
  TRY(make_node(op->make, OP_Or, VALUES(y, z), NULL, &y));
  TRY(make_node(op->make, OP_Not, VALUES(y), NULL, &y));
  return pt_result(op, 0, y);
}

/* x * x */
hone_status build_square(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  TRY(make_node(op->make, OP_Mul, VALUES(x, x), NULL, &y));
  return pt_result(op, 0, y);
}

/* One half of a dimension times the sigmoid of the other half. */
hone_status build_glu(struct pt_op *op) {
  struct value *x, *halves[2], *y;
  int64_t axis;
  TRY(need_float(op, &x));
  TRY(pt_axis(op, "dim", -1, x->shape.rank, &axis));
  if (!x->shape.rank || x->shape.dims[axis] % 2) return pt_refuse(op, "of an odd dimension");
  TRY(make_nodes(op->make, OP_Split, VALUES(x),
                 ARGS(INT_ARG("axis", axis), INT_ARG("num_outputs", 2)), 2, halves));
  TRY(make_node(op->make, OP_Sigmoid, VALUES(halves[1]), NULL, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(halves[0], y), NULL, &y));
  return pt_result(op, 0, y);
}

/* One slope per channel, channels second. */
hone_status build_prelu(struct pt_op *op) {
  struct value *x, *slope, *y;
  int64_t dims[HONE_MAX_RANK];
  TRY(need_float(op, &x));
  TRY(pt_need(op, "weight", &slope));
  const int64_t count = make_elements(slope);
  size_t rank = x->shape.rank > 1 ? (size_t)x->shape.rank - 1 : 1;
  for (size_t d = 0; d < rank; d++) dims[d] = d || x->shape.rank < 2 ? 1 : count;
  TRY(make_reshape(op->make, slope, dims, rank, &slope));
  TRY(make_node(op->make, OP_PRelu, VALUES(x, slope), NULL, &y));
  return pt_result(op, 0, y);
}

/* hardshrink (parameter 0) and softshrink (1) */
hone_status build_shrink(struct pt_op *op) {
  struct value *x, *y;
  double lambda;
  TRY(need_float(op, &x));
  TRY(pt_float(op, "lambd", 0.5, &lambda));
  TRY(make_node(op->make, OP_Shrink, VALUES(x),
                ARGS(FLOAT_ARG("lambd", lambda), FLOAT_ARG("bias", op->parameter ? lambda : 0)),
                &y));
  return pt_result(op, 0, y);
}

/* A number where x is not above the threshold */
hone_status build_threshold(struct pt_op *op) {
  struct value *x, *is_below, *fill, *y;
  double threshold, value;
  TRY(pt_need(op, "self", &x));
  TRY(pt_float(op, "threshold", 0, &threshold));
  TRY(pt_float(op, "value", 0, &value));
  TRY(make_with_scalar(op->make, OP_LessOrEqual, x, threshold, &is_below)); /* NaN is unchanged */
  TRY(make_scalar(op->make, x->dtype, value, &fill));
  TRY(make_node(op->make, OP_Where, VALUES(is_below, fill, x), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_copy(struct pt_op *op) {
  struct value *x;
  TRY(pt_tensor(op, "self", &x));
  if (!x) TRY(pt_need(op, "input", &x));
  return pt_result(op, 0, x);
}

hone_status build_silu(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  TRY(make_node(op->make, OP_Sigmoid, VALUES(x), NULL, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(x, y), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_rsqrt(struct pt_op *op) {
  struct value *x, *y;
  TRY(need_float(op, &x));
  TRY(make_node(op->make, OP_Sqrt, VALUES(x), NULL, &y));
  TRY(make_node(op->make, OP_Reciprocal, VALUES(y), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_gelu(struct pt_op *op) {
  struct value *x, *y;
  const char *approximate;
  TRY(pt_need(op, "self", &x));
  TRY(pt_text(op, "approximate", "none", &approximate));
  if (strcmp(approximate, "tanh") && strcmp(approximate, "none"))
    return pt_refuse(op, "with approximate %.100s", approximate);
  TRY(make_node(op->make, OP_Gelu, VALUES(x), ARGS(STRING_ARG("approximate", approximate)), &y));
  return pt_result(op, 0, y);
}

hone_status build_alpha(struct pt_op *op) { /* elu, celu, leaky_relu */
  struct value *x, *y;
  double alpha, scale, input_scale;
  bool is_leaky = op->parameter == OP_LeakyRelu;
  TRY(need_float(op, &x));
  TRY(pt_float(op, is_leaky ? "negative_slope" : "alpha", is_leaky ? 0.01 : 1, &alpha));
  TRY(pt_float(op, "scale", 1, &scale));
  TRY(pt_float(op, "input_scale", 1, &input_scale));
  if (input_scale != 1) return pt_refuse(op, "with a scale of its input");
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x), ARGS(FLOAT_ARG("alpha", alpha)),
                &y));
  if (scale != 1) TRY(make_with_scalar(op->make, OP_Mul, y, scale, &y));
  return pt_result(op, 0, y);
}

static int kind_of(hone_dtype dtype) {
  return dtype == HONE_BOOL ? 0 : dtype_is_float(dtype) ? 2 : 1;
}

/* The wider of two types of the same category. */
static hone_dtype wider(hone_dtype a, hone_dtype b) {
  if (!a || !b || a == b) return a ? a : b;
  if (kind_of(a) != kind_of(b)) return kind_of(a) > kind_of(b) ? a : b;
  if (kind_of(a) == 2 && dtype_bits(a) == 16 && dtype_bits(b) == 16) return HONE_F32;
  if (kind_of(a) == 1 && dtype_bits(a) == dtype_bits(b)) return HONE_I16; /* u8 and i8 */
  return dtype_bits(a) >= dtype_bits(b) ? a : b;
}

/* PyTorch's promotion: the widest type of all; scalars count only if their category is higher
 * (boolean, integer, float). */
hone_dtype pt_promoted(struct value *const *x, size_t count) {
  hone_dtype with = HONE_UNDEFINED, without = HONE_UNDEFINED;
  for (size_t i = 0; i < count; i++) {
    hone_dtype *all = x[i]->shape.rank ? &with : &without;
    *all = wider(*all, x[i]->dtype);
  }
  return !with || (without && kind_of(without) > kind_of(with)) ? without : with;
}

hone_status pt_promote(struct pt_op *op, struct value **x, size_t count) {
  const hone_dtype dtype = pt_promoted(x, count);
  for (size_t i = 0; i < count; i++) TRY(make_cast(op->make, x[i], dtype, &x[i]));
  return HONE_OK;
}

/* Converts a pair of operands to one type. */
static hone_status promote_pair(struct pt_op *op, struct value **x, struct value **y) {
  struct value *pair[] = {*x, *y};
  TRY(pt_promote(op, pair, 2));
  *x = pair[0], *y = pair[1];
  return HONE_OK;
}

/* The type of a number: its own, or that of a tensor (or number) used with it, unless its own
 * category is higher. */
static hone_dtype number_type(const json_t *arg, const struct value *beside) {
  const hone_dtype own =
      json_object_get(arg, "as_bool") || json_object_get(arg, "as_sym_bool")     ? HONE_BOOL
      : json_object_get(arg, "as_float") || json_object_get(arg, "as_sym_float") ? HONE_F32
                                                                                 : HONE_I64;
  return beside && kind_of(beside->dtype) >= kind_of(own) ? beside->dtype : own;
}

hone_status pt_operand(struct pt_op *op, const char *name, const struct value *beside,
                       struct value **out) {
  double x;
  for (size_t i = 0; i < json_array_size(op->inputs); i++) {
    const json_t *input = json_array_get(op->inputs, i), *arg = json_object_get(input, "arg");
    if (strcmp(pt_words(json_object_get(input, "name")), name) || json_object_get(arg, "as_none"))
      continue;
    if (json_object_get(arg, "as_tensor")) return pt_need(op, name, out);
    TRY(pt_float(op, name, 0, &x));
    return make_scalar(op->make, number_type(arg, beside), x, out);
  }
  return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%s without argument %s", op->target, name);
}

/* x in the type in which it and the named numbers are computed. */
static hone_status widen_for(struct pt_op *op, const char *const *names, struct value **x) {
  for (int i = 0; i < 2; i++) {
    struct value *pair[2] = {*x, NULL};
    if (!pt_given(op, names[i])) continue;
    TRY(pt_operand(op, names[i], *x, &pair[1]));
    TRY(make_cast(op->make, *x, pt_promoted(pair, 2), x));
  }
  return HONE_OK;
}

/* Bounds of uint8 are not negative. */
static double bound_of(hone_dtype dtype, double x) {
  return dtype == HONE_U8 ? fmin(fmax(x, 0), 255) : x;
}

hone_status build_clamp(struct pt_op *op) { /* clamp, hardtanh, relu6 */
  struct value *x, *low = NULL, *high = NULL, *y;
  double min = 0, max = 6;
  bool is_hard = op->parameter == 1, is_relu6 = op->parameter == 2;
  const char *names[] = {is_hard ? "min_val" : "min", is_hard ? "max_val" : "max"};
  TRY(pt_need(op, "self", &x));
  if (!is_relu6) TRY(pt_float(op, names[0], -1, &min));
  if (!is_relu6) TRY(pt_float(op, names[1], 1, &max));
  if (!is_relu6 && !is_hard) TRY(widen_for(op, names, &x));
  if (is_relu6 || is_hard || pt_given(op, names[0]))
    TRY(make_scalar(op->make, x->dtype, bound_of(x->dtype, min), &low));
  if (is_relu6 || is_hard || pt_given(op, names[1]))
    TRY(make_scalar(op->make, x->dtype, bound_of(x->dtype, max), &high));
  TRY(make_node(op->make, OP_Clip, VALUES(x, low, high), NULL, &y));
  return pt_result(op, 0, y);
}

static hone_status scale_by_alpha(struct pt_op *op, struct value **y) {
  double alpha;
  TRY(pt_float(op, "alpha", 1, &alpha));
  return alpha == 1 ? HONE_OK : make_with_scalar(op->make, OP_Mul, *y, alpha, y);
}

/* Two operands by name, in the type that PyTorch computes in, a float type if requested. A number
 * takes its type from the other one. */
static hone_status named_pair(struct pt_op *op, const char *first, const char *second,
                              bool is_float, struct value **x, struct value **y) {
  const char *kind;
  pt_find_argument(op, second, &kind);
  const bool turns = !strcmp(kind, "as_tensor");
  struct value *pair[2], beside;
  TRY(pt_operand(op, turns ? second : first, NULL, &pair[0]));
  beside = *pair[0];
  if (is_float && !dtype_is_float(beside.dtype)) beside.dtype = HONE_F32;
  TRY(pt_operand(op, turns ? first : second, &beside, &pair[1]));
  hone_dtype dtype = pt_promoted(pair, 2);
  if (is_float && !dtype_is_float(dtype)) dtype = HONE_F32;
  TRY(make_cast(op->make, pair[turns], dtype, x));
  return make_cast(op->make, pair[!turns], dtype, y);
}

static hone_status read_pair(struct pt_op *op, bool is_float, struct value **x, struct value **y) {
  static const char *const names[] = {"exponent", "values", "other"};
  size_t k = 0;
  while (k + 1 < COUNT(names) && !pt_given(op, names[k])) k++;
  return named_pair(op, "self", names[k], is_float, x, y);
}

hone_status pt_pair_of(struct pt_op *op, struct value **x, struct value **y) {
  return read_pair(op, false, x, y);
}

hone_status pt_floats_of(struct pt_op *op, struct value **x, struct value **y) {
  return y ? read_pair(op, true, x, y) : need_float(op, x);
}

/* x / y rounded down as in PyTorch, from the exact remainder, so that 1 / 0.1 gives 9; NaN where x
 * is infinite. Source: div_floor_floating of c10/util/generic_math.h. */
static hone_status floor_quotient(struct make *make, struct value *x, struct value *y,
                                  struct value **out) {
  struct value *quotient, *rest, *whole, *down, *sign[2], *wrong, *is_zero, *zero;
  TRY(make_node(make, OP_Div, VALUES(x, y), NULL, &quotient));
  TRY(make_node(make, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", 1)), &rest));
  TRY(make_node(make, OP_Sub, VALUES(x, rest), NULL, &whole));
  TRY(make_node(make, OP_Div, VALUES(whole, y), NULL, &whole));
  TRY(make_with_scalar(make, OP_Less, rest, 0, &sign[0]));
  TRY(make_with_scalar(make, OP_Less, y, 0, &sign[1]));
  TRY(make_node(make, OP_Xor, VALUES(sign[0], sign[1]), NULL, &wrong));
  TRY(make_with_scalar(make, OP_Equal, rest, 0, &is_zero));
  TRY(make_node(make, OP_Not, VALUES(is_zero), NULL, &is_zero));
  TRY(make_node(make, OP_And, VALUES(wrong, is_zero), NULL, &wrong));
  TRY(make_cast(make, wrong, x->dtype, &wrong));
  TRY(make_node(make, OP_Sub, VALUES(whole, wrong), NULL, &whole));
  /* the quotient may be just below an integer */
  TRY(make_with_scalar(make, OP_Add, whole, 0.5, &down));
  TRY(make_node(make, OP_Floor, VALUES(down), NULL, &down));
  TRY(make_with_scalar(make, OP_Mul, quotient, 0, &zero)); /* with the sign of the quotient */
  TRY(make_with_scalar(make, OP_Equal, whole, 0, &is_zero));
  TRY(make_node(make, OP_Where, VALUES(is_zero, zero, down), NULL, &down));
  TRY(make_with_scalar(make, OP_Equal, y, 0, &is_zero));
  return make_node(make, OP_Where, VALUES(is_zero, quotient, down), NULL, out);
}

/* x / y rounded: "floor" or "trunc" */
static hone_status divide_rounded(struct pt_op *op, struct value *x, struct value *y,
                                  const char *rounding, struct value **out) {
  struct value *rest;
  bool is_floor = !strcmp(rounding, "floor");
  if (!is_floor && strcmp(rounding, "trunc"))
    return pt_refuse(op, "with rounding_mode %s", rounding);
  if (dtype_is_float(x->dtype)) {
    if (is_floor) return floor_quotient(op->make, x, y, out);
    TRY(make_node(op->make, OP_Div, VALUES(x, y), NULL, &x));
    return truncate(op, x, out);
  }
  /* (x - x mod y) / y rounds down */
  TRY(make_node(op->make, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", !is_floor)), &rest));
  TRY(make_node(op->make, OP_Sub, VALUES(x, rest), NULL, &x));
  return make_node(op->make, OP_Div, VALUES(x, y), NULL, out);
}

/* The boolean form of an operator. */
static enum op_id logical_form(enum op_id id) {
  switch ((int)id) {
    case OP_BitwiseAnd:
    case OP_Mul:
    case OP_Min:
      return OP_And;
    case OP_BitwiseOr:
    case OP_Add:
    case OP_Max:
      return OP_Or;
    case OP_BitwiseXor:
      return OP_Xor;
    default:
      return id;
  }
}

static bool compares_order(enum op_id id) {
  return id == OP_Less || id == OP_LessOrEqual || id == OP_Greater || id == OP_GreaterOrEqual;
}

hone_status build_binary(struct pt_op *op) {
  struct value *x, *y, *z;
  enum op_id id = (enum op_id)op->parameter;
  const char *rounding;
  bool is_logical = id == OP_And || id == OP_Or || id == OP_Xor;
  TRY(pt_text(op, "rounding_mode", "", &rounding));
  TRY(read_pair(op, id == OP_Div && !*rounding, &x, &y));
  if (is_logical) {
    TRY(make_cast(op->make, x, HONE_BOOL, &x));
    TRY(make_cast(op->make, y, HONE_BOOL, &y));
  }
  if (*rounding) {
    TRY(divide_rounded(op, x, y, rounding, &z));
    return pt_result(op, 0, z);
  }
  if (x->dtype == HONE_BOOL) id = logical_form(id);
  if (x->dtype == HONE_BOOL && compares_order(id)) {
    TRY(make_cast(op->make, x, HONE_U8, &x));
    TRY(make_cast(op->make, y, HONE_U8, &y));
  }
  if (id == OP_Add || id == OP_Sub) TRY(scale_by_alpha(op, &y));
  TRY(make_node(op->make, id, VALUES(x, y), NULL, &z));
  return pt_result(op, 0, z);
}

/* In float64 for any operand types. */
hone_status build_float_power(struct pt_op *op) {
  struct value *x, *y;
  TRY(named_pair(op, "self", "exponent", true, &x, &y));
  TRY(make_cast(op->make, x, HONE_F64, &x));
  TRY(make_cast(op->make, y, HONE_F64, &y));
  TRY(make_node(op->make, OP_Pow, VALUES(x, y), NULL, &x));
  return pt_result(op, 0, x);
}

/* Shift left, or (parameter 1) arithmetic shift right; a negative amount, or the width or more,
 * leaves no bit of x. */
hone_status build_bit_shift(struct pt_op *op) {
  struct value *x, *y;
  TRY(read_pair(op, false, &x, &y));
  if (!dtype_is_integer(x->dtype)) return pt_refuse(op, "of %s", dtype_name(x->dtype));
  TRY(make_node(op->make, OP_BitShift, VALUES(x, y),
                ARGS(STRING_ARG("direction", op->parameter ? "RIGHT" : "LEFT")), &x));
  return pt_result(op, 0, x);
}

hone_status build_floor_divide(struct pt_op *op) {
  struct value *x, *y, *z;
  TRY(read_pair(op, false, &x, &y));
  TRY(divide_rounded(op, x, y, "floor", &z));
  return pt_result(op, 0, z);
}

/* The remainder of a division, with the sign of x (fmod) or of y (parameter 1: remainder) */
hone_status build_remainder(struct pt_op *op) {
  struct value *x, *y, *rest, *moved, *zero, *below[2], *wrong, *is_zero;
  struct make *make = op->make;
  TRY(read_pair(op, false, &x, &y));
  bool is_float = dtype_is_float(x->dtype);
  TRY(make_node(make, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", is_float || !op->parameter)),
                &rest));
  if (!is_float || !op->parameter) return pt_result(op, 0, rest);
  TRY(make_scalar(make, x->dtype, 0, &zero));
  TRY(make_node(make, OP_Less, VALUES(rest, zero), NULL, &below[0]));
  TRY(make_node(make, OP_Less, VALUES(y, zero), NULL, &below[1]));
  TRY(make_node(make, OP_Xor, VALUES(below[0], below[1]), NULL, &wrong));
  TRY(make_node(make, OP_Equal, VALUES(rest, zero), NULL, &is_zero));
  TRY(make_node(make, OP_Add, VALUES(rest, y), NULL, &moved));
  TRY(make_node(make, OP_Where, VALUES(wrong, moved, rest), NULL, &moved));
  TRY(make_node(make, OP_Where, VALUES(is_zero, rest, moved), NULL, &rest));
  return pt_result(op, 0, rest);
}

/* atan of the quotient, plus or minus pi in the left half plane. */
hone_status pt_atan2(struct pt_op *op, struct value *y, struct value *x, struct value **out) {
  struct value *angle, *zero, *pi, *turn, *is_left, *is_down, *at[2], *is_origin;
  struct make *make = op->make;
  TRY(make_scalar(make, x->dtype, 0, &zero));
  TRY(make_scalar(make, x->dtype, acos(-1.0), &pi));
  TRY(make_node(make, OP_Div, VALUES(y, x), NULL, &angle));
  TRY(make_node(make, OP_Atan, VALUES(angle), NULL, &angle));
  TRY(make_node(make, OP_Less, VALUES(x, zero), NULL, &is_left));
  TRY(make_node(make, OP_Less, VALUES(y, zero), NULL, &is_down));
  TRY(make_node(make, OP_Neg, VALUES(pi), NULL, &turn));
  TRY(make_node(make, OP_Where, VALUES(is_down, turn, pi), NULL, &turn));
  TRY(make_node(make, OP_Where, VALUES(is_left, turn, zero), NULL, &turn));
  TRY(make_node(make, OP_Add, VALUES(angle, turn), NULL, &angle));
  TRY(make_node(make, OP_Equal, VALUES(y, zero), NULL, &at[0])); /* excludes 0 / 0 */
  TRY(make_node(make, OP_Equal, VALUES(x, zero), NULL, &at[1]));
  TRY(make_node(make, OP_And, VALUES(at[0], at[1]), NULL, &is_origin));
  return make_node(make, OP_Where, VALUES(is_origin, zero, angle), NULL, out);
}

hone_status build_atan2(struct pt_op *op) {
  struct value *y, *x;
  TRY(pt_floats_of(op, &y, &x));
  TRY(pt_atan2(op, y, x, &y));
  return pt_result(op, 0, y);
}

/* clamp.Tensor, clamp_min, clamp_max: bounds that are tensors or numbers */
hone_status build_clamp_tensor(struct pt_op *op) {
  static const char *const names[] = {"min", "max"};
  static const enum op_id ids[] = {OP_Max, OP_Min};
  struct value *x, *bound;
  double number;
  TRY(pt_need(op, "self", &x));
  for (int i = 0; i < 2; i++) {
    if (!pt_given(op, names[i])) continue;
    TRY(pt_operand(op, names[i], x, &bound));
    if (bound->dtype == HONE_U8 && json_is_number(pt_argument(op, names[i]))) {
      TRY(pt_float(op, names[i], 0, &number));
      TRY(make_scalar(op->make, HONE_U8, bound_of(HONE_U8, number), &bound));
    }
    TRY(promote_pair(op, &x, &bound));
    TRY(make_node(op->make, ids[i], VALUES(x, bound), NULL, &x));
  }
  return pt_result(op, 0, x);
}

/* self + value * tensor1 * tensor2, or (parameter 1) value * tensor1 / tensor2 */
hone_status build_addcmul(struct pt_op *op) {
  struct value *x, *a, *b, *y;
  double value;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "tensor1", &a));
  TRY(pt_need(op, "tensor2", &b));
  TRY(pt_float(op, "value", 1, &value));
  struct value *all[] = {x, a, b};
  TRY(pt_promote(op, all, 3));
  x = all[0], a = all[1], b = all[2];
  TRY(make_node(op->make, op->parameter ? OP_Div : OP_Mul, VALUES(a, b), NULL, &y));
  if (value != 1) TRY(make_with_scalar(op->make, OP_Mul, y, value, &y));
  TRY(make_node(op->make, OP_Add, VALUES(x, y), NULL, &y));
  return pt_result(op, 0, y);
}

/* self + weight * (end - self) */
hone_status build_lerp(struct pt_op *op) {
  struct value *x, *end, *weight, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "end", &end));
  TRY(pt_operand(op, "weight", x, &weight));
  TRY(make_node(op->make, OP_Sub, VALUES(end, x), NULL, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(y, weight), NULL, &y));
  TRY(make_node(op->make, OP_Add, VALUES(x, y), NULL, &y));
  return pt_result(op, 0, y);
}

/* Replaces NaN and infinities by numbers: 0 and the limits of the type by default. */
hone_status build_nan_to_num(struct pt_op *op) {
  struct value *x, *is_nan, *fill, *low, *high, *y;
  double nan, most, least;
  TRY(pt_need(op, "self", &x));
  if (!dtype_is_float(x->dtype)) return pt_result(op, 0, x);
  double end = x->dtype == HONE_F16   ? 65504
               : x->dtype == HONE_F64 ? 0x1.fffffffffffffp1023
                                      : 0x1.fffffep127;
  if (x->dtype == HONE_BF16) end = 0x1.fep127;
  TRY(pt_float(op, "nan", 0, &nan));
  TRY(pt_float(op, "posinf", end, &most));
  TRY(pt_float(op, "neginf", -end, &least));
  if (most != end || least != -end) { /* only infinities are replaced */
    struct value *up, *down;
    TRY(make_with_scalar(op->make, OP_Greater, x, end, &up));
    TRY(make_with_scalar(op->make, OP_Less, x, -end, &down));
    TRY(make_scalar(op->make, x->dtype, most, &high));
    TRY(make_scalar(op->make, x->dtype, least, &low));
    TRY(make_node(op->make, OP_IsNaN, VALUES(x), NULL, &is_nan));
    TRY(make_node(op->make, OP_Where, VALUES(up, high, x), NULL, &y));
    TRY(make_node(op->make, OP_Where, VALUES(down, low, y), NULL, &y));
  } else {
    TRY(make_scalar(op->make, x->dtype, most, &high));
    TRY(make_scalar(op->make, x->dtype, least, &low));
    TRY(make_node(op->make, OP_IsNaN, VALUES(x), NULL, &is_nan));
    TRY(make_node(op->make, OP_Clip, VALUES(x, low, high), NULL, &y));
  }
  TRY(make_scalar(op->make, x->dtype, nan, &fill));
  TRY(make_node(op->make, OP_Where, VALUES(is_nan, fill, y), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_rsub(struct pt_op *op) {
  struct value *x, *y, *z;
  TRY(read_pair(op, false, &x, &y));
  TRY(scale_by_alpha(op, &x));
  TRY(make_node(op->make, OP_Sub, VALUES(y, x), NULL, &z));
  return pt_result(op, 0, z);
}

hone_status build_not_equal(struct pt_op *op) {
  struct value *x, *y, *z;
  TRY(read_pair(op, false, &x, &y));
  TRY(make_node(op->make, OP_Equal, VALUES(x, y), NULL, &z));
  TRY(make_node(op->make, OP_Not, VALUES(z), NULL, &z));
  return pt_result(op, 0, z);
}

hone_status build_where(struct pt_op *op) {
  struct value *condition, *x, *y, *z;
  TRY(pt_need(op, "condition", &condition));
  TRY(named_pair(op, "self", "other", false, &x, &y));
  TRY(make_node(op->make, OP_Where, VALUES(condition, x, y), NULL, &z));
  return pt_result(op, 0, z);
}

hone_status build_masked_fill(struct pt_op *op) {
  struct value *x, *mask, *y, *z;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mask", &mask));
  TRY(pt_operand(op, "value", x, &y));
  TRY(make_cast(op->make, y, x->dtype, &y));
  TRY(make_node(op->make, OP_Where, VALUES(mask, y, x), NULL, &z));
  return pt_result(op, 0, z);
}

hone_status build_cast(struct pt_op *op) {
  struct value *x, *like, *y;
  int64_t dtype;
  TRY(pt_need(op, "self", &x));
  TRY(pt_tensor(op, "other", &like)); /* type_as */
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "with dtype %lld", (long long)dtype);
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : like ? like->dtype : x->dtype;
  TRY(make_cast(op->make, x, type, &y));
  return pt_result(op, 0, y);
}

/* src, or (parameter 1: fill) value, in self's type and shape */
hone_status build_copy_into(struct pt_op *op) {
  struct value *x, *from, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, op->parameter ? "value" : "src", &from));
  if (op->part && op->seen < 2) return pt_refuse(op, "of real and complex numbers");
  TRY(make_cast(op->make, from, x->dtype, &y));
  if (!shape_equal(&x->shape, &from->shape)) {
    TRY(make_expand(op->make, y, x->shape.dims, (size_t)x->shape.rank, &y));
  }
  return pt_result(op, 0, y);
}
