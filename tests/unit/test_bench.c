/* bench without faults: the protocol's tables, tolerances, and complete studies of test backends:
 * rounds, labels, resume. This program is its own worker.
 */
#include "bench/study/study_internal.h"
#include "identity_case.h"

#include "bench/study/study.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- protocol */

#define BLOCK_HEAD "{\"event\":\"block\",\"cell\":\"c\",\"round\":0,\"samples\":"
#define BLOCK_TAIL                                                                                \
  ",\"rewarm\":2,\"verified\":1,\"is_within\":true,\"involuntary\":0,\"iterations\":9,\"rss\":1," \
  "\"rss_peak\":1}"

static void lines_are_checked(void **state) {
  (void)state;
  static const struct {
    const char *line, *reason; /* NULL: accepted */
  } cases[] = {
      {BLOCK_HEAD "5" BLOCK_TAIL, NULL},
      {BLOCK_HEAD "0" BLOCK_TAIL, "key samples"},
      {BLOCK_HEAD "-1" BLOCK_TAIL, "key samples"},
      {BLOCK_HEAD "1e300" BLOCK_TAIL, "key samples"},
      {BLOCK_HEAD "1.5" BLOCK_TAIL, "key samples"},
      {BLOCK_HEAD "\"5\"" BLOCK_TAIL, "key samples"},
      {BLOCK_HEAD "NaN" BLOCK_TAIL, "not a JSON object"},
      {BLOCK_HEAD "5,\"samples\":6" BLOCK_TAIL, "not a JSON object"}, /* twice */
      {BLOCK_HEAD "5,\"extra\":6" BLOCK_TAIL, "unknown key"},
      {"{\"event\":\"stage\",\"cell\":\"c\",\"stage\":\"run\"}", NULL},
      {"{\"event\":\"stage\",\"cell\":\"c\"}", "key stage is missing"},
      {"{\"event\":\"stage\",\"cell\":\"c\",\"stage\":\"\"}", "key stage"},
      {"{\"event\":\"stage\",\"cell\":\"c\",\"stage\":\"a\\u0000b\"}", "not a JSON object"},
      {"{\"event\":\"warm\",\"cell\":\"c\",\"ms\":-1,\"median_ns\":5,\"is_stationary\":true,"
       "\"rss\":1}",
       "key ms"},
      {"{\"event\":\"warm\",\"cell\":\"c\",\"ms\":1,\"median_ns\":0,\"is_stationary\":true,\"rss\":"
       "1}",
       "key median_ns"},
      {"{\"event\":\"warm\",\"cell\":\"c\",\"ms\":1e300,\"median_ns\":5,\"is_stationary\":true,"
       "\"rss\":1}",
       "key ms"},
      {"{\"event\":\"dance\",\"cell\":\"c\"}", "unknown event"},
      {"{\"event\":\"\\u001b[2J\",\"cell\":\"c\"}", "unknown event"},
      {"{}", "unknown event"},
      {"[1]", "not a JSON object"},
      {"", "not a JSON object"},
      {"{\"event\":\"stage\",\"cell\":\"c\",\"stage\":\"run\"} x", "not a JSON object"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    char reason[256] = "";
    json_t *event = event_parse(cases[i].line, strlen(cases[i].line), reason);
    assert_int_equal(event != NULL, cases[i].reason == NULL);
    if (cases[i].reason && !strstr(reason, cases[i].reason))
      assert_string_equal(reason, cases[i].reason);
    assert_null(strchr(reason, '\x1b'));
    json_decref(event);
  }
}

static void lines_are_read_whole(void **state) {
  (void)state;
  int fds[2];
  assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
  struct line_reader reader = {.fd = fds[0]};
  char *line;
  size_t length;
  assert_int_equal(line_next(&reader, &line, &length), LINE_NONE);
  assert_int_equal(write(fds[1], "one\ntwo", 7), 7);
  assert_int_equal(line_next(&reader, &line, &length), LINE_READY);
  assert_string_equal(line, "one");
  assert_int_equal(line_next(&reader, &line, &length), LINE_NONE);
  assert_int_equal(write(fds[1], " more\n\nrest", 11), 11);
  assert_int_equal(line_next(&reader, &line, &length), LINE_READY);
  assert_string_equal(line, "two more");
  assert_int_equal(line_next(&reader, &line, &length), LINE_READY);
  assert_int_equal(length, 0);
  close(fds[1]);
  assert_int_equal(line_next(&reader, &line, &length), LINE_END);
  assert_int_equal(length, 4); /* never ended */
  close(fds[0]);
  line_reader_deinit(&reader);
}

static void numbers_that_json_cannot_hold(void **state) {
  (void)state;
  json_t *message = json_object();
  message_set_number(message, "nan", NAN);
  message_set_number(message, "inf", INFINITY);
  assert_true(isnan(message_number(message, "nan")));
  assert_true(message_number(message, "inf") == 1e308);
  json_decref(message);
}

/* -- texts of the backend interface */

static void options_and_shapes(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char value[256];
  int64_t number;
  const char *options = "a=1;session.x=y=z;flag;;last=";
  assert_true(option_get(options, "a", value));
  assert_string_equal(value, "1");
  assert_true(option_get(options, "session.x", value));
  assert_string_equal(value, "y=z");
  assert_true(option_get(options, "flag", value));
  assert_true(option_get(options, "last", value));
  assert_false(option_get(options, "sess", value));
  assert_int_equal(option_int(&ctx, options, "a", 7, 0, 9, &number), HONE_OK);
  assert_int_equal(number, 1);
  assert_int_equal(option_int(&ctx, options, "none", 7, 0, 9, &number), HONE_OK);
  assert_int_equal(number, 7);
  assert_int_equal(option_int(&ctx, "a=1x", "a", 7, 0, 9, &number), HONE_E_USAGE);
  int32_t rank;
  int64_t dims[HONE_MAX_RANK];
  const char *shapes = "input.1[1,3,224,224],x,y:0[7],s[]";
  assert_true(shapes_find(shapes, "input.1", &rank, dims));
  assert_int_equal(rank, 4);
  assert_int_equal(dims[3], 224);
  assert_true(shapes_find(shapes, "x,y:0", &rank, dims));
  assert_int_equal(rank, 1);
  assert_true(shapes_find(shapes, "s", &rank, dims));
  assert_int_equal(rank, 0);
  assert_false(shapes_find(shapes, "input", &rank, dims));
  assert_false(shapes_find("x[1,a]", "x", &rank, dims));
  assert_false(shapes_find("x[1,-2]", "x", &rank, dims));
  assert_false(shapes_find(NULL, "x", &rank, dims));
}

static void backends_for_testing_are_hidden(void **state) {
  (void)state;
  assert_non_null(backend_find("fake"));
  setenv("HONE_TESTING", "0", 1);
  assert_null(backend_find("fake"));
  assert_null(backend_find("null"));
  assert_non_null(backend_find("native"));
  setenv("HONE_TESTING", "1", 1);
}

static void a_missing_engine_says_what_helps(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct backend_info info = {.status = BACKEND_READY};
  const struct backend *backend = backend_find("onnxruntime");
  backend->describe(&ctx, backend, "/nonexistent/engine", &info);
  assert_int_equal(info.status, BACKEND_MISSING);
  assert_non_null(strstr(info.reason, "/nonexistent/engine"));
  assert_int_equal(ctx.status, HONE_OK);
}

/* -- accuracy */

static bool within(hone_dtype dtype, int64_t count, const void *expected, const void *actual) {
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)expected, .dtype = dtype, .rank = 1, .shape = {count}};
  struct accuracy accuracy;
  accuracy_init(&accuracy);
  accuracy_add(&accuracy, "y", &tensor, actual, &(struct yardstick){.precision = "fp32"});
  assert_int_equal(accuracy.is_within, accuracy.where[0] == 0);
  return accuracy.is_within;
}

