/* Matmuls of the reference add in one order for every vector width: the bits equal those of a
 * scalar loop. */
#include "ops_case.h"

enum {
  ROWS = 66,
  TERMS = 37,
  COLUMNS = 21
}; /* a block of rows and two more, a panel of columns and five more */

static double a[ROWS * TERMS], b[TERMS * COLUMNS], y[ROWS * COLUMNS];

static void products_have_one_order(void **state) {
  (void)state;
  static const char text[] =
      "graph(a: f64[66,37], b: f64[37,21]) -> (y) {\n  y = MatMul(a, b)\n}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  uint64_t seed = 7;
  for (size_t i = 0; i < COUNT(a) + COUNT(b); i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    *(i < COUNT(a) ? &a[i] : &b[i - COUNT(a)]) = (double)(int64_t)seed / 9e18;
  }
  ctx_init(&ctx);
  REQUIRE(arena_create(&ctx, 0, &arena));
  if (graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph))
    case_fails("%s", ctx.message);
  REQUIRE(graph_infer(&ctx, graph));
  const hone_tensor inputs[] = {{a, HONE_F64, 2, {ROWS, TERMS}},
                                {b, HONE_F64, 2, {TERMS, COLUMNS}}};
  hone_tensor output = {y, HONE_F64, 2, {ROWS, COLUMNS}};
  REQUIRE(reference_run(&ctx, graph, inputs, &output));
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++) {
      double sum = 0;
      for (int k = 0; k < TERMS; k++) sum += a[row * TERMS + k] * b[k * COLUMNS + column];
      if (memcmp(&sum, &y[row * COLUMNS + column], sizeof sum))
        case_fails("row %d, column %d: %a, not %a", row, column, y[row * COLUMNS + column], sum);
    }
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_have_one_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
