/* hone recommend --bundle DIR. Both do nothing where the flag was not given. */
#ifndef HONE_CLI_RECOMMEND_BUNDLE_H
#define HONE_CLI_RECOMMEND_BUNDLE_H

#include "judge/predict/predict.h"
#include "judge/recommend/recommend.h"
#include "cli.h"

/* Before the work: E_PATH, E_UNSUP where the bundle could not be made. */
MUST_USE hone_status recommend_bundle_check(struct ctx *ctx, const struct args *args);
/* Nothing without a choice. */
MUST_USE hone_status recommend_bundle_write(struct ctx *ctx, const struct args *args,
                                            struct arena *arena, const struct recommendation *r);
#endif
