/* Sinks: the output files of a verb, from --json, --csv, ... and from the ending of -o. All are checked before the work.
 * Afterwards each is written, also if another fails.
 */
#include "ui/report/report.h"
#include "cli.h"

#include "compiler/import/common/side_files.h"

#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct form {
  enum flag_id flag;
  const char *name, *endings[2];
  enum output_kind kind;
} forms[] = {
    {FLAG_trace,
     "trace",
     {".trace.json", ".trace"},
     OUTPUT_JSON}, /* before .json, because both match */
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

/* -- input files, which must not be overwritten */

/* Flags whose value is read: a file, NAME=FILE, or a folder of inputs or of samples, which are folders in it. */
enum named { A_FILE, A_PAIR, A_FOLDER };
static const struct {
  enum flag_id flag;
  enum named is;
} read_by[] = {{FLAG_baseline, A_FILE},   {FLAG_choices, A_FILE},      {FLAG_labels, A_FILE},
               {FLAG_prompt, A_FILE},     {FLAG_quality_text, A_FILE}, {FLAG_store, A_FILE},
               {FLAG_input, A_PAIR},      {FLAG_engine, A_PAIR},       {FLAG_inputs, A_FOLDER},
               {FLAG_calibrate, A_FOLDER}};

static void add_id(struct inputs_seen *seen, const struct stat *info) {
  for (size_t i = 0; i < seen->count; i++)
    if (seen->at[i].device == info->st_dev && seen->at[i].inode == info->st_ino) return;
  if (seen->count < COUNT(seen->at))
    seen->at[seen->count++] = (struct file_id){info->st_dev, info->st_ino};
}

static void add_input(struct inputs_seen *seen, const char *path) {
  struct stat info;
  if (!stat(path, &info)) add_id(seen, &info);
}

static void add_store(struct inputs_seen *seen) {
  struct ctx quiet;
  char path[4096];
  ctx_init(&quiet);
  if (!store_default_path(&quiet, path)) add_input(seen, path);
}

/* Outputs of an earlier run and reports may be in the same folder and may be overwritten. */
static bool is_input(const char *file) {
  const char *ending = strrchr(file, '.');
  return (ending && !strcmp(ending, ".npy") && strncmp(file, "out_", 4)) ||
         !strncmp(file, "labels.", 7);
}

static void add_folder(struct inputs_seen *seen, const char *path) {
  char copy[4096];
  char *const roots[] = {copy, NULL};
  if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) return;
  FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
  for (FTSENT *entry; tree && seen->count < COUNT(seen->at) && (entry = fts_read(tree));) {
    if (entry->fts_info == FTS_D && entry->fts_level > 1) fts_set(tree, entry, FTS_SKIP);
    if (entry->fts_info == FTS_F && is_input(entry->fts_name)) add_id(seen, entry->fts_statp);
  }
  if (tree) fts_close(tree);
}

/* Side files that a model's bytes name, also for a model that hone rejects and another engine may run. */
static void add_side_files(struct inputs_seen *seen, const char *model, const char *folder) {
  struct ctx quiet;
  struct mapping file;
  char location[SIDE_LOCATION_MAX], path[2 * SIDE_LOCATION_MAX];
  const char *slash = strrchr(model, '/');
  const int length = slash ? (int)(slash - model) : 1;
  ctx_init(&quiet);
  if (file_map(&quiet, model, &file)) return;
  for (const uint8_t *at = file.data; side_file_named(&at, file.data + file.size, location);) {
    const int n =
        folder ? snprintf(path, sizeof path, "%s/%s", folder, location)
               : snprintf(path, sizeof path, "%.*s/%s", length, slash ? model : ".", location);
    if (n < (int)sizeof path) add_input(seen, path);
  }
  file_unmap(&file);
}

static void add_named(struct inputs_seen *seen, enum named is, const char *value) {
  const char *equals = strchr(value, '=');
  if (is == A_FOLDER)
    add_folder(seen, value);
  else if (is == A_FILE)
    add_input(seen, value);
  else if (equals)
    add_input(seen, equals + 1);
}

void inputs_of_command(const struct args *args, struct inputs_seen *out) {
  out->count = 0;
  for (size_t i = 0; i < args->word_count; i++) add_input(out, args->words[i]);
  for (size_t f = 0; f < COUNT(read_by); f++)
    for (size_t i = 0; i < args->repeated[read_by[f].flag].count; i++)
      add_named(out, read_by[f].is, args->repeated[read_by[f].flag].at[i]);
  if (flag_is_of(FLAG_store, args->verb) && !has(args, FLAG_store)) add_store(out);
}

void inputs_of_model(const struct model *model, struct inputs_seen *out) {
  for (size_t i = 0; i < model->file.sides.count && out->count < COUNT(out->at); i++)
    out->at[out->count++] =
        (struct file_id){model->file.sides.at[i].device, model->file.sides.at[i].inode};
}

