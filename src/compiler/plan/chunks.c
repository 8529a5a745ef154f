/* Into how many parts the units of a step may be cut. More parts are shared more evenly when a thread
 * loses its core in the middle, and each costs a compare-and-swap, now and then of a cache line that
 * another core has (claim_ns). So a part is CLAIMS times as much work, as far as it can be told before. What
 * is cut differently gives the same bits: units are independent. */
#include "plan.h"

#define CLAIMS 40

static double view_elements(const struct view *views, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    double elements = views[i].buffer ? 1 : 0;
    for (int d = 0; d < views[i].shape.rank; d++) elements *= (double)views[i].shape.dims[d];
    sum += elements;
  }
  return sum;
}

/* Of all threads together. What predicts nothing is taken for a loop that brings its operands from the
   outer caches, 4 bytes an element. */
static double work_ns(const struct plan *plan, const struct step *step) {
  const struct kernel_target *target = &plan->kernel_target;
  if (step->kind == STEP_KERNEL && step->choice.cost > 0)
    return step->choice.cost * target->threads;
  double elements = view_elements(step->inputs, step->input_count) +
                    view_elements(step->outputs, step->output_count);
  return elements * 4 / (target->memory_bytes_per_cycle * target->clock_ghz);
}

void set_chunks(struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    struct step *step = plan->steps.at[i];
    double chunks = work_ns(plan, step) / (CLAIMS * plan->kernel_target.claim_ns);
    step->chunks = chunks >= (double)step->units ? step->units : (int64_t)chunks;
    if (step->chunks < 1) step->chunks = 1;
  }
}
