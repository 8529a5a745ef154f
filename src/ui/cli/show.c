/* Prints a study, and writes its output files. */
#include "ui/report/report.h"
#include "cli.h"

#include <stdlib.h>
#include <sys/stat.h>

struct shown {
  const struct summary *summary;
  struct render_options options;
};

static hone_status render_form(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct shown *shown = user;
  const struct renderer *renderer = renderer_find(form);
  if (!renderer) return fail(ctx, HONE_E_INTERNAL, place_name(form), "no such renderer");
  return renderer->render(ctx, shown->summary, &shown->options, out);
}

/* "zoo:mlp" becomes zoo_mlp.csv; an untrusted name must not lead out of the folder. */
static void model_file_name(const char *dir, const char *model, size_t number, char out[4096]) {
  char name[128];
  size_t n = 0;
  for (; model[n] && n + 1 < sizeof name; n++) {
    const char c = model[n];
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.';
    name[n] = is_plain && (n || c != '.') ? c : '_';
  }
  name[n] = 0;
  if (number > 1)
    snprintf(out, 4096, "%.3800s/%s-%zu.csv", dir, name, number);
  else
    snprintf(out, 4096, "%.3800s/%s.csv", dir, name);
}

hone_status csv_dir_check(struct ctx *ctx, const struct args *args, const struct config *configs,
                          size_t count) {
  const char *dir = value_of(args, FLAG_csv_dir, NULL);
  for (size_t i = 0; dir && i < count; i++) {
    char path[4096];
    model_file_name(dir, configs[i].model, 1, path);
    TRY(output_check(ctx, path, OUTPUT_CSV, NULL, 0));
  }
  return HONE_OK;
}

/* Writes the rows of one model, that of record `first`, to a file. number: counts models whose file name is the same. */
static hone_status write_model_csv(struct ctx *ctx, const char *dir, const struct summary *summary,
                                   size_t first, size_t number) {
  struct summary part = *summary;
  char path[4096];
  struct strbuf text = {0};
  part.record_count = 0;
  part.records = calloc(summary->record_count, sizeof *part.records);
  if (!part.records) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a model's rows");
  for (size_t i = first; i < summary->record_count; i++)
    if (same_model(&summary->records[first].config, &summary->records[i].config))
      part.records[part.record_count++] = summary->records[i];
  model_file_name(dir, summary->records[first].config.model, number, path);
  hone_status status = render_csv(ctx, &part, NULL, &text);
  if (!status) status = output_check(ctx, path, OUTPUT_CSV, NULL, 0);
  if (!status) status = write_output(ctx, path, &text);
  strbuf_deinit(&text);
  free(part.records);
  return status;
}

static hone_status write_models(struct ctx *ctx, const char *dir, const struct summary *summary) {
  TRY(dir_output(ctx, dir));
  for (size_t i = 0; i < summary->record_count; i++) {
    bool is_new = true;
    size_t number = 1;
    char mine[4096], other[4096];
    model_file_name(dir, summary->records[i].config.model, 1, mine);
    for (size_t k = 0; is_new && k < i; k++)
      is_new = !same_model(&summary->records[k].config, &summary->records[i].config);
    for (size_t k = 0; is_new && k < i; k++) {
      bool is_first = true;
      for (size_t m = 0; is_first && m < k; m++)
        is_first = !same_model(&summary->records[m].config, &summary->records[k].config);
      model_file_name(dir, summary->records[k].config.model, 1, other);
      number += is_first && !strcmp(mine, other);
    }
    if (is_new) TRY(write_model_csv(ctx, dir, summary, i, number));
  }
  return HONE_OK;
}

static int show_summary(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
                        const struct summary *summary) {
  struct shown shown = {summary,
                        {.color = wants_color(args),
                         .width = terminal_width(1),
                         .columns = value_of(args, FLAG_columns, NULL)}};
  int code = sinks_show(ctx, sinks, render_form, &shown);
  if (has(args, FLAG_csv_dir) && write_models(ctx, value_of(args, FLAG_csv_dir, NULL), summary)) {
    const int failed = report_failure(ctx);
    if (!code) code = failed;
  }
  return code;
}

bool names_file(const char *word) {
  struct stat info;
  return !stat(word, &info) && S_ISREG(info.st_mode);
}

int show_file(struct ctx *ctx, const struct args *args, const struct sinks *sinks,
              const char *path) {
  struct arena *arena;
  static struct summary summary;
  if (arena_create(ctx, 0, &arena)) return report_failure(ctx);
  const hone_status status = summary_read_json(ctx, arena, path, &summary);
  int code = status ? report_failure(ctx) : show_summary(ctx, args, sinks, &summary);
  arena_destroy(arena);
  return code;
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
