/* The ONNX reader: strings and wide types, inputs that are not tensors, opsets of operators, and
 * broken model-local functions. */
#include "import_case.h"

/* y = Identity(w) */
static struct loaded load_tensor(struct buf *tensor) {
  struct buf graph = {0};
  put_msg(&graph, 5, tensor);
  put_node(&graph, "Identity", "w", "y", NULL);
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  return load(&model, NULL);
}

static void doubles_and_strings(void **state) {
  (void)state;
  struct buf t = tensor_head("w", HONE_F64, (int64_t[]){2}, 1);
  const double values[] = {0.1, -3};
  put_bytes(&t, 10, values, sizeof values);
  struct loaded l = load_tensor(&t);
  assert_ok(&l);
  assert_true(tensor_f64(l.graph->outputs.at[0]->constant, 0) == 0.1);
  unload(&l);
  t = tensor_head("w", HONE_STRING, (int64_t[]){2}, 1);
  put_str(&t, 6, "first");
  put_bytes(&t, 6, "a\0b", 3);
  l = load_tensor(&t);
  assert_ok(&l);
  const struct string *strings = l.graph->nodes.at[0]->inputs[0]->constant->data;
  assert_string_equal(strings[0].bytes, "first");
  assert_int_equal(strings[1].length, 3);
  assert_memory_equal(strings[1].bytes, "a\0b", 3);
  unload(&l);
  t = tensor_head("w", HONE_F32, (int64_t[]){1}, 1);
  put_f32(&t, 4, 1);
  put_int(&t, 14, 2);
  l = load_tensor(&t);
  assert_int_equal(l.status, HONE_E_FORMAT); /* data_location 2 */
  unload(&l);
}

static void inputs_that_are_no_tensors(void **state) {
  (void)state;
  static const struct {
    uint32_t field;
    hone_status status;
    const char *says;
  } kinds[] = {{4, HONE_E_TYPE, "is a sequence"}, /* of which the operator makes nothing */
               {5, HONE_E_UNSUP, "a map"},
               {8, HONE_E_UNSUP, "a sparse tensor"},
               {9, HONE_E_TYPE, "is an optional"}};
  for (size_t i = 0; i < COUNT(kinds); i++) {
    struct buf graph = {0}, value = {0}, type = {0}, inner = {0};
    put_msg(&type, kinds[i].field, &inner);
    put_str(&value, 1, "x");
    put_msg(&value, 2, &type);
    put_msg(&graph, 11, &value);
    put_node(&graph, "Relu", "x", "y", NULL);
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    expect(&model, NULL, kinds[i].status, kinds[i].says);
  }
}

