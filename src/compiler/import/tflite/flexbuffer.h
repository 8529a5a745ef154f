/* flexbuffer: options of TFLite's custom operators, a map of names to numbers in FlexBuffers
 * format. Every offset is checked where it is used; nothing outside the given bytes is read. */
#ifndef HONE_IMPORT_FLEXBUFFER_H
#define HONE_IMPORT_FLEXBUFFER_H

#include "compiler/import/import.h"

struct flex_map {
  const uint8_t *bytes;
  size_t size;
  size_t at, count, width; /* values, followed by one type byte each */
  size_t keys, keys_width;
};
/* The root map. E_FORMAT if it is not a valid map. */
MUST_USE hone_status flex_open(struct ctx *ctx, struct place where, const uint8_t *bytes,
                               size_t size, struct flex_map *out);
/* A number or a boolean; `otherwise` if the map has no such name. */
MUST_USE hone_status flex_number(struct ctx *ctx, struct place where, const struct flex_map *map,
                                 const char *name, double otherwise, double *out);

#endif
