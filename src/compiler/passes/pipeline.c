/* The ordered list of passes, with the reason for each place. */
#include "rewrite.h"

const struct pass pass_pipeline[] = {
    {"lower-composites", pass_lower_composites, PASS_REQUIRED,
     "first of all: no kernel knows them, and what they become is improved like anything else; "
     "before widen-types, since it computes in f32 throughout where it can"},
    {"unsign-bytes", pass_unsign_bytes, PASS_OPTIONAL,
     "before lower-quantised, which makes arithmetic of zero points"},
    {"lower-quantised", pass_lower_quantised, PASS_OPTIONAL,
     "before fold-constants, which would make floats of quantised weights"},
    {"keep-weights", pass_keep_weights, PASS_OPTIONAL,
     "likewise; after the pass that makes integer products of what it can"},
    {"widen-types", pass_widen_types, PASS_REQUIRED,
     "kernels compute in no type below 32 bits: casts around what does; before folding, which "
     "turns "
     "weights over"},
    {"lower-channel-norms", pass_lower_channel_norms, PASS_OPTIONAL,
     "after widen-types, which makes floats of their operands, and before fold-constants, which "
     "makes constants of their "
     "shapes"},
    {"fold-constants", pass_fold_constants, PASS_OPTIONAL,
     "early: what depends on constants alone should not hide patterns from the others"},
    {"lower-byte-sums", pass_lower_byte_sums, PASS_OPTIONAL,
     "after fold-constants, too, and before lower-fixed-point, which takes Requantize apart"},
    {"lower-fixed-point", pass_lower_fixed_point, PASS_OPTIONAL,
     "after fold-constants, which makes constants of turned weights"},
    {"fold-identity", pass_fold_identity, PASS_OPTIONAL,
     "nodes that do nothing stand between those that match"},
    {"place-slabs", pass_place_slabs, PASS_OPTIONAL,
     "after fold-constants, which makes constants of places"},
    {"eliminate-common-subexpressions", pass_eliminate_common_subexpressions, PASS_OPTIONAL,
     "exporters repeat themselves; patterns ask for values that are used once"},
    {"eliminate-dead-code", pass_eliminate_dead_code, PASS_OPTIONAL,
     "what is not used needs no better form"},
    {"recognise-layernorm", pass_recognise_layernorm, PASS_OPTIONAL,
     "before reduce-strength, which would change its Pow and Div"},
    {"reduce-strength", pass_reduce_strength, PASS_OPTIONAL,
     "what the plan fuses, it fuses in the cheaper form"},
    {"normalise-gemm", pass_normalise_gemm, PASS_OPTIONAL,
     "the kernels know no alpha, beta or matrix C; before fold-batchnorm, which asks for the plain "
     "form"},
    {"fold-batchnorm", pass_fold_batchnorm, PASS_OPTIONAL,
     "into the weights in front; what has none becomes Mul and Add, which the plan fuses"},
    {"crop-kernels", pass_crop_kernels, PASS_OPTIONAL,
     "after fold-constants and fold-batchnorm, so that weights are cut once"},
    {"lower-volumes", pass_lower_volumes, PASS_OPTIONAL,
     "after crop-kernels, which may leave one plane; before the passes that move what it adds"},
    {"repeat-channels", pass_repeat_channels, PASS_OPTIONAL,
     "after lower-volumes, whose images may be such"},
    {"cancel-transposes-of-volumes", pass_cancel_transposes, PASS_OPTIONAL,
     "before sink-reshapes, which finds what is added behind a convolution without them"},
    {"widen-gemm", pass_widen_gemm, PASS_OPTIONAL,
     "after the two above, which know Gemm; before merge-reshapes, which takes its Reshape away"},
    {"sink-reshapes", pass_sink_reshapes, PASS_OPTIONAL,
     "before merge-reshapes, which joins what sinks with the Reshape that follows"},
    {"merge-reshapes", pass_merge_reshapes, PASS_OPTIONAL, "one view instead of several"},
    {"cancel-transposes", pass_cancel_transposes, PASS_OPTIONAL,
     "after merge-reshapes, which removes what stood between two of them"},
    {"fold-constants-again", pass_fold_constants, PASS_OPTIONAL,
     "weights behind a moved Transpose or Mul"},
    {"lower-byte-tables", pass_lower_byte_tables, PASS_OPTIONAL,
     "late: what is cheaper said in another way is said so by now, and constants are constants"},
    {"fuse-edges", pass_fuse_edges, PASS_OPTIONAL, "last: places and weights are constants by now"},
};
const size_t pass_count = COUNT(pass_pipeline);

/* Not of the pipeline: the plan makes as much of what they replace. */
const struct pass export_passes[] = {
    {"recognise-gelu", pass_recognise_gelu, PASS_OPTIONAL,
     "engines have a kernel for it; the plan fuses its operators as well as the one"},
    {"move-bytes", pass_move_bytes, PASS_OPTIONAL,
     "quantised operators as dequantised, float, quantised ones, with bytes between them"},
    {"sign-bytes", pass_sign_bytes, PASS_OPTIONAL, "integer kernels of TFLite know i8 alone"},
    {"fold-but-weights", pass_fold_but_weights, PASS_OPTIONAL,
     "fold-constants, but for the bytes that integer kernels take"},
    {"fold-all-constants", pass_fold_all_constants, PASS_OPTIONAL,
     "fold-constants, and weights that the plan packs turned"},
};
const size_t export_pass_count = COUNT(export_passes);

const struct pass *pass_find(const char *name) {
  for (size_t i = 0; i < pass_count; i++)
    if (!strcmp(pass_pipeline[i].name, name)) return &pass_pipeline[i];
  return NULL;
}

const struct pass *export_pass_find(const char *name) {
  for (size_t i = 0; i < export_pass_count; i++)
    if (!strcmp(export_passes[i].name, name)) return &export_passes[i];
  return pass_find(name);
}

/* The graph and the bodies in it, inner ones first: what they no longer read, the outer can drop. */
static hone_status run_everywhere(struct ctx *ctx, struct graph *graph, const struct pass *pass,
                                  size_t *out_changes) {
  struct graph_list graphs;
  TRY(graph_nested(ctx, graph->arena, graph, &graphs));
  for (size_t g = graphs.count; g-- > 0;) {
    size_t changes = 0;
    if (!graphs.at[g]->impossible) TRY(pass->run(ctx, graphs.at[g], &changes));
    *out_changes += changes;
  }
  return HONE_OK;
}

hone_status passes_run(struct ctx *ctx, struct graph *graph,
                       const struct pipeline_options *options) {
  for (size_t i = 0; i < pass_count; i++) {
    const struct pass *pass = &pass_pipeline[i];
    size_t changes = 0;
    if (options->required_only && pass->need != PASS_REQUIRED) continue;
    TRY(run_everywhere(ctx, graph, pass, &changes));
    if (options->after) TRY(options->after(options->user, ctx, pass, graph, changes));
    if (options->stop_after && !strcmp(options->stop_after, pass->name)) break;
  }
  return HONE_OK;
}

hone_status passes_run_named(struct ctx *ctx, struct graph *graph, const char *const *names) {
  for (; *names; names++) {
    const struct pass *pass = export_pass_find(*names);
    size_t changes = 0;
    if (!pass) return fail(ctx, HONE_E_INTERNAL, place_name(*names), "no such pass");
    TRY(run_everywhere(ctx, graph, pass, &changes));
  }
  return HONE_OK;
}