static void tolerances(void **state) {
  (void)state;
  const float r[4] = {1, -2, 3, 4}, near[4] = {1.00001f, -2, 3, 4}, far[4] = {1.01f, -2, 3, 4};
  const float nan[4] = {1, NAN, 3, 4}, inf[4] = {1, INFINITY, 3, 4},
              minus[4] = {1, -INFINITY, 3, 4};
  const float zeros[4] = {0}, tiny[4] = {1e-8f}, small[4] = {1e-3f};
  assert_true(within(HONE_F32, 4, r, r));
  assert_true(within(HONE_F32, 4, r, near));
  assert_false(within(HONE_F32, 4, r, far));
  assert_false(within(HONE_F32, 4, r, nan));
  assert_false(within(HONE_F32, 4, nan, r));
  assert_true(within(HONE_F32, 4, nan, nan));
  assert_true(within(HONE_F32, 4, inf, inf));
  assert_false(within(HONE_F32, 4, inf, minus));
  assert_true(within(HONE_F32, 4, zeros, tiny));
  assert_false(within(HONE_F32, 4, zeros, small));
  const int64_t labels[2] = {7, 9}, others[2] = {7, 8};
  assert_true(within(HONE_I64, 2, labels, labels));
  assert_false(within(HONE_I64, 2, labels, others));
  uint8_t steps[200] = {0}, one_off[200] = {0}, many_off[200] = {0}, far_off[200] = {0};
  one_off[3] = 4;
  for (int i = 0; i < 9; i++) many_off[i] = 2;
  far_off[0] = 5;
  assert_true(within(HONE_U8, 200, steps, one_off));
  assert_false(within(HONE_U8, 200, steps, many_off));
  assert_false(within(HONE_U8, 200, steps, far_off));
  struct accuracy dequantised; /* floats that stand for steps of 1/256 */
  const float one_step[4] = {1 + 1.0f / 256, -2, 3, 4};
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)r, .dtype = HONE_F32, .rank = 1, .shape = {4}};
  accuracy_init(&dequantised);
  accuracy_add(&dequantised, "y", &tensor, one_step,
               &(struct yardstick){.precision = "fp32", .step = 1.0 / 256});
  assert_true(dequantised.is_within);
  accuracy_add(&dequantised, "y", &tensor, far,
               &(struct yardstick){.precision = "fp32", .step = 1.0 / 2048});
  assert_false(dequantised.is_within);
}

