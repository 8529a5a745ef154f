/* ONNX Runtime through its C API. The wheel has the library but no header, so the used part of the
 * stable table OrtApi is declared here. Slots are numbered in the order of the members of struct
 * OrtApi in include/onnxruntime/core/session/onnxruntime_c_api.h (append-only since 1.0; tried with
 * 1.31.1). Calls return an OrtStatus; NULL is success.
 *
 * All tensors are made once in bind over the caller's memory and bound; submit is one
 * RunWithBinding (one Run if the model has string outputs, whose memory is the engine's). Named
 * dynamic dimensions are fixed before the session is made (free-dimension overrides), so that the
 * engine plans its memory and chooses its kernels for them like other engines. Dimensions without a
 * name, or whose name has two sizes, are known from the inputs.
 */
#include "backends.h"

#include <dlfcn.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#define LIBRARY_PATTERN "onnxruntime/capi/libonnxruntime.so*"
#define API_VERSION 16 /* ONNX Runtime 1.16: everything used here is older */

typedef struct OrtStatus *ort_result;
struct ort_base {
  const void *const *(*get_api)(uint32_t version);
  const char *(*get_version)(void);
};
enum ort_slot {
  GET_ERROR_CODE = 1,
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  DISABLE_TELEMETRY_EVENTS = 6,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_EXECUTION_MODE = 13,
  SET_OPTIMIZED_MODEL_PATH = 11,
  ENABLE_PROFILING = 14,
  SET_GRAPH_OPTIMIZATION_LEVEL = 23,
  SET_INTRA_OP_THREADS = 24,
  SET_INTER_OP_THREADS = 25,
  INPUT_COUNT = 30,
  OUTPUT_COUNT = 31,
  INPUT_TYPE_INFO = 33,
  OUTPUT_TYPE_INFO = 34,
  INPUT_NAME = 36,
  OUTPUT_NAME = 37,
  CREATE_TENSOR = 48,
  CREATE_TENSOR_WITH_DATA = 49,
  FILL_TEXT = 52,
  TEXT_BYTES = 53,
  GET_TEXT = 54,
  CAST_TYPE_INFO = 55,
  ELEMENT_TYPE = 60,
  DIMENSION_COUNT = 61,
  DIMENSIONS = 62,
  SYMBOLIC_DIMENSIONS = 63,
  TENSOR_TYPE_AND_SHAPE = 65,
  CREATE_CPU_MEMORY_INFO = 69,
  RELEASE_NAME = 76, /* AllocatorFree */
  DEFAULT_ALLOCATOR = 78,
  RELEASE_ENV = 92,
  RELEASE_STATUS = 93,
  RELEASE_MEMORY_INFO = 94,
  RELEASE_SESSION = 95,
  RELEASE_VALUE = 96,
  RELEASE_TYPE_INFO = 98,
  RELEASE_TENSOR_INFO = 99,
  RELEASE_SESSION_OPTIONS = 100,
  END_PROFILING = 110,
  FREE_DIMENSION_BY_NAME = 124,
  ADD_SESSION_CONFIG = 130,
  AVAILABLE_PROVIDERS = 125,
  RELEASE_PROVIDERS = 126,
  RUN_WITH_BINDING = 133,
  CREATE_BINDING = 134,
  RELEASE_BINDING = 135,
  BIND_INPUT = 136,
  BIND_OUTPUT = 137,
  APPEND_PROVIDER = 216
};
enum { ORT_LOG_ERROR = 3, ORT_DEVICE_ALLOCATOR = 0, ORT_MEMORY_DEFAULT = 0 };
enum { ORT_NOT_IMPLEMENTED = 9, ORT_INVALID_GRAPH = 10 };

struct tensor_set {
  void **inputs, **outputs; /* OrtValue, one an input and output of the model */
  void *binding;            /* OrtIoBinding of all of them */
  hone_tensor *tables;      /* the caller's outputs; the bytes of strings are in `texts` */
  char **texts;
  bool has_text; /* an output has strings: no binding */
};
struct session {
  void *library;
  const void *const *api;
  void *environment, *options, *session, *memory, *allocator;
  size_t input_count, output_count;
  const char **input_names, **output_names; /* owned by the allocator of the engine */
  struct tensor_set sets[BACKEND_MAX_SETS];
  struct streams *streams; /* of several requests in flight; else NULL */
};

/* Slot `id` of the table as a function of the given type. */
#define API(s, id, result, ...) ((result(*)(__VA_ARGS__))(uintptr_t)(s)->api[id])

