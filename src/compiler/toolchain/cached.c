/* Publishes artifacts, and uses the artifact cache. Large weights are not cached but packed and
 * written again: that takes as long as copying 600 MB, needs no space in the cache, and a first
 * compilation does not write them twice.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "compiler/run/artifact.h"

hone_status seal(struct ctx *ctx, const char *path, const char *file) {
  struct hone_artifact_seal seal = {.magic = HONE_ARTIFACT_SEAL};
  struct mapping map;
  if (artifact_kind_of(path) != ARTIFACT_SO) return HONE_OK;
  TRY(file_map(ctx, file, &map));
  seal.bytes = map.size;
  seal.checksum = hash_64(map.data, map.size);
  file_unmap(&map);
  const int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  bool ok = fd >= 0 && write_all(fd, &seal, sizeof seal);
  int error = errno;
  if (fd >= 0 && close(fd) && ok) ok = false, error = errno;
  return ok ? HONE_OK : fail(ctx, HONE_E_WRITE, place_file(path), "%s", strerror(error));
}

hone_status publish(struct ctx *ctx, const struct build *build, const char *from,
                    const char *path) {
  const enum artifact_kind kind = artifact_kind_of(path);
  TRY(check_product(ctx, build, from, kind));
  return file_copy(ctx, from, path, kind == ARTIFACT_A ? 0644 : 0755, NULL);
}

hone_status insert_into(struct ctx *ctx, struct build *build, const char *linked, bool *out_done) {
  TRY(insert_weights(ctx, linked, build->input->weights_bytes, &build->file, build->weights_at,
                     out_done));
  if (!*out_done) return HONE_OK;
  TRY(seal(ctx, build->file.path, build->file.temporary));
  TRY(check_product(ctx, build, build->file.temporary, artifact_kind_of(build->file.path)));
  return output_commit(ctx, &build->file);
}

/* A key of its own: the linked file is not an artifact. */
static hone_status linked_key(struct ctx *ctx, const struct build *build, char out[65]) {
  char text[80];
  int n = snprintf(text, sizeof text, "linked|%.64s", build->options->cache_key);
  return sha256_hex(ctx, out, text, (size_t)n);
}

static bool find(struct ctx *ctx, struct build *build, const char *key, char path[4096]) {
  struct ctx quiet = *ctx;
  bool hit = false;
  if (build->lacks_cache) return false;
  if (!cache_lookup(&quiet, key, path, &hit)) return hit;
  warn(ctx, "no artifact cache: %s", quiet.message);
  build->lacks_cache = true;
  return false;
}

/* A broken entry does not fail the build: it is removed, and the model is compiled. */
static hone_status use_entry(struct ctx *ctx, struct build *build, const char *entry,
                             const char *path, bool is_linked, bool *out_done) {
  struct ctx attempt = *ctx;
  if (is_linked) TRY(run_jobs(ctx, build, false));
  hone_status status = is_linked ? insert_into(&attempt, build, entry, out_done)
                                 : publish(&attempt, build, entry, path);
  if (!is_linked) *out_done = !status;
  if (!status) return HONE_OK;
  *out_done = false;
  if (status != HONE_E_CRASH) {
    *ctx = attempt;
    return status;
  }
  cache_remove(ctx, entry);
  output_drop(&build->file);
  return weights_open(ctx, build, path);
}

hone_status take_cached(struct ctx *ctx, struct build *build, const char *path, bool *out_done) {
  char key[65], entry[4096];
  *out_done = false;
  if (!build->options->cache_key) return HONE_OK;
  if (build->inserts) {
    TRY(linked_key(ctx, build, key));
    if (find(ctx, build, key, entry)) TRY(use_entry(ctx, build, entry, path, true, out_done));
  }
  if (*out_done || !find(ctx, build, build->options->cache_key, entry)) return HONE_OK;
  return use_entry(ctx, build, entry, path, false, out_done);
}

void keep_cached(struct ctx *ctx, const struct build *build, const char *linked, const char *path,
                 bool is_inserted) {
  struct ctx quiet = *ctx;
  char key[65];
  if (!build->options->cache_key || build->lacks_cache) return;
  hone_status status = is_inserted ? linked_key(&quiet, build, key) : HONE_OK;
  if (!status)
    status = cache_store(&quiet, is_inserted ? key : build->options->cache_key,
                         is_inserted ? linked : path);
  if (status) warn(ctx, "artifact not cached: %s", quiet.message);
}
