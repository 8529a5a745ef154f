/* OpenVINO through its C API (openvino/c/ in the wheel's include folder; tried with 2026.4.1). The
 * library is opened at run time and the used functions are declared here, in the X-table below.
 *
 * By default the CPU plugin chooses bf16 on machines with AMX, so the precision is pinned and read
 * back. The latency hint and one stream make a synchronous call fast. Numbers of element types
 * changed between releases, so they are tested first.
 */
#include "backends.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "bench/backends/embedded/openvino_c.h"

#define LIBRARY_PATTERN "openvino/libs/libopenvino_c.so*"
#define MAX_PROPERTIES 32

/* ov_profiling_info_t and its list. */
struct ov_profile {
  struct ov_profiled {
    int status;
    int64_t real_time, cpu_time; /* us */
    const char *node_name, *exec_type, *node_type;
  } * at;
  size_t count;
};
enum { OV_EXECUTED = 2 };

/* as OV_RUN_FUNCTIONS */
#define OV_FUNCTIONS(X)                                                            \
  OV_RUN_FUNCTIONS(X)                                                              \
  X(ov_version_free, void, (struct ov_version *))                                  \
  X(ov_free, void, (const char *))                                                 \
  X(ov_core_free, void, (void *))                                                  \
  X(ov_model_free, void, (void *))                                                 \
  X(ov_model_inputs_size, int, (const void *, size_t *))                           \
  X(ov_model_const_input_by_index, int, (const void *, size_t, void **))           \
  X(ov_partial_shape_free, void, (struct ov_partial_shape *))                      \
  X(ov_compiled_model_free, void, (void *))                                        \
  X(ov_compiled_model_inputs_size, int, (const void *, size_t *))                  \
  X(ov_compiled_model_outputs_size, int, (const void *, size_t *))                 \
  X(ov_compiled_model_input_by_index, int, (const void *, size_t, void **))        \
  X(ov_compiled_model_output_by_index, int, (const void *, size_t, void **))       \
  X(ov_compiled_model_get_property, int, (const void *, const char *, char **))    \
  X(ov_compiled_model_export_model, int, (const void *, const char *))             \
  X(ov_port_get_any_name, int, (const void *, char **))                            \
  X(ov_port_get_partial_shape, int, (const void *, struct ov_partial_shape *))     \
  X(ov_port_get_element_type, int, (const void *, int *))                          \
  X(ov_output_const_port_free, void, (void *))                                     \
  X(ov_tensor_create, int, (int, struct ov_shape, void **))                        \
  X(ov_tensor_get_byte_size, int, (const void *, size_t *))                        \
  X(ov_infer_request_start_async, int, (void *))                                   \
  X(ov_infer_request_wait, int, (void *))                                          \
  X(ov_infer_request_get_profiling_info, int, (const void *, struct ov_profile *)) \
  X(ov_profiling_info_list_free, void, (struct ov_profile *))                      \
  X(ov_infer_request_free, void, (void *))

struct ov_api {
#define X(name, result, arguments) result(*name) arguments;
  OV_FUNCTIONS(X)
#undef X
};

/* ov_element_type_e of 2025.0 and newer. */
static const struct {
  hone_dtype dtype;
  int type;
} element_types[] = {{HONE_BOOL, 1}, {HONE_BF16, 2}, {HONE_F16, 3}, {HONE_F32, 4},  {HONE_F64, 5},
                     {HONE_I8, 7},   {HONE_I16, 8},  {HONE_I32, 9}, {HONE_I64, 10}, {HONE_U8, 16},
                     {HONE_U16, 17}, {HONE_U32, 18}, {HONE_U64, 19}};

struct request_set {
  void *request;
  void **tensors; /* of inputs, then outputs */
};
struct session {
  struct ov_api api;
  void *library, *core, *model, *compiled;
  size_t input_count, output_count;
  struct request_set sets[BACKEND_MAX_SETS];
  void *only_request;   /* option requests=1: one request for all sets, whose tensors are set before
                         each call */
  int current_set;      /* the set whose tensors it has */
  bool is_asynchronous; /* several requests are in flight */
};

