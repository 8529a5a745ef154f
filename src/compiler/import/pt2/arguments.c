/* arguments: arguments and results of a node by name, and what their names refer to. */
#include "pt2.h"

#include <math.h>

static const hone_dtype dtypes[] = {
    HONE_UNDEFINED, HONE_U8,  HONE_I8,        HONE_I16,       HONE_I32,       HONE_I64,  HONE_F16,
    HONE_F32,       HONE_F64, HONE_UNDEFINED, HONE_UNDEFINED, HONE_UNDEFINED, HONE_BOOL, HONE_BF16};

hone_dtype pt_dtype(int64_t number) {
  return number < 0 || number >= (int64_t)COUNT(dtypes) ? HONE_UNDEFINED : dtypes[number];
}

struct place pt_place(const struct pt_op *op) {
  return x_place(op->b);
}

hone_status pt_refuse(const struct pt_op *op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const hone_status status = make_refuse(op->b, "PyTorch", op->target, format, args);
  va_end(args);
  return status;
}

/* -- JSON */

const char *pt_variant(const json_t *json, json_t **out) {
  *out = NULL;
  void *at = json_is_object(json) ? json_object_iter((json_t *)(uintptr_t)json) : NULL;
  if (!at) return "";
  *out = json_object_iter_value(at);
  return json_object_iter_key(at);
}

const char *pt_words(const json_t *json) {
  const char *text = json_string_value(json);
  return text ? text : "";
}

const char *pt_self(const json_t *node) {
  const json_t *inputs = json_object_get(node, "inputs");
  json_t *tensor = NULL;
  const char *kind = pt_variant(json_object_get(json_array_get(inputs, 0), "arg"), &tensor);
  return strcmp(kind, "as_tensor") ? "" : pt_words(json_object_get(tensor, "name"));
}

/* -- names of values */

hone_status pt_define(struct pt *pt, const char *name, struct value *value, double number) {
  struct pt_item *item;
  const char *copy;
  bool fresh;
  TRY(NEW(pt->ctx, pt->arena, item));
  *item = (struct pt_item){.value = value, .number = number};
  TRY(name_copy(pt->ctx, pt->arena, (const uint8_t *)name, strlen(name), 0, "a name", &copy));
  TRY(names_add(pt->ctx, &pt->items, copy, item, &fresh));
  if (fresh) return HONE_OK;
  return fail(pt->ctx, HONE_E_FORMAT, place_name(copy), "duplicate: defined twice");
}

hone_status pt_find(struct pt *pt, struct place at, const char *name, struct pt_item **out) {
  *out = names_find(&pt->items, name);
  if (*out) return HONE_OK;
  return fail(pt->ctx, HONE_E_FORMAT, at, "reads \"%s\", which nothing defines", name);
}

/* -- arguments */

json_t *pt_find_argument(const struct pt_op *op, const char *name, const char **kind) {
  *kind = "";
  for (size_t i = 0; i < json_array_size(op->inputs); i++) {
    const json_t *input = json_array_get(op->inputs, i);
    json_t *value = NULL;
    if (strcmp(pt_words(json_object_get(input, "name")), name)) continue;
    *kind = pt_variant(json_object_get(input, "arg"), &value);
    return strcmp(*kind, "as_none") ? value : NULL;
  }
  return NULL;
}

const json_t *pt_argument(const struct pt_op *op, const char *name) {
  const char *kind;
  return pt_find_argument(op, name, &kind);
}

bool pt_given(const struct pt_op *op, const char *name) {
  const char *kind;
  return pt_find_argument(op, name, &kind) != NULL;
}

/* {"as_int": 3}, {"as_name": "sym_size"}, or their content. */
static hone_status number_of(struct pt_op *op, const char *kind, const json_t *value, double *out) {
  struct pt_item *item;
  json_t *inner = NULL;
  if (!strncmp(kind, "as_sym_", 7)) kind = pt_variant(value, &inner), value = inner;
  if (!strcmp(kind, "as_name")) {
    TRY(pt_find(op->pt, pt_place(op), pt_words(value), &item));
    if (item->value) return pt_refuse(op, "with a tensor where a number is expected");
    const bool is_kept = item->extent && op->keeps_sizes;
    op->reads_open_number |= item->is_open && !is_kept;
    *out = is_kept ? -1 : item->number;
  } else if (json_is_number(value)) {
    *out = json_number_value(value);
  } else if (json_is_boolean(value)) {
    *out = json_is_true(value);
  } else if (!strcmp(pt_words(value), "Infinity") || !strcmp(pt_words(value), "-Infinity")) {
    *out = *pt_words(value) == '-' ? -INFINITY : INFINITY;
  } else if (!strcmp(pt_words(value), "NaN")) {
    *out = (double)NAN;
  } else {
    return pt_refuse(op, "with an argument of kind %s where a number is expected", kind);
  }
  return HONE_OK;
}

hone_status pt_float(struct pt_op *op, const char *name, double otherwise, double *out) {
  const char *kind;
  json_t *value = pt_find_argument(op, name, &kind);
  *out = otherwise;
  return value ? number_of(op, kind, value, out) : HONE_OK;
}

hone_status pt_int(struct pt_op *op, const char *name, int64_t otherwise, int64_t *out) {
  const char *kind;
  double x;
  json_t *value = pt_find_argument(op, name, &kind);
  *out = otherwise;
  if (!value) return HONE_OK;
  if (json_is_integer(value)) { /* beyond 2^53 too */
    *out = json_integer_value(value);
    return HONE_OK;
  }
  TRY(number_of(op, kind, value, &x));
  if (!(fabs(x) < 9e15)) return pt_refuse(op, "with argument %s = %g", name, x);
  *out = (int64_t)x;
  return HONE_OK;
}

