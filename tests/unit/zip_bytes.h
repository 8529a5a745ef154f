/* zip_bytes: archives with uncompressed members, for tests; shares no code with
 * src/compiler/import. */
#ifndef HONE_ZIP_BYTES_H
#define HONE_ZIP_BYTES_H
#include "onnx_bytes.h"
#include "zip_crc.h"

/* The fields that the header in front of a member and the one in the directory share. */
static inline void put_header(struct buf *b, const char *magic, size_t skip, uint32_t crc, size_t n,
                              size_t name) {
  uint32_t sizes[] = {crc, (uint32_t)n, (uint32_t)n};
  uint16_t names[] = {(uint16_t)name, 0};
  put_raw(b, magic, 4);
  put_raw(b, "\24\0\24\0" + 4 - skip, skip);
  put_raw(b, "\0\0\0\0\0\0\0\0", 8); /* flags, stored, time */
  put_raw(b, sizes, sizeof sizes);
  put_raw(b, names, sizeof names);
}

static inline void put_member(struct buf *b, struct buf *directory, const char *name,
                              const void *bytes, size_t n) {
  uint32_t at = (uint32_t)b->n, crc = zip_crc(bytes, n);
  put_header(b, "PK\3\4", 2, crc, n, strlen(name));
  put_raw(b, name, strlen(name));
  put_raw(b, bytes, n);
  put_header(directory, "PK\1\2", 4, crc, n, strlen(name));
  put_raw(directory, "\0\0\0\0\0\0\0\0\0\0", 10);
  put_raw(directory, &at, 4);
  put_raw(directory, name, strlen(name));
}

/* Appends the directory after the last member, and frees it. */
static inline void put_directory(struct buf *b, struct buf *directory, uint16_t count) {
  uint32_t where[] = {(uint32_t)directory->n, (uint32_t)b->n};
  put_raw(b, directory->at, directory->n);
  put_raw(b, "PK\5\6\0\0\0\0", 8);
  put_raw(b, (uint16_t[]){count, count}, 4);
  put_raw(b, where, sizeof where);
  put_raw(b, "\0\0", 2);
  free(directory->at);
}
#endif