static hone_status check(struct ctx *ctx, const struct session *s, int code, const char *what) {
  if (!code) return HONE_OK;
  const char *words = s->api.ov_get_last_err_msg();
  if (!words) words = "no reason given";
  bool is_memory = strstr(words, "bad_alloc") != NULL;
  bool is_unsupported = code == -2 || strstr(words, "not supported") ||
                        strstr(words, "unsupported") || strstr(words, "No conversion rule");
  return fail(ctx,
              is_memory        ? HONE_E_OOM
              : is_unsupported ? HONE_E_UNSUP
                               : HONE_E_FORMAT,
              place_name(what), "OpenVINO: %s", words);
}

static hone_dtype dtype_of(int type) {
  for (size_t i = 0; i < COUNT(element_types); i++)
    if (element_types[i].type == type) return element_types[i].dtype;
  return HONE_UNDEFINED;
}
static int type_of(hone_dtype dtype) {
  for (size_t i = 0; i < COUNT(element_types); i++)
    if (element_types[i].dtype == dtype) return element_types[i].type;
  return 0;
}

static hone_status load_library(struct ctx *ctx, const char *engine_path, char path[4096],
                                struct session *s) {
  TRY(engine_file(ctx, "openvino", engine_path, LIBRARY_PATTERN, path));
  s->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!s->library) return fail(ctx, HONE_E_MISSING, place_file(path), "%s", dlerror());
