/* Between the files of this folder. */
#ifndef HONE_COMPILE_INTERNAL_H
#define HONE_COMPILE_INTERNAL_H

#include "pipeline.h"

/* -- dynamic.c: `graph` came out of `pipeline`; its values get the slopes of the model's symbols. */
MUST_USE hone_status find_slopes(struct ctx *ctx, const struct model *model,
                                 const struct pipeline_options *pipeline, struct graph *graph);

/* -- scales.c: what the integers of the model's inputs, then of its outputs stand for. */
MUST_USE hone_status find_scales(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                                 const struct port_scale **out);

/* -- stages.c */
struct run {
  struct ctx *ctx;
  const struct compile_options *options;
  struct compile_report *report;
  struct arena *arena;
  const struct port_scale *scales; /* of the model's inputs, then its outputs */
  bool stopped;
};
bool is_stage(const char *wanted, const char *stage); /* wanted: NULL for none */
MUST_USE hone_status make_plan(struct run *run, const struct graph *graph, struct plan **out);
/* To the artifact at `path`, or out of the cache. */
MUST_USE hone_status build_artifact(struct run *run, const struct emitted *emitted,
                                    const char *path);

/* -- levels.c: one artifact of several levels, which share what their weights have in common. */
MUST_USE hone_status compile_levels(struct run *run, const struct graph *graph, const char *path);

#endif
