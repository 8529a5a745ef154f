/* Invalid zip archives and DEFLATE data, one fault at a time, and unusual features that must be
 * read: ZIP64, sizes after a member, comments. The writer below is independent of the reader. */
#include "import_case.h"
#include "compiler/import/pt2/zip.h"

enum { STORED = 0, DEFLATED = 8, ENTRIES = 2, END_BYTES = 22 };

static uint32_t crc_of(const void *bytes, size_t n) {
  const uint8_t *p = bytes;
  uint32_t x = UINT32_MAX;
  for (; n--; p++) {
    x ^= *p;
    for (int k = 0; k < 8; k++) x = x >> 1 ^ (x & 1 ? 0xedb88320u : 0);
  }
  return ~x;
}

static void put_number(struct buf *b, uint64_t x, int width) {
  for (int i = 0; i < width; i++, x >>= 8) put_raw(b, &(uint8_t){(uint8_t)(x & 255)}, 1);
}

/* The parts of an archive; an extra field and a comment may be any bytes. */
struct part {
  const char *name;
  size_t name_bytes; /* 0: strlen(name) */
  const char *packed;
  size_t packed_bytes, size;
  unsigned method;
  uint32_t crc;
  const char *extra, *local_extra;
  size_t extra_bytes, local_extra_bytes;
};
struct archive {
  struct buf b;
  size_t local[ENTRIES], central[ENTRIES], start, end;
};

static void put_shared(struct buf *b, const struct part *p) {
  size_t name = p->name_bytes ? p->name_bytes : strlen(p->name);
  put_number(b, 20, 2);
  put_number(b, 0, 2);
  put_number(b, p->method, 2);
  put_number(b, 0, 4);
  put_number(b, p->crc, 4);
  put_number(b, p->packed_bytes, 4);
  put_number(b, p->size, 4);
  put_number(b, name, 2);
}

static struct archive make(const struct part *parts, size_t count) {
  struct archive a = {0};
  for (size_t i = 0; i < count; i++) {
    const struct part *p = &parts[i];
    a.local[i] = a.b.n;
    put_raw(&a.b, "PK\3\4", 4);
    put_shared(&a.b, p);
    put_number(&a.b, p->local_extra_bytes, 2);
    put_raw(&a.b, p->name, p->name_bytes ? p->name_bytes : strlen(p->name));
    put_raw(&a.b, p->local_extra, p->local_extra_bytes);
    put_raw(&a.b, p->packed, p->packed_bytes);
  }
  a.start = a.b.n;
  for (size_t i = 0; i < count; i++) {
    const struct part *p = &parts[i];
    a.central[i] = a.b.n;
    put_raw(&a.b, "PK\1\2\24\0", 6);
    put_shared(&a.b, p);
    put_number(&a.b, p->extra_bytes, 2);
    put_number(&a.b, 0, 2 + 2 + 2 + 4);
    put_number(&a.b, a.local[i], 4);
    put_raw(&a.b, p->name, p->name_bytes ? p->name_bytes : strlen(p->name));
    put_raw(&a.b, p->extra, p->extra_bytes);
  }
  a.end = a.b.n;
  put_raw(&a.b, "PK\5\6\0\0\0\0", 8);
  put_number(&a.b, count, 2);
  put_number(&a.b, count, 2);
  put_number(&a.b, a.end - a.start, 4);
  put_number(&a.b, a.start, 4);
  put_number(&a.b, 0, 2);
  return a;
}

static struct part stored(const char *name, const char *content) {
  return (struct part){.name = name,
                       .packed = content,
                       .packed_bytes = strlen(content),
                       .size = strlen(content),
                       .crc = crc_of(content, strlen(content))};
}

static struct archive two(void) {
  const struct part parts[] = {stored("m/a", "hello"), stored("m/bb", "world!")};
  return make(parts, 2);
}

static void set(struct archive *a, size_t at, uint64_t x, int width) {
  assert_true(at + (size_t)width <= a->b.n);
  for (int i = 0; i < width; i++) a->b.at[at + (size_t)i] = (uint8_t)(x >> (8 * i));
}

