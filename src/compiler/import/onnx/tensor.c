/* tensor: TensorProto to struct tensor.
 * Payload comes from raw_data, a typed list or a side file, never from two of them. raw_data and
 * side files stay in the mapping if the element's alignment allows; everything else is copied into
 * the arena. Sizes are checked against the shape before memory is allocated.
 * 1 dims 2 data_type 4 float_data 5 int32_data (f16, bf16, 16 bits and less, bool) 6 string_data 7
 * int64_data 8 name 9 raw_data 10 double_data 11 uint64_data (u32, u64) 13 external_data 14
 * data_location (1: external)
 * Source: onnx.proto, TensorProto. */
#include "onnx.h"

enum {
  DIMS = 1,
  DATA_TYPE = 2,
  SEGMENT = 3,
  FLOAT_DATA = 4,
  INT32_DATA = 5,
  STRING_DATA = 6,
  INT64_DATA = 7,
  NAME = 8,
  RAW_DATA = 9,
  DOUBLE_DATA = 10,
  UINT64_DATA = 11,
  EXTERNAL_DATA = 13,
  DATA_LOCATION = 14
};

struct external {
  struct wire location;
  bool has_location;
  int64_t offset, length; /* length -1: not given */
  unsigned seen;          /* 1 location, 2 offset, 4 length, 8 checksum */
};

/* Fields found in one pass over the message. */
struct found {
  struct tensor tensor;
  const char *name;
  struct wire raw;
  bool has_raw, is_external;
  uint32_t list;     /* field number of the typed list, 0: none */
  size_t list_count; /* number of its elements */
  struct external external;
  size_t offset;
};

static struct place at_of(const struct found *found) {
  return *found->name ? place_name(found->name) : place_offset(found->offset);
}

/* -- first pass: which fields are present */

static hone_status read_dims(struct ctx *ctx, const struct wire_field *field, struct shape *shape) {
  size_t count = 0;
  TRY(wire_numbers(ctx, field, WIRE_VARINT, NULL, &count));
  size_t most = (size_t)ctx->limits[LIMIT_rank];
  if (most > HONE_MAX_RANK) most = HONE_MAX_RANK;
  if (count > most - (size_t)shape->rank)
    return fail(ctx, HONE_E_LIMIT, place_offset(field->offset), "a tensor of more than %zu dims",
                most);
  size_t rank = (size_t)shape->rank;
  uint64_t dims[HONE_MAX_RANK];
  TRY(wire_numbers(ctx, field, WIRE_VARINT, dims, &rank));
  for (int i = shape->rank; i < (int)rank; i++) shape->dims[i] = (int64_t)dims[i];
  shape->rank = (int)rank;
  return HONE_OK;
}

static enum wire_type list_type(uint32_t number) {
  return number == FLOAT_DATA    ? WIRE_FIXED32
         : number == DOUBLE_DATA ? WIRE_FIXED64
         : number == STRING_DATA ? WIRE_BYTES
                                 : WIRE_VARINT;
}

static hone_status count_list(struct ctx *ctx, const struct wire_field *field,
                              struct found *found) {
  if (found->list && found->list != field->number)
    return fail(ctx, HONE_E_FORMAT, place_offset(field->offset),
                "a tensor with two lists of values (fields %u and %u)", found->list, field->number);
  found->list = field->number;
  if (field->number == STRING_DATA) {
    found->list_count++;
    return wire_expect(ctx, field, WIRE_BYTES, "string_data");
  }
  return wire_numbers(ctx, field, list_type(field->number), NULL, &found->list_count);
}

static bool text_is(const struct wire *bytes, const char *text) {
  return (size_t)(bytes->end - bytes->at) == strlen(text) && !memcmp(bytes->at, text, strlen(text));
}

static hone_status read_decimal(struct ctx *ctx, const struct wire *bytes, const char *key,
                                int64_t *out) {
  char text[24];
  size_t length = (size_t)(bytes->end - bytes->at);
  if (length < sizeof text) {
    memcpy(text, bytes->at, length);
    text[length] = 0;
    if (strlen(text) == length && parse_i64(text, 0, INT64_MAX, out)) return HONE_OK;
  }
  return fail(ctx, HONE_E_FORMAT, place_offset(wire_offset(bytes, bytes->at)),
              "external data: %s is not a number of bytes", key);
}

