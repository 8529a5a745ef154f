/* Outputs: every file of the user is written here.
 *
 * A regular file appears complete or not at all: temporary file in the same folder, fsync, rename,
 * fsync of the folder. Other file types are never replaced: a pipe or a character device of any
 * name is a stream and is written through; folders, sockets and block devices are refused. A link
 * to a regular file is replaced by the new file; its target is not changed.
 *
 * output_check tests before the work whether the write can succeed. It also refuses what the write
 * itself cannot detect: files that were inputs, and files of another kind (outputs.def). */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PROC_MAGIC 0x9fa0
#define OTHER_PLACE "choose another path for the output"
enum { MOST_LINKS = 40, READER_WAIT_MS = 10000, HEAD_BYTES = 512, TAIL_BYTES = 64 };

static const struct {
  const char *what;
  enum { BYTES, HEAD, TAIL, END } where;
  const char *mark;
  size_t mark_bytes; /* the mark may contain zeros */
} kinds[] = {
#define OUTPUT(name, what, where, mark) {what, where, mark, sizeof mark - 1},
#include "outputs.def"
#undef OUTPUT
};

/* -- what exists at a path */

enum target { TARGET_FILE, TARGET_STREAM, TARGET_REFUSED };

/* A link such as /proc/self/fd/1 refers to an open file that may have no path. */
static bool leads_through_proc(const char *path) {
  char at[4096], next[4096];
  struct stat info;
  struct statfs place;
  snprintf(at, sizeof at, "%s", path);
  for (int i = 0; i < MOST_LINKS && !lstat(at, &info) && S_ISLNK(info.st_mode); i++) {
    int fd = open(at, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool is_proc = fd >= 0 && !fstatfs(fd, &place) && place.f_type == PROC_MAGIC;
    if (fd >= 0) close(fd);
    if (is_proc) return true;
    ssize_t n = readlink(at, next, sizeof next - 1);
    if (n <= 0) return false;
    next[n] = 0;
    char *slash = next[0] == '/' ? NULL : strrchr(at, '/');
    size_t folder = slash ? (size_t)(slash - at) + 1 : 0;
    if (folder + (size_t)n >= sizeof at) return false;
    memcpy(at + folder, next, (size_t)n + 1);
  }
  return false;
}

static hone_status look(struct ctx *ctx, const char *path, enum target *out, struct stat *info,
                        bool *out_exists) {
  *out = TARGET_FILE;
  *out_exists = !stat(path, info);
  if (!*out_exists) return HONE_OK;
  if (S_ISDIR(info->st_mode)) return fail(ctx, HONE_E_WRITE, place_file(path), "is a folder");
  if (S_ISSOCK(info->st_mode) || S_ISBLK(info->st_mode))
    return advise(ctx,
                  fail(ctx, HONE_E_PATH, place_file(path), "is a %s, which is never an output",
                       S_ISSOCK(info->st_mode) ? "socket" : "disk"),
                  OTHER_PLACE);
  if (!S_ISREG(info->st_mode) || leads_through_proc(path)) *out = TARGET_STREAM;
  return HONE_OK;
}

/* -- writing */

bool write_all(int fd, const void *bytes, size_t size) {
  for (const char *at = bytes; size;) {
    const ssize_t n = write(fd, at, size < (1u << 30) ? size : (1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

static hone_status split_path(struct ctx *ctx, const char *path, char dir[4096],
                              const char **out_base) {
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  *out_base = slash ? slash + 1 : path;
  const char *why = !**out_base                    ? "names a folder, not a file"
                    : strlen(*out_base) > NAME_MAX ? "its name is longer than 255 bytes"
                    : length >= 4096               ? "its path is longer than 4095 bytes"
                                                   : NULL;
  if (why) return fail(ctx, HONE_E_PATH, place_file(path), "%s", why);
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

/* Creates a new file under a unique name; unlike mkstemp, its mode follows the user's umask. */
static int create_temporary(const char *dir, const char *base, unsigned mode, char *out,
                            size_t size) {
  for (unsigned turn = 0; turn < 100; turn++) {
    unsigned long long mark = clock_ns() * 0x9e3779b97f4a7c15u ^ (unsigned long long)getpid();
    snprintf(out, size, "%s/.%.200s.%08llx", dir, base, mark >> 32);
    int fd = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

/* /dev/stdout, by any name, continues at the descriptor's position. A FIFO must get a reader soon:
 * hone does not wait forever. */
static int open_stream(const char *path, const struct stat *info) {
  int waited_ms = 0, fd;
  struct stat standard;
  for (fd = 1; fd <= 2; fd++)
    if (!fstat(fd, &standard) && standard.st_dev == info->st_dev && standard.st_ino == info->st_ino)
      return fcntl(fd, F_DUPFD_CLOEXEC, 3);
  for (;; waited_ms += 50) {
    fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || (errno != ENXIO && errno != EINTR) || waited_ms >= READER_WAIT_MS) break;
    poll(NULL, 0, 50);
  }
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

static hone_status write_stream(struct ctx *ctx, const char *path, const struct stat *info,
                                const struct file_part *parts, size_t count) {
  int fd = open_stream(path, info);
  if (fd < 0)
    return fail(ctx, HONE_E_WRITE, place_file(path), "%s",
                errno == ENXIO ? "no process reads from it" : strerror(errno));
  bool ok = write_parts(fd, parts, count);
  int error = errno;
  if (close(fd) && ok) ok = false, error = errno;
  return ok ? HONE_OK : fail(ctx, HONE_E_WRITE, place_file(path), "%s", strerror(error));
}

static hone_status write_failure(struct ctx *ctx, const struct output *output) {
  int error = errno;
  return fail(ctx, error == EIO ? HONE_E_IO : HONE_E_WRITE, place_file(output->path), "%s",
              strerror(error));
}

static hone_status create_regular(struct ctx *ctx, const char *path, unsigned mode,
                                  struct output *out) {
  char dir[4096];
  const char *base;
  out->fd = -1;
  TRY(split_path(ctx, path, dir, &base));
  if (strlen(path) >= sizeof out->path)
    return fail(ctx, HONE_E_PATH, place_file(path), "its path is longer than 4095 bytes");
  memcpy(out->path, path, strlen(path) + 1);
  out->fd = create_temporary(dir, base, mode, out->temporary, sizeof out->temporary);
  if (out->fd < 0)
    return fail(ctx, HONE_E_WRITE, place_file(path), "cannot create a file there: %s",
                strerror(errno));
  journal_add(out->temporary);
  return HONE_OK;
}

void output_drop(struct output *output) {
  if (output->fd < 0) return;
  close(output->fd);
  unlink(output->temporary);
  journal_drop(output->temporary);
  output->fd = -1;
}

static hone_status sync_folder(struct ctx *ctx, const char *path) {
  char dir[4096];
  const char *base;
  TRY(split_path(ctx, path, dir, &base));
  int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return HONE_OK;
  bool ok = !fsync(fd) || errno == EINVAL || errno == EROFS;
  int error = errno;
  close(fd);
  return ok ? HONE_OK
            : fail(ctx, HONE_E_IO, place_file(path), "fsync of its folder: %s", strerror(error));
}

hone_status output_commit(struct ctx *ctx, struct output *output) {
  bool ok = !fsync(output->fd);
  int error = errno;
  if (close(output->fd) && ok) ok = false, error = errno;
  output->fd = -1;
  if (ok && rename(output->temporary, output->path)) ok = false, error = errno;
  if (!ok) unlink(output->temporary);
  journal_drop(output->temporary);
  if (ok) return sync_folder(ctx, output->path);
  errno = error;
  return write_failure(ctx, output);
}

hone_status output_create(struct ctx *ctx, const char *path, unsigned mode, struct output *out,
                          bool *out_is_stream) {
  enum target target;
  struct stat info;
  bool exists;
  out->fd = -1;
  TRY(look(ctx, path, &target, &info, &exists));
  *out_is_stream = target == TARGET_STREAM;
  return *out_is_stream ? HONE_OK : create_regular(ctx, path, mode, out);
}

hone_status output_put(struct ctx *ctx, const struct output *output, size_t at, const void *data,
                       size_t size) {
  const char *from = data;
  for (size_t left = size, to = at; left;) {
    ssize_t n = pwrite(output->fd, from, left < (1u << 30) ? left : (1u << 30), (off_t)to);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return write_failure(ctx, output);
    from += n, to += (size_t)n, left -= (size_t)n;
  }
  sync_file_range(output->fd, (off_t)at, (off_t)size, SYNC_FILE_RANGE_WRITE); /* only a hint */
  return HONE_OK;
}

static hone_status write_regular(struct ctx *ctx, const char *path, const struct file_part *parts,
                                 size_t count, unsigned mode) {
  struct output output;
  TRY(create_regular(ctx, path, mode, &output));
  if (write_parts(output.fd, parts, count)) return output_commit(ctx, &output);
  hone_status status = write_failure(ctx, &output);
  output_drop(&output);
  return status;
}

hone_status file_write_parts(struct ctx *ctx, const char *path, const struct file_part *parts,
                             size_t count, unsigned mode) {
  enum target target;
  struct stat info;
  bool exists;
  TRY(look(ctx, path, &target, &info, &exists));
  return target == TARGET_STREAM ? write_stream(ctx, path, &info, parts, count)
                                 : write_regular(ctx, path, parts, count, mode);
}

hone_status file_write_atomic(struct ctx *ctx, const char *path, const void *data, size_t size,
                              unsigned mode) {
  return file_write_parts(ctx, path, &(struct file_part){data, size}, 1, mode);
}

hone_status file_copy(struct ctx *ctx, const char *from, const char *to, unsigned mode,
                      size_t *out_bytes) {
  struct mapping file;
  TRY(file_map(ctx, from, &file));
  const hone_status status = file_write_atomic(ctx, to, file.data, file.size, mode);
  if (out_bytes) *out_bytes = file.size;
  file_unmap(&file);
  return status;
}

/* -- before the work */

static bool is_of_kind(int fd, const struct stat *info, enum output_kind kind) {
  char bytes[HEAD_BYTES];
  const size_t mark = kinds[kind].mark_bytes;
  const bool is_behind = kinds[kind].where == END || kinds[kind].where == TAIL;
  const off_t tail = info->st_size - TAIL_BYTES, from = is_behind && tail > 0 ? tail : 0;
  const ssize_t n = pread(fd, bytes, sizeof bytes, from);
  if (n < (ssize_t)mark) return false;
  if (kinds[kind].where == HEAD || kinds[kind].where == TAIL)
    return memmem(bytes, (size_t)n, kinds[kind].mark, mark) != NULL;
  return (!is_behind || tail >= 0) && !memcmp(bytes, kinds[kind].mark, mark);
}

/* An empty file matches every kind; an unreadable file matches none. */
static hone_status check_kind(struct ctx *ctx, const char *path, const struct stat *info,
                              enum output_kind kind) {
  struct stat link;
  if (!info->st_size || lstat(path, &link) || S_ISLNK(link.st_mode)) return HONE_OK;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  bool is_same = fd >= 0 && is_of_kind(fd, info, kind);
  int error = errno;
  if (fd >= 0) close(fd);
  if (is_same) return HONE_OK;
  if (fd < 0)
    return fail(ctx, HONE_E_PATH, place_file(path), "cannot inspect it: %s", strerror(error));
  return advise(ctx,
                fail(ctx, HONE_E_PATH, place_file(path),
                     "a file exists there that is not %s; it was not changed", kinds[kind].what),
                "remove it first, or choose another path");
}

static hone_status check_folder(struct ctx *ctx, const char *path) {
  char dir[4096];
  const char *base;
  struct stat info;
  TRY(split_path(ctx, path, dir, &base));
  if (stat(dir, &info))
    return fail(ctx, HONE_E_WRITE, place_file(path), "its folder: %s", strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return fail(ctx, HONE_E_WRITE, place_file(path), "\"%s\" is not a folder", dir);
  if (!info.st_nlink) /* the working folder may have been removed by another process */
    return fail(ctx, HONE_E_WRITE, place_file(path), "its folder was removed");
  if (access(dir, W_OK | X_OK))
    return fail(ctx, HONE_E_WRITE, place_file(path), "cannot create a file there: %s",
                strerror(errno));
  return HONE_OK;
}

hone_status output_check(struct ctx *ctx, const char *path, enum output_kind kind,
                         const struct file_id *inputs, size_t input_count) {
  enum target target;
  struct stat info;
  bool exists;
  TRY(look(ctx, path, &target, &info, &exists));
  for (size_t i = 0; exists && i < input_count; i++)
    if (inputs[i].device == info.st_dev && inputs[i].inode == info.st_ino)
      return advise(ctx,
                    fail(ctx, HONE_E_PATH, place_file(path),
                         "is an input of this command, so it cannot be its output"),
                    OTHER_PLACE);
  if (target == TARGET_STREAM)
    return access(path, W_OK)
               ? fail(ctx, HONE_E_WRITE, place_file(path), "cannot be written: %s", strerror(errno))
               : HONE_OK;
  TRY(check_folder(ctx, path));
  return exists ? check_kind(ctx, path, &info, kind) : HONE_OK;
}

bool output_is_stream(const char *path) {
  struct ctx quiet = {0};
  enum target target;
  struct stat info;
  bool exists;
  return !look(&quiet, path, &target, &info, &exists) && target == TARGET_STREAM;
}
