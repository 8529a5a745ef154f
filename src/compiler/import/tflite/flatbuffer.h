/* flatbuffer: bounds-checked reading of FlatBuffers, the container of TFLite models.
 *
 * Every offset, vtable, vector length and alignment is checked where it is used; no reference
 * leaves the file, and the number of opened tables is limited, so that shared offsets cannot expand
 * without bound. Source: FlatBuffers' description of its binary format ("FlatBuffer Internals"). */
#ifndef HONE_IMPORT_FLATBUFFER_H
#define HONE_IMPORT_FLATBUFFER_H

#include "compiler/import/import.h"

struct flat {
  struct ctx *ctx;
  const uint8_t *bytes;
  size_t size;
  /* a table takes at least four bytes: more than size / 4 tables must be shared */
  size_t tables_left;
};
struct flat_table {
  struct flat *flat; /* NULL: absent */
  size_t at, vtable; /* offsets in the file */
  size_t vtable_bytes, bytes;
};
struct flat_vector {
  struct flat *flat; /* NULL: absent, count 0 */
  size_t at;         /* of element 0 */
  size_t count, width;
};
enum flat_type { FLAT_I8, FLAT_U8, FLAT_I32, FLAT_U32, FLAT_I64, FLAT_U64 };

MUST_USE hone_status flat_open(struct ctx *ctx, const uint8_t *bytes, size_t size,
                               struct flat *flat, struct flat_table *out_root);
/* Fields by their number in the schema. An absent table or field gives the default. */
MUST_USE hone_status flat_number(const struct flat_table *table, unsigned field,
                                 enum flat_type type, int64_t otherwise, int64_t *out);
MUST_USE hone_status flat_float(const struct flat_table *table, unsigned field, double otherwise,
                                double *out);
MUST_USE hone_status flat_child(const struct flat_table *table, unsigned field,
                                struct flat_table *out);
/* A vector of elements of `width` bytes: 1, 4, 8; tables are 4. */
MUST_USE hone_status flat_list(const struct flat_table *table, unsigned field, size_t width,
                               struct flat_vector *out);
/* Element i of a vector of tables, i < count. */
MUST_USE hone_status flat_item(const struct flat_vector *vector, size_t i, struct flat_table *out);
/* A string, "" if absent. */
MUST_USE hone_status flat_text(const struct flat_table *table, unsigned field, struct arena *arena,
                               const char *what, const char **out);
/* Elements of number vectors, i < count. */
int32_t flat_i32_at(const struct flat_vector *vector, size_t i);
int64_t flat_i64_at(const struct flat_vector *vector, size_t i);
float flat_f32_at(const struct flat_vector *vector, size_t i);

#endif
