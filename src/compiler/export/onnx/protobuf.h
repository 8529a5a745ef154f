/* protobuf: writer of the wire format. A nested message is first written to its own buffer, because
 * its length precedes it. */
#ifndef HONE_PROTOBUF_H
#define HONE_PROTOBUF_H

#include "core/base/base.h"

void pb_int(struct strbuf *text, unsigned field, int64_t value);
void pb_float(struct strbuf *text, unsigned field, float value);
void pb_bytes(struct strbuf *text, unsigned field, const void *bytes, size_t length);
void pb_string(struct strbuf *text, unsigned field, const char *string);
/* Writes `message` as a field and frees its memory. */
void pb_message(struct strbuf *text, unsigned field, struct strbuf *message);
/* Repeated fields, one entry each, as ONNX's own writer does. */
void pb_ints(struct strbuf *text, unsigned field, const int64_t *ints, size_t count);
void pb_floats(struct strbuf *text, unsigned field, const double *floats, size_t count);
/* The start of a field of `length` bytes, which the caller appends. */
void pb_head(struct strbuf *text, unsigned field, size_t length);

#endif
