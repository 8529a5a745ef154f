/* Arena offsets, 64-byte aligned: greedy by size (Pisarchyk & Lee 2020). The largest buffer comes
 * first, each at the lowest gap that fits between buffers alive at the same time. That is quadratic
 * in the number of buffers, so only the LARGEST take part. The others share a region after them, in
 * which a buffer reuses the place of an expired one of about its size.
 */
#include "plan.h"

#include <stdlib.h>

enum { LARGEST = 8192 }; /* buffers that are placed greedily */

static bool overlap(const struct buffer *a, const struct buffer *b) {
  return a->first < b->end && b->first < a->end;
}

static int by_size(const void *a, const void *b) {
  const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first(const void *a, const void *b) {
  const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int by_end(const void *a, const void *b) {
  const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
  return x->end < y->end ? -1 : x->end > y->end;
}

static hone_status raise(struct ctx *ctx, struct plan *plan, size_t offset, size_t bytes) {
  size_t end;
  if (!checked_add(offset, bytes, &end))
    return fail(ctx, HONE_E_LIMIT, place_none(), "the arena is too large");
  if (end > plan->arena_bytes) plan->arena_bytes = end;
  return HONE_OK;
}

/* placed: ordered by offset. */
static size_t lowest_gap(struct buffer *const *placed, size_t count, const struct buffer *buffer) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    if (!overlap(placed[i], buffer)) continue;
    if (placed[i]->offset >= at && placed[i]->offset - at >= buffer->bytes) return at;
    size_t end = placed[i]->offset + placed[i]->bytes;
    if (end > at) at = end;
  }
  return at;
}

static hone_status place_largest(struct ctx *ctx, struct arena *arena, struct plan *plan,
                                 struct buffer *const *order, size_t count) {
  struct buffer **placed;
  TRY(NEW_ARRAY(ctx, arena, placed, count));
  for (size_t i = 0; i < count; i++) {
    struct buffer *buffer = order[i];
    buffer->offset = lowest_gap(placed, i, buffer);
    TRY(raise(ctx, plan, buffer->offset, buffer->bytes));
    size_t k = i;
    for (; k > 0 && placed[k - 1]->offset > buffer->offset; k--) placed[k] = placed[k - 1];
    placed[k] = buffer;
  }
  return HONE_OK;
}

/* Eight classes between two powers of two; *bytes becomes the size of the class. */
static size_t size_class(size_t *bytes) {
  size_t shift = 0, eighths = *bytes;
  for (; eighths > 15; shift++) eighths = (eighths + 1) / 2;
  *bytes = eighths << shift;
  return shift * 8 + (eighths & 7);
}

/* In the order of their first steps; an expired buffer returns its place to its class. */
static hone_status place_rest(struct ctx *ctx, struct arena *arena, struct plan *plan,
                              struct buffer **order, size_t count) {
  struct free_place {
    size_t offset;
    struct free_place *next;
  } * places, *classes[64 * 8 + 8] = {NULL};
  struct buffer **ending;
  size_t ended = 0;
  TRY(NEW_ARRAY(ctx, arena, places, count));
  TRY(NEW_ARRAY(ctx, arena, ending, count));
  if (count) memcpy(ending, order, count * sizeof *ending);
  qsort(order, count, sizeof *order, by_first);
  qsort(ending, count, sizeof *ending, by_end);
  for (size_t i = 0; i < count; i++) {
    for (; ending[ended]->end <= order[i]->first; ended++) {
      size_t bytes = ending[ended]->bytes, class = size_class(&bytes);
      places[ended] = (struct free_place){ending[ended]->offset, classes[class]};
      classes[class] = &places[ended];
    }
    size_t bytes = order[i]->bytes, class = size_class(&bytes);
    struct free_place *place = classes[class];
    order[i]->offset = place ? place->offset : plan->arena_bytes;
    if (place) classes[class] = place->next;
    TRY(raise(ctx, plan, order[i]->offset, bytes));
  }
  return HONE_OK;
}

