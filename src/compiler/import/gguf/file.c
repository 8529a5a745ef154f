/* file: the header, pairs and tensor descriptions of a GGUF file.
 *
 * In: hostile bytes. Every count is bounded by the bytes that are left before anything is allocated for it.
 */
#include "gguf.h"

#include <math.h>

enum {
  MAX_RANK = 4,
  MAX_NESTING = 8,
  DEFAULT_ALIGNMENT = 32,
  LEAST_PAIR = 8 + 4 + 1,
  LEAST_TENSOR = 8 + 4 + 4 + 8
};

static const uint8_t kind_bytes[GGUF_KINDS] = {
    [GGUF_U8] = 1,  [GGUF_I8] = 1,   [GGUF_U16] = 2, [GGUF_I16] = 2, [GGUF_U32] = 4, [GGUF_I32] = 4,
    [GGUF_F32] = 4, [GGUF_BOOL] = 1, [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8};

struct cursor {
  struct ctx *ctx;
  const uint8_t *bytes;
  size_t size, at;
};

static hone_status ends(struct cursor *c, const char *what) {
  return fail(c->ctx, HONE_E_FORMAT, place_offset(c->at), "the GGUF file ends within %s", what);
}

static hone_status take(struct cursor *c, uint64_t bytes, const char *what, const uint8_t **out) {
  if (bytes > c->size - c->at) return ends(c, what);
  *out = c->bytes + c->at;
  c->at += (size_t)bytes;
  return HONE_OK;
}

static hone_status take_number(struct cursor *c, size_t bytes, const char *what, uint64_t *out) {
  const uint8_t *at = NULL;
  TRY(take(c, bytes, what, &at));
  *out = little_endian(at, bytes);
  return HONE_OK;
}

static hone_status take_name(struct cursor *c, struct arena *arena, const char *what,
                             const char **out) {
  uint64_t length = 0;
  const uint8_t *at = NULL;
  const size_t offset = c->at;
  TRY(take_number(c, 8, what, &length));
  TRY(take(c, length, what, &at));
  return name_copy(c->ctx, arena, at, (size_t)length, offset, what, out);
}

static hone_status take_kind(struct cursor *c, enum gguf_kind *out) {
  const size_t offset = c->at;
  uint64_t kind = 0;
  TRY(take_number(c, 4, "a value type", &kind));
  if (kind >= GGUF_KINDS)
    return fail(c->ctx, HONE_E_FORMAT, place_offset(offset), "value type %llu does not exist",
                (unsigned long long)kind);
  *out = (enum gguf_kind)kind;
  return HONE_OK;
}

/* Skips `count` strings. */
static hone_status skip_strings(struct cursor *c, uint64_t count) {
  if (count > (c->size - c->at) / 8) return ends(c, "an array of strings");
  for (uint64_t i = 0; i < count; i++) {
    uint64_t length;
    const uint8_t *unused;
    TRY(take_number(c, 8, "a string", &length));
    TRY(take(c, length, "a string", &unused));
  }
  return HONE_OK;
}

/* Skips the elements of an array, and those of arrays in it: the stack holds how many are left on each level. */
static hone_status skip_elements(struct cursor *c, enum gguf_kind kind, uint64_t count) {
  uint64_t left[MAX_NESTING];
  int depth = 0;
  left[0] = kind == GGUF_ARRAY ? count : 0;
  for (;;) {
    const uint8_t *unused;
    if (kind == GGUF_STRING) {
      TRY(skip_strings(c, count));
    } else if (kind != GGUF_ARRAY) {
      if (count > (c->size - c->at) / kind_bytes[kind]) return ends(c, "an array");
      TRY(take(c, count * kind_bytes[kind], "an array", &unused));
    } else if (count > (c->size - c->at) / 12) {
      return ends(c, "an array of arrays");
    }
    while (depth >= 0 && !left[depth]) depth--;
    if (depth < 0) return HONE_OK;
    left[depth]--;
    TRY(take_kind(c, &kind));
    TRY(take_number(c, 8, "an array", &count));
    if (kind == GGUF_ARRAY) {
      if (++depth == MAX_NESTING)
        return fail(c->ctx, HONE_E_LIMIT, place_offset(c->at),
                    "arrays are nested more than %d deep", MAX_NESTING);
      left[depth] = count;
    }
  }
}

static hone_status read_value(struct cursor *c, struct arena *arena, struct gguf_value *out) {
  uint64_t length = 0;
  TRY(take_name(c, arena, "a key", &out->key));
  TRY(take_kind(c, &out->kind));
  out->offset = c->at;
  out->count = 1;
  if (out->kind == GGUF_STRING) {
    TRY(take_number(c, 8, "a string", &length));
    out->count = length;
    return take(c, length, "a string", &out->at);
  }
  if (out->kind != GGUF_ARRAY) return take(c, kind_bytes[out->kind], "a value", &out->at);
  TRY(take_kind(c, &out->element));
  TRY(take_number(c, 8, "an array", &out->count));
  out->at = c->bytes + c->at;
  return skip_elements(c, out->element, out->count);
}

static hone_status read_values(struct cursor *c, struct arena *arena, struct gguf *file) {
  TRY(NEW_ARRAY(c->ctx, arena, file->values, file->value_count));
  for (size_t i = 0; i < file->value_count; i++) {
    const size_t offset = c->at;
    bool is_fresh;
    TRY(read_value(c, arena, &file->values[i]));
    TRY(names_add(c->ctx, &file->by_key, file->values[i].key, &file->values[i], &is_fresh));
    if (!is_fresh)
      return fail(c->ctx, HONE_E_FORMAT, place_offset(offset), "the key \"%.100s\" occurs twice",
                  file->values[i].key);
  }
  return HONE_OK;
}

static hone_status read_dims(struct cursor *c, struct gguf_tensor *tensor, uint64_t *out_elements) {
  uint64_t rank = 0, dim = 0, elements = 1;
  const size_t offset = c->at;
  TRY(take_number(c, 4, "a tensor's rank", &rank));
  if (rank < 1 || rank > MAX_RANK)
    return fail(c->ctx, HONE_E_FORMAT, place_offset(offset),
                "tensor \"%.100s\" has rank %llu, not 1 to %d", tensor->name,
                (unsigned long long)rank, MAX_RANK);
  tensor->rank = (int)rank;
  for (int d = tensor->rank; d-- > 0;) {
    TRY(take_number(c, 8, "a tensor's dimensions", &dim));
    if (dim < 1 || !checked_mul(elements, dim, &elements) || elements > INT64_MAX)
      return fail(c->ctx, HONE_E_FORMAT, place_offset(c->at),
                  "tensor \"%.100s\" has no elements, or too many", tensor->name);
    tensor->dims[d] = (int64_t)dim;
  }
  *out_elements = elements;
  return HONE_OK;
}

/* data: its place after the start of the data, until the alignment is known. */
static hone_status read_tensor(struct cursor *c, struct arena *arena, struct gguf_tensor *tensor,
                               uint64_t *out_offset) {
  uint64_t elements = 0, type = 0, blocks, bytes;
  TRY(take_name(c, arena, "a tensor's name", &tensor->name));
  TRY(read_dims(c, tensor, &elements));
  TRY(take_number(c, 4, "a tensor's type", &type));
  TRY(take_number(c, 8, "a tensor's offset", out_offset));
  tensor->type = block_type_find((uint32_t)type);
  if (!tensor->type)
    return advise(
        c->ctx,
        fail(c->ctx, HONE_E_UNSUP, place_offset(c->at), "tensor \"%.100s\" has element type %llu",
             tensor->name, (unsigned long long)type),
        "quantise the model to one of the types that hone reads, for example Q4_K or Q8_0");
  if ((uint64_t)tensor->dims[tensor->rank - 1] % tensor->type->elements)
    return fail(c->ctx, HONE_E_FORMAT, place_offset(c->at),
                "the rows of tensor \"%.100s\" are not whole blocks of %u elements (%s)",
                tensor->name, tensor->type->elements, tensor->type->name);
  blocks = elements / tensor->type->elements;
  if (!checked_mul(blocks, (uint64_t)tensor->type->bytes, &bytes) || bytes > SIZE_MAX / 2)
    return fail(c->ctx, HONE_E_FORMAT, place_offset(c->at), "tensor \"%.100s\" is too large",
                tensor->name);
  tensor->bytes = (size_t)bytes;
  return HONE_OK;
}

static hone_status read_tensors(struct cursor *c, struct arena *arena, struct gguf *file) {
  uint64_t *offsets;
  int64_t alignment;
  TRY(NEW_ARRAY(c->ctx, arena, file->tensors, file->tensor_count));
  TRY(NEW_ARRAY(c->ctx, arena, offsets, file->tensor_count));
  for (size_t i = 0; i < file->tensor_count; i++) {
    const size_t offset = c->at;
    bool is_fresh;
    TRY(read_tensor(c, arena, &file->tensors[i], &offsets[i]));
    TRY(names_add(c->ctx, &file->by_name, file->tensors[i].name, &file->tensors[i], &is_fresh));
    if (!is_fresh)
      return fail(c->ctx, HONE_E_FORMAT, place_offset(offset), "the tensor \"%.100s\" occurs twice",
                  file->tensors[i].name);
  }
  TRY(gguf_int(c->ctx, file, "general.alignment", 1, 1 << 20, DEFAULT_ALIGNMENT, &alignment));
  if (alignment & (alignment - 1))
    return fail(c->ctx, HONE_E_FORMAT, place_name("general.alignment"),
                "%lld is not a power of two", (long long)alignment);
  size_t data;
  if (!checked_align(c->at, (size_t)alignment, &data)) return ends(c, "the padding");
  for (size_t i = 0; i < file->tensor_count; i++) {
    struct gguf_tensor *tensor = &file->tensors[i];
    uint64_t begin;
    if (offsets[i] % (uint64_t)alignment || !checked_add((uint64_t)data, offsets[i], &begin) ||
        begin > c->size || tensor->bytes > c->size - begin)
      return advise(
          c->ctx,
          fail(c->ctx, HONE_E_FORMAT, place_offset(c->at),
               "the data of tensor \"%.100s\" is not in the file: %zu bytes at %llu", tensor->name,
               tensor->bytes, (unsigned long long)offsets[i]),
          "the file is truncated or damaged: download it again and compare its size and checksum");
    tensor->data = c->bytes + begin;
  }
  return HONE_OK;
}

/* A count of things of at least `least` bytes each. */
static hone_status take_count(struct cursor *c, size_t least, const char *what, size_t *out) {
  const size_t offset = c->at;
  uint64_t count = 0;
  TRY(take_number(c, 8, what, &count));
  if (count > (c->size - c->at) / least)
    return fail(c->ctx, HONE_E_FORMAT, place_offset(offset), "%llu %s do not fit in the file",
                (unsigned long long)count, what);
  *out = (size_t)count;
  return HONE_OK;
}

hone_status gguf_read(struct ctx *ctx, struct arena *arena, const uint8_t *bytes, size_t size,
                      struct gguf *out) {
  struct cursor c = {ctx, bytes, size, 4};
  uint64_t version = 0;
  *out = (struct gguf){0};
  if (size < 4 || memcmp(bytes, "GGUF", 4))
    return fail(ctx, HONE_E_FORMAT, place_offset(0), "not a GGUF file");
  TRY(take_number(&c, 4, "the version", &version));
  if (version > 0xffff)
    return advise(ctx, fail(ctx, HONE_E_UNSUP, place_offset(4), "the GGUF file is big-endian"),
                  "convert it with gguf-convert-endian of the package gguf");
  if (version < 2 || version > 3)
    return advise(
        ctx,
        fail(ctx, HONE_E_UNSUP, place_offset(4), "GGUF version %llu", (unsigned long long)version),
        "hone reads versions 2 and 3: convert the model again with a current llama.cpp");
  out->version = (uint32_t)version;
  TRY(take_count(&c, LEAST_TENSOR, "tensors", &out->tensor_count));
  TRY(take_count(&c, LEAST_PAIR, "key/value pairs", &out->value_count));
  if ((int64_t)out->tensor_count > ctx->limits[LIMIT_tensors])
    return fail(ctx, HONE_E_LIMIT, place_offset(8), "%zu tensors, at most %lld", out->tensor_count,
                (long long)ctx->limits[LIMIT_tensors]);
  names_init(&out->by_key, arena);
  names_init(&out->by_name, arena);
  TRY(read_values(&c, arena, out));
  return read_tensors(&c, arena, out);
}

const struct gguf_value *gguf_find(const struct gguf *file, const char *key) {
  return names_find(&file->by_key, key);
}

const struct gguf_tensor *gguf_tensor(const struct gguf *file, const char *name) {
  return names_find(&file->by_name, name);
}

static hone_status has_wrong_type(struct ctx *ctx, const struct gguf_value *value,
                                  const char *want) {
  return fail(ctx, HONE_E_FORMAT, place_offset(value->offset), "the value of \"%.100s\" is not %s",
              value->key, want);
}

/* Any integer type, as int64; false for other types and numbers above INT64_MAX. */
static bool as_int(const struct gguf_value *value, int64_t *out) {
  static const bool is_signed[GGUF_KINDS] = {
      [GGUF_I8] = true, [GGUF_I16] = true, [GGUF_I32] = true, [GGUF_I64] = true};
  const size_t bytes = kind_bytes[value->kind];
  if (!bytes || value->kind == GGUF_F32 || value->kind == GGUF_F64) return false;
  uint64_t bits = little_endian(value->at, bytes);
  if (is_signed[value->kind] && bytes < 8 && bits >> (8 * bytes - 1)) bits |= ~0ull << (8 * bytes);
  *out = (int64_t)bits;
  return is_signed[value->kind] || bits <= INT64_MAX;
}

hone_status gguf_int(struct ctx *ctx, const struct gguf *file, const char *key, int64_t low,
                     int64_t high, int64_t otherwise, int64_t *out) {
  const struct gguf_value *value = gguf_find(file, key);
  *out = otherwise;
  if (!value) return HONE_OK;
  if (!as_int(value, out)) return has_wrong_type(ctx, value, "an integer");
  if (*out >= low && *out <= high) return HONE_OK;
  return fail(ctx, HONE_E_FORMAT, place_offset(value->offset),
              "\"%.100s\" is %lld, not within %lld to %lld", key, (long long)*out, (long long)low,
              (long long)high);
}

hone_status gguf_float(struct ctx *ctx, const struct gguf *file, const char *key, double otherwise,
                       double *out) {
  const struct gguf_value *value = gguf_find(file, key);
  *out = otherwise;
  if (!value) return HONE_OK;
  if (value->kind == GGUF_F32) {
    const uint32_t bits = (uint32_t)little_endian(value->at, 4);
    float x;
    memcpy(&x, &bits, 4);
    *out = (double)x;
  } else if (value->kind == GGUF_F64) {
    const uint64_t bits = little_endian(value->at, 8);
    memcpy(out, &bits, 8);
  } else {
    int64_t number;
    if (!as_int(value, &number)) return has_wrong_type(ctx, value, "a number");
    *out = (double)number;
  }
  return isfinite(*out) ? HONE_OK : has_wrong_type(ctx, value, "a finite number");
}

hone_status gguf_string(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                        const char *key, const char **out) {
  const struct gguf_value *value = gguf_find(file, key);
  *out = NULL;
  if (!value) return HONE_OK;
  if (value->kind != GGUF_STRING) return has_wrong_type(ctx, value, "a string");
  return name_copy(ctx, arena, value->at, (size_t)value->count, value->offset, key, out);
}
