/* chat: the chat template of a language model, a subset of Jinja 2, from messages to a prompt.
 *
 *   parse.c      text, tags and expressions to a tree
 *   evaluate.c   statements and expressions over JSON values
 *   functions.c  filters, tests, methods and functions
 *   values.c     values as conditions and as text, comparisons, limits
 *
 * Whitespace is as transformers sets it up: trim_blocks and lstrip_blocks.
 */
#ifndef HONE_CHAT_H
#define HONE_CHAT_H

#include <jansson.h>

#include "core/base/base.h"

/* Renders a template with these variables: messages, add_generation_prompt, bos_token, ... Appends to
   *out. E_FORMAT with the line for a template that is wrong, E_UNSUP for what the subset lacks,
   E_LIMIT for one that does not end, E_USAGE with the template's own words where it refuses the
   messages (raise_exception). */
MUST_USE hone_status chat_render(struct ctx *ctx, struct arena *arena, const char *text,
                                 size_t size, json_t *variables, struct strbuf *out);

#endif
