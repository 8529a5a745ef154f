/* store: blocks and records in SQLite behind one interface. A block is one transaction; its commit is
 * the acknowledgement. One process owns the writing connection. */
#ifndef HONE_STORE_H
#define HONE_STORE_H

#include "../record/record.h"

struct store;
/* path NULL: dir_user("data")/results.db. write: takes the lock, E_BUSY if another process holds it;
   a dead holder's lock is taken over. A file that is not ours is E_FORMAT and never written. */
MUST_USE hone_status store_open(struct ctx *ctx, const char *path, bool write, struct store **out);
void store_close(struct store *store);

struct study_row {
  char key[33];         /* hash of its cells' canonical text and options */
  char fingerprint[33];
  char name[128];       /* user's, any text */
  char command[2048];
  char machine_json[8192]; /* fingerprint and peaks */
  char options_json[4096];
  uint64_t started_unix_ms;
  bool finished;
};
/* Idempotent. */
MUST_USE hone_status store_put_study(struct ctx *ctx, struct store *store, const struct study_row *row);
MUST_USE hone_status store_put_cell(struct ctx *ctx, struct store *store, const char *study,
                                    const struct cell *cell);
/* Idempotent by (study, cell, incarnation, round). E_WRITE (exit 74 class) on a full disk: stop, never retry. */
MUST_USE hone_status store_put_block(struct ctx *ctx, struct store *store, const struct block *block);
MUST_USE hone_status store_put_incarnation(struct ctx *ctx, struct store *store,
                                           const struct incarnation *incarnation);
MUST_USE hone_status store_finish_study(struct ctx *ctx, struct store *store, const char *study);
/* The newest study with this key and fingerprint, or *out_found false. */
MUST_USE hone_status store_find_study(struct ctx *ctx, struct store *store, const char *key,
                                      const char *fingerprint, struct study_row *out, bool *out_found);
/* By key prefix, name, or "last". E_NOFILE. */
MUST_USE hone_status store_get_study(struct ctx *ctx, struct store *store, const char *which,
                                     struct study_row *out);

/* All that a study holds, in an arena. */
struct study_data {
  struct study_row row;
  size_t cell_count;
  struct cell_data {
    struct cell cell;
    size_t block_count;
    struct block *blocks;
    size_t incarnation_count;
    struct incarnation *incarnations;
  } *cells;
};
MUST_USE hone_status store_read_study(struct ctx *ctx, struct store *store, struct arena *arena,
                                      const char *key, struct study_data *out);
MUST_USE hone_status store_list_studies(struct ctx *ctx, struct store *store, struct arena *arena,
                                        struct study_row **out_rows, size_t *out_count);
#endif
