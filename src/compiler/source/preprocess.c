#include "preprocess.h"

#include <ctype.h>
#include <stdlib.h>

/* -- macros */

static bool same(struct span a, struct span b) {
  return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

static const struct macro *find(const struct macros *macros, struct span name) {
  for (; macros; macros = macros->outer)
    for (size_t i = macros->all.count; i-- > 0;)
      if (same(macros->all.at[i].name, name)) return &macros->all.at[i];
  return NULL;
}

static hone_status define(struct ctx *ctx, struct arena *arena, struct macros *macros,
                          struct span name, struct span body) {
  for (size_t i = 0; i < macros->all.count; i++)
    if (same(macros->all.at[i].name, name)) {
      macros->all.at[i].body = body;
      return HONE_OK;
    }
  VEC_PUSH(ctx, arena, &macros->all, ((struct macro){name, body}));
  return HONE_OK;
}

hone_status macros_add(struct ctx *ctx, struct arena *arena, struct macros *macros,
                       const char *name, const char *body) {
  const struct span span = {name, strlen(name)};
  return define(ctx, arena, macros, span, (struct span){body, strlen(body)});
}

/* True if an undefined name may be defined outside (compiler or user). */
static bool is_outside(struct span name) {
  return name.at[0] == '_' || (name.length > 5 && !memcmp(name.at, "HONE_", 5));
}

/* -- conditions */

/* Unknown, or not understood: the compiler decides. */
struct condition {
  bool is_known;
  int64_t number;
};
static const struct condition unknown = {false, 0};

static struct condition known(int64_t number) { return (struct condition){true, number}; }

enum { MOST_NESTED = 32 };

struct reader {
  const char *at, *end;
  const struct macros *macros;
  int depth;
  bool failed; /* not a condition */
};

static struct condition read_binary(struct reader *r, int level);

static bool take(struct reader *r, const char *sign) {
  const size_t length = strlen(sign);
  while (r->at < r->end) {
    const char *comment = *r->at == '/' ? skip_quoted(r->at, r->end) : NULL;
    if (!comment && !strchr(" \t\n\\", *r->at)) break;
    r->at = comment ? comment : r->at + 1;
  }
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, sign, length)) return false;
  r->at += length;
  return true;
}

static bool is_at_end(struct reader *r) {
  (void)take(r, "");
  return r->at == r->end;
}

static struct condition read_number(struct reader *r) {
  char digits[32], *rest;
  size_t n = 0;
  while (r->at < r->end && n + 1 < sizeof digits && isalnum((unsigned char)*r->at))
    digits[n++] = *r->at++;
  digits[n] = 0;
  const long long number = strtoll(digits, &rest, 0);
  r->failed |= rest[strspn(rest, "lLuU")] != 0;
  return known(number);
}

static struct condition read_defined(struct reader *r) {
  struct span name;
  const bool in_brackets = take(r, "(");
  r->failed |= !next_word(&r->at, r->end, &name) || (in_brackets && !take(r, ")"));
  if (r->failed) return unknown;
  const struct macro *macro = find(r->macros, name);
  if (macro) return macro->body.at ? known(1) : unknown;
  return is_outside(name) ? unknown : known(0);
}

static struct condition read_unary(struct reader *r);

/* A macro must be a single operand, so that no operator around it applies to a part of it. */
static struct condition read_macro(const struct reader *outer, const struct macro *macro) {
  if (!macro->body.at) return unknown;
  struct reader r = {macro->body.at, macro->body.at + macro->body.length, outer->macros,
                     outer->depth, false};
  const struct condition value = read_unary(&r);
  return r.failed || !is_at_end(&r) ? unknown : value;
}

static struct condition read_operand(struct reader *r) {
  struct span name;
  if (take(r, "(")) {
    const struct condition value = read_binary(r, 0);
    r->failed |= !take(r, ")");
    return value;
  }
  if (r->at < r->end && isdigit((unsigned char)*r->at)) return read_number(r);
  const char *begin = r->at;
  r->failed |= !next_word(&r->at, r->end, &name) || name.at != begin;
  if (r->failed) return unknown;
  if (span_is(name, "defined")) return read_defined(r);
  r->failed |= take(r, "("); /* a macro with arguments */
  const struct macro *macro = find(r->macros, name);
  if (macro) return read_macro(r, macro);
  return is_outside(name) ? unknown : known(0);
}

