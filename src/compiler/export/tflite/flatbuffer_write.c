#include "flatbuffer_write.h"

static void put_number(struct strbuf *out, uint64_t value, size_t width) {
  char bytes[8];
  for (size_t i = 0; i < width; i++) bytes[i] = (char)(value >> (8 * i));
  strbuf_append(out, bytes, width);
}

static void align(struct strbuf *out, size_t to, size_t ahead) {
  static const char zeros[16];
  const size_t over = (out->length + ahead) % to;
  if (over) strbuf_append(out, zeros, to - over);
}

static void put_field(struct strbuf *out, const struct flat_field *field) {
  uint32_t bits;
  const float number = (float)field->value;
  switch (field->kind) {
    case FLAT_OFFSET:
      put_number(out, 0, 4);
      return;
    case FLAT_BYTE:
      put_number(out, (uint64_t)(int64_t)field->value, 1);
      return;
    case FLAT_WORD:
      put_number(out, (uint64_t)(int64_t)field->value, 4);
      return;
    case FLAT_FLOAT:
      memcpy(&bits, &number, sizeof bits);
      put_number(out, bits, 4);
      return;
  }
}

static size_t width_of(const struct flat_field *field) { return field->kind == FLAT_BYTE ? 1 : 4; }

/* Written after its vtable; wide fields first, so that there are no gaps. */
size_t flat_put_table(struct strbuf *out, const struct flat_field *fields, size_t count,
                      size_t *places) {
  size_t slots = 0, bytes = 4, at[FLAT_MOST_FIELDS] = {0};
  for (size_t width = 4; width; width = width == 4 ? 1 : 0)
    for (size_t i = 0; i < count; i++) {
      if (fields[i].number >= slots) slots = fields[i].number + 1;
      if (width_of(&fields[i]) != width) continue;
      at[i] = bytes;
      bytes += width;
    }
  const size_t vtable_bytes = 4 + 2 * slots;
  align(out, 4, vtable_bytes);
  put_number(out, vtable_bytes, 2);
  put_number(out, bytes, 2);
  for (size_t slot = 0; slot < slots; slot++) {
    size_t inside = 0;
    for (size_t i = 0; i < count; i++)
      if (fields[i].number == slot) inside = at[i];
    put_number(out, inside, 2);
  }
  const size_t table = out->length;
  put_number(out, vtable_bytes, 4);
  for (size_t width = 4; width; width = width == 4 ? 1 : 0)
    for (size_t i = 0; i < count; i++)
      if (width_of(&fields[i]) == width) put_field(out, &fields[i]);
  for (size_t i = 0; places && i < count; i++) places[i] = table + at[i];
  return table;
}

void flat_point(struct strbuf *out, size_t place, size_t target) {
  if (out->failed || place + 4 > out->length) return;
  for (size_t i = 0; i < 4; i++) out->at[place + i] = (char)((target - place) >> (8 * i));
}

size_t flat_put_vector(struct strbuf *out, const void *elements, size_t count, size_t width,
                       size_t alignment) {
  align(out, alignment > 4 ? alignment : 4, 4);
  const size_t at = out->length;
  put_number(out, count, 4);
  if (count) strbuf_append(out, elements, count * width);
  return at;
}

size_t flat_put_string(struct strbuf *out, const char *string) {
  const size_t at = flat_put_vector(out, string, strlen(string), 1, 1);
  strbuf_append(out, "", 1);
  return at;
}

size_t flat_put_offsets(struct strbuf *out, size_t count) {
  const size_t at = flat_put_vector(out, NULL, 0, 4, 4);
  for (size_t i = 0; i < count; i++) put_number(out, 0, 4);
  if (!out->failed)
    for (size_t i = 0; i < 4; i++) out->at[at + i] = (char)(count >> (8 * i));
  return at;
}
