/* formulas: ATen operators defined by a formula over each element of one or two operands. */
#include "pt2.h"

#include <stdlib.h>

/* Postfix notation: x is self, y the other operand, both floats; numbers have their type; words are
 * ONNX operators; "$eps=1" is a numeric argument and "@weight=1" a tensor argument, with their
 * defaults. A loss has neither x nor y, and is reduced to its mean or sum. */
enum kind { PLAIN, KEEPS_INTEGERS, LOSS };
static const struct formula {
  const char *name, *text; /* sorted by name: the text between "aten." and the next dot */
  enum kind kind;
} formulas[] = {
    {"binary_cross_entropy",
     "@target @self Log -100 Max Mul 1 @target Sub 1 @self Sub Log -100 Max Mul Add Neg @weight=1 "
     "Mul",
     LOSS},
    {"binary_cross_entropy_with_logits",
     "1 @target Sub @self Mul @self Neg Softplus 1 @pos_weight=1 1 Sub @target Mul Add Mul Add"
     " @weight=1 Mul",
     LOSS},
    {"copysign", "y 0 Less y Reciprocal 0 Less Or x Abs Neg x Abs Where", PLAIN},
    {"deg2rad", "x 0.017453292519943295 Mul", PLAIN},
    {"entr", "x 0 Equal 0 x 0 Less -inf x x Log Mul Neg Where Where", PLAIN},
    {"erfc", "1 x Erf Sub", PLAIN},
    {"fmax", "x IsNaN y y IsNaN x x y Max Where Where", PLAIN},
    {"fmin", "x IsNaN y y IsNaN x x y Min Where Where", PLAIN},
    {"heaviside", "x 0 Equal y x 0 Greater 1 0 Where Where", KEEPS_INTEGERS},
    {"hinge_embedding_loss",
     "@target 1 Equal 0 $margin=1 @self Sub 0 Max Where @target -1 Equal 0 @self Where Add", LOSS},
    {"huber_loss",
     "@self @target Sub Abs $delta=1 LessOrEqual @self @target Sub @self @target Sub Mul 0.5 Mul"
     " @self @target Sub Abs $delta=1 0.5 Mul Sub $delta=1 Mul Where",
     LOSS},
    {"hypot", "x x Mul y y Mul Add Sqrt", PLAIN},
    {"isneginf", "x -inf Equal", PLAIN},
    {"isposinf", "x inf Equal", PLAIN},
    {"kl_div",
     "$log_target=0 0 Equal @target 0 Equal 0 @target @target Log Mul Where @target @self Mul Sub"
     " @target Exp @target @self Sub Mul Where",
     LOSS},
    {"l1_loss", "@self @target Sub Abs", LOSS},
    {"ldexp", "x 2 y Pow Mul", PLAIN},
    {"logaddexp",
     "x y Equal x 0.6931471805599453 Add"
     " x y Max x y Sub Abs Neg Softplus Add Where",
     PLAIN},
    {"logaddexp2",
     "x y Equal x 1 Add x y Max x y Sub Abs -0.6931471805599453 Mul Softplus"
     " 1.4426950408889634 Mul Add Where",
     PLAIN},
    {"margin_ranking_loss", "@input2 @input1 Sub @target Mul $margin=0 Add 0 Max", LOSS},
    {"mse_loss", "@self @target Sub @self @target Sub Mul", LOSS},
    {"ndtr", "1 x 0.7071067811865476 Mul Erf Add 0.5 Mul", PLAIN},
    {"poisson_nll_loss",
     "$log_input=1 0 Equal @input @target @input $eps=1e-8 Add Log Mul Sub"
     " @input Exp @target @input Mul Sub Where $full=0 0 Equal 0 @target 1 LessOrEqual 0"
     " @target @target Log Mul @target Sub 0.5 @target 6.283185307179586 Mul Log Mul Add Where"
     " Where Add",
     LOSS},
    {"rad2deg", "x 57.29577951308232 Mul", PLAIN},
    {"rrelu", "x 0 GreaterOrEqual x x $lower=0.125 $upper=0.3333333333333333 Add 0.5 Mul Mul Where",
     PLAIN},
    {"rrelu_with_noise_functional",
     "x 0 GreaterOrEqual x x $lower=0.125 $upper=0.3333333333333333 Add 0.5 Mul Mul Where", PLAIN},
    {"signbit", "x 0 Less x Reciprocal 0 Less Or", PLAIN},
    {"sinc", "x 0 Equal 1 x 3.141592653589793 Mul Sin x 3.141592653589793 Mul Div Where", PLAIN},
    {"smooth_l1_loss",
     "@self @target Sub Abs $beta=1 Less @self @target Sub @self @target Sub Mul 0.5 Mul $beta=1 "
     "Div"
     " @self @target Sub Abs $beta=1 0.5 Mul Sub Where",
     LOSS},
    {"soft_margin_loss", "@self @target Mul Neg Softplus", LOSS},
    {"xlog1py", /* log1p(y) is 2 atanh(y / (2 + y)) near 0 */
     "x 0 Equal y IsNaN Not And 0"
     " x y Abs 0.5 Less y y 2 Add Div Atanh 2 Mul y 1 Add Log Where Mul Where",
     PLAIN},
    {"xlogy", "x 0 Equal y IsNaN Not And 0 x y Log Mul Where", PLAIN},
};

