/* export: the exported file is read back and gives the same results; the same graph gives the same
 * bytes; fused programs become nodes; operators that an opset does not have are refused. */
#include "graph_case.h"
#include "compiler/export/export.h"
#include "compiler/import/import.h"
#include "compiler/passes/passes.h"
#include "zoo/zoo.h"

#include <math.h>
#include <stdlib.h>

static void expect_ok(struct fixture *f, hone_status status) {
  if (status) print_error("%s\n", f->ctx.message);
  assert_int_equal(status, HONE_OK);
}

static size_t element_count(const struct value *value) {
  int64_t count;
  assert_true(shape_count(&value->shape, &count));
  return (size_t)count;
}

static hone_tensor tensor_for(const struct value *value, uint64_t seed) {
  hone_tensor tensor = {.dtype = value->dtype, .rank = value->shape.rank};
  struct random random;
  size_t count = element_count(value);
  memcpy(tensor.shape, value->shape.dims, sizeof tensor.shape);
  tensor.data = calloc(count + 1, 8);
  assert_non_null(tensor.data);
  random_init(&random, seed);
  for (size_t i = 0; i < count; i++) {
    if (value->dtype == HONE_F32)
      ((float *)tensor.data)[i] = (float)random_normal(&random);
    else if (value->dtype == HONE_I64)
      ((int64_t *)tensor.data)[i] = (int64_t)random_below(&random, 2);
  }
  return tensor;
}

static float *run(struct fixture *f, const struct graph *graph) {
  hone_tensor inputs[4], outputs[4];
  assert_true(graph->inputs.count <= 4 && graph->outputs.count <= 4);
  for (size_t i = 0; i < graph->inputs.count; i++)
    inputs[i] = tensor_for(graph->inputs.at[i], i + 1);
  for (size_t i = 0; i < graph->outputs.count; i++)
    outputs[i] = tensor_for(graph->outputs.at[i], 0);
  expect_ok(f, reference_run(&f->ctx, graph, inputs, outputs));
  for (size_t i = 0; i < graph->inputs.count; i++) free(inputs[i].data);
  for (size_t i = 1; i < graph->outputs.count; i++) free(outputs[i].data);
  return outputs[0].data;
}

/* Through ONNX and back: output 0 must be the same. Hands the graph that was read to `look`. */
static void round_trip(struct fixture *f, int opset, void (*look)(const struct graph *graph)) {
  struct strbuf bytes = {0};
  struct model_file file = {0};
  struct import_options options = {0};
  struct graph *back;
  float *before = run(f, f->graph);
  expect_ok(f, export_onnx(&f->ctx, f->graph, opset, &bytes));
  expect_ok(f, import_bytes(&f->ctx, f->arena, (const uint8_t *)bytes.at, bytes.length, &options,
                            &file, &back));
  float *after = run(f, back);
  for (size_t i = 0; i < element_count(f->graph->outputs.at[0]); i++)
    assert_true(fabsf(before[i] - after[i]) <= 1e-6f * fmaxf(1, fabsf(before[i])));
  if (look) look(back);
  free(before);
  free(after);
  model_file_close(&file);
  strbuf_deinit(&bytes);
}

static void small_models_come_back(void **state) {
  static const char *const specs[] = {"zoo:mlp", "zoo:conv,batch=1", "zoo:mnist_cnn",
                                      "zoo:transformer,batch=1,sequence=8",
                                      "zoo:mobilenet_v3_small,size=32"};
  static const int opsets[] = {17, 18, 21};
  struct fixture *f = *state;
  for (size_t s = 0; s < COUNT(specs); s++) {
    expect_ok(f, zoo_build(&f->ctx, f->arena, specs[s], &f->graph, NULL));
    round_trip(f, opsets[s % COUNT(opsets)], NULL);
  }
}