/* One StringStringEntryProto of external_data. */
static hone_status read_external(struct ctx *ctx, const struct wire_field *field,
                                 struct external *out) {
  static const char *const keys[] = {"location", "offset", "length", "checksum"};
  TRY(wire_expect(ctx, field, WIRE_BYTES, "external_data"));
  struct wire entry = field->bytes, key = {0}, value = {0};
  uint32_t seen = 0;
  while (entry.at < entry.end) {
    struct wire_field part;
    TRY(wire_next(ctx, &entry, &part));
    if (part.number > 2) continue;
    TRY(wire_expect(ctx, &part, WIRE_BYTES, "a key or value of external_data"));
    TRY(wire_once(ctx, &part, &seen, "key or value of external_data"));
    *(part.number == 1 ? &key : &value) = part.bytes;
  }
  size_t which = 0;
  while (which < COUNT(keys) && !(key.at && text_is(&key, keys[which]))) which++;
  if (which == COUNT(keys) || !value.at)
    return fail(ctx, HONE_E_FORMAT, place_offset(field->offset),
                "external data: unknown key (known: location, offset, length, checksum)");
  if (out->seen & 1u << which)
    return fail(ctx, HONE_E_FORMAT, place_offset(field->offset), "external data: duplicate %s",
                keys[which]);
  out->seen |= 1u << which;
  if (which == 0) out->location = value, out->has_location = true;
  if (which == 1) return read_decimal(ctx, &value, "offset", &out->offset);
  if (which == 2) return read_decimal(ctx, &value, "length", &out->length);
  return HONE_OK;
}

static hone_status read_dtype(struct ctx *ctx, const struct wire_field *field, hone_dtype *out) {
  TRY(wire_expect(ctx, field, WIRE_VARINT, "data_type"));
  int64_t number = (int64_t)field->value;
  if (!dtype_supported(number))
    return fail(ctx, HONE_E_TYPE, place_offset(field->offset),
                "element type %lld is unknown or not supported", (long long)number);
  *out = (hone_dtype)number;
  return HONE_OK;
}

static hone_status find_field(struct ctx *ctx, struct arena *arena, const struct wire_field *field,
                              uint32_t *seen, struct found *found) {
  switch (field->number) {
    case DIMS:
      return read_dims(ctx, field, &found->tensor.shape);
    case DATA_TYPE:
      TRY(wire_once(ctx, field, seen, "data_type"));
      return read_dtype(ctx, field, &found->tensor.dtype);
    case SEGMENT:
      return fail(ctx, HONE_E_UNSUP, place_offset(field->offset), "a tensor stored in segments");
    case NAME:
      TRY(wire_once(ctx, field, seen, "tensor name"));
      return wire_name(ctx, arena, field, "a tensor's name", &found->name);
    case RAW_DATA:
      TRY(wire_once(ctx, field, seen, "raw_data"));
      TRY(wire_expect(ctx, field, WIRE_BYTES, "raw_data"));
      found->raw = field->bytes;
      found->has_raw = true;
      return HONE_OK;
    case FLOAT_DATA:
    case INT32_DATA:
    case STRING_DATA:
    case INT64_DATA:
    case DOUBLE_DATA:
    case UINT64_DATA:
      return count_list(ctx, field, found);
    case EXTERNAL_DATA:
      return read_external(ctx, field, &found->external);
    case DATA_LOCATION:
      TRY(wire_once(ctx, field, seen, "data_location"));
      TRY(wire_expect(ctx, field, WIRE_VARINT, "data_location"));
      if (field->value > 1)
        return fail(ctx, HONE_E_FORMAT, place_offset(field->offset), "data_location %llu",
                    (unsigned long long)field->value);
      found->is_external = field->value == 1;
      return HONE_OK;
    default:
      return HONE_OK;
  }
}

/* -- second pass: values of the typed list into the arena */

/* The field that holds values of a dtype, by onnx.proto. */
static uint32_t list_of(hone_dtype dtype) {
  switch (dtype) {
    case HONE_F32:
      return FLOAT_DATA;
    case HONE_F64:
      return DOUBLE_DATA;
    case HONE_I64:
      return INT64_DATA;
    case HONE_U32:
    case HONE_U64:
      return UINT64_DATA;
    case HONE_STRING:
      return STRING_DATA;
    default:
      return INT32_DATA;
  }
}

struct filling {
  uint8_t *to;
  size_t unit_bytes; /* of one list element in memory */
  size_t done, count;
};

/* Low bytes of each number: two's complement wraps as in the reference implementation. */
static hone_status fill(struct ctx *ctx, const struct wire_field *field, struct filling *filling) {
  if (field->type != WIRE_BYTES) {
    memcpy(filling->to + filling->done++ * filling->unit_bytes, &field->value, filling->unit_bytes);
    return HONE_OK;
  }
  struct wire list = field->bytes;
  enum wire_type type = list_type(field->number);
  if (type != WIRE_VARINT) { /* fixed-size elements have their memory layout */
    size_t bytes = (size_t)(list.end - list.at);
    memcpy(filling->to + filling->done * filling->unit_bytes, list.at, bytes);
    filling->done += bytes / filling->unit_bytes;
    return HONE_OK;
  }
  while (list.at < list.end) {
    uint64_t value;
    TRY(wire_varint(ctx, &list, &value));
    memcpy(filling->to + filling->done++ * filling->unit_bytes, &value, filling->unit_bytes);
  }
  return HONE_OK;
}

