/* Where values are stored: buffers, and the places that are declared for values. */
#include "builder.h"

hone_status new_buffer(struct builder *b, enum buffer_place place, size_t bytes,
                       struct buffer **out) {
  struct buffer *buffer;
  TRY(NEW(b->ctx, b->arena, buffer));
  *buffer = (struct buffer){.place = place, .bytes = bytes, .first = -1, .end = -1};
  VEC_PUSH(b->ctx, b->arena, &b->plan->buffers, buffer);
  *out = buffer;
  return HONE_OK;
}

hone_status move_view(struct builder *b, struct view *view, const struct slope *by) {
  struct slope *slope;
  if (slope_is_zero(by)) return HONE_OK;
  TRY(NEW(b->ctx, b->arena, slope));
  *slope = view->offset_slope ? slope_plus(view->offset_slope, by) : *by;
  view->offset_slope = slope;
  return HONE_OK;
}

void set_view(struct builder *b, const struct value *value, const struct view *view) {
  struct value_state *state = &b->values[value->index];
  *state = (struct value_state){.count = 1, .views = {*view}};
  state->views[0].slope = value->slope;
}

struct value_state *state_of(struct builder *b, const struct value *value, bool *out_captured) {
  struct builder *owner = b;
  while (owner && !graph_owns(owner->graph, value)) owner = owner->outer;
  if (!owner) owner = b; /* a value made by lowering */
  *out_captured = owner != b;
  return &owner->values[value->index];
}

hone_status element_count(struct builder *b, const struct shape *shape, int64_t *out) {
  if (!shape_count(shape, out))
    return fail(b->ctx, HONE_E_LIMIT, place_none(), "too many elements");
  return HONE_OK;
}

/* The distance from its first element to its last, which may include elements of a larger
   tensor. */
static hone_status reach_of(struct builder *b, const struct view *view, int64_t *out) {
  int64_t reach = 1, step;
  TRY(element_count(b, &view->shape, out));
  for (int d = 0; d < view->shape.rank && *out; d++)
    if (!checked_mul(view->shape.dims[d] - 1, view->stride[d], &step) ||
        !checked_add(reach, step, &reach))
      return fail(b->ctx, HONE_E_LIMIT, place_none(), "too many elements");
  if (*out && reach > *out) *out = reach;
  return HONE_OK;
}

hone_status arena_view(struct builder *b, const struct view *like, struct view *out) {
  int64_t elements;
  TRY(reach_of(b, like, &elements));
  *out = *like;
  out->offset = 0;
  out->offset_slope = NULL;
  return new_buffer(b, BUFFER_ARENA, dense_bytes(like->dtype, elements), &out->buffer);
}

/* True if the node writes a few elements of a state that has no other reader: it may write them
   in place. */
static bool updates_state(const struct builder *b, const struct node *node, size_t output) {
  const struct alias *state = graph_state_at(b->graph, output);
  if (!node || !(is_op(node, OP_ScatterElements) || is_op(node, OP_ScatterND))) return false;
  const struct value *before = b->graph->inputs.at[state->input];
  return node->inputs[0] == before && b->uses[before->index] == 1;
}

bool is_written_in_place(const struct builder *b, const struct node *node) {
  for (size_t i = 0; !b->outer && i < b->graph->outputs.count; i++)
    if (b->graph->outputs.at[i] == node->outputs[0])
      return graph_state_at(b->graph, i) && updates_state(b, node, i);
  return false;
}

bool ends_in_output(const struct builder *b, const struct value *value, int *out_index) {
  const struct node *maker = value->producer;
  for (;;) {
    if (value->is_output) {
      for (size_t i = 0; i < b->graph->outputs.count; i++)
        if (b->graph->outputs.at[i] == value) {
          *out_index = (int)i;
          /* states are written last: bind_io.c */
          return b->outer || !graph_state_at(b->graph, i) || updates_state(b, maker, i);
        }
      return false;
    }
    const struct fusion_group *reader = b->reader[value->index];
    if (!reader || (!only_reshapes(reader->node) && !is_free_cast(b, reader))) return false;
    value = reader->result;
  }
}

hone_status packed_weights(struct builder *b, const struct choice *choice,
                           const struct problem *problem, const struct view *view,
                           struct view *out) {
  struct buffer *buffer;
  size_t bytes = choice->kernel->packed_bytes(problem, &b->plan->schedule.kernels, choice);
  TRY(new_buffer(b, BUFFER_WEIGHTS, bytes, &buffer));
  buffer->tensor = view->buffer->tensor;
  buffer->pack = *choice;
  buffer->problem = *problem;
  buffer->pack_offset = view->offset;
  struct shape shape = {1, {(int64_t)(bytes / 4)}};
  view_dense(out, buffer, HONE_F32, &shape);
  return HONE_OK;
}

void constant_operand(const struct value *value, struct buffer *holder, struct view *out) {
  *holder = (struct buffer){.place = BUFFER_WEIGHTS, .tensor = value->constant};
  view_dense(out, holder, value->dtype, &value->shape);
}
