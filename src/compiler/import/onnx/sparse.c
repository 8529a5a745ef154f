/* sparse: SparseTensorProto as a dense tensor.
 *
 *   1 values [nnz]    2 indices, i64 [nnz] (linear) or [nnz, rank], ascending    3 dims
 * The dense form is bounded by limit fold_bytes, so that a few bytes cannot ask for a huge array.
 * Source: onnx.proto, SparseTensorProto.
 */
#include "onnx.h"

struct sparse {
  const struct tensor *values, *indices;
  struct shape shape;
  size_t offset;
};

static hone_status read_dims(struct ctx *ctx, const struct wire_field *field, struct shape *shape) {
  size_t count = 0, rank = (size_t)shape->rank;
  TRY(wire_numbers(ctx, field, WIRE_VARINT, NULL, &count));
  if (count > HONE_MAX_RANK - rank)
    return fail(ctx, HONE_E_LIMIT, place_offset(field->offset), "a sparse tensor of rank above %d",
                HONE_MAX_RANK);
  uint64_t dims[HONE_MAX_RANK];
  TRY(wire_numbers(ctx, field, WIRE_VARINT, dims, &rank));
  for (int i = shape->rank; i < (int)rank; i++) shape->dims[i] = (int64_t)dims[i];
  shape->rank = (int)rank;
  return HONE_OK;
}

static hone_status read_parts(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                              struct wire message, struct sparse *out, const char **out_name) {
  const char *unused;
  uint32_t seen = 0;
  while (message.at < message.end) {
    struct wire_field field;
    TRY(wire_next(ctx, &message, &field));
    if (field.number == 3) {
      TRY(read_dims(ctx, &field, &out->shape));
    } else if (field.number == 1 || field.number == 2) {
      bool is_values = field.number == 1;
      TRY(wire_once(ctx, &field, &seen, "part of a sparse tensor"));
      TRY(wire_expect(ctx, &field, WIRE_BYTES, "a part of a sparse tensor"));
      TRY(read_tensor(ctx, arena, sides, field.bytes, is_values ? &out->values : &out->indices,
                      is_values ? out_name : &unused));
    }
  }
  return HONE_OK;
}

/* Linear position of entry k; false if outside the shape. */
static bool position(const struct sparse *sparse, int64_t elements, size_t k, int64_t *out) {
  const int64_t *indices = sparse->indices->data;
  if (sparse->indices->shape.rank == 1) {
    *out = indices[k];
    return *out >= 0 && *out < elements;
  }
  int64_t at = 0;
  for (int d = 0; d < sparse->shape.rank; d++) {
    int64_t i = indices[k * (size_t)sparse->shape.rank + (size_t)d];
    if (i < 0 || i >= sparse->shape.dims[d]) return false;
    at = at * sparse->shape.dims[d] + i; /* less than `elements`, which was checked */
  }
  *out = at;
  return true;
}

static hone_status check_parts(struct ctx *ctx, const struct sparse *sparse) {
  const struct tensor *values = sparse->values, *indices = sparse->indices;
  struct place at = place_offset(sparse->offset);
  if (!values || !indices || values->shape.rank != 1 || indices->dtype != HONE_I64)
    return fail(ctx, HONE_E_FORMAT, at, "a sparse tensor needs values [n] and i64 indices");
  if (dtype_bits(values->dtype) < 8)
    return fail(ctx, HONE_E_TYPE, at, "a sparse tensor of type %s", dtype_name(values->dtype));
  int rank = indices->shape.rank;
  bool fits = (rank == 1 || (rank == 2 && indices->shape.dims[1] == sparse->shape.rank)) &&
              indices->shape.dims[0] == values->shape.dims[0];
  if (!fits)
    return fail(ctx, HONE_E_FORMAT, at, "the indices of a sparse tensor do not match its values");
  return HONE_OK;
}

hone_status read_sparse(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                        struct wire message, const struct tensor **out, const char **out_name) {
  struct sparse sparse = {.offset = wire_offset(&message, message.at)};
  *out_name = "";
  TRY(read_parts(ctx, arena, sides, message, &sparse, out_name));
  TRY(check_parts(ctx, &sparse));
  int64_t elements;
  size_t bytes, size = dtype_bits(sparse.values->dtype) / 8;
  struct place at = place_offset(sparse.offset);
  TRY(extent(ctx, at, sparse.values->dtype, &sparse.shape, &elements, &bytes));
  if (bytes > (size_t)ctx->limits[LIMIT_fold_bytes])
    return fail(ctx, HONE_E_LIMIT, at, "a sparse tensor of %zu bytes when dense (limit fold_bytes)",
                bytes);
  struct tensor *dense;
  TRY(tensor_create(ctx, arena, sparse.values->dtype, &sparse.shape, &dense));
  for (size_t k = 0; k < (size_t)sparse.values->shape.dims[0]; k++) {
    int64_t to;
    if (!position(&sparse, elements, k, &to))
      return fail(ctx, HONE_E_FORMAT, at, "index %zu of a sparse tensor is outside its shape", k);
    memcpy((uint8_t *)(uintptr_t)dense->data + (size_t)to * size,
           (const uint8_t *)sparse.values->data + k * size, size);
  }
  *out = dense;
  return HONE_OK;
}
