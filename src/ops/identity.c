/* identity: the value itself. */
#include "ops_internal.h"

hone_status infer_identity(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  return set_output_like(ctx, node, 0, 0);
}

hone_status eval_identity(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch, (void)node;
  memcpy(tensor_data(out[0]), in[0]->data, in[0]->bytes);
  return HONE_OK;
}
