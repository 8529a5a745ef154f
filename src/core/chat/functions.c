/* Filters, tests, methods and functions of chat templates. */
#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "template.h"

static json_t *argument(const struct values *args, size_t i, const char *name) {
  for (size_t k = 0; k < args->named_count; k++)
    if (name && !strcmp(args->named[k].name, name)) return args->named[k].value;
  return i < args->count ? args->at[i] : NULL;
}

static bool is_text(const struct evaluation *e, const json_t *x) {
  return json_is_string(x) && x != e->undefined;
}

static hone_status new_text(struct evaluation *e, const char *s, size_t size, json_t **out) {
  TRY(spend(e, (int64_t)(size >> 8)));
  return own(e, json_stringn(s, size), out);
}

static hone_status take_text(struct evaluation *e, struct strbuf *text, json_t **out) {
  hone_status status = strbuf_finish(e->ctx, text);
  if (!status && text->length > TEMPLATE_OUTPUT)
    status = fail(e->ctx, HONE_E_LIMIT, place_name("chat template"), "a text is too long");
  if (!status) status = new_text(e, text->at ? text->at : "", text->length, out);
  strbuf_deinit(text);
  return status;
}

static hone_status printed(struct evaluation *e, const json_t *x, json_t **out) {
  struct strbuf text = {0};
  hone_status status = value_text(e, x, TEXT_PRINTED, -1, &text);
  if (!status) return take_text(e, &text, out);
  strbuf_deinit(&text);
  return status;
}

static hone_status wrong(struct evaluation *e, const struct expr *at, const char *name) {
  return template_fail(e, HONE_E_FORMAT, at->offset, "\"%s\" does not fit this value", name);
}

/* -- strings */

enum { LEFT = 1, RIGHT = 2 };

static hone_status strip(struct evaluation *e, const json_t *x, const json_t *set, int sides,
                         json_t **out) {
  const char *s = json_string_value(x),
             *chars = set && json_is_string(set) ? json_string_value(set) : " \t\n\r\v\f";
  size_t from = 0, to = json_string_length(x);
  while (sides & LEFT && from < to && strchr(chars, s[from])) from++;
  while (sides & RIGHT && to > from && strchr(chars, s[to - 1])) to--;
  return new_text(e, s + from, to - from, out);
}

enum letters { LOWER, UPPER, TITLE, CAPITALIZED };

static hone_status change_letters(struct evaluation *e, const json_t *x, enum letters how,
                                  json_t **out) {
  struct strbuf text = {0};
  bool is_first = true;
  for (const char *s = json_string_value(x); *s; s++) {
    const unsigned char c = (unsigned char)*s;
    const bool up = how == UPPER || (how != LOWER && is_first);
    const char changed = (char)(c < 128 ? up ? toupper(c) : tolower(c) : c);
    is_first = how == TITLE && c < 128 && !isalpha(c);
    strbuf_append(&text, &changed, 1);
  }
  return take_text(e, &text, out);
}

static hone_status replace(struct evaluation *e, const json_t *x, const json_t *from,
                           const json_t *to, json_t **out) {
  struct strbuf text = {0};
  const char *s = json_string_value(x), *what = json_string_value(from), *found;
  while (*what && (found = strstr(s, what)) && text.length < TEMPLATE_OUTPUT) {
    strbuf_append(&text, s, (size_t)(found - s));
    strbuf_puts(&text, json_string_value(to));
    s = found + strlen(what);
  }
  strbuf_puts(&text, s);
  return take_text(e, &text, out);
}

