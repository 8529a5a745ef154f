/* Arena: memory of one phase. Blocks double up to 64 MiB; one destroy frees all. Not thread-safe.
 *
 * Large blocks are mapped with huge pages: 500 MB of weights then cost 250 page faults instead of
 * 125,000, are zeroed once by the kernel and not again here, and add 250 page-table entries to each
 * forked child. */
#include "base.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Under AddressSanitizer only the requested bytes are accessible; a red zone follows each
 * allocation. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
enum { GAP = 0 };
#endif

struct block {
  struct block *next;
  size_t size; /* of the whole allocation */
};
struct arena {
  struct block *blocks;
  char *at, *end;
  bool is_zero; /* unused bytes of the newest block */
  size_t used, limit, next_size;
};

enum { FIRST_BLOCK = 64 << 10, LARGEST_BLOCK = 64 << 20, MAPPED_BLOCK = 4 << 20 };

bool checked_align(size_t n, size_t alignment, size_t *out) {
  if (!checked_add(n, alignment - 1, out)) return false;
  *out &= ~(alignment - 1);
  return true;
}

hone_status arena_create(struct ctx *ctx, size_t limit_bytes, struct arena **out_arena) {
  struct arena *arena = calloc(1, sizeof *arena);
  if (!arena) return fail(ctx, HONE_E_OOM, place_none(), "no memory for an arena");
  arena->limit = limit_bytes ? limit_bytes : (size_t)ctx->limits[LIMIT_arena_bytes];
  arena->next_size = FIRST_BLOCK;
  *out_arena = arena;
  return HONE_OK;
}

void arena_destroy(struct arena *arena) {
  if (!arena) return;
  for (struct block *block = arena->blocks, *next; block; block = next) {
    next = block->next;
    ASAN_UNPOISON_MEMORY_REGION(block, block->size);
    if (block->size >= MAPPED_BLOCK)
      munmap(block, block->size);
    else
      free(block);
  }
  free(arena);
}

size_t arena_used(const struct arena *arena) { return arena->used; }

static struct block *new_block(size_t size) {
  if (size < MAPPED_BLOCK) return malloc(size);
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return NULL;
  madvise(at, size, MADV_HUGEPAGE); /* only a hint */
  return at;
}

static hone_status add_block(struct ctx *ctx, struct arena *arena, size_t bytes) {
  size_t need;
  if (!checked_add(bytes, sizeof(struct block) + 64, &need))
    return fail(ctx, HONE_E_LIMIT, place_none(), "an allocation of %zu bytes is too large", bytes);
  size_t size = need > arena->next_size ? need : arena->next_size;
  struct block *block = new_block(size);
  if (!block) return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu bytes", size);
  block->next = arena->blocks;
  block->size = size;
  arena->blocks = block;
  arena->at = (char *)(block + 1);
  arena->end = (char *)block + size;
  ASAN_POISON_MEMORY_REGION(arena->at, size - sizeof *block);
  arena->is_zero = size >= MAPPED_BLOCK;
  if (arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
  return HONE_OK;
}

static char *aligned(char *p, size_t alignment) {
  return (char *)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
}

/* The message gives the size that would have been enough; tests request that size next. */
static hone_status past_limit(struct ctx *ctx, const struct arena *arena, size_t bytes) {
  size_t total;
  if (!checked_add(arena->used, bytes, &total)) total = SIZE_MAX;
  return fail(ctx, HONE_E_LIMIT, place_none(),
              "memory of one phase exceeds %zu bytes: it needs %zu (limit arena_bytes)",
              arena->limit, total);
}

hone_status arena_alloc(struct ctx *ctx, struct arena *arena, size_t count, size_t size,
                        void *out_pointer) {
  size_t bytes;
  if (!checked_mul(count, size, &bytes))
    return fail(ctx, HONE_E_LIMIT, place_none(), "%zu elements of %zu bytes overflow", count, size);
  if (!bytes) bytes = 1;
  if (bytes > arena->limit - arena->used) return past_limit(ctx, arena, bytes);
  size_t alignment = bytes >= 64 ? 64 : 16;
  char *p = arena->at ? aligned(arena->at, alignment) : NULL;
  if (!p || p > arena->end || (size_t)(arena->end - p) < bytes) {
    TRY(add_block(ctx, arena, bytes));
    p = aligned(arena->at, alignment);
  }
  arena->at = p + bytes + GAP;
  arena->used += bytes;
  ASAN_UNPOISON_MEMORY_REGION(p, bytes);
  if (!arena->is_zero) memset(p, 0, bytes);
  memcpy(out_pointer, &p, sizeof p);
  return HONE_OK;
}

hone_status arena_string(struct ctx *ctx, struct arena *arena, const char *bytes, size_t length,
                         const char **out_string) {
  size_t size;
  if (!checked_add(length, (size_t)1, &size))
    return fail(ctx, HONE_E_LIMIT, place_none(), "string too long");
  char *copy;
  TRY(arena_alloc(ctx, arena, size, 1, &copy));
  if (length) memcpy(copy, bytes, length);
  *out_string = copy;
  return HONE_OK;
}

hone_status arena_printf(struct ctx *ctx, struct arena *arena, const char **out_string,
                         const char *format, ...) {
  va_list args;
  va_start(args, format);
  char small[512];
  int n = vsnprintf(small, sizeof small, format, args);
  va_end(args);
  if (n < 0) return fail(ctx, HONE_E_INTERNAL, place_none(), "format error");
  if ((size_t)n < sizeof small) return arena_string(ctx, arena, small, (size_t)n, out_string);
  char *copy;
  TRY(arena_alloc(ctx, arena, (size_t)n + 1, 1, &copy));
  va_start(args, format);
  vsnprintf(copy, (size_t)n + 1, format, args);
  va_end(args);
  *out_string = copy;
  return HONE_OK;
}

hone_status vec_grow(struct ctx *ctx, struct arena *arena, void *at_pointer, size_t count,
                     size_t *capacity, size_t size) {
  if (count < *capacity) return HONE_OK;
  size_t grown;
  if (!checked_mul(*capacity ? *capacity : (size_t)4, (size_t)2, &grown))
    return fail(ctx, HONE_E_LIMIT, place_none(), "too many elements");
  void *old, *fresh;
  memcpy(&old, at_pointer, sizeof old);
  TRY(arena_alloc(ctx, arena, grown, size, &fresh));
  if (count) memcpy(fresh, old, count * size);
  memcpy(at_pointer, &fresh, sizeof fresh);
  *capacity = grown;
  return HONE_OK;
}
