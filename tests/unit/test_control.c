/* control: what If, Loop and Scan refuse, and the handling of branches with impossible shapes.
 * Their results are tested by tests/compile/control-*.hg and the ONNX suite. */
#include "graph_case.h"

static hone_status infer(struct fixture *f, const char *text) {
  f->ctx.status = HONE_OK; /* of the case before */
  hone_status status = graph_parse(&f->ctx, f->arena, text, strlen(text), op_find, &f->graph);
  if (status) print_error("%s\n", hone_context_message(&f->ctx));
  assert_int_equal(status, HONE_OK);
  return graph_infer(&f->ctx, f->graph);
}

#define IF(then_text, else_text)                                     \
  "graph(c: bool[], x: f32[2,3]) -> (y) {\n  s = const i64[1] [5]\n" \
  "  y = If(c) then_branch=graph() -> (a) {\n    a = " then_text     \
  "\n  } else_branch=graph() -> (b) {\n    b = " else_text "\n  }\n}\n"

static const struct {
  const char *what, *text;
  hone_status status;
} refusals[] = {
    {"more collected than there is memory",
     "graph(x: f32[2]) -> (y, z) {\n  m = const i64[] [1000000000000]\n"
     "  y, z = Loop(m, -, x) body=graph(i: i64[], c: bool[], v: f32[2]) -> (g, w, o) {\n"
     "    g = Identity(c)\n    w = Neg(v)\n    o = Neg(v)\n  }\n}\n",
     HONE_E_LIMIT},
    {"endless by its condition",
     "graph(x: f32[2]) -> (y) {\n  t = const bool[] [1]\n"
     "  y = Loop(-, t, x) body=graph(i: i64[], c: bool[], v: f32[2]) -> (g, w) {\n"
     "    g = Identity(c)\n    w = Neg(v)\n  }\n}\n",
     HONE_E_LIMIT},
    {"a carried value that grows as often as the data says",
     "graph(x: f32[2], m: i64[]) -> (y) {\n"
     "  y = Loop(m, -, x) body=graph(i: i64[], c: bool[], v: f32[2]) -> (g, w) {\n"
     "    g = Identity(c)\n    w = Concat(v, v) axis=0\n  }\n}\n",
     HONE_E_UNSUP},
    {"a trip count that is no number",
     "graph(x: f32[2], m: f32[]) -> (y) {\n"
     "  y = Loop(m, -, x) body=graph(i: i64[], c: bool[], v: f32[2]) -> (g, w) {\n"
     "    g = Identity(c)\n    w = Neg(v)\n  }\n}\n",
     HONE_E_TYPE},
    {"a condition that is a number",
     "graph(x: f32[2], m: i64[]) -> (y) {\n"
     "  y = Loop(m, -, x) body=graph(i: i64[], c: bool[], v: f32[2]) -> (g, w) {\n"
     "    g = Identity(i)\n    w = Neg(v)\n  }\n}\n",
     HONE_E_TYPE},
    {"a body of other arity",
     "graph(x: f32[2]) -> (y) {\n  m = const i64[] [9]\n"
     "  y = Loop(m, -, x) body=graph(i: i64[], v: f32[2]) -> (g, w) {\n"
     "    g = Less(i, i)\n    w = Neg(v)\n  }\n}\n",
     HONE_E_FORMAT},
    {"no body", "graph(x: f32[2]) -> (y) {\n  m = const i64[] [9]\n  y = Loop(m, -, x)\n}\n",
     HONE_E_FORMAT},
    {"scan inputs of two lengths",
     "graph(x: f32[2], z: f32[3]) -> (y) {\n"
     "  y = Scan(x, z) num_scan_inputs=2 body=graph(a: f32[], b: f32[]) -> (g) {\n"
     "    g = Add(a, b)\n  }\n}\n",
     HONE_E_SHAPE},
    {"long scan inputs of two lengths",
     "graph(x: f32[2000], z: f32[3]) -> (y) {\n"
     "  y = Scan(x, z) num_scan_inputs=2 body=graph(a: f32[], b: f32[]) -> (g) {\n"
     "    g = Add(a, b)\n  }\n}\n",
     HONE_E_SHAPE},
    {"branches of two ranks", IF("ReduceSum(x) keepdims=0", "Neg(x)"), HONE_E_UNSUP},
    {"two branches that cannot run", IF("Reshape(x, s)", "Reshape(x, s)"), HONE_E_SHAPE},
    {"a condition that is no bool",
     "graph(c: i64[], x: f32[2]) -> (y) {\n  y = If(c) then_branch=graph() -> (a) {\n"
     "    a = Neg(x)\n  } else_branch=graph() -> (b) {\n    b = Neg(x)\n  }\n}\n",
     HONE_E_TYPE},
    {"categories that are no integers, which only a text can say",
     "graph(x: i64[2]) -> (y) {\n  y = ai.onnx.ml.CategoryMapper(x) cats_int64s=[3.5] "
     "cats_strings=[\"a\"]\n}\n",
     HONE_E_FORMAT},
    {"a branch less",
     "graph(c: bool[], x: f32[2]) -> (y) {\n  y = If(c) then_branch=graph() -> (a) {\n"
     "    a = Neg(x)\n  }\n}\n",
     HONE_E_FORMAT},
};

