/* Every allocation of the readers is refused once: each model of tests/cases is read with just the
 * memory that the previous allocations need, until all succeed. Nothing leaks, no model is read
 * partially, and the error is always that of the limit. HONE_CASES=PATTERN selects other models.
 * The short run has only one int8 LSTM, because each attempt builds its tables of 65,536 words
 * again. */
#include "import_case.h"
#include "whole_model.h"

#include <glob.h>

enum { MOST_ATTEMPTS = 20000 };

/* The same status, or the limit and what the next attempt has to have. */
static size_t read_with(const uint8_t *model, size_t size, size_t bytes, hone_status *out_status,
                        size_t *out_nodes) {
  struct ctx ctx;
  struct arena *arena;
  struct model_file file;
  struct graph *graph;
  size_t limit, enough = 0;
  ctx_init(&ctx);
  /* of the arenas that the readers make themselves, too */
  ctx.limits[LIMIT_arena_bytes] = (int64_t)bytes;
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  *out_status = import_bytes(&ctx, arena, model, size, NULL, &file, &graph);
  if (*out_status == HONE_OK) {
    *out_nodes = graph->nodes.count;
    model_file_close(&file);
  }
  const char *says = strstr(ctx.message, "memory of one phase exceeds ");
  if (says) {
    assert_int_equal(*out_status, HONE_E_LIMIT);
    assert_int_equal(
        sscanf(says, "memory of one phase exceeds %zu bytes: it needs %zu", &limit, &enough), 2);
    assert_int_equal(limit, bytes);
    assert_true(enough > bytes);
  }
  arena_destroy(arena);
  return enough;
}

static size_t read_model(const char *name, const uint8_t *model, size_t size) {
  struct ctx ctx;
  hone_status wanted, status;
  size_t nodes = 0, nodes_now = 0, attempts = 0;
  ctx_init(&ctx);
  assert_int_equal(read_with(model, size, (size_t)ctx.limits[LIMIT_arena_bytes], &wanted, &nodes),
                   0);
  for (size_t bytes = 1; bytes; attempts++) {
    assert_true(attempts < MOST_ATTEMPTS);
    bytes = read_with(model, size, bytes, &status, &nodes_now);
  }
  if (status != wanted || nodes_now != nodes || attempts < 3)
    print_error("%s, %zu attempts\n", name, attempts);
  assert_int_equal(status, wanted);
  assert_int_equal(nodes_now, nodes);
  assert_true(attempts >= 3);
  return attempts;
}

static size_t read_file(const char *path) {
  struct ctx ctx;
  struct mapping map;
  ctx_init(&ctx);
  assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
  size_t attempts = read_model(path, map.data, map.size);
  file_unmap(&map);
  return attempts;
}

/* Once a value that could not be made had no heads, and heads were divided by it. */
static void half_precision_attention(void **state) {
  struct buf graph = {0}, import = {0};
  (void)state;
  put_str(&graph, 2, "attention");
  put_node_in(&graph, "ai.onnx.preview", "FlexAttention", "q,k,v", "y", NULL);
  put_input(&graph, "q", 10, "1,4,2,8");
  put_input(&graph, "k", 10, "1,2,3,8");
  put_input(&graph, "v", 10, "1,2,3,8");
  put_output(&graph, "y");
  struct buf model = model_of(26, &graph);
  put_str(&import, 1, "ai.onnx.preview");
  put_int(&import, 2, 1);
  put_msg(&model, 8, &import);
  assert_true(read_model("FlexAttention", model.at, model.n) > 20);
  free(model.at);
}

static void everything_in_one_model(void **state) {
  struct buf model = whole_model();
  (void)state;
  assert_true(read_model("whole", model.at, model.n) > 200);
  free(model.at);
}

/* Each limit as low as it goes, one at a time: the model is read, or the limit's error says how to raise it. */
static size_t read_with_limits(const char *name, const uint8_t *model, size_t size) {
  size_t refused = 0;
  for (int id = 0; id < LIMIT_COUNT; id++)
    for (int64_t most = 0; most < 5; most++) {
      struct ctx ctx;
      struct arena *arena;
      struct model_file file;
      struct graph *graph;
      ctx_init(&ctx);
      ctx.limits[id] = most;
      assert_int_equal(arena_create(&ctx, 64 << 20, &arena), HONE_OK);
      hone_status status = import_bytes(&ctx, arena, model, size, NULL, &file, &graph);
      if (status == HONE_OK)
        model_file_close(&file);
      else if (status != HONE_E_LIMIT || !*ctx_hint(&ctx))
        print_error("%s, %s %lld: %s\n", name, limit_name(id), (long long)most, ctx.message);
      assert_true(status == HONE_OK || (status == HONE_E_LIMIT && *ctx_hint(&ctx)));
      refused += status != HONE_OK;
      arena_destroy(arena);
    }
  return refused;
}

static void every_limit_is_low_once(void **state) {
  static const char *const files[] = {
      "tests/cases/pt2/small.pt2", "tests/cases/tflite/control-while-known.tflite",
      "tests/cases/tflite/conv-int8-same.tflite", "tests/cases/tflite/signature-two.tflite",
      "tests/cases/import/upgrade/clip_6.onnx"};
  struct buf whole = whole_model();
  (void)state;
  assert_true(read_with_limits("whole", whole.at, whole.n) > 10);
  free(whole.at);
  for (size_t i = 0; i < COUNT(files); i++) {
    struct ctx ctx;
    struct mapping map;
    ctx_init(&ctx);
    assert_int_equal(file_map(&ctx, files[i], &map), HONE_OK);
    assert_true(read_with_limits(files[i], map.data, map.size) > 5);
    file_unmap(&map);
  }
}

static void every_allocation_is_refused_once(void **state) {
  static const char *const patterns[] = {
      "tests/cases/pt2/small.pt2", "tests/cases/import/upgrade/*.onnx",
      "tests/cases/tflite/{[!b]*,b[!y]*,bytes-[!l]*,bytes-lstm-norm-all}.tflite"};
  const char *own = getenv("HONE_CASES");
  size_t models = 0, attempts = 0;
  (void)state;
  for (size_t p = 0; p < (own ? 1 : COUNT(patterns)); p++) {
    glob_t found;
    assert_int_equal(glob(own ? own : patterns[p], GLOB_BRACE, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) attempts += read_file(found.gl_pathv[i]);
    models += found.gl_pathc;
    globfree(&found);
  }
  print_message("%zu models, %zu attempts\n", models, attempts);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_is_refused_once),
                                     cmocka_unit_test(half_precision_attention),
                                     cmocka_unit_test(everything_in_one_model),
                                     cmocka_unit_test(every_limit_is_low_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