/* -- reading */

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

static hone_status unknown_ending(struct ctx *ctx, const struct args *args, const char *path) {
  struct strbuf known = {0};
  for (size_t i = 0; i < COUNT(forms); i++)
    if (flag_is_of(forms[i].flag, args->verb) && forms[i].endings[0])
      strbuf_printf(&known, "%s%s", known.length ? ", " : "", forms[i].endings[0]);
  hone_status status = strcmp(path, "-")
                           ? fail(ctx, HONE_E_USAGE, place_name(path),
                                  "unknown file ending; there are %s", known.at ? known.at : "none")
                           : fail(ctx, HONE_E_USAGE, place_name("-o -"),
                                  "give the format with a flag, such as --json -");
  strbuf_deinit(&known);
  return status;
}

/* The same file name in the same folder, by any path. */
static bool is_same_path(const char *a, const char *b) {
  const char *const paths[] = {a, b};
  struct stat folders[2];
  const char *names[2];
  if (!strcmp(a, b)) return true;
  if (!strcmp(a, "-") || !strcmp(b, "-")) return false;
  for (size_t i = 0; i < 2; i++) {
    char folder[4096];
    const char *slash = strrchr(paths[i], '/');
    const int n = slash ? (int)(slash - paths[i]) + 1 : 0;
    names[i] = paths[i] + n;
    if (snprintf(folder, sizeof folder, "%.*s.", n, paths[i]) >= (int)sizeof folder ||
        stat(folder, &folders[i]))
      return false;
  }
  return !strcmp(names[0], names[1]) && folders[0].st_dev == folders[1].st_dev &&
         folders[0].st_ino == folders[1].st_ino;
}

static hone_status check_paths_differ(struct ctx *ctx, const struct sinks *sinks,
                                      const char *path) {
  for (size_t i = 0; i < sinks->count; i++)
    if (is_same_path(sinks->at[i].path, path))
      return fail(ctx, HONE_E_USAGE, place_name(path), "two outputs have the same path");
  return HONE_OK;
}

static hone_status add_sink(struct ctx *ctx, struct sinks *sinks, const struct form *form,
                            const char *path) {
  bool is_stdout = !strcmp(path, "-");
  TRY(check_paths_differ(ctx, sinks, path));
  if (sinks->count == COUNT(sinks->at))
    return fail(ctx, HONE_E_USAGE, place_name(path), "more than %zu outputs", COUNT(sinks->at));
  const enum output_kind kind = form->kind == OUTPUT_CSV ? sinks->csv_kind : form->kind;
  if (!is_stdout) TRY(output_check(ctx, path, kind, sinks->inputs.at, sinks->inputs.count));
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

hone_status sinks_check_model(struct ctx *ctx, struct sinks *sinks, const struct model *model) {
  inputs_of_model(model, &sinks->inputs);
  return sinks_check(ctx, sinks);
}

/* A word that is not a readable model is reported later, by the study. */
hone_status sinks_check_words(struct ctx *ctx, const struct args *args, struct sinks *sinks) {
  for (size_t i = 0; sinks->count && i < args->word_count; i++) {
    struct ctx quiet = *ctx;
    struct model model;
    quiet.warn = NULL;
    if (zoo_is_spec(args->words[i]) || load_model(&quiet, args, args->words[i], &model)) continue;
    inputs_of_model(&model, &sinks->inputs);
    model_unload(&model);
  }
  return sinks_check(ctx, sinks);
}

/* Folders are created before the work, so that a failure costs no measurement. */
static const enum flag_id folders[] = {FLAG_csv_dir, FLAG_keep};

static bool has_sinks(const struct args *args) {
  bool any = has(args, FLAG_output);
  for (size_t f = 0; f < COUNT(forms); f++) any |= args->repeated[forms[f].flag].count > 0;
  return any;
}

hone_status sinks_read_flags(struct ctx *ctx, const struct args *args, struct sinks *out) {
  *out = (struct sinks){.csv_kind = strcmp(args->verb, "list") ? OUTPUT_CSV : OUTPUT_ENGINES};
  TRY(table_columns_check(ctx, value_of(args, FLAG_columns, NULL)));
  inputs_of_command(args, &out->inputs);
  for (size_t i = 0; has_sinks(args) && i < args->word_count; i++)
    add_side_files(&out->inputs, args->words[i], value_of(args, FLAG_side_files_from, NULL));
  for (size_t f = 0; f < COUNT(folders) && !has(args, FLAG_dry_run); f++)
    if (has(args, folders[f])) TRY(dir_output(ctx, value_of(args, folders[f], "")));
  for (size_t f = 0; f < COUNT(forms); f++)
    for (size_t i = 0; i < args->repeated[forms[f].flag].count; i++)
      TRY(add_sink(ctx, out, &forms[f], args->repeated[forms[f].flag].at[i]));
  for (size_t i = 0; i < args->repeated[FLAG_output].count; i++)
    TRY(check_paths_differ(ctx, out, args->repeated[FLAG_output].at[i]));
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
    if (!form) return unknown_ending(ctx, args, named->at[i]);
    TRY(add_sink(ctx, out, form, named->at[i]));
  }
  return HONE_OK;
}

