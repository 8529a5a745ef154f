/* A chat template to a tree. Tags are read in place; a block ends at the tag that its statement names. */
#include <ctype.h>
#include <stdlib.h>

#include "template.h"

struct parser {
  struct ctx *ctx;
  struct arena *arena;
  const char *begin, *at, *end;
  json_t *pool;
  int depth;
  bool strips;        /* the tag before ended in "-": spaces after it are dropped */
  bool drops_newline; /* it was a block or a comment */
  const char
      *word; /* the end tag that closed the latest block: "endif", "else", ...; NULL: the end */
};

static hone_status refuse(struct parser *p, hone_status id, const char *what) {
  int line = 1;
  for (const char *s = p->begin; s < p->at && s < p->end; s++) line += *s == '\n';
  return fail(p->ctx, id, place_name("chat template"), "line %d: %s", line, what);
}

/* -- words */

static void skip_spaces(struct parser *p) {
  while (p->at < p->end && isspace((unsigned char)*p->at)) p->at++;
}

/* True, and skipped, if these characters come next. */
static bool takes(struct parser *p, const char *symbol) {
  const size_t n = strlen(symbol);
  skip_spaces(p);
  if ((size_t)(p->end - p->at) < n || memcmp(p->at, symbol, n)) return false;
  p->at += n;
  return true;
}

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }

static size_t name_length(const struct parser *p) {
  size_t n = 0;
  if (p->at == p->end || !is_letter(*p->at)) return 0;
  while (p->at + n < p->end && (is_letter(p->at[n]) || isdigit((unsigned char)p->at[n]))) n++;
  return n;
}

static bool takes_word(struct parser *p, const char *word) {
  skip_spaces(p);
  if (name_length(p) != strlen(word) || memcmp(p->at, word, strlen(word))) return false;
  p->at += strlen(word);
  return true;
}

static hone_status take_name(struct parser *p, const char **out) {
  skip_spaces(p);
  const size_t n = name_length(p);
  if (!n) return refuse(p, HONE_E_FORMAT, "a name is missing");
  p->at += n;
  return arena_string(p->ctx, p->arena, p->at - n, n, out);
}

static hone_status expect(struct parser *p, const char *symbol) {
  char text[64];
  if (takes(p, symbol)) return HONE_OK;
  snprintf(text, sizeof text, "\"%s\" is missing", symbol);
  return refuse(p, HONE_E_FORMAT, text);
}

static hone_status new_expr(struct parser *p, enum expr_kind kind, struct expr **out) {
  TRY(NEW(p->ctx, p->arena, *out));
  **out = (struct expr){.kind = kind, .offset = (size_t)(p->at - p->begin)};
  return HONE_OK;
}

static hone_status deeper(struct parser *p) {
  return ++p->depth > TEMPLATE_DEPTH ? refuse(p, HONE_E_LIMIT, "nested too deeply") : HONE_OK;
}

/* -- expressions */

static hone_status read_expr(struct parser *p, struct expr **out);
static hone_status read_unary(struct parser *p, struct expr **out);

static hone_status literal(struct parser *p, json_t *value, struct expr **out) {
  if (!value || json_array_append_new(p->pool, value))
    return refuse(p, HONE_E_FORMAT, "a constant is not valid UTF-8");
  TRY(new_expr(p, EXPR_LITERAL, out));
  (*out)->literal = value;
  return HONE_OK;
}

/* The code in digits of a base, *count of them at most; *count: those that are there. */
static uint32_t digits(const struct parser *p, int base, size_t *count) {
  uint32_t code = 0;
  size_t n = 0;
  for (; n < *count && p->at + n < p->end; n++) {
    const unsigned char c = (unsigned char)p->at[n];
    const int digit = isdigit(c) ? c - '0' : isxdigit(c) ? (c | 32) - 'a' + 10 : base;
    if (digit >= base) break;
    code = code * (uint32_t)base + (uint32_t)digit;
  }
  *count = n;
  return code;
}

