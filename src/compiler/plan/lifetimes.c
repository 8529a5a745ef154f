/* Lifetimes of arena buffers in steps, half-open: [first, end). Buffers of steps that run at the
 * same time live through all of these steps.
 */
#include "plan.h"

static void touch(struct buffer *buffer, int first, int end) {
  if (!buffer) return;
  if (buffer->first < 0) buffer->first = first;
  buffer->end = end;
}

static void touch_step(const struct step *step, int first, int end) {
  for (size_t i = 0; i < step->input_count; i++) touch(step->inputs[i].buffer, first, end);
  for (size_t i = 0; i < step->output_count; i++) touch(step->outputs[i].buffer, first, end);
  for (size_t i = 0; i < step->epilogue.count; i++)
    touch(step->epilogue.operands[i].buffer, first, end);
  touch(step->scratch, first, end);
}

/* A buffer used in a loop and alive before or after it lives through the whole loop: the next
   iteration may read it. Inner loops first. */
static void keep_through_loops(struct plan *plan) {
  for (size_t end = 0; end < plan->steps.count; end++) {
    size_t first = end, depth = 1;
    if (plan->steps.at[end]->kind != STEP_END) continue;
    while (depth && first-- > 0) {
      enum step_kind kind = plan->steps.at[first]->kind;
      depth += kind == STEP_END;
      depth -= kind == STEP_IF || kind == STEP_LOOP;
    }
    if (plan->steps.at[first]->kind != STEP_LOOP) continue;
    for (size_t i = 0; i < plan->buffers.count; i++) {
      struct buffer *buffer = plan->buffers.at[i];
      int from = (int)first, to = (int)end + 1;
      if (buffer->first < 0 || buffer->end <= from || buffer->first >= to) continue;
      if (buffer->first >= from && buffer->end <= to) continue;
      if (buffer->first > from) buffer->first = from;
      if (buffer->end < to) buffer->end = to;
    }
  }
}

void set_lifetimes(struct plan *plan) {
  size_t count = plan->steps.count;
  for (size_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && plan->steps.at[end]->overlaps_previous; end++) continue;
    for (size_t s = first; s < end; s++) {
      struct step *step = plan->steps.at[s];
      touch_step(step, (int)first, (int)end);
      if (step->scratch_slice)
        step->scratch->bytes = step->scratch_slice * (size_t)plan->scratch_threads;
    }
  }
  keep_through_loops(plan);
}
