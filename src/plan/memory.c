/* Arena offsets: greedy by size (Pisarchyk & Lee 2020): the largest buffer first, each in the
 * lowest gap that fits between those alive at the same time. 64-byte aligned. */
#include "plan.h"

#include <stdlib.h>

static bool overlap(const struct buffer *a, const struct buffer *b) {
  return a->first <= b->last && b->first <= a->last;
}

static int by_size(const void *a, const void *b) {
  const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int by_offset(const void *a, const void *b) {
  const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static size_t lowest_gap(struct buffer **alive, size_t count, size_t bytes) {
  size_t at = 0;
  qsort(alive, count, sizeof *alive, by_offset);
  for (size_t i = 0; i < count; i++) {
    if (alive[i]->offset >= at && alive[i]->offset - at >= bytes) return at;
    size_t end = alive[i]->offset + alive[i]->bytes;
    if (end > at) at = end;
  }
  return at;
}

static size_t most_alive(const struct plan *plan) {
  size_t most = 0;
  for (size_t s = 0; s < plan->steps.count; s++) {
    size_t alive = 0;
    for (size_t i = 0; i < plan->buffers.count; i++) {
      const struct buffer *buffer = plan->buffers.at[i];
      if (buffer->place == BUFFER_ARENA && buffer->first <= (int)s && (int)s <= buffer->last)
        alive += buffer->bytes;
    }
    if (alive > most) most = alive;
  }
  return most;
}

hone_status plan_memory(struct ctx *ctx, struct arena *arena, struct plan *plan) {
  struct buffer **order, **alive;
  size_t count = 0;
  TRY(NEW_ARRAY(ctx, arena, order, plan->buffers.count));
  TRY(NEW_ARRAY(ctx, arena, alive, plan->buffers.count));
  for (size_t i = 0; i < plan->buffers.count; i++) {
    struct buffer *buffer = plan->buffers.at[i];
    if (!checked_align(buffer->bytes, 64, &buffer->bytes))
      return fail(ctx, HONE_E_LIMIT, place_none(), "a buffer is too large");
    if (buffer->place == BUFFER_ARENA) order[count++] = buffer;
    if (buffer->place == BUFFER_WEIGHTS) {
      buffer->offset = plan->weights_bytes;
      if (!checked_add(plan->weights_bytes, buffer->bytes, &plan->weights_bytes))
        return fail(ctx, HONE_E_LIMIT, place_none(), "the weights are too large");
    }
  }
  qsort(order, count, sizeof *order, by_size);
  for (size_t i = 0; i < count; i++) {
    size_t neighbours = 0, end;
    for (size_t j = 0; j < i; j++)
      if (overlap(order[i], order[j])) alive[neighbours++] = order[j];
    order[i]->offset = lowest_gap(alive, neighbours, order[i]->bytes);
    if (!checked_add(order[i]->offset, order[i]->bytes, &end))
      return fail(ctx, HONE_E_LIMIT, place_none(), "the arena is too large");
    if (end > plan->arena_bytes) plan->arena_bytes = end;
  }
  plan->lower_bound_bytes = most_alive(plan);
  return HONE_OK;
}