/* By a separator, or NULL: by runs of spaces. */
static hone_status split(struct evaluation *e, const json_t *x, const json_t *by,
                         const json_t *most, bool from_right, json_t **out) {
  const char *s = json_string_value(x),
             *separator = by && json_is_string(by) ? json_string_value(by) : NULL;
  int64_t left = most && json_is_integer(most) && json_integer_value(most) >= 0
                     ? json_integer_value(most)
                     : INT64_MAX;
  size_t end = strlen(s);
  TRY(own(e, json_array(), out));
  TRY(spend(e, (int64_t)end));
  while (separator && *separator && from_right && left-- > 0) {
    size_t at = end;
    while (at > 0 && strncmp(s + at - 1, separator, strlen(separator))) at--;
    if (!at || at - 1 + strlen(separator) > end) break;
    json_array_insert_new(
        *out, 0, json_stringn(s + at - 1 + strlen(separator), end - (at - 1) - strlen(separator)));
    end = at - 1;
  }
  while (separator && *separator && !from_right && left-- > 0) {
    const char *found = strstr(s, separator);
    if (!found) break;
    json_array_append_new(*out, json_stringn(s, (size_t)(found - s)));
    end -= (size_t)(found - s) + strlen(separator);
    s = found + strlen(separator);
  }
  if (separator) {
    json_array_insert_new(*out, from_right ? 0 : json_array_size(*out), json_stringn(s, end));
    return HONE_OK;
  }
  for (;;) {
    while (isspace((unsigned char)*s)) s++;
    size_t n = 0;
    while (s[n] && (!isspace((unsigned char)s[n]) || left <= 0)) n++;
    if (!n) return HONE_OK;
    json_array_append_new(*out, json_stringn(s, n));
    left--;
    s += n;
  }
}

static bool has_affix(const json_t *x, const json_t *affix, bool is_end) {
  const size_t size = json_string_length(x), n = json_string_length(affix);
  if (json_is_array(affix)) {
    for (size_t i = 0; i < json_array_size(affix); i++)
      if (json_is_string(json_array_get(affix, i)) &&
          has_affix(x, json_array_get(affix, i), is_end))
        return true;
    return false;
  }
  return json_is_string(affix) && n <= size &&
         !memcmp(json_string_value(x) + (is_end ? size - n : 0), json_string_value(affix), n);
}

static hone_status join(struct evaluation *e, const json_t *list, const json_t *by, json_t **out) {
  struct strbuf text = {0};
  hone_status status = HONE_OK;
  for (size_t i = 0; i < json_array_size(list) && !status; i++) {
    if (i && by && json_is_string(by)) strbuf_puts(&text, json_string_value(by));
    status = value_text(e, json_array_get(list, i), TEXT_PRINTED, -1, &text);
  }
  if (!status) return take_text(e, &text, out);
  strbuf_deinit(&text);
  return status;
}

static hone_status count_in(struct evaluation *e, const json_t *x, const json_t *what,
                            json_t **out) {
  int64_t n = 0;
  const char *s = json_string_value(x), *part = json_string_value(what);
  for (; part && *part && (s = strstr(s, part)); s += strlen(part)) n++;
  return own(e, json_integer(n), out);
}

static hone_status string_method(struct evaluation *e, const struct expr *at, const char *name,
                                 json_t *x, const struct values *args, json_t **out) {
  json_t *a = argument(args, 0, NULL), *b = argument(args, 1, NULL);
  if (!strcmp(name, "strip")) return strip(e, x, a, LEFT | RIGHT, out);
  if (!strcmp(name, "lstrip")) return strip(e, x, a, LEFT, out);
  if (!strcmp(name, "rstrip")) return strip(e, x, a, RIGHT, out);
  if (!strcmp(name, "lower")) return change_letters(e, x, LOWER, out);
  if (!strcmp(name, "upper")) return change_letters(e, x, UPPER, out);
  if (!strcmp(name, "title")) return change_letters(e, x, TITLE, out);
  if (!strcmp(name, "capitalize")) return change_letters(e, x, CAPITALIZED, out);
  if (!strcmp(name, "split"))
    return split(e, x, argument(args, 0, "sep"), argument(args, 1, "maxsplit"), false, out);
  if (!strcmp(name, "rsplit"))
    return split(e, x, argument(args, 0, "sep"), argument(args, 1, "maxsplit"), true, out);
  if (!strcmp(name, "splitlines")) return split(e, x, NULL, NULL, false, out);
  if (!strcmp(name, "startswith") || !strcmp(name, "endswith")) {
    *out = json_boolean(a && has_affix(x, a, *name == 'e'));
    return HONE_OK;
  }
  if (!strcmp(name, "replace") && a && b && is_text(e, a) && is_text(e, b))
    return replace(e, x, a, b, out);
  if (!strcmp(name, "join") && json_is_array(a)) return join(e, a, x, out);
  if (!strcmp(name, "count") && json_is_string(a)) return count_in(e, x, a, out);
  if (!strcmp(name, "find") && json_is_string(a)) {
    const char *found = strstr(json_string_value(x), json_string_value(a));
    return own(e, json_integer(found ? found - json_string_value(x) : -1), out);
  }
  return template_fail(e, HONE_E_UNSUP, at->offset, "strings have no method \"%.40s\"", name);
}

