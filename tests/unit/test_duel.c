/* The gate's verdict on simulated machines: 200 paired runs of a build against itself and against
 * one that is 3 % slower, under noise with a tail, drift and bursts. Also the search of bisect with
 * unreliable verdicts. */
#include "judge/gate/paired_run.h"
#include "unit.h"

#include <math.h>

/* One turn's fastest run: the code's time, jitter upwards, a neighbour's burst, a machine that slows down. */
static double turn_ms(struct random *random, double code, double drift, bool is_burst) {
  double jitter = .004 * fabs(random_normal(random));
  if (random_uniform(random) < .05) jitter += .3 * random_uniform(random);
  return code * (1 + jitter) * drift * (is_burst ? 1.5 : 1);
}

static struct interval pairing(struct random *random, double slower, int pairs, double error) {
  double ratios[PAIRED_MAX_PAIRS];
  for (int i = 0; i < pairs; i++) {
    const double drift = 1 + .002 * i + .05 * sin(.3 * i);
    const bool first = random_below(random, 2), burst = random_uniform(random) < .15;
    double ms[2];
    /* the burst hits the second turn */
    ms[first] = turn_ms(random, first ? slower : 1, drift, false);
    ms[!first] = turn_ms(random, first ? 1 : slower, drift * 1.001, burst);
    ratios[i] = ms[1] / ms[0];
  }
  return paired_interval(ratios, (size_t)pairs, error);
}

static void false_alarms_are_one_per_cent(void **state) {
  (void)state;
  struct random random;
  int alarms = 0, strict = 0, found = 0, refused = 0;
  random_init(&random, 7);
  for (int i = 0; i < 200; i++) {
    const struct interval same = pairing(&random, 1, 40, .01);
    alarms += same.low > 1.01;
    strict += same.low > 1 || same.high < 1; /* any verdict at all, without a margin */
    found += pairing(&random, 1.03, 40, .01).low > 1.01;
    refused += pairing(&random, 1.03, 40, .01).low > 1.05;
  }
  assert_int_equal(alarms, 0);
  assert_in_range(strict, 0, 2); /* at most 1 % */
  assert_in_range(found, 196, 200);
  assert_int_equal(refused, 0); /* 3 % is within a budget of 5 % */
}

/* Over many paired runs, the share of false alarms is at most the requested error. */
static void the_error_is_what_was_asked_for(void **state) {
  (void)state;
  static const double errors[] = {.5, .2, .05};
  for (size_t e = 0; e < COUNT(errors); e++) {
    struct random random;
    int alarms = 0;
    random_init(&random, 11 + e);
    for (int i = 0; i < 1000; i++) {
      const struct interval same = pairing(&random, 1, 20, errors[e]);
      alarms += same.low > 1 || same.high < 1;
    }
    assert_true(alarms <= 1000 * errors[e] + 3 * sqrt(1000 * errors[e] * (1 - errors[e])));
  }
}

/* Many short turns for short runs, few long turns for long runs; a requested number of pairs is
   kept. */
