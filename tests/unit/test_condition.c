/* condition: how far one ulp of a model's inputs moves its outputs, and the resulting tolerance. */
#include "unit.h"

#include "bench/study/study.h"

/* y = x - 1000 at x = 1001 loses three digits: what one ulp moves there is no engine's fault, and the
   tolerance knows; it does not widen for ever. */
static void an_ill_conditioned_output_is_judged_by_its_condition(void **state) {
  (void)state;
  static const char text[] =
      "graph(x: f32[4]) -> (y, z) {\n"
      "  k = const f32[1] fill=1000\n  y = Sub(x, k)\n  z = Add(x, k)\n}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  float x[4] = {1001, 1001, 1001, 1001}, y[4], z[4], off[4];
  double conditions[2][2];
  hone_tensor in = {.data = x, .dtype = HONE_F32, .rank = 1, .shape = {4}};
  hone_tensor out[2] = {in, in};
  out[0].data = y, out[1].data = z;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  assert_int_equal(reference_run(&ctx, graph, &in, out), HONE_OK);
  assert_int_equal(condition_measure(&ctx, graph, &in, out, 1, 0, conditions), HONE_OK);
  for (int i = 0; i < 4; i++) assert_true(x[i] == 1001);           /* copies were moved */
  assert_true(conditions[0][0] > 5e-5 && conditions[0][0] < 7e-5); /* 6.1e-5 of 1 */
  assert_true(conditions[1][0] < 2e-7);
  struct yardstick yardstick = {.precision = "fp32"};
  for (int k = 0; k < 3;
       k++) { /* 5e-4: beyond the tolerance, within its ceiling; 5e-3: beyond that */
    struct accuracy accuracy;
    accuracy_init(&accuracy);
    for (int i = 0; i < 4; i++) off[i] = y[i] * (k == 2 ? 1.005f : 1.0005f);
    memcpy(yardstick.condition, conditions[k == 0], sizeof yardstick.condition);
    accuracy_add(&accuracy, "y", &out[0], off, &yardstick);
    assert_int_equal(accuracy.is_within, k == 1);
  }
  arena_destroy(arena);
}

/* Without float inputs the constants are perturbed and restored afterwards; a slow evaluation is
   not repeated. */
static void conditions_by_constants(void **state) {
  (void)state;
  static const char text[] =
      "graph(x: i32[4]) -> (y) {\n"
      "  k = const f32[4] fill=1000\n  c = Cast(x) to=1\n  y = Sub(c, k)\n}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  int32_t x[4] = {1001, 1001, 1001, 1001};
  float y[4], again[4];
  double conditions[1][2];
  hone_tensor in = {.data = x, .dtype = HONE_I32, .rank = 1, .shape = {4}};
  hone_tensor out = {.data = y, .dtype = HONE_F32, .rank = 1, .shape = {4}};
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  assert_int_equal(reference_run(&ctx, graph, &in, &out), HONE_OK);
  assert_int_equal(condition_measure(&ctx, graph, &in, &out, 1, 0, conditions), HONE_OK);
  assert_true(conditions[0][0] > 5e-5 && conditions[0][0] < 7e-5);
  out.data = again;
  assert_int_equal(reference_run(&ctx, graph, &in, &out), HONE_OK);
  assert_memory_equal(y, again, sizeof y);
  assert_int_equal(condition_measure(&ctx, graph, &in, &out, 1, UINT64_MAX, conditions), HONE_OK);
  assert_true(conditions[0][0] == 0);
  arena_destroy(arena);
}

/* A quantised graph rounds away the last bit of an input, but the last bits of its scales flip
   ties. An output may then differ by a few times that change, and by at most four steps. */