static hone_status fill_strings(struct ctx *ctx, struct arena *arena, struct wire message,
                                struct found *found) {
  struct string *strings;
  TRY(NEW_ARRAY(ctx, arena, strings, found->list_count));
  size_t k = 0, bytes = 0;
  while (message.at < message.end) {
    struct wire_field field;
    TRY(wire_next(ctx, &message, &field));
    if (field.number != STRING_DATA) continue;
    size_t length = (size_t)(field.bytes.end - field.bytes.at);
    bytes += length; /* at most the file's size */
    if (bytes > (size_t)ctx->limits[LIMIT_string_tensor_bytes])
      return fail(ctx, HONE_E_LIMIT, at_of(found), "a string tensor above limit %s (%lld)",
                  "string_tensor_bytes", (long long)ctx->limits[LIMIT_string_tensor_bytes]);
    strings[k].length = length;
    TRY(arena_string(ctx, arena, (const char *)field.bytes.at, length, &strings[k].bytes));
    k++;
  }
  found->tensor.data = strings;
  found->tensor.bytes = found->list_count * sizeof *strings;
  return HONE_OK;
}

static hone_status fill_list(struct ctx *ctx, struct arena *arena, struct wire message,
                             struct found *found, int64_t elements) {
  hone_dtype dtype = found->tensor.dtype;
  unsigned bits = dtype_bits(dtype);
  /* types smaller than a byte: a byte of them per entry */
  size_t each = bits && bits < 8 ? 8 / bits : 1;
  size_t expected = ((size_t)elements + each - 1) / each;
  if (elements && found->list && found->list != list_of(dtype))
    return fail(ctx, HONE_E_FORMAT, at_of(found),
                "values of type %s in field %u, expected field %u", dtype_name(dtype), found->list,
                list_of(dtype));
  if (found->list_count != expected)
    return fail(ctx, HONE_E_FORMAT, at_of(found), "the shape needs %zu values, the file has %zu",
                expected, found->list_count);
  if (dtype == HONE_STRING) return fill_strings(ctx, arena, message, found);
  struct filling filling = {.unit_bytes = bits < 8 ? 1 : bits / 8, .count = expected};
  TRY(arena_alloc(ctx, arena, expected, filling.unit_bytes, &filling.to));
  while (message.at < message.end) {
    struct wire_field field;
    TRY(wire_next(ctx, &message, &field));
    if (field.number == found->list) TRY(fill(ctx, &field, &filling));
  }
  found->tensor.data = filling.to;
  return HONE_OK;
}

/* -- bytes in a mapping */

static hone_status read_side_file(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                                  struct found *found) {
  const struct external *external = &found->external;
  if (!external->has_location)
    return fail(ctx, HONE_E_FORMAT, at_of(found), "external data without a location");
  size_t length = (size_t)(external->location.end - external->location.at);
  const char *location;
  TRY(arena_string(ctx, arena, (const char *)external->location.at, length, &location));
  const uint8_t *bytes;
  TRY(side_files_read(ctx, sides, location, length, (uint64_t)external->offset, external->length,
                      found->tensor.bytes, at_of(found), &bytes));
  return payload_use(ctx, arena, bytes, &found->tensor);
}

static hone_status read_payload(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                                struct wire message, struct found *found) {
  int64_t elements;
  struct tensor *tensor = &found->tensor;
  if (!tensor->dtype) return fail(ctx, HONE_E_TYPE, at_of(found), "a tensor without element type");
  bool is_string = tensor->dtype == HONE_STRING;
  TRY(shape_check(ctx, at_of(found), tensor->dtype, &tensor->shape, &elements, &tensor->bytes));
  if (is_string && (found->has_raw || found->is_external))
    return fail(ctx, HONE_E_TYPE, at_of(found), "a string tensor in %s",
                found->has_raw ? "raw_data" : "a side file");
  if ((found->has_raw && (found->list_count || found->is_external)) ||
      (found->is_external && found->list_count))
    return fail(ctx, HONE_E_FORMAT, at_of(found), "a tensor with values in two places");
  if (found->is_external) return read_side_file(ctx, arena, sides, found);
  if (!found->has_raw) return fill_list(ctx, arena, message, found, elements);
  size_t actual = (size_t)(found->raw.end - found->raw.at);
  if (actual != tensor->bytes)
    return fail(ctx, HONE_E_FORMAT, at_of(found), "the shape needs %zu bytes, raw_data has %zu",
                tensor->bytes, actual);
  return payload_use(ctx, arena, found->raw.at, tensor);
}

hone_status read_tensor(struct ctx *ctx, struct arena *arena, struct side_files *sides,
                        struct wire message, const struct tensor **out, const char **out_name) {
  struct found found = {.name = "", .external.length = -1};
  found.offset = wire_offset(&message, message.at);
  uint32_t seen = 0;
  for (struct wire rest = message; rest.at < rest.end;) {
    struct wire_field field;
    TRY(wire_next(ctx, &rest, &field));
    TRY(find_field(ctx, arena, &field, &seen, &found));
  }
  TRY(read_payload(ctx, arena, sides, message, &found));
  struct tensor *tensor;
  TRY(NEW(ctx, arena, tensor));
  *tensor = found.tensor;
  *out = tensor;
  *out_name = found.name;
  return HONE_OK;
}
