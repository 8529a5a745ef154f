/* Prepares the graph for quantisation: folds what an engine's optimiser would fold, so that scales
 * belong to values that engines compute. The result contains only operators of ONNX.
 */
#include "quantise_internal.h"

hone_status prepare(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                    struct graph **out) {
  static const char *const passes[] = {"fold-all-constants", "fold-identity", "eliminate-dead-code",
                                       "fold-batchnorm", "fold-all-constants"};
  TRY(graph_copy(ctx, arena, graph, out));
  TRY(widen_halves(ctx, *out));
  for (size_t i = 0; i < COUNT(passes); i++) {
    const struct pass *pass = export_pass_find(passes[i]);
    size_t changes = 0;
    if (!pass) return fail(ctx, HONE_E_INTERNAL, place_name(passes[i]), "no such pass");
    TRY(pass->run(ctx, *out, &changes));
  }
  return graph_verify(ctx, *out);
}

hone_status quantise_nothing(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                             struct graph **out) {
  return prepare(ctx, arena, graph, out);
}