/* -- mappings */

static hone_status items_of(struct evaluation *e, json_t *x, bool keys, bool values, json_t **out) {
  const char *key;
  json_t *value;
  TRY(own(e, json_array(), out));
  json_object_foreach(x, key, value) {
    TRY(spend(e, 1));
    json_array_append_new(*out, keys && values ? json_pack("[s, O]", key, value)
                                : keys         ? json_string(key)
                                               : json_incref(value));
  }
  return HONE_OK;
}

static hone_status object_method(struct evaluation *e, const struct expr *at, const char *name,
                                 json_t *x, const struct values *args, json_t **out) {
  json_t *key = argument(args, 0, NULL), *otherwise = argument(args, 1, NULL);
  if (!strcmp(name, "items")) return items_of(e, x, true, true, out);
  if (!strcmp(name, "keys")) return items_of(e, x, true, false, out);
  if (!strcmp(name, "values")) return items_of(e, x, false, true, out);
  if (strcmp(name, "get") != 0 || !json_is_string(key))
    return template_fail(e, HONE_E_UNSUP, at->offset, "mappings have no method \"%.40s\"", name);
  *out = json_object_get(x, json_string_value(key));
  if (!*out) *out = otherwise ? otherwise : json_null();
  return HONE_OK;
}

hone_status call_method(struct evaluation *e, const struct expr *at, const char *name, json_t *x,
                        const struct values *args, json_t **out) {
  if (is_text(e, x)) return string_method(e, at, name, x, args, out);
  if (json_is_object(x)) return object_method(e, at, name, x, args, out);
  return template_fail(e, HONE_E_UNSUP, at->offset, "this value has no method \"%.40s\"", name);
}

/* -- functions */

static hone_status make_range(struct evaluation *e, const struct values *args, json_t **out) {
  int64_t n[3] = {0, 0, 1};
  for (size_t i = 0; i < args->count && i < 3; i++) n[i] = (int64_t)number_value(args->at[i]);
  if (args->count == 1) n[1] = n[0], n[0] = 0;
  TRY(own(e, json_array(), out));
  for (int64_t i = n[0]; n[2] && (n[2] > 0 ? i < n[1] : i > n[1]); i += n[2]) {
    TRY(spend(e, 1));
    json_array_append_new(*out, json_integer(i));
  }
  return HONE_OK;
}

static hone_status time_now(struct evaluation *e, const json_t *format, json_t **out) {
  char text[256];
  const time_t now = time(NULL);
  struct tm parts;
  localtime_r(&now, &parts);
  const size_t n = strftime(
      text, sizeof text, json_is_string(format) ? json_string_value(format) : "%Y-%m-%d", &parts);
  return new_text(e, text, n, out);
}

