/* The model in ONNX Runtime, through its C API. The wheel has no header: these are indices in the append-only table OrtApi
 * (include/onnxruntime/core/session/onnxruntime_c_api.h). One session serves all calls, with the measured number of threads;
 * the caller's team is not used.
 */
#include "engine.h"

struct ort_base {
  const void *const *(*get_api)(uint32_t version);
  const char *(*get_version)(void);
};
enum { GET_ERROR_MESSAGE = 2, CREATE_ENV = 3, CREATE_SESSION = 7, RUN = 9, CREATE_SESSION_OPTIONS = 10 };
enum { SET_GRAPH_OPTIMIZATION_LEVEL = 23, SET_INTRA_OP_THREADS = 24, SET_INTER_OP_THREADS = 25, INPUT_TYPE_INFO = 33 };
enum { CREATE_TENSOR_WITH_DATA = 49, CAST_TYPE_INFO = 55, DIMENSION_COUNT = 61, SYMBOLIC_DIMENSIONS = 63 };
enum { CREATE_CPU_MEMORY_INFO = 69, RELEASE_STATUS = 93, RELEASE_SESSION = 95, RELEASE_VALUE = 96 };
enum { RELEASE_TYPE_INFO = 98, FREE_DIMENSION_BY_NAME = 124, ADD_SESSION_CONFIG = 130 };
enum { LOG_ERROR = 3, DEVICE_ALLOCATOR = 0, MEMORY_DEFAULT = 0, API_VERSION = 16, MAX_DIMENSIONS = 16 };

static const void *const *api;
static void *environment, *options, *session, *memory;
static int is_open;

#define CALL(id, ...) ((void *(*)(__VA_ARGS__))(uintptr_t)api[id])

static int is_ok(void *status, const char *what) {
  if (!status) return 1;
  fprintf(stderr, "ONNX Runtime, %s: %s\n", what, ((const char *(*)(void *))(uintptr_t)api[GET_ERROR_MESSAGE])(status));
  ((void (*)(void *))(uintptr_t)api[RELEASE_STATUS])(status);
  return 0;
}

static int create_session(const char *path) {
  return is_ok(CALL(CREATE_SESSION, void *, const char *, void *, void **)(environment, path, options, &session), "load");
}

/* Names of dynamic dimensions. A name with two sizes, or an anonymous one ("?", "None", "unk__1"), stays dynamic. */
static struct { char *name; int64_t size; int is_fixed; } named[(ENGINE_INPUTS + 1) * MAX_DIMENSIONS];
static size_t named_count;

