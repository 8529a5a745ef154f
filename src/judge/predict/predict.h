/* predict: latency, memory and size of a model on a backend with a number of threads, from records
 * of other models.
 *
 *   features.c    what is known about a model, a machine and a configuration without running it
 *   samples.c     training rows, from the store (rows.c) and from exported data sets (records.c)
 *   predictor.c   a roofline and XGBoost, the choice between them by errors on models left out, and
 *                 intervals
 *   xgboost.c     the XGBoost library, opened at run time
 *   dataset.c     records as a CSV data set with a card
 *
 * A model that is unlike all models on record gets no prediction.
 */
#ifndef HONE_PREDICT_H
#define HONE_PREDICT_H

#include "judge/compare/compare.h"
#include "compiler/pipeline/pipeline.h"

/* -- features.c */
struct model_facts {
  double flops, bytes, weight_bytes, largest_bytes, input_bytes, value_bytes, int8_bytes,
      half_bytes;
  double nodes, conv_flops, depthwise_flops, matmul_flops;
  double elementwise_nodes, movement_nodes, reduction_nodes, recurrent_nodes;
};
struct run_setup {
  double batch, threads;
  enum precision precision; /* as asked for */
};
struct machine_facts {
  double flops, bandwidth; /* FLOP/s and bytes/s with the number of threads */
};
enum feature_id {
#define FEATURE(name, expression, help, absent) FEATURE_##name,
#include "features.def"
#undef FEATURE
  FEATURE_COUNT
};
extern const char *const feature_names[FEATURE_COUNT];
void facts_of_graph(const struct graph *graph, struct model_facts *out);
/* From a study's machine JSON; false if it has no peaks for that number of threads. */
bool facts_of_machine(const char *machine_json, int threads, struct machine_facts *out);
double roofline_s(const struct model_facts *model, const struct machine_facts *machine);
void features_fill(const struct model_facts *model, const struct run_setup *setup,
                   const struct machine_facts *machine, float out[FEATURE_COUNT]);

/* -- training rows */
enum target_id { TARGET_latency, TARGET_memory, TARGET_size, TARGET_COUNT }; /* ms, bytes, bytes */
struct sample {
  size_t model; /* number; the same at every batch */
  char backend[32];
  float x[FEATURE_COUNT];
  double y[TARGET_COUNT]; /* NaN: not measured */
};
struct samples {
  size_t count, model_count, backend_count;
  struct sample *at;
  char (*backends)[32];
  size_t left_out; /* records whose model file is gone or changed, or whose machine has no peaks */
  uint64_t end_ns; /* of clock_ns, for reading and training; 0: no limit */
};
struct model_names { /* by number */
  const char **at;
  size_t count, capacity;
};
MUST_USE hone_status model_number(struct ctx *ctx, struct arena *arena, struct model_names *names,
                                  const struct config *config, size_t *out);
/* rows.c: visits every record of a store, with the features of its model if the file still has
   the recorded hash; at most `limit` models are read. */
struct row_seen {
  const struct summary *summary; /* of its study, valid during the visit; NULL for a data set */
  const struct record *record;
  size_t model;
  const float *x; /* features; NULL: not known */
};
typedef hone_status row_visitor(void *user, const struct row_seen *row);
MUST_USE hone_status rows_visit(struct ctx *ctx, struct arena *arena, struct store *store,
                                size_t limit, struct model_names *names, row_visitor *visit,
                                void *user);
/* records.c: visits the records of a file of `hone dataset export`, which may be from any
   machine: each row has its features. records_check: whether it is such a file, by its header. */
MUST_USE hone_status records_visit(struct ctx *ctx, struct arena *arena, const char *path,
                                   struct model_names *names, row_visitor *visit, void *user);
MUST_USE hone_status records_check(struct ctx *ctx, const char *path);
/* samples.c: the training rows of a store (NULL: none) and of data sets: measured on the CPU
   without other load, with known features. */
MUST_USE hone_status samples_read(struct ctx *ctx, struct arena *arena, struct store *store,
                                  const char *const *files, size_t file_count, size_t limit,
                                  uint64_t end_ns, struct samples *out);
/* E_TIMEOUT after end_ns. */
MUST_USE hone_status samples_check_time(struct ctx *ctx, const struct samples *samples);

/* -- xgboost.c: the library of the PyPI package, opened at run time */
#define XGBOOST_PACKAGE "xgboost-cpu==3.2.0"
struct xgboost;
MUST_USE hone_status xgboost_open(struct ctx *ctx, const char *path, struct xgboost **out);
void xgboost_close(struct xgboost *x);
struct booster;
/* rows x width features, one label per row; squared error. */
MUST_USE hone_status booster_train(struct ctx *ctx, struct xgboost *x, const float *features,
                                   const float *labels, size_t rows, size_t width,
                                   struct booster **out);
MUST_USE hone_status booster_predict(struct ctx *ctx, struct booster *booster,
                                     const float *features, size_t rows, size_t width, float *out);
void booster_free(struct booster *booster);

/* -- predictor.c */
enum method { METHOD_none, METHOD_roofline, METHOD_xgboost };
struct predictor;
/* Of one target: errors |ln(predicted / measured)| on models that were left out of the training. */
struct held_out {
  double roofline, xgboost; /* means; NaN: not tried */
  double roofline_p90, xgboost_p90;
  enum method used;
  size_t rows, models;
};
/* library NULL: without XGBoost. With fewer than PREDICT_MIN_MODELS models the method is
   METHOD_none. */
enum { PREDICT_MIN_MODELS = 4 };
MUST_USE hone_status predictor_train(struct ctx *ctx, struct arena *arena,
                                     const struct samples *samples, struct xgboost *library,
                                     struct predictor **out);
void predictor_free(struct predictor *predictor);
const struct held_out *predictor_quality(const struct predictor *predictor, enum target_id target);
struct prediction {
  struct interval value; /* contains 90 % of left-out rows; NaN: no prediction */
  const char *why;       /* there is no prediction; else NULL */
};
MUST_USE hone_status predict(struct ctx *ctx, const struct predictor *predictor,
                             enum target_id target, const char *backend,
                             const float x[FEATURE_COUNT], struct prediction *out);

/* -- dataset.c: all records as CSV, with the columns of columns.def (except the command, which
   contains paths), the fingerprint and the features; and a card that describes it. */
struct dataset_facts {
  size_t rows, studies, models, machines, with_features;
  uint64_t first_unix_ms, last_unix_ms;
  struct strbuf machine_rows; /* of the card's table; the caller frees it, also after a failure */
};
MUST_USE hone_status dataset_csv(struct ctx *ctx, struct arena *arena, struct store *store,
                                 struct strbuf *out, struct dataset_facts *out_facts);
void dataset_card(const struct dataset_facts *facts, bool has_parquet, struct strbuf *out);
#endif
