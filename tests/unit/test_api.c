/* api: libhone through include/hone.h alone: the builder with every kind of attribute and every way
 * to misuse it; load, inspect, compile, open and run; tensors of the wrong size; two models in one
 * program; two compilations and two artifacts at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <hone.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

struct scene {
  hone_context *context;
  hone_builder *builder;
  char dir[64];
};

static void succeed(struct scene *s, hone_status status) {
  if (status) print_error("%s: %s\n", hone_status_name(status), hone_context_message(s->context));
  assert_int_equal(status, HONE_OK);
}

/* It fails with this status and says why. */
static void refuse(struct scene *s, hone_status got, hone_status wanted) {
  if (got != wanted)
    print_error("%s, not %s: %s\n", hone_status_name(got), hone_status_name(wanted),
                hone_context_message(s->context));
  assert_int_equal(got, wanted);
  assert_true(hone_context_message(s->context)[0] != 0);
}

static int set_up(void **state) {
  struct scene *s = calloc(1, sizeof *s);
  if (!s || hone_context_create(&s->context)) return -1;
  succeed(s, hone_builder_create(s->context, &s->builder));
  snprintf(s->dir, sizeof s->dir, "/tmp/hone-api-XXXXXX");
  if (!mkdtemp(s->dir)) return -1;
  setenv("XDG_CACHE_HOME", s->dir, 1);
  *state = s;
  return 0;
}

