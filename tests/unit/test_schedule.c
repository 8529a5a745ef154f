/* schedule and stats/paired: ratios of paired slices, and the stopping rule, on simulated studies
 * of two configurations. The simulated noise has an effect per process, per round (on both), per
 * slice, and on single slices. Seeded, so that counts are reproducible. */
#include "bench/study/study_internal.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "bench/study/study.h"

enum { PROCESSES = 12, ROUNDS = 25, BASE = 4 };

struct pair {
  struct slice_median a[PROCESSES * ROUNDS], b[PROCESSES * ROUNDS];
};
struct noise_model {
  double process_sd, round_sd, slice_sd, hit_share;
};
static const struct noise_model quiet = {0.003, 0.02, 0.01, 0.01},
                                middle = {0.015, 0.1, 0.03, 0.05}, loud = {0.01, 0.5, 0.05, 0.1};

static double slice(struct random *random, const struct noise_model *noise) {
  const bool is_hit = random_below(random, 1000) < (uint64_t)(1000 * noise->hit_share);
  return exp(noise->slice_sd * random_normal(random)) * (is_hit ? 3 : 1);
}

static void simulate(struct random *random, const struct noise_model *noise, double ratio,
                     struct pair *out) {
  for (int p = 0; p < PROCESSES; p++) {
    const double of_a = ratio * exp(noise->process_sd * random_normal(random));
    const double of_b = exp(noise->process_sd * random_normal(random));
    for (int r = 0; r < ROUNDS; r++) {
      const double shared = 1e6 * exp(noise->round_sd * fabs(random_normal(random)));
      const int i = p * ROUNDS + r;
      out->a[i] = (struct slice_median){p, r, shared * of_a * slice(random, noise)};
      out->b[i] = (struct slice_median){p, r, shared * of_b * slice(random, noise)};
    }
  }
}

static void intervals_hold_the_truth(void **state) {
  (void)state;
  static struct pair pair;
  const struct noise_model *const models[] = {&quiet, &loud};
  struct ctx ctx;
  struct random random;
  ctx_init(&ctx);
  random_init(&random, 5);
  for (size_t m = 0; m < COUNT(models); m++) {
    int held = 0;
    double width = 0;
    for (int i = 0; i < 1000; i++) {
      struct paired got;
      simulate(&random, models[m], 1.2, &pair);
      assert_int_equal(paired_ratio(&ctx, pair.a, BASE * ROUNDS, pair.b, BASE * ROUNDS, 0.95, &got),
                       HONE_OK);
      assert_int_equal(got.processes, BASE);
      assert_int_equal(got.rounds, BASE * ROUNDS);
      held += got.ratio.low <= 1.2 && got.ratio.high >= 1.2;
      width += log(got.ratio.high / got.ratio.low) / 2 / 1000;
    }
    assert_in_range(held, 930, 970);
    /* rounds vary by 50 %, the ratio is known to a few per cent */
    assert_true(width < (models[m] == &quiet ? 0.015 : 0.05));
  }
}

/* The number of processes until the stopping rule holds, and the verdict that the report prints. */
static size_t run_rule(struct ctx *ctx, const struct pair *pair, struct paired *out) {
  bool is_open = true;
  size_t n = BASE;
  for (; n <= PROCESSES; n++) {
    const slice_log a = {.at = (struct slice_median *)(uintptr_t)pair->a, .count = n * ROUNDS},
                    b = {.at = (struct slice_median *)(uintptr_t)pair->b, .count = n * ROUNDS};
    assert_int_equal(schedule_is_open(ctx, &a, &b, &is_open), HONE_OK);
    if (!is_open || n == PROCESSES) break;
  }
  assert_int_equal(paired_ratio(ctx, pair->a, n * ROUNDS, pair->b, n * ROUNDS, 0.95, out), HONE_OK);
  return n;
}

/* The printed verdict after the stopping rule, under noise with which intervals are always,
   sometimes and never narrow after four processes: at most 5 % of 10,000 A/A pairs are called
   different, and a difference of 10 % is detected. No allowance of three standard deviations (65)
   is needed, because the rule is conservative. */
static void the_stopping_rule_keeps_the_error_rate(void **state) {
  (void)state;
  enum { PAIRS = 10000 };
  static struct pair pair;
  static const struct {
    const char *name;
    const struct noise_model *noise;
    int least_told; /* of a difference of 10 % */
  } cases[] = {{"quiet", &quiet, 10000}, {"middle", &middle, 9950}, {"loud", &loud, 9950}};
  struct ctx ctx;
  struct random random;
  struct paired got;
  ctx_init(&ctx);
  random_init(&random, 6);
  for (size_t c = 0; c < COUNT(cases); c++)
    for (int is_different = 0; is_different < 2; is_different++) {
      int told = 0, processes = 0;
      for (int i = 0; i < PAIRS; i++) {
        simulate(&random, cases[c].noise, is_different ? 1.1 : 1, &pair);
        processes += (int)run_rule(&ctx, &pair, &got);
        told += got.ratio.low > 1 || got.ratio.high < 1;
      }
      print_message("%s, %s: %d of %d told apart, %.2f processes a pair\n", cases[c].name,
                    is_different ? "10 %" : "A/A", told, PAIRS, (double)processes / PAIRS);
      if (is_different)
        assert_in_range(told, cases[c].least_told, PAIRS);
      else
        assert_in_range(told, 0, PAIRS / 20);
    }
}

