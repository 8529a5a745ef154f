/* wire: a bounds-checked cursor over protobuf's wire format.
 *
 * In: the bytes of one message. Out: one field after another; nothing is copied. Every byte is read
 * through `take`, lengths are compared with what is left, never added to a pointer first. Strict:
 * groups, reserved wire types, tag 0 and varints above 10 bytes are errors; unknown fields of a
 * legal type are the caller's to skip.
 *
 *   tag     varint = number << 3 | type        type 0 varint, 1 eight bytes, 2 varint length +
 * bytes, 5 four bytes; 3 and 4 (groups), 6 and 7 are refused Source: Protocol Buffers, "Encoding".
 */
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

/* Length of the UTF-8 sequence at s (shortest form, no surrogates), 0 if it is none. */
static size_t utf8_length(const uint8_t *s, size_t left) {
  static const struct {
    uint8_t mask, lead, least_second, most_second;
  } forms[] = {{0xff, 0xe0, 0xa0, 0xbf}, {0xff, 0xed, 0x80, 0x9f}, {0xff, 0xf0, 0x90, 0xbf},
               {0xff, 0xf4, 0x80, 0x8f}, {0xe0, 0xc0, 0x80, 0xbf}, {0xf0, 0xe0, 0x80, 0xbf},
               {0xf8, 0xf0, 0x80, 0xbf}};
  if (s[0] < 0x80) return 1;
  if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
  size_t length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
  if (length > left) return 0;
  size_t row = 0;
  while ((s[0] & forms[row].mask) != forms[row].lead) row++;
  if (s[1] < forms[row].least_second || s[1] > forms[row].most_second) return 0;
  for (size_t i = 2; i < length; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  return length;
}

/* Replaces each NUL by U+2400, so that the C string keeps the whole name. */
static hone_status copy_with_nuls(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                                  size_t length, size_t nuls, const char **out) {
  char *copy;
  TRY(NEW_ARRAY(ctx, arena, copy, length + 2 * nuls + 1));
  char *to = copy;
  for (size_t i = 0; i < length; i++) {
    if (bytes[i])
      *to++ = (char)bytes[i];
    else
      memcpy(to, "\xe2\x90\x80", 3), to += 3;
  }
  *out = copy;
  return HONE_OK;
}

hone_status wire_name(struct ctx *ctx, struct arena *arena, const struct wire_field *field,
                      const char *what, const char **out) {
  TRY(wire_expect(ctx, field, WIRE_BYTES, what));
  const uint8_t *bytes = field->bytes.at;
  size_t length = (size_t)(field->bytes.end - bytes), nuls = 0;
  if (length > (size_t)ctx->limits[LIMIT_name_bytes])
    return fail(ctx, HONE_E_LIMIT, place_offset(field->offset),
                "%s of %zu bytes, limit name_bytes is %lld", what, length,
                (long long)ctx->limits[LIMIT_name_bytes]);
  for (size_t i = 0, n; i < length; i += n) {
    n = utf8_length(bytes + i, length - i);
    if (!n)
      return fail(ctx, HONE_E_FORMAT, place_offset(wire_offset(&field->bytes, bytes + i)),
                  "%s is not UTF-8", what);
    nuls += !bytes[i];
  }
  if (nuls) return copy_with_nuls(ctx, arena, bytes, length, nuls, out);
  return arena_string(ctx, arena, (const char *)bytes, length, out);
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
