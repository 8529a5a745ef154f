/* elementwise: elementwise ATen operators. */
#include "pt2.h"

#include <math.h>

/* Integers and booleans that PyTorch computes in float32. */
static struct value *as_float(struct pt_op *op, struct value *x) {
  if (dtype_is_float(x->dtype)) return x;
  return x_cast(op->b, x, HONE_F32);
}

/* self, as floats */
static hone_status need_float(struct pt_op *op, struct value **out) {
  TRY(pt_need(op, "self", out));
  return x_give(op->b, out, as_float(op, *out));
}

/* Operators that leave integers unchanged. */
static bool keeps_integers(enum op_id id) {
  return id == OP_Ceil || id == OP_Floor || id == OP_Round;
}
static bool works_on_integers(enum op_id id) {
  return id == OP_Abs || id == OP_Neg || id == OP_Relu || id == OP_Sign || keeps_integers(id);
}

hone_status build_unary(struct pt_op *op) {
  struct value *x;
  enum op_id id = (enum op_id)op->parameter;
  TRY(pt_need(op, "self", &x));
  bool is_float = dtype_is_float(x->dtype);
  int64_t decimals; /* for round only */
  TRY(pt_int(op, "decimals", 0, &decimals));
  const double power = pow(10, fabs((double)decimals));
  if (!is_float && keeps_integers(id)) return pt_result(op, 0, x);
  if (id == OP_Not) BUILD(op->b, x = x_cast(op->b, x, HONE_BOOL));
  if (id == OP_BitwiseNot && x->dtype == HONE_BOOL) id = OP_Not;
  if (id != OP_Not && id != OP_BitwiseNot && !works_on_integers(id))
    BUILD(op->b, x = as_float(op, x));
  if (x->dtype == HONE_BOOL && id == OP_Sign) return pt_result(op, 0, x);
  if (decimals) x = x_by(op->b, decimals < 0 ? OP_Div : OP_Mul, x, power);
  struct value *y = x_1(op->b, id, x);
  if (decimals) y = x_by(op->b, decimals < 0 ? OP_Mul : OP_Div, y, power);
  return pt_result(op, 0, y);
}

/* max(0, min(1, x / 6 + 1/2)) */
hone_status build_hard_sigmoid(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  return pt_result(op, 0,
                   x_args(op->b, OP_HardSigmoid, VALUES(x), ARGS(FLOAT_ARG("alpha", 1.0 / 6))));
}

/* log(1 + exp(beta x)) / beta, and x where beta x is above the threshold */
hone_status build_softplus(struct pt_op *op) {
  struct value *x;
  double beta, threshold;
  TRY(need_float(op, &x));
  TRY(pt_float(op, "beta", 1, &beta));
  TRY(pt_float(op, "threshold", 20, &threshold));
  struct value *scaled = x_by(op->b, OP_Mul, x, beta);
  struct value *y = x_by(op->b, OP_Div, x_1(op->b, OP_Softplus, scaled), beta);
  return pt_result(op, 0, x_3(op->b, OP_Where, x_by(op->b, OP_Greater, scaled, threshold), x, y));
}

/* -softplus(-x) */
hone_status build_log_sigmoid(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  return pt_result(op, 0, x_1(op->b, OP_Neg, x_1(op->b, OP_Softplus, x_1(op->b, OP_Neg, x))));
}

/* log2, log10: log(x) / log(base) */
hone_status build_log_base(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  return pt_result(op, 0,
                   x_by(op->b, OP_Mul, x_1(op->b, OP_Log, x), 1 / log((double)op->parameter)));
}

/* tanh(x / 2) (exp(x) + 1): avoids the difference of close numbers */
hone_status build_expm1(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  struct value *half = x_1(op->b, OP_Tanh, x_by(op->b, OP_Mul, x, 0.5));
  return pt_result(op, 0, x_2(op->b, OP_Mul, half, x_by(op->b, OP_Add, x_1(op->b, OP_Exp, x), 1)));
}

