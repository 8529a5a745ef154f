/* How well a loaded model predicts a text, compared with the float reference: perplexity, and the
 * Kullback-Leibler divergence of its distributions of the next token. The text is cut into windows;
 * each begins without a past, and all tokens of a window but its first are predicted.
 */
#include <math.h>

#include "core/ops/ops.h"
#include "generate.h"

/* -- the reference's logits */

/* The model for `count` tokens without a past. */
static hone_status load(struct ctx *ctx, const char *path, const struct cache_form *cache,
                        int64_t count, struct model *out) {
  char shapes[160];
  snprintf(shapes, sizeof shapes, "input_ids[1,%lld],past.0.key[1,%lld,0,%lld]", (long long)count,
           (long long)cache->heads, (long long)cache->depth);
  const struct import_options import = {.shapes = shapes, .is_probe = true};
  return model_load(ctx, path, &import, out);
}

static hone_status evaluate(struct ctx *ctx, struct arena *arena, const struct graph *graph,
                            const int32_t *ids, int64_t count, struct text_logits *out) {
  hone_tensor *inputs, *outputs;
  TRY(NEW_ARRAY(ctx, arena, inputs, graph->inputs.count));
  TRY(NEW_ARRAY(ctx, arena, outputs, graph->outputs.count));
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(value_memory(ctx, arena, graph->inputs.at[i], &inputs[i]));
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(value_memory(ctx, arena, graph->outputs.at[i], &outputs[i]));
  for (int64_t i = 0; i < count; i++) {
    ((int64_t *)inputs[0].data)[i] = ids[i];
    ((int64_t *)inputs[1].data)[i] = i;
  }
  TRY(reference_run(ctx, graph, inputs, outputs));
  const hone_tensor *logits = &outputs[graph->outputs.count - 1];
  *out = (struct text_logits){.at = logits->data, .vocabulary = logits->shape[2]};
  return HONE_OK;
}

hone_status text_logits(struct ctx *ctx, struct arena *arena, const char *path,
                        const struct cache_form *cache, const int32_t *ids, int64_t count,
                        struct text_logits *out) {
  struct model model;
  TRY(load(ctx, path, cache, count, &model));
  const hone_status status = evaluate(ctx, arena, model.graph, ids, count, out);
  model_unload(&model);
  return status;
}

/* -- scores */

static hone_status score_window(struct ctx *ctx, struct hone_generator *g, const char *path,
                                const int32_t *ids, int64_t count, struct text_score *out) {
  const int64_t *dims = g->artifact.info->inputs[2].dims;
  const struct cache_form cache = {.heads = dims[1], .depth = dims[3]};
  struct text_logits wanted = {.at = NULL};
  struct arena *arena;
  const float *got;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = text_logits(ctx, arena, path, &cache, ids, count, &wanted);
  for (int64_t i = 0; !status && i < count - 1; i++) {
    status = generator_extend(ctx, g, &ids[i], i, 1, &got);
    if (!status)
      text_score_add(wanted.at + i * wanted.vocabulary, got, wanted.vocabulary, ids[i + 1], out);
  }
  arena_destroy(arena);
  return status;
}

hone_status generator_score(struct ctx *ctx, struct hone_generator *g, const char *path,
                            const char *text, struct text_score *out) {
  const int64_t most = g->context < SCORE_WINDOW ? g->context : SCORE_WINDOW;
  struct arena *arena;
  int32_t *ids;
  size_t count = 0;
  *out = (struct text_score){0};
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = tokeniser_encode(ctx, arena, g->tokeniser, text, strlen(text),
                                        TOKENS_ADD_SPECIAL, &ids, &count);
  for (size_t at = 0; !status && at + 1 < count; at += (size_t)most) {
    const int64_t left = (int64_t)(count - at);
    status = score_window(ctx, g, path, ids + at, left < most ? left : most, out);
  }
  arena_destroy(arena);
  return status ? status : text_score_finish(ctx, out);
}
