/* Predicts latency, memory and size of each candidate from records of other models: the table of
 * --predict, and what not to measure where the budget is too short for all candidates. */
#include "bench/backends/backends.h"
#include "core/machine/machine.h"
#include "elimination.h"

#include <math.h>
#include <stdlib.h>

#define PEAKS_NS 300000000ull
enum { MOST_MODELS = 400 };

const char *engine_path_in(const struct argument_list *engines, const char *name) {
  const size_t n = strlen(name);
  const char *found = NULL;
  for (size_t i = 0; i < engines->count; i++)
    if (!strncmp(engines->at[i], name, n) && engines->at[i][n] == '=')
      found = engines->at[i] + n + 1;
  return found;
}

/* -- training */

/* Without XGBoost the roofline is the only predictor. */
static void open_library(struct prediction_table *t) {
  struct ctx attempt = *t->ctx;
  char path[4096];
  hone_status status =
      engine_file(&attempt, "xgboost", engine_path_in(&t->options->engines, "xgboost"),
                  "xgboost/lib/libxgboost.so", path);
  if (!status) status = xgboost_open(&attempt, path, &t->library);
  if (status) safe_copy(t->why_not, sizeof t->why_not, attempt.message);
}

static hone_status train(struct prediction_table *t) {
  struct ctx attempt = *t->ctx; /* without a store only the user's files are read */
  const struct argument_list *files = &t->options->records;
  if (store_open(&attempt, t->options->store, false, &t->store)) t->store = NULL;
  if (!t->store && !files->count) return HONE_OK;
  TRY(samples_read(t->ctx, t->arena, t->store, files->at, files->count, MOST_MODELS, t->end_ns,
                   &t->samples));
  if (t->samples.model_count >= PREDICT_MIN_MODELS) open_library(t);
  return predictor_train(t->ctx, t->arena, &t->samples, t->library, &t->predictor);
}

/* -- candidates */

static bool is_named(const struct argument_list *backends, const char *name) {
  const size_t n = strlen(name);
  for (size_t i = 0; i < backends->count; i++)
    for (const char *p = backends->at[i]; *p; p += strcspn(p, ","), p += *p == ',')
      if (!strncmp(p, name, n) && (p[n] == ',' || !p[n])) return true;
  return !backends->count;
}

static bool is_ready(struct ctx *ctx, const struct argument_list *engines,
                     const struct backend *backend) {
  static struct backend_info info;
  memset(&info, 0, sizeof info);
  if (!backend_find(backend->name) || backend->is_absent) return false;
  describe_backend(ctx, backend, engine_path_in(engines, backend->name), &info);
  return info.status == BACKEND_READY;
}

/* The axes of the candidates: thread counts with the machine's peaks, precisions, batches with
   the model's facts. */
struct axes {
  int threads[RECOMMEND_THREADS], batches[RECOMMEND_BATCHES];
  size_t thread_count, precision_count, batch_count;
  struct machine_facts machines[RECOMMEND_THREADS];
  char precisions[4][16];
  struct model_facts models[RECOMMEND_BATCHES];
};

/* *batch 0: the model's own, which then is returned, or 1 where a study would not know it. */
static hone_status read_model(const struct prediction_table *t, int *batch,
                              struct model_facts *out) {
  const struct recommend_options *o = t->options;
  const struct import_options options = {
      .shapes = o->shapes, .batch = *batch, .side_files_from = o->side_files_from};
  const bool is_default = !options.shapes && !*batch && !options.side_files_from;
  struct model model;
  TRY(model_load(t->ctx, o->model, is_default ? NULL : &options, &model));
  facts_of_graph(model.graph, out);
  const struct value *first = model.graph->inputs.count ? model.graph->inputs.at[0] : NULL;
  const bool is_known = !strncmp(o->model, "zoo:", 4) && first && first->shape.rank;
  if (!*batch) *batch = is_known ? (int)first->shape.dims[0] : 1;
  model_unload(&model);
  return HONE_OK;
}

static hone_status read_models(const struct prediction_table *t, struct axes *out) {
  memcpy(out->batches, t->options->batches, sizeof out->batches);
  out->batch_count = t->options->batch_count;
  if (!out->batch_count) out->batches[out->batch_count++] = 0;
  for (size_t b = 0; b < out->batch_count; b++)
    TRY(read_model(t, &out->batches[b], &out->models[b]));
  return HONE_OK;
}

static int in_descending_order(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x < y) - (x > y);
}

