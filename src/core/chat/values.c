/* Values of a template are JSON values; None is null, and one value stands for "undefined". */
#include "template.h"

hone_status template_fail(struct evaluation *e, hone_status id, size_t offset, const char *format,
                          ...) {
  char words[512];
  va_list args;
  int line = 1;
  for (size_t i = 0; i < offset && e->text[i]; i++) line += e->text[i] == '\n';
  va_start(args, format);
  vsnprintf(words, sizeof words, format, args);
  va_end(args);
  return fail(e->ctx, id, place_name("chat template"), "line %d: %s", line, words);
}

hone_status spend(struct evaluation *e, int64_t steps) {
  e->steps += steps;
  return e->steps <= TEMPLATE_STEPS
             ? HONE_OK
             : fail(e->ctx, HONE_E_LIMIT, place_name("chat template"), "it does too much work");
}

hone_status own(struct evaluation *e, json_t *value, json_t **out) {
  *out = value;
  hone_status status = spend(e, 1);
  if (status) {
    json_decref(value);
    return status;
  }
  return value && !json_array_append_new(e->pool, value)
             ? HONE_OK
             : fail(e->ctx, HONE_E_OOM, place_name("chat template"), "no memory for a value");
}

bool is_number(const json_t *x) { return json_is_number(x) || json_is_boolean(x); }

double number_value(const json_t *x) {
  return json_is_boolean(x) ? json_is_true(x) : json_number_value(x);
}

bool is_true(const struct evaluation *e, const json_t *x) {
  if (x == e->undefined || json_is_null(x)) return false;
  if (is_number(x)) return number_value(x) != 0;
  if (json_is_string(x)) return json_string_length(x) > 0;
  return json_is_array(x) ? json_array_size(x) > 0 : json_object_size(x) > 0;
}

static hone_status lists_equal(struct evaluation *e, const json_t *a, const json_t *b, bool *out) {
  *out = json_array_size(a) == json_array_size(b);
  for (size_t i = 0; i < json_array_size(a) && *out; i++)
    TRY(values_equal(e, json_array_get(a, i), json_array_get(b, i), out));
  return HONE_OK;
}

static hone_status objects_equal(struct evaluation *e, const json_t *a, const json_t *b,
                                 bool *out) {
  const char *key;
  json_t *value;
  *out = json_object_size(a) == json_object_size(b);
  json_object_foreach((json_t *)(uintptr_t)a, key, value) {
    const json_t *other = json_object_get(b, key);
    if (*out && other)
      TRY(values_equal(e, value, other, out));
    else
      *out = false;
  }
  return HONE_OK;
}

hone_status values_equal(struct evaluation *e, const json_t *a, const json_t *b, bool *out) {
  TRY(spend(e, 1));
  *out = a == b;
  if (*out) return HONE_OK;
  if (is_number(a) && is_number(b)) {
    *out = json_is_integer(a) && json_is_integer(b) ? json_integer_value(a) == json_integer_value(b)
                                                    : number_value(a) == number_value(b);
  } else if (json_is_string(a) && json_is_string(b)) {
    *out = json_string_length(a) == json_string_length(b) &&
           !memcmp(json_string_value(a), json_string_value(b), json_string_length(a));
  } else if (json_is_array(a) && json_is_array(b)) {
    return lists_equal(e, a, b, out);
  } else if (json_is_object(a) && json_is_object(b)) {
    return objects_equal(e, a, b, out);
  }
  return HONE_OK;
}

hone_status value_contains(struct evaluation *e, const struct expr *at, const json_t *all,
                           json_t *x, bool *out) {
  *out = false;
  if (json_is_string(all) && json_is_string(x)) {
    *out = strstr(json_string_value(all), json_string_value(x)) != NULL;
  } else if (json_is_object(all)) {
    *out = json_is_string(x) && json_object_get(all, json_string_value(x));
  } else if (json_is_array(all)) {
    for (size_t i = 0; i < json_array_size(all) && !*out; i++)
      TRY(values_equal(e, json_array_get(all, i), x, out));
  } else if (all != e->undefined) {
    return template_fail(e, HONE_E_FORMAT, at->offset,
                         "\"in\" needs a list, a mapping or a string");
  }
  return HONE_OK;
}

/* -- text */

