/* elementwise: the format's operators where it has one, else the operator's expression
 * (expression.h). */
#include "compiler/export/expression.h"
#include "tflite.h"

#include <math.h>

/* Operators with the same meaning in the format. activation: they have a fused activation, option
 * 0. */
static const struct same {
  enum op_id op;
  enum lite_code code;
  bool floats_only;
} sames[] = {{OP_Abs, LITE_ABS, false},
             {OP_Add, LITE_ADD, false},
             {OP_And, LITE_LOGICAL_AND, false},
             {OP_Ceil, LITE_CEIL, true},
             {OP_Cos, LITE_COS, true},
             {OP_Div, LITE_DIV, false},
             {OP_Equal, LITE_EQUAL, false},
             {OP_Exp, LITE_EXP, true},
             {OP_Floor, LITE_FLOOR, true},
             {OP_Greater, LITE_GREATER, false},
             {OP_GreaterOrEqual, LITE_GREATER_EQUAL, false},
             {OP_HardSwish, LITE_HARD_SWISH, true},
             {OP_Less, LITE_LESS, false},
             {OP_LessOrEqual, LITE_LESS_EQUAL, false},
             {OP_Log, LITE_LOG, true},
             {OP_Max, LITE_MAXIMUM, false},
             {OP_Min, LITE_MINIMUM, false},
             {OP_Mul, LITE_MUL, false},
             {OP_Neg, LITE_NEG, false},
             {OP_Not, LITE_LOGICAL_NOT, false},
             {OP_Or, LITE_LOGICAL_OR, false},
             {OP_Pow, LITE_POW, true},
             {OP_PRelu, LITE_PRELU, true},
             {OP_Relu, LITE_RELU, true},
             {OP_Round, LITE_ROUND, true},
             {OP_Sigmoid, LITE_LOGISTIC, true},
             {OP_Sign, LITE_SIGN, true},
             {OP_Sin, LITE_SIN, true},
             {OP_Sqrt, LITE_SQRT, true},
             {OP_Sub, LITE_SUB, false},
             {OP_Sum, LITE_ADD, false},
             {OP_Tanh, LITE_TANH, true},
             {OP_Xor, LITE_NOT_EQUAL, false}};

/* erf by Abramowitz and Stegun 7.1.26, |error| <= 1.5e-7, of the positive half: t = 1 / (1 + p x). */
static const double erf_p = 0.3275911;
static const double erf_a[] = {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592};

static int32_t erf_of(struct lite *l, int32_t x) {
  const int32_t one = lite_number(l, HONE_F32, 1), far = lite_unary(l, LITE_ABS, x);
  const int32_t below =
      lite_binary(l, LITE_ADD, lite_binary(l, LITE_MUL, far, lite_number(l, HONE_F32, erf_p)), one);
  const int32_t t = lite_binary(l, LITE_DIV, one, below);
  int32_t sum = lite_number(l, HONE_F32, erf_a[0]);
  for (size_t i = 1; i < COUNT(erf_a); i++)
    sum = lite_binary(l, LITE_ADD, lite_binary(l, LITE_MUL, t, sum),
                      lite_number(l, HONE_F32, erf_a[i]));
  const int32_t bell =
      lite_unary(l, LITE_EXP, lite_unary(l, LITE_NEG, lite_binary(l, LITE_MUL, x, x)));
  const int32_t rest = lite_binary(l, LITE_MUL, lite_binary(l, LITE_MUL, sum, t), bell);
  return lite_binary(l, LITE_MUL, lite_unary(l, LITE_SIGN, x), lite_binary(l, LITE_SUB, one, rest));
}

/* -- expressions */