/* What follows a backslash, as in Python: a line end is left out, and an unknown letter keeps its backslash. */
static void read_escape(struct parser *p, struct strbuf *text) {
  static const char names[] = "ntrbfav\\'\"", codes[] = "\n\t\r\b\f\a\v\\'\"", hex[] = "xuU";
  const char c = *p->at, *named = c ? strchr(names, c) : NULL, *in_hex = c ? strchr(hex, c) : NULL;
  const size_t wanted = in_hex ? (size_t)2 << (in_hex - hex) : 3;
  size_t count = wanted;
  char bytes[4];
  p->at += named || in_hex || c == '\n';
  if (c == '\n') return;
  if (named) {
    strbuf_append(text, &codes[named - names], 1);
    return;
  }
  const uint32_t code = digits(p, in_hex ? 16 : 8, &count);
  if (in_hex ? count < wanted || code > 0x10ffff : !count) {
    p->at -= in_hex != NULL;
    strbuf_append(text, "\\", 1);
    return;
  }
  p->at += count;
  strbuf_append(text, bytes, utf8_write(code, bytes));
}

static hone_status read_string(struct parser *p, struct expr **out) {
  const char quote = *p->at++;
  struct strbuf text = {0};
  while (p->at < p->end && *p->at != quote) {
    const char c = *p->at++;
    if (c == '\\' && p->at < p->end)
      read_escape(p, &text);
    else
      strbuf_append(&text, &c, 1);
  }
  hone_status status = strbuf_finish(p->ctx, &text);
  if (!status)
    status = p->at < p->end ? HONE_OK : refuse(p, HONE_E_FORMAT, "a string does not end");
  p->at += p->at < p->end;
  if (!status) status = literal(p, json_stringn(text.at ? text.at : "", text.length), out);
  strbuf_deinit(&text);
  return status;
}

static hone_status read_number(struct parser *p, struct expr **out) {
  char text[64];
  size_t n = 0;
  bool is_real = false;
  while (p->at + n < p->end && n + 1 < sizeof text &&
         (isdigit((unsigned char)p->at[n]) ||
          (p->at[n] == '.' && !is_real && n + 1 < (size_t)(p->end - p->at) &&
           isdigit((unsigned char)p->at[n + 1])))) {
    is_real |= p->at[n] == '.';
    text[n] = p->at[n];
    n++;
  }
  text[n] = 0;
  p->at += n;
  return literal(p, is_real ? json_real(strtod(text, NULL)) : json_integer(strtoll(text, NULL, 10)),
                 out);
}

/* Expressions up to the closing symbol; keyword arguments where `named`. */
static hone_status read_arguments(struct parser *p, const char *close, bool named,
                                  struct expr *into) {
  while (!takes(p, close)) {
    struct argument argument = {NULL, NULL};
    const char *before = (skip_spaces(p), p->at);
    if (named && name_length(p)) {
      TRY(take_name(p, &argument.name));
      if (!takes(p, "=") || *p->at == '=') {
        argument.name = NULL;
        p->at = before;
      }
    }
    TRY(read_expr(p, &argument.value));
    VEC_PUSH(p->ctx, p->arena, &into->args, argument);
    if (!takes(p, ",")) return expect(p, close);
  }
  return HONE_OK;
}

static hone_status read_dict(struct parser *p, struct expr **out) {
  TRY(new_expr(p, EXPR_DICT, out));
  while (!takes(p, "}")) {
    struct argument key = {NULL, NULL}, value = {NULL, NULL};
    TRY(read_expr(p, &key.value));
    TRY(expect(p, ":"));
    TRY(read_expr(p, &value.value));
    VEC_PUSH(p->ctx, p->arena, &(*out)->args, key);
    VEC_PUSH(p->ctx, p->arena, &(*out)->args, value);
    if (!takes(p, ",")) return expect(p, "}");
  }
  return HONE_OK;
}

/* In parentheses: an expression, or a tuple, which is a list here. */
static hone_status read_group(struct parser *p, struct expr **out) {
  struct expr *first, *list;
  TRY(new_expr(p, EXPR_LIST, &list));
  if (takes(p, ")")) {
    *out = list;
    return HONE_OK;
  }
  TRY(read_expr(p, &first));
  *out = first;
  if (takes(p, ")")) return HONE_OK;
  TRY(expect(p, ","));
  VEC_PUSH(p->ctx, p->arena, &list->args, (struct argument){NULL, first});
  *out = list;
  return read_arguments(p, ")", false, list);
}

static json_t *constant(const char *name) {
  const bool is_lower = islower((unsigned char)*name);
  if (!strcmp(name, is_lower ? "true" : "True")) return json_true();
  if (!strcmp(name, is_lower ? "false" : "False")) return json_false();
  return !strcmp(name, is_lower ? "none" : "None") ? json_null() : NULL;
}

