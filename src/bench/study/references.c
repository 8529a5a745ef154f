/* Folders of reference data in the cache: locked while in use; the least recently used are removed.
 */
#include "study_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFERENCES_KEPT 64

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
    futimens(fd, NULL); /* marks it as used now */
    return fd;
  }
  close(fd);
  return -1;
}

/* Renamed first, so that a kill does not leave an incomplete folder under its name. */
void reference_remove(const char *dir) {
  char aside[4096 + 400];
  snprintf(aside, sizeof aside, "%s.%d", dir, (int)getpid());
  if (!rename(dir, aside)) dir_remove_tree(aside);
}

/* Removes a folder unless it is locked or was used since `used`. */
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
