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

static hone_status read_summary(struct ctx *ctx, const struct args *args, struct store *store,
                                struct arena *arena, const char *which, struct study_data *data,
                                struct summary *out) {
  struct study_row *row;
  TRY(NEW(ctx, arena, row));
  TRY(store_get_study(ctx, store, which, row));
  TRY(store_read_study(ctx, store, arena, row->key, data));
  return summarise(ctx, arena, data, wants_synthetic(args), out);
}

static hone_status compare(struct ctx *ctx, const struct args *args, struct store *store,
                           struct arena *arena) {
  static struct study_data before, after;
  static struct summary a, b;
  struct text text = {0};
  struct render_options options = {.color = wants_color(args)};
  TRY(read_summary(ctx, args, store, arena, args->words[0], &before, &a));
  TRY(read_summary(ctx, args, store, arena, args->words[1], &after, &b));
  hone_status status = render_compare(ctx, &a, &b, &options, &text);
  if (!status) status = write_output(ctx, "-", &text);
  text_deinit(&text);
  return status;
}

int verb_compare(struct ctx *ctx, struct args *args) {
  struct store *store;
  struct arena *arena;
  if (args->word_count != 2)
    REFUSE(ctx, HONE_E_USAGE, place_none(), "two studies, by key, name or 'last'");
  if (ctx->status || store_open(ctx, value_of(args, FLAG_store, NULL), false, &store))
    return report_failure(ctx);
  hone_status status = arena_create(ctx, 0, &arena);
  if (!status) {
    status = compare(ctx, args, store, arena);
    arena_destroy(arena);
  }
  store_close(store);
  return status ? report_failure(ctx) : 0;
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