static bool within_steps(const float *r, const float *a, int64_t count, const char *precision,
                         double step) {
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)r, .dtype = HONE_F32, .rank = 1, .shape = {count}};
  struct accuracy accuracy;
  accuracy_init(&accuracy);
  accuracy_add(&accuracy, "y", &tensor, a,
               &(struct yardstick){.precision = precision, .step = step});
  return accuracy.is_within;
}

/* All of it lies within one step, but only the first is near. */
static void a_coarse_step_is_no_free_pass(void **state) {
  (void)state;
  const float r[4] = {0.1f, 0.02f, 0.01f, 0.0f}, near[4] = {0.09f, 0.03f, 0.01f, 0.0f},
              uniform[4] = {0.03f, 0.03f, 0.03f, 0.03f}, scaled[4] = {0.103f, 0.0206f, 0.0103f, 0};
  assert_true(within_steps(r, near, 4, "int8", 0.125));
  assert_false(within_steps(r, uniform, 4, "int8", 0.125));
  assert_true(within_steps(r, scaled, 4, "int8", 0));
  assert_false(within_steps(r, scaled, 4, "fp32", 0));
  assert_false(within_steps(r, uniform, 4, "int8", 0));
}

static void the_worst_output_stands(void **state) {
  (void)state;
  const float r[2] = {1, 2}, a[2] = {1, 2}, b[2] = {2, 1};
  const hone_tensor tensor = {
      .data = (void *)(uintptr_t)r, .dtype = HONE_F32, .rank = 2, .shape = {1, 2}};
  struct accuracy accuracy;
  accuracy_init(&accuracy);
  accuracy_add(&accuracy, "bad\n", &tensor, b, &(struct yardstick){.precision = "fp32"});
  accuracy_add(&accuracy, "good", &tensor, a, &(struct yardstick){.precision = "fp32"});
  assert_false(accuracy.is_within);
  assert_true(accuracy.top1 == 0);
  assert_true(accuracy.max_abs_diff == 1);
  assert_non_null(strstr(accuracy.where, "output \"bad"));
  assert_null(strchr(accuracy.where, '\n'));
}

/* A row that is wrong says by how much, and how much would have been right. */
static void what_is_wrong_says_its_limits(void **state) {
  (void)state;
  const float r[4] = {1, -2, 3, 4}, far[4] = {1.01f, -2, 3, 4};
  const int32_t ints[2] = {1, 2}, other[2] = {1, 3};
  static const struct {
    hone_dtype dtype;
    const char *precision;
    double step;
    const char *says[3];
  } cases[] = {
      {HONE_F32,
       "fp32",
       0,
       {"L2 0.00183 (limit 0.0001), ", "|r| 0.0025 (limit 0.001), ", "0 of 4 "}},
      {HONE_F32, "fp32", 1.0 / 2048, {"at most 4 steps, here 20.5, ", "here 25 %, ", "0 of 4 "}},
      {HONE_I32, "fp32", 0, {"L2 0.447 (limit 0), ", "|r| 0.5 (limit 0), ", "0 of 2 "}}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    const bool is_float = dtype_is_float(cases[i].dtype);
    const hone_tensor tensor = {.data = is_float ? (void *)(uintptr_t)r : (void *)(uintptr_t)ints,
                                .dtype = cases[i].dtype,
                                .rank = 1,
                                .shape = {is_float ? 4 : 2}};
    struct accuracy accuracy;
    accuracy_init(&accuracy);
    accuracy_add(&accuracy, "y", &tensor, is_float ? (const void *)far : other,
                 &(struct yardstick){.precision = cases[i].precision, .step = cases[i].step});
    for (size_t k = 0; k < COUNT(cases[i].says); k++)
      assert_non_null(strstr(accuracy.where, cases[i].says[k]));
  }
}

