/* Protocol buffers, wire format (protobuf.dev/programming-guides/encoding): varints and lengths. */
#include "protobuf.h"

enum wire { VARINT = 0, LENGTH = 2, FIXED32 = 5 };

static void put_varint(struct strbuf *text, uint64_t value) {
  char bytes[10];
  size_t n = 0;
  for (; value > 0x7f; value >>= 7) bytes[n++] = (char)(value | 0x80);
  bytes[n++] = (char)value;
  strbuf_append(text, bytes, n);
}

static void put_tag(struct strbuf *text, unsigned field, enum wire wire) {
  put_varint(text, (uint64_t)field << 3 | wire);
}

static void put_f32(struct strbuf *text, float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  char bytes[4] = {(char)bits, (char)(bits >> 8), (char)(bits >> 16), (char)(bits >> 24)};
  strbuf_append(text, bytes, 4);
}

void pb_int(struct strbuf *text, unsigned field, int64_t value) {
  put_tag(text, field, VARINT);
  put_varint(text, (uint64_t)value);
}

void pb_float(struct strbuf *text, unsigned field, float value) {
  put_tag(text, field, FIXED32);
  put_f32(text, value);
}

void pb_head(struct strbuf *text, unsigned field, size_t length) {
  put_tag(text, field, LENGTH);
  put_varint(text, length);
}

void pb_bytes(struct strbuf *text, unsigned field, const void *bytes, size_t length) {
  pb_head(text, field, length);
  strbuf_append(text, bytes, length);
}

void pb_string(struct strbuf *text, unsigned field, const char *string) {
  pb_bytes(text, field, string, strlen(string));
}

void pb_message(struct strbuf *text, unsigned field, struct strbuf *message) {
  pb_bytes(text, field, message->at ? message->at : "", message->length);
  if (message->failed) text->failed = true;
  strbuf_deinit(message);
}

void pb_ints(struct strbuf *text, unsigned field, const int64_t *ints, size_t count) {
  for (size_t i = 0; i < count; i++) pb_int(text, field, ints[i]);
}

void pb_floats(struct strbuf *text, unsigned field, const double *floats, size_t count) {
  for (size_t i = 0; i < count; i++) pb_float(text, field, (float)floats[i]);
}