/* 2 atanh(x / (2 + x)) near 0, log(1 + x) elsewhere */
hone_status build_log1p(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  struct value *near = x_by(
      op->b, OP_Mul, x_1(op->b, OP_Atanh, x_2(op->b, OP_Div, x, x_by(op->b, OP_Add, x, 2))), 2);
  struct value *far = x_1(op->b, OP_Log, x_by(op->b, OP_Add, x, 1));
  return pt_result(
      op, 0, x_3(op->b, OP_Where, x_by(op->b, OP_Less, x_1(op->b, OP_Abs, x), 0.5), near, far));
}

/* 2^x */
hone_status build_exp2(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  return pt_result(op, 0, x_2(op->b, OP_Pow, x_scalar(op->b, x->dtype, 2), x));
}

/* Toward zero. */
static struct value *truncate(struct pt_op *op, struct value *x) {
  struct value *is_below = x_by(op->b, OP_Less, x, 0);
  struct value *up = x_1(op->b, OP_Ceil, x);
  return x_3(op->b, OP_Where, is_below, up, x_1(op->b, OP_Floor, x));
}

hone_status build_trunc(struct pt_op *op) { /* parameter 1: the fractional part */
  struct value *x;
  TRY(pt_need(op, "self", &x));
  if (!dtype_is_float(x->dtype) && !op->parameter) return pt_result(op, 0, x);
  struct value *y = truncate(op, x);
  if (op->parameter) y = x_2(op->b, OP_Sub, x, y);
  return pt_result(op, 0, y);
}

hone_status build_is_finite(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  struct value *y = x_1(op->b, OP_IsInf, x);
  return pt_result(op, 0, x_1(op->b, OP_Not, x_2(op->b, OP_Or, y, x_1(op->b, OP_IsNaN, x))));
}

/* x * x */
hone_status build_square(struct pt_op *op) {
  struct value *x;
  TRY(pt_need(op, "self", &x));
  return pt_result(op, 0, x_2(op->b, OP_Mul, x, x));
}

/* One half of a dimension times the sigmoid of the other half. */
hone_status build_glu(struct pt_op *op) {
  struct value *x, *halves[2];
  int64_t axis;
  TRY(need_float(op, &x));
  TRY(pt_axis(op, "dim", -1, x->shape.rank, &axis));
  if (!x->shape.rank || x->shape.dims[axis] % 2) return pt_refuse(op, "of an odd dimension");
  BUILD(op->b, x_nodes(op->b, OP_Split, VALUES(x),
                       ARGS(INT_ARG("axis", axis), INT_ARG("num_outputs", 2)), 2, halves));
  return pt_result(op, 0, x_2(op->b, OP_Mul, halves[0], x_1(op->b, OP_Sigmoid, halves[1])));
}

/* One slope per channel, channels second. */
hone_status build_prelu(struct pt_op *op) {
  struct value *x, *slope;
  int64_t dims[HONE_MAX_RANK];
  TRY(need_float(op, &x));
  TRY(pt_need(op, "weight", &slope));
  const int64_t count = make_elements(slope);
  size_t rank = x->shape.rank > 1 ? (size_t)x->shape.rank - 1 : 1;
  for (size_t d = 0; d < rank; d++) dims[d] = d || x->shape.rank < 2 ? 1 : count;
  BUILD(op->b, slope = x_reshape(op->b, slope, dims, (int)rank));
  return pt_result(op, 0, x_2(op->b, OP_PRelu, x, slope));
}

/* hardshrink (parameter 0) and softshrink (1) */
hone_status build_shrink(struct pt_op *op) {
  struct value *x;
  double lambda;
  TRY(need_float(op, &x));
  TRY(pt_float(op, "lambd", 0.5, &lambda));
  return pt_result(
      op, 0,
      x_args(op->b, OP_Shrink, VALUES(x),
             ARGS(FLOAT_ARG("lambd", lambda), FLOAT_ARG("bias", op->parameter ? lambda : 0))));
}

