/* 16-bit storage of f32 values; arithmetic stays in f32 and a value is rounded once, when stored.
 *
 * Without a precision option results do not change: weights that a 16-bit type holds exactly are
 * stored in it if their matmul is memory-bound. A value that the model casts from 16 bits to f32,
 * or from f32 to 16 bits with no other reader, is stored in 16 bits if its maker and all its
 * readers support that; the Cast then needs no step (is_free_cast), and an f16 cache is read in
 * place.
 *
 * With bf16 requested, float contractions compute on operands rounded to bf16 with sums in f32, and
 * values between steps are stored in bf16 where every reader accepts it. The input of a softmax
 * stays f32: an error of 2^-9 in a logit is one of a percent in a probability. The operands of
 * fused attention stay f32 as well, because it computes in f32.
 */
#include <math.h>

#include "core/ops/operators/window.h"
#include "builder.h"

/* -- which matmuls and convolutions */

/* The problem as far as shapes determine it, for dense images. False: not a convolution that
   kernels support. */
static bool conv_sizes(const struct builder *b, const struct node *node, struct problem *out) {
  const struct shape *x = &node->inputs[0]->shape, *w = &node->inputs[1]->shape;
  const struct shape *y = &node->outputs[0]->shape;
  struct window window;
  if ((x->rank != 3 && x->rank != 4) || window_plan(b->ctx, node, x, w->dims + 2, &window))
    return false;
  const int last = window.rank - 1;
  const int64_t groups = node_int(node, "group", 1);
  if (groups > 1 && groups == x->dims[1] && groups == y->dims[1]) return false; /* depthwise */
  *out = (struct problem){.kind = PROBLEM_conv,
                          .images = x->dims[0],
                          .ic = x->dims[1],
                          .oc = y->dims[1],
                          .oh = last ? window.out[0] : 1,
                          .ow = window.out[last],
                          .kh = last ? window.kernel[0] : 1,
                          .kw = window.kernel[last],
                          .sh = last ? window.stride[0] : 1,
                          .sw = window.stride[last],
                          .dh = last ? window.dilation[0] : 1,
                          .dw = window.dilation[last],
                          .groups = groups};
  out->ih = (out->oh - 1) * out->sh + (out->kh - 1) * out->dh + 1;
  out->iw = (out->ow - 1) * out->sw + (out->kw - 1) * out->dw + 1;
  out->i_pixel = out->ic;
  out->i_row = out->iw * out->i_pixel;
  out->i_image = out->ih * out->i_row;
  out->o_pixel = out->oc;
  out->o_row = out->ow * out->o_pixel;
  out->o_image = out->oh * out->o_row;
  return true;
}

/* The same for a matmul: b shared by all batches, or one per batch. Equal to the lowering's
   problem for dense operands, so that a choice table's line matches. */
static bool matmul_sizes(const struct node *node, struct problem *out) {
  const struct shape *a = &node->inputs[0]->shape, *w = &node->inputs[1]->shape;
  const struct shape *c = &node->outputs[0]->shape;
  int64_t rows = 1;
  if (a->rank < 2 || w->rank < 2 || c->rank < 2) return false;
  const bool turned = is_op(node, OP_Gemm) && node_int(node, "transA", 0);
  const bool turned_b = is_op(node, OP_Gemm) && node_int(node, "transB", 0);
  for (int d = 0; d + 1 < c->rank; d++) rows *= c->dims[d];
  *out = (struct problem){.kind = PROBLEM_gemm,
                          .n = c->dims[c->rank - 1],
                          .m = w->rank > 2 ? c->dims[c->rank - 2] : rows,
                          .k = a->dims[a->rank - (turned ? 2 : 1)],
                          .batch0 = 1};
  out->batch1 = out->m > 0 ? rows / out->m : 1;
  out->b_batches = out->batch1;
  out->a_row = out->k;
  out->b_row = turned_b ? 1 : out->n;
  out->b_column = turned_b ? out->k : 1;
  out->c_row = out->n;
  if (out->batch1 == 1) return true;
  out->a_batch1 = out->m * out->k;
  out->b_batch1 = out->k * out->n;
  out->c_batch1 = out->m * out->n;
  return true;
}

/* Another precision needs conversions around it: it must be faster by a tenth. */
#define BETTER 0.9

static double cost_of(const struct builder *b, const struct problem *problem) {
  return schedule_cost(b->ctx, &b->plan->schedule, problem, b->weights_stay);
}