static hone_status read_primary(struct parser *p, struct expr **out) {
  const char *name;
  skip_spaces(p);
  if (p->at == p->end) return refuse(p, HONE_E_FORMAT, "an expression is missing");
  if (*p->at == '"' || *p->at == '\'') return read_string(p, out);
  if (isdigit((unsigned char)*p->at)) return read_number(p, out);
  if (takes(p, "(")) return read_group(p, out);
  if (takes(p, "{")) return read_dict(p, out);
  if (takes(p, "[")) {
    TRY(new_expr(p, EXPR_LIST, out));
    return read_arguments(p, "]", false, *out);
  }
  TRY(take_name(p, &name));
  json_t *value = constant(name);
  if (value) return literal(p, value, out);
  TRY(new_expr(p, EXPR_NAME, out));
  (*out)->name = name;
  return HONE_OK;
}

/* After "[": an index, or a slice. */
static hone_status read_index(struct parser *p, struct expr *of, struct expr **out) {
  struct expr **parts[3];
  TRY(new_expr(p, EXPR_GET, out));
  struct expr *e = *out;
  e->a = of;
  parts[0] = &e->b, parts[1] = &e->c, parts[2] = &e->d;
  for (int k = 0; k < 3; k++) {
    skip_spaces(p);
    if (p->at < p->end && *p->at != ':' && *p->at != ']') TRY(read_expr(p, parts[k]));
    if (k == 2 || !takes(p, ":")) break;
    e->kind = EXPR_SLICE;
  }
  if (e->kind == EXPR_GET && !e->b) return refuse(p, HONE_E_FORMAT, "an index is missing");
  return expect(p, "]");
}

static hone_status read_attribute(struct parser *p, struct expr *of, struct expr **out) {
  const char *name;
  struct expr *key;
  TRY(take_name(p, &name));
  TRY(literal(p, json_string(name), &key));
  TRY(new_expr(p, EXPR_GET, out));
  (*out)->a = of;
  (*out)->b = key;
  (*out)->name = name; /* a method, if it is called */
  return HONE_OK;
}

static hone_status read_filter(struct parser *p, enum expr_kind kind, struct expr *of,
                               struct expr **out) {
  TRY(new_expr(p, kind, out));
  (*out)->a = of;
  TRY(take_name(p, &(*out)->name));
  return takes(p, "(") ? read_arguments(p, ")", true, *out) : HONE_OK;
}

/* "is name", "is not name", and an argument without parentheses: "is divisibleby 3". */
static hone_status read_test(struct parser *p, struct expr *of, struct expr **out) {
  struct expr *test, *negated;
  const bool is_not = takes_word(p, "not");
  TRY(read_filter(p, EXPR_TEST, of, &test));
  *out = test;
  skip_spaces(p);
  if (!test->args.count && p->at < p->end &&
      (*p->at == '\'' || *p->at == '"' || isdigit((unsigned char)*p->at))) {
    struct argument argument = {NULL, NULL};
    TRY(read_primary(p, &argument.value));
    VEC_PUSH(p->ctx, p->arena, &test->args, argument);
  }
  if (!is_not) return HONE_OK;
  TRY(new_expr(p, EXPR_NOT, &negated));
  negated->a = test;
  *out = negated;
  return HONE_OK;
}

static hone_status read_postfix(struct parser *p, struct expr **out) {
  for (int chained = 0;; chained++) {
    struct expr *of = *out;
    if (chained > TEMPLATE_DEPTH) return refuse(p, HONE_E_LIMIT, "nested too deeply");
    if (takes(p, "[")) {
      TRY(read_index(p, of, out));
    } else if (takes(p, "(")) {
      TRY(new_expr(p, EXPR_CALL, out));
      (*out)->a = of;
      TRY(read_arguments(p, ")", true, *out));
    } else if (takes(p, ".")) {
      TRY(read_attribute(p, of, out));
    } else if (takes(p, "|")) {
      TRY(read_filter(p, EXPR_FILTER, of, out));
    } else if (takes_word(p, "is")) {
      TRY(read_test(p, of, out));
    } else {
      return HONE_OK;
    }
  }
}

static bool at_tag_end(const struct parser *p) {
  return p->end - p->at > 2 && *p->at == '-' && (p->at[1] == '%' || p->at[1] == '}');
}

