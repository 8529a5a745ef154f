/* flatbuffer_write: writes FlatBuffers front to back: a table precedes its targets, and its offsets
 * are filled in when those are written. Layout: src/compiler/import/tflite/flatbuffer.c. */
#ifndef HONE_EXPORT_FLAT_WRITE_H
#define HONE_EXPORT_FLAT_WRITE_H

#include "core/base/base.h"

/* One present field. FLAT_OFFSET: filled in later by flat_point. */
enum flat_kind { FLAT_OFFSET, FLAT_BYTE, FLAT_WORD, FLAT_FLOAT };
struct flat_field {
  unsigned number;
  enum flat_kind kind;
  double value; /* represents all scalars of the schema */
};
enum { FLAT_MOST_FIELDS = 8 };

/* Returns the position of the table; places[i]: position of field i, for flat_point. places may be
 * NULL. */
size_t flat_put_table(struct strbuf *out, const struct flat_field *fields, size_t count,
                      size_t *places);
/* Sets the offset at `place` to `target`, which is after it. */
void flat_point(struct strbuf *out, size_t place, size_t target);
/* Elements of `width` bytes that start at a multiple of `alignment`. Returns the position of the
 * vector. */
size_t flat_put_vector(struct strbuf *out, const void *elements, size_t count, size_t width,
                       size_t alignment);
size_t flat_put_string(struct strbuf *out, const char *string);
/* A vector of offsets; entry i is at 4 + 4 * i after the returned position. */
size_t flat_put_offsets(struct strbuf *out, size_t count);
#endif
