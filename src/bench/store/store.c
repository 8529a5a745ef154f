/* Implements store.h over a driver, with one transaction per row.
 *
 * A commit is the acknowledgement. After a failed write every later put fails without trying: a
 * second fsync after a failed one may report success wrongly (Rebello et al., Can Applications
 * Recover from fsync Failures?, 2020).
 */
#include "driver.h"

#include <stdlib.h>
#include <sys/random.h>

/* -- statements */

static MUST_USE hone_status prepare(struct ctx *ctx, struct store *store, const char *sql,
                                    struct statement **out) {
  *out = calloc(1, sizeof **out);
  if (!*out) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a statement");
  (*out)->store = store;
  return store->driver->prepare(ctx, store, sql, *out);
}

static void end(struct statement *statement) {
  if (statement) statement->store->driver->end(statement);
  free(statement);
}

static MUST_USE hone_status execute(struct ctx *ctx, struct store *store, const char *sql) {
  return store->driver->execute(ctx, store, sql);
}

/* Ignores errors: the transaction is lost anyway. */
static void roll_back(struct store *store) {
  struct ctx ctx;
  ctx_init(&ctx);
  if (execute(&ctx, store, "ROLLBACK")) ctx_clear(&ctx);
}

static MUST_USE hone_status prepare_view(struct ctx *ctx, struct store *store,
                                         const struct stored_table *view, const char *rest,
                                         struct statement **out) {
  struct strbuf sql = {0};
  sql_select(view, store->version, rest, &sql);
  hone_status status = strbuf_finish(ctx, &sql);
  if (!status) status = prepare(ctx, store, sql.at, out);
  strbuf_deinit(&sql);
  return status;
}

static MUST_USE hone_status prepare_select(struct ctx *ctx, struct store *store,
                                           enum stored_table_id table, const char *rest,
                                           struct statement **out) {
  return prepare_view(ctx, store, &stored_tables[table], rest, out);
}

/* *out_more: there is a row. */
static MUST_USE hone_status step(struct ctx *ctx, struct store *store, struct statement *statement,
                                 bool *out_more) {
  return store->driver->step(ctx, statement, out_more);
}

static MUST_USE hone_status no_memory(struct ctx *ctx, bool is_bound) {
  return is_bound ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "no memory for a value");
}

/* Binds a key by value; no key is longer than 64 bytes. */
static MUST_USE hone_status bind_key(struct ctx *ctx, struct store *store,
                                     struct statement *statement, int n, const char *key) {
  return no_memory(ctx, store->driver->bind_text(statement, n, key, strlen(key)));
}

static int64_t int_at(const struct statement *statement, int n) {
  return statement->store->driver->int_at(statement, n);
}

static MUST_USE hone_status prepare_insert(struct ctx *ctx, struct store *store,
                                           enum stored_table_id table) {
  struct strbuf sql = {0};
  if (store->inserts[table]) return HONE_OK;
  sql_insert(&stored_tables[table], store->driver->dialect, &sql);
  hone_status status = strbuf_finish(ctx, &sql);
  if (!status) status = prepare(ctx, store, sql.at, &store->inserts[table]);
  strbuf_deinit(&sql);
  if (status) {
    end(store->inserts[table]);
    store->inserts[table] = NULL;
  }
  return status;
}

static MUST_USE hone_status put(struct ctx *ctx, struct store *store, enum stored_table_id table,
                                const void *row) {
  if (!store->is_writing)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "the store was opened for reading");
  if (store->is_broken)
    return fail(ctx, HONE_E_IO, place_file(store->path),
                "an earlier write failed; nothing more is written: run the same command again, it "
                "resumes");
  bool more;
  TRY(prepare_insert(ctx, store, table));
  struct statement *statement = store->inserts[table];
  hone_status status =
      no_memory(ctx, row_bind(store->driver, statement, &stored_tables[table], row));
  if (!status) status = step(ctx, store, statement, &more);
  store->driver->reset(statement);
  return status;
}

/* -- opening */

