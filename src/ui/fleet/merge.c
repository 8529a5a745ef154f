/* Spool files of a fleet into a store. */
#include "fleet.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Errors that are due to the spool file and not to the store that it goes into. */
static bool is_file_error(hone_status status) {
  static const hone_status errors[] = {HONE_E_FORMAT, HONE_E_NOFILE, HONE_E_USAGE,
                                       HONE_E_LIMIT,  HONE_E_TYPE,   HONE_E_NUM};
  for (size_t i = 0; i < COUNT(errors); i++)
    if (errors[i] == status) return true;
  return false;
}

static hone_status merge_studies(struct ctx *ctx, struct store *store, struct store *other) {
  struct study_row *rows;
  struct arena *arena;
  size_t count = 0;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = store_list_studies(ctx, other, arena, &rows, &count);
  if (!status && !count) status = fail(ctx, HONE_E_FORMAT, place_none(), "it contains no study");
  for (size_t i = 0; !status && i < count; i++)
    status = store_copy_study(ctx, other, store, rows[i].key);
  arena_destroy(arena);
  return status;
}

/* Reads a copy on a local disk, because a store cannot be opened on a network file system. It is opened for writing, so
   that its pages are checked. */
static hone_status merge_file(struct ctx *ctx, struct store *store, const char *path,
                              const char *copy, bool *out_is_skipped) {
  struct mapping map;
  struct store *other = NULL;
  *out_is_skipped = true;
  TRY(file_map(ctx, path, &map));
  *out_is_skipped = false;
  hone_status status = file_write_atomic(ctx, copy, map.data, map.size, 0600);
  file_unmap(&map);
  if (!status) status = store_open(ctx, copy, true, &other);
  *out_is_skipped = is_file_error(status);
  TRY(status);
  status = merge_studies(ctx, store, other);
  store_close(other);
  *out_is_skipped = is_file_error(status);
  return status;
}

/* A damaged file is reported and stays where it is; the others are still merged. */
static hone_status merge_job(struct ctx *ctx, const struct fleet_merge *merge, struct store *store,
                             const char *dir, const char *job, bool *out_is_merged) {
  char path[4096], copy[4200], name[300], line[3000];
  bool is_skipped;
  *out_is_merged = false;
  snprintf(path, sizeof path, "%.3800s/spool/%.64s.db", merge->folder, job);
  snprintf(copy, sizeof copy, "%s/%.64s.db", dir, job);
  if (access(path, F_OK)) return HONE_OK;
  const hone_status status = merge_file(ctx, store, path, copy, &is_skipped);
  unlink(copy);
  *out_is_merged = !status;
  if (!status || !is_skipped) return status;
  safe_copy(name, sizeof name, path);
  snprintf(line, sizeof line, "skipped: %s: %s", name, ctx->message);
  if (merge->progress) merge->progress(merge->user, line);
  ctx_clear(ctx);
  return HONE_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}
static int is_job(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static hone_status merge_jobs(struct ctx *ctx, const struct fleet_merge *merge,
                              struct dirent **jobs, size_t count, size_t *out_merged) {
  struct store *store = NULL;
  char dir[4096];
  TRY(dir_temporary(ctx, dir));
  hone_status status = store_open(ctx, merge->store, true, &store);
  for (size_t i = 0; !status && i < count; i++) {
    bool is_merged;
    status = merge_job(ctx, merge, store, dir, jobs[i]->d_name, &is_merged);
    *out_merged += is_merged;
  }
  store_close(store);
  dir_temporary_remove(dir);
  return status;
}

hone_status fleet_merge(struct ctx *ctx, const struct fleet_merge *merge, size_t *out_merged,
                        size_t *out_jobs) {
  struct dirent **jobs = NULL;
  char path[4096];
  *out_merged = *out_jobs = 0;
  snprintf(path, sizeof path, "%.3800s/jobs", merge->folder);
  const int count = scandir(path, &jobs, is_job, by_name);
  if (count < 0)
    return fail(ctx, HONE_E_NOFILE, place_file(merge->folder), "is not the folder of a fleet: %s",
                strerror(errno));
  *out_jobs = (size_t)count;
  const hone_status status = merge_jobs(ctx, merge, jobs, *out_jobs, out_merged);
  for (int i = 0; i < count; i++) free(jobs[i]);
  free(jobs);
  return status;
}
