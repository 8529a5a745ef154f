/* Sets into how many parts the work items of a step are cut. More parts balance better if a thread
 * loses its core, but each part costs a compare-and-swap, sometimes of a cache line that another
 * core owns (claim_ns). So a part has CLAIMS times as much predicted work as a claim. The number of
 * parts never changes results: work items are independent.
 */
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

/* Total over all threads. A step without a prediction is assumed to be a loop that reads its
   operands from the outer caches, 4 bytes an element. */
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
