/* The tables of the store, and the mapping between structs and SQL rows.
 *
 * A table here gives the CREATE, INSERT and SELECT statements and the binding and reading of a row.
 * So a new field is one row: a ROW_SINCE with the next STORE_VERSION and the value for older rows.
 * Released rows never change, so every later version opens stores of every earlier one. SQL
 * contains these names only; values are always bound. Samples are blobs of little-endian u64. NaN
 * is NULL. A stored row is untrusted: a value that does not fit its field is E_FORMAT.
 */
#include "driver.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>

enum field_type {
  FIELD_TEXT,
  FIELD_INT,
  FIELD_DOUBLE,
  FIELD_STATUS,
  FIELD_STAGE,
  FIELD_FLAGS,
  FIELD_BLOB
};
struct stored_field {
  const char *name;
  enum field_type type;
  size_t offset, size; /* in the struct */
  size_t count_offset; /* FIELD_BLOB: of the element count */
  int since;           /* the first schema with this field */
  const char *before;  /* SQL literal for rows of older schemas */
};
static const char *const sql_types[][2] = {
    [FIELD_TEXT] = {"TEXT", "TEXT"},     [FIELD_INT] = {"INTEGER", "BIGINT"},
    [FIELD_DOUBLE] = {"REAL", "FLOAT8"}, [FIELD_STATUS] = {"TEXT", "TEXT"},
    [FIELD_STAGE] = {"TEXT", "TEXT"},    [FIELD_FLAGS] = {"TEXT", "TEXT"},
    [FIELD_BLOB] = {"BLOB", "BYTEA"},
};

#define ROW_SINCE(version, before, type, name, member, kind)                                \
  {                                                                                         \
    name, FIELD_##kind, offsetof(struct type, member), sizeof((struct type *)0)->member, 0, \
        version, before                                                                     \
  }
#define ROW(type, name, member, kind) ROW_SINCE(1, NULL, type, name, member, kind)
#define BLOB_ROW_SINCE(version, before, type, name, member, count)                     \
  {                                                                                    \
    name, FIELD_BLOB, offsetof(struct type, member), sizeof((struct type *)0)->member, \
        offsetof(struct type, count), version, before                                  \
  }
#define BLOB_ROW(type, name, member, count) BLOB_ROW_SINCE(1, NULL, type, name, member, count)

#define STUDY_ROWS                                                                          \
  ROW(study_row, "key", key, TEXT), ROW(study_row, "plan", plan, TEXT),                     \
      ROW(study_row, "fingerprint", fingerprint, TEXT), ROW(study_row, "name", name, TEXT), \
      ROW(study_row, "command", command, TEXT),                                             \
      ROW(study_row, "machine_json", machine_json, TEXT),                                   \
      ROW(study_row, "options_json", options_json, TEXT),                                   \
      ROW(study_row, "started_unix_ms", started_unix_ms, INT),                              \
      ROW(study_row, "finished", finished, INT)
