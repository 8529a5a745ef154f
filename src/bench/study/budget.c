/* A study that shall end options.budget_s after it began: reading its models, their references and the machine's peaks count,
 * those of the first model up to half of the budget. Cells open in the order in which they were named. Until one has run
 * there is nothing to answer with, and late is better than never: the first takes what it needs, up to a minute more, the
 * next one half a minute, and so on. The first of another case may take all that is left. Each that comes later may take
 * half of what the rounds of those that run leave over of its case's share, or all of it where nobody waits; whoever comes
 * when nothing is left says so. Another process of every configuration is begun where one more fits. What was begun in time and takes
 * longer than was foreseen is left once a quarter of the budget more is over; but the rounds of what runs have a minute then,
 * half of one once one of them was left, and so on, and each process two seconds for its survey and ten to end. With options.keeps_budget an
 * answer without this study is there: nothing takes longer than the budget but the ends of processes.
 */
#include "study_internal.h"
#include "trial.h"

#include <math.h>

#define FIRST_NS 60e9
#define CLOSE_NS 10e9
#define SURVEY_NS \
  2e9 /* labels, and how it computed: a row without is out where a bound asks for it */
#define LEAST_NS 0.3e9 /* no engine opens in less */
#define LATE 0.25      /* of the budget */

static bool has_budget(const struct bench *bench) { return bench->options.budget_s > 0; }

static double left_ns(const struct bench *bench) {
  const struct turns *t = &bench->turns;
  const uint64_t now = clock_ns(), end = t->case_has_run ? t->case_end_ns : t->end_ns;
  return end > now ? (double)(end - now) : 0;
}

static void bound(struct bench *bench, double ns) {
  bench->harness.deadline_ns = clock_ns() + (uint64_t)ns;
  bench->harness.deadline_words = "its share of the budget (--budget)";
}

void turns_begin(struct bench *bench) {
  const double budget_ns = bench->options.budget_s * 1e9;
  bench->turns = (struct turns){.end_ns = clock_ns() + (uint64_t)budget_ns,
                                .late_ns = clock_ns() + (uint64_t)((1 + LATE) * budget_ns),
                                .patience_ns = FIRST_NS};
  if (!bench->options.keeps_budget) return;
  bench->turns.has_run = bench->turns.has_surveyed = true;
  bench->turns.late_ns = bench->turns.end_ns;
  bench->turns.patience_ns = LEAST_NS;
}

bool turns_prepare_case(struct bench *bench) {
  bench->turns.case_has_run = false;
  return !has_budget(bench) || !bench->turns.has_run || left_ns(bench) >= LEAST_NS;
}

void turns_begin_case(struct bench *bench, size_t case_index) {
  struct turns *t = &bench->turns;
  const uint64_t now = clock_ns(), budget_ns = (uint64_t)(bench->options.budget_s * 1e9);
  if (!t->has_run && t->end_ns < now + budget_ns / 2) {
    t->late_ns += now + budget_ns / 2 - t->end_ns;
    t->end_ns = now + budget_ns / 2;
  }
  const uint64_t left = t->end_ns > now ? t->end_ns - now : 0;
  t->case_end_ns = now + left / (bench->study.case_count - case_index);
}

bool turns_reach(const struct bench *bench, double ns) {
  return !has_budget(bench) || left_ns(bench) > ns;
}

bool turns_are_over(const struct bench *bench) {
  return has_budget(bench) && bench->turns.has_run && clock_ns() >= bench->turns.late_ns;
}

void turns_bound(struct bench *bench) {
  const double left = fmax(left_ns(bench), LEAST_NS);
  const uint64_t end = bench->harness.deadline_ns;
  if (has_budget(bench) && bench->turns.has_run && clock_ns() + (uint64_t)left < end)
    bound(bench, left);
}

bool turn_begin(struct bench *bench, double rounds_ns, size_t waiting) {
  struct turns *t = &bench->turns;
  if (!has_budget(bench)) return true;
  const double left = left_ns(bench) - rounds_ns;
  const double mine = t->case_has_run && waiting ? left / 2 : left;
  if (t->has_run && left < LEAST_NS) return false;
  bound(bench, fmax(mine, t->has_run ? LEAST_NS : t->patience_ns));
  if (!t->has_run) t->patience_ns = fmax(t->patience_ns / 2, LEAST_NS);
  return true;
}

bool turn_end(struct bench *bench, double rounds_ns) {
  struct turns *t = &bench->turns;
  const bool fits = !t->has_run || turns_reach(bench, rounds_ns);
  bench->harness.deadline_ns = 0;
  if (fits && !t->has_run) t->patience_ns = FIRST_NS;
  t->has_run |= fits;
  t->case_has_run |= fits;
  return fits;
}

bool turn_was_cut(const struct bench *bench, const struct trial *trial) {
  const uint64_t end = bench->harness.deadline_ns;
  return has_budget(bench) && end && clock_ns() >= end && trial->record.status == STATUS_timeout;
}

static double late_left_ns(const struct bench *bench) {
  const uint64_t now = clock_ns(), late = bench->turns.late_ns;
  return late > now ? (double)(late - now) : 0;
}

void turn_slice(struct bench *bench) {
  if (has_budget(bench)) bound(bench, fmax(late_left_ns(bench), bench->turns.patience_ns));
}

void turn_slice_end(struct bench *bench, bool was_cut) {
  struct turns *t = &bench->turns;
  if (was_cut) t->patience_ns = fmax(t->patience_ns / 2, LEAST_NS);
  bench->harness.deadline_ns = 0;
}

void turn_close(struct bench *bench) {
  if (has_budget(bench)) bound(bench, fmax(late_left_ns(bench), CLOSE_NS));
}

void turn_overhead(struct bench *bench) {
  if (has_budget(bench)) bound(bench, fmax(left_ns(bench), LEAST_NS));
}

void turn_survey(struct bench *bench) {
  struct turns *t = &bench->turns;
  if (!has_budget(bench)) return;
  bound(bench, fmax(late_left_ns(bench), t->has_surveyed ? SURVEY_NS : FIRST_NS));
  t->has_surveyed = true;
}
