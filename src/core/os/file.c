/* Files: read-only maps of regular files; folders. */
#include "os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t nothing[1];

hone_status file_map_fd(struct ctx *ctx, int fd, const char *name, struct mapping *out) {
  struct stat before, after;
  if (fstat(fd, &before)) return fail(ctx, HONE_E_IO, place_file(name), "%s", strerror(errno));
  if (!S_ISREG(before.st_mode))
    return fail(ctx, HONE_E_IO, place_file(name), "%snot a regular file",
                S_ISDIR(before.st_mode) ? "a folder, " : "");
  if (before.st_size > ctx->limits[LIMIT_file_bytes])
    return fail(ctx, HONE_E_LIMIT, place_file(name), "%lld bytes, limit file_bytes is %lld",
                (long long)before.st_size, (long long)ctx->limits[LIMIT_file_bytes]);
  *out = (struct mapping){nothing, (size_t)before.st_size, before.st_dev, before.st_ino};
  if (!before.st_size) return HONE_OK;
  void *data = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return fail(ctx, HONE_E_IO, place_file(name), "%s", strerror(errno));
  if (fstat(fd, &after) || after.st_size != before.st_size) {
    munmap(data, out->size);
    return fail(ctx, HONE_E_IO, place_file(name), "the file changed while it was opened");
  }
  out->data = data;
  return HONE_OK;
}

hone_status file_map(struct ctx *ctx, const char *path, struct mapping *out) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return fail(ctx, errno == ENOENT || errno == ENOTDIR ? HONE_E_NOFILE : HONE_E_IO,
                place_file(path), "%s", strerror(errno));
  hone_status status = file_map_fd(ctx, fd, path, out);
  close(fd);
  return status;
}

static void give_back(const void *at, size_t bytes) {
  madvise((void *)(uintptr_t)at, bytes, MADV_DONTNEED);
}

void file_release(const struct mapping *mapping) {
  if (mapping->data && mapping->data != nothing) give_back(mapping->data, mapping->size);
}

void file_hash_hex(const struct mapping *mapping, char out[33]) {
  enum { PART = 16 << 20 }; /* whole pages */
  hash_hex_in_parts(out, mapping->data, mapping->size, PART, give_back);
}

void file_unmap(struct mapping *mapping) {
  if (mapping->data && mapping->data != nothing)
    munmap((void *)(uintptr_t)mapping->data, mapping->size);
  memset(mapping, 0, sizeof *mapping);
}

static hone_status create_folders(struct ctx *ctx, const char *path, mode_t mode) {
  char part[4096];
  size_t length = strlen(path);
  if (!length || length >= sizeof part)
    return fail(ctx, HONE_E_PATH, place_file(path), "not a usable folder name");
  memcpy(part, path, length + 1);
  for (size_t i = 1; i <= length; i++) {
    if (part[i] != '/' && part[i]) continue;
    char kept = part[i];
    part[i] = 0;
    if (mkdir(part, mode) && errno != EEXIST)
      return fail(ctx, HONE_E_WRITE, place_file(part), "cannot create folder: %s", strerror(errno));
    part[i] = kept;
  }
  struct stat status;
  if (stat(path, &status) || !S_ISDIR(status.st_mode))
    return fail(ctx, HONE_E_WRITE, place_file(path), "not a folder");
  return HONE_OK;
}

hone_status dir_create(struct ctx *ctx, const char *path) {
  return create_folders(ctx, path, 0700);
}

hone_status dir_output(struct ctx *ctx, const char *path) {
  return create_folders(ctx, path, 0777);
}

/* Depth is bounded by the path length; symbolic links are removed, not followed. */
static void remove_at(int parent, const char *name, int depth) {
  if (!unlinkat(parent, name, 0) || depth > 64) return;
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) {
    if (fd >= 0) close(fd);
    return;
  }
  for (struct dirent *entry; (entry = readdir(dir));)
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
      remove_at(dirfd(dir), entry->d_name, depth + 1);
  closedir(dir);
  unlinkat(parent, name, AT_REMOVEDIR);
}

void dir_remove_tree(const char *path) { remove_at(AT_FDCWD, path, 0); }

uint64_t dir_bytes(const char *path) {
  char copy[4096];
  char *const roots[] = {copy, NULL};
  uint64_t bytes = 0;
  if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) return 0;
  FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  for (FTSENT *entry; tree && (entry = fts_read(tree));)
    if (entry->fts_info == FTS_F) bytes += (uint64_t)entry->fts_statp->st_blocks * 512;
  if (tree) fts_close(tree);
  return bytes;
}

hone_status dir_user_name(struct ctx *ctx, const char *kind, char out[4096]) {
  bool data = !strcmp(kind, "data");
  /* set for our own workers */
  const char *root = getenv(data ? "HONE_DATA_HOME" : "HONE_CACHE_HOME");
  if (!root || !*root) root = getenv(data ? "XDG_DATA_HOME" : "XDG_CACHE_HOME");
  if (root && root[0] == '/' && strlen(root) < 3900) {
    snprintf(out, 4096, "%s/hone", root);
    return HONE_OK;
  }
  const char *home = getenv("HOME");
  if (!home || home[0] != '/' || strlen(home) > 3900) {
    struct passwd *entry = getpwuid(getuid());
    home = entry ? entry->pw_dir : NULL;
    if (!home || home[0] != '/' || strlen(home) > 3900)
      return fail(ctx, HONE_E_PATH, place_none(), "no home folder: set XDG_%s_HOME",
                  data ? "DATA" : "CACHE");
  }
  snprintf(out, 4096, "%s/%s/hone", home, data ? ".local/share" : ".cache");
  return HONE_OK;
}

hone_status dir_user(struct ctx *ctx, const char *kind, char out[4096]) {
  TRY(dir_user_name(ctx, kind, out));
  return dir_create(ctx, out);
}
