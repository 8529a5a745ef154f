/* The interface between store.c and its databases. store.c has everything else once, in SQL for
 * both: parameters are ? or ?N, and the schema's SQL comes from fields.c in the right dialect.
 */
#ifndef HONE_STORE_DRIVER_H
#define HONE_STORE_DRIVER_H

#include "store.h"

struct sqlite3;
struct store {
  const struct driver *driver;
  char path[4096]; /* for messages; of postgresql: without the part before @ */
  int version;     /* of the schema in the file */
  bool is_writing, is_broken;
  char plan[33], study[33]; /* of store_begin_study: puts with the plan go to the study */
  struct statement *inserts[TABLE_COUNT]; /* kept between puts */
  struct sqlite3 *database;
  int lock_fd; /* sqlite; -1: opened for reading */
  struct postgres *postgres;
};

/* One of both members is used. */
struct statement {
  struct store *store;
  struct sqlite3_stmt *sqlite;
  struct pg_statement *postgres;
};

struct driver {
  const char *begin; /* begins a writing transaction */
  enum dialect dialect;
  hone_status (*execute)(struct ctx *ctx, struct store *store, const char *sql);
  hone_status (*prepare)(struct ctx *ctx, struct store *store, const char *sql,
                         struct statement *out);
  void (*end)(struct statement *statement);
  void (*reset)(struct statement *statement);
  hone_status (*step)(struct ctx *ctx, struct statement *statement, bool *out_more);
  bool (*bind_text)(struct statement *statement, int n, const char *text, size_t length);
  bool (*bind_int)(struct statement *statement, int n, int64_t x);
  bool (*bind_double)(struct statement *statement, int n, double x); /* NULL if not finite */
  bool (*bind_blob)(struct statement *statement, int n, const void *bytes, size_t size);
  bool (*is_null)(const struct statement *statement, int n);
  int64_t (*int_at)(const struct statement *statement, int n);
  double (*double_at)(const struct statement *statement, int n);
  const char *(*text_at)(const struct statement *statement, int n, size_t *out_length);
  const void *(*blob_at)(const struct statement *statement, int n, size_t *out_size);
  /* Between the two calls, inserts may be sent without waiting for each answer; the second waits
     for all. NULL: not needed. */
  hone_status (*begin_many)(struct ctx *ctx, struct store *store);
  hone_status (*end_many)(struct ctx *ctx, struct store *store);
  int64_t (*changes)(struct store *store); /* rows of the last statement */
  void (*close)(struct store *store);
};
extern const struct driver sqlite_driver, postgres_driver;
/* Open the database at store->path; errors as store_open. */
MUST_USE hone_status sqlite_open(struct ctx *ctx, struct store *store, const char *path,
                                 bool write);
MUST_USE hone_status postgres_open(struct ctx *ctx, struct store *store, const char *url,
                                   bool write);

#endif
