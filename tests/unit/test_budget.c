/* The budget's upper bound under a simulated clock: for any behaviour of the engines, a study ends
 * at most a quarter of the budget late, plus a fixed time. The study is simulated in the order of
 * rounds.c; the limits are those of budget.c. */
#define clock_ns scripted_clock_ns
#include "bench/study/budget.c"
#include "unit.h"

static uint64_t now_ns;
uint64_t scripted_clock_ns(void) { return now_ns; }

#define FOREVER 1e30
enum { MOST = 6, ROUNDS = 6 };

/* Seconds; FOREVER: the engine hangs. */
struct engine {
  double open_s, slice_s, overhead_s, close_s;
};

/* Like the harness: waits until the request is done or the deadline has passed. */
static bool ask(const struct bench *bench, double seconds) {
  const uint64_t end = bench->harness.deadline_ns;
  const double left_s = end > now_ns ? (double)(end - now_ns) / 1e9 : 0;
  assert_true(end); /* every request has a deadline */
  now_ns += (uint64_t)(fmin(seconds, left_s) * 1e9);
  return seconds < left_s;
}

static bool keeps_budget;

static double play(double budget_s, const struct engine *engines, size_t count) {
  static struct bench bench;
  struct trial trials[MOST] = {0};
  double rounds_ns = 0;
  now_ns = 1000000000;
  const uint64_t begin = now_ns;
  memset(&bench, 0, sizeof bench);
  bench.options.budget_s = budget_s;
  bench.options.keeps_budget = keeps_budget;
  bench.study.case_count = 1;
  budget_start(&bench);
  assert_true(budget_allows_case(&bench));
  budget_begin_case(&bench, 0);
  for (size_t i = 0; i < count; i++) {
    if (!budget_begin_open(&bench, rounds_ns, count - i - 1)) continue;
    trials[i].is_live = ask(&bench, engines[i].open_s);
    const double own = trials[i].is_live ? fmin(engines[i].slice_s, 1) * ROUNDS * 1e9 : 0;
    if (!trials[i].is_live)
      bench.harness.deadline_ns = 0;
    else if (budget_end_open(&bench, rounds_ns + own))
      rounds_ns += own;
    else
      trials[i].is_live = false;
  }
  for (int round = 0; round < ROUNDS && (round < 2 || budget_has_left(&bench, 0)); round++)
    for (size_t i = 0; i < count; i++) {
      if (!trials[i].is_live || (trials[0].rounds > 1 && budget_is_overrun(&bench))) continue;
      budget_begin_slice(&bench);
      trials[i].is_live = ask(&bench, engines[i].slice_s);
      trials[i].rounds += trials[i].is_live;
      budget_end_slice(&bench, !trials[i].is_live);
      assert_true(!bench.harness.deadline_ns);
    }
  for (size_t i = 0; i < count; i++) {
    if (trials[i].is_live && budget_has_left(&bench, 0)) {
      budget_bound_overhead(&bench);
      ask(&bench, engines[i].overhead_s);
    }
    budget_bound_close(&bench);
    if (trials[i].is_live) ask(&bench, engines[i].close_s);
    bench.harness.deadline_ns = 0;
  }
  return (double)(now_ns - begin) / 1e9;
}

/* 60 s and its halves until one runs, the same for slices that hang, 10 s for each end. */
static void a_study_ends_by_the_stated_time(void **state) {
  (void)state;
  static const double times[] = {0.01, 0.5, 5, 45, 300, FOREVER};
  static const double budgets[] = {0.01, 1, 12, 60, 600};
  struct random random;
  size_t hung = 0;
  random_init(&random, 7);
  for (int trial = 0; trial < 20000; trial++) {
    struct engine engines[MOST];
    const size_t count = 1 + random_below(&random, MOST);
    const double budget_s = budgets[random_below(&random, COUNT(budgets))];
    for (size_t i = 0; i < count; i++) {
      double *at[] = {&engines[i].open_s, &engines[i].slice_s, &engines[i].overhead_s,
                      &engines[i].close_s};
      for (size_t k = 0; k < COUNT(at); k++) {
        *at[k] = times[random_below(&random, COUNT(times))];
        hung += *at[k] == FOREVER;
      }
    }
    const double most = 1.25 * budget_s + 2 * 120 + 10 * (double)count;
    const double all_s = play(budget_s, engines, count);
    if (all_s > most)
      print_error("trial %d: %.3g s of a budget of %.3g s, at most %.3g s\n", trial, all_s,
                  budget_s, most);
    assert_true(all_s <= most);
  }
  assert_true(hung > 1000);
}

/* If there is an answer already, only process ends and the minimum bounds of slices may exceed the
   budget. */
static void a_kept_budget_is_kept(void **state) {
  (void)state;
  static const double times[] = {0.01, 0.5, 5, 45, 300, FOREVER};
  struct random random;
  random_init(&random, 11);
  keeps_budget = true;
  for (int trial = 0; trial < 5000; trial++) {
    struct engine engines[MOST];
    const size_t count = 1 + random_below(&random, MOST);
    for (size_t i = 0; i < count; i++)
      engines[i] = (struct engine){times[random_below(&random, COUNT(times))],
                                   times[random_below(&random, COUNT(times))],
                                   times[random_below(&random, COUNT(times))], 0.1};
    assert_true(play(12, engines, count) <= 12 + 1.3 * (double)count);
  }
  keeps_budget = false;
}

/* Engines with usual start-up and run times end within the budget and an extra quarter. */
static void usual_engines_need_no_more(void **state) {
  (void)state;
  static const struct engine usual[] = {{2, 0.1, 0.5, 0.1}, {3, 0.2, 0.5, 0.1}, {1, 0.1, 0.3, 0.1}};
  for (double budget_s = 8; budget_s < 200; budget_s *= 1.5)
    assert_true(play(budget_s, usual, COUNT(usual)) <= 1.25 * budget_s);
}

/* One that hangs in its first slice takes the quarter more, or a minute; the others have their slices. */
static void one_that_hangs_leaves_the_others_theirs(void **state) {
  (void)state;
  static const struct engine some[] = {{1, FOREVER, 0.1, 0.1}, {1, 0.1, 0.1, 0.1}};
  assert_true(play(12, some, COUNT(some)) < 12 * 1.25 + 60);
  assert_true(play(600, some, COUNT(some)) < 600 * 1.25 + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_study_ends_by_the_stated_time),
                                     cmocka_unit_test(a_kept_budget_is_kept),
                                     cmocka_unit_test(usual_engines_need_no_more),
                                     cmocka_unit_test(one_that_hangs_leaves_the_others_theirs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