static bool is_url(const char *path) {
  return path && (!strncmp(path, "postgresql://", 13) || !strncmp(path, "postgres://", 11));
}

hone_status store_open(struct ctx *ctx, const char *path, bool write, struct store **out) {
  *out = NULL;
  struct store *store = calloc(1, sizeof *store);
  if (!store) return fail(ctx, HONE_E_OOM, place_none(), "no memory to open the store");
  store->lock_fd = -1;
  store->is_writing = write;
  store->driver = is_url(path) ? &postgres_driver : &sqlite_driver;
  const hone_status status =
      is_url(path) ? postgres_open(ctx, store, path, write) : sqlite_open(ctx, store, path, write);
  if (status) {
    store_close(store);
    return status;
  }
  *out = store;
  return HONE_OK;
}

void store_close(struct store *store) {
  if (!store) return;
  for (int i = 0; i < TABLE_COUNT; i++) end(store->inserts[i]);
  store->driver->close(store);
  free(store);
}

/* -- writing */

static const char *study_meant(const struct store *store, const char *name) {
  return *name && !strcmp(name, store->plan) ? store->study : name;
}

hone_status store_put_config(struct ctx *ctx, struct store *store, const char *study,
                             const struct config *config) {
  struct stored_config *row = calloc(1, sizeof *row);
  if (!row) return fail(ctx, HONE_E_OOM, place_none(), "no memory to store a configuration");
  row->config = *config;
  snprintf(row->study, sizeof row->study, "%s", study_meant(store, study));
  const hone_status status = put(ctx, store, TABLE_config, row);
  free(row);
  return status;
}

hone_status store_put_block(struct ctx *ctx, struct store *store, const struct block *block) {
  struct block row = *block;
  snprintf(row.study, sizeof row.study, "%s", study_meant(store, block->study));
  return put(ctx, store, TABLE_block, &row);
}

hone_status store_put_process(struct ctx *ctx, struct store *store,
                              const struct process_record *process_record) {
  struct process_record row = *process_record;
  snprintf(row.study, sizeof row.study, "%s", study_meant(store, process_record->study));
  return put(ctx, store, TABLE_process_record, &row);
}