/* -- inputs */

static void inputs_stay_within_tables(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct arena *arena;
  struct graph *graph;
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_create(&ctx, arena, &graph), HONE_OK);
  const struct shape ids_shape = {2, {8, 50}}, table_shape = {2, {5, 3}};
  struct value *ids, *mask, *x, *table;
  struct tensor *rows;
  struct node *cast, *gather;
  assert_int_equal(graph_input(&ctx, graph, "ids", HONE_I32, &ids_shape, &ids), HONE_OK);
  assert_int_equal(graph_input(&ctx, graph, "attention_mask", HONE_I64, &ids_shape, &mask),
                   HONE_OK);
  assert_int_equal(graph_input(&ctx, graph, "x", HONE_F32, &ids_shape, &x), HONE_OK);
  assert_int_equal(tensor_create(&ctx, arena, HONE_F32, &table_shape, &rows), HONE_OK);
  assert_int_equal(graph_constant(&ctx, graph, "table", rows, &table), HONE_OK);
  assert_int_equal(graph_node(&ctx, graph, op_find("", "Cast"), &ids, 1, 1, &cast), HONE_OK);
  struct value *gather_inputs[] = {table, cast->outputs[0]};
  assert_int_equal(graph_node(&ctx, graph, op_find("", "Gather"), gather_inputs, 2, 1, &gather),
                   HONE_OK);
  hone_tensor a, b, other, ones, normal;
  assert_int_equal(input_generate(&ctx, arena, graph, 0, 1, 0, &a), HONE_OK);
  assert_int_equal(input_generate(&ctx, arena, graph, 0, 1, 0, &b), HONE_OK);
  assert_int_equal(input_generate(&ctx, arena, graph, 0, 1, 1, &other), HONE_OK);
  assert_int_equal(input_generate(&ctx, arena, graph, 1, 1, 0, &ones), HONE_OK);
  assert_int_equal(input_generate(&ctx, arena, graph, 2, 1, 0, &normal), HONE_OK);
  assert_memory_equal(a.data, b.data, 400 * sizeof(int32_t));
  assert_memory_not_equal(a.data, other.data, 400 * sizeof(int32_t));
  bool seen[5] = {false};
  double sum = 0, square = 0;
  for (size_t i = 0; i < 400; i++) {
    int32_t id = ((const int32_t *)a.data)[i];
    assert_in_range(id, 0, 4);
    seen[id] = true;
    assert_int_equal(((const int64_t *)ones.data)[i], 1);
    double value = ((const float *)normal.data)[i];
    sum += value;
    square += value * value;
  }
  for (size_t i = 0; i < 5; i++) assert_true(seen[i]);
  assert_true(fabs(sum / 400) < 0.2 && square / 400 > 0.7 && square / 400 < 1.3);
  arena_destroy(arena);
}

/* -- studies */

/* The rows that a store would keep. */
struct memory {
  struct bench_study study;
  struct config cells[8];
  size_t config_count, block_count, end_count;
  struct {
    char config[33];
    int process_record, round;
  } blocks[256];
  struct process_record ends[64];
  size_t stop_after_blocks; /* 0: never */
  volatile sig_atomic_t interrupted;
};

static hone_status keep_study(void *user, const struct bench_study *study) {
  struct memory *memory = user;
  memory->study = *study;
  assert_true(study->config_count <= COUNT(memory->cells));
  memory->config_count = study->config_count;
  memcpy(memory->cells, study->configs, study->config_count * sizeof *memory->cells);
  return HONE_OK;
}
static hone_status keep_block(void *user, const struct block *block) {
  struct memory *memory = user;
  for (size_t i = 0; i < memory->block_count; i++) /* the same block never comes twice */
    assert_false(!strcmp(memory->blocks[i].config, block->config) &&
                 memory->blocks[i].process_record == block->process_record &&
                 memory->blocks[i].round == block->round);
  assert_true(memory->block_count < COUNT(memory->blocks));
  snprintf(memory->blocks[memory->block_count].config, 33, "%s", block->config);
  memory->blocks[memory->block_count].process_record = block->process_record;
  memory->blocks[memory->block_count].round = block->round;
  memory->block_count++;
  if (memory->stop_after_blocks && memory->block_count == memory->stop_after_blocks)
    memory->interrupted = 1;
  return HONE_OK;
}
static hone_status keep_process(void *user, const struct process_record *process_record) {
  struct memory *memory = user;
  assert_true(memory->end_count < COUNT(memory->ends));
  memory->ends[memory->end_count++] = *process_record;
  return HONE_OK;
}
static void recall(void *user, const struct config *config, struct bench_done *out) {
  const struct memory *memory = user;
  *out = (struct bench_done){.complete = 0};
  for (size_t i = 0; i < memory->block_count; i++)
    if (!strcmp(memory->blocks[i].config, config->key) &&
        memory->blocks[i].process_record >= out->next_number)
      out->next_number = memory->blocks[i].process_record + 1;
  for (size_t i = 0; i < memory->end_count; i++) {
    if (strcmp(memory->ends[i].config, config->key)) continue;
    if (memory->ends[i].number >= out->next_number) out->next_number = memory->ends[i].number + 1;
    out->complete += memory->ends[i].status != STATUS_interrupted;
  }
}