/* "special_xlogy" is another name of xlogy; "hypot_" works in place, "hypot_copy" is a copy. */
static const struct formula *formula_of(const char *target) {
  static const char special[] = "special_";
  const char *name = target + strcspn(target, ".");
  name += *name == '.';
  if (!strncmp(name, special, sizeof special - 1)) name += sizeof special - 1;
  const size_t length = strcspn(name, ".");
  for (size_t i = 0; i < COUNT(formulas); i++) {
    const size_t own = strlen(formulas[i].name);
    const char *rest = name + own;
    if (length >= own && !memcmp(formulas[i].name, name, own) &&
        (*rest == '.' || !strncmp(rest, "_.", 2) || !strncmp(rest, "_copy.", 6)))
      return &formulas[i];
  }
  return NULL;
}

/* "$eps=1", "@weight=1": the argument, or its default. */
static hone_status push_argument(struct pt_op *op, char *word, hone_dtype dtype,
                                 struct value **out) {
  char *name = word + 1, *otherwise = strchr(name, '=');
  double number;
  if (otherwise) *otherwise++ = 0;
  *out = NULL;
  if (*word == '@') TRY(otherwise ? pt_tensor(op, name, out) : pt_need(op, name, out));
  if (*out) return x_give(op->b, out, x_cast(op->b, *out, dtype));
  TRY(pt_float(op, name, otherwise ? strtod(otherwise, NULL) : 0, &number));
  return x_give(op->b, out, x_scalar(op->b, dtype, number));
}

/* Processes one word: pushes its value, or applies an operator to the values on top. */
static hone_status push(struct pt_op *op, char *word, hone_dtype dtype, struct value *x,
                        struct value *y, struct value **stack, size_t *top) {
  char *end;
  const double number = strtod(word, &end);
  if (!*end) return x_give(op->b, &stack[(*top)++], x_scalar(op->b, dtype, number));
  if (*word == '$' || *word == '@') return push_argument(op, word, dtype, &stack[(*top)++]);
  if (!word[1]) {
    stack[(*top)++] = *word == 'x' ? x : y;
    return op->b->status;
  }
  const struct op *row = op_find("", word);
  const size_t count = is_variadic(row) ? 2 : (size_t)row->min_inputs;
  *top -= count;
  BUILD(op->b, stack[*top] = x_op(op->b, row->id, stack + *top, count));
  (*top)++;
  return HONE_OK;
}

static hone_status compute(struct pt_op *op, const char *text, hone_dtype dtype, struct value *x,
                           struct value *y, struct value **out) {
  enum { DEEPEST = 16, LONGEST = 32 };
  struct value *stack[DEEPEST] = {NULL};
  size_t top = 0;
  for (const char *at = text; *at; at += strspn(at, " ")) {
    char word[LONGEST];
    const size_t length = strcspn(at, " ");
    memcpy(word, at, length);
    word[length] = 0;
    TRY(push(op, word, dtype, x, y, stack, &top));
    at += length;
  }
  *out = stack[0];
  return HONE_OK;
}

hone_status pt_reduce_loss(struct pt_op *op, struct value *y, struct value *weight) {
  enum { NONE, MEAN };
  int64_t how;
  TRY(pt_int(op, "reduction", MEAN, &how));
  if (how == NONE) return pt_result(op, 0, y);
  const bool is_mean = how == MEAN && !weight;
  y = x_args(op->b, is_mean ? OP_ReduceMean : OP_ReduceSum, VALUES(y),
             ARGS(INT_ARG("keepdims", 0)));
  if (how == MEAN && weight)
    y = x_2(op->b, OP_Div, y, x_reduce(op->b, OP_ReduceSum, weight, NULL, 0, 0));
  return pt_result(op, 0, y);
}

hone_status build_formula(struct pt_op *op) {
  static const char *const firsts[] = {"self", "input", "input1"};
  const struct formula *formula = formula_of(op->target);
  struct value *x = NULL, *y = NULL;
  if (formula->kind == LOSS) {
    size_t k = 0;
    while (k + 1 < COUNT(firsts) && !pt_given(op, firsts[k])) k++;
    TRY(pt_need(op, firsts[k], &x));
    const hone_dtype dtype = dtype_is_float(x->dtype) ? x->dtype : HONE_F32;
    TRY(compute(op, formula->text, dtype, NULL, NULL, &y));
    return pt_reduce_loss(op, y, NULL);
  }
  const bool is_pair = pt_given(op, "other") || pt_given(op, "values");
  TRY((formula->kind == KEEPS_INTEGERS ? pt_pair_of : pt_floats_of)(op, &x, is_pair ? &y : NULL));
  TRY(compute(op, formula->text, x->dtype, x, y, &y));
  return pt_result(op, 0, y);
}

/* fmax, fmin: NaN is ignored; integers have none. */
hone_status build_number_extreme(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_pair_of(op, &x, &y));
  if (dtype_is_float(x->dtype)) return build_formula(op);
  const bool is_max = op->parameter == OP_Max;
  const enum op_id logical = is_max ? OP_Or : OP_And, id = is_max ? OP_Max : OP_Min;
  return pt_result(op, 0, x_2(op->b, x->dtype == HONE_BOOL ? logical : id, x, y));
}

/* log(x / (1 - x)), with x clamped to [eps, 1 - eps] if eps is given. */
hone_status build_logit(struct pt_op *op) {
  struct value *x, *low, *high, *y;
  double eps;
  TRY(pt_floats_of(op, &x, NULL));
  TRY(pt_float(op, "eps", -1, &eps));
  if (eps >= 0) {
    low = x_scalar(op->b, x->dtype, eps);
    high = x_scalar(op->b, x->dtype, 1 - eps);
    y = x_2(op->b, OP_Less, x, low);
    BUILD(op->b, x = x_3(op->b, OP_Where, y, low, x_2(op->b, OP_Min, x, high)));
  }
  return pt_result(op, 0,
                   x_1(op->b, OP_Log,
                       x_2(op->b, OP_Div, x, x_2(op->b, OP_Sub, x_scalar(op->b, x->dtype, 1), x))));
}
