/* metrics: each against figures computed by hand. */
#include <math.h>
#include <stdlib.h>

#include "core/os/os.h"
#include "core/metrics/metrics.h"
#include "unit.h"

static double worth(const char *json, const hone_tensor *const *outputs, size_t samples,
                    size_t count, hone_status expected) {
  struct ctx ctx;
  struct labels labels;
  struct score score;
  char folder[4096], path[4200];
  ctx_init(&ctx);
  assert_int_equal(dir_temporary(&ctx, folder), HONE_OK);
  snprintf(path, sizeof path, "%s/labels.json", folder);
  assert_int_equal(file_write_atomic(&ctx, path, json, strlen(json), 0600), HONE_OK);
  assert_int_equal(labels_open(&ctx, path, &labels), HONE_OK);
  assert_int_equal(labels_sample_count(&labels), samples);
  score_begin(&labels, &score);
  hone_status status = HONE_OK;
  for (size_t s = 0; !status && s < samples; s++)
    status = score_add(&ctx, &score, s, outputs[s], NULL, count);
  assert_int_equal(status, expected);
  const double value = score_value(&score);
  score_end(&score);
  labels_close(&labels);
  dir_remove_tree(folder);
  return value;
}

#define FLOATS(...) ((float[]){__VA_ARGS__})
#define TENSOR(values, ...)                                                                    \
  {                                                                                            \
    .data = (values), .dtype = HONE_F32, .rank = COUNT(((int64_t[]){__VA_ARGS__})), .shape = { \
      __VA_ARGS__                                                                              \
    }                                                                                          \
  }

static void classes(void **state) {
  (void)state;
  const hone_tensor a = TENSOR(FLOATS(9, 8, 7, 6, 5, 4, 3), 1, 7),
                    b = TENSOR(FLOATS(1, 1, 1, 1, 1, 1, 1), 1, 7);
  const hone_tensor *const two[] = {&a, &b};
  /* of equal elements the first is the largest, the fifth is among five, the sixth is not */
  assert_float_equal(worth("{\"metric\":\"top1\",\"samples\":[{\"folder\":\"a\",\"label\":0},"
                           "{\"folder\":\"b\",\"label\":1}]}",
                           two, 2, 1, HONE_OK),
                     0.5, 0);
  assert_float_equal(worth("{\"metric\":\"top5\",\"samples\":[{\"folder\":\"a\",\"label\":5},"
                           "{\"folder\":\"b\",\"label\":4}]}",
                           two, 2, 1, HONE_OK),
                     0.5, 0);
  worth("{\"metric\":\"top1\",\"samples\":[{\"folder\":\"a\",\"label\":7}]}", two, 1, 1,
        HONE_E_SHAPE);
  worth("{\"metric\":\"top1\",\"output\":1,\"samples\":[{\"folder\":\"a\",\"label\":7}]}", two, 1,
        1, HONE_E_SHAPE);
  /* rows: guesses 0 1 1, answers 0 1 0: class 0 has 2/3, class 1 has 2/3 */
  const hone_tensor rows = TENSOR(FLOATS(2, 1, 1, 2, 1, 2), 3, 2);
  const hone_tensor *const one[] = {&rows};
  assert_float_equal(worth("{\"metric\":\"f1\",\"samples\":[{\"folder\":\"a\",\"label\":[0,1,0]}]}",
                           one, 1, 1, HONE_OK),
                     2.0 / 3, 1e-12);
  /* row 3 counts not; the others' tokens have probability 1/2 each */
  const hone_tensor logits = TENSOR(FLOATS(0, 0, 5, 5, 1, 9), 3, 2);
  const hone_tensor *const text[] = {&logits};
  assert_float_equal(
      worth("{\"metric\":\"perplexity\",\"samples\":[{\"folder\":\"a\",\"label\":[0,1,-1]}]}", text,
            1, 1, HONE_OK),
      2, 1e-12);
}

