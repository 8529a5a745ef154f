/* zip: see zip.h.
 *
 *   end of directory   PK 5 6, u16 disk, u16 disk, u16 entries, u16 entries, u32 bytes, u32 offset,
 *                      u16 comment; in ZIP64 PK 6 7 before it points to PK 6 6
 *   directory entry    PK 1 2, .., u16 flags (8), u16 method (10), u32 crc (16), u32 packed (20),
 *                      u32 size (24), u16 name, extra, comment (28..), u32 attributes (38), u32 header
 *                      (42), name, extra, comment
 *   local header       PK 3 4, .., u16 flags (6), u16 method (8), u32 crc (14), u32 packed (18),
 *                      u32 size (22), u16 name, extra (26..), name, extra, bytes
 */
#include "zip.h"

#include <stdlib.h>

enum { END_BYTES = 22, ENTRY_BYTES = 46, LOCAL_BYTES = 30, END64_BYTES = 56, LOCATOR_BYTES = 20 };
enum { MOST_MEMBERS = 100000, LONGEST_COMMENT = 65535 };
enum {
  FLAG_ENCRYPTED = 1,
  FLAG_LATER = 8,
  FLAG_STRONG = 64,
  METHOD_STORED = 0,
  METHOD_DEFLATE = 8
};
enum { MOST_PER_BYTE = 1032 }; /* DEFLATE: 258 bytes of two bits */
enum { MOST_OF_ARCHIVE = 8 };  /* weights hardly compress */
enum { UNIX_TYPE = 0xf000, UNIX_LINK = 0xa000 };

static uint64_t get(const struct zip *zip, size_t at, size_t width) {
  return little_endian(zip->bytes + at, width);
}

static bool fits(const struct zip *zip, uint64_t at, uint64_t bytes) {
  return at <= zip->size && bytes <= zip->size - at;
}

static bool is_at(const struct zip *zip, uint64_t at, char a, char b, size_t bytes) {
  return fits(zip, at, bytes) && zip->bytes[at] == 'P' && zip->bytes[at + 1] == 'K' &&
         zip->bytes[at + 2] == (uint8_t)a && zip->bytes[at + 3] == (uint8_t)b;
}

static hone_status damaged(const struct zip *zip, uint64_t at, const char *what) {
  return fail(zip->ctx, HONE_E_FORMAT, place_offset((size_t)at), "zip archive: %s", what);
}

struct directory {
  uint64_t end; /* position of the directory's end record */
  uint64_t count, bytes, start;
};

static hone_status find_end(const struct zip *zip, uint64_t *out) {
  bool found = false;
  uint64_t first =
      zip->size > LONGEST_COMMENT + END_BYTES ? zip->size - LONGEST_COMMENT - END_BYTES : 0;
  const uint8_t *end = zip->bytes + zip->size, *p = zip->bytes + first;
  for (; (p = memchr(p, 'P', (size_t)(end - p))); p++) {
    uint64_t at = (uint64_t)(p - zip->bytes);
    if (!is_at(zip, at, 5, 6, END_BYTES) || at + END_BYTES + get(zip, at + 20, 2) != zip->size)
      continue;
    if (found) return damaged(zip, at, "two end-of-directory records");
    found = true;
    *out = at;
  }
  return found ? HONE_OK
               : damaged(zip, zip->size, "no end-of-directory record: the file is truncated");
}

