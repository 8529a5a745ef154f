/* Elementwise operators as StableHLO, from the one expression that each has in unary.def, binary.def and
 * ternary.def: a new row of those is exported without a rule here.
 *
 * Shunting-yard over the expression (Dijkstra 1961), so that nothing recurses. A mask is an i1; where
 * arithmetic takes one it becomes 0 and 1.
 */
#include "stablehlo.h"

#include <math.h>
#include <stdlib.h>

enum { STACK = 64 };
enum { TOKEN_CALL = 'f', TOKEN_NEGATE = '~' };

/* How a helper of helpers_double.h is written. Those without a name have a case below. */
static const struct helper {
  const char *name, *op;
  int operands;
} helpers[] = {{"abs_", "stablehlo.abs", 1},
               {"min_", "stablehlo.minimum", 2},
               {"max_", "stablehlo.maximum", 2},
               {"sqrt_", "stablehlo.sqrt", 1},
               {"exp_", "stablehlo.exponential", 1},
               {"log_", "stablehlo.log", 1},
               {"pow_", "stablehlo.power", 2},
               {"sin_", "stablehlo.sine", 1},
               {"cos_", "stablehlo.cosine", 1},
               {"tan_", "chlo.tan", 1},
               {"asin_", "chlo.asin", 1},
               {"acos_", "chlo.acos", 1},
               {"atan_", "chlo.atan", 1},
               {"sinh_", "chlo.sinh", 1},
               {"cosh_", "chlo.cosh", 1},
               {"asinh_", "chlo.asinh", 1},
               {"acosh_", "chlo.acosh", 1},
               {"atanh_", "chlo.atanh", 1},
               {"tanh_", "stablehlo.tanh", 1},
               {"erf_", "chlo.erf", 1},
               {"floor_", "stablehlo.floor", 1},
               {"ceil_", "stablehlo.ceil", 1},
               {"sign_", "stablehlo.sign", 1},
               {"round_", "stablehlo.round_nearest_even", 1},
               {"select_", NULL, 3},
               {"lt_", "LT", 2},
               {"le_", "LE", 2},
               {"eq_", "EQ", 2},
               {"isnan_", NULL, 1},
               {"isinf_", NULL, 1},
               {"not_", NULL, 1},
               {"and_", "stablehlo.and", 2},
               {"or_", "stablehlo.or", 2}};

struct token {
  char kind; /* an operator's sign, '(', or one of TOKEN_* */
  const struct helper *helper;
};
struct reader {
  struct hlo *h;
  const char *text;
  const struct term *xyz;
  double alpha, beta;
  struct term values[STACK];
  struct token tokens[STACK];
  size_t value_count, token_count;
  hone_dtype dtype; /* of numbers */
};

static hone_status damaged(const struct reader *r, const char *what) {
  return fail(r->h->ctx, HONE_E_UNSUP, place_name(r->text), "StableHLO: %s", what);
}

static struct term as_number(struct reader *r, struct term x) {
  return hlo_convert(r->h, x, r->dtype);
}

static struct term as_mask(struct reader *r, struct term x) {
  if (x.dtype == HONE_BOOL) return x;
  return hlo_compare(r->h, "NE", x, hlo_splat(r->h, 0, x.dtype, &x.shape));
}

static hone_status push_value(struct reader *r, struct term term) {
  if (r->value_count == STACK) return damaged(r, "the expression is too deep");
  r->values[r->value_count++] = term;
  return HONE_OK;
}

static hone_status push_token(struct reader *r, char kind, const struct helper *helper) {
  if (r->token_count == STACK) return damaged(r, "the expression is too deep");
  r->tokens[r->token_count++] = (struct token){kind, helper};
  return HONE_OK;
}

static struct term call_helper(struct reader *r, const struct helper *helper, struct term *at) {
  struct hlo *h = r->h;
  if (!strcmp(helper->name, "select_"))
    return hlo_select(h, as_mask(r, at[0]), as_number(r, at[1]), as_number(r, at[2]));
  if (!strcmp(helper->name, "not_")) return hlo_unary(h, "stablehlo.not", as_mask(r, at[0]));
  if (!strcmp(helper->name, "isnan_")) return hlo_compare(h, "NE", at[0], at[0]);
  if (!strcmp(helper->name, "isinf_"))
    return hlo_compare(h, "EQ", hlo_unary(h, "stablehlo.abs", at[0]),
                       hlo_splat(h, INFINITY, at[0].dtype, &at[0].shape));
  if (!strcmp(helper->name, "and_") || !strcmp(helper->name, "or_"))
    return hlo_binary(h, helper->op, as_mask(r, at[0]), as_mask(r, at[1]));
  if (strlen(helper->op) == 2) { /* a direction; masks are compared as they are */
    const bool are_masks = at[0].dtype == HONE_BOOL && at[1].dtype == HONE_BOOL;
    return hlo_compare(h, helper->op, are_masks ? at[0] : as_number(r, at[0]),
                       are_masks ? at[1] : as_number(r, at[1]));
  }
  if (helper->operands == 1) return hlo_unary(h, helper->op, as_number(r, at[0]));
  return hlo_binary(h, helper->op, as_number(r, at[0]), as_number(r, at[1]));
}