static void the_models_own_time_decides_how_many(void **state) {
  (void)state;
  static const struct {
    double turn_s, run_s;
    int asked, runs, pairs;
    bool by_processor;
  } rows[] = {
      {.01, 9e-6, 0, 1111, 120, false},   {.01, 2.5e-4, 0, 40, 120, false},
      {.01, 1e-3, 0, 16, 120, false},     {.01, 5e-3, 0, 10, 40, false},
      {.01, .02, 0, 3, 40, false},        {.01, 1, 0, 3, 40, false},
      {.1, 1e-3, 0, 100, 40, false},      {.01, 1e-3, 20, 16, 20, false},
      {.01, 1e-9, 0, 100000, 120, false}, {.01, 1e-3, 0, 10, 120, true},
      {.01, 5e-3, 0, 3, 120, true},       {.01, .01, 0, 3, 66, true},
      {.01, .02, 0, 3, 40, true},         {.01, .02, 50, 3, 50, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct paired_options options = {.turn_s = rows[i].turn_s, .pairs = rows[i].asked};
    const struct paired_turns turns = paired_turns(&options, rows[i].run_s, rows[i].by_processor);
    assert_int_equal(turns.runs, rows[i].runs);
    assert_int_equal(turns.pairs, rows[i].pairs);
  }
}

/* A wall-clock interval that decides against the budget takes precedence. Processor time is used
   only if its interval is narrower. */
static void the_clock_counts_where_it_tells(void **state) {
  (void)state;
  static const struct {
    struct interval clock, processors;
    bool by_processors;
  } rows[] = {
      {{1, .995, 1.005}, {1.06, 1.055, 1.065}, false}, /* more work, better shared out */
      {{1.2, 1.05, 1.4}, {1, .999, 1.001}, false},     /* the same work, worse shared out */
      {{1, .85, 1.2}, {1.04, 1.03, 1.05}, true},       {{.7, .5, .9}, {1.04, 1.03, 1.05}, false},
      {{1, .98, 1.03}, {1, .9, 1.1}, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    assert_int_equal(paired_by_processor_time(&rows[i].clock, &rows[i].processors, .01),
                     rows[i].by_processors);
}

static void few_pairs_decide_nothing(void **state) {
  (void)state;
  double ratios[] = {2, 2, 2, 2};
  const struct interval few = paired_interval(ratios, COUNT(ratios), .01);
  assert_true(few.value == 2 && isnan(few.low) && isnan(few.high));
  assert_true(isnan(paired_interval(NULL, 0, .01).value));
}

struct hunt {
  struct ctx ctx;
  struct arena *arena;
  struct bisection search;
};

static size_t hunt(struct hunt *h, size_t n, size_t first_bad, double error, double believed,
                   struct random *random) {
  double share;
  size_t i;
  assert_int_equal(bisection_begin(&h->ctx, h->arena, n, believed, &h->search), HONE_OK);
  while (bisection_best(&h->search, &share),
         share < .99 && (i = bisection_next(&h->search)) && h->search.answers < 500)
    bisection_answer(&h->search, i, (i >= first_bad) != (random_uniform(random) < error));
  return bisection_best(&h->search, &share);
}

static void begin(struct hunt *h) {
  ctx_init(&h->ctx);
  assert_int_equal(arena_create(&h->ctx, 0, &h->arena), HONE_OK);
}

static void a_sure_judge_is_asked_once_each(void **state) {
  (void)state;
  struct hunt h;
  struct random random;
  begin(&h);
  random_init(&random, 1);
  for (size_t n = 1; n <= 40; n++)
    for (size_t bad = 1; bad <= n; bad++) {
      assert_int_equal(hunt(&h, n, bad, 0, 0, &random), bad);
      assert_true((double)h.search.answers <= ceil(log2((double)n)));
    }
  arena_destroy(h.arena);
}

static void a_judge_that_errs_is_asked_again(void **state) {
  (void)state;
  struct hunt h;
  struct random random;
  size_t right = 0, answers = 0;
  begin(&h);
  random_init(&random, 3);
  for (int i = 0; i < 400; i++) {
    const size_t bad = 1 + (size_t)random_below(&random, 100);
    right += hunt(&h, 100, bad, .05, .05, &random) == bad;
    answers += h.search.answers;
  }
  assert_true(right >= 390);
  assert_true(answers < 400 * 20);
  arena_destroy(h.arena);
}

static void what_cannot_be_judged_is_a_range(void **state) {
  (void)state;
  struct hunt h;
  double share;
  size_t low, high, i;
  begin(&h);
  assert_int_equal(bisection_begin(&h.ctx, h.arena, 8, 0, &h.search), HONE_OK);
  while ((i = bisection_next(&h.search))) {
    if (i == 4 || i == 5)
      bisection_skip(&h.search, i);
    else
      bisection_answer(&h.search, i, i >= 5);
  }
  bisection_range(&h.search, bisection_best(&h.search, &share), &low, &high);
  assert_int_equal(low, 4);
  assert_int_equal(high, 6);
  arena_destroy(h.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(false_alarms_are_one_per_cent),
                                     cmocka_unit_test(the_error_is_what_was_asked_for),
                                     cmocka_unit_test(the_models_own_time_decides_how_many),
                                     cmocka_unit_test(the_clock_counts_where_it_tells),
                                     cmocka_unit_test(few_pairs_decide_nothing),
                                     cmocka_unit_test(a_sure_judge_is_asked_once_each),
                                     cmocka_unit_test(a_judge_that_errs_is_asked_again),
                                     cmocka_unit_test(what_cannot_be_judged_is_a_range)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
