/* Operators that need the actual size of a dynamic dimension: expanded into others that read it
 * (core/ops/composites/sizes.c); recurrent operators get the length of their sequences; constants of
 * which a part is read from a moving start are copied. Not in the pipeline: it needs the slopes of
 * dimensions, which are found after all passes.
 */
#include "rewrite.h"

static hone_status give_lengths(struct rewrite *r, struct node *node) {
  enum { LENGTHS = 4 };
  const struct value *x = node->inputs[0];
  const int batch_first = node_int(node, "layout", 0) != 0;
  const struct shape batch = {1, {x->shape.dims[!batch_first]}};
  struct value **inputs;
  if (node_input(node, LENGTHS) || !x->slope || slope_is_zero(&x->slope[batch_first]))
    return HONE_OK;
  const size_t count = node->input_count > LENGTHS ? node->input_count : LENGTHS + 1;
  TRY(NEW_ARRAY(r->ctx, r->graph->arena, inputs, count));
  memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
  TRY(graph_sized(r->ctx, r->graph, HONE_I32, &batch, x->shape.dims[batch_first],
                  &x->slope[batch_first], &inputs[LENGTHS]));
  node->inputs = inputs;
  node->input_count = count;
  return HONE_OK;
}

/* A window whose start depends on sizes, read by an operator that needs its first element at a fixed
   place. */
static hone_status copy_window(struct rewrite *r, struct value *x, struct value **out) {
  int d = 0;
  while (d + 1 < x->shape.rank && slope_is_zero(&x->slope[d])) d++;
  x_with_int(r->b, "axis", d);
  BUILD(r->b, *out = x_1(r->b, OP_Concat, x)); /* x_concat would return x */
  (*out)->slope = x->slope;
  return HONE_OK;
}

static hone_status copy_windows(struct rewrite *r, struct node *node) {
  if (node->op->class == OP_ELEMENTWISE || is_op(node, OP_Concat)) return HONE_OK;
  for (size_t k = 0; k < node->input_count; k++)
    if (node->inputs[k] && node->inputs[k]->constant && node->inputs[k]->begin)
      TRY(copy_window(r, node->inputs[k], &node->inputs[k]));
  return HONE_OK;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  struct value *results[16];
  bool done;
  TRY(copy_windows(r, node));
  if (node->op->class == OP_RECURRENT) return give_lengths(r, node);
  if (node->output_count > COUNT(results)) return HONE_OK;
  TRY(node_expand_sized(r->ctx, r->graph, node, results, &done));
  for (size_t k = 0; done && k < node->output_count; k++)
    if (node->outputs[k]) TRY(rewrite_replace(r, node->outputs[k], results[k]));
  return HONE_OK;
}

hone_status lower_open_sizes(struct ctx *ctx, struct graph *graph) {
  struct graph_list graphs;
  size_t changes = 0;
  TRY(graph_nested(ctx, graph->arena, graph, &graphs));
  for (size_t g = graphs.count; g-- > 0;) TRY(rewrite_nodes(ctx, graphs.at[g], visit, &changes));
  return HONE_OK;
}
