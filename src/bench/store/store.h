/* Stores blocks and records in SQLite or PostgreSQL. A block is one transaction; its commit is the
 * acknowledgement. One process has the writing connection to a file, by a flock on FILE.lock. A
 * full or failing disk is E_IO: there are no retries, and every later put of that store fails in
 * the same way.
 */
#ifndef HONE_STORE_H
#define HONE_STORE_H

#include "bench/record/record.h"

struct store;
/* The default file; it need not exist. */
MUST_USE hone_status store_default_path(struct ctx *ctx, char out[4096]);
/* path NULL: dir_user("data")/results.db. "postgresql://..." (libpq's URI) is a server's database,
   which several processes may write: E_MISSING without libpq, E_IO if it cannot be reached,
   E_FORMAT for tables that are not hone's. write: takes the lock, E_BUSY if another process has it;
   the lock of a dead process is taken over. A file that is not hone's is E_FORMAT and never
   written. A store of an earlier schema can be read, and is migrated in one transaction when it is
   opened for writing; a later schema is E_FORMAT. A network file system is E_UNSUP. Reading a store
   that does not exist is E_NOFILE. */
MUST_USE hone_status store_open(struct ctx *ctx, const char *path, bool write, struct store **out);
void store_close(struct store *store);

struct study_row {
  char key[33];  /* unique; one run */
  char plan[33]; /* hash of its configurations and options; a rerun has the same */
  char fingerprint[33];
  char name[128]; /* given by the user, any string */
  char command[2048];
  char machine_json[8192]; /* fingerprint and peaks */
  char options_json[4096];
  uint64_t started_unix_ms;
  bool finished;
  char model[256]; /* one of its models, and their number: set by the lists below only */
  int model_count;
};
/* The usual way to start: row has everything except the key. With may_resume the newest unfinished
   study of the same plan and fingerprint is continued (*out_resumed; row->key and
   row->started_unix_ms are set to its values), else a new one begins. A given key names the study
   to continue; E_USAGE if its plan or fingerprint differs. Afterwards the plan's hash is accepted
   in place of the study's key in all puts below, because a bench knows only the plan. */
MUST_USE hone_status store_begin_study(struct ctx *ctx, struct store *store, struct study_row *row,
                                       bool may_resume, bool *out_resumed);
/* Results of earlier runs of a configuration: processes that ended (not interrupted), the first
   unused number, and whether one failed. */
struct config_progress {
  int complete, next_number;
  bool has_failed;
  bool is_disputed; /* one of them ended `disputed` */
};
MUST_USE hone_status store_config_progress(struct ctx *ctx, struct store *store, const char *study,
                                           const char *config, struct config_progress *out);
/* Idempotent: an existing study stays. E_USAGE if the key exists with another fingerprint. */
MUST_USE hone_status store_put_study(struct ctx *ctx, struct store *store,
                                     const struct study_row *row);
MUST_USE hone_status store_put_config(struct ctx *ctx, struct store *store, const char *study,
                                      const struct config *config);
/* Idempotent by (study, configuration, process, round): the first one stays. */
MUST_USE hone_status store_put_block(struct ctx *ctx, struct store *store,
                                     const struct block *block);
/* By (study, configuration, number): the last one replaces earlier ones. */
MUST_USE hone_status store_put_process(struct ctx *ctx, struct store *store,
                                       const struct process_record *process_record);
MUST_USE hone_status store_lower_limits(struct ctx *ctx, struct store *store, const char *study,
                                        const struct config *config);
/* Replaces the facts about the machine. */
MUST_USE hone_status store_put_machine(struct ctx *ctx, struct store *store, const char *study,
                                       const char *machine_json);
/* Replaces the study's flags and timing. */
MUST_USE hone_status store_put_options(struct ctx *ctx, struct store *store, const char *study,
                                       const char *options_json);
MUST_USE hone_status store_finish_study(struct ctx *ctx, struct store *store, const char *study);
/* The newest study with this plan and fingerprint, or *out_found false. */
MUST_USE hone_status store_find_study(struct ctx *ctx, struct store *store, const char *plan,
                                      const char *fingerprint, struct study_row *out,
                                      bool *out_found);
/* By key prefix, name (the newest of that name), "last", or "last~N" (N before it). E_NOFILE; E_USAGE for
   a prefix of several. */
MUST_USE hone_status store_get_study(struct ctx *ctx, struct store *store, const char *which,
                                     struct study_row *out);

/* The contents of a study, in an arena. */
struct study_data {
  struct study_row row;
  size_t config_count;
  struct config_data {
    struct config config;
    size_t block_count;
    struct block *blocks;
    size_t process_count;
    struct process_record *processes;
  } * cells;
};
MUST_USE hone_status store_read_study(struct ctx *ctx, struct store *store, struct arena *arena,
                                      const char *key, struct study_data *out);