static const char *backend_of(const struct memory *memory, const char *config) {
  for (size_t i = 0; i < memory->config_count; i++)
    if (!strcmp(memory->cells[i].key, config)) return memory->cells[i].backend;
  return "";
}

static hone_status run_study_with(struct ctx *ctx, struct memory *memory,
                                  const struct bench_options *base) {
  static const char *const models[] = {model_path}, *const backends[] = {"fake", "null"};
  static const int threads[] = {1};
  struct bench_options options = *base;
  if (!options.model_count) options.models = models, options.model_count = 1;
  if (!options.backend_count) options.backends = backends, options.backend_count = 2;
  options.threads = threads;
  options.thread_count = 1;
  options.min_samples = 12;
  options.min_time_s = 0.01;
  options.warmup_s = 0.01;
  if (!options.processes) options.processes = 3;
  if (!options.rounds) options.rounds = 6;
  if (options.timeout_s == 0) options.timeout_s = 120;
  options.cache_dir = folder;
  options.interrupted = &memory->interrupted;
  const struct bench_callbacks callbacks = {.user = memory,
                                            .begin = keep_study,
                                            .done = recall,
                                            .block = keep_block,
                                            .process_record = keep_process};
  ctx_init(ctx);
  return bench_run(ctx, &options, &callbacks);
}

static struct memory *new_memory(void) {
  struct memory *memory = calloc(1, sizeof *memory);
  assert_non_null(memory);
  return memory;
}

static void a_study_is_complete(void **state) {
  (void)state;
  struct ctx ctx;
  struct memory *memory = new_memory();
  assert_int_equal(run_study_with(&ctx, memory, &(struct bench_options){.aa = true}), HONE_OK);
  assert_int_equal(memory->config_count, 4); /* two backends, two labels */
  assert_string_not_equal(memory->cells[0].key, memory->cells[1].key);
  assert_int_equal(memory->block_count, 4 * 6);
  assert_int_equal(memory->end_count, 4 * 3);
  for (size_t i = 0; i < memory->end_count; i++) {
    const struct process_record *end = &memory->ends[i];
    assert_int_equal(end->status, STATUS_ok);
    assert_true(end->flags & FLAG_MASK(synthetic));
    assert_true(end->floor_ns > 0);
    assert_true(end->rss_steady > 0 && end->rss_peak >= end->rss_steady);
    assert_true(end->rel_l2 == 0 && end->top1 == 1);
    assert_string_equal(end->effective_precision, "fp32");
    assert_string_equal(end->output_hash, memory->ends[0].output_hash);
  }
  free(memory);
}

/* Stopped after every possible block and resumed: what was handed on stays, the rest follows. */
static void an_interrupted_study_resumes(void **state) {
  (void)state;
  struct ctx ctx;
  for (size_t stop = 1; stop < 12; stop += 3) {
    struct memory *memory = new_memory();
    memory->stop_after_blocks = stop;
    assert_int_equal(run_study_with(&ctx, memory, &(struct bench_options){.aa = false}),
                     HONE_E_INTERRUPTED);
    char key[33];
    memcpy(key, memory->study.key, sizeof key);
    assert_int_equal(memory->block_count, stop);
    memory->stop_after_blocks = 0;
    memory->interrupted = 0;
    assert_int_equal(run_study_with(&ctx, memory, &(struct bench_options){.aa = false}), HONE_OK);
    assert_string_equal(memory->study.key, key); /* the same command is the same study */
    for (size_t c = 0; c < memory->config_count; c++) {
      int complete = 0;
      for (size_t i = 0; i < memory->end_count; i++)
        complete += !strcmp(memory->ends[i].config, memory->cells[c].key) &&
                    memory->ends[i].status == STATUS_ok;
      assert_int_equal(complete, 3);
    }
    size_t before = memory->block_count; /* and a third run has nothing left to do */
    assert_int_equal(run_study_with(&ctx, memory, &(struct bench_options){.aa = false}), HONE_OK);
    assert_int_equal(memory->block_count, before);
    free(memory);
  }
}

