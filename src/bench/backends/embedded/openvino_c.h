/* OpenVINO's C API as used by the backend and by the adaptor of a bundle (openvino/c/ov_*.h in the
 * wheel's include folder; tried with 2026.4.1): its structs, and the functions that both open by
 * name.
 */
#ifndef HONE_OPENVINO_C_H
#define HONE_OPENVINO_C_H

#include <stddef.h>
#include <stdint.h>

/* ov_shape_t, ov_dimension_t, ov_partial_shape_t, ov_property_t, ov_version_t of the C API. */
struct ov_shape {
  int64_t rank;
  int64_t *dims;
};
struct ov_dimension {
  int64_t min, max;
};
struct ov_partial_shape {
  struct ov_dimension rank;
  struct ov_dimension *dims;
};
struct ov_property {
  const char *key;
  const void *value;
};
struct ov_version {
  const char *number, *description;
};

/* name, result, arguments; handles as void * */
#define OV_RUN_FUNCTIONS(X)                                                                     \
  X(ov_get_openvino_version, int, (struct ov_version *))                                        \
  X(ov_get_last_err_msg, const char *, (void))                                                  \
  X(ov_core_create, int, (void **))                                                             \
  X(ov_core_read_model, int, (const void *, const char *, const char *, void **))               \
  X(ov_core_compile_model_props, int,                                                           \
    (const void *, const void *, const char *, size_t, const struct ov_property *, void **))    \
  X(ov_model_is_dynamic, _Bool, (const void *))                                                 \
  X(ov_model_reshape_by_port_indexes, int,                                                      \
    (const void *, const size_t *, const struct ov_partial_shape *, size_t))                    \
  X(ov_partial_shape_create_static, int, (int64_t, const int64_t *, struct ov_partial_shape *)) \
  X(ov_compiled_model_create_infer_request, int, (const void *, void **))                       \
  X(ov_tensor_create_from_host_ptr, int, (int, struct ov_shape, void *, void **))               \
  X(ov_tensor_free, void, (void *))                                                             \
  X(ov_infer_request_set_input_tensor_by_index, int, (void *, size_t, const void *))            \
  X(ov_infer_request_set_output_tensor_by_index, int, (void *, size_t, const void *))           \
  X(ov_infer_request_infer, int, (void *))

#endif