static void texts(void **state) {
  (void)state;
  /* CTC: 1 1 0 2 2 0 2 -> "a b b", of "a b c": one of three */
  const hone_tensor ctc =
      TENSOR(FLOATS(0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1), 1, 7, 3);
  const hone_tensor *const one[] = {&ctc};
  assert_float_equal(worth("{\"metric\":\"wer\",\"symbols\":[\"\",\"a \",\"b \"],\"blank\":0,"
                           "\"samples\":[{\"folder\":\"a\",\"label\":\"a b c\"}]}",
                           one, 1, 1, HONE_OK),
                     1.0 / 3, 1e-12);
  assert_float_equal(worth("{\"metric\":\"cer\",\"symbols\":[\"\",\"a\",\"\xc3\xa9\"],\"blank\":0,"
                           "\"samples\":[{\"folder\":\"a\",\"label\":\"a\xc3\xa9\"}]}",
                           one, 1, 1, HONE_OK),
                     0.5, 1e-12);

  int64_t said[] = {1, 2, 3, 4, 5}, cut[] = {1, 2, 3, 4};
  const hone_tensor ids = {.data = said, .dtype = HONE_I64, .rank = 1, .shape = {5}};
  const hone_tensor brief = {.data = cut, .dtype = HONE_I64, .rank = 1, .shape = {4}};
  const hone_tensor *const whole[] = {&ids}, *const part[] = {&brief};
  const char *labels =
      "{\"metric\":\"bleu\",\"samples\":[{\"folder\":\"a\",\"label\":[1,2,3,4,6]}]}";
  /* precisions 4/5, 3/4, 2/3, 1/2 */
  assert_float_equal(worth(labels, whole, 1, 1, HONE_OK), pow(0.8 * 0.75 * (2.0 / 3) * 0.5, 0.25),
                     1e-12);
  /* all right and too short: the penalty is exp(1 - 5/4) */
  assert_float_equal(worth(labels, part, 1, 1, HONE_OK), exp(-0.25), 1e-12);
}

static void boxes(void **state) {
  (void)state;
  /* class 0: found at once; class 1: a wrong one is more certain than the right one: half of the area */
  const hone_tensor outputs[] = {TENSOR(FLOATS(0, 0, 10, 10, 50, 50, 60, 60, 20, 20, 30, 30), 3, 4),
                                 TENSOR(FLOATS(0.9f, 0.8f, 0.7f), 3), TENSOR(FLOATS(0, 1, 1), 3)};
  const hone_tensor *const one[] = {outputs};
  assert_float_equal(worth("{\"metric\":\"map\",\"boxes\":0,\"scores\":1,\"classes\":2,\"samples\":"
                           "[{\"folder\":\"a\","
                           "\"label\":[[0,0,0,10,10],[1,20,20,30,30]]}]}",
                           one, 1, 3, HONE_OK),
                     0.75, 1e-12);
  /* the same box twice is found once */
  const hone_tensor twice[] = {TENSOR(FLOATS(0, 0, 10, 10, 0, 0, 10, 10), 2, 4),
                               TENSOR(FLOATS(0.9f, 0.8f), 2, 1)};
  const hone_tensor *const two[] = {twice};
  assert_float_equal(
      worth("{\"metric\":\"map\",\"boxes\":0,\"scores\":1,\"samples\":[{\"folder\":\"a\","
            "\"label\":[[0,0,0,10,10],[0,70,70,80,80]]}]}",
            two, 1, 2, HONE_OK),
      0.5, 1e-12);
}

