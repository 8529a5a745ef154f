/* Decides before SQLite opens a file whether it may be opened, and by which process it may be
 * written.
 *
 * In: a path. Out: new, hone's, or an error. Nothing is changed except FILE.lock. A store is
 * recognised by its 100-byte header (SQLite file format, section 1.3):
 *
 *   0 "SQLite format 3\0"   16 page size   18, 19 write and read version, 1 = rollback journal, 2 = WAL
 *   28 page count   60 user_version, big endian   68 application_id, big endian
 *
 * SQLite would replay a -wal file next to it, and delete a file named by a super-journal; hone
 * never makes these, so such a store is refused.
 */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static MUST_USE hone_status foreign(struct ctx *ctx, const char *path, const char *what) {
  return fail(ctx, HONE_E_FORMAT, place_file(path),
              "not a hone store (%s); it was not changed: name another one with --store FILE",
              what);
}

/* File systems without reliable locks and fsync (SQLite: "How To Corrupt", section 2.1). */
static const struct {
  uint32_t magic;
  const char *name;
} network_file_systems[] = {
    {0x6969, "NFS"},        {0x0BD00BD0, "Lustre"}, {0x517B, "SMB"},      {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB2"},   {0x5346414F, "AFS"},    {0x00C36400, "Ceph"}, {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"}, {0x013111A8, "IBRIX"},  {0x73757245, "Coda"}, {0x7461636F, "OCFS2"},
    {0x01161970, "GFS2"},   {0xAAD7AAEA, "PanFS"},
};

static MUST_USE hone_status guard_file_system(struct ctx *ctx, const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  if (length >= sizeof folder)
    return fail(ctx, HONE_E_USAGE, place_none(), "the store's path is too long");
  memcpy(folder, path, length);
  folder[length] = 0;
  struct statfs facts;
  if (statfs(length ? folder : ".", &facts))
    return fail(ctx, HONE_E_IO, place_file(path), "cannot read its folder: %s", strerror(errno));
  for (size_t i = 0; i < COUNT(network_file_systems); i++)
    if ((uint32_t)facts.f_type == network_file_systems[i].magic)
      return fail(
          ctx, HONE_E_UNSUP, place_file(path),
          "the store is on a network file system (%s), where SQLite can lose data: name one "
          "on a local disk with --store FILE",
          network_file_systems[i].name);
  return HONE_OK;
}

static MUST_USE hone_status guard_side_files(struct ctx *ctx, const char *path) {
  static const char *const suffixes[] = {"-wal", "-shm"};
  char side[4200];
  struct stat facts;
  for (size_t i = 0; i < COUNT(suffixes); i++) {
    snprintf(side, sizeof side, "%s%s", path, suffixes[i]);
    if (!lstat(side, &facts)) return foreign(ctx, path, "it has a -wal or -shm file");
  }
  snprintf(side, sizeof side, "%s-journal", path);
  const int fd = open(side, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT ? HONE_OK : foreign(ctx, path, "its journal is not a file");
  static const uint8_t magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  uint8_t end[8] = {0};
  bool is_bad = fstat(fd, &facts) || !S_ISREG(facts.st_mode);
  if (!is_bad && facts.st_size >= 512 &&
      pread(fd, end, sizeof end, facts.st_size - (off_t)sizeof end) == (ssize_t)sizeof end)
    is_bad = !memcmp(end, magic, sizeof magic);
  close(fd);
  return is_bad ? foreign(ctx, path, "its journal names other files") : HONE_OK;
}

static uint32_t big_endian(const uint8_t *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

hone_status guard_header(struct ctx *ctx, const char *path, const uint8_t header[100],
                         uint64_t size) {
  if (size < 100) return foreign(ctx, path, "too short");
  if (memcmp(header, "SQLite format 3", 16) != 0) return foreign(ctx, path, "no SQLite header");
  if (big_endian(header + 68) != STORE_APPLICATION_ID)
    return foreign(ctx, path, "another application's database");
  if (header[18] != 1 || header[19] != 1) return foreign(ctx, path, "it is in WAL mode");
  const uint32_t version = big_endian(header + 60);
  if (version > STORE_VERSION)
    return fail(
        ctx, HONE_E_FORMAT, place_file(path),
        "written by a newer hone (schema %u, this one knows %d): update hone, or name another "
        "store with --store FILE",
        version, STORE_VERSION);
  return version ? HONE_OK : foreign(ctx, path, "no schema version");
}

hone_status guard_size(struct ctx *ctx, const char *path, const uint8_t header[100],
                       uint64_t size) {
  const uint64_t page = (uint64_t)header[16] << 8 | header[17], bytes = page == 1 ? 65536 : page;
  if (size < bytes * big_endian(header + 28) || (bytes && size % bytes))
    return fail(ctx, HONE_E_FORMAT, place_file(path),
                "the store is truncated to %llu bytes; it was not changed",
                (unsigned long long)size);
  return HONE_OK;
}

/* Uses stat only: closing a descriptor on the database would drop SQLite's locks on it. */
hone_status guard_file(struct ctx *ctx, const char *path, bool *out_exists) {
  struct stat facts;
  *out_exists = false;
  TRY(guard_file_system(ctx, path));
  TRY(guard_side_files(ctx, path));
  if (stat(path, &facts)) {
    if (errno == ENOENT) return HONE_OK;
    return fail(ctx, HONE_E_IO, place_file(path), "cannot read the store: %s", strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) return foreign(ctx, path, "not a regular file");
  /* SQLite treats a file of one byte as empty. */
  if (facts.st_size > 0 && facts.st_size < 100) return foreign(ctx, path, "too short");
  *out_exists = facts.st_size > 0;
  return HONE_OK;
}

static MUST_USE hone_status busy(struct ctx *ctx, const char *path, int fd) {
  char holder[32] = "";
  const ssize_t got = pread(fd, holder, sizeof holder - 1, 0);
  int64_t pid = 0;
  if (got > 0) holder[strspn(holder, "0123456789")] = 0;
  if (got > 0 && parse_i64(holder, 1, INT32_MAX, &pid))
    return fail(ctx, HONE_E_BUSY, place_file(path), "process %lld writes to this store",
                (long long)pid);
  return fail(ctx, HONE_E_BUSY, place_file(path), "another process writes to this store");
}

/* flock ends with its process, so a dead process leaves nothing to clean up and a reused pid does
   not mislead; the pid in the file is only for messages. The file stays: removing it would race
   with the next process. */
hone_status guard_lock(struct ctx *ctx, const char *path, int *out_fd) {
  char name[4200];
  snprintf(name, sizeof name, "%s.lock", path);
  const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0)
    return fail(ctx, errno == ENOSPC || errno == EDQUOT ? HONE_E_IO : HONE_E_WRITE,
                place_file(name), "cannot make the store's lock: %s", strerror(errno));
  if (flock(fd, LOCK_EX | LOCK_NB)) {
    const hone_status status =
        errno == EWOULDBLOCK
            ? busy(ctx, path, fd)
            : fail(ctx, HONE_E_IO, place_file(name), "cannot lock the store: %s", strerror(errno));
    close(fd);
    return status;
  }
  char pid[32];
  const int length = snprintf(pid, sizeof pid, "%lld\n", (long long)getpid());
  /* on a full disk the pid is missing; the lock works anyway */
  if (ftruncate(fd, 0) || pwrite(fd, pid, (size_t)length, 0) != length) (void)ftruncate(fd, 0);
  *out_fd = fd;
  return HONE_OK;
}
