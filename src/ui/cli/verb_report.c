/* hone report: shows a study of the store, or a file that --json wrote. */
#include "cli.h"

static int show_stored(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                       const char *which) {
  struct store *store;
  if (store_open(ctx, value_of(args, FLAG_store, NULL), false, &store)) return report_failure(ctx);
  const int code = show_study(ctx, args, sinks, store, which);
  store_close(store);
  return code;
}

int verb_report(struct ctx *ctx, struct args *args) {
  struct arena *arena;
  static struct sinks sinks;
  const char *which = args->word_count ? args->words[0] : "last";
  if (args->word_count > 1) REFUSE(ctx, HONE_E_USAGE, place_none(), "give one study");
  if (ctx->status || arena_create(ctx, 0, &arena)) return report_failure(ctx);
  int code;
  if (output_folder_expand(ctx, arena, args) || sinks_read(ctx, args, &sinks))
    code = report_failure(ctx);
  else
    code = names_file(which) ? show_file(ctx, args, &sinks, which)
                             : show_stored(ctx, args, &sinks, which);
  arena_destroy(arena);
  return code;
}
