/* lower: expands operators that have their own evaluation, for callers without a kernel for
 * them. */
#include "expand.h"

/* -- Sum, Max, Min and Mean of more operands than one loop reads */

enum { LOOP_READS = 16 };

static bool is_long_list(const struct node *node) {
  return node->op->class == OP_ELEMENTWISE && node->op->max_inputs < 0 &&
         node->input_count > LOOP_READS;
}

static void expand_long_list(struct graph_builder *e) {
  enum op_id op = is_op(e->node, OP_Mean) ? OP_Sum : e->node->op->id;
  size_t count = e->node->input_count;
  struct value *group[LOOP_READS], *y = x_in(e, 0);
  for (size_t k = 1; k < count && !e->status;) {
    size_t n = 1;
    for (group[0] = y; n < LOOP_READS && k < count; n++) group[n] = x_in(e, k++);
    y = x_op(e, op, group, n);
  }
  if (is_op(e->node, OP_Mean)) y = x_by(e, OP_Div, y, (double)count);
  x_out(e, 0, y);
}

expand_fn *expand_evaluated_find(const struct node *node) {
  switch (node->op->id) {
    case OP_Attention:
      return expand_attention;
    case OP_Einsum:
      return expand_einsum;
    case OP_DynamicQuantizeLinear:
      return expand_dynamic_quantize;
    case OP_ArrayFeatureExtractor:
      return expand_array_feature_extractor;
    case OP_TreeEnsembleClassifier:
      return expand_tree_classifier;
    case OP_TreeEnsembleRegressor:
      return expand_tree_regressor;
    default:
      return is_long_list(node) ? expand_long_list : NULL;
  }
}

/* expand NULL: the operator cannot be expressed in others. */
static hone_status expand_by(struct ctx *ctx, struct graph *graph, const struct node *node,
                             expand_fn *expand, struct value **out_results, bool *out_done) {
  struct graph_builder e;
  *out_done = expand != NULL;
  if (!expand) return HONE_OK;
  TRY(expand_node(ctx, graph, node, expand, &e));
  for (size_t k = 0; k < node->output_count; k++)
    out_results[k] = node->outputs[k] ? e.results[k] : NULL;
  return HONE_OK;
}

hone_status node_lower(struct ctx *ctx, struct graph *graph, const struct node *node,
                       struct value **out_results, bool *out_done) {
  return expand_by(ctx, graph, node, expand_evaluated_find(node), out_results, out_done);
}

hone_status node_expand(struct ctx *ctx, struct graph *graph, const struct node *node,
                        struct value **out_results, bool *out_done) {
  return expand_by(ctx, graph, node, expand_find(node), out_results, out_done);
}

hone_status node_expand_sized(struct ctx *ctx, struct graph *graph, const struct node *node,
                              struct value **out_results, bool *out_done) {
  TRY(expand_by(ctx, graph, node, expand_sized_find(node), out_results, out_done));
  for (size_t k = 0; *out_done && k < node->output_count; k++)
    if (node->outputs[k]) out_results[k]->slope = node->outputs[k]->slope;
  return HONE_OK;
}
