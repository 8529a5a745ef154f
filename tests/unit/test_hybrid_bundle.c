/* A hybrid as a bundle: its parts behind one interface; the bundle's self-test passes, and fails if
 * a part is changed. */
#include "judge/bundle/bundle.h"
#include "unit.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

/* A value that skips the second part, one that is an output from the middle. */
static const char text[] =
    "graph(x: f32[4,64], z: f32[4,32]) -> (c, y) {\n"
    "  v = const f32[64,32] fill=0.05\n  w = const f32[32,16] fill=0.1\n  u = const f32[32,16] "
    "fill=0.2\n"
    "  a = MatMul(x, v)\n  b = Tanh(a)\n  c = Add(b, z)\n  d = MatMul(c, w)\n  e = MatMul(a, u)\n"
    "  f = Sub(d, e)\n  y = Exp(f)\n}\n";

struct scene {
  struct ctx ctx;
  struct arena *arena;
  char dir[4096], model[4200], bundle[4200], engine[4200];
  struct record choice;
  struct study_row study;
};

static void begin(struct scene *s, const char *options) {
  struct graph *graph;
  struct strbuf bytes = {0};
  ctx_init(&s->ctx);
  assert_int_equal(arena_create(&s->ctx, 0, &s->arena), HONE_OK);
  assert_int_equal(dir_temporary(&s->ctx, s->dir), HONE_OK);
  snprintf(s->model, sizeof s->model, "%s/model.onnx", s->dir);
  snprintf(s->bundle, sizeof s->bundle, "%s/bundle", s->dir);
  assert_int_equal(graph_parse(&s->ctx, s->arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&s->ctx, graph), HONE_OK);
  assert_int_equal(export_onnx(&s->ctx, graph, 17, &bytes), HONE_OK);
  assert_int_equal(file_write_atomic(&s->ctx, s->model, bytes.at, bytes.length, 0600), HONE_OK);
  strbuf_deinit(&bytes);
  s->choice = (struct record){.status = STATUS_ok, .p50_ms = 1};
  struct config *config = &s->choice.config;
  snprintf(config->backend, sizeof config->backend, "hybrid");
  snprintf(config->precision, sizeof config->precision, "fp32");
  snprintf(config->options, sizeof config->options, "%s", options);
  config->threads = 2;
  config->batch = 1;
  snprintf(s->study.key, sizeof s->study.key, "%032d", 7);
}

static hone_status make(struct scene *s) {
  char id[17];
  const struct bundle_request request = {.model_path = s->model,
                                         .choice = &s->choice,
                                         .study = &s->study,
                                         .advice_json = "{}",
                                         .advice_text = "",
                                         .page_html = "the study"};
  return bundle_write(&s->ctx, &request, s->bundle, id);
}

static void end(struct scene *s) {
  dir_remove_tree(s->dir);
  arena_destroy(s->arena);
}

static int selftest(struct scene *s) {
  char program[4400], library[4300];
  snprintf(program, sizeof program, "%s/selftest", s->bundle);
  snprintf(library, sizeof library, "ENGINE_LIBRARY=%s", s->engine);
  const char *argv[] = {program, NULL}, *own[] = {library, NULL};
  const struct process_options options = {.argv = argv,
                                          .environ_ = own,
                                          .directory = s->bundle,
                                          .fd_in = -1,
                                          .fd_out = -1,
                                          .timeout_ns = 300000000000ull};
  struct process_result result;
  assert_int_equal(process_run(&s->ctx, &options, &result), HONE_OK);
  strbuf_deinit(&result.output);
  return result.exit_code | result.signal;
}

static void flip(struct scene *s, const char *name) {
  char path[4400];
  snprintf(path, sizeof path, "%s/%s", s->bundle, name);
  FILE *file = fopen(path, "r+be");
  assert_non_null(file);
  assert_int_equal(fseek(file, 100, SEEK_SET), 0);
  const int byte = fgetc(file);
  assert_int_equal(fseek(file, 100, SEEK_SET), 0);
  assert_int_not_equal(fputc(byte ^ 1, file), EOF);
  fclose(file);
}

static void native_parts(void **state) {
  (void)state;
  static struct scene s;
  begin(&s, "parts=native:2+native:5+native");
  const hone_status status = make(&s);
  if (status) print_error("%s\n", s.ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(selftest(&s), 0);
  flip(&s, "part-1.so");
  assert_int_not_equal(selftest(&s), 0);
  end(&s);
}

static void a_plan_that_is_none(void **state) {
  (void)state;
  static struct scene s;
  begin(&s, "parts=native:2+native:2+native");
  assert_int_equal(make(&s), HONE_E_USAGE);
  assert_int_not_equal(access(s.bundle, F_OK), 0);
  end(&s);
}

/* With ONNX Runtime in the tests' environment: one part on each engine, so the bundle has a pin and a compiled part. */
static void a_part_in_an_engine(void **state) {
  (void)state;
  static struct scene s;
  char pattern[4096], options[400];
  const char *named = getenv("HONE_TEST_PYTHON");
  const char *python = named ? named : "build/testenv/bin/python";
  glob_t found = {0};
  snprintf(pattern, sizeof pattern,
           "%.*s/../lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so*",
           (int)(strrchr(python, '/') ? strrchr(python, '/') - python : 0), python);
  /* The bundle's own test runs in the bundle's folder: the path must hold there too. */
  char *library = glob(pattern, 0, NULL, &found) ? NULL : realpath(found.gl_pathv[0], NULL);
  globfree(&found);
  if (!library || strlen(library) > 200) {
    free(library);
    skip();
  }
  snprintf(options, sizeof options, "parts=onnxruntime:4+native;engine.onnxruntime=%s", library);
  snprintf(s.engine, sizeof s.engine, "%s", library);
  free(library);
  begin(&s, options);
  const hone_status status = make(&s);
  if (status) print_error("%s\n", s.ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(selftest(&s), 0);
  char pins[4400];
  struct mapping map;
  snprintf(pins, sizeof pins, "%s/requirements.txt", s.bundle);
  assert_int_equal(file_map(&s.ctx, pins, &map), HONE_OK);
  assert_true(map.size > 13 && !memcmp(map.data, "onnxruntime==", 13));
  file_unmap(&map);
  flip(&s, "part-0.onnx");
  assert_int_not_equal(selftest(&s), 0);
  end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(native_parts),
                                     cmocka_unit_test(a_plan_that_is_none),
                                     cmocka_unit_test(a_part_in_an_engine)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
