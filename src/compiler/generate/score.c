/* How well a loaded model predicts a text, compared with the float reference: perplexity, and the
 * Kullback-Leibler divergence of its distributions of the next token. The text is cut into windows;
 * each begins without a past, and all tokens of a window but its first are predicted.
 */
#include <math.h>

#include "core/ops/ops.h"
#include "generate.h"

enum { WINDOW = 512 };

/* -- the reference's logits of a window */

struct window {
  struct model model;
  struct arena *arena; /* of values */
  hone_tensor *inputs, *outputs;
  const float *logits; /* [count][vocabulary] */
  int64_t vocabulary;
};

static void window_close(struct window *w) {
  arena_destroy(w->arena);
  if (w->model.graph) model_unload(&w->model);
  *w = (struct window){0};
}

/* Loads the model for `count` tokens without a past; cache: an input of its artifact. */
static hone_status load(struct ctx *ctx, const char *path, const struct hone_io_info *cache,
                        int64_t count, struct model *out) {
  char shapes[160];
  snprintf(shapes, sizeof shapes, "input_ids[1,%lld],%.40s[1,%lld,0,%lld]", (long long)count,
           cache->name, (long long)cache->dims[1], (long long)cache->dims[3]);
  const struct import_options import = {.shapes = shapes, .is_probe = true};
  return model_load(ctx, path, &import, out);
}

static hone_status window_evaluate(struct ctx *ctx, const char *path,
                                   const struct hone_io_info *cache, const int32_t *ids,
                                   int64_t count, struct window *w) {
  TRY(load(ctx, path, cache, count, &w->model));
  TRY(arena_create(ctx, 0, &w->arena));
  const struct graph *graph = w->model.graph;
  TRY(NEW_ARRAY(ctx, w->arena, w->inputs, graph->inputs.count));
  TRY(NEW_ARRAY(ctx, w->arena, w->outputs, graph->outputs.count));
  for (size_t i = 0; i < graph->inputs.count; i++)
    TRY(value_memory(ctx, w->arena, graph->inputs.at[i], &w->inputs[i]));
  for (size_t i = 0; i < graph->outputs.count; i++)
    TRY(value_memory(ctx, w->arena, graph->outputs.at[i], &w->outputs[i]));
  for (int64_t i = 0; i < count; i++) {
    ((int64_t *)w->inputs[0].data)[i] = ids[i];
    ((int64_t *)w->inputs[1].data)[i] = i;
  }
  TRY(reference_run(ctx, graph, w->inputs, w->outputs));
  const hone_tensor *logits = &w->outputs[graph->outputs.count - 1];
  w->logits = logits->data;
  w->vocabulary = logits->shape[2];
  return HONE_OK;
}

/* -- scores */

/* log(sum(exp(x))) */
static double log_sum(const float *x, int64_t count) {
  double top = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++) top = fmax(top, (double)x[i]);
  for (int64_t i = 0; i < count; i++) sum += exp((double)x[i] - top);
  return top + log(sum);
}

static int64_t top_of(const float *x, int64_t count) {
  int64_t top = 0;
  for (int64_t i = 1; i < count; i++)
    if (x[i] > x[top]) top = i;
  return top;
}

/* Adds how well both predict the next token. */
static void add_score(const float *wanted, const float *got, int64_t count, int32_t next,
                      struct generate_score *s) {
  const double wanted_sum = log_sum(wanted, count), sum = log_sum(got, count);
  double divergence = 0;
  for (int64_t i = 0; i < count; i++) {
    const double p = (double)wanted[i] - wanted_sum;
    divergence += exp(p) * (p - ((double)got[i] - sum));
  }
  s->tokens++;
  s->reference_perplexity += wanted_sum - (double)wanted[next];
  s->perplexity += sum - (double)got[next];
  s->divergence += divergence;
  s->largest_divergence = fmax(s->largest_divergence, divergence);
  s->agreement += top_of(wanted, count) == top_of(got, count);
}

static hone_status score_window(struct ctx *ctx, struct hone_generator *g, const char *path,
                                const int32_t *ids, int64_t count, struct generate_score *out) {
  struct window w = {.arena = NULL};
  hone_status status = window_evaluate(ctx, path, &g->artifact.info->inputs[2], ids, count, &w);
  g->count = g->settled = 0;
  for (int64_t i = 0; !status && i < count - 1; i++) {
    status = generator_step(ctx, g, &ids[i], 1, true);
    if (!status) add_score(w.logits + i * w.vocabulary, g->logits, w.vocabulary, ids[i + 1], out);
  }
  window_close(&w);
  return status;
}

hone_status generator_score(struct ctx *ctx, struct hone_generator *g, const char *path,
                            const char *text, struct generate_score *out) {
  const int64_t most = g->context < WINDOW ? g->context : WINDOW;
  struct arena *arena;
  int32_t *ids;
  size_t count = 0;
  *out = (struct generate_score){0};
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = tokeniser_encode(ctx, arena, g->tokeniser, text, strlen(text),
                                        TOKENS_ADD_SPECIAL, &ids, &count);
  for (size_t at = 0; !status && at + 1 < count; at += (size_t)most) {
    const int64_t left = (int64_t)(count - at);
    status = score_window(ctx, g, path, ids + at, left < most ? left : most, out);
  }
  arena_destroy(arena);
  TRY(status);
  if (!out->tokens)
    return fail(ctx, HONE_E_USAGE, place_name("--text"), "has fewer than two tokens");
  const double n = (double)out->tokens;
  out->perplexity = exp(out->perplexity / n);
  out->reference_perplexity = exp(out->reference_perplexity / n);
  out->divergence /= n;
  out->agreement /= n;
  return isfinite(out->divergence) ? HONE_OK
                                   : fail(ctx, HONE_E_NUM, place_name("logits"), "are not finite");
}
