/* Passes, as data: tests/passes/PASS/CASE.hg is run through that pass (folder "pipeline": all of
 * them) and must print as CASE.want. The graph before and after must give the same results on
 * random inputs. HONE_BLESS=1 rewrites the .want files; a person reviews the difference. */
#include "core/os/os.h"
#include "unit.h"
#include "compiler/passes/passes.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>

#define ROOT "tests/passes"

struct outcome {
  hone_tensor *outputs;
  size_t count;
};

static void fill(hone_tensor *tensor, size_t count, uint64_t seed) {
  struct random random;
  random_init(&random, seed);
  for (size_t i = 0; i < count; i++) {
    if (tensor->dtype == HONE_F32)
      ((float *)tensor->data)[i] = (float)random_normal(&random);
    else if (tensor->dtype == HONE_F16)
      ((uint16_t *)tensor->data)[i] = f32_to_f16((float)random_normal(&random));
    else if (tensor->dtype == HONE_BF16)
      ((uint16_t *)tensor->data)[i] = f32_to_bf16((float)random_normal(&random));
    else if (tensor->dtype == HONE_I64)
      ((int64_t *)tensor->data)[i] = (int64_t)random_below(&random, 3);
    else
      ((uint8_t *)tensor->data)[i] = (uint8_t)random_below(&random, 2);
  }
}

static hone_tensor tensor_for(const struct value *value) {
  hone_tensor tensor = {.dtype = value->dtype, .rank = value->shape.rank};
  int64_t count;
  assert_true(shape_count(&value->shape, &count));
  memcpy(tensor.shape, value->shape.dims, sizeof tensor.shape);
  tensor.data = calloc((size_t)count + 1, 8);
  assert_non_null(tensor.data);
  return tensor;
}

static size_t elements(const hone_tensor *tensor) {
  size_t count = 1;
  for (int i = 0; i < tensor->rank; i++) count *= (size_t)tensor->shape[i];
  return count;
}

static struct outcome run(struct ctx *ctx, const struct graph *graph) {
  struct outcome out = {.count = graph->outputs.count};
  hone_tensor inputs[8];
  assert_true(graph->inputs.count <= COUNT(inputs));
  for (size_t i = 0; i < graph->inputs.count; i++) {
    inputs[i] = tensor_for(graph->inputs.at[i]);
    fill(&inputs[i], elements(&inputs[i]), i + 1);
  }
  out.outputs = calloc(out.count, sizeof *out.outputs);
  assert_non_null(out.outputs);
  for (size_t i = 0; i < out.count; i++) out.outputs[i] = tensor_for(graph->outputs.at[i]);
  hone_status status = reference_run(ctx, graph, inputs, out.outputs);
  if (status) print_error("%s\n", ctx->message);
  assert_int_equal(status, HONE_OK);
  for (size_t i = 0; i < graph->inputs.count; i++) free(inputs[i].data);
  return out;
}

static double element(const hone_tensor *tensor, size_t i) {
  if (tensor->dtype == HONE_F32) return (double)((const float *)tensor->data)[i];
  const uint16_t half = ((const uint16_t *)tensor->data)[i];
  return (double)(tensor->dtype == HONE_F16 ? f16_to_f32(half) : bf16_to_f32(half));
}

/* With 16-bit values, one pass removes roundings. */
static double tolerance_of(const char *pass, const struct graph *graph) {
  if (strcmp(pass, "widen-types") && strcmp(pass, "pipeline")) return 1e-5;
  for (size_t i = 0; i < graph->values.count; i++)
    if (dtype_is_half(graph->values.at[i]->dtype)) return 1e-2;
  return 1e-5;
}

static void expect_same(const char *path, const struct outcome *a, const struct outcome *b,
                        double tolerance) {
  assert_int_equal(a->count, b->count);
  for (size_t o = 0; o < a->count; o++) {
    const hone_tensor *x = &a->outputs[o], *y = &b->outputs[o];
    double worst = 0, largest = 1e-30;
    assert_int_equal(x->dtype, y->dtype);
    assert_int_equal(elements(x), elements(y));
    if (x->dtype != HONE_F32 && !dtype_is_half(x->dtype)) {
      assert_memory_equal(x->data, y->data, elements(x) * dtype_bits(x->dtype) / 8);
      continue;
    }
    for (size_t i = 0; i < elements(x); i++) {
      const double p = element(x, i), q = element(y, i);
      worst = fmax(worst, fabs(p - q));
      largest = fmax(largest, fabs(p));
      if (isnan(p) != isnan(q)) worst = (double)INFINITY;
    }
    if (worst / largest > tolerance) print_error("%s: output %zu is off by %g\n", path, o, worst);
    assert_true(worst / largest <= tolerance);
  }
}

static void release(struct outcome *outcome) {
  for (size_t i = 0; i < outcome->count; i++) free(outcome->outputs[i].data);
  free(outcome->outputs);
}

static hone_status after(void *user, struct ctx *ctx, const struct pass *pass, struct graph *graph,
                         size_t changes) {
  (void)user, (void)pass, (void)changes;
  return graph_verify(ctx, graph);
}

static hone_status run_pass(struct ctx *ctx, struct graph *graph, const char *name) {
  struct pipeline_options options = {.after = after};
  size_t changes;
  if (!strcmp(name, "pipeline")) return passes_run(ctx, graph, &options);
  const struct pass *pass = export_pass_find(name);
  if (!pass) print_error("no pass \"%s\"\n", name);
  assert_non_null(pass);
  TRY(pass->run(ctx, graph, &changes));
  TRY(graph_verify(ctx, graph));
  /* a second run of the pass changes nothing */
  TRY(pass->run(ctx, graph, &changes));
  assert_int_equal(changes, 0);
  return graph_verify(ctx, graph);
}

