/* sqlite: the store behind store.h, one writing connection, a transaction a row.
 *
 * A commit with synchronous=FULL is the acknowledgement. After a failed write the store is broken:
 * the transaction is rolled back by SQLite, and every later put fails the same way without trying
 * (a second fsync after a failed one may lie: Rebello et al., Can Applications Recover from fsync
 * Failures?, 2020). The journal is a rollback journal: up to 3.51.2 a WAL database could be damaged
 * by two connections.
 */
#include "store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

struct store {
  sqlite3 *database;
  char path[4096];
  int lock_fd; /* -1: opened for reading */
  int version; /* of the schema in the file */
  bool is_broken;
  char plan[33], study[33]; /* of store_begin_study: the first stands for the second */
};

/* -- errors -------------------------------------------------------------------------------------
 */

static hone_status status_of(int code, int system_errno) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
      return HONE_E_IO;
    case SQLITE_CANTOPEN:
      return system_errno == ENOENT ? HONE_E_NOFILE : HONE_E_IO;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return HONE_E_WRITE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
      return HONE_E_FORMAT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return HONE_E_BUSY;
    case SQLITE_NOMEM:
      return HONE_E_OOM;
    case SQLITE_TOOBIG:
      return HONE_E_LIMIT;
    default:
      return HONE_E_INTERNAL;
  }
}

static MUST_USE hone_status sqlite_failed(struct ctx *ctx, struct store *store, int code) {
  const int extended = store->database ? sqlite3_extended_errcode(store->database) : code;
  const int system_errno = store->database ? sqlite3_system_errno(store->database) : 0;
  const hone_status status = status_of(code, system_errno);
  const bool is_full =
      (code & 0xff) == SQLITE_FULL || system_errno == ENOSPC || system_errno == EDQUOT;
  if (status == HONE_E_IO) store->is_broken = true;
  if (status == HONE_E_IO && is_full)
    return fail(ctx, status, place_file(store->path),
                "the disk is full; what was acknowledged is kept: free space, then run the same "
                "command again, it resumes");
  return fail(ctx, status, place_file(store->path), "store: %s (SQLite %d)",
              store->database ? sqlite3_errmsg(store->database) : sqlite3_errstr(code), extended);
}

/* -- statements ---------------------------------------------------------------------------------
 */

static MUST_USE hone_status prepare(struct ctx *ctx, struct store *store, const char *sql,
                                    sqlite3_stmt **out) {
  const int rc = sqlite3_prepare_v2(store->database, sql, -1, out, NULL);
  return rc ? sqlite_failed(ctx, store, rc) : HONE_OK;
}

static MUST_USE hone_status execute(struct ctx *ctx, struct store *store, const char *sql) {
  const int rc = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
  return rc ? sqlite_failed(ctx, store, rc) : HONE_OK;
}

static MUST_USE hone_status prepare_select(struct ctx *ctx, struct store *store,
                                           enum stored_table_id table, const char *rest,
                                           sqlite3_stmt **out) {
  struct text sql = {0};
  sql_select(&stored_tables[table], store->version, rest, &sql);
  hone_status status = text_finish(ctx, &sql);
  if (!status) status = prepare(ctx, store, sql.at, out);
  text_deinit(&sql);
  return status;
}

/* *out_more: a row is there. */
static MUST_USE hone_status step(struct ctx *ctx, struct store *store, sqlite3_stmt *statement,
                                 bool *out_more) {
  const int rc = sqlite3_step(statement);
  *out_more = rc == SQLITE_ROW;
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? HONE_OK : sqlite_failed(ctx, store, rc);
}

/* A key is bound by value: at most 64 bytes of it can match anything. */
static MUST_USE hone_status bind_key(struct ctx *ctx, struct store *store, sqlite3_stmt *statement,
                                     int n, const char *key) {
  const int rc = sqlite3_bind_text(statement, n, key, -1, SQLITE_TRANSIENT);
  return rc ? sqlite_failed(ctx, store, rc) : HONE_OK;
}

