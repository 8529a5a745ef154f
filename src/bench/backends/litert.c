/* LiteRT through its C API (litert/c/ of the project; tried with 2.3.0), with XNNPACK: .tflite
 * files. The library is opened at run time and the used functions are declared here, in the X-table
 * below.
 *
 * The thread count is an option of XNNPACK, given as a string; unknown options are ignored
 * silently. With a dynamic shape the first run returns 0 and writes nothing, so such files are
 * refused before a run.
 */
#include "backends.h"

#include <dlfcn.h>
#include <stdlib.h>

#define LIBRARY_PATTERN "ai_edge_litert/libLiteRt.so"
#define MAX_RANK 8
#define HOST_SLACK 64 /* bytes after each tensor that the caller owns */

/* LiteRtRankedTensorType, LiteRtAny, LiteRtEnvOption: their layout is stable by promise. */
struct rt_type {
  int element;
  struct {
    unsigned rank : 7, has_strides : 1;
    int32_t dims[MAX_RANK];
    uint32_t strides[MAX_RANK];
  } layout;
};
struct rt_any {
  int type;
  union {
    int64_t integer;
    const void *pointer;
  } value;
};
struct rt_environment_option {
  int tag;
  struct rt_any value;
};
enum { ANY_INTEGER = 2, TAG_ACCELERATORS = 24, TAG_SEVERITY = 25, SEVERITY_ERROR = 3 };
enum { ACCELERATOR_CPU = 1, LOCK_WRITE = 1 };

/* The first of LiteRtStatus. */
static const char *const status_words[] = {
    "ok",          "invalid argument", "no memory", "failure at run time", "an input is missing",
    "unsupported", "not found"};
enum { STATUS_NO_MEMORY = 2, STATUS_UNSUPPORTED = 5 };

/* name, result, arguments; handles as void * */
#define RT_FUNCTIONS(X)                                                                     \
  X(LiteRtCreateEnvironment, int, (int, const struct rt_environment_option *, void **))     \
  X(LiteRtDestroyEnvironment, void, (void *))                                               \
  X(LiteRtCreateModelFromFile, int, (void *, const char *, void **))                        \
  X(LiteRtDestroyModel, void, (void *))                                                     \
  X(LiteRtGetModelSignature, int, (void *, size_t, void **))                                \
  X(LiteRtGetNumSignatureInputs, int, (void *, size_t *))                                   \
  X(LiteRtGetNumSignatureOutputs, int, (void *, size_t *))                                  \
  X(LiteRtGetSignatureInputTensorByIndex, int, (void *, size_t, void **))                   \
  X(LiteRtGetSignatureOutputTensorByIndex, int, (void *, size_t, void **))                  \
  X(LiteRtGetTensorName, int, (void *, const char **))                                      \
  X(LiteRtGetTensorTypeId, int, (void *, int *))                                            \
  X(LiteRtGetRankedTensorType, int, (void *, struct rt_type *))                             \
  X(LiteRtCreateOptions, int, (void **))                                                    \
  X(LiteRtDestroyOptions, void, (void *))                                                   \
  X(LiteRtSetOptionsHardwareAccelerators, int, (void *, int))                               \
  X(LiteRtCreateOpaqueOptions, int, (const char *, void *, void (*)(void *), void **))      \
  X(LiteRtAddOpaqueOptions, int, (void *, void *))                                          \
  X(LiteRtCreateCompiledModel, int, (void *, void *, void *, void **))                      \
  X(LiteRtDestroyCompiledModel, void, (void *))                                             \
  X(LiteRtCompiledModelIsFullyAccelerated, int, (void *, bool *))                           \
  X(LiteRtGetCompiledModelInputBufferRequirements, int, (void *, size_t, size_t, void **))  \
  X(LiteRtGetCompiledModelOutputBufferRequirements, int, (void *, size_t, size_t, void **)) \
  X(LiteRtGetTensorBufferRequirementsBufferSize, int, (void *, size_t *))                   \
  X(LiteRtCreateManagedTensorBufferFromRequirements, int,                                   \
    (void *, const struct rt_type *, void *, void **))                                      \
  X(LiteRtCreateTensorBufferFromHostMemory, int,                                            \
    (const struct rt_type *, void *, size_t, void (*)(void *), void **))                    \
  X(LiteRtLockTensorBuffer, int, (void *, void **, int))                                    \
  X(LiteRtUnlockTensorBuffer, int, (void *))                                                \
  X(LiteRtDestroyTensorBuffer, void, (void *))                                              \
  X(LiteRtRunCompiledModel, int, (void *, size_t, size_t, void **, size_t, void **))

