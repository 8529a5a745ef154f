/* Lowers a graph to a plan: a table of lowerings tried in order, the plain kernel last.
 * Source of the view idea: strided tensors as in NumPy; physical order follows the producer. */
#include "builder.h"

bool all_f32(const struct node *node) {
  for (size_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] && node->inputs[i]->dtype != HONE_F32) return false;
  for (size_t i = 0; i < node->output_count; i++)
    if (node->outputs[i] && node->outputs[i]->dtype != HONE_F32) return false;
  for (size_t i = 0; i < node->fused_count; i++)
    if (node->fused[i].dtype != HONE_F32) return false;
  return true;
}

size_t own_input_count(const struct node *node) {
  return node->input_count - node->fused_input_count;
}

hone_status new_buffer(struct builder *b, enum buffer_place place, size_t bytes,
                       struct buffer **out) {
  struct buffer *buffer;
  TRY(NEW(b->ctx, b->arena, buffer));
  *buffer = (struct buffer){.place = place, .bytes = bytes, .first = -1, .last = -1};
  VEC_PUSH(b->ctx, b->arena, &b->plan->buffers, buffer);
  *out = buffer;
  return HONE_OK;
}

hone_status new_step(struct builder *b, enum step_kind kind, const struct node *node, size_t inputs,
                     size_t outputs, struct step **out) {
  struct step *step;
  TRY(NEW(b->ctx, b->arena, step));
  step->kind = kind;
  step->node = node;
  step->input_count = inputs;
  step->output_count = outputs;
  TRY(NEW_ARRAY(b->ctx, b->arena, step->inputs, inputs));
  TRY(NEW_ARRAY(b->ctx, b->arena, step->outputs, outputs));
  VEC_PUSH(b->ctx, b->arena, &b->plan->steps, step);
  *out = step;
  return HONE_OK;
}

void set_view(struct builder *b, const struct value *value, const struct view *view) {
  b->values[value->index] = (struct value_state){.count = 1, .views = {*view}};
}

static hone_status constant_view(struct builder *b, const struct value *value, struct view *out) {
  struct buffer *buffer;
  TRY(new_buffer(b, BUFFER_WEIGHTS, value->constant->bytes, &buffer));
  buffer->tensor = value->constant;
  view_dense(out, buffer, value->dtype, &value->shape);
  return HONE_OK;
}

hone_status get_view(struct builder *b, const struct value *value, struct view *out) {
  struct value_state *state = &b->values[value->index];
  if (!state->count) {
    if (!value->constant)
      return fail(b->ctx, HONE_E_INTERNAL, place_name(value->name), "value read before it is made");
    TRY(constant_view(b, value, &state->views[0]));
    state->count = 1;
  }
  *out = state->views[0];
  return HONE_OK;
}

static hone_status element_count(struct builder *b, const struct shape *shape, int64_t *out) {
  if (!shape_count(shape, out))
    return fail(b->ctx, HONE_E_LIMIT, place_none(), "too many elements");
  return HONE_OK;
}

static hone_status arena_view(struct builder *b, const struct view *like, struct view *out) {
  int64_t elements;
  TRY(element_count(b, &like->shape, &elements));
  *out = *like;
  out->offset = 0;
  return new_buffer(b, BUFFER_ARENA, (size_t)elements * dtype_bytes(like->dtype), &out->buffer);
}

hone_status ensure_strides(struct builder *b, const struct value *value, const struct view *wanted,
                           struct view *out) {
  struct view made;
  TRY(get_view(b, value, &made));
  struct value_state *state = &b->values[value->index];
  for (int i = 0; i < state->count; i++)
    if (view_same_strides(&state->views[i], wanted)) {
      *out = state->views[i];
      memcpy(out->stride, wanted->stride, sizeof out->stride); /* dimensions of 1 too */
      return HONE_OK;
    }
  struct step *step;
  TRY(arena_view(b, wanted, out));
  TRY(add_copy(b, NULL, &made, out, &step));
  if (state->count < COPIES) state->views[state->count++] = *out;
  return HONE_OK;
}

hone_status ensure_dense(struct builder *b, const struct value *value, struct view *out) {
  struct view wanted;
  view_dense(&wanted, NULL, value->dtype, &value->shape);
  return ensure_strides(b, value, &wanted, out);
}

hone_status ensure_channels_last(struct builder *b, const struct value *value, struct view *out) {
  struct view wanted;
  view_channels_last(&wanted, NULL, value->dtype, &value->shape);
  return ensure_strides(b, value, &wanted, out);
}

static bool only_reshapes(const struct node *node) {
  if (node->fused_count) return false;
  switch (node->op->id) {
    case OP_Reshape:
    case OP_Flatten:
    case OP_Squeeze:
    case OP_Unsqueeze:
    case OP_Identity:
      return true;
    default:
      return false;
  }
}

