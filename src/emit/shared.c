/* What every part of the text needs: functions that steps share, and addresses of views. */
#include "emit_internal.h"

hone_status emit_shared(struct emitter *e, const struct text *body, enum unit_kind kind,
                        const char *parameters, int *out_number) {
  TRY(text_finish(e->ctx, body));
  *out_number = (int)e->functions.count;
  for (size_t i = 0; i < e->functions.count; i++)
    if (e->functions.at[i].length == body->length &&
        !memcmp(e->functions.at[i].body, body->at, body->length)) {
      *out_number = (int)i;
      return HONE_OK;
    }
  const char *copy;
  TRY(arena_string(e->ctx, e->arena, body->at, body->length, &copy));
  VEC_PUSH(e->ctx, e->arena, &e->functions,
           (struct function){kind, parameters, copy, body->length, body->length});
  return HONE_OK;
}

void emit_address(struct text *out, const struct view *view, bool is_const) {
  const struct buffer *buffer = view->buffer;
  const char *type = c_type(view->dtype), *constant = is_const ? "const " : "";
  text_printf(out, "(%s%s *)", constant, type);
  switch (buffer->place) {
    case BUFFER_INPUT:
      text_printf(out, "f->inputs[%d]", buffer->index);
      break;
    case BUFFER_OUTPUT:
      text_printf(out, "f->outputs[%d]", buffer->index);
      break;
    case BUFFER_WEIGHTS:
      text_printf(out, "(f->weights + %zu)", buffer->offset);
      break;
    case BUFFER_ARENA:
      text_printf(out, "(f->arena + %zu)", buffer->offset);
      break;
  }
  if (view->offset) text_printf(out, " + %lldl", (long long)view->offset);
  for (int k = 0; k < HONE_MAX_SYMBOLS; k++)
    if (view->offset_slope.of[k])
      text_printf(out, " - %lldl * f->less[%d]", (long long)view->offset_slope.of[k], k);
}

void emit_size(struct text *out, int64_t size, const struct slope *slope) {
  bool is_fixed = slope_is_zero(slope);
  text_printf(out, is_fixed ? "%lldl" : "(%lldl", (long long)size);
  for (int k = 0; k < HONE_MAX_SYMBOLS; k++)
    if (slope->of[k]) text_printf(out, " - %lldl * less[%d]", (long long)slope->of[k], k);
  if (!is_fixed) text_puts(out, ")");
}
