/* advise: bounds, ties, the binding bound and the messages, over records with figures set here. */
#include "judge/recommend/advise.h"
#include "unit.h"

#include <jansson.h>
#include <math.h>

enum { MOST = 6 };
struct scene {
  struct ctx ctx;
  struct arena *arena;
  struct summary summary;
  struct record records[MOST];
  struct comparison comparisons[MOST];
  struct constraints constraints;
  struct advice advice;
};

static struct record *add(struct scene *s, const char *backend, double p50, double half,
                          double memory) {
  struct record *r = &s->records[s->summary.record_count++];
  *r = (struct record){.status = STATUS_ok,
                       .p50_ms = p50,
                       .p50_lo_ms = p50 - half,
                       .p50_hi_ms = p50 + half,
                       .throughput_per_s = 1000 / p50,
                       .processes = 3,
                       .rounds = 18};
  r->config.batch = r->config.threads = 1;
  r->worst.rss_steady = (int64_t)(memory * 1e6);
  r->worst.artifact_bytes = (int64_t)(memory * 5e5);
  r->worst.load_ms = 10;
  r->worst.first_inference_ms = 2 * p50;
  r->worst.top1 = 1;
  r->worst.accuracy_retention = NAN;
  snprintf(r->config.backend, sizeof r->config.backend, "%s", backend);
  snprintf(r->config.precision, sizeof r->config.precision, "fp32");
  snprintf(r->config.key, sizeof r->config.key, "%032zu", s->summary.record_count);
  return r;
}

static void compare_rows(struct scene *s, size_t a, size_t b, double ratio, double low,
                         double high) {
  const struct interval by = {ratio, low, high};
  s->comparisons[s->summary.comparison_count++] =
      (struct comparison){.a = a,
                          .b = b,
                          .ratio = by,
                          .verdict = verdict_of(&s->records[a], &s->records[b], &by, NULL)};
}

static void begin(struct scene *s) {
  *s = (struct scene){0};
  ctx_init(&s->ctx);
  assert_int_equal(arena_create(&s->ctx, 0, &s->arena), HONE_OK);
  s->summary.records = s->records;
  s->summary.comparisons = s->comparisons;
  constraints_init(&s->constraints);
}

static void choose(struct scene *s) {
  assert_int_equal(advise_choose(&s->ctx, s->arena, &s->summary, &s->constraints, &s->advice),
                   HONE_OK);
}

static void end(struct scene *s) { arena_destroy(s->arena); }

static bool says(const struct scene *s, const char *part) {
  struct strbuf out = {0};
  advise_table(&s->summary, &s->constraints, &s->advice, &out);
  bool found = out.at && strstr(out.at, part);
  if (!found) print_error("not printed: \"%s\" in\n%s\n", part, out.at ? out.at : "");
  strbuf_deinit(&out);
  return found;
}

static void the_fastest_that_is_sure(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4, .1, 100);
  add(&s, "onnxruntime", 6, .1, 90);
  add(&s, "openvino", 8, .1, 80);
  add(&s, "tvm", 1, .1, 10)->status = STATUS_wrong; /* a wrong answer cannot win */
  add(&s, "native", 2, .1, 10)->config.label = 1;   /* an --aa copy is not a candidate */
  compare_rows(&s, 1, 0, 1.5, 1.45, 1.55);
  choose(&s);
  assert_int_equal(s.advice.choice, 0);
  assert_int_equal(s.advice.runner_up, 1);
  assert_true(s.advice.is_decided);
  assert_true(s.advice.ratio.low == 1.45); /* of the slices side by side */
  assert_int_equal(s.advice.at[2].status, CANDIDATE_behind);
  assert_int_equal(s.advice.at[3].status, CANDIDATE_invalid);
  assert_true(says(&s, "native, fp32, 1 thread: median latency 4.00 ms; better than onnxruntime"));
  assert_true(says(&s, "1.50x (1.45 to 1.55), significant at 95 %\n"));
  assert_true(s.advice.regret == 0);
  end(&s);
}

