/* tar: a folder as one file. POSIX ustar (IEEE 1003.1-1988), regular files only. Owner, group and time are 0 and files are
 * sorted by name, so that the same folder gives the same bytes.
 *
 * A header of 512 bytes: 0 name[100] 100 mode[8] 108 uid[8] 116 gid[8] 124 size[12] 136 mtime[12] 148 checksum[8] 156 type 257
 * "ustar" 263 "00" 345 prefix[155]; numbers are octal text.
 */
#include "core/os/os.h"
#include "serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, DEPTH = 8, FILES = 4096, NAME = 255 };

typedef VEC(const char *) names;

static MUST_USE hone_status add_files(struct ctx *ctx, struct arena *arena, const char *folder,
                                      const char *below, names *files, names *folders) {
  char path[4096 + 260];
  snprintf(path, sizeof path, "%s/%s", folder, below);
  DIR *dir = opendir(path);
  if (!dir)
    return fail(ctx, HONE_E_NOFILE, place_file(below), "cannot be read: %s", strerror(errno));
  hone_status status = HONE_OK;
  for (const struct dirent *at; !status && (at = readdir(dir));) {
    struct stat facts;
    const char *name;
    if (!strcmp(at->d_name, ".") || !strcmp(at->d_name, "..")) continue;
    if (fstatat(dirfd(dir), at->d_name, &facts, AT_SYMLINK_NOFOLLOW)) continue;
    if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) continue;
    names *list = S_ISREG(facts.st_mode) ? files : folders;
    status = arena_printf(ctx, arena, &name, "%s%s%s", below, *below ? "/" : "", at->d_name);
    if (!status && (strlen(name) > NAME - 100 || list->count >= FILES))
      status = fail(ctx, HONE_E_LIMIT, place_file(name), "too many files, or a name is too long");
    if (!status)
      status = vec_grow(ctx, arena, &list->at, list->count, &list->capacity, sizeof *list->at);
    if (!status) list->at[list->count++] = name;
  }
  closedir(dir);
  return status;
}

static MUST_USE hone_status put(struct ctx *ctx, int fd, const void *data, size_t size) {
  if (write_all(fd, data, size)) return HONE_OK;
  return fail(ctx, HONE_E_IO, place_none(), "a bundle: %s", strerror(errno));
}

static void make_header(char out[BLOCK], const char *name, const char *below,
                        const struct stat *facts) {
  unsigned sum = 0;
  char path[NAME + 80];
  memset(out, 0, BLOCK);
  snprintf(path, sizeof path, "%s/%s", name, below);
  const char *tail = path;
  if (strlen(path) > 100) { /* split at a slash so that the tail fits */
    tail = path + strlen(path) - 100;
    tail = strchr(tail, '/') ? strchr(tail, '/') + 1 : tail;
    snprintf(out + 345, 155, "%.*s", (int)(tail - path - 1), path);
  }
  memcpy(out, tail, strlen(tail));
  snprintf(out + 100, 8, "%07o", facts->st_mode & 0111 ? 0755u : 0644u);
  snprintf(out + 108, 8, "%07o", 0u);
  snprintf(out + 116, 8, "%07o", 0u);
  snprintf(out + 124, 12, "%011llo", (unsigned long long)facts->st_size & 077777777777ull);
  snprintf(out + 136, 12, "%011o", 0u);
  memset(out + 148, ' ', 8);
  out[156] = '0';
  memcpy(out + 257,
         "ustar\0"
         "00",
         8);
  for (int i = 0; i < BLOCK; i++) sum += (unsigned char)out[i];
  snprintf(out + 148, 7, "%06o", sum);
}

static MUST_USE hone_status put_file(struct ctx *ctx, int fd, const char *folder, const char *name,
                                     const char *below) {
  char path[4096 + 260], block[BLOCK];
  static const char zeros[BLOCK];
  struct mapping mapping;
  struct stat facts;
  snprintf(path, sizeof path, "%s/%s", folder, below);
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0 || fstat(file, &facts) || facts.st_size >= 8ll << 30) {
    if (file >= 0) close(file);
    return fail(ctx, HONE_E_IO, place_file(below), "cannot be read");
  }
  hone_status status = file_map_fd(ctx, file, below, &mapping);
  close(file);
  TRY(status);
  facts.st_size = (off_t)mapping.size;
  make_header(block, name, below, &facts);
  status = put(ctx, fd, block, BLOCK);
  if (!status) status = put(ctx, fd, mapping.data, mapping.size);
  if (!status) status = put(ctx, fd, zeros, (BLOCK - mapping.size % BLOCK) % BLOCK);
  file_unmap(&mapping);
  return status;
}

static MUST_USE hone_status put_all(struct ctx *ctx, struct arena *arena, int fd,
                                    const char *folder, const char *name) {
  static const char zeros[2 * BLOCK];
  names files = {0}, folders = {0};
  TRY(add_files(ctx, arena, folder, "", &files, &folders));
  for (size_t i = 0; i < folders.count; i++) { /* the file grew meanwhile */
    int depth = 1;
    for (const char *at = folders.at[i]; *at; at++) depth += *at == '/';
    if (depth > DEPTH) return fail(ctx, HONE_E_LIMIT, place_file(folders.at[i]), "too deep");
    TRY(add_files(ctx, arena, folder, folders.at[i], &files, &folders));
  }
  if (files.count) qsort(files.at, files.count, sizeof *files.at, by_text);
  for (size_t i = 0; i < files.count; i++) TRY(put_file(ctx, fd, folder, name, files.at[i]));
  return put(ctx, fd, zeros, sizeof zeros);
}

hone_status tar_folder(struct ctx *ctx, const char *folder, const char *name, const char *path) {
  char part[4096 + 260];
  struct arena *arena;
  TRY(arena_create(ctx, 0, &arena));
  snprintf(part, sizeof part, "%s.part", path);
  const int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  hone_status status = fd < 0 ? fail(ctx, HONE_E_WRITE, place_file(part), "%s", strerror(errno))
                              : put_all(ctx, arena, fd, folder, name);
  arena_destroy(arena);
  if (fd >= 0) close(fd);
  if (!status && rename(part, path))
    status = fail(ctx, HONE_E_WRITE, place_file(path), "%s", strerror(errno));
  if (status) unlink(part);
  return status;
}
