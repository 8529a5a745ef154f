/* reduce-strength: squares and cubes become products, a division by a
 * constant becomes a product where the reciprocal is a normal number (at most one ulp apart; exact
 * for powers of two). Floats only. */
#include "rewrite.h"

#include <math.h>

static hone_status finish(struct rewrite *r, struct node *old, struct node *made) {
  TRY(node_infer(r->ctx, r->graph, made));
  return rewrite_replace(r, old->outputs[0], made->outputs[0]);
}

static hone_status reduce_power(struct rewrite *r, struct node *node, double exponent) {
  struct value *x = node->inputs[0];
  struct node *made;
  TRY(rewrite_node(r, OP_Mul, (struct value *[]){x, x}, 2, &made));
  if (exponent == 3) {
    TRY(node_infer(r->ctx, r->graph, made));
    TRY(rewrite_node(r, OP_Mul, (struct value *[]){made->outputs[0], x}, 2, &made));
  }
  return finish(r, node, made);
}

static hone_status reduce_division(struct rewrite *r, struct node *node, double divisor) {
  struct value *factor;
  struct node *made;
  float reciprocal = (float)(1 / divisor);
  if (node->inputs[0]->dtype != HONE_F32 || !isnormal(reciprocal)) return HONE_OK;
  TRY(rewrite_constant(r, HONE_F32, &node->inputs[1]->shape, &factor));
  tensor_set_f64(factor->constant, 0, (double)reciprocal);
  TRY(rewrite_node(r, OP_Mul, (struct value *[]){node->inputs[0], factor}, 2, &made));
  return finish(r, node, made);
}

static hone_status visit(struct rewrite *r, struct node *node) {
  double y;
  if (!is_op(node, OP_Pow) && !is_op(node, OP_Div)) return HONE_OK;
  if (!dtype_is_float(node->inputs[0]->dtype) || !constant_scalar(node->inputs[1], &y))
    return HONE_OK;
  /* a constant of higher rank than x would change the result's shape */
  if (!shape_equal(&node->inputs[0]->shape, &node->outputs[0]->shape)) return HONE_OK;
  if (is_op(node, OP_Div)) return reduce_division(r, node, y);
  if (y == 2 || y == 3) return reduce_power(r, node, y);
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_reduce_strength(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