static void a_dry_run_measures_nothing(void **state) {
  (void)state;
  struct ctx ctx;
  struct memory *memory = new_memory();
  assert_int_equal(run_study_with(&ctx, memory, &(struct bench_options){.is_dry_run = true}),
                   HONE_OK);
  assert_int_equal(memory->study.estimate.cells, 2);
  assert_true(memory->study.estimate.seconds > 0);
  assert_int_equal(memory->block_count + memory->end_count, 0);
  free(memory);
}

static void bad_requests_are_refused(void **state) {
  (void)state;
  struct ctx ctx;
  struct memory *memory = new_memory();
  const char *unknown[] = {"onxruntime"}, *absent[] = {"/nonexistent.onnx"};
  assert_int_equal(run_study_with(&ctx, memory,
                                  &(struct bench_options){.backends = unknown, .backend_count = 1}),
                   HONE_E_USAGE);
  assert_non_null(strstr(ctx.message, "onnxruntime"));
  assert_int_equal(
      run_study_with(&ctx, memory, &(struct bench_options){.models = absent, .model_count = 1}),
      HONE_E_NOFILE);
  free(memory);
}

static void given_inputs_are_used(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  float values[5] = {9, 8, 7, 6, 5};
  hone_tensor tensor = {.data = values, .dtype = HONE_F32, .rank = 1, .shape = {4}};
  char path[4200];
  snprintf(path, sizeof path, "%s/given.npy", folder);
  assert_int_equal(npy_write(&ctx, path, &tensor), HONE_OK);
  const struct bench_pair pair = {"x", path};
  const struct bench_options options = {
      .inputs = &pair, .input_count = 1, .processes = 1, .rounds = 1};
  struct memory *memory = new_memory();
  assert_int_equal(run_study_with(&ctx, memory, &options), HONE_OK);
  char one[33], all[33];
  hash_hex(one, values, 4 * sizeof *values);
  hash_hex(all, one, strlen(one));
  assert_string_equal(memory->ends[0].output_hash, all); /* identity: outputs are the inputs */
  tensor.shape[0] = 5;
  assert_int_equal(npy_write(&ctx, path, &tensor), HONE_OK);
  *memory = (struct memory){.config_count = 0};
  assert_int_equal(run_study_with(&ctx, memory, &options), HONE_E_SHAPE);
  assert_non_null(strstr(ctx.message, "given.npy"));
  free(memory);
}

static void a_damaged_model_fails_its_cells_only(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char path[4200];
  snprintf(path, sizeof path, "%s/damaged.onnx", folder);
  assert_int_equal(file_write_atomic(&ctx, path, identity_model, 40, 0600), HONE_OK);
  const char *models[] = {path, model_path}, *backends[] = {"native", "null"};
  struct memory *memory = new_memory();
  const struct bench_options options = {.models = models,
                                        .model_count = 2,
                                        .backends = backends,
                                        .backend_count = 2,
                                        .processes = 1,
                                        .rounds = 1};
  assert_int_equal(run_study_with(&ctx, memory, &options), HONE_OK);
  assert_int_equal(memory->end_count, 4);
  for (size_t i = 0; i < 4; i++) { /* the damaged one first, each cell by its own engine's words */
    const struct process_record *end = &memory->ends[i];
    bool is_native = !strcmp(backend_of(memory, end->config), "native");
    assert_int_equal(end->status, i >= 2      ? STATUS_ok
                                  : is_native ? STATUS_error
                                              : STATUS_unverified);
    if (i < 2 && is_native) {
      assert_int_equal(end->stage, STAGE_import);
      assert_non_null(strstr(end->reason, "E_FORMAT"));
    }
  }
  free(memory);
}

/* y = Neg(x), but the test engines return x. They agree with each other and not with hone's
   reference, so every row is disputed. */
