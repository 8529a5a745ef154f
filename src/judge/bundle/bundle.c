/* Makes a bundle in a new folder next to the requested one, runs its self-test there, and
   renames it at the end. */
#include "bundle.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- the folder */

/* DIR without trailing slashes; creates its parent folder. */
static hone_status make_parent(struct ctx *ctx, const char *dir, char trimmed[4096]) {
  char parent[4096];
  snprintf(trimmed, 4096, "%s", dir);
  for (size_t n = strlen(trimmed); n > 1 && trimmed[n - 1] == '/'; n--) trimmed[n - 1] = 0;
  const char *slash = strrchr(trimmed, '/');
  snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - trimmed) + 1 : 1,
           slash ? trimmed : ".");
  TRY(dir_output(ctx, parent));
  return access(parent, W_OK | X_OK) ? fail(ctx, HONE_E_WRITE, place_file(dir),
                                            "cannot create a folder there: %s", strerror(errno))
                                     : HONE_OK;
}

static hone_status check_folder(struct ctx *ctx, const char *dir) {
  char trimmed[4096];
  struct stat info;
  TRY(make_parent(ctx, dir, trimmed));
  if (!lstat(trimmed, &info) && S_ISLNK(info.st_mode))
    return fail(ctx, HONE_E_PATH, place_file(dir), "is a link; a bundle needs a new folder");
  DIR *folder = opendir(dir);
  const struct dirent *entry;
  bool is_empty = true;
  if (!folder && errno == ENOENT) return HONE_OK;
  if (!folder)
    return fail(ctx, errno == ENOTDIR ? HONE_E_PATH : HONE_E_WRITE, place_file(dir), "%s",
                strerror(errno));
  while ((entry = readdir(folder)))
    is_empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
  closedir(folder);
  if (is_empty) return HONE_OK;
  return fail(ctx, HONE_E_PATH, place_file(dir), "is not empty; a bundle needs a new folder");
}

hone_status bundle_check(struct ctx *ctx, const char *backend, const char *dir) {
  if (!*dir || strlen(dir) > 3900)
    return fail(ctx, HONE_E_PATH, place_file(dir), "a bundle needs the name of a folder");
  if (backend && !bundle_can_run(backend))
    return advise(
        ctx,
        fail(ctx, HONE_E_UNSUP, place_name(backend), "a bundle cannot contain this engine yet"),
        "pass --backend native,onnxruntime,openvino");
  return check_folder(ctx, dir);
}

/* A new folder next to DIR, so that the rename at the end stays within one file system. */
static hone_status begin_folder(struct bundle *b, const char *dir) {
  char trimmed[4096];
  TRY(make_parent(b->ctx, dir, trimmed));
  if (snprintf(b->dir, sizeof b->dir, "%s.new-%d", trimmed, (int)getpid()) >= (int)sizeof b->dir)
    return fail(b->ctx, HONE_E_PATH, place_file(dir), "the path is too long");
  static const char *const folders[] = {"", "/src", "/vectors", "/licences"};
  for (size_t i = 0; i < COUNT(folders); i++) {
    char path[4200];
    snprintf(path, sizeof path, "%s%s", b->dir, folders[i]);
    if (mkdir(path, 0755))
      return fail(b->ctx, HONE_E_WRITE, place_file(path), "%s", strerror(errno));
  }
  char *real = realpath(b->dir, NULL);
  if (real && strlen(real) < sizeof b->dir) snprintf(b->dir, sizeof b->dir, "%s", real);
  free(real);
  return HONE_OK;
}

static hone_status load(struct bundle *b) {
  const struct config *config = &b->request->choice->config;
  const bool is_zoo = !strncmp(b->request->model_path, "zoo:", 4);
  const struct import_options options = {
      .shapes = !is_zoo && config->shapes[0] ? config->shapes : NULL,
      .batch = is_zoo ? config->batch : 0,
      .side_files_from = b->request->side_files_from};
  return model_load(b->ctx, b->request->model_path, &options, &b->model);
}

static hone_status make_model(struct bundle *b) {
  TRY(bundle_put_embedded(b, "run/artifact.h", "src/artifact.h", 0644));
  TRY(bundle_put_embedded(b, "run/stages.h", "src/stages.h", 0644));
  return b->is_hybrid   ? bundle_make_hybrid(b)
         : b->is_native ? bundle_make_native(b)
                        : bundle_make_engine(b, adaptor_of(b->request->choice->config.backend));
}

static hone_status make(struct bundle *b, char out_id[17]) {
  const char *selftest[] = {"selftest", NULL};
  TRY(load(b));
  TRY(make_model(b));
  TRY(bundle_make_vectors(b));
  TRY(bundle_make_programs(b));
  TRY(bundle_judge(b));
  TRY(bundle_make_documents(b));
  TRY(bundle_make_manifest(b, out_id));
  return bundle_run(b, selftest);
}

hone_status bundle_write(struct ctx *ctx, const struct bundle_request *request, const char *dir,
                         char out_id[17]) {
  struct bundle *b = calloc(1, sizeof *b);
  if (!b) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a bundle");
  b->ctx = ctx;
  b->request = request;
  b->is_native = !strcmp(request->choice->config.backend, "native");
  b->is_hybrid = !strcmp(request->choice->config.backend, "hybrid");
  hone_status status = bundle_check(ctx, request->choice->config.backend, dir);
  if (!status) status = arena_create(ctx, (size_t)64 << 30, &b->arena);
  if (!status) status = begin_folder(b, dir);
  if (!status) status = make(b, out_id);
  if (!status) {
    rmdir(dir); /* if the user made an empty one */
    if (rename(b->dir, dir))
      status = fail(ctx, HONE_E_WRITE, place_file(dir), "%s", strerror(errno));
  }
  if (status && b->dir[0]) dir_remove_tree(b->dir);
  model_unload(&b->model);
  arena_destroy(b->arena);
  free(b);
  return status;
}
