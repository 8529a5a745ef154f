/* Evaluates the tree of a chat template. */
#include <math.h>

#include "template.h"

/* -- variables */

static hone_status bind(struct evaluation *e, const char *name, json_t *value) {
  struct binding *binding;
  TRY(NEW(e->ctx, e->arena, binding));
  *binding = (struct binding){name, value, e->bindings};
  e->bindings = binding;
  return HONE_OK;
}

static json_t *look_up(const struct evaluation *e, const char *name) {
  for (const struct binding *b = e->bindings; b; b = b->before)
    if (!strcmp(b->name, name)) return b->value;
  json_t *value = json_object_get(e->variables, name);
  return value ? value : e->undefined;
}

/* -- expressions */

static hone_status evaluate_values(struct evaluation *e, const struct expr *expr,
                                   struct values *out) {
  *out = (struct values){0};
  for (size_t i = 0; i < expr->args.count; i++) {
    json_t *value;
    const struct argument *argument = &expr->args.at[i];
    if (out->count + out->named_count == COUNT(out->at))
      return template_fail(e, HONE_E_UNSUP, expr->offset, "more than 8 arguments");
    TRY(evaluate(e, argument->value, &value));
    if (argument->name) {
      out->named[out->named_count].name = argument->name;
      out->named[out->named_count++].value = value;
    } else {
      out->at[out->count++] = value;
    }
  }
  return HONE_OK;
}

/* The n-th character as a string. */
static hone_status character_at(struct evaluation *e, json_t *x, int64_t n, json_t **out) {
  json_t *all;
  const struct expr nowhere = {.offset = 0};
  TRY(value_elements(e, &nowhere, x, &all));
  const int64_t size = (int64_t)json_array_size(all);
  json_t *found = json_array_get(all, (size_t)(n < 0 ? n + size : n));
  *out = found && n >= -size ? found : e->undefined;
  return HONE_OK;
}

static hone_status get(struct evaluation *e, const struct expr *expr, json_t **out) {
  json_t *x, *key;
  TRY(evaluate(e, expr->a, &x));
  TRY(evaluate(e, expr->b, &key));
  *out = e->undefined;
  if (x == e->undefined)
    return template_fail(e, HONE_E_FORMAT, expr->offset, "\"%s\" of an undefined value",
                         json_is_string(key) ? json_string_value(key) : "an element");
  if (json_is_object(x) && json_is_string(key)) {
    json_t *found = json_object_get(x, json_string_value(key));
    if (found) *out = found;
  } else if (json_is_array(x) && is_number(key)) {
    const int64_t n = (int64_t)number_value(key), size = (int64_t)json_array_size(x);
    json_t *found = n >= -size ? json_array_get(x, (size_t)(n < 0 ? n + size : n)) : NULL;
    if (found) *out = found;
  } else if (json_is_string(x) && is_number(key)) {
    return character_at(e, x, (int64_t)number_value(key), out);
  }
  return HONE_OK;
}

/* A bound of a slice as Python clips it. */
static int64_t clip_bound(const json_t *x, int64_t otherwise, int64_t size, bool is_down) {
  if (!x || !json_is_integer(x)) return otherwise;
  int64_t n = json_integer_value(x);
  if (n < 0) n += size;
  const int64_t low = is_down ? -1 : 0, high = is_down ? size - 1 : size;
  return n < low ? low : n > high ? high : n;
}

static hone_status slice(struct evaluation *e, const struct expr *expr, json_t **out) {
  json_t *x, *bounds[3] = {NULL, NULL, NULL}, *all, *made;
  const struct expr *const parts[] = {expr->b, expr->c, expr->d};
  TRY(evaluate(e, expr->a, &x));
  for (int k = 0; k < 3; k++)
    if (parts[k]) TRY(evaluate(e, parts[k], &bounds[k]));
  TRY(value_elements(e, expr, x, &all));
  const int64_t size = (int64_t)json_array_size(all);
  const int64_t step = bounds[2] && json_is_integer(bounds[2]) ? json_integer_value(bounds[2]) : 1;
  if (!step) return template_fail(e, HONE_E_FORMAT, expr->offset, "a slice with step 0");
  const int64_t first = clip_bound(bounds[0], step < 0 ? size - 1 : 0, size, step < 0);
  const int64_t last = clip_bound(bounds[1], step < 0 ? -1 : size, size, step < 0);
  struct strbuf text = {0};
  TRY(own(e, json_array(), &made));
  for (int64_t i = first; step < 0 ? i > last : i < last; i += step) {
    json_t *item = json_array_get(all, (size_t)i);
    json_array_append(made, item);
    if (json_is_string(x)) strbuf_puts(&text, json_string_value(item));
    if (step > size || step < -size) break;
  }
  *out = made;
  hone_status status = spend(e, (int64_t)json_array_size(made));
  if (!status && json_is_string(x))
    status = own(e, json_stringn(text.at ? text.at : "", text.length), out);
  strbuf_deinit(&text);
  return status;
}

