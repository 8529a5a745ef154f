/* The model at several sizes of its symbol, each through the same passes, to find what follows it. */
#include "compile_internal.h"

/* Neighbours of the bound show what is linear, the others what only looks so there. 1 is left to those
   symbols that are never more than 2: sizes of 1 broadcast. */
static size_t probe_sizes(int64_t bound, int64_t sizes[5]) {
  const int64_t wanted[] = {bound - 1, bound - 2, bound / 2, 3, 2};
  size_t count = 0;
  for (size_t i = 0; i < COUNT(wanted); i++) {
    bool is_new = wanted[i] >= 2 && wanted[i] < bound;
    for (size_t k = 0; k < count && is_new; k++) is_new = sizes[k] != wanted[i];
    if (is_new) sizes[count++] = wanted[i];
  }
  if (!count && bound == 2) sizes[count++] = 1;
  return count;
}

static hone_status follow_at(struct ctx *ctx, const struct model *model,
                             const struct pipeline_options *pipeline, struct graph *graph,
                             int64_t n) {
  struct model at_n;
  TRY(model_at(ctx, model, n, &at_n));
  hone_status status = passes_run(ctx, at_n.graph, pipeline);
  if (!status) status = symbol_follow(ctx, graph, &model->symbol, at_n.graph, n);
  model_unload(&at_n);
  return status;
}

hone_status find_slopes(struct ctx *ctx, const struct model *model,
                        const struct pipeline_options *pipeline, struct graph *graph) {
  int64_t sizes[5];
  size_t count = probe_sizes(model->symbol.bound, sizes);
  struct pipeline_options quiet = *pipeline;
  quiet.after = NULL;
  for (size_t i = 0; i < count; i++) TRY(follow_at(ctx, model, &quiet, graph, sizes[i]));
  return HONE_OK;
}