struct rt_api {
#define X(name, result, arguments) result(*name) arguments;
  RT_FUNCTIONS(X)
#undef X
};

/* LiteRtElementType, whose numbers are TfLiteType's. */
static const struct {
  int element;
  hone_dtype dtype;
} element_types[] = {{1, HONE_F32},  {2, HONE_I32},  {3, HONE_U8},   {4, HONE_I64},
                     {6, HONE_BOOL}, {7, HONE_I16},  {9, HONE_I8},   {10, HONE_F16},
                     {11, HONE_F64}, {13, HONE_U64}, {16, HONE_U32}, {17, HONE_U16}};

struct session {
  struct rt_api api;
  void *library, *environment, *model, *signature, *options, *compiled;
  size_t input_count, output_count;
  struct rt_type *types; /* of inputs, then outputs */
  void **buffers[BACKEND_MAX_SETS];
};

static hone_status check(struct ctx *ctx, const struct session *s, int code, const char *what) {
  if (!code) return HONE_OK;
  (void)s;
  return fail(ctx,
              code == STATUS_UNSUPPORTED ? HONE_E_UNSUP
              : code == STATUS_NO_MEMORY ? HONE_E_OOM
                                         : HONE_E_FORMAT,
              place_name(what), "LiteRT: %s (status %d)",
              code > 0 && code < (int)COUNT(status_words) ? status_words[code] : "failed", code);
}
#define CALL(name, ...) TRY(check(ctx, s, s->api.name(__VA_ARGS__), #name))

static hone_status load_library(struct ctx *ctx, const char *engine_path, char path[4096],
                                struct session *s) {
  TRY(engine_file(ctx, "litert", engine_path, LIBRARY_PATTERN, path));
  s->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!s->library) return fail(ctx, HONE_E_MISSING, place_file(path), "%s", dlerror());
