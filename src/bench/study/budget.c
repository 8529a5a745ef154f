/* Time limits of a study with --budget (options.budget_s). The budget includes reading models,
 * references and machine peaks; preparing the first model may take up to half of it. Configurations
 * are opened in the order given by the user.
 *
 * While there is no result, exceeding the budget is better than no answer: the first configuration
 * may take up to FIRST_NS extra, the next half of that, and so on. The first configuration of a
 * later case may take all the time left. Each further one may take half of what the rounds of the
 * open configurations leave of the case's share, or all of it if it is the last; if nothing is left
 * it is reported as interrupted. More processes are started while they fit.
 *
 * Configurations that overrun are abandoned after an extra 25 % of the budget. Their rounds have a
 * minute then, half a minute after one was cut, and so on; each process has SURVEY_NS for its
 * survey and CLOSE_NS to end. With options.keeps_budget nothing exceeds the budget except the end
 * of processes: the caller has an answer without this study.
 */
#include "study_internal.h"
#include "trial.h"

#include <math.h>

#define FIRST_NS 60e9
#define CLOSE_NS 10e9
/* Labels and the engine's profile. A row without them is excluded if a constraint needs them. */
#define SURVEY_NS 2e9
#define LEAST_NS 0.3e9 /* no engine opens in less */
#define OVERRUN 0.25   /* share of the budget */

static bool has_budget(const struct bench *bench) { return bench->options.budget_s > 0; }

static double left_ns(const struct bench *bench) {
  const struct study_budget *b = &bench->budget;
  const uint64_t now = clock_ns(), end = b->case_has_result ? b->case_end_ns : b->end_ns;
  return end > now ? (double)(end - now) : 0;
}

static void set_deadline(struct bench *bench, double ns) {
  bench->harness.deadline_ns = clock_ns() + (uint64_t)ns;
  bench->harness.deadline_reason = "its share of the budget (--budget)";
}

void budget_start(struct bench *bench) {
  const double budget_ns = bench->options.budget_s * 1e9;
  bench->budget =
      (struct study_budget){.end_ns = clock_ns() + (uint64_t)budget_ns,
                            .overrun_end_ns = clock_ns() + (uint64_t)((1 + OVERRUN) * budget_ns),
                            .grace_ns = FIRST_NS};
  if (!bench->options.keeps_budget) return;
  bench->budget.has_result = bench->budget.has_surveyed = true;
  bench->budget.overrun_end_ns = bench->budget.end_ns;
  bench->budget.grace_ns = LEAST_NS;
}

bool budget_allows_case(struct bench *bench) {
  bench->budget.case_has_result = false;
  return !has_budget(bench) || !bench->budget.has_result || left_ns(bench) >= LEAST_NS;
}

void budget_begin_case(struct bench *bench, size_t case_index) {
  struct study_budget *b = &bench->budget;
  const uint64_t now = clock_ns(), budget_ns = (uint64_t)(bench->options.budget_s * 1e9);
  if (!b->has_result && b->end_ns < now + budget_ns / 2) {
    b->overrun_end_ns += now + budget_ns / 2 - b->end_ns;
    b->end_ns = now + budget_ns / 2;
  }
  const uint64_t left = b->end_ns > now ? b->end_ns - now : 0;
  b->case_end_ns = now + left / (bench->study.case_count - case_index);
}

bool budget_has_left(const struct bench *bench, double ns) {
  return !has_budget(bench) || left_ns(bench) > ns;
}

bool budget_is_overrun(const struct bench *bench) {
  return has_budget(bench) && bench->budget.has_result &&
         clock_ns() >= bench->budget.overrun_end_ns;
}

void budget_cap_deadline(struct bench *bench) {
  const double left = fmax(left_ns(bench), LEAST_NS);
  const uint64_t end = bench->harness.deadline_ns;
  if (has_budget(bench) && bench->budget.has_result && clock_ns() + (uint64_t)left < end)
    set_deadline(bench, left);
}

bool budget_begin_open(struct bench *bench, double rounds_ns, size_t waiting) {
  struct study_budget *b = &bench->budget;
  if (!has_budget(bench)) return true;
  const double left = left_ns(bench) - rounds_ns;
  const double mine = b->case_has_result && waiting ? left / 2 : left;
  if (b->has_result && left < LEAST_NS) return false;
  set_deadline(bench, fmax(mine, b->has_result ? LEAST_NS : b->grace_ns));
  if (!b->has_result) b->grace_ns = fmax(b->grace_ns / 2, LEAST_NS);
  return true;
}

bool budget_end_open(struct bench *bench, double rounds_ns) {
  struct study_budget *b = &bench->budget;
  const bool fits = !b->has_result || budget_has_left(bench, rounds_ns);
  bench->harness.deadline_ns = 0;
  if (fits && !b->has_result) b->grace_ns = FIRST_NS;
  b->has_result |= fits;
  b->case_has_result |= fits;
  return fits;
}

bool budget_was_exceeded(const struct bench *bench, const struct trial *trial) {
  const uint64_t end = bench->harness.deadline_ns;
  return has_budget(bench) && end && clock_ns() >= end && trial->record.status == STATUS_timeout;
}

static double overrun_left_ns(const struct bench *bench) {
  const uint64_t now = clock_ns(), end = bench->budget.overrun_end_ns;
  return end > now ? (double)(end - now) : 0;
}

void budget_begin_slice(struct bench *bench) {
  if (has_budget(bench)) set_deadline(bench, fmax(overrun_left_ns(bench), bench->budget.grace_ns));
}

void budget_end_slice(struct bench *bench, bool was_cut) {
  struct study_budget *b = &bench->budget;
  if (was_cut) b->grace_ns = fmax(b->grace_ns / 2, LEAST_NS);
  bench->harness.deadline_ns = 0;
}

void budget_bound_close(struct bench *bench) {
  if (has_budget(bench)) set_deadline(bench, fmax(overrun_left_ns(bench), CLOSE_NS));
}

void budget_bound_overhead(struct bench *bench) {
  if (has_budget(bench)) set_deadline(bench, fmax(left_ns(bench), LEAST_NS));
}

void budget_bound_survey(struct bench *bench) {
  struct study_budget *b = &bench->budget;
  if (!has_budget(bench)) return;
  set_deadline(bench, fmax(overrun_left_ns(bench), b->has_surveyed ? SURVEY_NS : FIRST_NS));
  b->has_surveyed = true;
}
