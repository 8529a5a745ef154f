/* read_json: a study's JSON, as render_json wrote it, to records without samples.
 *
 * The file is untrusted and may be of another release: unknown keys are skipped and missing ones are n/a. A value of another
 * type than its column's is E_FORMAT.
 */
#include "core/os/os.h"
#include "compare.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* The value at a path such as "latency_ms.p50_ci.0"; NULL: none. */
static const json_t *find_value(const json_t *record, const char *key) {
  const json_t *at = record;
  for (char part[64]; at && *key; key += *key == '.') {
    const size_t length = strcspn(key, ".");
    if (length >= sizeof part) return NULL;
    memcpy(part, key, length);
    part[length] = 0;
    key += length;
    at =
        json_is_array(at) ? json_array_get(at, strtoul(part, NULL, 10)) : json_object_get(at, part);
  }
  return at;
}

/* Flags are an array of words in JSON, and words separated by blanks in a record. */
static bool set_flags(struct record *record, const struct column *column, const json_t *list) {
  struct strbuf words = {0};
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *word = json_string_value(json_array_get(list, i));
    uint32_t known;
    if (!word) return strbuf_deinit(&words), false;
    if (!flags_parse(word, &known)) continue; /* of a later release */
    strbuf_printf(&words, "%s%s", words.length ? " " : "", word);
  }
  const bool fits = !words.failed && column_set_text(record, column, words.at ? words.at : "");
  strbuf_deinit(&words);
  return fits;
}

static bool set_column(struct record *record, const struct column *column, const json_t *value) {
  if (column_is_number(column)) {
    if (value && !json_is_null(value) && !json_is_number(value)) return false;
    return column_set_number(record, column,
                             json_is_number(value) ? json_number_value(value) : (double)NAN);
  }
  if (!value) return true;
  if (column->type == COLUMN_FLAGS) return json_is_array(value) && set_flags(record, column, value);
  return json_is_string(value) && column_set_text(record, column, json_string_value(value));
}

/* Checks the values that are used in arithmetic; the others are only shown. */
static bool is_valid(const struct record *record) {
  if (strlen(record->config.key) != 32 || record->config.batch < 0 || record->config.threads < 0)
    return false;
  if (record->sample_count > (size_t)INT64_MAX) return false;
  return record->sample_count == 0 || (record->p50_ms >= 0 && isfinite(record->p50_ms));
}

static MUST_USE hone_status read_record(struct ctx *ctx, const char *path, const json_t *from,
                                        size_t index, struct record *out) {
  for (size_t c = 0; c < column_count; c++)
    if (!set_column(out, &columns[c], find_value(from, columns[c].key)))
      return fail(ctx, HONE_E_FORMAT, place_file(path), "record %zu: \"%s\" is not a %s in range",
                  index, columns[c].key, column_is_number(&columns[c]) ? "number" : "text");
  if ((int64_t)out->sample_count < 0) out->sample_count = 0;
  if (!is_valid(out))
    return fail(ctx, HONE_E_FORMAT, place_file(path),
                "record %zu is not a row of a study: it has no key, or its latency is not a time",
                index);
  return HONE_OK;
}

static MUST_USE hone_status copy_text(struct ctx *ctx, const char *path, const json_t *from,
                                      const char *key, char *out, size_t size) {
  const char *text = json_string_value(json_object_get(from, key));
  if (text && strlen(text) >= size)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "\"%s\" is longer than %zu bytes", key,
                size - 1);
  snprintf(out, size, "%s", text ? text : "");
  return HONE_OK;
}

static void copy_json(const json_t *from, char *out, size_t size) {
  char *text = json_dumps(from, JSON_COMPACT);
  const bool fits = text && strlen(text) < size;
  snprintf(out, size, "%s", fits ? text : "{}");
  free(text);
}