static void a_tie_goes_to_the_smaller(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4.0, .3, 300);
  add(&s, "openvino", 4.1, .3, 100);
  add(&s, "onnxruntime", 9, .1, 10);
  compare_rows(&s, 1, 0, 1.02, .97, 1.07);
  compare_rows(&s, 2, 0, 2.25, 2.2, 2.3);
  choose(&s);
  assert_int_equal(s.advice.choice, 1);
  assert_int_equal(s.advice.runner_up, 0);
  assert_false(s.advice.is_decided);
  assert_int_equal(s.advice.at[2].status, CANDIDATE_behind);
  assert_true(fabs(s.advice.regret - .07) < 1e-9); /* the other may be as much faster */
  assert_true(says(&s, "chosen for its smaller memory; at most 7.0 % worse than the best\n"));
  end(&s);
}

/* A verdict of the study holds here, even if the intervals do not overlap. */
static void verdicts_are_those_of_the_study(void **state) {
  (void)state;
  static const struct {
    int processes, rounds;
    double floor_ns; /* of one of the two */
    bool has_pairs;
    enum candidate_status status;
    const char *words, *reason;
  } rows[] = {
      {3, 18, 0, true, CANDIDATE_runner_up,
       "better than onnxruntime, fp32, 1 thread by 1.50x (1.45 to 1.55), significant at 95 %\n",
       "runner-up  onnxruntime, fp32, 1 thread: median latency 6.00 ms against 4.00 ms\n"},
      {1, 6, 0, true, CANDIDATE_undecided,
       "ahead of onnxruntime, fp32, 1 thread by 1.50x (1.45 to 1.55), not enough "
       "measurements to decide\n",
       "undecided  onnxruntime, fp32, 1 thread: median latency 6.00 ms against 4.00 ms, "
       "not enough measurements to decide\n"},
      {2, 36, 0, true, CANDIDATE_undecided, "not enough measurements to decide\n",
       "undecided  onnxruntime"},
      {3, 6, 0, true, CANDIDATE_undecided, "not enough measurements to decide\n",
       "undecided  onnxruntime"},
      {1, 6, 0, false, CANDIDATE_undecided,
       "1.50x (1.44 to 1.56), not enough measurements to decide\n", "undecided  onnxruntime"},
      {3, 18, 0, false, CANDIDATE_runner_up, "1.50x (1.44 to 1.56), significant at 95 %\n",
       "runner-up  onnxruntime"},
      {3, 18, 3e6, true, CANDIDATE_tied,
       "tied with onnxruntime, fp32, 1 thread, 1.50x (1.45 to 1.55): chosen for the "
       "better value\n",
       "tied       onnxruntime"}};
  for (size_t i = 0; i < COUNT(rows); i++)
    for (int turned = 0; turned < 2; turned++) {
      struct scene s;
      begin(&s);
      add(&s, "native", 4, .1, 100);
      add(&s, "onnxruntime", 6, .1, 90);
      for (size_t k = 0; k < 2; k++) {
        s.records[k].processes = rows[i].processes;
        s.records[k].rounds = rows[i].rounds;
      }
      s.records[1].worst.floor_ns = rows[i].floor_ns;
      if (rows[i].has_pairs && turned) compare_rows(&s, 0, 1, 1 / 1.5, 1 / 1.55, 1 / 1.45);
      if (rows[i].has_pairs && !turned) compare_rows(&s, 1, 0, 1.5, 1.45, 1.55);
      choose(&s);
      assert_int_equal(s.advice.choice, 0);
      assert_int_equal(s.advice.at[1].status, rows[i].status);
      assert_int_equal(s.advice.is_decided, rows[i].status == CANDIDATE_runner_up);
      assert_true(says(&s, rows[i].words));
      assert_true(says(&s, rows[i].reason));
      end(&s);
    }
}

/* A figure without noise, such as a size, is compared even with one process; energy from one
   process is undecided. */