static const int codes[] = {
    [EXPRESSION_abs] = LITE_ABS,         [EXPRESSION_min] = LITE_MINIMUM,
    [EXPRESSION_max] = LITE_MAXIMUM,     [EXPRESSION_sqrt] = LITE_SQRT,
    [EXPRESSION_exp] = LITE_EXP,         [EXPRESSION_log] = LITE_LOG,
    [EXPRESSION_pow] = LITE_POW,         [EXPRESSION_sin] = LITE_SIN,
    [EXPRESSION_cos] = LITE_COS,         [EXPRESSION_tanh] = LITE_TANH,
    [EXPRESSION_floor] = LITE_FLOOR,     [EXPRESSION_ceil] = LITE_CEIL,
    [EXPRESSION_sign] = LITE_SIGN,       [EXPRESSION_round] = LITE_ROUND,
    [EXPRESSION_lt] = LITE_LESS,         [EXPRESSION_le] = LITE_LESS_EQUAL,
    [EXPRESSION_eq] = LITE_EQUAL,        [EXPRESSION_not] = LITE_LOGICAL_NOT,
    [EXPRESSION_and] = LITE_LOGICAL_AND, [EXPRESSION_or] = LITE_LOGICAL_OR,
    [EXPRESSION_ADD] = LITE_ADD,         [EXPRESSION_SUB] = LITE_SUB,
    [EXPRESSION_MUL] = LITE_MUL,         [EXPRESSION_DIV] = LITE_DIV,
    [EXPRESSION_NEGATE] = LITE_NEG};

static int32_t selected(struct lite *l, const int32_t *at) {
  struct shape shape = *lite_shape(l, at[0]);
  /* guaranteed by inference */
  for (int k = 1; k < 3; k++)
    if (!shape_broadcast(&shape, lite_shape(l, at[k]), &shape)) break;
  return lite_put(l, LITE_SELECT_V2, at, 3, NULL, 0, lite_dtype(l, at[1]), &shape);
}

static int32_t run_step(struct lite *l, const struct node *node, const struct expression_step *step,
                        const int32_t *xyz, const double *parameters, const int32_t *at) {
  const hone_dtype dtype = lite_dtype(l, xyz[0]);
  if (step->kind == EXPRESSION_OPERAND) return xyz[(int)step->number];
  if (step->kind >= EXPRESSION_ALPHA)
    return lite_number(
        l, dtype,
        step->kind == EXPRESSION_NUMBER ? step->number : parameters[step->kind - EXPRESSION_ALPHA]);
  if (step->kind == EXPRESSION_select) return selected(l, at);
  if (step->kind == EXPRESSION_erf) return erf_of(l, at[0]);
  if (step->kind == EXPRESSION_expm1)
    return lite_binary(l, LITE_SUB, lite_unary(l, LITE_EXP, at[0]), lite_number(l, dtype, 1));
  if (step->kind == EXPRESSION_log1p)
    return lite_unary(l, LITE_LOG, lite_binary(l, LITE_ADD, at[0], lite_number(l, dtype, 1)));
  if (step->kind == EXPRESSION_isnan) return lite_binary(l, LITE_NOT_EQUAL, at[0], at[0]);
  if (step->kind != EXPRESSION_ADD && ((size_t)step->kind >= COUNT(codes) || !codes[step->kind])) {
    lite_refuse(l, node, "without a rule");
    return 0;
  }
  const enum lite_code code = (enum lite_code)codes[step->kind];
  return expression_operands(step->kind) == 1 ? lite_unary(l, code, at[0])
                                              : lite_binary(l, code, at[0], at[1]);
}

static int32_t run_expression(struct lite *l, const struct node *node, const int32_t *xyz,
                              const double *parameters) {
  struct expression expression;
  int32_t stack[EXPRESSION_DEPTH] = {0};
  size_t depth = 0;
  if (!node->op->expression) {
    lite_refuse(l, node, "without a rule");
    return 0;
  }
  if (!l->status) l->status = expression_read(l->ctx, node->op->expression, &expression);
  for (size_t i = 0; !l->status && i < expression.count; i++) {
    depth -= (size_t)expression_operands(expression.at[i].kind);
    stack[depth] = run_step(l, node, &expression.at[i], xyz, parameters, &stack[depth]);
    depth++;
  }
  return stack[0];
}

/* -- operators */

bool lite_fuse(struct lite *l, int32_t tensor, int activation) {
  static const struct {
    enum lite_code code;
    unsigned field;
  } fields[] = {{LITE_ADD, 0},
                {LITE_SUB, 0},
                {LITE_MUL, 0},
                {LITE_DIV, 0},
                {LITE_CONV_2D, 3},
                {LITE_DEPTHWISE_CONV_2D, 4},
                {LITE_FULLY_CONNECTED, 0}};
  const int64_t producer = l->status ? -1 : l->tensors.at[tensor].producer;
  if (producer < 0) return false;
  struct lite_operator *op = &l->operators.at[producer];
  for (size_t i = 0; i < COUNT(fields); i++) {
    if (fields[i].code != op->code) continue;
    for (size_t k = 0; k < op->option_count; k++)
      if (op->options[k].number == fields[i].field) return false; /* it already has one */
    op->options[op->option_count++] = (struct flat_field){fields[i].field, FLAT_BYTE, activation};
    return true;
  }
  return false;
}