/* True if bf16 matmuls are slower than f32 ones. Then only memory-bound matmuls compute in bf16, for
   half the weight bytes; the others multiply weights rounded to bf16 as f32. A target without bf16
   instructions always uses bf16, to show the results of other processors; small constants stay
   small. */
static bool prefers_floats(const struct builder *b, const struct node *node) {
  struct problem problem = {.m = 0};
  if (!schedule_has_slow_bf16(&b->plan->schedule) || b->options->prefers_size) return false;
  const bool is_product = is_op(node, OP_MatMul) || is_op(node, OP_Gemm);
  if (is_product ? !matmul_sizes(node, &problem)
                 : !is_op(node, OP_Conv) || !conv_sizes(b, node, &problem))
    return false;
  problem.types = SAME_TYPES(TYPE_F32);
  const double floats = cost_of(b, &problem);
  problem.types = (struct problem_types){TYPE_BF16, TYPE_BF16, TYPE_F32, TYPE_F32};
  return isfinite(floats) && cost_of(b, &problem) >= BETTER * floats;
}

/* Decided once for each node of the graph. */
static hone_status find_preferences(struct builder *b) {
  TRY(NEW_ARRAY(b->ctx, b->arena, b->prefers_floats, b->graph->values.count + 1));
  for (size_t n = 0; b->options->bf16 && n < b->groups.count; n++) {
    const struct node *node = b->groups.at[n]->node;
    if (all_f32(b->groups.at[n]) && graph_owns(b->graph, node->outputs[0]))
      b->prefers_floats[node->outputs[0]->index] = prefers_floats(b, node);
  }
  return HONE_OK;
}

static bool is_faster_in_floats(const struct builder *b, const struct fusion_group *g) {
  const struct value *made = g->node->outputs[0];
  /* the node was made by a lowering */
  return graph_owns(b->graph, made) ? b->prefers_floats[made->index] : prefers_floats(b, g->node);
}

bool computes_in_bf16(const struct builder *b, const struct fusion_group *g) {
  return b->options->bf16 && all_f32(g) && !is_faster_in_floats(b, g);
}

bool rounds_weights(const struct builder *b, const struct fusion_group *g) {
  return b->options->bf16 && all_f32(g) && is_faster_in_floats(b, g);
}

/* True if a core keeps most of the constants in L2 between runs. */
static bool weights_stay(const struct builder *b) {
  size_t bytes = 0;
  for (size_t i = 0; i < b->graph->values.count; i++)
    if (b->graph->values.at[i]->constant) bytes += b->graph->values.at[i]->constant->bytes;
  return schedule_keeps(&b->plan->schedule, bytes);
}

/* -- which values are stored in 16 bits */

hone_dtype storage_of(const struct builder *b, const struct value *value) {
  const hone_dtype half = graph_owns(b->graph, value) ? b->stored_as[value->index] : HONE_UNDEFINED;
  return half ? half : value->dtype;
}

uint8_t problem_type(hone_dtype dtype) {
  switch (dtype) {
    case HONE_F32:
    case HONE_U8:
    case HONE_I8:
    case HONE_I32:
    case HONE_BF16:
    case HONE_F16:
      return (uint8_t)dtype;
    default:
      return 0;
  }
}

/* The 16-bit type that a Cast, alone in its group, converts to or from f32. */
static hone_dtype cast_half(const struct fusion_group *g) {
  if (!is_op(g->node, OP_Cast) || g->count) return HONE_UNDEFINED;
  const hone_dtype from = g->node->inputs[0]->dtype, to = g->result->dtype;
  return dtype_is_half(from) && to == HONE_F32   ? from
         : dtype_is_half(to) && from == HONE_F32 ? to
                                                 : HONE_UNDEFINED;
}

bool is_free_cast(const struct builder *b, const struct fusion_group *g) {
  const hone_dtype half = cast_half(g);
  return half && storage_of(b, g->node->inputs[0]) == half && storage_of(b, g->result) == half;
}

static bool is_view(const struct node *node) {
  return only_reshapes(node) || is_op(node, OP_Transpose) || is_op(node, OP_Slice) ||
         is_op(node, OP_Split);
}

/* Possible 16-bit types of values, and which readers accept them. */
struct storage {
  hone_dtype *could; /* by value index */
  bool *is_exact;    /* the type holds the values exactly */
  bool *is_attended, *is_query;
  uint32_t *reads; /* reads that accept the type */
};