/* Converts an OrtStatus to an error and releases it. */
static hone_status check(struct ctx *ctx, const struct session *s, ort_result result,
                         const char *what) {
  if (!result) return HONE_OK;
  int code = API(s, GET_ERROR_CODE, int, ort_result)(result);
  const char *words = API(s, GET_ERROR_MESSAGE, const char *, ort_result)(result);
  hone_status id = code == ORT_NOT_IMPLEMENTED ? HONE_E_UNSUP
                   : strstr(words, "bad_alloc") || strstr(words, "Failed to allocate")
                       ? HONE_E_OOM
                       : HONE_E_FORMAT;
  hone_status status = fail(ctx, id, place_name(what), "ONNX Runtime: %s", words);
  API(s, RELEASE_STATUS, void, ort_result)(result);
  return status;
}

static hone_status load_library(struct ctx *ctx, const char *engine_path, char path[4096],
                                void **out_library, const struct ort_base **out_base) {
  TRY(engine_file(ctx, "onnxruntime", engine_path, LIBRARY_PATTERN, path));
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(ctx, HONE_E_MISSING, place_file(path), "%s", dlerror());
  const struct ort_base *(*get_base)(void) =
      (const struct ort_base *(*)(void))(uintptr_t)dlsym(library, "OrtGetApiBase");
  if (!get_base || !(*out_base = get_base()) || !(*out_base)->get_api(API_VERSION)) {
    dlclose(library);
    return fail(ctx, HONE_E_UNSUP, place_file(path), "not an ONNX Runtime of 1.16 or newer");
  }
  *out_library = library;
  return HONE_OK;
}

static void describe(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                     struct backend_info *out) {
  (void)backend;
  void *library;
  const struct ort_base *base;
  hone_status status = load_library(ctx, engine_path, out->library, &library, &base);
  if (status) {
    out->status = status == HONE_E_MISSING ? BACKEND_MISSING : BACKEND_UNSUPPORTED;
    safe_copy(out->reason, sizeof out->reason, ctx->message);
    ctx_clear(ctx);
    return;
  }
  out->status = BACKEND_READY;
  safe_copy(out->version, sizeof out->version, base->get_version());
  dlclose(library);
}

/* -- session options */

static int optimization_level(const char *name) {
  static const struct {
    const char *name;
    int level;
  } levels[] = {{"disable", 0}, {"basic", 1}, {"extended", 2}, {"all", 99}};
  for (size_t i = 0; i < COUNT(levels); i++)
    if (!strcmp(levels[i].name, name)) return levels[i].level;
  return -1;
}

/* "XNNPACK" for the engine's "XNNPACKExecutionProvider"; the CPU provider is always last and need
   not be named. */
static hone_status append_provider(struct ctx *ctx, const struct session *s, const char *name) {
  char **list = NULL;
  int count = 0;
  size_t n = strlen(name);
  bool is_there = false;
  struct strbuf words = {0};
  TRY(check(ctx, s, API(s, AVAILABLE_PROVIDERS, ort_result, char ***, int *)(&list, &count),
            "providers"));
  for (int i = 0; i < count; i++) {
    strbuf_printf(&words, "%s%s", i ? ", " : "", list[i]);
    is_there =
        is_there || (!strncmp(list[i], name, n) && !strcmp(list[i] + n, "ExecutionProvider"));
  }
  hone_status status =
      check(ctx, s, API(s, RELEASE_PROVIDERS, ort_result, char **, int)(list, count), "providers");
  if (!status && !is_there)
    status = fail(ctx, HONE_E_UNSUP, place_name(name), "this ONNX Runtime is built with %s only",
                  words.at ? words.at : "no provider");
  strbuf_deinit(&words);
  if (status || !strcmp(name, "CPU")) return status;
  return check(ctx, s,
               API(s, APPEND_PROVIDER, ort_result, void *, const char *, const char *const *,
                   const char *const *, size_t)(s->options, name, NULL, NULL, 0),
               name);
}

/* "parallel": branches of the graph run in parallel, in a separate pool. */
static hone_status set_execution_mode(struct ctx *ctx, const struct session *s, const char *value,
                                      int threads) {
  const bool is_parallel = !strcmp(value, "parallel");
  if (!is_parallel && strcmp(value, "sequential"))
    return fail(ctx, HONE_E_USAGE, place_name("execution_mode"),
                "must be sequential or parallel, not \"%s\"", value);
  TRY(check(ctx, s, API(s, SET_EXECUTION_MODE, ort_result, void *, int)(s->options, is_parallel),
            "execution mode"));
  return check(
      ctx, s,
      API(s, SET_INTER_OP_THREADS, ort_result, void *, int)(s->options, is_parallel ? threads : 1),
      "threads");
}

