/* A model with inputs and the reference's outputs, for tests that compile and compare. */
#ifndef HONE_COMPILE_SCENE_H
#define HONE_COMPILE_SCENE_H
#include "unit.h"
#include "compiler/pipeline/pipeline.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 16 };

struct scene {
  struct ctx ctx;
  struct model model;
  hone_tensor inputs[MOST], expected[MOST], outputs[MOST], first[MOST];
  char dir[4096];
};

static inline void test_failed(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vprint_error(format, args);
  va_end(args);
  print_error("\n");
  _fail(__FILE__, __LINE__);
}

static inline void check(struct scene *s, hone_status status) {
  if (status) print_error("%s\n", hone_context_message(&s->ctx));
  assert_int_equal(status, HONE_OK);
}

static inline hone_tensor tensor_for(struct scene *s, const struct value *value) {
  struct tensor *tensor;
  hone_tensor out = {.dtype = value->dtype, .rank = value->shape.rank};
  check(s, tensor_create(&s->ctx, s->model.arena, value->dtype, &value->shape, &tensor));
  memcpy(out.shape, value->shape.dims, sizeof out.shape);
  out.data = (void *)(uintptr_t)tensor->data;
  return out;
}

static inline struct tensor as_tensor(const hone_tensor *t) {
  struct tensor out = {.dtype = t->dtype, .shape = {.rank = t->rank}, .data = t->data};
  memcpy(out.shape.dims, t->shape, sizeof out.shape.dims);
  return out;
}

static inline void open_graph_text(struct scene *s, const char *path) {
  struct mapping file;
  check(s, file_map(&s->ctx, path, &file));
  check(s, arena_create(&s->ctx, 0, &s->model.arena));
  check(s, graph_parse(&s->ctx, s->model.arena, (const char *)file.data, file.size, op_find,
                       &s->model.graph));
  file_unmap(&file);
  check(s, graph_infer(&s->ctx, s->model.graph));
}

/* A graph text, or a model as the user names it. */
static inline void open_scene(struct scene *s, const char *path) {
  struct random random;
  size_t length = strlen(path);
  memset(s, 0, sizeof *s);
  ctx_init(&s->ctx);
  random_init(&random, 7);
  check(s, dir_temporary(&s->ctx, s->dir));
  if (length > 3 && !strcmp(path + length - 3, ".hg"))
    open_graph_text(s, path);
  else
    check(s, model_load(&s->ctx, path, NULL, &s->model));
  assert_true(s->model.graph->inputs.count <= MOST && s->model.graph->outputs.count <= MOST);
  for (size_t i = 0; i < s->model.graph->inputs.count; i++) {
    s->inputs[i] = tensor_for(s, s->model.graph->inputs.at[i]);
    struct tensor t = as_tensor(&s->inputs[i]);
    for (size_t k = 0; k < tensor_count(&t); k++)
      if (dtype_is_float(t.dtype))
        tensor_set_f64(&t, k, random_normal(&random));
      else if (t.dtype == HONE_U8 || t.dtype == HONE_I8) /* all values */
        tensor_set_i64(&t, k, (int64_t)random_below(&random, 256));
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

static inline void close_scene(struct scene *s) {
  dir_remove_tree(s->dir);
  model_unload(&s->model);
}

/* The project's tolerance: relative L2 1e-4, largest difference 1e-3 of the largest value; fp16 5e-3 and 2e-2, bf16 3e-2
   and 1e-1. */
static inline bool is_within(const hone_tensor *expected, const hone_tensor *actual,
                             const char *precision) {
  const bool bf16 = !strcmp(precision, "bf16"), fp16 = !strcmp(precision, "fp16");
  const double l2 = bf16 ? 3e-2 : fp16 ? 5e-3 : 1e-4, max = bf16 ? 1e-1 : fp16 ? 2e-2 : 1e-3;
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
  return sqrt(error) <= l2 * sqrt(size) && most <= max * largest;
}

static inline bool is_close(const hone_tensor *expected, const hone_tensor *actual) {
  return is_within(expected, actual, "fp32");
}

#endif
