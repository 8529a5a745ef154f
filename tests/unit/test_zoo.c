/* zoo: specifications, published parameter counts, and weights and activations that are suitable
 * for kernel tests: variance near 1, nothing denormal, infinite or saturated. The reference runs
 * the small models; an independent engine runs the large ones in tests/zoo. */
#include "graph_case.h"
#include "zoo/zoo.h"

#include <math.h>
#include <stdlib.h>

static struct graph *build(struct fixture *f, const char *spec) {
  struct graph *graph = NULL;
  if (zoo_build(&f->ctx, f->arena, spec, &graph, NULL))
    print_error("%s: %s\n", spec, f->ctx.message);
  assert_non_null(graph);
  assert_int_equal(graph_verify(&f->ctx, graph), HONE_OK);
  return graph;
}

/* Written down here apart from the table: counts of the published checkpoints, by torchvision, timm 1.0 (tiny_vit_5m
   with 1,000 classes), ultralytics, DETR's own code and transformers 5.23 from their configurations. */
static void counts_are_the_published_ones(void **state) {
  static const struct {
    const char *name;
    int64_t count;
  } published[] = {{"resnet18", 11689512},       {"resnet50", 25557032},
                   {"vgg19", 143667240},         {"mobilenet_v3_small", 2542856},
                   {"vit_b16", 86567656},        {"bert_base", 109482240},
                   {"gpt2", 124439808},          {"gpt2_decode", 124439808},
                   {"gpt2_xl", 1557611200},      {"tinyvit", 5392764},
                   {"yolov8n", 3157200},         {"detr", 41524768},
                   {"mobilebert", 24581888},     {"t5", 60506624},
                   {"mbart", 610851840},         {"llama_3_2_1b", 1235814400},
                   {"llama_3_2_3b", 3212749824}, {"llama_7b_decode", 6738415616},
                   {"clip", 151277313},          {"deepseek_r1_distill_qwen_1_5b", 1777088000},
                   {"blip2", 3744761856},        {"whisper", 37760640},
                   {"distil_whisper", 166132224}};
  struct fixture *f = *state;
  for (size_t p = 0; p < COUNT(published); p++) {
    struct zoo_size size;
    assert_int_equal(zoo_measure(&f->ctx, f->arena, published[p].name, UINT64_MAX, &size), HONE_OK);
    assert_int_equal(size.parameter_count, published[p].count);
  }
}

/* Counting without making agrees with what is made; twice the weights must fit. */
static void memory_is_known_beforehand(void **state) {
  static const char *const specs[] = {
      "zoo:llama_3_2_1b,layers=1,width=256,vocabulary=50,sequence=4",
      "zoo:llama_3_2_1b_int4,layers=1,width=256,vocabulary=50,sequence=4",
      "zoo:t5,layers=1,width=64,vocabulary=50,sequence=4", "zoo:resnet18"};
  struct fixture *f = *state;
  for (size_t s = 0; s < COUNT(specs); s++) {
    struct zoo_size size;
    size_t all = 0;
    assert_int_equal(zoo_measure(&f->ctx, f->arena, specs[s], UINT64_MAX, &size), HONE_OK);
    struct graph *graph = build(f, specs[s]);
    for (size_t v = 0; v < graph->values.count; v++) {
      const struct tensor *tensor = graph->values.at[v]->constant;
      if (!tensor || graph->values.at[v]->producer) continue;
      all += tensor->bytes;
    }
    assert_true((size_t)size.weight_bytes <= all);
    /* the rest: masks, tables, shapes */
    assert_true((double)size.weight_bytes > 0.9 * (double)all);
    const uint64_t needed = 2 * (uint64_t)size.weight_bytes;
    assert_int_equal(zoo_measure(&f->ctx, f->arena, specs[s], needed, &size), HONE_OK);
    assert_int_equal(zoo_measure(&f->ctx, f->arena, specs[s], needed - 1, &size), HONE_E_OOM);
    assert_non_null(strstr(f->ctx.message, "layers=1"));
    ctx_clear(&f->ctx);
  }
}