hone_status call_function(struct evaluation *e, const struct expr *at, const char *name,
                          const struct values *args, json_t **out) {
  json_t *a = argument(args, 0, NULL);
  if (!strcmp(name, "raise_exception"))
    return fail(e->ctx, HONE_E_USAGE, place_name("chat template"), "%.300s",
                json_is_string(a) ? json_string_value(a) : "the messages are refused");
  if (!strcmp(name, "range") && args->count) return make_range(e, args, out);
  if (!strcmp(name, "strftime_now")) return time_now(e, a, out);
  if (!strcmp(name, "namespace") || !strcmp(name, "dict")) {
    TRY(own(e, json_is_object(a) ? json_copy(a) : json_object(), out));
    for (size_t k = 0; k < args->named_count; k++)
      json_object_set(*out, args->named[k].name, args->named[k].value);
    return HONE_OK;
  }
  return template_fail(e, HONE_E_UNSUP, at->offset, "there is no function \"%.40s\"", name);
}

/* -- tests */

hone_status apply_test(struct evaluation *e, const struct expr *at, const char *name, json_t *x,
                       const struct values *args, bool *out) {
  static const char *const names[] = {"defined", "undefined", "none",     "string",  "mapping",
                                      "number",  "integer",   "float",    "boolean", "true",
                                      "false",   "iterable",  "sequence", "odd",     "even"};
  const bool is_defined = x != e->undefined, is_list = json_is_array(x);
  json_t *a = argument(args, 0, NULL);
  const bool found[] = {is_defined,
                        !is_defined,
                        json_is_null(x),
                        is_text(e, x),
                        json_is_object(x),
                        is_number(x),
                        json_is_integer(x),
                        json_is_real(x),
                        json_is_boolean(x),
                        json_is_true(x),
                        json_is_false(x),
                        is_list || is_text(e, x) || json_is_object(x),
                        is_list || is_text(e, x) || json_is_object(x),
                        json_is_integer(x) && json_integer_value(x) % 2,
                        json_is_integer(x) && json_integer_value(x) % 2 == 0};
  for (size_t i = 0; i < COUNT(names); i++)
    if (!strcmp(name, names[i])) {
      *out = found[i];
      return HONE_OK;
    }
  if (a && (!strcmp(name, "equalto") || !strcmp(name, "eq"))) return values_equal(e, x, a, out);
  if (a && !strcmp(name, "ne")) {
    TRY(values_equal(e, x, a, out));
    *out = !*out;
    return HONE_OK;
  }
  if (a && !strcmp(name, "in")) return value_contains(e, at, a, x, out);
  if (a && !strcmp(name, "divisibleby") && json_is_integer(x) && json_is_integer(a) &&
      json_integer_value(a)) {
    *out = json_integer_value(x) % json_integer_value(a) == 0;
    return HONE_OK;
  }
  return template_fail(e, HONE_E_UNSUP, at->offset, "there is no test \"%.40s\"", name);
}

/* -- filters over lists */

static hone_status attribute_of(struct evaluation *e, json_t *x, const json_t *name, json_t **out) {
  json_t *found = json_is_string(name) ? json_object_get(x, json_string_value(name)) : NULL;
  *out = found ? found : e->undefined;
  return HONE_OK;
}

/* select, reject, and by attribute: selectattr("role", "equalto", "user"). */
static hone_status select_items(struct evaluation *e, const struct expr *at, json_t *list,
                                const struct values *args, bool by_attribute, bool keeps,
                                json_t **out) {
  const size_t first = by_attribute ? 1 : 0;
  json_t *test = argument(args, first, NULL);
  struct values rest = {0};
  for (size_t i = first + 1; i < args->count; i++) rest.at[rest.count++] = args->at[i];
  TRY(own(e, json_array(), out));
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *item = json_array_get(list, i), *x = item;
    if (by_attribute) TRY(attribute_of(e, item, args->at[0], &x));
    bool is = is_true(e, x);
    if (json_is_string(test)) TRY(apply_test(e, at, json_string_value(test), x, &rest, &is));
    if (is == keeps) json_array_append(*out, item);
  }
  return HONE_OK;
}

