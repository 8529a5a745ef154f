/* Where values lie: buffers, the view in which a value was made, and its copies in other orders. */
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
  return HONE_OK;
}

struct value_state *state_of(struct builder *b, const struct value *value, bool *out_captured) {
  struct builder *owner = b;
  while (owner && !graph_owns(owner->graph, value)) owner = owner->outer;
  if (!owner) owner = b; /* one that lowering made */
  *out_captured = owner != b;
  return &owner->values[value->index];
}

hone_status get_stored(struct builder *b, const struct value *value, struct view *out) {
  bool captured;
  struct value_state *state = state_of(b, value, &captured);
  if (!state->count) {
    if (!value->constant)
      return fail(b->ctx, HONE_E_INTERNAL, place_name(value->name), "value read before it is made");
    TRY(constant_view(b, value, &state->views[0]));
    state->count = 1;
  }
  *out = state->views[0];
  return HONE_OK;
}

hone_status get_view(struct builder *b, const struct value *value, struct view *out) {
  return ensure_type(b, value, value->dtype, out);
}

hone_status element_count(struct builder *b, const struct shape *shape, int64_t *out) {
  if (!shape_count(shape, out))
    return fail(b->ctx, HONE_E_LIMIT, place_none(), "too many elements");
  return HONE_OK;
}

hone_status arena_view(struct builder *b, const struct view *like, struct view *out) {
  int64_t elements;
  TRY(element_count(b, &like->shape, &elements));
  *out = *like;
  out->offset = 0;
  out->offset_slope = (struct slope){0};
  return new_buffer(b, BUFFER_ARENA, dense_bytes(like->dtype, elements), &out->buffer);
}

static bool only_reshapes(const struct node *node) {
  if (node->fused_count) return false;
  switch (node->op->id) {
    case OP_Reshape:
    case OP_Flatten:
    case OP_Squeeze:
    case OP_Unsqueeze:
    case OP_Identity:
      return true;
    default:
      return false;
  }
}

bool ends_in_output(const struct builder *b, const struct value *value, int *out_index) {
  for (;;) {
    if (value->is_output) {
      for (size_t i = 0; i < b->graph->outputs.count; i++)
        if (b->graph->outputs.at[i] == value) {
          *out_index = (int)i;
          return b->outer || !graph_state_at(b->graph, i); /* which is written last: ends.c */
        }
      return false;
    }
    const struct node *reader = b->reader[value->index];
    if (!reader || !only_reshapes(reader)) return false;
    value = reader->outputs[0];
  }
}

/* An image inside a larger one, whose other elements are zeros. */
static hone_status make_bordered(struct builder *b, const struct value *value,
                                 const struct view *like, struct view *out) {
  const int64_t border = b->borders[value->index];
  struct view whole = *like;
  struct shape shape = like->shape;
  for (int i = 2; i < shape.rank; i++)
    if (!checked_add(shape.dims[i], 2 * border, &shape.dims[i]))
      return fail(b->ctx, HONE_E_LIMIT, place_none(), "too many elements");
  view_channels_last(&whole, NULL, like->dtype, &shape);
  TRY(arena_view(b, &whole, &whole));
  *out = whole;
  out->shape = like->shape;
  for (int i = 2; i < shape.rank; i++) out->offset += border * whole.stride[i];
  TRY(add_border(b, &whole, out, border));
  set_view(b, value, out);
  b->values[value->index].border = border;
  return HONE_OK;
}

/* Whether the value lies in memory alike by its bounds and by its actual sizes: nothing lies outside of
   its one open dimension. */
static bool lies_alike(const struct value *value) {
  int d = 0;
  while (d < value->shape.rank && value->shape.dims[d] == 1 && !value->extents[d]) d++;
  for (d++; d < value->shape.rank; d++)
    if (value->extents[d]) return false;
  return true;
}

hone_status make_output(struct builder *b, const struct value *value, const struct view *like,
                        struct view *out) {
  int index;
  int64_t elements;
  TRY(element_count(b, &value->shape, &elements));
  /* an open output is copied: kernels may compute more than there is room for */
  bool ends =
      !value->slope && view_is_dense(like) && lies_alike(value) && ends_in_output(b, value, &index);
  if (ends && b->outer && b->ends[index]) {
    *out = *like;
    out->offset = 0;
    out->buffer = b->ends[index];
  } else if (ends && !b->outer) {
    *out = *like;
    out->offset = 0;
    TRY(new_buffer(b, BUFFER_OUTPUT, dense_bytes(like->dtype, elements), &out->buffer));
    out->buffer->index = index;
  } else if (b->borders && graph_owns(b->graph, value) && b->borders[value->index] &&
             view_is_channels_last(like)) {
    return make_bordered(b, value, like, out);
  } else {
    TRY(arena_view(b, like, out));
  }
  out->slope = value->slope;
  set_view(b, value, out);
  return HONE_OK;
}

static hone_status weights_view(struct builder *b, hone_dtype dtype, size_t count,
                                struct tensor **out_tensor, struct view *out) {
  struct shape shape = {1, {(int64_t)count}};
  struct buffer *buffer;
  TRY(tensor_create(b->ctx, b->arena, dtype, &shape, out_tensor));
  TRY(new_buffer(b, BUFFER_WEIGHTS, (*out_tensor)->bytes, &buffer));
  buffer->tensor = *out_tensor;
  view_dense(out, buffer, dtype, &shape);
  return HONE_OK;
}

static hone_status make_string(struct builder *b, const struct value *value) {
  const struct string *from = value->constant->data;
  size_t count = tensor_count(value->constant), bytes = 0;
  struct tensor *places, *text;
  struct step *step;
  struct view like;
  for (size_t i = 0; i < count; i++)
    if (!checked_add(bytes, from[i].length, &bytes))
      return fail(b->ctx, HONE_E_LIMIT, place_name(value->name), "too much text");
  TRY(new_step(b, STEP_PLAIN, NULL, 2, 1, &step));
  TRY(weights_view(b, HONE_I64, count + 1, &places, &step->inputs[0]));
  TRY(weights_view(b, HONE_U8, bytes, &text, &step->inputs[1]));
  bytes = 0;
  for (size_t i = 0; i < count; i++) {
    tensor_set_i64(places, i, (int64_t)bytes);
    if (from[i].length)
      memcpy((char *)(uintptr_t)text->data + bytes, from[i].bytes, from[i].length);
    bytes += from[i].length;
  }
  tensor_set_i64(places, count, (int64_t)bytes);
  view_dense(&like, NULL, HONE_STRING, &value->shape);
  TRY(arena_view(b, &like, &step->outputs[0]));
  set_view(b, value, &step->outputs[0]);
  step->plain = plain_find("Strings");
  step->units = (int64_t)count;
  step->serial = true;
  return HONE_OK;
}

hone_status make_strings(struct builder *b) {
  for (size_t i = 0; i < b->graph->values.count; i++) {
    const struct value *value = b->graph->values.at[i];
    if (value->constant && value->dtype == HONE_STRING && b->uses[value->index])
      TRY(make_string(b, value));
  }
  return HONE_OK;
}
