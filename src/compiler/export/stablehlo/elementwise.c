/* Elementwise operators as StableHLO, from their expression (expression.h). A mask is an i1;
 * arithmetic converts it to 0 and 1. */
#include "compiler/export/expression.h"
#include "stablehlo.h"

#include <math.h>

/* StableHLO operations of helpers; the others have a case below. */
static const char *const ops[] = {[EXPRESSION_abs] = "stablehlo.abs",
                                  [EXPRESSION_min] = "stablehlo.minimum",
                                  [EXPRESSION_max] = "stablehlo.maximum",
                                  [EXPRESSION_sqrt] = "stablehlo.sqrt",
                                  [EXPRESSION_exp] = "stablehlo.exponential",
                                  [EXPRESSION_expm1] = "stablehlo.exponential_minus_one",
                                  [EXPRESSION_log] = "stablehlo.log",
                                  [EXPRESSION_log1p] = "stablehlo.log_plus_one",
                                  [EXPRESSION_pow] = "stablehlo.power",
                                  [EXPRESSION_sin] = "stablehlo.sine",
                                  [EXPRESSION_cos] = "stablehlo.cosine",
                                  [EXPRESSION_tan] = "chlo.tan",
                                  [EXPRESSION_asin] = "chlo.asin",
                                  [EXPRESSION_acos] = "chlo.acos",
                                  [EXPRESSION_atan] = "chlo.atan",
                                  [EXPRESSION_sinh] = "chlo.sinh",
                                  [EXPRESSION_cosh] = "chlo.cosh",
                                  [EXPRESSION_asinh] = "chlo.asinh",
                                  [EXPRESSION_acosh] = "chlo.acosh",
                                  [EXPRESSION_atanh] = "chlo.atanh",
                                  [EXPRESSION_tanh] = "stablehlo.tanh",
                                  [EXPRESSION_erf] = "chlo.erf",
                                  [EXPRESSION_floor] = "stablehlo.floor",
                                  [EXPRESSION_ceil] = "stablehlo.ceil",
                                  [EXPRESSION_sign] = "stablehlo.sign",
                                  [EXPRESSION_round] = "stablehlo.round_nearest_even",
                                  [EXPRESSION_ADD] = "stablehlo.add",
                                  [EXPRESSION_SUB] = "stablehlo.subtract",
                                  [EXPRESSION_MUL] = "stablehlo.multiply",
                                  [EXPRESSION_DIV] = "stablehlo.divide",
                                  [EXPRESSION_NEGATE] = "stablehlo.negate"};

struct operands {
  const struct term *xyz;
  double alpha, beta;
  hone_dtype dtype; /* of numbers */
};

static struct term as_mask(struct hlo *h, struct term x) {
  if (x.dtype == HONE_BOOL) return x;
  return hlo_compare(h, "NE", x, hlo_splat(h, 0, x.dtype, &x.shape));
}

/* Compares masks directly. */
static struct term compared(struct hlo *h, const char *direction, const struct term *at,
                            hone_dtype dtype) {
  const bool are_masks = at[0].dtype == HONE_BOOL && at[1].dtype == HONE_BOOL;
  return hlo_compare(h, direction, are_masks ? at[0] : hlo_convert(h, at[0], dtype),
                     are_masks ? at[1] : hlo_convert(h, at[1], dtype));
}

static struct term run_step(struct hlo *h, const struct operands *o,
                            const struct expression_step *step, const struct term *at) {
  const struct shape *shape = &o->xyz[0].shape;
  switch (step->kind) {
    case EXPRESSION_OPERAND:
      return o->xyz[(int)step->number];
    case EXPRESSION_ALPHA:
      return hlo_splat(h, o->alpha, o->dtype, shape);
    case EXPRESSION_BETA:
      return hlo_splat(h, o->beta, o->dtype, shape);
    case EXPRESSION_NUMBER:
      return hlo_splat(h, step->number, o->dtype, shape);
    case EXPRESSION_select:
      return hlo_select(h, as_mask(h, at[0]), hlo_convert(h, at[1], o->dtype),
                        hlo_convert(h, at[2], o->dtype));
    case EXPRESSION_not:
      return hlo_unary(h, "stablehlo.not", as_mask(h, at[0]));
    case EXPRESSION_and:
      return hlo_binary(h, "stablehlo.and", as_mask(h, at[0]), as_mask(h, at[1]));
    case EXPRESSION_or:
      return hlo_binary(h, "stablehlo.or", as_mask(h, at[0]), as_mask(h, at[1]));
    case EXPRESSION_isnan:
      return hlo_compare(h, "NE", at[0], at[0]);
    case EXPRESSION_isinf:
      return hlo_compare(h, "EQ", hlo_unary(h, "stablehlo.abs", at[0]),
                         hlo_splat(h, INFINITY, at[0].dtype, &at[0].shape));
    case EXPRESSION_lt:
      return compared(h, "LT", at, o->dtype);
    case EXPRESSION_le:
      return compared(h, "LE", at, o->dtype);
    case EXPRESSION_eq:
      return compared(h, "EQ", at, o->dtype);
    default:
      if (expression_operands(step->kind) == 1)
        return hlo_unary(h, ops[step->kind], hlo_convert(h, at[0], o->dtype));
      return hlo_binary(h, ops[step->kind], hlo_convert(h, at[0], o->dtype),
                        hlo_convert(h, at[1], o->dtype));
  }
}

