/* What records of other models say of this one, before anything runs: for candidates that the budget does not reach, and as
 * a table for --predict. */
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
  struct predictor *predictor;
  struct model model;
  struct model_facts facts;
};

/* -- what there is to learn from ------------------------------------------------------------------ */

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
  struct ctx attempt = *f->ctx; /* no store yet: nothing to learn from */
  if (store_open(&attempt, value_of(f->args, FLAG_store, NULL), false, &f->store)) return HONE_OK;
  TRY(samples_read(f->ctx, f->arena, f->store, MOST_MODELS, &f->samples));
  if (f->samples.model_count >= PREDICT_MIN_MODELS) open_library(f);
  return predictor_train(f->ctx, f->arena, &f->samples, f->library, &f->predictor);
}

static hone_status look_at_model(struct forecasting *f) {
  int64_t batch;
  TRY(int_of(f->ctx, f->args, FLAG_batch, 1, 1 << 20, 0, &batch));
  const struct import_options options = {
      .shapes = value_of(f->args, FLAG_shape, NULL),
      .batch = batch,
      .side_files_from = value_of(f->args, FLAG_side_files_from, NULL)};
  const bool is_plain = !options.shapes && !batch && !options.side_files_from;
  TRY(model_load(f->ctx, f->args->words[0], is_plain ? NULL : &options, &f->model));
  facts_of_graph(f->model.graph, &f->facts);
  return HONE_OK;
}

/* -- candidates ----------------------------------------------------------------------------------- */

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

static hone_status add_rows(struct forecasting *f, const char *backend, const int *threads,
                            size_t thread_count, struct forecast *out) {
  const bool bf16 = !strcmp(value_of(f->args, FLAG_precision, ""), "bf16");
  int64_t batch;
  TRY(int_of(f->ctx, f->args, FLAG_batch, 1, 1 << 20, 1, &batch));
  for (size_t t = 0; t < thread_count && out->count < FORECAST_MOST; t++) {
    struct forecast_row *row = &out->at[out->count++];
    struct peaks peaks;
    float x[FEATURE_COUNT];
    *row = (struct forecast_row){.threads = threads[t]};
    snprintf(row->backend, sizeof row->backend, "%s", backend);
    TRY(peaks_measure(f->ctx, threads[t], PEAKS_NS, &peaks));
    const struct machine_facts machine = {peaks.f32_flops,
                                          peaks.bandwidth[peaks.bandwidth_count - 1].bytes_per_s};
    const struct how how = {(double)batch, threads[t], bf16};
    features_fill(&f->facts, &how, &machine, x);
    for (int k = 0; k < TARGET_COUNT; k++)
      TRY(predict(f->ctx, f->predictor, (enum target_id)k, backend, x, &row->of[k]));
  }
  return HONE_OK;
}

static hone_status list_candidates(struct forecasting *f, struct forecast *out) {
  int threads[16];
  size_t count = 0;
  TRY(ints_of(f->ctx, f->args, FLAG_threads, 1, 4096, threads, COUNT(threads), &count));
  if (!count) {
    threads[count++] = 1;
    if (usable_core_count() > 1) threads[count++] = usable_core_count();
  }
  for (size_t b = 0; b < backend_count; b++)
    if (is_asked(f->args, backend_list[b]) && is_ready(f->ctx, f->args, backend_list[b]))
      TRY(add_rows(f, backend_list[b]->name, threads, count, out));
  return HONE_OK;
}

static void close_all(struct forecasting *f) {
  predictor_free(f->predictor);
  xgboost_close(f->library);
  model_unload(&f->model);
  if (f->store) store_close(f->store);
}

static hone_status forecast_all(struct forecasting *f, struct forecast *out) {
  *out = (struct forecast){.count = 0};
  TRY(learn(f));
  if (!f->predictor || predictor_quality(f->predictor, TARGET_latency)->used == METHOD_none)
    return HONE_OK;
  TRY(look_at_model(f));
  return list_candidates(f, out);
}

hone_status forecast_make(struct ctx *ctx, struct arena *arena, const struct args *args,
                          struct forecast *out) {
  struct ctx attempt = *ctx; /* a model that hone cannot read may still run elsewhere */
  struct forecasting *f;
  TRY(NEW(ctx, arena, f));
  *f = (struct forecasting){.ctx = &attempt, .arena = arena, .args = args};
  attempt.warn = NULL;
  if (forecast_all(f, out)) out->count = 0;
  close_all(f);
  return HONE_OK;
}

/* -- what is not looked at ------------------------------------------------------------------------ */

static const struct interval *latency_of(const struct forecast_row *row) {
  return &row->of[TARGET_latency].value;
}