static hone_status compare(struct evaluation *e, const struct expr *expr, json_t *a, json_t *b,
                           int *out) {
  if (is_number(a) && is_number(b)) {
    const double x = number_value(a), y = number_value(b);
    *out = (x > y) - (x < y);
    return HONE_OK;
  }
  if (!json_is_string(a) || !json_is_string(b) || a == e->undefined || b == e->undefined)
    return template_fail(e, HONE_E_FORMAT, expr->offset, "values that have no order");
  *out = strcmp(json_string_value(a), json_string_value(b));
  return HONE_OK;
}

static hone_status join_text(struct evaluation *e, json_t *a, json_t *b, json_t **out) {
  struct strbuf text = {0};
  hone_status status = value_text(e, a, TEXT_PRINTED, -1, &text);
  if (!status) status = value_text(e, b, TEXT_PRINTED, -1, &text);
  if (!status) status = strbuf_finish(e->ctx, &text);
  if (!status && text.length > TEMPLATE_OUTPUT)
    status = fail(e->ctx, HONE_E_LIMIT, place_name("chat template"), "a text is too long");
  if (!status) status = spend(e, (int64_t)(text.length >> 8));
  if (!status) status = own(e, json_stringn(text.at ? text.at : "", text.length), out);
  strbuf_deinit(&text);
  return status;
}

static hone_status add_values(struct evaluation *e, const struct expr *expr, json_t *a, json_t *b,
                              json_t **out) {
  if (json_is_string(a) && json_is_string(b) && a != e->undefined && b != e->undefined)
    return join_text(e, a, b, out);
  if (!json_is_array(a) || !json_is_array(b))
    return template_fail(e, HONE_E_FORMAT, expr->offset,
                         "\"+\" needs two numbers, strings or lists");
  TRY(own(e, json_copy(a), out));
  TRY(spend(e, (int64_t)(json_array_size(a) + json_array_size(b))));
  json_array_extend(*out, b);
  return HONE_OK;
}

static hone_status arithmetic(struct evaluation *e, const struct expr *expr, json_t *a, json_t *b,
                              json_t **out) {
  const char *symbol = expr->name;
  const double x = number_value(a), y = number_value(b);
  if (!is_number(a) || !is_number(b)) {
    if (*symbol == '+') return add_values(e, expr, a, b, out);
    return template_fail(e, HONE_E_FORMAT, expr->offset, "\"%s\" needs two numbers", symbol);
  }
  if ((*symbol == '/' || *symbol == '%') && y == 0)
    return template_fail(e, HONE_E_FORMAT, expr->offset, "a division by 0");
  const double z = *symbol == '+'          ? x + y
                   : *symbol == '-'        ? x - y
                   : *symbol == '*'        ? x * y
                   : !strcmp(symbol, "//") ? floor(x / y)
                   : *symbol == '/'        ? x / y
                                           : x - y * floor(x / y);
  const bool is_int =
      !json_is_real(a) && !json_is_real(b) && strcmp(symbol, "/") != 0 && fabs(z) < 0x1p53;
  return own(e, is_int ? json_integer((json_int_t)z) : json_real(isfinite(z) ? z : 0), out);
}

static hone_status binary(struct evaluation *e, const struct expr *expr, json_t **out) {
  json_t *a, *b;
  bool is = false;
  int order = 0;
  const char *symbol = expr->name;
  TRY(evaluate(e, expr->a, &a));
  TRY(evaluate(e, expr->b, &b));
  if (*symbol == '~') return join_text(e, a, b, out);
  if (!strcmp(symbol, "in") || !strcmp(symbol, "not in")) {
    TRY(value_contains(e, expr, b, a, &is));
    is ^= *symbol == 'n';
  } else if (!strcmp(symbol, "==") || !strcmp(symbol, "!=")) {
    TRY(values_equal(e, a, b, &is));
    is ^= *symbol == '!';
  } else if (*symbol == '<' || *symbol == '>') {
    TRY(compare(e, expr, a, b, &order));
    is = (symbol[1] && !order) || (*symbol == '<' ? order < 0 : order > 0);
  } else {
    return arithmetic(e, expr, a, b, out);
  }
  *out = json_boolean(is);
  return HONE_OK;
}

