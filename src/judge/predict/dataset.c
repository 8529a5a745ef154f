/* The records of a store as a data set, and its card, which answers the questions of Gebru et
 * al., Datasheets for Datasets (CACM 2021), that apply to a benchmark. */
#include "core/format/format.h"
#include "predict.h"

#include <math.h>

struct exporting {
  struct ctx *ctx;
  struct arena *arena;
  struct csv csv;
  struct dataset_facts *facts;
  VEC(const char *) machines;
  VEC(const char *) studies;
  char last_study[33];
};

/* The command contains the user's paths. */
static bool is_published(const struct column *column) { return strcmp(column->key, "repeat") != 0; }

static bool is_new(const char *name, const char *const *at, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(at[i], name)) return false;
  return *name;
}

/* A fingerprint with the facts that describe the machine and do not identify its owner. */
static hone_status put_machine(struct exporting *e, const struct study_row *study) {
  static const char *const published[] = {"cpu", "cores_usable", "hypervisor"};
  struct strbuf *out = &e->facts->machine_rows;
  struct fact *facts;
  size_t count;
  TRY(facts_read(e->ctx, e->arena, study->machine_json, &facts, &count));
  strbuf_puts(out, "| ");
  markdown_text((struct markdown){out}, study->fingerprint);
  for (size_t i = 0; i < COUNT(published); i++) {
    const char *value = fact_find(facts, count, published[i]);
    strbuf_puts(out, " | ");
    markdown_text((struct markdown){out}, value ? value : "");
  }
  strbuf_puts(out, " |\n");
  return HONE_OK;
}

static hone_status count_study(struct exporting *e, const struct study_row *study) {
  const char *copy;
  if (is_new(study->key, e->studies.at, e->studies.count)) {
    TRY(arena_string(e->ctx, e->arena, study->key, strlen(study->key), &copy));
    VEC_PUSH(e->ctx, e->arena, &e->studies, copy);
  }
  if (is_new(study->fingerprint, e->machines.at, e->machines.count)) {
    TRY(arena_string(e->ctx, e->arena, study->fingerprint, strlen(study->fingerprint), &copy));
    VEC_PUSH(e->ctx, e->arena, &e->machines, copy);
    TRY(put_machine(e, study));
  }
  if (!e->facts->first_unix_ms || study->started_unix_ms < e->facts->first_unix_ms)
    e->facts->first_unix_ms = study->started_unix_ms;
  if (study->started_unix_ms > e->facts->last_unix_ms)
    e->facts->last_unix_ms = study->started_unix_ms;
  return HONE_OK;
}

static void put_header(struct csv *csv) {
  csv_text(csv, "study");
  csv_text(csv, "started_unix_ms");
  csv_text(csv, "fingerprint");
  for (size_t c = 0; c < column_count; c++)
    if (is_published(&columns[c])) csv_text(csv, columns[c].key);
  for (size_t f = 0; f < FEATURE_COUNT; f++) {
    char name[64];
    snprintf(name, sizeof name, "feature.%s", feature_names[f]);
    csv_text(csv, name);
  }
  csv_end_line(csv);
}

static const char path_ends[] = " \t\n\"'`;,)]}<>|";

/* An absolute path begins after a blank, a quote, "=" and similar characters, or after the
   slashes of "file://". */
static bool begins_path(const char *text, const char *at) {
  static const char before[] = " \t\n\"'`=:;,([{<>|";
  if (*at != '/' || !at[1] || strchr(" /", at[1])) return false;
  if (at >= text + 2 && at[-1] == '/' && at[-2] == '/') return at >= text + 3 && at[-3] == ':';
  if (at > text && at[-1] == '|') /* "max|d|/max|r|" is a fraction, "|/home/me|" is a path */
    return strcspn(at + 1, "/") < strcspn(at + 1, path_ends);
  return at == text || strchr(before, at[-1]);
}

/* Messages and options of engines contain the user's paths; a quoted path ends at the quote. */
static void put_without_paths(const char *text, struct strbuf *out) {
  for (const char *at = text; *at; at++) {
    if (!begins_path(text, at)) {
      strbuf_append(out, at, 1);
      continue;
    }
    const char quote = at > text && strchr("\"'`", at[-1]) ? at[-1] : 0;
    const char *end = quote ? strchr(at, quote) : NULL;
    if (!end) end = at + strcspn(at, path_ends);
    strbuf_puts(out, "PATH");
    at = end - 1;
  }
}