/* A number where x is not above the threshold */
hone_status build_threshold(struct pt_op *op) {
  struct value *x;
  double threshold, value;
  TRY(pt_need(op, "self", &x));
  TRY(pt_float(op, "threshold", 0, &threshold));
  TRY(pt_float(op, "value", 0, &value));
  struct value *is_below = x_by(op->b, OP_LessOrEqual, x, threshold); /* NaN is unchanged */
  return pt_result(op, 0, x_3(op->b, OP_Where, is_below, x_scalar(op->b, x->dtype, value), x));
}

hone_status build_copy(struct pt_op *op) {
  struct value *x;
  TRY(pt_tensor(op, "self", &x));
  if (!x) TRY(pt_need(op, "input", &x));
  return pt_result(op, 0, x);
}

hone_status build_silu(struct pt_op *op) {
  struct value *x;
  TRY(pt_need(op, "self", &x));
  return pt_result(op, 0, x_2(op->b, OP_Mul, x, x_1(op->b, OP_Sigmoid, x)));
}

hone_status build_rsqrt(struct pt_op *op) {
  struct value *x;
  TRY(need_float(op, &x));
  return pt_result(op, 0, x_1(op->b, OP_Reciprocal, x_1(op->b, OP_Sqrt, x)));
}

hone_status build_gelu(struct pt_op *op) {
  struct value *x;
  const char *approximate;
  TRY(pt_need(op, "self", &x));
  TRY(pt_text(op, "approximate", "none", &approximate));
  if (strcmp(approximate, "tanh") && strcmp(approximate, "none"))
    return pt_refuse(op, "with approximate %.100s", approximate);
  return pt_result(op, 0,
                   x_args(op->b, OP_Gelu, VALUES(x), ARGS(STRING_ARG("approximate", approximate))));
}

hone_status build_alpha(struct pt_op *op) { /* elu, celu, leaky_relu */
  struct value *x;
  double alpha, scale, input_scale;
  bool is_leaky = op->parameter == OP_LeakyRelu;
  TRY(need_float(op, &x));
  TRY(pt_float(op, is_leaky ? "negative_slope" : "alpha", is_leaky ? 0.01 : 1, &alpha));
  TRY(pt_float(op, "scale", 1, &scale));
  TRY(pt_float(op, "input_scale", 1, &input_scale));
  if (input_scale != 1) return pt_refuse(op, "with a scale of its input");
  struct value *y =
      x_args(op->b, (enum op_id)op->parameter, VALUES(x), ARGS(FLOAT_ARG("alpha", alpha)));
  if (scale != 1) y = x_by(op->b, OP_Mul, y, scale);
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
  for (size_t i = 0; i < count; i++) BUILD(op->b, x[i] = x_cast(op->b, x[i], dtype));
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
    return x_give(op->b, out, x_scalar(op->b, number_type(arg, beside), x));
  }
  return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%s without argument %s", op->target, name);
}

/* x in the type in which it and the named numbers are computed. */
static hone_status widen_for(struct pt_op *op, const char *const *names, struct value **x) {
  for (int i = 0; i < 2; i++) {
    struct value *pair[2] = {*x, NULL};
    if (!pt_given(op, names[i])) continue;
    TRY(pt_operand(op, names[i], *x, &pair[1]));
    BUILD(op->b, *x = x_cast(op->b, *x, pt_promoted(pair, 2)));
  }
  return HONE_OK;
}

/* Bounds of uint8 are not negative. */
static double bound_of(hone_dtype dtype, double x) {
  return dtype == HONE_U8 ? fmin(fmax(x, 0), 255) : x;
}