/* ZIP64 if a field of the old record indicates it. */
static hone_status read_end(const struct zip *zip, struct directory *out) {
  uint64_t at = 0;
  TRY(find_end(zip, &at));
  *out = (struct directory){at, get(zip, at + 10, 2), get(zip, at + 12, 4), get(zip, at + 16, 4)};
  if (get(zip, at + 4, 2) != get(zip, at + 6, 2) || get(zip, at + 8, 2) != out->count)
    return damaged(zip, at, "it spans several disks");
  bool is_old = out->count != 0xffff && out->bytes != 0xffffffff && out->start != 0xffffffff;
  bool has_locator = at >= LOCATOR_BYTES && is_at(zip, at - LOCATOR_BYTES, 6, 7, LOCATOR_BYTES);
  if (is_old && !has_locator) return HONE_OK;
  if (!has_locator) return damaged(zip, at, "no ZIP64 directory where one is announced");
  uint64_t record = get(zip, at - LOCATOR_BYTES + 8, 8);
  if (!is_at(zip, record, 6, 6, END64_BYTES) || record + END64_BYTES > at - LOCATOR_BYTES)
    return damaged(zip, at - LOCATOR_BYTES, "the ZIP64 directory is not where it should be");
  struct directory wide = {record, get(zip, record + 32, 8), get(zip, record + 40, 8),
                           get(zip, record + 48, 8)};
  if ((out->count != 0xffff && out->count != wide.count) ||
      (out->bytes != 0xffffffff && out->bytes != wide.bytes) ||
      (out->start != 0xffffffff && out->start != wide.start))
    return damaged(zip, record, "the ZIP64 directory contradicts the old one");
  *out = wide;
  return HONE_OK;
}

/* -- names */

static hone_status check_name(const struct zip *zip, const char *name, size_t length, size_t at) {
  const char *what = NULL;
  if (!length || memchr(zip->bytes + at, 0, length)) what = "an empty name, or one with a NUL";
  if (name[0] == '/' || strchr(name, '\\') || (length > 1 && name[1] == ':'))
    what = "an absolute name";
  for (const char *p = name; !what && p; p = strchr(p, '/')) {
    p += *p == '/';
    if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2])) what = "a name that leads outside";
  }
  return what ? damaged(zip, at, what) : HONE_OK;
}

/* -- members */

/* Sizes and offset that are all ones are in extra field 1, in this order. */
static hone_status read_wide(const struct zip *zip, size_t extra, size_t bytes, uint64_t **fields,
                             size_t count) {
  for (size_t at = extra; bytes >= 4;) {
    size_t id = (size_t)get(zip, at, 2), size = (size_t)get(zip, at + 2, 2);
    if (size > bytes - 4) return damaged(zip, at, "an extra field ends outside");
    if (id == 1) {
      size_t place = at + 4, left = size;
      for (size_t i = 0; i < count; i++) {
        if (*fields[i] != 0xffffffff) continue;
        if (left < 8) return damaged(zip, at, "a ZIP64 field is missing");
        *fields[i] = get(zip, place, 8);
        place += 8, left -= 8;
      }
      return HONE_OK;
    }
    at += size + 4, bytes -= size + 4;
  }
  for (size_t i = 0; i < count; i++)
    if (*fields[i] == 0xffffffff) return damaged(zip, extra, "a ZIP64 field is missing");
  return HONE_OK;
}

/* Checks that the local header agrees with the directory; finds the bytes. */
static hone_status check_local(const struct zip *zip, const struct directory *d, uint64_t header,
                               uint64_t method, uint64_t flags, uint64_t packed, size_t name_at,
                               size_t name_bytes, struct zip_member *m) {
  if (!is_at(zip, header, 3, 4, LOCAL_BYTES))
    return damaged(zip, header, "no header where the directory says");
  size_t at = (size_t)header, extra = (size_t)get(zip, at + 28, 2);
  uint64_t local_packed = get(zip, at + 18, 4), local_size = get(zip, at + 22, 4);
  if (get(zip, at + 26, 2) != name_bytes || !fits(zip, at + LOCAL_BYTES, name_bytes + extra) ||
      memcmp(zip->bytes + at + LOCAL_BYTES, zip->bytes + name_at, name_bytes))
    return damaged(zip, header, "a member's two headers have different names");
  uint64_t *wide[] = {&local_size, &local_packed};
  if (local_packed == 0xffffffff || local_size == 0xffffffff)
    TRY(read_wide(zip, at + LOCAL_BYTES + name_bytes, extra, wide, 2));
  bool is_later = flags & FLAG_LATER && !local_packed && !local_size;
  if (get(zip, at + 8, 2) != method || get(zip, at + 6, 2) != flags ||
      (!is_later &&
       (local_packed != packed || local_size != m->size || get(zip, at + 14, 4) != m->crc)))
    return damaged(zip, header, "a member's two headers disagree");
  m->header = at;
  m->start = at + LOCAL_BYTES + name_bytes + extra;
  if (m->start > d->start || packed > d->start - m->start)
    return damaged(zip, header, "a member overlaps the directory");
  return HONE_OK;
}

