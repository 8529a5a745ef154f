/* template: the tree of a chat template, and its evaluation. */
#ifndef HONE_TEMPLATE_H
#define HONE_TEMPLATE_H

#include "chat.h"

enum expr_kind {
  EXPR_LITERAL,
  EXPR_NAME,
  EXPR_GET,    /* a[b], a.b */
  EXPR_SLICE,  /* a[b:c:d] */
  EXPR_CALL,   /* a(args) */
  EXPR_FILTER, /* a | name(args) */
  EXPR_TEST,   /* a is name(args) */
  EXPR_NOT,
  EXPR_MINUS,
  EXPR_AND,
  EXPR_OR,
  EXPR_BINARY, /* name is the operator */
  EXPR_IF,     /* b if a else c */
  EXPR_LIST,
  EXPR_DICT /* args: key, value, key, value */
};
struct argument {
  const char *name; /* NULL: by position */
  struct expr *value;
};
struct expr {
  enum expr_kind kind;
  const char *name;
  json_t *literal;
  struct expr *a, *b, *c, *d;
  VEC(struct argument) args;
  size_t offset; /* in the template */
};

enum statement_kind {
  TEXT,
  OUTPUT,
  IF,
  FOR,
  SET,
  SET_BLOCK,
  MACRO,
  BREAK,
  CONTINUE,
  GROUP /* its body, as it is */
};
struct block {
  VEC(struct statement *) list;
};
struct statement {
  enum statement_kind kind;
  const char *text; /* TEXT; the name of SET, MACRO */
  size_t size;
  struct expr *expr, *filter;  /* OUTPUT, IF, SET; FOR: what it runs over, and its condition */
  const char *attribute;       /* SET of a namespace's attribute */
  VEC(const char *) names;     /* FOR: the targets; MACRO: the parameters; SET: more targets */
  VEC(struct expr *) defaults; /* MACRO: by parameter, NULL: none */
  struct block body, otherwise;
  size_t offset;
};

enum { TEMPLATE_DEPTH = 100, TEMPLATE_STEPS = 2000000, TEMPLATE_OUTPUT = 16 << 20 };

/* parse.c. Literals are added to `pool`, a JSON array. */
MUST_USE hone_status template_parse(struct ctx *ctx, struct arena *arena, const char *text,
                                    size_t size, json_t *pool, struct block *out);

struct binding {
  const char *name;
  json_t *value;
  struct binding *before;
};
struct macro {
  const struct statement *statement;
  struct macro *before;
};
struct evaluation {
  struct ctx *ctx;
  struct arena *arena;
  const char *text; /* the template, for line numbers */
  json_t *pool;     /* keeps every value until the end */
  json_t *undefined;
  json_t *variables;
  struct binding *bindings, *globals;
  struct macro *macros;
  struct strbuf *out;
  int depth;
  int64_t steps;
  enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } flow;
};
/* Arguments of a call, evaluated. */
struct values {
  size_t count;
  json_t *at[8];
  size_t named_count;
  struct {
    const char *name;
    json_t *value;
  } named[8];
};

/* evaluate.c */
MUST_USE hone_status evaluate(struct evaluation *e, const struct expr *expr, json_t **out);
/* functions.c */
MUST_USE hone_status apply_filter(struct evaluation *e, const struct expr *at, const char *name,
                                  json_t *x, const struct values *args, json_t **out);
MUST_USE hone_status apply_test(struct evaluation *e, const struct expr *at, const char *name,
                                json_t *x, const struct values *args, bool *out);
MUST_USE hone_status call_method(struct evaluation *e, const struct expr *at, const char *name,
                                 json_t *x, const struct values *args, json_t **out);
MUST_USE hone_status call_function(struct evaluation *e, const struct expr *at, const char *name,
                                   const struct values *args, json_t **out);

/* values.c */
/* Keeps a new reference until the end of the evaluation; E_OOM if it is NULL. */
MUST_USE hone_status own(struct evaluation *e, json_t *value, json_t **out);
MUST_USE PRINTF(4, 5) hone_status
    template_fail(struct evaluation *e, hone_status id, size_t offset, const char *format, ...);
/* Counts work; E_LIMIT if there was too much. */
MUST_USE hone_status spend(struct evaluation *e, int64_t steps);
bool is_true(const struct evaluation *e, const json_t *x);
bool is_number(const json_t *x); /* booleans too */
double number_value(const json_t *x);
MUST_USE hone_status values_equal(struct evaluation *e, const json_t *a, const json_t *b,
                                  bool *out);
MUST_USE hone_status value_contains(struct evaluation *e, const struct expr *at, const json_t *all,
                                    json_t *x, bool *out);
enum text_form { TEXT_PRINTED, TEXT_REPR, TEXT_JSON };
/* As Python prints it, or as JSON; indent < 0: on one line. */
MUST_USE hone_status value_text(struct evaluation *e, const json_t *x, enum text_form form,
                                int indent, struct strbuf *out);
/* A list of what a loop runs over: elements, keys or characters. */
MUST_USE hone_status value_elements(struct evaluation *e, const struct expr *at, json_t *x,
                                    json_t **out);

#endif
