/* Checks that the bytes of an artifact are those that the compiler wrote. A damaged bit in code or
 * weights may change only numbers, so nothing but the checksum detects it.
 *
 * A large file is read once: the result is stored in the user's cache by device, inode, size and
 * times, as a fixed table of 64-bit hashes. A copy, a download or a write makes another entry.
 * Without a cache every load reads the file. A change that leaves the times unchanged, such as disk
 * decay, is found by the next complete check.
 */
#include "core/os/os.h"
#include "run_internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REMEMBERED_FROM (4u << 20) /* smaller files are read in less than a millisecond */
#define SLOTS 4096

/* A file may change again within one tick of its clock, which its times do not show. */
static bool is_settled(const struct stat *file) {
  const int64_t second = 1000000000;
  const int64_t tick = file->st_ctim.tv_nsec ? second / 10 : 3 * second;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)(now.tv_sec - file->st_ctim.tv_sec) * second + now.tv_nsec -
             file->st_ctim.tv_nsec >
         tick;
}

/* 0: must not be stored. */
static uint64_t identity(const char *path, const struct mapping *file, uint64_t checksum) {
  struct stat info;
  if (file->size < REMEMBERED_FROM || stat(path, &info) || info.st_ino != file->inode ||
      info.st_dev != file->device || (size_t)info.st_size != file->size || !is_settled(&info))
    return 0;
  const uint64_t facts[] = {file->device,
                            file->inode,
                            file->size,
                            (uint64_t)info.st_mtim.tv_sec,
                            (uint64_t)info.st_mtim.tv_nsec,
                            (uint64_t)info.st_ctim.tv_sec,
                            (uint64_t)info.st_ctim.tv_nsec,
                            checksum};
  return hash_64(facts, sizeof facts);
}

/* The table's descriptor, or -1: nothing is stored. */
static int open_table(int flags) {
  struct ctx quiet;
  char folder[4096], path[4200];
  ctx_init(&quiet);
  if (flags & O_CREAT ? dir_user(&quiet, "cache", folder) : dir_user_name(&quiet, "cache", folder))
    return -1;
  snprintf(path, sizeof path, "%s/whole-artifacts", folder);
  return open(path, flags | O_CLOEXEC, 0600);
}

static bool is_remembered(uint64_t file) {
  uint64_t entry = 0;
  const int fd = file ? open_table(O_RDONLY) : -1;
  if (fd < 0) return false;
  const bool found =
      pread(fd, &entry, sizeof entry, (off_t)(file % SLOTS * sizeof entry)) == sizeof entry;
  close(fd);
  return found && entry == file;
}

static void remember(uint64_t file) {
  const int fd = file ? open_table(O_RDWR | O_CREAT) : -1;
  if (fd < 0) return;
  if (pwrite(fd, &file, sizeof file, (off_t)(file % SLOTS * sizeof file)) <
      0) { /* then the file is read again */
  }
  close(fd);
}

hone_status checksum_check(struct ctx *ctx, const char *path, const struct mapping *file,
                           size_t bytes, uint64_t wanted) {
  const uint64_t key = identity(path, file, wanted);
  if (is_remembered(key)) return HONE_OK;
  if (hash_64(file->data, bytes) != wanted)
    return advise(
        ctx, fail(ctx, HONE_E_FORMAT, place_file(path), "damaged: its checksum does not match"),
        "restore the file, or compile the model again");
  remember(key);
  return HONE_OK;
}
