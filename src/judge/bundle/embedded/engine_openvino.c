/* The model in OpenVINO, through its C API (openvino/c/ in the wheel). One infer request, so one call at a time, with the
 * measured number of threads; the caller's team is not used.
 */
#include "engine.h"
#include "openvino_c.h"

static struct {
#define X(name, result, arguments) result(*name) arguments;
  OV_RUN_FUNCTIONS(X)
#undef X
} ov;
static void *core, *model, *compiled, *request;
static int is_open;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int is_ok(int code, const char *what) {
  const char *words = code ? ov.ov_get_last_err_msg() : NULL;
  if (code) fprintf(stderr, "OpenVINO, %s: %s\n", what, words ? words : "no reason given");
  return !code;
}

static int load(const char *folder) {
  void *library = engine_open(folder, "openvino/libs/libopenvino_c.so*");
  struct ov_version version = {0};
  if (!library) return 0;
#define X(name, result, arguments)                                            \
  if (!(ov.name = (result(*) arguments)(uintptr_t)dlsym(library, #name))) { \
    fprintf(stderr, "this OpenVINO has no " #name "\n");                      \
    return 0;                                                                 \
  }
  OV_RUN_FUNCTIONS(X)
#undef X
  return is_ok(ov.ov_get_openvino_version(&version), "version") && engine_is_pinned(version.number);
}

static int reshape(void) {
  struct ov_partial_shape shapes[ENGINE_INPUTS + 1];
  size_t indexes[ENGINE_INPUTS + 1];
  for (size_t i = 0; i < ENGINE_INPUTS; i++) {
    indexes[i] = i;
    if (!is_ok(ov.ov_partial_shape_create_static(engine_inputs[i].rank, engine_inputs[i].dims, &shapes[i]), "shape")) return 0;
  }
  return is_ok(ov.ov_model_reshape_by_port_indexes(model, indexes, shapes, ENGINE_INPUTS), "shapes");
}

static void open_engine(void) {
  static const struct ov_property properties[] = {ENGINE_OPTIONS{NULL, NULL}};
  char folder[ENGINE_PATH], path[ENGINE_PATH + 32];
  if (!engine_folder(folder) || !load(folder)) return;
  snprintf(path, sizeof path, "%s/" ENGINE_MODEL, folder);
  is_open = is_ok(ov.ov_core_create(&core), "start") && is_ok(ov.ov_core_read_model(core, path, NULL, &model), "load") &&
            (!ov.ov_model_is_dynamic(model) || reshape()) &&
            is_ok(ov.ov_core_compile_model_props(core, model, "CPU", sizeof properties / sizeof *properties - 1, properties,
                                                 &compiled), "compile") &&
            is_ok(ov.ov_compiled_model_create_infer_request(compiled, &request), "request");
}

static int make_tensor(const struct hone_io_info *io, const void *data, void **out) {
  /* ov_element_type_e of 2025.0 and newer, by ONNX number */
  static const int types[17] = {[1] = 4, [2] = 16, [3] = 7, [4] = 17, [5] = 8, [6] = 9, [7] = 10, [9] = 1, [10] = 3,
                                [11] = 5, [12] = 18, [13] = 19, [16] = 2};
  struct ov_shape shape = {io->rank, (int64_t *)(uintptr_t)io->dims};
  return is_ok(ov.ov_tensor_create_from_host_ptr(types[io->dtype], shape, (void *)(uintptr_t)data, out), io->name);
}

static int32_t engine_run(const void *weights, void *arena, const struct hone_io *io, const struct hone_team *team) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  void *tensors[ENGINE_INPUTS + ENGINE_OUTPUTS + 1] = {0};
  int ok;
  (void)weights, (void)arena, (void)team;
  pthread_once(&once, open_engine);
  if (!(ok = is_open)) return ENGINE_FAILED;
  pthread_mutex_lock(&one_at_a_time);
  for (size_t i = 0; i < ENGINE_INPUTS; i++)
    ok = ok && make_tensor(&engine_inputs[i], io->inputs[i], &tensors[i]) &&
         is_ok(ov.ov_infer_request_set_input_tensor_by_index(request, i, tensors[i]), "input");
  for (size_t i = 0; i < ENGINE_OUTPUTS; i++)
    ok = ok && make_tensor(&engine_outputs[i], io->outputs[i], &tensors[ENGINE_INPUTS + i]) &&
         is_ok(ov.ov_infer_request_set_output_tensor_by_index(request, i, tensors[ENGINE_INPUTS + i]), "output");
  ok = ok && is_ok(ov.ov_infer_request_infer(request), "run");
  for (size_t i = 0; i < ENGINE_INPUTS + ENGINE_OUTPUTS; i++)
    if (tensors[i]) ov.ov_tensor_free(tensors[i]);
  for (int32_t i = 0; ok && i < ENGINE_OUTPUTS; i++) report_shapes(io, i);
  pthread_mutex_unlock(&one_at_a_time);
  return ok ? 0 : ENGINE_FAILED;
}
