/* passes: each takes a graph and improves it. One file per pass; pipeline.c is the ordered list. */
#ifndef HONE_PASSES_H
#define HONE_PASSES_H

#include "core/ops/ops.h"

typedef hone_status pass_fn(struct ctx *ctx, struct graph *graph, size_t *out_changes);
/* Required: no kernel supports what it replaces, so it runs even if passes are disabled. */
enum pass_need { PASS_OPTIONAL, PASS_REQUIRED };
struct pass {
  const char *name; /* "fold-batchnorm" */
  pass_fn *run;
  enum pass_need need;
  const char *reason; /* the reason for its position */
};
extern const struct pass pass_pipeline[];
extern const size_t pass_count;
/* Passes that a format of `hone export` uses and the pipeline does not. */
extern const struct pass export_passes[];
extern const size_t export_pass_count;
const struct pass *pass_find(const char *name);        /* of the pipeline; NULL: none */
const struct pass *export_pass_find(const char *name); /* of either */

struct pipeline_options {
  const char *stop_after; /* NULL: all */
  bool required_only;
  /* called after each pass (with its name), for --dump-after and verification; may be NULL */
  hone_status (*after)(void *user, struct ctx *ctx, const struct pass *pass, struct graph *graph,
                       size_t changes);
  void *user;
};
MUST_USE hone_status passes_run(struct ctx *ctx, struct graph *graph,
                                const struct pipeline_options *options);
/* Runs passes of the pipeline and of export_passes, in the order given. NULL ends the names. */
MUST_USE hone_status passes_run_named(struct ctx *ctx, struct graph *graph,
                                      const char *const *names);
/* Operators that need the actual size of a dynamic dimension; after the slopes are found. */
MUST_USE hone_status lower_open_sizes(struct ctx *ctx, struct graph *graph);
#endif