static hone_status map_items(struct evaluation *e, const struct expr *at, json_t *list,
                             const struct values *args, json_t **out) {
  json_t *attribute = argument(args, COUNT(args->at), "attribute");
  struct values rest = {0};
  for (size_t i = 1; i < args->count; i++) rest.at[rest.count++] = args->at[i];
  TRY(own(e, json_array(), out));
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *item = json_array_get(list, i), *y;
    if (attribute)
      TRY(attribute_of(e, item, attribute, &y));
    else if (args->count && json_is_string(args->at[0]))
      TRY(apply_filter(e, at, json_string_value(args->at[0]), item, &rest, &y));
    else
      return wrong(e, at, "map");
    json_array_append(*out, y);
  }
  return HONE_OK;
}

static hone_status reverse(struct evaluation *e, json_t *list, json_t **out) {
  TRY(own(e, json_array(), out));
  for (size_t i = json_array_size(list); i-- > 0;) json_array_append(*out, json_array_get(list, i));
  return HONE_OK;
}

static hone_status unique(struct evaluation *e, const struct expr *at, json_t *list, json_t **out) {
  TRY(own(e, json_array(), out));
  for (size_t i = 0; i < json_array_size(list); i++) {
    bool is_there;
    TRY(value_contains(e, at, *out, json_array_get(list, i), &is_there));
    if (!is_there) json_array_append(*out, json_array_get(list, i));
  }
  return HONE_OK;
}

static int in_order(const void *a, const void *b) {
  const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
  if (is_number(x) && is_number(y))
    return (number_value(x) > number_value(y)) - (number_value(x) < number_value(y));
  return json_is_string(x) && json_is_string(y) ? strcmp(json_string_value(x), json_string_value(y))
                                                : 0;
}

static hone_status sort(struct evaluation *e, json_t *list, json_t **out) {
  const size_t count = json_array_size(list);
  json_t **items;
  TRY(NEW_ARRAY(e->ctx, e->arena, items, count + 1));
  TRY(own(e, json_array(), out));
  for (size_t i = 0; i < count; i++) items[i] = json_array_get(list, i);
  qsort(items, count, sizeof *items, in_order);
  for (size_t i = 0; i < count; i++) json_array_append(*out, items[i]);
  return HONE_OK;
}

static hone_status list_filter(struct evaluation *e, const struct expr *at, const char *name,
                               json_t *x, const struct values *args, json_t **out) {
  json_t *list;
  TRY(value_elements(e, at, x, &list));
  const size_t count = json_array_size(list);
  TRY(spend(e, (int64_t)count));
  if (!strcmp(name, "length") || !strcmp(name, "count"))
    return own(e, json_integer((json_int_t)count), out);
  if (!strcmp(name, "first") || !strcmp(name, "last")) {
    *out = count ? json_array_get(list, *name == 'f' ? 0 : count - 1) : e->undefined;
    return HONE_OK;
  }
  if (!strcmp(name, "list")) return own(e, json_copy(list), out);
  if (!strcmp(name, "join")) return join(e, list, argument(args, 0, "d"), out);
  if (!strcmp(name, "reverse"))
    return json_is_string(x) ? wrong(e, at, name) : reverse(e, list, out);
  if (!strcmp(name, "unique")) return unique(e, at, list, out);
  if (!strcmp(name, "sort")) return sort(e, list, out);
  if (!strcmp(name, "map")) return map_items(e, at, list, args, out);
  const bool by_attribute = strstr(name, "attr") != NULL;
  if (!strncmp(name, "select", 6) && (!by_attribute || args->count))
    return select_items(e, at, list, args, by_attribute, true, out);
  if (!strncmp(name, "reject", 6) && (!by_attribute || args->count))
    return select_items(e, at, list, args, by_attribute, false, out);
  return template_fail(e, HONE_E_UNSUP, at->offset, "there is no filter \"%.40s\"", name);
}

/* -- other filters */

static hone_status to_json(struct evaluation *e, const json_t *x, const struct values *args,
                           json_t **out) {
  const json_t *indent = argument(args, 0, "indent");
  struct strbuf text = {0};
  hone_status status = value_text(
      e, x, TEXT_JSON,
      indent && json_is_integer(indent) ? (int)json_integer_value(indent) & 15 : -1, &text);
  if (!status) return take_text(e, &text, out);
  strbuf_deinit(&text);
  return status;
}

