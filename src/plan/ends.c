/* The model's own inputs and outputs as views. */
#include "builder.h"

hone_status bind_inputs(struct builder *b) {
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
hone_status bind_outputs(struct builder *b) {
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
