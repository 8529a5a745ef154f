/* The driver for a store in a PostgreSQL database, which many machines may write at once.
 *
 * libpq is loaded (dlopen) only if the store's name is a URI of it. Values are bound, never part of
 * the SQL; results are binary. The schema's version is the single row of hone_store; tables of an
 * earlier version get their new columns in one transaction under a lock. Strings that are not UTF-8
 * are stored escaped, because a server accepts nothing else. The server's acknowledgement (its
 * synchronous_commit) is the store's.
 */
#include "driver.h"

#include <dlfcn.h>
#include <endian.h>
#include <math.h>
#include <postgresql/libpq-fe.h>
#include <stdlib.h>

#define PQ_FUNCTIONS(F) \
  F(connectdb)          \
  F(status)             \
  F(errorMessage)       \
  F(finish)             \
  F(exec)               \
  F(execParams)         \
  F(prepare)            \
  F(execPrepared)       \
  F(resultStatus)       \
  F(resultErrorField)   \
  F(ntuples)            \
  F(getvalue)           \
  F(getlength)          \
  F(getisnull)          \
  F(cmdTuples)          \
  F(setNoticeProcessor) \
  F(enterPipelineMode)  \
  F(exitPipelineMode)   \
  F(pipelineSync)       \
  F(sendPrepare)        \
  F(sendQueryPrepared)  \
  F(getResult)          \
  F(clear)

struct postgres {
  void *library;
  PGconn *connection;
  int64_t changed;
  unsigned prepared; /* number of statements; gives their names */
  bool is_piped;
  int unanswered; /* commands without an answer yet */
#define F(name) __typeof__(&PQ##name) name;
  PQ_FUNCTIONS(F)
#undef F
};

enum { PARAMETERS = 48 };
struct pg_statement {
  char name[24], *sql;
  int count; /* parameters */
  char *values[PARAMETERS];
  int lengths[PARAMETERS], formats[PARAMETERS];
  bool is_sent;
  PGresult *result;
  int row; /* -1 before the first */
};

/* -- errors */

static void first_line(const char *text, char out[300]) {
  safe_copy(out, 300, text ? text : "");
  char *end = strstr(out, "\\u{a}");
  if (end) *end = 0;
}

/* Errors by class of SQLSTATE: appendix A of PostgreSQL's manual. */
static MUST_USE hone_status failed(struct ctx *ctx, struct store *store, const PGresult *result) {
  static const struct {
    const char *begin;
    hone_status status;
  } classes[] = {{"08", HONE_E_IO},       {"53", HONE_E_IO},        {"57", HONE_E_IO},
                 {"58", HONE_E_IO},       {"40", HONE_E_BUSY},      {"55", HONE_E_BUSY},
                 {"42501", HONE_E_WRITE}, {"25006", HONE_E_WRITE},  {"22", HONE_E_FORMAT},
                 {"23", HONE_E_FORMAT},   {"42P01", HONE_E_FORMAT}, {"42703", HONE_E_FORMAT}};
  struct postgres *pg = store->postgres;
  const char *state = result ? pg->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
  /* a server that died while the connection was idle sends no SQLSTATE */
  hone_status status =
      state && pg->status(pg->connection) == CONNECTION_OK ? HONE_E_INTERNAL : HONE_E_IO;
  char line[300];
  for (size_t i = 0; state && i < COUNT(classes); i++)
    if (!strncmp(state, classes[i].begin, strlen(classes[i].begin))) status = classes[i].status;
  if (status == HONE_E_IO) store->is_broken = true;
  first_line(pg->errorMessage(pg->connection), line);
  return advise(
      ctx,
      fail(ctx, status, place_file(store->path), "store: %s (SQLSTATE %.5s)", line,
           state ? state : "none"),
      "what was acknowledged is kept: run the same command again once the server answers");
}

