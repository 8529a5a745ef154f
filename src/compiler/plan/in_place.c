/* Writes results over an operand that the step is the last to read: an elementwise loop over an
 * input, a kernel over the residual that its epilogue adds, a softmax over its scores. Element by
 * element and within one work item, so that threads and chunks are not affected. The two buffers
 * become one with the union of their lifetimes, which plan_memory places. Longer lifetimes are
 * harder to place: if the arena grows, all in-place writes are undone.
 *
 * Source of the idea: buffer sharing of in-place operators, Chen et al. 2016, arXiv 1604.06174.
 */
#include "plan.h"

/* Each element of `out` has the same offset in its buffer as the element of `in`. */
static bool has_same_layout(const struct view *in, const struct view *out) {
  if (in->dtype != out->dtype || !dtype_bytes(out->dtype) || out->dtype == HONE_STRING)
    return false;
  if (in->offset != out->offset || in->shape.rank != out->shape.rank) return false;
  if (view_is_open(in) || view_is_open(out)) return false;
  for (int d = 0; d < out->shape.rank; d++) {
    if (in->shape.dims[d] != out->shape.dims[d]) return false;
    if (out->shape.dims[d] != 1 && in->stride[d] != out->stride[d]) return false;
  }
  return true;
}

/* True if the steps [first, ...) run at the same time and write only the borders around `out`. */
static bool only_borders(const struct plan *plan, size_t first, size_t end, size_t s) {
  const struct view *out = &plan->steps.at[s]->outputs[0];
  for (size_t i = first; i < end; i++) {
    const struct step *step = plan->steps.at[i];
    bool border = step->kind == STEP_COPY && !step->inputs[0].buffer &&
                  step->outputs[0].buffer == out->buffer;
    if (i != s && !border) return false;
  }
  return true;
}

/* Input `k` of the step, then the epilogue's operands; NULL past the last. */
static const struct view *operand(const struct step *step, size_t k) {
  if (k < step->input_count) return &step->inputs[k];
  k -= step->input_count;
  return k < step->epilogue.count ? &step->epilogue.operands[k] : NULL;
}

/* True if the step's source may store over that operand. */
static bool may_overwrite(const struct plan *plan, const struct step *step, size_t k) {
  if (step->kind == STEP_ELEMENTWISE) return true;
  if (step->kind != STEP_KERNEL) return false;
  unsigned over = step->choice.kernel->traits;
  if (k < step->input_count)
    return k == 0 && over & OVER_A && step->problem.i_stride == step->problem.o_stride;
  if (step->epilogue.kinds[k - step->input_count] != OPERAND_FULL) return false;
  if (over & OVER_OPERANDS_OF_WHOLE)
    return kernel_sums_at_once(&step->problem, &plan->schedule.kernels, &step->choice);
  return over & OVER_OPERANDS;
}

/* True if everything that the step reads of that buffer has the result's layout and may be
   overwritten. */
static bool reads_in_place(const struct plan *plan, const struct step *step,
                           const struct buffer *buffer) {
  const struct view *in;
  for (size_t k = 0; (in = operand(step, k)); k++)
    if (in->buffer == buffer &&
        (!has_same_layout(in, &step->outputs[0]) || !may_overwrite(plan, step, k)))
      return false;
  return true;
}

static void take_place(const struct plan *plan, size_t first, size_t end, size_t s) {
  struct step *step = plan->steps.at[s];
  struct buffer *best = NULL, *out = step->output_count == 1 ? step->outputs[0].buffer : NULL;
  const struct view *in;
  if (!out || out->place != BUFFER_ARENA || out->over || out->first != (int)first) return;
  if (!only_borders(plan, first, end, s)) return;
  for (size_t k = 0; (in = operand(step, k)); k++) {
    struct buffer *buffer = in->buffer;
    if (!buffer || buffer == out || buffer->place != BUFFER_ARENA) continue;
    if (buffer->end != (int)end || buffer->first >= (int)first) continue;
    if (buffer->bytes < out->bytes || (best && buffer->bytes <= best->bytes)) continue;
    if (reads_in_place(plan, step, buffer)) best = buffer;
  }
  if (!best) return;
  struct buffer *whole = best->over ? best->over : best;
  out->over = whole;
  if (out->end > whole->end) whole->end = out->end;
  step->in_place = true;
}

bool write_in_place(struct plan *plan) {
  size_t count = plan->steps.count;
  bool any = false;
  for (size_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && plan->steps.at[end]->overlaps_previous; end++) continue;
    for (size_t s = first; s < end; s++) {
      take_place(plan, first, end, s);
      any = any || plan->steps.at[s]->in_place;
    }
  }
  return any;
}

void undo_in_place(struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++) plan->steps.at[i]->in_place = false;
  for (size_t i = 0; i < plan->buffers.count; i++)
    if (plan->buffers.at[i]->place == BUFFER_ARENA) plan->buffers.at[i]->over = NULL;
  set_lifetimes(plan);
}