static const struct stored_field study_fields[] = {STUDY_ROWS};
static const struct stored_field config_fields[] = {
    ROW(stored_config, "study", study, TEXT),
    ROW(stored_config, "key", config.key, TEXT),
    ROW(stored_config, "model", config.model, TEXT),
    ROW(stored_config, "model_path", config.model_path, TEXT),
    ROW(stored_config, "model_hash", config.model_hash, TEXT),
    ROW(stored_config, "shapes", config.shapes, TEXT),
    ROW(stored_config, "backend", config.backend, TEXT),
    ROW(stored_config, "variant", config.variant, TEXT),
    ROW(stored_config, "options", config.options, TEXT),
    ROW(stored_config, "route", config.route, TEXT),
    ROW(stored_config, "device", config.device, TEXT),
    ROW(stored_config, "precision", config.precision, TEXT),
    ROW(stored_config, "batch", config.batch, INT),
    ROW(stored_config, "threads", config.threads, INT),
    ROW(stored_config, "scenario", config.scenario, TEXT),
    ROW(stored_config, "cache_state", config.cache_state, TEXT),
    ROW(stored_config, "label", config.label, INT),
    ROW(stored_config, "limit_ms", config.limit_ms, DOUBLE),
    ROW_SINCE(2, "0", stored_config, "copy", config.copy, INT),
    ROW_SINCE(2, "0", stored_config, "winograd_limit_ms", config.winograd_limit_ms, DOUBLE),
    ROW_SINCE(3, "0", stored_config, "load", config.load, INT),
    ROW_SINCE(3, "''", stored_config, "open_dimensions", config.open_dimensions, TEXT),
};
static const struct stored_field process_record_fields[] = {
    ROW(process_record, "study", study, TEXT),
    ROW(process_record, "cell", config, TEXT),
    ROW(process_record, "number", number, INT),
    ROW(process_record, "status", status, STATUS),
    ROW(process_record, "stage", stage, STAGE),
    ROW(process_record, "reason", reason, TEXT),
    ROW(process_record, "flags", flags, FLAGS),
    ROW(process_record, "compile_ms", compile_ms, DOUBLE),
    ROW(process_record, "load_ms", load_ms, DOUBLE),
    ROW(process_record, "first_inference_ms", first_inference_ms, DOUBLE),
    ROW(process_record, "warmup_ms", warmup_ms, DOUBLE),
    ROW(process_record, "import_ms", import_ms, DOUBLE),
    ROW(process_record, "cached_compile_ms", cached_compile_ms, DOUBLE),
    ROW(process_record, "rss_import", rss_import, INT),
    ROW(process_record, "rss_compile", rss_compile, INT),
    ROW(process_record, "rss_load", rss_load, INT),
    ROW(process_record, "rss_steady", rss_steady, INT),
    ROW(process_record, "rss_peak", rss_peak, INT),
    ROW(process_record, "rss_slope", rss_slope, DOUBLE),
    ROW(process_record, "artifact_bytes", artifact_bytes, INT),
    ROW(process_record, "arena_bytes", arena_bytes, INT),
    ROW(process_record, "floor_ns", floor_ns, DOUBLE),
    ROW(process_record, "engine_version", engine_version, TEXT),
    ROW(process_record, "effective_device", effective_device, TEXT),
    ROW(process_record, "effective_precision", effective_precision, TEXT),
    ROW(process_record, "effective_threads", effective_threads, INT),
    ROW(process_record, "fallback_share", fallback_share, DOUBLE),
    ROW(process_record, "max_abs_diff", max_abs_diff, DOUBLE),
    ROW(process_record, "max_rel_diff", max_rel_diff, DOUBLE),
    ROW(process_record, "rel_l2", rel_l2, DOUBLE),
    ROW(process_record, "cosine", cosine, DOUBLE),
    ROW(process_record, "top1", top1, DOUBLE),
    ROW(process_record, "output_hash", output_hash, TEXT),
    ROW_SINCE(2, "-1", process_record, "busy_threads", busy_threads, INT),
    ROW_SINCE(4, "''", process_record, "task_metric", task_metric, TEXT),
    ROW_SINCE(4, "NULL", process_record, "task_accuracy", task_accuracy, DOUBLE),
    ROW_SINCE(4, "NULL", process_record, "task_reference", task_reference, DOUBLE),
    ROW_SINCE(4, "NULL", process_record, "accuracy_retention", accuracy_retention, DOUBLE),
    BLOB_ROW_SINCE(5, "x''", process_record, "memory_when", memory_when, memory_when_count),
    BLOB_ROW_SINCE(5, "x''", process_record, "memory_bytes", memory_bytes, memory_count),
    ROW_SINCE(5, "NULL", process_record, "rate_per_s", rate_per_s, DOUBLE),
    ROW_SINCE(5, "-1", process_record, "largest_batch", largest_batch, INT),
    ROW_SINCE(5, "''", process_record, "largest_batch_end", largest_batch_end, TEXT),
    ROW_SINCE(7, "NULL", process_record, "kl_divergence", kl_divergence, DOUBLE),
};
static const struct stored_field block_fields[] = {
    ROW(block, "study", study, TEXT),
    ROW(block, "cell", config, TEXT),
    ROW(block, "incarnation", process_record, INT),
    ROW(block, "round", round, INT),
    ROW(block, "started_unix_ms", started_unix_ms, INT),
    ROW(block, "verified", verified, INT),
    ROW(block, "steal_fraction", noise.steal_fraction, DOUBLE),
    ROW(block, "involuntary_switches", noise.involuntary_switches, INT),
    ROW(block, "pressure_some", noise.pressure_some, DOUBLE),
    ROW(block, "frequency_mhz", noise.frequency_mhz, DOUBLE),
    BLOB_ROW(block, "rewarm", rewarm, rewarm_count),
    BLOB_ROW(block, "samples", samples, sample_count),
    BLOB_ROW_SINCE(3, "x''", block, "scheduled", scheduled, scheduled_count),
    BLOB_ROW_SINCE(3, "x''", block, "started", started, started_count),
    ROW_SINCE(5, "0", block, "energy_uj", energy_uj, INT),
    BLOB_ROW_SINCE(6, "x''", block, "copy_in", copy_in, copy_in_count),
    BLOB_ROW_SINCE(6, "x''", block, "copy_out", copy_out, copy_out_count),
};

