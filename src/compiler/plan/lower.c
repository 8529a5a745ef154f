/* Lowers the groups of a graph to steps: a table of lowerings, tried in order, the generic kernel
 * last.
 */
#include "builder.h"

/* Tried in order by operator; the generic kernel handles what none of them does. */
static const struct {
  enum op_id op;
  lower_fn *lower; /* of a node without a program, or */
  lower_group_fn *lower_group;
} lowerings[] = {
    {OP_Identity, lower_view, NULL},
    {OP_Reshape, lower_view, NULL},
    {OP_Flatten, lower_view, NULL},
    {OP_BitCast, lower_view, NULL},
    {OP_Squeeze, lower_view, NULL},
    {OP_Unsqueeze, lower_view, NULL},
    {OP_Transpose, lower_view, NULL},
    {OP_Expand, lower_view, NULL},
    {OP_Slice, lower_view, NULL},
    {OP_Dropout, lower_view, NULL},
    {OP_Gather, lower_view, NULL},
    {OP_Split, lower_split, NULL},
    {OP_Concat, lower_concat, NULL},
    {OP_Pad, lower_pad, NULL},
    {OP_Tile, lower_tile, NULL},
    {OP_Resize, lower_resize, NULL},
    {OP_DepthToSpace, lower_blocks, NULL},
    {OP_SpaceToDepth, lower_blocks, NULL},
    {OP_Conv, NULL, lower_depthwise},
    {OP_Conv, NULL, lower_conv},
    {OP_ConvTranspose, NULL, lower_transposed},
    {OP_ConvInteger, NULL, lower_depthwise},
    {OP_ConvInteger, NULL, lower_conv},
    {OP_MatMul, NULL, lower_matmul},
    {OP_MatMulInteger, NULL, lower_matmul},
    {OP_MatMulWeights, NULL, lower_weights},
    {OP_Gemm, NULL, lower_gemm},
    {OP_MaxPool, lower_pool, NULL},
    {OP_AveragePool, lower_pool, NULL},
    {OP_GlobalAveragePool, lower_global_pool, NULL},
    {OP_GlobalMaxPool, lower_global_pool, NULL},
    {OP_ReduceSum, lower_reduce, NULL},
    {OP_ReduceMean, lower_reduce, NULL},
    {OP_ReduceMax, lower_reduce, NULL},
    {OP_ReduceMin, lower_reduce, NULL},
    {OP_ReduceProd, lower_reduce, NULL},
    {OP_ReduceVariance, lower_reduce, NULL},
    {OP_Softmax, lower_softmax, NULL},
    {OP_LayerNormalization, lower_layernorm, NULL},
    {OP_RMSNormalization, lower_layernorm, NULL},
    {OP_LSTM, lower_recurrent, NULL},
    {OP_GRU, lower_recurrent, NULL},
    {OP_RNN, lower_recurrent, NULL},
    {OP_If, lower_if, NULL},
    {OP_Loop, lower_loop, NULL},
};

static hone_status lower_group(struct builder *b, const struct fusion_group *g);

static bool has_elements(const struct node *node) {
  for (size_t i = 0; i < node->output_count; i++) {
    int64_t count;
    /* the output has a data-dependent size */
    if (node->outputs[i] && value_is_open(node->outputs[i])) return true;
    if (node->outputs[i] && (!shape_count(&node->outputs[i]->shape, &count) || count)) return true;
  }
  return false;
}

static hone_status lower_empty(struct builder *b, const struct fusion_group *g) {
  for (size_t i = 0; i < g->node->output_count; i++) {
    const struct value *value = group_output(g, i);
    struct view view;
    if (!value) continue;
    view_dense(&view, NULL, value->dtype, &value->shape);
    TRY(make_output(b, value, &view, &view));
  }
  return HONE_OK;
}

/* A group whose program no lowering of its node takes (more batch levels than the kernel has, an
   empty inner dimension): the node alone, then the program as an elementwise step over its
   result. A Sum of one operand passes it on unchanged. */
static hone_status lower_unfused(struct builder *b, const struct fusion_group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct fusion_group alone = {.node = node, .result = node->outputs[0]};
  const struct node over = {.op = &op_table[OP_Sum],
                            .name = node->name,
                            .index = node->index,
                            .written_as = node->written_as,
                            .input_count = 1,
                            .output_count = 1,
                            .inputs = node->outputs,
                            .outputs = node->outputs};
  struct fusion_group program = *g;
  program.node = &over;
  TRY(lower_group(b, &alone)); /* no recursion beyond this: it has no program */
  return lower_elementwise(b, &program, out_done);
}