/* says NULL: the archive is opened, and every member read. Takes the bytes over. */
static void expect_archive(struct archive *a, hone_status status, const char *says) {
  struct ctx ctx;
  struct arena *arena;
  struct zip zip;
  const uint8_t *content;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  hone_status got = zip_open(&ctx, arena, a->b.at, a->b.n, &zip);
  for (size_t i = 0; !got && i < zip.count; i++)
    got = zip_read(&zip, arena, &zip.members[i], &content);
  if (got != status || (says && !strstr(ctx.message, says)))
    print_error("expected %s, got: %s\n", says ? says : "members", got ? ctx.message : "members");
  assert_int_equal(got, status);
  if (says) assert_non_null(strstr(ctx.message, says));
  arena_destroy(arena);
  free(a->b.at);
}

static void what_is_right_is_read(void **state) {
  struct archive a = two();
  (void)state;
  expect_archive(&a, HONE_OK, NULL);
  a = make(NULL, 0);
  expect_archive(&a, HONE_OK, NULL);
  a = two(); /* a comment that looks like an end, but does not end with the file */
  set(&a, a.end + 20, 30, 2);
  put_raw(&a.b, "PK\5\6______________________________", 30);
  expect_archive(&a, HONE_OK, NULL);
  a = two(); /* sizes after the member, not in its local header */
  set(&a, a.local[0] + 6, 8, 2);
  set(&a, a.central[0] + 8, 8, 2);
  set(&a, a.local[0] + 14, 0, 4);
  set(&a, a.local[0] + 18, 0, 4);
  set(&a, a.local[0] + 22, 0, 4);
  expect_archive(&a, HONE_OK, NULL);
}