/* A key with a dot is a session entry of the engine ("session.intra_op.allow_spinning"). */
static hone_status set_option(struct ctx *ctx, const struct session *s, const char *key,
                              const char *value, int threads) {
  if (!strcmp(key, "provider")) return append_provider(ctx, s, value);
  if (!strcmp(key, "execution_mode")) return set_execution_mode(ctx, s, value, threads);
  if (!strcmp(key, "graph_optimization_level")) {
    int level = optimization_level(value);
    if (level < 0)
      return fail(ctx, HONE_E_USAGE, place_name(key),
                  "must be disable, basic, extended or all, not \"%s\"", value);
    return check(ctx, s,
                 API(s, SET_GRAPH_OPTIMIZATION_LEVEL, ort_result, void *, int)(s->options, level),
                 key);
  }
  if (strchr(key, '.'))
    return check(ctx, s,
                 API(s, ADD_SESSION_CONFIG, ort_result, void *, const char *, const char *)(
                     s->options, key, value),
                 key);
  return fail(ctx, HONE_E_USAGE, place_name(key),
              "is not an option of onnxruntime; it has graph_optimization_level, execution_mode, "
              "provider and "
              "session.*");
}

static hone_status set_options(struct ctx *ctx, const struct session *s,
                               const struct backend_request *request) {
  if (strcmp(request->precision, "fp32") && strcmp(request->precision, "as-is"))
    return fail(ctx, HONE_E_UNSUP, place_name(request->precision),
                "ONNX Runtime computes in the precision of the file");
  TRY(check(ctx, s,
            API(s, SET_INTRA_OP_THREADS, ort_result, void *, int)(s->options, request->threads),
            "threads"));
  TRY(check(ctx, s, API(s, SET_INTER_OP_THREADS, ort_result, void *, int)(s->options, 1),
            "threads"));
  TRY(set_option(ctx, s, "graph_optimization_level", "all", request->threads));
  char key[64], value[256];
  /* the default 4 would quantise the activations of 4-bit weights, which only the variant int8
     allows */
  TRY(set_option(ctx, s, "session.qdq_matmulnbits_accuracy_level", "1", request->threads));
  for (const char *at = request->options; option_next(&at, key, value);)
    TRY(set_option(ctx, s, key, value, request->threads));
  return HONE_OK;
}

/* -- inputs and outputs */

static hone_status read_shape(struct ctx *ctx, const struct session *s, void *info,
                              hone_tensor *out) {
  int type = 0;
  size_t rank = 0;
  TRY(check(ctx, s, API(s, ELEMENT_TYPE, ort_result, const void *, int *)(info, &type), "type"));
  TRY(check(ctx, s, API(s, DIMENSION_COUNT, ort_result, const void *, size_t *)(info, &rank),
            "shape"));
  if (rank > HONE_MAX_RANK)
    return fail(ctx, HONE_E_LIMIT, place_none(), "a tensor has %zu dimensions", rank);
  out->dtype = (hone_dtype)type; /* both number types as ONNX does, up to bfloat16 */
  out->rank = (int32_t)rank;
  return check(
      ctx, s,
      API(s, DIMENSIONS, ort_result, const void *, int64_t *, size_t)(info, out->shape, rank),
      "shape");
}

static hone_status read_info(struct ctx *ctx, const struct session *s, bool is_input, size_t i,
                             const char **out_name, struct backend_tensor *out) {
  char *name = NULL;
  TRY(check(ctx, s,
            API(s, is_input ? INPUT_NAME : OUTPUT_NAME, ort_result, void *, size_t, void *,
                char **)(s->session, i, s->allocator, &name),
            "name"));
  *out_name = name;
  snprintf(out->name, sizeof out->name, "%s", name);
  void *type = NULL;
  const void *info = NULL;
  TRY(check(ctx, s,
            API(s, is_input ? INPUT_TYPE_INFO : OUTPUT_TYPE_INFO, ort_result, void *, size_t,
                void **)(s->session, i, &type),
            name));
  hone_status status = check(
      ctx, s, API(s, CAST_TYPE_INFO, ort_result, const void *, const void **)(type, &info), name);
  if (!status && !info) status = fail(ctx, HONE_E_UNSUP, place_name(name), "is not a tensor");
  if (!status) status = read_shape(ctx, s, (void *)(uintptr_t)info, &out->info);
  API(s, RELEASE_TYPE_INFO, void, void *)(type);
  return status;
}

/* Names of dynamic dimensions with the sizes that the request gives. ONNX Runtime fixes a dimension
   by its name, so a name with two sizes stays dynamic and is known from the inputs. */
struct overrides {
  struct override {
    char *name;
    int64_t size;
    bool has_two_sizes;
  } * at;
  size_t count;
};

static hone_status note_size(struct ctx *ctx, struct overrides *o, const char *name, int64_t size) {
  for (size_t i = 0; i < o->count; i++) {
    if (strcmp(o->at[i].name, name)) continue;
    o->at[i].has_two_sizes |= o->at[i].size != size;
    return HONE_OK;
  }
  o->at[o->count] = (struct override){.name = strdup(name), .size = size};
  if (!o->at[o->count].name) return fail(ctx, HONE_E_OOM, place_name(name), "no memory");
  o->count++;
  return HONE_OK;
}

