/* What records of other models say of this one, before anything runs: for candidates that the budget does not reach, and as
 * a table for --predict. */
#include "core/format/format.h"
#include "recommend.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#define PEAKS_NS 300000000ull
enum { MOST_MODELS = 400 };

struct forecasting {
  struct ctx *ctx;
  struct arena *arena;
  const struct args *args;
  struct store *store;
  struct samples samples;
  struct xgboost *library;
  char why_not[600]; /* the library is not used */
  uint64_t end_ns;   /* 0: it may take what it takes */
  struct predictor *predictor;
};

/* -- what there is to learn from */

static const char *named_library(const struct args *args) {
  for (size_t i = 0; i < args->repeated[FLAG_engine].count; i++)
    if (!strncmp(args->repeated[FLAG_engine].at[i], "xgboost=", 8))
      return args->repeated[FLAG_engine].at[i] + 8;
  return NULL;
}

/* Without it the roofline is all there is. */
static void open_library(struct forecasting *f) {
  struct ctx attempt = *f->ctx;
  char path[4096];
  hone_status status =
      engine_file(&attempt, "xgboost", named_library(f->args), "xgboost/lib/libxgboost.so", path);
  if (!status) status = xgboost_open(&attempt, path, &f->library);
  if (status) safe_copy(f->why_not, sizeof f->why_not, attempt.message);
}

static hone_status learn(struct forecasting *f) {
  struct ctx attempt = *f->ctx; /* no store yet: the user's files are all there is */
  const struct repeated *files = &f->args->repeated[FLAG_records];
  if (store_open(&attempt, value_of(f->args, FLAG_store, NULL), false, &f->store)) f->store = NULL;
  if (!f->store && !files->count) return HONE_OK;
  TRY(samples_read(f->ctx, f->arena, f->store, files->at, files->count, MOST_MODELS, f->end_ns,
                   &f->samples));
  if (f->samples.model_count >= PREDICT_MIN_MODELS) open_library(f);
  return predictor_train(f->ctx, f->arena, &f->samples, f->library, &f->predictor);
}

/* -- candidates */

static bool is_asked(const struct args *args, const struct backend *backend) {
  const struct repeated *given = &args->repeated[FLAG_backend];
  const size_t n = strlen(backend->name);
  for (size_t i = 0; i < given->count; i++)
    for (const char *p = given->at[i]; *p; p += strcspn(p, ","), p += *p == ',')
      if (!strncmp(p, backend->name, n) && (p[n] == ',' || !p[n])) return true;
  return !given->count;
}

static bool is_ready(struct ctx *ctx, const struct args *args, const struct backend *backend) {
  static struct backend_info info;
  const size_t n = strlen(backend->name);
  const char *path = NULL;
  for (size_t i = 0; i < args->repeated[FLAG_engine].count; i++)
    if (!strncmp(args->repeated[FLAG_engine].at[i], backend->name, n) &&
        args->repeated[FLAG_engine].at[i][n] == '=')
      path = args->repeated[FLAG_engine].at[i] + n + 1;
  memset(&info, 0, sizeof info);
  if (!backend_find(backend->name) || backend->is_absent) return false;
  describe_backend(ctx, backend, path, &info);
  return info.status == BACKEND_READY;
}

/* What every candidate shares: thread counts with the machine's peaks at each, precisions, and the model at each batch. */
struct ways {
  int threads[MOST_WAYS], batches[MOST_WAYS];
  size_t thread_count, precision_count, batch_count;
  struct machine_facts machines[MOST_WAYS];
  char precisions[4][16];
  struct model_facts models[MOST_WAYS];
};

/* *batch: 0 takes the model as it is, and becomes what that is, as far as a study knows it. */
static hone_status look_at_model(const struct forecasting *f, int *batch, struct model_facts *out) {
  const struct import_options options = {
      .shapes = value_of(f->args, FLAG_shape, NULL),
      .batch = *batch,
      .side_files_from = value_of(f->args, FLAG_side_files_from, NULL)};
  const bool is_plain = !options.shapes && !*batch && !options.side_files_from;
  struct model model;
  TRY(model_load(f->ctx, f->args->words[0], is_plain ? NULL : &options, &model));
  facts_of_graph(model.graph, out);
  const struct value *first = model.graph->inputs.count ? model.graph->inputs.at[0] : NULL;
  const bool is_known = !strncmp(f->args->words[0], "zoo:", 4) && first && first->shape.rank;
  if (!*batch) *batch = is_known ? (int)first->shape.dims[0] : 1;
  model_unload(&model);
  return HONE_OK;
}

