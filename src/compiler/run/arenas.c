/* The memory of runs. Each run in progress has its own arena and leaves it to later runs. The
 * number of concurrent runs is limited to the usable cores (at least two), which bounds the memory;
 * further runs wait.
 */
#include "run_internal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GUARD_BYTES 65536u /* inaccessible, on both sides of the arena */

struct run_arena {
  struct run_arena *next;      /* of all */
  struct run_arena *next_idle; /* of idle arenas */
  void *at;
  void *map; /* including the guards */
  size_t map_bytes;
};

struct arena_pool {
  size_t bytes;
  struct run_arena *all, *idle;
  int count, most;
  pthread_cond_t returned;
  uint32_t forks; /* fork_count() of the process whose threads own the arenas in use */
};

/* Touches every page now, so that no run has page faults; missing memory is an error here, not a
   signal later. */
static bool populate(uint8_t *data, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (!madvise(data, bytes, MADV_POPULATE_WRITE)) return true;
  if (errno != EINVAL) return false; /* EINVAL: a kernel before 5.14 */
#endif
  for (size_t i = 0; i < bytes; i += 4096) *(volatile uint8_t *)(data + i) = 0;
  return true;
}

/* Guard pages on both sides; the arena ends where the upper one begins, to the next 64 bytes,
   unless it is large: then it begins at a huge page. */
static hone_status map_arena(struct ctx *ctx, size_t wanted, struct run_arena *out) {
  size_t bytes, total;
  if (!checked_align(wanted, 4096, &bytes) ||
      !checked_add(bytes, (size_t)(2 * GUARD_BYTES + HUGE_PAGE), &total))
    return fail(ctx, HONE_E_FORMAT, place_none(), "impossible arena size");
  uint8_t *base = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return fail(ctx, HONE_E_OOM, place_none(), "no address space for %zu bytes", total);
  out->map = base;
  out->map_bytes = total;
  uintptr_t at = (uintptr_t)base + GUARD_BYTES;
  if (bytes >= HUGE_PAGE) at = (at + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
  uint8_t *arena = base + (at - (uintptr_t)base);
  if (bytes && mprotect(arena, bytes, PROT_READ | PROT_WRITE))
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for an arena of %zu bytes", bytes);
  if (bytes >= HUGE_PAGE) madvise(arena, bytes, MADV_HUGEPAGE);
  if (bytes && !populate(arena, bytes))
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for an arena of %zu bytes", bytes);
  out->at = arena + (bytes >= HUGE_PAGE ? 0 : bytes - (wanted + 63) / 64 * 64);
  return HONE_OK;
}

static void unmap_arena(struct run_arena *arena) {
  if (arena->map) munmap(arena->map, arena->map_bytes);
  free(arena);
}

/* Outside the lock: a large arena takes milliseconds. */
static hone_status make_arena(struct ctx *ctx, size_t bytes, struct run_arena **out) {
  struct run_arena *arena = calloc(1, sizeof *arena);
  if (!arena) return fail(ctx, HONE_E_OOM, place_none(), "no memory for an arena");
  hone_status status = map_arena(ctx, bytes, arena);
  if (status)
    unmap_arena(arena);
  else
    *out = arena;
  return status;
}

/* In a child made by fork(): the parent's threads do not exist here and will not return their
   arenas. */
static void reclaim(struct arena_pool *pool) {
  if (pool->forks == fork_count()) return;
  pool->forks = fork_count();
  pool->idle = NULL;
  pool->count = 0;
  for (struct run_arena *a = pool->all; a; a = a->next, pool->count++) {
    a->next_idle = pool->idle;
    pool->idle = a;
  }
  pthread_cond_init(&pool->returned, NULL);
}

/* An idle arena; NULL: the caller, who is already counted, makes another. */
static struct run_arena *take_idle(struct arena_pool *pool) {
  reclaim(pool);
  while (!pool->idle && pool->count >= pool->most) fork_wait(&pool->returned);
  struct run_arena *arena = pool->idle;
  if (arena)
    pool->idle = arena->next_idle;
  else
    pool->count++;
  return arena;
}

hone_status arenas_take(struct ctx *ctx, struct arena_pool *pool, struct run_arena **out,
                        void **out_memory) {
  fork_lock();
  *out = take_idle(pool);
  fork_unlock();
  hone_status status = HONE_OK;
  if (!*out) {
    status = make_arena(ctx, pool->bytes, out);
    fork_lock();
    if (status) {
      pool->count--;
      pthread_cond_signal(&pool->returned);
    } else {
      (*out)->next = pool->all;
      pool->all = *out;
    }
    fork_unlock();
  }
  if (!status) *out_memory = (*out)->at;
  return status;
}

void arenas_give(struct arena_pool *pool, struct run_arena *arena) {
  fork_lock();
  arena->next_idle = pool->idle;
  pool->idle = arena;
  pthread_cond_signal(&pool->returned);
  fork_unlock();
}

void arenas_destroy(struct arena_pool *pool) {
  if (!pool) return;
  for (struct run_arena *a = pool->all, *next; a; a = next) {
    next = a->next;
    unmap_arena(a);
  }
  free(pool);
}

static int most_runs(void) {
  size_t bytes = 0;
  cpu_set_t *cpus = allowed_cpus(&bytes);
  const int cores = cpus ? CPU_COUNT_S(bytes, cpus) : 1;
  if (cpus) CPU_FREE(cpus);
  return cores > 2 ? cores : 2;
}

hone_status arenas_create(struct ctx *ctx, size_t bytes, struct arena_pool **out,
                          void **out_first) {
  struct arena_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return fail(ctx, HONE_E_OOM, place_none(), "no memory for arenas");
  fork_watch();
  *pool = (struct arena_pool){.bytes = bytes, .most = most_runs(), .forks = fork_count()};
  pthread_cond_init(&pool->returned, NULL);
  struct run_arena *first;
  hone_status status = arenas_take(ctx, pool, &first, out_first);
  if (status)
    arenas_destroy(pool);
  else
    arenas_give(pool, first);
  if (!status) *out = pool;
  return status;
}
