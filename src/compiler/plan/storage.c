/* Where values are stored: buffers, the view in which a value was made, and its copies in other
 * orders.
 */
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

void set_view(struct builder *b, const struct value *value, const struct view *view) {
  struct value_state *state = &b->values[value->index];
  *state = (struct value_state){.count = 1, .views = {*view}};
  state->views[0].slope = value->slope;
}

static hone_status constant_view(struct builder *b, const struct value *value, struct view *out) {
  struct buffer *buffer;
  TRY(new_buffer(b, BUFFER_WEIGHTS, value->constant->bytes, &buffer));
  buffer->tensor = value->constant;
  view_dense(out, buffer, value->dtype, &value->shape);
  out->slope = value->slope;
  for (int d = 0; value->begin && d < value->shape.rank; d++) {
    /* a slice that counts from the end begins earlier when the size is below its bound */
    const struct slope ahead = slope_times(&value->begin[d], -out->stride[d]);
    out->offset_slope = slope_plus(&out->offset_slope, &ahead);
  }
  return HONE_OK;
}

static hone_status sizes_view(struct builder *b, const struct value *value, struct view *out) {
  struct view like;
  struct step *step;
  view_dense(&like, NULL, value->dtype, &value->shape);
  TRY(arena_view(b, &like, out));
  TRY(new_step(b, STEP_SIZES, NULL, 0, 1, &step));
  step->outputs[0] = *out;
  step->size_bounds = value->at_bounds;
  step->size_slopes = value->elements;
  step->units = 1;
  step->serial = true;
  return HONE_OK;
}

struct value_state *state_of(struct builder *b, const struct value *value, bool *out_captured) {
  struct builder *owner = b;
  while (owner && !graph_owns(owner->graph, value)) owner = owner->outer;
  if (!owner) owner = b; /* a value made by lowering */
  *out_captured = owner != b;
  return &owner->values[value->index];
}

hone_status get_stored(struct builder *b, const struct value *value, struct view *out) {
  bool captured;
  struct value_state *state = state_of(b, value, &captured);
  if (state->is_packed) {
    const struct view packed = state->views[0];
    TRY(arena_view(b, &packed, out));
    set_view(b, value, out);
    return add_port_copy(b, &packed, out);
  }
  if (!state->count) {
    if (!value->constant && !value->at_bounds)
      return fail(b->ctx, HONE_E_INTERNAL, place_name(value->name), "value read before it is made");
    TRY((value->constant ? constant_view : sizes_view)(b, value, &state->views[0]));
    state->count = 1;
  }
  *out = state->views[0];
  return HONE_OK;
}

hone_status get_packed(struct builder *b, const struct value *value, struct view *out,
                       bool *out_packed) {
  bool captured;
  const struct value_state *state = state_of(b, value, &captured);
  *out_packed = state->is_packed;
  *out = state->views[0];
  return *out_packed ? HONE_OK : get_stored(b, value, out);
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
  out->offset_slope = (struct slope){0};
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
  size_t bytes = choice->kernel->packed_bytes(problem, &b->plan->kernel_target, choice);
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
