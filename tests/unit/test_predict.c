/* predict: the method that is chosen if the law of the data is known, the width of its intervals,
 * and when it gives no prediction. */
#include "judge/predict/predict.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum {
  MODELS = 24,
  BATCHES = 3,
  THREADS = 2,
  BACKENDS = 2,
  ROWS = MODELS * BATCHES * THREADS * BACKENDS
};

struct scene {
  struct ctx ctx;
  struct arena *arena;
  struct samples samples;
  struct predictor *predictor;
};

static const struct machine_facts machines[THREADS] = {{1e11, 1e10}, {2e11, 1.5e10}};

static void make_facts(struct random *random, struct model_facts *m, double batch) {
  *m = (struct model_facts){.flops = batch * exp2(20 + 14 * random_uniform(random)),
                            .weight_bytes = exp2(14 + 10 * random_uniform(random)),
                            .largest_bytes = batch * exp2(12 + 6 * random_uniform(random)),
                            .input_bytes = batch * 4096,
                            .nodes = 4 + floor(100 * random_uniform(random))};
  m->bytes = m->weight_bytes + m->largest_bytes * m->nodes;
  m->value_bytes = m->largest_bytes * m->nodes;
  m->conv_flops = m->flops * random_uniform(random);
  m->matmul_flops = m->flops - m->conv_flops;
  m->elementwise_nodes = floor(m->nodes * random_uniform(random));
}

/* bent: the second backend is slow at convolutions, which no roofline knows. */
static double law_ms(const struct model_facts *m, const struct machine_facts *p, size_t backend,
                     bool bent) {
  const double conv = m->conv_flops / m->flops;
  return 1e3 * roofline_s(m, p) * (backend ? 2.5 : 1.6) * (bent && backend ? exp(3 * conv) : 1);
}

static void begin(struct scene *s, double noise, bool bent) {
  struct random random;
  *s = (struct scene){0};
  ctx_init(&s->ctx);
  random_init(&random, 5);
  assert_int_equal(arena_create(&s->ctx, 0, &s->arena), HONE_OK);
  assert_int_equal(NEW_ARRAY(&s->ctx, s->arena, s->samples.at, ROWS), HONE_OK);
  assert_int_equal(NEW_ARRAY(&s->ctx, s->arena, s->samples.backends, BACKENDS), HONE_OK);
  s->samples.model_count = MODELS;
  s->samples.backend_count = BACKENDS;
  snprintf(s->samples.backends[0], 32, "native");
  snprintf(s->samples.backends[1], 32, "other");
  for (size_t m = 0; m < MODELS; m++) {
    const struct random model = random;
    for (int b = 0; b < BATCHES; b++) {
      struct model_facts facts;
      random = model; /* the same model at another batch */
      make_facts(&random, &facts, 1 << b);
      for (int t = 0; t < THREADS; t++)
        for (size_t e = 0; e < BACKENDS; e++) {
          struct sample *row = &s->samples.at[s->samples.count++];
          const struct run_setup setup = {1 << b, t + 1, PRECISION_FP32};
          row->model = m;
          memcpy(row->backend, s->samples.backends[e], sizeof row->backend);
          features_fill(&facts, &setup, &machines[t], row->x);
          row->y[TARGET_latency] =
              law_ms(&facts, &machines[t], e, bent) * exp(noise * random_normal(&random));
          row->y[TARGET_memory] = (e ? 3 : 2) * facts.weight_bytes + 2e7;
          row->y[TARGET_size] = facts.weight_bytes + (e ? 1e7 : 1e4);
        }
    }
    (void)random_u64(&random);
  }
}

static void end(struct scene *s) {
  predictor_free(s->predictor);
  arena_destroy(s->arena);
}

static void train(struct scene *s, struct xgboost *library) {
  assert_int_equal(predictor_train(&s->ctx, s->arena, &s->samples, library, &s->predictor),
                   HONE_OK);
}

static void the_roofline_is_used_where_nothing_beats_it(void **state) {
  (void)state;
  struct scene s;
  struct prediction p;
  begin(&s, .05, false);
  train(&s, NULL);
  const struct held_out *q = predictor_quality(s.predictor, TARGET_latency);
  assert_int_equal(q->used, METHOD_roofline);
  assert_int_equal(q->rows, ROWS);
  assert_true(q->roofline < .06 && isnan(q->xgboost));
  size_t within = 0;
  for (size_t i = 0; i < ROWS; i++) {
    assert_int_equal(predict(&s.ctx, s.predictor, TARGET_latency, s.samples.at[i].backend,
                             s.samples.at[i].x, &p),
                     HONE_OK);
    assert_null(p.why);
    assert_true(p.value.low <= p.value.value && p.value.value <= p.value.high);
    within += s.samples.at[i].y[TARGET_latency] >= p.value.low &&
              s.samples.at[i].y[TARGET_latency] <= p.value.high;
  }
  assert_in_range(within, ROWS * 85 / 100, ROWS * 95 / 100); /* nine of ten */
  end(&s);
}