static void engines_that_agree_against_us_dispute(void **state) {
  (void)state;
  static const char text[] = "graph(x: f32[4]) -> (y) {\n  y = Neg(x)\n}\n";
  static const struct bench_pair pairs[] = {{"fake", "peer=1"}, {"null", "peer=1"}};
  static const char *const backends[] = {"fake", "native", "null"};
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  struct strbuf bytes = {0};
  char path[4200];
  ctx_init(&ctx);
  snprintf(path, sizeof path, "%s/misread.onnx", folder);
  const char *models[] = {path};
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(graph_parse(&ctx, arena, text, sizeof text - 1, op_find, &graph), HONE_OK);
  assert_int_equal(graph_infer(&ctx, graph), HONE_OK);
  assert_int_equal(export_onnx(&ctx, graph, 17, &bytes), HONE_OK);
  assert_int_equal(file_write_atomic(&ctx, path, bytes.at, bytes.length, 0600), HONE_OK);
  strbuf_deinit(&bytes);
  arena_destroy(arena);
  struct memory *memory = new_memory();
  struct bench_options options = {.models = models,
                                  .model_count = 1,
                                  .backends = backends,
                                  .backend_count = COUNT(backends),
                                  .processes = 2,
                                  .rounds = 2,
                                  .backend_options = pairs,
                                  .backend_option_count = COUNT(pairs)};
  assert_int_equal(run_study_with(&ctx, memory, &options), HONE_OK);
  assert_int_equal(memory->end_count, 6);
  assert_int_equal(memory->block_count, 6); /* shown: they have figures */
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(memory->ends[i].status, STATUS_disputed);
    assert_non_null(strstr(memory->ends[i].reason, "report it to hone first"));
  }
  options.backend_option_count = 0; /* no longer marked as peers: now they are wrong */
  *memory = (struct memory){.config_count = 0};
  assert_int_equal(run_study_with(&ctx, memory, &options), HONE_OK);
  for (size_t i = 0; i < memory->end_count; i++) {
    bool is_native = !strcmp(backend_of(memory, memory->ends[i].config), "native");
    assert_int_equal(memory->ends[i].status, is_native ? STATUS_ok : STATUS_wrong);
  }
  free(memory);
}

/* An engine that never answers, on a model that hone refuses: its own row is `timeout`, the other's is
   measured, and all of it ends soon. */
static void an_endless_peer_costs_its_budget_once(void **state) {
  (void)state;
  static const struct bench_pair pairs[] = {{"fake", "peer=1;fault=sleep"}, {"null", "peer=1"}};
  struct ctx ctx;
  ctx_init(&ctx);
  char path[4200];
  snprintf(path, sizeof path, "%s/endless.onnx", folder);
  assert_int_equal(file_write_atomic(&ctx, path, identity_model, 40, 0600), HONE_OK);
  const char *models[] = {path};
  struct memory *memory = new_memory();
  /* 3 s a stage are enough for what is sound, unless the machine is busy */
  for (unsigned limit_s = 3; limit_s <= 48; limit_s *= 4) {
    const struct bench_options options = {.models = models,
                                          .model_count = 1,
                                          .processes = 1,
                                          .rounds = 1,
                                          .timeout_s = limit_s,
                                          .reference_s = 1,
                                          .backend_options = pairs,
                                          .backend_option_count = COUNT(pairs)};
    *memory = (struct memory){.config_count = 0};
    const uint64_t start = clock_ns();
    assert_int_equal(run_study_with(&ctx, memory, &options), HONE_OK);
    const bool is_soon = clock_ns() - start < limit_s * 5000000000ull;
    size_t unverified = 0;
    for (size_t i = 0; i < memory->end_count; i++)
      unverified += memory->ends[i].status == STATUS_unverified;
    if (is_soon && unverified) break;
    assert_true(limit_s < 48);
  }
  assert_int_equal(memory->end_count, 2);
  for (size_t i = 0; i < 2; i++) {
    bool is_endless = !strcmp(backend_of(memory, memory->ends[i].config), "fake");
    assert_int_equal(memory->ends[i].status, is_endless ? STATUS_timeout : STATUS_unverified);
    if (is_endless) assert_non_null(strstr(memory->ends[i].reason, "--timeout"));
  }
  free(memory);
}

/* hone cannot read the model: two engines that agree serve as the reference. If they disagree,
   there is no reference and no row is ranked. */
static void engines_that_agree_are_the_reference(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char path[4200];
  snprintf(path, sizeof path, "%s/unreadable.onnx", folder);
  assert_int_equal(file_write_atomic(&ctx, path, identity_model, 40, 0600), HONE_OK);
  const char *models[] = {path}, *said[] = {"peer=1", "peer=1;cheat=wrong"};
  for (size_t disagree = 0; disagree < 2; disagree++) {
    const struct bench_pair pairs[] = {{"fake", said[disagree]}, {"null", "peer=1"}};
    struct memory *memory = new_memory();
    const struct bench_options options = {.models = models,
                                          .model_count = 1,
                                          .processes = 1,
                                          .rounds = 1,
                                          .backend_options = pairs,
                                          .backend_option_count = COUNT(pairs)};
    assert_int_equal(run_study_with(&ctx, memory, &options), HONE_OK);
    assert_int_equal(memory->end_count, 2);
    for (size_t i = 0; i < 2; i++)
      assert_int_equal(memory->ends[i].status, disagree ? STATUS_unverified : STATUS_ok);
    free(memory);
  }
}

