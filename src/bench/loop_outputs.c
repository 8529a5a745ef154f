/* The outputs of the timed loop: poisoned before a checked iteration, compared after the slice. */
#include "bench.h"

#define POISON 0xff /* NaN in every float type, -1 in integers */

void loop_poison(const struct loop *loop, size_t set) {
  for (size_t i = 0; i < loop->io->output_count; i++)
    memset(loop->sets[set].outputs[i].data, POISON, loop->output_bytes[i]);
}

bool loop_compare(const struct loop *loop, size_t set, struct accuracy *accuracy) {
  const struct run_set *at = &loop->sets[set];
  bool has_reference = true;
  for (size_t i = 0; i < loop->io->output_count; i++) {
    if (at->expected[i].data)
      accuracy_add(accuracy, loop->io->outputs[i].name, &at->expected[i], at->outputs[i].data,
                   &loop->yardsticks[i]);
    else
      has_reference = false;
  }
  return has_reference;
}