static void sizes_need_no_processes(void **state) {
  (void)state;
  static const struct {
    enum constraint_id objective;
    int processes;
    bool is_decided;
  } rows[] = {
      {CONSTRAINT_memory, 1, true}, {CONSTRAINT_energy, 1, false}, {CONSTRAINT_energy, 3, true}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct scene s;
    begin(&s);
    add(&s, "native", 4, .1, 100);
    add(&s, "onnxruntime", 4, .1, 90);
    for (size_t k = 0; k < 2; k++) {
      s.records[k].processes = rows[i].processes;
      s.records[k].rounds = 6 * rows[i].processes;
      s.records[k].energy_mj = 60 - 30 * (double)k;
      s.records[k].energy_lo_mj = s.records[k].energy_mj - 1;
      s.records[k].energy_hi_mj = s.records[k].energy_mj + 1;
    }
    s.constraints.objective = rows[i].objective;
    choose(&s);
    assert_int_equal(s.advice.choice, 1);
    assert_int_equal(s.advice.is_decided, rows[i].is_decided);
    end(&s);
  }
}

/* Wide intervals of short rounds: the smaller candidate is not chosen if its median is clearly worse. */
static void a_wide_tie_goes_to_the_faster(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4.0, 1.2, 300);
  add(&s, "openvino", 4.4, 1.2, 100);
  compare_rows(&s, 1, 0, 1.1, .7, 1.7);
  choose(&s);
  assert_int_equal(s.advice.choice, 0);
  assert_int_equal(s.advice.at[1].status, CANDIDATE_tied);
  assert_false(s.advice.is_decided);
  assert_true(says(&s,
                   "1.10x (0.70 to 1.70): chosen for the better value; at "
                   "most 42.9 % worse than the best\n"));
  assert_true(says(&s, "tied with the choice, which has the better value"));
  end(&s);
}

static void bounds_hold_by_the_interval(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4, .5, 300);
  add(&s, "openvino", 3, .1, 500);
  add(&s, "onnxruntime", 4.6, .1, 100);
  s.constraints.bound[CONSTRAINT_memory] = 400e6;
  s.constraints.bound[CONSTRAINT_latency] = 4.2; /* within native's interval */
  choose(&s);
  assert_int_equal(s.advice.choice, SIZE_MAX);
  assert_int_equal(s.advice.at[0].status, CANDIDATE_unsure);
  assert_int_equal(s.advice.at[1].status, CANDIDATE_out);
  assert_int_equal(s.advice.at[1].bounds[CONSTRAINT_memory], BOUND_MISSED);
  assert_int_equal(s.advice.at[1].bounds[CONSTRAINT_latency], BOUND_HELD);
  assert_int_equal(s.advice.at[2].bounds[CONSTRAINT_latency], BOUND_MISSED);
  /* without the bound of latency two rows pass, without that of memory one */
  assert_int_equal(s.advice.binding, CONSTRAINT_latency);
  assert_true(fabs(s.advice.needed - 4.5) < 1e-9);
  assert_true(says(&s, "the reason is median latency; with a limit of 4.50 ms instead of 4.20 ms"));
  assert_true(says(&s, "with an interval that contains the limit of"));
  s.constraints.bound[CONSTRAINT_latency] = 4.5;
  choose(&s);
  assert_int_equal(s.advice.choice, 0);
  end(&s);
}

static void more_is_better_where_it_is(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4, .1, 100)->throughput_per_s = 250;
  struct record *batch = add(&s, "native", 20, .1, 200);
  batch->config.batch = 8;
  batch->throughput_per_s = 400;
  add(&s, "onnxruntime", 3, .1, 100)->worst.top1 = .97;
  s.constraints.objective = CONSTRAINT_throughput;
  s.constraints.bound[CONSTRAINT_accuracy] = .99;
  choose(&s);
  assert_int_equal(s.advice.choice, 1);
  assert_int_equal(s.advice.at[2].bounds[CONSTRAINT_accuracy], BOUND_MISSED);
  assert_true(fabs(s.advice.ratio.value - 1.6) < 1e-9);
  assert_true(says(&s, "agreement with the reference 0.97, below the limit of 0.99"));
  s.records[2].worst.accuracy_retention = .995; /* labels count for more than largest outputs */
  choose(&s);
  assert_int_equal(s.advice.at[2].status, CANDIDATE_runner_up);
  s.records[2].worst.accuracy_retention = NAN;
  choose(&s);
  json_t *root = advise_json(&s.summary, &s.constraints, &s.advice);
  const json_t *row = json_array_get(json_object_get(root, "rows"), 1);
  assert_string_equal(json_string_value(json_object_get(root, "objective")), "throughput");
  assert_string_equal(json_string_value(json_object_get(row, "standing")), "chosen");
  json_decref(root);
  end(&s);
}

