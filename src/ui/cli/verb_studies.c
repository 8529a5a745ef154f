/* hone studies: list, delete, export and import the studies of a store. */
#include "cli.h"

#include <time.h>
#include <unistd.h>

static hone_status list(struct ctx *ctx, struct store *store, struct arena *arena) {
  struct study_row *rows;
  size_t count;
  TRY(store_list_studies(ctx, store, arena, &rows, &count));
  for (size_t i = 0; i < count; i++) {
    struct strbuf line = {0};
    time_t seconds = (time_t)(rows[i].started_unix_ms / 1000);
    struct tm utc;
    char when[32] = "?";
    if (gmtime_r(&seconds, &utc)) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &utc);
    strbuf_printf(&line, "%.12s  %s  %-11s ", rows[i].key, when,
                  rows[i].finished ? "finished" : "interrupted");
    strbuf_put_safe(&line, rows[i].name[0] ? rows[i].name : rows[i].command, 100);
    if (line.at) puts(line.at);
    strbuf_deinit(&line);
  }
  return HONE_OK;
}

/* Finds every named study before one is changed. */
static hone_status keys_of(struct ctx *ctx, const struct args *args, struct store *store,
                           struct arena *arena, struct study_row **out, size_t *out_count) {
  size_t named = args->word_count - 1;
  if (!named) return store_list_studies(ctx, store, arena, out, out_count);
  TRY(NEW_ARRAY(ctx, arena, *out, named));
  *out_count = named;
  for (size_t i = 0; i < named; i++)
    TRY(store_get_study(ctx, store, args->words[i + 1], &(*out)[i]));
  return HONE_OK;
}

static hone_status remove_studies(struct ctx *ctx, const struct args *args, struct store *store,
                                  struct arena *arena) {
  struct study_row *rows;
  size_t count;
  TRY(keys_of(ctx, args, store, arena, &rows, &count));
  for (size_t i = 0; i < count; i++) {
    TRY(store_remove_study(ctx, store, rows[i].key));
    fprintf(stderr, "removed study %.12s\n", rows[i].key);
  }
  return HONE_OK;
}

static hone_status copy_studies(struct ctx *ctx, const struct args *args, struct store *from,
                                struct store *to, struct arena *arena) {
  struct study_row *rows;
  size_t count;
  if (args)
    TRY(keys_of(ctx, args, from, arena, &rows, &count));
  else
    TRY(store_list_studies(ctx, from, arena, &rows, &count));
  for (size_t i = 0; i < count; i++) {
    TRY(store_copy_study(ctx, from, to, rows[i].key));
    fprintf(stderr, "copied study %.12s\n", rows[i].key);
  }
  return HONE_OK;
}

/* Into a store file; studies are added to an existing one. */
static hone_status export_studies(struct ctx *ctx, const struct args *args, struct store *store,
                                  struct arena *arena) {
  struct store *other;
  const char *path = value_of(args, FLAG_output, NULL);
  size_t length = path ? strlen(path) : 0;
  if (!path) return fail(ctx, HONE_E_USAGE, place_none(), "-o FILE.db is missing");
  if (length < 4 || strcmp(path + length - 3, ".db"))
    return fail(ctx, HONE_E_USAGE, place_name(path), "studies are exported to a FILE.db");
  static struct inputs_seen seen;
  inputs_of_command(args, &seen);
  TRY(output_check(ctx, path, OUTPUT_STORE, seen.at, seen.count));
  TRY(store_open(ctx, path, true, &other));
  hone_status status = copy_studies(ctx, args, store, other, arena);
  store_close(other);
  return status;
}

static hone_status import_studies(struct ctx *ctx, const struct args *args, struct store *store,
                                  struct arena *arena) {
  for (size_t i = 1; i < args->word_count; i++) {
    struct store *other;
    TRY(store_open(ctx, args->words[i], false, &other));
    hone_status status = copy_studies(ctx, NULL, other, store, arena);
    store_close(other);
    TRY(status);
  }
  return HONE_OK;
}

static hone_status can_be_read(struct ctx *ctx, const char *path) {
  struct store *store;
  TRY(store_open(ctx, path, false, &store));
  store_close(store);
  return HONE_OK;
}

/* Opening a store for writing creates it, so a command that will fail must not get that far. */
static hone_status check_sources(struct ctx *ctx, const struct args *args, bool imports) {
  if (!imports) return can_be_read(ctx, value_of(args, FLAG_store, NULL));
  for (size_t i = 1; i < args->word_count; i++) {
    if (!strstr(args->words[i], "://") && access(args->words[i], F_OK))
      return fail(ctx, HONE_E_NOFILE, place_file(args->words[i]),
                  "no such file; 'hone studies export -o FILE.db' writes one");
    TRY(can_be_read(ctx, args->words[i]));
  }
  return HONE_OK;
}

static const struct action {
  const char *name;
  bool writes, needs_words;
  hone_status (*run)(struct ctx *ctx, const struct args *args, struct store *store,
                     struct arena *arena);
} actions[] = {{"rm", true, true, remove_studies},
               {"export", false, false, export_studies},
               {"import", true, true, import_studies}};

static hone_status find_action(struct ctx *ctx, const struct args *args,
                               const struct action **out) {
  *out = NULL;
  for (size_t i = 0; args->word_count && i < COUNT(actions); i++)
    if (!strcmp(args->words[0], actions[i].name)) *out = &actions[i];
  if (args->word_count && !*out)
    return fail(ctx, HONE_E_USAGE, place_name(args->words[0]),
                "no such action: 'hone studies', 'hone studies rm STUDY...', 'hone studies export "
                "[STUDY...] -o FILE.db' or 'hone studies import FILE.db...'");
  if (*out && (*out)->needs_words && args->word_count == 1)
    return fail(ctx, HONE_E_USAGE, place_name(args->words[0]),
                "give a study; 'hone studies' lists them");
  return HONE_OK;
}

int verb_studies(struct ctx *ctx, struct args *args) {
  struct store *store;
  struct arena *arena = NULL;
  const struct action *action;
  if (find_action(ctx, args, &action)) return report_failure(ctx);
  bool writes = action && action->writes;
  if (writes && check_sources(ctx, args, action->run == import_studies)) return report_failure(ctx);
  if (store_open(ctx, value_of(args, FLAG_store, NULL), writes, &store)) return report_failure(ctx);
  hone_status status = arena_create(ctx, 0, &arena);
  if (!status) status = action ? action->run(ctx, args, store, arena) : list(ctx, store, arena);
  arena_destroy(arena);
  store_close(store);
  return status ? report_failure(ctx) : 0;
}
