/* external: side files with a model's weights.
 *
 * A location is a relative path below one folder (the model's own or --side-files-from), opened
 * component by component from the folder's descriptor without following symbolic links, so that
 * nothing outside is ever opened. One link is allowed: the Hugging Face cache stores
 * snapshots/REVISION/FILE as a link to ../../blobs/HASH of the same repository. Each file is mapped
 * once; tensors may share its bytes. */
#include "core/os/os.h"
#include "compiler/import/import.h"

#include "side_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_UPS = 16 };

/* An entry of TensorProto.external_data at any position: key (field 1) "location", then field 2,
 * its value. */
bool side_file_named(const uint8_t **at, const uint8_t *end, char out[SIDE_LOCATION_MAX]) {
  static const char entry[] = "\x0a\x08location\x12";
  for (const uint8_t *p; (p = memmem(*at, (size_t)(end - *at), entry, sizeof entry - 1));) {
    size_t length = 0;
    *at = p += sizeof entry - 1;
    for (int shift = 0; p < end && shift < 14; shift += 7) {
      length |= (size_t)(*p & 127) << shift;
      if (*p++ < 128) break;
    }
    if (length >= SIDE_LOCATION_MAX || length > (size_t)(end - p)) continue;
    memcpy(out, p, length);
    out[length] = 0;
    *at = p + length;
    return true;
  }
  return false;
}

hone_status side_files_open(struct ctx *ctx, struct arena *arena, const char *folder,
                            struct model_file *file, struct side_files *out) {
  *out = (struct side_files){.file = file, .folder = -1, .name = folder};
  names_init(&out->opened, arena);
  if (!folder) return HONE_OK;
  out->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status;
  if (out->folder >= 0 && !fstat(out->folder, &status)) {
    out->owner = status.st_uid;
    return HONE_OK;
  }
  int error = errno;
  side_files_close(out);
  return fail(ctx, error == ENOENT || error == ENOTDIR ? HONE_E_NOFILE : HONE_E_IO,
              place_file(folder), "the folder of side files: %s", strerror(error));
}

void side_files_close(struct side_files *sides) {
  if (sides->folder >= 0) close(sides->folder);
  sides->folder = -1;
}

void model_file_close(struct model_file *file) {
  file_unmap(&file->main);
  for (size_t i = 0; i < file->sides.count; i++) file_unmap(&file->sides.at[i]);
  free(file->sides.at);
  memset(file, 0, sizeof *file);
}

/* -- the location's text */

static hone_status refuse(struct ctx *ctx, const char *location, const char *why) {
  return advise(
      ctx, fail(ctx, HONE_E_PATH, place_name(location), "external data: %s", why),
      "put side files into the model's folder, or pass their folder with --side-files-from DIR");
}

/* Copies the component at *at, at most 255 bytes (check_location), and advances past it and its
 * slash; "." and doubled slashes are skipped. False: no component is left. */
static bool next_component(const char **at, char out[256]) {
  for (;;) {
    while (**at == '/') ++*at;
    size_t length = strcspn(*at, "/");
    if (!length) return false;
    const char *component = *at;
    *at += length;
    if (length == 1 && component[0] == '.') continue;
    memcpy(out, component, length);
    out[length] = 0;
    return true;
  }
}

static hone_status check_location(struct ctx *ctx, const char *location, size_t length) {
  if (!length) return refuse(ctx, "", "the location is empty");
  if (length >= SIDE_LOCATION_MAX) return refuse(ctx, "(long)", "the location is too long");
  if (strlen(location) != length) return refuse(ctx, location, "the location contains a NUL");
  if (location[0] == '/') return refuse(ctx, location, "the location is absolute");
  if (strchr(location, '\\')) return refuse(ctx, location, "the location contains a backslash");
  if (location[1] == ':') return refuse(ctx, location, "the location contains a drive name");
  for (const char *at = location; *at;) {
    size_t n = strcspn(at, "/");
    if (n == 2 && at[0] == '.' && at[1] == '.')
      return refuse(ctx, location, "the location leaves the model's folder");
    if (n > 255) return refuse(ctx, location, "a part of the location is too long");
    at += n;
    at += *at == '/';
  }
  size_t length_used = strlen(location);
  if (location[length_used - 1] == '/') return refuse(ctx, location, "the location is a folder");
  return HONE_OK;
}