#define X(name, result, arguments)                                        \
  s->api.name = (result(*) arguments)(uintptr_t)dlsym(s->library, #name); \
  if (!s->api.name) return fail(ctx, HONE_E_UNSUP, place_file(path), "has no " #name);
  RT_FUNCTIONS(X)
#undef X
  return HONE_OK;
}

static void describe(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                     struct backend_info *out) {
  (void)backend;
  const hone_status status = engine_file(ctx, "litert", engine_path, LIBRARY_PATTERN, out->library);
  if (!status) {
    out->status = BACKEND_READY;
    engine_version(ctx, "litert", engine_path, "ai_edge_litert", out->version);
    return;
  }
  out->status = BACKEND_MISSING;
  safe_copy(out->reason, sizeof out->reason, ctx->message);
  ctx_clear(ctx);
}

/* -- open */

static hone_status read_tensor(struct ctx *ctx, const struct session *s, void *tensor,
                               struct rt_type *type, struct backend_tensor *out) {
  const char *name = NULL;
  int is_unranked = 0;
  CALL(LiteRtGetTensorName, tensor, &name);
  snprintf(out->name, sizeof out->name, "%s", name ? name : "");
  CALL(LiteRtGetTensorTypeId, tensor, &is_unranked);
  if (is_unranked) return fail(ctx, HONE_E_UNSUP, place_name(out->name), "has no rank");
  CALL(LiteRtGetRankedTensorType, tensor, type);
  for (size_t i = 0; i < COUNT(element_types); i++)
    if (element_types[i].element == type->element) out->info.dtype = element_types[i].dtype;
  if (!out->info.dtype || type->layout.rank > MAX_RANK)
    return fail(ctx, HONE_E_UNSUP, place_name(out->name), "has element type %d", type->element);
  out->info.rank = (int32_t)type->layout.rank;
  for (unsigned i = 0; i < type->layout.rank; i++) {
    out->info.shape[i] = type->layout.dims[i];
    if (type->layout.dims[i] < 0)
      return fail(ctx, HONE_E_UNSUP, place_name(out->name),
                  "has a dynamic dimension: LiteRT's C API runs such a file and writes nothing");
  }
  return HONE_OK;
}

static hone_status read_signature(struct ctx *ctx, struct session *s, struct backend_io *out) {
  CALL(LiteRtGetModelSignature, s->model, 0, &s->signature);
  CALL(LiteRtGetNumSignatureInputs, s->signature, &s->input_count);
  CALL(LiteRtGetNumSignatureOutputs, s->signature, &s->output_count);
  TRY(backend_io_create(ctx, s->input_count, s->output_count, out));
  s->types = calloc(s->input_count + s->output_count + 1, sizeof *s->types);
  if (!s->types) return fail(ctx, HONE_E_OOM, place_none(), "no memory for tensor types");
  for (size_t i = 0; i < s->input_count + s->output_count; i++) {
    const bool is_input = i < s->input_count;
    void *tensor = NULL;
    if (is_input)
      CALL(LiteRtGetSignatureInputTensorByIndex, s->signature, i, &tensor);
    else
      CALL(LiteRtGetSignatureOutputTensorByIndex, s->signature, i - s->input_count, &tensor);
    TRY(read_tensor(ctx, s, tensor, &s->types[i],
                    is_input ? &out->inputs[i] : &out->outputs[i - s->input_count]));
  }
  return HONE_OK;
}

/* "xnnpack": num_threads and the user's KEY=VALUE options, as lines of TOML. */
static hone_status set_options(struct ctx *ctx, struct session *s,
                               const struct backend_request *request) {
  struct strbuf text = {0};
  char key[64], value[256];
  void *opaque = NULL;
  CALL(LiteRtCreateOptions, &s->options);
  CALL(LiteRtSetOptionsHardwareAccelerators, s->options, ACCELERATOR_CPU);
  strbuf_printf(&text, "num_threads = %d\n", request->threads);
  for (const char *at = request->options; option_next(&at, key, value);)
    strbuf_printf(&text, "%s = %s\n", key, value);
  TRY(strbuf_finish(ctx, &text));
  /* it takes ownership of the string */
  return check(ctx, s,
               s->api.LiteRtCreateOpaqueOptions("xnnpack", text.at, free, &opaque) ||
                   s->api.LiteRtAddOpaqueOptions(s->options, opaque),
               "xnnpack");
}

static hone_status open_session(struct ctx *ctx, struct session *s,
                                const struct backend_request *request, struct backend_facts *facts,
                                struct backend_io *out_io) {
  char path[4096];
  bool is_whole = false;
  const struct rt_environment_option quiet[] = {
      {TAG_SEVERITY, {ANY_INTEGER, {SEVERITY_ERROR}}},
      {TAG_ACCELERATORS, {ANY_INTEGER, {ACCELERATOR_CPU}}}};
  if (strcmp(request->precision, "fp32") && strcmp(request->precision, "as-is"))
    return fail(ctx, HONE_E_UNSUP, place_name(request->precision),
                "LiteRT computes in the precision of the file");
  TRY(load_library(ctx, request->engine_path, path, s));
  CALL(LiteRtCreateEnvironment, (int)COUNT(quiet), quiet, &s->environment);
  CALL(LiteRtCreateModelFromFile, s->environment, request->model_path, &s->model);
  TRY(read_signature(ctx, s, out_io));
  TRY(set_options(ctx, s, request));
  CALL(LiteRtCreateCompiledModel, s->environment, s->model, s->options, &s->compiled);
  CALL(LiteRtCompiledModelIsFullyAccelerated, s->compiled, &is_whole);
  engine_version(ctx, "litert", request->engine_path, "ai_edge_litert", facts->version);
  snprintf(facts->device, sizeof facts->device,
           is_whole ? "cpu (XNNPACK)" : "cpu (XNNPACK in part)");
  snprintf(facts->precision, sizeof facts->precision, "%s", request->file_precision);
  facts->threads = request->threads;
  facts->artifact_bytes = engine_mapped_bytes(path);
  return HONE_OK;
}

/* -- run */

static hone_status copy_one(struct ctx *ctx, struct session *s, void *buffer, const void *data,
                            size_t bytes) {
  void *memory = NULL;
  CALL(LiteRtLockTensorBuffer, buffer, &memory, LOCK_WRITE);
  memcpy(memory, data, bytes);
  CALL(LiteRtUnlockTensorBuffer, buffer);
  return HONE_OK;
}

/* Inputs are copied into the engine's memory; outputs are the caller's memory. */
static hone_status bind_one(struct ctx *ctx, struct session *s, size_t i, const char *name,
                            const hone_tensor *tensor, void **out) {
  void *requirements = NULL;
  size_t wanted = 0, bytes = 0;
  TRY(tensor_bytes(ctx, name, tensor, &bytes));
  if (i >= s->input_count) {
    CALL(LiteRtGetCompiledModelOutputBufferRequirements, s->compiled, 0, i - s->input_count,
         &requirements);
    CALL(LiteRtGetTensorBufferRequirementsBufferSize, requirements, &wanted);
    if (wanted > bytes + HOST_SLACK)
      return fail(ctx, HONE_E_UNSUP, place_name(name), "LiteRT needs %zu bytes, not %zu", wanted,
                  bytes);
    CALL(LiteRtCreateTensorBufferFromHostMemory, &s->types[i], tensor->data,
         wanted > bytes ? wanted : bytes, NULL, out);
    return HONE_OK;
  }
  CALL(LiteRtGetCompiledModelInputBufferRequirements, s->compiled, 0, i, &requirements);
  CALL(LiteRtCreateManagedTensorBufferFromRequirements, s->environment, &s->types[i], requirements,
       out);
  return copy_one(ctx, s, *out, tensor->data, bytes);
}

static hone_status copy_in(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs) {
  for (size_t i = 0; i < s->input_count; i++) {
    size_t bytes;
    TRY(tensor_bytes(ctx, "input", &inputs[i], &bytes));
    TRY(copy_one(ctx, s, s->buffers[set][i], inputs[i].data, bytes));
  }
  return HONE_OK;
}

static void release_set(struct session *s, int set) {
  for (size_t i = 0; s->buffers[set] && i < s->input_count + s->output_count; i++)
    if (s->buffers[set][i]) s->api.LiteRtDestroyTensorBuffer(s->buffers[set][i]);
  free(s->buffers[set]);
  s->buffers[set] = NULL;
}

static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  const size_t count = s->input_count + s->output_count;
  release_set(s, set);
  s->buffers[set] = calloc(count + 1, sizeof *s->buffers[set]);
  if (!s->buffers[set]) return fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
  for (size_t i = 0; i < count; i++)
    TRY(bind_one(ctx, s, i, i < s->input_count ? "input" : "output",
                 i < s->input_count ? &inputs[i] : &outputs[i - s->input_count],
                 &s->buffers[set][i]));
  return HONE_OK;
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  void **buffers = s->buffers[set];
  return check(ctx, s,
               s->api.LiteRtRunCompiledModel(s->compiled, 0, s->input_count, buffers,
                                             s->output_count, buffers + s->input_count),
               "LiteRtRunCompiledModel");
}

