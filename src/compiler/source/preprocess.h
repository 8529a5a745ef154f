/* decide: #if and its kin in C text, decided where the names in them are known, so that what never is compiled is not
 * printed. A condition that something outside the text decides stays: names that begin with "_" are the compiler's,
 * those with "HONE_" whoever compiles may define. All other names are macros of the text or nothing. */
#ifndef HONE_DECIDE_H
#define HONE_DECIDE_H

#include "prune.h"

struct macro {
  struct span name, body; /* body.at NULL: defined or not, and as what, is not known */
};
/* What is defined; in two layers: what a text defines is the next text's no more. */
struct macros {
  const struct macros *outer; /* NULL: none */
  VEC(struct macro) all;
};
/* As "NAME BODY". */
MUST_USE hone_status macros_add(struct ctx *ctx, struct arena *arena, struct macros *macros,
                                const char *name, const char *body);
/* Appends the text without what is not compiled; follows its #defines in `macros`, which point into it. An #undef of what is not defined is
   left out. */
MUST_USE hone_status decide_text(struct ctx *ctx, struct arena *arena, struct macros *macros,
                                 const char *text, size_t length, struct strbuf *out);
#endif
