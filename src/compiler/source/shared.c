/* Shared by all parts of the generator: names, functions that steps share, and addresses of views.
 */
#include "source_internal.h"

bool is_plain_word(const char *name) {
  size_t n = strlen(name);
  return n && n <= 200 &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-") == n;
}

void emit_name(struct strbuf *out, const char *name) {
  if (is_plain_word(name)) {
    strbuf_printf(out, "\"%s\"", name);
    return;
  }
  strbuf_puts(out, "{");
  for (const unsigned char *p = (const unsigned char *)name; *p; p++)
    strbuf_printf(out, "0x%02x,", *p);
  strbuf_puts(out, "0}");
}

void emit_code(struct strbuf *out, const struct strbuf *code) {
  int depth = 0;
  out->failed |= code->failed;
  for (size_t at = 0; at < code->length; at++) {
    while (code->at[at] == ' ') at++;
    const int outdent = code->at[at] == '}';
    strbuf_printf(out, "%*s", 2 * (depth - outdent), "");
    const size_t begin = at;
    for (; at < code->length && code->at[at] != '\n'; at++)
      depth += (code->at[at] == '{') - (code->at[at] == '}');
    strbuf_append(out, code->at + begin, at - begin);
    strbuf_puts(out, "\n");
  }
}

hone_status emit_shared(struct emitter *e, const struct strbuf *body, enum unit_kind kind,
                        const char *type, int *out_number) {
  TRY(strbuf_finish(e->ctx, body));
  const char *own = e->own;
  e->own = NULL;
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
           (struct function){kind, type, copy, body->length, body->length, own});
  return HONE_OK;
}

static void emit_base(struct strbuf *out, const char *memory, size_t offset, bool is_cast) {
  strbuf_printf(out, "%sf->%s", is_cast && offset ? "(" : "", memory);
  if (offset) strbuf_printf(out, " + %zu%s", offset, is_cast ? ")" : "");
}

void emit_address(struct strbuf *out, const struct view *view, bool is_const) {
  const struct buffer *buffer = view->buffer;
  const bool is_packed = buffer->pack.kernel && !view->offset; /* in the layout of its kernel */
  if (!is_packed) strbuf_printf(out, "(%s%s *)", is_const ? "const " : "", c_type(view->dtype));
  switch (buffer->place) {
    case BUFFER_INPUT:
      strbuf_printf(out, "f->inputs[%d]", buffer->index);
      break;
    case BUFFER_OUTPUT:
      strbuf_printf(out, "f->outputs[%d]", buffer->index);
      break;
    case BUFFER_WEIGHTS:
      emit_base(out, "weights", buffer->offset, !is_packed);
      break;
    case BUFFER_ARENA:
      emit_base(out, "arena", buffer->offset, !is_packed);
      break;
  }
  if (view->offset) strbuf_printf(out, " + %lldl", (long long)view->offset);
  for (int k = 0; view->offset_slope && k < HONE_MAX_SIZES; k++)
    if (view->offset_slope->of[k])
      strbuf_printf(out, " - %lldl * f->less[%d]", (long long)view->offset_slope->of[k], k);
}

void emit_size(struct strbuf *out, int64_t size, const struct slope *slope) {
  bool is_fixed = !slope || slope_is_zero(slope);
  strbuf_printf(out, is_fixed ? "%lldl" : "(%lldl", (long long)size);
  for (int k = 0; !is_fixed && k < HONE_MAX_SIZES; k++)
    if (slope->of[k]) strbuf_printf(out, " - %lldl * less[%d]", (long long)slope->of[k], k);
  if (!is_fixed) strbuf_puts(out, ")");
}
