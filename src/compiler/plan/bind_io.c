/* The model's own inputs and outputs as views. */
#include "builder.h"

static hone_status copy_ports(struct builder *b, struct value *const *values, size_t count,
                              size_t *out_count, struct port **out) {
  TRY(NEW_ARRAY(b->ctx, b->arena, *out, count));
  *out_count = count;
  for (size_t i = 0; i < count; i++) {
    (*out)[i] = (struct port){.name = values[i]->name,
                              .dtype = values[i]->dtype,
                              .shape = values[i]->shape,
                              .slope = values[i]->slope,
                              .alias = -1};
    memcpy((*out)[i].extents, values[i]->extents, sizeof(*out)[i].extents);
  }
  return HONE_OK;
}

hone_status bind_inputs(struct builder *b) {
  TRY(copy_ports(b, b->graph->inputs.at, b->graph->inputs.count, &b->plan->input_count,
                 &b->plan->inputs));
  for (size_t i = 0; i < b->graph->inputs.count; i++) {
    const struct value *value = b->graph->inputs.at[i];
    struct buffer *buffer;
    struct view view;
    TRY(new_buffer(b, BUFFER_INPUT, 0, &buffer));
    buffer->index = (int)i;
    view_dense(&view, buffer, value->dtype, &value->shape);
    set_view(b, value, &view);
    if (!value->slope) continue;
    struct value_state *state = &b->values[value->index];
    state->count = 0;
    state->is_packed = true;
  }
  return HONE_OK;
}

static hone_status bind_body_outputs(struct builder *b) {
  for (size_t i = 0; i < b->graph->outputs.count; i++) {
    const struct value *value = b->graph->outputs.at[i];
    struct view made, wanted;
    struct step *step;
    if (!b->ends[i]) continue;
    TRY(get_view(b, value, &made));
    if (made.buffer == b->ends[i] && !made.offset && view_is_dense(&made)) continue;
    view_dense(&wanted, b->ends[i], value->dtype, &value->shape);
    TRY(add_copy(b, NULL, &made, &wanted, &step));
  }
  return HONE_OK;
}

/* The extents of a value, with one of its own for each dimension that depends on the caller's sizes. */
static hone_status all_extents(struct builder *b, const struct value *value,
                               uint32_t out[HONE_MAX_RANK]) {
  memcpy(out, value->extents, sizeof value->extents);
  for (int d = 0; d < value->shape.rank; d++) {
    if (out[d] || !is_open_at(value, d)) continue;
    out[d] = (uint32_t)++b->plan->extent_count;
    VEC_PUSH(b->ctx, b->arena, &b->plan->sized_extents,
             (struct sized_extent){out[d], value->shape.dims[d], value->slope[d]});
  }
  return HONE_OK;
}

/* A dynamic output is dense at its actual size. */
static hone_status compact(struct builder *b, const struct value *value, const struct view *to) {
  const struct generic_shape shape = {value->shape.rank, value->shape.dims};
  const struct generic_problem problem = {
      .in_count = 1, .out_count = 1, .in = &shape, .out = &shape};
  struct view from;
  struct step *step;
  if (!dtype_bytes(value->dtype))
    return fail(b->ctx, HONE_E_UNSUP, place_name(value->name),
                "an output of %s has a data-dependent size", dtype_name(value->dtype));
  TRY(ensure_dense(b, value, &from));
  TRY(new_step(b, STEP_GENERIC, NULL, 1, 1, &step));
  step->generic = generic_find("Compact");
  step->inputs[0] = from;
  step->outputs[0] = *to;
  TRY(all_extents(b, value, step->inputs[0].extents));
  step->units = step->generic->units(&problem);
  step->serial = step->units < 64;
  return HONE_OK;
}

static bool is_in_place(const struct view *made, size_t output) {
  return made->buffer->place == BUFFER_OUTPUT && made->buffer->index == (int)output &&
         !made->offset && view_is_dense(made);
}

static hone_status bind_output(struct builder *b, size_t i) {
  const struct value *value = b->graph->outputs.at[i];
  struct view made, wanted;
  TRY(get_view(b, value, &made));
  if (is_in_place(&made, i)) return HONE_OK;
  struct buffer *buffer;
  struct step *step;
  TRY(new_buffer(b, BUFFER_OUTPUT, 0, &buffer));
  buffer->index = (int)i;
  view_dense(&wanted, buffer, value->dtype, &value->shape);
  if (value_is_open(value)) return compact(b, value, &wanted);
  if (value->slope) return add_port_copy(b, &made, &wanted);
  return add_copy(b, NULL, &made, &wanted, &step);
}

/* A state output may share memory with its input, so it is written after the last read of
   inputs, except by steps that write a few elements in place. A view of such an input is copied
   before the first of these writes. */
static hone_status bind_states(struct builder *b) {
  const size_t count = b->graph->aliases.count;
  struct view *made;
  struct step *step;
  TRY(NEW_ARRAY(b->ctx, b->arena, made, count + 1));
  for (size_t k = 0; k < count; k++) {
    const struct value *value = b->graph->outputs.at[b->graph->aliases.at[k].output];
    struct view aside, like;
    TRY(get_view(b, value, &made[k]));
    if (made[k].buffer->place != BUFFER_INPUT) continue;
    view_dense(&like, NULL, value->dtype, &value->shape);
    TRY(arena_view(b, &like, &aside));
    TRY(add_copy(b, NULL, &made[k], &aside, &step));
    made[k] = aside;
  }
  for (size_t k = 0; k < count; k++) {
    const struct alias *alias = &b->graph->aliases.at[k];
    const struct value *value = b->graph->outputs.at[alias->output];
    struct buffer *buffer;
    struct view wanted;
    b->plan->outputs[alias->output].alias = (int)alias->input;
    if (is_in_place(&made[k], alias->output)) continue;
    TRY(new_buffer(b, BUFFER_OUTPUT, 0, &buffer));
    buffer->index = (int)alias->output;
    view_dense(&wanted, buffer, value->dtype, &value->shape);
    TRY(add_copy(b, NULL, &made[k], &wanted, &step));
  }
  return HONE_OK;
}

hone_status bind_outputs(struct builder *b) {
  if (b->outer) return bind_body_outputs(b);
  TRY(copy_ports(b, b->graph->outputs.at, b->graph->outputs.count, &b->plan->output_count,
                 &b->plan->outputs));
  for (size_t i = 0; i < b->graph->outputs.count; i++)
    if (!graph_state_at(b->graph, i)) TRY(bind_output(b, i));
  return bind_states(b);
}