/* -- writing */

/* Adds the mark by which hone recognises its own files (outputs.def). The renderers of other kinds write it themselves. */
static hone_status put_mark(struct ctx *ctx, const char *form, struct strbuf *text) {
  static const char comment[] = "<!-- made by hone " HONE_VERSION " -->\n";
  static const char json[] = "\"made_by\": \"hone " HONE_VERSION "\",";
  struct strbuf marked = {0};
  size_t f = 0, at = 0;
  TRY(strbuf_finish(ctx, text));
  while (f < COUNT(forms) && strcmp(forms[f].name, form)) f++;
  if (f == COUNT(forms)) return HONE_OK;
  const bool is_json = forms[f].kind == OUTPUT_JSON, is_markdown = forms[f].kind == OUTPUT_MARKDOWN;
  if (!is_json && !is_markdown && forms[f].kind != OUTPUT_XML) return HONE_OK;
  if (is_json) at = strcspn(text->at, "{") + 1;
  if (is_markdown) at = text->length;
  if (!strncmp(text->at, "<?xml", 5)) at = strcspn(text->at, "\n") + 1;
  /* not an object, or marked already */
  if (at > text->length || (is_json && strstr(text->at, json))) return HONE_OK;
  strbuf_append(&marked, text->at, at);
  if (is_json && text->at[at] == '\n') strbuf_puts(&marked, "\n  ");
  if (is_markdown) strbuf_puts(&marked, "\n");
  strbuf_puts(&marked, is_json ? json : comment);
  strbuf_append(&marked, text->at + at, text->length - at);
  strbuf_deinit(text);
  *text = marked;
  return strbuf_finish(ctx, text);
}

/* `old` has the line, including its line end. */
static bool has_line(const char *old, size_t size, const char *line, size_t length) {
  for (const char *at = old, *end = old + size; (size_t)(end - at) >= length;) {
    if (!memcmp(at, line, length)) return true;
    const char *next = memchr(at, '\n', (size_t)(end - at));
    if (!next) return false;
    at = next + 1;
  }
  return false;
}

/* --latency-csv appends: existing lines stay, and new lines that the file does not have follow. */
static hone_status append_new_lines(struct ctx *ctx, const char *path, struct strbuf *text) {
  struct stat info;
  struct mapping old;
  struct strbuf all = {0};
  const size_t title = strcspn(text->at, "\n") + 1;
  if (!strcmp(path, "-") || stat(path, &info) || !S_ISREG(info.st_mode) || !info.st_size)
    return HONE_OK;
  TRY(file_map(ctx, path, &old));
  const char *lines = (const char *)old.data;
  hone_status status = HONE_OK;
  if (old.size < title || memcmp(lines, text->at, title) != 0)
    status = fail(ctx, HONE_E_PATH, place_file(path),
                  "has the columns of another version of hone; give another file");
  if (!status) strbuf_append(&all, lines, old.size);
  if (!status && lines[old.size - 1] != '\n') strbuf_puts(&all, "\r\n");
  for (const char *line = text->at + title; !status && *line;) {
    const size_t length = strcspn(line, "\n") + 1;
    if (!has_line(lines, old.size, line, length)) strbuf_append(&all, line, length);
    line += length;
  }
  file_unmap(&old);
  if (!status) {
    strbuf_deinit(text);
    *text = all;
    return strbuf_finish(ctx, text);
  }
  strbuf_deinit(&all);
  return status;
}

int sinks_write(struct ctx *ctx, const struct sinks *sinks, render_fn *render, void *user) {
  int code = 0;
  for (size_t i = 0; i < sinks->count; i++) {
    struct strbuf text = {0};
    hone_status status = render(ctx, user, sinks->at[i].form, &text);
    if (!status) status = put_mark(ctx, sinks->at[i].form, &text);
    if (!status && !strcmp(sinks->at[i].form, "latency"))
      status = append_new_lines(ctx, sinks->at[i].path, &text);
    if (!status) status = write_output(ctx, sinks->at[i].path, &text);
    strbuf_deinit(&text);
    int failed = status ? report_failure(ctx) : 0;
    if (!code) code = failed;
    ctx_clear(ctx);
  }
  return code;
}

int sinks_show(struct ctx *ctx, const struct sinks *sinks, render_fn *render, void *user) {
  static const struct sinks terminal = {.count = 1, .at = {{"-", "table"}}};
  const int code = sinks->takes_stdout ? 0 : sinks_write(ctx, &terminal, render, user);
  const int failed = sinks_write(ctx, sinks, render, user);
  return code ? code : failed;
}