/* True if the operator reads its operands in their 16-bit type: see the lowerings. */
static bool reads_stored(const struct builder *b, const struct storage *s,
                         const struct fusion_group *g, size_t input) {
  const struct node *node = g->node;
  const struct value *value = group_input(g, input);
  const hone_dtype half = s->could[value->index];
  if (!half || (s->is_attended[value->index] && !s->is_exact[value->index])) return false;
  if (cast_half(g) == half) return !input;
  if (is_view(node)) { /* like the reader of the view */
    for (size_t k = 0; k < node->output_count; k++)
      if (node->outputs[k] && b->stored_as[node->outputs[k]->index] != half) return false;
    return !input;
  }
  switch (node->op->id) {
    case OP_Conv:
    case OP_Gemm:
    case OP_MatMul:
      if (input > 1) return all_f32(g);
      if (s->is_attended[value->index] && input == 1) return !s->is_query[value->index];
      return half == HONE_BF16 && computes_in_bf16(b, g) && node->inputs[0]->shape.rank > 1 &&
             node->inputs[1]->shape.rank > 1;
    case OP_Concat:
      return b->stored_as[node->outputs[0]->index] == half;
    case OP_LayerNormalization:
    case OP_RMSNormalization:
    case OP_MaxPool:
    case OP_AveragePool:
    case OP_GlobalAveragePool:
    case OP_GlobalMaxPool:
    case OP_ReduceMean:
      return !input && all_f32(g);
    default:
      return node->op->class == OP_ELEMENTWISE && all_f32(g) && is_vector_program(g);
  }
}

static void find_attended(const struct builder *b, struct storage *s) {
  for (size_t n = 0; n < b->groups.count; n++) {
    const struct value *attended[3];
    if (!attention_reads(b, b->groups.at[n], attended)) continue;
    for (int i = 0; i < 3; i++) {
      if (!graph_owns(b->graph, attended[i])) continue;
      s->is_attended[attended[i]->index] = true;
      if (!i) s->is_query[attended[i]->index] = true;
    }
  }
}

/* The 16-bit type that a value is cast from, that its only reader rounds it to, or that was
   requested. */
static void find_types(const struct builder *b, struct storage *s) {
  for (size_t n = 0; n < b->groups.count; n++) {
    const struct fusion_group *g = b->groups.at[n];
    for (size_t k = 0; k < g->node->output_count; k++) {
      const struct value *value = group_output(g, k), *in = NULL;
      if (!value || value->dtype != HONE_F32 || value->is_output) continue;
      if (is_view(g->node) && graph_owns(b->graph, g->node->inputs[0])) in = g->node->inputs[0];
      const struct fusion_group *reader = b->reader[value->index];
      const hone_dtype from = cast_half(g), to = reader ? cast_half(reader) : HONE_UNDEFINED;
      s->is_exact[value->index] = from || to || (in && s->is_exact[in->index]);
      s->could[value->index] = from                        ? from
                               : to                        ? to
                               : in && s->could[in->index] ? s->could[in->index]
                               : b->options->bf16          ? HONE_BF16
                                                           : HONE_UNDEFINED;
    }
  }
}

hone_status choose_storage_types(struct builder *b) {
  const size_t room = b->graph->values.count + b->graph->nodes.count;
  struct storage s;
  TRY(NEW_ARRAY(b->ctx, b->arena, b->stored_as, room));
  b->weights_stay = weights_stay(b);
  TRY(find_preferences(b));
  if (b->options->generic_only) return HONE_OK;
  TRY(NEW_ARRAY(b->ctx, b->arena, s.could, room));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.is_exact, room));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.is_attended, room));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.is_query, room));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.reads, room));
  find_attended(b, &s);
  find_types(b, &s);
  /* from the end, so that readers of a view are known before its source */
  for (size_t n = b->groups.count; n-- > 0;) {
    const struct fusion_group *g = b->groups.at[n];
    for (size_t k = 0; k < g->node->output_count; k++) {
      const struct value *value = group_output(g, k);
      if (!value || !s.could[value->index]) continue;
      /* every use accepts the type: none by an inner graph, none as an output */
      if (b->uses[value->index] && s.reads[value->index] == b->uses[value->index] &&
          (s.is_exact[value->index] || !rounds_weights(b, g)))
        b->stored_as[value->index] = s.could[value->index];
    }
    for (size_t i = 0; i < group_input_count(g); i++) {
      const struct value *input = group_input(g, i);
      if (graph_owns(b->graph, input) && reads_stored(b, &s, g, i)) s.reads[input->index]++;
    }
  }
  return HONE_OK;
}

/* -- weights */

