/* hone compare: compares two studies of the store, or two files that --json wrote. With --fail-above it is a gate: exit code 1
 * if a configuration is slower than allowed or broken, 5 if an interval is too wide to decide.
 */
#include "ui/report/report.h"
#include "cli.h"

#include <math.h>

struct side {
  struct study_data data;
  struct summary summary;
};

static hone_status read_stored(struct ctx *ctx, const struct args *args, struct arena *arena,
                               const char *word, struct side *out) {
  struct study_row *row;
  struct store *store;
  TRY(store_open(ctx, value_of(args, FLAG_store, NULL), false, &store));
  hone_status status = NEW(ctx, arena, row);
  if (!status) status = store_get_study(ctx, store, word, row);
  if (!status) status = store_read_study(ctx, store, arena, row->key, &out->data);
  if (!status) status = summarise(ctx, arena, &out->data, wants_synthetic(args), &out->summary);
  store_close(store);
  return status;
}

static hone_status read_side(struct ctx *ctx, const struct args *args, struct arena *arena,
                             const char *word, struct side *out) {
  return names_file(word) ? summary_read_json(ctx, arena, word, &out->summary)
                          : read_stored(ctx, args, arena, word, out);
}

struct shown {
  const struct changes *changes;
  struct render_options options;
};
static hone_status render_form(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct shown *shown = user;
  return render_changes(ctx, form, shown->changes, &shown->options, out);
}

static hone_status find(struct ctx *ctx, const struct args *args, struct arena *arena,
                        struct changes *out) {
  static struct side before, after;
  double fail_above;
  TRY(amount_of(ctx, args, FLAG_fail_above, AMOUNT_PERCENT, 0, 100, NAN, &fail_above));
  TRY(read_side(ctx, args, arena, args->words[0], &before));
  TRY(read_side(ctx, args, arena, args->words[1], &after));
  return changes_find(ctx, arena, &before.summary, &after.summary, fail_above, out);
}

int verb_compare(struct ctx *ctx, struct args *args) {
  static struct sinks sinks;
  struct arena *arena;
  struct changes changes;
  if (args->word_count != 2)
    REFUSE(ctx, HONE_E_USAGE, place_none(),
           "give two studies, each as key, name, 'last' or JSON file");
  if (ctx->status || sinks_read(ctx, args, &sinks) || arena_create(ctx, 0, &arena))
    return report_failure(ctx);
  int code = 0;
  if (find(ctx, args, arena, &changes)) {
    code = report_failure(ctx);
  } else {
    struct shown shown = {&changes, {.color = wants_color(args)}};
    code = sinks_show(ctx, &sinks, render_form, &shown);
    if (!code) code = changes_exit_code(&changes);
  }
  arena_destroy(arena);
  return code;
}
