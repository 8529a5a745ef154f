/* recognise-gelu: the forms in which exporters write the Gaussian error linear unit (Hendrycks and
 * Gimpel 2016), x / 2 * (1 + erf(x / sqrt(2))) or x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715
 * x^3))), become Gelu. Exporters order the factors in many ways, so the pass compares values: an
 * expression of x and scalar constants that equals the function at every sample.
 */
#include "rewrite.h"

#include <math.h>

enum { MOST_NODES = 16 };
/* The two forms differ by up to 4.7e-4; constants rounded to f32 change the result by less than
   1e-6. */
static const double samples[] = {-6, -3, -2.2, -1.5, -0.7, -0.1, 0, 0.05, 0.3, 1, 2, 2.5, 5};
static const double tolerance = 1e-5;

/* The nodes that make a value, readers before producers, and the value that all of them start
   from. */
struct cone {
  const struct node *at[MOST_NODES];
  size_t count;
  const struct value *x;
};

static bool is_of_a_gelu(const struct node *node) {
  static const enum op_id ops[] = {OP_Add, OP_Div, OP_Erf, OP_Mul, OP_Pow, OP_Sub, OP_Tanh};
  for (size_t i = 0; i < COUNT(ops); i++)
    if (is_op(node, ops[i])) return true;
  return false;
}

/* The operands of at[i]: scalar constants, a value without other readers, or x. */
static bool add_operands(const struct rewrite *r, struct cone *cone, size_t i) {
  const struct node *node = cone->at[i];
  double number;
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *value = node->inputs[k];
    if (constant_scalar(value, &number)) continue;
    if (!value || value->constant) return false;
    const struct node *from = value->producer;
    if (from && value != cone->x && rewrite_single_use(r, value) && is_of_a_gelu(from)) {
      if (cone->count == MOST_NODES) return false;
      cone->at[cone->count++] = from;
    } else if (cone->x && cone->x != value) {
      return false;
    } else {
      cone->x = value;
    }
  }
  return true;
}

static double apply(const struct node *node, double a, double b) {
  switch (node->op->id) {
    case OP_Add:
      return a + b;
    case OP_Sub:
      return a - b;
    case OP_Mul:
      return a * b;
    case OP_Div:
      return a / b;
    case OP_Pow:
      return pow(a, b);
    case OP_Erf:
      return erf(a);
    default:
      return tanh(a);
  }
}

static double computed(const struct cone *cone, double x) {
  double results[MOST_NODES] = {0};
  for (size_t i = cone->count; i-- > 0;) {
    const struct node *node = cone->at[i];
    double operands[2] = {0};
    for (size_t k = 0; k < node->input_count && k < 2; k++) {
      size_t from = i + 1;
      if (constant_scalar(node->inputs[k], &operands[k])) continue;
      while (from < cone->count && cone->at[from] != node->inputs[k]->producer) from++;
      operands[k] = node->inputs[k] == cone->x || from == cone->count ? x : results[from];
    }
    results[i] = apply(node, operands[0], operands[1]);
  }
  return results[0];
}

static bool is_gelu(const struct cone *cone, bool is_tanh) {
  for (size_t i = 0; i < COUNT(samples); i++) {
    const double x = samples[i];
    const double inner = is_tanh ? tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))
                                 : erf(x * 0.7071067811865476);
    if (!(fabs(computed(cone, x) - 0.5 * x * (1 + inner)) <= tolerance)) return false;
  }
  return true;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct cone cone = {.at = {node}, .count = 1};
  bool has_curve = false;
  if ((!is_op(node, OP_Mul) && !is_op(node, OP_Div)) || node->outputs[0]->dtype != HONE_F32)
    return HONE_OK;
  for (size_t i = 0; i < cone.count; i++) {
    has_curve = has_curve || is_op(cone.at[i], OP_Erf) || is_op(cone.at[i], OP_Tanh);
    if (!add_operands(r, &cone, i)) return HONE_OK;
  }
  if (!has_curve || !cone.x || !shape_equal(&cone.x->shape, &node->outputs[0]->shape))
    return HONE_OK;
  const bool is_tanh = is_gelu(&cone, true);
  if (!is_tanh && !is_gelu(&cone, false)) return HONE_OK;
  if (is_tanh) x_with_string(r->b, "approximate", "tanh");
  return rewrite_replace(r, node->outputs[0],
                         x_1(r->b, OP_Gelu, (struct value *)(uintptr_t)cone.x));
}

/* needs: shapes, uses. keeps: order, shapes. breaks: uses. */
hone_status pass_recognise_gelu(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