/* Newest first. */
MUST_USE hone_status store_list_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                                        struct study_row **out_rows, size_t *out_count);
/* The same; skips `skip` and returns at most `most`. */
MUST_USE hone_status store_list_newest(struct ctx *ctx, struct store *store, struct arena *arena,
                                       int64_t skip, int64_t most, struct study_row **out_rows,
                                       size_t *out_count);

/* -- one configuration over all studies, by its key -- */
struct config_series {
  char key[33];
  char model[256], backend[32], variant[64], device[64], precision[16], scenario[32];
  int batch, threads;
  int study_count;
};
/* At most `most` configurations that are in at least `least` studies, the most frequent first. */
MUST_USE hone_status store_list_series(struct ctx *ctx, struct store *store, struct arena *arena,
                                       int64_t least, int64_t most, struct config_series **out,
                                       size_t *out_count);
/* The newest studies with this configuration, newest first, at most `most`. */
MUST_USE hone_status store_studies_of_config(struct ctx *ctx, struct store *store,
                                             struct arena *arena, const char *config, int64_t most,
                                             struct study_row **out_rows, size_t *out_count);
/* One configuration of one study. E_NOFILE. */
MUST_USE hone_status store_read_config(struct ctx *ctx, struct store *store, struct arena *arena,
                                       const char *study, const char *config,
                                       struct config_data *out);

/* Removes a study with its configurations, processes and blocks, in one transaction. */
MUST_USE hone_status store_remove_study(struct ctx *ctx, struct store *store, const char *key);
/* Copies a study with all its contents; existing rows stay. E_USAGE as for store_put_study. */
MUST_USE hone_status store_copy_study(struct ctx *ctx, struct store *from, struct store *to,
                                      const char *key);

/* -- internal to this folder */

#define STORE_APPLICATION_ID 0x686f6e65 /* "hone" */
#define STORE_VERSION 7                 /* raised with the first new field after a release */

/* fields.c: tables that map structs to SQL rows */
enum dialect { DIALECT_sqlite, DIALECT_postgres };
struct driver;
struct statement;
struct stored_config {
  char study[33];
  struct config config;
};
struct stored_table {
  const char *name;
  const struct stored_field *fields;
  size_t field_count;
  const char *constraints; /* primary and foreign keys */
  const char *on_conflict;
  const char *key; /* key by which a new row replaces an old one; NULL: none */
};
enum stored_table_id { TABLE_study, TABLE_config, TABLE_process_record, TABLE_block, TABLE_COUNT };
extern const struct stored_table stored_tables[TABLE_COUNT], series_view, listed_study_view;
/* version: the schema of the file, 1 to STORE_VERSION. */
void sql_create(const struct stored_table *table, int version, enum dialect dialect,
                struct strbuf *out);
void sql_insert(const struct stored_table *table, enum dialect dialect, struct strbuf *out);
void sql_select(const struct stored_table *table, int version, const char *rest,
                struct strbuf *out);
/* Migrates a table of that version to STORE_VERSION; nothing if they are equal. */
void sql_migrate(const struct stored_table *table, int from, struct strbuf *out);
/* The same for a server, which adds columns in place. */
void sql_add_columns(const struct stored_table *table, int from, struct strbuf *out);
/* Binds parameters 1 to field_count; false if out of memory. */
MUST_USE bool row_bind(const struct driver *driver, struct statement *statement,
                       const struct stored_table *table, const void *row);
/* Reads the columns of a sql_select; blobs go to the arena. E_FORMAT for a value that does not
   fit. */
MUST_USE hone_status row_read(struct ctx *ctx, const struct driver *driver,
                              struct statement *statement, const struct stored_table *table,
                              struct arena *arena, void *row);

/* guard.c: checks before a file is opened */
/* Checks kind of file, side files, file system. *out_exists: the file exists and is not empty. */
MUST_USE hone_status guard_file(struct ctx *ctx, const char *path, bool *out_exists);
/* Before the first statement: checks that the header is hone's. */
MUST_USE hone_status guard_header(struct ctx *ctx, const char *path, const uint8_t header[100],
                                  uint64_t size);
/* Under a read lock, after any rollback: checks that no page is missing. */
MUST_USE hone_status guard_size(struct ctx *ctx, const char *path, const uint8_t header[100],
                                uint64_t size);
/* *out_fd holds the lock until it is closed. */
MUST_USE hone_status guard_lock(struct ctx *ctx, const char *path, int *out_fd);
#endif
