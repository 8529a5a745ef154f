/* flatbuffer: see flatbuffer.h.
 *
 *   root    u32 offset of the root table from byte 0
 *   table   i32: its vtable is at (table - this); then the fields
 *   vtable  u16 bytes of the vtable, u16 bytes of the table, u16 per field: its position in the table
 *           (0: absent)
 *   offset  u32, forward from its own position; vector and string: u32 count, then the elements
 * Numbers are little endian and aligned to their size.
 */
#include "flatbuffer.h"

/* How often the tables of a real file are opened while it is read. */
enum { OPENINGS = 8, FREE_TABLES = 256 };

static hone_status damaged(struct flat *flat, size_t at, const char *what) {
  return fail(flat->ctx, HONE_E_FORMAT, place_offset(at), "%s", what);
}

static hone_status check_span(struct flat *flat, size_t at, size_t bytes, size_t alignment,
                              const char *what) {
  if (at > flat->size || bytes > flat->size - at)
    return fail(flat->ctx, HONE_E_FORMAT, place_offset(at), "%s of %zu bytes ends outside the file",
                what, bytes);
  if (at % alignment)
    return fail(flat->ctx, HONE_E_FORMAT, place_offset(at), "%s is misaligned", what);
  return HONE_OK;
}

/* Follows the offset stored at `at`. */
static hone_status follow(struct flat *flat, size_t at, size_t *out) {
  TRY(check_span(flat, at, 4, 4, "an offset"));
  uint64_t offset = little_endian(flat->bytes + at, 4);
  if (offset == 0 || offset > flat->size - at)
    return damaged(flat, at, "an offset points outside the file");
  *out = at + (size_t)offset;
  return HONE_OK;
}

static hone_status open_table(struct flat *flat, size_t at, struct flat_table *out) {
  if (!flat->tables_left--) {
    flat->tables_left = 0;
    return fail(flat->ctx, HONE_E_LIMIT, place_offset(at),
                "more tables than the file's bytes can hold: they are shared");
  }
  TRY(check_span(flat, at, 4, 4, "a table"));
  int64_t vtable = (int64_t)at - (int32_t)little_endian(flat->bytes + at, 4);
  if (vtable < 0 || (uint64_t)vtable > flat->size)
    return damaged(flat, at, "a table's vtable is outside the file");
  *out = (struct flat_table){.flat = flat, .at = at, .vtable = (size_t)vtable};
  TRY(check_span(flat, out->vtable, 4, 2, "a vtable"));
  out->vtable_bytes = (size_t)little_endian(flat->bytes + vtable, 2);
  out->bytes = (size_t)little_endian(flat->bytes + vtable + 2, 2);
  if (out->vtable_bytes < 4 || out->vtable_bytes % 2 || out->bytes < 4)
    return damaged(flat, out->vtable, "a vtable of impossible size");
  TRY(check_span(flat, out->vtable, out->vtable_bytes, 2, "a vtable"));
  return check_span(flat, at, out->bytes, 4, "a table");
}

hone_status flat_open(struct ctx *ctx, const uint8_t *bytes, size_t size, struct flat *flat,
                      struct flat_table *out_root) {
  size_t root;
  *flat = (struct flat){ctx, bytes, size, OPENINGS * (size / 4) + FREE_TABLES};
  TRY(follow(flat, 0, &root));
  return open_table(flat, root, out_root);
}

/* Position of a field of `width` bytes; 0: absent. */
static hone_status find_field(const struct flat_table *table, unsigned field, size_t width,
                              size_t *out) {
  size_t slot = 4 + 2 * (size_t)field;
  *out = 0;
  if (!table->flat || slot + 2 > table->vtable_bytes) return HONE_OK;
  size_t inside = (size_t)little_endian(table->flat->bytes + table->vtable + slot, 2);
  if (!inside) return HONE_OK;
  if (inside < 4 || inside > table->bytes || width > table->bytes - inside)
    return damaged(table->flat, table->vtable + slot, "a field is outside its table");
  *out = table->at + inside;
  return check_span(table->flat, *out, width, width, "a field");
}

hone_status flat_number(const struct flat_table *table, unsigned field, enum flat_type type,
                        int64_t otherwise, int64_t *out) {
  static const size_t widths[] = {1, 1, 4, 4, 8, 8};
  size_t at;
  TRY(find_field(table, field, widths[type], &at));
  *out = otherwise;
  if (!at) return HONE_OK;
  uint64_t bits = little_endian(table->flat->bytes + at, widths[type]);
  switch (type) {
    case FLAT_I8:
      *out = (int8_t)bits;
      return HONE_OK;
    case FLAT_I32:
      *out = (int32_t)bits;
      return HONE_OK;
    case FLAT_U64:
      if (bits > INT64_MAX) return damaged(table->flat, at, "a number is too large");
      *out = (int64_t)bits;
      return HONE_OK;
    default:
      *out = (int64_t)bits;
      return HONE_OK;
  }
}

static float as_float(const uint8_t *bytes) {
  uint32_t bits = (uint32_t)little_endian(bytes, 4);
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

hone_status flat_float(const struct flat_table *table, unsigned field, double otherwise,
                       double *out) {
  size_t at;
  TRY(find_field(table, field, 4, &at));
  *out = at ? (double)as_float(table->flat->bytes + at) : otherwise;
  return HONE_OK;
}

hone_status flat_child(const struct flat_table *table, unsigned field, struct flat_table *out) {
  size_t at;
  *out = (struct flat_table){0};
  TRY(find_field(table, field, 4, &at));
  if (!at) return HONE_OK;
  TRY(follow(table->flat, at, &at));
  return open_table(table->flat, at, out);
}

hone_status flat_list(const struct flat_table *table, unsigned field, size_t width,
                      struct flat_vector *out) {
  size_t at, bytes;
  *out = (struct flat_vector){.width = width};
  TRY(find_field(table, field, 4, &at));
  if (!at) return HONE_OK;
  struct flat *flat = table->flat;
  TRY(follow(flat, at, &at));
  TRY(check_span(flat, at, 4, 4, "a vector"));
  size_t count = (size_t)little_endian(flat->bytes + at, 4);
  *out = (struct flat_vector){flat, at + 4, count, width};
  if (!checked_mul(count, width, &bytes)) return damaged(flat, at, "a vector is too long");
  return check_span(flat, at + 4, bytes, count ? width : 1, "a vector");
}

hone_status flat_item(const struct flat_vector *vector, size_t i, struct flat_table *out) {
  size_t at;
  TRY(follow(vector->flat, vector->at + 4 * i, &at));
  return open_table(vector->flat, at, out);
}

hone_status flat_text(const struct flat_table *table, unsigned field, struct arena *arena,
                      const char *what, const char **out) {
  struct flat_vector bytes;
  *out = "";
  TRY(flat_list(table, field, 1, &bytes));
  if (!bytes.flat) return HONE_OK;
  return name_copy(bytes.flat->ctx, arena, bytes.flat->bytes + bytes.at, bytes.count, bytes.at,
                   what, out);
}

int32_t flat_i32_at(const struct flat_vector *vector, size_t i) {
  return (int32_t)little_endian(vector->flat->bytes + vector->at + 4 * i, 4);
}

int64_t flat_i64_at(const struct flat_vector *vector, size_t i) {
  return (int64_t)little_endian(vector->flat->bytes + vector->at + 8 * i, 8);
}

float flat_f32_at(const struct flat_vector *vector, size_t i) {
  return as_float(vector->flat->bytes + vector->at + 4 * i);
}