/* Fuses the activation into the operator before it, if no other node reads that result. */
static bool fuse_activation(struct lite *l, const struct node *node, int activation,
                            bool is_image) {
  const struct value *from = node->inputs[0];
  const struct lite_value *v = &l->values[from->index];
  const int32_t tensor = (is_image ? v->image : v->plain) - 1;
  if (l->quantiser || tensor < 0 || l->uses[from->index] != 1 || (v->image && v->plain))
    return false;
  if (!lite_fuse(l, tensor, activation)) return false;
  lite_bind(l, node, 0, tensor, is_image);
  return true;
}

/* The matmul with constant weights that is operand k of an Add and can add the other operand as its
 * bias. */
static struct lite_operator *unbiased_product(struct lite *l, const struct node *node, size_t k) {
  const struct value *from = node->inputs[k], *bias = node->inputs[1 - k];
  const struct lite_value *v = &l->values[from->index];
  const struct shape *shape = &from->shape;
  int64_t count;
  if (!v->plain || v->image || l->uses[from->index] != 1 || !shape->rank) return NULL;
  if (!bias->constant || !bias->shape.rank || !shape_count(&bias->shape, &count)) return NULL;
  if (bias->shape.dims[bias->shape.rank - 1] != count || shape->dims[shape->rank - 1] != count ||
      !shape_equal(shape, &node->outputs[0]->shape))
    return NULL;
  const int64_t producer = l->tensors.at[v->plain - 1].producer;
  struct lite_operator *op = producer < 0 ? NULL : &l->operators.at[producer];
  return op && op->code == LITE_FULLY_CONNECTED && op->inputs[2] < 0 ? op : NULL;
}

static bool fuse_bias(struct lite *l, const struct node *node) {
  for (size_t k = 0; k < 2 && !l->quantiser && !l->status; k++) {
    struct lite_operator *op = unbiased_product(l, node, k);
    if (!op) continue;
    const struct shape row = {
        1, {lite_shape(l, op->outputs[0])->dims[node->outputs[0]->shape.rank - 1]}};
    op->inputs[2] = lite_reshape(l, lite_plain(l, node->inputs[1 - k]), &row);
    lite_bind(l, node, 0, op->outputs[0], false);
    return true;
  }
  return false;
}

static bool is_relu(const struct node *node, const double *bounds) {
  return is_op(node, OP_Relu) ||
         (is_op(node, OP_Clip) && bounds[0] == 0 && bounds[1] >= (double)3e38f);
}

static void put_clip(struct lite *l, const struct node *node, const double *bounds, bool is_image) {
  static const struct {
    double low, high;
    enum lite_code code;
  } clips[] = {{0, 6, LITE_RELU6}, {-1, 1, LITE_RELU_N1_TO_1}, {0, 1, LITE_RELU_0_TO_1}};
  int32_t x = lite_operand(l, node, 0, is_image);
  const hone_dtype dtype = lite_dtype(l, x);
  for (size_t i = 0; i < COUNT(clips); i++)
    if ((dtype == HONE_F32 || l->quantiser) && bounds[0] == clips[i].low &&
        bounds[1] == clips[i].high) {
      lite_bind(l, node, 0, lite_unary(l, clips[i].code, x), is_image);
      return;
    }
  if (bounds[0] > (double)-3e38f)
    x = lite_binary(l, LITE_MAXIMUM, x, lite_number(l, dtype, bounds[0]));
  if (bounds[1] < (double)3e38f)
    x = lite_binary(l, LITE_MINIMUM, x, lite_number(l, dtype, bounds[1]));
  lite_bind(l, node, 0, x, is_image);
}

/* relu6(x + by) / 6: a HardSigmoid with the usual slope. */
static int32_t sixth_of_relu6(struct lite *l, int32_t x, double by) {
  const int32_t y = lite_binary(l, LITE_ADD, x, lite_number(l, HONE_F32, by));
  (void)lite_fuse(l, y, LITE_FUSED_RELU6); /* the sum is new, so it has no activation yet */
  return lite_binary(l, LITE_MUL, y, lite_number(l, HONE_F32, 1.0 / 6));
}

