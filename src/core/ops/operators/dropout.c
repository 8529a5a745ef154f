/* dropout: the inference form: the input itself and an all-true mask. */
#include "core/ops/ops_internal.h"

hone_status infer_dropout(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *training = node_input(node, 2);
  const struct tensor *flag = training ? training->constant : NULL;
  bool is_inference = flag && tensor_count(flag) == 1 && tensor_i64(flag, 0) == 0;
  if (training && !is_inference)
    return fail(
        ctx, HONE_E_UNSUP, node_place(node),
        "training_mode (input 2) of Dropout must be a constant: it is known only at run time");
  TRY(set_output_like(ctx, node, 0, 0));
  return set_output(ctx, node, 1, HONE_BOOL, &node->inputs[0]->shape);
}

hone_status eval_dropout(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  (void)ctx, (void)scratch;
  if (out[0] && in[0]->bytes > 0) memcpy(tensor_data(out[0]), in[0]->data, in[0]->bytes);
  if (node->output_count > 1 && out[1] && out[1]->bytes > 0)
    memset(tensor_data(out[1]), 1, out[1]->bytes);
  return HONE_OK;
}