static void a_quantised_output_is_judged_by_the_flips_of_its_model(void **state) {
  (void)state;
  static const char text[] =
      "graph(x: f32[200]) -> (y) {\n"
      "  s = const f32[] [1]\n  z = const u8[] [128]\n  h = const f32[] [0.5]\n"
      "  a = QuantizeLinear(x, s, z)\n  b = DequantizeLinear(a, s, z)\n  c = Mul(b, h)\n"
      "  d = QuantizeLinear(c, s, z)\n  y = DequantizeLinear(d, s, z)\n}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  float x[200], y[200], off[200];
  double conditions[1][2], step;
  hone_tensor in = {.data = x, .dtype = HONE_F32, .rank = 1, .shape = {200}}, out = in;
  out.data = y;
  for (int i = 0; i < 200; i++) x[i] = (float)(i % 100);
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  assert_int_equal(reference_run(&ctx, graph, &in, &out), HONE_OK);
  assert_int_equal(output_steps(&ctx, graph, &step), HONE_OK);
  assert_true(step == 1);
  assert_int_equal(condition_measure(&ctx, graph, &in, &out, 1, 0, conditions), HONE_OK);
  assert_true(conditions[0][0] > 0.005 && conditions[0][0] < 0.05); /* half of a hundred ties */
  struct yardstick flips = {"int8", step, {conditions[0][0], conditions[0][1]}},
                   none = {"int8", step, {0, 0}};
  for (int k = 0; k < 2; k++) { /* every tenth two steps off; then one of them five */
    struct accuracy with, without;
    accuracy_init(&with), accuracy_init(&without);
    for (int i = 0; i < 200; i++) off[i] = y[i] + (i % 10 ? 0 : k && !i ? 5.0f : 2.0f);
    accuracy_add(&with, "y", &out, off, &flips);
    accuracy_add(&without, "y", &out, off, &none);
    assert_int_equal(with.is_within, !k);
    assert_false(without.is_within);
  }
  arena_destroy(arena);
}

/* 5 / 4 in fixed point is 2 if rounded twice (2.5 to 3, 1.5 to 2) and 1 if rounded once. Engines do
   either. The measurement restores the graph. */
static void fixed_point_is_moved_by_the_other_rounding(void **state) {
  (void)state;
  static const char text[] =
      "graph(x: i8[1,1]) -> (y) {\n"
      "  w = const i8[1,1] [1]\n  m = const i32[] [1073741824]\n  h = const i32[] [-1]\n"
      "  a = MatMulInteger(x, w)\n  y = hone.Requantize(a, m, h) to=3\n}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  int8_t x = 5, y = 0;
  double conditions[1][2];
  hone_tensor in = {.data = &x, .dtype = HONE_I8, .rank = 2, .shape = {1, 1}}, out = in;
  out.data = &y;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  hone_status status = graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph);
  if (status) print_error("%s\n", ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(reference_run(&ctx, graph, &in, &out), HONE_OK);
    assert_int_equal(y, 2);
    assert_int_equal(condition_measure(&ctx, graph, &in, &out, 1, 0, conditions), HONE_OK);
    assert_true(conditions[0][0] == 0.5 && conditions[0][1] == 0.5);
  }
  arena_destroy(arena);
}

static bool is_right(const float *r, const float *a, int64_t count, double step, double l2,
                     double share) {
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)r, .dtype = HONE_F32, .rank = 1, .shape = {count}};
  struct accuracy accuracy;
  accuracy_init(&accuracy);
  accuracy_add(&accuracy, "y", &tensor, a, &(struct yardstick){"int8", step, {l2, share}});
  return accuracy.is_within;
}

/* In a deep quantised graph flips breed flips: bert_base moved by one ulp is 0.055 away and seven steps. Twice that is
   right with a step and without one, more is wrong, and however far a model moves there is a ceiling. */
