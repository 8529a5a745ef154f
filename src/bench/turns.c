/* A study that shall end by about a time, options.budget_s without what preparing its models takes. Cells open in the order
 * in which they were named. The first that runs takes what it needs, up to a minute more: an answer late is better than none.
 * The first of another case may take all that is left. Each that comes later may take half of what the rounds of those that run
 * leave over of its case's share, or all of it where nobody waits; whoever comes when nothing is left says so. Another process
 * of every cell is begun where one more fits.
 */
#include "bench.h"

#include <math.h>

#define FIRST_NS 60e9
#define LEAST_NS 0.3e9 /* no engine opens in less */

static double left_ns(const struct bench *bench) {
  const struct turns *t = &bench->turns;
  const uint64_t now = clock_ns(), end = t->case_has_run ? t->case_end_ns : t->end_ns;
  return end > now ? (double)(end - now) : 0;
}

void turns_begin(struct bench *bench, size_t case_index) {
  struct turns *t = &bench->turns;
  const uint64_t now = clock_ns();
  t->case_has_run = false;
  t->end_ns = now + t->budget_ns;
  t->case_end_ns = now + t->budget_ns / (bench->study.case_count - case_index);
}

void turns_end(struct bench *bench) {
  const uint64_t now = clock_ns();
  bench->turns.budget_ns = bench->turns.end_ns > now ? bench->turns.end_ns - now : 0;
}

bool turns_reach(const struct bench *bench, double ns) {
  return !(bench->options.budget_s > 0) || left_ns(bench) > ns;
}

bool turn_begin(struct bench *bench, double rounds_ns, size_t waiting) {
  const struct turns *t = &bench->turns;
  if (!(bench->options.budget_s > 0)) return true;
  const double left = left_ns(bench) - rounds_ns;
  const double mine = t->case_has_run && waiting ? left / 2 : left;
  if (t->has_run && left < LEAST_NS) return false;
  bench->harness.deadline_ns = clock_ns() + (uint64_t)fmax(mine, t->has_run ? LEAST_NS : FIRST_NS);
  bench->harness.deadline_words = "its share of the budget (--budget)";
  return true;
}

bool turn_end(struct bench *bench, double rounds_ns) {
  struct turns *t = &bench->turns;
  const bool fits = !t->has_run || turns_reach(bench, rounds_ns);
  bench->harness.deadline_ns = 0;
  t->has_run |= fits;
  t->case_has_run |= fits;
  return fits;
}