static hone_status indent_lines(struct evaluation *e, const json_t *x, const struct values *args,
                                json_t **out) {
  const json_t *width = argument(args, 0, "width"), *first = argument(args, 1, "first");
  struct strbuf text = {0};
  const int n = width && json_is_integer(width) ? (int)json_integer_value(width) & 63 : 4;
  if (first && json_is_true(first)) strbuf_printf(&text, "%*s", n, "");
  for (const char *s = json_string_value(x); *s && text.length < TEMPLATE_OUTPUT; s++) {
    strbuf_append(&text, s, 1);
    if (*s == '\n' && s[1] && s[1] != '\n') strbuf_printf(&text, "%*s", n, "");
  }
  return take_text(e, &text, out);
}

static hone_status to_number(struct evaluation *e, const json_t *x, bool is_int, json_t **out) {
  const double number = json_is_string(x) ? strtod(json_string_value(x), NULL) : number_value(x);
  const bool is_safe = number > -0x1p53 && number < 0x1p53;
  return own(
      e, is_int ? json_integer(is_safe ? (json_int_t)number : 0) : json_real(is_safe ? number : 0),
      out);
}

static hone_status text_filter(struct evaluation *e, const struct expr *at, const char *name,
                               json_t *x, const struct values *args, json_t **out) {
  json_t *a = argument(args, 0, NULL), *b = argument(args, 1, NULL);
  if (!is_text(e, x)) TRY(printed(e, x, &x));
  if (!strcmp(name, "trim")) return strip(e, x, a, LEFT | RIGHT, out);
  if (!strcmp(name, "lower")) return change_letters(e, x, LOWER, out);
  if (!strcmp(name, "upper")) return change_letters(e, x, UPPER, out);
  if (!strcmp(name, "title")) return change_letters(e, x, TITLE, out);
  if (!strcmp(name, "capitalize")) return change_letters(e, x, CAPITALIZED, out);
  if (!strcmp(name, "indent")) return indent_lines(e, x, args, out);
  if (!strcmp(name, "replace") && a && b && is_text(e, a) && is_text(e, b))
    return replace(e, x, a, b, out);
  *out = x; /* string, safe, escape without autoescape */
  return !strcmp(name, "replace") ? wrong(e, at, name) : HONE_OK;
}

hone_status apply_filter(struct evaluation *e, const struct expr *at, const char *name, json_t *x,
                         const struct values *args, json_t **out) {
  static const char *const of_text[] = {"trim",   "lower",   "upper",  "title", "capitalize",
                                        "indent", "replace", "string", "safe"};
  TRY(spend(e, 1));
  for (size_t i = 0; i < COUNT(of_text); i++)
    if (!strcmp(name, of_text[i])) return text_filter(e, at, name, x, args, out);
  if (!strcmp(name, "tojson")) return to_json(e, x, args, out);
  if (!strcmp(name, "int") || !strcmp(name, "float")) return to_number(e, x, *name == 'i', out);
  if (!strcmp(name, "abs"))
    return own(e, json_real(number_value(x) < 0 ? -number_value(x) : number_value(x)), out);
  if (!strcmp(name, "items") || !strcmp(name, "dictsort"))
    return json_is_object(x) ? items_of(e, x, true, true, out) : wrong(e, at, name);
  if (!strcmp(name, "default") || !strcmp(name, "d")) {
    const json_t *boolean = argument(args, 1, "boolean");
    const bool is_missing = x == e->undefined || (boolean && is_true(e, boolean) && !is_true(e, x));
    json_t *otherwise = argument(args, 0, "default_value");
    *out = is_missing ? otherwise ? otherwise : e->undefined : x;
    return HONE_OK;
  }
  return list_filter(e, at, name, x, args, out);
}
