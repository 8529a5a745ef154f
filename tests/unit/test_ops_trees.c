/* Tree ensembles: a stump computed by hand, and damaged linked lists. */
#include "ops_case.h"

static const char regressor[] =
    "graph(x: f32[3,2]) -> (y) {\n"
    "  y = ai.onnx.ml.TreeEnsembleRegressor(x) nodes_treeids=[0,0,0] nodes_nodeids=[0,1,2] "
    "nodes_featureids=[%s,0,0] nodes_truenodeids=[%s,0,0] nodes_falsenodeids=[2,0,0] "
    "nodes_modes=[\"%s\",\"%s\",\"LEAF\"] nodes_values=[1.5,1.0,0.0] "
    "nodes_missing_value_tracks_true=[1,0,0] target_treeids=[0,0] target_nodeids=[1,2] "
    "target_ids=[0,%s] target_weights=[10.0,20.0] base_values=[0.5] n_targets=1\n"
    "}\n";

static const float rows[] = {9, 1, 9, 2, 9, NAN};

/* Evaluates the stump with its holes filled; y gets the 3 results. */
static hone_status run_stump(const char *feature, const char *if_true, const char *mode,
                             const char *mode_1, const char *target, float y[3]) {
  char text[1024];
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  int length = snprintf(text, sizeof text, regressor, feature, if_true, mode, mode_1, target);
  assert_in_range(length, 1, sizeof text - 1);
  ctx_init(&ctx);
  REQUIRE(arena_create(&ctx, 0, &arena));
  if (graph_parse(&ctx, arena, text, (size_t)length, op_find, &graph))
    case_fails("%s", ctx.message);
  hone_status status = graph_infer(&ctx, graph);
  float x[6];
  memcpy(x, rows, sizeof x);
  const hone_tensor input = {x, HONE_F32, 2, {3, 2}};
  hone_tensor output = {y, HONE_F32, 2, {3, 1}};
  if (!status) status = reference_run(&ctx, graph, &input, &output);
  arena_destroy(arena);
  return status;
}

static void a_stump_decides(void **state) {
  (void)state;
  float y[3];
  REQUIRE(run_stump("1", "1", "BRANCH_LEQ", "LEAF", "0", y));
  assert_true(y[0] == 10.5f && y[1] == 20.5f && y[2] == 10.5f);
  REQUIRE(run_stump("1", "1", "BRANCH_GT", "LEAF", "0", y));
  assert_true(y[0] == 20.5f && y[1] == 10.5f && y[2] == 10.5f);
}

static void damage_is_refused(void **state) {
  (void)state;
  float y[3];
  assert_int_equal(run_stump("2", "1", "BRANCH_LEQ", "LEAF", "0", y), HONE_E_SHAPE);
  assert_int_equal(run_stump("1", "7", "BRANCH_LEQ", "LEAF", "0", y), HONE_E_SHAPE);
  assert_int_equal(run_stump("1", "1", "BRANCH_LEQ", "LEAF", "1", y), HONE_E_SHAPE);
  assert_int_equal(run_stump("1", "0", "BRANCH_LEQ", "LEAF", "0", y), HONE_E_SHAPE); /* cycle */
  assert_int_equal(run_stump("1", "1", "BRANCH_LEQ", "BRANCH_LT", "0", y), HONE_E_SHAPE);
  assert_int_equal(run_stump("1", "1", "BRANCH_MAYBE", "LEAF", "0", y), HONE_E_UNSUP);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_stump_decides),
                                     cmocka_unit_test(damage_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