/* zoo_build itself compares what it would make with the row; the largest are built tiny by tests/cli/test_zoo.py. */
static void every_model_builds(void **state) {
  enum { LARGE = 200000000 };
  (void)state;
  for (size_t i = 0; i < zoo_model_count; i++) {
    struct fixture f = {0};
    char spec[64];
    if (zoo_models[i].parameter_count > LARGE) continue;
    ctx_init(&f.ctx);
    assert_int_equal(arena_create(&f.ctx, 0, &f.arena), HONE_OK);
    snprintf(spec, sizeof spec, "zoo:%s", zoo_models[i].name);
    struct graph *graph = build(&f, spec);
    assert_string_equal(graph->name, zoo_models[i].name);
    assert_true(graph->nodes.count >= 5);
    for (size_t v = 0; v < graph->values.count; v++) {
      const struct tensor *tensor = graph->values.at[v]->constant;
      if (!tensor || tensor->dtype != HONE_F32) continue;
      size_t count = tensor_count(tensor);
      for (size_t k = 0; k < count; k++) {
        float x = ((const float *)tensor->data)[k];
        if (x != 0 && !isnormal(x)) assert_true(isnormal(x));
      }
    }
    arena_destroy(f.arena);
  }
}

static void options_are_read(void **state) {
  struct fixture *f = *state;
  struct graph *graph = build(f, "zoo:transformer,sequence=16,batch=3");
  assert_true(shape_equal(&graph->inputs.at[0]->shape, &(struct shape){3, {3, 16, 256}}));
  assert_true(shape_equal(&graph->outputs.at[0]->shape, &(struct shape){3, {3, 16, 256}}));
  graph = build(f, "zoo:resnet18,size=64");
  assert_true(shape_equal(&graph->inputs.at[0]->shape, &(struct shape){4, {1, 3, 64, 64}}));
}

static void bad_specifications(void **state) {
  static const struct {
    const char *spec;
    hone_status status;
    const char *says;
  } cases[] = {{"zoo:resnet51", HONE_E_NOFILE, "resnet50"},
               {"zoo:", HONE_E_NOFILE, "no such model"},
               {"zoo:yolov8n,size=100", HONE_E_USAGE, "multiples of 32"},
               {"zoo:whisper,size=3002", HONE_E_USAGE, "3000 frames"},
               {"zoo:clip,sequence=78", HONE_E_USAGE, "fewer positions"},
               {"zoo:mlp,sequence=2", HONE_E_USAGE, "sequence"},
               {"zoo:mlp,batch=0", HONE_E_USAGE, "batch"},
               {"zoo:mlp,batch", HONE_E_USAGE, "batch"},
               {"zoo:mlp,batch=1x", HONE_E_USAGE, "batch"},
               {"zoo:mlp,batch=99999999999999999999", HONE_E_USAGE, "batch"},
               {"zoo:mlp,,", HONE_E_USAGE, "option"},
               {"zoo:gpt2,past=open", HONE_E_USAGE, "no option"},
               {"zoo:gpt2_decode,layers=open", HONE_E_USAGE, "number"},
               {"zoo:bert_base,sequence=513", HONE_E_USAGE, "512"},
               {"zoo:gpt2,sequence=2000", HONE_E_USAGE, "1024"}};
  struct fixture *f = *state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct graph *graph;
    assert_int_equal(zoo_build(&f->ctx, f->arena, cases[i].spec, &graph, NULL), cases[i].status);
    assert_non_null(strstr(f->ctx.message, cases[i].says));
    ctx_clear(&f->ctx);
  }
}

