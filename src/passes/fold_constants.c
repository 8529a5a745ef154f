/* fold-constants: nodes whose inputs are all constants are evaluated by the reference. What would
 * only blow a small constant up (Expand, Tile, ConstantOfShape) stays: computing it is as cheap as
 * reading it. */
#include "rewrite.h"

enum { ALWAYS_FOLDED_BYTES = 64 << 10, LARGEST_GROWTH = 4 };

static size_t bytes_of(const struct value *value) {
  int64_t elements;
  if (!value || !value->has_shape || !shape_count(&value->shape, &elements)) return 0;
  return (size_t)elements * dtype_bits(value->dtype) / 8;
}

static bool is_worth_it(const struct node *node) {
  size_t in = 0, out = 0;
  for (size_t i = 0; i < node->input_count; i++) in += bytes_of(node->inputs[i]);
  for (size_t o = 0; o < node->output_count; o++) out += bytes_of(node->outputs[o]);
  return out <= ALWAYS_FOLDED_BYTES || out / LARGEST_GROWTH <= in;
}

static hone_status visit(struct rewrite *r, struct node *node) {
  bool folded = false;
  if (is_pure(node) && is_worth_it(node)) TRY(node_fold(r->ctx, r->graph, node, &folded));
  r->changes += folded;
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_fold_constants(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