static hone_status put_row(void *user, const struct row_seen *row) {
  struct exporting *e = user;
  const struct study_row *study = &row->summary->study;
  if (strcmp(e->last_study, study->key)) TRY(count_study(e, study));
  snprintf(e->last_study, sizeof e->last_study, "%s", study->key);
  csv_text(&e->csv, study->key);
  csv_number(&e->csv, (double)study->started_unix_ms);
  csv_text(&e->csv, study->fingerprint);
  for (size_t c = 0; c < column_count; c++) {
    struct strbuf value = {0}, plain = {0};
    if (!is_published(&columns[c])) continue;
    if (column_is_number(&columns[c])) {
      csv_number(&e->csv, column_number(row->record, &columns[c]));
      continue;
    }
    column_format(row->record, &columns[c], &value);
    put_without_paths(value.at ? value.at : "", &plain);
    csv_text(&e->csv, plain.at ? plain.at : "");
    if (value.failed || plain.failed) e->csv.out->failed = true;
    strbuf_deinit(&value);
    strbuf_deinit(&plain);
  }
  for (size_t f = 0; f < FEATURE_COUNT; f++)
    csv_number(&e->csv, row->x ? (double)row->x[f] : (double)NAN);
  csv_end_line(&e->csv);
  e->facts->rows++;
  e->facts->with_features += row->x != NULL;
  return HONE_OK;
}

hone_status dataset_csv(struct ctx *ctx, struct arena *arena, struct store *store,
                        struct strbuf *out, struct dataset_facts *out_facts) {
  struct exporting e = {.ctx = ctx, .arena = arena, .csv = {.out = out}, .facts = out_facts};
  struct model_names names = {0};
  *out_facts = (struct dataset_facts){0};
  put_header(&e.csv);
  TRY(rows_visit(ctx, arena, store, SIZE_MAX, &names, put_row, &e));
  out_facts->models = names.count;
  out_facts->studies = e.studies.count;
  out_facts->machines = e.machines.count;
  return strbuf_finish(ctx, out);
}

static void put_table(struct strbuf *out) {
  struct markdown markdown = {out};
  strbuf_puts(
      out,
      "| column | unit | meaning |\n|:--|:--|:--|\n"
      "| study | | key of the study; the rows of one study were measured in alternating slices |\n"
      "| started_unix_ms | ms | start of the study, since 1970 in UTC |\n"
      "| fingerprint | | hash of the facts about machine and software; rows of two fingerprints "
      "are not compared |\n");
  for (size_t c = 0; c < column_count; c++) {
    if (!is_published(&columns[c])) continue;
    strbuf_printf(out, "| %s | ", columns[c].key);
    markdown_text(markdown, columns[c].unit);
    strbuf_puts(out, " | ");
    markdown_text(markdown, columns[c].help);
    strbuf_puts(out, " |\n");
  }
  static const struct {
    const char *expression, *help;
  } features[FEATURE_COUNT] = {
#define FEATURE(name, expression, text, absent) {#expression, text},
#include "features.def"
#undef FEATURE
  };
  for (size_t f = 0; f < FEATURE_COUNT; f++)
    strbuf_printf(out, "| feature.%s | %s | %s; empty if the model's file was not available |\n",
                  feature_names[f], strncmp(features[f].expression, "lg(", 3) ? "" : "log2",
                  features[f].help);
}

void dataset_card(const struct dataset_facts *facts, bool has_parquet, struct strbuf *out) {
  strbuf_printf(
      out, "# Records of a hone store\nRows: %zu; studies: %zu; models: %zu; machines: %zu; from ",
      facts->rows, facts->studies, facts->models, facts->machines);
  put_time(out, facts->first_unix_ms);
  strbuf_puts(out, " to ");
  put_time(out, facts->last_unix_ms);
  strbuf_printf(
      out,
      ". Exported by hone %s.\n\n"
      "`records.csv`%s: one row for each configuration (model, shapes, backend, variant, route, "
      "device, precision, threads, scenario and cache state) that was measured in one study. "
      "A missing value is an empty field.\n\n"
      "## Purpose\n"
      "To learn what a model will cost on a backend before it runs there, and to check such "
      "predictions on models that were left out. Rows with the same `model_hash` belong on the "
      "same side of a split, and so do all batches of one `model`.\n\n"
      "## Collection\n"
      "`hone bench` runs each backend in its own processes, which take turns, and compares the "
      "outputs of the timed run with a reference. Rows whose `status` is not ok are failures, with "
      "the stage. `flags` marks rows whose machine was noisy or that did not become stationary: "
      "leave these out, or give them less weight.\n\n"
      "## Limits\n"
      "Rows of two fingerprints are from two machines. An interval covers the rounds and processes "
      "of one study, not another day. The models are those that users chose to measure, not a "
      "sample of a population. %zu of %zu rows have features.\n\n"
      "## Not included\n"
      "There are no host names, user names or paths: `model` is a file name (with its folder if "
      "two files have the same name), an absolute path in an engine's message is `PATH`, and "
      "commands are left out. The models themselves are not included; `model_hash` is XXH3-128 of "
      "their bytes.\n\n"
      "## Machines\n| fingerprint | cpu | cores | hypervisor |\n|:--|:--|--:|:--|\n%s\n"
      "## Columns\n",
      HONE_VERSION, has_parquet ? " and `records.parquet`, the same rows" : "",
      facts->with_features, facts->rows, facts->machine_rows.at ? facts->machine_rows.at : "");
  put_table(out);
}