/* No figure of batch 1 under the name of batch 8. */
static void a_fixed_batch_is_not_renamed(void **state) {
  (void)state;
  struct ctx ctx;
  static const int batches[] = {8};
  struct memory *memory = new_memory();
  const struct bench_options options = {
      .batches = batches, .batch_count = 1, .processes = 1, .rounds = 1};
  assert_int_equal(run_study_with(&ctx, memory, &options), HONE_OK);
  assert_true(memory->end_count > 0);
  for (size_t i = 0; i < memory->end_count; i++) {
    assert_int_not_equal(memory->ends[i].status, STATUS_ok);
    assert_int_equal(memory->ends[i].stage, STAGE_import);
    assert_non_null(strstr(memory->ends[i].reason, "E_SHAPE"));
  }
  free(memory);
}

/* Of an environment the metadata says it; a path to the library itself says nothing, and nothing beyond the
   path's end is read. */
static void the_version_is_the_metadata_s(void **state) {
  (void)state;
  char here[4096], path[4200], version[64];
  struct ctx ctx;
  ctx_init(&ctx);
  assert_int_equal(dir_temporary(&ctx, here), HONE_OK);
  snprintf(path, sizeof path, "%s/Some_Engine-9.8.7.dist-info", here);
  assert_int_equal(dir_create(&ctx, path), HONE_OK);
  engine_version(&ctx, "litert", here, "some-engine", version);
  assert_string_equal(version, "9.8.7");
  snprintf(path, sizeof path, "%s/x.so", here);
  assert_int_equal(file_write_atomic(&ctx, path, "", 0, 0600), HONE_OK);
  memset(version, 'x', sizeof version);
  engine_version(&ctx, "litert", path, "some-engine", version);
  assert_string_equal(version, "");
  dir_remove_tree(here);
}

/* 70 folders of reference data, of which the 64 used last stay; and one that somebody holds. */
static void held_references_stay(void **state) {
  (void)state;
  struct ctx ctx;
  char here[4096], path[4200];
  ctx_init(&ctx);
  assert_int_equal(dir_temporary(&ctx, here), HONE_OK);
  snprintf(path, sizeof path, "%s/none", here);
  assert_int_equal(reference_hold(path), -1);
  for (int i = 0; i < 70; i++) {
    const struct timespec when[2] = {{.tv_sec = 1000000 + i}, {.tv_sec = 1000000 + i}};
    snprintf(path, sizeof path, "%s/%d", here, i);
    assert_int_equal(dir_create(&ctx, path), HONE_OK);
    assert_int_equal(utimensat(AT_FDCWD, path, when, 0), 0);
  }
  snprintf(path, sizeof path, "%s/0", here);
  const int held = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_true(held >= 0);
  assert_int_equal(flock(held, LOCK_SH), 0);
  references_trim(here);
  for (int i = 0; i < 70; i++) {
    snprintf(path, sizeof path, "%s/%d", here, i);
    assert_int_equal(!access(path, R_OK), i == 0 || i >= 6);
  }
  close(held);
  snprintf(path, sizeof path, "%s/6", here);
  const int used = reference_hold(path); /* from now on it is the last used */
  assert_true(used >= 0);
  close(used);
  references_trim(here);
  for (int i = 0; i < 8; i++) {
    snprintf(path, sizeof path, "%s/%d", here, i);
    assert_int_equal(!access(path, R_OK), i >= 6);
  }
  reference_remove(path);
  assert_int_equal(access(path, F_OK), -1);
  dir_remove_tree(here);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "worker")) return worker_main(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_checked),
      cmocka_unit_test(lines_are_read_whole),
      cmocka_unit_test(numbers_that_json_cannot_hold),
      cmocka_unit_test(options_and_shapes),
      cmocka_unit_test(backends_for_testing_are_hidden),
      cmocka_unit_test(a_missing_engine_says_what_helps),
      cmocka_unit_test(the_version_is_the_metadata_s),
      cmocka_unit_test(tolerances),
      cmocka_unit_test(a_coarse_step_is_no_free_pass),
      cmocka_unit_test(the_worst_output_stands),
      cmocka_unit_test(what_is_wrong_says_its_limits),
      cmocka_unit_test(inputs_stay_within_tables),
      cmocka_unit_test(a_study_is_complete),
      cmocka_unit_test(an_interrupted_study_resumes),
      cmocka_unit_test(a_dry_run_measures_nothing),
      cmocka_unit_test(bad_requests_are_refused),
      cmocka_unit_test(given_inputs_are_used),
      cmocka_unit_test(held_references_stay),
      cmocka_unit_test(a_damaged_model_fails_its_cells_only),
      cmocka_unit_test(a_fixed_batch_is_not_renamed),
      cmocka_unit_test(engines_that_agree_are_the_reference),
      cmocka_unit_test(engines_that_agree_against_us_dispute),
      cmocka_unit_test(an_endless_peer_costs_its_budget_once),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