static void only_what_both_have_is_compared(void **state) {
  (void)state;
  const struct slice_median a[] = {{0, 0, 2}, {0, 1, 2}, {1, 0, 9}, {2, 0, 2}, {2, 3, 2}},
                            b[] = {{0, 0, 1}, {0, 2, 7}, {2, 0, 1}, {2, 3, 1}, {3, 0, 5}};
  struct ctx ctx;
  struct paired got;
  ctx_init(&ctx);
  assert_int_equal(paired_ratio(&ctx, a, 5, b, 5, 0.95, &got), HONE_OK);
  assert_int_equal(got.processes, 2);
  assert_int_equal(got.rounds, 3);
  assert_true(fabs(got.ratio.value - 2) < 1e-12);
  assert_int_equal(paired_ratio(&ctx, a, 2, b, 1, 0.95, &got), HONE_OK);
  assert_int_equal(got.processes, 1); /* a ratio, but no interval */
  assert_true(fabs(got.ratio.value - 2) < 1e-12 && isnan(got.ratio.low));
  assert_int_equal(paired_ratio(&ctx, a, 0, b, 5, 0.95, &got), HONE_OK);
  assert_true(!got.processes && isnan(got.ratio.value));
}

static void rounds_follow_the_speed_and_spread_evenly(void **state) {
  (void)state;
  struct bench_options options = {.processes = 4};
  assert_int_equal(schedule_rounds(&options, 20e3), ROUNDS);
  assert_int_equal(schedule_rounds(&options, 1e10), 6);
  assert_in_range(schedule_rounds(&options, 30e6), 10, 20);
  options.rounds = 10;
  assert_int_equal(schedule_rounds(&options, 20e3), 3);
  for (int rounds = 1; rounds <= ROUNDS; rounds++)
    for (int own = 1; own <= rounds; own++) {
      int parts = 0, gap = 0, longest = 0;
      for (int r = 0; r < rounds; r++) {
        const bool is_in = schedule_takes_part(own, rounds, r);
        parts += is_in;
        gap = is_in ? 0 : gap + 1;
        longest = gap > longest ? gap : longest;
      }
      assert_int_equal(parts, own);
      assert_true(longest <= rounds / own);
    }
}

/* Three cells; the first turns out five times as slow as was expected, the last fails. */
static void the_time_left_follows_what_was_seen(void **state) {
  (void)state;
  struct eta etas[] = {
      {.expected_s = 2, .left = 3}, {.expected_s = 2, .left = 3}, {.expected_s = 4, .left = 3}};
  struct bench bench = {.study = {.config_count = COUNT(etas)}, .etas = etas};
  assert_float_equal(eta_seconds_left(&bench), 24, 1e-9);
  etas[0].current_s = 1;
  assert_float_equal(eta_seconds_left(&bench), 23, 1e-9);
  etas[0].current_s = 10; /* more than was expected: nothing of this process is left */
  assert_float_equal(eta_seconds_left(&bench), 22, 1e-9);
  eta_end(&bench, 0, false, 2); /* 2 * 10; the others, by the same factor, 3 * 10 and 3 * 20 */
  assert_float_equal(eta_seconds_left(&bench), 110, 1e-9);
  etas[1].current_s = 2;
  eta_end(&bench, 1, false, 2); /* its own time from now on; the last by 12 / 4 */
  assert_float_equal(eta_seconds_left(&bench), 20 + 4 + 36, 1e-9);
  etas[2].current_s = 1000;
  eta_end(&bench, 2, true, 0); /* it must have no effect, also on the others */
  assert_float_equal(eta_seconds_left(&bench), 20 + 4, 1e-9);
  eta_end(&bench, 1, false, 0);
  etas[0].current_s = 4;
  assert_float_equal(eta_seconds_left(&bench), 6 + 10, 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(intervals_hold_the_truth),
      cmocka_unit_test(the_stopping_rule_keeps_the_error_rate),
      cmocka_unit_test(only_what_both_have_is_compared),
      cmocka_unit_test(rounds_follow_the_speed_and_spread_evenly),
      cmocka_unit_test(the_time_left_follows_what_was_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
