/* lower-composites: replaces operators without a kernel (Attention, Einsum) by operators that have
 * one.
 */
#include "rewrite.h"

static hone_status visit(struct rewrite *r, struct node *node) {
  struct value *results[8];
  bool done;
  if (node->output_count > COUNT(results)) return HONE_OK;
  TRY(node_lower(r->ctx, r->graph, node, results, &done));
  if (!done) return HONE_OK;
  for (size_t k = 0; k < node->output_count; k++)
    if (node->outputs[k]) TRY(rewrite_replace(r, node->outputs[k], results[k]));
  return HONE_OK;
}

/* needs: shapes. keeps: order, shapes. breaks: uses. */
hone_status pass_lower_composites(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return rewrite_nodes(ctx, graph, visit, out_changes);
}
