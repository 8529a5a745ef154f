/* steps: the quantisation step of each output of a quantised graph. */
#include "unit.h"

#include <math.h>

#include "bench/study/study.h"

/* y: Softmax of values with step 0.125; z: the same quantised to 1/256; w: after a matmul there is
   no step. */
static const char quantised_graph[] =
    "graph(x: f32[1,4]) -> (y, z, w) {\n"
    "  s = const f32[1] fill=0.125\n"
    "  t = const f32[1] fill=0.00390625\n"
    "  m = const f32[4,4] seed=1\n"
    "  q = QuantizeLinear(x, s)\n"
    "  d = DequantizeLinear(q, s)\n"
    "  r = Transpose(d) perm=[1,0]\n"
    "  y = Softmax(r) axis=0\n"
    "  z = QuantizeLinear(y, t)\n"
    "  w = MatMul(d, m)\n"
    "}\n";

/* The steps of the outputs of a graph given as text; its file precision in out_precision, unless
   NULL. */
static void steps_of(const char *text, double *out, const char **out_precision) {
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  hone_status status = graph_parse(&ctx, arena, text, strlen(text), op_find, &graph);
  if (!status) status = graph_infer(&ctx, graph);
  if (status) print_error("%s\n", ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(output_steps(&ctx, graph, out), HONE_OK);
  if (out_precision) *out_precision = file_precision(graph);
  arena_destroy(arena);
}

static void steps_pass_what_hands_them_on(void **state) {
  (void)state;
  const char *precision;
  double steps[3];
  steps_of(quantised_graph, steps, &precision);
  assert_true(steps[0] == 0.125 && steps[1] == 32 && steps[2] == 0);
  assert_string_equal(precision, "int8");
}

/* Sums brought to bytes in fixed point are a step from what another right rounding gives; 16-bit ones have no
   such step. */
static void steps_begin_at_a_fixed_point_rounding(void **state) {
  (void)state;
  static const char text[] =
      "graph(x: i32[1,4], u: i32[1,4]) -> (y, z, w) {\n"
      "  m = const i32[] [1518500250]\n  h = const i32[] [-3]\n  s = const f32[] [0.5]\n"
      "  y = hone.Requantize(x, m, h) to=3\n"
      "  z = DequantizeLinear(y, s)\n"
      "  w = hone.Requantize(u, m, h) to=5\n}\n";
  double steps[3];
  steps_of(text, steps, NULL);
  assert_true(steps[0] == 1 && steps[1] == 0.5 && steps[2] == 0);
}

/* Each entry half of the one before: a step of the logits doubles a chance, and two logits apart move one half to two
   thirds of 256. */
static void steps_pass_a_softmax_by_its_slope(void **state) {
  (void)state;
  double step;
  char text[4096];
  int n = snprintf(text, sizeof text, "graph(x: i8[1,4]) -> (y) {\n  t = const i32[256] [");
  for (int i = 0; i < 256; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i ? "," : "",
                  i < 31 ? 1 << (30 - i) : 0);
  snprintf(text + n, sizeof text - (size_t)n, "]\n  y = hone.TableSoftmax(x, t) to=3\n}\n");
  steps_of(text, &step, NULL);
  assert_true(fabs(step - (1 + 256.0 / 3)) < 1e-9);
}

/* A lookup table over int8: one step of its index becomes the largest difference of two
   neighbouring entries, including those of -1 and 0 if the index is signed. */
static void steps_pass_tables_by_their_steepest_place(void **state) {
  (void)state;
  double steps[3];
  char text[4096];
  int n = snprintf(text, sizeof text,
                   "graph(x: i8[1,4], u: u8[1,4]) -> (y, z, w) {\n"
                   "  s = const f32[] [0.5]\n  t = const i8[256] [");
  for (int i = 0; i < 256; i++) /* 0 is place 0; place 255 is -1 to x and 255 to u */
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", i ? "," : "",
                  i < 128   ? -20
                  : i < 200 ? -12
                            : 2);
  snprintf(text + n, sizeof text - (size_t)n,
           "]\n  k = const i64[1] [4]\n  a = Cast(x) to=6\n  b = Cast(u) to=6\n  y = Gather(t, a) "
           "axis=0\n"
           "  g = Reshape(y, k)\n  z = DequantizeLinear(g, s)\n"
           "  w = Gather(t, b) axis=0\n}\n");
  steps_of(text, steps, NULL);
  assert_true(steps[0] == 22 && steps[1] == 11 && steps[2] == 14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_pass_what_hands_them_on),
      cmocka_unit_test(steps_begin_at_a_fixed_point_rounding),
      cmocka_unit_test(steps_pass_a_softmax_by_its_slope),
      cmocka_unit_test(steps_pass_tables_by_their_steepest_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
