/* strings: what the files on strings share. */
#ifndef HONE_OPS_STRINGS_H
#define HONE_OPS_STRINGS_H

#include "core/ops/ops_internal.h"

/* A table of states: row 0 is left by nothing, row 1 the start; column of each byte the next state, the
   last whether the text may end there. */
enum { MATCH_COLUMNS = 257 };

bool strings_equal(struct string a, struct string b);
int string_order(struct string a, struct string b); /* by bytes, as of code points */
/* Element i of a against j of b, of one type; Lookup's keys stand in this order. */
int element_order(const struct tensor *a, size_t i, const struct tensor *b, size_t j);
/* As many bytes as x. */
void string_change_case(struct string x, bool upper, char *out);

/* The same to find parts of a text by: behind the bytes' columns whether a part may end at the text's end, before a byte of
   a word, before another. */
enum { FIND_COLUMNS = 259 };
bool is_word_byte(int byte);

/* -- regex.c */
/* The table of a regular expression that has to match the whole of a UTF-8 text: u16 [states,
   MATCH_COLUMNS]. E_UNSUP where it is no regular one or beyond RE2's syntax as far as read here. */
MUST_USE hone_status regex_table(struct ctx *ctx, struct arena *arena, struct place place,
                                 struct string pattern, struct tensor **out);
/* u16 [states, FIND_COLUMNS]; out_starts: the rows where a part begins at the text's begin, behind another byte than a
   word's, behind a word's. */
MUST_USE hone_status regex_find_table(struct ctx *ctx, struct arena *arena, struct place place,
                                      struct string pattern, struct tensor **out,
                                      int64_t out_starts[3]);

#endif