static hone_status make_list(struct evaluation *e, const struct expr *expr, json_t **out) {
  json_t *made;
  TRY(own(e, expr->kind == EXPR_LIST ? json_array() : json_object(), &made));
  for (size_t i = 0; i < expr->args.count; i++) {
    json_t *value, *key = NULL;
    if (expr->kind == EXPR_DICT) TRY(evaluate(e, expr->args.at[i++].value, &key));
    TRY(evaluate(e, expr->args.at[i].value, &value));
    if (key && !json_is_string(key))
      return template_fail(e, HONE_E_UNSUP, expr->offset, "a key that is not a string");
    if (key)
      json_object_set(made, json_string_value(key), value);
    else
      json_array_append(made, value);
  }
  *out = made;
  return HONE_OK;
}

static hone_status run_block(struct evaluation *e, const struct block *block);

static hone_status bind_parameters(struct evaluation *e, const struct statement *s,
                                   const struct values *args) {
  for (size_t i = 0; i < s->names.count; i++) {
    json_t *value = i < args->count ? args->at[i] : NULL;
    for (size_t k = 0; k < args->named_count && !value; k++)
      if (!strcmp(args->named[k].name, s->names.at[i])) value = args->named[k].value;
    if (!value && s->defaults.at[i]) TRY(evaluate(e, s->defaults.at[i], &value));
    TRY(bind(e, s->names.at[i], value ? value : e->undefined));
  }
  return HONE_OK;
}

/* Renders a block into a string. */
static hone_status capture(struct evaluation *e, const struct block *block, json_t **out) {
  struct strbuf text = {0}, *outer = e->out;
  e->out = &text;
  hone_status status = run_block(e, block);
  e->out = outer;
  if (!status) status = strbuf_finish(e->ctx, &text);
  if (!status) status = own(e, json_stringn(text.at ? text.at : "", text.length), out);
  strbuf_deinit(&text);
  return status;
}

static hone_status call_macro(struct evaluation *e, const struct statement *s,
                              const struct values *args, json_t **out) {
  struct binding *before = e->bindings;
  if (e->depth > TEMPLATE_DEPTH)
    return template_fail(e, HONE_E_LIMIT, s->offset, "macros are called too deeply");
  TRY(bind_parameters(e, s, args));
  TRY(capture(e, &s->body, out));
  e->bindings = before;
  return HONE_OK;
}

static hone_status call(struct evaluation *e, const struct expr *expr, json_t **out) {
  const struct expr *callee = expr->a;
  struct values args;
  json_t *x;
  TRY(evaluate_values(e, expr, &args));
  if (callee->kind == EXPR_GET && callee->name) {
    TRY(evaluate(e, callee->a, &x));
    return call_method(e, expr, callee->name, x, &args, out);
  }
  if (callee->kind != EXPR_NAME)
    return template_fail(e, HONE_E_FORMAT, expr->offset, "a value that is not a function");
  for (const struct macro *m = e->macros; m; m = m->before)
    if (!strcmp(m->statement->text, callee->name)) return call_macro(e, m->statement, &args, out);
  return call_function(e, expr, callee->name, &args, out);
}

static hone_status filter_or_test(struct evaluation *e, const struct expr *expr, json_t **out) {
  struct values args;
  json_t *x;
  bool is;
  TRY(evaluate(e, expr->a, &x));
  TRY(evaluate_values(e, expr, &args));
  if (expr->kind == EXPR_FILTER) return apply_filter(e, expr, expr->name, x, &args, out);
  TRY(apply_test(e, expr, expr->name, x, &args, &is));
  *out = json_boolean(is);
  return HONE_OK;
}

static hone_status negate(struct evaluation *e, const struct expr *expr, json_t **out) {
  json_t *x;
  TRY(evaluate(e, expr->a, &x));
  if (expr->kind == EXPR_NOT) {
    *out = json_boolean(!is_true(e, x));
    return HONE_OK;
  }
  if (!is_number(x)) return template_fail(e, HONE_E_FORMAT, expr->offset, "\"-\" needs a number");
  return own(
      e,
      json_is_real(x) ? json_real(-json_real_value(x)) : json_integer(-(json_int_t)number_value(x)),
      out);
}