#define OF_CELL "FOREIGN KEY (study, cell) REFERENCES cell (study, key)"
const struct stored_table stored_tables[TABLE_COUNT] = {
    [TABLE_study] = {"study", study_fields, COUNT(study_fields), "PRIMARY KEY (key)",
                     "ON CONFLICT DO NOTHING", NULL},
    [TABLE_config] = {"cell", config_fields, COUNT(config_fields),
                      "PRIMARY KEY (study, key), FOREIGN KEY (study) REFERENCES study (key)",
                      "ON CONFLICT DO NOTHING", NULL},
    [TABLE_process_record] = {"incarnation", process_record_fields, COUNT(process_record_fields),
                              "PRIMARY KEY (study, cell, number), " OF_CELL, NULL,
                              "study, cell, number"},
    [TABLE_block] = {"block", block_fields, COUNT(block_fields),
                     "PRIMARY KEY (study, cell, incarnation, round), " OF_CELL,
                     "ON CONFLICT DO NOTHING", NULL},
};

/* Not stored: a configuration over all studies. */
static const struct stored_field series_fields[] = {
    ROW(config_series, "key", key, TEXT),
    ROW(config_series, "max(model)", model, TEXT),
    ROW(config_series, "max(backend)", backend, TEXT),
    ROW(config_series, "max(variant)", variant, TEXT),
    ROW(config_series, "max(device)", device, TEXT),
    ROW(config_series, "max(precision)", precision, TEXT),
    ROW(config_series, "max(scenario)", scenario, TEXT),
    ROW(config_series, "max(batch)", batch, INT),
    ROW(config_series, "max(threads)", threads, INT),
    ROW(config_series, "count(*)", study_count, INT),
};
const struct stored_table series_view = {"cell", series_fields, COUNT(series_fields),
                                         NULL,   NULL,          NULL};

/* Not stored: a study with its models, from its configurations. */
static const struct stored_field listed_study_fields[] = {
    STUDY_ROWS,
    ROW(study_row, "coalesce((SELECT min(model) FROM cell WHERE cell.study = study.key), '')",
        model, TEXT),
    ROW(study_row, "(SELECT count(DISTINCT model) FROM cell WHERE cell.study = study.key)",
        model_count, INT),
};
const struct stored_table listed_study_view = {
    "study", listed_study_fields, COUNT(listed_study_fields), NULL, NULL, NULL};

/* A server has no row numbers, so there they are a column. */
void sql_create(const struct stored_table *table, int version, enum dialect dialect,
                struct strbuf *out) {
  strbuf_printf(out, "CREATE TABLE %s (%s", table->name,
                dialect == DIALECT_postgres ? "rowid BIGSERIAL, " : "");
  for (size_t i = 0; i < table->field_count; i++) {
    const struct stored_field *field = &table->fields[i];
    if (field->since > version) continue;
    strbuf_printf(out, "%s %s%s, ", field->name, sql_types[field->type][dialect],
                  field->type == FIELD_DOUBLE ? "" : " NOT NULL");
  }
  strbuf_printf(out, "%s)%s", table->constraints, dialect == DIALECT_sqlite ? " STRICT" : "");
}

void sql_add_columns(const struct stored_table *table, int from, struct strbuf *out) {
  for (size_t i = 0; i < table->field_count; i++) {
    const struct stored_field *field = &table->fields[i];
    if (field->since <= from) continue;
    const char *before = !strcmp(field->before, "x''") ? "''" : field->before;
    strbuf_printf(out, "ALTER TABLE %s ADD COLUMN %s %s%s DEFAULT %s;\n", table->name, field->name,
                  sql_types[field->type][DIALECT_postgres],
                  field->type == FIELD_DOUBLE ? "" : " NOT NULL", before);
  }
}

/* The name of every field, or its literal for rows of that version. */
static void put_names(const struct stored_table *table, int version, struct strbuf *out) {
  for (size_t i = 0; i < table->field_count; i++) {
    const struct stored_field *field = &table->fields[i];
    strbuf_printf(out, "%s%s", i ? ", " : "", field->since > version ? field->before : field->name);
  }
}