hone_status store_finish_study(struct ctx *ctx, struct store *store, const char *study) {
  struct statement *statement = NULL;
  bool more;
  TRY(prepare(ctx, store, "UPDATE study SET finished = 1 WHERE key = ?", &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = step(ctx, store, statement, &more);
  if (!status && store->driver->changes(store) != 1)
    status = fail(ctx, HONE_E_NOFILE, place_name(study), "no such study in the store");
  end(statement);
  return status;
}

/* A limit only falls: it is computed from the highest observed peaks. */
hone_status store_lower_limits(struct ctx *ctx, struct store *store, const char *study,
                               const struct config *config) {
  struct statement *statement = NULL;
  bool more;
  TRY(prepare(ctx, store,
              "UPDATE cell SET limit_ms = CASE WHEN limit_ms > ?3 THEN ?3 ELSE limit_ms END, "
              "winograd_limit_ms = CASE WHEN winograd_limit_ms > ?4 THEN ?4 ELSE "
              "winograd_limit_ms END WHERE study = ?1 AND key = ?2",
              &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = bind_key(ctx, store, statement, 2, config->key);
  if (!status)
    status =
        no_memory(ctx, store->driver->bind_double(statement, 3, config->limit_ms) &&
                           store->driver->bind_double(statement, 4, config->winograd_limit_ms));
  if (!status) status = step(ctx, store, statement, &more);
  end(statement);
  return status;
}

static hone_status put_study_text(struct ctx *ctx, struct store *store, const char *sql,
                                  const char *study, const char *text) {
  struct statement *statement = NULL;
  bool more;
  TRY(prepare(ctx, store, sql, &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = bind_key(ctx, store, statement, 2, text);
  if (!status) status = step(ctx, store, statement, &more);
  end(statement);
  return status;
}

hone_status store_put_machine(struct ctx *ctx, struct store *store, const char *study,
                              const char *machine_json) {
  return put_study_text(ctx, store, "UPDATE study SET machine_json = ?2 WHERE key = ?1", study,
                        machine_json);
}

hone_status store_put_options(struct ctx *ctx, struct store *store, const char *study,
                              const char *options_json) {
  return put_study_text(ctx, store, "UPDATE study SET options_json = ?2 WHERE key = ?1", study,
                        options_json);
}

/* -- reading */

/* The first row of a select over studies with up to two bound strings. */
static MUST_USE hone_status one_study(struct ctx *ctx, struct store *store, const char *rest,
                                      const char *first, const char *second, struct study_row *out,
                                      bool *out_found) {
  struct statement *statement = NULL;
  *out_found = false;
  TRY(prepare_select(ctx, store, TABLE_study, rest, &statement));
  hone_status status = first ? bind_key(ctx, store, statement, 1, first) : HONE_OK;
  if (!status && second) status = bind_key(ctx, store, statement, 2, second);
  if (!status) status = step(ctx, store, statement, out_found);
  if (!status && *out_found)
    status = row_read(ctx, store->driver, statement, &stored_tables[TABLE_study], NULL, out);
  end(statement);
  return status;
}

#define NEWEST_FIRST "ORDER BY started_unix_ms DESC, rowid DESC"

hone_status store_find_study(struct ctx *ctx, struct store *store, const char *plan,
                             const char *fingerprint, struct study_row *out, bool *out_found) {
  return one_study(ctx, store, "WHERE plan = ? AND fingerprint = ? " NEWEST_FIRST, plan,
                   fingerprint, out, out_found);
}

hone_status store_put_study(struct ctx *ctx, struct store *store, const struct study_row *row) {
  struct study_row *there = calloc(1, sizeof *there);
  bool found = false;
  if (!there) return fail(ctx, HONE_E_OOM, place_none(), "no memory to store a study");
  hone_status status = one_study(ctx, store, "WHERE key = ?", row->key, NULL, there, &found);
  if (!status && found && strcmp(there->fingerprint, row->fingerprint) != 0)
    status =
        fail(ctx, HONE_E_USAGE, place_name(row->key),
             "this study was measured on another machine or software; it cannot be resumed here");
  free(there);
  return status ? status : put(ctx, store, TABLE_study, row);
}

/* A random key, unique over all stores: two files with equal content have one plan, two processes
   may begin in the same millisecond, and their studies may be merged into one store later. */
static MUST_USE hone_status fresh_key(struct ctx *ctx, struct store *store, struct study_row *row,
                                      struct study_row *scratch) {
  for (bool is_taken = true; is_taken;) {
    uint64_t nonce[2];
    char text[200];
    if (getrandom(nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
      return fail(ctx, HONE_E_IO, place_none(), "no random numbers");
    const int length = snprintf(text, sizeof text, "%s\n%s\n%llu\n%016llx%016llx", row->plan,
                                row->fingerprint, (unsigned long long)row->started_unix_ms,
                                (unsigned long long)nonce[0], (unsigned long long)nonce[1]);
    hash_hex(row->key, text, (size_t)length);
    TRY(one_study(ctx, store, "WHERE key = ?", row->key, NULL, scratch, &is_taken));
  }
  return HONE_OK;
}

static MUST_USE hone_status choose_study(struct ctx *ctx, struct store *store,
                                         struct study_row *row, bool may_resume,
                                         struct study_row *there, bool *out_resumed) {
  if (row->key[0]) {
    TRY(one_study(ctx, store, "WHERE key = ?", row->key, NULL, there, out_resumed));
    if (!*out_resumed)
      return fail(ctx, HONE_E_NOFILE, place_name(row->key), "no such study in the store");
    if (strcmp(there->plan, row->plan) != 0)
      return fail(ctx, HONE_E_USAGE, place_name(row->key),
                  "this study measured something else, or with another build of hone");
    if (strcmp(there->fingerprint, row->fingerprint) != 0)
      return fail(ctx, HONE_E_USAGE, place_name(row->key),
                  "this study was measured on another machine or software");
  } else if (may_resume) {
    TRY(store_find_study(ctx, store, row->plan, row->fingerprint, there, out_resumed));
    *out_resumed = *out_resumed && !there->finished;
  }
  if (!*out_resumed) return fresh_key(ctx, store, row, there);
  memcpy(row->key, there->key, sizeof row->key);
  row->started_unix_ms = there->started_unix_ms;
  return HONE_OK;
}

hone_status store_begin_study(struct ctx *ctx, struct store *store, struct study_row *row,
                              bool may_resume, bool *out_resumed) {
  struct study_row *there = calloc(1, sizeof *there);
  *out_resumed = false;
  if (!there) return fail(ctx, HONE_E_OOM, place_none(), "no memory to begin a study");
  hone_status status = choose_study(ctx, store, row, may_resume, there, out_resumed);
  if (!status) status = store_put_study(ctx, store, row);
  if (!status) memcpy(store->plan, row->plan, sizeof store->plan);
  if (!status) memcpy(store->study, row->key, sizeof store->study);
  free(there);
  return status;
}

/* "last" or "last~N": -1 if it is neither. */
static int64_t steps_back(const char *which) {
  int64_t back;
  if (!strcmp(which, "last")) return 0;
  if (strncmp(which, "last~", 5) != 0 || !parse_i64(which + 5, 0, 1000000, &back)) return -1;
  return back;
}

static MUST_USE hone_status count_prefix(struct ctx *ctx, struct store *store, const char *prefix,
                                         int64_t *out) {
  struct statement *statement = NULL;
  bool more = false;
  TRY(prepare(ctx, store,
              "SELECT count(*) FROM study WHERE substr(key, 1, length(CAST(?1 AS TEXT))) = ?1",
              &statement));
  hone_status status = bind_key(ctx, store, statement, 1, prefix);
  if (!status) status = step(ctx, store, statement, &more);
  *out = more ? int_at(statement, 0) : 0;
  end(statement);
  return status;
}

hone_status store_get_study(struct ctx *ctx, struct store *store, const char *which,
                            struct study_row *out) {
  bool found = false;
  int64_t matches;
  char number[24];
  const int64_t back = steps_back(which);
  snprintf(number, sizeof number, "%lld", (long long)back);
  if (back >= 0)
    TRY(one_study(ctx, store, NEWEST_FIRST " LIMIT 1 OFFSET CAST(?1 AS INTEGER)", number, NULL, out,
                  &found));
  if (!found)
    TRY(one_study(ctx, store, "WHERE name = ?1 AND name <> '' " NEWEST_FIRST, which, NULL, out,
                  &found));
  if (found) return HONE_OK;
  TRY(count_prefix(ctx, store, which, &matches));
  if (matches > 1)
    return fail(ctx, HONE_E_USAGE, place_name(which),
                "%lld studies have keys with this prefix; give more of the key",
                (long long)matches);
  if (matches == 1 && *which)
    TRY(one_study(ctx, store, "WHERE substr(key, 1, length(CAST(?1 AS TEXT))) = ?1", which, NULL,
                  out, &found));
  return found ? HONE_OK
               : fail(ctx, HONE_E_NOFILE, place_name(which),
                      "no such study in the store; 'hone studies' lists them");
}

typedef VEC(struct study_row) study_rows;
static MUST_USE hone_status read_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                                         struct statement *statement, study_rows *rows) {
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    VEC_PUSH(ctx, arena, rows, (struct study_row){0});
    TRY(row_read(ctx, store->driver, statement, &listed_study_view, arena,
                 &rows->at[rows->count - 1]));
  }
}

static MUST_USE hone_status list_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                                         const char *rest, const char *key,
                                         struct study_row **out_rows, size_t *out_count) {
  struct statement *statement = NULL;
  study_rows rows = {0};
  TRY(prepare_view(ctx, store, &listed_study_view, rest, &statement));
  hone_status status = key ? bind_key(ctx, store, statement, 1, key) : HONE_OK;
  if (!status) status = read_studies(ctx, store, arena, statement, &rows);
  end(statement);
  *out_rows = rows.at;
  *out_count = rows.count;
  return status;
}

hone_status store_list_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                               struct study_row **out_rows, size_t *out_count) {
  return list_studies(ctx, store, arena, NEWEST_FIRST, NULL, out_rows, out_count);
}

/* the numbers are not user input: they may be part of the SQL */
hone_status store_list_newest(struct ctx *ctx, struct store *store, struct arena *arena,
                              int64_t skip, int64_t most, struct study_row **out_rows,
                              size_t *out_count) {
  char rest[160];
  snprintf(rest, sizeof rest, NEWEST_FIRST " LIMIT %lld OFFSET %lld", (long long)most,
           (long long)skip);
  return list_studies(ctx, store, arena, rest, NULL, out_rows, out_count);
}

hone_status store_studies_of_config(struct ctx *ctx, struct store *store, struct arena *arena,
                                    const char *config, int64_t most, struct study_row **out_rows,
                                    size_t *out_count) {
  char rest[200];
  snprintf(rest, sizeof rest,
           "WHERE key IN (SELECT study FROM cell WHERE cell.key = ?1) " NEWEST_FIRST " LIMIT %lld",
           (long long)most);
  return list_studies(ctx, store, arena, rest, config, out_rows, out_count);
}

hone_status store_list_series(struct ctx *ctx, struct store *store, struct arena *arena,
                              int64_t least, int64_t most, struct config_series **out,
                              size_t *out_count) {
  VEC(struct config_series) rows = {0};
  char rest[600];
  struct statement *statement = NULL;
  bool more = true;
  snprintf(rest, sizeof rest,
           "WHERE (EXISTS (SELECT 1 FROM block WHERE block.study = cell.study AND block.cell = "
           "cell.key) "
           "OR EXISTS (SELECT 1 FROM incarnation WHERE incarnation.study = cell.study AND "
           "incarnation.cell = cell.key AND incarnation.status <> 'interrupted')) "
           "GROUP BY key HAVING count(*) >= %lld ORDER BY count(*) DESC, 2, 3, key LIMIT %lld",
           (long long)least, (long long)most);
  hone_status status = prepare_view(ctx, store, &series_view, rest, &statement);
  while (!status && more) {
    struct config_series row = {0};
    status = step(ctx, store, statement, &more);
    if (!status && more)
      status = row_read(ctx, store->driver, statement, &series_view, arena, &row);
    if (!status && more)
      status = vec_grow(ctx, arena, &rows.at, rows.count, &rows.capacity, sizeof *rows.at);
    if (!status && more) rows.at[rows.count++] = row;
  }
  end(statement);
  *out = rows.at;
  *out_count = rows.count;
  return status;
}

typedef VEC(struct block) blocks;
typedef VEC(struct process_record) processes;
static MUST_USE hone_status read_blocks(struct ctx *ctx, struct store *store, struct arena *arena,
                                        struct statement *statement, blocks *rows) {
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    VEC_PUSH(ctx, arena, rows, (struct block){0});
    TRY(row_read(ctx, store->driver, statement, &stored_tables[TABLE_block], arena,
                 &rows->at[rows->count - 1]));
  }
}
static MUST_USE hone_status read_processes(struct ctx *ctx, struct store *store,
                                           struct arena *arena, struct statement *statement,
                                           processes *rows) {
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    VEC_PUSH(ctx, arena, rows, (struct process_record){0});
    TRY(row_read(ctx, store->driver, statement, &stored_tables[TABLE_process_record], arena,
                 &rows->at[rows->count - 1]));
  }
}

static MUST_USE hone_status select_of_config(struct ctx *ctx, struct store *store,
                                             enum stored_table_id table, const char *rest,
                                             const char *study, const char *config,
                                             struct statement **out) {
  TRY(prepare_select(ctx, store, table, rest, out));
  hone_status status = bind_key(ctx, store, *out, 1, study);
  if (!status) status = bind_key(ctx, store, *out, 2, config);
  if (status) end(*out);
  return status;
}

hone_status store_config_progress(struct ctx *ctx, struct store *store, const char *study,
                                  const char *config, struct config_progress *out) {
  struct statement *statement = NULL;
  bool more = false;
  *out = (struct config_progress){0};
  TRY(prepare(ctx, store,
              "SELECT count(*) FILTER (WHERE status <> 'interrupted'), max(number), "
              "count(*) FILTER (WHERE status NOT IN "
              "('ok', 'unverified', 'disputed', 'interrupted')), "
              "(SELECT max(incarnation) FROM block WHERE study = ?1 AND cell = ?2), "
              "count(*) FILTER (WHERE status = 'disputed') "
              "FROM incarnation WHERE study = ?1 AND cell = ?2",
              &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = bind_key(ctx, store, statement, 2, config);
  if (!status) status = step(ctx, store, statement, &more);
  if (!status && more) {
    const bool has_any = !store->driver->is_null(statement, 1);
    const bool has_block = !store->driver->is_null(statement, 3);
    const int told = has_any ? (int)int_at(statement, 1) : -1;
    const int measured = has_block ? (int)int_at(statement, 3) : -1;
    out->complete = (int)int_at(statement, 0);
    out->next_number = (told > measured ? told : measured) + 1;
    out->has_failed = (int)int_at(statement, 2) > 0;
    out->is_disputed = (int)int_at(statement, 4) > 0;
  }
  end(statement);
  return status;
}

static MUST_USE hone_status read_config_data(struct ctx *ctx, struct store *store,
                                             struct arena *arena, const char *study,
                                             struct config_data *data) {
  struct statement *statement;
  blocks block_rows = {0};
  processes process_record_rows = {0};
  TRY(select_of_config(ctx, store, TABLE_block,
                       "WHERE study = ? AND cell = ? ORDER BY incarnation, round", study,
                       data->config.key, &statement));
  hone_status status = read_blocks(ctx, store, arena, statement, &block_rows);
  end(statement);
  if (status) return status;
  TRY(select_of_config(ctx, store, TABLE_process_record,
                       "WHERE study = ? AND cell = ? ORDER BY number", study, data->config.key,
                       &statement));
  status = read_processes(ctx, store, arena, statement, &process_record_rows);
  end(statement);
  data->blocks = block_rows.at;
  data->block_count = block_rows.count;
  data->processes = process_record_rows.at;
  data->process_count = process_record_rows.count;
  return status;
}

typedef VEC(struct config_data) cells;
static MUST_USE hone_status read_configs(struct ctx *ctx, struct store *store, struct arena *arena,
                                         struct statement *statement, cells *rows) {
  struct stored_config *row;
  TRY(NEW(ctx, arena, row));
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    TRY(row_read(ctx, store->driver, statement, &stored_tables[TABLE_config], arena, row));
    VEC_PUSH(ctx, arena, rows, (struct config_data){.config = row->config});
  }
}

hone_status store_read_config(struct ctx *ctx, struct store *store, struct arena *arena,
                              const char *study, const char *config, struct config_data *out) {
  cells rows = {0};
  struct statement *statement;
  *out = (struct config_data){0};
  TRY(select_of_config(ctx, store, TABLE_config, "WHERE study = ? AND key = ?", study, config,
                       &statement));
  const hone_status status = read_configs(ctx, store, arena, statement, &rows);
  end(statement);
  TRY(status);
  if (!rows.count)
    return fail(ctx, HONE_E_NOFILE, place_name(config), "the study has no such configuration");
  *out = rows.at[0];
  return read_config_data(ctx, store, arena, study, out);
}

static MUST_USE hone_status read_all(struct ctx *ctx, struct store *store, struct arena *arena,
                                     const char *key, struct study_data *out) {
  bool found;
  cells rows = {0};
  struct statement *statement;
  TRY(one_study(ctx, store, "WHERE key = ?", key, NULL, &out->row, &found));
  if (!found) return fail(ctx, HONE_E_NOFILE, place_name(key), "no such study in the store");
  TRY(prepare_select(ctx, store, TABLE_config, "WHERE study = ? ORDER BY rowid", &statement));
  hone_status status = bind_key(ctx, store, statement, 1, key);
  if (!status) status = read_configs(ctx, store, arena, statement, &rows);
  end(statement);
  for (size_t i = 0; !status && i < rows.count; i++)
    status = read_config_data(ctx, store, arena, key, &rows.at[i]);
  out->cells = rows.at;
  out->config_count = rows.count;
  return status;
}

/* In one read transaction, so that a concurrent writer cannot change the study half-way. */
hone_status store_read_study(struct ctx *ctx, struct store *store, struct arena *arena,
                             const char *key, struct study_data *out) {
  *out = (struct study_data){0};
  TRY(execute(ctx, store, "BEGIN"));
  const hone_status status = read_all(ctx, store, arena, key, out);
  if (status) {
    roll_back(store);
    return status;
  }
  return execute(ctx, store, "COMMIT");
}

/* -- whole studies */

static MUST_USE hone_status end_transaction(struct ctx *ctx, struct store *store,
                                            hone_status status) {
  if (!status) return execute(ctx, store, "COMMIT");
  roll_back(store);
  return status;
}

static MUST_USE hone_status delete_rows(struct ctx *ctx, struct store *store, const char *sql,
                                        const char *key) {
  struct statement *statement = NULL;
  bool more;
  TRY(prepare(ctx, store, sql, &statement));
  hone_status status = bind_key(ctx, store, statement, 1, key);
  if (!status) status = step(ctx, store, statement, &more);
  end(statement);
  return status;
}

hone_status store_remove_study(struct ctx *ctx, struct store *store, const char *key) {
  static const char *const children_first[] = {
      "DELETE FROM block WHERE study = ?", "DELETE FROM incarnation WHERE study = ?",
      "DELETE FROM cell WHERE study = ?", "DELETE FROM study WHERE key = ?"};
  hone_status status = HONE_OK;
  TRY(execute(ctx, store, store->driver->begin));
  for (size_t i = 0; !status && i < COUNT(children_first); i++)
    status = delete_rows(ctx, store, children_first[i], key);
  return end_transaction(ctx, store, status);
}

static MUST_USE hone_status put_rows(struct ctx *ctx, struct store *store,
                                     const struct study_data *data) {
  for (size_t c = 0; c < data->config_count; c++) {
    const struct config_data *config = &data->cells[c];
    TRY(store_put_config(ctx, store, data->row.key, &config->config));
    for (size_t i = 0; i < config->process_count; i++)
      TRY(store_put_process(ctx, store, &config->processes[i]));
    for (size_t i = 0; i < config->block_count; i++)
      TRY(store_put_block(ctx, store, &config->blocks[i]));
  }
  return HONE_OK;
}

static MUST_USE hone_status put_all(struct ctx *ctx, struct store *store,
                                    const struct study_data *data) {
  const struct driver *driver = store->driver;
  TRY(store_put_study(ctx, store, &data->row));
  if (driver->begin_many) TRY(driver->begin_many(ctx, store));
  hone_status status = put_rows(ctx, store, data);
  if (!driver->end_many) return status;
  struct ctx other; /* reports the first failure */
  ctx_init(&other);
  const hone_status last = driver->end_many(status ? &other : ctx, store);
  return status ? status : last;
}

hone_status store_copy_study(struct ctx *ctx, struct store *from, struct store *to,
                             const char *key) {
  struct arena *arena;
  struct study_data *data;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = NEW(ctx, arena, data);
  if (!status) status = store_read_study(ctx, from, arena, key, data);
  if (!status) status = execute(ctx, to, to->driver->begin);
  if (!status) status = end_transaction(ctx, to, put_all(ctx, to, data));
  arena_destroy(arena);
  return status;
}
