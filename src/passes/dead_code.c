/* eliminate-dead-code: nodes and values that no output needs. */
#include "rewrite.h"

/* needs: nothing. keeps: order, shapes. breaks: value indices. */
hone_status pass_eliminate_dead_code(struct ctx *ctx, struct graph *graph,
                                     const struct pass_env *env, size_t *out_changes) {
  (void)env;
  return graph_sweep(ctx, graph, out_changes);
}
