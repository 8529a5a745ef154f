/* chat: chat templates. */
#ifndef HONE_CHAT_H
#define HONE_CHAT_H
#include <jansson.h>
#include "core/base/base.h"
MUST_USE hone_status chat_render(struct ctx *ctx, struct arena *arena, const char *template,
                                 size_t size, json_t *variables, struct strbuf *out);
#endif
