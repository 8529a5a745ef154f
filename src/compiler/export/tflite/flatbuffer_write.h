/* flat_write: FlatBuffers from front to back: a table stands before what it points at, and its offsets are filled
 * in when that is written. Layout: src/compiler/import/tflite/flatbuffer.c.
 */
#ifndef HONE_EXPORT_FLAT_WRITE_H
#define HONE_EXPORT_FLAT_WRITE_H

#include "core/base/base.h"

/* One field that is present. FLAT_OFFSET: filled in later by flat_point. */
enum flat_kind { FLAT_OFFSET, FLAT_BYTE, FLAT_WORD, FLAT_FLOAT };
struct flat_field {
  unsigned number;
  enum flat_kind kind;
  double value; /* all numbers of the schema's scalars fit */
};
enum { FLAT_MOST_FIELDS = 8 };

/* The place of the table; places[i]: where field i stands, for flat_point. places may be NULL. */
size_t flat_put_table(struct strbuf *out, const struct flat_field *fields, size_t count,
                      size_t *places);
/* The offset at `place` leads to `target`, which stands behind it. */
void flat_point(struct strbuf *out, size_t place, size_t target);
/* Elements of `width` bytes that start at a multiple of `alignment`. The place of the vector. */
size_t flat_put_vector(struct strbuf *out, const void *elements, size_t count, size_t width,
                       size_t alignment);
size_t flat_put_string(struct strbuf *out, const char *string);
/* A vector of offsets; entry i stands at 4 + 4 * i behind the returned place. */
size_t flat_put_offsets(struct strbuf *out, size_t count);
#endif