/* One number of the archive replaced. */
static void a_number_replaced(void **state) {
  enum { LOCAL, CENTRAL, END };
  static const struct {
    int where;
    size_t at;
    int width;
    uint64_t x;
    const char *says;
  } rows[] = {
      {END, 0, 4, 0, "no end-of-directory"},
      {END, 20, 2, 1, "no end-of-directory"},
      {END, 4, 2, 1, "several disks"},
      {END, 8, 2, 1, "several disks"},
      {END, 16, 4, 3, "not where it should be"},
      {END, 16, 4, 0x7fffffff, "not where it should be"},
      {END, 12, 4, 3, "not where it should be"},
      {END, 12, 4, 0xffffffff, "no ZIP64 directory"},
      {END, 16, 4, 0xffffffff, "no ZIP64 directory"},
      {END, 8, 4, 0xffffffff, "no ZIP64 directory"},
      {END, 8, 4, 0x03000300, "members"},
      {END, 8, 4, 0x00010001, "after the directory's last entry"},
      {CENTRAL, 0, 4, 0, "fewer entries"},
      {CENTRAL, 8, 2, 1, "encrypted"},
      {CENTRAL, 8, 2, 64, "encrypted"},
      {CENTRAL, 8, 2, 2, "disagree"},
      {CENTRAL, 10, 2, 12, "disagree"},
      {CENTRAL, 16, 4, 1, "disagree"},
      {CENTRAL, 20, 4, 4, "sizes do not match"},
      {CENTRAL, 20, 8, 0x0000ffff0000ffff, "sizes do not match"},
      {CENTRAL, 20, 8, 0x0000000400000004, "disagree"},
      {CENTRAL, 20, 4, 0xffffffff, "a ZIP64 field is missing"},
      {CENTRAL, 24, 4, 0xffffffff, "a ZIP64 field is missing"},
      {CENTRAL, 42, 4, 0xffffffff, "a ZIP64 field is missing"},
      {CENTRAL, 28, 2, 500, "ends outside"},
      {CENTRAL, 30, 2, 500, "ends outside"},
      {CENTRAL, 32, 2, 500, "ends outside"},
      {CENTRAL, 28, 2, 0, "empty name"},
      {CENTRAL, 46, 1, '/', "absolute"},
      {CENTRAL, 47, 1, '\\', "absolute"},
      {CENTRAL, 47, 1, ':', "absolute"},
      {CENTRAL, 46, 1, 'n', "different names"},
      {CENTRAL, 46, 2, 0x2e2e, "different names"},
      {CENTRAL, 40, 2, 0xa1ff, "symbolic link"},
      {CENTRAL, 42, 4, 1, "no header"},
      {CENTRAL, 42, 4, 0x7fffffff, "no header"},
      {LOCAL, 0, 4, 0, "no header"},
      {LOCAL, 6, 2, 2, "disagree"},
      {LOCAL, 8, 2, 8, "disagree"},
      {LOCAL, 14, 4, 1, "disagree"},
      {LOCAL, 18, 4, 1, "disagree"},
      {LOCAL, 22, 4, 1, "disagree"},
      {LOCAL, 18, 4, 0xffffffff, "a ZIP64 field is missing"},
      {LOCAL, 22, 4, 0xffffffff, "a ZIP64 field is missing"},
      {LOCAL, 26, 2, 4, "different names"},
      {LOCAL, 28, 2, 60000, "different names"},
      {LOCAL, 28, 2, 60, "overlaps the directory"},
      {LOCAL, 28, 2, 44, "overlaps the directory"},
      {LOCAL, 28, 2, 10, "overlap"},
      {LOCAL, 30, 1, 'n', "different names"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct archive a = two();
    size_t base = rows[i].where == END ? a.end : rows[i].where == LOCAL ? a.local[0] : a.central[0];
    set(&a, base + rows[i].at, rows[i].x, rows[i].width);
    expect_archive(&a, HONE_E_FORMAT, rows[i].says);
  }
}

static void names_that_lead_outside(void **state) {
  static const struct {
    const char *name;
    size_t bytes;
    const char *says; /* NULL: a name like others */
  } rows[] = {
      {"..", 2, "leads outside"},     {"../x", 4, "leads outside"}, {"a/..", 4, "leads outside"},
      {"a/../b", 6, "leads outside"}, {"..a/b..", 7, NULL},         {"a/...", 5, NULL},
      {"C:x", 3, "absolute"},         {"/etc", 4, "absolute"},      {"a\\b", 3, "absolute"},
      {"a\0b", 3, "with a NUL"},      {"a//b/", 5, NULL},           {"\xff\xfe", 2, NULL},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct part part = stored(rows[i].name, "x");
    part.name_bytes = rows[i].bytes;
    struct archive a = make(&part, 1);
    if (rows[i].says) {
      expect_archive(&a, HONE_E_FORMAT, rows[i].says);
      continue;
    }
    struct ctx ctx;
    struct arena *arena;
    struct zip zip;
    ctx_init(&ctx);
    assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
    hone_status status = zip_open(&ctx, arena, a.b.at, a.b.n, &zip);
    assert_true(status == HONE_OK || status == HONE_E_FORMAT); /* no text, or with a NUL */
    arena_destroy(arena);
    free(a.b.at);
  }
}

static void members_twice(void **state) {
  const struct part same[] = {stored("m/a", "hello"), stored("m/a", "hello")};
  struct archive a = make(same, 2);
  (void)state;
  expect_archive(&a, HONE_E_FORMAT, "two members with the same name");
  a = make(same, 2); /* both entries of one member */
  set(&a, a.central[1] + 42, a.local[0], 4);
  expect_archive(&a, HONE_E_FORMAT, "overlap");
  a = two();
  set(&a, a.end + 20, END_BYTES, 2);
  uint8_t again[20];
  memcpy(again, a.b.at + a.end, sizeof again);
  put_raw(&a.b, again, sizeof again);
  put_raw(&a.b, "\0\0", 2);
  expect_archive(&a, HONE_E_FORMAT, "two end-of-directory");
}

/* -- ZIP64 */

enum { RECORD_BYTES = 56, LOCATOR_BYTES = 20 };

/* The 64-bit end of the directory: record, locator, then the old record with all bits set in the
 * fields of `ones` (1: count, 2: bytes, 4: start). */
static struct archive wide(unsigned ones) {
  struct archive a = two(), out;
  size_t end = a.end;
  out = a;
  out.b = (struct buf){0};
  put_raw(&out.b, a.b.at, end);
  put_raw(&out.b, "PK\6\6", 4);
  put_number(&out.b, RECORD_BYTES - 12, 8);
  put_number(&out.b, 0x2d002d, 4);
  put_number(&out.b, 0, 8);
  put_number(&out.b, 2, 8);
  put_number(&out.b, 2, 8);
  put_number(&out.b, end - a.start, 8);
  put_number(&out.b, a.start, 8);
  put_raw(&out.b, "PK\6\7\0\0\0\0", 8);
  put_number(&out.b, end, 8);
  put_number(&out.b, 1, 4);
  out.end = out.b.n;
  put_raw(&out.b, a.b.at + end, END_BYTES);
  if (ones & 1) set(&out, out.end + 8, 0xffffffff, 4);
  if (ones & 2) set(&out, out.end + 12, 0xffffffff, 4);
  if (ones & 4) set(&out, out.end + 16, 0xffffffff, 4);
  free(a.b.at);
  return out;
}

static void the_wide_directory(void **state) {
  struct archive a;
  (void)state;
  for (unsigned ones = 0; ones < 8; ones++) {
    a = wide(ones);
    expect_archive(&a, HONE_OK, NULL);
    size_t fields[] = {32, 40, 48};
    for (unsigned k = 0; k < 3;
         k++) { /* the old record says otherwise, or the directory does not fit */
      a = wide(ones);
      set(&a, a.end - LOCATOR_BYTES - RECORD_BYTES + fields[k], 1, 8);
      expect_archive(&a, HONE_E_FORMAT, ones >> k & 1 ? "" : "contradicts");
    }
  }
  a = wide(7);
  set(&a, a.end - LOCATOR_BYTES + 8, 5, 8);
  expect_archive(&a, HONE_E_FORMAT, "ZIP64 directory is not where");
  a = wide(7);
  set(&a, a.end - LOCATOR_BYTES + 8, UINT64_MAX - 3, 8);
  expect_archive(&a, HONE_E_FORMAT, "ZIP64 directory is not where");
  a = wide(7); /* a record that reaches into its locator */
  memmove(a.b.at + a.end - LOCATOR_BYTES - 20, "PK\6\6", 4);
  set(&a, a.end - LOCATOR_BYTES + 8, a.end - LOCATOR_BYTES - 20, 8);
  expect_archive(&a, HONE_E_FORMAT, "ZIP64 directory is not where");
  a = wide(7);
  set(&a, a.end - LOCATOR_BYTES - RECORD_BYTES + 32, 1u << 30, 8);
  expect_archive(&a, HONE_E_LIMIT, "members");
}

/* Sizes in an extra field: after another field, missing, cut off. */
static void wide_sizes(void **state) {
  static const char sizes[] = "\1\0\20\0\5\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0",
                    other[] = "\7\0\2\0xx\1\0\20\0\5\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0",
                    cut[] = "\1\0\10\0\5\0\0\0\0\0\0\0", outside[] = "\7\0\77\0xx";
  static const struct {
    const char *extra;
    size_t bytes;
    const char *says;
  } rows[] = {{sizes, 20, NULL},
              {other, 26, NULL},
              {cut, 12, "a ZIP64 field is missing"},
              {outside, 6, "an extra field ends outside"},
              {other, 6, "a ZIP64 field is missing"}};
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++)
    for (int is_local = 0; is_local < 2; is_local++) {
      struct part part = stored("m", "hello");
      part.extra = part.local_extra = sizes;
      part.extra_bytes = part.local_extra_bytes = 20;
      if (is_local)
        part.local_extra = rows[i].extra, part.local_extra_bytes = rows[i].bytes;
      else
        part.extra = rows[i].extra, part.extra_bytes = rows[i].bytes;
      struct archive a = make(&part, 1);
      set(&a, a.local[0] + 18, UINT64_MAX, 8);
      set(&a, a.central[0] + 20, UINT64_MAX, 8);
      expect_archive(&a, rows[i].says ? HONE_E_FORMAT : HONE_OK, rows[i].says);
    }
}