static void retention(void **state) {
  (void)state;
  static const struct {
    const char *metric;
    double value, reference, expected;
  } rows[] = {{"top1", 0.6, 0.8, 0.75}, {"wer", 0.4, 0.2, 0.75}, {"perplexity", 20, 15, 0.75}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct ctx ctx;
    struct labels labels;
    char folder[4096], path[4200], json[128];
    ctx_init(&ctx);
    assert_int_equal(dir_temporary(&ctx, folder), HONE_OK);
    snprintf(path, sizeof path, "%s/l.json", folder);
    snprintf(json, sizeof json, "{\"metric\":\"%s\",\"samples\":[{\"folder\":\"a\",\"label\":1}]}",
             rows[i].metric);
    assert_int_equal(file_write_atomic(&ctx, path, json, strlen(json), 0600), HONE_OK);
    assert_int_equal(labels_open(&ctx, path, &labels), HONE_OK);
    assert_float_equal(score_retention(&labels, rows[i].value, rows[i].reference), rows[i].expected,
                       1e-12);
    labels_close(&labels);
    dir_remove_tree(folder);
  }
}

/* Outputs on file: rows of classes by their largest element, images by the cosine, integers by the share that is the same. */
static void outputs_on_file(void **state) {
  (void)state;
  struct ctx ctx;
  struct labels labels;
  struct score score;
  char folder[4096], path[4200];
  ctx_init(&ctx);
  const hone_tensor answers = TENSOR(FLOATS(1, 2, 3, 9, 1, 1), 2, 3),
                    half = TENSOR(FLOATS(1, 2, 3, 1, 9, 1), 2, 3),
                    image = TENSOR(FLOATS(3, 4, 0, 0), 1, 1, 2, 2),
                    turned = TENSOR(FLOATS(4, 3, 0, 0), 1, 1, 2, 2),
                    wider = TENSOR(FLOATS(1, 2, 3, 4), 1, 4);
  const hone_tensor
      boxes = {.data = (int64_t[]){1, 2, 3, 4}, .dtype = HONE_I64, .rank = 1, .shape = {4}},
      moved = {.data = (int64_t[]){1, 2, 3, 5}, .dtype = HONE_I64, .rank = 1, .shape = {4}},
      words = {.data = (uint32_t[]){7, UINT32_MAX}, .dtype = HONE_U32, .rank = 1, .shape = {2}};
  const hone_tensor expected[] = {answers, image, boxes, words},
                    found[] = {half, turned, moved, words},
                    misshapen[] = {wider, turned, moved, words};
  assert_int_equal(dir_temporary(&ctx, folder), HONE_OK);
  snprintf(path, sizeof path, "%s/.expected/a", folder);
  assert_int_equal(dir_create(&ctx, path), HONE_OK);
  for (size_t i = 0; i < COUNT(expected); i++) {
    snprintf(path, sizeof path, "%s/.expected/a/out_%zu.npy", folder, i);
    assert_int_equal(npy_write(&ctx, path, &expected[i]), HONE_OK);
  }
  snprintf(path, sizeof path, "%s/labels.json", folder);
  static const char json[] =
      "{\"metric\":\"agreement\",\"samples\":[{\"folder\":\"a\",\"label\":\".expected/a\"}]}";
  assert_int_equal(file_write_atomic(&ctx, path, json, sizeof json - 1, 0600), HONE_OK);
  assert_int_equal(labels_open(&ctx, path, &labels), HONE_OK);
  assert_true(labels_are_outputs(&labels));
  score_begin(&labels, &score);
  assert_int_equal(score_add(&ctx, &score, 0, expected, NULL, COUNT(expected)), HONE_OK);
  assert_float_equal(score_value(&score), 1, 1e-12);
  score_end(&score);
  score_begin(&labels, &score);
  assert_int_equal(score_add(&ctx, &score, 0, found, NULL, COUNT(found)), HONE_OK);
  assert_float_equal(score_value(&score), (0.5 + 24.0 / 25 + 0.75 + 1) / 4, 1e-12);
  assert_int_equal(score_add(&ctx, &score, 0, misshapen, NULL, COUNT(misshapen)), HONE_E_SHAPE);
  score_end(&score);
  labels_close(&labels);
  dir_remove_tree(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(classes), cmocka_unit_test(outputs_on_file),
                                     cmocka_unit_test(texts), cmocka_unit_test(boxes),
                                     cmocka_unit_test(retention)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
