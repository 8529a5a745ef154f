/* Arrival times of a scenario's requests, and how many may be in flight (see study/scenario.c). */
#include "loop.h"

#include <math.h>

bool scenario_has_arrivals(const struct scenario *scenario) {
  return scenario->kind == SCENARIO_server || scenario->kind == SCENARIO_rate;
}

int scenario_streams(const struct scenario *scenario) {
  return scenario->kind == SCENARIO_multi     ? scenario->streams
         : scenario->kind == SCENARIO_offline ? BENCH_SETS
                                              : 1;
}

uint64_t scenario_distance_ns(const struct scenario *scenario, struct random *random) {
  const double mean = 1e9 / scenario->rate_per_s;
  if (scenario->kind == SCENARIO_rate) return (uint64_t)mean;
  /* intervals of a Poisson process are exponential; 1 - u is never 0 */
  return (uint64_t)(-mean * log1p(-random_uniform(random)));
}