static bool went_well(const struct postgres *pg, const PGresult *result) {
  const ExecStatusType status = pg->resultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* -- statements */

static MUST_USE hone_status execute(struct ctx *ctx, struct store *store, const char *sql) {
  struct postgres *pg = store->postgres;
  PGresult *result = pg->exec(pg->connection, sql);
  const hone_status status = went_well(pg, result) ? HONE_OK : failed(ctx, store, result);
  pg->clear(result);
  return status;
}

/* ? and ?N become $N. No statement has one inside a literal. */
static void put_numbered(const char *sql, struct strbuf *out) {
  int next = 0;
  for (; *sql; sql++) {
    if (*sql != '?')
      strbuf_append(out, sql, 1);
    else if (sql[1] >= '0' && sql[1] <= '9')
      strbuf_puts(out, "$");
    else
      strbuf_printf(out, "$%d", ++next);
  }
}

static MUST_USE hone_status prepare(struct ctx *ctx, struct store *store, const char *sql,
                                    struct statement *out) {
  struct strbuf text = {0};
  out->postgres = calloc(1, sizeof *out->postgres);
  if (!out->postgres) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a statement");
  out->postgres->row = -1;
  put_numbered(sql, &text);
  out->postgres->sql = text.at;
  (void)store;
  return strbuf_finish(ctx, &text);
}

static void reset(struct statement *statement) {
  struct pg_statement *own = statement->postgres;
  statement->store->postgres->clear(own->result);
  own->result = NULL;
  own->row = -1;
  for (int i = 0; i < PARAMETERS; i++) free(own->values[i]);
  memset(own->values, 0, sizeof own->values);
}

/* Inserts are prepared on the server and live as long as the connection. */
static void end(struct statement *statement) {
  if (!statement->postgres) return;
  reset(statement);
  free(statement->postgres->sql);
  free(statement->postgres);
}

static MUST_USE hone_status prepare_insert(struct ctx *ctx, struct store *store,
                                           struct pg_statement *own) {
  struct postgres *pg = store->postgres;
  snprintf(own->name, sizeof own->name, "hone%u", pg->prepared++);
  PGresult *result = pg->prepare(pg->connection, own->name, own->sql, 0, NULL);
  const hone_status status = went_well(pg, result) ? HONE_OK : failed(ctx, store, result);
  pg->clear(result);
  return status;
}

/* -- many inserts, by the protocol's pipeline */

enum { UNANSWERED_MOST = 400 }; /* few enough not to fill either side's buffer */

/* Reads all answers; reports the first failure. */
static MUST_USE hone_status drain(struct ctx *ctx, struct store *store) {
  struct postgres *pg = store->postgres;
  hone_status status = HONE_OK;
  if (!pg->pipelineSync(pg->connection)) return failed(ctx, store, NULL);
  for (bool is_synced = false; !is_synced;) {
    PGresult *result = pg->getResult(pg->connection);
    if (!result && pg->status(pg->connection) != CONNECTION_OK)
      return status ? status : failed(ctx, store, NULL);
    if (!result) continue; /* between two answers */
    const ExecStatusType what = pg->resultStatus(result);
    is_synced = what == PGRES_PIPELINE_SYNC;
    if (!status && what != PGRES_PIPELINE_SYNC && what != PGRES_PIPELINE_ABORTED &&
        !went_well(pg, result))
      status = failed(ctx, store, result);
    pg->clear(result);
  }
  pg->unanswered = 0;
  return status;
}

static MUST_USE hone_status begin_many(struct ctx *ctx, struct store *store) {
  store->postgres->is_piped = store->postgres->enterPipelineMode(store->postgres->connection);
  return store->postgres->is_piped ? HONE_OK : failed(ctx, store, NULL);
}

static MUST_USE hone_status end_many(struct ctx *ctx, struct store *store) {
  struct postgres *pg = store->postgres;
  const hone_status status = drain(ctx, store);
  pg->is_piped = !pg->exitPipelineMode(pg->connection);
  return !status && pg->is_piped ? failed(ctx, store, NULL) : status;
}

static MUST_USE hone_status send_piped(struct ctx *ctx, struct store *store,
                                       struct pg_statement *own) {
  struct postgres *pg = store->postgres;
  if (!own->name[0]) {
    snprintf(own->name, sizeof own->name, "hone%u", pg->prepared++);
    if (!pg->sendPrepare(pg->connection, own->name, own->sql, 0, NULL))
      return failed(ctx, store, NULL);
    pg->unanswered++;
  }
  if (!pg->sendQueryPrepared(pg->connection, own->name, own->count,
                             (const char *const *)own->values, own->lengths, own->formats, 1))
    return failed(ctx, store, NULL);
  return ++pg->unanswered < UNANSWERED_MOST ? HONE_OK : drain(ctx, store);
}

static MUST_USE hone_status send(struct ctx *ctx, struct store *store, struct pg_statement *own) {
  struct postgres *pg = store->postgres;
  const bool inserts = !strncmp(own->sql, "INSERT", 6);
  if (inserts && !own->name[0]) TRY(prepare_insert(ctx, store, own));
  const char *const *values = (const char *const *)own->values;
  own->result = inserts ? pg->execPrepared(pg->connection, own->name, own->count, values,
                                           own->lengths, own->formats, 1)
                        : pg->execParams(pg->connection, own->sql, own->count, NULL, values,
                                         own->lengths, own->formats, 1);
  if (!went_well(pg, own->result)) return failed(ctx, store, own->result);
  pg->changed = strtoll(pg->cmdTuples(own->result), NULL, 10);
  return HONE_OK;
}

static MUST_USE hone_status step(struct ctx *ctx, struct statement *statement, bool *out_more) {
  struct pg_statement *own = statement->postgres;
  *out_more = false;
  if (statement->store->postgres->is_piped) return send_piped(ctx, statement->store, own);
  if (!own->result) TRY(send(ctx, statement->store, own));
  *out_more = ++own->row < statement->store->postgres->ntuples(own->result);
  return HONE_OK;
}

/* -- values */

static bool bind(struct statement *statement, int n, const void *bytes, size_t size, int format) {
  struct pg_statement *own = statement->postgres;
  if (n < 1 || n > PARAMETERS || size > INT32_MAX - 1) return false;
  free(own->values[n - 1]);
  own->values[n - 1] = bytes ? malloc(size + 1) : NULL;
  if (bytes && !own->values[n - 1]) return false;
  if (bytes) memcpy(own->values[n - 1], bytes, size);
  if (bytes) own->values[n - 1][size] = 0;
  own->lengths[n - 1] = (int)size;
  own->formats[n - 1] = format;
  if (n > own->count) own->count = n;
  return true;
}

static bool is_utf8(const char *text, size_t length) {
  size_t at = 0, n = 1;
  for (; at < length && n; at += n) n = utf8_length(text + at, length - at);
  return n > 0;
}

static bool bind_text(struct statement *statement, int n, const char *text, size_t length) {
  if (is_utf8(text, length)) return bind(statement, n, text, length, 0);
  struct strbuf copy = {0}, safe = {0};
  strbuf_append(&copy, text, length);
  if (copy.at) strbuf_put_safe(&safe, copy.at, length);
  const bool is_bound =
      !copy.failed && !safe.failed && bind(statement, n, safe.at ? safe.at : "", safe.length, 0);
  strbuf_deinit(&copy);
  strbuf_deinit(&safe);
  return is_bound;
}
static bool bind_int(struct statement *statement, int n, int64_t x) {
  char text[24];
  const int length = snprintf(text, sizeof text, "%lld", (long long)x);
  return bind(statement, n, text, (size_t)length, 0);
}
static bool bind_double(struct statement *statement, int n, double x) {
  char text[32];
  if (!isfinite(x)) return bind(statement, n, NULL, 0, 0);
  format_f64(text, x);
  return bind(statement, n, text, strlen(text), 0);
}
static bool bind_blob(struct statement *statement, int n, const void *bytes, size_t size) {
  return bind(statement, n, bytes, size, 1);
}

static bool is_null(const struct statement *statement, int n) {
  const struct pg_statement *own = statement->postgres;
  return statement->store->postgres->getisnull(own->result, own->row, n);
}
static const void *blob_at(const struct statement *statement, int n, size_t *out_size) {
  const struct pg_statement *own = statement->postgres;
  *out_size = (size_t)statement->store->postgres->getlength(own->result, own->row, n);
  return statement->store->postgres->getvalue(own->result, own->row, n);
}
static const char *text_at(const struct statement *statement, int n, size_t *out_length) {
  return blob_at(statement, n, out_length);
}
/* Binary integers are big endian and have the width of their type. */
static int64_t int_at(const struct statement *statement, int n) {
  size_t size;
  const unsigned char *bytes = blob_at(statement, n, &size);
  uint64_t x = size && bytes[0] & 0x80 ? ~UINT64_C(0) : 0;
  for (size_t i = 0; i < size && i < sizeof x; i++) x = x << 8 | bytes[i];
  return (int64_t)x;
}
static double double_at(const struct statement *statement, int n) {
  const int64_t bits = int_at(statement, n);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static int64_t changes(struct store *store) { return store->postgres->changed; }

/* -- opening */

static void close_postgres(struct store *store) {
  struct postgres *pg = store->postgres;
  if (!pg) return;
  if (pg->connection) pg->finish(pg->connection);
  if (pg->library) dlclose(pg->library);
  free(pg);
}

static MUST_USE hone_status load_library(struct ctx *ctx, struct postgres *pg) {
  pg->library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!pg->library)
    return advise(ctx, fail(ctx, HONE_E_MISSING, place_name("libpq"), "is not installed"),
                  "apt-get install libpq5");
#define F(name)                                         \
  *(void **)&pg->name = dlsym(pg->library, "PQ" #name); \
  if (!pg->name) return fail(ctx, HONE_E_MISSING, place_name("libpq"), "lacks PQ" #name);
  PQ_FUNCTIONS(F)
#undef F
  return HONE_OK;
}

static void drop_notice(void *user, const char *message) {
  (void)user;
  (void)message;
}

/* For messages: removes the part before @, which may have a password. */
static void name_store(struct store *store, const char *url) {
  const char *host = strrchr(url, '@');
  snprintf(store->path, sizeof store->path, "postgresql://%s",
           host ? host + 1 : strstr(url, "//") + 2);
  store->path[strcspn(store->path, "?")] = 0;
}

static MUST_USE hone_status connect_to(struct ctx *ctx, struct store *store, const char *url) {
  struct postgres *pg = store->postgres;
  char line[300];
  pg->connection = pg->connectdb(url);
  if (!pg->connection) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a connection");
  if (pg->status(pg->connection) != CONNECTION_OK) {
    first_line(pg->errorMessage(pg->connection), line);
    return advise(ctx, fail(ctx, HONE_E_IO, place_file(store->path), "store: %s", line),
                  "check the server, the name of the database, user and password");
  }
  pg->setNoticeProcessor(pg->connection, drop_notice, NULL);
  return execute(ctx, store,
                 "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on; "
                 "SET search_path = public; SET statement_timeout = 0");
}

/* 0: no tables yet. Reads the catalogue: inside a transaction a lookup by name may use a state from
   before the lock was acquired. */
static MUST_USE hone_status read_version(struct ctx *ctx, struct store *store) {
  struct statement statement = {.store = store};
  bool more = false;
  TRY(prepare(ctx, store,
              "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n "
              "ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relname = 'hone_store'",
              &statement));
  hone_status status = step(ctx, &statement, &more);
  const bool exists = !status && more && int_at(&statement, 0);
  end(&statement);
  store->version = 0;
  if (status || !exists) return status;
  TRY(prepare(ctx, store, "SELECT version FROM hone_store", &statement));
  status = step(ctx, &statement, &more);
  if (!status && more) store->version = (int)int_at(&statement, 0);
  end(&statement);
  if (!status && store->version > STORE_VERSION)
    return fail(ctx, HONE_E_FORMAT, place_file(store->path),
                "written by a newer hone (schema %d, this one knows %d): update hone",
                store->version, STORE_VERSION);
  return status;
}

/* Under a lock, so that one of many simultaneous processes makes the tables. The number is
   arbitrary. */
static MUST_USE hone_status make_schema(struct ctx *ctx, struct store *store) {
  struct strbuf sql = {0};
  TRY(execute(ctx, store, "BEGIN; SELECT pg_advisory_xact_lock(7598243150116)"));
  hone_status status = read_version(ctx, store);
  if (!status && !store->version)
    strbuf_puts(
        &sql,
        "CREATE TABLE hone_store (version INTEGER NOT NULL); INSERT INTO hone_store VALUES (0);\n");
  for (int i = 0; !status && i < TABLE_COUNT; i++) {
    if (store->version) {
      sql_add_columns(&stored_tables[i], store->version, &sql);
      continue;
    }
    sql_create(&stored_tables[i], STORE_VERSION, DIALECT_postgres, &sql);
    strbuf_puts(&sql, ";\n");
  }
  if (!store->version) strbuf_puts(&sql, "CREATE INDEX cell_of_studies ON cell (key, study);\n");
  strbuf_printf(&sql, "UPDATE hone_store SET version = %d; COMMIT", STORE_VERSION);
  if (!status) status = strbuf_finish(ctx, &sql);
  if (!status) status = execute(ctx, store, sql.at);
  strbuf_deinit(&sql);
  if (!status) store->version = STORE_VERSION;
  return status;
}

hone_status postgres_open(struct ctx *ctx, struct store *store, const char *url, bool write) {
  store->postgres = calloc(1, sizeof *store->postgres);
  if (!store->postgres) return fail(ctx, HONE_E_OOM, place_none(), "no memory to open the store");
  name_store(store, url);
  TRY(load_library(ctx, store->postgres));
  TRY(connect_to(ctx, store, url));
  TRY(read_version(ctx, store));
  if (write) return store->version < STORE_VERSION ? make_schema(ctx, store) : HONE_OK;
  if (!store->version)
    return fail(ctx, HONE_E_NOFILE, place_file(store->path),
                "no results yet: 'hone bench' makes them, or name a store with --store FILE");
  return execute(ctx, store, "SET default_transaction_read_only = on");
}

const struct driver postgres_driver = {
    .begin = "BEGIN",
    .dialect = DIALECT_postgres,
    .execute = execute,
    .prepare = prepare,
    .end = end,
    .reset = reset,
    .step = step,
    .bind_text = bind_text,
    .bind_int = bind_int,
    .bind_double = bind_double,
    .bind_blob = bind_blob,
    .is_null = is_null,
    .int_at = int_at,
    .double_at = double_at,
    .text_at = text_at,
    .blob_at = blob_at,
    .begin_many = begin_many,
    .end_many = end_many,
    .changes = changes,
    .close = close_postgres,
};
