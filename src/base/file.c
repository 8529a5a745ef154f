/* Files: read-only maps of regular files, atomic writes, folders. */
#include "base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t nothing[1];

hone_status file_map_fd(struct ctx *ctx, int fd, const char *name, struct mapping *out) {
  struct stat before, after;
  if (fstat(fd, &before)) return fail(ctx, HONE_E_IO, place_file(name), "%s", strerror(errno));
  if (!S_ISREG(before.st_mode)) return fail(ctx, HONE_E_IO, place_file(name), "not a regular file");
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

void file_unmap(struct mapping *mapping) {
  if (mapping->data && mapping->data != nothing)
    munmap((void *)(uintptr_t)mapping->data, mapping->size);
  memset(mapping, 0, sizeof *mapping);
}

static bool write_all(int fd, const char *data, size_t size) {
  while (size) {
    ssize_t n = write(fd, data, size < (1u << 30) ? size : (1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= (size_t)n;
  }
  return true;
}

static hone_status split_path(struct ctx *ctx, const char *path, char dir[4096],
                              const char **out_base) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  *out_base = slash ? slash + 1 : path;
  if (length >= 4096 || strlen(*out_base) > 240 || !**out_base)
    return fail(ctx, HONE_E_PATH, place_file(path), "not a usable file name");
  if (!slash)
    memcpy(dir, ".", 2);
  else if (!length)
    memcpy(dir, "/", 2);
  else
    memcpy(dir, path, length), dir[length] = 0;
  return HONE_OK;
}

static bool write_parts(int fd, const struct file_part *parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!write_all(fd, parts[i].data, parts[i].size)) return false;
  return true;
}

/* A new file under a name of its own; unlike mkstemp's, its mode is what the user's umask leaves.
 */
static int create_beside(const char *dir, const char *base, unsigned mode, char *out, size_t size) {
  for (unsigned turn = 0; turn < 100; turn++) {
    unsigned long long mark = clock_ns() * 0x9e3779b97f4a7c15u ^ (unsigned long long)getpid();
    snprintf(out, size, "%s/.%.200s.%08llx", dir, base, mark >> 32);
    int fd = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

hone_status file_write_parts(struct ctx *ctx, const char *path, const struct file_part *parts,
                             size_t count, unsigned mode) {
  char dir[4096], temporary[4096 + 300];
  const char *base;
  TRY(split_path(ctx, path, dir, &base));
  int fd = create_beside(dir, base, mode, temporary, sizeof temporary);
  if (fd < 0)
    return fail(ctx, HONE_E_WRITE, place_file(path), "cannot create a file there: %s",
                strerror(errno));
  bool ok = write_parts(fd, parts, count) && !fsync(fd);
  int error = errno;
  if (close(fd) && ok) ok = false, error = errno;
  if (ok && rename(temporary, path)) ok = false, error = errno;
  if (!ok) {
    unlink(temporary);
    return fail(ctx, error == EIO ? HONE_E_IO : HONE_E_WRITE, place_file(path), "%s",
                strerror(error));
  }
  int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir_fd >= 0) {
    ok = !fsync(dir_fd) || errno == EINVAL || errno == EROFS;
    error = errno;
    close(dir_fd);
    if (!ok)
      return fail(ctx, HONE_E_IO, place_file(path), "fsync of its folder: %s", strerror(error));
  }
  return HONE_OK;
}

hone_status file_write_atomic(struct ctx *ctx, const char *path, const void *data, size_t size,
                              unsigned mode) {
  return file_write_parts(ctx, path, &(struct file_part){data, size}, 1, mode);
}

hone_status dir_create(struct ctx *ctx, const char *path) {
  char part[4096];
  size_t length = strlen(path);
  if (!length || length >= sizeof part)
    return fail(ctx, HONE_E_PATH, place_file(path), "not a usable folder name");
  memcpy(part, path, length + 1);
  for (size_t i = 1; i <= length; i++) {
    if (part[i] != '/' && part[i]) continue;
    char kept = part[i];
    part[i] = 0;
    if (mkdir(part, 0700) && errno != EEXIST)
      return fail(ctx, HONE_E_WRITE, place_file(part), "cannot create folder: %s", strerror(errno));
    part[i] = kept;
  }
  struct stat status;
  if (stat(path, &status) || !S_ISDIR(status.st_mode))
    return fail(ctx, HONE_E_WRITE, place_file(path), "not a folder");
  return HONE_OK;
}

hone_status dir_temporary(struct ctx *ctx, char out[4096]) {
  const char *root = getenv("TMPDIR");
  struct stat status;
  bool usable = root && root[0] == '/' && strlen(root) < 3000 && !stat(root, &status) &&
                S_ISDIR(status.st_mode) && !access(root, W_OK | X_OK) &&
                (!(status.st_mode & S_IWOTH) || status.st_mode & S_ISVTX);
  snprintf(out, 4096, "%s/hone-XXXXXX", usable ? root : "/tmp");
  if (!mkdtemp(out))
    return fail(ctx, HONE_E_WRITE, place_file(out), "cannot create a folder: %s", strerror(errno));
  return HONE_OK;
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

hone_status dir_user(struct ctx *ctx, const char *kind, char out[4096]) {
  bool data = !strcmp(kind, "data");
  const char *root = getenv(data ? "XDG_DATA_HOME" : "XDG_CACHE_HOME");
  if (root && root[0] == '/' && strlen(root) < 3900) {
    snprintf(out, 4096, "%s/hone", root);
    return dir_create(ctx, out);
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
  return dir_create(ctx, out);
}
