/* bf16: contractions of floats with constant weights computed on operands rounded to bf16, with sums
 * and results in f32. A value is converted once for all that read it in one order. */
#include "builder.h"

bool computes_in_halves(const struct builder *b, const struct node *node) {
  return b->options->bf16 && all_f32(node) && node->inputs[1]->constant;
}

hone_status half_constant(struct builder *b, const struct value *value, struct tensor **out) {
  TRY(tensor_create(b->ctx, b->arena, HONE_BF16, &value->shape, out));
  size_t count = tensor_count(value->constant);
  for (size_t i = 0; i < count; i++) tensor_set_f64(*out, i, tensor_f64(value->constant, i));
  return HONE_OK;
}

hone_status half_view(struct builder *b, const struct node *node, const struct value *value,
                      const struct view *like, struct view *out) {
  struct value_state *state = &b->values[value->index];
  struct view from, half = *like;
  struct step *step;
  TRY(get_view(b, value, &from));
  if (state->has_half && view_same_strides(&state->half, like)) {
    *out = state->half;
    return HONE_OK;
  }
  half.dtype = HONE_BF16;
  TRY(arena_view(b, &half, out));
  TRY(new_step(b, STEP_ELEMENTWISE, node, 1, 1, &step));
  step->inputs[0] = from;
  step->outputs[0] = *out;
  step->program = (struct program){.input_count = 1, .raw = HONE_F32, .result = PROGRAM_INPUT(0)};
  TRY(NEW_ARRAY(b->ctx, b->arena, step->program.inputs, 1));
  step->program.inputs[0] = HONE_F32;
  struct loop_nest nest;
  plan_loops(step, &nest);
  int64_t elements;
  TRY(element_count(b, &value->shape, &elements));
  step->units = nest.units;
  step->serial = elements < 8192 || nest.units < 2;
  state->half = *out;
  state->has_half = true;
  return HONE_OK;
}