static void an_unknown_value_meets_no_bound(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4, .1, 100)->worst.rss_steady = -1;
  s.constraints.bound[CONSTRAINT_memory] = 1e12;
  choose(&s);
  assert_int_equal(s.advice.choice, SIZE_MAX);
  assert_int_equal(s.advice.binding, CONSTRAINT_COUNT);
  assert_true(says(&s, "no candidate that ran has a value for every bound"));
  end(&s);
}

/* Two bounds that no candidate meets: the limits that the one nearest to both would need. */
static void several_bounds_in_the_way_are_all_named(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4, .1, 100);
  add(&s, "openvino", 2, .1, 400);
  s.constraints.bound[CONSTRAINT_latency] = 1;
  s.constraints.bound[CONSTRAINT_memory] = 50e6;
  s.constraints.bound[CONSTRAINT_start] = 100; /* held */
  choose(&s);
  assert_int_equal(s.advice.choice, SIZE_MAX);
  assert_int_equal(s.advice.binding, CONSTRAINT_COUNT);
  assert_int_equal(s.advice.nearest, 0); /* 4.1 times and twice, the other 8 times */
  assert_true(isnan(s.advice.needs[CONSTRAINT_start]));
  assert_true(
      says(&s,
           "relaxing one bound is not enough; nearest is native, fp32, 1 thread: median latency "
           "with a limit of 4.10 ms instead of 1.00 ms, memory while running with a limit of "
           "100 MB instead of 50.0 MB\n"));
  json_t *root = advise_json(&s.summary, &s.constraints, &s.advice);
  const json_t *needs = json_object_get(root, "needs");
  assert_int_equal(json_object_size(needs), 2);
  assert_true(json_number_value(json_object_get(needs, "latency")) == 4.1);
  /* a row says all that it misses */
  assert_true(
      says(&s,
           "openvino, fp32, 1 thread: median latency 2.00 ms, above the limit of 1.00 ms; memory "
           "while running 400 MB, above the limit of 50.0 MB\n"));
  json_t *missed = json_object_get(json_array_get(json_object_get(root, "rows"), 1), "missed");
  assert_int_equal(json_array_size(missed), 2);
  const json_t *second = json_array_get(missed, 1);
  assert_string_equal(json_string_value(json_object_get(second, "bound")), "memory");
  assert_true(json_number_value(json_object_get(second, "value")) == 400e6);
  assert_true(json_number_value(json_object_get(second, "limit")) == 50e6);
  assert_true(json_is_true(json_object_get(second, "is_sure")));
  json_decref(root);
  end(&s);
}

/* Without a bound there is none to blame. */
static void no_candidate_ran(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "native", 4, .1, 100)->status = STATUS_crashed;
  choose(&s);
  assert_int_equal(s.advice.choice, SIZE_MAX);
  assert_true(says(&s, "no candidate ran correctly: each row gives the reason\n"));
  s.records[0].status = STATUS_ok;
  s.constraints.objective = CONSTRAINT_energy;
  s.records[0].energy_mj = NAN;
  choose(&s);
  assert_int_equal(s.advice.choice, SIZE_MAX);
  assert_true(says(&s, "no candidate that ran has a value for energy of an inference\n"));
  end(&s);
}

static void set_energy(struct record *r, double mj, double half) {
  r->energy_mj = mj;
  r->energy_lo_mj = mj - half;
  r->energy_hi_mj = mj + half;
}

