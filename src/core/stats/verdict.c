/* verdict: from a ratio and its interval to the printed verdict.
 *
 * A verdict needs enough processes and rounds (MEASURING: 3 and 12); a difference that does not
 * exceed that of the two harness overheads is a tie for any interval. */
#include "stats.h"

#include <math.h>

const char *verdict_text(enum verdict verdict) {
  static const char *const texts[] = {"undecided", "tie", "faster", "slower"};
  return (size_t)verdict < COUNT(texts) ? texts[verdict] : "undecided";
}

enum verdict decide(const struct interval *ratio, int processes_a, int processes_b, int rounds_a,
                    int rounds_b, double median_a_ns, double median_b_ns,
                    const struct verdict_rule *rule) {
  const bool enough = processes_a >= rule->min_processes && processes_b >= rule->min_processes &&
                      rounds_a >= rule->min_rounds && rounds_b >= rule->min_rounds;
  if (!enough || !isfinite(ratio->low) || !isfinite(ratio->high)) return VERDICT_undecided;
  if (ratio->low <= 1 && ratio->high >= 1) return VERDICT_tie;
  if (fabs(median_a_ns - median_b_ns) <= rule->floor_difference_ns) return VERDICT_tie;
  return ratio->high < 1 ? VERDICT_faster : VERDICT_slower;
}