static void what_is_refused(void **state) {
  struct fixture *f = *state;
  for (size_t i = 0; i < COUNT(refusals); i++) {
    hone_status status = infer(f, refusals[i].text);
    if (status != refusals[i].status)
      print_error("%s: %s\n", refusals[i].what,
                  status ? hone_context_message(&f->ctx) : "no error");
    assert_int_equal(status, refusals[i].status);
  }
}

/* Loops in loops multiply: the limit on nodes ends it before memory does. */
static void loops_in_loops_are_bounded(void **state) {
  struct fixture *f = *state;
  f->ctx.limits[LIMIT_nodes] = 20000;
  assert_int_equal(
      infer(f,
            "graph(x: f32[2]) -> (y) {\n  m = const i64[] [1000]\n"
            "  y = Loop(m, -, x) body=graph(i: i64[], c: bool[], v: f32[2]) -> (g, w) {\n"
            "    g = Identity(c)\n"
            "    w = Loop(m, -, v) body=graph(j: i64[], d: bool[], u: f32[2]) -> (h, z) {\n"
            "      h = Identity(d)\n      z = Neg(u)\n    }\n  }\n}\n"),
      HONE_E_LIMIT);
}

/* A data-dependent condition keeps the loop; nodes that were unrolled before it was found are
   removed. */
static void a_loop_of_the_data_stays(void **state) {
  struct fixture *f = *state;
  assert_int_equal(
      infer(
          f,
          "graph(x: f32[2], z: bool[]) -> (y, o) {\n  m = const i64[] [9]\n  t = const bool[] [1]\n"
          "  y, o = Loop(m, t, x) body=graph(i: i64[], c: bool[], v: f32[2]) -> (g, w, k) {\n"
          "    g = Identity(z)\n    w = Neg(v)\n    k = Abs(v)\n  }\n}\n"),
      HONE_OK);
  const struct value *o = f->graph->outputs.at[1];
  assert_true(o->extents[0] != 0);
  assert_int_equal(o->shape.dims[0], 9); /* the bound */
  float x[2] = {1, 2}, y[2] = {0}, rows[18] = {0};
  for (uint8_t condition = 0; condition < 2; condition++) {
    hone_tensor in[2] = {{x, HONE_F32, 1, {2}}, {&condition, HONE_BOOL, 0, {0}}};
    hone_tensor out[2] = {{y, HONE_F32, 1, {2}}, {rows, HONE_F32, 2, {9, 2}}};
    assert_int_equal(reference_run(&f->ctx, f->graph, in, out), HONE_OK);
    assert_int_equal(out[1].shape[0], condition ? 9 : 1);
    assert_true(y[1] == -2);
  }
}

/* The branch that fits gives the shape; the other one fails when it is taken. */
static void an_impossible_branch_fails_when_taken(void **state) {
  struct fixture *f = *state;
  assert_int_equal(infer(f, IF("Neg(x)", "Reshape(x, s)")), HONE_OK);
  assert_int_equal(f->graph->outputs.at[0]->shape.dims[1], 3);
  float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
  uint8_t condition = 1;
  hone_tensor in[2] = {{&condition, HONE_BOOL, 0, {0}}, {x, HONE_F32, 2, {2, 3}}},
              out = {y, HONE_F32, 2, {2, 3}};
  assert_int_equal(reference_run(&f->ctx, f->graph, in, &out), HONE_OK);
  assert_true(y[5] == -6);
  condition = 0;
  assert_int_equal(f->ctx.status, HONE_OK); /* an abandoned branch leaves no error */
  assert_int_equal(reference_run(&f->ctx, f->graph, in, &out), HONE_E_SHAPE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(what_is_refused), TEST(loops_in_loops_are_bounded),
                                     TEST(a_loop_of_the_data_stays),
                                     TEST(an_impossible_branch_fails_when_taken)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
