/* graph: shapes, tensors of every type, building, replacing, sorting, sweeping, verifying, text. */
#include "graph_case.h"

static void op_name(const struct op *op, const char **domain, const char **name) {
  *domain = op->domain;
  *name = op->name;
}

static hone_status parse(struct fixture *f, const char *text) {
  return graph_parse(&f->ctx, f->arena, text, strlen(text), op_find, &f->graph);
}

/* Parses, prints with data, and expects `want` (NULL: the text itself). */
static void round_trip(struct fixture *f, const char *text, const char *want) {
  struct strbuf out = {0};
  struct print_options options = {.with_data = true};
  hone_status status = parse(f, text);
  if (status) print_error("%s\n", f->ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(graph_print(&f->ctx, &out, f->graph, op_name, &options), HONE_OK);
  assert_string_equal(out.at, want ? want : text);
  strbuf_deinit(&out);
}

static void shapes(void **state) {
  struct fixture *f = *state;
  struct shape a = {3, {4, 1, 5}}, b = {2, {7, 1}}, c, bad = {2, {3, 5}};
  int64_t strides[HONE_MAX_RANK], count;
  size_t bytes;
  assert_true(shape_broadcast(&a, &b, &c));
  assert_true(shape_equal(&c, &(struct shape){3, {4, 7, 5}}));
  assert_false(shape_broadcast(&c, &bad, &a));
  shape_strides(&c, strides);
  assert_int_equal(strides[0], 35);
  assert_int_equal(strides[2], 1);
  assert_false(shape_count(&(struct shape){3, {1ll << 31, 1ll << 31, 4}}, &count));
  assert_true(shape_count(&(struct shape){3, {1ll << 31, 0, 5}}, &count));
  assert_int_equal(count, 0);
  assert_int_equal(extent(&f->ctx, place_none(), HONE_I4, &(struct shape){1, {3}}, &count, &bytes),
                   HONE_OK);
  assert_int_equal(bytes, 2);
  assert_int_equal(
      extent(&f->ctx, place_none(), HONE_F32, &(struct shape){1, {-1}}, &count, &bytes),
      HONE_E_SHAPE);
  ctx_clear(&f->ctx);
  assert_int_equal(
      extent(&f->ctx, place_none(), HONE_F32, &(struct shape){1, {1ll << 60}}, &count, &bytes),
      HONE_E_LIMIT);
}

static void every_type_reads_back(void **state) {
  struct fixture *f = *state;
  static const hone_dtype types[] = {HONE_F32, HONE_U8,   HONE_I8,  HONE_U16, HONE_I16,
                                     HONE_I32, HONE_I64,  HONE_F16, HONE_F64, HONE_U32,
                                     HONE_U64, HONE_BF16, HONE_U4,  HONE_I4};
  for (size_t t = 0; t < COUNT(types); t++) {
    struct tensor *tensor;
    assert_int_equal(tensor_create(&f->ctx, f->arena, types[t], &(struct shape){1, {5}}, &tensor),
                     HONE_OK);
    for (size_t i = 0; i < 5; i++) tensor_set_f64(tensor, i, (double)i + 3);
    for (size_t i = 0; i < 5; i++) {
      assert_int_equal(tensor_i64(tensor, i), i + 3);
      assert_true(tensor_f64(tensor, i) == (double)i + 3);
    }
    tensor_set_i64(tensor, 2, -1);
    bool is_unsigned = dtype_name(types[t])[0] == 'u';
    if (!is_unsigned) assert_int_equal(tensor_i64(tensor, 2), -1);
    if (is_unsigned) assert_true(tensor_f64(tensor, 2) > 14);
  }
}

/* A double just above the middle of two halves must not round twice. */
static void half_rounds_once(void **state) {
  struct fixture *f = *state;
  struct tensor *tensor;
  assert_int_equal(tensor_create(&f->ctx, f->arena, HONE_F16, &(struct shape){.rank = 0}, &tensor),
                   HONE_OK);
  tensor_set_f64(tensor, 0, 1 + 0x1p-11 + 0x1p-40);
  assert_true(tensor_f64(tensor, 0) == 1 + 0x1p-10);
  tensor_set_f64(tensor, 0, 1 + 0x1p-11);
  assert_true(tensor_f64(tensor, 0) == 1);
}

static void text_round_trips(void **state) {
  struct fixture *f = *state;
  round_trip(f,
             "graph g(x: f32[2,3], \"we ird\\x0a\\\"\": i64[]) -> (y) {\n"
             "  w = const f32[3,2] [0.1, 2.0, -3.5, 1e-30, NaN, -Infinity]\n"
             "  s = const string[2] [\"a\\x00b\", \"\"]\n"
             "  n = const u64[1] [18446744073709551613]\n"
             "  %4: f32[2,2] = MatMul(x, w) pads=[1,-2] e=1e-05f v=0.1 none=floats[] t=\"x\\\\\"\n"
             "  y: f32[2,2] = Gemm(%4, w, -) alpha=2.0\n"
             "}\n",
             NULL);
}

static void nested_graphs_round_trip(void **state) {
  struct fixture *f = *state;
  round_trip(f,
             "graph(c: bool[], x: f32[2]) -> (y) {\n"
             "  y: f32[2] = If(c) then_branch=graph() -> (a) impossible {\n"
             "    k = const i64[1] [3]\n"
             "  } else_branch=graph() -> (b) {\n"
             "    b: f32[2] = Relu(x)\n"
             "  }\n"
             "}\n",
             NULL);
  round_trip(f,
             "graph(x: f32[2]) -> (z) {\n"
             "  y: f32[2] = Relu(x) body=graph b(i: i64[]) -> (a) {\n"
             "    k = const f32[1] [1.0]\n"
             "    a = Add(x, k) deep=graph() -> (q) {\n"
             "      q = Relu(k)\n"
             "    } after=1\n"
             "  } other=2\n"
             "  z: f32[2] = Relu(y)\n"
             "}\n",
             NULL);
  uint32_t *uses;
  assert_int_equal(graph_uses(&f->ctx, f->arena, f->graph, &uses), HONE_OK);
  assert_int_equal(uses[f->graph->inputs.at[0]->index], 2); /* one is inside the body */
}

static void bad_text_is_refused(void **state) {
  static const char *const texts[] = {
      "",
      "graph",
      "graph(x: f32[2]) -> (y) {",
      "graph(x: f32[2]) -> (y) { y = NoSuchOp(x) }",
      "graph(x: f32[2]) -> (y) { y = Relu(z) }",
      "graph(x: f32[2]) -> (y) { y = Relu(x)\n y = Relu(x) }",
      "graph(x: f32[-2]) -> (x) { }",
      "graph(x: f99[2]) -> (x) { }",
      "graph(x: f32[2]) -> (x) { w = const f32[2] hash=00 }",
      "graph(x: f32[2]) -> (x) impossible { }",
      "graph(c: bool[]) -> (y) { y = If(c) then_branch=graph() -> (a) impossible { a = Not(c) } }",
      "graph(x: f32[2]) -> (x) { w = const f32[2] [1] }",
      "graph(x: f32[2]) -> (x) { w = const string[1] [\"\\x0\"] }",
      "graph(x: f32[2]) -> (x) { w = const string[1] [\"",
      "graph(x: f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]) -> (x) { }",
      "graph(x: f32[2]) -> (y) { y = Relu(x; x) }",
  };
  struct fixture *f = *state;
  for (size_t i = 0; i < COUNT(texts); i++) {
    assert_int_not_equal(parse(f, texts[i]), HONE_OK);
    assert_true(strlen(f->ctx.message) > 0);
    ctx_clear(&f->ctx);
  }
}

static void replace_keeps_output_names(void **state) {
  struct fixture *f = *state;
  const struct op *identity = op_find("", "Identity");
  size_t removed;
  assert_int_equal(parse(f,
                         "graph(x: f32[2]) -> (y, z) {\n a = Relu(x)\n y = Relu(a)\n"
                         " z = Add(y, x)\n}"),
                   HONE_OK);
  struct graph *g = f->graph;
  assert_int_equal(
      graph_replace(&f->ctx, g, g->outputs.at[0], g->nodes.at[0]->outputs[0], identity), HONE_OK);
  assert_string_equal(g->outputs.at[0]->name, "y");
  assert_ptr_equal(g->outputs.at[0]->producer, g->nodes.at[0]);
  assert_ptr_equal(g->nodes.at[2]->inputs[0], g->outputs.at[0]);
  assert_int_equal(graph_sweep(&f->ctx, g, &removed), HONE_OK);
  assert_int_equal(removed, 1);
  /* an input cannot take the output's name: an Identity is inserted */
  assert_int_equal(graph_replace(&f->ctx, g, g->outputs.at[1], g->inputs.at[0], identity), HONE_OK);
  assert_string_equal(g->outputs.at[1]->name, "z");
  assert_string_equal(g->inputs.at[0]->name, "x");
  assert_ptr_equal(g->outputs.at[1]->producer->op, identity);
}

static void many_replacements_at_once(void **state) {
  enum { N = 20000 };
  struct fixture *f = *state;
  const struct op *relu = op_find("", "Relu");
  struct graph *g;
  struct value *v;
  struct substitution map = {0};
  size_t removed;
  assert_int_equal(graph_create(&f->ctx, f->arena, &g), HONE_OK);
  assert_int_equal(graph_input(&f->ctx, g, "x", HONE_F32, &(struct shape){1, {1}}, &v), HONE_OK);
  for (int i = 0; i < N; i++) {
    struct node *node;
    assert_int_equal(graph_node(&f->ctx, g, relu, &v, 1, 1, &node), HONE_OK);
    v = node->outputs[0];
  }
  assert_int_equal(graph_output(&f->ctx, g, v), HONE_OK);
  for (size_t i = 1; i < N; i++)
    assert_int_equal(
        substitution_add(&f->ctx, g, &map, g->nodes.at[i]->outputs[0], g->nodes.at[i]->inputs[0]),
        HONE_OK);
  assert_int_equal(graph_substitute(&f->ctx, g, &map, op_find("", "Identity")), HONE_OK);
  assert_int_equal(graph_sweep(&f->ctx, g, &removed), HONE_OK);
  assert_int_equal(removed, N - 1);
  assert_int_equal(g->values.count, 2);
}

static void sort_is_stable_and_finds_cycles(void **state) {
  struct fixture *f = *state;
  bool was_sorted;
  assert_int_equal(parse(f,
                         "graph(x: f32[2]) -> (c) {\n a = Relu(x)\n b = Relu(x)\n"
                         " c = Add(a, b)\n}"),
                   HONE_OK);
  struct graph *g = f->graph;
  struct node *a = g->nodes.at[0], *b = g->nodes.at[1], *c = g->nodes.at[2];
  assert_int_equal(graph_sort(&f->ctx, g, &was_sorted), HONE_OK);
  assert_true(was_sorted);
  g->nodes.at[0] = c;
  g->nodes.at[2] = a;
  assert_int_equal(graph_sort(&f->ctx, g, &was_sorted), HONE_OK);
  assert_false(was_sorted);
  assert_ptr_equal(g->nodes.at[0], a);
  assert_ptr_equal(g->nodes.at[1], b);
  a->inputs[0] = c->outputs[0];
  assert_int_equal(graph_sort(&f->ctx, g, &was_sorted), HONE_E_FORMAT);
}

static void verify_finds_what_is_broken(void **state) {
  struct fixture *f = *state;
  const char *text =
      "graph(x: f32[2]) -> (y) {\n a: f32[2] = Relu(x)\n"
      " y: f32[2] = Add(a, x)\n}";
  assert_int_equal(parse(f, text), HONE_OK);
  assert_int_equal(graph_verify(&f->ctx, f->graph), HONE_OK);
  struct node *first = f->graph->nodes.at[0];
  f->graph->nodes.at[0] = f->graph->nodes.at[1];
  f->graph->nodes.at[1] = first;
  assert_int_equal(graph_verify(&f->ctx, f->graph), HONE_E_INTERNAL);
  ctx_clear(&f->ctx);
  assert_int_equal(parse(f, "graph(x: f32[2]) -> (y) {\n y = Relu(x)\n}"), HONE_OK);
  assert_int_equal(graph_verify(&f->ctx, f->graph), HONE_E_TYPE);
}

static void fresh_names_avoid_given_ones(void **state) {
  struct fixture *f = *state;
  struct value *v;
  assert_int_equal(graph_create(&f->ctx, f->arena, &f->graph), HONE_OK);
  assert_int_equal(graph_value(&f->ctx, f->graph, "%7", &v), HONE_OK);
  assert_int_equal(graph_value(&f->ctx, f->graph, "%99999999999999999999999", &v), HONE_OK);
  assert_int_equal(graph_value(&f->ctx, f->graph, NULL, &v), HONE_OK);
  assert_string_equal(v->name, "%8");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(shapes),
      TEST(every_type_reads_back),
      TEST(half_rounds_once),
      TEST(text_round_trips),
      TEST(nested_graphs_round_trip),
      TEST(bad_text_is_refused),
      TEST(replace_keeps_output_names),
      TEST(many_replacements_at_once),
      TEST(sort_is_stable_and_finds_cycles),
      TEST(verify_finds_what_is_broken),
      TEST(fresh_names_avoid_given_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