hone_status build_clamp(struct pt_op *op) { /* clamp, hardtanh, relu6 */
  struct value *x, *low = NULL, *high = NULL;
  double min = 0, max = 6;
  bool is_hard = op->parameter == 1, is_relu6 = op->parameter == 2;
  const char *names[] = {is_hard ? "min_val" : "min", is_hard ? "max_val" : "max"};
  TRY(pt_need(op, "self", &x));
  if (!is_relu6) TRY(pt_float(op, names[0], -1, &min));
  if (!is_relu6) TRY(pt_float(op, names[1], 1, &max));
  if (!is_relu6 && !is_hard) TRY(widen_for(op, names, &x));
  if (is_relu6 || is_hard || pt_given(op, names[0]))
    low = x_scalar(op->b, x->dtype, bound_of(x->dtype, min));
  if (is_relu6 || is_hard || pt_given(op, names[1]))
    high = x_scalar(op->b, x->dtype, bound_of(x->dtype, max));
  return pt_result(op, 0, x_3(op->b, OP_Clip, x, low, high));
}

static hone_status scale_by_alpha(struct pt_op *op, struct value **y) {
  double alpha;
  TRY(pt_float(op, "alpha", 1, &alpha));
  return alpha == 1 ? HONE_OK : x_give(op->b, y, x_by(op->b, OP_Mul, *y, alpha));
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
  *x = x_cast(op->b, pair[turns], dtype);
  return x_give(op->b, y, x_cast(op->b, pair[!turns], dtype));
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
static struct value *floor_quotient(struct graph_builder *b, struct value *x, struct value *y) {
  struct value *sign[2];
  struct value *quotient = x_2(b, OP_Div, x, y);
  struct value *rest = x_args(b, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", 1)));
  struct value *whole = x_2(b, OP_Div, x_2(b, OP_Sub, x, rest), y);
  sign[0] = x_by(b, OP_Less, rest, 0);
  sign[1] = x_by(b, OP_Less, y, 0);
  struct value *wrong = x_2(b, OP_Xor, sign[0], sign[1]);
  struct value *is_zero = x_1(b, OP_Not, x_by(b, OP_Equal, rest, 0));
  whole = x_2(b, OP_Sub, whole, x_cast(b, x_2(b, OP_And, wrong, is_zero), x->dtype));
  /* the quotient may be just below an integer */
  struct value *down = x_1(b, OP_Floor, x_by(b, OP_Add, whole, 0.5));
  struct value *zero = x_by(b, OP_Mul, quotient, 0); /* with the sign of the quotient */
  down = x_3(b, OP_Where, x_by(b, OP_Equal, whole, 0), zero, down);
  return x_3(b, OP_Where, x_by(b, OP_Equal, y, 0), quotient, down);
}

/* x / y rounded: "floor" or "trunc" */
static hone_status divide_rounded(struct pt_op *op, struct value *x, struct value *y,
                                  const char *rounding, struct value **out) {
  bool is_floor = !strcmp(rounding, "floor");
  if (!is_floor && strcmp(rounding, "trunc"))
    return pt_refuse(op, "with rounding_mode %s", rounding);
  if (dtype_is_float(x->dtype)) {
    if (is_floor) return x_give(op->b, out, floor_quotient(op->b, x, y));
    BUILD(op->b, x = x_2(op->b, OP_Div, x, y));
    return x_give(op->b, out, truncate(op, x));
  }
  /* (x - x mod y) / y rounds down */
  return x_give(op->b, out,
                x_2(op->b, OP_Div,
                    x_2(op->b, OP_Sub, x,
                        x_args(op->b, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", !is_floor)))),
                    y));
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
    x = x_cast(op->b, x, HONE_BOOL);
    BUILD(op->b, y = x_cast(op->b, y, HONE_BOOL));
  }
  if (*rounding) {
    TRY(divide_rounded(op, x, y, rounding, &z));
    return pt_result(op, 0, z);
  }
  if (x->dtype == HONE_BOOL) id = logical_form(id);
  if (x->dtype == HONE_BOOL && compares_order(id)) {
    x = x_cast(op->b, x, HONE_U8);
    BUILD(op->b, y = x_cast(op->b, y, HONE_U8));
  }
  if (id == OP_Add || id == OP_Sub) TRY(scale_by_alpha(op, &y));
  return pt_result(op, 0, x_2(op->b, id, x, y));
}

/* In float64 for any operand types. */
hone_status build_float_power(struct pt_op *op) {
  struct value *x, *y;
  TRY(named_pair(op, "self", "exponent", true, &x, &y));
  x = x_cast(op->b, x, HONE_F64);
  return pt_result(op, 0, x_2(op->b, OP_Pow, x, x_cast(op->b, y, HONE_F64)));
}

/* Shift left, or (parameter 1) arithmetic shift right; a negative amount, or the width or more,
 * leaves no bit of x. */
hone_status build_bit_shift(struct pt_op *op) {
  struct value *x, *y;
  TRY(read_pair(op, false, &x, &y));
  if (!dtype_is_integer(x->dtype)) return pt_refuse(op, "of %s", dtype_name(x->dtype));
  return pt_result(op, 0,
                   x_args(op->b, OP_BitShift, VALUES(x, y),
                          ARGS(STRING_ARG("direction", op->parameter ? "RIGHT" : "LEFT"))));
}

hone_status build_floor_divide(struct pt_op *op) {
  struct value *x, *y, *z;
  TRY(read_pair(op, false, &x, &y));
  TRY(divide_rounded(op, x, y, "floor", &z));
  return pt_result(op, 0, z);
}

/* The remainder of a division, with the sign of x (fmod) or of y (parameter 1: remainder) */
hone_status build_remainder(struct pt_op *op) {
  struct value *x, *y, *below[2];
  struct graph_builder *b = op->b;
  TRY(read_pair(op, false, &x, &y));
  bool is_float = dtype_is_float(x->dtype);
  struct value *rest =
      x_args(b, OP_Mod, VALUES(x, y), ARGS(INT_ARG("fmod", is_float || !op->parameter)));
  if (!is_float || !op->parameter) return pt_result(op, 0, rest);
  struct value *zero = x_scalar(b, x->dtype, 0);
  below[0] = x_2(b, OP_Less, rest, zero);
  below[1] = x_2(b, OP_Less, y, zero);
  struct value *wrong = x_2(b, OP_Xor, below[0], below[1]);
  struct value *is_zero = x_2(b, OP_Equal, rest, zero);
  return pt_result(
      op, 0,
      x_3(b, OP_Where, is_zero, rest, x_3(b, OP_Where, wrong, x_2(b, OP_Add, rest, y), rest)));
}

/* atan of the quotient, plus or minus pi in the left half plane. */
struct value *pt_atan2(struct pt_op *op, struct value *y, struct value *x) {
  struct value *at[2];
  struct graph_builder *b = op->b;
  struct value *zero = x_scalar(b, x->dtype, 0);
  struct value *pi = x_scalar(b, x->dtype, acos(-1.0));
  struct value *angle = x_1(b, OP_Atan, x_2(b, OP_Div, y, x));
  struct value *is_left = x_2(b, OP_Less, x, zero);
  struct value *is_down = x_2(b, OP_Less, y, zero);
  angle = x_2(b, OP_Add, angle,
              x_3(b, OP_Where, is_left, x_3(b, OP_Where, is_down, x_1(b, OP_Neg, pi), pi), zero));
  at[0] = x_2(b, OP_Equal, y, zero); /* excludes 0 / 0 */
  at[1] = x_2(b, OP_Equal, x, zero);
  return x_3(b, OP_Where, x_2(b, OP_And, at[0], at[1]), zero, angle);
}

hone_status build_atan2(struct pt_op *op) {
  struct value *y, *x;
  TRY(pt_floats_of(op, &y, &x));
  return pt_result(op, 0, pt_atan2(op, y, x));
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
      BUILD(op->b, bound = x_scalar(op->b, HONE_U8, bound_of(HONE_U8, number)));
    }
    TRY(promote_pair(op, &x, &bound));
    BUILD(op->b, x = x_2(op->b, ids[i], x, bound));
  }
  return pt_result(op, 0, x);
}

/* self + value * tensor1 * tensor2, or (parameter 1) value * tensor1 / tensor2 */
hone_status build_addcmul(struct pt_op *op) {
  struct value *x, *a, *b;
  double value;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "tensor1", &a));
  TRY(pt_need(op, "tensor2", &b));
  TRY(pt_float(op, "value", 1, &value));
  struct value *all[] = {x, a, b};
  TRY(pt_promote(op, all, 3));
  x = all[0], a = all[1], b = all[2];
  struct value *y = x_2(op->b, op->parameter ? OP_Div : OP_Mul, a, b);
  if (value != 1) y = x_by(op->b, OP_Mul, y, value);
  return pt_result(op, 0, x_2(op->b, OP_Add, x, y));
}

