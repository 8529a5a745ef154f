/* The weights of a loaded artifact: inside the library, or in the file NAME.weights beside NAME.so:
 * the packed weights from offset 0, info->weights_bytes of them, then struct hone_weights_footer.
 *
 * Large weights are copied to memory of huge pages, where the kernel gives them: a model that
 * streams through more weights than the TLB reaches runs faster (resnet18, 46 MB, one thread: 17.8
 * to 17.1 ms on a Zen 5 server, 2026-11; transformer, 6 MB: no difference). The pages of the file
 * are let go part by part, so memory holds the weights once.
 */
#include "run_internal.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define COPY_FROM (16u << 20) /* smaller weights fit the reach of the second-level TLB */
#define COPY_PART (16u << 20)

/* NAME.so -> NAME.weights */
static bool weights_path(const char *path, char out[4096]) {
  size_t length = strlen(path);
  if (length > 3 && !strcmp(path + length - 3, ".so")) length -= 3;
  int n = snprintf(out, 4096, "%.*s.weights", (int)length, path);
  return n > 0 && n < 4096;
}

static hone_status check_weights(struct ctx *ctx, const char *path, const struct mapping *file,
                                 const struct hone_artifact_info *info) {
  size_t size;
  if (!checked_add((size_t)info->weights_bytes, sizeof(struct hone_weights_footer), &size))
    return fail(ctx, HONE_E_FORMAT, place_file(path), "impossible size of weights");
  if (file->size != size)
    return fail(ctx, HONE_E_IO, place_file(path), "%zu bytes, the artifact needs %zu", file->size,
                size);
  struct hone_weights_footer footer;
  memcpy(&footer, file->data + info->weights_bytes, sizeof footer);
  if (memcmp(footer.magic, HONE_WEIGHTS_MAGIC, sizeof footer.magic) ||
      footer.weights_bytes != info->weights_bytes)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "not a weights file of hone");
  if (memcmp(footer.build_id, info->build_id, sizeof footer.build_id))
    return fail(ctx, HONE_E_IO, place_file(path),
                "these weights belong to another build (%.32s, the artifact is %s)",
                footer.build_id, info->build_id);
  return HONE_OK;
}

static hone_status find_weights(struct ctx *ctx, const char *path, struct loaded *out) {
  out->weights = out->info->weights;
  if (out->weights || !out->info->weights_bytes) return HONE_OK;
  char file[4096];
  if (!weights_path(path, file))
    return fail(ctx, HONE_E_PATH, place_file(path), "the path is too long");
  TRY(file_map(ctx, file, &out->weights_file));
  TRY(check_weights(ctx, file, &out->weights_file, out->info));
  madvise((void *)(uintptr_t)out->weights_file.data, out->weights_file.size, MADV_WILLNEED);
  out->weights = out->weights_file.data;
  return HONE_OK;
}

/* At most a quarter of the memory is worth a copy. */
static bool worth_a_copy(size_t bytes) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return bytes >= COPY_FROM && pages > 0 && page > 0 && bytes / (size_t)page <= (size_t)pages / 4;
}

/* Whole pages of the source are dropped as soon as they are copied; they can be read again. */
static void copy_in_parts(uint8_t *to, const uint8_t *from, size_t bytes) {
  bool aligned = (uintptr_t)from % 4096 == 0;
  for (size_t at = 0; at < bytes; at += COPY_PART) {
    size_t part = bytes - at < COPY_PART ? bytes - at : COPY_PART;
    memcpy(to + at, from + at, part);
    if (aligned) madvise((void *)(uintptr_t)(from + at), part / 4096 * 4096, MADV_DONTNEED);
  }
}

/* Whatever fails here, the weights stay where they are. */
static void copy_to_huge_pages(struct loaded *out) {
  size_t bytes = (size_t)out->info->weights_bytes, total;
  if (!worth_a_copy(bytes) || !checked_add(bytes, (size_t)(2 * HUGE_PAGE), &total)) return;
  uint8_t *map = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return;
  size_t skip = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
  if (madvise(map + skip, total - skip, MADV_HUGEPAGE)) { /* a kernel without them */
    munmap(map, total);
    return;
  }
  copy_in_parts(map + skip, out->weights, bytes);
  mprotect(map, total, PROT_READ);
  out->weights = map + skip;
  out->weights_map = map;
  out->weights_map_bytes = total;
}

hone_status weights_load(struct ctx *ctx, const char *path, struct loaded *out) {
  TRY(find_weights(ctx, path, out));
  copy_to_huge_pages(out);
  return HONE_OK;
}

void weights_unload(struct loaded *loaded) {
  if (loaded->weights_map) munmap(loaded->weights_map, loaded->weights_map_bytes);
  file_unmap(&loaded->weights_file);
}