static void close_session(struct session *s) {
  for (int set = 0; set < BACKEND_MAX_SETS; set++) release_set(s, set);
  if (s->compiled) s->api.LiteRtDestroyCompiledModel(s->compiled);
  if (s->options) s->api.LiteRtDestroyOptions(s->options);
  if (s->model) s->api.LiteRtDestroyModel(s->model);
  if (s->environment) s->api.LiteRtDestroyEnvironment(s->environment);
  free(s->types);
}

const struct backend backend_litert = {
    .name = "litert",
    .title = "LiteRT",
    .routes = "tflite-hone",
    .formats = "tflite",
    .package = "ai-edge-litert==2.3.0",
    .package_mb = 150,
    .ships_model = true,
    .only_installed = true,
    .traits = {"CPUs (XNNPACK), mobile GPUs and NPUs", "TFLite; others by hone's graph",
               "TFLite flatbuffer, XNNPACK subgraph",
               "XNNPACK delegate: packing, fusion of activations, dynamic-range int8",
               "fp32 fp16 int8"},
    .describe = describe,
    .session_size = sizeof(struct session),
    .open = open_session,
    .bind = bind_set,
    .copy_in = copy_in,
    .submit = submit,
    .wait = wait_nothing, /* Run is synchronous */
    .close = close_session,
};
