/* hone report: what the store holds, shown again. */
#include "cli.h"

int verb_report(struct ctx *ctx, struct args *args) {
  struct store *store;
  struct arena *arena;
  static struct sinks sinks;
  const char *which = args->word_count ? args->words[0] : "last";
  if (args->word_count > 1) REFUSE(ctx, HONE_E_USAGE, place_none(), "one study at a time");
  if (ctx->status || arena_create(ctx, 0, &arena)) return report_failure(ctx);
  if (output_folder_expand(ctx, arena, args) || sinks_read(ctx, args, &sinks) ||
      store_open(ctx, value_of(args, FLAG_store, NULL), false, &store)) {
    arena_destroy(arena);
    return report_failure(ctx);
  }
  int code = show_study(ctx, args, &sinks, store, which);
  store_close(store);
  arena_destroy(arena);
  return code;
}
