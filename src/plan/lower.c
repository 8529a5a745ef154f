/* One node to steps: a table of lowerings tried in order, the plain kernel last. */
#include "builder.h"

/* Tried in order; each op has one row, the plain kernel serves what none takes. */
static const struct {
  enum op_id op;
  lower_fn *lower;
} lowerings[] = {
    {OP_Identity, lower_view},
    {OP_Reshape, lower_view},
    {OP_Flatten, lower_view},
    {OP_BitCast, lower_view},
    {OP_Squeeze, lower_view},
    {OP_Unsqueeze, lower_view},
    {OP_Transpose, lower_view},
    {OP_Expand, lower_view},
    {OP_Slice, lower_view},
    {OP_Dropout, lower_view},
    {OP_Gather, lower_view},
    {OP_Split, lower_split},
    {OP_Concat, lower_concat},
    {OP_Pad, lower_pad},
    {OP_Tile, lower_tile},
    {OP_DepthToSpace, lower_blocks},
    {OP_SpaceToDepth, lower_blocks},
    {OP_Conv, lower_depthwise},
    {OP_Conv, lower_conv},
    {OP_ConvTranspose, lower_transposed},
    {OP_ConvInteger, lower_depthwise},
    {OP_ConvInteger, lower_conv},
    {OP_MatMul, lower_matmul},
    {OP_MatMulInteger, lower_matmul},
    {OP_MatMulWeights, lower_weights},
    {OP_Gemm, lower_gemm},
    {OP_MaxPool, lower_pool},
    {OP_AveragePool, lower_pool},
    {OP_GlobalAveragePool, lower_global_pool},
    {OP_GlobalMaxPool, lower_global_pool},
    {OP_ReduceSum, lower_reduce},
    {OP_ReduceMean, lower_reduce},
    {OP_ReduceMax, lower_reduce},
    {OP_ReduceMin, lower_reduce},
    {OP_ReduceProd, lower_reduce},
    {OP_Softmax, lower_softmax},
    {OP_LayerNormalization, lower_layernorm},
    {OP_LSTM, lower_recurrent},
    {OP_GRU, lower_recurrent},
    {OP_RNN, lower_recurrent},
    {OP_If, lower_if},
    {OP_Loop, lower_loop},
};

static bool has_elements(const struct node *node) {
  for (size_t i = 0; i < node->output_count; i++) {
    int64_t count;
    if (node->outputs[i] && value_is_open(node->outputs[i])) return true; /* a size is made */
    if (node->outputs[i] && (!shape_count(&node->outputs[i]->shape, &count) || count)) return true;
  }
  return false;
}

static hone_status lower_empty(struct builder *b, const struct node *node) {
  for (size_t i = 0; i < node->output_count; i++) {
    struct view view;
    if (!node->outputs[i]) continue;
    view_dense(&view, NULL, node->outputs[i]->dtype, &node->outputs[i]->shape);
    TRY(make_output(b, node->outputs[i], &view, &view));
  }
  return HONE_OK;
}

/* A fused program that no lowering of its node takes (more batch levels than the kernel has, an
   empty inner dimension): the node without it, then the program over its result. Sum of one operand
   hands that on unchanged. */
static hone_status unfuse(struct builder *b, const struct node *node, struct node **out_own,
                          struct node **out_program) {
  size_t own = own_input_count(node);
  struct value *raw;
  struct fused_step *fused;
  TRY(NEW(b->ctx, b->arena, raw));
  *raw = (struct value){.name = node->outputs[0]->name,
                        .dtype = raw_dtype(node),
                        .has_shape = true,
                        .shape = node->outputs[0]->shape,
                        .slope = node->outputs[0]->slope,
                        .index = b->value_count++};
  TRY(NEW(b->ctx, b->arena, *out_own));
  **out_own = *node;
  (*out_own)->input_count = own;
  (*out_own)->fused_input_count = (*out_own)->fused_count = 0;
  TRY(NEW_ARRAY(b->ctx, b->arena, (*out_own)->outputs, node->output_count));
  memcpy((*out_own)->outputs, node->outputs, node->output_count * sizeof *node->outputs);
  (*out_own)->outputs[0] = raw;
  TRY(NEW(b->ctx, b->arena, *out_program));
  **out_program = (struct node){.op = &op_table[OP_Sum],
                                .name = node->name,
                                .index = node->index,
                                .input_count = 1 + node->fused_input_count,
                                .output_count = 1,
                                .outputs = node->outputs,
                                .fused_input_count = node->fused_input_count,
                                .fused_count = node->fused_count};
  TRY(NEW_ARRAY(b->ctx, b->arena, (*out_program)->inputs, 1 + node->fused_input_count));
  (*out_program)->inputs[0] = raw;
  for (size_t i = 0; i < node->fused_input_count; i++)
    (*out_program)->inputs[1 + i] = node->inputs[own + i];
  TRY(NEW_ARRAY(b->ctx, b->arena, fused, node->fused_count));
  memcpy(fused, node->fused, node->fused_count * sizeof *fused);
  for (size_t s = 0; s < node->fused_count; s++)
    for (int k = 0; k < fused[s].arg_count; k++)
      if (fused[s].args[k] < FUSED_SELF) /* inputs begin at 1, not at `own` */
        fused[s].args[k] = FUSED_INPUT(FUSED_INPUT_INDEX(fused[s].args[k]) - (int)own + 1);
  (*out_program)->fused = fused;
  return HONE_OK;
}