#define X(name, result, arguments)                                        \
  s->api.name = (result(*) arguments)(uintptr_t)dlsym(s->library, #name); \
  if (!s->api.name) return fail(ctx, HONE_E_UNSUP, place_file(path), "has no " #name);
  OV_FUNCTIONS(X)
#undef X
  return HONE_OK;
}

/* Checks the size of three elements of each type. */
static hone_status try_element_types(struct ctx *ctx, const struct session *s) {
  int64_t dims[1] = {3};
  for (size_t i = 0; i < COUNT(element_types); i++) {
    void *tensor = NULL;
    size_t bytes = 0;
    TRY(check(ctx, s,
              s->api.ov_tensor_create(element_types[i].type, (struct ov_shape){1, dims}, &tensor),
              "element type"));
    int code = s->api.ov_tensor_get_byte_size(tensor, &bytes);
    s->api.ov_tensor_free(tensor);
    TRY(check(ctx, s, code, "element type"));
    if (bytes != 3 * dtype_bits(element_types[i].dtype) / 8)
      return fail(ctx, HONE_E_UNSUP, place_none(),
                  "this OpenVINO has other numbers of element types; 2025.0 or newer is needed");
  }
  return HONE_OK;
}

static void read_version(const struct session *s, char out[64]) {
  struct ov_version version = {0};
  if (s->api.ov_get_openvino_version(&version)) return;
  char full[64];
  safe_copy(full, sizeof full, version.number);
  full[strcspn(full, "-")] = 0; /* 2026.4.1-21512-… */
  snprintf(out, 64, "%s", full);
  s->api.ov_version_free(&version);
}

static void describe(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                     struct backend_info *out) {
  (void)backend;
  struct session s = {0};
  hone_status status = load_library(ctx, engine_path, out->library, &s);
  if (!status) status = try_element_types(ctx, &s);
  if (status) {
    out->status = status == HONE_E_MISSING ? BACKEND_MISSING : BACKEND_UNSUPPORTED;
    safe_copy(out->reason, sizeof out->reason, ctx->message);
    ctx_clear(ctx);
  } else {
    out->status = BACKEND_READY;
    read_version(&s, out->version);
  }
  /* not unloaded: its thread pool has destructors that run after dlclose */
}

/* -- model */

static hone_status port_name(struct ctx *ctx, const struct session *s, const void *port,
                             char out[256]) {
  char *name = NULL;
  TRY(check(ctx, s, s->api.ov_port_get_any_name(port, &name), "name"));
  snprintf(out, 256, "%s", name);
  s->api.ov_free(name);
  return HONE_OK;
}

static hone_status static_shape(struct ctx *ctx, const struct session *s, size_t i,
                                const char *shapes, struct ov_partial_shape *out) {
  void *port = NULL;
  TRY(check(ctx, s, s->api.ov_model_const_input_by_index(s->model, i, &port), "input"));
  char name[256];
  hone_status status = port_name(ctx, s, port, name);
  s->api.ov_output_const_port_free(port);
  TRY(status);
  int32_t rank;
  int64_t dims[HONE_MAX_RANK];
  if (!shapes_find(shapes, name, &rank, dims))
    return fail(ctx, HONE_E_SHAPE, place_name(name),
                "has dynamic dimensions and no shape was given");
  return check(ctx, s, s->api.ov_partial_shape_create_static(rank, dims, out), name);
}

static hone_status reshape(struct ctx *ctx, struct session *s, const char *shapes) {
  size_t count = 0;
  TRY(check(ctx, s, s->api.ov_model_inputs_size(s->model, &count), "inputs"));
  size_t *indexes = calloc(count + 1, sizeof *indexes);
  struct ov_partial_shape *wanted = calloc(count + 1, sizeof *wanted);
  hone_status status = indexes && wanted
                           ? HONE_OK
                           : fail(ctx, HONE_E_OOM, place_none(), "no memory for input shapes");
  for (size_t i = 0; !status && i < count; i++) {
    indexes[i] = i;
    status = static_shape(ctx, s, i, shapes, &wanted[i]);
  }
  if (!status)
    status =
        check(ctx, s, s->api.ov_model_reshape_by_port_indexes(s->model, indexes, wanted, count),
              "reshape");
  for (size_t i = 0; wanted && i < count; i++)
    if (wanted[i].dims) s->api.ov_partial_shape_free(&wanted[i]);
  free(wanted);
  free(indexes);
  return status;
}

/* -- properties */

struct properties {
  struct ov_property at[MAX_PROPERTIES];
  size_t count;
  char text[MAX_PROPERTIES][2][256];
};

/* A later value of the same key replaces an earlier one. */
static hone_status set_property(struct ctx *ctx, struct properties *all, const char *key,
                                const char *value) {
  size_t i = 0;
  while (i < all->count && strcmp(all->text[i][0], key)) i++;
  if (i == MAX_PROPERTIES)
    return fail(ctx, HONE_E_USAGE, place_name(key), "more than %d options", MAX_PROPERTIES);
  snprintf(all->text[i][0], sizeof all->text[i][0], "%s", key);
  snprintf(all->text[i][1], sizeof all->text[i][1], "%s", value);
  all->at[i] = (struct ov_property){all->text[i][0], all->text[i][1]};
  if (i == all->count) all->count++;
  return HONE_OK;
}

static hone_status set_properties(struct ctx *ctx, const struct backend_request *request,
                                  struct properties *out) {
  char threads[24], streams[24];
  snprintf(threads, sizeof threads, "%d", request->threads);
  const bool has_streams = request->in_flight > 1;
  TRY(set_property(ctx, out, "PERFORMANCE_HINT", has_streams ? "THROUGHPUT" : "LATENCY"));
  snprintf(streams, sizeof streams, "%d",
           request->in_flight < request->threads ? request->in_flight : request->threads);
  TRY(set_property(ctx, out, "NUM_STREAMS", has_streams ? streams : "1"));
  TRY(set_property(ctx, out, "INFERENCE_NUM_THREADS", threads));
  TRY(set_property(ctx, out, "ENABLE_HYPER_THREADING", "YES"));
  enum precision wanted = precision_find(request->precision);
  if (wanted == PRECISION_AS_IS) wanted = precision_find(request->file_precision);
  if (wanted == PRECISION_INT8 || wanted == PRECISION_DYNAMIC) wanted = PRECISION_FP32;
  if (wanted == PRECISION_COUNT || !precisions[wanted].can_ask)
    return fail(ctx, HONE_E_UNSUP, place_name(request->precision),
                "OpenVINO supports as-is, fp32, bf16 and fp16");
  TRY(set_property(ctx, out, "INFERENCE_PRECISION_HINT", dtype_name(precisions[wanted].dtype)));
  /* the default 32 would quantise the activations of 4-bit weights, which only the variant int8
     allows */
  TRY(set_property(ctx, out, "DYNAMIC_QUANTIZATION_GROUP_SIZE", "0"));
  char key[64], value[256];
  for (const char *at = request->options; option_next(&at, key, value);)
    if (strcmp(key, "requests") && strcmp(key, "async")) TRY(set_property(ctx, out, key, value));
  return HONE_OK;
}

static void read_property(const struct session *s, const char *key, char *out, size_t size) {
  char *value = NULL;
  if (s->api.ov_compiled_model_get_property(s->compiled, key, &value) || !value) return;
  safe_copy(out, size, value);
  s->api.ov_free(value);
}

static void read_facts(const struct session *s, struct backend_facts *facts) {
  char threads[32] = "", precision[32] = "";
  read_version(s, facts->version);
  read_property(s, "EXECUTION_DEVICES", facts->device, sizeof facts->device);
  read_property(s, "INFERENCE_PRECISION_HINT", precision, sizeof precision);
  read_property(s, "INFERENCE_NUM_THREADS", threads, sizeof threads);
  const enum precision own = precision_of_word(precision);
  snprintf(facts->precision, sizeof facts->precision, "%s",
           own == PRECISION_COUNT ? precision : precisions[own].name);
  int64_t count;
  if (parse_i64(threads, 0, 100000, &count)) facts->threads = (int)count;
  facts->fallback_share = 0; /* the CPU plugin compiles a whole model or refuses it */
}

/* -- inputs and outputs */

static hone_status read_port(struct ctx *ctx, const struct session *s, const void *port,
                             struct backend_tensor *out) {
  TRY(port_name(ctx, s, port, out->name));
  int type = 0;
  TRY(check(ctx, s, s->api.ov_port_get_element_type(port, &type), out->name));
  out->info.dtype = dtype_of(type);
  struct ov_partial_shape shape = {0};
  TRY(check(ctx, s, s->api.ov_port_get_partial_shape(port, &shape), out->name));
  if (shape.rank.max < 0 || shape.rank.max > HONE_MAX_RANK || shape.rank.min != shape.rank.max) {
    s->api.ov_partial_shape_free(&shape);
    return fail(ctx, HONE_E_UNSUP, place_name(out->name), "has no known rank");
  }
  out->info.rank = (int32_t)shape.rank.max;
  for (int32_t i = 0; i < out->info.rank; i++)
    out->info.shape[i] = shape.dims[i].min == shape.dims[i].max ? shape.dims[i].max : -1;
  s->api.ov_partial_shape_free(&shape);
  return HONE_OK;
}

static hone_status read_io(struct ctx *ctx, struct session *s, struct backend_io *io) {
  TRY(check(ctx, s, s->api.ov_compiled_model_inputs_size(s->compiled, &s->input_count), "inputs"));
  TRY(check(ctx, s, s->api.ov_compiled_model_outputs_size(s->compiled, &s->output_count),
            "outputs"));
  TRY(backend_io_create(ctx, s->input_count, s->output_count, io));
  for (size_t i = 0; i < s->input_count + s->output_count; i++) {
    bool is_input = i < s->input_count;
    size_t index = is_input ? i : i - s->input_count;
    void *port = NULL;
    TRY(check(ctx, s,
              is_input ? s->api.ov_compiled_model_input_by_index(s->compiled, index, &port)
                       : s->api.ov_compiled_model_output_by_index(s->compiled, index, &port),
              "port"));
    hone_status status =
        read_port(ctx, s, port, is_input ? &io->inputs[index] : &io->outputs[index]);
    s->api.ov_output_const_port_free(port);
    TRY(status);
  }
  return HONE_OK;
}

/* -- the seven functions */

static void free_tensors(const struct session *s, struct request_set *at) {
  for (size_t i = 0; at->tensors && i < s->input_count + s->output_count; i++)
    if (at->tensors[i]) s->api.ov_tensor_free(at->tensors[i]);
  free(at->tensors);
  at->tensors = NULL;
}

static void close_session(struct session *s) {
  for (int set = 0; set < BACKEND_MAX_SETS; set++) {
    struct request_set *at = &s->sets[set];
    if (at->request && at->request != s->only_request) s->api.ov_infer_request_free(at->request);
    free_tensors(s, at);
  }
  if (s->only_request) s->api.ov_infer_request_free(s->only_request);
  if (s->compiled) s->api.ov_compiled_model_free(s->compiled);
  if (s->model) s->api.ov_model_free(s->model);
  if (s->core) s->api.ov_core_free(s->core);
}

static hone_status open_session(struct ctx *ctx, struct session *s,
                                const struct backend_request *request, struct backend_facts *facts,
                                struct backend_io *out_io) {
  char path[4096];
  TRY(load_library(ctx, request->engine_path, path, s));
  TRY(try_element_types(ctx, s));
  struct properties properties = {.count = 0};
  TRY(set_properties(ctx, request, &properties));
  TRY(check(ctx, s, s->api.ov_core_create(&s->core), "core"));
  uint64_t start = clock_ns();
  TRY(check(ctx, s, s->api.ov_core_read_model(s->core, request->model_path, NULL, &s->model),
            "read"));
  if (s->api.ov_model_is_dynamic(s->model) && !request->grows)
    TRY(reshape(ctx, s, request->shapes));
  facts->import_ms = (double)(clock_ns() - start) / 1e6;
  facts->rss_import = resident_bytes();
  TRY(check(ctx, s,
            s->api.ov_core_compile_model_props(s->core, s->model, "CPU", properties.count,
                                               properties.at, &s->compiled),
            "compile"));
  read_facts(s, facts);
  facts->artifact_bytes = engine_mapped_bytes(path);
  int64_t requests, is_async;
  TRY(option_int(ctx, request->options, "requests", 0, 0, 1, &requests));
  TRY(option_int(ctx, request->options, "async", 0, 0, 1, &is_async));
  if (requests && is_async)
    return fail(ctx, HONE_E_USAGE, place_name("requests"),
                "one request for all sets cannot be asynchronous");
  s->current_set = -1;
  s->is_asynchronous = (request->in_flight > 1 || is_async) && !requests;
  facts->in_flight = s->is_asynchronous && request->in_flight > 1 ? request->in_flight : 1;
  if (requests)
    TRY(check(ctx, s, s->api.ov_compiled_model_create_infer_request(s->compiled, &s->only_request),
              "request"));
  return read_io(ctx, s, out_io);
}

static hone_status wrap(struct ctx *ctx, const struct session *s, const hone_tensor *tensor,
                        void **out) {
  int64_t dims[HONE_MAX_RANK] = {0};
  memcpy(dims, tensor->shape, (size_t)tensor->rank * sizeof *dims);
  struct ov_shape shape = {tensor->rank, dims};
  return check(
      ctx, s,
      s->api.ov_tensor_create_from_host_ptr(type_of(tensor->dtype), shape, tensor->data, out),
      "tensor");
}

static hone_status set_tensors(struct ctx *ctx, struct session *s, const struct request_set *at) {
  for (size_t i = 0; i < s->input_count; i++)
    TRY(check(ctx, s,
              s->api.ov_infer_request_set_input_tensor_by_index(at->request, i, at->tensors[i]),
              "input"));
  for (size_t i = 0; i < s->output_count; i++)
    TRY(check(ctx, s,
              s->api.ov_infer_request_set_output_tensor_by_index(at->request, i,
                                                                 at->tensors[s->input_count + i]),
              "output"));
  return HONE_OK;
}

/* One request per set, so that the timed loop only calls infer. */
static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  struct request_set *at = &s->sets[set];
  free_tensors(s, at);
  at->tensors = calloc(s->input_count + s->output_count + 1, sizeof *at->tensors);
  if (!at->tensors) return fail(ctx, HONE_E_OOM, place_none(), "no memory for an input set");
  if (s->only_request) at->request = s->only_request;
  s->current_set = -1;
  if (!at->request)
    TRY(check(ctx, s, s->api.ov_compiled_model_create_infer_request(s->compiled, &at->request),
              "request"));
  for (size_t i = 0; i < s->input_count; i++) TRY(wrap(ctx, s, &inputs[i], &at->tensors[i]));
  for (size_t i = 0; i < s->output_count; i++)
    TRY(wrap(ctx, s, &outputs[i], &at->tensors[s->input_count + i]));
  return s->only_request ? HONE_OK : set_tensors(ctx, s, at);
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  if (s->only_request && s->current_set != set) {
    TRY(set_tensors(ctx, s, &s->sets[set]));
    s->current_set = set;
  }
  const int code = s->is_asynchronous ? s->api.ov_infer_request_start_async(s->sets[set].request)
                                      : s->api.ov_infer_request_infer(s->sets[set].request);
  return code ? check(ctx, s, code, "run") : HONE_OK;
}

