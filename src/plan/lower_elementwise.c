/* Elementwise nodes and their fused programs as one loop nest over broadcast views; and what passes
 * may fuse into which node. */
#include "builder.h"

/* Contiguous in its own order: another tensor of its strides has no holes. */
static bool is_packed(const struct view *view) {
  int order[HONE_MAX_RANK];
  int64_t expected = 1;
  view_order(view, order);
  for (int i = view->shape.rank; i-- > 0;) {
    int d = order[i];
    if (view->shape.dims[d] == 1) continue;
    if (view->stride[d] != expected) return false;
    expected *= view->shape.dims[d];
  }
  return true;
}

/* The output follows the first input of its shape, unless it leaves the model in logical order. */
static void output_order(const struct builder *b, const struct value *value,
                         const struct view *inputs, size_t count, struct view *like) {
  int index;
  view_dense(like, NULL, value->dtype, &value->shape);
  if (ends_in_output(b, value, &index)) return;
  for (size_t i = 0; i < count; i++) {
    if (!inputs[i].buffer || !is_packed(&inputs[i])) continue;
    memcpy(like->stride, inputs[i].stride, sizeof like->stride);
    /* dimensions of one element take no part; give them a dense stride */
    return;
  }
}

/* Types that the emitter has expressions for. */
static bool has_expression(const struct node *node) {
  hone_dtype dtype = HONE_UNDEFINED;
  for (size_t i = 0; i < own_input_count(node); i++)
    if (node->inputs[i]) dtype = node->inputs[i]->dtype;
  switch (node->op->id) {
    case OP_Identity:
    case OP_Cast:
    case OP_CastLike:
      return true;
    case OP_Mod: /* of floats: only C's remainder */
      return !dtype_is_float(dtype) || node_int(node, "fmod", 0) != 0;
    case OP_Pow: /* over mixed types: plain */
      return node->inputs[0]->dtype == node->inputs[1]->dtype;
    case OP_Mean:
      return dtype_is_float(dtype);
    default:
      return (dtype_is_float(dtype) ? node->op->expression : node->op->integer) != NULL;
  }
}

/* A cast from or to elements below a byte: one dense row of them, in order, since two share a byte. */
static hone_status lower_packed_cast(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *from = node->inputs[0], *to = node->outputs[0];
  struct view in, out;
  struct step *step;
  if (!is_op(node, OP_Cast) && !is_op(node, OP_CastLike)) return HONE_OK;
  TRY(ensure_dense(b, from, &in));
  view_dense(&out, NULL, to->dtype, &to->shape);
  TRY(make_output(b, to, &out, &out));
  TRY(new_step(b, STEP_ELEMENTWISE, node, 1, 1, &step));
  step->inputs[0] = in;
  step->outputs[0] = out;
  TRY(make_program(b, node, &step->program));
  struct loop_nest nest;
  plan_loops(step, &nest); /* its chunks begin at whole bytes */
  step->units = nest.units;
  step->serial = nest.units < 2;
  *out_done = true;
  return HONE_OK;
}

static bool is_below_byte(const struct value *value) { return value && !dtype_bytes(value->dtype); }

hone_status lower_elementwise(struct builder *b, const struct node *node, bool *out_done) {
  const struct value *value = node->outputs[0];
  struct view inputs[LOOP_OPERANDS], like;
  if (node->input_count > LOOP_OPERANDS || !has_expression(node)) return HONE_OK;
  if (is_below_byte(value) || is_below_byte(node->inputs[0]))
    return lower_packed_cast(b, node, out_done);
  for (size_t i = 0; i < node->output_count; i++)
    if (i && node->outputs[i]) return HONE_OK;
  for (size_t i = 0; i < node->input_count; i++) {
    struct view view;
    inputs[i] = (struct view){0};
    if (!node->inputs[i]) continue;
    if (!dtype_bytes(node->inputs[i]->dtype)) return HONE_OK;
    TRY(get_view(b, node->inputs[i], &view));
    view_broadcast(&view, &value->shape, &inputs[i]);
  }
  output_order(b, value, inputs, node->input_count, &like);
  struct step *step;
  struct view out;
  TRY(make_output(b, value, &like, &out));
  TRY(new_step(b, STEP_ELEMENTWISE, node, node->input_count, 1, &step));
  memcpy(step->inputs, inputs, node->input_count * sizeof inputs[0]);
  step->outputs[0] = out;
  TRY(make_program(b, node, &step->program));
  struct loop_nest nest;
  plan_loops(step, &nest);
  int64_t elements;
  if (!shape_count(&value->shape, &elements))
    return fail(b->ctx, HONE_E_LIMIT, node_place(node), "too large");
  step->units = nest.units;
  step->serial = elements * (int64_t)(1 + node->fused_count) < 8192 || nest.units < 2;
  *out_done = true;
  return HONE_OK;
}

