/* Elementwise nodes and their fused programs as one loop nest over broadcast views; and what passes
 * may fuse into which node. */
#include "builder.h"

/* The output follows the first input of its shape, unless it leaves the model in logical order. */
static void output_order(const struct builder *b, const struct value *value,
                         const struct view *inputs, size_t count, struct view *like) {
  int index;
  view_dense(like, NULL, value->dtype, &value->shape);
  if (ends_in_output(b, value, &index)) return;
  for (size_t i = 0; i < count; i++) {
    if (!inputs[i].buffer || !view_is_packed(&inputs[i])) continue;
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
    if (is_vector_program(node))
      TRY(get_stored(b, node->inputs[i], &view));
    else
      TRY(get_view(b, node->inputs[i], &view));
    view_broadcast(&view, &value->shape, &inputs[i]);
  }
  output_order(b, value, inputs, node->input_count, &like);
  if (is_vector_program(node)) like.dtype = storage_of(b, value);
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
  if (is_op(node, OP_MatMulWeights)) return true;
  const bool conv = is_op(node, OP_Conv) || is_op(node, OP_ConvTranspose);
  if (!conv && !is_op(node, OP_MatMul) && !is_op(node, OP_Gemm)) return false;
  const struct value *x = node->inputs[0];
  if (conv) return (x->shape.rank == 3 || x->shape.rank == 4) && node->inputs[1]->constant;
  return x->shape.rank > 1 && node->inputs[1]->shape.rank > 1;
}

/* One element, one a channel, one a row (all but the channels), or the whole shape. */
static bool fits_epilogue(const struct node *node, const struct value *extra) {
  const struct shape *out = &node->outputs[0]->shape;
  bool conv = is_op(node, OP_Conv) || is_op(node, OP_ConvTranspose) || is_op(node, OP_ConvInteger);
  int column = conv ? 1 : out->rank - 1, shift = out->rank - extra->shape.rank;
  struct shape row = *out;
  row.dims[column] = 1;
  if (shape_equal(out, &extra->shape) || shape_equal(&row, &extra->shape)) return true;
  if (shift < 0) return false;
  for (int i = 0; i < extra->shape.rank; i++)
    if (i + shift != column && extra->shape.dims[i] != 1) return false;
  return true;
}

/* Whether the step keeps the program one on vectors: see is_vector_program. */
static bool is_vector_node(const struct node *step) {
  hone_dtype from[3], to = step->outputs[0]->dtype;
  size_t count = elementwise_operands(step);
  if (is_op(step, OP_Cast)) {
    const struct node *clip = step->inputs[0]->producer;
    double alpha, beta;
    bool is_clipped = clip && elementwise_parameters(clip, &alpha, &beta) &&
                      is_clip_to(to, clip->op->id, alpha, beta);
    return is_vector_cast(step->inputs[0]->dtype, to, is_clipped);
  }
  if (count > COUNT(from)) count = COUNT(from); /* any number of one type */
  for (size_t k = 0; k < count; k++) from[k] = step->inputs[k]->dtype;
  return is_vector_operation(step->op, to, from, (int)count);
}

bool plan_accepts_fused(void *user, const struct node *node, const struct node *step,
                        const struct value *extra) {
  (void)user;
  enum { MAX_STEPS = 36, MAX_INPUTS = LOOP_OPERANDS - 2 };
  bool elementwise = node->op->class == OP_ELEMENTWISE, integer = is_integer_contraction(node);
  if (!elementwise && !integer && !is_contraction(node)) return false;
  if (node->fused_count >= MAX_STEPS || node->input_count >= MAX_INPUTS) return false;
  if (!is_vector_node(step)) return false;
  /* a cast of elements below a byte reads one row of them and nothing else */
  if (extra && elementwise && (is_below_byte(node->inputs[0]) || is_below_byte(node->outputs[0])))
    return false;
  bool weights = is_op(node, OP_MatMulWeights);
  for (size_t i = 0; !elementwise && !integer && !weights && i < own_input_count(node); i++)
    if (node->inputs[i] && node->inputs[i]->dtype != HONE_F32) return false;
  if (!is_vector_program(node)) return false;
  return elementwise || !extra || fits_epilogue(node, extra);
}