static void same_graph_same_bytes(void **state) {
  struct fixture *f = *state;
  struct strbuf a = {0}, b = {0};
  expect_ok(f, zoo_build(&f->ctx, f->arena, "zoo:mlp", &f->graph, NULL));
  expect_ok(f, export_onnx(&f->ctx, f->graph, 17, &a));
  expect_ok(f, zoo_build(&f->ctx, f->arena, "zoo:mlp", &f->graph, NULL));
  expect_ok(f, export_onnx(&f->ctx, f->graph, 17, &b));
  assert_int_equal(a.length, b.length);
  assert_memory_equal(a.at, b.at, a.length);
  strbuf_deinit(&a);
  strbuf_deinit(&b);
}

static void reductions_by_opset(void **state) {
  struct fixture *f = *state;
  read_graph(f,
             "graph(x: f32[3,4,5]) -> (y) {\n"
             "  axes = const i64[2] [0, -1]\n"
             "  a = ReduceMean(x, axes) keepdims=1\n"
             "  b = ReduceSum(x, axes) keepdims=1\n"
             "  y = Add(a, b)\n"
             "}");
  round_trip(f, 13, NULL);
  round_trip(f, 17, NULL);
  round_trip(f, 18, NULL);
}

/* Bodies hang at any node for this purpose; they read a value from outside and hold bodies too. */
static void nested_graphs_come_back(void **state) {
  struct fixture *f = *state;
  struct strbuf bytes = {0}, again = {0};
  struct model_file file = {0};
  struct import_options options = {0};
  struct graph *back;
  read_graph(f,
             "graph(x: f32[3]) -> (y) {\n"
             "  y: f32[3] = Relu(x) body=graph b(i: i64[]) -> (q) {\n"
             "    k = const f32[3] [1.0, 2.0, 3.0]\n"
             "    q = Add(x, k) body=graph d() -> (r) {\n"
             "      r = Relu(k)\n"
             "    }\n"
             "  }\n"
             "}");
  expect_ok(f, export_onnx(&f->ctx, f->graph, 17, &bytes));
  expect_ok(f, import_bytes(&f->ctx, f->arena, (const uint8_t *)bytes.at, bytes.length, &options,
                            &file, &back));
  const struct attribute *body = node_attribute(back->nodes.at[0], "body");
  assert_non_null(body);
  assert_int_equal(body->graph->nodes.count, 1);
  assert_non_null(node_attribute(body->graph->nodes.at[0], "body"));
  expect_ok(f, export_onnx(&f->ctx, back, 17, &again));
  assert_true(again.length > 0);
  model_file_close(&file);
  strbuf_deinit(&bytes);
  strbuf_deinit(&again);
}

static void what_cannot_be_said_is_refused(void **state) {
  struct fixture *f = *state;
  struct strbuf bytes = {0};
  read_graph(f, "graph(x: f32[3]) -> (y) {\n y = Mish(x)\n}");
  assert_int_equal(export_onnx(&f->ctx, f->graph, 17, &bytes), HONE_E_UNSUP);
  strbuf_deinit(&bytes);
  ctx_clear(&f->ctx);
  round_trip(f, 18, NULL);
  read_graph(f, "graph(x: f32[5]) -> (y, z) {\n y, z = Split(x) num_outputs=2\n}");
  assert_int_equal(export_onnx(&f->ctx, f->graph, 17, &bytes), HONE_E_UNSUP);
  strbuf_deinit(&bytes);
  ctx_clear(&f->ctx);
  round_trip(f, 18, NULL);
  assert_int_equal(export_onnx(&f->ctx, f->graph, 12, &bytes), HONE_E_USAGE);
  ctx_clear(&f->ctx);
  assert_int_equal(export_onnx(&f->ctx, f->graph, HONE_OPSET + 1, &bytes), HONE_E_USAGE);
  strbuf_deinit(&bytes);
}