static hone_status set_lower_bound(struct ctx *ctx, struct arena *arena, struct plan *plan,
                                   struct buffer *const *order, size_t count) {
  size_t *begin, *end, alive = 0, steps = plan->steps.count;
  TRY(NEW_ARRAY(ctx, arena, begin, steps + 1));
  TRY(NEW_ARRAY(ctx, arena, end, steps + 1));
  for (size_t i = 0; i < count; i++) {
    begin[order[i]->first] += order[i]->bytes;
    end[order[i]->end] += order[i]->bytes;
  }
  for (size_t s = 0; s < steps; s++) {
    alive += begin[s] - end[s];
    if (alive > plan->lower_bound_bytes) plan->lower_bound_bytes = alive;
  }
  return HONE_OK;
}

enum {
  LEAST_TABLE = 1 << 20,
  LEAST_PART = 16
}; /* bytes; rows of the table for each one that is read */

/* A Gather of a few rows: its result ends in the dimensions of a row. */
static bool reads_few_rows(const struct step *step) {
  const struct shape *from = &step->inputs[0].shape, *to = &step->outputs[0].shape;
  int64_t rows = 1;
  const int rest = to->rank - (from->rank - 1);
  if (!step->op || step->op->id != OP_Gather || rest < 0) return false;
  for (int d = 0; d < to->rank; d++) {
    if (d < rest)
      rows *= to->dims[d];
    else if (to->dims[d] != from->dims[1 + d - rest])
      return false;
  }
  return rows <= from->dims[0] / LEAST_PART;
}

/* Large weights that only Gathers of few rows read come after the others, so that the loader can
   leave them in their file. */
void find_tables(struct plan *plan) {
  for (size_t i = 0; i < plan->buffers.count; i++) {
    struct buffer *buffer = plan->buffers.at[i];
    buffer->is_table = buffer->place == BUFFER_WEIGHTS && buffer->bytes >= LEAST_TABLE;
  }
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    for (size_t k = 0; k < step->input_count; k++) {
      struct buffer *buffer = step->inputs[k].buffer;
      while (buffer && buffer->over) buffer = buffer->over;
      if (buffer && buffer->is_table) buffer->is_table = !k && reads_few_rows(step);
    }
    for (size_t k = 0; k < step->epilogue.count; k++)
      if (step->epilogue.operands[k].buffer) step->epilogue.operands[k].buffer->is_table = false;
  }
}

static hone_status place_weights(struct ctx *ctx, struct plan *plan, bool tables) {
  for (size_t i = 0; i < plan->buffers.count; i++) {
    struct buffer *buffer = plan->buffers.at[i];
    if (buffer->place != BUFFER_WEIGHTS || buffer->first < 0 || buffer->over ||
        buffer->is_table != tables)
      continue;
    buffer->offset = plan->weights_bytes;
    if (!checked_add(plan->weights_bytes, buffer->bytes, &plan->weights_bytes))
      return fail(ctx, HONE_E_LIMIT, place_none(), "the weights are too large");
  }
  return HONE_OK;
}

hone_status plan_memory(struct ctx *ctx, struct arena *arena, struct plan *plan) {
  struct buffer **order;
  size_t count = 0;
  plan->arena_bytes = plan->weights_bytes = plan->lower_bound_bytes = 0;
  TRY(NEW_ARRAY(ctx, arena, order, plan->buffers.count));
  for (size_t i = 0; i < plan->buffers.count; i++) {
    struct buffer *buffer = plan->buffers.at[i];
    if (!checked_align(buffer->bytes, 64, &buffer->bytes))
      return fail(ctx, HONE_E_LIMIT, place_none(), "a buffer is too large");
    if (buffer->place == BUFFER_ARENA && buffer->first >= 0 && !buffer->over)
      order[count++] = buffer;
  }
  TRY(place_weights(ctx, plan, false));
  plan->table_bytes = plan->weights_bytes;
  TRY(place_weights(ctx, plan, true));
  plan->table_bytes = plan->weights_bytes - plan->table_bytes;
  qsort(order, count, sizeof *order, by_size);
  TRY(set_lower_bound(ctx, arena, plan, order, count));
  size_t largest = count < LARGEST ? count : LARGEST;
  TRY(place_largest(ctx, arena, plan, order, largest));
  TRY(place_rest(ctx, arena, plan, order + largest, count - largest));
  for (size_t i = 0; i < plan->buffers.count; i++) {
    struct buffer *buffer = plan->buffers.at[i];
    if (buffer->over) buffer->offset = buffer->over->offset;
  }
  return HONE_OK;
}