/* A single request uses infer unless async=1: start_async and wait cost 40 to 120 us more. */
static hone_status wait(struct ctx *ctx, struct session *s, int set) {
  const int code = s->is_asynchronous ? s->api.ov_infer_request_wait(s->sets[set].request) : 0;
  return code ? check(ctx, s, code, "run") : HONE_OK;
}

/* A second compilation with counters: exec_type ends in the type it computed in
   ("brgemm_avx512_f32"); "ref_any_f32" is a reference implementation. */
static hone_status profile(struct ctx *ctx, struct session *s, void *request,
                           struct precision_mix *mix) {
  struct ov_profile list = {NULL, 0};
  TRY(check(ctx, s, s->api.ov_infer_request_infer(request), "run"));
  TRY(check(ctx, s, s->api.ov_infer_request_get_profiling_info(request, &list), "profile"));
  for (size_t i = 0; i < list.count; i++) {
    const char *type = list.at[i].exec_type ? list.at[i].exec_type : "";
    const char *last = strrchr(type, '_');
    if (list.at[i].status != OV_EXECUTED) continue;
    precision_mix_add(mix, last ? last + 1 : type, (double)list.at[i].real_time * 1e3,
                      !strncmp(type, "ref", 3));
  }
  s->api.ov_profiling_info_list_free(&list);
  return HONE_OK;
}

