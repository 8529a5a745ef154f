/* Decides where a value that a step writes is stored: in the model's output, inside a border of
 * zeros, among other images of a Concat, or in the arena.
 */
#include "builder.h"

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
  out->slope = value->slope;
  set_view(b, value, out);
  b->values[value->index].border = border;
  return HONE_OK;
}

/* A range of the channels of a Concat's result, which is placed with the first of them. */
static hone_status make_part(struct builder *b, const struct value *value, const struct view *like,
                             struct view *out) {
  const struct part *part = &b->parts[value->index];
  struct value_state *whole = &b->values[part->whole->index];
  if (!whole->count) {
    struct view view, made;
    view_channels_last(&view, NULL, like->dtype, &part->whole->shape);
    if (b->borders[part->whole->index]) {
      TRY(make_bordered(b, part->whole, &view, &made));
    } else {
      TRY(arena_view(b, &view, &made));
      set_view(b, part->whole, &made);
    }
  }
  *out = whole->views[0];
  out->shape = like->shape;
  out->offset += part->channel;
  out->slope = value->slope;
  set_view(b, value, out);
  return HONE_OK;
}

static bool is_part(const struct builder *b, const struct value *value, const struct view *like) {
  if (!b->parts || !graph_owns(b->graph, value) || !b->parts[value->index].whole) return false;
  return view_is_channels_last(like) && like->dtype == storage_of(b, b->parts[value->index].whole);
}

/* True if the value has the same memory layout at its bounds and at its actual size: nothing is
   outside its one dynamic dimension. */
static bool has_fixed_layout(const struct value *value) {
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
  if (is_part(b, value, like)) return make_part(b, value, like, out);
  /* dynamic outputs are copied: kernels may compute more elements than they have room for */
  bool ends = !value->slope && view_is_dense(like) && has_fixed_layout(value) &&
              ends_in_output(b, value, &index);
  /* the maker does not store the 16-bit type */
  ends = ends && like->dtype == b->graph->outputs.at[index]->dtype;
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
