/* preprocess: resolves the #if directives of a C source whose conditions are known at generation
 * time, so that code that is never compiled is not printed. A condition that something outside the
 * source decides stays: names that begin with "_" belong to the compiler, names with "HONE_" to the
 * user. All other names are macros of the source, or undefined.
 */
#ifndef HONE_PREPROCESS_H
#define HONE_PREPROCESS_H

#include "prune.h"

struct macro {
  struct span name, body; /* body.at NULL: unknown whether it is defined, and as what */
};
/* Macros in two layers: those that a source defines end with that source. */
struct macros {
  const struct macros *outer; /* NULL: none */
  VEC(struct macro) all;
};
/* "NAME BODY". */
MUST_USE hone_status macros_add(struct ctx *ctx, struct arena *arena, struct macros *macros,
                                const char *name, const char *body);
/* Appends the source without the code that is not compiled; follows its #defines in `macros`,
   which point into it. Drops an #undef of an undefined name. */
MUST_USE hone_status preprocess(struct ctx *ctx, struct arena *arena, struct macros *macros,
                                const char *source, size_t length, struct strbuf *out);
#endif
