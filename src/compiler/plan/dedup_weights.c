/* Stores equal weights once: weights that two steps pack alike; the table of a Gather that is also
 * the packed weights of a matmul, as the embedding of a language model that is tied to its output
 * layer. Drops weights that no step reads.
 */
#include "plan.h"

#include <stdlib.h>

enum { SHARED_TABLE = 64 << 10 }; /* the smallest table whose second copy matters, in bytes */

bool buffers_equal(const struct buffer *a, const struct buffer *b) {
  char x[1024] = "", y[1024] = "";
  if (a->tensor->data != b->tensor->data || a->bytes != b->bytes ||
      a->pack_offset != b->pack_offset || !a->pack.kernel != !b->pack.kernel)
    return false;
  if (!a->pack.kernel) return true;
  if (a->pack.kernel->pack != b->pack.kernel->pack) return false;
  choice_print(x, sizeof x, &a->pack);
  choice_print(y, sizeof y, &b->pack);
  if (strcmp(x, y)) return false;
  problem_print(x, sizeof x, &a->problem);
  problem_print(y, sizeof y, &b->problem);
  return !strcmp(x, y);
}

/* By source tensor, then in the order in which steps read them. */
static int compare_tensors(const void *a, const void *b) {
  const struct buffer *x = *(struct buffer *const *)a, *y = *(struct buffer *const *)b;
  const uintptr_t p = (uintptr_t)x->tensor->data, q = (uintptr_t)y->tensor->data;
  if (p != q) return p < q ? -1 : 1;
  return (x->first > y->first) - (x->first < y->first);
}

static hone_status weights_by_tensor(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                                     struct buffer ***out, size_t *out_count) {
  size_t count = 0;
  TRY(NEW_ARRAY(ctx, arena, *out, plan->buffers.count + 1));
  for (size_t i = 0; i < plan->buffers.count; i++) {
    struct buffer *buffer = plan->buffers.at[i];
    if (buffer->place == BUFFER_WEIGHTS && buffer->first >= 0) (*out)[count++] = buffer;
  }
  qsort(*out, count, sizeof **out, compare_tensors);
  *out_count = count;
  return HONE_OK;
}

/* -- tables */

/* Columns of a panel, if the packed buffer holds the rows of the table [columns, k] as columns;
   else 0. */
static int64_t panel_of(const struct plan *plan, const struct buffer *packed,
                        const struct shape *table) {
  const struct problem *p = &packed->problem;
  if (!packed->pack.kernel || packed->over || packed->pack_offset) return 0;
  if (p->kind != PROBLEM_gemm || p->n != table->dims[0] || p->k != table->dims[1]) return 0;
  if (p->b_row != 1 || p->b_column != p->k) return 0;
  return kernel_panel_columns(p, &plan->schedule.kernels, &packed->pack);
}

/* Reads whole rows of an unpacked float matrix. */
static bool takes_rows(const struct step *step, const struct buffer *table) {
  const struct view *from = &step->inputs[0];
  if (step->kind != STEP_GENERIC || !step->op || step->op->id != OP_Gather) return false;
  if (from->buffer != table || step->inputs[1].buffer == table) return false;
  if (from->dtype != HONE_F32 || from->shape.rank != 2 || from->offset || from->slope) return false;
  for (size_t i = 0; i < step->attribute_count; i++)
    if (!strcmp(step->attributes[i].name, "axis") && step->attributes[i].i != 0 &&
        step->attributes[i].i != -2)
      return false;
  return !from->offset_slope && view_is_dense(from) && !view_is_open(from);
}

static bool reads(const struct step *step, const struct buffer *buffer) {
  for (size_t i = 0; i < step->input_count; i++)
    if (step->inputs[i].buffer == buffer) return true;
  for (size_t i = 0; i < step->epilogue.count; i++)
    if (step->epilogue.operands[i].buffer == buffer) return true;
  return false;
}

/* The shape of the table if all steps that read the buffer read whole rows from it. */
static const struct shape *table_of(const struct plan *plan, const struct buffer *buffer) {
  const struct shape *shape = NULL;
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    if (!reads(step, buffer)) continue;
    if (!takes_rows(step, buffer)) return NULL;
    shape = &step->inputs[0].shape;
  }
  return shape;
}

/* Changes the steps that read rows from the table to read them from the packed panels. */
static hone_status read_panels(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               struct buffer *table, struct buffer *packed, int64_t panel) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    struct step *step = plan->steps.at[i];
    struct attribute *all;
    const size_t own = step->attribute_count;
    if (!takes_rows(step, table)) continue;
    TRY(NEW_ARRAY(ctx, arena, all, own + 1));
    for (size_t k = 0; k < own; k++) all[k] = step->attributes[k];
    all[own] = (struct attribute){.name = "panel", .kind = ATTRIBUTE_INT, .i = panel};
    step->attributes = all;
    step->attribute_count = own + 1;
  }
  table->over = packed;
  return HONE_OK;
}

/* same: buffers of one tensor. */
static hone_status dedup_table(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               struct buffer *const *same, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct buffer *table = same[i];
    const struct shape *shape = NULL;
    if (table->pack.kernel || table->over || table->bytes < SHARED_TABLE) continue;
    for (size_t k = 0; k < count; k++) {
      int64_t panel;
      if (!same[k]->pack.kernel) continue;
      if (!shape && !(shape = table_of(plan, table))) break;
      if (!(panel = panel_of(plan, same[k], shape))) continue;
      TRY(read_panels(ctx, arena, plan, table, same[k], panel));
      break;
    }
  }
  return HONE_OK;
}

hone_status dedup_weights(struct ctx *ctx, struct arena *arena, struct plan *plan) {
  struct buffer **weights;
  size_t count;
  TRY(weights_by_tensor(ctx, arena, plan, &weights, &count));
  for (size_t first = 0, end; first < count; first = end) {
    const void *data = weights[first]->tensor->data;
    for (end = first + 1; end < count && weights[end]->tensor->data == data; end++) continue;
    for (size_t i = first + 1; i < end; i++)
      for (size_t k = first; k < i && !weights[i]->over; k++)
        if (!weights[k]->over && buffers_equal(weights[k], weights[i]))
          weights[i]->over = weights[k];
    TRY(dedup_table(ctx, arena, plan, weights + first, end - first));
  }
  return HONE_OK;
}