/* -- contents */

static void contents(void **state) {
  /* "a", as a stored block of DEFLATE */
  struct part part = {.name = "m",
                      .packed =
                          "\1\1\0\xfe\xff"
                          "a",
                      .packed_bytes = 6,
                      .size = 1,
                      .method = DEFLATED,
                      .crc = crc_of("a", 1)};
  struct archive a = make(&part, 1);
  (void)state;
  expect_archive(&a, HONE_OK, NULL);
  part.size = 2;
  a = make(&part, 1);
  expect_archive(&a, HONE_E_FORMAT, "invalid DEFLATE data");
  part.size = 1, part.crc++;
  a = make(&part, 1);
  expect_archive(&a, HONE_E_FORMAT, "wrong checksum");
  part.size = 1u << 20;
  a = make(&part, 1);
  expect_archive(&a, HONE_E_LIMIT, "1048576 bytes packed into 6");
  part.size = 6, part.method = 12;
  a = make(&part, 1);
  expect_archive(&a, HONE_E_UNSUP, "compression method 12");
}

/* -- DEFLATE, bit by bit */

/* Bits in the order in which they are read; numbers stand with their lowest bit first, codes with their highest. */
static void deflate_rows(void **state) {
  static const struct {
    const char *what, *bits;
    size_t size; /* asked for */
    bool is_good;
  } rows[] = {
      {"nothing", "", 0, false},
      {"the reserved kind", "1 11", 0, false},
      {"an empty block", "1 10 0000000", 0, true},
      {"a cut code", "1 10 000", 0, false},
      {"one literal", "1 10 00110000 0000000", 1, true},
      {"more than is asked for", "1 10 00110000 0000000", 0, false},
      {"less than is asked for", "1 10 00110000 0000000", 2, false},
      {"two blocks", "0 10 00110000 0000000 1 10 00110000 0000000", 2, true},
      {"a match of what is not there", "1 10 0000001 00000 0000000", 3, false},
      {"a match", "1 10 00110000 0000001 00000 0000000", 4, true},
      {"a match longer than is asked for", "1 10 00110000 0000001 00000 0000000", 3, false},
      {"a length that there is not", "1 10 00110000 11000110 00000 0000000", 9, false},
      {"a distance that there is not", "1 10 00110000 0000001 11110 0000000", 9, false},
      {"a match cut off", "1 10 00110000 0000001", 9, false},
      {"too many codes of length 1", "1 01 00000 00000 0000 100 100 100 100", 0, false},
      {"a repetition of nothing", "1 01 00000 00000 0000 100 100 000 000 0 00", 0, false},
      {"a repetition of too much", "1 01 00000 00000 0000 000 100 100 000 1 1111111 1 1111111", 0,
       false},
      {"no end of a block", "1 01 00000 00000 0000 000 100 100 000 1 1111111 1 1011011", 0, false},
      {"bits of no code", "1 01 00000 00000 0000 000 010 000 000 1111111111111111", 0, false},
      {"codes cut off", "1 01 00000 00000 0000 000 100 100 000 1", 0, false},
      {"too many literals of length 1",
       "1 01 00000 00000 0111 000 000 100 000 000 000 000 000 000 000 000 000 000 000 000 000 000 "
       "100 "
       "0 0 0 1 1111111 1 0001011 0 0",
       0, false},
      {"too many distances of length 1",
       "1 01 00000 01000 0111 000 000 100 000 000 000 000 000 000 000 000 000 000 000 000 000 000 "
       "100 "
       "1 1111111 1 1101011 0 0 0 0",
       0, false},
      {"an empty block of its own codes",
       "1 01 00000 00000 0111 000 000 100 000 000 000 000 000 000 000 000 000 000 000 000 000 000 "
       "100 "
       "1 1111111 1 1101011 0 0 0",
       0, true},
      {"a repeated length",
       "1 01 00000 00000 0111 100 000 010 000 000 000 000 000 000 000 000 000 000 000 000 000 000 "
       "010 "
       "11 1111111 11 1101011 10 0 00",
       0, false},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    uint8_t bytes[128] = {0}, out[64];
    size_t n = 0;
    for (const char *p = rows[i].bits; *p; p++)
      if (*p != ' ') bytes[n / 8] |= (uint8_t)((*p == '1') << n % 8), n++;
    bool is_good = inflate_bytes(bytes, (n + 7) / 8, out, rows[i].size);
    if (is_good != rows[i].is_good) print_error("%s\n", rows[i].what);
    assert_true(is_good == rows[i].is_good);
  }
}