static hone_status read_entry(struct zip *zip, struct arena *arena, const struct directory *d,
                              uint64_t *at, struct zip_member *m) {
  if (!is_at(zip, *at, 1, 2, ENTRY_BYTES) || *at + ENTRY_BYTES > d->end)
    return damaged(zip, *at, "the directory has fewer entries than declared");
  size_t p = (size_t)*at, name_bytes = (size_t)get(zip, p + 28, 2);
  size_t extra = (size_t)get(zip, p + 30, 2), comment = (size_t)get(zip, p + 32, 2);
  uint64_t flags = get(zip, p + 8, 2), method = get(zip, p + 10, 2);
  uint64_t packed = get(zip, p + 20, 4), size = get(zip, p + 24, 4), header = get(zip, p + 42, 4);
  if (ENTRY_BYTES + name_bytes + extra + comment > d->end - *at)
    return damaged(zip, *at, "a directory entry ends outside");
  size_t name_at = p + ENTRY_BYTES;
  TRY(name_copy(zip->ctx, arena, zip->bytes + name_at, name_bytes, name_at, "a member's name",
                &m->name));
  TRY(check_name(zip, m->name, name_bytes, name_at));
  if (flags & (FLAG_ENCRYPTED | FLAG_STRONG)) return damaged(zip, *at, "an encrypted member");
  if ((get(zip, p + 38, 4) >> 16 & UNIX_TYPE) == UNIX_LINK)
    return damaged(zip, *at, "a symbolic link");
  uint64_t *wide[] = {&size, &packed, &header};
  if (packed == 0xffffffff || size == 0xffffffff || header == 0xffffffff)
    TRY(read_wide(zip, name_at + name_bytes, extra, wide, 3));
  m->method = (uint32_t)method;
  m->crc = (uint32_t)get(zip, p + 16, 4);
  if ((method == METHOD_STORED && packed != size) || packed > zip->size)
    return damaged(zip, *at, "a member's sizes do not match");
  m->size = (size_t)size;
  TRY(check_local(zip, d, header, method, flags, packed, name_at, name_bytes, m));
  m->packed = (size_t)packed;
  *at += ENTRY_BYTES + name_bytes + extra + comment;
  return HONE_OK;
}

/* -- checksums: CRC-32 of ISO 3309, eight bytes at a time, with tables made once per archive */

struct zip_crc {
  uint32_t table[8][256];
};

static void crc_init(struct zip_crc *crc) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t x = i;
    for (int k = 0; k < 8; k++) x = x >> 1 ^ (x & 1 ? 0xedb88320u : 0);
    crc->table[0][i] = x;
  }
  for (uint32_t i = 0; i < 7 * 256; i++) { /* of table k + 1 from those of table k */
    uint32_t x = crc->table[i / 256][i % 256];
    crc->table[i / 256 + 1][i % 256] = x >> 8 ^ crc->table[0][x & 255];
  }
}

static uint32_t crc_of(const struct zip_crc *crc, const uint8_t *p, size_t n) {
  uint32_t x = UINT32_MAX;
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t low = (uint32_t)(p[0] | p[1] << 8 | p[2] << 16) | (uint32_t)p[3] << 24;
    low ^= x;
    x = crc->table[7][low & 255] ^ crc->table[6][low >> 8 & 255] ^ crc->table[5][low >> 16 & 255] ^
        crc->table[4][low >> 24] ^ crc->table[3][p[4]] ^ crc->table[2][p[5]] ^ crc->table[1][p[6]] ^
        crc->table[0][p[7]];
  }
  while (n--) x = x >> 8 ^ crc->table[0][(x ^ *p++) & 255];
  return ~x;
}

