/* What every part of the text needs: names, functions that steps share, and addresses of views. */
#include "emit_internal.h"

bool is_plain_word(const char *name) {
  size_t n = strlen(name);
  return n && n <= 200 &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-") == n;
}

void emit_name(struct text *out, const char *name) {
  if (is_plain_word(name)) {
    text_printf(out, "\"%s\"", name);
    return;
  }
  text_puts(out, "{");
  for (const unsigned char *p = (const unsigned char *)name; *p; p++)
    text_printf(out, "0x%02x,", *p);
  text_puts(out, "0}");
}

hone_status emit_shared(struct emitter *e, const struct text *body, enum unit_kind kind,
                        const char *type, int *out_number) {
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
           (struct function){kind, type, copy, body->length, body->length});
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