void list_thread_counts(const struct recommend_options *options, int out[RECOMMEND_THREADS],
                        size_t *out_count) {
  memcpy(out, options->threads, sizeof options->threads);
  *out_count = options->thread_count;
  if (!*out_count) {
    out[(*out_count)++] = usable_core_count();
    if (usable_core_count() > 1) out[(*out_count)++] = 1;
  }
  qsort(out, *out_count, sizeof *out, in_descending_order);
}

static hone_status measure_machine(const struct prediction_table *t, struct axes *out) {
  list_thread_counts(t->options, out->threads, &out->thread_count);
  for (size_t i = 0; i < out->thread_count; i++) {
    struct peaks peaks;
    TRY(peaks_measure(t->ctx, out->threads[i], PEAKS_NS, &peaks));
    out->machines[i] = (struct machine_facts){
        peaks.f32_flops, peaks.bandwidth[peaks.bandwidth_count - 1].bytes_per_s};
  }
  return HONE_OK;
}

static hone_status read_precisions(const struct prediction_table *t, struct axes *out) {
  for (const char *p = t->options->precisions ? t->options->precisions : "fp32"; *p;
       p += *p == ',') {
    const size_t n = strcspn(p, ",");
    if (out->precision_count == COUNT(out->precisions) || n >= sizeof out->precisions[0])
      return fail(t->ctx, HONE_E_USAGE, place_name("--precision"),
                  "the precisions are fp32, as-is, bf16, fp16");
    snprintf(out->precisions[out->precision_count++], sizeof out->precisions[0], "%.*s", (int)n, p);
    p += n;
  }
  return HONE_OK;
}

static hone_status add_candidate(struct prediction_table *t, const char *backend,
                                 const struct axes *axes, size_t p, size_t n, size_t i) {
  struct candidate_prediction *row = &t->found.at[t->found.count++];
  const struct run_setup setup = {axes->batches[n], axes->threads[i],
                                  precision_find(axes->precisions[p])};
  float x[FEATURE_COUNT];
  *row = (struct candidate_prediction){.threads = axes->threads[i], .batch = axes->batches[n]};
  snprintf(row->backend, sizeof row->backend, "%s", backend);
  snprintf(row->precision, sizeof row->precision, "%s", axes->precisions[p]);
  features_fill(&axes->models[n], &setup, &axes->machines[i], x);
  for (int k = 0; k < TARGET_COUNT; k++)
    TRY(predict(t->ctx, t->predictor, (enum target_id)k, backend, x, &row->of[k]));
  return HONE_OK;
}

static hone_status add_candidates(struct prediction_table *t) {
  struct axes *axes;
  TRY(NEW(t->ctx, t->arena, axes));
  TRY(read_models(t, axes));
  TRY(measure_machine(t, axes));
  TRY(read_precisions(t, axes));
  for (size_t b = 0; b < backend_count; b++) {
    if (!is_named(&t->options->backends, backend_list[b]->name) ||
        !is_ready(t->ctx, &t->options->engines, backend_list[b]))
      continue;
    for (size_t p = 0; p < axes->precision_count; p++)
      for (size_t n = 0; n < axes->batch_count; n++)
        for (size_t i = 0; i < axes->thread_count && t->found.count < PREDICTIONS_MOST; i++)
          TRY(add_candidate(t, backend_list[b]->name, axes, p, n, i));
  }
  return HONE_OK;
}

void prediction_table_free(struct prediction_table *t) {
  if (!t) return;
  predictor_free(t->predictor);
  xgboost_close(t->library);
  if (t->store) store_close(t->store);
}

static hone_status fill_table(struct prediction_table *t) {
  TRY(train(t));
  if (!t->predictor || predictor_quality(t->predictor, TARGET_latency)->used == METHOD_none)
    return HONE_OK;
  return add_candidates(t);
}

hone_status recommend_predict(struct ctx *ctx, struct arena *arena,
                              const struct recommend_options *options,
                              struct prediction_table **out) {
  *out = NULL;
  TRY(NEW(ctx, arena, *out));
  **out = (struct prediction_table){.ctx = ctx, .arena = arena, .options = options};
  return fill_table(*out);
}

hone_status predict_candidates(struct ctx *ctx, struct arena *arena,
                               const struct recommend_options *options, double budget_s,
                               struct predictions *out) {
  struct ctx attempt = *ctx; /* a model that hone cannot read may still run in another engine */
  struct prediction_table *t;
  TRY(NEW(ctx, arena, t));
  *t = (struct prediction_table){.ctx = &attempt,
                                 .arena = arena,
                                 .options = options,
                                 .end_ns = clock_ns() + (uint64_t)(budget_s * 1e9)};
  attempt.warn = NULL;
  if (fill_table(t)) t->found.count = 0;
  *out = t->found;
  prediction_table_free(t);
  return HONE_OK;
}

