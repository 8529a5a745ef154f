/* beside: which files beside a model its bytes name, also of one that is refused. */
#ifndef HONE_BESIDE_H
#define HONE_BESIDE_H

#include "core/base/base.h"

enum { SIDE_LOCATION_MAX = 4096 };

/* The next location of external data that [*at, end) names, *at behind it; false: there is none. */
bool side_file_named(const uint8_t **at, const uint8_t *end, char out[SIDE_LOCATION_MAX]);

#endif
