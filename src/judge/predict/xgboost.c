/* XGBoost through its C API (include/xgboost/c_api.h of release 3; the wheel has no header, so the
 * functions are declared here). Every call returns 0, or -1 with a message in XGBGetLastError. One
 * thread: training takes milliseconds, and the same rows give the same trees.
 */
#include "predict.h"

#include <dlfcn.h>
#include <stdlib.h>

#define ROUNDS 120

/* name, arguments; handles are void * */
#define FUNCTIONS(X)                                                                     \
  X(XGDMatrixCreateFromDense, (const char *array, const char *config, void **out))       \
  X(XGDMatrixSetInfoFromInterface, (void *matrix, const char *field, const char *array)) \
  X(XGDMatrixFree, (void *matrix))                                                       \
  X(XGBoosterCreate, (const void *const *matrices, uint64_t count, void **out))          \
  X(XGBoosterFree, (void *booster))                                                      \
  X(XGBoosterSetParam, (void *booster, const char *name, const char *value))             \
  X(XGBoosterUpdateOneIter, (void *booster, int iteration, void *matrix))                \
  X(XGBoosterPredictFromDMatrix, (void *booster, void *matrix, const char *config,       \
                                  const uint64_t **shape, uint64_t *rank, const float **out))

struct xgboost {
  void *library;
  const char *(*last_error)(void);
#define X(name, arguments) int(*name) arguments;
  FUNCTIONS(X)
#undef X
};
struct booster {
  struct xgboost *x;
  void *handle;
};

static hone_status check(struct ctx *ctx, const struct xgboost *x, int code, const char *what) {
  if (!code) return HONE_OK;
  return fail(ctx, HONE_E_INTERNAL, place_name(what), "XGBoost: %.500s", x->last_error());
}

hone_status xgboost_open(struct ctx *ctx, const char *path, struct xgboost **out) {
  struct xgboost *x = calloc(1, sizeof *x);
  if (!x) return fail(ctx, HONE_E_OOM, place_none(), "no memory for XGBoost");
  x->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!x->library) {
    free(x);
    return fail(ctx, HONE_E_MISSING, place_file(path), "%s", dlerror());
  }
  x->last_error = (const char *(*)(void))(uintptr_t)dlsym(x->library, "XGBGetLastError");
  bool has_all = x->last_error != NULL;
#define X(name, arguments)                                         \
  x->name = (int(*) arguments)(uintptr_t)dlsym(x->library, #name); \
  has_all = has_all && x->name;
  FUNCTIONS(X)
#undef X
  if (!has_all) {
    free(x); /* the library is not closed: it may have started threads */
    return fail(ctx, HONE_E_UNSUP, place_file(path), "is not XGBoost of release 2 or newer");
  }
  *out = x;
  return HONE_OK;
}

void xgboost_close(struct xgboost *x) { free(x); }

/* NumPy's array interface as JSON, which the library reads matrices from. */
static void put_array(char out[256], const float *data, size_t rows, size_t width) {
  snprintf(out, 256,
           "{\"data\": [%llu, true], \"shape\": [%zu, %zu], \"typestr\": \"<f4\", \"version\": 3}",
           (unsigned long long)(uintptr_t)data, rows, width);
}

static hone_status make_matrix(struct ctx *ctx, const struct xgboost *x, const float *features,
                               size_t rows, size_t width, void **out) {
  char array[256];
  put_array(array, features, rows, width);
  return check(ctx, x,
               x->XGDMatrixCreateFromDense(array, "{\"missing\": NaN, \"nthread\": 1}", out),
               "matrix");
}

static hone_status train(struct ctx *ctx, struct booster *b, void *matrix, const float *labels,
                         size_t rows) {
  static const char *const parameters[][2] = {{"objective", "reg:squarederror"},
                                              {"max_depth", "4"},
                                              {"eta", "0.08"},
                                              {"subsample", "0.8"},
                                              {"min_child_weight", "3"},
                                              {"lambda", "2"},
                                              {"nthread", "1"},
                                              {"seed", "1"},
                                              {"verbosity", "0"}};
  struct xgboost *x = b->x;
  char array[256];
  put_array(array, labels, rows, 1);
  TRY(check(ctx, x, x->XGDMatrixSetInfoFromInterface(matrix, "label", array), "labels"));
  const void *const matrices[] = {matrix};
  TRY(check(ctx, x, x->XGBoosterCreate(matrices, 1, &b->handle), "booster"));
  for (size_t i = 0; i < COUNT(parameters); i++)
    TRY(check(ctx, x, x->XGBoosterSetParam(b->handle, parameters[i][0], parameters[i][1]),
              parameters[i][0]));
  for (int i = 0; i < ROUNDS; i++)
    TRY(check(ctx, x, x->XGBoosterUpdateOneIter(b->handle, i, matrix), "training"));
  return HONE_OK;
}

hone_status booster_train(struct ctx *ctx, struct xgboost *x, const float *features,
                          const float *labels, size_t rows, size_t width, struct booster **out) {
  void *matrix = NULL;
  struct booster *b = calloc(1, sizeof *b);
  *out = NULL;
  if (!b) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a booster");
  b->x = x;
  hone_status status = make_matrix(ctx, x, features, rows, width, &matrix);
  if (!status) status = train(ctx, b, matrix, labels, rows);
  if (matrix) x->XGDMatrixFree(matrix);
  if (status)
    booster_free(b);
  else
    *out = b;
  return status;
}

hone_status booster_predict(struct ctx *ctx, struct booster *b, const float *features, size_t rows,
                            size_t width, float *out) {
  static const char config[] =
      "{\"type\": 0, \"training\": false, \"iteration_begin\": 0, \"iteration_end\": 0, "
      "\"strict_shape\": false}";
  void *matrix = NULL;
  const uint64_t *shape;
  uint64_t rank;
  const float *found;
  TRY(make_matrix(ctx, b->x, features, rows, width, &matrix));
  hone_status status =
      check(ctx, b->x,
            b->x->XGBoosterPredictFromDMatrix(b->handle, matrix, config, &shape, &rank, &found),
            "prediction");
  if (!status && (rank != 1 || shape[0] != rows))
    status =
        fail(ctx, HONE_E_INTERNAL, place_none(), "XGBoost returned a wrong number of predictions");
  if (!status) memcpy(out, found, rows * sizeof *out);
  b->x->XGDMatrixFree(matrix);
  return status;
}

void booster_free(struct booster *b) {
  if (!b) return;
  if (b->handle) b->x->XGBoosterFree(b->handle);
  free(b);
}
