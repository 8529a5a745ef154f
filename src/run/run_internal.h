/* What the files of this folder share. */
#ifndef HONE_RUN_INTERNAL_H
#define HONE_RUN_INTERNAL_H

#include "run.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* weights.c: info is set; fills the weights' members. On failure weights_unload ends what was
 * begun. */
MUST_USE hone_status weights_load(struct ctx *ctx, const char *path, struct loaded *out);
void weights_unload(struct loaded *loaded);

#endif
