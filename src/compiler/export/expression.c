/* Shunting-yard algorithm over the source (Dijkstra 1961), without recursion. */
#include "expression.h"

#include <stdlib.h>

static const struct helper {
  const char *name;
  int operands;
} helpers[] = {
#define X(name, operands) {#name "_", operands},
    EXPRESSION_HELPERS(X)
#undef X
};
enum { HELPERS = sizeof helpers / sizeof *helpers, TOKEN_OPEN = -1 };

struct reader {
  struct ctx *ctx;
  const char *text;
  struct expression *out;
  int tokens[EXPRESSION_DEPTH]; /* an expression_kind, or TOKEN_OPEN */
  size_t token_count;
  int depth; /* stack depth after the tokens so far */
};

static hone_status damaged(const struct reader *r, const char *what) {
  return fail(r->ctx, HONE_E_UNSUP, place_name(r->text), "expression: %s", what);
}

int expression_operands(enum expression_kind kind) {
  if ((int)kind < HELPERS) return helpers[kind].operands;
  return kind == EXPRESSION_NEGATE ? 1 : kind < EXPRESSION_NEGATE ? 2 : 0;
}

static hone_status put_step(struct reader *r, enum expression_kind kind, double number) {
  const int wants = expression_operands(kind);
  if (r->depth < wants) return damaged(r, "an operand is missing");
  r->depth += 1 - wants;
  if (r->out->count == EXPRESSION_MOST || r->depth > EXPRESSION_DEPTH)
    return damaged(r, "it is too deep");
  r->out->at[r->out->count++] = (struct expression_step){kind, number};
  return HONE_OK;
}

static hone_status push_token(struct reader *r, int token) {
  if (r->token_count == EXPRESSION_DEPTH) return damaged(r, "it is too deep");
  r->tokens[r->token_count++] = token;
  return HONE_OK;
}

/* Operators bind by rank; helpers and parentheses are removed only by their closing parenthesis. */
static int rank_of(int token) {
  switch (token) {
    case EXPRESSION_NEGATE:
      return 3;
    case EXPRESSION_MUL:
    case EXPRESSION_DIV:
      return 2;
    case EXPRESSION_ADD:
    case EXPRESSION_SUB:
      return 1;
    default:
      return 0;
  }
}

static hone_status put_down_to(struct reader *r, int rank) {
  while (r->token_count && rank_of(r->tokens[r->token_count - 1]) >= rank)
    TRY(put_step(r, (enum expression_kind)r->tokens[--r->token_count], 0));
  return HONE_OK;
}

static hone_status close_bracket(struct reader *r) {
  TRY(put_down_to(r, 1));
  if (!r->token_count || r->tokens[r->token_count - 1] != TOKEN_OPEN)
    return damaged(r, "parentheses do not match");
  r->token_count--;
  if (!r->token_count) return HONE_OK;
  const int before = r->tokens[r->token_count - 1];
  if (before < 0 || before >= HELPERS) return HONE_OK;
  r->token_count--;
  return put_step(r, (enum expression_kind)before, 0);
}

/* A name: x, y, z, alpha, beta, C(number) or a helper; advances past it. */
static hone_status read_name(struct reader *r, const char **at) {
  const size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  const char *name = *at;
  *at += n;
  if (n == 1 && name[0] >= 'x' && name[0] <= 'z')
    return put_step(r, EXPRESSION_OPERAND, name[0] - 'x');
  if (n == 5 && !strncmp(name, "alpha", n)) return put_step(r, EXPRESSION_ALPHA, 0);
  if (n == 4 && !strncmp(name, "beta", n)) return put_step(r, EXPRESSION_BETA, 0);
  if (n == 1 && name[0] == 'C' && **at == '(') {
    char *end;
    const double value = strtod(*at + 1, &end);
    if (*end != ')') return damaged(r, "a number does not end");
    *at = end + 1;
    return put_step(r, EXPRESSION_NUMBER, value);
  }
  for (int i = 0; i < HELPERS; i++)
    if (strlen(helpers[i].name) == n && !strncmp(helpers[i].name, name, n)) return push_token(r, i);
  return damaged(r, "an unknown helper");
}

static hone_status read_sign(struct reader *r, char sign, bool wants_operand) {
  const int kind = sign == '+'                    ? EXPRESSION_ADD
                   : sign == '*'                  ? EXPRESSION_MUL
                   : sign == '/'                  ? EXPRESSION_DIV
                   : sign == '-' && wants_operand ? EXPRESSION_NEGATE
                                                  : EXPRESSION_SUB;
  if (kind != EXPRESSION_NEGATE) TRY(put_down_to(r, rank_of(kind)));
  return push_token(r, kind);
}

hone_status expression_read(struct ctx *ctx, const char *text, struct expression *out) {
  struct reader r = {.ctx = ctx, .text = text, .out = out};
  bool wants_operand = true;
  out->count = 0;
  for (const char *at = text; *at;) {
    const char c = *at;
    if (c == ' ' || c == '\n') {
      at++;
    } else if (c == '(') {
      TRY(push_token(&r, TOKEN_OPEN));
      at++;
    } else if (c == ')') {
      TRY(close_bracket(&r));
      wants_operand = false;
      at++;
    } else if (c == ',') {
      TRY(put_down_to(&r, 1));
      wants_operand = true;
      at++;
    } else if (strchr("+-*/", c)) {
      TRY(read_sign(&r, c, wants_operand));
      wants_operand = true;
      at++;
    } else {
      const size_t before = out->count;
      TRY(read_name(&r, &at));
      wants_operand = out->count == before;
    }
  }
  TRY(put_down_to(&r, 1));
  if (r.depth != 1 || r.token_count) return damaged(&r, "it does not end");
  return HONE_OK;
}