hone_status pt_ints(struct pt_op *op, const char *name, size_t most, int64_t *out,
                    size_t *out_count) {
  const char *kind;
  json_t *list = pt_find_argument(op, name, &kind);
  *out_count = 0;
  if (!list) return HONE_OK;
  if (!json_is_array(list) || json_array_size(list) > most)
    return pt_refuse(op, "with argument %s that is not a list of at most %zu integers", name, most);
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *value = json_array_get(list, i), *inner = NULL;
    double x;
    const char *one = json_is_object(value) ? pt_variant(value, &inner) : "as_int";
    TRY(number_of(op, one, inner ? inner : value, &x));
    if (!(fabs(x) < 9.3e18)) return pt_refuse(op, "with argument %s holding %g", name, x);
    out[(*out_count)++] = json_is_integer(value) ? json_integer_value(value)
                          : x >= 0x1p63          ? INT64_MAX
                          : x < -0x1p63          ? INT64_MIN
                                                 : (int64_t)x;
  }
  return HONE_OK;
}

hone_status pt_floats(struct pt_op *op, const char *name, size_t most, double *out,
                      size_t *out_count) {
  const char *kind;
  json_t *list = pt_find_argument(op, name, &kind);
  *out_count = 0;
  if (!list) return HONE_OK;
  if (!json_is_array(list) || json_array_size(list) > most)
    return pt_refuse(op, "with argument %s that is not a list of at most %zu numbers", name, most);
  for (size_t i = 0; i < json_array_size(list); i++)
    TRY(number_of(op, "as_float", json_array_get(list, i), &out[(*out_count)++]));
  return HONE_OK;
}

bool pt_is_whole(const struct pt_op *op, const char *name) {
  const char *kind;
  return pt_find_argument(op, name, &kind) && strcmp(kind, "as_float") &&
         strcmp(kind, "as_sym_float");
}

hone_status pt_text(struct pt_op *op, const char *name, const char *otherwise, const char **out) {
  const char *kind;
  json_t *value = pt_find_argument(op, name, &kind);
  if (value && !json_is_string(value))
    return pt_refuse(op, "with argument %s that is not a string", name);
  *out = value ? pt_words(value) : otherwise;
  return HONE_OK;
}

/* -- results */

static json_t *result_at(const struct pt_op *op, size_t k, size_t *out_count) {
  size_t count = 0;
  json_t *found = NULL;
  for (size_t i = 0; i < json_array_size(op->outputs); i++) {
    json_t *value = NULL;
    const char *kind = pt_variant(json_array_get(op->outputs, i), &value);
    size_t length = strcmp(kind, "as_tensors") ? 1 : json_array_size(value);
    if (k >= count && k < count + length)
      found = strcmp(kind, "as_tensors") ? value : json_array_get(value, k - count);
    count += length;
  }
  if (out_count) *out_count = count;
  return found;
}

size_t pt_result_count(const struct pt_op *op) {
  size_t count;
  result_at(op, 0, &count);
  return count;
}

/* Converts to the type that the file declares. */
static struct value *as_declared(struct pt_op *op, const char *name, struct value *value) {
  const json_t *about = json_object_get(op->pt->values, name);
  const hone_dtype dtype = pt_dtype(json_integer_value(json_object_get(about, "dtype")));
  if (!dtype || !value) return value;
  return x_cast(op->b, value, dtype);
}

hone_status pt_result(struct pt_op *op, size_t k, struct value *value) {
  TRY(op->b->status);
  const json_t *result = result_at(op, k, NULL);
  const char *name = pt_words(json_object_get(result, "name"));
  if (!*name)
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%s has no result %zu", op->target, k);
  if (op->drops && value && value->shape.rank && value->shape.dims[0] == 1)
    BUILD(op->b, value = x_reshape(op->b, value, value->shape.dims + 1, value->shape.rank - 1));
  if (op->part) {
    op->results[k][op->part - 1] = value;
    return HONE_OK;
  }
  BUILD(op->b, value = as_declared(op, name, value));
  return pt_define(op->pt, name, value, 0);
}

hone_status pt_complex_result(struct pt_op *op, size_t k, struct value *value) {
  struct pt_item *item;
  TRY(pt_result(op, k, value));
  TRY(pt_find(op->pt, pt_place(op), pt_words(json_object_get(result_at(op, k, NULL), "name")),
              &item));
  item->is_complex = true;
  return HONE_OK;
}

/* torch.export also names unused results. */
bool pt_is_read(const struct pt_op *op, size_t k) {
  const char *name = pt_words(json_object_get(result_at(op, k, NULL), "name"));
  return *name && !strstr(name, "_unused_");
}

hone_status pt_number(struct pt_op *op, double number, uint32_t extent) {
  json_t *result = NULL, *inner = NULL;
  pt_variant(json_array_get(op->outputs, 0), &result);
  const char *name = pt_words(json_object_get(result, "as_name"));
  if (!*name) {
    pt_variant(result, &inner);
    name = pt_words(inner);
  }
  if (!*name)
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "%s without a name for its result",
                op->target);
  TRY(pt_define(op->pt, name, NULL, number));
  struct pt_item *item = names_find(&op->pt->items, name);
  item->is_open = op->reads_open_number || extent;
  item->extent = extent;
  return HONE_OK;
}