static hone_status read_unary(struct parser *p, struct expr **out) {
  skip_spaces(p);
  TRY(deeper(p));
  if (!at_tag_end(p) && takes(p, "-")) {
    struct expr *of;
    TRY(read_unary(p, &of));
    TRY(new_expr(p, EXPR_MINUS, out));
    (*out)->a = of;
  } else {
    TRY(read_primary(p, out));
    TRY(read_postfix(p, out));
  }
  p->depth--;
  return HONE_OK;
}

/* Binary operators by level, the loosest first. */
static const char *const levels[][8] = {
    {"==", "!=", "<=", ">=", "<", ">", "in"}, {"+", "-"}, {"~"}, {"*", "//", "/", "%"}};

static const char *take_operator(struct parser *p, size_t level) {
  skip_spaces(p);
  if (at_tag_end(p) || (p->end - p->at > 1 && p->at[0] == '%' && p->at[1] == '}')) return NULL;
  for (size_t i = 0; i < COUNT(levels[0]) && levels[level][i]; i++) {
    const char *symbol = levels[level][i];
    if (is_letter(*symbol) ? takes_word(p, symbol) : takes(p, symbol)) return symbol;
  }
  const char *before = p->at;
  if (!level && takes_word(p, "not") && takes_word(p, "in")) return "not in";
  p->at = before;
  return NULL;
}

static hone_status read_binary(struct parser *p, size_t level, struct expr **out) {
  const char *symbol;
  if (level == COUNT(levels)) return read_unary(p, out);
  TRY(read_binary(p, level + 1, out));
  for (int chained = 0; (symbol = take_operator(p, level)); chained++) {
    struct expr *left = *out;
    if (chained > 1000) return refuse(p, HONE_E_LIMIT, "nested too deeply");
    TRY(new_expr(p, EXPR_BINARY, out));
    (*out)->name = symbol;
    (*out)->a = left;
    TRY(read_binary(p, level + 1, &(*out)->b));
  }
  return HONE_OK;
}

static hone_status read_not(struct parser *p, struct expr **out) {
  if (!takes_word(p, "not")) return read_binary(p, 0, out);
  struct expr *of;
  TRY(deeper(p));
  TRY(read_not(p, &of));
  p->depth--;
  TRY(new_expr(p, EXPR_NOT, out));
  (*out)->a = of;
  return HONE_OK;
}

static hone_status read_logical(struct parser *p, bool is_or, struct expr **out) {
  TRY(is_or ? read_logical(p, false, out) : read_not(p, out));
  while (takes_word(p, is_or ? "or" : "and")) {
    struct expr *left = *out;
    TRY(new_expr(p, is_or ? EXPR_OR : EXPR_AND, out));
    (*out)->a = left;
    TRY(is_or ? read_logical(p, false, &(*out)->b) : read_not(p, &(*out)->b));
  }
  return HONE_OK;
}

static hone_status read_expr(struct parser *p, struct expr **out) {
  TRY(deeper(p));
  TRY(read_logical(p, true, out));
  if (takes_word(p, "if")) {
    struct expr *value = *out;
    TRY(new_expr(p, EXPR_IF, out));
    (*out)->b = value;
    TRY(read_logical(p, true, &(*out)->a));
    if (takes_word(p, "else")) TRY(read_expr(p, &(*out)->c));
  }
  p->depth--;
  return HONE_OK;
}

/* -- tags */

/* The end of a tag: "%}", "-%}", "}}". */
static hone_status close_tag(struct parser *p, const char *symbol) {
  skip_spaces(p);
  p->strips = p->at < p->end && *p->at == '-';
  if (p->at < p->end && (*p->at == '-' || *p->at == '+')) p->at++;
  p->drops_newline = *symbol == '%' && !(p->at > p->begin && p->at[-1] == '+');
  if ((size_t)(p->end - p->at) >= 2 && !memcmp(p->at, symbol, 2)) {
    p->at += 2;
    return HONE_OK;
  }
  return refuse(p, HONE_E_FORMAT,
                *symbol == '%' ? "the tag does not end in %}" : "the tag does not end in }}");
}

static hone_status add(struct parser *p, struct block *to, enum statement_kind kind,
                       struct statement **out) {
  TRY(NEW(p->ctx, p->arena, *out));
  **out = (struct statement){.kind = kind, .offset = (size_t)(p->at - p->begin)};
  VEC_PUSH(p->ctx, p->arena, &to->list, *out);
  return HONE_OK;
}

