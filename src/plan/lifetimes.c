/* From which step to which an arena buffer is alive. */
#include "plan.h"

static void touch(struct buffer *buffer, int step) {
  if (!buffer) return;
  if (buffer->first < 0) buffer->first = step;
  buffer->last = step;
}

/* Buffers of joined steps live through the whole group: no barrier stands between them. */
void set_lifetimes(struct plan *plan) {
  for (size_t s = 0; s < plan->steps.count; s++) {
    struct step *step = plan->steps.at[s];
    size_t first = s, last = s;
    while (plan->steps.at[first]->joined) first--;
    while (last + 1 < plan->steps.count && plan->steps.at[last + 1]->joined) last++;
    size_t bounds[2] = {first, last};
    for (int k = 0; k < 2; k++) {
      for (size_t i = 0; i < step->input_count; i++) touch(step->inputs[i].buffer, (int)bounds[k]);
      for (size_t i = 0; i < step->output_count; i++)
        touch(step->outputs[i].buffer, (int)bounds[k]);
      for (size_t i = 0; i < step->epilogue.count; i++)
        touch(step->epilogue.operands[i].buffer, (int)bounds[k]);
      touch(step->scratch, (int)bounds[k]);
    }
    if (step->scratch_slice)
      step->scratch->bytes = step->scratch_slice * (size_t)plan->scratch_threads;
  }
}
