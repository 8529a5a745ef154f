/* Elementwise groups as one loop nest over broadcast views. */
#include "builder.h"

/* The output follows the order of the first input with its shape, or of the tensor that this
   input is a part of, unless it leaves the model in logical order. */
static void output_order(const struct builder *b, const struct value *value,
                         const struct view *inputs, size_t count, struct view *like) {
  int index;
  view_dense(like, NULL, value->dtype, &value->shape);
  if (ends_in_output(b, value, &index)) return;
  for (size_t i = 0; i < count; i++) {
    if (!inputs[i].buffer) continue;
    if (view_runs_channels_last(&inputs[i])) {
      view_channels_last(like, NULL, value->dtype, &value->shape);
      return;
    }
    if (!view_is_packed(&inputs[i])) continue;
    memcpy(like->stride, inputs[i].stride, sizeof like->stride);
    /* dimensions of one element have no order: give them a dense stride */
    return;
  }
}

/* Types for which the source generator has expressions. */
static bool has_expression(const struct node *node) {
  hone_dtype dtype = HONE_UNDEFINED;
  for (size_t i = 0; i < node->input_count; i++)
    if (node->inputs[i]) dtype = node->inputs[i]->dtype;
  switch (node->op->id) {
    case OP_Identity:
    case OP_Cast:
    case OP_CastLike:
    case OP_ByteTable:
      return true;
    case OP_Mod: /* of floats: only C's remainder */
      return !dtype_is_float(dtype) || node_int(node, "fmod", 0) != 0;
    case OP_Pow: /* mixed types: the generic kernel */
      return node->inputs[0]->dtype == node->inputs[1]->dtype;
    case OP_Mean:
      return dtype_is_float(dtype);
    default:
      return (dtype_is_float(dtype) ? node->op->expression : node->op->integer) != NULL;
  }
}

/* A cast from or to elements below a byte: one dense row in order, since elements share bytes. */
static hone_status lower_packed_cast(struct builder *b, const struct fusion_group *g,
                                     bool *out_done) {
  const struct node *node = g->node;
  const struct value *from = node->inputs[0], *to = g->result;
  struct view in, out;
  struct step *step;
  if (!is_op(node, OP_Cast) && !is_op(node, OP_CastLike)) return HONE_OK;
  TRY(ensure_dense(b, from, &in));
  view_dense(&out, NULL, to->dtype, &to->shape);
  TRY(make_output(b, to, &out, &out));
  TRY(new_step(b, STEP_ELEMENTWISE, node, 1, 1, &step));
  step->inputs[0] = in;
  step->outputs[0] = out;
  TRY(make_program(b, g, &step->program));
  struct loop_nest nest;
  plan_loops(step, &nest); /* its chunks begin at whole bytes */
  step->units = nest.units;
  step->serial = nest.units < 2;
  *out_done = true;
  return HONE_OK;
}

/* A Cast whose operand is already stored in the type of its result. */
static hone_status lower_free_cast(struct builder *b, const struct fusion_group *g,
                                   bool *out_done) {
  struct view view;
  TRY(get_stored(b, g->node->inputs[0], &view));
  /* its maker does not store that type */
  if (view.dtype != storage_of(b, g->result)) return HONE_OK;
  set_view(b, g->result, &view);
  *out_done = true;
  return HONE_OK;
}

hone_status lower_elementwise(struct builder *b, const struct fusion_group *g, bool *out_done) {
  const struct node *node = g->node;
  const struct value *value = g->result;
  const size_t count = group_input_count(g);
  const bool is_vector = is_vector_program(g);
  struct view inputs[LOOP_OPERANDS], like;
  if (is_free_cast(b, g)) TRY(lower_free_cast(b, g, out_done));
  if (*out_done) return HONE_OK;
  if (count > LOOP_OPERANDS || !has_expression(node)) return HONE_OK;
  if (is_below_byte(value) || is_below_byte(node->inputs[0]))
    return lower_packed_cast(b, g, out_done);
  for (size_t i = 1; i < node->output_count; i++)
    if (node->outputs[i]) return HONE_OK;
  for (size_t i = 0; i < count; i++) {
    const struct value *input = group_input(g, i);
    struct view view;
    inputs[i] = (struct view){0};
    if (!input) continue;
    if (!dtype_bytes(input->dtype)) return HONE_OK;
    if (is_vector)
      TRY(get_stored(b, input, &view));
    else
      TRY(get_view(b, input, &view));
    view_broadcast(&view, &value->shape, &inputs[i]);
  }
  output_order(b, value, inputs, count, &like);
  if (is_vector) like.dtype = storage_of(b, value);
  struct step *step;
  struct view out;
  TRY(make_output(b, value, &like, &out));
  TRY(new_step(b, STEP_ELEMENTWISE, node, count, 1, &step));
  memcpy(step->inputs, inputs, count * sizeof inputs[0]);
  step->outputs[0] = out;
  TRY(make_program(b, g, &step->program));
  struct loop_nest nest;
  plan_loops(step, &nest);
  int64_t elements;
  if (!shape_count(&value->shape, &elements))
    return fail(b->ctx, HONE_E_LIMIT, node_place(node), "too large");
  step->units = nest.units;
  step_share(step, (double)elements * (double)(1 + g->count), WORK_LOOP);
  *out_done = true;
  return HONE_OK;
}
