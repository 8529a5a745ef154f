/* The view in which a step reads a value: as it was made, or a copy in another order or type. */
#include "builder.h"

static hone_status constant_view(struct builder *b, const struct value *value, struct view *out) {
  struct buffer *buffer;
  TRY(new_buffer(b, BUFFER_WEIGHTS, value->constant->bytes, &buffer));
  buffer->tensor = value->constant;
  view_dense(out, buffer, value->dtype, &value->shape);
  out->slope = value->slope;
  for (int d = 0; value->begin && d < value->shape.rank; d++) {
    /* a slice that counts from the end begins earlier when the size is below its bound */
    const struct slope ahead = slope_times(&value->begin[d], -out->stride[d]);
    TRY(move_view(b, out, &ahead));
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

static hone_status unpack(struct builder *b, const struct value *value) {
  struct view unpacked;
  const bool is_own = value && graph_owns(b->graph, value);
  return is_own && b->values[value->index].is_packed ? get_stored(b, value, &unpacked) : HONE_OK;
}

/* A copy made in a body would not exist outside it, and an iteration would repeat it. */
hone_status unpack_captured(struct builder *b, const struct node *node) {
  for (size_t a = 0; a < node->attribute_count; a++) {
    struct graph_list graphs;
    if (node->attributes[a].kind != ATTRIBUTE_GRAPH) continue;
    TRY(graph_nested(b->ctx, b->arena, node->attributes[a].graph, &graphs));
    for (size_t g = 0; g < graphs.count; g++) {
      const struct graph *body = graphs.at[g];
      for (size_t i = 0; i < body->nodes.count; i++)
        for (size_t k = 0; k < body->nodes.at[i]->input_count; k++)
          TRY(unpack(b, body->nodes.at[i]->inputs[k]));
      for (size_t i = 0; i < body->outputs.count; i++) TRY(unpack(b, body->outputs.at[i]));
    }
  }
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

/* Only its outermost dimension is dynamic, so that the strides are those of the bounds. */
static bool has_fixed_strides(const struct view *view) {
  int first = 0;
  while (first < view->shape.rank && view->shape.dims[first] == 1 &&
         slope_is_zero(&view->slope[first]))
    first++;
  for (int d = first + 1; d < view->shape.rank; d++)
    if (!slope_is_zero(&view->slope[d])) return false;
  return true;
}

hone_status get_source(struct builder *b, const struct value *value, struct view *out) {
  bool is_packed;
  TRY(get_packed(b, value, out, &is_packed));
  if (is_packed && !b->fills && out->dtype == value->dtype && has_fixed_strides(out))
    return HONE_OK;
  return get_view(b, value, out);
}

hone_status ensure_strides(struct builder *b, const struct value *value, const struct view *wanted,
                           struct view *out) {
  struct view made;
  TRY(get_stored(b, value, &made));
  bool captured; /* a copy made here does not exist outside this branch */
  struct value_state *state = state_of(b, value, &captured);
  for (int i = 0; i < state->count; i++)
    if (state->views[i].dtype == wanted->dtype && view_same_strides(&state->views[i], wanted)) {
      *out = state->views[i];
      memcpy(out->stride, wanted->stride, sizeof out->stride); /* dimensions of 1 too */
      return HONE_OK;
    }
  struct step *step;
  TRY(arena_view(b, wanted, out));
  out->slope = made.slope;
  if (made.dtype == out->dtype)
    TRY(add_copy(b, NULL, &made, out, &step));
  else
    TRY(add_conversion(b, NULL, &made, out));
  if (!captured && state->count < COPIES) state->views[state->count++] = *out;
  return HONE_OK;
}

hone_status ensure_type(struct builder *b, const struct value *value, hone_dtype dtype,
                        struct view *out) {
  TRY(get_stored(b, value, out));
  if (out->dtype == dtype) return HONE_OK;
  struct view wanted = *out;
  if (!view_is_packed(&wanted)) view_dense(&wanted, NULL, dtype, &value->shape);
  wanted.dtype = dtype;
  return ensure_strides(b, value, &wanted, out);
}

hone_status ensure_dense_as(struct builder *b, const struct value *value, hone_dtype dtype,
                            struct view *out) {
  struct view wanted;
  view_dense(&wanted, NULL, dtype, &value->shape);
  return ensure_strides(b, value, &wanted, out);
}

hone_status ensure_dense(struct builder *b, const struct value *value, struct view *out) {
  return ensure_dense_as(b, value, value->dtype, out);
}

hone_status ensure_dense_stored(struct builder *b, const struct value *value, struct view *out) {
  TRY(get_stored(b, value, out));
  return ensure_dense_as(b, value, out->dtype, out);
}

hone_status ensure_channels_last(struct builder *b, const struct value *value, hone_dtype dtype,
                                 struct view *out) {
  struct view wanted;
  TRY(get_stored(b, value, out));
  view_channels_last(&wanted, NULL, dtype ? dtype : out->dtype, &value->shape);
  return ensure_strides(b, value, &wanted, out);
}

hone_status ensure_image(struct builder *b, const struct value *value, hone_dtype dtype,
                         struct view *out) {
  TRY(get_stored(b, value, out));
  const struct shape *shape = &out->shape;
  int last = shape->rank - 1;
  bool is_image = out->dtype == dtype && last >= 2 &&
                  (out->stride[1] == 1 || shape->dims[1] == 1) &&
                  (out->stride[last] >= shape->dims[1] || shape->dims[last] == 1);
  int64_t row = out->stride[last] * shape->dims[last];
  for (int i = 2; i < last; i++) {
    is_image = is_image && (out->stride[i] >= row || shape->dims[i] == 1);
    row = out->stride[i] * shape->dims[i];
  }
  is_image = is_image && last <= 3 && (out->stride[0] >= row || shape->dims[0] == 1);
  for (int i = 0; i <= last; i++)
    is_image = is_image && (shape->dims[i] != 1 || out->stride[i] > 0);
  return is_image ? HONE_OK : ensure_channels_last(b, value, dtype, out);
}

hone_status get_view(struct builder *b, const struct value *value, struct view *out) {
  return ensure_type(b, value, value->dtype, out);
}

hone_status sizes_operand(struct builder *b, int count, const int64_t *bounds,
                          const struct slope *slopes, struct view *out) {
  struct tensor *at_bounds;
  struct slope *elements;
  struct value *value;
  for (size_t i = 0; i < b->sizes.count; i++) {
    const struct value *made = b->sizes.at[i];
    const size_t bytes = (size_t)count * sizeof *slopes;
    if (made->shape.dims[0] == count && !memcmp(made->elements, slopes, bytes) &&
        !memcmp(made->at_bounds->data, bounds, (size_t)count * sizeof *bounds))
      return get_view(b, made, out);
  }
  TRY(NEW(b->ctx, b->arena, value));
  TRY(NEW_ARRAY(b->ctx, b->arena, elements, (size_t)count));
  const struct shape shape = {1, {count}};
  TRY(tensor_create(b->ctx, b->arena, HONE_I64, &shape, &at_bounds));
  for (int i = 0; i < count; i++) {
    tensor_set_i64(at_bounds, (size_t)i, bounds[i]);
    elements[i] = slopes[i];
  }
  *value = (struct value){.name = "",
                          .dtype = HONE_I64,
                          .has_shape = true,
                          .shape = shape,
                          .at_bounds = at_bounds,
                          .elements = elements,
                          .index = b->value_count++};
  VEC_PUSH(b->ctx, b->arena, &b->sizes, value);
  return get_view(b, value, out);
}
