/* Cross-layer equalisation (M. Nagel et al., ICCV 2019, section 4.1): between two convolutions with
 * only a Relu between them, channel i of the first may be divided by s_i if the second multiplies
 * by it. With s_i = sqrt(r1_i / r2_i), r the largest weight of the channel, both have the same
 * range, and one scale for all channels of the activation loses less.
 */
#include "quantise_internal.h"

#include <math.h>

struct pair {
  struct node *first, *second;
  struct weight_layout a, b;
};

static bool find_pair(const struct graph *graph, const uint32_t *uses, struct node *second,
                      struct pair *out) {
  struct value *x = second->inputs[0];
  if (!is_op(second, OP_Conv) || !second->inputs[1]->constant || x->dtype != HONE_F32) return false;
  for (int step = 0; step < 2; step++) {
    if (!x->producer || x->is_output || uses[x->index] != 1 || !graph_owns(graph, x)) return false;
    if (!is_op(x->producer, OP_Relu)) break;
    x = x->producer->inputs[0];
  }
  struct node *first = x->producer;
  if (!first || x->is_output || uses[x->index] != 1 || !is_op(first, OP_Conv)) return false;
  const struct value *bias = node_input(first, 2);
  if (!first->inputs[1]->constant || (bias && (!bias->constant || uses[bias->index] != 1)))
    return false;
  if (uses[first->inputs[1]->index] != 1 || uses[second->inputs[1]->index] != 1) return false;
  *out = (struct pair){.first = first, .second = second};
  weight_layout(first, &out->a);
  weight_layout(second, &out->b);
  return out->a.outputs == out->b.inputs * out->b.groups;
}

static void largest(const struct node *node, const struct weight_layout *l, bool of_inputs,
                    double *out) {
  const struct tensor *w = node->inputs[1]->constant;
  for (size_t i = 0; i < tensor_count(w); i++) {
    double *at = &out[of_inputs ? weight_input(l, i) : weight_output(l, i)];
    *at = fmax(*at, fabs(tensor_f64(w, i)));
  }
}

/* Replaces the value by a changed copy: payloads are shared with other copies of the graph. */
static hone_status scaled_copy(struct ctx *ctx, struct graph *graph, struct value *value,
                               const struct weight_layout *l, bool of_inputs, const double *by,
                               bool divides) {
  struct tensor *tensor;
  TRY(tensor_copy(ctx, graph->arena, value->constant, &tensor));
  for (size_t i = 0; i < tensor_count(tensor); i++) {
    const double s = by[!l ? i : of_inputs ? weight_input(l, i) : weight_output(l, i)];
    const double x = tensor_f64(tensor, i);
    tensor_set_f64(tensor, i, divides ? x / s : x * s);
  }
  value->constant = tensor;
  return HONE_OK;
}

static hone_status balance(struct ctx *ctx, struct graph *graph, struct pair *p) {
  double *r1, *r2;
  TRY(NEW_ARRAY(ctx, graph->arena, r1, p->a.outputs));
  TRY(NEW_ARRAY(ctx, graph->arena, r2, p->a.outputs));
  largest(p->first, &p->a, false, r1);
  largest(p->second, &p->b, true, r2);
  for (size_t c = 0; c < p->a.outputs; c++) /* a dead channel stays unchanged */
    r1[c] = r1[c] > 1e-12 && r2[c] > 1e-12 ? fmin(1e4, fmax(1e-4, sqrt(r1[c] / r2[c]))) : 1;
  TRY(scaled_copy(ctx, graph, p->first->inputs[1], &p->a, false, r1, true));
  struct value *bias = node_input(p->first, 2);
  if (bias) TRY(scaled_copy(ctx, graph, bias, NULL, false, r1, true));
  return scaled_copy(ctx, graph, p->second->inputs[1], &p->b, true, r1, false);
}

hone_status equalise(struct ctx *ctx, struct graph *graph, size_t *out_pairs) {
  uint32_t *uses;
  *out_pairs = 0;
  TRY(graph_uses(ctx, graph->arena, graph, &uses));
  for (size_t n = 0; n < graph->nodes.count; n++) {
    struct pair pair;
    if (!find_pair(graph, uses, graph->nodes.at[n], &pair)) continue;
    TRY(balance(ctx, graph, &pair));
    (*out_pairs)++;
  }
  return HONE_OK;
}