bool ends_in_output(const struct builder *b, const struct value *value, int *out_index) {
  for (;;) {
    if (value->is_output) {
      for (size_t i = 0; i < b->graph->outputs.count; i++)
        if (b->graph->outputs.at[i] == value) {
          *out_index = (int)i;
          return true;
        }
      return false;
    }
    const struct node *reader = b->reader[value->index];
    if (!reader || !only_reshapes(reader)) return false;
    value = reader->outputs[0];
  }
}

hone_status make_output(struct builder *b, const struct value *value, const struct view *like,
                        struct view *out) {
  int index;
  int64_t elements;
  TRY(element_count(b, &value->shape, &elements));
  if (view_is_dense(like) && ends_in_output(b, value, &index)) {
    *out = *like;
    out->offset = 0;
    TRY(new_buffer(b, BUFFER_OUTPUT, (size_t)elements * dtype_bytes(like->dtype), &out->buffer));
    out->buffer->index = index;
  } else {
    TRY(arena_view(b, like, out));
  }
  set_view(b, value, out);
  return HONE_OK;
}

/* Adjacent dimensions without border merge where both sides are contiguous. */
static void push_copy_dim(struct step *step, struct copy_dim dim) {
  if (dim.size == 1 && dim.inner == 1) return;
  if (step->copy_rank) {
    struct copy_dim *outer = &step->copy[step->copy_rank - 1];
    bool bare = dim.inner == dim.size && outer->inner == outer->size;
    if (bare && outer->to == dim.to * dim.size && outer->from == dim.from * dim.size) {
      outer->size *= dim.size;
      outer->inner = outer->size;
      outer->to = dim.to;
      outer->from = dim.from;
      return;
    }
  }
  step->copy[step->copy_rank++] = dim;
}

hone_status add_copy_border(struct builder *b, const struct node *node, const struct view *from,
                            const struct view *to, const int64_t before[HONE_MAX_RANK],
                            uint64_t fill_bits, struct step **out) {
  struct step *step;
  int order[HONE_MAX_RANK];
  TRY(new_step(b, STEP_COPY, node, 1, 1, &step));
  step->inputs[0] = *from;
  step->outputs[0] = *to;
  step->fill_bits = fill_bits;
  view_order(to, order);
  for (int i = 0; i < to->shape.rank; i++) {
    int d = order[i];
    push_copy_dim(step, (struct copy_dim){.size = to->shape.dims[d],
                                          .to = to->stride[d],
                                          .from = from->stride[d],
                                          .before = before[d],
                                          .inner = from->shape.dims[d]});
  }
  int inner;
  int64_t chunk, elements;
  TRY(element_count(b, &to->shape, &elements));
  plan_copy_loops(step, &inner, &chunk, &step->units);
  step->serial = elements < 16384;
  *out = step;
  return HONE_OK;
}

hone_status add_copy(struct builder *b, const struct node *node, const struct view *from,
                     const struct view *to, struct step **out) {
  static const int64_t none[HONE_MAX_RANK];
  return add_copy_border(b, node, from, to, none, 0, out);
}

/* Whether `view`, broadcast to the output, is one element a column. */
static bool is_column(const struct view *view, int column) {
  for (int i = 0; i < view->shape.rank; i++)
    if (i != column && view->shape.dims[i] != 1 && view->stride[i]) return false;
  return view->shape.dims[column] == 1 || view->stride[column] == 1;
}

static bool is_scalar(const struct view *view) {
  for (int i = 0; i < view->shape.rank; i++)
    if (view->shape.dims[i] != 1 && view->stride[i]) return false;
  return true;
}

static hone_status place_operand(struct builder *b, const struct value *value,
                                 const struct view *out, int column, struct view *view,
                                 enum operand_kind *kind) {
  struct view made;
  TRY(get_view(b, value, &made));
  view_broadcast(&made, &out->shape, view);
  if (is_scalar(view)) {
    *kind = OPERAND_SCALAR;
  } else if (is_column(view, column) && out->shape.dims[column] != 1) {
    *kind = OPERAND_COLUMN;
  } else if (shape_equal(&value->shape, &out->shape)) {
    *kind = OPERAND_FULL;
    return ensure_strides(b, value, out, view);
  } else {
    struct view full;
    struct step *step;
    *kind = OPERAND_FULL;
    TRY(arena_view(b, out, &full));
    TRY(add_copy(b, NULL, view, &full, &step));
    *view = full;
  }
  return HONE_OK;
}