static hone_status choose(struct evaluation *e, const struct expr *expr, json_t **out) {
  json_t *x;
  TRY(evaluate(e, expr->a, &x));
  const bool is = is_true(e, x);
  *out = x;
  switch (expr->kind) {
    case EXPR_AND:
      return is ? evaluate(e, expr->b, out) : HONE_OK;
    case EXPR_OR:
      return is ? HONE_OK : evaluate(e, expr->b, out);
    default:
      *out = e->undefined;
      return is ? evaluate(e, expr->b, out) : expr->c ? evaluate(e, expr->c, out) : HONE_OK;
  }
}

hone_status evaluate(struct evaluation *e, const struct expr *expr, json_t **out) {
  TRY(spend(e, 1));
  switch (expr->kind) {
    case EXPR_LITERAL:
      *out = expr->literal;
      return HONE_OK;
    case EXPR_NAME:
      *out = look_up(e, expr->name);
      return HONE_OK;
    case EXPR_GET:
      return get(e, expr, out);
    case EXPR_SLICE:
      return slice(e, expr, out);
    case EXPR_CALL:
      return call(e, expr, out);
    case EXPR_FILTER:
    case EXPR_TEST:
      return filter_or_test(e, expr, out);
    case EXPR_NOT:
    case EXPR_MINUS:
      return negate(e, expr, out);
    case EXPR_BINARY:
      return binary(e, expr, out);
    case EXPR_LIST:
    case EXPR_DICT:
      return make_list(e, expr, out);
    default:
      return choose(e, expr, out);
  }
}

/* -- statements */

/* One target takes the value; several take its elements. */
static hone_status bind_targets(struct evaluation *e, const struct statement *s, json_t *value) {
  if (s->names.count == 1) return bind(e, s->names.at[0], value);
  if (!json_is_array(value) || json_array_size(value) != s->names.count)
    return template_fail(e, HONE_E_FORMAT, s->offset, "the value has not %zu elements",
                         s->names.count);
  for (size_t i = 0; i < s->names.count; i++)
    TRY(bind(e, s->names.at[i], json_array_get(value, i)));
  return HONE_OK;
}

/* `loop` of a for statement. */
static hone_status bind_loop(struct evaluation *e, json_t *items, size_t i) {
  const size_t count = json_array_size(items);
  json_t *loop;
  TRY(own(e,
          json_pack("{s:I, s:I, s:I, s:I, s:b, s:b, s:I}", "index", (json_int_t)i + 1, "index0",
                    (json_int_t)i, "revindex", (json_int_t)(count - i), "revindex0",
                    (json_int_t)(count - i - 1), "first", i == 0, "last", i + 1 == count, "length",
                    (json_int_t)count),
          &loop));
  if (i) json_object_set(loop, "previtem", json_array_get(items, i - 1));
  if (i + 1 < count) json_object_set(loop, "nextitem", json_array_get(items, i + 1));
  return bind(e, "loop", loop);
}

static hone_status filter_items(struct evaluation *e, const struct statement *s, json_t *all,
                                json_t **out) {
  struct binding *before = e->bindings;
  *out = all;
  if (!s->filter) return HONE_OK;
  TRY(own(e, json_array(), out));
  for (size_t i = 0; i < json_array_size(all); i++) {
    json_t *is;
    TRY(bind_targets(e, s, json_array_get(all, i)));
    TRY(evaluate(e, s->filter, &is));
    if (is_true(e, is)) json_array_append(*out, json_array_get(all, i));
    e->bindings = before;
  }
  return HONE_OK;
}

static hone_status run_for(struct evaluation *e, const struct statement *s) {
  json_t *x, *all, *items;
  const struct expr at = {.offset = s->offset};
  struct binding *before = e->bindings;
  TRY(evaluate(e, s->expr, &x));
  TRY(value_elements(e, &at, x, &all));
  TRY(filter_items(e, s, all, &items));
  if (!json_array_size(items)) return run_block(e, &s->otherwise);
  for (size_t i = 0; i < json_array_size(items) && e->flow != FLOW_BREAK; i++) {
    e->flow = FLOW_ON;
    TRY(bind_loop(e, items, i));
    TRY(bind_targets(e, s, json_array_get(items, i)));
    TRY(run_block(e, &s->body));
    e->bindings = before;
  }
  e->flow = FLOW_ON;
  return HONE_OK;
}