static int run_program(const char *const *words) {
  pid_t child = fork();
  if (!child) {
    execvp(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
  }
  int how = 0;
  if (child < 0 || waitpid(child, &how, 0) != child) return -1;
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static int tear_down(void **state) {
  struct scene *s = *state;
  hone_builder_destroy(s->builder);
  hone_context_destroy(s->context);
  int code = run_program((const char *const[]){"rm", "-rf", s->dir, NULL});
  free(s);
  return code;
}

static int32_t input(struct scene *s, const char *name, hone_dtype dtype, int32_t rank,
                     const int64_t *shape) {
  int32_t value = -1;
  succeed(s, hone_builder_input(s->builder, name, dtype, rank, shape, &value));
  return value;
}

static int32_t node(struct scene *s, const char *op, const int32_t *inputs, size_t input_count,
                    const hone_attribute *attributes, size_t attribute_count) {
  int32_t value = -1;
  succeed(s, hone_builder_node(s->builder, op, inputs, input_count, attributes, attribute_count,
                               &value, 1));
  return value;
}

static hone_model *finish(struct scene *s) {
  hone_model *model = NULL;
  succeed(s, hone_builder_finish(s->builder, &model));
  return model;
}

static void path_of(const struct scene *s, const char *name, char out[128]) {
  snprintf(out, 128, "%s/%s", s->dir, name);
}

static hone_artifact *compile_and_open(struct scene *s, const hone_model *model, const char *name) {
  char path[128];
  hone_artifact *artifact = NULL;
  path_of(s, name, path);
  succeed(s, hone_model_compile(s->context, model, NULL, path));
  succeed(s, hone_artifact_open(s->context, path, 1, &artifact));
  return artifact;
}

/* -- builder */

/* y = LeakyRelu(Conv(x, w, b), 0.5) upsampled by two: ints, int, float, string, floats. */
static void every_kind_of_attribute(void **state) {
  struct scene *s = *state;
  const float weights[2] = {1, -1};
  const hone_tensor w = {
      .data = (void *)(uintptr_t)weights, .dtype = HONE_F32, .rank = 4, .shape = {2, 1, 1, 1}};
  const float factors[4] = {1, 1, 2, 2}, slope = 0.5f;
  const hone_tensor f = {
      .data = (void *)(uintptr_t)factors, .dtype = HONE_F32, .rank = 1, .shape = {4}};
  const int64_t pads[4] = {0, 0, 0, 0}, group = 1;
  int32_t scales, conv[2] = {input(s, "x", HONE_F32, 4, (int64_t[]){1, 1, 1, 2}), -1};
  succeed(s, hone_builder_constant(s->builder, &w, &conv[1]));
  succeed(s, hone_builder_constant(s->builder, &f, &scales));
  const hone_attribute of_conv[] = {{.name = "pads", .ints = pads, .count = 4},
                                    {.name = "group", .ints = &group, .count = 1, .is_scalar = 1}};
  const hone_attribute of_relu[] = {
      {.name = "alpha", .floats = &slope, .count = 1, .is_scalar = 1}};
  const hone_attribute of_resize[] = {{.name = "mode", .string = "nearest"}};
  int32_t y = node(s, "Conv", conv, 2, of_conv, 2);
  y = node(s, "LeakyRelu", &y, 1, of_relu, 1);
  y = node(s, "Resize", (const int32_t[]){y, -1, scales}, 3, of_resize, 1);
  succeed(s, hone_builder_output(s->builder, "y", y));
  hone_model *model = finish(s);
  hone_artifact *artifact = compile_and_open(s, model, "kinds.so");
  float x_data[2] = {3, -4}, y_data[16];
  const hone_tensor in = {x_data, HONE_F32, 4, {1, 1, 1, 2}},
                    out = {y_data, HONE_F32, 4, {1, 2, 2, 4}};
  succeed(s, hone_artifact_run(s->context, artifact, &in, 1, &out, 1));
  const float want[16] = {3, 3, -2, -2, 3, 3, -2, -2, -1.5f, -1.5f, 4, 4, -1.5f, -1.5f, 4, 4};
  assert_memory_equal(y_data, want, sizeof want);
  hone_artifact_close(artifact);
  hone_model_destroy(model);
}

/* A list of floats, which none of the operators above takes. */
static void a_list_of_floats(void **state) {
  struct scene *s = *state;
  const float values[3] = {0.5f, 1, 2};
  int32_t y = -1, x = input(s, "x", HONE_F32, 1, (int64_t[]){3});
  const hone_attribute attribute = {.name = "value_floats", .floats = values, .count = 3};
  succeed(s, hone_builder_node(s->builder, "Constant", NULL, 0, &attribute, 1, &y, 1));
  y = node(s, "Mul", (const int32_t[]){x, y}, 2, NULL, 0);
  succeed(s, hone_builder_output(s->builder, "y", y));
  hone_model *model = finish(s);
  hone_artifact *artifact = compile_and_open(s, model, "floats.so");
  float x_data[3] = {2, 3, 4}, y_data[3];
  const hone_tensor in = {x_data, HONE_F32, 1, {3}}, out = {y_data, HONE_F32, 1, {3}};
  succeed(s, hone_artifact_run(s->context, artifact, &in, 1, &out, 1));
  assert_true(y_data[0] == 1 && y_data[1] == 3 && y_data[2] == 8);
  hone_artifact_close(artifact);
  hone_model_destroy(model);
}

static void wrong_calls_are_refused(void **state) {
  struct scene *s = *state;
  hone_builder *b = s->builder;
  int32_t out[3] = {-1, -1, -1}, x = input(s, "x", HONE_F32, 2, (int64_t[]){2, 3});
  const int64_t one = 1;
  refuse(s, hone_builder_input(b, "bad", HONE_F32, 17, &one, out), HONE_E_SHAPE);
  refuse(s, hone_builder_input(b, "bad", HONE_F32, -1, &one, out), HONE_E_SHAPE);
  refuse(s, hone_builder_input(b, "bad", HONE_F32, 1, (int64_t[]){-2}, out), HONE_E_SHAPE);
  refuse(s, hone_builder_input(b, "bad", (hone_dtype)99, 1, &one, out), HONE_E_TYPE);
  refuse(s,
         hone_builder_constant(b, &(hone_tensor){.dtype = HONE_F32, .rank = 1, .shape = {4}}, out),
         HONE_E_USAGE);
  refuse(s, hone_builder_node(b, "NoSuchOp", &x, 1, NULL, 0, out, 1), HONE_E_UNSUP);
  const int32_t wrong[] = {x + 1, -2, INT32_MAX};
  for (size_t i = 0; i < COUNT(wrong); i++)
    refuse(s, hone_builder_node(b, "Relu", &wrong[i], 1, NULL, 0, out, 1), HONE_E_USAGE);
  refuse(s, hone_builder_node(b, "Relu", &x, 0, NULL, 0, out, 1), HONE_E_USAGE);
  refuse(s, hone_builder_node(b, "Relu", (const int32_t[]){x, x}, 2, NULL, 0, out, 1),
         HONE_E_USAGE);
  refuse(s, hone_builder_node(b, "Relu", &x, 1, NULL, 0, out, 0), HONE_E_USAGE);
  refuse(s, hone_builder_node(b, "Relu", &x, 1, NULL, 0, out, 2), HONE_E_USAGE);
  const int32_t left_out = -1;
  assert_int_not_equal(hone_builder_node(b, "Relu", &left_out, 1, NULL, 0, out, 1), HONE_OK);
  const hone_attribute hollow = {.name = "axis"};
  refuse(s, hone_builder_node(b, "Softmax", &x, 1, &hollow, 1, out, 1), HONE_E_USAGE);
  const hone_attribute two = {
      .name = "axis", .ints = (const int64_t[]){0, 1}, .count = 2, .is_scalar = 1};
  refuse(s, hone_builder_node(b, "Softmax", &x, 1, &two, 1, out, 1), HONE_E_USAGE);
  const int64_t far = 7;
  const hone_attribute axis = {.name = "axis", .ints = &far, .count = 1, .is_scalar = 1};
  assert_int_not_equal(hone_builder_node(b, "Softmax", &x, 1, &axis, 1, out, 1), HONE_OK);
  refuse(s, hone_builder_output(b, "y", 1234), HONE_E_USAGE);
  /* the refused calls added nothing */
  const int32_t y = node(s, "Relu", &x, 1, NULL, 0);
  succeed(s, hone_builder_output(b, "y", y));
  hone_model *model = finish(s), *second = NULL;
  assert_int_equal(hone_model_input_count(model), 1);
  assert_int_equal(hone_model_output_count(model), 1);
  refuse(s, hone_builder_finish(b, &second), HONE_E_USAGE);
  refuse(s, hone_builder_input(b, "z", HONE_F32, 1, &one, out), HONE_E_USAGE);
  refuse(s, hone_builder_node(b, "Relu", &x, 1, NULL, 0, out, 1), HONE_E_USAGE);
  refuse(s, hone_builder_output(b, "z", y), HONE_E_USAGE);
  hone_model_destroy(model);
}

/* One value as two outputs, an input as an output: each keeps its own name. */
static void outputs_keep_their_names(void **state) {
  struct scene *s = *state;
  int32_t x = input(s, "x", HONE_F32, 1, (int64_t[]){2}), y = node(s, "Neg", &x, 1, NULL, 0);
  succeed(s, hone_builder_output(s->builder, "first", y));
  succeed(s, hone_builder_output(s->builder, "second", y));
  succeed(s, hone_builder_output(s->builder, "same", x));
  hone_model *model = finish(s);
  const char *const names[] = {"first", "second", "same"};
  const char *name;
  hone_tensor info;
  for (size_t i = 0; i < COUNT(names); i++) {
    succeed(s, hone_model_output(model, i, &name, &info));
    assert_string_equal(name, names[i]);
    assert_true(info.dtype == HONE_F32 && info.rank == 1 && info.shape[0] == 2 && !info.data);
  }
  succeed(s, hone_model_input(model, 0, &name, &info));
  assert_string_equal(name, "x");
  assert_int_equal(hone_model_output(model, 3, &name, &info), HONE_E_USAGE);
  assert_int_equal(hone_model_input(model, 1, &name, &info), HONE_E_USAGE);
  hone_artifact *artifact = compile_and_open(s, model, "names.so");
  float x_data[2] = {1, -2}, data[3][2];
  hone_tensor in = {x_data, HONE_F32, 1, {2}}, out[3];
  for (int i = 0; i < 3; i++) out[i] = (hone_tensor){data[i], HONE_F32, 1, {2}};
  succeed(s, hone_artifact_run(s->context, artifact, &in, 1, out, 3));
  assert_true(data[0][0] == -1 && data[1][1] == 2 && data[2][1] == -2);
  hone_artifact_close(artifact);
  hone_model_destroy(model);
}

/* -- load, compile, open, run */

static void what_does_not_fit_is_refused(void **state) {
  struct scene *s = *state;
  hone_model *model = NULL;
  hone_artifact *artifact = NULL;
  char path[128];
  refuse(s, hone_model_load(s->context, "/no/such/file.onnx", NULL, &model), HONE_E_NOFILE);
  assert_int_not_equal(hone_model_load(s->context, "zoo:nothing", NULL, &model), HONE_OK);
  succeed(s, hone_model_load(s->context, "zoo:mlp,batch=2", NULL, &model));
  path_of(s, "model.so", path);
  assert_int_not_equal(
      hone_model_compile(s->context, model, &(hone_compile_options){.cpu = "z80"}, path), HONE_OK);
  assert_int_not_equal(
      hone_model_compile(s->context, model, &(hone_compile_options){.prefix = "9 x"}, path),
      HONE_OK);
  assert_int_not_equal(
      hone_model_compile(s->context, model, &(hone_compile_options){.cc = "/no/such/cc"}, path),
      HONE_OK);
  refuse(s, hone_artifact_open(s->context, path, 1, &artifact), HONE_E_NOFILE);
  artifact = compile_and_open(s, model, "model.so");
  static float data[4][512];
  hone_tensor in = {data[0], HONE_F32, 2, {2, 256}}, out = {data[1], HONE_F32, 2, {2, 256}};
  succeed(s, hone_artifact_run(s->context, artifact, &in, 1, &out, 1));
  refuse(s, hone_artifact_run(s->context, artifact, &in, 0, &out, 1), HONE_E_USAGE);
  refuse(s, hone_artifact_run(s->context, artifact, &in, 1, &out, 2), HONE_E_USAGE);
  hone_tensor wrong = in;
  wrong.dtype = HONE_F64;
  refuse(s, hone_artifact_run(s->context, artifact, &wrong, 1, &out, 1), HONE_E_TYPE);
  wrong = in;
  wrong.shape[0] = 3;
  refuse(s, hone_artifact_run(s->context, artifact, &wrong, 1, &out, 1), HONE_E_SHAPE);
  wrong = in;
  wrong.rank = 1;
  refuse(s, hone_artifact_run(s->context, artifact, &wrong, 1, &out, 1), HONE_E_SHAPE);
  wrong = out;
  wrong.data = NULL;
  refuse(s, hone_artifact_run(s->context, artifact, &in, 1, &wrong, 1), HONE_E_USAGE);
  succeed(s, hone_artifact_run(s->context, artifact, &in, 1, &out, 1)); /* still whole */
  hone_artifact_close(artifact);
  hone_model_destroy(model);
}

static void archive(struct scene *s, const char *spec, const char *prefix) {
  hone_model *model = NULL;
  char path[128], name[32];
  snprintf(name, sizeof name, "%s.a", prefix);
  path_of(s, name, path);
  succeed(s, hone_model_load(s->context, spec, NULL, &model));
  succeed(s,
          hone_model_compile(s->context, model, &(hone_compile_options){.prefix = prefix}, path));
  hone_model_destroy(model);
}

/* Both run in one program that knows their headers only. */
static void two_models_in_one_program(void **state) {
  static const char program[] =
      "#include \"one.h\"\n#include \"two.h\"\n#include <stdlib.h>\n"
      "static int run(const struct hone_artifact_info *info) {\n"
      "  static float x[2048], y[2048];\n"
      "  const void *in[] = {x};\n  void *out[] = {y};\n"
      "  for (int i = 0; i < 2048; i++) x[i] = 0.01f * (float)(i % 100);\n"
      "  struct hone_io io = {in, out, 0, 0};\n"
      "  void *arena = aligned_alloc(64, info->arena_bytes / 64 * 64 + 128);\n"
      "  int status = info->run(info->weights, arena, &io, 0);\n"
      "  free(arena);\n"
      "  return status || y[0] == 0.0f;\n}\n"
      "int main(void) { return run(one_artifact()) || run(two_artifact()) ||\n"
      "  one_artifact() == two_artifact(); }\n";
  struct scene *s = *state;
  char source[128], binary[128], one[128], two[128];
  archive(s, "zoo:mlp,batch=2", "one");
  archive(s, "zoo:mlp,batch=4", "two");
  path_of(s, "main.c", source);
  path_of(s, "main", binary);
  path_of(s, "one.a", one);
  path_of(s, "two.a", two);
  FILE *file = fopen(source, "w");
  assert_non_null(file);
  assert_true(fputs(program, file) >= 0);
  assert_int_equal(fclose(file), 0);
  const char *cc = getenv("HONE_CC");
  const char *const build[] = {cc ? cc : "cc", source, one, two, "-o", binary, "-lm", NULL};
  assert_int_equal(run_program(build), 0);
  assert_int_equal(run_program((const char *const[]){binary, NULL}), 0);
}

/* -- threads */

struct job {
  const char *path, *spec;
  hone_status status;
  float sum, again;
};

static hone_status compile_and_run(hone_context *context, struct job *job) {
  hone_model *model = NULL;
  hone_artifact *artifact = NULL;
  static const hone_compile_options options = {.cpu = "baseline"};
  hone_status status = hone_model_load(context, job->spec, NULL, &model);
  if (!status) status = hone_model_compile(context, model, &options, job->path);
  if (!status) status = hone_artifact_open(context, job->path, 2, &artifact);
  float *x = calloc(4096, sizeof *x), *y = calloc(4096, sizeof *y);
  const char *name;
  hone_tensor in, out;
  if (!status) status = hone_model_input(model, 0, &name, &in);
  if (!status) status = hone_model_output(model, 0, &name, &out);
  in.data = x;
  out.data = y;
  for (int i = 0; i < 512; i++) x[i] = (float)(i % 13) - 6;
  for (int turn = 0; !status && turn < 200; turn++) {
    status = hone_artifact_run(context, artifact, &in, 1, &out, 1);
    float sum = 0;
    for (int i = 0; i < 512; i++) sum += y[i];
    if (!turn) job->sum = sum;
    job->again = sum;
    if (sum != job->sum) break;
  }
  free(x);
  free(y);
  hone_artifact_close(artifact);
  hone_model_destroy(model);
  return status;
}

static void *do_job(void *argument) {
  struct job *job = argument;
  hone_context *context = NULL;
  job->status = hone_context_create(&context);
  if (!job->status) job->status = compile_and_run(context, job);
  hone_context_destroy(context);
  return NULL;
}

/* The last two are the same model: the cache gets the same entry twice at once. */
static void threads_do_not_meet(void **state) {
  struct scene *s = *state;
  char paths[3][128];
  struct job jobs[3] = {
      {.spec = "zoo:mlp,batch=3"}, {.spec = "zoo:mlp,batch=2"}, {.spec = "zoo:mlp,batch=2"}};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/job%d.so", s->dir, i);
    jobs[i].path = paths[i];
    assert_int_equal(pthread_create(&threads[i], NULL, do_job, &jobs[i]), 0);
  }
  for (int i = 0; i < 3; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(jobs[i].status, HONE_OK);
    assert_true(isfinite(jobs[i].sum) && jobs[i].sum == jobs[i].again && jobs[i].sum != 0);
  }
  assert_true(jobs[1].sum == jobs[2].sum);
}

/* Two artifacts of one file: each has an arena of its own. */
static void one_file_opened_twice(void **state) {
  struct scene *s = *state;
  hone_model *model = NULL;
  hone_artifact *both[2] = {NULL, NULL};
  char path[128];
  succeed(s, hone_model_load(s->context, "zoo:mlp,batch=2", NULL, &model));
  both[0] = compile_and_open(s, model, "twice.so");
  path_of(s, "twice.so", path);
  succeed(s, hone_artifact_open(s->context, path, 1, &both[1]));
  static float x[512], y[2][512];
  for (int i = 0; i < 512; i++) x[i] = (float)(i % 7);
  const hone_tensor in = {x, HONE_F32, 2, {2, 256}};
  for (int i = 0; i < 2; i++) {
    const hone_tensor out = {y[i], HONE_F32, 2, {2, 256}};
    succeed(s, hone_artifact_run(s->context, both[i], &in, 1, &out, 1));
    if (i) hone_artifact_close(both[0]); /* the other one lives on */
  }
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  const hone_tensor out = {y[0], HONE_F32, 2, {2, 256}};
  succeed(s, hone_artifact_run(s->context, both[1], &in, 1, &out, 1));
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  hone_artifact_close(both[1]);
  hone_model_destroy(model);
}

/* The artifact alone describes what was compiled. */
static void an_artifact_describes_itself(void **state) {
  struct scene *s = *state;
  hone_model *model = NULL;
  succeed(s, hone_model_load(s->context, "zoo:mlp,batch=2", NULL, &model));
  hone_artifact *artifact = compile_and_open(s, model, "alone.so");
  const char *names[2] = {NULL, NULL};
  hone_tensor infos[2];
  assert_int_equal(hone_artifact_input_count(artifact), hone_model_input_count(model));
  assert_int_equal(hone_artifact_output_count(artifact), hone_model_output_count(model));
  succeed(s, hone_model_input(model, 0, &names[0], &infos[0]));
  succeed(s, hone_artifact_input(artifact, 0, &names[1], &infos[1]));
  assert_string_equal(names[0], names[1]);
  assert_memory_equal(&infos[0], &infos[1], sizeof infos[0]);
  succeed(s, hone_model_output(model, 0, &names[0], &infos[0]));
  succeed(s, hone_artifact_output(artifact, 0, &names[1], &infos[1]));
  assert_string_equal(names[0], names[1]);
  assert_memory_equal(&infos[0], &infos[1], sizeof infos[0]);
  assert_int_equal(hone_artifact_input(artifact, 1, &names[1], &infos[1]), HONE_E_USAGE);
  assert_int_equal(hone_artifact_output(artifact, 1, &names[1], &infos[1]), HONE_E_USAGE);
  assert_int_equal(hone_artifact_is_dynamic(artifact), 0);
  hone_artifact_close(artifact);
  hone_model_destroy(model);
}

/* Threads that call the same two artifacts in turn, each thread with a context and outputs of its own. */
enum { CALLERS = 8, CALLS = 1250, MODELS = 2, WIDTH = 256, ROWS = 3 };
struct shared {
  hone_artifact *artifacts[MODELS];               /* of 1 and of ROWS rows */
  float x[ROWS * WIDTH], y[MODELS][ROWS * WIDTH]; /* of one call at a time */
};
struct caller {
  const struct shared *shared;
  int calls, wrong;
};

static int is_wrong(hone_context *context, const struct shared *shared, int model) {
  float y[ROWS * WIDTH] = {0};
  int64_t shape[1][HONE_MAX_RANK];
  const int rows = model ? ROWS : 1;
  const hone_tensor in = {(void *)(uintptr_t)shared->x, HONE_F32, 2, {rows, WIDTH}};
  const hone_tensor out = {y, HONE_F32, 2, {rows, WIDTH}};
  return hone_artifact_run_shaped(context, shared->artifacts[model], &in, 1, &out, 1, shape) ||
         shape[0][0] != rows || shape[0][1] != WIDTH || memcmp(y, shared->y[model], sizeof y);
}

static void *call_often(void *argument) {
  struct caller *caller = argument;
  hone_context *context = NULL;
  caller->wrong = hone_context_create(&context) != HONE_OK;
  for (int i = 0; context && i < caller->calls; i++)
    caller->wrong += is_wrong(context, caller->shared, i % MODELS);
  hone_context_destroy(context);
  return NULL;
}

static struct shared *open_shared(struct scene *s) {
  static const char *const specs[MODELS] = {"zoo:mlp,batch=1", "zoo:mlp,batch=3"};
  struct shared *shared = calloc(1, sizeof *shared);
  for (int i = 0; i < ROWS * WIDTH; i++) shared->x[i] = (float)(i % 17) - 8.0f;
  for (int k = 0; k < MODELS; k++) {
    char path[128], name[32];
    hone_model *model = NULL;
    snprintf(name, sizeof name, "shared%d.so", k);
    path_of(s, name, path);
    succeed(s, hone_model_load(s->context, specs[k], NULL, &model));
    succeed(s, hone_model_compile(s->context, model, NULL, path));
    succeed(s, hone_artifact_open(s->context, path, 3, &shared->artifacts[k]));
    hone_model_destroy(model);
    const int rows = k ? ROWS : 1;
    const hone_tensor in = {shared->x, HONE_F32, 2, {rows, WIDTH}};
    const hone_tensor out = {shared->y[k], HONE_F32, 2, {rows, WIDTH}};
    succeed(s, hone_artifact_run(s->context, shared->artifacts[k], &in, 1, &out, 1));
  }
  return shared;
}

static void close_shared(struct shared *shared) {
  for (int k = 0; k < MODELS; k++) hone_artifact_close(shared->artifacts[k]);
  free(shared);
}

static void start_callers(const struct shared *shared, int calls, struct caller *callers,
                          pthread_t *threads) {
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (struct caller){shared, calls, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  }
}

static void finish_callers(const struct caller *callers, const pthread_t *threads) {
  for (int i = 0; i < CALLERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(callers[i].wrong, 0);
  }
}

static void many_threads_call_the_same_models(void **state) {
  struct shared *shared = open_shared(*state);
  struct caller callers[CALLERS];
  pthread_t threads[CALLERS];
  start_callers(shared, CALLS, callers, threads);
  finish_callers(callers, threads);
  close_shared(shared);
}

/* Children made while other threads run the models: they run them too, with threads, and close them. */
static void children_call_them_too(void **state) {
#ifdef __SANITIZE_THREAD__
  skip(); /* it does not know threads that a child starts */
#endif
  struct shared *shared = open_shared(*state);
  struct caller callers[CALLERS];
  pthread_t threads[CALLERS];
  start_callers(shared, CALLS / 5, callers, threads);
  for (int i = 0; i < 8; i++) {
    pid_t child = fork();
    if (!child) {
      struct caller own[CALLERS];
      alarm(60); /* an end by SIGALRM is a child that hung */
      start_callers(shared, 5, own, threads);
      finish_callers(own, threads);
      close_shared(shared);
      _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
  }
  finish_callers(callers, threads);
  close_shared(shared);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_kind_of_attribute),      TEST(a_list_of_floats),
      TEST(wrong_calls_are_refused),      TEST(outputs_keep_their_names),
      TEST(what_does_not_fit_is_refused), TEST(two_models_in_one_program),
      TEST(threads_do_not_meet),          TEST(one_file_opened_twice),
      TEST(an_artifact_describes_itself), TEST(many_threads_call_the_same_models),
      TEST(children_call_them_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
