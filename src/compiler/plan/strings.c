/* Constant strings: weights hold no addresses, so steps build them at run time from their
 * characters and offsets.
 */
#include "builder.h"

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
      return fail(b->ctx, HONE_E_LIMIT, place_name(value->name), "too many characters");
  TRY(new_step(b, STEP_GENERIC, NULL, 2, 1, &step));
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
  step->generic = generic_find("Strings");
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