/* self + weight * (end - self) */
hone_status build_lerp(struct pt_op *op) {
  struct value *x, *end, *weight;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "end", &end));
  TRY(pt_operand(op, "weight", x, &weight));
  return pt_result(op, 0,
                   x_2(op->b, OP_Add, x, x_2(op->b, OP_Mul, x_2(op->b, OP_Sub, end, x), weight)));
}

/* Replaces NaN and infinities by numbers: 0 and the limits of the type by default. */
hone_status build_nan_to_num(struct pt_op *op) {
  struct value *x, *is_nan, *low, *high, *y;
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
    up = x_by(op->b, OP_Greater, x, end);
    down = x_by(op->b, OP_Less, x, -end);
    high = x_scalar(op->b, x->dtype, most);
    low = x_scalar(op->b, x->dtype, least);
    is_nan = x_1(op->b, OP_IsNaN, x);
    y = x_3(op->b, OP_Where, down, low, x_3(op->b, OP_Where, up, high, x));
  } else {
    high = x_scalar(op->b, x->dtype, most);
    low = x_scalar(op->b, x->dtype, least);
    is_nan = x_1(op->b, OP_IsNaN, x);
    y = x_3(op->b, OP_Clip, x, low, high);
  }
  return pt_result(op, 0, x_3(op->b, OP_Where, is_nan, x_scalar(op->b, x->dtype, nan), y));
}

