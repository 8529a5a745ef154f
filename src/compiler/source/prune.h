/* prune: splits a C source into pieces (definitions, directives, comments) and prints only those
 * that are used. There is no list of dependencies: a piece uses every name that occurs in it, in
 * any scope, so at worst one piece too many is kept.
 */
#ifndef HONE_PRUNE_H
#define HONE_PRUNE_H

#include "core/base/base.h"

struct pruner;
MUST_USE hone_status pruner_make(struct ctx *ctx, struct arena *arena, struct pruner **out);
/* Appends the pieces of a source, which must outlive them. A source in an include guard is one
   piece. */
MUST_USE hone_status pruner_parse(struct pruner *pieces, const char *source, size_t length);
/* Keeps the pieces that define names of the source, and the pieces that those use. */
void pruner_keep_used(struct pruner *pieces, const char *source, size_t length);
/* Keeps only directives that define nothing. */
void pruner_reset(struct pruner *pieces);

/* Comments that a source already contains. */
struct comments_seen {
  struct ctx *ctx;
  struct arena *arena;
  VEC(uint64_t) hashes;
};
/* Prints what is kept, in the order of the sources, with its comments except those in `seen`
   (NULL: all). */
MUST_USE hone_status pruner_print(const struct pruner *pieces, struct comments_seen *seen,
                                  struct strbuf *out);

/* A range of C source. */
struct span {
  const char *at;
  size_t length;
};
/* The next identifier in [*at, end); moves *at past it. False: none. Skips comments, strings and
   numbers. */
bool next_word(const char **at, const char *end, struct span *out);
bool span_is(struct span span, const char *word);
/* The end of the comment or quoted string that begins at `at`; NULL: none begins there. */
const char *skip_quoted(const char *at, const char *end);
/* The end of a line, including lines continued by a backslash or a comment. */
const char *skip_line(const char *at, const char *end);

#endif