static hone_status read_models(const struct forecasting *f, struct ways *out) {
  TRY(ints_of(f->ctx, f->args, FLAG_batch, 1, 1 << 20, out->batches, COUNT(out->batches),
              &out->batch_count));
  if (!out->batch_count) out->batch_count = 1;
  for (size_t b = 0; b < out->batch_count; b++)
    TRY(look_at_model(f, &out->batches[b], &out->models[b]));
  return HONE_OK;
}

static int by_most(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x < y) - (x > y);
}

hone_status recommend_threads(struct ctx *ctx, const struct args *args, int out[MOST_WAYS],
                              size_t *out_count) {
  TRY(ints_of(ctx, args, FLAG_threads, 1, 4096, out, MOST_WAYS, out_count));
  if (!*out_count) {
    out[(*out_count)++] = usable_core_count();
    if (usable_core_count() > 1) out[(*out_count)++] = 1;
  }
  qsort(out, *out_count, sizeof *out, by_most);
  return HONE_OK;
}

static hone_status read_machines(const struct forecasting *f, struct ways *out) {
  TRY(recommend_threads(f->ctx, f->args, out->threads, &out->thread_count));
  for (size_t t = 0; t < out->thread_count; t++) {
    struct peaks peaks;
    TRY(peaks_measure(f->ctx, out->threads[t], PEAKS_NS, &peaks));
    out->machines[t] = (struct machine_facts){
        peaks.f32_flops, peaks.bandwidth[peaks.bandwidth_count - 1].bytes_per_s};
  }
  return HONE_OK;
}

static hone_status read_precisions(const struct forecasting *f, struct ways *out) {
  for (const char *p = value_of(f->args, FLAG_precision, "fp32"); *p; p += *p == ',') {
    const size_t n = strcspn(p, ",");
    if (out->precision_count == COUNT(out->precisions) || n >= sizeof out->precisions[0])
      return fail(f->ctx, HONE_E_USAGE, place_name("--precision"),
                  "there is fp32, as-is, bf16, fp16");
    snprintf(out->precisions[out->precision_count++], sizeof out->precisions[0], "%.*s", (int)n, p);
    p += n;
  }
  return HONE_OK;
}

static hone_status add_row(struct forecasting *f, const char *backend, const struct ways *ways,
                           size_t p, size_t n, size_t t, struct forecast *out) {
  struct forecast_row *row = &out->at[out->count++];
  const struct how how = {ways->batches[n], ways->threads[t], !strcmp(ways->precisions[p], "bf16"),
                          !strcmp(ways->precisions[p], "fp16")};
  float x[FEATURE_COUNT];
  *row = (struct forecast_row){.threads = ways->threads[t], .batch = ways->batches[n]};
  snprintf(row->backend, sizeof row->backend, "%s", backend);
  snprintf(row->precision, sizeof row->precision, "%s", ways->precisions[p]);
  features_fill(&ways->models[n], &how, &ways->machines[t], x);
  for (int k = 0; k < TARGET_COUNT; k++)
    TRY(predict(f->ctx, f->predictor, (enum target_id)k, backend, x, &row->of[k]));
  return HONE_OK;
}

static hone_status list_candidates(struct forecasting *f, struct forecast *out) {
  struct ways ways = {.thread_count = 0};
  TRY(read_models(f, &ways));
  TRY(read_machines(f, &ways));
  TRY(read_precisions(f, &ways));
  for (size_t b = 0; b < backend_count; b++) {
    if (!is_asked(f->args, backend_list[b]) || !is_ready(f->ctx, f->args, backend_list[b]))
      continue;
    for (size_t p = 0; p < ways.precision_count; p++)
      for (size_t n = 0; n < ways.batch_count; n++)
        for (size_t t = 0; t < ways.thread_count && out->count < FORECAST_MOST; t++)
          TRY(add_row(f, backend_list[b]->name, &ways, p, n, t, out));
  }
  return HONE_OK;
}

