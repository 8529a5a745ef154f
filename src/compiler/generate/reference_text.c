/* Text by the float reference: the model with caches of float, evaluated node by node. It is imported once for each
 * number of tokens that a step takes, and its weights become floats then, not once a token.
 */
#include <stdlib.h>

#include "core/ops/ops.h"
#include "generate.h"

enum { MOST_ROWS = 256 };

struct text_reference {
  const char *path;
  int64_t context, rows; /* rows: tokens that the loaded model takes; 0: none is loaded */
  struct model model;
  struct arena *arena;             /* of `inputs` and `outputs` */
  hone_tensor *inputs, *outputs;   /* of the loaded model; caches: see `caches` */
  size_t cache_count, cache_bytes; /* bytes: of each */
  void **caches;                   /* on the heap */
};

static void unload(struct text_reference *r) {
  arena_destroy(r->arena);
  if (r->rows) model_unload(&r->model);
  r->arena = NULL;
  r->rows = 0;
}

/* Before the first step, when the number of caches is known. */
static hone_status make_caches(struct ctx *ctx, struct text_reference *r,
                               const struct value *cache) {
  const hone_tensor form = value_tensor(cache, NULL);
  r->cache_count = r->model.graph->outputs.count - 1;
  r->cache_bytes = tensor_elements(&form) * sizeof(float);
  r->caches = calloc(r->cache_count, sizeof *r->caches);
  if (!r->caches) return fail(ctx, HONE_E_OOM, place_none(), "no memory for caches");
  for (size_t i = 0; i < r->cache_count; i++) {
    r->caches[i] = calloc(1, r->cache_bytes);
    if (!r->caches[i]) return fail(ctx, HONE_E_OOM, place_none(), "no memory for caches");
  }
  return HONE_OK;
}

static hone_status bind(struct ctx *ctx, struct text_reference *r) {
  const struct graph *graph = r->model.graph;
  if (!r->caches) TRY(make_caches(ctx, r, graph->inputs.at[2]));
  TRY(arena_create(ctx, 0, &r->arena));
  TRY(NEW_ARRAY(ctx, r->arena, r->inputs, graph->inputs.count));
  TRY(NEW_ARRAY(ctx, r->arena, r->outputs, graph->outputs.count));
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(value_memory(ctx, r->arena, graph->inputs.at[i], &r->inputs[i]));
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(value_memory(ctx, r->arena, graph->outputs.at[i], &r->outputs[i]));
  return HONE_OK;
}

/* Blocks to floats, also in the branch that computes logits: else each step does it again. */
static hone_status fold_weights(struct ctx *ctx, struct graph *graph) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    struct node *node = graph->nodes.at[i];
    bool is_folded;
    TRY(node_fold(ctx, graph, node, &is_folded));
    for (size_t k = 0; k < node->attribute_count; k++)
      if (node->attributes[k].kind == ATTRIBUTE_GRAPH)
        TRY(fold_weights(ctx, node->attributes[k].graph));
  }
  return HONE_OK;
}

static hone_status load(struct ctx *ctx, struct text_reference *r, int64_t rows) {
  char shapes[64];
  if (r->rows == rows) return HONE_OK;
  unload(r);
  snprintf(shapes, sizeof shapes, "input_ids[1,%lld]", (long long)rows);
  const struct import_options import = {
      .shapes = shapes, .cache = r->context, .cache_is_float = true, .is_probe = true};
  TRY(model_load(ctx, r->path, &import, &r->model));
  r->rows = rows;
  const int64_t limit = ctx->limits[LIMIT_fold_bytes];
  ctx->limits[LIMIT_fold_bytes] = INT64_MAX;
  const hone_status status = fold_weights(ctx, r->model.graph);
  ctx->limits[LIMIT_fold_bytes] = limit;
  return status ? status : bind(ctx, r);
}

hone_status text_reference_open(struct ctx *ctx, const char *path, int64_t context,
                                struct text_reference **out) {
  struct text_reference *r = *out = calloc(1, sizeof *r);
  if (!r) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a model");
  *r = (struct text_reference){.path = path, .context = context};
  return HONE_OK;
}

void text_reference_close(struct text_reference *r) {
  if (!r) return;
  unload(r);
  for (size_t i = 0; r->caches && i < r->cache_count; i++) free(r->caches[i]);
  free(r->caches);
  free(r);
}

static hone_status step(struct ctx *ctx, struct text_reference *r, const int64_t *tokens,
                        int64_t past, int64_t count) {
  TRY(load(ctx, r, count));
  const size_t last = 2 + r->cache_count;
  memcpy(r->inputs[0].data, tokens, (size_t)count * sizeof *tokens);
  *(int64_t *)r->inputs[1].data = past;
  *(int64_t *)r->inputs[last].data = count - 1;
  for (size_t i = 0; i < r->cache_count; i++)
    memcpy(r->inputs[2 + i].data, r->caches[i], r->cache_bytes);
  TRY(reference_run(ctx, r->model.graph, r->inputs, r->outputs));
  for (size_t i = 0; i < r->cache_count; i++)
    memcpy(r->caches[i], r->outputs[i].data, r->cache_bytes);
  return HONE_OK;
}

hone_status text_reference_extend(struct ctx *ctx, struct text_reference *r, const int64_t *tokens,
                                  int64_t past, int64_t count, const float **out_logits) {
  const int64_t end = past + count;
  if (end > r->context)
    return fail(ctx, HONE_E_LIMIT, place_name("text"), "%lld tokens, in a context of %lld",
                (long long)end, (long long)r->context);
  while (past < end) {
    const int64_t next = end - past < MOST_ROWS ? end - past : MOST_ROWS;
    TRY(step(ctx, r, tokens, past, next));
    tokens += next;
    past += next;
  }
  *out_logits = r->outputs[r->cache_count].data;
  return HONE_OK;
}