hone_status set_epilogue(struct builder *b, struct step *step, const struct value *bias,
                         const struct view *out, int column) {
  const struct node *node = step->node;
  size_t count = node->fused_input_count + (bias != NULL);
  TRY(NEW_ARRAY(b->ctx, b->arena, step->operands, count));
  TRY(NEW_ARRAY(b->ctx, b->arena, step->operand_kinds, count));
  step->operand_count = count;
  step->has_bias = bias != NULL;
  size_t k = 0;
  if (bias) {
    struct view made, wide = {0};
    struct shape shape = {.rank = out->shape.rank};
    TRY(get_view(b, bias, &made));
    if (bias->shape.rank == 1 && out->shape.rank != 1 &&
        bias->shape.dims[0] == out->shape.dims[column]) {
      for (int i = 0; i < shape.rank; i++) shape.dims[i] = i == column ? bias->shape.dims[0] : 1;
      if (!view_reshape(&made, &shape, &wide))
        return fail(b->ctx, HONE_E_INTERNAL, node_place(node), "bias is not one-dimensional");
      view_broadcast(&wide, &out->shape, &step->operands[k]);
      step->operand_kinds[k] = is_scalar(&step->operands[k]) ? OPERAND_SCALAR : OPERAND_COLUMN;
      k++;
    } else {
      TRY(place_operand(b, bias, out, column, &step->operands[k], &step->operand_kinds[k]));
      k++;
    }
  }
  for (size_t i = own_input_count(node); i < node->input_count; i++, k++)
    TRY(place_operand(b, node->inputs[i], out, column, &step->operands[k],
                      &step->operand_kinds[k]));
  return HONE_OK;
}

void move_behind(struct builder *b, struct step *step, size_t at) {
  size_t count = b->plan->steps.count;
  if (count == at) return;
  memmove(&b->plan->steps.at[at - 1], &b->plan->steps.at[at],
          (count - at) * sizeof b->plan->steps.at[0]);
  b->plan->steps.at[count - 1] = step;
}

hone_status finish_kernel_step(struct builder *b, struct step *step, double flops) {
  const struct kernel_target *target = &b->plan->kernel_target;
  step->units = step->kernel->units(&step->problem, target);
  step->serial = flops < 200e3 || step->units < 2;
  if (!step->kernel->scratch_bytes) return HONE_OK;
  size_t slice = step->kernel->scratch_bytes(&step->problem, target);
  if (!slice) return HONE_OK;
  if (!checked_align(slice, 64, &step->scratch_slice))
    return fail(b->ctx, HONE_E_LIMIT, node_place(step->node), "scratch too large");
  return new_buffer(b, BUFFER_ARENA, 0, &step->scratch); /* sized by plan_build for all threads */
}

/* Tried in order; each op has one row, the plain kernel serves what none takes. */
static const struct {
  enum op_id op;
  lower_fn *lower;
} lowerings[] = {
    {OP_Identity, lower_view},
    {OP_Reshape, lower_view},
    {OP_Flatten, lower_view},
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
    {OP_MatMul, lower_matmul},
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
};