static bool has_row(const struct node *node) {
  for (size_t i = 0; i < COUNT(lowerings); i++)
    if (lowerings[i].op == node->op->id) return true;
  return node->op->class == OP_ELEMENTWISE || generic_find(node->op->name);
}

/* Reports which of operator, operand count, rank and types is not supported. */
static hone_status no_kernel(struct builder *b, const struct node *node) {
  const size_t most = node->op->class == OP_ELEMENTWISE ? LOOP_OPERANDS : GENERIC_OPERANDS;
  const size_t count =
      node->input_count > node->output_count ? node->input_count : node->output_count;
  struct strbuf types = {0};
  if (!has_row(node))
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "operator %s has no kernel; only the reference evaluates it", node->op->name);
  if (count > most)
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "operator %s has %zu operands; kernels support at most %zu", node->op->name, count,
                most);
  const struct generic_window *window;
  int spatial;
  TRY(read_window(b, node, &window, &spatial));
  if (spatial > GENERIC_SPATIAL)
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "operator %s has %d spatial dimensions; kernels support at most %d", node->op->name,
                spatial, GENERIC_SPATIAL);
  for (size_t k = 0; k < node->input_count && k < 8; k++)
    strbuf_printf(&types, "%s%s", k ? ", " : "",
                  node->inputs[k] ? dtype_name(node->inputs[k]->dtype) : "none");
  hone_status status = fail(b->ctx, HONE_E_UNSUP, node_place(node),
                            "operator %s has no kernel for operands of types %s", node->op->name,
                            types.at ? types.at : "none");
  strbuf_deinit(&types);
  return status;
}

/* Tries the lowerings of the operator in order; only_required: only if it has no generic kernel. */
static hone_status try_lowerings(struct builder *b, const struct fusion_group *g,
                                 bool only_required, bool *out_done) {
  for (size_t i = 0; i < COUNT(lowerings) && !*out_done; i++) {
    if (lowerings[i].op != g->node->op->id || (only_required && generic_find(g->node->op->name)))
      continue;
    if (lowerings[i].lower_group)
      TRY(lowerings[i].lower_group(b, g, out_done));
    else if (!g->count)
      TRY(lowerings[i].lower(b, g->node, out_done));
  }
  return HONE_OK;
}

static hone_status lower_group(struct builder *b, const struct fusion_group *g) {
  const struct node *node = g->node;
  const size_t first = b->plan->steps.count;
  bool done = false;
  if (!has_elements(node)) return lower_empty(b, g);
  if (b->plan->symbols.count) TRY(look_at_sizes(b, g));
  if (!b->options->generic_only) TRY(lower_attention(b, g, &done));
  if (!done && b->plan->symbols.count) TRY(carry_symbol(b, g));
  /* an index from the end of a dynamic dimension needs a view, also without fast kernels */
  bool plain = b->options->generic_only && !(b->is_open && node->op->id == OP_Gather);
  if (!plain) TRY(try_lowerings(b, g, false, &done));
  if (!done && (node->op->class == OP_ELEMENTWISE || node->op->id == OP_Identity))
    TRY(lower_elementwise(b, g, &done));
  /* operators without a generic kernel: moves of data */
  if (!done && b->options->generic_only) TRY(try_lowerings(b, g, true, &done));
  if (!done && !g->count) TRY(lower_generic(b, node, &done));
  if (!done && g->count) TRY(lower_unfused(b, g, &done));
  /* steps are named after the group's result */
  for (size_t i = first; g->count && i < b->plan->steps.count; i++)
    if (b->plan->steps.at[i]->value) b->plan->steps.at[i]->value = g->result->name;
  return done ? HONE_OK : no_kernel(b, node);
}

hone_status prepare_graph(struct builder *b) {
  TRY(find_groups(b, !b->options->generic_only));
  TRY(choose_storage_types(b));
  if (b->outer) return HONE_OK;
  TRY(find_borders(b));
  return find_concat_parts(b);
}

hone_status lower_graph(struct builder *b) {
  for (size_t i = 0; i < b->groups.count; i++) TRY(lower_group(b, b->groups.at[i]));
  return HONE_OK;
}
