/* A mutator for zip archives: it changes the content of one member, text with words.h and other
 * data with libFuzzer, and rewrites the archive with matching sizes, offsets and checksums. */
#ifndef HONE_FUZZ_ARCHIVE_H
#define HONE_FUZZ_ARCHIVE_H

#include <stdbool.h>

#include "../unit/zip_crc.h"
#include "words.h"

enum { ZIP_MEMBERS = 64, ZIP_LOCAL = 30, ZIP_ENTRY = 46, ZIP_END = 22, ZIP_LARGEST = 1 << 16 };
struct zip_part {
  const uint8_t *name, *bytes;
  size_t name_bytes, packed, size;
  uint32_t method, crc;
};

static inline uint32_t zip_get(const uint8_t *p, int width) {
  uint32_t x = 0;
  for (int i = 0; i < width; i++) x |= (uint32_t)p[i] << (8 * i);
  return x;
}
static inline void zip_put(uint8_t **p, uint32_t x, int width) {
  for (int i = 0; i < width; i++) *(*p)++ = (uint8_t)(x >> (8 * i));
}
static inline void zip_copy(uint8_t **p, const uint8_t *bytes, size_t n) {
  memcpy(*p, bytes, n);
  *p += n;
}

/* Returns the number of members in the directory; 0: not an archive, or one that cannot be
   rewritten. */
static inline size_t zip_parts(const uint8_t *data, size_t size, struct zip_part *out) {
  size_t end = size < ZIP_END ? 0 : size - ZIP_END;
  while (end && memcmp(data + end, "PK\5\6", 4)) end--;
  if (!end) return 0;
  size_t count = zip_get(data + end + 10, 2), at = zip_get(data + end + 16, 4);
  if (count > ZIP_MEMBERS) return 0;
  for (size_t i = 0; i < count; i++) {
    if (at > end || end - at < ZIP_ENTRY) return 0;
    const uint8_t *entry = data + at;
    struct zip_part *part = &out[i];
    const size_t header = zip_get(entry + 42, 4);
    *part = (struct zip_part){.name = entry + ZIP_ENTRY,
                              .name_bytes = zip_get(entry + 28, 2),
                              .packed = zip_get(entry + 20, 4),
                              .size = zip_get(entry + 24, 4),
                              .method = zip_get(entry + 10, 2),
                              .crc = zip_get(entry + 16, 4)};
    at += ZIP_ENTRY + part->name_bytes + zip_get(entry + 30, 2) + zip_get(entry + 32, 2);
    if (at > end || header > end || end - header < ZIP_LOCAL) return 0;
    const size_t start = header + ZIP_LOCAL + zip_get(data + header + 26, 2) + zip_get(data + header + 28, 2);
    if (start > end || part->packed > end - start) return 0;
    part->bytes = data + start;
  }
  return count;
}

/* Writes the archive of these members without compressing them again; 0: it does not fit. */
static inline size_t zip_write(const struct zip_part *parts, size_t count, uint8_t *out, size_t room) {
  size_t need = ZIP_END;
  uint32_t places[ZIP_MEMBERS];
  uint8_t *p = out;
  for (size_t i = 0; i < count; i++) need += ZIP_LOCAL + ZIP_ENTRY + 2 * parts[i].name_bytes + parts[i].packed;
  if (need > room) return 0;
  for (int is_entry = 0; is_entry < 2; is_entry++) {
    const uint32_t start = (uint32_t)(p - out);
    for (size_t i = 0; i < count; i++) {
      const struct zip_part *part = &parts[i];
      if (!is_entry) places[i] = (uint32_t)(p - out);
      zip_put(&p, is_entry ? 0x02014b50 : 0x04034b50, 4);
      zip_put(&p, 20, is_entry ? 4 : 2); /* versions */
      zip_put(&p, 0, 2);
      zip_put(&p, part->method, 2);
      zip_put(&p, 0, 4); /* a time */
      zip_put(&p, part->method ? part->crc : zip_crc(part->bytes, part->packed), 4);
      zip_put(&p, (uint32_t)part->packed, 4);
      zip_put(&p, (uint32_t)part->size, 4);
      zip_put(&p, (uint32_t)part->name_bytes, is_entry ? 2 : 4);
      if (is_entry) {
        zip_put(&p, 0, 4);
        zip_put(&p, 0, 4);
        zip_put(&p, 0, 4);
        zip_put(&p, places[i], 4);
      }
      zip_copy(&p, part->name, part->name_bytes);
      if (!is_entry) zip_copy(&p, part->bytes, part->packed);
    }
    if (!is_entry) continue;
    const uint32_t bytes = (uint32_t)(p - out) - start;
    zip_put(&p, 0x06054b50, 4);
    zip_put(&p, 0, 4);
    zip_put(&p, (uint32_t)count, 2);
    zip_put(&p, (uint32_t)count, 2);
    zip_put(&p, bytes, 4);
    zip_put(&p, start, 4);
    zip_put(&p, 0, 2);
  }
  return (size_t)(p - out);
}

/* Changes one member, most often the largest, which describes the model. 0: no change was possible.
   */
static inline size_t zip_mutate(uint8_t *data, size_t size, size_t most, uint32_t seed) {
  static uint8_t content[ZIP_LARGEST], whole[ZIP_LARGEST];
  struct zip_part parts[ZIP_MEMBERS];
  const size_t count = zip_parts(data, size, parts);
  if (!count) return 0;
  size_t k = words_next(&seed) % count;
  for (size_t i = 0, any = words_next(&seed) % 8; i < count && any; i++)
    if (parts[i].packed > parts[k].packed) k = i;
  if (parts[k].packed > sizeof content) return 0;
  memcpy(content, parts[k].bytes, parts[k].packed);
  const size_t room = most < sizeof content ? most : sizeof content;
  const bool is_text = !parts[k].method && parts[k].packed && *content == '{';
  parts[k].bytes = content;
  parts[k].packed = is_text ? words_mutate(content, parts[k].packed, room, seed)
                            : LLVMFuzzerMutate(content, parts[k].packed, room);
  if (!parts[k].method) parts[k].size = parts[k].packed;
  size = zip_write(parts, count, whole, most < sizeof whole ? most : sizeof whole);
  memcpy(data, whole, size);
  return size;
}

#endif