static void same_weights_every_time(void **state) {
  struct fixture *f = *state;
  struct graph *a = build(f, "zoo:mlp"), *b = build(f, "zoo:mlp,batch=9");
  size_t compared = 0;
  assert_int_equal(a->values.count, b->values.count);
  for (size_t v = 0; v < a->values.count; v++) {
    const struct tensor *p = a->values.at[v]->constant, *q = b->values.at[v]->constant;
    if (!p) continue;
    assert_memory_equal(p->data, q->data, p->bytes);
    compared++;
  }
  assert_int_equal(compared, 6);
}

/* -- activations */

static hone_tensor random_tensor(const struct value *value, uint64_t seed) {
  hone_tensor tensor = {.dtype = value->dtype, .rank = value->shape.rank};
  struct random random;
  int64_t count;
  assert_true(shape_count(&value->shape, &count));
  memcpy(tensor.shape, value->shape.dims, sizeof tensor.shape);
  tensor.data = calloc((size_t)count + 1, 8);
  assert_non_null(tensor.data);
  random_init(&random, seed);
  assert_int_equal(value->dtype, HONE_F32);
  for (int64_t i = 0; i < count; i++) ((float *)tensor.data)[i] = (float)random_normal(&random);
  return tensor;
}

/* Every float that the graph computes is made an output; its spread must stay near 1. */
static void check_activations(struct fixture *f, const char *spec) {
  struct graph *graph = build(f, spec);
  hone_tensor inputs[4], *outputs;
  for (size_t n = 0; n < graph->nodes.count; n++) {
    struct value *value = graph->nodes.at[n]->outputs[0];
    if (value->is_output || value->dtype != HONE_F32) continue;
    assert_int_equal(graph_output(&f->ctx, graph, value), HONE_OK);
  }
  outputs = calloc(graph->outputs.count, sizeof *outputs);
  assert_non_null(outputs);
  assert_in_range(graph->inputs.count, 1, COUNT(inputs));
  for (size_t i = 0; i < graph->inputs.count; i++)
    inputs[i] = random_tensor(graph->inputs.at[i], i + 1);
  for (size_t i = 0; i < graph->outputs.count; i++)
    outputs[i] = random_tensor(graph->outputs.at[i], 0);
  assert_int_equal(reference_run(&f->ctx, graph, inputs, outputs), HONE_OK);
  for (size_t o = 0; o < graph->outputs.count; o++) {
    const float *x = outputs[o].data;
    double sum = 0, largest = 0;
    int64_t count;
    const char *op = graph->outputs.at[o]->producer->op->name;
    assert_true(shape_count(&graph->outputs.at[o]->shape, &count));
    for (int64_t i = 0; i < count; i++) {
      assert_true(isfinite(x[i]));
      sum += (double)x[i] * (double)x[i];
      largest = fmax(largest, fabs((double)x[i]));
    }
    double power = sum / (double)count;
    if (!strcmp(op, "Softmax")) { /* not saturated */
      assert_true(largest < 0.9);
    } else {
      if (power < 0.001 || power > 100) print_error("%s %s: mean square %g\n", spec, op, power);
      assert_true(power > 0.001 && power < 100);
    }
    free(outputs[o].data);
  }
  for (size_t i = 0; i < graph->inputs.count; i++) free(inputs[i].data);
  free(outputs);
}

static void activations_are_sane(void **state) {
  struct fixture *f = *state;
  check_activations(f, "zoo:mlp");
  check_activations(f, "zoo:conv,batch=1");
  check_activations(f, "zoo:mnist_cnn");
  check_activations(f, "zoo:transformer,batch=1,sequence=32");
  check_activations(f, "zoo:mobilenet_v3_small,size=64");
  check_activations(f, "zoo:resnet18,size=64");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(counts_are_the_published_ones),
      TEST(memory_is_known_beforehand),
      TEST(every_model_builds),
      TEST(options_are_read),
      TEST(bad_specifications),
      TEST(same_weights_every_time),
      TEST(activations_are_sane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
