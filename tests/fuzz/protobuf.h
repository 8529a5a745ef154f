/* A mutator for protocol buffers: it descends into a message, changes one field (its number,
 * content, position or repetition), and corrects the lengths of all enclosing messages. */
#ifndef HONE_FUZZ_PROTOBUF_H
#define HONE_FUZZ_PROTOBUF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { PB_DEPTH = 12, PB_FIELDS = 256 };
struct pb_field {
  size_t begin, body, end; /* offsets of the tag, of the content (after a length), of the end */
  unsigned wire;
};
struct pb_span {
  size_t begin, end;
};

static inline uint32_t pb_next(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static inline bool pb_varint(const uint8_t *p, size_t *at, size_t end, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
    uint8_t byte = p[(*at)++];
    *out |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

static inline size_t pb_put_varint(uint8_t *out, uint64_t x) {
  size_t n = 0;
  for (; x > 127; x >>= 7) out[n++] = (uint8_t)(x | 128);
  out[n++] = (uint8_t)x;
  return n;
}

/* Returns the number of fields of the span; 0: not a message. */
static inline size_t pb_fields(const uint8_t *p, struct pb_span span, struct pb_field *out) {
  size_t count = 0, at = span.begin;
  while (at < span.end && count < PB_FIELDS) {
    uint64_t tag, length = 0;
    struct pb_field f = {.begin = at};
    if (!pb_varint(p, &at, span.end, &tag) || tag >> 3 == 0 || tag >> 3 > 4096) return 0;
    f.wire = tag & 7;
    f.body = at;
    if (f.wire == 0) {
      if (!pb_varint(p, &at, span.end, &length)) return 0;
    } else if (f.wire == 2) {
      if (!pb_varint(p, &at, span.end, &length) || length > span.end - at) return 0;
      f.body = at, at += length;
    } else if (f.wire == 5 || f.wire == 1) {
      size_t width = f.wire == 5 ? 4 : 8;
      if (span.end - at < width) return 0;
      at += width;
    } else {
      return 0;
    }
    f.end = at;
    out[count++] = f;
  }
  return count;
}

/* Writes the replacement of field f to `out` (room for f twice and 64 bytes more); returns its
   size, 0: removed. */
static inline size_t pb_change(const uint8_t *p, const struct pb_field *f, const struct pb_field *other, uint32_t *seed,
                               uint8_t *out, size_t room) {
  static const uint64_t numbers[] = {0, 1, 2, 3, 7, 8, 16, 127, 128, 255, 65535, 1u << 20, INT32_MAX,
                                     UINT32_MAX, INT64_MAX, UINT64_MAX, 1ull << 62, 1ull << 40};
  size_t bytes = f->end - f->begin, head = f->body - f->begin, n = 0;
  switch (pb_next(seed) % 8) {
    case 0:
      return 0;
    case 1: /* twice */
      memcpy(out, p + f->begin, bytes);
      memcpy(out + bytes, p + f->begin, bytes);
      return 2 * bytes;
    case 2: /* another one before it */
      memcpy(out, p + other->begin, other->end - other->begin);
      n = other->end - other->begin;
      memcpy(out + n, p + f->begin, bytes);
      return n + bytes;
    case 3: /* of another number */
      memcpy(out, p + f->begin, bytes);
      out[0] = (uint8_t)((out[0] & 135) | (pb_next(seed) & 15) << 3);
      if (!(out[0] & 120)) out[0] |= 8;
      return bytes;
    default:
      break;
  }
  if (f->wire == 0) {
    const uint64_t some = pb_next(seed) % 4 ? numbers[pb_next(seed) % (sizeof numbers / sizeof *numbers)]
                                            : pb_next(seed) % 64;
    memcpy(out, p + f->begin, head);
    return head + pb_put_varint(out + head, some);
  }
  if (f->wire != 2) {
    memcpy(out, p + f->begin, bytes);
    out[head + pb_next(seed) % (bytes - head)] = (uint8_t)pb_next(seed);
    return bytes;
  }
  /* content of unknown structure: changed as bytes, with its length corrected */
  uint8_t *content = malloc(room);
  size_t length = f->end - f->body, most = length + 32 < room - 32 ? length + 32 : room - 32;
  size_t tag = 0;
  uint64_t ignored;
  if (!content) return 0;
  memcpy(content, p + f->body, length);
  length = LLVMFuzzerMutate(content, length, most);
  tag = f->begin;
  (void)pb_varint(p, &tag, f->end, &ignored);
  n = tag - f->begin;
  memcpy(out, p + f->begin, n);
  n += pb_put_varint(out + n, length);
  memcpy(out + n, content, length);
  free(content);
  return n + length;
}

/* Makes one change; returns the new size, or `size` if no change fits. */
static inline size_t pb_mutate(uint8_t *data, size_t size, size_t max_size, uint32_t seed) {
  struct pb_field fields[PB_FIELDS], way[PB_DEPTH];
  struct pb_span span = {0, size};
  size_t depth = 0, count = pb_fields(data, span, fields), k, room = 3 * size + 256;
  if (!count) return LLVMFuzzerMutate(data, size, max_size);
  for (;;) {
    struct pb_field inner[PB_FIELDS];
    k = pb_next(&seed) % count;
    struct pb_span in = {fields[k].body, fields[k].end};
    if (fields[k].wire != 2 || depth == PB_DEPTH || pb_next(&seed) % 8 == 0) break;
    size_t found = pb_fields(data, in, inner);
    if (!found) break;
    way[depth++] = fields[k];
    memcpy(fields, inner, found * sizeof *inner);
    count = found;
  }
  uint8_t *now = malloc(2 * room), *next = malloc(2 * room);
  const struct pb_field f = fields[k], other = fields[pb_next(&seed) % count];
  size_t n = 0, begin = f.begin, end = f.end;
  if (!now || !next) abort();
  n = pb_change(data, &f, &other, &seed, now, room);
  while (depth) { /* outwards: the message's tag, its new length, the fields before and after */
    const struct pb_field around = way[--depth];
    size_t tag = around.begin, at = 0, length = around.end - around.body - (end - begin) + n;
    uint64_t ignored;
    (void)pb_varint(data, &tag, around.end, &ignored);
    memcpy(next, data + around.begin, tag - around.begin);
    at = tag - around.begin;
    at += pb_put_varint(next + at, length);
    memcpy(next + at, data + around.body, begin - around.body);
    at += begin - around.body;
    memcpy(next + at, now, n);
    at += n;
    memcpy(next + at, data + end, around.end - end);
    n = at + around.end - end;
    uint8_t *swap = now;
    now = next, next = swap;
    begin = around.begin, end = around.end;
  }
  size_t whole = size - (end - begin) + n;
  if (whole <= max_size) {
    memmove(data + begin + n, data + end, size - end);
    memcpy(data + begin, now, n);
    size = whole;
  }
  free(now);
  free(next);
  return size;
}

#endif