static void stored_blocks(void **state) {
  static const struct {
    uint8_t bytes[8];
    size_t n, size;
    bool is_good;
    /* the length's complement */
  } rows[] = {{{1, 1, 0, 0xfe, 0xff, 'a'}, 6, 1, true},
              {{1, 1, 0, 0xff, 0xff, 'a'}, 6, 1, false},
              {{1, 2, 0, 0xfd, 0xff, 'a'}, 6, 2, false},
              {{1, 2, 0, 0xfd, 0xff, 'a', 'b'}, 7, 1, false},
              {{1, 1, 0}, 3, 1, false},
              {{0, 1, 0, 0xfe, 0xff, 'a'}, 6, 1, false}}; /* another block should follow */
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    uint8_t out[4];
    assert_true(inflate_bytes(rows[i].bytes, rows[i].n, out, rows[i].size) == rows[i].is_good);
  }
}

/* Output of a real compressor, truncated at every byte and with every bit flipped: never writes
   more than requested. */
static void damaged_streams(void **state) {
  enum { SMALLEST = 100, LARGEST = 1500, MOST = 3, GUARD = 16 };
  struct ctx ctx;
  struct arena *arena;
  struct mapping map;
  struct zip zip;
  size_t found = 0;
  (void)state;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(file_map(&ctx, "tests/cases/pt2/operators.zip", &map), HONE_OK);
  assert_int_equal(zip_open(&ctx, arena, map.data, map.size, &zip), HONE_OK);
  for (size_t i = 0; i < zip.count && found < MOST; i++) {
    const struct zip_member *m = &zip.members[i];
    if (m->method != DEFLATED || m->packed < SMALLEST || m->packed > LARGEST) continue;
    uint8_t *packed = malloc(m->packed), *out = malloc(m->size + GUARD);
    assert_true(packed && out);
    memcpy(packed, map.data + m->start, m->packed);
    memset(out, 0xa5, m->size + GUARD);
    assert_true(inflate_bytes(packed, m->packed, out, m->size));
    for (size_t n = 0; n < m->packed; n++) assert_false(inflate_bytes(packed, n, out, m->size));
    for (size_t bit = 0; bit < 8 * m->packed; bit++) {
      packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
      (void)!inflate_bytes(packed, m->packed, out, m->size);
      packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t k = 0; k < GUARD; k++) assert_int_equal(out[m->size + k], 0xa5);
    free(packed);
    free(out);
    found++;
  }
  assert_int_equal(found, MOST);
  arena_destroy(arena);
  file_unmap(&map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_right_is_read),
      cmocka_unit_test(a_number_replaced),
      cmocka_unit_test(names_that_lead_outside),
      cmocka_unit_test(members_twice),
      cmocka_unit_test(the_wide_directory),
      cmocka_unit_test(wide_sizes),
      cmocka_unit_test(contents),
      cmocka_unit_test(deflate_rows),
      cmocka_unit_test(stored_blocks),
      cmocka_unit_test(damaged_streams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
