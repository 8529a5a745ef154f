/* sink-reshapes: an elementwise operator after a Reshape of a contraction's result moves before it,
 * so that it can be fused into the contraction. Operands are reshaped along if they have one
 * element, or extend along whole dimensions that the Reshape keeps together (a bias of the columns,
 * a residual).
 *
 * y = Reshape(MatMulInteger(a, w) ..)            u = Erf(MatMulInteger(a, w) ..)
 * z = Erf(y)                               ->    z = Reshape(u)
 *
 * After an Expand it moves too, if its other operands have one element: it is then computed before
 * results are repeated.
 */
#include "rewrite.h"

enum { LONGEST_CHAIN = 16, MOST_OPERANDS = 8 };

static bool is_product(const struct node *node) {
  switch (node->op->id) {
    case OP_Conv:
    case OP_ConvInteger:
    case OP_ConvTranspose:
    case OP_Gemm:
    case OP_MatMul:
    case OP_MatMulInteger:
    case OP_MatMulWeights:
      return true;
    default:
      return false;
  }
}

/* By a contraction and elementwise operators after it, with its shape. */
static bool is_made_by_product(const struct value *value) {
  for (int steps = 0; steps < LONGEST_CHAIN; steps++) {
    const struct node *node = value->producer;
    const struct value *before = NULL;
    if (!node || is_product(node)) return node != NULL;
    if (node->op->class != OP_ELEMENTWISE) return false;
    for (size_t k = 0; k < elementwise_operands(node) && !before; k++) {
      const struct node *maker = node->inputs[k]->producer;
      if (maker && (maker->op->class == OP_ELEMENTWISE || is_product(maker)) &&
          shape_equal(&node->inputs[k]->shape, &value->shape))
        before = node->inputs[k];
    }
    if (!before) return false;
    value = before;
  }
  return false;
}

/* The Reshape that makes the value; NULL: none, or with dynamic sizes. */
static const struct node *reshape_of(const struct value *value) {
  const struct node *node = value->producer;
  if (!node || !is_shape_op(node) || value_is_open(value) || value_is_open(node->inputs[0]))
    return NULL;
  return node;
}

static int64_t dim_or_1(const struct shape *shape, int d) { return d < 0 ? 1 : shape->dims[d]; }

/* The shape of an operand that broadcasts to `from`, after reshaping to `to` (the same elements
   in order). False: it extends along only a part of a group of dimensions. */
static bool regroup(const struct shape *operand, const struct shape *from, const struct shape *to,
                    struct shape *out) {
  const int shift = from->rank - operand->rank;
  *out = *to;
  for (int i = 0, j = 0; i < from->rank || j < to->rank;) {
    const int first = j;
    int64_t a = 1, b = 1;
    bool is_whole = true, is_one = true;
    do { /* the smallest groups of dimensions of equal size */
      const bool takes_from = i < from->rank && (j == to->rank || a <= b);
      if (!takes_from && j == to->rank) return false;
      if (takes_from) {
        const int64_t d = dim_or_1(operand, i - shift);
        is_whole &= d == from->dims[i];
        is_one &= d == 1;
        a *= from->dims[i++];
      } else {
        b *= to->dims[j++];
      }
    } while (a != b);
    if (!is_whole && !is_one) return false;
    for (int d = first; d < j && !is_whole; d++) out->dims[d] = 1;
  }
  return true;
}

/* Equal except for leading dimensions of 1. */
static bool broadcasts_alike(const struct shape *a, const struct shape *b) {
  const int rank = a->rank > b->rank ? a->rank : b->rank;
  for (int d = 1; d <= rank; d++)
    if (dim_or_1(a, a->rank - d) != dim_or_1(b, b->rank - d)) return false;
  return true;
}

/* The inputs of the elementwise node when placed before a Reshape of `x`. */
struct sunk {
  const struct value *x;
  struct value *inputs[MOST_OPERANDS];
  struct shape shapes[MOST_OPERANDS]; /* that inputs still need */
};

