/* Reads a worker's description of a model. Workers are not trusted: everything is checked. */
#include "study_internal.h"

#include <math.h>

/* Reads [{name, dtype, shape}] as a worker sent it. */
static bool read_values(struct bench *bench, const json_t *list, struct backend_tensor **out_values,
                        size_t *out_count) {
  *out_count = json_array_size(list);
  struct ctx ctx;
  ctx_init(&ctx);
  if (NEW_ARRAY(&ctx, bench->arena, *out_values, *out_count)) return false;
  struct backend_tensor *out = *out_values;
  for (size_t i = 0; i < *out_count; i++) {
    const json_t *value = json_array_get(list, i), *shape = json_object_get(value, "shape");
    size_t rank = json_array_size(shape);
    if (!json_is_string(json_object_get(value, "name")) || rank > HONE_MAX_RANK) return false;
    snprintf(out[i].name, sizeof out[i].name, "%s", message_text(value, "name"));
    out[i].info =
        (hone_tensor){.dtype = (hone_dtype)message_int(value, "dtype", 0), .rank = (int32_t)rank};
    if (!dtype_bits(out[i].info.dtype) && out[i].info.dtype != HONE_STRING) return false;
    for (size_t d = 0; d < rank; d++) {
      const json_t *dim = json_array_get(shape, d);
      if (!json_is_integer(dim) || json_integer_value(dim) < 0) return false;
      out[i].info.shape[d] = json_integer_value(dim);
    }
  }
  return true;
}

static bool read_steps(struct bench *bench, const json_t *outputs, struct bench_case *one) {
  struct ctx ctx;
  ctx_init(&ctx);
  if (NEW_ARRAY(&ctx, bench->arena, one->steps, one->output_count)) return false;
  for (size_t i = 0; i < one->output_count; i++) {
    double step = message_number(json_array_get(outputs, i), "step");
    one->steps[i] = isfinite(step) && step > 0 ? step : 0;
  }
  return true;
}

static bool count_bytes(struct bench_case *one) {
  struct ctx ctx;
  ctx_init(&ctx);
  one->value_bytes = 0;
  for (size_t i = 0; i < one->input_count + one->output_count; i++) {
    const struct backend_tensor *value =
        i < one->input_count ? &one->inputs[i] : &one->outputs[i - one->input_count];
    size_t bytes;
    if (tensor_bytes(&ctx, value->name, &value->info, &bytes) ||
        !checked_add(one->value_bytes, (int64_t)bytes, &one->value_bytes))
      return false;
  }
  return true;
}

static bool read_sides(struct bench *bench, const json_t *list, struct bench_case *one) {
  const size_t count = json_array_size(list) / 2;
  struct ctx ctx;
  ctx_init(&ctx);
  if (NEW_ARRAY(&ctx, bench->arena, one->sides, count)) return false;
  for (one->side_count = 0; one->side_count < count; one->side_count++) {
    const json_t *device = json_array_get(list, 2 * one->side_count);
    const json_t *inode = json_array_get(list, 2 * one->side_count + 1);
    one->sides[one->side_count] =
        (struct file_id){(uint64_t)json_integer_value(device), (uint64_t)json_integer_value(inode)};
  }
  return true;
}

bool case_take_description(struct bench *bench, const json_t *reply, struct bench_case *one) {
  const char *shapes = message_text(reply, "shapes");
  const char *open = message_text(reply, "open_dimensions");
  if (arena_string(bench->ctx, bench->arena, shapes, strlen(shapes), &one->shapes) ||
      arena_string(bench->ctx, bench->arena, open, strlen(open), &one->open_dimensions))
    return false;
  snprintf(one->path, sizeof one->path, "%s", message_text(reply, "path"));
  snprintf(one->hash, sizeof one->hash, "%s", message_text(reply, "hash"));
  snprintf(one->tolerance, sizeof one->tolerance, "%s", message_text(reply, "tolerance"));
  one->flops = message_number(reply, "flops");
  one->bytes = message_number(reply, "bytes");
  one->weights_bytes = message_int(reply, "weights_bytes", -1);
  one->file_bytes = message_int(reply, "file_bytes", 0);
  one->kept_inputs = message_int(reply, "kept_inputs", 0);
  one->is_described =
      read_values(bench, json_object_get(reply, "inputs"), &one->inputs, &one->input_count) &&
      read_values(bench, json_object_get(reply, "outputs"), &one->outputs, &one->output_count) &&
      read_steps(bench, json_object_get(reply, "outputs"), one) &&
      read_sides(bench, json_object_get(reply, "side_files"), one) && count_bytes(one);
  return one->is_described;
}