static hone_status survey(struct ctx *ctx, struct session *s, const struct backend_request *request,
                          struct backend_facts *facts) {
  struct properties properties = {.count = 0};
  struct precision_mix mix = {.all_ns = 0};
  void *compiled = NULL, *asked = NULL;
  TRY(set_properties(ctx, request, &properties));
  TRY(set_property(ctx, &properties, "PERF_COUNT", "YES"));
  TRY(check(ctx, s,
            s->api.ov_core_compile_model_props(s->core, s->model, "CPU", properties.count,
                                               properties.at, &compiled),
            "compile"));
  hone_status status =
      check(ctx, s, s->api.ov_compiled_model_create_infer_request(compiled, &asked), "request");
  for (size_t i = 0; !status && i < s->input_count; i++)
    status = check(
        ctx, s, s->api.ov_infer_request_set_input_tensor_by_index(asked, i, s->sets[0].tensors[i]),
        "input");
  if (!status) status = profile(ctx, s, asked, &mix);
  if (!status) precision_mix_tell(&mix, facts);
  if (asked) s->api.ov_infer_request_free(asked);
  s->api.ov_compiled_model_free(compiled);
  return status;
}

/* Exports the compiled model; import_model of the same version reads it. */
static hone_status keep(struct ctx *ctx, struct session *s, const struct backend_request *request,
                        struct strbuf *out_names) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/model.blob", request->work_dir);
  TRY(check(ctx, s, s->api.ov_compiled_model_export_model(s->compiled, path), "export"));
  strbuf_puts(out_names, "model.blob\n");
  return HONE_OK;
}

