/* Temporary folders. Each contains a file that its owner keeps locked, so a free lock means a dead
 * owner, even if its process id is in use again. A process that creates a folder removes the
 * folders next to it whose owners were killed.
 *
 * A lock belongs to an open file, which forked children share: a folder lives as long as the last
 * of them. Programs that are started do not inherit it. */
#include "os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "hone-"
#define LOCK_NAME "lock"
#define NEW_NAME "lock.new"
enum { SETTLED_S = 60 }; /* an empty folder this old is abandoned */

/* Folders of this process. */
static struct held {
  struct held *next;
  int fd;
  char path[];
} * all_held;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static bool hold(const char *path, int fd) {
  struct held *held = malloc(sizeof *held + strlen(path) + 1);
  if (!held) return false;
  held->fd = fd;
  memcpy(held->path, path, strlen(path) + 1);
  pthread_mutex_lock(&held_lock);
  held->next = all_held;
  all_held = held;
  pthread_mutex_unlock(&held_lock);
  return true;
}

static int release(const char *path) {
  int fd = -1;
  pthread_mutex_lock(&held_lock);
  for (struct held **at = &all_held; *at; at = &(*at)->next) {
    struct held *held = *at;
    if (strcmp(held->path, path) != 0) continue;
    fd = held->fd;
    *at = held->next;
    free(held);
    break;
  }
  pthread_mutex_unlock(&held_lock);
  return fd;
}

/* The file gets its name after it is locked, so that no other process sees it unlocked. */
static int make_lock(int folder) {
  int fd = openat(folder, NEW_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  if (!flock(fd, LOCK_EX | LOCK_NB) && !renameat(folder, NEW_NAME, folder, LOCK_NAME)) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* The lock is removed last, so that an interrupted removal is continued later. */
static void remove_folder(const char *path) {
  DIR *dir = opendir(path);
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir));) {
    char inside[4096 + 300];
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
        !strcmp(entry->d_name, LOCK_NAME))
      continue;
    snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
    dir_remove_tree(inside);
  }
  unlinkat(dirfd(dir), LOCK_NAME, 0);
  closedir(dir);
  rmdir(path);
}

/* Removes a folder of this user whose owner is dead. */
static void remove_if_dead(const char *path) {
  struct stat info, lock;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  if (fstat(folder, &info) || info.st_uid != geteuid()) {
    close(folder);
    return;
  }
  int fd = openat(folder, LOCK_NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd >= 0 && !fstat(fd, &lock) && S_ISREG(lock.st_mode) && lock.st_uid == geteuid() &&
      !flock(fd, LOCK_EX | LOCK_NB))
    remove_folder(path);
  /* created and never used: removed only if it is empty */
  else if (fd < 0 && errno == ENOENT && time(NULL) - info.st_mtime > SETTLED_S)
    rmdir(path);
  if (fd >= 0) close(fd);
  close(folder);
}

static void remove_dead_siblings(const char *path) {
  char parent[4096];
  snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(path, '/') - path), path);
  DIR *dir = opendir(parent);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char sibling[4096 + 300];
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0) continue;
    snprintf(sibling, sizeof sibling, "%s/%s", parent, entry->d_name);
    if (strcmp(sibling, path) != 0) remove_if_dead(sibling);
  }
  if (dir) closedir(dir);
}

hone_status dir_temporary(struct ctx *ctx, char out[4096]) {
  const char *root = getenv("TMPDIR");
  struct stat status;
  bool usable = root && root[0] == '/' && strlen(root) < 3000 && !stat(root, &status) &&
                S_ISDIR(status.st_mode) && !access(root, W_OK | X_OK) &&
                (!(status.st_mode & S_IWOTH) || status.st_mode & S_ISVTX);
  snprintf(out, 4096, "%s/" PREFIX "XXXXXX", usable ? root : "/tmp");
  if (!mkdtemp(out))
    return fail(ctx, HONE_E_WRITE, place_file(out), "cannot create a folder: %s", strerror(errno));
  const int folder = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int fd = folder < 0 ? -1 : make_lock(folder);
  const int error = errno;
  if (folder >= 0) close(folder);
  if (fd >= 0 && hold(out, fd)) {
    remove_dead_siblings(out);
    return HONE_OK;
  }
  if (fd >= 0) close(fd);
  dir_remove_tree(out);
  return fail(ctx, fd < 0 ? HONE_E_WRITE : HONE_E_OOM, place_file(out), "cannot lock it: %s",
              strerror(fd < 0 ? error : ENOMEM));
}

void dir_temporary_remove(const char *path) {
  const int fd = release(path);
  remove_folder(path);
  if (fd >= 0) close(fd);
}