static void put_last_stays(const struct stored_table *table, struct strbuf *out) {
  strbuf_printf(out, "ON CONFLICT (%s) DO UPDATE SET ", table->key);
  for (size_t i = 0; i < table->field_count; i++)
    strbuf_printf(out, "%s%s = excluded.%s", i ? ", " : "", table->fields[i].name,
                  table->fields[i].name);
}

/* Without a conflict rule of the table, the new row replaces the old one. */
void sql_insert(const struct stored_table *table, enum dialect dialect, struct strbuf *out) {
  const bool replaces = !table->on_conflict && dialect == DIALECT_sqlite;
  strbuf_printf(out, "INSERT%s INTO %s (", replaces ? " OR REPLACE" : "", table->name);
  put_names(table, STORE_VERSION, out);
  strbuf_puts(out, ") VALUES (");
  for (size_t i = 0; i < table->field_count; i++) strbuf_puts(out, i ? ", ?" : "?");
  strbuf_puts(out, ") ");
  if (table->on_conflict)
    strbuf_puts(out, table->on_conflict);
  else if (!replaces)
    put_last_stays(table, out);
}

void sql_select(const struct stored_table *table, int version, const char *rest,
                struct strbuf *out) {
  strbuf_puts(out, "SELECT ");
  put_names(table, version, out);
  strbuf_printf(out, " FROM %s %s", table->name, rest);
}

/* The new table gets the old name, so that its SQL in the schema equals sql_create's exactly; rows
   keep their order. */
void sql_migrate(const struct stored_table *table, int from, struct strbuf *out) {
  bool differs = false;
  for (size_t i = 0; i < table->field_count; i++) differs |= table->fields[i].since > from;
  if (!differs) return;
  strbuf_printf(out, "ALTER TABLE %s RENAME TO old_%s;\n", table->name, table->name);
  sql_create(table, STORE_VERSION, DIALECT_sqlite, out);
  strbuf_printf(out, ";\nINSERT INTO %s (", table->name);
  put_names(table, STORE_VERSION, out);
  strbuf_puts(out, ") SELECT ");
  put_names(table, from, out);
  strbuf_printf(out, " FROM old_%s ORDER BY rowid;\nDROP TABLE old_%s;\n", table->name,
                table->name);
}

/* -- binding */

static bool bind_text(const struct driver *driver, struct statement *statement, int at,
                      const char *text, size_t capacity) {
  return driver->bind_text(statement, at, text, strnlen(text, capacity));
}

static bool bind_flags(const struct driver *driver, struct statement *statement, int at,
                       uint32_t flags) {
  struct strbuf text = {0};
  flags_format(flags, &text);
  const bool is_bound =
      !text.failed && bind_text(driver, statement, at, text.at ? text.at : "", text.length);
  strbuf_deinit(&text);
  return is_bound;
}

static bool bind_samples(const struct driver *driver, struct statement *statement, int at,
                         const uint64_t *samples, size_t count) {
  size_t bytes;
  if (count == 0) return driver->bind_blob(statement, at, "", 0);
  if (!checked_mul(count, sizeof *samples, &bytes)) return false;
  uint64_t *copy = malloc(bytes);
  if (!copy) return false;
  for (size_t i = 0; i < count; i++) copy[i] = htole64(samples[i]);
  const bool is_bound = driver->bind_blob(statement, at, copy, bytes);
  free(copy);
  return is_bound;
}

static int64_t load_int(const char *at, size_t size) {
  int32_t small;
  int64_t wide;
  if (size == 1) return *(const unsigned char *)at != 0;
  if (size == sizeof small) {
    memcpy(&small, at, sizeof small);
    return small;
  }
  memcpy(&wide, at, sizeof wide);
  return wide;
}

static bool bind_field(const struct driver *driver, struct statement *statement, int n,
                       const struct stored_field *field, const char *row) {
  const char *at = row + field->offset;
  double number;
  uint64_t *samples;
  size_t count;
  switch (field->type) {
    case FIELD_TEXT:
      return bind_text(driver, statement, n, at, field->size);
    case FIELD_INT:
      return driver->bind_int(statement, n, load_int(at, field->size));
    case FIELD_DOUBLE:
      memcpy(&number, at, sizeof number);
      return driver->bind_double(statement, n, number);
    case FIELD_STATUS:
      return bind_text(driver, statement, n,
                       status_text((enum record_status)load_int(at, field->size)), 64);
    case FIELD_STAGE:
      return bind_text(driver, statement, n,
                       stage_text((enum record_stage)load_int(at, field->size)), 64);
    case FIELD_FLAGS:
      return bind_flags(driver, statement, n, (uint32_t)load_int(at, field->size));
    case FIELD_BLOB:
      memcpy(&samples, at, sizeof samples);
      memcpy(&count, row + field->count_offset, sizeof count);
      return bind_samples(driver, statement, n, samples, count);
  }
  return false;
}