static hone_status read_block(struct parser *p, struct block *out);

static bool ends_with(const struct parser *p, const char *word) {
  return p->word && !strcmp(p->word, word);
}

static hone_status expect_end(struct parser *p, const char *word) {
  char text[64];
  if (ends_with(p, word)) {
    p->word = NULL;
    return close_tag(p, "%}");
  }
  snprintf(text, sizeof text, "%s is missing", word);
  return refuse(p, HONE_E_FORMAT, text);
}

static hone_status read_if(struct parser *p, struct block *to) {
  struct statement *s;
  TRY(add(p, to, IF, &s));
  TRY(read_expr(p, &s->expr));
  TRY(close_tag(p, "%}"));
  TRY(read_block(p, &s->body));
  while (ends_with(p, "elif")) {
    struct statement *next;
    TRY(add(p, &s->otherwise, IF, &next));
    TRY(read_expr(p, &next->expr));
    TRY(close_tag(p, "%}"));
    TRY(read_block(p, &next->body));
    s = next;
  }
  if (ends_with(p, "else")) {
    TRY(close_tag(p, "%}"));
    TRY(read_block(p, &s->otherwise));
  }
  return expect_end(p, "endif");
}

static hone_status read_targets(struct parser *p, struct statement *s) {
  const bool is_grouped = takes(p, "(");
  do {
    const char *name;
    TRY(take_name(p, &name));
    VEC_PUSH(p->ctx, p->arena, &s->names, name);
  } while (takes(p, ","));
  return is_grouped ? expect(p, ")") : HONE_OK;
}

static hone_status read_for(struct parser *p, struct block *to) {
  struct statement *s;
  TRY(add(p, to, FOR, &s));
  TRY(read_targets(p, s));
  if (!takes_word(p, "in")) return refuse(p, HONE_E_FORMAT, "\"in\" is missing");
  TRY(read_logical(p, true, &s->expr)); /* "if" is the loop's */
  if (takes_word(p, "if")) TRY(read_expr(p, &s->filter));
  if (takes_word(p, "recursive"))
    return refuse(p, HONE_E_UNSUP, "recursive loops are not supported");
  TRY(close_tag(p, "%}"));
  TRY(read_block(p, &s->body));
  if (ends_with(p, "else")) {
    TRY(close_tag(p, "%}"));
    TRY(read_block(p, &s->otherwise));
  }
  return expect_end(p, "endfor");
}

static hone_status read_set(struct parser *p, struct block *to) {
  struct statement *s;
  TRY(add(p, to, SET, &s));
  TRY(read_targets(p, s));
  if (takes(p, ".")) TRY(take_name(p, &s->attribute));
  if (takes(p, "=")) {
    TRY(read_expr(p, &s->expr));
    if (takes(p, ",")) { /* a tuple */
      struct expr *list;
      TRY(new_expr(p, EXPR_LIST, &list));
      VEC_PUSH(p->ctx, p->arena, &list->args, (struct argument){NULL, s->expr});
      do {
        struct argument next = {NULL, NULL};
        TRY(read_expr(p, &next.value));
        VEC_PUSH(p->ctx, p->arena, &list->args, next);
      } while (takes(p, ","));
      s->expr = list;
    }
    return close_tag(p, "%}");
  }
  s->kind = SET_BLOCK;
  TRY(close_tag(p, "%}"));
  TRY(read_block(p, &s->body));
  return expect_end(p, "endset");
}

static hone_status read_macro(struct parser *p, struct block *to) {
  struct statement *s;
  TRY(add(p, to, MACRO, &s));
  TRY(take_name(p, &s->text));
  TRY(expect(p, "("));
  while (!takes(p, ")")) {
    const char *name;
    struct expr *value = NULL;
    TRY(take_name(p, &name));
    if (takes(p, "=")) TRY(read_expr(p, &value));
    VEC_PUSH(p->ctx, p->arena, &s->names, name);
    VEC_PUSH(p->ctx, p->arena, &s->defaults, value);
    if (takes(p, ",")) continue;
    TRY(expect(p, ")"));
    break;
  }
  TRY(close_tag(p, "%}"));
  TRY(read_block(p, &s->body));
  return expect_end(p, "endmacro");
}

static hone_status read_group_tag(struct parser *p, struct block *to, const char *end) {
  struct statement *s;
  TRY(add(p, to, GROUP, &s));
  TRY(close_tag(p, "%}"));
  TRY(read_block(p, &s->body));
  return expect_end(p, end);
}

