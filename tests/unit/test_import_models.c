/* Real models: every ONNX file of the collection outside the repository (../shared/models, or
 * $HONE_SHARED/models) is imported. A refusal must name its listed reason; the list may only
 * shrink. Without the collection the test is skipped. */
#include "import_case.h"

#include <glob.h>
#include <sys/stat.h>

/* Files that need shapes, and files that may be refused with what the message must say. */
static const struct {
  const char *file, *shapes, *refusal;
} notes[] = {
    {"fastestdet/model.onnx", NULL, "\"Resize\""},
    {"gcn_karate/model.onnx", "edge_index[2,190]", NULL},
    {"micro_kws_m/model_qop_softmax.onnx", NULL, "\"com.microsoft\""},
    {"micro_kws_m/model_qoperator.onnx", NULL, "\"com.microsoft\""},
    {"silero_vad/model.onnx", "input[1,512],state[2,1,128]", NULL},
    {"tinystories260k/decode.onnx", "past_k[5,1,7,4,8]", NULL},
    {"tinystories260k/prefill.onnx", "tokens[1,16]", NULL},
    {"tree_models/xgb_classifier.onnx", NULL, "\"TreeEnsembleClassifier\""},
    {"tree_models/xgb_regressor.onnx", NULL, "\"TreeEnsembleRegressor\""},
};

static const char *models_folder(void) {
  static char path[4096];
  const char *shared = getenv("HONE_SHARED");
  snprintf(path, sizeof path, "%s/models", shared ? shared : "../shared");
  return path;
}

static bool import_one(const char *path, const char *file) {
  const char *refusal = NULL;
  struct import_options options = {0};
  for (size_t i = 0; i < COUNT(notes); i++)
    if (!strcmp(notes[i].file, file)) options.shapes = notes[i].shapes, refusal = notes[i].refusal;
  struct loaded l = {0};
  ctx_init(&l.ctx);
  assert_int_equal(arena_create(&l.ctx, 0, &l.arena), HONE_OK);
  l.status = import_model(&l.ctx, l.arena, path, &options, &l.file, &l.graph);
  bool is_refused = l.status == HONE_E_UNSUP && refusal && strstr(l.ctx.message, refusal);
  if (is_refused) print_message("%s: refused as listed: %s\n", file, l.ctx.message);
  if (l.status && !is_refused) print_error("%s: %s\n", file, l.ctx.message);
  bool ok = is_refused || (!l.status && l.graph->outputs.count > 0);
  unload(&l);
  return ok;
}

static void every_model_is_read(void **state) {
  (void)state;
  char pattern[4200];
  glob_t found;
  int failed = 0;
  snprintf(pattern, sizeof pattern, "%s/*/*.onnx", models_folder());
  if (glob(pattern, 0, NULL, &found)) {
    print_message("skipped: no models at %s: set HONE_SHARED\n", models_folder());
    skip();
  }
  for (size_t i = 0; i < found.gl_pathc; i++)
    failed += !import_one(found.gl_pathv[i], found.gl_pathv[i] + strlen(models_folder()) + 1);
  print_message("%zu models, %d failed\n", found.gl_pathc, failed);
  globfree(&found);
  assert_int_equal(failed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_model_is_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