static void close_all(struct forecasting *f) {
  predictor_free(f->predictor);
  xgboost_close(f->library);
  if (f->store) store_close(f->store);
}

static hone_status forecast_all(struct forecasting *f, struct forecast *out) {
  *out = (struct forecast){.count = 0};
  TRY(learn(f));
  if (!f->predictor || predictor_quality(f->predictor, TARGET_latency)->used == METHOD_none)
    return HONE_OK;
  return list_candidates(f, out);
}

hone_status forecast_make(struct ctx *ctx, struct arena *arena, const struct args *args,
                          double budget_s, struct forecast *out) {
  struct ctx attempt = *ctx; /* a model that hone cannot read may still run elsewhere */
  struct forecasting *f;
  TRY(NEW(ctx, arena, f));
  *f = (struct forecasting){.ctx = &attempt,
                            .arena = arena,
                            .args = args,
                            .end_ns = clock_ns() + (uint64_t)(budget_s * 1e9)};
  attempt.warn = NULL;
  if (forecast_all(f, out)) out->count = 0;
  close_all(f);
  return HONE_OK;
}

/* -- what is not looked at */

/* What is predicted of a demand; NaN: nothing is. Of throughput it is the time of a sample: less is better there too. */
static struct interval foreseen(const struct forecast_row *row, enum constraint_id id) {
  const double share = id == CONSTRAINT_throughput ? 1.0 / row->batch : 1;
  static const struct {
    enum constraint_id constraint;
    enum target_id target;
  } told[] = {{CONSTRAINT_latency, TARGET_latency},
              {CONSTRAINT_throughput, TARGET_latency},
              {CONSTRAINT_memory, TARGET_memory},
              {CONSTRAINT_size, TARGET_size}};
  for (size_t i = 0; i < COUNT(told); i++) {
    const struct interval *x = &row->of[told[i].target].value;
    if (told[i].constraint == id)
      return (struct interval){x->value * share, x->low * share, x->high * share};
  }
  return (struct interval){NAN, NAN, NAN};
}

/* Whether a candidate will hold every bound; one that it is sure to miss. */
static enum bound_state outlook(const struct forecast_row *row, const struct constraints *d,
                                enum constraint_id *out_missed) {
  enum bound_state all = BOUND_HELD;
  for (int id = 0; id < CONSTRAINT_COUNT; id++) {
    if (isnan(d->bound[id])) continue;
    const struct interval x = foreseen(row, (enum constraint_id)id);
    if (!constraint_kinds[id].is_more_better && x.low > d->bound[id]) {
      *out_missed = (enum constraint_id)id;
      return BOUND_MISSED;
    }
    if (constraint_kinds[id].is_more_better || !(x.high <= d->bound[id])) all = BOUND_UNSURE;
  }
  return all;
}

/* The worst that the best of those can be that will hold every bound. */
static double best_high(const struct forecast *f, const struct constraints *d) {
  double best = INFINITY;
  for (size_t i = 0; i < f->count; i++) {
    enum constraint_id unused;
    const struct interval x = foreseen(&f->at[i], d->objective);
    if (outlook(&f->at[i], d, &unused) == BOUND_HELD) best = fmin(best, x.high);
  }
  return best;
}

/* What speaks against a candidate: a bound that it will miss, or that it lies behind by the objective; CONSTRAINT_COUNT:
   nothing. */
static enum constraint_id against(const struct forecast_row *row, const struct constraints *d,
                                  double best) {
  enum constraint_id missed;
  if (outlook(row, d, &missed) == BOUND_MISSED) return missed;
  return foreseen(row, d->objective).low > best ? d->objective : CONSTRAINT_COUNT;
}

/* Which of two goes first: whoever misses a bound, then the worst by the objective. */
static bool is_worse(const struct forecast_row *a, const struct forecast_row *b,
                     const struct constraints *d) {
  const bool misses = a->against != d->objective, other = b->against != d->objective;
  if (misses != other) return misses;
  return foreseen(a, d->objective).value > foreseen(b, d->objective).value;
}

