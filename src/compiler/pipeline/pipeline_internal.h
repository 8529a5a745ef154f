/* Internal to pipeline. */
#ifndef HONE_COMPILE_INTERNAL_H
#define HONE_COMPILE_INTERNAL_H

#include "pipeline.h"

/* -- dynamic.c: `graph` is the result of `pipeline`; sets the slopes of its values for the
   model's symbols. */
MUST_USE hone_status find_slopes(struct ctx *ctx, const struct model *model,
                                 const struct pipeline_options *pipeline, bool raises_least,
                                 struct graph *graph);

/* -- scales.c: scale and zero point of the model's quantised inputs, then outputs. */
MUST_USE hone_status find_scales(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                 const struct port_scale **out);

/* -- stages.c */
struct run {
  struct ctx *ctx;
  const struct compile_options *options;
  struct compile_report *report;
  struct arena *arena;
  struct model with_control; /* the model with its loops and branches; graph NULL: not loaded */
  const struct port_scale *scales; /* of the model's inputs, then its outputs */
  bool stopped;
};
bool is_stage(const char *wanted, const char *stage); /* wanted: NULL for none */
MUST_USE hone_status make_plan(struct run *run, const struct graph *graph, struct plan **out);
/* Writes the artifact to `path`, or copies it from the cache. */
MUST_USE hone_status build_artifact(struct run *run, const struct emitted *emitted,
                                    const char *path);

/* -- levels.c: one artifact with several levels, which share equal weights. */
MUST_USE hone_status compile_levels(struct run *run, const struct graph *graph, const char *path);

#endif