static hone_status count_elements(struct evaluation *e, const json_t *x, int depth) {
  const char *key;
  json_t *value;
  TRY(spend(e, 1));
  if (depth > TEMPLATE_DEPTH)
    return fail(e->ctx, HONE_E_LIMIT, place_name("chat template"), "a value is nested too deeply");
  for (size_t i = 0; i < json_array_size(x); i++)
    TRY(count_elements(e, json_array_get(x, i), depth + 1));
  json_object_foreach((json_t *)(uintptr_t)x, key, value) TRY(count_elements(e, value, depth + 1));
  return HONE_OK;
}

/* An attribute gets a copy, so that no value can contain itself. */
static hone_status run_set(struct evaluation *e, const struct statement *s) {
  json_t *value;
  if (s->kind == SET_BLOCK)
    TRY(capture(e, &s->body, &value));
  else
    TRY(evaluate(e, s->expr, &value));
  if (!s->attribute) return bind_targets(e, s, value);
  json_t *of = look_up(e, s->names.at[0]);
  if (!json_is_object(of))
    return template_fail(e, HONE_E_FORMAT, s->offset, "\"%s\" is not a namespace", s->names.at[0]);
  TRY(count_elements(e, value, 0));
  if (value == e->undefined) return json_object_set(of, s->attribute, value), HONE_OK;
  TRY(own(e, json_deep_copy(value), &value));
  json_object_set(of, s->attribute, value);
  return HONE_OK;
}

static hone_status run_if(struct evaluation *e, const struct statement *s) {
  json_t *x;
  TRY(evaluate(e, s->expr, &x));
  return run_block(e, is_true(e, x) ? &s->body : &s->otherwise);
}

static hone_status add_macro(struct evaluation *e, const struct statement *s) {
  struct macro *macro;
  TRY(NEW(e->ctx, e->arena, macro));
  *macro = (struct macro){s, e->macros};
  e->macros = macro;
  return HONE_OK;
}

static hone_status print(struct evaluation *e, const struct statement *s) {
  json_t *x;
  TRY(evaluate(e, s->expr, &x));
  return value_text(e, x, TEXT_PRINTED, -1, e->out);
}

static hone_status run_statement(struct evaluation *e, const struct statement *s) {
  TRY(spend(e, 1));
  switch (s->kind) {
    case TEXT:
      strbuf_append(e->out, s->text, s->size);
      return HONE_OK;
    case OUTPUT:
      return print(e, s);
    case IF:
      return run_if(e, s);
    case FOR:
      return run_for(e, s);
    case SET:
    case SET_BLOCK:
      return run_set(e, s);
    case MACRO:
      return add_macro(e, s);
    case GROUP:
      return run_block(e, &s->body);
    default:
      e->flow = s->kind == BREAK ? FLOW_BREAK : FLOW_CONTINUE;
      return HONE_OK;
  }
}

static hone_status run_block(struct evaluation *e, const struct block *block) {
  if (++e->depth > 2 * TEMPLATE_DEPTH)
    return fail(e->ctx, HONE_E_LIMIT, place_name("chat template"), "it is nested too deeply");
  for (size_t i = 0; i < block->list.count && e->flow == FLOW_ON; i++)
    TRY(run_statement(e, block->list.at[i]));
  e->depth--;
  if (e->out->length <= TEMPLATE_OUTPUT) return HONE_OK;
  return fail(e->ctx, HONE_E_LIMIT, place_name("chat template"), "its text is too long");
}

hone_status chat_render(struct ctx *ctx, struct arena *arena, const char *text, size_t size,
                        json_t *variables, struct strbuf *out) {
  struct evaluation e = {.ctx = ctx, .arena = arena, .variables = variables, .out = out};
  struct block root;
  hone_status status = arena_string(ctx, arena, text, size, &e.text);
  e.pool = json_array();
  if (!status) status = own(&e, json_string(""), &e.undefined);
  if (!status) status = template_parse(ctx, arena, e.text, size, e.pool, &root);
  if (!status) status = run_block(&e, &root);
  if (!status) status = strbuf_finish(ctx, out);
  json_decref(e.pool);
  return status;
}
