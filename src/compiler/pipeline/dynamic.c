/* Runs the same passes over the model at several dynamic sizes, to find how each dimension depends
 * on them.
 */
#include "pipeline_internal.h"

enum { PROBES = 6, SEVERAL_PROBES = 5 }; /* of one symbol, and of each of several */

/* One less than a multiple of a large power of two, so that it and its halves are odd, rounded down
   (1 more: even; 2 more: odd, rounded up): sizes of strided windows then differ from multiples of
   each other. In the lower three quarters. */
static int64_t odd_size(int64_t least, int64_t bound) {
  const int64_t most = least + 3 * (bound - least) / 4;
  int64_t power = 1, size = least;
  while (2 * power - 1 <= most) power *= 2;
  for (size = most; power > 1; power /= 2) {
    size = (most + 1) / power * power - 1;
    if (size >= least) break;
  }
  return size;
}

/* Neither a multiple of small powers of two nor next to one: every second bit is set. */
static int64_t uneven_size(int64_t least, int64_t bound) {
  const int64_t most = least + 3 * (bound - least) / 4;
  for (int64_t power = 256; power > 1; power /= 2) {
    const int64_t size = most / power * power + (0x55 & (power - 1));
    if (size > least && size < bound) return size;
  }
  return least;
}

/* Sizes near the bound show what is linear, the others show what is linear only there. Size 1 is
   used only for bounds of 2, because sizes of 1 broadcast. */
static size_t probe_sizes(int64_t least, int64_t bound, size_t most, int64_t sizes[PROBES]) {
  const int64_t odd = odd_size(least > 2 ? least : 1, bound), uneven = uneven_size(least, bound);
  const int64_t low[PROBES] = {odd, bound - 1, 2, odd + 2, odd + 1, uneven};
  const int64_t high[PROBES] = {odd, least, bound - 1, odd + 2, odd + 1, uneven};
  const int64_t *wanted = least > 2 ? high : low;
  size_t count = 0;
  for (size_t i = 0; i < PROBES && count < most; i++) {
    bool is_new = wanted[i] >= least && wanted[i] >= 2 && wanted[i] < bound;
    for (size_t k = 0; k < count && is_new; k++) is_new = sizes[k] != wanted[i];
    if (is_new) sizes[count++] = wanted[i];
  }
  if (!count && least < bound) sizes[count++] = bound > 1 && least < 1 ? 1 : least;
  return count;
}

/* The graphs to compare with. */
struct probing {
  const struct model *model;
  struct pipeline_options pipeline;
  struct graph *graph;
  int64_t sizes[HONE_MAX_SYMBOLS][PROBES];
  size_t counts[HONE_MAX_SYMBOLS], most;
  int64_t least[HONE_MAX_SYMBOLS];
  bool raises_least; /* for small sizes that give another graph */
  bool is_undefined; /* the model could not be imported at the last sizes */
  struct followed followed;
};

static hone_status follow_at(struct ctx *ctx, struct probing *p, const int64_t *sizes,
                             bool *out_changed) {
  struct model at_n;
  hone_status status = model_at(ctx, p->model, sizes, &at_n);
  p->is_undefined = status != HONE_OK;
  TRY(status);
  at_n.graph->keeps_sizes = p->graph->keeps_sizes;
  status = passes_run(ctx, at_n.graph, &p->pipeline);
  if (!status)
    status = symbol_follow(ctx, p->graph, &p->model->symbols, at_n.graph, sizes, &p->followed,
                           out_changed);
  model_unload(&at_n);
  return status;
}

/* Equal sizes of several symbols look like one dimension: each gets a size of its own if it can. */
static void make_unlike(const struct probing *p, int64_t *sizes) {
  for (size_t j = 1; j < p->model->symbols.count; j++)
    for (size_t i = 0; i < p->counts[j]; i++) {
      bool is_new = true;
      for (size_t k = 0; k < j; k++) is_new = is_new && sizes[k] != sizes[j];
      if (is_new) break;
      sizes[j] = p->sizes[j][i];
    }
}

static void raise_least(struct probing *p, size_t k, int64_t size) {
  p->least[k] = size;
  for (size_t n = 0; n < p->counts[k]; n++)
    if (p->sizes[k][n] < size) p->sizes[k][n] = size;
}

/* The least size of symbol k at which the model can be imported, where windows fit and so on:
   between one at which it cannot and one at which it can. */
static int64_t least_defined(const struct ctx *ctx, const struct model *model, size_t k,
                             int64_t *sizes, int64_t high) {
  int64_t low = sizes[k];
  while (high - low > 1) {
    struct ctx quiet = *ctx;
    struct model at_n;
    sizes[k] = low + (high - low) / 2;
    if (model_at(&quiet, model, sizes, &at_n)) {
      low = sizes[k];
    } else {
      high = sizes[k];
      model_unload(&at_n);
    }
  }
  return high;
}

/* Only probe i of symbol k is below its bound. If the model is not defined at small sizes, or with raises_least is
   another graph there, the least size is raised, unless one was requested. */
