/* The timed loop with a mock backend: the order of its calls, and its results. */
#include "bench/worker/loop.h"
#include "unit.h"

#include "bench/study/study.h"

struct session {
  const float *inputs[BENCH_SETS];
  float *outputs[BENCH_SETS];
  int last, calls, out_of_turn, wrong_from; /* wrong_from: call number, 0: never */
  int copies, copies_late;                  /* late: within the slice */
};
static hone_status count_submit(struct ctx *ctx, struct session *s, int set) {
  (void)ctx;
  s->out_of_turn += s->calls && set != (s->last + 1) % BENCH_SETS;
  s->last = set;
  s->calls++;
  if (!s->wrong_from || s->calls < s->wrong_from) s->outputs[set][0] = s->inputs[set][0];
  return HONE_OK;
}
static hone_status count_wait(struct ctx *ctx, struct session *s, int set) {
  (void)ctx, (void)s, (void)set;
  return HONE_OK;
}
static hone_status count_copy(struct ctx *ctx, struct session *s, int set,
                              const hone_tensor *inputs) {
  (void)ctx;
  s->copies_late += s->calls > 0;
  s->copies += inputs[0].data == s->inputs[set];
  return HONE_OK;
}
static const struct backend counting = {.name = "counting",
                                        .submit = count_submit,
                                        .wait = count_wait,
                                        .copy_in = count_copy},
                            bare = {.name = "bare", .submit = count_submit, .wait = count_wait};

struct loop_case {
  struct session session;
  struct backend_tensor tensors[2];
  struct backend_io io;
  float inputs[BENCH_SETS], outputs[BENCH_SETS];
  hone_tensor in[BENCH_SETS], out[BENCH_SETS], expected[BENCH_SETS];
  size_t output_bytes;
  struct yardstick yardstick;
  struct loop loop;
};
static void loop_case_init(struct loop_case *c) {
  *c = (struct loop_case){.output_bytes = sizeof(float), .yardstick.precision = "fp32"};
  c->io = (struct backend_io){1, 1, &c->tensors[0], &c->tensors[1]};
  c->loop = (struct loop){.backend = &counting,
                          .session = &c->session,
                          .io = &c->io,
                          .yardsticks = &c->yardstick,
                          .output_bytes = &c->output_bytes};
  random_init(&c->loop.random, 3);
  for (int i = 0; i < BENCH_SETS; i++) {
    const hone_tensor one = {.dtype = HONE_F32, .rank = 1, .shape = {1}};
    c->inputs[i] = (float)(i + 1);
    c->in[i] = c->out[i] = c->expected[i] = one;
    c->in[i].data = c->expected[i].data = &c->inputs[i];
    c->out[i].data = &c->outputs[i];
    c->session.inputs[i] = &c->inputs[i];
    c->session.outputs[i] = &c->outputs[i];
    c->loop.sets[i] = (struct run_set){&c->in[i], &c->out[i], &c->expected[i]};
  }
}

static void the_loop_rotates_and_checks(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct loop_case c;
  loop_case_init(&c);
  const struct slice_plan plan = {.min_samples = 100, .max_ns = 1000000000, .checks = 3};
  struct slice slice;
  assert_int_equal(loop_slice(&ctx, &c.loop, &plan, &slice), HONE_OK);
  assert_int_equal(slice.sample_count, 100);
  assert_true(slice.rewarm_count >= 2);
  assert_int_equal(c.session.calls, 100 + (int)slice.rewarm_count);
  assert_int_equal(c.loop.iterations, (uint64_t)c.session.calls);
  assert_int_equal(c.session.out_of_turn, 0);
  assert_true(slice.verified >= 2 && slice.verified <= 4); /* chosen at random, and the last */
  assert_true(slice.accuracy.is_within);
  slice_deinit(&slice);
}

static void inputs_are_copied_before_a_slice(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct loop_case c;
  const struct slice_plan plan = {.min_samples = 10, .max_ns = 1000000000};
  struct slice slice;
  for (int copies = 0; copies < 2; copies++) {
    loop_case_init(&c);
    c.loop.backend = copies ? &counting : &bare;
    assert_int_equal(loop_slice(&ctx, &c.loop, &plan, &slice), HONE_OK);
    assert_int_equal(slice.copy_in_count, copies ? BENCH_SETS : 0);
    assert_int_equal(c.session.copies, copies ? BENCH_SETS : 0); /* each set's own inputs */
    assert_int_equal(c.session.copies_late, 0);
    slice_deinit(&slice);
  }
}

static void the_loop_finds_skipped_work(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct loop_case c;
  loop_case_init(&c);
  c.session.wrong_from = 20; /* from then on outputs are left as they were */
  const struct slice_plan plan = {.min_samples = 200, .max_ns = 1000000000, .checks = 8};
  struct slice slice;
  assert_int_equal(loop_slice(&ctx, &c.loop, &plan, &slice), HONE_OK);
  assert_false(slice.accuracy.is_within);
  slice_deinit(&slice);
}

static void slices_obey_their_limits(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct loop_case c;
  loop_case_init(&c);
  struct slice slice;
  const struct slice_plan timed = {.min_samples = 1, .min_ns = 20000000, .max_ns = 1000000000};
  uint64_t start = clock_ns();
  assert_int_equal(loop_slice(&ctx, &c.loop, &timed, &slice), HONE_OK);
  assert_true(clock_ns() - start >= 20000000);
  size_t most = slice.sample_count;
  slice_deinit(&slice);
  for (int turn = 0; turn < 100 && most <= 100;
       turn++) { /* a busy machine may take the 20 ms for others */
    assert_int_equal(loop_slice(&ctx, &c.loop, &timed, &slice), HONE_OK);
    if (slice.sample_count > most) most = slice.sample_count;
    slice_deinit(&slice);
  }
  assert_true(most > 100);
  const struct slice_plan bounded = {
      .min_samples = 1u << 30, .min_ns = 60000000000u, .max_ns = 5000000};
  start = clock_ns();
  assert_int_equal(loop_slice(&ctx, &c.loop, &bounded, &slice), HONE_OK);
  assert_true(clock_ns() - start < 30000000000u); /* half of what it was asked for */
  slice_deinit(&slice);
  bool is_stationary;
  assert_int_equal(loop_warmup(&ctx, &c.loop, 1000000000, &is_stationary), HONE_OK);
  assert_true(c.loop.median_ns > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_loop_rotates_and_checks),
      cmocka_unit_test(inputs_are_copied_before_a_slice),
      cmocka_unit_test(the_loop_finds_skipped_work),
      cmocka_unit_test(slices_obey_their_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
