/* The ordered list of passes, with the reason for each position. */
#include "rewrite.h"

const struct pass pass_pipeline[] = {
    {"lower-composites", pass_lower_composites, PASS_REQUIRED,
     "first: no kernel supports them, and later passes optimise what they expand into; "
     "before widen-types, so that their parts compute in f32"},
    {"unsign-bytes", pass_unsign_bytes, PASS_OPTIONAL,
     "before lower-quantised, which turns zero points into arithmetic"},
    {"lower-quantised", pass_lower_quantised, PASS_OPTIONAL,
     "before fold-constants, which would turn quantised weights into floats"},
    {"keep-weights", pass_keep_weights, PASS_OPTIONAL,
     "likewise; after lower-quantised, which makes integer matmuls where possible"},
    {"widen-types", pass_widen_types, PASS_REQUIRED,
     "no kernel computes in a type below 32 bits, so casts are added; before fold-constants, which "
     "transposes weights"},
    {"lower-channel-norms", pass_lower_channel_norms, PASS_OPTIONAL,
     "after widen-types, which makes their operands f32, and before "
     "fold-constants, which makes their shapes constant"},
    {"fold-constants", pass_fold_constants, PASS_OPTIONAL,
     "early: constant subgraphs would hide patterns from later passes"},
    {"lower-byte-sums", pass_lower_byte_sums, PASS_OPTIONAL,
     "after fold-constants, and before lower-fixed-point, which expands Requantize"},
    {"lower-fixed-point", pass_lower_fixed_point, PASS_OPTIONAL,
     "after fold-constants, which makes transposed weights constant"},
    {"fold-identity", pass_fold_identity, PASS_OPTIONAL,
     "nodes without effect would separate nodes that match a pattern"},
    {"place-slabs", pass_place_slabs, PASS_OPTIONAL,
     "after fold-constants, which makes indices constant"},
    {"eliminate-common-subexpressions", pass_eliminate_common_subexpressions, PASS_OPTIONAL,
     "exporters duplicate nodes; patterns need values with a single reader"},
    {"eliminate-dead-code", pass_eliminate_dead_code, PASS_OPTIONAL,
     "later passes need not optimise unused nodes"},
    {"recognise-layernorm", pass_recognise_layernorm, PASS_OPTIONAL,
     "before reduce-strength, which would change its Pow and Div"},
    {"reduce-strength", pass_reduce_strength, PASS_OPTIONAL, "the plan fuses what remains"},
    {"swap-halves", pass_swap_halves, PASS_OPTIONAL,
     "after fold-constants, which makes the bounds of slices constant; the plan fuses the signs"},
    {"normalise-gemm", pass_normalise_gemm, PASS_OPTIONAL,
     "kernels do not support alpha, beta or a matrix C; before fold-batchnorm, which needs the "
     "simple form"},
    {"fold-batchnorm", pass_fold_batchnorm, PASS_OPTIONAL,
     "into the weights of the node before; elsewhere Mul and Add, which the plan fuses"},
    {"crop-kernels", pass_crop_kernels, PASS_OPTIONAL,
     "after fold-constants and fold-batchnorm, so that weights are cropped once"},
    {"lower-volumes", pass_lower_volumes, PASS_OPTIONAL,
     "after crop-kernels, which may leave one plane; before passes that move the nodes it adds"},
    {"repeat-channels", pass_repeat_channels, PASS_OPTIONAL,
     "after lower-volumes, which may produce such convolutions"},
    {"cancel-transposes-of-volumes", pass_cancel_transposes, PASS_OPTIONAL,
     "before sink-reshapes, which they would keep from finding residuals after convolutions"},
    {"widen-gemm", pass_widen_gemm, PASS_OPTIONAL,
     "after normalise-gemm and fold-batchnorm, which match Gemm; before merge-reshapes, which "
     "would remove its Reshape"},
    {"sink-reshapes", pass_sink_reshapes, PASS_OPTIONAL,
     "before merge-reshapes, which merges the moved Reshapes with later ones"},
    {"merge-reshapes", pass_merge_reshapes, PASS_OPTIONAL, "one view instead of several"},
    {"cancel-transposes", pass_cancel_transposes, PASS_OPTIONAL,
     "after merge-reshapes, which removes Reshapes between two Transposes"},
    {"fold-constants-again", pass_fold_constants, PASS_OPTIONAL,
     "for weights that now follow a moved Transpose or Mul"},
    {"lower-byte-tables", pass_lower_byte_tables, PASS_OPTIONAL,
     "late: cheaper rewrites have been done, and constants are folded"},
    {"fuse-edges", pass_fuse_edges, PASS_OPTIONAL, "last: indices and weights are constant by now"},
};
const size_t pass_count = COUNT(pass_pipeline);

/* Not in the pipeline: they gain nothing for the plan. */
const struct pass export_passes[] = {
    {"recognise-gelu", pass_recognise_gelu, PASS_OPTIONAL,
     "engines have a kernel for it; for the plan its operators fuse as well as the one"},
    {"move-bytes", pass_move_bytes, PASS_OPTIONAL,
     "QOperator nodes as QDQ, with int8 between them"},
    {"sign-bytes", pass_sign_bytes, PASS_OPTIONAL, "integer kernels of TFLite support only i8"},
    {"fold-but-weights", pass_fold_but_weights, PASS_OPTIONAL,
     "fold-constants, except int8 operands of integer kernels"},
    {"fold-all-constants", pass_fold_all_constants, PASS_OPTIONAL,
     "fold-constants, including weights that the plan packs transposed"},
    {"pack-nbits", pass_pack_nbits, PASS_OPTIONAL,
     "ONNX Runtime does not fuse Gemm with DequantizeLinear; the plan has MatMulWeights"},
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

/* The graph and its bodies, inner ones first: what a body no longer reads, the outer graph can
   drop. */
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
