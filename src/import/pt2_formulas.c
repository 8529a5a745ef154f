/* pt2_formulas: ATen operators that are a formula over each element of one operand or two. */
#include "pt2.h"

#include <stdlib.h>

/* In postfix: x is self, y the other operand, both floats; numbers are of their type; words are operators of ONNX. */
static const struct {
  const char *name, *formula; /* sorted by name: what stands between "aten." and the next point */
} formulas[] = {
    {"copysign", "y 0 Less y Reciprocal 0 Less Or x Abs Neg x Abs Where"},
    {"deg2rad", "x 0.017453292519943295 Mul"},
    {"entr", "x 0 Equal 0 x 0 Less -inf x x Log Mul Neg Where Where"},
    {"erfc", "1 x Erf Sub"},
    {"fmax", "x IsNaN y y IsNaN x x y Max Where Where"},
    {"fmin", "x IsNaN y y IsNaN x x y Min Where Where"},
    {"hypot", "x x Mul y y Mul Add Sqrt"},
    {"isneginf", "x -inf Equal"},
    {"isposinf", "x inf Equal"},
    {"ldexp", "x 2 y Pow Mul"},
    {"logaddexp",
     "x y Equal x 0.6931471805599453 Add"
     " x y Max x y Sub Abs Neg Exp 1 Add Log Add Where"},
    {"logaddexp2",
     "x y Equal x 1 Add x y Max x y Sub Abs -0.6931471805599453 Mul Exp 1 Add Log"
     " 1.4426950408889634 Mul Add Where"},
    {"ndtr", "1 x 0.7071067811865476 Mul Erf Add 0.5 Mul"},
    {"rad2deg", "x 57.29577951308232 Mul"},
    {"signbit", "x 0 Less x Reciprocal 0 Less Or"},
    {"sinc", "x 0 Equal 1 x 3.141592653589793 Mul Sin x 3.141592653589793 Mul Div Where"},
    {"xlog1py", "x 0 Equal y IsNaN Not And 0 x y 1 Add Log Mul Where"},
    {"xlogy", "x 0 Equal y IsNaN Not And 0 x y Log Mul Where"},
};

/* "special_xlogy" is another name of xlogy; "hypot_" works in place, "hypot_copy" is a copy. */
static const char *formula_of(const char *target) {
  static const char special[] = "special_";
  const char *name = target + strcspn(target, ".");
  name += *name == '.';
  if (!strncmp(name, special, sizeof special - 1)) name += sizeof special - 1;
  const size_t length = strcspn(name, "._");
  for (size_t i = 0; i < COUNT(formulas); i++)
    if (strlen(formulas[i].name) == length && !memcmp(formulas[i].name, name, length))
      return formulas[i].formula;
  return NULL;
}

/* One word: its value onto the stack, or what an operator makes of the values on top. */
static hone_status push(struct pt_op *op, const char *word, struct value *x, struct value *y,
                        struct value **stack, size_t *top) {
  char *end;
  const double number = strtod(word, &end);
  if (!*end) return make_scalar(op->make, x->dtype, number, &stack[(*top)++]);
  if (!word[1]) {
    stack[(*top)++] = *word == 'x' ? x : y;
    return HONE_OK;
  }
  const struct op *row = op_find("", word);
  const size_t count = is_variadic(row) ? 2 : (size_t)row->min_inputs;
  *top -= count;
  TRY(make_node(op->make, row->id, stack + *top, count, NULL, &stack[*top]));
  (*top)++;
  return HONE_OK;
}

hone_status build_formula(struct pt_op *op) {
  enum { DEEPEST = 16, LONGEST = 32 };
  struct value *x, *y = NULL, *stack[DEEPEST] = {NULL};
  size_t top = 0;
  TRY(pt_floats_of(op, &x, pt_given(op, "other") ? &y : NULL));
  for (const char *at = formula_of(op->target); *at; at += strspn(at, " ")) {
    char word[LONGEST];
    const size_t length = strcspn(at, " ");
    memcpy(word, at, length);
    word[length] = 0;
    TRY(push(op, word, x, y, stack, &top));
    at += length;
  }
  return pt_result(op, 0, stack[0]);
}

/* log(x / (1 - x)), of what is held within [eps, 1 - eps] where that is given. */
hone_status build_logit(struct pt_op *op) {
  struct value *x, *low, *high, *one, *y;
  double eps;
  TRY(pt_floats_of(op, &x, NULL));
  TRY(pt_float(op, "eps", -1, &eps));
  if (eps >= 0) {
    TRY(make_scalar(op->make, x->dtype, eps, &low));
    TRY(make_scalar(op->make, x->dtype, 1 - eps, &high));
    TRY(make_node(op->make, OP_Clip, VALUES(x, low, high), NULL, &x));
  }
  TRY(make_scalar(op->make, x->dtype, 1, &one));
  TRY(make_node(op->make, OP_Sub, VALUES(one, x), NULL, &y));
  TRY(make_node(op->make, OP_Div, VALUES(x, y), NULL, &y));
  TRY(make_node(op->make, OP_Log, VALUES(y), NULL, &y));
  return pt_result(op, 0, y);
}
