/* eliminate-dead-code: nodes and values that no output needs. */
#include "rewrite.h"

/* needs: nothing. keeps: order, shapes. breaks: value indices. */
hone_status pass_eliminate_dead_code(struct ctx *ctx, struct graph *graph, size_t *out_changes) {
  return graph_sweep(ctx, graph, out_changes);
}
