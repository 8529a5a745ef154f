/* The quality of generated text next to its speed: perplexity and KL divergence of a text, for engines that give their
 * probabilities. The reference evaluates the text once; each configuration's first process evaluates it after everything
 * is timed.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/wire/transport.h"
#include "bench/worker/generation.h"
#include "core/metrics/metrics.h"
#include "study_internal.h"

/* Heads and depth of the model's caches, whose lengths are 0 at the begin of a text. */
static void cache_form(const struct bench_case *one, int64_t *heads, int64_t *depth) {
  struct generation *plan = malloc(sizeof *plan);
  *heads = *depth = 0;
  if (plan && generation_unpack(one->generation, plan) && plan->cache_count) {
    const hone_tensor *cache = &plan->tensors[plan->caches[0].in].form;
    if (cache->rank == 4) *heads = cache->shape[1], *depth = cache->shape[3];
  }
  free(plan);
}

hone_status case_quality(struct bench *bench, struct bench_case *one) {
  char text[4096] = "";
  struct worker worker;
  struct worker_end end;
  int64_t heads, depth;
  const bool has_text =
      one->generation && !one->generation_end.status && !strcmp(one->format, "gguf");
  one->quality_tokens = 0;
  if (!bench_generates(bench) || !has_text) return HONE_OK;
  cache_form(one, &heads, &depth);
  if (bench->options.quality_text && !realpath(bench->options.quality_text, text))
    return fail(bench->ctx, HONE_E_NOFILE, place_file(bench->options.quality_text), "not found");
  TRY(bench_worker(bench, CASE_CONFIG, 0, &worker));
  bench_report(bench, NULL, one->model, "reference");
  reference_deadline_begin(bench);
  json_t *reply = worker_ask(&worker,
                             json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "do", "quality_reference",
                                       "path", one->path, "text", text, "dir", one->generation_dir,
                                       "heads", (json_int_t)heads, "depth", (json_int_t)depth),
                             "quality_made", ASK_PATIENT, &end);
  reference_deadline_end(bench);
  worker_close(&worker, 0);
  if (reply)
    one->quality_tokens = message_int(reply, "tokens", 0);
  else
    warn(bench->ctx, "%s: no quality is measured: %.300s", one->model, end.reason);
  json_decref(reply);
  return HONE_OK;
}

/* -- comparison */

static hone_status map_file(struct ctx *ctx, const char *dir, const char *name,
                            struct mapping *out) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  return file_map(ctx, path, out);
}

/* got: rows of logits, or one log probability for each token. */
static hone_status compare_rows(struct ctx *ctx, const struct mapping *wanted,
                                const struct mapping *got, const int64_t *tokens, int64_t rows,
                                struct text_score *out) {
  const int64_t vocabulary = (int64_t)(wanted->size / sizeof(float)) / rows;
  const float *want = (const float *)wanted->data, *have = (const float *)got->data;
  const bool is_one = got->size == (size_t)rows * sizeof *have;
  *out = (struct text_score){0};
  if (!is_one && got->size != wanted->size)
    return fail(ctx, HONE_E_SHAPE, place_none(), "%zu bytes of probabilities, expected %zu",
                got->size, wanted->size);
  for (int64_t i = 0; i < rows; i++) {
    if (tokens[i + 1] < 0 || tokens[i + 1] >= vocabulary)
      return fail(ctx, HONE_E_FORMAT, place_none(), "a token outside the vocabulary");
    if (is_one)
      text_score_add_next(want + i * vocabulary, vocabulary, tokens[i + 1], (double)have[i], out);
    else
      text_score_add(want + i * vocabulary, have + i * vocabulary, vocabulary, tokens[i + 1], out);
  }
  return text_score_finish(ctx, out);
}

static hone_status compare_files(struct ctx *ctx, const struct bench_case *one,
                                 struct worker *worker, struct text_score *out) {
  const int64_t rows = one->quality_tokens - 1;
  struct mapping wanted, got;
  char path[4096];
  int64_t *tokens;
  size_t count;
  snprintf(path, sizeof path, "%.4000s/" QUALITY_TOKENS, one->generation_dir);
  TRY(worker->transport->get(ctx, worker, QUALITY_ROWS));
  TRY(prompt_read(ctx, path, &tokens, &count));
  hone_status status = map_file(ctx, one->generation_dir, QUALITY_REFERENCE, &wanted);
  if (!status) {
    status = map_file(ctx, worker->dir, QUALITY_ROWS, &got);
    if (!status) {
      status = (int64_t)count == rows + 1
                   ? compare_rows(ctx, &wanted, &got, tokens, rows, out)
                   : fail(ctx, HONE_E_FORMAT, place_file(path), "has other tokens");
      file_unmap(&got);
    }
    file_unmap(&wanted);
  }
  free(tokens);
  snprintf(path, sizeof path, "%.4000s/" QUALITY_ROWS, worker->dir);
  unlink(path);
  return status;
}

bool ask_quality(struct bench *bench, const struct bench_case *one, struct worker *worker,
                 const char *backend, struct process_record *record) {
  struct worker_end end;
  struct text_score score;
  struct ctx own;
  if (!worker->generates || !one->quality_tokens || !worker->transport->shares_files ||
      worker->checked_case != one)
    return true;
  ctx_init(&own);
  json_t *reply =
      worker_ask(worker, json_pack("{s:s, s:s}", "do", "quality", "dir", one->generation_dir),
                 "predicted", ASK_PATIENT, &end);
  const char *why = reply ? message_text(reply, "where") : end.reason;
  const int64_t rows = reply ? message_int(reply, "rows", 0) : 0;
  const bool is_given = rows == one->quality_tokens - 1;
  if (rows && !is_given) why = "the engine predicted another number of tokens";
  if (is_given && !compare_files(&own, one, worker, &score)) {
    snprintf(record->task_metric, sizeof record->task_metric, "perplexity");
    record->task_accuracy = score.perplexity;
    record->task_reference = score.reference_perplexity;
    record->accuracy_retention = score.reference_perplexity / score.perplexity;
    record->kl_divergence = score.divergence;
  } else if (is_given || why[0]) {
    warn(bench->ctx, "%s: no quality is measured: %.300s", backend, is_given ? own.message : why);
  }
  json_decref(reply);
  return reply != NULL;
}
