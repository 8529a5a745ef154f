/* Runs the same passes over the model at several dynamic sizes, to find how each dimension depends
 * on them.
 */
#include "pipeline_internal.h"

enum { PROBES = 6 };

/* The first is 2^k - 1, so that it and its halves are odd: sizes of strided windows then differ
   from multiples of each other. Sizes near the bound show what is linear, the others show what is
   linear only there. Size 1 is used only for symbols of at most 2, because sizes of 1 broadcast. */
static size_t probe_sizes(const struct symbol *symbol, int64_t sizes[PROBES]) {
  const int64_t bound = symbol->bound, least = symbol->least > 2 ? symbol->least : 2;
  int64_t odd = 1;
  while (4 * (2 * odd + 1) <= 3 * bound) odd = 2 * odd + 1;
  const int64_t wanted[PROBES] = {odd, bound - 1, bound - 2, bound / 2, 3, 2};
  size_t count = 0;
  for (size_t i = 0; i < COUNT(wanted); i++) {
    bool is_new = wanted[i] >= least && wanted[i] < bound;
    for (size_t k = 0; k < count && is_new; k++) is_new = sizes[k] != wanted[i];
    if (is_new) sizes[count++] = wanted[i];
  }
  if (!count && bound == 2 && symbol->least < 2) sizes[count++] = 1;
  if (!count && symbol->least < bound) sizes[count++] = symbol->least;
  return count;
}

/* The graphs to compare with. */
struct probing {
  const struct model *model;
  struct pipeline_options pipeline;
  struct graph *graph;
  int64_t sizes[HONE_MAX_SYMBOLS][PROBES];
  size_t counts[HONE_MAX_SYMBOLS], most;
};

static hone_status follow_at(struct ctx *ctx, const struct probing *p, const int64_t *sizes,
                             bool *out_changed) {
  struct model at_n;
  TRY(model_at(ctx, p->model, sizes, &at_n));
  hone_status status = passes_run(ctx, at_n.graph, &p->pipeline);
  if (!status)
    status = symbol_follow(ctx, p->graph, &p->model->symbols, at_n.graph, sizes, out_changed);
  model_unload(&at_n);
  return status;
}

/* Each symbol alone below its bound, then all of them at once, because a product of two symbols is
   linear in either: at their first sizes, at which all sizes derived from them are far below their
   bounds, and at unrelated ones. out_changed NULL: only checks. */
static hone_status follow_all(struct ctx *ctx, const struct probing *p, bool *out_changed) {
  const struct symbols *symbols = &p->model->symbols;
  int64_t sizes[HONE_MAX_SYMBOLS];
  for (size_t k = 0; k < symbols->count; k++)
    for (size_t i = 0; i < p->counts[k]; i++) {
      for (size_t j = 0; j < symbols->count; j++) sizes[j] = symbols->at[j].bound;
      sizes[k] = p->sizes[k][i];
      TRY(follow_at(ctx, p, sizes, NULL));
    }
  for (size_t i = 0; symbols->count > 1 && i <= p->most; i++) {
    bool changed = false;
    for (size_t j = 0; j < symbols->count; j++)
      sizes[j] = !p->counts[j] ? symbols->at[j].bound
                 : i           ? p->sizes[j][(i - 1 + j) % p->counts[j]]
                               : p->sizes[j][0];
    TRY(follow_at(ctx, p, sizes, out_changed ? &changed : NULL));
    if (changed) *out_changed = true;
  }
  return HONE_OK;
}

hone_status find_slopes(struct ctx *ctx, const struct model *model,
                        const struct pipeline_options *pipeline, struct graph *graph) {
  const struct symbols *symbols = &model->symbols;
  struct probing p = {.model = model, .pipeline = *pipeline, .graph = graph};
  bool changed = false;
  p.pipeline.after = NULL;
  for (size_t k = 0; k < symbols->count; k++) {
    p.counts[k] = probe_sizes(&symbols->at[k], p.sizes[k]);
    if (symbols->count > 1 && p.counts[k] > 3) p.counts[k] = 3;
    if (p.counts[k] > p.most) p.most = p.counts[k];
  }
  TRY(follow_all(ctx, &p, &changed));
  memcpy(graph->symbols.at, symbols->at, sizeof symbols->at);
  graph->symbols.count = symbols->count; /* also those that nothing could be tried for */
  if (changed) TRY(follow_all(ctx, &p, NULL));
  TRY(symbol_finish(ctx, graph));
  return lower_open_sizes(ctx, graph);
}
