/* stats: known ranks, coverage of the intervals on simulated studies, verdicts, stationarity. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "core/base/base.h"
#include "core/stats/stats.h"

static void percentile_is_a_sample(void **state) {
  (void)state;
  const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  assert_true(percentile_sorted(x, 10, 0.5) == 5);
  assert_true(percentile_sorted(x, 10, 0.9) == 9);
  assert_true(percentile_sorted(x, 10, 0.91) == 10);
  assert_true(percentile_sorted(x, 10, 1.0) == 10);
  assert_true(percentile_sorted(x, 1, 0.001) == 1);
}

/* The smallest share rule against a plain count, for many n and p. */
static void percentile_meets_its_definition(void **state) {
  (void)state;
  struct random random;
  random_init(&random, 7);
  for (size_t n = 1; n < 400; n += 13) {
    double x[400];
    for (size_t i = 0; i < n; i++) x[i] = (double)random_below(&random, 50);
    sort_doubles(x, n);
    for (int percent = 1; percent <= 100; percent++) {
      const double value = percentile_sorted(x, n, percent / 100.0);
      size_t at_or_below = 0, below = 0;
      for (size_t i = 0; i < n; i++) {
        at_or_below += x[i] <= value;
        below += x[i] < value;
      }
      assert_true(at_or_below * 100 >= n * (size_t)percent);
      assert_true(below * 100 < n * (size_t)percent);
    }
  }
}

static size_t first_n_with_interval(double p) {
  size_t low, high;
  for (size_t n = 1;; n++)
    if (quantile_interval(n, p, 0.95, &low, &high)) return n;
}

static void upper_percentiles_need_their_samples(void **state) {
  (void)state;
  assert_int_equal(first_n_with_interval(0.5), 6);
  assert_int_equal(first_n_with_interval(0.9), 36);
  assert_int_equal(first_n_with_interval(0.99), 368);
  assert_int_equal(first_n_with_interval(0.999), 3688);
}

static void a_latency_bound_allows_few_late_ones(void **state) {
  (void)state;
  assert_false(latency_bound_holds(367, 0));
  assert_true(latency_bound_holds(368, 0));
  assert_false(latency_bound_holds(368, 1));
  for (size_t n = 400; n < 5000; n += 777) {
    size_t low, high;
    assert_true(quantile_interval(n, 0.99, 0.95, &low, &high));
    assert_true(latency_bound_holds(n, n - 1 - high)); /* the sample at the upper end is in time */
    assert_false(latency_bound_holds(n, n - high));    /* it is late */
  }
}

/* Published ranks of the 95 % interval of the median (sign test tables). */
static void median_ranks_are_the_published_ones(void **state) {
  (void)state;
  const struct {
    size_t n, low, high;
  } want[] = {{6, 1, 6}, {10, 2, 9}, {20, 6, 15}, {30, 10, 21}, {50, 18, 33}};
  for (size_t i = 0; i < COUNT(want); i++) {
    size_t low, high;
    assert_true(quantile_interval(want[i].n, 0.5, 0.95, &low, &high));
    assert_int_equal(low + 1, want[i].low);
    assert_int_equal(high + 1, want[i].high);
  }
  size_t low, high;
  assert_true(quantile_interval(10000000, 0.5, 0.95, &low, &high));
  assert_in_range(high - low, 6190, 6210); /* 2 * 1.96 * sqrt(n) / 2 */
}

/* One simulated cell: processes differ by `process_sd`, rounds by `round_sd`, samples by 2 %. */
struct study {
  double *samples;
  struct sample_round *rounds;
  struct sample_process *processes;
  struct sample_set set;
};
static struct study simulate(struct random *random, size_t processes, size_t rounds, size_t count,
                             double centre, double process_sd, double round_sd) {
  struct study s;
  s.samples = calloc(processes * rounds * count, sizeof *s.samples);
  s.rounds = calloc(processes * rounds, sizeof *s.rounds);
  s.processes = calloc(processes, sizeof *s.processes);
  for (size_t p = 0; p < processes; p++) {
    const double of_process = centre * exp(process_sd * random_normal(random));
    s.processes[p] = (struct sample_process){rounds, s.rounds + p * rounds};
    for (size_t r = 0; r < rounds; r++) {
      const double of_round = of_process * exp(round_sd * random_normal(random));
      double *samples = s.samples + (p * rounds + r) * count;
      s.rounds[p * rounds + r] = (struct sample_round){samples, count};
      for (size_t i = 0; i < count; i++) samples[i] = of_round * exp(0.02 * random_normal(random));
    }
  }
  s.set = (struct sample_set){processes, s.processes};
  return s;
}
static void forget(struct study *s) {
  free(s->samples);
  free(s->rounds);
  free(s->processes);
}

static void median_is_the_exact_pooled_one(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct random random;
  random_init(&random, 1);
  for (size_t count = 1; count < 1200; count = count * 3 + 1) {
    struct study s = simulate(&random, 3, 5, count, 1e6, 0.01, 0.01);
    struct interval got, again;
    assert_int_equal(bootstrap_median(&ctx, &s.set, 0.95, 300, 42, &got), HONE_OK);
    assert_int_equal(bootstrap_median(&ctx, &s.set, 0.95, 300, 42, &again), HONE_OK);
    assert_memory_equal(&got, &again, sizeof got);
    sort_doubles(s.samples, 15 * count);
    assert_true(got.value == percentile_sorted(s.samples, 15 * count, 0.5));
    assert_true(got.low <= got.value && got.value <= got.high);
    forget(&s);
  }
}