static void what_is_unlike_gets_no_prediction(void **state) {
  (void)state;
  struct scene s;
  struct prediction p;
  float x[FEATURE_COUNT];
  begin(&s, .05, false);
  train(&s, NULL);
  memcpy(x, s.samples.at[0].x, sizeof x);
  assert_int_equal(predict(&s.ctx, s.predictor, TARGET_latency, "never seen", x, &p), HONE_OK);
  assert_true(isnan(p.value.value) && strstr(p.why, "backend"));
  x[FEATURE_recurrent_share] = 40; /* like nothing on record */
  x[FEATURE_flops] += 30;
  assert_int_equal(predict(&s.ctx, s.predictor, TARGET_latency, "native", x, &p), HONE_OK);
  assert_true(isnan(p.value.value) && strstr(p.why, "unlike"));
  end(&s);
}

static void few_models_teach_nothing(void **state) {
  (void)state;
  struct scene s;
  struct prediction p;
  begin(&s, .05, false);
  s.samples.model_count = PREDICT_MIN_MODELS - 1;
  s.samples.count = s.samples.model_count * BATCHES * THREADS * BACKENDS;
  train(&s, NULL);
  assert_int_equal(predictor_quality(s.predictor, TARGET_latency)->used, METHOD_none);
  assert_int_equal(predict(&s.ctx, s.predictor, TARGET_latency, "native", s.samples.at[0].x, &p),
                   HONE_OK);
  assert_true(isnan(p.value.low) && strstr(p.why, "too few"));
  end(&s);
}

/* Where the library is: HONE_XGBOOST, else hone's own installation. */
static struct xgboost *open_library(struct ctx *ctx) {
  struct xgboost *x = NULL;
  char dir[4096], pattern[4300];
  const char *named = getenv("HONE_XGBOOST");
  if (!named && !dir_user(ctx, "data", dir)) {
    snprintf(pattern, sizeof pattern,
             "%s/engines/xgboost/lib/python3.11/site-packages/xgboost/lib/libxgboost.so", dir);
    named = pattern;
  }
  if (!named || xgboost_open(ctx, named, &x)) ctx_clear(ctx);
  return x;
}

static void xgboost_is_used_where_it_beats_the_roofline(void **state) {
  (void)state;
  struct scene s;
  begin(&s, .02, true);
  struct xgboost *library = open_library(&s.ctx);
  if (!library) {
    arena_destroy(s.arena);
    skip(); /* hone backends install xgboost */
  }
  train(&s, library);
  const struct held_out *q = predictor_quality(s.predictor, TARGET_latency);
  assert_int_equal(q->used, METHOD_xgboost);
  assert_true(q->xgboost < .7 * q->roofline);
  struct prediction a, b;
  assert_int_equal(predict(&s.ctx, s.predictor, TARGET_latency, "other", s.samples.at[9].x, &a),
                   HONE_OK);
  assert_int_equal(predict(&s.ctx, s.predictor, TARGET_latency, "other", s.samples.at[9].x, &b),
                   HONE_OK);
  assert_true(a.value.value == b.value.value && isfinite(a.value.low));
  end(&s);
  begin(&s, .05, false); /* a law that the baseline holds: noise is all that could be learnt */
  train(&s, library);
  assert_int_equal(predictor_quality(s.predictor, TARGET_latency)->used, METHOD_roofline);
  end(&s);
  xgboost_close(library);
}

static void no_library_is_an_error_of_its_own(void **state) {
  (void)state;
  struct ctx ctx;
  struct xgboost *x;
  ctx_init(&ctx);
  assert_int_equal(xgboost_open(&ctx, "/nonexistent/libxgboost.so", &x), HONE_E_MISSING);
  ctx_clear(&ctx);
  assert_int_equal(xgboost_open(&ctx, "libm.so.6", &x), HONE_E_UNSUP);
}

static void a_machine_without_peaks_is_not_known(void **state) {
  (void)state;
  struct machine_facts m;
  static const char json[] =
      "{\"peaks\": [{\"threads\": 2, \"f32_gflops\": 150, \"read_gb_per_s\": [[262144, 90], [1e9, "
      "12]]}]}";
  assert_true(facts_of_machine(json, 2, &m) && fabs(m.flops - 150e9) < 1 &&
              fabs(m.bandwidth - 12e9) < 1);
  assert_false(facts_of_machine(json, 1, &m));
  assert_false(facts_of_machine("", 2, &m));
  assert_false(facts_of_machine("[]", 2, &m));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_roofline_is_used_where_nothing_beats_it),
                                     cmocka_unit_test(what_is_unlike_gets_no_prediction),
                                     cmocka_unit_test(few_models_teach_nothing),
                                     cmocka_unit_test(xgboost_is_used_where_it_beats_the_roofline),
                                     cmocka_unit_test(no_library_is_an_error_of_its_own),
                                     cmocka_unit_test(a_machine_without_peaks_is_not_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