static const struct backend_variant variants[] = {
    {"throughput", "PERFORMANCE_HINT=THROUGHPUT;NUM_STREAMS=AUTO",
     "as many streams as the plugin chooses"},
    {"streams2", "PERFORMANCE_HINT=THROUGHPUT;NUM_STREAMS=2", "two streams"},
    {"async", "async=1", "start_async and wait instead of infer, also for single requests"},
    {"plain", "SNIPPETS_MODE=DISABLE", "without its code generator for fused subgraphs"},
    {"int8", "DYNAMIC_QUANTIZATION_GROUP_SIZE=32",
     "activations of matmuls with int8 or int4 weights quantised at run time"},
    {"request1", "requests=1", "one request for all sets, whose tensors are set before each call"},
    {"hugepages", "env.GLIBC_TUNABLES=glibc.malloc.hugetlb=1", "glibc's heap in huge pages"},
    {"onesibling", "ENABLE_HYPER_THREADING=NO", "one thread per core if cores have two"},
    {NULL, NULL, NULL}};

const struct backend backend_openvino = {
    .name = "openvino",
    .title = "OpenVINO",
    .routes = "onnx onnx-hone",
    .formats = "onnx tflite",
    .package = "openvino==2026.4.1",
    .package_mb = 200,
    .grows = true,
    .ships_model = true,
    .saturates = true,
    .traits =
        {"x86-64 and aarch64 CPUs, Intel GPUs and NPUs", "ONNX, TFLite, IR, PyTorch in Python",
         "nGraph IR, CPU plugin graph",
         "folding, fusion, oneDNN kernels with JIT, layout choice, low-precision transformations",
         "fp32 bf16 fp16 int8"},
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
    .close = close_session,
};