static hone_status note_input(struct ctx *ctx, const struct session *s, const char *name,
                              const void *info, const hone_tensor *tensor, const char *shapes,
                              struct overrides *o) {
  const char *names[HONE_MAX_RANK] = {NULL};
  int64_t dims[HONE_MAX_RANK];
  int32_t rank = 0;
  if (!shapes_find(shapes, name, &rank, dims) || rank != tensor->rank) return HONE_OK;
  TRY(check(ctx, s,
            API(s, SYMBOLIC_DIMENSIONS, ort_result, const void *, const char **, size_t)(
                info, names, (size_t)rank),
            name));
  for (int32_t d = 0; d < rank; d++)
    if (tensor->shape[d] < 0 && names[d] && dimension_is_named(names[d]))
      TRY(note_size(ctx, o, names[d], dims[d]));
  return HONE_OK;
}

static hone_status note_sizes(struct ctx *ctx, const struct session *s, size_t i,
                              const char *shapes, struct overrides *o) {
  char *name = NULL;
  void *type = NULL;
  const void *info = NULL;
  TRY(check(ctx, s,
            API(s, INPUT_NAME, ort_result, void *, size_t, void *, char **)(s->session, i,
                                                                            s->allocator, &name),
            "name"));
  TRY(check(ctx, s,
            API(s, INPUT_TYPE_INFO, ort_result, void *, size_t, void **)(s->session, i, &type),
            name));
  hone_status status = check(
      ctx, s, API(s, CAST_TYPE_INFO, ort_result, const void *, const void **)(type, &info), name);
  hone_tensor tensor = {.data = NULL};
  if (!status && info) status = read_shape(ctx, s, (void *)(uintptr_t)info, &tensor);
  if (!status && info) status = note_input(ctx, s, name, info, &tensor, shapes, o);
  API(s, RELEASE_TYPE_INFO, void, void *)(type);
  API(s, RELEASE_NAME, ort_result, void *, void *)(s->allocator, name);
  return status;
}

static hone_status create_session(struct ctx *ctx, struct session *s, const char *path) {
  TRY(check(ctx, s,
            API(s, CREATE_SESSION, ort_result, void *, const char *, void *, void **)(
                s->environment, path, s->options, &s->session),
            "load"));
  return check(ctx, s, API(s, DEFAULT_ALLOCATOR, ort_result, void **)(&s->allocator), "allocator");
}

/* Loads a file with named dynamic dimensions a second time, with their sizes. */
static hone_status fix_sizes(struct ctx *ctx, const struct session *s, const struct overrides *o,
                             bool *out_any) {
  for (size_t i = 0; i < o->count; i++) {
    if (o->at[i].has_two_sizes) continue;
    TRY(check(ctx, s,
              API(s, FREE_DIMENSION_BY_NAME, ort_result, void *, const char *, int64_t)(
                  s->options, o->at[i].name, o->at[i].size),
              o->at[i].name));
    *out_any = true;
  }
  return HONE_OK;
}

static hone_status fix_open_dimensions(struct ctx *ctx, struct session *s, const char *path,
                                       const char *shapes) {
  size_t count = 0;
  bool has_any = false;
  TRY(check(ctx, s, API(s, INPUT_COUNT, ort_result, void *, size_t *)(s->session, &count),
            "inputs"));
  struct overrides overrides = {.at = calloc(count * HONE_MAX_RANK + 1, sizeof *overrides.at)};
  hone_status status = overrides.at ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "no memory");
  for (size_t i = 0; shapes && i < count && !status; i++)
    status = note_sizes(ctx, s, i, shapes, &overrides);
  if (!status) status = fix_sizes(ctx, s, &overrides, &has_any);
  for (size_t i = 0; i < overrides.count; i++) free(overrides.at[i].name);
  free(overrides.at);
  if (status || !has_any) return status;
  API(s, RELEASE_SESSION, void, void *)(s->session);
  s->session = NULL;
  return create_session(ctx, s, path);
}

static bool is_open(const hone_tensor *tensor) {
  for (int32_t i = 0; i < tensor->rank; i++)
    if (tensor->shape[i] < 0) return true;
  return false;
}

