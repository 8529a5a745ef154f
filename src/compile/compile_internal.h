/* Between the files of this folder. */
#ifndef HONE_COMPILE_INTERNAL_H
#define HONE_COMPILE_INTERNAL_H

#include "compile.h"

/* -- symbol.c: `graph` came out of `pipeline`; its values get the slopes of the model's symbol. */
MUST_USE hone_status find_slopes(struct ctx *ctx, const struct model *model,
                                 const struct pipeline_options *pipeline, struct graph *graph);

#endif
