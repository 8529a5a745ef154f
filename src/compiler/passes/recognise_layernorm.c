/* recognise-layernorm: the operators that exporters write for layer normalisation, d = x - mean(x);
 * y = d / sqrt(mean(d * d) + epsilon) * scale + bias (or d times the inverse root) over the last
 * axes, become LayerNormalization (Ba et al. 2016), with Mul and Add if their constants fit.
 */
#include "rewrite.h"

/* ReduceMean over the last axes, kept with size 1; the first of these axes. */
static bool last_axes(const struct node *node, int *out_axis) {
  int rank = node->inputs[0]->shape.rank;
  const struct shape *y = &node->outputs[0]->shape, *x = &node->inputs[0]->shape;
  if (!node_int(node, "keepdims", 1) || y->rank != rank || !rank) return false;
  int axis = rank;
  while (axis > 0 && y->dims[axis - 1] == 1 && x->dims[axis - 1] != 1) axis--;
  for (int i = 0; i < axis; i++)
    if (y->dims[i] != x->dims[i]) return false;
  *out_axis = axis;
  return axis < rank;
}

static const struct value *other_input(const struct node *node, double *scalar) {
  if (constant_scalar(node->inputs[1], scalar)) return node->inputs[0];
  if (constant_scalar(node->inputs[0], scalar)) return node->inputs[1];
  return NULL;
}

static bool is_square_of(const struct value *value, const struct value *d) {
  const struct node *pow = producer_of(value, OP_Pow), *mul = producer_of(value, OP_Mul);
  double exponent;
  if (pow)
    return pow->inputs[0] == d && constant_scalar(pow->inputs[1], &exponent) && exponent == 2;
  return mul && mul->inputs[0] == d && mul->inputs[1] == d;
}

struct match {
  struct value *x;
  double epsilon;
  int axis;
};

/* The root by which d is divided, or by whose inverse it is multiplied; no other reader. */
static const struct node *root_of(const struct rewrite *r, const struct node *node,
                                  const struct value **d) {
  if (is_op(node, OP_Div)) {
    *d = node->inputs[0];
    return rewrite_single_use(r, node->inputs[1]) ? producer_of(node->inputs[1], OP_Sqrt) : NULL;
  }
  for (size_t k = 0; k < 2; k++) {
    const struct node *inverse = producer_of(node->inputs[k], OP_Reciprocal);
    if (!inverse || !rewrite_single_use(r, node->inputs[k])) continue;
    *d = node->inputs[1 - k];
    return rewrite_single_use(r, inverse->inputs[0]) ? producer_of(inverse->inputs[0], OP_Sqrt)
                                                     : NULL;
  }
  return NULL;
}

/* d / sqrt(mean(d^2) + epsilon) with d = x - mean(x); intermediate values have no other readers. */
static bool match_core(const struct rewrite *r, const struct node *div, struct match *m) {
  int axis;
  const struct value *d = NULL;
  const struct node *root = root_of(r, div, &d), *sub = producer_of(d, OP_Sub);
  if (!sub || !root) return false;
  const struct node *add = producer_of(root->inputs[0], OP_Add);
  const struct value *variance = add ? other_input(add, &m->epsilon) : NULL;
  const struct node *mean_square = producer_of(variance, OP_ReduceMean);
  const struct node *mean = producer_of(sub->inputs[1], OP_ReduceMean);
  if (!mean_square || !mean || mean->inputs[0] != sub->inputs[0]) return false;
  if (!is_square_of(mean_square->inputs[0], d)) return false;
  if (!last_axes(mean, &m->axis) || !last_axes(mean_square, &axis) || axis != m->axis) return false;
  m->x = sub->inputs[0];
  return m->x->dtype == HONE_F32 && m->epsilon > 0 &&
         shape_equal(&m->x->shape, &div->outputs[0]->shape);
}

/* A constant over exactly the normalised axes. */
static bool fits(const struct value *constant, const struct match *m) {
  if (!constant || !constant->constant || constant->dtype != m->x->dtype) return false;
  int count = m->x->shape.rank - m->axis, skip = constant->shape.rank - count;
  if (skip < 0) return false;
  for (int i = 0; i < skip; i++)
    if (constant->shape.dims[i] != 1) return false;
  for (int i = 0; i < count; i++)
    if (constant->shape.dims[skip + i] != m->x->shape.dims[m->axis + i]) return false;
  return true;
}