/* -- what is not measured */

struct interval predicted_value(const struct candidate_prediction *row, enum constraint_id id) {
  const double share = id == CONSTRAINT_throughput ? 1.0 / row->batch : 1;
  static const struct {
    enum constraint_id constraint;
    enum target_id target;
  } predicted[] = {{CONSTRAINT_latency, TARGET_latency},
                   {CONSTRAINT_throughput, TARGET_latency},
                   {CONSTRAINT_memory, TARGET_memory},
                   {CONSTRAINT_size, TARGET_size}};
  for (size_t i = 0; i < COUNT(predicted); i++) {
    const struct interval *x = &row->of[predicted[i].target].value;
    if (predicted[i].constraint == id)
      return (struct interval){x->value * share, x->low * share, x->high * share};
  }
  return (struct interval){NAN, NAN, NAN};
}

/* Whether a candidate is predicted to meet every bound; *out_missed: one that it is predicted to
   miss. */
static enum bound_state predict_bounds(const struct candidate_prediction *row,
                                       const struct constraints *d,
                                       enum constraint_id *out_missed) {
  enum bound_state all = BOUND_HELD;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) {
    if (isnan(d->bound[id])) continue;
    const struct interval x = predicted_value(row, (enum constraint_id)id);
    if (!constraint_kinds[id].is_more_better && x.low > d->bound[id]) {
      *out_missed = (enum constraint_id)id;
      return BOUND_MISSED;
    }
    if (constraint_kinds[id].is_more_better || !(x.high <= d->bound[id])) all = BOUND_UNSURE;
  }
  return all;
}

/* The smallest upper end of the objective's interval among candidates that are predicted to meet
   every bound. */
static double best_upper_end(const struct predictions *f, const struct constraints *d) {
  double best = INFINITY;
  for (size_t i = 0; i < f->count; i++) {
    enum constraint_id unused;
    const struct interval x = predicted_value(&f->at[i], d->objective);
    if (predict_bounds(&f->at[i], d, &unused) == BOUND_HELD) best = fmin(best, x.high);
  }
  return best;
}

static enum constraint_id reason_against(const struct candidate_prediction *row,
                                         const struct constraints *d, double best) {
  enum constraint_id missed;
  if (predict_bounds(row, d, &missed) == BOUND_MISSED) return missed;
  return predicted_value(row, d->objective).low > best ? d->objective : CONSTRAINT_COUNT;
}

/* Candidates that miss a bound are dropped first, then the worst by the objective. */
static bool is_worse(const struct candidate_prediction *a, const struct candidate_prediction *b,
                     const struct constraints *d) {
  const bool misses = a->against != d->objective, other = b->against != d->objective;
  if (misses != other) return misses;
  return predicted_value(a, d->objective).value > predicted_value(b, d->objective).value;
}

/* A study measures every backend with every thread count: a dropped candidate whose backend and
   thread count both remain is measured after all. */
static bool keep_cross_product(struct predictions *f) {
  bool any = false;
  for (size_t i = 0; i < f->count; i++) {
    bool has_backend = false, has_threads = false;
    for (size_t k = 0; k < f->count; k++) {
      if (f->at[k].is_dropped) continue;
      has_backend |= !strcmp(f->at[k].backend, f->at[i].backend);
      has_threads |= f->at[k].threads == f->at[i].threads;
    }
    f->at[i].is_dropped &= !(has_backend && has_threads);
    any |= f->at[i].is_dropped;
  }
  return any;
}

bool drop_predicted_losers(struct predictions *f, const struct constraints *d, double affordable) {
  const double best = best_upper_end(f, d);
  for (size_t i = 0; i < f->count; i++) f->at[i].against = reason_against(&f->at[i], d, best);
  for (double left = (double)f->count; left > fmax(1, affordable); left--) {
    struct candidate_prediction *worst = NULL;
    for (size_t i = 0; i < f->count; i++) {
      struct candidate_prediction *row = &f->at[i];
      if (row->is_dropped || row->against == CONSTRAINT_COUNT) continue;
      if (!worst || is_worse(row, worst, d)) worst = row;
    }
    if (!worst) break;
    worst->is_dropped = true;
  }
  return keep_cross_product(f);
}
