/* flexbuffer: see flexbuffer.h.
 *
 *   root    the last byte: bytes of the root's value; before it its type; before that the value
 *   type    a byte: kind << 2 | log2 of the width of the target of an offset
 *   offset  backward from its own position, as wide as the values of its vector
 *   map     keys' offset, keys' width, count, [count] values, [count] types; `at` is value 0
 *   keys    [count] offsets of names that end with a zero
 * Numbers are little endian. Source: FlatBuffers' description "FlexBuffers".
 */
#include "flexbuffer.h"

enum {
  FLEX_INT = 1,
  FLEX_UINT,
  FLEX_FLOAT,
  FLEX_FAR_INT = 6,
  FLEX_FAR_UINT,
  FLEX_FAR_FLOAT,
  FLEX_MAP,
  FLEX_BOOL = 26
};

static uint64_t word_at(const uint8_t *bytes, size_t width) {
  uint64_t x = 0;
  for (size_t i = 0; i < width; i++) x |= (uint64_t)bytes[i] << (8 * i);
  return x;
}

static bool is_width(uint64_t width) {
  return width == 1 || width == 2 || width == 4 || width == 8;
}

/* The target of the offset at `at`. */
static bool follow_back(const uint8_t *bytes, size_t size, size_t at, size_t width, size_t *out) {
  if (at > size || width > size - at) return false;
  const uint64_t offset = word_at(bytes + at, width);
  *out = at - (size_t)offset;
  return offset <= at;
}

/* The map's own fields, `out->at` and `out->width` known. */
static bool open_map(struct flex_map *out) {
  const size_t width = out->width;
  if (out->at < 3 * width || out->at > out->size) return false;
  const uint64_t count = word_at(out->bytes + out->at - width, width);
  const uint64_t keys_width = word_at(out->bytes + out->at - 2 * width, width);
  if (!is_width(keys_width) || count > (out->size - out->at) / (width + 1) ||
      !follow_back(out->bytes, out->size, out->at - 3 * width, width, &out->keys))
    return false;
  out->count = (size_t)count;
  out->keys_width = (size_t)keys_width;
  return count <= (out->size - out->keys) / keys_width;
}

hone_status flex_open(struct ctx *ctx, struct place where, const uint8_t *bytes, size_t size,
                      struct flex_map *out) {
  *out = (struct flex_map){.bytes = bytes, .size = size};
  const size_t root = size < 3 ? 0 : bytes[size - 1];
  if (is_width(root) && root + 2 <= size && bytes[size - 2] >> 2 == FLEX_MAP) {
    out->width = (size_t)1 << (bytes[size - 2] & 3);
    if (follow_back(bytes, size, size - 2 - root, root, &out->at) && open_map(out)) return HONE_OK;
  }
  return fail(ctx, HONE_E_FORMAT, where, "custom options of %zu bytes are not a valid map", size);
}

static bool has_name(const struct flex_map *map, size_t i, const char *name) {
  const size_t length = strlen(name) + 1;
  size_t at;
  return follow_back(map->bytes, map->size, map->keys + i * map->keys_width, map->keys_width,
                     &at) &&
         length <= map->size - at && !memcmp(map->bytes + at, name, length);
}

static bool read_number(const uint8_t *at, int kind, size_t width, double *out) {
  const uint64_t word = word_at(at, width);
  float single;
  switch (kind) {
    case FLEX_INT: {
      const unsigned unused = 64 - 8 * (unsigned)width;
      *out = (double)((int64_t)(word << unused) >> unused);
      return true;
    }
    case FLEX_UINT:
    case FLEX_BOOL:
      *out = (double)word;
      return true;
    case FLEX_FLOAT:
      if (width == sizeof single) {
        memcpy(&single, at, sizeof single);
        *out = (double)single;
      } else if (width == sizeof *out) {
        memcpy(out, at, sizeof *out);
      }
      return width >= sizeof single;
    default:
      return false;
  }
}

hone_status flex_number(struct ctx *ctx, struct place where, const struct flex_map *map,
                        const char *name, double otherwise, double *out) {
  *out = otherwise;
  for (size_t i = 0; i < map->count; i++) {
    if (!has_name(map, i, name)) continue;
    size_t at = map->at + i * map->width, width = map->width;
    int kind = map->bytes[map->at + map->count * map->width + i] >> 2;
    bool is_sound = true;
    if (kind >= FLEX_FAR_INT && kind <= FLEX_FAR_FLOAT) {
      width = (size_t)1 << (map->bytes[map->at + map->count * map->width + i] & 3);
      is_sound = follow_back(map->bytes, map->size, at, map->width, &at) && width <= map->size - at;
      kind -= FLEX_FAR_INT - FLEX_INT;
    }
    if (is_sound && read_number(map->bytes + at, kind, width, out)) return HONE_OK;
    return fail(ctx, HONE_E_FORMAT, where, "custom option %s is not a number", name);
  }
  return HONE_OK;
}
