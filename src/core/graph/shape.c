/* Shapes: element counts, broadcasting, strides, and the only function that computes a shape's size
 * in bytes. Every product is checked; a shape with a dimension of 0 has no elements. */
#include "graph.h"

struct shape shape_of(int rank, const int64_t *dims) {
  struct shape shape = {.rank = rank};
  for (int i = 0; i < rank; i++) shape.dims[i] = dims[i];
  return shape;
}

bool shape_count(const struct shape *shape, int64_t *out_elements) {
  int64_t count = 1;
  bool is_empty = false;
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) return false;
    if (shape->dims[i] == 0)
      is_empty = true;
    else if (!checked_mul(count, shape->dims[i], &count))
      return false;
  }
  *out_elements = is_empty ? 0 : count;
  return true;
}

bool shape_equal(const struct shape *a, const struct shape *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  return true;
}

bool shape_broadcast(const struct shape *a, const struct shape *b, struct shape *out) {
  struct shape result = {.rank = a->rank > b->rank ? a->rank : b->rank};
  for (int i = 1; i <= result.rank; i++) {
    int64_t p = i <= a->rank ? a->dims[a->rank - i] : 1;
    int64_t q = i <= b->rank ? b->dims[b->rank - i] : 1;
    if (p != q && p != 1 && q != 1) return false;
    result.dims[result.rank - i] = p == 1 ? q : p;
  }
  *out = result;
  return true;
}

void shape_strides(const struct shape *shape, int64_t strides[HONE_MAX_RANK]) {
  int64_t stride = 1;
  for (int i = shape->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape->dims[i] ? shape->dims[i] : 1;
  }
}

void shape_print(struct strbuf *text, const struct shape *shape) {
  strbuf_puts(text, "[");
  for (int i = 0; i < shape->rank; i++)
    strbuf_printf(text, "%s%lld", i ? "," : "", (long long)shape->dims[i]);
  strbuf_puts(text, "]");
}

static hone_status fail_shape(struct ctx *ctx, struct place at, hone_status id,
                              const struct shape *shape, const char *why) {
  struct strbuf text = {0};
  shape_print(&text, shape);
  hone_status status = fail(ctx, id, at, "shape %s %s", text.at ? text.at : "", why);
  strbuf_deinit(&text);
  return status;
}

hone_status extent(struct ctx *ctx, struct place at, hone_dtype dtype, const struct shape *shape,
                   int64_t *out_elements, size_t *out_bytes) {
  int64_t elements, bits, bytes;
  int64_t element_bits =
      dtype == HONE_STRING ? 8 * (int64_t)sizeof(struct string) : (int64_t)dtype_bits(dtype);
  if (!element_bits)
    return fail(ctx, HONE_E_TYPE, at, "element type %d is not supported", (int)dtype);
  if (shape->rank < 0 || shape->rank > HONE_MAX_RANK || shape->rank > ctx->limits[LIMIT_rank])
    return fail(ctx, HONE_E_LIMIT, at, "%d dimensions are more than limit rank", shape->rank);
  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return fail_shape(ctx, at, HONE_E_SHAPE, shape, "has a negative dimension");
  if (!shape_count(shape, &elements) || !checked_mul(elements, element_bits, &bits) ||
      !checked_add(bits, (int64_t)7, &bits))
    return fail_shape(ctx, at, HONE_E_LIMIT, shape, "has too many elements to count");
  bytes = bits / 8;
  if (bytes > ctx->limits[LIMIT_value_bytes])
    return fail_shape(ctx, at, HONE_E_LIMIT, shape, "needs more than limit value_bytes");
  *out_elements = elements;
  *out_bytes = (size_t)bytes;
  return HONE_OK;
}