bool row_bind(const struct driver *driver, struct statement *statement,
              const struct stored_table *table, const void *row) {
  for (size_t i = 0; i < table->field_count; i++)
    if (!bind_field(driver, statement, (int)i + 1, &table->fields[i], row)) return false;
  return true;
}

static MUST_USE hone_status misfit(struct ctx *ctx, const struct stored_table *table,
                                   const struct stored_field *field) {
  return fail(ctx, HONE_E_FORMAT, place_none(), "the store's table %s has an invalid %s",
              table->name, field->name);
}

static bool store_int(char *at, size_t size, int64_t x) {
  const int32_t small = (int32_t)x;
  const bool flag = x != 0;
  if (size == 1) memcpy(at, &flag, sizeof flag);
  if (size == sizeof small) memcpy(at, &small, sizeof small);
  if (size == sizeof x) memcpy(at, &x, sizeof x);
  return size == sizeof x || (size == 1 ? x == 0 || x == 1 : small == x);
}

static bool store_word(const struct stored_field *field, const char *text, char *at) {
  uint32_t flags;
  if (field->type == FIELD_FLAGS)
    return flags_parse(text, &flags) && store_int(at, field->size, (int32_t)flags);
  const int status = (int)status_parse(text), stage = (int)stage_parse(text);
  if (field->type == FIELD_STATUS)
    return status != STATUS_COUNT && store_int(at, field->size, status);
  return stage != STAGE_COUNT && store_int(at, field->size, stage);
}

static MUST_USE hone_status read_samples(struct ctx *ctx, const struct driver *driver,
                                         struct statement *statement, int n, struct arena *arena,
                                         uint64_t **out, size_t *out_count) {
  size_t size;
  const uint8_t *bytes = driver->blob_at(statement, n, &size);
  if (size % sizeof **out || (size && !bytes))
    return fail(ctx, HONE_E_FORMAT, place_none(), "a block of the store holds %zu bytes of samples",
                size);
  *out_count = size / sizeof **out;
  TRY(NEW_ARRAY(ctx, arena, *out, *out_count));
  for (size_t i = 0; i < *out_count; i++) {
    uint64_t sample;
    memcpy(&sample, bytes + i * sizeof sample, sizeof sample);
    (*out)[i] = le64toh(sample);
  }
  return HONE_OK;
}

static MUST_USE hone_status read_field(struct ctx *ctx, const struct driver *driver,
                                       struct statement *statement, int n,
                                       const struct stored_table *table,
                                       const struct stored_field *field, struct arena *arena,
                                       char *row) {
  char *at = row + field->offset;
  if (field->type == FIELD_DOUBLE) {
    const double x = driver->is_null(statement, n) ? (double)NAN : driver->double_at(statement, n);
    memcpy(at, &x, sizeof x);
    return HONE_OK;
  }
  if (field->type == FIELD_INT)
    return store_int(at, field->size, driver->int_at(statement, n)) ? HONE_OK
                                                                    : misfit(ctx, table, field);
  if (field->type == FIELD_BLOB) {
    uint64_t *samples = NULL;
    size_t count = 0;
    TRY(read_samples(ctx, driver, statement, n, arena, &samples, &count));
    memcpy(at, &samples, sizeof samples);
    memcpy(row + field->count_offset, &count, sizeof count);
    return HONE_OK;
  }
  size_t length;
  const char *text = driver->text_at(statement, n, &length);
  if (!text || strlen(text) != length) return misfit(ctx, table, field);
  if (field->type != FIELD_TEXT)
    return store_word(field, text, at) ? HONE_OK : misfit(ctx, table, field);
  if (length >= field->size) return misfit(ctx, table, field);
  memcpy(at, text, length + 1);
  return HONE_OK;
}

hone_status row_read(struct ctx *ctx, const struct driver *driver, struct statement *statement,
                     const struct stored_table *table, struct arena *arena, void *row) {
  for (size_t i = 0; i < table->field_count; i++)
    TRY(read_field(ctx, driver, statement, (int)i, table, &table->fields[i], arena, row));
  return HONE_OK;
}