/* Copies strings into the engine's tensor, which takes them NUL-terminated. */
static hone_status fill_text(struct ctx *ctx, const struct session *s, const char *name,
                             const hone_tensor *tensor, void *value) {
  const size_t count = tensor_elements(tensor);
  const hone_string *from = tensor->data;
  char **words = calloc(count + 1, sizeof *words);
  hone_status status = HONE_OK;
  for (size_t i = 0; words && i < count; i++)
    if (!(words[i] = strndup(from[i].bytes ? from[i].bytes : "", from[i].length))) break;
  if (!words || (count && !words[count - 1]))
    status = fail(ctx, HONE_E_OOM, place_name(name), "no memory for %zu strings", count);
  else
    status = check(ctx, s,
                   API(s, FILL_TEXT, ort_result, void *, const char *const *, size_t)(
                       value, (const char *const *)words, count),
                   name);
  for (size_t i = 0; words && i < count; i++) free(words[i]);
  free(words);
  return status;
}

static hone_status make_text(struct ctx *ctx, const struct session *s, const char *name,
                             const hone_tensor *tensor, void **out) {
  TRY(check(ctx, s,
            API(s, CREATE_TENSOR, ort_result, void *, const int64_t *, size_t, int, void **)(
                s->allocator, tensor->shape, (size_t)tensor->rank, (int)tensor->dtype, out),
            name));
  return fill_text(ctx, s, name, tensor, *out);
}

static hone_status make_value(struct ctx *ctx, const struct session *s, const char *name,
                              const hone_tensor *tensor, void **out) {
  size_t bytes;
  TRY(tensor_bytes(ctx, name, tensor, &bytes));
  if (tensor->dtype == HONE_STRING) return make_text(ctx, s, name, tensor, out);
  return check(
      ctx, s,
      API(s, CREATE_TENSOR_WITH_DATA, ort_result, const void *, void *, size_t, const int64_t *,
          size_t, int, void **)(s->memory, tensor->data, bytes, tensor->shape, (size_t)tensor->rank,
                                (int)tensor->dtype, out),
      name);
}

static ort_result run(const struct session *s, void *const *inputs, void **outputs) {
  return API(s, RUN, ort_result, void *, const void *, const char *const *, const void *const *,
             size_t, const char *const *, size_t,
             void **)(s->session, NULL, s->input_names, (const void *const *)inputs, s->input_count,
                      s->output_names, s->output_count, outputs);
}

static void release_values(const struct session *s, void **values, size_t count) {
  for (size_t i = 0; values && i < count; i++)
    if (values[i]) API(s, RELEASE_VALUE, void, void *)(values[i]);
  free(values);
}

static hone_status read_outputs(struct ctx *ctx, const struct session *s, void *const *values,
                                struct backend_io *io) {
  for (size_t i = 0; i < io->output_count; i++) {
    void *info = NULL;
    TRY(check(ctx, s,
              API(s, TENSOR_TYPE_AND_SHAPE, ort_result, const void *, void **)(values[i], &info),
              io->outputs[i].name));
    hone_status status = read_shape(ctx, s, info, &io->outputs[i].info);
    API(s, RELEASE_TENSOR_INFO, void, void *)(info);
    TRY(status);
  }
  return HONE_OK;
}

/* The engine does not know the shape of such an output before a run: runs once over zeros. */
static hone_status probe_outputs(struct ctx *ctx, const struct session *s, struct backend_io *io) {
  void **inputs = calloc(s->input_count + 1, sizeof *inputs);
  void **outputs = calloc(s->output_count + 1, sizeof *outputs);
  void **memory = calloc(s->input_count + 1, sizeof *memory);
  hone_status status = inputs && outputs && memory
                           ? HONE_OK
                           : fail(ctx, HONE_E_OOM, place_none(), "no memory to probe the outputs");
  for (size_t i = 0; !status && i < s->input_count; i++) {
    hone_tensor tensor = io->inputs[i].info;
    size_t bytes = 0;
    status = tensor_bytes(ctx, io->inputs[i].name, &tensor, &bytes);
    if (!status && !(tensor.data = memory[i] = calloc(1, bytes + 1)))
      status = fail(ctx, HONE_E_OOM, place_none(), "no memory to probe the outputs");
    if (!status) status = make_value(ctx, s, io->inputs[i].name, &tensor, &inputs[i]);
  }
  if (!status) status = check(ctx, s, run(s, inputs, outputs), "run");
  if (!status) status = read_outputs(ctx, s, outputs, io);
  release_values(s, inputs, s->input_count);
  release_values(s, outputs, s->output_count);
  for (size_t i = 0; memory && i < s->input_count; i++) free(memory[i]);
  free(memory);
  return status;
}