/* -- the link of a Hugging Face cache */

/* "../../blobs/HASH": the number of parent steps, and the hash; 0 for any other target. */
static int cache_link(const char *target, const char **out_hash) {
  int ups = 0;
  while (!strncmp(target, "../", 3) && ups < MOST_UPS) target += 3, ups++;
  if (!ups || strncmp(target, "blobs/", 6)) return 0;
  *out_hash = target + 6;
  size_t length = strspn(*out_hash, "0123456789abcdef");
  return length >= 40 && length <= 64 && !(*out_hash)[length] ? ups : 0;
}

static bool same_file(int a, int b) {
  struct stat x, y;
  return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int open_folder(int parent, const char *name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens blobs/HASH of the cache repository that contains `folder`, -1 if there is none: the folder
 * `ups` - 1 levels above it must be the repository's "snapshots". */
static int open_blob(int folder, int ups, const char *hash) {
  int below = -1, at = dup(folder), fd = -1;
  for (int i = 0; i < ups && at >= 0; i++) {
    if (below >= 0) close(below);
    below = at;
    at = open_folder(at, "..");
  }
  int snapshots = at >= 0 ? open_folder(at, "snapshots") : -1;
  int blobs = at >= 0 ? open_folder(at, "blobs") : -1;
  if (ups >= 2 && snapshots >= 0 && blobs >= 0 && same_file(snapshots, below))
    fd = openat(blobs, hash, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  int used[] = {below, at, snapshots, blobs};
  for (size_t i = 0; i < COUNT(used); i++)
    if (used[i] >= 0) close(used[i]);
  return fd;
}

/* The last component is a link: it is followed only into the cache's blobs. -1 if not. */
static int open_cached(int folder, const char *name) {
  char target[SIDE_LOCATION_MAX];
  ssize_t length = readlinkat(folder, name, target, sizeof target - 1);
  if (length <= 0 || (size_t)length >= sizeof target - 1) return -1;
  target[length] = 0;
  const char *hash;
  int ups = cache_link(target, &hash);
  return ups ? open_blob(folder, ups, hash) : -1;
}

/* -- opening */

static hone_status open_failed(struct ctx *ctx, const struct side_files *sides,
                               const char *location, int error) {
  if (error == ELOOP || error == ENOTDIR)
    return refuse(
        ctx, location,
        "a part of the path is a symbolic link or not a folder; hone does not follow links");
  return fail(ctx, error == ENOENT ? HONE_E_NOFILE : HONE_E_IO, place_name(location),
              "external data in folder %s: %s", sides->name, strerror(error));
}

/* Walks to the file; *out_fd is the caller's. */
static hone_status walk(struct ctx *ctx, const struct side_files *sides, const char *location,
                        int *out_fd) {
  char part[256], next[256];
  const char *at = location;
  int folder = dup(sides->folder), fd = -1, error = 0;
  if (!next_component(&at, part)) {
    if (folder >= 0) close(folder);
    return refuse(ctx, location, "the location is a folder");
  }
  while (folder >= 0 && next_component(&at, next)) {
    fd = open_folder(folder, part);
    error = errno;
    close(folder);
    folder = fd;
    memcpy(part, next, sizeof part);
  }
  if (folder < 0) return open_failed(ctx, sides, location, error ? error : errno);
  fd = openat(folder, part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  error = errno;
  if (fd < 0 && error == ELOOP) fd = open_cached(folder, part);
  close(folder);
  if (fd < 0) return open_failed(ctx, sides, location, error);
  *out_fd = fd;
  return HONE_OK;
}

static hone_status check_file(struct ctx *ctx, const struct side_files *sides, const char *location,
                              int fd) {
  struct stat status;
  if (fstat(fd, &status)) return fail(ctx, HONE_E_IO, place_name(location), "%s", strerror(errno));
  if (!S_ISREG(status.st_mode)) return refuse(ctx, location, "not a regular file");
  if (status.st_nlink > 1 && status.st_uid != geteuid() && status.st_uid != sides->owner)
    return refuse(ctx, location, "a hard link to a file of another user");
  return HONE_OK;
}

static hone_status add_side(struct ctx *ctx, struct model_file *file, struct mapping mapping,
                            size_t *out_index) {
  for (size_t i = 0; i < file->sides.count; i++) {
    const struct mapping *side = &file->sides.at[i];
    if (side->device != mapping.device || side->inode != mapping.inode) continue;
    file_unmap(&mapping);
    *out_index = i;
    return HONE_OK;
  }
  if (file->sides.count == file->sides.capacity) {
    size_t capacity = file->sides.capacity ? 2 * file->sides.capacity : 8;
    struct mapping *at = reallocarray(file->sides.at, capacity, sizeof *at);
    if (!at) {
      file_unmap(&mapping);
      return fail(ctx, HONE_E_OOM, place_none(), "no memory for the list of side files");
    }
    file->sides.at = at;
    file->sides.capacity = capacity;
  }
  *out_index = file->sides.count;
  file->sides.at[file->sides.count++] = mapping;
  return HONE_OK;
}

static hone_status open_side(struct ctx *ctx, struct side_files *sides, const char *location,
                             size_t *out_index) {
  int fd;
  struct mapping mapping;
  TRY(walk(ctx, sides, location, &fd));
  hone_status status = check_file(ctx, sides, location, fd);
  if (!status) status = file_map_fd(ctx, fd, location, &mapping);
  close(fd);
  TRY(status);
  return add_side(ctx, sides->file, mapping, out_index);
}

/* Index of the file at `location`, opened on first use. */
static hone_status find_side(struct ctx *ctx, struct side_files *sides, const char *location,
                             size_t *out_index) {
  const size_t *known = names_find(&sides->opened, location);
  if (known) {
    *out_index = *known;
    return HONE_OK;
  }
  if (sides->folder < 0)
    return refuse(ctx, location, "a model without a folder cannot have side files");
  TRY(open_side(ctx, sides, location, out_index));
  const char *key;
  size_t *item;
  bool fresh;
  TRY(arena_string(ctx, sides->opened.arena, location, strlen(location), &key));
  TRY(NEW(ctx, sides->opened.arena, item));
  *item = *out_index;
  return names_add(ctx, &sides->opened, key, item, &fresh);
}

hone_status side_files_map(struct ctx *ctx, struct side_files *sides, const char *location,
                           size_t location_length, struct mapping *out) {
  size_t index = 0;
  TRY(check_location(ctx, location, location_length));
  TRY(find_side(ctx, sides, location, &index));
  *out = sides->file->sides.at[index];
  return HONE_OK;
}

hone_status side_files_read(struct ctx *ctx, struct side_files *sides, const char *location,
                            size_t location_length, uint64_t offset, int64_t length, size_t bytes,
                            struct place at, const uint8_t **out) {
  struct mapping mapping, *side = &mapping;
  TRY(side_files_map(ctx, sides, location, location_length, side));
  if (offset > side->size || bytes > side->size - (size_t)offset)
    return fail(ctx, HONE_E_FORMAT, at,
                "external data: %zu bytes at offset %llu of a file of %zu bytes", bytes,
                (unsigned long long)offset, side->size);
  if (length >= 0 && (uint64_t)length != bytes)
    return fail(ctx, HONE_E_FORMAT, at,
                "external data: length is %lld bytes, the tensor's shape needs %zu",
                (long long)length, bytes);
  *out = side->data + offset;
  return HONE_OK;
}
