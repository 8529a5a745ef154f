/* The compiler, as data: every tests/compile/CASE.hg is compiled with and without passes and for
 * each level without a compiler's warning and, where the level runs here, run with 1, 2 and 3 threads and by the last of many, over an arena that
 * ends at a guard page, and compared with the reference; one artifact gives the same bits for any
 * number of threads. `make test` compiles each case for the host and every second one in another way too, in turn; `make
 * test-full` in all ways. */
#include "compile_scene.h"
#include "guarded.h"
#include "compiler/run/run.h"

#include <dirent.h>

#define ROOT "tests/compile"

/* A host with that many threads of which only the last has a core: it does all work, serial steps
   too. */
enum { CROWD = 40 };
static void run_last(void *self, const struct hone_job *job) {
  (void)self;
  for (;;) {
    struct hone_stage stage = {1, CROWD};
    job->next(job->argument, CROWD - 1, &stage);
    if (!stage.chunks) return;
    const int32_t most = stage.threads < CROWD ? stage.threads : CROWD;
    for (int32_t chunk = 0; chunk < stage.chunks; chunk++)
      job->work(job->argument, chunk, most - 1);
  }
}

static void run_with(struct scene *s, const struct loaded *loaded, int threads,
                     const char *precision, const char *what) {
  const void *in[MOST];
  void *out[MOST];
  int64_t *sizes[MOST];
  struct team *team = NULL;
  const struct hone_team crowd = {NULL, CROWD, run_last};
  const struct hone_team *host = &crowd;
  struct guarded arena = guarded_create(loaded->arena_bytes);
  if (threads != CROWD) {
    check(s, team_create(&s->ctx, threads, false, &team));
    host = team_interface(team);
  }
  for (size_t i = 0; i < s->model.graph->inputs.count; i++) in[i] = s->inputs[i].data;
  for (size_t i = 0; i < s->model.graph->outputs.count; i++) {
    out[i] = s->outputs[i].data;
    sizes[i] = s->outputs[i].shape;
  }
  struct hone_io io = {in, out, NULL, sizes};
  for (int repeat = 0; repeat < 3; repeat++) {
    memset(arena.at, 0xff, loaded->arena_bytes); /* NaN: nothing may rest on a zeroed arena */
    assert_int_equal(loaded->info->run(loaded->weights, arena.at, &io, host), 0);
    for (size_t i = 0; i < s->model.graph->outputs.count; i++) {
      if (memcmp(s->outputs[i].shape, s->expected[i].shape, sizeof s->outputs[i].shape))
        test_failed("%s, %d threads: output %zu has another shape", what, threads, i);
      struct tensor t = as_tensor(&s->outputs[i]);
      size_t bytes = tensor_count(&t) * (dtype_bits(t.dtype) / 8);
      if (!is_within(&s->expected[i], &s->outputs[i], precision))
        test_failed("%s, %d threads: output %zu differs from the reference", what, threads, i);
      if (threads == 1 && !repeat) memcpy(s->first[i].data, t.data, bytes);
      if (memcmp(s->first[i].data, t.data, bytes))
        test_failed("%s: output %zu has other bits with %d threads", what, i, threads);
    }
  }
  team_destroy(team);
  guarded_destroy(&arena);
}

static void compile_and_run_in(struct scene *s, const char *name, const char *level, bool no_passes,
                               bool bf16) {
  struct compile_options options = {
      .threads = 2, .no_cache = true, .no_passes = no_passes, .bf16 = bf16};
  struct loaded loaded;
  char path[4200], what[512];
  snprintf(what, sizeof what, "%s, %s%s", name, level,
           no_passes ? ", no passes"
           : bf16    ? ", bf16"
                     : "");
  snprintf(path, sizeof path, "%s/%s-%d.so", s->dir, level, no_passes + 2 * bf16);
  check(s, target_init(&s->ctx, NULL, level, &options.target));
  check(s, compile_model(&s->ctx, &s->model, &options, path, NULL));
  if (!target_runs_here(&options.target)) return;
  check(s, artifact_load(&s->ctx, path, NULL, &loaded));
  assert_int_equal(loaded.info->flags, options.target.features);
  for (size_t i = 0; i < s->model.graph->outputs.count; i++) {
    const struct hone_io_info *io = &loaded.info->outputs[i];
    const struct value *value = s->model.graph->outputs.at[i];
    if (strcmp(io->name, value->name) || io->rank != value->shape.rank ||
        memcmp(io->dims, value->shape.dims, sizeof(int64_t) * (size_t)io->rank))
      test_failed("%s: the artifact gives output %zu another name or shape", what, i);
  }
  /* compiled code of the fp16 model skips intermediate roundings */
  const char *precision = bf16 ? "bf16" : strcmp(name, "halves-model.hg") ? "fp32" : "fp16";
  for (int threads = 1; threads <= 3; threads++) run_with(s, &loaded, threads, precision, what);
  run_with(s, &loaded, CROWD, precision, what);
  artifact_unload(&loaded);
}

static void compile_and_run(struct scene *s, const char *name, const char *level, bool no_passes) {
  compile_and_run_in(s, name, level, no_passes, false);
}

/* bf16 matmuls, native or emulated, within the tolerance of bf16. */
static void products_in_bf16(void **state) {
  static const char *const names[] = {"products.hg", "residual-convs.hg", "attention.hg",
                                      "depthwise-groups.hg"};
  static const char *const levels[] = {"host", "avx2", "avx512", "baseline"};
  const size_t level_count = getenv("HONE_TEST_FULL") ? COUNT(levels) : 2;
  static struct scene s;
  (void)state;
  for (size_t i = 0; i < COUNT(names); i++) {
    char path[4096];
    snprintf(path, sizeof path, ROOT "/%s", names[i]);
    open_scene(&s, path);
    for (size_t k = 0; k < level_count; k++)
      compile_and_run_in(&s, names[i], levels[k], false, true);
    close_scene(&s);
  }
}

/* The host with passes, then the others: all in the full run. */
static void compile_in_ways(struct scene *s, const char *name, int turn) {
  static const struct {
    const char *level;
    bool no_passes;
  } ways[] = {{"avx2", false}, {"host", true}, {"avx512", false}, {"baseline", false}};
  const bool is_full = getenv("HONE_TEST_FULL") != NULL;
  compile_and_run(s, name, "host", false);
  for (size_t k = 0; k < COUNT(ways); k++)
    if (is_full || (size_t)turn % (3 * COUNT(ways)) == 3 * k)
      compile_and_run(s, name, ways[k].level, ways[k].no_passes);
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
      compile_in_ways(&s, name, cases++);
      close_scene(&s);
    }
    free(entries[i]);
  }
  free(entries);
  assert_true(cases >= 9);
}

int main(void) {
  char strict[4096];
  assert_non_null(realpath("tests/tools/strict-cc", strict));
  setenv("HONE_CC", strict, 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(products_in_bf16),
                                     cmocka_unit_test(every_case_equals_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