static hone_status follow_one(struct ctx *ctx, struct probing *p, size_t k, size_t i,
                              bool *out_changed) {
  const struct symbol *symbol = &p->model->symbols.at[k];
  const int64_t first = p->sizes[k][0];
  int64_t sizes[HONE_MAX_SYMBOLS];
  for (size_t j = 0; j < p->model->symbols.count; j++) sizes[j] = p->model->symbols.at[j].bound;
  sizes[k] = p->sizes[k][i];
  hone_status status = follow_at(ctx, p, sizes, out_changed);
  const bool may_raise = symbol->least == 1 && sizes[k] < first;
  if (status && p->is_undefined && may_raise) {
    sizes[k] = least_defined(ctx, p->model, k, sizes, first);
    raise_least(p, k, sizes[k]);
    ctx_clear(ctx);
    status = sizes[k] < first ? follow_at(ctx, p, sizes, out_changed) : HONE_OK;
  }
  if (status != HONE_E_UNSUP || !may_raise || !p->raises_least) return status;
  while (status == HONE_E_UNSUP) {
    sizes[k] = sizes[k] + sizes[k] / 2 + 1;
    ctx_clear(ctx);
    if (sizes[k] > first) sizes[k] = first; /* which was followed */
    status = sizes[k] < first ? follow_at(ctx, p, sizes, out_changed) : HONE_OK;
  }
  TRY(status);
  raise_least(p, k, sizes[k]);
  warn(ctx, "the artifact refuses sizes of %s below %lld: there the model's graph is another one",
       symbol->name, (long long)sizes[k]);
  return HONE_OK;
}

static int64_t smallest(const int64_t *sizes, size_t count) {
  int64_t least = sizes[0];
  for (size_t i = 1; i < count; i++)
    if (sizes[i] < least) least = sizes[i];
  return least;
}

/* Each symbol alone below its bound, then all of them at once, because a product of two symbols is
   linear in either: at their least sizes, at which all sizes derived from them are far below their
   bounds, and at unrelated ones. out_changed NULL: only checks. */
static hone_status follow_all(struct ctx *ctx, struct probing *p, bool *out_changed) {
  const struct symbols *symbols = &p->model->symbols;
  int64_t sizes[HONE_MAX_SYMBOLS];
  for (size_t k = 0; k < symbols->count; k++)
    for (size_t i = 0; i < p->counts[k]; i++) {
      bool changed = false;
      TRY(follow_one(ctx, p, k, i, out_changed ? &changed : NULL));
      if (changed) *out_changed = true;
    }
  for (size_t i = 0; symbols->count > 1 && p->most && i <= p->most; i++) {
    bool changed = false;
    for (size_t j = 0; j < symbols->count; j++)
      sizes[j] = !p->counts[j] ? symbols->at[j].bound
                 : i           ? p->sizes[j][(i - 1 + j) % p->counts[j]]
                               : smallest(p->sizes[j], p->counts[j]);
    make_unlike(p, sizes);
    TRY(follow_at(ctx, p, sizes, out_changed ? &changed : NULL));
    if (changed) *out_changed = true;
  }
  return HONE_OK;
}

/* The conditions computed from shapes, where symbol k has this size and the others their bounds; false: not defined there. */
static bool decisions_at(const struct ctx *ctx, const struct model *model, size_t k, int64_t size,
                         uint64_t *out) {
  struct ctx quiet = *ctx;
  struct model at_n;
  int64_t sizes[HONE_MAX_SYMBOLS];
  for (size_t j = 0; j < model->symbols.count; j++)
    sizes[j] = j == k ? size : model->symbols.at[j].bound;
  if (model_at(&quiet, model, sizes, &at_n)) return false;
  *out = at_n.graph->decisions;
  model_unload(&at_n);
  return true;
}

/* Sizes of 1 are not compared, because they broadcast. */
static void warn_of_ones(struct ctx *ctx, const struct probing *p) {
  const struct symbols *symbols = &p->model->symbols;
  uint64_t at_1, at_2;
  for (size_t k = 0; k < symbols->count; k++)
    if (p->least[k] == 1 && symbols->at[k].bound > 2 && decisions_at(ctx, p->model, k, 1, &at_1) &&
        decisions_at(ctx, p->model, k, 2, &at_2) && at_1 != at_2)
      warn(ctx, "at %s = 1 the model takes another branch of an If; the artifact computes as at 2",
           symbols->at[k].name);
}

hone_status find_slopes(struct ctx *ctx, const struct model *model,
                        const struct pipeline_options *pipeline, bool raises_least,
                        struct graph *graph) {
  const struct symbols *symbols = &model->symbols;
  struct probing p = {
      .model = model, .pipeline = *pipeline, .graph = graph, .raises_least = raises_least};
  bool changed = false;
  p.pipeline.after = NULL;
  for (size_t k = 0; k < symbols->count; k++) {
    p.least[k] = symbols->at[k].least;
    p.counts[k] = probe_sizes(p.least[k], symbols->at[k].bound,
                              symbols->count > 1 ? SEVERAL_PROBES : PROBES, p.sizes[k]);
    if (p.counts[k] > p.most) p.most = p.counts[k];
  }
  TRY(follow_all(ctx, &p, &changed));
  memcpy(graph->symbols.at, symbols->at, sizeof symbols->at);
  graph->symbols.count = symbols->count; /* also those that nothing could be tried for */
  for (size_t k = 0; k < symbols->count; k++) graph->symbols.at[k].least = p.least[k];
  if (changed) TRY(follow_all(ctx, &p, NULL));
  if (model->graph->has_resolved) warn_of_ones(ctx, &p);
  TRY(symbol_finish(ctx, graph));
  return lower_open_sizes(ctx, graph);
}
