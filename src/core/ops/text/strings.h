/* strings: shared by the files on strings. */
#ifndef HONE_OPS_STRINGS_H
#define HONE_OPS_STRINGS_H

#include "core/ops/ops_internal.h"

/* A state table: row 0 is the dead state, row 1 the start; the column of a byte gives the next
 * state, the last column whether the string may end there. */
enum { MATCH_COLUMNS = 257 };

bool strings_equal(struct string a, struct string b);
/* by bytes, which is also the order of code points */
int string_order(struct string a, struct string b);
/* Compares element i of a with j of b, of one type; Lookup's keys are sorted in this order. */
int element_order(const struct tensor *a, size_t i, const struct tensor *b, size_t j);
/* Same number of bytes as x. */
void string_change_case(struct string x, bool upper, char *out);

/* The table for finding parts: after the byte columns, whether a match may end at the end of the
 * string, before a word byte, before another byte. */
enum { FIND_COLUMNS = 259 };
bool is_word_byte(int byte);

/* -- regex.c */
/* The table of a regular expression that has to match a whole UTF-8 string: u16 [states,
 * MATCH_COLUMNS]. E_UNSUP if it is not regular or uses unsupported RE2 syntax. */
MUST_USE hone_status regex_table(struct ctx *ctx, struct arena *arena, struct place place,
                                 struct string pattern, struct tensor **out);
/* u16 [states, FIND_COLUMNS]; out_starts: the start rows at the string's beginning, after a
 * non-word byte, after a word byte. */
MUST_USE hone_status regex_find_table(struct ctx *ctx, struct arena *arena, struct place place,
                                      struct string pattern, struct tensor **out,
                                      int64_t out_starts[3]);

#endif