/* The slower one takes less; the one without a meter is never chosen, however small it is. */
static void the_least_energy(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  set_energy(add(&s, "fast", 4, .1, 100), 90, 2);
  set_energy(add(&s, "thrifty", 6, .1, 200), 60, 2);
  set_energy(add(&s, "unknown", 5, .1, 1), NAN, NAN);
  s.constraints.objective = CONSTRAINT_energy;
  choose(&s);
  assert_int_equal(s.advice.choice, 1);
  assert_true(s.advice.is_decided && s.advice.ratio.low > 1.4);
  assert_int_equal(s.advice.runner_up, 0);
  assert_int_equal(s.advice.at[2].status, CANDIDATE_behind);
  assert_true(says(&s, "energy of an inference 60 mJ"));
  assert_true(says(&s, "energy of an inference unknown against 60 mJ"));
  end(&s);
  begin(&s); /* intervals that meet decide nothing: the smaller memory does */
  set_energy(add(&s, "fast", 4, .1, 100), 61, 8);
  set_energy(add(&s, "thrifty", 6, .1, 200), 60, 8);
  s.constraints.objective = CONSTRAINT_energy;
  choose(&s);
  assert_int_equal(s.advice.choice, 0);
  assert_false(s.advice.is_decided);
  end(&s);
}

/* A hybrid is chosen only if pairs prove it better than every single engine. */
static void a_hybrid_needs_a_proof(void **state) {
  (void)state;
  static const struct {
    double low, high;
    const char *choice;
    enum candidate_status of_parts;
  } cases[] = {{0.97, 1.10, "native", CANDIDATE_unproven}, /* faster by its median alone */
               {1.01, 1.10, "hybrid", CANDIDATE_chosen},
               {0.80, 0.95, "native", CANDIDATE_runner_up}};
  for (size_t c = 0; c < COUNT(cases); c++) {
    struct scene s;
    begin(&s);
    add(&s, "hybrid", cases[c].low > 0.9 ? 3.9 : 4.4, .5, 50);
    add(&s, "native", 4, .5, 100);
    compare_rows(&s, 1, 0, (cases[c].low + cases[c].high) / 2, cases[c].low, cases[c].high);
    choose(&s);
    assert_string_equal(s.records[s.advice.choice].config.backend, cases[c].choice);
    assert_int_equal(s.advice.at[0].status, cases[c].of_parts);
    if (cases[c].of_parts == CANDIDATE_unproven)
      assert_true(says(&s, "not proven faster than a single engine"));
    end(&s);
  }
}

/* If no single engine meets the bounds, the hybrid needs no proof. */
static void only_a_hybrid_meets_a_bound(void **state) {
  (void)state;
  struct scene s;
  begin(&s);
  add(&s, "hybrid", 3, .1, 50);
  add(&s, "native", 4, .1, 100);
  s.constraints.bound[CONSTRAINT_latency] = 3.5;
  choose(&s);
  assert_int_equal(s.advice.choice, 0);
  s.summary.record_count = 1; /* nothing to be faster than was measured at all */
  choose(&s);
  assert_int_equal(s.advice.choice, SIZE_MAX);
  assert_int_equal(s.advice.at[0].status, CANDIDATE_unproven);
  assert_true(says(&s, "the hybrid is not proven faster than a single engine\n"));
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_fastest_that_is_sure),
                                     cmocka_unit_test(a_tie_goes_to_the_smaller),
                                     cmocka_unit_test(verdicts_are_those_of_the_study),
                                     cmocka_unit_test(sizes_need_no_processes),
                                     cmocka_unit_test(a_wide_tie_goes_to_the_faster),
                                     cmocka_unit_test(bounds_hold_by_the_interval),
                                     cmocka_unit_test(more_is_better_where_it_is),
                                     cmocka_unit_test(an_unknown_value_meets_no_bound),
                                     cmocka_unit_test(several_bounds_in_the_way_are_all_named),
                                     cmocka_unit_test(no_candidate_ran),
                                     cmocka_unit_test(the_least_energy),
                                     cmocka_unit_test(a_hybrid_needs_a_proof),
                                     cmocka_unit_test(only_a_hybrid_meets_a_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
