/* The driver for a store in one SQLite file with one writing connection.
 *
 * A commit with synchronous=FULL is the acknowledgement; SQLite rolls back a failed write. The
 * journal is a rollback journal: up to SQLite 3.51.2 two connections could damage a WAL database.
 */
#include "core/os/os.h"
#include "driver.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

/* -- errors */

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

/* -- statements */

static MUST_USE hone_status prepare(struct ctx *ctx, struct store *store, const char *sql,
                                    sqlite3_stmt **out) {
  const int rc = sqlite3_prepare_v2(store->database, sql, -1, out, NULL);
  return rc ? sqlite_failed(ctx, store, rc) : HONE_OK;
}

static MUST_USE hone_status execute(struct ctx *ctx, struct store *store, const char *sql) {
  const int rc = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
  return rc ? sqlite_failed(ctx, store, rc) : HONE_OK;
}

/* *out_more: there is a row. */
static MUST_USE hone_status step(struct ctx *ctx, struct store *store, sqlite3_stmt *statement,
                                 bool *out_more) {
  const int rc = sqlite3_step(statement);
  *out_more = rc == SQLITE_ROW;
  return rc == SQLITE_ROW || rc == SQLITE_DONE ? HONE_OK : sqlite_failed(ctx, store, rc);
}

/* -- opening */

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
  struct strbuf sql = {0};
  strbuf_printf(&sql, "BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%d;\n",
                STORE_APPLICATION_ID, STORE_VERSION);
  for (size_t i = 0; i < TABLE_COUNT; i++) {
    sql_create(&stored_tables[i], STORE_VERSION, DIALECT_sqlite, &sql);
    strbuf_puts(&sql, ";\n");
  }
  strbuf_puts(&sql, "COMMIT");
  hone_status status = strbuf_finish(ctx, &sql);
  if (!status) status = execute(ctx, store, sql.at);
  strbuf_deinit(&sql);
  return status;
}

/* Migrates all tables with their rows. Foreign keys are checked once at the end, because a table is
   missing in between. */
static MUST_USE hone_status migrate(struct ctx *ctx, struct store *store) {
  struct strbuf sql = {0};
  strbuf_printf(&sql,
                "PRAGMA foreign_keys=OFF; PRAGMA legacy_alter_table=ON; BEGIN IMMEDIATE; "
                "PRAGMA user_version=%d;\n",
                STORE_VERSION);
  for (size_t i = 0; i < TABLE_COUNT; i++) sql_migrate(&stored_tables[i], store->version, &sql);
  hone_status status = strbuf_finish(ctx, &sql);
  if (!status) status = execute(ctx, store, sql.at);
  strbuf_deinit(&sql);
  sqlite3_stmt *statement = NULL;
  bool is_broken = false;
  if (!status) status = prepare(ctx, store, "PRAGMA foreign_key_check", &statement);
  if (!status) status = step(ctx, store, statement, &is_broken);
  sqlite3_finalize(statement);
  if (!status && is_broken)
    status = fail(ctx, HONE_E_FORMAT, place_file(store->path),
                  "the store is damaged: a row has no parent; it was not changed");
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
    struct strbuf want = {0};
    sql_create(&stored_tables[i], version, DIALECT_sqlite, &want);
    const bool is_equal =
        !want.failed && !strcmp(name, stored_tables[i].name) && !strcmp(want.at, sql);
    strbuf_deinit(&want);
    if (is_equal) return true;
  }
  return false;
}

/* Accepts exactly hone's tables and their indices: a file with another trigger, view or table is
   not hone's. */
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
                  "not a hone store: it has a %.16s that hone never makes; it was not changed",
                  type ? type : "thing");
    tables += !strcmp(type, "table");
  }
  if (tables == TABLE_COUNT) return HONE_OK;
  return fail(ctx, HONE_E_FORMAT, place_file(store->path),
              "not a hone store: it has only %zu of %d tables", tables, TABLE_COUNT);
}

static MUST_USE hone_status check_pages(struct ctx *ctx, struct store *store) {
  sqlite3_stmt *statement = NULL;
  bool more = false;
  hone_status status = prepare(ctx, store, "PRAGMA quick_check(1)", &statement);
  if (!status) status = step(ctx, store, statement, &more);
  const char *answer = more ? (const char *)sqlite3_column_text(statement, 0) : NULL;
  if (!status && (!answer || strcmp(answer, "ok") != 0))
    status = fail(ctx, HONE_E_FORMAT, place_file(store->path),
                  "the store is damaged: %.200s; it was not changed", answer ? answer : "?");
  sqlite3_finalize(statement);
  return status;
}

/* Reads the header through SQLite's own descriptor. */
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

/* In a read transaction, so that no write is in progress and that of a dead process is rolled back.
   A store whose creation was rolled back is empty. */
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

