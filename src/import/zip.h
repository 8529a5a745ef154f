/* zip: members of an archive where they lie, checked. Only what stands in the file as it is (method
 * STORED) can be read; nothing is ever written to a disk.
 * Source: PKWARE's APPNOTE, sections 4.3 and 4.5. */
#ifndef HONE_IMPORT_ZIP_H
#define HONE_IMPORT_ZIP_H

#include "import.h"

struct zip_member {
  const char *name;
  size_t start, size; /* of its bytes in the file */
  size_t header;      /* of its local header */
  uint32_t crc;
  bool is_stored;
};
struct zip {
  struct ctx *ctx;
  const uint8_t *bytes;
  size_t size;
  struct zip_member *members; /* in the file's order */
  size_t count;
  struct names names; /* -> struct zip_member */
};
/* E_FORMAT for what no tool writes: names outside the archive, duplicates, overlaps, two directories,
   headers that disagree, encryption, links. E_LIMIT above 100,000 members. */
MUST_USE hone_status zip_open(struct ctx *ctx, struct arena *arena, const uint8_t *bytes,
                              size_t size, struct zip *out);
const struct zip_member *zip_find(const struct zip *zip, const char *name); /* NULL if absent */
/* The bytes of a member, after its checksum. */
MUST_USE hone_status zip_read(const struct zip *zip, const struct zip_member *member,
                              const uint8_t **out);

#endif
