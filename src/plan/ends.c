/* The model's own inputs and outputs as views. */
#include "builder.h"

static hone_status copy_ports(struct builder *b, struct value *const *values, size_t count,
                              size_t *out_count, struct port **out) {
  TRY(NEW_ARRAY(b->ctx, b->arena, *out, count));
  *out_count = count;
  for (size_t i = 0; i < count; i++)
    (*out)[i] =
        (struct port){values[i]->name, values[i]->dtype, values[i]->shape, values[i]->slope};
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
    if (value->slope) {
      struct view packed = view;
      open_view(value, &packed);
      TRY(arena_view(b, &packed, &view));
      TRY(add_port_copy(b, value, &packed, &view));
    }
    set_view(b, value, &view);
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

hone_status bind_outputs(struct builder *b) {
  if (b->outer) return bind_body_outputs(b);
  TRY(copy_ports(b, b->graph->outputs.at, b->graph->outputs.count, &b->plan->output_count,
                 &b->plan->outputs));
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
    if (value->slope)
      TRY(add_port_copy(b, value, &made, &wanted));
    else
      TRY(add_copy(b, NULL, &made, &wanted, &step));
  }
  return HONE_OK;
}