static MUST_USE hone_status read_study(struct ctx *ctx, const char *path, const json_t *root,
                                       struct study_row *out) {
  const json_t *study = json_object_get(root, "study");
  TRY(copy_text(ctx, path, study, "key", out->key, sizeof out->key));
  TRY(copy_text(ctx, path, study, "name", out->name, sizeof out->name));
  TRY(copy_text(ctx, path, study, "command", out->command, sizeof out->command));
  TRY(copy_text(ctx, path, study, "fingerprint", out->fingerprint, sizeof out->fingerprint));
  copy_json(json_object_get(root, "machine"), out->machine_json, sizeof out->machine_json);
  copy_json(json_object_get(study, "options"), out->options_json, sizeof out->options_json);
  const json_int_t started = json_integer_value(json_object_get(study, "started_unix_ms"));
  out->started_unix_ms = started > 0 ? (uint64_t)started : 0;
  out->finished = json_is_true(json_object_get(study, "finished"));
  return HONE_OK;
}

static size_t find_config(const struct summary *summary, const json_t *key) {
  const char *text = json_string_value(key);
  for (size_t i = 0; text && i < summary->record_count; i++)
    if (!strcmp(summary->records[i].config.key, text)) return i;
  return SIZE_MAX;
}

/* A comparison without a valid interval is ignored. */
static void read_comparison(const json_t *from, struct summary *out) {
  const json_t *ci = json_object_get(from, "ci");
  const char *verdict = json_string_value(json_object_get(from, "verdict"));
  struct comparison one = {.a = find_config(out, json_object_get(from, "a")),
                           .b = find_config(out, json_object_get(from, "b")),
                           .ratio = {json_number_value(json_object_get(from, "ratio")),
                                     json_number_value(json_array_get(ci, 0)),
                                     json_number_value(json_array_get(ci, 1))}};
  const struct interval *r = &one.ratio;
  if (one.a == SIZE_MAX || one.b == SIZE_MAX || one.a == one.b) return;
  if (!(r->low > 0 && r->low <= r->value && r->value <= r->high)) return;
  one.verdict = VERDICT_undecided;
  for (int v = 0; verdict && v <= VERDICT_slower; v++)
    if (!strcmp(verdict, verdict_text((enum verdict)v))) one.verdict = (enum verdict)v;
  out->comparisons[out->comparison_count++] = one;
}

static MUST_USE hone_status read_root(struct ctx *ctx, struct arena *arena, const char *path,
                                      const json_t *root, struct summary *out) {
  const json_t *records = json_object_get(root, "records");
  if (json_integer_value(json_object_get(root, "schema")) < 1 || !json_is_array(records))
    return fail(ctx, HONE_E_FORMAT, place_file(path),
                "is not a study that --json wrote: no \"schema\" or no \"records\"");
  TRY(read_study(ctx, path, root, &out->study));
  TRY(NEW_ARRAY(ctx, arena, out->records, json_array_size(records) + 1));
  for (size_t i = 0; i < json_array_size(records); i++) {
    TRY(read_record(ctx, path, json_array_get(records, i), i, &out->records[i]));
    out->record_count++;
  }
  const json_t *comparisons = json_object_get(root, "comparisons");
  TRY(NEW_ARRAY(ctx, arena, out->comparisons, json_array_size(comparisons) + 1));
  for (size_t i = 0; i < json_array_size(comparisons); i++)
    read_comparison(json_array_get(comparisons, i), out);
  return HONE_OK;
}

hone_status summary_read_json(struct ctx *ctx, struct arena *arena, const char *path,
                              struct summary *out) {
  struct mapping file;
  json_error_t error;
  *out = (struct summary){0};
  TRY(file_map(ctx, path, &file));
  json_t *root = json_loadb((const char *)file.data, file.size, 0, &error);
  file_unmap(&file);
  if (!root)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "is not JSON: line %d: %s", error.line,
                error.text);
  const hone_status status = read_root(ctx, arena, path, root, out);
  json_decref(root);
  return status;
}