static void note_size(const char *name, int64_t size) {
  int letters = 0;
  for (const char *c = name; *c; c++)
    letters += (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (unsigned char)*c >= 0x80;
  if (!letters || !strcmp(name, "None") || !strncmp(name, "unk__", 5)) return;
  for (size_t k = 0; k < named_count; k++)
    if (!strcmp(named[k].name, name)) {
      named[k].is_fixed &= named[k].size == size;
      return;
    }
  named[named_count].name = strdup(name);
  named[named_count].size = size;
  named[named_count].is_fixed = 1;
  named_count += named[named_count].name != NULL;
}

/* Records the named dynamic dimensions of an input with their measured sizes. */
static int note_input(size_t i) {
  const char *names[MAX_DIMENSIONS] = {0};
  void *type = NULL;
  const void *info = NULL;
  size_t rank = 0;
  int ok = is_ok(CALL(INPUT_TYPE_INFO, void *, size_t, void **)(session, i, &type), "inputs") &&
           is_ok(CALL(CAST_TYPE_INFO, const void *, const void **)(type, &info), "inputs") && info &&
           is_ok(CALL(DIMENSION_COUNT, const void *, size_t *)(info, &rank), "inputs") && rank <= MAX_DIMENSIONS &&
           (int32_t)rank == engine_inputs[i].rank &&
           is_ok(CALL(SYMBOLIC_DIMENSIONS, const void *, const char **, size_t)(info, names, rank), "inputs");
  for (size_t d = 0; ok && d < rank; d++)
    if (names[d]) note_size(names[d], engine_inputs[i].dims[d]);
  if (type) ((void (*)(void *))(uintptr_t)api[RELEASE_TYPE_INFO])(type);
  return ok;
}

static int fix_sizes(int *changed) {
  int ok = 1;
  for (size_t k = 0; ok && k < named_count; k++)
    if (named[k].is_fixed) {
      *changed = 1;
      ok = is_ok(CALL(FREE_DIMENSION_BY_NAME, void *, const char *, int64_t)(options, named[k].name, named[k].size),
                 "dynamic dimension");
    }
  return ok;
}

static int set_options(void) {
  static const char *const given[][2] = {ENGINE_OPTIONS{NULL, NULL}};
  int ok = is_ok(CALL(SET_INTRA_OP_THREADS, void *, int)(options, ENGINE_THREADS), "threads") &&
           is_ok(CALL(SET_INTER_OP_THREADS, void *, int)(options, 1), "threads") &&
           is_ok(CALL(SET_GRAPH_OPTIMIZATION_LEVEL, void *, int)(options, ENGINE_OPTIMIZATION_LEVEL), "options");
  for (size_t i = 0; ok && given[i][0]; i++)
    ok = is_ok(CALL(ADD_SESSION_CONFIG, void *, const char *, const char *)(options, given[i][0], given[i][1]), given[i][0]);
  return ok;
}

static void open_engine(void) {
  char folder[ENGINE_PATH], path[ENGINE_PATH + 32];
  int changed = 0;
  void *library = engine_folder(folder) ? engine_open(folder, "onnxruntime/capi/libonnxruntime.so*") : NULL;
  const struct ort_base *(*get_base)(void) =
      library ? (const struct ort_base *(*)(void))(uintptr_t)dlsym(library, "OrtGetApiBase") : NULL;
  const struct ort_base *base = get_base ? get_base() : NULL;
  if (!base || !engine_is_pinned(base->get_version()) || !(api = base->get_api(API_VERSION))) return;
  snprintf(path, sizeof path, "%s/" ENGINE_MODEL, folder);
  if (!is_ok(CALL(CREATE_ENV, int, const char *, void **)(LOG_ERROR, "model", &environment), "environment") ||
      !is_ok(CALL(CREATE_SESSION_OPTIONS, void **)(&options), "options") || !set_options() || !create_session(path))
    return;
  for (size_t i = 0; i < ENGINE_INPUTS; i++)
    if (!note_input(i)) return;
  if (!fix_sizes(&changed)) return;
  if (changed) {
    ((void (*)(void *))(uintptr_t)api[RELEASE_SESSION])(session);
    if (!create_session(path)) return;
  }
  is_open = is_ok(CALL(CREATE_CPU_MEMORY_INFO, int, int, void **)(DEVICE_ALLOCATOR, MEMORY_DEFAULT, &memory), "memory");
}

static int make_value(const struct hone_io_info *io, const void *data, void **out) {
  return is_ok(CALL(CREATE_TENSOR_WITH_DATA, const void *, void *, size_t, const int64_t *, size_t, int, void **)(
                   memory, (void *)(uintptr_t)data, engine_bytes(io), io->dims, (size_t)io->rank, io->dtype, out),
               io->name);
}

static int32_t engine_run(const void *weights, void *arena, const struct hone_io *io, const struct hone_team *team) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  void *values[ENGINE_INPUTS + ENGINE_OUTPUTS + 1] = {0};
  const char *names[ENGINE_INPUTS + ENGINE_OUTPUTS + 1];
  int ok;
  (void)weights, (void)arena, (void)team;
  pthread_once(&once, open_engine);
  ok = is_open;
  for (size_t i = 0; i < ENGINE_INPUTS; i++) {
    names[i] = engine_inputs[i].name;
    ok = ok && make_value(&engine_inputs[i], io->inputs[i], &values[i]);
  }
  for (size_t i = 0; i < ENGINE_OUTPUTS; i++) {
    names[ENGINE_INPUTS + i] = engine_outputs[i].name;
    ok = ok && make_value(&engine_outputs[i], io->outputs[i], &values[ENGINE_INPUTS + i]);
  }
  ok = ok && is_ok(CALL(RUN, void *, const void *, const char *const *, const void *const *, size_t, const char *const *,
                        size_t, void **)(session, NULL, names, (const void *const *)values, ENGINE_INPUTS,
                                         names + ENGINE_INPUTS, ENGINE_OUTPUTS, values + ENGINE_INPUTS),
                   "run");
  for (size_t i = 0; i < ENGINE_INPUTS + ENGINE_OUTPUTS; i++)
    if (values[i]) ((void (*)(void *))(uintptr_t)api[RELEASE_VALUE])(values[i]);
  for (int32_t i = 0; ok && i < ENGINE_OUTPUTS; i++) report_shapes(io, i);
  return ok ? 0 : ENGINE_FAILED;
}
