/* change points: planted shifts are found at their index, steady series have none, and outliers do
 * not count as a shift. */
#include "unit.h"

#include <math.h>
#include "core/stats/stats.h"

enum { MOST = 200 };
struct series {
  struct ctx ctx;
  struct arena *arena;
  struct random random;
  double x[MOST];
  struct change_point *found;
  size_t count;
};

static void find(struct series *s, size_t n) {
  assert_int_equal(change_points(&s->ctx, s->arena, s->x, n, 0.01, 7, &s->found, &s->count),
                   HONE_OK);
}
static struct series *begin(struct series *s, uint64_t seed) {
  *s = (struct series){0};
  ctx_init(&s->ctx);
  random_init(&s->random, seed);
  assert_int_equal(arena_create(&s->ctx, 0, &s->arena), HONE_OK);
  return s;
}
/* Log latencies: 2 % noise, every twentieth run up to 30 % slower, as on a shared machine. */
static void noise(struct series *s, size_t from, size_t to, double level) {
  for (size_t i = from; i < to; i++) {
    s->x[i] = log(level) + 0.02 * random_normal(&s->random);
    if (random_below(&s->random, 20) == 0) s->x[i] += 0.3 * random_uniform(&s->random);
  }
}

static void planted_shifts_are_found(void **state) {
  (void)state;
  struct series s;
  begin(&s, 1);
  noise(&s, 0, 40, 5.0);
  noise(&s, 40, 70, 5.5);
  noise(&s, 70, 120, 4.4);
  find(&s, 120);
  assert_int_equal(s.count, 2);
  assert_in_range(s.found[0].at, 39, 41);
  assert_in_range(s.found[1].at, 69, 71);
  assert_true(fabs(exp(s.found[0].after - s.found[0].before) - 1.1) < 0.02);
  assert_true(fabs(exp(s.found[1].after - s.found[1].before) - 0.8) < 0.02);
  arena_destroy(s.arena);
}

/* One 5 % shift among 2 % noise, 100 times: how often it is seen within two places. */
static void a_small_shift_is_mostly_seen(void **state) {
  (void)state;
  int seen = 0;
  for (uint64_t seed = 0; seed < 100; seed++) {
    struct series s;
    begin(&s, seed);
    noise(&s, 0, 20, 1.0);
    noise(&s, 20, 40, 1.05);
    find(&s, 40);
    for (size_t i = 0; i < s.count; i++) seen += s.found[i].at + 2 >= 20 && s.found[i].at <= 22;
    arena_destroy(s.arena);
  }
  assert_in_range(seen, 85, 110);
}

static void steady_series_seldom_have_one(void **state) {
  (void)state;
  int wrong = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    struct series s;
    begin(&s, 1000 + seed);
    const size_t n = 8 + seed % 40;
    noise(&s, 0, n, 1.0);
    find(&s, n);
    wrong += s.count > 0;
    arena_destroy(s.arena);
  }
  assert_in_range(wrong, 0, 10); /* 1 % is 4; 10 or more of 400 has a chance below 1 % */
}

static void what_is_short_or_constant_has_none(void **state) {
  (void)state;
  struct series s;
  begin(&s, 3);
  for (size_t n = 0; n < 40; n++) {
    find(&s, n);
    assert_int_equal(s.count, 0);
  }
  for (size_t i = 0; i < 3; i++) s.x[i] = 9; /* 3 against 3 can be chance */
  find(&s, 6);
  assert_int_equal(s.count, 0);
  begin(&s, 4);
  s.x[10] = 100; /* one outlier */
  find(&s, 21);
  assert_int_equal(s.count, 0);
  assert_int_equal(
      change_points(&s.ctx, s.arena, s.x, CHANGE_POINTS_MAX + 1, 0.01, 7, &s.found, &s.count),
      HONE_E_LIMIT);
  arena_destroy(s.arena);
}

static void the_same_series_gives_the_same_cuts(void **state) {
  (void)state;
  struct series s;
  begin(&s, 5);
  noise(&s, 0, 30, 1.0);
  noise(&s, 30, 60, 1.03);
  find(&s, 60);
  const size_t count = s.count, at = count ? s.found[0].at : 0;
  find(&s, 60);
  assert_int_equal(s.count, count);
  assert_int_equal(s.count ? s.found[0].at : 0, at);
  arena_destroy(s.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planted_shifts_are_found),
      cmocka_unit_test(a_small_shift_is_mostly_seen),
      cmocka_unit_test(steady_series_seldom_have_one),
      cmocka_unit_test(what_is_short_or_constant_has_none),
      cmocka_unit_test(the_same_series_gives_the_same_cuts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