static struct condition read_unary(struct reader *r) {
  const bool is_not = take(r, "!"), is_negative = !is_not && take(r, "-");
  if (++r->depth > MOST_NESTED) r->failed = true;
  if (r->failed) return unknown;
  struct condition x = is_not || is_negative ? read_unary(r) : read_operand(r);
  r->depth--;
  if (is_not) x.number = !x.number;
  if (is_negative) x.number = (int64_t)(0 - (uint64_t)x.number);
  return x;
}

/* A longer operator before its own prefix. */
enum sign {
  OR,
  AND,
  BITS,
  EQUAL,
  UNEQUAL,
  AT_MOST,
  AT_LEAST,
  LESS,
  MORE,
  PLUS,
  MINUS,
  TIMES,
  OVER,
  REST
};
static const struct {
  const char *text;
  int level; /* precedence */
} signs[] = {
    [OR] = {"||", 0},      [AND] = {"&&", 1},     [BITS] = {"&", 2},      [EQUAL] = {"==", 3},
    [UNEQUAL] = {"!=", 3}, [AT_MOST] = {"<=", 4}, [AT_LEAST] = {">=", 4}, [LESS] = {"<", 4},
    [MORE] = {">", 4},     [PLUS] = {"+", 5},     [MINUS] = {"-", 5},     [TIMES] = {"*", 6},
    [OVER] = {"/", 6},     [REST] = {"%", 6}};

static struct condition join(enum sign sign, struct condition x, struct condition y) {
  const int64_t a = x.number, b = y.number;
  if (sign == AND && ((x.is_known && !a) || (y.is_known && !b))) return known(0);
  if (sign == OR && ((x.is_known && a) || (y.is_known && b))) return known(1);
  if (!x.is_known || !y.is_known || (sign >= OVER && b <= 0)) return unknown;
  switch (sign) {
    case OR:
      return known(0);
    case AND:
      return known(1);
    case BITS:
      return known(a & b);
    case EQUAL:
      return known(a == b);
    case UNEQUAL:
      return known(a != b);
    case AT_MOST:
      return known(a <= b);
    case AT_LEAST:
      return known(a >= b);
    case LESS:
      return known(a < b);
    case MORE:
      return known(a > b);
    case PLUS:
      return known((int64_t)((uint64_t)a + (uint64_t)b));
    case MINUS:
      return known((int64_t)((uint64_t)a - (uint64_t)b));
    case TIMES:
      return known((int64_t)((uint64_t)a * (uint64_t)b));
    case OVER:
      return known(a / b);
    case REST:
      return known(a % b);
  }
  return unknown;
}

/* The next operator of at least this precedence; COUNT(signs): none. */
static size_t take_sign(struct reader *r, int level) {
  const char *before = r->at;
  size_t i = 0;
  while (i < COUNT(signs) && !take(r, signs[i].text)) i++;
  if (i == COUNT(signs) || signs[i].level >= level) return i;
  r->at = before;
  return COUNT(signs);
}

static struct condition read_binary(struct reader *r, int level) {
  struct condition x = read_unary(r);
  for (size_t sign; !r->failed && (sign = take_sign(r, level)) < COUNT(signs);)
    x = join((enum sign)sign, x, read_binary(r, signs[sign].level + 1));
  return x;
}

/* The condition after a directive's word: "X == 2", or a name for #ifdef and #ifndef. */
static struct condition read_condition(const struct macros *macros, struct span word,
                                       const char *at, const char *end) {
  struct reader r = {at, end, macros, 0, false};
  const bool is_inverse = span_is(word, "ifndef"), names = is_inverse || span_is(word, "ifdef");
  struct condition value = names ? read_defined(&r) : read_binary(&r, 0);
  if (r.failed || !is_at_end(&r)) return unknown;
  if (is_inverse) value.number = !value.number;
  return value;
}

/* -- the source */

/* An #if, from its first branch to its #endif. */
struct chain {
  bool is_live;    /* the current branch is printed */
  bool is_settled; /* no later branch is printed */
  bool is_written; /* its directives are printed: the condition is unknown */
};

struct preprocessor {
  struct ctx *ctx;
  struct arena *arena;
  struct macros *macros;
  struct strbuf *out;
  VEC(struct chain) chains;
  size_t written; /* number of printed branches */
};

