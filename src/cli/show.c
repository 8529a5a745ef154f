/* A study on the terminal, and to the sinks. */
#include "cli.h"

#include <sys/ioctl.h>

static int terminal_width(void) {
  struct winsize size;
  return !ioctl(1, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 0;
}

struct shown {
  const struct summary *summary;
  struct render_options options;
};

static hone_status render_form(struct ctx *ctx, void *user, const char *form, struct text *out) {
  const struct shown *shown = user;
  const struct renderer *renderer = renderer_find(form);
  if (!renderer) return fail(ctx, HONE_E_INTERNAL, place_name(form), "no such renderer");
  return renderer->render(ctx, shown->summary, &shown->options, out);
}

static int show_summary(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                        const struct summary *summary) {
  struct shown shown = {summary,
                        {.color = wants_color(args),
                         .width = terminal_width(),
                         .columns = value_of(args, FLAG_columns, NULL)}};
  static const struct sinks terminal = {.count = 1, .at = {{"-", "table"}}};
  int code = sinks->takes_stdout ? 0 : sinks_write(ctx, &terminal, render_form, &shown);
  int failed = sinks_write(ctx, sinks, render_form, &shown);
  return code ? code : failed;
}

int show_study(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
               struct store *store, const char *which) {
  struct study_row row;
  struct arena *arena;
  static struct study_data data;
  static struct summary summary;
  if (store_get_study(ctx, store, which, &row) || arena_create(ctx, 0, &arena))
    return report_failure(ctx);
  hone_status status = store_read_study(ctx, store, arena, row.key, &data);
  if (!status) status = summarise(ctx, arena, &data, wants_synthetic(args), &summary);
  int code = status ? report_failure(ctx) : show_summary(ctx, args, sinks, &summary);
  arena_destroy(arena);
  return code;
}