/* Two cells of the same truth: the share of studies whose interval of the ratio misses 1. */
static double miss_share(double process_sd, double round_sd, size_t processes, uint64_t seed) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct random random;
  random_init(&random, seed);
  const int trials = 300;
  int misses = 0;
  for (int i = 0; i < trials; i++) {
    struct study a = simulate(&random, processes, 6, 9, 1e6, process_sd, round_sd);
    struct study b = simulate(&random, processes, 6, 9, 1e6, process_sd, round_sd);
    struct interval ratio;
    assert_int_equal(bootstrap_ratio(&ctx, &a.set, &b.set, 0.95, 400, seed, &ratio), HONE_OK);
    misses += ratio.low > 1 || ratio.high < 1;
    forget(&a);
    forget(&b);
  }
  return misses / (double)trials;
}

static void equal_cells_are_seldom_called_different(void **state) {
  (void)state;
  assert_true(miss_share(0, 0, 3, 11) <= 0.07);
  assert_true(miss_share(0.05, 0, 3, 12) <= 0.08);
  assert_true(miss_share(0.05, 0.01, 5, 13) <= 0.08);
  assert_true(miss_share(0, 0.03, 3, 14) <= 0.07);
}

static void a_clear_lead_is_seen(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct random random;
  random_init(&random, 5);
  const struct verdict_rule rule = {3, 12, 0};
  int seen = 0;
  for (int i = 0; i < 100; i++) {
    struct study a = simulate(&random, 3, 12, 9, 1.00e6, 0.005, 0.01);
    struct study b = simulate(&random, 3, 12, 9, 1.05e6, 0.005, 0.01);
    struct interval r;
    assert_int_equal(bootstrap_ratio(&ctx, &a.set, &b.set, 0.95, 400, 3, &r), HONE_OK);
    seen += decide(&r, 3, 3, 36, 36, 1e6, 1.05e6, &rule) == VERDICT_faster;
    forget(&a);
    forget(&b);
  }
  assert_true(seen >= 85);
}

static void a_big_cell_is_resampled_fast(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct random random;
  random_init(&random, 9);
  struct study a = simulate(&random, 3, 12, 5000, 1e6, 0.01, 0.01);
  struct study b = simulate(&random, 3, 12, 5000, 2e6, 0.01, 0.01);
  struct interval ratio;
  const clock_t begin = clock();
  assert_int_equal(bootstrap_ratio(&ctx, &a.set, &b.set, 0.95, 2000, 1, &ratio), HONE_OK);
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  print_message("2000 resamples of 2 x 180,000 samples: %.3f s\n", seconds);
  assert_true(seconds < 5); /* of CPU, asan included; a release build needs 0.15 */
  assert_true(ratio.low > 0.45 && ratio.high < 0.55);
  forget(&a);
  forget(&b);
}

static void verdicts_follow_the_rule(void **state) {
  (void)state;
  const struct verdict_rule rule = {3, 12, 50};
  const struct interval faster = {0.8, 0.7, 0.9}, tie = {0.99, 0.9, 1.1}, slower = {1.5, 1.4, 1.6},
                        unknown = {1.0, NAN, NAN};
  assert_int_equal(decide(&faster, 3, 3, 12, 12, 800, 1000, &rule), VERDICT_faster);
  assert_int_equal(decide(&slower, 3, 3, 12, 12, 1500, 1000, &rule), VERDICT_slower);
  assert_int_equal(decide(&tie, 3, 3, 12, 12, 990, 1000, &rule), VERDICT_tie);
  assert_int_equal(decide(&faster, 3, 2, 12, 12, 800, 1000, &rule), VERDICT_undecided);
  assert_int_equal(decide(&faster, 3, 3, 11, 12, 800, 1000, &rule), VERDICT_undecided);
  assert_int_equal(decide(&unknown, 3, 3, 12, 12, 800, 1000, &rule), VERDICT_undecided);
  /* 40 ns of lead, floors differ by 50 ns: nothing was shown */
  assert_int_equal(decide(&faster, 3, 3, 12, 12, 160, 200, &rule), VERDICT_tie);
  assert_string_equal(verdict_text(VERDICT_slower), "slower");
}

static void nothing_measured_is_an_error(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct interval out;
  const struct sample_set none = {0, NULL};
  assert_int_equal(bootstrap_median(&ctx, &none, 0.95, 10, 1, &out), HONE_E_INTERNAL);
}

static void warm_up_ends_when_windows_agree(void **state) {
  (void)state;
  double x[60];
  for (int i = 0; i < 60; i++) x[i] = i < 30 ? 300 - 6 * i : 120 + i % 3;
  assert_false(is_stationary(x, 30, 10, 0.02));
  assert_false(is_stationary(x, 50, 10, 0.02));
  assert_true(is_stationary(x, 60, 10, 0.02));
  assert_false(is_stationary(x, 60, 30, 0.02)); /* three windows do not fit */
  assert_false(is_stationary(x, 60, 0, 0.02));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(percentile_is_a_sample),
      cmocka_unit_test(percentile_meets_its_definition),
      cmocka_unit_test(upper_percentiles_need_their_samples),
      cmocka_unit_test(a_latency_bound_allows_few_late_ones),
      cmocka_unit_test(median_ranks_are_the_published_ones),
      cmocka_unit_test(median_is_the_exact_pooled_one),
      cmocka_unit_test(equal_cells_are_seldom_called_different),
      cmocka_unit_test(a_clear_lead_is_seen),
      cmocka_unit_test(a_big_cell_is_resampled_fast),
      cmocka_unit_test(verdicts_follow_the_rule),
      cmocka_unit_test(nothing_measured_is_an_error),
      cmocka_unit_test(warm_up_ends_when_windows_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