hone_status store_default_path(struct ctx *ctx, char out[4096]) {
  char folder[4096];
  TRY(dir_user_name(ctx, "data", folder)); /* readers create nothing */
  if (snprintf(out, 4096, "%s/results.db", folder) >= 4096)
    return fail(ctx, HONE_E_USAGE, place_none(), "the store's path is too long");
  return HONE_OK;
}

/* A name that starts with '/' or '.' is neither ":memory:" nor a URI to SQLite. Links are resolved,
   so that lock and journal are next to the real file. */
static MUST_USE hone_status resolve(struct ctx *ctx, const char *path, char out[4096]) {
  if (!path) TRY(store_default_path(ctx, out));
  const int length = path ? snprintf(out, 4096, "%s%s", path[0] == '/' ? "" : "./", path) : 0;
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
  /* never READONLY, because a reader may have to roll back a killed writer's transaction;
     query_only prevents other writes */
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
  if (!write && access(store->path, F_OK) && errno == ENOENT) return nothing_to_read(ctx, store);
  if (write) {
    TRY(make_folder(ctx, store->path));
    TRY(guard_file(ctx, store->path, &exists)); /* before the lock file is made */
    TRY(guard_lock(ctx, store->path, &store->lock_fd));
  }
  TRY(guard_file(ctx, store->path, &exists));
  if (!exists && !write) return nothing_to_read(ctx, store);
  return open_database(ctx, store, write, exists);
}

hone_status sqlite_open(struct ctx *ctx, struct store *store, const char *path, bool write) {
  TRY(resolve(ctx, path, store->path));
  return open_guarded(ctx, store, write);
}

static void close_sqlite(struct store *store) {
  sqlite3_close(store->database);
  if (store->lock_fd >= 0) close(store->lock_fd);
}

/* -- the driver */

static MUST_USE hone_status prepare_sqlite(struct ctx *ctx, struct store *store, const char *sql,
                                           struct statement *out) {
  return prepare(ctx, store, sql, &out->sqlite);
}
static void end_sqlite(struct statement *statement) { sqlite3_finalize(statement->sqlite); }
static void reset_sqlite(struct statement *statement) {
  sqlite3_reset(statement->sqlite);
  sqlite3_clear_bindings(statement->sqlite);
}
static MUST_USE hone_status step_sqlite(struct ctx *ctx, struct statement *statement,
                                        bool *out_more) {
  return step(ctx, statement->store, statement->sqlite, out_more);
}
static bool bind_text(struct statement *statement, int n, const char *text, size_t length) {
  return !sqlite3_bind_text(statement->sqlite, n, text, (int)length, SQLITE_TRANSIENT);
}
static bool bind_int(struct statement *statement, int n, int64_t x) {
  return !sqlite3_bind_int64(statement->sqlite, n, x);
}
static bool bind_double(struct statement *statement, int n, double x) {
  return !(isfinite(x) ? sqlite3_bind_double(statement->sqlite, n, x)
                       : sqlite3_bind_null(statement->sqlite, n));
}
static bool bind_blob(struct statement *statement, int n, const void *bytes, size_t size) {
  return !(size ? sqlite3_bind_blob64(statement->sqlite, n, bytes, size, SQLITE_TRANSIENT)
                : sqlite3_bind_zeroblob(statement->sqlite, n, 0));
}
static bool is_null(const struct statement *statement, int n) {
  return sqlite3_column_type(statement->sqlite, n) == SQLITE_NULL;
}
static int64_t int_at(const struct statement *statement, int n) {
  return sqlite3_column_int64(statement->sqlite, n);
}
static double double_at(const struct statement *statement, int n) {
  return sqlite3_column_double(statement->sqlite, n);
}
static const char *text_at(const struct statement *statement, int n, size_t *out_length) {
  const char *text = (const char *)sqlite3_column_text(statement->sqlite, n);
  *out_length = (size_t)sqlite3_column_bytes(statement->sqlite, n);
  return text;
}
static const void *blob_at(const struct statement *statement, int n, size_t *out_size) {
  const void *bytes = sqlite3_column_blob(statement->sqlite, n);
  *out_size = (size_t)sqlite3_column_bytes(statement->sqlite, n);
  return bytes;
}
static int64_t changes(struct store *store) { return sqlite3_changes(store->database); }

const struct driver sqlite_driver = {
    .begin = "BEGIN IMMEDIATE",
    .dialect = DIALECT_sqlite,
    .execute = execute,
    .prepare = prepare_sqlite,
    .end = end_sqlite,
    .reset = reset_sqlite,
    .step = step_sqlite,
    .bind_text = bind_text,
    .bind_int = bind_int,
    .bind_double = bind_double,
    .bind_blob = bind_blob,
    .is_null = is_null,
    .int_at = int_at,
    .double_at = double_at,
    .text_at = text_at,
    .blob_at = blob_at,
    .changes = changes,
    .close = close_sqlite,
};
