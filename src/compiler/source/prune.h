/* pieces: a C text cut into what it defines, so that only what something names need be printed. Nothing says what
 * needs what: a piece names what its own text names. Names are taken for what they are called, whatever their scope, so
 * at worst a piece too many is kept. */
#ifndef HONE_PIECES_H
#define HONE_PIECES_H

#include "core/base/base.h"

struct pieces;
MUST_USE hone_status pieces_make(struct ctx *ctx, struct arena *arena, struct pieces **out);
/* Appends the pieces of a text, which must outlive them. A text in an include guard is one piece. */
MUST_USE hone_status pieces_cut(struct pieces *pieces, const char *text, size_t length);
/* Keeps what the text names, and what that names. */
void pieces_use(struct pieces *pieces, const char *text, size_t length);
/* Nothing is kept but directives that are no definition. */
void pieces_forget(struct pieces *pieces);

/* Comments that stand in a text already. */
struct comments_seen {
  struct ctx *ctx;
  struct arena *arena;
  VEC(uint64_t) hashes;
};
/* What is kept, in the order of the texts, with the comments that speak of it but for those in `seen` (NULL: all). */
MUST_USE hone_status pieces_print(const struct pieces *pieces, struct comments_seen *seen,
                                  struct strbuf *out);

/* A place in C text. */
struct span {
  const char *at;
  size_t length;
};
/* The next identifier in [*at, end), *at behind it; false: there is none. Comments, strings and numbers are passed over. */
bool next_word(const char **at, const char *end, struct span *out);
bool span_is(struct span span, const char *word);
/* Behind a comment or a quoted string that begins at `at`; NULL: none does. */
const char *skip_quoted(const char *at, const char *end);
/* Behind the end of a line that goes on behind each backslash, or in a comment. */
const char *skip_line(const char *at, const char *end);

#endif
