/* expression: the expression of an elementwise operator (unary.def, binary.def, ternary.def) in
 * postfix order, for export formats without expressions: a new row there is exported without an
 * additional rule. */
#ifndef HONE_EXPORT_EXPRESSION_H
#define HONE_EXPORT_EXPRESSION_H

#include "core/ops/ops.h"

/* The helpers of helpers_double.h, and their numbers of operands. */
#define EXPRESSION_HELPERS(X) \
  X(abs, 1)                   \
  X(min, 2)                   \
  X(max, 2)                   \
  X(sqrt, 1)                  \
  X(exp, 1)                   \
  X(expm1, 1)                 \
  X(log, 1)                   \
  X(log1p, 1)                 \
  X(pow, 2)                   \
  X(sin, 1)                   \
  X(cos, 1)                   \
  X(tan, 1)                   \
  X(asin, 1)                  \
  X(acos, 1)                  \
  X(atan, 1)                  \
  X(sinh, 1)                  \
  X(cosh, 1)                  \
  X(asinh, 1)                 \
  X(acosh, 1)                 \
  X(atanh, 1)                 \
  X(tanh, 1)                  \
  X(erf, 1)                   \
  X(floor, 1)                 \
  X(ceil, 1)                  \
  X(sign, 1)                  \
  X(round, 1)                 \
  X(select, 3)                \
  X(lt, 2)                    \
  X(le, 2)                    \
  X(eq, 2)                    \
  X(isnan, 1)                 \
  X(isinf, 1)                 \
  X(not, 1)                   \
  X(and, 2)                   \
  X(or, 2)
enum expression_kind {
#define X(name, operands) EXPRESSION_##name,
  EXPRESSION_HELPERS(X)
#undef X
      EXPRESSION_ADD,
  EXPRESSION_SUB,
  EXPRESSION_MUL,
  EXPRESSION_DIV,
  EXPRESSION_NEGATE,
  EXPRESSION_OPERAND, /* x, y, z: number 0, 1, 2 */
  EXPRESSION_ALPHA,
  EXPRESSION_BETA,
  EXPRESSION_NUMBER
};
enum { EXPRESSION_MOST = 96, EXPRESSION_DEPTH = 64 };
struct expression {
  size_t count;
  struct expression_step {
    enum expression_kind kind;
    double number;
  } at[EXPRESSION_MOST];
};
/* Steps for a stack machine with EXPRESSION_DEPTH values: every step has its operands. E_UNSUP. */
MUST_USE hone_status expression_read(struct ctx *ctx, const char *text, struct expression *out);
/* Number of stack operands of a step. */
int expression_operands(enum expression_kind kind);
#endif
