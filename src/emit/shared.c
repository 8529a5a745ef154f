/* What every part of the text needs: functions that steps share, and addresses of views. */
#include "emit_internal.h"

hone_status emit_shared(struct emitter *e, const struct text *body, const char *result,
                        const char *parameters, int *out_number) {
  TRY(text_finish(e->ctx, body));
  for (size_t i = 0; i < e->shared.count; i++)
    if (e->shared.at[i].length == body->length &&
        !memcmp(e->shared.at[i].body, body->at, body->length)) {
      *out_number = e->shared.at[i].number;
      return HONE_OK;
    }
  const char *copy;
  TRY(arena_string(e->ctx, e->arena, body->at, body->length, &copy));
  *out_number = e->next_number++;
  VEC_PUSH(e->ctx, e->arena, &e->shared, (struct shared){copy, body->length, *out_number});
  text_printf(e->out, "#define NAME k%d\nstatic NOIPA %s NAME%s;\n", *out_number, result,
              parameters);
  text_append(e->out, body->at, body->length);
  text_puts(e->out, "#undef NAME\n\n");
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
}