static void above_two_gigabytes(void **state) {
  struct fixture *f = *state;
  struct strbuf bytes = {0};
  static const float one = 1;
  struct tensor huge = {HONE_F32, {1, {1ll << 30}}, &one, (size_t)4 << 30}; /* never read */
  struct value *x, *w;
  struct node *node;
  expect_ok(f, graph_create(&f->ctx, f->arena, &f->graph));
  expect_ok(f, graph_input(&f->ctx, f->graph, "x", HONE_F32, &(struct shape){1, {1}}, &x));
  expect_ok(f, graph_constant(&f->ctx, f->graph, "w", &huge, &w));
  expect_ok(
      f, graph_node(&f->ctx, f->graph, op_find("", "Add"), (struct value *[]){x, w}, 2, 1, &node));
  expect_ok(f, graph_output(&f->ctx, f->graph, node->outputs[0]));
  assert_int_equal(export_onnx(&f->ctx, f->graph, 17, &bytes), HONE_E_LIMIT);
  strbuf_deinit(&bytes);
}

/* A model and its weights file in a folder: read back equal, with the weights mapped in place. */
static void weights_beside_the_model(void **state) {
  struct fixture *f = *state;
  struct export_side side = {.location = "m.onnx.data", .arena = f->arena};
  struct import_options options = {0};
  struct model_file file = {0};
  struct graph *back;
  struct strbuf bytes = {0};
  char folder[4096], path[4200], beside[4300];
  size_t all = 0, mapped = 0;
  expect_ok(f, zoo_build(&f->ctx, f->arena, "zoo:mlp", &f->graph, NULL));
  expect_ok(f, export_onnx_side(&f->ctx, f->graph, 17, NULL, &side, &bytes));
  assert_true(bytes.length < 16384); /* 2 MB of weights are elsewhere */
  expect_ok(f, dir_temporary(&f->ctx, folder));
  snprintf(path, sizeof path, "%.4000s/m.onnx", folder);
  snprintf(beside, sizeof beside, "%s.data", path);
  for (size_t i = 0; i < side.count; i++) {
    /* the parts between are what fills up to the next page */
    if (side.at[i].size > EXPORT_SIDE_ALIGNMENT) assert_int_equal(all % EXPORT_SIDE_ALIGNMENT, 0);
    all += side.at[i].size;
  }
  assert_int_equal(all, side.bytes);
  expect_ok(f, file_write_parts(&f->ctx, beside, side.at, side.count, 0600));
  expect_ok(f, output_check(&f->ctx, beside, OUTPUT_WEIGHTS, NULL, 0)); /* known as hone's */
  expect_ok(f, file_write_atomic(&f->ctx, path, bytes.at, bytes.length, 0600));
  expect_ok(f, import_model(&f->ctx, f->arena, path, &options, &file, &back));
  assert_int_equal(file.sides.count, 1);
  const uint8_t *begin = file.sides.at[0].data, *end = begin + file.sides.at[0].size;
  for (size_t v = 0; v < back->values.count; v++) {
    const struct tensor *tensor = back->values.at[v]->constant;
    if (tensor && (const uint8_t *)tensor->data >= begin && (const uint8_t *)tensor->data < end)
      mapped++;
  }
  assert_int_equal(mapped, 3); /* three layers' weights; biases are small */
  float *before = run(f, f->graph), *after = run(f, back);
  for (size_t i = 0; i < element_count(f->graph->outputs.at[0]); i++)
    assert_true(fabsf(before[i] - after[i]) <= 1e-6f * fmaxf(1, fabsf(before[i])));
  free(before);
  free(after);
  model_file_close(&file);
  strbuf_deinit(&bytes);
  dir_remove_tree(folder);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(small_models_come_back),
      TEST(same_graph_same_bytes),
      TEST(reductions_by_opset),
      TEST(nested_graphs_come_back),
      TEST(what_cannot_be_said_is_refused),
      TEST(above_two_gigabytes),
      TEST(weights_beside_the_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
