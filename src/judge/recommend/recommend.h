/* recommend: the best way to run a model on this machine under the user's bounds, by successive
 * elimination (Even-Dar et al., JMLR 2006). A candidate is a combination of model variant, engine,
 * precision, batch and thread count.
 *
 *   elimination.c   the screening round, then elimination rounds, each a study of `hone bench` in a
 *                   child process
 *   candidates.c    which candidates take part in the next round
 *   carry_over.c    results of earlier rounds for candidates that a round had no time for
 *   choose.c        a round's records and the constraints to a choice (advise.h)
 *   prediction.c    predicted latency, memory and size of each candidate from records of other
 *                   models
 *   variants.c      int8, int4, fp16 and bf16 variants of the model (--min-accuracy)
 *   hybrid.c        parts of the model on several engines as one more candidate (--hybrid)
 *   answer.c, explain.c, prediction_table.c   the answer as text and as JSON
 *   child_study.c   child processes
 *
 * Nothing here prints: progress goes to a callback, the answer to the caller.
 */
#ifndef HONE_RECOMMEND_H
#define HONE_RECOMMEND_H

#include "advise.h"
#include "child_study.h"

enum { RECOMMEND_THREADS = 16, RECOMMEND_BATCHES = 64 };
struct recommend_options {
  const char *program; /* path of hone, for child processes */
  const char *model;   /* file or zoo: name */
  const char *device;  /* "cpu": this machine */
  struct constraints constraints;
  double budget_s;
  bool generates; /* scenario generate: text of the model as it is, without smaller variants */
  bool tries_hybrid;
  /* Of flags that were not given: NULL, or a count of 0. */
  struct argument_list backends; /* "native,openvino:async" */
  struct argument_list engines;  /* "NAME=PATH" */
  struct argument_list records;  /* files that `hone dataset export` wrote */
  int threads[RECOMMEND_THREADS], batches[RECOMMEND_BATCHES];
  size_t thread_count, batch_count;
  const char *precisions; /* "fp32,bf16" */
  const char *shapes, *side_files_from, *store, *seed;
  const char *inputs; /* folder of --inputs */
  bool has_input;     /* single files of --input */
  const char *calibrate, *labels;
  /* The user's flags that child processes take as they are; --inputs and those above that vary
     are not among them. */
  struct argument_list bench_flags, quantise_flags, hybrid_flags;
  /* One line of progress, after so many seconds; NULL: none. */
  void (*report)(void *user, double seconds, const char *line);
  void *user;
};

struct recommendation;
/* E_UNSUP: energy is to be bounded or optimised, and no meter can be read. */
MUST_USE hone_status recommend_check(struct ctx *ctx, const struct recommend_options *options);
/* Measures for about budget_s. The options outlive the recommendation, which is to be freed
   after a failure too. E_MISSING: a study failed. */
MUST_USE hone_status recommend(struct ctx *ctx, struct arena *arena,
                               const struct recommend_options *options,
                               struct recommendation **out);
void recommendation_free(struct recommendation *r);

/* The records of the last round, with results carried over from earlier ones, and the choice
   among them. */
const struct summary *recommendation_summary(const struct recommendation *r);
const struct advice *recommendation_advice(const struct recommendation *r);
/* Path of the chosen model: the user's, or a variant's. */
const char *recommendation_model(const struct recommendation *r);
/* The choice and every candidate of the last round; recommendation_text adds what was dropped,
   and the time. */
void recommendation_table(const struct recommendation *r, struct strbuf *out);
void recommendation_text(const struct recommendation *r, struct strbuf *out);
MUST_USE hone_status recommendation_json(struct ctx *ctx, const struct recommendation *r,
                                         struct strbuf *out);

/* Predictions of every candidate, without a measurement. */
struct prediction_table;
/* E_USAGE: a precision that does not exist. The table is to be freed after a failure too. */
MUST_USE hone_status recommend_predict(struct ctx *ctx, struct arena *arena,
                                       const struct recommend_options *options,
                                       struct prediction_table **out);
void prediction_table_free(struct prediction_table *table);
/* The candidates, each predictor's error on models that it had not seen, and the one in use. */
void prediction_table_text(const struct prediction_table *table, struct strbuf *out);
MUST_USE hone_status prediction_table_json(struct ctx *ctx, const struct prediction_table *table,
                                           struct strbuf *out);
#endif
