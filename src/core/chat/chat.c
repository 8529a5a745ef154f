#include "chat.h"
hone_status chat_render(struct ctx *ctx, struct arena *arena, const char *template, size_t size,
                        json_t *variables, struct strbuf *out) {
  (void)arena, (void)template, (void)size, (void)variables, (void)out;
  return fail(ctx, HONE_E_UNSUP, place_none(), "chat templates");
}