static int by_header(const void *a, const void *b) {
  const struct zip_member *x = a, *y = b;
  return x->header < y->header ? -1 : x->header > y->header;
}

hone_status zip_open(struct ctx *ctx, struct arena *arena, const uint8_t *bytes, size_t size,
                     struct zip *out) {
  struct directory d = {0};
  *out = (struct zip){.ctx = ctx, .bytes = bytes, .size = size};
  names_init(&out->names, arena);
  TRY(read_end(out, &d));
  if (d.start > d.end || d.bytes != d.end - d.start || d.end > size)
    return damaged(out, d.start, "the directory is not where it should be");
  if (d.count > MOST_MEMBERS || d.count > d.bytes / ENTRY_BYTES)
    return fail(ctx, d.count > MOST_MEMBERS ? HONE_E_LIMIT : HONE_E_FORMAT, place_none(),
                "zip archive: %llu members", (unsigned long long)d.count);
  out->count = (size_t)d.count;
  TRY(NEW_ARRAY(ctx, arena, out->members, out->count));
  uint64_t at = d.start;
  for (size_t i = 0; i < out->count; i++) TRY(read_entry(out, arena, &d, &at, &out->members[i]));
  if (at != d.end) return damaged(out, at, "bytes after the directory's last entry");
  struct zip_crc *crc;
  TRY(NEW(ctx, arena, crc));
  crc_init(crc);
  out->crc = crc;
  if (out->count) qsort(out->members, out->count, sizeof *out->members, by_header);
  for (size_t i = 0; i < out->count; i++) {
    struct zip_member *m = &out->members[i];
    bool fresh;
    if (i + 1 < out->count && m->start + m->packed > m[1].header)
      return damaged(out, m->header, "members overlap");
    TRY(names_add(ctx, &out->names, m->name, m, &fresh));
    if (!fresh) return damaged(out, m->header, "two members with the same name");
  }
  return HONE_OK;
}

const struct zip_member *zip_find(const struct zip *zip, const char *name) {
  return names_find(&zip->names, name);
}

static hone_status unpack(struct zip *zip, struct arena *arena, const struct zip_member *member,
                          const uint8_t **out) {
  uint8_t *bytes;
  size_t most = (size_t)zip->ctx->limits[LIMIT_unpacked_bytes];
  if (zip->size > most / MOST_OF_ARCHIVE) most = MOST_OF_ARCHIVE * zip->size;
  if (member->size / MOST_PER_BYTE > member->packed)
    return fail(zip->ctx, HONE_E_LIMIT, place_name(member->name), "%zu bytes packed into %zu",
                member->size, member->packed);
  if (member->size > most - zip->unpacked)
    return fail(zip->ctx, HONE_E_LIMIT, place_name(member->name),
                "the archive of %zu bytes unpacks to more than %zu (limit unpacked_bytes)",
                zip->size, most);
  zip->unpacked += member->size;
  TRY(arena_alloc(zip->ctx, arena, member->size + 1, 1, &bytes));
  *out = bytes;
  if (inflate_bytes(zip->bytes + member->start, member->packed, bytes, member->size))
    return HONE_OK;
  return fail(zip->ctx, HONE_E_FORMAT, place_name(member->name), "invalid DEFLATE data");
}

hone_status zip_read(struct zip *zip, struct arena *arena, const struct zip_member *member,
                     const uint8_t **out) {
  struct zip_member *own = &zip->members[member - zip->members];
  *out = own->content;
  if (own->content) return HONE_OK;
  if (member->method != METHOD_STORED && member->method != METHOD_DEFLATE)
    return fail(zip->ctx, HONE_E_UNSUP, place_name(member->name),
                "compression method %u: hone reads STORED and DEFLATE", member->method);
  *out = zip->bytes + member->start;
  if (member->method == METHOD_DEFLATE) TRY(unpack(zip, arena, member, out));
  if (crc_of(zip->crc, *out, member->size) != member->crc)
    return fail(zip->ctx, HONE_E_FORMAT, place_name(member->name), "wrong checksum");
  own->content = *out;
  return HONE_OK;
}