/* A statement, or the tag that ends the block: then p->word is set and the tag is still open. */
static hone_status read_statement(struct parser *p, struct block *to) {
  static const char *const ends[] = {"else",   "elif",     "endif",        "endfor",
                                     "endset", "endmacro", "endgeneration"};
  const char *word;
  struct statement *s;
  TRY(take_name(p, &word));
  for (size_t i = 0; i < COUNT(ends); i++)
    if (!strcmp(word, ends[i])) p->word = ends[i];
  if (p->word) return HONE_OK;
  if (!strcmp(word, "if")) return read_if(p, to);
  if (!strcmp(word, "for")) return read_for(p, to);
  if (!strcmp(word, "set")) return read_set(p, to);
  if (!strcmp(word, "macro")) return read_macro(p, to);
  if (!strcmp(word, "generation")) return read_group_tag(p, to, "endgeneration");
  if (!strcmp(word, "break") || !strcmp(word, "continue")) {
    TRY(add(p, to, *word == 'b' ? BREAK : CONTINUE, &s));
    return close_tag(p, "%}");
  }
  return refuse(p, HONE_E_UNSUP, "this statement is not supported");
}

/* The text up to the next tag, its spaces dropped as the tags around it say. */
static hone_status read_text(struct parser *p, struct block *to) {
  const char *from = p->at, *stop = p->at;
  struct statement *s;
  if (p->strips)
    while (from < p->end && isspace((unsigned char)*from)) from++;
  else if (p->drops_newline && from < p->end && *from == '\n')
    from++;
  const bool starts_line = from == p->begin || from[-1] == '\n';
  if (stop < from) stop = from;
  while (stop < p->end && !(p->end - stop > 1 && *stop == '{' && strchr("{%#", stop[1]))) stop++;
  p->at = stop;
  const char mark = p->end - stop > 2 ? stop[2] : 0;
  const bool is_output = p->end - stop > 1 && stop[1] == '{';
  if (mark == '-') {
    while (stop > from && isspace((unsigned char)stop[-1])) stop--;
  } else if (p->at < p->end && !is_output && mark != '+') {
    const char *line = stop;
    while (line > from && (line[-1] == ' ' || line[-1] == '\t')) line--;
    if (line > from ? line[-1] == '\n' : starts_line) stop = line;
  }
  p->strips = p->drops_newline = false;
  if (stop == from) return HONE_OK;
  TRY(add(p, to, TEXT, &s));
  s->text = from;
  s->size = (size_t)(stop - from);
  return HONE_OK;
}

static hone_status read_comment(struct parser *p) {
  while (p->end - p->at > 1 && memcmp(p->at, "#}", 2)) p->at++;
  if (p->end - p->at < 2) return refuse(p, HONE_E_FORMAT, "a comment does not end");
  p->strips = p->at[-1] == '-';
  p->drops_newline = true;
  p->at += 2;
  return HONE_OK;
}

static hone_status read_output(struct parser *p, struct block *to) {
  struct statement *s;
  TRY(add(p, to, OUTPUT, &s));
  TRY(read_expr(p, &s->expr));
  return close_tag(p, "}}");
}

/* Until the end, or a tag that ends a block. */
static hone_status read_block(struct parser *p, struct block *out) {
  TRY(deeper(p));
  p->word = NULL;
  while (!p->word) {
    TRY(read_text(p, out));
    if (p->at == p->end) break;
    const char kind = p->at[1];
    p->at += 2;
    if (p->at < p->end && (*p->at == '-' || *p->at == '+')) p->at++;
    TRY(kind == '#' ? read_comment(p) : kind == '{' ? read_output(p, out) : read_statement(p, out));
    if (kind == '%' && p->at == p->end && !p->word) break;
  }
  p->depth--;
  return HONE_OK;
}

hone_status template_parse(struct ctx *ctx, struct arena *arena, const char *text, size_t size,
                           json_t *pool, struct block *out) {
  if (size && text[size - 1] == '\n') size--; /* as Jinja without keep_trailing_newline */
  struct parser p = {ctx, arena, text, text, text + size, pool, 0, false, false, NULL};
  *out = (struct block){{0}};
  TRY(read_block(&p, out));
  return p.word ? refuse(&p, HONE_E_FORMAT, "a tag ends a block that did not begin") : HONE_OK;
}