/* Without leading dimensions of 1, as LayerNormalization requires; ones if there is none. */
static hone_status parameter(struct rewrite *r, const struct match *m, const struct value *from,
                             struct value **out) {
  struct shape shape = {.rank = m->x->shape.rank - m->axis};
  for (int i = 0; i < shape.rank; i++) shape.dims[i] = m->x->shape.dims[m->axis + i];
  if (from) {
    struct tensor *tensor;
    TRY(NEW(r->ctx, r->graph->arena, tensor));
    *tensor = *from->constant;
    tensor->shape = shape;
    return graph_constant(r->ctx, r->graph, NULL, tensor, out);
  }
  TRY(rewrite_constant(r, m->x->dtype, &shape, out));
  size_t count = tensor_count((*out)->constant);
  for (size_t i = 0; i < count; i++) tensor_set_f64((*out)->constant, i, 1);
  return HONE_OK;
}

/* Replaces `old` by a normalisation with this scale (NULL: ones) and bias (NULL: none). */
static hone_status build(struct rewrite *r, const struct node *old, const struct match *m,
                         const struct value *scale, const struct value *bias) {
  struct value *in[3] = {m->x};
  TRY(parameter(r, m, scale, &in[1]));
  if (bias) TRY(parameter(r, m, bias, &in[2]));
  return rewrite_replace(r, old->outputs[0],
                         x_args(r->b, OP_LayerNormalization, in, bias ? 3 : 2,
                                ARGS(INT_ARG("axis", m->axis), FLOAT_ARG("epsilon", m->epsilon))));
}

static bool is_ones(const struct value *value) {
  if (!value->constant || !dtype_is_float(value->dtype)) return false;
  size_t count = tensor_count(value->constant);
  for (size_t i = 0; i < count; i++)
    if (tensor_f64(value->constant, i) != 1) return false;
  return true;
}

/* One operand is a normalisation that only this node reads, the other a fitting constant. */
static struct node *match_tail(const struct rewrite *r, const struct node *node, struct match *m,
                               struct value **out_constant) {
  for (size_t k = 0; k < 2; k++) {
    struct node *norm = producer_of(node->inputs[k], OP_LayerNormalization);
    if (!norm || !rewrite_single_use(r, norm->outputs[0])) continue;
    m->x = norm->inputs[0];
    m->epsilon = node_float(norm, "epsilon", (double)1e-5f);
    m->axis = (int)node_int(norm, "axis", -1);
    if (m->axis < 0) m->axis += m->x->shape.rank;
    *out_constant = node->inputs[1 - k];
    bool is_other_output = norm->output_count > 1 && norm->outputs[1];
    /* a scale known only at run time, or one that broadcasts, is not taken; a constant of higher
       rank than x changes the result's shape */
    if (m->x->dtype == HONE_F32 && !is_other_output && fits(*out_constant, m) &&
        fits(norm->inputs[1], m) && shape_equal(&m->x->shape, &node->outputs[0]->shape))
      return norm;
  }
  return NULL;
}

/* The Div, or the first Mul, becomes a normalisation with a scale of ones; later visits of Mul
   and Add extend it. */
static hone_status visit(struct rewrite *r, struct node *node) {
  struct match m = {0};
  struct value *constant;
  if ((is_op(node, OP_Div) || is_op(node, OP_Mul)) && match_core(r, node, &m))
    return build(r, node, &m, NULL, NULL);
  if (!is_op(node, OP_Mul) && !is_op(node, OP_Add)) return HONE_OK;
  const struct node *norm = match_tail(r, node, &m, &constant);
  if (!norm || node_input(norm, 2)) return HONE_OK;
  if (is_op(node, OP_Add)) return build(r, node, &m, norm->inputs[1], constant);
  return is_ones(norm->inputs[1]) ? build(r, node, &m, constant, NULL) : HONE_OK;
}

/* needs: shapes, uses. keeps: order, shapes. breaks: uses. */
hone_status pass_recognise_layernorm(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
