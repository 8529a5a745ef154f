/* The weights of a loaded artifact: inside the library, or in the file NAME.weights beside NAME.so:
 * the packed weights from offset 0, info->weights_bytes of them, then struct hone_weights_footer.
 *
 * They are mapped, and a run can begin. Large ones are then copied to memory of huge pages, where the
 * kernel gives them, by a thread of its own: a model that streams through more weights than the TLB
 * reaches runs faster (resnet18, 46 MB, one thread: 17.8 to 17.1 ms on a Zen 5 server, 2026-11;
 * transformer, 6 MB: no difference). Runs that begin after the copy is whole read it, those before
 * read the file. Its pages are let go part by part, and once more by the first run that reads the copy: those
 * before brought some back. So memory holds the weights once. A run that waited for the copy instead would
 * never hold them twice, but the first inference of vgg19 (732 MB) took 960 ms for 180 ms (Zen 4, 2026-11).
 */
#include "run_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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
  return bytes >= COPY_FROM && bytes <= usable_ram_bytes() / 4;
}

struct weights_copy {
  pthread_t thread;
  const uint8_t *from;
  size_t bytes;
  uint8_t *map, *to; /* what is mapped; from the first huge page on */
  size_t map_bytes;
  atomic_bool stop, let_go;   /* let_go: no run reads the source any more */
  _Atomic(const void *) done; /* the copy once it is whole */
};

/* Whole pages of the source leave this process's memory; they can be read again. */
static void let_go(const struct weights_copy *copy, size_t at, size_t bytes) {
  if ((uintptr_t)copy->from % 4096 == 0)
    madvise((void *)(uintptr_t)(copy->from + at), bytes / 4096 * 4096, MADV_DONTNEED);
}

static void *copy_in_parts(void *argument) {
  struct weights_copy *copy = argument;
  for (size_t at = 0; at < copy->bytes; at += COPY_PART) {
    if (atomic_load_explicit(&copy->stop, memory_order_relaxed)) return NULL;
    size_t part = copy->bytes - at < COPY_PART ? copy->bytes - at : COPY_PART;
    memcpy(copy->to + at, copy->from + at, part);
    let_go(copy, at, part);
  }
  mprotect(copy->map, copy->map_bytes, PROT_READ);
  atomic_store_explicit(&copy->done, copy->to, memory_order_release);
  return NULL;
}

/* Signals stay with the threads that were there before. */
static bool start_copy(struct weights_copy *copy) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = !pthread_create(&copy->thread, NULL, copy_in_parts, copy);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

/* Whatever fails here, the weights stay where they are. */
static void copy_to_huge_pages(struct loaded *out) {
  size_t bytes = (size_t)out->info->weights_bytes, total;
  if (!worth_a_copy(bytes) || !checked_add(bytes, (size_t)(2 * HUGE_PAGE), &total)) return;
  uint8_t *map = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return;
  size_t skip = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
  struct weights_copy *copy = calloc(1, sizeof *copy);
  if (copy) {
    copy->from = out->weights;
    copy->bytes = bytes;
    copy->map = map;
    copy->to = map + skip;
    copy->map_bytes = total;
  }
  /* madvise fails on a kernel without huge pages */
  if (copy && !madvise(map + skip, total - skip, MADV_HUGEPAGE) && start_copy(copy)) {
    out->copy = copy;
    return;
  }
  munmap(map, total);
  free(copy);
}

hone_status weights_load(struct ctx *ctx, const char *path, struct loaded *out) {
  TRY(find_weights(ctx, path, out));
  copy_to_huge_pages(out);
  return HONE_OK;
}

const void *loaded_weights(const struct loaded *loaded) {
  struct weights_copy *copy = loaded->copy;
  const void *done = copy ? atomic_load_explicit(&copy->done, memory_order_acquire) : NULL;
  if (!done) return loaded->weights;
  if (!atomic_exchange_explicit(&copy->let_go, true, memory_order_relaxed))
    let_go(copy, 0, copy->bytes);
  return done;
}

void weights_unload(struct loaded *loaded) {
  if (loaded->copy) {
    atomic_store(&loaded->copy->stop, true);
    pthread_join(loaded->copy->thread, NULL);
    munmap(loaded->copy->map, loaded->copy->map_bytes);
    free(loaded->copy);
  }
  file_unmap(&loaded->weights_file);
}
