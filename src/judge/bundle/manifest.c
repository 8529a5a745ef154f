/* MANIFEST: one line "SHA-256  PATH" for every file, sorted by path, readable by `sha256sum -c`.
 * The first line is a title; the last is the hash of all lines before it, which is also the
 * bundle's id. */
#include "bundle.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_FILES = 4096, DEPTH = 4 };

struct listing {
  const char *at[MOST_FILES];
  size_t count;
};

/* Adds the files and folders in `folder`; "": the bundle itself. */
static hone_status list_folder(struct bundle *b, const char *folder, struct listing *files,
                               struct listing *folders) {
  char path[4096];
  TRY(bundle_path(b, *folder ? folder : ".", path));
  DIR *dir = opendir(path);
  const struct dirent *entry;
  hone_status status = HONE_OK;
  if (!dir) return fail(b->ctx, HONE_E_IO, place_file(path), "%s", strerror(errno));
  while (!status && (entry = readdir(dir))) {
    struct stat info;
    const char *name;
    char full[8300];
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    status =
        arena_printf(b->ctx, b->arena, &name, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
    snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
    if (!status && lstat(full, &info))
      status = fail(b->ctx, HONE_E_IO, place_file(full), "%s", strerror(errno));
    if (status) break;
    struct listing *list = S_ISDIR(info.st_mode) ? folders : files;
    if (list->count == MOST_FILES)
      status = fail(b->ctx, HONE_E_LIMIT, place_file(b->dir), "more than %d files", MOST_FILES);
    else
      list->at[list->count++] = name;
  }
  closedir(dir);
  return status;
}

static hone_status hash_line(struct bundle *b, const char *name, struct strbuf *out) {
  char path[4096], hash[65];
  struct mapping map;
  TRY(bundle_path(b, name, path));
  TRY(file_map(b->ctx, path, &map));
  hone_status status = sha256_hex(b->ctx, hash, map.data, map.size);
  file_unmap(&map);
  strbuf_printf(out, "%s  %s\n", hash, name);
  return status;
}

hone_status bundle_make_manifest(struct bundle *b, char out_id[17]) {
  struct listing *files, *folders;
  struct strbuf out = {0};
  char hash[65];
  TRY(NEW(b->ctx, b->arena, files));
  TRY(NEW(b->ctx, b->arena, folders));
  TRY(list_folder(b, "", files, folders));
  for (size_t i = 0; i < folders->count; i++) TRY(list_folder(b, folders->at[i], files, folders));
  qsort(files->at, files->count, sizeof *files->at, by_text);
  strbuf_puts(&out, "# hone bundle 1\n");
  hone_status status = HONE_OK;
  for (size_t i = 0; !status && i < files->count; i++) status = hash_line(b, files->at[i], &out);
  if (!status) status = strbuf_finish(b->ctx, &out);
  if (!status) status = sha256_hex(b->ctx, hash, out.at, out.length);
  if (!status) {
    strbuf_printf(&out, "# %s\n", hash);
    snprintf(out_id, 17, "%.16s", hash);
    status = bundle_put_text(b, "MANIFEST", &out, 0644);
  }
  strbuf_deinit(&out);
  return status;
}