static MUST_USE hone_status put(struct ctx *ctx, struct store *store, enum stored_table_id table,
                                const void *row) {
  if (store->lock_fd < 0)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "the store was opened for reading");
  if (store->is_broken)
    return fail(ctx, HONE_E_IO, place_file(store->path),
                "an earlier write failed; nothing more is written: run the same command again, it "
                "resumes");
  struct text sql = {0};
  sqlite3_stmt *statement = NULL;
  sql_insert(&stored_tables[table], &sql);
  hone_status status = text_finish(ctx, &sql);
  if (!status) status = prepare(ctx, store, sql.at, &statement);
  if (!status) {
    const int rc = row_bind(statement, &stored_tables[table], row);
    bool more;
    status = rc ? sqlite_failed(ctx, store, rc) : step(ctx, store, statement, &more);
  }
  sqlite3_finalize(statement);
  text_deinit(&sql);
  return status;
}

/* -- opening ------------------------------------------------------------------------------------
 */

static MUST_USE hone_status configure(struct ctx *ctx, struct store *store, bool write) {
  const struct {
    int option, value;
  } options[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
      {SQLITE_DBCONFIG_ENABLE_FKEY, 1},    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
      {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
  };
  for (size_t i = 0; i < COUNT(options); i++) {
    int now = -1;
    if (sqlite3_db_config(store->database, options[i].option, options[i].value, &now) ||
        now != options[i].value)
      return fail(ctx, HONE_E_INTERNAL, place_none(), "SQLite refused option %d",
                  options[i].option);
  }
  sqlite3_extended_result_codes(store->database, 1);
  sqlite3_busy_timeout(store->database, 10000);
  TRY(execute(ctx, store,
              "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA synchronous=FULL"));
  return execute(ctx, store, write ? "PRAGMA journal_mode=TRUNCATE" : "PRAGMA query_only=ON");
}

static MUST_USE hone_status create_schema(struct ctx *ctx, struct store *store) {
  struct text sql = {0};
  text_printf(&sql, "BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%d;\n",
              STORE_APPLICATION_ID, STORE_VERSION);
  for (size_t i = 0; i < TABLE_COUNT; i++) {
    sql_create(&stored_tables[i], STORE_VERSION, &sql);
    text_puts(&sql, ";\n");
  }
  text_puts(&sql, "COMMIT");
  hone_status status = text_finish(ctx, &sql);
  if (!status) status = execute(ctx, store, sql.at);
  text_deinit(&sql);
  return status;
}

/* The tables as create_schema makes them, with the rows that were there. Foreign keys are looked at
   once at the end: in between a table is away. */
static MUST_USE hone_status migrate(struct ctx *ctx, struct store *store) {
  struct text sql = {0};
  text_printf(&sql,
              "PRAGMA foreign_keys=OFF; PRAGMA legacy_alter_table=ON; BEGIN IMMEDIATE; "
              "PRAGMA user_version=%d;\n",
              STORE_VERSION);
  for (size_t i = 0; i < TABLE_COUNT; i++) sql_migrate(&stored_tables[i], store->version, &sql);
  hone_status status = text_finish(ctx, &sql);
  if (!status) status = execute(ctx, store, sql.at);
  text_deinit(&sql);
  sqlite3_stmt *statement = NULL;
  bool is_broken = false;
  if (!status) status = prepare(ctx, store, "PRAGMA foreign_key_check", &statement);
  if (!status) status = step(ctx, store, statement, &is_broken);
  sqlite3_finalize(statement);
  if (!status && is_broken)
    status = fail(ctx, HONE_E_FORMAT, place_file(store->path),
                  "the store is damaged: a row belongs to nothing; it was left as it is");
  if (!status) status = execute(ctx, store, "COMMIT");
  if (status) sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
  if (!status) store->version = STORE_VERSION;
  return status ? status
                : execute(ctx, store, "PRAGMA legacy_alter_table=OFF; PRAGMA foreign_keys=ON");
}

static bool is_our_object(int version, const char *type, const char *name, const char *sql) {
  if (!type || !name) return false;
  if (!strcmp(type, "index")) return !sql && !strncmp(name, "sqlite_autoindex_", 17);
  for (size_t i = 0; !strcmp(type, "table") && sql && i < TABLE_COUNT; i++) {
    struct text want = {0};
    sql_create(&stored_tables[i], version, &want);
    const bool is_equal =
        !want.failed && !strcmp(name, stored_tables[i].name) && !strcmp(want.at, sql);
    text_deinit(&want);
    if (is_equal) return true;
  }
  return false;
}

/* Exactly our tables and their own indices: a planted trigger, view or table is a foreign file. */
static MUST_USE hone_status check_objects(struct ctx *ctx, struct store *store,
                                          sqlite3_stmt *statement) {
  size_t tables = 0;
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) break;
    const char *type = (const char *)sqlite3_column_text(statement, 0);
    const char *name = (const char *)sqlite3_column_text(statement, 1);
    const char *sql = (const char *)sqlite3_column_text(statement, 2);
    if (!is_our_object(store->version, type, name, sql))
      return fail(ctx, HONE_E_FORMAT, place_file(store->path),
                  "not a hone store: it holds a %.16s that hone never makes; it was left as it is",
                  type ? type : "thing");
    tables += !strcmp(type, "table");
  }
  if (tables == TABLE_COUNT) return HONE_OK;
  return fail(ctx, HONE_E_FORMAT, place_file(store->path),
              "not a hone store: %zu of its %d tables are there", tables, TABLE_COUNT);
}

