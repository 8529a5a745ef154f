/* Sinks: where a verb's results go besides the terminal, by --json, --csv, ... and by the ending of -o. All
 * are looked at before the work. Afterwards each is written whatever became of the others. */
#include "cli.h"

#include <sys/stat.h>

static const struct form {
  enum flag_id flag;
  const char *name, *endings[2];
  enum output_kind kind;
} forms[] = {
    {FLAG_trace, "trace", {".trace.json", ".trace"}, OUTPUT_JSON}, /* in front of .json */
    {FLAG_json, "json", {".json", NULL}, OUTPUT_JSON},
    {FLAG_csv, "csv", {".csv", NULL}, OUTPUT_CSV},
    {FLAG_latency_csv, "latency", {NULL, NULL}, OUTPUT_LATENCY},
    {FLAG_md, "md", {".md", ".markdown"}, OUTPUT_MARKDOWN},
    {FLAG_html, "html", {".html", ".htm"}, OUTPUT_HTML},
    {FLAG_graph, "graph", {".svg", NULL}, OUTPUT_XML},
    {FLAG_svg, "svg", {".svg", NULL}, OUTPUT_XML},
    {FLAG_png, "png", {".png", NULL}, OUTPUT_PNG},
    {FLAG_junit, "junit", {".xml", NULL}, OUTPUT_XML},
    {FLAG_comment, "comment", {NULL, NULL}, OUTPUT_MARKDOWN},
};

/* -- files of this command's own, which are no outputs ------------------------------------------ */

static void add_input(struct inputs_seen *seen, const char *path) {
  struct stat info;
  if (seen->count < COUNT(seen->at) && !stat(path, &info))
    seen->at[seen->count++] = (struct file_id){info.st_dev, info.st_ino};
}

void inputs_of_command(const struct args *args, struct inputs_seen *out) {
  static const enum flag_id flags[] = {FLAG_input, FLAG_engine};
  out->count = 0;
  for (size_t i = 0; i < args->word_count; i++) add_input(out, args->words[i]);
  if (has(args, FLAG_baseline)) add_input(out, value_of(args, FLAG_baseline, ""));
  for (size_t f = 0; f < COUNT(flags); f++)
    for (size_t i = 0; i < args->repeated[flags[f]].count; i++) {
      const char *equals = strchr(args->repeated[flags[f]].at[i], '=');
      if (equals) add_input(out, equals + 1);
    }
}

void inputs_of_model(const struct model *model, struct inputs_seen *out) {
  for (size_t i = 0; i < model->file.sides.count && out->count < COUNT(out->at); i++)
    out->at[out->count++] =
        (struct file_id){model->file.sides.at[i].device, model->file.sides.at[i].inode};
}

/* -- reading ------------------------------------------------------------------------------------ */

static bool ends_with(const char *path, const char *ending) {
  size_t n = strlen(path), m = ending ? strlen(ending) : 0;
  return m && n > m && !strcmp(path + n - m, ending);
}

static const struct form *form_of_path(const struct args *args, const char *path) {
  for (size_t i = 0; i < COUNT(forms); i++)
    if (flag_is_of(forms[i].flag, args->verb) &&
        (ends_with(path, forms[i].endings[0]) || ends_with(path, forms[i].endings[1])))
      return &forms[i];
  return NULL;
}

static hone_status unknown_form(struct ctx *ctx, const struct args *args, const char *path) {
  struct text known = {0};
  for (size_t i = 0; i < COUNT(forms); i++)
    if (flag_is_of(forms[i].flag, args->verb) && forms[i].endings[0])
      text_printf(&known, "%s%s", known.length ? ", " : "", forms[i].endings[0]);
  hone_status status =
      strcmp(path, "-")
          ? fail(ctx, HONE_E_USAGE, place_name(path), "its ending says no form; there are %s",
                 known.at ? known.at : "none")
          : fail(ctx, HONE_E_USAGE, place_name("-o -"), "in which form? For one, --json -");
  text_deinit(&known);
  return status;
}

static hone_status add_sink(struct ctx *ctx, struct sinks *sinks, const struct form *form,
                            const char *path) {
  bool is_stdout = !strcmp(path, "-");
  for (size_t i = 0; i < sinks->count; i++)
    if (!strcmp(sinks->at[i].path, path))
      return fail(ctx, HONE_E_USAGE, place_name(path), "two outputs cannot go to one place");
  if (sinks->count == COUNT(sinks->at))
    return fail(ctx, HONE_E_USAGE, place_name(path), "more than %zu outputs", COUNT(sinks->at));
  if (!is_stdout) TRY(output_check(ctx, path, form->kind, sinks->inputs.at, sinks->inputs.count));
  sinks->takes_stdout |= is_stdout;
  sinks->at[sinks->count++] = (struct sink){path, form->name};
  return HONE_OK;
}

hone_status sinks_check(struct ctx *ctx, const struct sinks *sinks) {
  for (size_t i = 0; i < sinks->count; i++)
    for (size_t f = 0; f < COUNT(forms); f++)
      if (!strcmp(forms[f].name, sinks->at[i].form) && strcmp(sinks->at[i].path, "-"))
        TRY(output_check(ctx, sinks->at[i].path, forms[f].kind, sinks->inputs.at,
                         sinks->inputs.count));
  return HONE_OK;
}

hone_status sinks_read_flags(struct ctx *ctx, const struct args *args, struct sinks *out) {
  *out = (struct sinks){.count = 0};
  TRY(table_columns_check(ctx, value_of(args, FLAG_columns, NULL)));
  inputs_of_command(args, &out->inputs);
  for (size_t f = 0; f < COUNT(forms); f++)
    for (size_t i = 0; i < args->repeated[forms[f].flag].count; i++)
      TRY(add_sink(ctx, out, &forms[f], args->repeated[forms[f].flag].at[i]));
  return HONE_OK;
}

hone_status sinks_read(struct ctx *ctx, const struct args *args, struct sinks *out) {
  const struct repeated *named = &args->repeated[FLAG_output];
  TRY(sinks_read_flags(ctx, args, out));
  size_t kinds = 0;
  const struct form *only = NULL;
  for (size_t f = 0; f < COUNT(forms); f++)
    if (flag_is_of(forms[f].flag, args->verb)) kinds++, only = &forms[f];
  for (size_t i = 0; i < named->count; i++) {
    bool is_stdout = !strcmp(named->at[i], "-");
    const struct form *form = is_stdout && kinds == 1 ? only : form_of_path(args, named->at[i]);
    if (!form) return unknown_form(ctx, args, named->at[i]);
    TRY(add_sink(ctx, out, form, named->at[i]));
  }
  return HONE_OK;
}

/* -- writing ------------------------------------------------------------------------------------ */

int sinks_write(struct ctx *ctx, const struct sinks *sinks, render_fn *render, void *user) {
  int code = 0;
  for (size_t i = 0; i < sinks->count; i++) {
    struct text text = {0};
    hone_status status = render(ctx, user, sinks->at[i].form, &text);
    if (!status) status = write_output(ctx, sinks->at[i].path, &text);
    text_deinit(&text);
    int failed = status ? report_failure(ctx) : 0;
    if (!code) code = failed;
    ctx_clear(ctx);
  }
  return code;
}
