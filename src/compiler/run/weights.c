/* The weights of a loaded artifact: inside the library, or in the file NAME.weights next to
 * NAME.so: the packed weights from offset 0, info->weights_bytes of them, then struct
 * hone_weights_footer.
 *
 * They are mapped, and runs can begin at once. A thread then copies large weights to huge pages, if
 * the kernel provides them: a model whose weights exceed the reach of the TLB runs faster
 * (resnet18, 46 MB, one thread: 17.8 to 17.1 ms on a Zen 5 server, 2026-11; transformer, 6 MB: no
 * difference). Each part replaces its original at the same address as soon as it is complete: runs
 * do not notice, do not wait for other parts, and at most one part is in memory twice. Parts of a
 * huge page at either end stay unchanged, and so do the tables at the end of the weights, of which
 * runs read only a few rows. Waiting for the whole copy would delay the first
 * inference of vgg19 (732 MB) from 180 to 960 ms (Zen 4, 2026-11).
 */
#include "run_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define COPY_FROM (16u << 20) /* smaller weights are within the reach of the second-level TLB */
#define COPY_PART (8u << 20)  /* held twice while it is copied */

/* NAME.so -> NAME.weights */
static bool weights_path(const char *path, char out[4096]) {
  size_t length = strlen(path);
  if (length > 3 && !strcmp(path + length - 3, ".so")) length -= 3;
  int n = snprintf(out, 4096, "%.*s.weights", (int)length, path);
  return n > 0 && n < 4096;
}

/* Bytes of the weights before the tables. */
static size_t read_whole(const struct hone_artifact_info *info) {
  return (size_t)(info->weights_bytes - info->table_bytes);
}

static hone_status check_weights(struct ctx *ctx, const char *path, const struct mapping *file,
                                 const struct hone_artifact_info *info) {
  size_t size;
  if (info->table_bytes > info->weights_bytes)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "impossible size of tables");
  if (!checked_add((size_t)info->weights_bytes, sizeof(struct hone_weights_footer), &size))
    return fail(ctx, HONE_E_FORMAT, place_file(path), "impossible size of weights");
  if (file->size != size)
    return fail(ctx, HONE_E_IO, place_file(path), "%zu bytes, the artifact needs %zu", file->size,
                size);
  struct hone_weights_footer footer;
  memcpy(&footer, file->data + info->weights_bytes, sizeof footer);
  if (memcmp(footer.magic, HONE_WEIGHTS_MAGIC, sizeof footer.magic) ||
      footer.weights_bytes != info->weights_bytes)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "not a .weights file of hone");
  if (memcmp(footer.build_id, info->build_id, sizeof footer.build_id))
    return fail(ctx, HONE_E_IO, place_file(path),
                "these weights belong to another build (%.32s; the artifact's is %s)",
                footer.build_id, info->build_id);
  if (!footer.checksum) return HONE_OK;
  return checksum_check(ctx, path, file, (size_t)info->weights_bytes, footer.checksum);
}

static hone_status find_weights(struct ctx *ctx, const char *path, struct loaded *out) {
  out->weights = out->info->weights;
  if (out->weights || !out->info->weights_bytes) return HONE_OK;
  char file[4096];
  if (!weights_path(path, file))
    return fail(ctx, HONE_E_PATH, place_file(path), "the path is too long");
  TRY(file_map(ctx, file, &out->weights_file));
  TRY(check_weights(ctx, file, &out->weights_file, out->info));
  madvise((void *)(uintptr_t)out->weights_file.data, read_whole(out->info), MADV_WILLNEED);
  out->weights = out->weights_file.data;
  return HONE_OK;
}

/* Copies only weights of at most a quarter of the memory. */
static bool worth_a_copy(size_t bytes) {
  return bytes >= COPY_FROM && bytes <= usable_ram_bytes() / 4;
}

/* The complete huge pages of the weights. */
struct weights_copy {
  pthread_t thread;
  uint8_t *at;
  size_t bytes;
  atomic_bool stop, done;
  uint32_t forks; /* fork_count() of the process that has the thread */
};

/* Memory of huge pages, aligned to their size; NULL: the kernel has none. */
static uint8_t *huge_room(size_t bytes) {
  uint8_t *map =
      mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return NULL;
  size_t skip = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
  if (skip) munmap(map, skip);
  if (HUGE_PAGE - skip) munmap(map + skip + bytes, HUGE_PAGE - skip);
  if (!madvise(map + skip, bytes, MADV_HUGEPAGE)) return map + skip;
  munmap(map + skip, bytes);
  return NULL;
}

/* The kernel moves the copy into place atomically: a thread that reads there waits in its page
   fault. */
static bool take_place(uint8_t *at, size_t bytes) {
  uint8_t *room = huge_room(bytes);
  if (!room) return false;
  memcpy(room, at, bytes);
  if (!mprotect(room, bytes, PROT_READ) &&
      mremap(room, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at)
    return true;
  munmap(room, bytes);
  return false;
}

/* On any failure the weights stay in place. */
static void *copy_in_parts(void *argument) {
  struct weights_copy *copy = argument;
  setpriority(PRIO_PROCESS, (id_t)gettid(), 19); /* of this thread: runs gain from it later */
  for (size_t at = 0, part; at < copy->bytes; at += part) {
    part = copy->bytes - at < COPY_PART ? copy->bytes - at : COPY_PART;
    if (atomic_load_explicit(&copy->stop, memory_order_relaxed)) break;
    if (!take_place(copy->at + at, part)) break;
  }
  atomic_store(&copy->done, true);
  return NULL;
}

/* The copying thread blocks signals. */
static bool start_copy(struct weights_copy *copy) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = !pthread_create(&copy->thread, NULL, copy_in_parts, copy);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static void copy_to_huge_pages(struct loaded *out) {
  size_t bytes = read_whole(out->info);
  uintptr_t from = (uintptr_t)out->weights, skip = (HUGE_PAGE - from % HUGE_PAGE) % HUGE_PAGE;
  if (!worth_a_copy(bytes)) return;
  struct weights_copy *copy = calloc(1, sizeof *copy);
  if (!copy) return;
  copy->at = (uint8_t *)(from + skip);
  copy->bytes = (bytes - skip) / HUGE_PAGE * HUGE_PAGE;
  fork_watch();
  copy->forks = fork_count();
  if (start_copy(copy))
    out->copy = copy;
  else
    free(copy);
}

hone_status weights_load(struct ctx *ctx, const char *path, struct loaded *out) {
  TRY(find_weights(ctx, path, out));
  copy_to_huge_pages(out);
  return HONE_OK;
}

bool weights_are_settled(const struct loaded *loaded) {
  return !loaded->copy || atomic_load(&loaded->copy->done);
}

static void end_copy(struct loaded *loaded) {
  if (!loaded->copy) return;
  atomic_store(&loaded->copy->stop, true);
  if (loaded->copy->forks == fork_count()) pthread_join(loaded->copy->thread, NULL);
  free(loaded->copy);
  loaded->copy = NULL;
}

void weights_unload(struct loaded *loaded) {
  end_copy(loaded);
  file_unmap(&loaded->weights_file);
}