/* Looks are at backends by thread counts: what both are kept of is looked at after all. */
static bool keep_products(struct forecast *f) {
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

bool forecast_keep(struct forecast *f, const struct constraints *d, double affordable) {
  const double best = best_high(f, d);
  for (size_t i = 0; i < f->count; i++) f->at[i].against = against(&f->at[i], d, best);
  for (double left = (double)f->count; left > fmax(1, affordable); left--) {
    struct forecast_row *worst = NULL;
    for (size_t i = 0; i < f->count; i++) {
      struct forecast_row *row = &f->at[i];
      if (row->is_dropped || row->against == CONSTRAINT_COUNT) continue;
      if (!worst || is_worse(row, worst, d)) worst = row;
    }
    if (!worst) break;
    worst->is_dropped = true;
  }
  return keep_products(f);
}

static void put_interval(struct strbuf *out, const struct interval *x, bool is_ms) {
  void (*const put)(struct strbuf *, double) = is_ms ? put_ms : put_bytes;
  put(out, x->value);
  strbuf_puts(out, " (");
  put(out, x->low);
  strbuf_puts(out, " to ");
  put(out, x->high);
  strbuf_puts(out, ")");
}

static void put_against(struct strbuf *out, const struct forecast_row *row,
                        const struct constraints *d) {
  const bool by_throughput = row->against == CONSTRAINT_throughput;
  const enum constraint_id id = by_throughput ? CONSTRAINT_latency : row->against;
  const bool is_ms = constraint_kinds[id].amount == AMOUNT_MS;
  const struct interval x = foreseen(row, id);
  strbuf_printf(out, "the budget does not reach for all; predicted %s ",
                constraint_kinds[id].title);
  put_interval(out, &x, is_ms);
  if (isnan(d->bound[id]) || by_throughput) return;
  strbuf_puts(out, ", most is ");
  (is_ms ? put_ms : put_bytes)(out, d->bound[id]);
}

void forecast_put_dropped(const struct forecast *f, const struct constraints *d,
                          struct strbuf *lines, json_t *list) {
  for (size_t i = 0; i < f->count; i++) {
    const struct forecast_row *row = &f->at[i];
    struct strbuf reason = {0};
    if (!row->is_dropped) continue;
    put_against(&reason, row, d);
    strbuf_printf(lines, "  not tried  %s, %s, %d thread%s", row->backend, row->precision,
                  row->threads, row->threads == 1 ? "" : "s");
    if (row->batch != 1) strbuf_printf(lines, ", batch %d", row->batch);
    strbuf_printf(lines, ": %s\n", reason.at ? reason.at : "");
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:i, s:i, s:i, s:s*}", "backend", row->backend, "precision",
                        row->precision, "threads", row->threads, "batch", row->batch, "look", 0,
                        "reason", reason.at));
    strbuf_deinit(&reason);
  }
}

/* -- the table */

static void put_quality(struct strbuf *out, const struct forecasting *f) {
  static const char *const targets[] = {"latency", "memory", "size"};
  static const char *const methods[] = {"nothing", "the roofline", "XGBoost"};
  if (!f->predictor || predictor_quality(f->predictor, TARGET_latency)->used == METHOD_none) {
    strbuf_printf(out,
                  "too few models are on record: %zu with %zu rows, %d are needed; 'hone bench' "
                  "records more, --records FILE reads others'\n",
                  f->samples.model_count, f->samples.count, PREDICT_MIN_MODELS);
    return;
  }
  strbuf_printf(out,
                "learnt from %zu rows of %zu models; of a model that was left out, mean "
                "|ln(predicted / measured)|:\n",
                f->samples.count, f->samples.model_count);
  for (int t = 0; t < TARGET_COUNT; t++) {
    const struct left_out *q = predictor_quality(f->predictor, (enum target_id)t);
    strbuf_printf(out, "  %-8s roofline %.3f", targets[t], q->roofline);
    if (isfinite(q->xgboost)) strbuf_printf(out, ", XGBoost %.3f", q->xgboost);
    strbuf_printf(out, ": %s is used\n", methods[q->used]);
  }
  if (f->why_not[0]) strbuf_printf(out, "without XGBoost: %s\n", f->why_not);
}

