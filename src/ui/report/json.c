/* json: {"made_by":"hone ..","schema":1,"study":{..},"machine":{..},"records":[..],"comparisons":[{"a","b","ratio","ci",..}]}.
 *
 * A column "latency_ms.p50" is member p50 of object latency_ms; "x.0" and "x.1" are an array x. Members of one object need not
 * be adjacent in columns.def, which only grows at its end. n/a is null. memory_over_time of a record is not a column: it is a
 * list of points, absent if unknown. a and b of a comparison are keys of rows; its ratio is latency of a / latency of b.
 */
#include "core/format/format.h"
#include "report.h"

#include <jansson.h>
#include <stdlib.h>

static void put_value(struct json_writer json, const struct record *record,
                      const struct column *column) {
  if (column_is_number(column)) {
    json_number(json, column_number(record, column));
    return;
  }
  struct strbuf value = {0};
  column_format(record, column, &value);
  if (value.failed) json.out->failed = true;
  if (column->type != COLUMN_FLAGS) {
    json_text(json, value.at ? value.at : "");
  } else { /* an array of words */
    LITERAL(json.out, "[");
    const char *separator = "";
    for (char *word = value.at, *next; word && *word; word = next, separator = ", ") {
      next = strchr(word, ' ');
      if (next) *next++ = 0;
      strbuf_puts(json.out, separator);
      json_text(json, word);
    }
    LITERAL(json.out, "]");
  }
  strbuf_deinit(&value);
}

/* Length of the key up to its last or only dot at this level. */
static bool same_part(const char *a, const char *b, size_t length) {
  return !strncmp(a, b, length) && (b[length] == '.' || b[length] == 0);
}
static bool came_before(size_t column, size_t offset, size_t length) {
  for (size_t i = 0; i < column; i++)
    if (same_part(columns[column].key, columns[i].key, offset + length)) return true;
  return false;
}

/* "x.0", "x.1", ... of one array. */
static void put_array(struct json_writer json, const struct record *record, size_t first,
                      size_t length) {
  LITERAL(json.out, "[");
  const char *separator = "";
  for (size_t i = first; i < column_count; i++) {
    if (!same_part(columns[first].key, columns[i].key, length)) continue;
    strbuf_puts(json.out, separator);
    put_value(json, record, &columns[i]);
    separator = ", ";
  }
  LITERAL(json.out, "]");
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The members of the object whose name is the first `prefix` bytes of column `first`. */
static void put_members(struct json_writer json, const struct record *record, size_t first,
                        size_t prefix) {
  const char *separator = "";
  LITERAL(json.out, "{");
  for (size_t i = first; i < column_count; i++) {
    const char *key = columns[i].key;
    if (!same_part(columns[first].key, key, prefix)) continue;
    const char *rest = key + prefix + 1;
    const size_t length = strcspn(rest, ".");
    if (came_before(i, prefix + 1, length)) continue;
    strbuf_printf(json.out, "%s\"%.*s\": ", separator, (int)length, rest);
    if (rest[length] == '.')
      put_array(json, record, i, prefix + 1 + length);
    else
      put_value(json, record, &columns[i]);
    separator = ", ";
  }
  LITERAL(json.out, "}");
}

/* [[ms since the start of the process, bytes], ...]; absent if unknown. */
static void put_memory(struct json_writer json, const struct process_record *facts) {
  const char *separator = ",\n     \"memory_over_time\": [";
  size_t count = facts->memory_count;
  if (facts->memory_when_count < count) count = facts->memory_when_count;
  for (size_t i = 0; i < count; i++, separator = ", ") {
    strbuf_printf(json.out, "%s[", separator);
    json_number(json, (double)facts->memory_when[i] / 1e6);
    strbuf_printf(json.out, ", %llu]", (unsigned long long)facts->memory_bytes[i]);
  }
  if (count) LITERAL(json.out, "]");
}

static void put_record(struct json_writer json, const struct record *record) {
  const char *separator = "";
  LITERAL(json.out, "    {");
  for (size_t i = 0; i < column_count; i++) {
    const char *key = columns[i].key;
    const size_t length = strcspn(key, ".");
    if (came_before(i, 0, length)) continue;
    strbuf_printf(json.out, "%s\"%.*s\": ", separator, (int)length, key);
    if (key[length] == 0)
      put_value(json, record, &columns[i]);
    else if (is_digit(key[length + 1]))
      put_array(json, record, i, length);
    else
      put_members(json, record, i, length);
    separator = ",\n     ";
  }
  put_memory(json, &record->worst);
  LITERAL(json.out, "}");
}

static void put_comparison(struct json_writer json, const struct summary *summary,
                           const struct comparison *comparison) {
  LITERAL(json.out, "    {\"a\": ");
  json_text(json, summary->records[comparison->a].config.key);
  LITERAL(json.out, ", \"b\": ");
  json_text(json, summary->records[comparison->b].config.key);
  LITERAL(json.out, ", \"ratio\": ");
  json_number(json, comparison->ratio.value);
  LITERAL(json.out, ", \"ci\": [");
  json_number(json, comparison->ratio.low);
  LITERAL(json.out, ", ");
  json_number(json, comparison->ratio.high);
  LITERAL(json.out, "], \"verdict\": ");
  json_text(json, verdict_text(comparison->verdict));
  LITERAL(json.out, "}");
}

/* JSON of another part of hone, only if it is an object; parsed and written again. */
static void put_object(struct json_writer json, const char *text) {
  json_error_t error;
  json_t *object = json_loads(text, 0, &error);
  char *dumped = json_is_object(object)
                     ? json_dumps(object, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))
                     : NULL;
  strbuf_puts(json.out, dumped ? dumped : "{}");
  free(dumped);
  json_decref(object);
}

static void put_study(struct json_writer json, const struct study_row *study) {
  LITERAL(json.out, "  \"study\": {\"key\": ");
  json_text(json, study->key);
  LITERAL(json.out, ", \"name\": ");
  json_text(json, study->name);
  LITERAL(json.out, ", \"command\": ");
  json_text(json, study->command);
  LITERAL(json.out, ", \"fingerprint\": ");
  json_text(json, study->fingerprint);
  strbuf_printf(json.out, ", \"started_unix_ms\": %llu, \"finished\": %s, \"options\": ",
                (unsigned long long)study->started_unix_ms, study->finished ? "true" : "false");
  put_object(json, study->options_json);
  LITERAL(json.out, "},\n  \"machine\": ");
  put_object(json, study->machine_json);
}

hone_status render_json(struct ctx *ctx, const struct summary *summary,
                        const struct render_options *options, struct strbuf *out) {
  (void)options;
  const struct json_writer json = {out};
  /* a page contains this file too, so the mark of outputs.def is written here */
  strbuf_printf(out,
                "{\n  \"made_by\": \"hone " HONE_VERSION "\",\n  \"schema\": %d,\n  \"hone\": ",
                RECORD_SCHEMA);
  json_text(json, hone_version());
  LITERAL(out, ",\n");
  put_study(json, &summary->study);
  LITERAL(out, ",\n  \"records\": [");
  for (size_t i = 0; i < summary->record_count; i++) {
    strbuf_puts(out, i ? ",\n" : "\n");
    put_record(json, &summary->records[i]);
  }
  LITERAL(out, "\n  ],\n  \"comparisons\": [");
  for (size_t i = 0; i < summary->comparison_count; i++) {
    strbuf_puts(out, i ? ",\n" : "\n");
    put_comparison(json, summary, &summary->comparisons[i]);
  }
  LITERAL(out, "\n  ]\n}\n");
  return strbuf_finish(ctx, out);
}
