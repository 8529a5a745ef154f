/* How far a study is: what a long run tells its user, and whether the user wants it to stop. */
#include "bench.h"

#include <math.h>

bool bench_is_interrupted(const struct bench *bench) {
  return bench->options.interrupted && *bench->options.interrupted;
}

void bench_report(struct bench *bench, const struct cell *cell, const char *model,
                  const char *phase) {
  if (!bench->callbacks->progress) return;
  double elapsed = (double)(clock_ns() - bench->start_ns) / 1e9;
  double done = (double)bench->step, all = (double)bench->step_count;
  /* the first steps say little: begin with the estimate and move over to what was seen */
  double seen = done > 0 ? elapsed / done * (all - done) : 0;
  double weight = all > 0 ? fmin(1.0, 4 * done / all) : 0;
  const struct bench_progress progress = {
      .model = model,
      .backend = cell ? cell->backend : "",
      .phase = phase,
      .threads = cell ? cell->threads : 0,
      .step = bench->step,
      .step_count = bench->step_count,
      .seconds_left =
          weight * seen + (1 - weight) * fmax(0, bench->study.estimate.seconds - elapsed),
  };
  bench->callbacks->progress(bench->callbacks->user, &progress);
}
