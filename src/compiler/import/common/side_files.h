/* side_files: finds the side files that a model's bytes name, even in a model that is refused. */
#ifndef HONE_BESIDE_H
#define HONE_BESIDE_H

#include "core/base/base.h"

enum { SIDE_LOCATION_MAX = 4096 };

/* The next location of external data in [*at, end), *at past it; false: none. */
bool side_file_named(const uint8_t **at, const uint8_t *end, char out[SIDE_LOCATION_MAX]);

#endif