static hone_status read_io(struct ctx *ctx, struct session *s,
                           const struct backend_request *request, struct backend_io *io) {
  TRY(check(ctx, s, API(s, INPUT_COUNT, ort_result, void *, size_t *)(s->session, &s->input_count),
            "inputs"));
  TRY(check(ctx, s,
            API(s, OUTPUT_COUNT, ort_result, void *, size_t *)(s->session, &s->output_count),
            "outputs"));
  TRY(backend_io_create(ctx, s->input_count, s->output_count, io));
  s->input_names = calloc(s->input_count + 1, sizeof *s->input_names);
  s->output_names = calloc(s->output_count + 1, sizeof *s->output_names);
  if (!s->input_names || !s->output_names)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for names");
  for (size_t i = 0; i < s->input_count; i++) {
    struct backend_tensor *input = &io->inputs[i];
    TRY(read_info(ctx, s, true, i, &s->input_names[i], input));
    if (request->grows || !is_open(&input->info) ||
        shapes_find(request->shapes, input->name, &input->info.rank, input->info.shape))
      continue;
    input->is_assumed =
        input->info.shape[0] < 0; /* the rule of src/compiler/import/common/shapes.c */
    if (input->is_assumed) input->info.shape[0] = 1;
  }
  bool has_open = false;
  for (size_t i = 0; i < s->output_count; i++) {
    TRY(read_info(ctx, s, false, i, &s->output_names[i], &io->outputs[i]));
    has_open = has_open || is_open(&io->outputs[i].info);
  }
  return has_open && !request->grows ? probe_outputs(ctx, s, io) : HONE_OK;
}

/* -- the seven functions */

static void release_names(const struct session *s, const char **names, size_t count) {
  for (size_t i = 0; names && i < count; i++)
    if (names[i])
      API(s, RELEASE_NAME, ort_result, void *, void *)(s->allocator, (void *)(uintptr_t)names[i]);
  free(names);
}

static void release_set(const struct session *s, struct tensor_set *at) {
  if (at->binding) API(s, RELEASE_BINDING, void, void *)(at->binding);
  release_values(s, at->inputs, s->input_count);
  release_values(s, at->outputs, s->output_count);
  for (size_t i = 0; at->texts && i < s->output_count; i++) free(at->texts[i]);
  free(at->texts);
  free(at->tables);
  *at = (struct tensor_set){.binding = NULL};
}

static void close_session(struct session *s) {
  streams_destroy(s->streams);
  for (int set = 0; set < BACKEND_MAX_SETS; set++) {
    release_set(s, &s->sets[set]);
  }
  release_names(s, s->input_names, s->input_count);
  release_names(s, s->output_names, s->output_count);
  if (s->memory) API(s, RELEASE_MEMORY_INFO, void, void *)(s->memory);
  if (s->session) API(s, RELEASE_SESSION, void, void *)(s->session);
  if (s->options) API(s, RELEASE_SESSION_OPTIONS, void, void *)(s->options);
  if (s->environment) API(s, RELEASE_ENV, void, void *)(s->environment);
  /* the library is not unloaded: its threads may still be ending */
}

static hone_status run_bound(struct ctx *ctx, struct session *s, int set);
static hone_status open_session(struct ctx *ctx, struct session *s,
                                const struct backend_request *request, struct backend_facts *facts,
                                struct backend_io *out_io) {
  char path[4096];
  const struct ort_base *base;
  TRY(load_library(ctx, request->engine_path, path, &s->library, &base));
  s->api = base->get_api(API_VERSION);
  TRY(check(ctx, s,
            API(s, CREATE_ENV, ort_result, int, const char *, void **)(ORT_LOG_ERROR, "hone",
                                                                       &s->environment),
            "environment"));
  TRY(check(ctx, s, API(s, DISABLE_TELEMETRY_EVENTS, ort_result, void *)(s->environment),
            "environment"));
  TRY(check(ctx, s, API(s, CREATE_SESSION_OPTIONS, ort_result, void **)(&s->options), "options"));
  TRY(set_options(ctx, s, request));
  int threads_before = process_thread_count();
  TRY(create_session(ctx, s, request->model_path));
  if (!request->grows) TRY(fix_open_dimensions(ctx, s, request->model_path, request->shapes));
  TRY(check(ctx, s,
            API(s, CREATE_CPU_MEMORY_INFO, ort_result, int, int, void **)(
                ORT_DEVICE_ALLOCATOR, ORT_MEMORY_DEFAULT, &s->memory),
            "memory"));
  TRY(read_io(ctx, s, request, out_io));
  safe_copy(facts->version, sizeof facts->version, base->get_version());
  char provider[256] = "CPU";
  option_get(request->options, "provider", provider);
  snprintf(facts->device, sizeof facts->device, "%.40sExecutionProvider", provider);
  snprintf(facts->precision, sizeof facts->precision, "fp32");
  /* the calling thread works too; the engine does not report its threads */
  facts->threads = 1 + process_thread_count() - threads_before;
  /* the only provider; otherwise the survey reports it */
  if (!strcmp(provider, "CPU")) facts->fallback_share = 0;
  facts->artifact_bytes = engine_mapped_bytes(path);
  if (request->in_flight <= 1) return HONE_OK;
  /* one session is used by several threads, which share its pool */
  facts->in_flight = request->in_flight;
  return streams_create(ctx, request->in_flight, run_bound, s, &s->streams);
}