static bool has_elements(const struct node *node) {
  for (size_t i = 0; i < node->output_count; i++) {
    int64_t count;
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
                        .dtype = node->outputs[0]->dtype, /* fused programs keep the type */
                        .has_shape = true,
                        .shape = node->outputs[0]->shape,
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

static hone_status lower_node(struct builder *b, const struct node *node);

static hone_status lower_unfused(struct builder *b, const struct node *node, bool *out_done) {
  struct node *own, *program;
  TRY(unfuse(b, node, &own, &program));
  TRY(lower_node(b, own)); /* once: it has no program of its own */
  return lower_elementwise(b, program, out_done);
}

static hone_status lower_node(struct builder *b, const struct node *node) {
  bool done = false;
  if (!has_elements(node)) return lower_empty(b, node);
  for (size_t i = 0; i < COUNT(lowerings) && !b->options->plain && !done; i++)
    if (lowerings[i].op == node->op->id) TRY(lowerings[i].lower(b, node, &done));
  if (!done && (node->op->class == OP_ELEMENTWISE || node->op->id == OP_Identity))
    TRY(lower_elementwise(b, node, &done));
  if (!done && b->options->plain)
    for (size_t i = 0; i < COUNT(lowerings) && !done; i++) /* what has no plain text: movement */
      if (lowerings[i].op == node->op->id && !plain_find(node->op->name))
        TRY(lowerings[i].lower(b, node, &done));
  if (!done) TRY(lower_plain(b, node, &done));
  if (!done && node->fused_count) TRY(lower_unfused(b, node, &done));
  if (!done)
    return fail(b->ctx, HONE_E_UNSUP, node_place(node),
                "no kernel for operator %s with %s elements", node->op->name,
                node->outputs[0] ? dtype_name(node->outputs[0]->dtype) : "no");
  return HONE_OK;
}

static hone_status find_readers(struct builder *b) {
  TRY(graph_uses(b->ctx, b->arena, b->graph, &b->uses));
  TRY(NEW_ARRAY(b->ctx, b->arena, b->reader, b->graph->values.count + b->graph->nodes.count));
  for (size_t n = 0; n < b->graph->nodes.count; n++) {
    const struct node *node = b->graph->nodes.at[n];
    for (size_t i = 0; i < node->input_count; i++)
      if (node->inputs[i] && b->uses[node->inputs[i]->index] == 1)
        b->reader[node->inputs[i]->index] = node;
  }
  return HONE_OK;
}

static hone_status bind_inputs(struct builder *b) {
  for (size_t i = 0; i < b->graph->inputs.count; i++) {
    const struct value *value = b->graph->inputs.at[i];
    struct buffer *buffer;
    struct view view;
    TRY(new_buffer(b, BUFFER_INPUT, 0, &buffer));
    buffer->index = (int)i;
    view_dense(&view, buffer, value->dtype, &value->shape);
    set_view(b, value, &view);
  }
  return HONE_OK;
}

/* Copies every output that no step wrote in its place. */
static hone_status bind_outputs(struct builder *b) {
  for (size_t i = 0; i < b->graph->outputs.count; i++) {
    const struct value *value = b->graph->outputs.at[i];
    struct view made, wanted;
    TRY(get_view(b, value, &made));
    bool in_place = made.buffer->place == BUFFER_OUTPUT && made.buffer->index == (int)i &&
                    !made.offset && view_is_dense(&made);
    if (in_place) continue;
    struct buffer *buffer;
    struct step *step;
    TRY(new_buffer(b, BUFFER_OUTPUT, 0, &buffer));
    buffer->index = (int)i;
    view_dense(&wanted, buffer, value->dtype, &value->shape);
    TRY(add_copy(b, NULL, &made, &wanted, &step));
  }
  return HONE_OK;
}

static void touch(struct buffer *buffer, int step) {
  if (!buffer) return;
  if (buffer->first < 0) buffer->first = step;
  buffer->last = step;
}

/* Buffers of joined steps live through the whole group: no barrier stands between them. */
static void set_lifetimes(struct plan *plan, int threads) {
  for (size_t s = 0; s < plan->steps.count; s++) {
    struct step *step = plan->steps.at[s];
    size_t first = s, last = s;
    while (plan->steps.at[first]->joined) first--;
    while (last + 1 < plan->steps.count && plan->steps.at[last + 1]->joined) last++;
    size_t bounds[2] = {first, last};
    for (int k = 0; k < 2; k++) {
      for (size_t i = 0; i < step->input_count; i++) touch(step->inputs[i].buffer, (int)bounds[k]);
      for (size_t i = 0; i < step->output_count; i++)
        touch(step->outputs[i].buffer, (int)bounds[k]);
      for (size_t i = 0; i < step->operand_count; i++)
        touch(step->operands[i].buffer, (int)bounds[k]);
      touch(step->scratch, (int)bounds[k]);
    }
    if (step->scratch_slice) step->scratch->bytes = step->scratch_slice * (size_t)threads;
  }
}

hone_status plan_build(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                       const struct plan_options *options, struct plan **out) {
  struct plan *plan;
  TRY(NEW(ctx, arena, plan));
  plan->graph = graph;
  plan->target = *options->target;
  plan->kernel_target =
      (struct kernel_target){.vector_bytes = options->target->vector_bytes,
                             .vector_registers = options->target->vector_registers,
                             .l1_bytes = options->target->l1_bytes,
                             .l2_bytes = options->target->l2_bytes,
                             .features = options->target->features,
                             .threads = options->threads};
  struct builder b = {.ctx = ctx, .arena = arena, .graph = graph, .plan = plan, .options = options};
  /* and one more for each node whose fused program may have to be split off */
  TRY(NEW_ARRAY(ctx, arena, b.values, graph->values.count + graph->nodes.count));
  b.value_count = (uint32_t)graph->values.count;
  TRY(find_readers(&b));
  TRY(bind_inputs(&b));
  for (size_t i = 0; i < graph->nodes.count; i++) TRY(lower_node(&b, graph->nodes.at[i]));
  TRY(bind_outputs(&b));
  /* room for more threads than planned for, but not for every machine's */
  plan->scratch_threads = options->threads > 4 ? options->threads : 4;
  set_lifetimes(plan, plan->scratch_threads);
  TRY(plan_memory(ctx, arena, plan));
  *out = plan;
  return HONE_OK;
}