bool forecast_keep(struct forecast *f, double affordable) {
  double best_high = INFINITY, left = (double)f->count;
  bool any = false;
  for (size_t i = 0; i < f->count; i++)
    if (latency_of(&f->at[i])->high < best_high) best_high = latency_of(&f->at[i])->high;
  while (left > affordable) {
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < f->count; i++) {
      const struct interval *x = latency_of(&f->at[i]);
      if (f->at[i].is_dropped || !(x->low > best_high)) continue;
      if (worst == SIZE_MAX || x->value > latency_of(&f->at[worst])->value) worst = i;
    }
    if (worst == SIZE_MAX) break;
    f->at[worst].is_dropped = any = true;
    left--;
  }
  return any;
}

static void put_interval(struct text *out, const struct interval *x, bool is_ms) {
  void (*const put)(struct text *, double) = is_ms ? put_ms : put_bytes;
  put(out, x->value);
  text_puts(out, " (");
  put(out, x->low);
  text_puts(out, " to ");
  put(out, x->high);
  text_puts(out, ")");
}

void forecast_put_dropped(const struct forecast *f, struct text *lines, json_t *list) {
  for (size_t i = 0; i < f->count; i++) {
    const struct forecast_row *row = &f->at[i];
    struct text reason = {0};
    if (!row->is_dropped) continue;
    text_puts(&reason, "the budget does not reach for all; predicted ");
    put_interval(&reason, latency_of(row), true);
    text_printf(lines, "  not tried  %s, %d thread%s: %s\n", row->backend, row->threads,
                row->threads == 1 ? "" : "s", reason.at ? reason.at : "");
    json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:s*}", "backend", row->backend,
                                          "threads", row->threads, "look", 0, "reason", reason.at));
    text_deinit(&reason);
  }
}

/* -- the table ------------------------------------------------------------------------------------ */

static void put_quality(struct text *out, const struct forecasting *f) {
  static const char *const targets[] = {"latency", "memory", "size"};
  static const char *const methods[] = {"nothing", "the roofline", "XGBoost"};
  if (!f->predictor || predictor_quality(f->predictor, TARGET_latency)->used == METHOD_none) {
    text_printf(out,
                "too few models are on record: %zu with %zu rows, %d are needed; 'hone bench' "
                "records more\n",
                f->samples.model_count, f->samples.count, PREDICT_MIN_MODELS);
    return;
  }
  text_printf(out,
              "learnt from %zu rows of %zu models; of a model that was left out, mean "
              "|ln(predicted / measured)|:\n",
              f->samples.count, f->samples.model_count);
  for (int t = 0; t < TARGET_COUNT; t++) {
    const struct left_out *q = predictor_quality(f->predictor, (enum target_id)t);
    text_printf(out, "  %-8s roofline %.3f", targets[t], q->roofline);
    if (isfinite(q->xgboost)) text_printf(out, ", XGBoost %.3f", q->xgboost);
    text_printf(out, ": %s is used\n", methods[q->used]);
  }
  if (f->why_not[0]) text_printf(out, "without XGBoost: %s\n", f->why_not);
}

static void put_rows(struct text *out, const struct forecast *f) {
  for (size_t i = 0; i < f->count; i++) {
    const struct forecast_row *row = &f->at[i];
    text_printf(out, "  %-14s %2d thread%s  ", row->backend, row->threads,
                row->threads == 1 ? " " : "s");
    if (row->of[TARGET_latency].why)
      text_puts(out, row->of[TARGET_latency].why);
    else
      put_interval(out, latency_of(row), true);
    for (int t = TARGET_memory; t < TARGET_COUNT; t++)
      if (!row->of[t].why) {
        text_puts(out, t == TARGET_memory ? ", memory " : ", size ");
        put_interval(out, &row->of[t].value, false);
      }
    text_puts(out, "\n");
  }
}

static json_t *forecast_json(const struct forecasting *f, const struct forecast *found) {
  static const char *const targets[] = {"latency_ms", "memory_bytes", "size_bytes"};
  static const char *const methods[] = {"none", "roofline", "xgboost"};
  json_t *rows = json_array(), *quality = json_object();
  for (size_t i = 0; i < found->count; i++) {
    json_t *row =
        json_pack("{s:s, s:i}", "backend", found->at[i].backend, "threads", found->at[i].threads);
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

static hone_status print(struct forecasting *f, const struct forecast *found) {
  struct text out = {0};
  if (!strcmp(value_of(f->args, FLAG_json, ""), "-")) {
    json_t *json = forecast_json(f, found);
    char *dumped = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(json);
    if (!dumped) return fail(f->ctx, HONE_E_OOM, place_none(), "no memory for JSON");
    text_printf(&out, "%s\n", dumped);
    free(dumped);
  } else {
    put_rows(&out, found);
    put_quality(&out, f);
  }
  hone_status status = write_output(f->ctx, "-", &out);
  text_deinit(&out);
  return status;
}

hone_status forecast_print(struct ctx *ctx, struct arena *arena, const struct args *args) {
  struct forecast *found;
  struct forecasting *f;
  TRY(NEW(ctx, arena, f));
  TRY(NEW(ctx, arena, found));
  *f = (struct forecasting){.ctx = ctx, .arena = arena, .args = args};
  hone_status status = forecast_all(f, found);
  if (!status) status = print(f, found);
  close_all(f);
  return status;
}
