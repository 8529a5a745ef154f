/* Artifact cache: folder "artifacts" of the user's cache; entry KEY with KEY.sum, the XXH3 of its
 * bytes (against damage, not forgery: anyone who can write the folder can write the sum). The sum
 * is checked at each look-up, so an entry that was truncated, swapped or half written is found
 * before it is loaded. Both files are replaced atomically, so two writers of one key do no harm.
 *
 * If the cache does not work, compilations continue without it.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_LENGTH 64
#define SUM_LENGTH 32
#define CACHE_BYTES (4ll << 30)

static hone_status entry_path(struct ctx *ctx, const char *key, char out[4096]) {
  if (strlen(key) != KEY_LENGTH || strspn(key, "0123456789abcdef") != KEY_LENGTH)
    return fail(ctx, HONE_E_INTERNAL, place_name(key), "not a cache key");
  char folder[4096];
  TRY(dir_user(ctx, "cache", folder));
  int n = snprintf(out, 4096, "%s/artifacts/%s", folder, key);
  if (n < 0 || n >= 4000) return fail(ctx, HONE_E_PATH, place_file(folder), "the path is too long");
  return HONE_OK;
}

static bool sum_matches(struct ctx *ctx, const char *path, const char *sum_path) {
  struct mapping file, sum;
  char want[SUM_LENGTH + 1], got[SUM_LENGTH + 1];
  if (file_map(ctx, sum_path, &sum)) return false;
  bool ok = sum.size == SUM_LENGTH;
  memcpy(want, sum.data, ok ? SUM_LENGTH : 0);
  want[SUM_LENGTH] = 0;
  file_unmap(&sum);
  if (!ok || file_map(ctx, path, &file)) return false;
  file_hash_hex(&file, got);
  ok = !strcmp(got, want);
  file_unmap(&file);
  return ok;
}

hone_status cache_lookup(struct ctx *ctx, const char *key, char out_path[4096], bool *out_hit) {
  *out_hit = false;
  TRY(entry_path(ctx, key, out_path));
  char sum_path[4200];
  snprintf(sum_path, sizeof sum_path, "%s.sum", out_path);
  if (access(out_path, F_OK) || access(sum_path, F_OK)) return HONE_OK;
  struct ctx quiet = *ctx; /* any problem with an entry counts as a miss */
  *out_hit = sum_matches(&quiet, out_path, sum_path);
  if (*out_hit) {
    utimensat(AT_FDCWD, sum_path, NULL, 0); /* updates its time of last use */
    return HONE_OK;
  }
  cache_remove(ctx, out_path);
  return HONE_OK;
}

void cache_remove(struct ctx *ctx, const char *path) {
  char sum_path[4200];
  snprintf(sum_path, sizeof sum_path, "%s.sum", path);
  warn(ctx, "removed a damaged entry of the artifact cache: %s", path);
  unlink(sum_path);
  unlink(path);
}

struct entry {
  char name[KEY_LENGTH + 1];
  int64_t size;
  struct timespec used;
};

static int older_first(const void *a, const void *b) {
  const struct timespec *x = &((const struct entry *)a)->used,
                        *y = &((const struct entry *)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static size_t list_entries(DIR *dir, struct entry *entries, size_t capacity, int64_t *out_total) {
  size_t count = 0;
  for (struct dirent *item; count < capacity && (item = readdir(dir));) {
    struct stat status, sum;
    char sum_name[KEY_LENGTH + 8];
    if (strlen(item->d_name) != KEY_LENGTH || fstatat(dirfd(dir), item->d_name, &status, 0))
      continue;
    memcpy(entries[count].name, item->d_name, KEY_LENGTH + 1);
    entries[count].size = status.st_size;
    snprintf(sum_name, sizeof sum_name, "%s.sum", entries[count].name);
    entries[count++].used = fstatat(dirfd(dir), sum_name, &sum, 0) ? status.st_mtim : sum.st_mtim;
    *out_total += status.st_size;
  }
  return count;
}

/* Removes the least recently used entries until the rest fits. */
static void prune(const char *folder) {
  enum { MOST = 4096 };
  DIR *dir = opendir(folder);
  struct entry *entries = dir ? calloc(MOST, sizeof *entries) : NULL;
  if (entries) {
    int64_t total = 0;
    size_t count = list_entries(dir, entries, MOST, &total);
    qsort(entries, count, sizeof *entries, older_first);
    for (size_t i = 0; i + 1 < count && total > CACHE_BYTES; i++) {
      char sum[KEY_LENGTH + 8];
      snprintf(sum, sizeof sum, "%s.sum", entries[i].name);
      unlinkat(dirfd(dir), sum, 0);
      unlinkat(dirfd(dir), entries[i].name, 0);
      total -= entries[i].size;
    }
  }
  free(entries);
  if (dir) closedir(dir);
}

/* Copied, or cloned if the file system supports it. Without fsync: a crash is detected by the
   sum. */
static hone_status copy_entry(struct ctx *ctx, const char *target, const struct mapping *map,
                              int from, unsigned mode) {
  char temporary[4200];
  snprintf(temporary, sizeof temporary, "%s.%d", target, (int)getpid());
  int to = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (to < 0) return fail(ctx, HONE_E_WRITE, place_file(temporary), "%s", strerror(errno));
  bool ok = true;
  off_t at = 0, end = (off_t)map->size;
  while (at < end && ok) ok = copy_file_range(from, &at, to, NULL, (size_t)(end - at), 0) > 0;
  while (at < end) { /* between file systems of old kernels */
    ssize_t n = pwrite(to, map->data + at, (size_t)(end - at), at);
    if (n <= 0) break;
    at += n;
  }
  int error = errno;
  if (!close(to) && at == end && !rename(temporary, target)) return HONE_OK;
  unlink(temporary);
  return fail(ctx, HONE_E_WRITE, place_file(target), "%s", strerror(error));
}

static hone_status store(struct ctx *ctx, const char *path, const char *target,
                         const struct mapping *map, unsigned mode) {
  char sum[SUM_LENGTH + 1], sum_path[4200];
  snprintf(sum_path, sizeof sum_path, "%s.sum", target);
  hash_hex(sum, map->data, map->size);
  int from = open(path, O_RDONLY | O_CLOEXEC);
  if (from < 0) return fail(ctx, HONE_E_IO, place_file(path), "%s", strerror(errno));
  hone_status status = copy_entry(ctx, target, map, from, mode);
  close(from);
  if (!status) status = file_write_atomic(ctx, sum_path, sum, SUM_LENGTH, 0600);
  return status;
}

hone_status cache_store(struct ctx *ctx, const char *key, const char *path) {
  char target[4096], folder[4096];
  TRY(entry_path(ctx, key, target));
  snprintf(folder, sizeof folder, "%.*s", (int)(strlen(target) - KEY_LENGTH - 1), target);
  TRY(dir_create(ctx, folder));
  struct mapping map;
  struct stat status;
  TRY(file_map(ctx, path, &map));
  unsigned mode = !stat(path, &status) && status.st_mode & S_IXUSR ? 0700 : 0600;
  hone_status result = store(ctx, path, target, &map, mode);
  file_unmap(&map);
  if (!result) prune(folder);
  return result;
}