hone_status build_rsub(struct pt_op *op) {
  struct value *x, *y;
  TRY(read_pair(op, false, &x, &y));
  TRY(scale_by_alpha(op, &x));
  return pt_result(op, 0, x_2(op->b, OP_Sub, y, x));
}

hone_status build_not_equal(struct pt_op *op) {
  struct value *x, *y;
  TRY(read_pair(op, false, &x, &y));
  return pt_result(op, 0, x_1(op->b, OP_Not, x_2(op->b, OP_Equal, x, y)));
}

hone_status build_where(struct pt_op *op) {
  struct value *condition, *x, *y;
  TRY(pt_need(op, "condition", &condition));
  TRY(named_pair(op, "self", "other", false, &x, &y));
  return pt_result(op, 0, x_3(op->b, OP_Where, condition, x, y));
}

hone_status build_masked_fill(struct pt_op *op) {
  struct value *x, *mask, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "mask", &mask));
  TRY(pt_operand(op, "value", x, &y));
  return pt_result(op, 0, x_3(op->b, OP_Where, mask, x_cast(op->b, y, x->dtype), x));
}

hone_status build_cast(struct pt_op *op) {
  struct value *x, *like;
  int64_t dtype;
  TRY(pt_need(op, "self", &x));
  TRY(pt_tensor(op, "other", &like)); /* type_as */
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "with dtype %lld", (long long)dtype);
  hone_dtype type = dtype >= 0 ? pt_dtype(dtype) : like ? like->dtype : x->dtype;
  return pt_result(op, 0, x_cast(op->b, x, type));
}

/* src, or (parameter 1: fill) value, in self's type and shape */
hone_status build_copy_into(struct pt_op *op) {
  struct value *x, *from;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, op->parameter ? "value" : "src", &from));
  if (op->part && op->seen < 2) return pt_refuse(op, "of real and complex numbers");
  struct value *y = x_cast(op->b, from, x->dtype);
  if (!shape_equal(&x->shape, &from->shape))
    y = x_2(op->b, OP_Expand, y, x_list(op->b, x->shape.dims, (size_t)x->shape.rank));
  return pt_result(op, 0, y);
}
