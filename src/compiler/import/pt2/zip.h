/* zip: checked members of an archive. Stored members are read in place, DEFLATE members are
 * unpacked into memory; nothing is ever written to disk.
 *
 * Source: PKWARE's APPNOTE, sections 4.3 and 4.5; RFC 1951. */
#ifndef HONE_IMPORT_ZIP_H
#define HONE_IMPORT_ZIP_H

#include "compiler/import/import.h"

struct zip_member {
  const char *name;
  size_t start, packed; /* of its bytes in the file */
  size_t size;          /* of its content */
  size_t header;        /* of its local header */
  uint32_t crc;
  uint32_t method;
  const uint8_t *content; /* after it was read */
};
struct zip {
  struct ctx *ctx;
  const uint8_t *bytes;
  size_t size;
  struct zip_member *members; /* in the file's order */
  size_t count;
  struct names names; /* -> struct zip_member */
  size_t unpacked;    /* total bytes of all compressed members read so far */
  const struct zip_crc *crc;
};
/* E_FORMAT for anything that no tool writes: names outside the archive, duplicates, overlaps, two
 * directories, contradicting headers, encryption, links. E_LIMIT above 100,000 members. */
MUST_USE hone_status zip_open(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                              size_t size, struct zip *out);
const struct zip_member *zip_find(const struct zip *zip, const char *name); /* NULL if absent */
/* The content of a member after checking its checksum: in place in the file, or unpacked into the
 * arena, once. E_LIMIT if it is more than 1032 times as large as its bytes, which DEFLATE cannot
 * produce, or if the members read so far exceed limit unpacked_bytes and 8 times the archive. */
MUST_USE hone_status zip_read(struct zip *zip, struct arena *arena, const struct zip_member *member,
                              const uint8_t **out);

/* -- inflate.c */
/* Unpacks DEFLATE data (RFC 1951) into exactly `size` bytes; false if it is invalid. */
MUST_USE bool inflate_bytes(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size);

#endif