/* Operators with options of their own. */
static bool put_special(struct lite *l, const struct node *node, const double *parameters,
                        bool is_image) {
  const int32_t x = lite_operand(l, node, 0, is_image);
  const hone_dtype dtype = lite_dtype(l, x);
  if (is_op(node, OP_LeakyRelu))
    lite_bind(l, node, 0,
              lite_put(l, LITE_LEAKY_RELU, LITE_INPUTS(x),
                       LITE_OPTIONS({0, FLAT_FLOAT, parameters[0]}), dtype, lite_shape(l, x)),
              is_image);
  else if (is_op(node, OP_Gelu))
    lite_bind(l, node, 0,
              lite_put(l, LITE_GELU, LITE_INPUTS(x),
                       LITE_OPTIONS({0, FLAT_BYTE, parameters[0] != 0}), dtype, lite_shape(l, x)),
              is_image);
  else if (is_op(node, OP_HardSigmoid) && fabs(6 * parameters[0] - 1) < 1e-6)
    lite_bind(l, node, 0, sixth_of_relu6(l, x, 6 * parameters[1]), is_image);
  else if (is_op(node, OP_Elu) && parameters[0] == 1)
    lite_bind(l, node, 0, lite_unary(l, LITE_ELU, x), is_image);
  else if (is_op(node, OP_Swish) && parameters[0] == 1)
    lite_bind(l, node, 0, lite_binary(l, LITE_MUL, x, lite_unary(l, LITE_LOGISTIC, x)), is_image);
  else
    return false;
  return true;
}

static const struct same *same_of(const struct node *node, hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(sames); i++)
    if (is_op(node, sames[i].op))
      return sames[i].floats_only && dtype != HONE_F32 ? NULL : &sames[i];
  return NULL;
}

void lite_elementwise(struct lite *l, const struct node *node) {
  const size_t operands = elementwise_operands(node);
  double parameters[2] = {node->op->alpha, node->op->beta};
  int32_t xyz[3] = {0}, y;
  if (!operands || (operands > 3 && !is_variadic(node->op)))
    return lite_refuse(l, node, "without a rule");
  if (!elementwise_parameters(node, &parameters[0], &parameters[1]))
    return lite_refuse(l, node, "with computed parameters");
  const bool is_image = lite_follows_images(l, node, operands);
  if (is_relu(node, parameters) && fuse_activation(l, node, LITE_FUSED_RELU, is_image)) return;
  if (is_op(node, OP_Clip) && parameters[0] == 0 && parameters[1] == 6 &&
      fuse_activation(l, node, LITE_FUSED_RELU6, is_image))
    return;
  if (is_op(node, OP_Clip)) return put_clip(l, node, parameters, is_image);
  if (is_op(node, OP_Add) && fuse_bias(l, node)) return;
  if (put_special(l, node, parameters, is_image)) return;
  for (size_t k = 0; k < operands && k < 3; k++) xyz[k] = lite_operand(l, node, k, is_image);
  const hone_dtype dtype = lite_dtype(l, xyz[0]);
  if (is_op(node, OP_Pow)) xyz[1] = lite_cast(l, xyz[1], dtype);
  const struct same *same = same_of(node, l->quantiser ? HONE_F32 : dtype);
  if (is_op(node, OP_Where)) {
    y = selected(l, xyz);
  } else if (is_variadic(node->op)) {
    const enum lite_code code = is_op(node, OP_Mean) ? LITE_ADD : same ? same->code : LITE_ADD;
    y = xyz[0];
    for (size_t k = 1; k < operands; k++)
      y = lite_binary(l, code, y, lite_operand(l, node, k, is_image));
    if (is_op(node, OP_Mean))
      y = lite_binary(l, LITE_MUL, y, lite_number(l, dtype, 1 / (double)operands));
  } else if (same) {
    y = operands == 1 ? lite_unary(l, same->code, xyz[0])
                      : lite_binary(l, same->code, xyz[0], xyz[1]);
  } else if (dtype == HONE_F32) {
    y = run_expression(l, node, xyz, parameters);
  } else {
    return lite_refuse(l, node, "of a type other than f32, without a rule");
  }
  lite_bind(l, node, 0, y, is_image);
}