static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  struct tensor_set *at = &s->sets[set];
  release_set(s, at);
  at->inputs = calloc(s->input_count + 1, sizeof *at->inputs);
  at->outputs = calloc(s->output_count + 1, sizeof *at->outputs);
  at->tables = calloc(s->output_count + 1, sizeof *at->tables);
  at->texts = calloc(s->output_count + 1, sizeof *at->texts);
  if (!at->inputs || !at->outputs || !at->tables || !at->texts)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
  for (size_t i = 0; i < s->output_count; i++) at->tables[i] = outputs[i];
  for (size_t i = 0; i < s->input_count; i++)
    TRY(make_value(ctx, s, s->input_names[i], &inputs[i], &at->inputs[i]));
  for (size_t i = 0; i < s->output_count; i++) {
    at->has_text = at->has_text || outputs[i].dtype == HONE_STRING;
    if (outputs[i].dtype != HONE_STRING)
      TRY(make_value(ctx, s, s->output_names[i], &outputs[i], &at->outputs[i]));
  }
  if (at->has_text) return HONE_OK;
  TRY(check(ctx, s, API(s, CREATE_BINDING, ort_result, void *, void **)(s->session, &at->binding),
            "binding"));
  for (size_t i = 0; i < s->input_count; i++)
    TRY(check(ctx, s,
              API(s, BIND_INPUT, ort_result, void *, const char *, const void *)(
                  at->binding, s->input_names[i], at->inputs[i]),
              "input"));
  for (size_t i = 0; i < s->output_count; i++)
    TRY(check(ctx, s,
              API(s, BIND_OUTPUT, ort_result, void *, const char *, const void *)(
                  at->binding, s->output_names[i], at->outputs[i]),
              "output"));
  return HONE_OK;
}

/* Each inference makes new strings: StringConcat of 1.31.1 appends to those of a bound output. */
static hone_status run_text(struct ctx *ctx, struct session *s, struct tensor_set *at) {
  for (size_t i = 0; i < s->output_count; i++)
    if (at->tables[i].dtype == HONE_STRING && at->outputs[i]) {
      API(s, RELEASE_VALUE, void, void *)(at->outputs[i]);
      at->outputs[i] = NULL;
    }
  return check(ctx, s, run(s, at->inputs, at->outputs), "run");
}

static hone_status run_bound(struct ctx *ctx, struct session *s, int set) {
  if (s->sets[set].has_text) return run_text(ctx, s, &s->sets[set]);
  ort_result result = API(s, RUN_WITH_BINDING, ort_result, void *, const void *, const void *)(
      s->session, NULL, s->sets[set].binding);
  return result ? check(ctx, s, result, "run") : HONE_OK;
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  return s->streams ? streams_submit(ctx, s->streams, set) : run_bound(ctx, s, set);
}

static hone_status wait(struct ctx *ctx, struct session *s, int set) {
  return s->streams ? streams_wait(ctx, s->streams, set) : HONE_OK; /* Run is synchronous */
}

/* Reads all strings of one output, concatenated, and where each begins. */
static hone_status read_table(struct ctx *ctx, const struct session *s, struct tensor_set *at,
                              size_t i) {
  const char *name = s->output_names[i];
  const size_t count = tensor_elements(&at->tables[i]);
  hone_string *table = at->tables[i].data;
  size_t bytes = 0, *begins = calloc(count + 1, sizeof *begins);
  if (!begins) return fail(ctx, HONE_E_OOM, place_name(name), "no memory for %zu strings", count);
  hone_status status = check(
      ctx, s, API(s, TEXT_BYTES, ort_result, const void *, size_t *)(at->outputs[i], &bytes), name);
  free(at->texts[i]);
  at->texts[i] = malloc(bytes + 1);
  if (!status && !at->texts[i])
    status = fail(ctx, HONE_E_OOM, place_name(name), "no memory for %zu bytes of text", bytes);
  if (!status)
    status = check(ctx, s,
                   API(s, GET_TEXT, ort_result, const void *, void *, size_t, size_t *, size_t)(
                       at->outputs[i], at->texts[i], bytes, begins, count),
                   name);
  begins[count] = bytes;
  for (size_t k = 0; !status && k < count; k++)
    table[k] = (hone_string){at->texts[i] + begins[k], begins[k + 1] - begins[k]};
  free(begins);
  return status;
}