/* Applies the newest token to the newest values. */
static hone_status apply(struct reader *r) {
  static const struct {
    char sign;
    const char *op;
  } signs[] = {{'+', "stablehlo.add"},
               {'-', "stablehlo.subtract"},
               {'*', "stablehlo.multiply"},
               {'/', "stablehlo.divide"}};
  const struct token token = r->tokens[--r->token_count];
  const size_t wants = token.kind == TOKEN_CALL     ? (size_t)token.helper->operands
                       : token.kind == TOKEN_NEGATE ? 1
                                                    : 2;
  if (r->value_count < wants) return damaged(r, "an operand is missing");
  r->value_count -= wants;
  struct term *at = &r->values[r->value_count];
  if (token.kind == TOKEN_CALL) return push_value(r, call_helper(r, token.helper, at));
  if (token.kind == TOKEN_NEGATE)
    return push_value(r, hlo_unary(r->h, "stablehlo.negate", as_number(r, at[0])));
  for (size_t i = 0; i < COUNT(signs); i++)
    if (signs[i].sign == token.kind)
      return push_value(r, hlo_binary(r->h, signs[i].op, as_number(r, at[0]), as_number(r, at[1])));
  return damaged(r, "an unknown sign");
}

static int rank_of(char kind) {
  return kind == TOKEN_NEGATE ? 3 : kind == '*' || kind == '/' ? 2 : kind == '+' || kind == '-';
}

static hone_status apply_down_to(struct reader *r, int rank) {
  while (r->token_count && rank_of(r->tokens[r->token_count - 1].kind) >= rank &&
         rank_of(r->tokens[r->token_count - 1].kind) > 0)
    TRY(apply(r));
  return HONE_OK;
}

/* A name: x, y, z, alpha, beta, C(number) or a helper. *at stands behind it afterwards. */
static hone_status read_name(struct reader *r, const char **at) {
  const size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyzCABDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  const char *name = *at;
  const struct shape *shape = &r->xyz[0].shape;
  *at += n;
  if (n == 1 && name[0] >= 'x' && name[0] <= 'z') return push_value(r, r->xyz[name[0] - 'x']);
  if (n == 5 && !strncmp(name, "alpha", n))
    return push_value(r, hlo_splat(r->h, r->alpha, r->dtype, shape));
  if (n == 4 && !strncmp(name, "beta", n))
    return push_value(r, hlo_splat(r->h, r->beta, r->dtype, shape));
  if (n == 1 && name[0] == 'C' && **at == '(') {
    char *end;
    const double value = strtod(*at + 1, &end);
    if (*end != ')') return damaged(r, "a number does not end");
    *at = end + 1;
    return push_value(r, hlo_splat(r->h, value, r->dtype, shape));
  }
  for (size_t i = 0; i < COUNT(helpers); i++)
    if (strlen(helpers[i].name) == n && !strncmp(helpers[i].name, name, n))
      return push_token(r, TOKEN_CALL, &helpers[i]);
  return damaged(r, "a helper has no rule");
}

static hone_status close_bracket(struct reader *r) {
  TRY(apply_down_to(r, 1));
  if (!r->token_count || r->tokens[r->token_count - 1].kind != '(')
    return damaged(r, "brackets do not match");
  r->token_count--;
  if (r->token_count && r->tokens[r->token_count - 1].kind == TOKEN_CALL) TRY(apply(r));
  return HONE_OK;
}

hone_status hlo_expression(struct hlo *h, const char *expression, const struct term *xyz,
                           double alpha, double beta, struct term *out) {
  struct reader r = {
      .h = h, .text = expression, .xyz = xyz, .alpha = alpha, .beta = beta, .dtype = xyz[0].dtype};
  bool wants_operand = true;
  for (int k = 1; k < 3; k++) /* Where: the type is that of its values, not of its mask */
    if (r.dtype == HONE_BOOL && xyz[k].number) r.dtype = xyz[k].dtype;
  for (const char *at = expression; *at;) {
    const char c = *at;
    if (c == ' ' || c == '\n') {
      at++;
    } else if (c == '(') {
      TRY(push_token(&r, c, NULL));
      at++;
    } else if (c == ')') {
      TRY(close_bracket(&r));
      wants_operand = false;
      at++;
    } else if (c == ',') {
      TRY(apply_down_to(&r, 1));
      wants_operand = true;
      at++;
    } else if (strchr("+-*/", c)) {
      const char kind = c == '-' && wants_operand ? TOKEN_NEGATE : c;
      if (kind != TOKEN_NEGATE) TRY(apply_down_to(&r, rank_of(kind)));
      TRY(push_token(&r, kind, NULL));
      wants_operand = true;
      at++;
    } else {
      const size_t before = r.value_count;
      TRY(read_name(&r, &at));
      wants_operand = r.value_count == before;
    }
  }
  TRY(apply_down_to(&r, 1));
  if (r.value_count != 1 || r.token_count) return damaged(&r, "the expression does not end");
  *out = r.values[0];
  return HONE_OK;
}

/* Integers and bool: what is the same there. */
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
  /* a power's exponent may be of another type than its base */
  if (is_op(node, OP_Pow)) xyz[1] = hlo_convert(h, xyz[1], xyz[0].dtype);
  if (!is_variadic(node->op)) TRY(hlo_expression(h, expression, xyz, alpha, beta, out));
  if (is_op(node, OP_Mean)) {
    const struct term count = hlo_splat(h, (double)operands, out->dtype, &out->shape);
    *out = hlo_binary(h, "stablehlo.divide", *out, count);
  }
  *out = hlo_convert(h, *out, result->dtype);
  return HONE_OK;
}