hone_status hlo_expression(struct hlo *h, const char *text, const struct term *xyz, double alpha,
                           double beta, struct term *out) {
  struct operands o = {xyz, alpha, beta, xyz[0].dtype};
  struct expression expression;
  struct term stack[EXPRESSION_DEPTH];
  size_t depth = 0;
  for (int k = 1; k < 3; k++) /* Where: the type of its values, not of its mask */
    if (o.dtype == HONE_BOOL && xyz[k].number) o.dtype = xyz[k].dtype;
  TRY(expression_read(h->ctx, text, &expression));
  for (size_t i = 0; i < expression.count; i++) {
    depth -= (size_t)expression_operands(expression.at[i].kind);
    stack[depth] = run_step(h, &o, &expression.at[i], &stack[depth]);
    depth++;
  }
  *out = stack[0];
  return HONE_OK;
}

/* Integers and bool: operators with the same semantics. */
static hone_status check_integers(struct hlo *h, const struct node *node, hone_dtype dtype) {
  static const enum op_id same[] = {
      OP_Add, OP_Sub,   OP_Mul,  OP_Max,         OP_Min,     OP_Sum,   OP_Abs,
      OP_Neg, OP_Equal, OP_Less, OP_LessOrEqual, OP_Greater, OP_Where, OP_GreaterOrEqual,
      OP_And, OP_Or,    OP_Not,  OP_Xor,         OP_Sign,    OP_Clip,  OP_Relu,
      OP_Div};
  if (dtype == HONE_F32 || dtype == HONE_F64 || dtype == HONE_F16 || dtype == HONE_BF16)
    return HONE_OK;
  for (size_t i = 0; i < COUNT(same); i++)
    if (is_op(node, same[i])) return HONE_OK;
  return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: %s of %s has no rule",
              node->op->name, dtype_name(dtype));
}

hone_status hlo_elementwise(struct hlo *h, const struct node *node, struct term *out) {
  const struct value *result = node->outputs[0];
  const size_t operands = elementwise_operands(node);
  double alpha = node->op->alpha, beta = node->op->beta;
  struct term xyz[3] = {{0}}, next[3] = {{0}};
  const char *expression =
      is_op(node, OP_Mean) ? op_table[OP_Sum].expression : node->op->expression;
  if (!expression || !operands || (operands > 3 && !is_variadic(node->op)))
    return fail(h->ctx, HONE_E_UNSUP, node_place(node), "StableHLO: %s has no rule yet",
                node->op->name);
  if (!elementwise_parameters(node, &alpha, &beta))
    return fail(h->ctx, HONE_E_UNSUP, node_place(node),
                "parameters that are computed have no rule");
  for (size_t k = 0; k < operands; k++) {
    struct term term;
    TRY(hlo_input(h, node, k, &term));
    term = hlo_broadcast(h, term, &result->shape);
    TRY(check_integers(h, node, term.dtype));
    if (!is_variadic(node->op)) {
      xyz[k] = term;
      continue;
    }
    if (!k) *out = term;
    next[0] = *out, next[1] = term;
    if (k) TRY(hlo_expression(h, expression, next, alpha, beta, out));
  }
  /* the exponent of a power may have another type than its base */
  if (is_op(node, OP_Pow)) xyz[1] = hlo_convert(h, xyz[1], xyz[0].dtype);
  if (!is_variadic(node->op)) TRY(hlo_expression(h, expression, xyz, alpha, beta, out));
  if (is_op(node, OP_Mean)) {
    const struct term count = hlo_splat(h, (double)operands, out->dtype, &out->shape);
    *out = hlo_binary(h, "stablehlo.divide", *out, count);
  }
  *out = hlo_convert(h, *out, result->dtype);
  return HONE_OK;
}