static bool is_contraction(const struct node *node) {
  if (!is_op(node, OP_Conv) && !is_op(node, OP_MatMul) && !is_op(node, OP_Gemm)) return false;
  const struct value *x = node->inputs[0];
  if (is_op(node, OP_Conv))
    return (x->shape.rank == 3 || x->shape.rank == 4) && node->inputs[1]->constant;
  return x->shape.rank > 1 && node->inputs[1]->shape.rank > 1;
}

/* One element, one a channel, or the whole shape. */
static bool fits_epilogue(const struct node *node, const struct value *extra) {
  const struct shape *out = &node->outputs[0]->shape;
  bool conv = is_op(node, OP_Conv) || is_op(node, OP_ConvInteger);
  int column = conv ? 1 : out->rank - 1, shift = out->rank - extra->shape.rank;
  if (shape_equal(out, &extra->shape)) return true;
  if (shift < 0) return false;
  for (int i = 0; i < extra->shape.rank; i++)
    if (i + shift != column && extra->shape.dims[i] != 1) return false;
  return true;
}

/* Whether the Cast keeps the program one on vectors: see is_vector_program. */
static bool accepts_cast(const struct node *node, const struct node *cast) {
  hone_dtype from = cast->inputs[0]->dtype, to = cast->outputs[0]->dtype;
  bool from_byte = from == HONE_U8 || from == HONE_I8;
  if (to == HONE_F32)
    return from == HONE_I32 ? is_integer_contraction(node) && !node->fused_count : from_byte;
  const struct node *clip = cast->inputs[0]->producer;
  double low = to == HONE_U8 ? 0 : -128, alpha, beta;
  if (from != HONE_F32 || (to != HONE_U8 && to != HONE_I8)) return false;
  return clip && is_op(clip, OP_Clip) && elementwise_parameters(clip, &alpha, &beta) &&
         alpha >= low && beta <= low + 255;
}

/* A step on floats, all operands floats. */
static bool is_float_step(const struct node *step) {
  if (!step->op->expression || step->outputs[0]->dtype != HONE_F32) return false;
  for (size_t i = 0; i < elementwise_operands(step); i++)
    if (step->inputs[i]->dtype != HONE_F32) return false;
  return true;
}

bool plan_accepts_fused(void *user, const struct node *node, const struct node *step,
                        const struct value *extra) {
  (void)user;
  enum { MAX_STEPS = 24, MAX_INPUTS = 12 };
  bool elementwise = node->op->class == OP_ELEMENTWISE, integer = is_integer_contraction(node);
  if (!elementwise && !integer && !is_contraction(node)) return false;
  if (node->fused_count >= MAX_STEPS || node->input_count >= MAX_INPUTS) return false;
  if (is_op(step, OP_Cast) ? !accepts_cast(node, step) : !is_float_step(step)) return false;
  if (integer && !node->fused_count && !is_op(step, OP_Cast)) return false;
  for (size_t i = 0; !elementwise && !integer && i < own_input_count(node); i++)
    if (node->inputs[i] && node->inputs[i]->dtype != HONE_F32) return false;
  if (!is_vector_program(node)) return false;
  return elementwise || !extra || fits_epilogue(node, extra);
}
