/* The compiler, as data: every tests/compile/CASE.hg is compiled with and without passes and for
 * each level that runs here, run with 1, 2 and 3 threads, and compared with the reference; one
 * artifact gives the same bits for any number of threads. */
#include "unit.h"
#include "compile/compile.h"
#include "run/run.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>

#define ROOT "tests/compile"
enum { MOST = 8 };

struct scene {
  struct ctx ctx;
  struct model model;
  hone_tensor inputs[MOST], expected[MOST], outputs[MOST], first[MOST];
  char dir[4096];
};

static void test_failed(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vprint_error(format, args);
  va_end(args);
  print_error("\n");
  _fail(__FILE__, __LINE__);
}

static void check(struct scene *s, hone_status status) {
  if (status) print_error("%s\n", hone_context_message(&s->ctx));
  assert_int_equal(status, HONE_OK);
}

static hone_tensor tensor_for(struct scene *s, const struct value *value) {
  struct tensor *tensor;
  hone_tensor out = {.dtype = value->dtype, .rank = value->shape.rank};
  check(s, tensor_create(&s->ctx, s->model.arena, value->dtype, &value->shape, &tensor));
  memcpy(out.shape, value->shape.dims, sizeof out.shape);
  out.data = (void *)(uintptr_t)tensor->data;
  return out;
}

static struct tensor as_tensor(const hone_tensor *t) {
  struct tensor out = {.dtype = t->dtype, .shape = {.rank = t->rank}, .data = t->data};
  memcpy(out.shape.dims, t->shape, sizeof out.shape.dims);
  return out;
}

static void open_scene(struct scene *s, const char *path) {
  struct mapping file;
  struct random random;
  memset(s, 0, sizeof *s);
  ctx_init(&s->ctx);
  random_init(&random, 7);
  check(s, dir_temporary(&s->ctx, s->dir));
  check(s, file_map(&s->ctx, path, &file));
  check(s, arena_create(&s->ctx, 0, &s->model.arena));
  check(s, graph_parse(&s->ctx, s->model.arena, (const char *)file.data, file.size, op_find,
                       &s->model.graph));
  file_unmap(&file);
  check(s, graph_infer(&s->ctx, s->model.graph));
  assert_true(s->model.graph->inputs.count <= MOST && s->model.graph->outputs.count <= MOST);
  for (size_t i = 0; i < s->model.graph->inputs.count; i++) {
    s->inputs[i] = tensor_for(s, s->model.graph->inputs.at[i]);
    struct tensor t = as_tensor(&s->inputs[i]);
    for (size_t k = 0; k < tensor_count(&t); k++)
      if (dtype_is_float(t.dtype))
        tensor_set_f64(&t, k, random_normal(&random));
      else
        tensor_set_i64(&t, k, (int64_t)random_below(&random, t.dtype == HONE_BOOL ? 2 : 4));
  }
  for (size_t i = 0; i < s->model.graph->outputs.count; i++) {
    s->expected[i] = tensor_for(s, s->model.graph->outputs.at[i]);
    s->outputs[i] = tensor_for(s, s->model.graph->outputs.at[i]);
    s->first[i] = tensor_for(s, s->model.graph->outputs.at[i]);
  }
  check(s, reference_run(&s->ctx, s->model.graph, s->inputs, s->expected));
}

static void close_scene(struct scene *s) {
  dir_remove_tree(s->dir);
  model_unload(&s->model);
}

/* fp32 tolerance of the project: relative L2 1e-4, largest difference 1e-3 of the largest value. */
static bool is_close(const hone_tensor *expected, const hone_tensor *actual) {
  struct tensor e = as_tensor(expected), a = as_tensor(actual);
  double error = 0, size = 0, most = 0, largest = 0;
  for (size_t i = 0; i < tensor_count(&e); i++) {
    double x = tensor_f64(&e, i), y = tensor_f64(&a, i), d = fabs(x - y);
    if (isnan(x) && isnan(y)) continue;
    if (!(d <= 1e300)) return false;
    error += d * d;
    size += x * x;
    most = fmax(most, d);
    largest = fmax(largest, fabs(x));
  }
  if (!dtype_is_float(e.dtype)) return most == 0;
  return sqrt(error) <= 1e-4 * sqrt(size) && most <= 1e-3 * largest;
}

static void run_with(struct scene *s, const struct loaded *loaded, int threads, const char *what) {
  const void *in[MOST];
  void *out[MOST];
  struct team *team;
  check(s, team_create(&s->ctx, threads, false, &team));
  for (size_t i = 0; i < s->model.graph->inputs.count; i++) in[i] = s->inputs[i].data;
  for (size_t i = 0; i < s->model.graph->outputs.count; i++) out[i] = s->outputs[i].data;
  struct hone_io io = {in, out, NULL, NULL};
  for (int repeat = 0; repeat < 3; repeat++) {
    memset(loaded->arena, 0xff, loaded->arena_bytes); /* NaN: nothing may rest on a zeroed arena */
    assert_int_equal(loaded->info->run(loaded->weights, loaded->arena, &io, team_interface(team)),
                     0);
    for (size_t i = 0; i < s->model.graph->outputs.count; i++) {
      struct tensor t = as_tensor(&s->outputs[i]);
      size_t bytes = tensor_count(&t) * (dtype_bits(t.dtype) / 8);
      if (!is_close(&s->expected[i], &s->outputs[i]))
        test_failed("%s, %d threads: output %zu differs from the reference", what, threads, i);
      if (threads == 1 && !repeat) memcpy(s->first[i].data, t.data, bytes);
      if (memcmp(s->first[i].data, t.data, bytes))
        test_failed("%s: output %zu has other bits with %d threads", what, i, threads);
    }
  }
  team_destroy(team);
}

static void compile_and_run(struct scene *s, const char *name, const char *level, bool no_passes) {
  struct compile_options options = {.threads = 2, .no_cache = true, .no_passes = no_passes};
  struct loaded loaded;
  char path[4200], what[512];
  snprintf(what, sizeof what, "%s, %s%s", name, level, no_passes ? ", no passes" : "");
  snprintf(path, sizeof path, "%s/%s-%d.so", s->dir, level, no_passes);
  check(s, target_init(&s->ctx, NULL, level, &options.target));
  if (!target_runs_here(&options.target)) return;
  check(s, compile_model(&s->ctx, &s->model, &options, path, NULL));
  check(s, artifact_load(&s->ctx, path, NULL, &loaded));
  for (int threads = 1; threads <= 3; threads++) run_with(s, &loaded, threads, what);
  artifact_unload(&loaded);
}

static void every_case_equals_the_reference(void **state) {
  static struct scene s;
  struct dirent **entries;
  (void)state;
  int count = scandir(ROOT, &entries, NULL, alphasort), cases = 0;
  assert_true(count > 0);
  for (int i = 0; i < count; i++) {
    char path[4096];
    const char *name = entries[i]->d_name;
    if (strlen(name) > 3 && !strcmp(name + strlen(name) - 3, ".hg")) {
      snprintf(path, sizeof path, ROOT "/%s", name);
      open_scene(&s, path);
      compile_and_run(&s, name, "host", false);
      compile_and_run(&s, name, "host", true);
      compile_and_run(&s, name, "avx2", false);
      compile_and_run(&s, name, "baseline", false);
      close_scene(&s);
      cases++;
    }
    free(entries[i]);
  }
  free(entries);
  assert_true(cases >= 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_equals_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
