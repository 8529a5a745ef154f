/* wire: a bounds-checked cursor over protobuf's wire format.
 * In: the bytes of one message. Out: one field after another; nothing is copied. Every byte is read
 * through `take`, lengths are compared with the remaining size, never added to a pointer first.
 * Strict: groups, reserved wire types, tag 0 and varints above 10 bytes are errors; the caller
 * skips unknown fields of a legal type.
 * tag varint = number << 3 | type: type 0 varint, 1 eight bytes, 2 varint length + bytes, 5 four
 * bytes; 3 and 4 (groups), 6 and 7 are rejected. Source: Protocol Buffers, "Encoding". */
#include "onnx.h"

size_t wire_offset(const struct wire *wire, const uint8_t *at) {
  return (size_t)(at - wire->start);
}

static const uint8_t *take(struct wire *wire, size_t n) {
  if (n > (size_t)(wire->end - wire->at)) return NULL;
  const uint8_t *at = wire->at;
  wire->at += n;
  return at;
}

hone_status wire_varint(struct ctx *ctx, struct wire *wire, uint64_t *out) {
  size_t offset = wire_offset(wire, wire->at);
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t *byte = take(wire, 1);
    if (!byte) return fail(ctx, HONE_E_FORMAT, place_offset(offset), "the file ends in a number");
    if (shift == 63 && *byte > 1) /* the tenth byte holds the last bit */
      return fail(ctx, HONE_E_FORMAT, place_offset(offset), "a number of more than 64 bits");
    value |= (uint64_t)(*byte & 0x7f) << shift;
    if (*byte & 0x80) continue;
    *out = value;
    return HONE_OK;
  }
}

static hone_status take_fixed(struct ctx *ctx, struct wire *wire, size_t n, uint64_t *out) {
  size_t offset = wire_offset(wire, wire->at);
  const uint8_t *bytes = take(wire, n);
  if (!bytes) return fail(ctx, HONE_E_FORMAT, place_offset(offset), "the message ends in a number");
  *out = 0;
  memcpy(out, bytes, n); /* little endian, as the host */
  return HONE_OK;
}

static hone_status take_bytes(struct ctx *ctx, struct wire *wire, struct wire *out) {
  size_t offset = wire_offset(wire, wire->at);
  uint64_t length;
  TRY(wire_varint(ctx, wire, &length));
  size_t left = (size_t)(wire->end - wire->at);
  if (length > left)
    return fail(ctx, HONE_E_FORMAT, place_offset(offset),
                "a length of %llu bytes where %zu are left", (unsigned long long)length, left);
  const uint8_t *at = take(wire, (size_t)length);
  *out = (struct wire){at, at + length, wire->start};
  return HONE_OK;
}

hone_status wire_next(struct ctx *ctx, struct wire *wire, struct wire_field *out) {
  uint64_t tag;
  *out = (struct wire_field){.offset = wire_offset(wire, wire->at)};
  TRY(wire_varint(ctx, wire, &tag));
  if (tag >> 32 || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
    return fail(ctx, HONE_E_FORMAT, place_offset(out->offset), "field number %llu is not legal",
                (unsigned long long)(tag >> 3));
  out->number = (uint32_t)(tag >> 3);
  switch (tag & 7) {
    case WIRE_VARINT:
      out->type = WIRE_VARINT;
      return wire_varint(ctx, wire, &out->value);
    case WIRE_FIXED64:
      out->type = WIRE_FIXED64;
      return take_fixed(ctx, wire, 8, &out->value);
    case WIRE_FIXED32:
      out->type = WIRE_FIXED32;
      return take_fixed(ctx, wire, 4, &out->value);
    case WIRE_BYTES:
      out->type = WIRE_BYTES;
      return take_bytes(ctx, wire, &out->bytes);
    default:
      return fail(ctx, HONE_E_FORMAT, place_offset(out->offset),
                  "wire type %u of field %u is not legal", (unsigned)(tag & 7), out->number);
  }
}

hone_status wire_expect(struct ctx *ctx, const struct wire_field *field, enum wire_type type,
                        const char *what) {
  if (field->type == type) return HONE_OK;
  return fail(ctx, HONE_E_FORMAT, place_offset(field->offset),
              "%s (field %u) has wire type %u, expected %u", what, field->number,
              (unsigned)field->type, (unsigned)type);
}

hone_status wire_once(struct ctx *ctx, const struct wire_field *field, uint32_t *seen,
                      const char *what) {
  uint32_t bit = field->number < 32 ? UINT32_C(1) << field->number : 0;
  if (*seen & bit)
    return fail(ctx, HONE_E_FORMAT, place_offset(field->offset), "duplicate %s (field %u)", what,
                field->number);
  *seen |= bit;
  return HONE_OK;
}

hone_status wire_name(struct ctx *ctx, struct arena *arena, const struct wire_field *field,
                      const char *what, const char **out) {
  TRY(wire_expect(ctx, field, WIRE_BYTES, what));
  const uint8_t *bytes = field->bytes.at;
  return name_copy(ctx, arena, bytes, (size_t)(field->bytes.end - bytes),
                   wire_offset(&field->bytes, bytes), what, out);
}

hone_status wire_numbers(struct ctx *ctx, const struct wire_field *field, enum wire_type type,
                         uint64_t *out, size_t *count) {
  if (field->type != WIRE_BYTES) {
    TRY(wire_expect(ctx, field, type, "a number"));
    if (out) out[*count] = field->value;
    ++*count;
    return HONE_OK;
  }
  struct wire list = field->bytes;
  while (list.at < list.end) {
    uint64_t value;
    if (type == WIRE_VARINT)
      TRY(wire_varint(ctx, &list, &value));
    else
      TRY(take_fixed(ctx, &list, type == WIRE_FIXED32 ? 4 : 8, &value));
    if (out) out[*count] = value;
    ++*count;
  }
  return HONE_OK;
}