/* Types of 16 bits in which weights may be stored. */
static const struct half {
  hone_dtype dtype;
  uint16_t (*narrow)(float);
  float (*widen)(uint16_t);
} halves[] = {{HONE_BF16, f32_to_bf16, bf16_to_f32}, {HONE_F16, f32_to_f16, f16_to_f32}};

/* Floats rounded to `half`, stored in it, or as f32 if `whole`. */
static hone_status rounded(struct builder *b, const struct tensor *floats, const struct half *half,
                           bool whole, const struct tensor **out) {
  struct tensor *made;
  TRY(tensor_create(b->ctx, b->arena, whole ? HONE_F32 : half->dtype, &floats->shape, &made));
  const size_t count = tensor_count(floats);
  const float *from = floats->data;
  void *to = (void *)(uintptr_t)made->data;
  for (size_t i = 0; i < count && whole; i++) ((float *)to)[i] = half->widen(half->narrow(from[i]));
  for (size_t i = 0; i < count && !whole; i++) ((uint16_t *)to)[i] = half->narrow(from[i]);
  *out = made;
  return HONE_OK;
}

hone_status bf16_constant(struct builder *b, const struct tensor *floats, hone_dtype dtype,
                          const struct tensor **out) {
  return rounded(b, floats, &halves[0], dtype == HONE_F32, out);
}

/* True if the type holds each of the floats exactly. */
static bool holds(const struct half *half, const struct tensor *floats) {
  const float *from = floats->data;
  const size_t count = tensor_count(floats);
  for (size_t i = 0; i < count; i++) {
    const float back = half->widen(half->narrow(from[i]));
    if (memcmp(&back, &from[i], sizeof back) != 0) return false;
  }
  return true;
}

/* True if rounding loses no more than usual: no value becomes infinite, and few are small enough
   to be denormal. */
static bool rounds_well(const struct half *half, const struct tensor *floats) {
  const float *from = floats->data;
  const size_t count = tensor_count(floats);
  double off = 0, size = 0;
  for (size_t i = 0; i < count; i++) {
    const double x = (double)from[i], y = (double)half->widen(half->narrow(from[i]));
    off += (x - y) * (x - y);
    size += x * x;
  }
  return off <= 0x1p-22 * size;
}

/* True if weights may be stored in this type: exactly, or by request if they round well. */
static bool may_hold(const struct builder *b, const struct half *half,
                     const struct tensor *floats) {
  return holds(half, floats) ||
         (b->options->fp16 && half->dtype == HONE_F16 && rounds_well(half, floats));
}

static bool choose_weights(struct builder *b, const struct tensor *weights, struct problem *problem,
                           struct choice *out) {
  const bool may = weights && weights->dtype == HONE_F32 && problem->types.a == TYPE_F32 &&
                   problem->types.b == TYPE_F32;
  const bool is_size = b->options->prefers_size;
  struct problem narrow = *problem;
  for (size_t i = 0; i < COUNT(halves) && may; i++) {
    narrow.types.b = (uint8_t)halves[i].dtype;
    if (!is_size && cost_of(b, &narrow) >= BETTER * cost_of(b, problem)) continue;
    if (!may_hold(b, &halves[i], weights) || !choose_kernel(b, &narrow, out)) continue;
    *problem = narrow;
    return true;
  }
  return choose_kernel(b, problem, out);
}

/* Partial sums over k are stored as floats. */
static bool stores_once(const struct builder *b, const struct problem *problem,
                        const struct choice *choice) {
  return !(choice->kernel->traits & OVER_OPERANDS_OF_WHOLE) ||
         kernel_sums_at_once(problem, &b->plan->schedule.kernels, choice);
}

bool choose_kernel_and_storage(struct builder *b, const struct tensor *weights,
                               const struct value *result, struct problem *problem,
                               struct choice *out) {
  struct choice rounded;
  if (!choose_weights(b, weights, problem, out)) return false;
  struct problem narrow = *problem;
  if (result) narrow.types.c = problem_type(storage_of(b, result));
  if (problem->types.c == TYPE_F32 && narrow.types.c != TYPE_F32 && stores_once(b, problem, out) &&
      choose_kernel(b, &narrow, &rounded)) {
    *problem = narrow;
    *out = rounded;
  }
  return true;
}

hone_status stored_weights(struct builder *b, const struct problem *problem,
                           const struct tensor **weights) {
  for (size_t i = 0; i < COUNT(halves); i++)
    if ((*weights)->dtype == HONE_F32 && problem->types.b == (uint8_t)halves[i].dtype)
      return rounded(b, *weights, &halves[i], false, weights);
  return HONE_OK;
}