static void too_many_dimensions(void **state) {
  (void)state;
  struct buf graph = {0};
  put_node(&graph, "Relu", "x", "y", NULL);
  put_input(&graph, "x", 1, "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  expect(&model, NULL, HONE_E_LIMIT, "more than 16");
  /* a shape holds at most 16 dimensions, independent of the limit */
  static const int64_t ones[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  struct buf t = tensor_head("x", HONE_F32, ones, COUNT(ones));
  put_f32(&t, 4, 1);
  graph = (struct buf){0};
  put_msg(&graph, 5, &t);
  put_node(&graph, "Relu", "x", "y", NULL);
  put_output(&graph, "y");
  model = model_of(13, &graph);
  struct loaded l = load_within(&model, NULL, LIMIT_rank, 100);
  assert_int_equal(l.status, HONE_E_LIMIT);
  assert_non_null(strstr(l.ctx.message, "more than 16 dims"));
  unload(&l);
}

static void fixed_inputs_of_a_body(void **state) {
  (void)state;
  struct buf inner = {0}, graph = {0}, attributes = {0};
  put_node(&inner, "Relu", "a", "t", NULL);
  put_input(&inner, "a", 1, "2,3");
  put_input(&inner, "b", 1, "N,3");
  put_output(&inner, "t");
  attr_msg(&attributes, "body", 6, 5, &inner);
  put_node(&graph, "Relu", "x", "y", &attributes);
  put_input(&graph, "x", 1, "1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  struct loaded l = load(&model, NULL);
  assert_ok(&l);
  const struct graph *body = node_attribute(l.graph->nodes.at[0], "body")->graph;
  assert_true(body->inputs.at[0]->has_shape);
  assert_false(body->inputs.at[1]->has_shape); /* open: settled when it runs */
  unload(&l);
}

static void operators_and_opsets(void **state) {
  (void)state;
  static const struct {
    const char *op;
    int64_t opset;
    const char *says;
  } cases[] = {{"BitwiseAnd", 13, "needs opset 18"}, {"Gelu", 13, "needs opset 20"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    if (!op_find("", cases[i].op)) continue;
    struct buf graph = {0};
    put_node(&graph, cases[i].op, "x,x", "y", NULL);
    put_input(&graph, "x", 1, "1");
    put_output(&graph, "y");
    struct buf model = model_of(cases[i].opset, &graph);
    expect(&model, NULL, HONE_E_UNSUP, cases[i].says);
  }
  struct buf graph = small_graph(), model = {0}, import = {0};
  put_int(&model, 1, 8);
  put_msg(&model, 7, &graph);
  put_str(&import, 1, "ai.onnx.ml");
  put_int(&import, 2, 3);
  put_msg(&model, 8, &import);
  expect(&model, NULL, HONE_E_FORMAT, "does not import an opset");
}

/* -- functions */

/* b = Relu(a), where `in`, `out` and `defined` name the function's and the node's values. */
static struct buf one_function(const char *in, const char *out, const char *defined) {
  struct buf function = {0}, graph = {0}, import = {0};
  put_str(&function, 1, "twice");
  put_str(&function, 4, in);
  put_str(&function, 5, out);
  put_str(&function, 10, "f");
  put_int(&import, 2, 13);
  put_msg(&function, 9, &import);
  put_node(&graph, "Relu", in, defined, NULL);
  put_bytes(&function, 7, graph.at + 2, graph.n - 2);
  free(graph.at);
  return function;
}

static void expect_call(const char *inputs, struct buf *function, int copies, hone_status status,
                        const char *says) {
  struct buf graph = {0};
  put_node_in(&graph, "f", "twice", inputs, "y", NULL);
  put_input(&graph, "x", 1, "1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  for (int i = 0; i < copies; i++) put_bytes(&model, 25, function->at, function->n);
  free(function->at);
  expect(&model, NULL, status, says);
}

static void broken_functions(void **state) {
  (void)state;
  struct buf function = one_function("a", "b", "b");
  expect_call("x", &function, 1, HONE_OK, NULL);
  function = one_function("a", "b", "b");
  expect_call("x", &function, 2, HONE_E_FORMAT, "duplicate function");
  function = one_function("a", "b", "b");
  expect_call("x,x", &function, 1, HONE_E_FORMAT, "has 1 inputs");
  function = one_function("a", "b", "c");
  expect_call("x", &function, 1, HONE_E_FORMAT, "is not defined in it");
  function = one_function("a", "b", "a");
  expect_call("x", &function, 1, HONE_E_FORMAT, "defined twice");
  function = one_function("a", "a", "c");
  expect_call("x", &function, 1, HONE_OK, NULL); /* hands its argument through */
}

static void defaults_of_functions(void **state) {
  (void)state;
  struct buf function = {0}, graph = {0}, import = {0}, a = {0}, list = {0}, fallback = {0};
  put_str(&a, 1, "value_float");
  put_str(&a, 21, "c");
  put_int(&a, 20, 1);
  put_msg(&list, 5, &a);
  put_node(&graph, "Constant", "", "b", &list);
  put_str(&function, 1, "five");
  put_str(&function, 5, "b");
  put_str(&function, 10, "f");
  put_int(&import, 2, 13);
  put_msg(&function, 9, &import);
  put_bytes(&function, 7, graph.at + 2, graph.n - 2);
  free(graph.at);
  graph = (struct buf){0};
  put_str(&fallback, 1, "c");
  put_f32(&fallback, 2, 5);
  put_int(&fallback, 20, 1);
  put_msg(&function, 11, &fallback);
  put_node_in(&graph, "f", "five", "", "k", NULL);
  put_node(&graph, "Add", "x,k", "y", NULL);
  put_input(&graph, "x", 1, "1");
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  put_msg(&model, 25, &function);
  struct loaded l = load(&model, NULL);
  assert_ok(&l);
  float x = 2, y = 0;
  hone_tensor in = {&x, HONE_F32, 1, {1}}, out = {&y, HONE_F32, 1, {1}};
  assert_int_equal(reference_run(&l.ctx, l.graph, &in, &out), HONE_OK);
  assert_true(y == 7);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(doubles_and_strings),   cmocka_unit_test(inputs_that_are_no_tensors),
      cmocka_unit_test(too_many_dimensions),   cmocka_unit_test(fixed_inputs_of_a_body),
      cmocka_unit_test(operators_and_opsets),  cmocka_unit_test(broken_functions),
      cmocka_unit_test(defaults_of_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