static void compare(struct ctx *ctx, const char *path, const struct strbuf *got) {
  char want_path[512];
  struct mapping want;
  snprintf(want_path, sizeof want_path, "%.*s.want", (int)strlen(path) - 3, path);
  if (getenv("HONE_BLESS")) {
    assert_int_equal(file_write_atomic(ctx, want_path, got->at, got->length, 0644), HONE_OK);
    return;
  }
  if (file_map(ctx, want_path, &want)) print_error("%s\n", ctx->message);
  assert_int_equal(ctx->status, HONE_OK);
  bool same = want.size == got->length && !memcmp(want.data, got->at, got->length);
  if (!same)
    print_error("%s: got\n%s\nwanted\n%.*s\n", path, got->at, (int)want.size,
                (const char *)want.data);
  file_unmap(&want);
  assert_true(same);
}

static void run_case(const char *pass, const char *path) {
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  struct mapping file;
  struct strbuf text = {0};
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(file_map(&ctx, path, &file), HONE_OK);
  hone_status status =
      graph_parse(&ctx, arena, (const char *)file.data, file.size, op_find, &graph);
  if (!status) status = graph_infer(&ctx, graph);
  if (!status) status = graph_verify(&ctx, graph);
  if (status) print_error("%s: %s\n", path, ctx.message);
  assert_int_equal(status, HONE_OK);
  struct outcome before = run(&ctx, graph);
  const double tolerance = tolerance_of(pass, graph);
  status = run_pass(&ctx, graph, pass);
  if (status) print_error("%s: %s\n", path, ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(graph_print(&ctx, &text, graph, op_names, NULL), HONE_OK);
  compare(&ctx, path, &text);
  if (!strcmp(pass, "pack-nbits")) /* expands the operator, which has no evaluation of its own */
    assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  struct outcome behind = run(&ctx, graph);
  expect_same(path, &before, &behind, tolerance);
  strbuf_deinit(&text);
  release(&before);
  release(&behind);
  file_unmap(&file);
  arena_destroy(arena);
}

static size_t run_folder(const char *pass) {
  char folder[256], path[512];
  struct dirent **entries;
  size_t cases = 0;
  snprintf(folder, sizeof folder, ROOT "/%s", pass);
  int count = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
    if (dot && !strcmp(dot, ".hg")) {
      snprintf(path, sizeof path, "%s/%s", folder, name);
      run_case(pass, path);
      cases++;
    }
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return cases;
}

static void every_pass_does_what_its_cases_say(void **state) {
  (void)state;
  for (size_t p = 0; p < pass_count; p++) {
    if (strstr(pass_pipeline[p].name, "-again")) continue;
    if (!run_folder(pass_pipeline[p].name)) print_error("%s has no case\n", pass_pipeline[p].name);
    assert_true(run_folder(pass_pipeline[p].name) > 0);
  }
  for (size_t p = 0; p < export_pass_count; p++) assert_true(run_folder(export_passes[p].name) > 0);
}

static void the_pipeline_as_a_whole(void **state) {
  (void)state;
  assert_true(run_folder("pipeline") > 0);
}

/* The limit holds for what grows: weights in f16 are as large already. */
static void large_constants_are_cast(void **state) {
  static const char text[] =
      "graph(x: f32[4096]) -> (y, z) {\n  w = const f16[4096] seed=1\n  f = Cast(w) to=1\n"
      "  y = Add(x, f)\n  s = const f32[] [2.0]\n  n = const i64[1] [4096]\n"
      "  e = Expand(s, n)\n  z = Mul(x, e)\n}\n";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  size_t changes = 0, casts = 0, expands = 0;
  (void)state;
  ctx_init(&ctx);
  ctx.limits[LIMIT_fold_bytes] = 1024;
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  assert_int_equal(pass_find("fold-constants")->run(&ctx, graph, &changes), HONE_OK);
  for (size_t i = 0; i < graph->nodes.count; i++) {
    casts += graph->nodes.at[i]->op->id == OP_Cast;
    expands += graph->nodes.at[i]->op->id == OP_Expand;
  }
  assert_int_equal(casts, 0);
  assert_int_equal(expands, 1);
  arena_destroy(arena);
}

static void passes_are_found_by_name(void **state) {
  (void)state;
  for (size_t p = 0; p < pass_count; p++) {
    assert_ptr_equal(pass_find(pass_pipeline[p].name), &pass_pipeline[p]);
    assert_true(strlen(pass_pipeline[p].reason) > 10);
  }
  for (size_t p = 0; p < export_pass_count; p++) {
    assert_ptr_equal(export_pass_find(export_passes[p].name), &export_passes[p]);
    assert_null(pass_find(export_passes[p].name));
  }
  assert_null(pass_find("no-such-pass"));
}

static void the_pipeline_stops_where_asked(void **state) {
  static const char text[] = "graph(x: f32[4]) -> (z) {\n y = Identity(x)\n z = Relu(y)\n}";
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  struct pipeline_options options = {.stop_after = "lower-quantised"};
  (void)state;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  assert_int_equal(passes_run(&ctx, graph, &options), HONE_OK);
  assert_int_equal(graph->nodes.count, 2);
  options.stop_after = NULL;
  assert_int_equal(passes_run(&ctx, graph, &options), HONE_OK);
  assert_int_equal(graph->nodes.count, 1);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_pass_does_what_its_cases_say),
      cmocka_unit_test(the_pipeline_as_a_whole),
      cmocka_unit_test(large_constants_are_cast),
      cmocka_unit_test(passes_are_found_by_name),
      cmocka_unit_test(the_pipeline_stops_where_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