static hone_status lower_unfused(struct builder *b, const struct node *node, bool *out_done) {
  struct node *own, *program;
  TRY(unfuse(b, node, &own, &program));
  TRY(lower_node(b, own)); /* once: it has no program of its own */
  return lower_elementwise(b, program, out_done);
}

static bool has_row(const struct node *node) {
  for (size_t i = 0; i < COUNT(lowerings); i++)
    if (lowerings[i].op == node->op->id) return true;
  return node->op->class == OP_ELEMENTWISE || plain_find(node->op->name);
}

/* Says which of operator, count, rank and types it is. */
static hone_status no_kernel(struct builder *b, const struct node *node) {
  const size_t most = node->op->class == OP_ELEMENTWISE ? LOOP_OPERANDS : PLAIN_OPERANDS;
  const size_t count =
      node->input_count > node->output_count ? node->input_count : node->output_count;
  struct text types = {0};
  if (!has_row(node))
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "no kernel for operator %s, whatever its operands; only the reference evaluates it",
                node->op->name);
  if (count > most)
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "no kernel for operator %s of %zu operands, at most %zu", node->op->name, count,
                most);
  const struct plain_window *window;
  int spatial;
  TRY(read_window(b, node, &window, &spatial));
  if (spatial > PLAIN_SPATIAL)
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "no kernel for operator %s over %d spatial dimensions, at most %d", node->op->name,
                spatial, PLAIN_SPATIAL);
  for (size_t k = 0; k < node->input_count && k < 8; k++)
    text_printf(&types, "%s%s", k ? ", " : "",
                node->inputs[k] ? dtype_name(node->inputs[k]->dtype) : "none");
  hone_status status =
      fail(b->ctx, HONE_E_UNSUP, node_place(node), "no kernel for operator %s with operands %s",
           node->op->name, types.at ? types.at : "none");
  text_deinit(&types);
  return status;
}

hone_status lower_node(struct builder *b, const struct node *node) {
  bool done = false;
  if (!has_elements(node)) return lower_empty(b, node);
  if (b->graph->symbols.count) TRY(carry_symbol(b, node));
  /* attention as one step knows no open sizes */
  if (!b->options->plain && !b->graph->symbols.count)
    TRY(lower_attention(b, node, &done)); /* of several nodes */
  /* an index from an end that moves is the view's business, also without fast kernels */
  bool plain = b->options->plain && !(b->is_open && node->op->id == OP_Gather);
  for (size_t i = 0; i < COUNT(lowerings) && !plain && !done; i++)
    if (lowerings[i].op == node->op->id) TRY(lowerings[i].lower(b, node, &done));
  if (!done && (node->op->class == OP_ELEMENTWISE || node->op->id == OP_Identity))
    TRY(lower_elementwise(b, node, &done));
  if (!done && b->options->plain)
    for (size_t i = 0; i < COUNT(lowerings) && !done; i++) /* what has no plain text: movement */
      if (lowerings[i].op == node->op->id && !plain_find(node->op->name))
        TRY(lowerings[i].lower(b, node, &done));
  if (!done) TRY(lower_plain(b, node, &done));
  if (!done && node->fused_count) TRY(lower_unfused(b, node, &done));
  return done ? HONE_OK : no_kernel(b, node);
}