static hone_status read_text(struct ctx *ctx, struct session *s, int set) {
  struct tensor_set *at = &s->sets[set];
  for (size_t i = 0; i < s->output_count; i++)
    if (at->tables[i].dtype == HONE_STRING) TRY(read_table(ctx, s, at, i));
  return HONE_OK;
}

/* -- profile */

/* The profile is a JSON array of events; that of a node has its time, provider and input types. */
static void read_profile(const char *path, struct precision_mix *mix) {
  json_error_t error;
  json_t *events = json_load_file(path, 0, &error), *event;
  size_t i;
  json_array_foreach(events, i, event) {
    const char *kind = json_string_value(json_object_get(event, "cat"));
    const json_t *arguments = json_object_get(event, "args");
    const char *provider = json_string_value(json_object_get(arguments, "provider"));
    if (!kind || strcmp(kind, "Node") || !provider) continue;
    json_t *types = json_array_get(json_object_get(arguments, "input_type_shape"), 0);
    const char *type = json_object_iter_key(json_object_iter(types));
    precision_mix_add(mix, type ? type : "", json_number_value(json_object_get(event, "dur")) * 1e3,
                      strcmp(provider, "CPUExecutionProvider") != 0);
  }
  json_decref(events);
}

/* A second session that profiles one run. */
static hone_status survey(struct ctx *ctx, struct session *s, const struct backend_request *request,
                          struct backend_facts *facts) {
  char prefix[4096 + 16];
  char *file = NULL;
  void *measured = s->session;
  struct precision_mix mix = {.all_ns = 0};
  snprintf(prefix, sizeof prefix, "%s/profile", request->work_dir);
  TRY(check(ctx, s, API(s, ENABLE_PROFILING, ort_result, void *, const char *)(s->options, prefix),
            "profile"));
  s->session = NULL;
  hone_status status = create_session(ctx, s, request->model_path);
  if (!status) status = check(ctx, s, run(s, s->sets[0].inputs, s->sets[0].outputs), "run");
  if (!status)
    status = check(
        ctx, s,
        API(s, END_PROFILING, ort_result, void *, void *, char **)(s->session, s->allocator, &file),
        "profile");
  if (!status) {
    read_profile(file, &mix);
    precision_mix_tell(&mix, facts);
    API(s, RELEASE_NAME, ort_result, void *, void *)(s->allocator, file);
  }
  if (s->session) API(s, RELEASE_SESSION, void, void *)(s->session);
  s->session = measured;
  return status;
}

/* A second session that writes the graph as it runs it: fused, in the layout of this processor. */
static hone_status keep(struct ctx *ctx, struct session *s, const struct backend_request *request,
                        struct strbuf *out_names) {
  char path[4096 + 32];
  void *measured = s->session;
  snprintf(path, sizeof path, "%s/optimised.onnx", request->work_dir);
  TRY(check(ctx, s,
            API(s, SET_OPTIMIZED_MODEL_PATH, ort_result, void *, const char *)(s->options, path),
            "optimised model"));
  s->session = NULL;
  const hone_status status = create_session(ctx, s, request->model_path);
  if (!status) strbuf_puts(out_names, "optimised.onnx\n");
  if (s->session) API(s, RELEASE_SESSION, void, void *)(s->session);
  s->session = measured;
  return status;
}

static const struct backend_variant variants[] = {
    {"off", "graph_optimization_level=disable", "graph optimisations off"},
    {"basic", "graph_optimization_level=basic", "constant folding and redundant nodes only"},
    {"extended", "graph_optimization_level=extended", "fusions too, no layout change"},
    {"parallel", "execution_mode=parallel", "branches of the graph in parallel"},
    {"int8", "session.qdqisint8allowed=1;session.qdq_matmulnbits_accuracy_level=4",
     "int8 arithmetic wherever the file's quantisation permits it"},
    {"hugepages", "env.GLIBC_TUNABLES=glibc.malloc.hugetlb=1", "glibc's heap in huge pages"},
    {NULL, NULL, NULL}};

const struct backend backend_onnxruntime = {
    .name = "onnxruntime",
    .title = "ONNX Runtime",
    .routes = "onnx onnx-hone",
    .formats = "onnx",
    .package = "onnxruntime==1.31.1",
    .package_mb = 90,
    .grows = true,
    .takes_text = true,
    .ships_model = true,
    .saturates = true,
    .traits = {"CPU; CUDA, ROCm, DirectML and others by other packages", "ONNX", "ONNX graph",
               "constant folding, fusion, NCHWc layout, memory arena", "fp32 fp16 int8"},
    .variants = variants,
    .describe = describe,
    .prepare = NULL, /* the engine compiles on load */
    .session_size = sizeof(struct session),
    .open = open_session,
    .bind = bind_set,
    .submit = submit,
    .survey = survey,
    .keep = keep,
    .wait = wait,
    .read_text = read_text,
    .close = close_session,
};
