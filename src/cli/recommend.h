/* What the files of hone recommend share. */
#ifndef HONE_CLI_RECOMMEND_H
#define HONE_CLI_RECOMMEND_H

#include "../advise/advise.h"
#include "cli.h"

struct answer {
  const struct summary *summary;
  const struct demands *demands;
  const struct advice *advice;
};
/* recommend_bundle.c: whether --bundle DIR can be made, before the work; and the bundle itself. Nothing where it was
   not asked for, or nothing was chosen. */
MUST_USE hone_status bundle_folder_check(struct ctx *ctx, const struct args *args);
MUST_USE hone_status bundle_answer(struct ctx *ctx, const struct args *args, struct arena *arena,
                                   const struct answer *answer);
#endif
