/* Old opsets: every model under tests/cases/import/upgrade is imported, run by the reference and
 * compared with the outputs in the same folder. make.py there wrote them from the old
 * specifications and checked them with another engine. HONE_TEST_CASES names another folder than
 * tests/cases. */
#include "import_case.h"

#include <dirent.h>
#include <math.h>

enum { MOST_CASES = 512, MOST_TENSORS = 4 };

static char *names[MOST_CASES];
static size_t name_count;

static const char *folder(void) {
  static char path[4096];
  const char *cases = getenv("HONE_TEST_CASES");
  snprintf(path, sizeof path, "%s/import/upgrade", cases ? cases : "tests/cases");
  return path;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_cases(void) {
  DIR *dir = opendir(folder());
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    size_t length = strlen(entry->d_name);
    if (length < 6 || strcmp(entry->d_name + length - 5, ".onnx") || name_count == MOST_CASES)
      continue;
    names[name_count++] = strndup(entry->d_name, length - 5);
  }
  if (dir) closedir(dir);
  qsort(names, name_count, sizeof *names, by_name);
}

/* NAME.in_K.npy or NAME.out_K.npy; how many there are. */
static size_t read_tensors(struct ctx *ctx, const char *name, const char *kind,
                           hone_tensor tensors[MOST_TENSORS]) {
  size_t count = 0;
  for (; count < MOST_TENSORS; count++) {
    char path[8192];
    snprintf(path, sizeof path, "%s/%s.%s_%zu.npy", folder(), name, kind, count);
    FILE *file = fopen(path, "rb");
    if (!file) break;
    fclose(file);
    assert_int_equal(npy_read(ctx, path, NULL, &tensors[count]), HONE_OK);
  }
  return count;
}

static struct tensor view_of(const hone_tensor *tensor) {
  struct tensor view = {.dtype = tensor->dtype, .data = tensor->data};
  view.shape.rank = tensor->rank;
  memcpy(view.shape.dims, tensor->shape, sizeof view.shape.dims);
  return view;
}

static bool is_close(const hone_tensor *got, const hone_tensor *expected) {
  struct tensor a = view_of(got), b = view_of(expected);
  double tolerance = got->dtype == HONE_F16 ? 1e-3 : 1e-5;
  for (size_t i = 0; i < tensor_count(&a); i++) {
    double x = tensor_f64(&a, i), y = tensor_f64(&b, i);
    if (!(fabs(x - y) <= tolerance * (1 + fabs(y)))) {
      print_error("element %zu is %g, expected %g\n", i, x, y);
      return false;
    }
  }
  return true;
}

static bool compare(struct ctx *ctx, const struct graph *graph, const hone_tensor *inputs,
                    const hone_tensor *expected, size_t count) {
  bool ok = graph->outputs.count == count;
  hone_tensor outputs[MOST_TENSORS];
  for (size_t k = 0; ok && k < count; k++) {
    const struct value *value = graph->outputs.at[k];
    struct tensor want = view_of(&expected[k]);
    ok = value->dtype == want.dtype && shape_equal(&value->shape, &want.shape);
    if (!ok) print_error("type or shape of output %zu\n", k);
  }
  if (!ok) return false;
  for (size_t k = 0; k < count; k++) {
    outputs[k] = expected[k];
    struct tensor view = view_of(&expected[k]);
    outputs[k].data = calloc(tensor_count(&view) + 1, 16);
    assert_non_null(outputs[k].data);
  }
  hone_status status = reference_run(ctx, graph, inputs, outputs);
  if (status) print_error("%s\n", ctx->message);
  for (size_t k = 0; k < count; k++) {
    ok = ok && !status && is_close(&outputs[k], &expected[k]);
    free(outputs[k].data);
  }
  return ok;
}

/* 0 failed, 1 passed, -1: an operator that hone does not have */
static int run_case(const char *name) {
  char path[8192];
  snprintf(path, sizeof path, "%s/%s.onnx", folder(), name);
  struct loaded l = {0};
  hone_tensor inputs[MOST_TENSORS], expected[MOST_TENSORS];
  ctx_init(&l.ctx);
  assert_int_equal(arena_create(&l.ctx, 0, &l.arena), HONE_OK);
  size_t in_count = read_tensors(&l.ctx, name, "in", inputs);
  size_t out_count = read_tensors(&l.ctx, name, "out", expected);
  int result = 0;
  l.status = import_model(&l.ctx, l.arena, path, NULL, &l.file, &l.graph);
  if (l.status == HONE_E_UNSUP && strstr(l.ctx.message, "not supported"))
    result = -1;
  else if (!l.status && l.graph->inputs.count == in_count)
    result = compare(&l.ctx, l.graph, inputs, expected, out_count);
  if (result < 1) print_error("%s: %s\n", name, l.status ? l.ctx.message : "wrong");
  for (size_t k = 0; k < in_count; k++) free(inputs[k].data);
  for (size_t k = 0; k < out_count; k++) free(expected[k].data);
  unload(&l);
  return result;
}

static void old_models_compute_the_same(void **state) {
  (void)state;
  int failed = 0, unsupported = 0;
  for (size_t i = 0; i < name_count; i++) {
    int result = run_case(names[i]);
    failed += result == 0;
    unsupported += result < 0;
  }
  print_message("%zu cases, %d failed, %d with operators that are not there\n", name_count, failed,
                unsupported);
  assert_true(name_count > 0);
  assert_int_equal(failed, 0);
}

/* One softmax node must be left where the flattened axes are one axis. */
static void single_axis_softmax_is_direct(void **state) {
  (void)state;
  static const char *const direct[] = {"softmax_11_last", "softmax_11_negative",
                                       "softmax_7_single"};
  if (!op_find("", "Softmax") || !op_find("", "Flatten")) skip();
  for (size_t i = 0; i < COUNT(direct); i++) {
    char path[8192];
    snprintf(path, sizeof path, "%s/%s.onnx", folder(), direct[i]);
    struct loaded l = {0};
    ctx_init(&l.ctx);
    assert_int_equal(arena_create(&l.ctx, 0, &l.arena), HONE_OK);
    l.status = import_model(&l.ctx, l.arena, path, NULL, &l.file, &l.graph);
    assert_ok(&l);
    assert_int_equal(l.graph->nodes.count, 1);
    assert_string_equal(l.graph->outputs.at[0]->name, "o0");
    unload(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(old_models_compute_the_same),
      cmocka_unit_test(single_axis_softmax_is_direct),
  };
  find_cases();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (size_t i = 0; i < name_count; i++) free(names[i]);
  return failed;
}