static void put_quoted(const json_t *x, enum text_form form, struct strbuf *out) {
  const char *s = json_string_value(x);
  const char quote = form == TEXT_JSON || (strchr(s, '\'') && !strchr(s, '"')) ? '"' : '\'';
  strbuf_append(out, &quote, 1);
  for (; *s; s++) {
    const unsigned char c = (unsigned char)*s;
    if (c == (unsigned char)quote || c == '\\')
      strbuf_printf(out, "\\%c", c);
    else if (c == '\n' || c == '\t' || c == '\r')
      strbuf_puts(out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
    else if (form == TEXT_JSON && (c == '\b' || c == '\f'))
      strbuf_puts(out, c == '\b' ? "\\b" : "\\f");
    else if (c < 0x20 || (c == 0x7F && form != TEXT_JSON))
      strbuf_printf(out, form == TEXT_JSON ? "\\u%04x" : "\\x%02x", c);
    else
      strbuf_append(out, s, 1);
  }
  strbuf_append(out, &quote, 1);
}

static void put_real(double x, struct strbuf *out) {
  char text[32];
  format_f64(text, x);
  strbuf_puts(out, text);
  if (!strpbrk(text, ".eNI")) strbuf_puts(out, ".0");
}

static void put_plain(const struct evaluation *e, const json_t *x, enum text_form form,
                      struct strbuf *out) {
  const bool is_json = form == TEXT_JSON;
  if (x == e->undefined)
    strbuf_puts(out, "");
  else if (json_is_null(x))
    strbuf_puts(out, is_json ? "null" : "None");
  else if (json_is_boolean(x))
    strbuf_puts(out, json_is_true(x) ? (is_json ? "true" : "True") : is_json ? "false" : "False");
  else if (json_is_integer(x))
    strbuf_printf(out, "%lld", (long long)json_integer_value(x));
  else if (json_is_real(x))
    put_real(json_real_value(x), out);
  else if (form == TEXT_PRINTED)
    strbuf_append(out, json_string_value(x), json_string_length(x));
  else
    put_quoted(x, form, out);
}

static void put_line(struct strbuf *out, int indent, int depth) {
  if (indent >= 0) strbuf_printf(out, "\n%*s", indent * depth, "");
}

struct writer {
  struct evaluation *e;
  enum text_form form;
  int indent, depth;
  struct strbuf *out;
};

static hone_status put(struct writer *w, const json_t *x);

static hone_status put_item(struct writer *w, size_t i, const char *key, const json_t *value) {
  if (i) strbuf_puts(w->out, w->indent >= 0 ? "," : ", ");
  put_line(w->out, w->indent, w->depth);
  if (key) {
    json_t *name = json_string(key);
    if (name) put_quoted(name, w->form, w->out);
    json_decref(name);
    strbuf_puts(w->out, ": ");
  }
  return put(w, value);
}

static hone_status put(struct writer *w, const json_t *x) {
  const size_t count = json_is_array(x) ? json_array_size(x) : json_object_size(x);
  const char *key;
  json_t *value;
  size_t i = 0;
  TRY(spend(w->e, 1));
  if (w->depth > TEMPLATE_DEPTH || w->out->length > TEMPLATE_OUTPUT)
    return template_fail(w->e, HONE_E_LIMIT, 0, "a value is too large, or nested too deeply");
  if (!json_is_array(x) && !json_is_object(x)) {
    put_plain(w->e, x, w->form, w->out);
    return HONE_OK;
  }
  strbuf_puts(w->out, json_is_array(x) ? "[" : "{");
  w->depth++;
  for (; json_is_array(x) && i < count; i++) TRY(put_item(w, i, NULL, json_array_get(x, i)));
  json_object_foreach((json_t *)(uintptr_t)x, key, value) TRY(put_item(w, i++, key, value));
  w->depth--;
  if (count) put_line(w->out, w->indent, w->depth);
  strbuf_puts(w->out, json_is_array(x) ? "]" : "}");
  return HONE_OK;
}

hone_status value_text(struct evaluation *e, const json_t *x, enum text_form form, int indent,
                       struct strbuf *out) {
  struct writer w = {e, form, indent, 0, out};
  if (form != TEXT_PRINTED || (!json_is_array(x) && !json_is_object(x))) return put(&w, x);
  w.form = TEXT_REPR; /* strings in lists are quoted */
  return put(&w, x);
}

/* -- loops */

static hone_status characters(struct evaluation *e, const json_t *x, json_t *list) {
  const char *s = json_string_value(x), *end = s + json_string_length(x);
  while (s < end) {
    size_t n = 1;
    while (s + n < end && ((uint8_t)s[n] & 0xC0) == 0x80) n++;
    TRY(spend(e, 1));
    json_array_append_new(list, json_stringn(s, n));
    s += n;
  }
  return HONE_OK;
}

hone_status value_elements(struct evaluation *e, const struct expr *at, json_t *x, json_t **out) {
  const char *key;
  json_t *value;
  *out = x;
  if (json_is_array(x)) return HONE_OK;
  if (x != e->undefined && !json_is_string(x) && !json_is_object(x))
    return template_fail(e, HONE_E_FORMAT, at->offset,
                         "a loop needs a list, a mapping or a string");
  TRY(own(e, json_array(), out));
  if (json_is_string(x) && x != e->undefined) return characters(e, x, *out);
  json_object_foreach(x, key, value) json_array_append_new(*out, json_string(key));
  return HONE_OK;
}
