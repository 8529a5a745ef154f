/* What earlier runs left: folders of studies that were killed, and reference data that nobody used
 * for long. A study's folder holds a locked file while the study lives, so a free lock means a dead
 * owner, whoever has its process number now.
 */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "bench.lock"
#define REFERENCES_KEPT 64

static int lock_folder(const char *dir, int flags) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/%s", dir, LOCK_NAME);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  struct stat info;
  if (fd >= 0 && !fstat(fd, &info) && info.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

static void remove_dead_siblings(const char *dir) {
  const char *slash = strrchr(dir, '/');
  char parent[4096];
  snprintf(parent, sizeof parent, "%.*s", (int)(slash - dir), dir);
  DIR *folder = opendir(parent);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char path[4096 + 300];
    if (strncmp(entry->d_name, "hone-", 5) || !strcmp(entry->d_name, slash + 1)) continue;
    snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
    int fd = strlen(path) < 4096 ? lock_folder(path, 0) : -1;
    if (fd < 0) continue; /* alive, not ours, or no study's */
    dir_remove_tree(path);
    close(fd);
  }
  closedir(folder);
}

hone_status study_folder(struct ctx *ctx, char out[4096], int *out_lock_fd) {
  TRY(dir_temporary(ctx, out));
  *out_lock_fd = lock_folder(out, O_CREAT | O_EXCL);
  if (*out_lock_fd < 0) {
    hone_status status = fail(ctx, HONE_E_WRITE, place_file(out), "%s", strerror(errno));
    dir_remove_tree(out);
    return status;
  }
  remove_dead_siblings(out);
  return HONE_OK;
}

/* -- reference data -----------------------------------------------------------------------------
 */

struct entry {
  char name[256];
  struct timespec used;
};

static int newest_first(const void *a, const void *b) {
  const struct timespec *x = &((const struct entry *)a)->used,
                        *y = &((const struct entry *)b)->used;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? 1 : -1;
  return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

int reference_hold(const char *dir) {
  const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  struct stat held, named;
  if (fd < 0) return -1;
  if (!flock(fd, LOCK_SH) && !fstat(fd, &held) && !stat(dir, &named) &&
      held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
    futimens(fd, NULL); /* used now: kept longest */
    return fd;
  }
  close(fd);
  return -1;
}

/* A kill while files are removed must not leave half a folder under a name that is looked up. */
void reference_remove(const char *dir) {
  char aside[4096 + 400];
  snprintf(aside, sizeof aside, "%s.%d", dir, (int)getpid());
  if (!rename(dir, aside)) dir_remove_tree(aside);
}

/* Not what somebody holds, or has used since it was looked at. */
static void remove_unused(const char *path, const struct timespec *used) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  struct stat info;
  if (fd < 0) return;
  if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &info) && info.st_mtim.tv_sec == used->tv_sec &&
      info.st_mtim.tv_nsec == used->tv_nsec)
    reference_remove(path);
  close(fd);
}

void references_trim(const char *dir) {
  DIR *folder = opendir(dir);
  size_t count = 0, capacity = 1024;
  struct entry *entries = malloc(capacity * sizeof *entries);
  for (struct dirent *entry; folder && entries && count < capacity && (entry = readdir(folder));) {
    struct stat info;
    if (entry->d_name[0] == '.' ||
        fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(info.st_mode))
      continue;
    snprintf(entries[count].name, sizeof entries[count].name, "%s", entry->d_name);
    entries[count++].used = info.st_mtim;
  }
  if (folder) closedir(folder);
  if (entries) qsort(entries, count, sizeof *entries, newest_first);
  for (size_t i = REFERENCES_KEPT; entries && i < count; i++) {
    char path[4096 + 300];
    snprintf(path, sizeof path, "%s/%s", dir, entries[i].name);
    remove_unused(path, &entries[i].used);
  }
  free(entries);
}