static bool sink_operand(const struct node *node, size_t k, struct sunk *out) {
  struct value *value = node->inputs[k];
  const struct node *reshape = reshape_of(value);
  const struct shape *y = &node->outputs[0]->shape;
  out->inputs[k] = value;
  out->shapes[k] = value->shape;
  if (k >= elementwise_operands(node)) return true; /* bounds of a Clip */
  if (reshape && shape_equal(&value->shape, y) &&
      shape_equal(&reshape->inputs[0]->shape, &out->x->shape)) {
    out->inputs[k] = reshape->inputs[0];
    out->shapes[k] = out->x->shape;
    return true;
  }
  /* moving it would take it from another contraction's results */
  if (shape_equal(&value->shape, y) && is_made_by_product(value)) return false;
  if (!regroup(&value->shape, y, &out->x->shape, &out->shapes[k])) return false;
  if (value->shape.rank <= out->x->shape.rank && broadcasts_alike(&value->shape, &out->shapes[k]))
    out->shapes[k] = value->shape;
  return true;
}

static bool find_operands(const struct node *node, struct sunk *out) {
  const struct value *y = node->outputs[0];
  int64_t elements;
  *out = (struct sunk){0};
  if (!shape_count(&y->shape, &elements) || !elements) return false;
  for (size_t k = 0; k < elementwise_operands(node); k++) {
    const struct node *reshape = node->inputs[k] ? reshape_of(node->inputs[k]) : NULL;
    if (!node->inputs[k] || value_is_open(node->inputs[k])) return false;
    if (!out->x && reshape && shape_equal(&node->inputs[k]->shape, &y->shape) &&
        is_made_by_product(reshape->inputs[0]))
      out->x = reshape->inputs[0];
  }
  for (size_t k = 0; out->x && k < node->input_count; k++)
    if (node->inputs[k] && !sink_operand(node, k, out)) return false;
  return out->x != NULL;
}

static bool is_single(const struct value *value) {
  int64_t count;
  return !value || (!value_is_open(value) && shape_count(&value->shape, &count) && count == 1);
}

/* The Expand, operand *out_k, that alone determines the result's shape; NULL: none. */
static const struct node *expand_of(const struct node *node, size_t *out_k) {
  const struct node *expand = NULL;
  for (size_t k = 0; k < node->input_count; k++) {
    const struct value *x = node->inputs[k];
    const struct node *maker = x && !expand ? producer_of(x, OP_Expand) : NULL;
    if (maker && !value_is_open(x) && !value_is_open(maker->inputs[0]) &&
        shape_equal(&x->shape, &node->outputs[0]->shape) &&
        !shape_equal(&x->shape, &maker->inputs[0]->shape)) {
      expand = maker;
      *out_k = k;
    } else if (!is_single(x)) {
      return NULL;
    }
  }
  return expand;
}

static hone_status sink_expand(struct rewrite *r, struct node *node, const struct node *expand,
                               size_t k) {
  struct value *inputs[MOST_OPERANDS];
  memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
  inputs[k] = expand->inputs[0];
  struct value *y = x_like(r->b, node, node->op->id, inputs, node->input_count);
  return rewrite_replace(r, node->outputs[0], x_2(r->b, OP_Expand, y, expand->inputs[1]));
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct sunk sunk;
  size_t k_expand = 0;
  if (node->op->class != OP_ELEMENTWISE || node->output_count != 1 || !node->outputs[0] ||
      node->input_count > MOST_OPERANDS || !is_pure(node))
    return HONE_OK;
  const struct node *expand = expand_of(node, &k_expand);
  if (expand) return sink_expand(r, node, expand, k_expand);
  if (!find_operands(node, &sunk)) return HONE_OK;
  for (size_t k = 0; k < node->input_count; k++) {
    struct value *input = sunk.inputs[k];
    if (input && !shape_equal(&input->shape, &sunk.shapes[k]))
      sunk.inputs[k] = x_reshape(r->b, input, sunk.shapes[k].dims, sunk.shapes[k].rank);
  }
  const struct shape *shape = &node->outputs[0]->shape;
  struct value *y = x_like(r->b, node, node->op->id, sunk.inputs, node->input_count);
  return rewrite_replace(r, node->outputs[0], x_reshape(r->b, y, shape->dims, shape->rank));
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_sink_reshapes(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
