/* hone report, compare, studies: what the store holds, shown again. */
#include "cli.h"

#include <stdlib.h>
#include <time.h>

int verb_report(struct ctx *ctx, struct args *args) {
  struct store *store;
  static struct sinks sinks;
  const char *which = args->word_count ? args->words[0] : "last";
  if (args->word_count > 1) REFUSE(ctx, HONE_E_USAGE, place_none(), "one study at a time");
  if (ctx->status || sinks_read(ctx, args, &sinks) ||
      store_open(ctx, value_of(args, FLAG_store, NULL), false, &store))
    return report_failure(ctx);
  int code = show_study(ctx, args, &sinks, store, which);
  store_close(store);
  return code;
}

int verb_studies(struct ctx *ctx, struct args *args) {
  struct store *store;
  struct arena *arena;
  struct study_row *rows;
  size_t count;
  if (store_open(ctx, value_of(args, FLAG_store, NULL), false, &store)) return report_failure(ctx);
  hone_status status = arena_create(ctx, 0, &arena);
  if (!status) status = store_list_studies(ctx, store, arena, &rows, &count);
  for (size_t i = 0; !status && i < count; i++) {
    struct text line = {0};
    time_t seconds = (time_t)(rows[i].started_unix_ms / 1000);
    struct tm utc;
    char when[32] = "?";
    if (gmtime_r(&seconds, &utc)) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &utc);
    text_printf(&line, "%.12s  %s  %-11s ", rows[i].key, when,
                rows[i].finished ? "finished" : "interrupted");
    text_put_safe(&line, rows[i].name[0] ? rows[i].name : rows[i].command, 100);
    if (line.at) puts(line.at);
    text_deinit(&line);
  }
  if (arena) arena_destroy(arena);
  store_close(store);
  return status ? report_failure(ctx) : 0;
}