static MUST_USE hone_status check_pages(struct ctx *ctx, struct store *store) {
  sqlite3_stmt *statement = NULL;
  bool more = false;
  hone_status status = prepare(ctx, store, "PRAGMA quick_check(1)", &statement);
  if (!status) status = step(ctx, store, statement, &more);
  const char *answer = more ? (const char *)sqlite3_column_text(statement, 0) : NULL;
  if (!status && (!answer || strcmp(answer, "ok") != 0))
    status = fail(ctx, HONE_E_FORMAT, place_file(store->path),
                  "the store is damaged: %.200s; it was left as it is", answer ? answer : "?");
  sqlite3_finalize(statement);
  return status;
}

/* The first bytes, through SQLite's own descriptor. */
static MUST_USE hone_status read_header(struct ctx *ctx, struct store *store, uint8_t header[100],
                                        uint64_t *out_size) {
  sqlite3_file *file = NULL;
  sqlite3_int64 size = 0;
  int rc = sqlite3_file_control(store->database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (!rc && (!file || !file->pMethods)) rc = SQLITE_CANTOPEN;
  if (!rc) rc = file->pMethods->xFileSize(file, &size);
  memset(header, 0, 100);
  if (!rc && size >= 100) rc = file->pMethods->xRead(file, header, 100, 0);
  *out_size = (uint64_t)size;
  return rc ? sqlite_failed(ctx, store, rc) : HONE_OK;
}

static MUST_USE hone_status read_version(struct ctx *ctx, struct store *store) {
  sqlite3_stmt *statement = NULL;
  bool more = false;
  hone_status status = prepare(ctx, store, "PRAGMA user_version", &statement);
  if (!status) status = step(ctx, store, statement, &more);
  store->version = more ? sqlite3_column_int(statement, 0) : 0;
  sqlite3_finalize(statement);
  return status;
}

/* Inside a read transaction, so that no writer is half-way and a dead one is rolled back. A store
   whose creation was rolled back is empty again. */
static MUST_USE hone_status check_schema(struct ctx *ctx, struct store *store, bool *out_empty) {
  uint8_t header[100];
  uint64_t size;
  sqlite3_stmt *statement = NULL;
  bool more;
  TRY(prepare(ctx, store, "SELECT type, name, sql FROM sqlite_schema", &statement));
  hone_status status = step(ctx, store, statement, &more);
  sqlite3_reset(statement);
  if (!status) status = read_header(ctx, store, header, &size);
  *out_empty = !status && size == 0;
  if (!status) status = read_version(ctx, store);
  if (!status && size > 0) status = guard_header(ctx, store->path, header, size);
  if (!status && size > 0) status = check_objects(ctx, store, statement);
  if (!status && size > 0) status = guard_size(ctx, store->path, header, size);
  sqlite3_finalize(statement);
  return status;
}

/* A name that starts with '/' or '.' can be neither ":memory:" nor a URI to SQLite. Links are
   followed here, so that lock and journal lie beside the real file whatever it was called. */
static MUST_USE hone_status resolve(struct ctx *ctx, const char *path, char out[4096]) {
  char folder[4096];
  if (!path) TRY(dir_user(ctx, "data", folder));
  const int length = path ? snprintf(out, 4096, "%s%s", path[0] == '/' ? "" : "./", path)
                          : snprintf(out, 4096, "%s/results.db", folder);
  if (length >= 4096 || (path && !path[0]))
    return fail(ctx, HONE_E_USAGE, place_none(), "the store's path is empty or too long");
  char *real = realpath(out, NULL);
  if (real && strlen(real) < 4096) memcpy(out, real, strlen(real) + 1);
  free(real);
  return HONE_OK;
}

static MUST_USE hone_status make_folder(struct ctx *ctx, const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 0;
  if (length == 0) return HONE_OK;
  memcpy(folder, path, length);
  folder[length] = 0;
  return dir_create(ctx, folder);
}

static MUST_USE hone_status nothing_to_read(struct ctx *ctx, const struct store *store) {
  return fail(ctx, HONE_E_NOFILE, place_file(store->path),
              "no results yet: 'hone bench' makes them, or name a store with --store FILE");
}

static MUST_USE hone_status check_database(struct ctx *ctx, struct store *store, bool *out_empty) {
  TRY(execute(ctx, store, "BEGIN"));
  TRY(check_schema(ctx, store, out_empty));
  return execute(ctx, store, "COMMIT");
}

static MUST_USE hone_status open_database(struct ctx *ctx, struct store *store, bool write,
                                          bool exists) {
  uint8_t header[100];
  uint64_t size;
  bool is_empty;
  /* A reader may have to roll back what a killed writer left, hence never READONLY; query_only
     keeps it from writing anything else. */
  const int flags = SQLITE_OPEN_READWRITE | (exists ? 0 : SQLITE_OPEN_CREATE);
  const int rc = sqlite3_open_v2(store->path, &store->database, flags, NULL);
  if (rc) return sqlite_failed(ctx, store, rc);
  if (exists) TRY(read_header(ctx, store, header, &size));
  if (exists && size > 0) TRY(guard_header(ctx, store->path, header, size));
  TRY(configure(ctx, store, false));
  TRY(check_database(ctx, store, &is_empty));
  if (!write) return is_empty ? nothing_to_read(ctx, store) : HONE_OK;
  if (!is_empty) TRY(check_pages(ctx, store));
  TRY(execute(ctx, store, "PRAGMA query_only=OFF"));
  TRY(configure(ctx, store, true));
  if (!is_empty) return store->version < STORE_VERSION ? migrate(ctx, store) : HONE_OK;
  store->version = STORE_VERSION;
  return create_schema(ctx, store);
}

static MUST_USE hone_status open_guarded(struct ctx *ctx, struct store *store, bool write) {
  bool exists;
  if (write) {
    TRY(make_folder(ctx, store->path));
    TRY(guard_file(ctx, store->path, &exists)); /* before even a lock is made beside it */
    TRY(guard_lock(ctx, store->path, &store->lock_fd));
  }
  TRY(guard_file(ctx, store->path, &exists));
  if (!exists && !write) return nothing_to_read(ctx, store);
  return open_database(ctx, store, write, exists);
}

hone_status store_open(struct ctx *ctx, const char *path, bool write, struct store **out) {
  *out = NULL;
  struct store *store = calloc(1, sizeof *store);
  if (!store) return fail(ctx, HONE_E_OOM, place_none(), "no memory to open the store");
  store->lock_fd = -1;
  hone_status status = resolve(ctx, path, store->path);
  if (!status) status = open_guarded(ctx, store, write);
  if (status) {
    store_close(store);
    return status;
  }
  *out = store;
  return HONE_OK;
}

void store_close(struct store *store) {
  if (!store) return;
  sqlite3_close(store->database);
  if (store->lock_fd >= 0) close(store->lock_fd);
  free(store);
}

/* -- writing ------------------------------------------------------------------------------------
 */

static const char *study_meant(const struct store *store, const char *name) {
  return *name && !strcmp(name, store->plan) ? store->study : name;
}

hone_status store_put_cell(struct ctx *ctx, struct store *store, const char *study,
                           const struct cell *cell) {
  struct stored_cell *row = calloc(1, sizeof *row);
  if (!row) return fail(ctx, HONE_E_OOM, place_none(), "no memory to store a cell");
  row->cell = *cell;
  snprintf(row->study, sizeof row->study, "%s", study_meant(store, study));
  const hone_status status = put(ctx, store, TABLE_cell, row);
  free(row);
  return status;
}

hone_status store_put_block(struct ctx *ctx, struct store *store, const struct block *block) {
  struct block row = *block;
  snprintf(row.study, sizeof row.study, "%s", study_meant(store, block->study));
  return put(ctx, store, TABLE_block, &row);
}

hone_status store_put_incarnation(struct ctx *ctx, struct store *store,
                                  const struct incarnation *incarnation) {
  struct incarnation row = *incarnation;
  snprintf(row.study, sizeof row.study, "%s", study_meant(store, incarnation->study));
  return put(ctx, store, TABLE_incarnation, &row);
}

hone_status store_finish_study(struct ctx *ctx, struct store *store, const char *study) {
  sqlite3_stmt *statement = NULL;
  bool more;
  TRY(prepare(ctx, store, "UPDATE study SET finished = 1 WHERE key = ?", &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = step(ctx, store, statement, &more);
  if (!status && sqlite3_changes(store->database) != 1)
    status = fail(ctx, HONE_E_NOFILE, place_name(study), "no such study in the store");
  sqlite3_finalize(statement);
  return status;
}

/* A limit only falls: the peaks behind it are the highest that were seen. */
hone_status store_lower_limits(struct ctx *ctx, struct store *store, const char *study,
                               const struct cell *cell) {
  sqlite3_stmt *statement = NULL;
  bool more;
  TRY(prepare(ctx, store,
              "UPDATE cell SET limit_ms = min(limit_ms, ?3), "
              "winograd_limit_ms = min(winograd_limit_ms, ?4) WHERE study = ?1 AND key = ?2",
              &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = bind_key(ctx, store, statement, 2, cell->key);
  sqlite3_bind_double(statement, 3, cell->limit_ms);
  sqlite3_bind_double(statement, 4, cell->winograd_limit_ms);
  if (!status) status = step(ctx, store, statement, &more);
  sqlite3_finalize(statement);
  return status;
}

hone_status store_put_machine(struct ctx *ctx, struct store *store, const char *study,
                              const char *machine_json) {
  sqlite3_stmt *statement = NULL;
  bool more;
  TRY(prepare(ctx, store, "UPDATE study SET machine_json = ?2 WHERE key = ?1", &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = bind_key(ctx, store, statement, 2, machine_json);
  if (!status) status = step(ctx, store, statement, &more);
  sqlite3_finalize(statement);
  return status;
}

/* -- reading ------------------------------------------------------------------------------------
 */

/* The first row of a select over studies with up to two bound texts. */
static MUST_USE hone_status one_study(struct ctx *ctx, struct store *store, const char *rest,
                                      const char *first, const char *second, struct study_row *out,
                                      bool *out_found) {
  sqlite3_stmt *statement = NULL;
  *out_found = false;
  TRY(prepare_select(ctx, store, TABLE_study, rest, &statement));
  hone_status status = first ? bind_key(ctx, store, statement, 1, first) : HONE_OK;
  if (!status && second) status = bind_key(ctx, store, statement, 2, second);
  if (!status) status = step(ctx, store, statement, out_found);
  if (!status && *out_found)
    status = row_read(ctx, statement, &stored_tables[TABLE_study], NULL, out);
  sqlite3_finalize(statement);
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

/* The first key of this plan and time that no study has. */
static MUST_USE hone_status fresh_key(struct ctx *ctx, struct store *store, struct study_row *row,
                                      struct study_row *scratch) {
  bool is_taken = true;
  for (int n = 0; is_taken; n++) {
    char text[160];
    const int length = snprintf(text, sizeof text, "%s\n%s\n%llu\n%d", row->plan, row->fingerprint,
                                (unsigned long long)row->started_unix_ms, n);
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
      return fail(ctx, HONE_E_USAGE, place_name(row->key), "this study measured something else");
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
  sqlite3_stmt *statement = NULL;
  bool more = false;
  TRY(prepare(ctx, store, "SELECT count(*) FROM study WHERE substr(key, 1, length(?1)) = ?1",
              &statement));
  hone_status status = bind_key(ctx, store, statement, 1, prefix);
  if (!status) status = step(ctx, store, statement, &more);
  *out = more ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
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
    TRY(one_study(ctx, store, "WHERE name = ?1 AND ?1 <> '' " NEWEST_FIRST, which, NULL, out,
                  &found));
  if (found) return HONE_OK;
  TRY(count_prefix(ctx, store, which, &matches));
  if (matches > 1)
    return fail(ctx, HONE_E_USAGE, place_name(which), "%lld studies begin so; give more of the key",
                (long long)matches);
  if (matches == 1 && *which)
    TRY(one_study(ctx, store, "WHERE substr(key, 1, length(?1)) = ?1", which, NULL, out, &found));
  return found ? HONE_OK
               : fail(ctx, HONE_E_NOFILE, place_name(which),
                      "no such study in the store; 'hone studies' lists them");
}

typedef VEC(struct study_row) study_rows;
static MUST_USE hone_status read_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                                         sqlite3_stmt *statement, study_rows *rows) {
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    VEC_PUSH(ctx, arena, rows, (struct study_row){0});
    TRY(row_read(ctx, statement, &stored_tables[TABLE_study], arena, &rows->at[rows->count - 1]));
  }
}

static MUST_USE hone_status list_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                                         const char *rest, const char *key,
                                         struct study_row **out_rows, size_t *out_count) {
  sqlite3_stmt *statement = NULL;
  study_rows rows = {0};
  TRY(prepare_select(ctx, store, TABLE_study, rest, &statement));
  hone_status status = key ? bind_key(ctx, store, statement, 1, key) : HONE_OK;
  if (!status) status = read_studies(ctx, store, arena, statement, &rows);
  sqlite3_finalize(statement);
  *out_rows = rows.at;
  *out_count = rows.count;
  return status;
}

hone_status store_list_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                               struct study_row **out_rows, size_t *out_count) {
  return list_studies(ctx, store, arena, NEWEST_FIRST, NULL, out_rows, out_count);
}

/* Numbers are ours: they may stand in the text. */
hone_status store_list_newest(struct ctx *ctx, struct store *store, struct arena *arena,
                              int64_t skip, int64_t most, struct study_row **out_rows,
                              size_t *out_count) {
  char rest[160];
  snprintf(rest, sizeof rest, NEWEST_FIRST " LIMIT %lld OFFSET %lld", (long long)most,
           (long long)skip);
  return list_studies(ctx, store, arena, rest, NULL, out_rows, out_count);
}

hone_status store_studies_of_cell(struct ctx *ctx, struct store *store, struct arena *arena,
                                  const char *cell, int64_t most, struct study_row **out_rows,
                                  size_t *out_count) {
  char rest[200];
  snprintf(rest, sizeof rest,
           "WHERE key IN (SELECT study FROM cell WHERE cell.key = ?1) " NEWEST_FIRST " LIMIT %lld",
           (long long)most);
  return list_studies(ctx, store, arena, rest, cell, out_rows, out_count);
}

hone_status store_list_series(struct ctx *ctx, struct store *store, struct arena *arena,
                              int64_t least, int64_t most, struct cell_series **out,
                              size_t *out_count) {
  VEC(struct cell_series) rows = {0};
  struct text sql = {0};
  char rest[200];
  sqlite3_stmt *statement = NULL;
  bool more = true;
  snprintf(rest, sizeof rest,
           "GROUP BY key HAVING count(*) >= %lld ORDER BY count(*) DESC, 2, 3, key LIMIT %lld",
           (long long)least, (long long)most);
  sql_select(&series_view, store->version, rest, &sql);
  hone_status status = text_finish(ctx, &sql);
  if (!status) status = prepare(ctx, store, sql.at, &statement);
  text_deinit(&sql);
  while (!status && more) {
    struct cell_series row = {0};
    status = step(ctx, store, statement, &more);
    if (!status && more) status = row_read(ctx, statement, &series_view, arena, &row);
    if (!status && more)
      status = vec_grow(ctx, arena, &rows.at, rows.count, &rows.capacity, sizeof *rows.at);
    if (!status && more) rows.at[rows.count++] = row;
  }
  sqlite3_finalize(statement);
  *out = rows.at;
  *out_count = rows.count;
  return status;
}

typedef VEC(struct block) blocks;
typedef VEC(struct incarnation) incarnations;
static MUST_USE hone_status read_blocks(struct ctx *ctx, struct store *store, struct arena *arena,
                                        sqlite3_stmt *statement, blocks *rows) {
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    VEC_PUSH(ctx, arena, rows, (struct block){0});
    TRY(row_read(ctx, statement, &stored_tables[TABLE_block], arena, &rows->at[rows->count - 1]));
  }
}
static MUST_USE hone_status read_incarnations(struct ctx *ctx, struct store *store,
                                              struct arena *arena, sqlite3_stmt *statement,
                                              incarnations *rows) {
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    VEC_PUSH(ctx, arena, rows, (struct incarnation){0});
    TRY(row_read(ctx, statement, &stored_tables[TABLE_incarnation], arena,
                 &rows->at[rows->count - 1]));
  }
}

static MUST_USE hone_status select_of_cell(struct ctx *ctx, struct store *store,
                                           enum stored_table_id table, const char *rest,
                                           const char *study, const char *cell,
                                           sqlite3_stmt **out) {
  TRY(prepare_select(ctx, store, table, rest, out));
  hone_status status = bind_key(ctx, store, *out, 1, study);
  if (!status) status = bind_key(ctx, store, *out, 2, cell);
  if (status) sqlite3_finalize(*out);
  return status;
}

hone_status store_cell_progress(struct ctx *ctx, struct store *store, const char *study,
                                const char *cell, struct cell_progress *out) {
  sqlite3_stmt *statement = NULL;
  bool more = false;
  *out = (struct cell_progress){0};
  TRY(prepare(ctx, store,
              "SELECT count(*) FILTER (WHERE status <> 'interrupted'), max(number), "
              "count(*) FILTER (WHERE status NOT IN "
              "('ok', 'unverified', 'disputed', 'interrupted')), "
              "(SELECT max(incarnation) FROM block WHERE study = ?1 AND cell = ?2), "
              "count(*) FILTER (WHERE status = 'disputed') "
              "FROM incarnation WHERE study = ?1 AND cell = ?2",
              &statement));
  hone_status status = bind_key(ctx, store, statement, 1, study_meant(store, study));
  if (!status) status = bind_key(ctx, store, statement, 2, cell);
  if (!status) status = step(ctx, store, statement, &more);
  if (!status && more) {
    const bool has_any = sqlite3_column_type(statement, 1) != SQLITE_NULL;
    const bool has_block = sqlite3_column_type(statement, 3) != SQLITE_NULL;
    const int told = has_any ? sqlite3_column_int(statement, 1) : -1;
    const int measured = has_block ? sqlite3_column_int(statement, 3) : -1;
    out->complete = sqlite3_column_int(statement, 0);
    out->next_number = (told > measured ? told : measured) + 1;
    out->has_failed = sqlite3_column_int(statement, 2) > 0;
    out->is_disputed = sqlite3_column_int(statement, 4) > 0;
  }
  sqlite3_finalize(statement);
  return status;
}

static MUST_USE hone_status read_cell_data(struct ctx *ctx, struct store *store,
                                           struct arena *arena, const char *study,
                                           struct cell_data *data) {
  sqlite3_stmt *statement;
  blocks block_rows = {0};
  incarnations incarnation_rows = {0};
  TRY(select_of_cell(ctx, store, TABLE_block,
                     "WHERE study = ? AND cell = ? ORDER BY incarnation, round", study,
                     data->cell.key, &statement));
  hone_status status = read_blocks(ctx, store, arena, statement, &block_rows);
  sqlite3_finalize(statement);
  if (status) return status;
  TRY(select_of_cell(ctx, store, TABLE_incarnation, "WHERE study = ? AND cell = ? ORDER BY number",
                     study, data->cell.key, &statement));
  status = read_incarnations(ctx, store, arena, statement, &incarnation_rows);
  sqlite3_finalize(statement);
  data->blocks = block_rows.at;
  data->block_count = block_rows.count;
  data->incarnations = incarnation_rows.at;
  data->incarnation_count = incarnation_rows.count;
  return status;
}

typedef VEC(struct cell_data) cells;
static MUST_USE hone_status read_cells(struct ctx *ctx, struct store *store, struct arena *arena,
                                       sqlite3_stmt *statement, cells *rows) {
  struct stored_cell *row;
  TRY(NEW(ctx, arena, row));
  for (bool more = true;;) {
    TRY(step(ctx, store, statement, &more));
    if (!more) return HONE_OK;
    TRY(row_read(ctx, statement, &stored_tables[TABLE_cell], arena, row));
    VEC_PUSH(ctx, arena, rows, (struct cell_data){.cell = row->cell});
  }
}

hone_status store_read_cell(struct ctx *ctx, struct store *store, struct arena *arena,
                            const char *study, const char *cell, struct cell_data *out) {
  cells rows = {0};
  sqlite3_stmt *statement;
  *out = (struct cell_data){0};
  TRY(select_of_cell(ctx, store, TABLE_cell, "WHERE study = ? AND key = ?", study, cell,
                     &statement));
  const hone_status status = read_cells(ctx, store, arena, statement, &rows);
  sqlite3_finalize(statement);
  TRY(status);
  if (!rows.count) return fail(ctx, HONE_E_NOFILE, place_name(cell), "the study has no such cell");
  *out = rows.at[0];
  return read_cell_data(ctx, store, arena, study, out);
}

static MUST_USE hone_status read_all(struct ctx *ctx, struct store *store, struct arena *arena,
                                     const char *key, struct study_data *out) {
  bool found;
  cells rows = {0};
  sqlite3_stmt *statement;
  TRY(one_study(ctx, store, "WHERE key = ?", key, NULL, &out->row, &found));
  if (!found) return fail(ctx, HONE_E_NOFILE, place_name(key), "no such study in the store");
  TRY(prepare_select(ctx, store, TABLE_cell, "WHERE study = ? ORDER BY rowid", &statement));
  hone_status status = bind_key(ctx, store, statement, 1, key);
  if (!status) status = read_cells(ctx, store, arena, statement, &rows);
  sqlite3_finalize(statement);
  for (size_t i = 0; !status && i < rows.count; i++)
    status = read_cell_data(ctx, store, arena, key, &rows.at[i]);
  out->cells = rows.at;
  out->cell_count = rows.count;
  return status;
}

/* One read transaction: a writer beside it cannot change the study half-way. */
hone_status store_read_study(struct ctx *ctx, struct store *store, struct arena *arena,
                             const char *key, struct study_data *out) {
  *out = (struct study_data){0};
  TRY(execute(ctx, store, "BEGIN"));
  const hone_status status = read_all(ctx, store, arena, key, out);
  if (status) {
    sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return status;
  }
  return execute(ctx, store, "COMMIT");
}

/* -- whole studies ------------------------------------------------------------------------------ */

static MUST_USE hone_status end_transaction(struct ctx *ctx, struct store *store,
                                            hone_status status) {
  if (!status) return execute(ctx, store, "COMMIT");
  sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

static MUST_USE hone_status delete_rows(struct ctx *ctx, struct store *store, const char *sql,
                                        const char *key) {
  sqlite3_stmt *statement = NULL;
  bool more;
  TRY(prepare(ctx, store, sql, &statement));
  hone_status status = bind_key(ctx, store, statement, 1, key);
  if (!status) status = step(ctx, store, statement, &more);
  sqlite3_finalize(statement);
  return status;
}

hone_status store_remove_study(struct ctx *ctx, struct store *store, const char *key) {
  static const char *const children_first[] = {
      "DELETE FROM block WHERE study = ?", "DELETE FROM incarnation WHERE study = ?",
      "DELETE FROM cell WHERE study = ?", "DELETE FROM study WHERE key = ?"};
  hone_status status = HONE_OK;
  TRY(execute(ctx, store, "BEGIN IMMEDIATE"));
  for (size_t i = 0; !status && i < COUNT(children_first); i++)
    status = delete_rows(ctx, store, children_first[i], key);
  return end_transaction(ctx, store, status);
}

static MUST_USE hone_status put_all(struct ctx *ctx, struct store *store,
                                    const struct study_data *data) {
  TRY(store_put_study(ctx, store, &data->row));
  for (size_t c = 0; c < data->cell_count; c++) {
    const struct cell_data *cell = &data->cells[c];
    TRY(store_put_cell(ctx, store, data->row.key, &cell->cell));
    for (size_t i = 0; i < cell->incarnation_count; i++)
      TRY(store_put_incarnation(ctx, store, &cell->incarnations[i]));
    for (size_t i = 0; i < cell->block_count; i++)
      TRY(store_put_block(ctx, store, &cell->blocks[i]));
  }
  return HONE_OK;
}

hone_status store_copy_study(struct ctx *ctx, struct store *from, struct store *to,
                             const char *key) {
  struct arena *arena;
  struct study_data *data;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = NEW(ctx, arena, data);
  if (!status) status = store_read_study(ctx, from, arena, key, data);
  if (!status) status = execute(ctx, to, "BEGIN IMMEDIATE");
  if (!status) status = end_transaction(ctx, to, put_all(ctx, to, data));
  arena_destroy(arena);
  return status;
}