/* Begins a branch; `is_first`: the #if itself. */
static void enter(struct preprocessor *d, struct chain *chain, struct condition value,
                  struct span word, struct span line) {
  chain->is_live = !value.is_known || value.number;
  chain->is_settled = value.is_known && value.number;
  if (!chain->is_live || (chain->is_settled && !chain->is_written)) return;
  const char *behind = word.at + word.length;
  if (chain->is_settled)
    strbuf_puts(d->out, "#else\n");
  else if (!chain->is_written && span_is(word, "elif"))
    strbuf_printf(d->out, "#if%.*s", (int)(line.at + line.length - behind), behind);
  else
    strbuf_append(d->out, line.at, line.length);
  d->written += !chain->is_written && !chain->is_settled;
  chain->is_written = true;
}

static hone_status follow_define(struct preprocessor *d, const char *at, struct span line) {
  const char *const end = line.at + line.length;
  struct span name, body;
  strbuf_append(d->out, line.at, line.length);
  if (!next_word(&at, end, &name)) return HONE_OK;
  body = (struct span){at, (size_t)(end - at)};
  if (at < end && *at == '(') body.length = 0; /* with arguments: not a number */
  if (d->written) body.at = NULL;
  return define(d->ctx, d->arena, d->macros, name, body);
}

static void follow_undef(struct preprocessor *d, const char *at, struct span line) {
  struct span name;
  if (!next_word(&at, line.at + line.length, &name)) return;
  for (size_t i = 0; i < d->macros->all.count; i++) {
    struct macro *macro = &d->macros->all.at[i];
    if (!same(macro->name, name)) continue;
    if (d->written)
      macro->body.at = NULL;
    else
      *macro = d->macros->all.at[--d->macros->all.count];
    strbuf_append(d->out, line.at, line.length);
    return;
  }
  if (is_outside(name) || find(d->macros->outer, name)) strbuf_append(d->out, line.at, line.length);
}

static hone_status read_directive(struct preprocessor *d, const char *at, struct span line) {
  struct chain *top = d->chains.count ? &d->chains.at[d->chains.count - 1] : NULL;
  const bool is_live = !top || top->is_live;
  const char *const end = line.at + line.length;
  struct span word = {at, 0};
  (void)next_word(&at, end, &word);
  const bool is_else = span_is(word, "else"), is_end = span_is(word, "endif");
  if (span_is(word, "if") || span_is(word, "ifdef") || span_is(word, "ifndef")) {
    VEC_PUSH(d->ctx, d->arena, &d->chains, ((struct chain){false, true, false}));
    if (is_live)
      enter(d, &d->chains.at[d->chains.count - 1], read_condition(d->macros, word, at, end), word,
            line);
  } else if (top && (is_else || span_is(word, "elif"))) {
    const bool is_settled = top->is_settled;
    top->is_live = false;
    if (!is_settled)
      enter(d, top, is_else ? known(1) : read_condition(d->macros, word, at, end), word, line);
  } else if (top && is_end) {
    if (top->is_written) {
      strbuf_append(d->out, line.at, line.length);
      d->written--;
    }
    d->chains.count--;
  } else if (is_live && span_is(word, "define")) {
    return follow_define(d, at, line);
  } else if (is_live && span_is(word, "undef")) {
    follow_undef(d, at, line);
  } else if (is_live) {
    strbuf_append(d->out, line.at, line.length);
  }
  return HONE_OK;
}

hone_status preprocess(struct ctx *ctx, struct arena *arena, struct macros *macros,
                       const char *source, size_t length, struct strbuf *out) {
  struct preprocessor d = {.ctx = ctx, .arena = arena, .macros = macros, .out = out};
  for (const char *at = source, *const end = source + length, *next; at < end; at = next) {
    const char *first = at;
    next = skip_line(at, end);
    while (first < next && (*first == ' ' || *first == '\t')) first++;
    const struct span line = {at, (size_t)(next - at)};
    if (first < next && *first == '#')
      TRY(read_directive(&d, first + 1, line));
    else if (!d.chains.count || d.chains.at[d.chains.count - 1].is_live)
      strbuf_append(out, line.at, line.length);
  }
  return strbuf_finish(ctx, out);
}