static void put_rows(struct strbuf *out, const struct forecast *f) {
  for (size_t i = 0; i < f->count; i++) {
    const struct forecast_row *row = &f->at[i];
    strbuf_printf(out, "  %-14s %-5s batch %-4d %2d thread%s  ", row->backend, row->precision,
                  row->batch, row->threads, row->threads == 1 ? " " : "s");
    if (row->of[TARGET_latency].why)
      strbuf_puts(out, row->of[TARGET_latency].why);
    else
      put_interval(out, &row->of[TARGET_latency].value, true);
    for (int t = TARGET_memory; t < TARGET_COUNT; t++)
      if (!row->of[t].why) {
        strbuf_puts(out, t == TARGET_memory ? ", memory " : ", size ");
        put_interval(out, &row->of[t].value, false);
      }
    strbuf_puts(out, "\n");
  }
}

static json_t *forecast_json(const struct forecasting *f, const struct forecast *found) {
  static const char *const targets[] = {"latency_ms", "memory_bytes", "size_bytes"};
  static const char *const methods[] = {"none", "roofline", "xgboost"};
  json_t *rows = json_array(), *quality = json_object();
  for (size_t i = 0; i < found->count; i++) {
    json_t *row = json_pack("{s:s, s:s, s:i, s:i}", "backend", found->at[i].backend, "precision",
                            found->at[i].precision, "batch", found->at[i].batch, "threads",
                            found->at[i].threads);
    for (int t = 0; t < TARGET_COUNT; t++) {
      const struct prediction *p = &found->at[i].of[t];
      json_object_set_new(
          row, targets[t],
          p->why ? json_pack("{s:s}", "abstained", p->why)
                 : json_pack("[f, f, f]", p->value.value, p->value.low, p->value.high));
    }
    json_array_append_new(rows, row);
  }
  for (int t = 0; f->predictor && t < TARGET_COUNT; t++) {
    const struct left_out *q = predictor_quality(f->predictor, (enum target_id)t);
    json_object_set_new(
        quality, targets[t],
        json_pack("{s:o, s:o, s:s, s:i}", "roofline",
                  isfinite(q->roofline) ? json_real(q->roofline) : json_null(), "xgboost",
                  isfinite(q->xgboost) ? json_real(q->xgboost) : json_null(), "used",
                  methods[q->used], "rows", (int)q->rows));
  }
  return json_pack("{s:i, s:i, s:o, s:o}", "models", (int)f->samples.model_count, "left_out",
                   (int)f->samples.left_out, "left_out_errors", quality, "rows", rows);
}

struct shown {
  const struct forecasting *forecasting;
  const struct forecast *found;
};

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const struct shown *shown = user;
  json_t *json = forecast_json(shown->forecasting, shown->found);
  char *dumped = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
  (void)form;
  json_decref(json);
  if (!dumped) return fail(ctx, HONE_E_OOM, place_none(), "no memory for JSON");
  strbuf_printf(out, "%s\n", dumped);
  free(dumped);
  return strbuf_finish(ctx, out);
}

static hone_status print(const struct forecasting *f, const struct forecast *found) {
  struct strbuf out = {0};
  put_rows(&out, found);
  put_quality(&out, f);
  const hone_status status = write_output(f->ctx, "-", &out);
  strbuf_deinit(&out);
  return status;
}

static hone_status make(struct ctx *ctx, struct arena *arena, const struct args *args,
                        struct forecasting **out_f, struct forecast **out_found) {
  TRY(NEW(ctx, arena, *out_found));
  TRY(NEW(ctx, arena, *out_f));
  **out_f = (struct forecasting){.ctx = ctx, .arena = arena, .args = args};
  return forecast_all(*out_f, *out_found);
}

int forecast_print(struct ctx *ctx, struct arena *arena, const struct args *args,
                   const struct sinks *sinks) {
  struct forecasting *f = NULL;
  struct forecast *found;
  hone_status status = make(ctx, arena, args, &f, &found);
  if (!status && !sinks->takes_stdout) status = print(f, found);
  struct shown shown = {f, found};
  const int code = status ? report_failure(ctx) : sinks_write(ctx, sinks, render, &shown);
  if (f) close_all(f);
  return code;
}