static void flips_breed_flips_up_to_a_ceiling(void **state) {
  (void)state;
  enum { ELEMENTS = 100 };
  float r[ELEMENTS], near[ELEMENTS], far[ELEMENTS], peak[ELEMENTS], scaled[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) {
    r[i] = (float)(10 + i % 50);
    near[i] = r[i] + (i % 2 ? 3.4f : -3.4f);    /* relative L2 0.09, everywhere beyond a step */
    far[i] = r[i] + (i % 2 ? 5.0f : -5.0f);     /* 0.13 */
    peak[i] = r[i] + (i ? 0.0f : 12.0f);        /* one element, a fifth of the largest */
    scaled[i] = r[i] * (i % 2 ? 1.35f : 0.65f); /* 0.35 */
  }
  const double steps[2] = {1, 0};
  for (int k = 0; k < 2; k++) {
    assert_true(is_right(r, near, ELEMENTS, steps[k], 0.055, 0.12));
    assert_false(is_right(r, near, ELEMENTS, steps[k], 0, 0));
    assert_false(is_right(r, near, ELEMENTS, steps[k], 0.03, 0.12)); /* 4 * 0.03 is beyond 5e-2 */
    assert_false(is_right(r, far, ELEMENTS, steps[k], 0.055, 0.12));
    assert_true(is_right(r, peak, ELEMENTS, steps[k], 0.055, 0.12));
    assert_false(is_right(r, peak, ELEMENTS, steps[k], 0.055, 0.02));
    assert_false(is_right(r, scaled, ELEMENTS, steps[k], 1, 1));
  }
}

/* int8 weights with float activations: in a .tflite file with dynamic-range quantisation, engines
   may multiply int8 by int8. An error of half of 1/255 of the operand's range is then allowed, not
   a multiple of it. In other files (is_dynamic unset) there is no such allowance. */
static void dynamic_range_is_moved_by_operands_in_bytes(void **state) {
  (void)state;
  static const char text[] =
      "graph(x: f32[1,64]) -> (y) {\n"
      "  q = const i8[8,64] fill=7\n  s = const f32[] [0.01]\n  z = const i8[] [0]\n"
      "  d = DequantizeLinear(q, s, z)\n  w = Transpose(d) perm=[1,0]\n  y = MatMul(x, w)\n}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  float x[64], y[8], off[8];
  double plain[1][2], dynamic[1][2];
  hone_tensor in = {.data = x, .dtype = HONE_F32, .rank = 2, .shape = {1, 64}};
  hone_tensor out = {.data = y, .dtype = HONE_F32, .rank = 2, .shape = {1, 8}};
  for (int i = 0; i < 64; i++) x[i] = (float)(i * 37 % 64) / 64 - 0.4f;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  assert_int_equal(reference_run(&ctx, graph, &in, &out), HONE_OK);
  assert_string_equal(file_precision(graph), "fp32");
  assert_int_equal(condition_measure(&ctx, graph, &in, &out, 1, 0, plain), HONE_OK);
  graph->is_dynamic = true;
  const size_t nodes = graph->nodes.count;
  assert_string_equal(file_precision(graph), "dynamic");
  assert_int_equal(condition_measure(&ctx, graph, &in, &out, 1, 0, dynamic), HONE_OK);
  assert_int_equal(graph->nodes.count, nodes);
  assert_true(plain[0][0] < 1e-6 && dynamic[0][0] > 1e-4 && dynamic[0][0] < 1e-2);
  const struct yardstick rules[] = {{"fp32", 0, {dynamic[0][0], dynamic[0][1]}},
                                    {"dynamic", 0, {dynamic[0][0], dynamic[0][1]}},
                                    {"dynamic", 0, {plain[0][0], plain[0][1]}}};
  for (size_t k = 0; k < 2 * COUNT(rules); k++) { /* three times as far, then ten times */
    struct accuracy accuracy;
    accuracy_init(&accuracy);
    for (int i = 0; i < 8; i++) off[i] = y[i] * (float)(1 + (k % 2 ? 10 : 3) * dynamic[0][0]);
    accuracy_add(&accuracy, "y", &out, off, &rules[k / 2]);
    assert_int_equal(accuracy.is_within, k == 2 || (k == 0 && 3 * dynamic[0][0] <= 1e-3));
  }
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_ill_conditioned_output_is_judged_by_its_condition),
      cmocka_unit_test(conditions_by_constants),
      cmocka_unit_test(a_quantised_output_is_judged_by_the_flips_of_its_model),
      cmocka_unit_test(fixed_point_is_moved_by_the_other_rounding),
      cmocka_unit_test(flips_breed_flips_up_to_a_ceiling),
      cmocka_unit_test(dynamic_range_is_moved_by_operands_in_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
