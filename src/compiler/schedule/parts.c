/* Into how many parts the work items of a step are cut. More parts balance better if a thread loses
 * its core, but each part costs a compare-and-swap, sometimes of a cache line that another core owns
 * (claim_ns). So a part has CLAIMS times as much predicted work as a claim. The number of parts never
 * changes results: work items are independent.
 */
#include "schedule.h"

#define CLAIMS 40

double schedule_least_shared(enum work_kind kind) {
  static const double least[WORK_KINDS] = {
      [WORK_LOOP] = 8192, [WORK_COPY] = 16384, [WORK_KERNEL] = 200e3, [WORK_GENERIC] = 64e3};
  return least[kind];
}

/* Total over all threads. A step without a prediction is assumed to be a loop that reads its
   operands from the outer caches, 4 bytes an element. */
static double work_ns(const struct kernel_target *target, const struct choice *choice,
                      double elements) {
  if (choice && choice->cost > 0) return choice->cost * target->threads;
  return elements * 4 / (target->memory_bytes_per_cycle * target->clock_ghz);
}

int64_t schedule_parts(const struct schedule *schedule, const struct choice *choice,
                       double elements, int64_t units) {
  const struct kernel_target *target = &schedule->kernels;
  const double parts = work_ns(target, choice, elements) / (CLAIMS * target->claim_ns);
  return parts >= (double)units ? units : parts < 1 ? 1 : (int64_t)parts;
}
