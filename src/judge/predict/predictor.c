/* Two predictors of the logarithm of a target, and the choice between them.
 *
 * Baseline, for each backend and target: the median over the rows of ln(measured / base). For
 * latency, base is the roofline's time; for memory and size, bytes of weights and values. A lower
 * limit is half of the backend's smallest measured value. XGBoost is trained on the residual of the
 * baseline, so that it extrapolates like the baseline.
 *
 * Errors on models left out: for each model both predictors are trained on all others. XGBoost is
 * used if its mean error is smaller. The interval is the 5th to 95th percentile of the used
 * predictor's signed errors (split conformal prediction, Lei et al. 2018).
 *
 * There is no prediction for a model that is farther from all others than they are from each other
 * (95th percentile of nearest-neighbour distances, features divided by their spread), that has an
 * amount more than a factor of four beyond all others, or for a backend without rows.
 */
#include "predict.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = FEATURE_COUNT + 1, MOST_BACKENDS = 32 };
#define FAR_QUANTILE 0.95
#define FAR_SLACK 1.5

struct baseline {
  size_t rows;
  /* ln; floor: half of the smallest measured value, because a call has a fixed cost */
  double ratio, floor;
};
struct method_of {
  struct baseline baselines[MOST_BACKENDS];
  struct booster *booster;
};
struct predictor {
  const struct samples *samples;
  struct xgboost *library;
  double scale[FEATURE_COUNT]; /* standard deviation */
  double far;
  double low[FEATURE_COUNT], high[FEATURE_COUNT]; /* range in the samples */
  struct method_of full[TARGET_COUNT];
  struct held_out quality[TARGET_COUNT];
  double error_low[TARGET_COUNT], error_high[TARGET_COUNT]; /* ln(measured / predicted) */
};

/* -- the baseline */

static size_t backend_index(const struct samples *s, const char *name) {
  size_t b = 0;
  while (b < s->backend_count && strcmp(s->backends[b], name)) b++;
  return b < MOST_BACKENDS && b < s->backend_count ? b : SIZE_MAX;
}

/* ln of the base, in the unit of the target. */
static double base_of(enum target_id target, const float *x) {
  const double ln2 = 0.69314718055994531;
  if (target == TARGET_latency) return ln2 * (double)x[FEATURE_roofline] - log(1e6);
  return log(exp2((double)x[FEATURE_weights]) +
             (target == TARGET_memory ? 2 * exp2((double)x[FEATURE_largest_value]) : 0) + 1e4);
}

static bool is_row(const struct sample *row, enum target_id target, size_t without) {
  return row->model != without && row->y[target] > 0;
}

static hone_status fit_baselines(struct ctx *ctx, const struct samples *s, enum target_id target,
                                 size_t without, struct baseline *out) {
  double *logs = calloc(s->count + 1, sizeof *logs);
  if (!logs) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a baseline");
  for (size_t b = 0; b < s->backend_count && b < MOST_BACKENDS; b++) {
    out[b] = (struct baseline){.floor = INFINITY};
    for (size_t i = 0; i < s->count; i++) {
      if (!is_row(&s->at[i], target, without) || strcmp(s->at[i].backend, s->backends[b])) continue;
      logs[out[b].rows++] = log(s->at[i].y[target]) - base_of(target, s->at[i].x);
      out[b].floor = fmin(out[b].floor, log(s->at[i].y[target]));
    }
    out[b].floor -= 0.69314718055994531;
    sort_doubles(logs, out[b].rows);
    out[b].ratio = percentile_sorted(logs, out[b].rows, 0.5);
  }
  free(logs);
  return HONE_OK;
}

/* NaN: the backend has no row. */
static double baseline_of(const struct baseline *b, enum target_id target, const float *x) {
  return b->rows ? fmax(b->ratio + base_of(target, x), b->floor) : (double)NAN;
}

/* -- XGBoost on the residual */

static void fill_row(float *out, const float *x, size_t backend) {
  memcpy(out, x, FEATURE_COUNT * sizeof *out);
  out[FEATURE_COUNT] = (float)backend;
}

static hone_status fit_booster(struct ctx *ctx, const struct predictor *p, enum target_id target,
                               size_t without, const struct baseline *baselines,
                               struct booster **out) {
  const struct samples *s = p->samples;
  float *x = calloc((s->count + 1) * COLUMNS, sizeof *x), *y = calloc(s->count + 1, sizeof *y);
  size_t rows = 0;
  hone_status status = x && y ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "no memory to train");
  for (size_t i = 0; !status && i < s->count; i++) {
    const size_t b = backend_index(s, s->at[i].backend);
    if (b == SIZE_MAX || !is_row(&s->at[i], target, without)) continue;
    fill_row(x + rows * COLUMNS, s->at[i].x, b);
    y[rows++] = (float)(log(s->at[i].y[target]) - baseline_of(&baselines[b], target, s->at[i].x));
  }
  if (!status && rows) status = booster_train(ctx, p->library, x, y, rows, COLUMNS, out);
  free(x);
  free(y);
  return status;
}

static hone_status fit(struct ctx *ctx, const struct predictor *p, enum target_id target,
                       size_t without, struct method_of *out) {
  *out = (struct method_of){.booster = NULL};
  TRY(fit_baselines(ctx, p->samples, target, without, out->baselines));
  return p->library ? fit_booster(ctx, p, target, without, out->baselines, &out->booster) : HONE_OK;
}

/* ln of the target by both methods; NaN: no prediction. */
static hone_status apply(struct ctx *ctx, const struct predictor *p, const struct method_of *m,
                         enum target_id target, const char *backend, const float *x,
                         double *out_roofline, double *out_xgboost) {
  const size_t b = backend_index(p->samples, backend);
  float row[COLUMNS], rest;
  *out_roofline = *out_xgboost = NAN;
  if (b == SIZE_MAX) return HONE_OK;
  *out_roofline = baseline_of(&m->baselines[b], target, x);
  if (!m->booster || isnan(*out_roofline)) return HONE_OK;
  fill_row(row, x, b);
  TRY(booster_predict(ctx, m->booster, row, 1, COLUMNS, &rest));
  *out_xgboost = *out_roofline + (double)rest;
  return HONE_OK;
}

/* -- leave one model out */

struct errors {
  double *at[2]; /* roofline, XGBoost: ln(measured / predicted) */
  size_t count[2];
};

static hone_status leave_out(struct ctx *ctx, const struct predictor *p, enum target_id target,
                             size_t model, struct errors *errors) {
  struct method_of m;
  const struct samples *s = p->samples;
  hone_status status = fit(ctx, p, target, model, &m);
  for (size_t i = 0; !status && i < s->count; i++) {
    double found[2];
    if (s->at[i].model != model || !(s->at[i].y[target] > 0)) continue;
    status = apply(ctx, p, &m, target, s->at[i].backend, s->at[i].x, &found[0], &found[1]);
    for (int k = 0; !status && k < 2; k++)
      if (!isnan(found[k])) errors->at[k][errors->count[k]++] = log(s->at[i].y[target]) - found[k];
  }
  booster_free(m.booster);
  return status;
}

static double mean_size(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += fabs(x[i]);
  return n ? sum / (double)n : (double)NAN;
}

static double size_p90(const double *sorted, size_t n) {
  return fmax(fabs(percentile_sorted(sorted, n, 0.05)), fabs(percentile_sorted(sorted, n, 0.95)));
}

static void judge(struct predictor *p, enum target_id target, struct errors *e) {
  struct held_out *q = &p->quality[target];
  q->roofline = mean_size(e->at[0], e->count[0]);
  q->xgboost = mean_size(e->at[1], e->count[1]);
  for (int k = 0; k < 2; k++) sort_doubles(e->at[k], e->count[k]);
  q->roofline_p90 = e->count[0] ? size_p90(e->at[0], e->count[0]) : (double)NAN;
  q->xgboost_p90 = e->count[1] ? size_p90(e->at[1], e->count[1]) : (double)NAN;
  q->rows = e->count[0];
  q->models = p->samples->model_count;
  q->used = !e->count[0]               ? METHOD_none
            : q->xgboost < q->roofline ? METHOD_xgboost
                                       : METHOD_roofline;
  const int k = q->used == METHOD_xgboost;
  if (!e->count[k]) return;
  p->error_low[target] = percentile_sorted(e->at[k], e->count[k], 0.05);
  p->error_high[target] = percentile_sorted(e->at[k], e->count[k], 0.95);
}

static hone_status train_target(struct ctx *ctx, struct predictor *p, enum target_id target) {
  struct errors errors = {.at = {calloc(p->samples->count + 1, sizeof(double)),
                                 calloc(p->samples->count + 1, sizeof(double))}};
  hone_status status = errors.at[0] && errors.at[1]
                           ? HONE_OK
                           : fail(ctx, HONE_E_OOM, place_none(), "no memory to train");
  for (size_t m = 0; !status && m < p->samples->model_count; m++) {
    status = samples_check_time(ctx, p->samples);
    if (!status) status = leave_out(ctx, p, target, m, &errors);
  }
  if (!status) judge(p, target, &errors);
  free(errors.at[0]);
  free(errors.at[1]);
  return status ? status : fit(ctx, p, target, SIZE_MAX, &p->full[target]);
}

/* -- models unlike all others */

/* Features of the model, not of threads, machine or precision. */
static bool is_of_model(size_t feature) { return feature < FEATURE_batch; }

/* Whether an amount is more than a factor of four beyond all others. */
static bool is_outside(const struct predictor *p, const float *x) {
  for (size_t f = 0; f < FEATURE_conv_share; f++)
    if ((double)x[f] < p->low[f] - 2 || (double)x[f] > p->high[f] + 2) return true;
  return false;
}

static double distance(const struct predictor *p, const float *a, const float *b) {
  double sum = 0;
  for (size_t f = 0; f < FEATURE_COUNT; f++) {
    const double d = is_of_model(f) ? ((double)a[f] - (double)b[f]) / p->scale[f] : 0;
    sum += d * d;
  }
  return sqrt(sum);
}

/* Distance to the nearest row of another model. */
static double nearest_model(const struct predictor *p, const float *x, size_t without) {
  double best = INFINITY;
  for (size_t i = 0; i < p->samples->count; i++)
    if (p->samples->at[i].model != without) best = fmin(best, distance(p, x, p->samples->at[i].x));
  return best;
}

static hone_status learn_distances(struct ctx *ctx, struct predictor *p) {
  const struct samples *s = p->samples;
  double *nearest = calloc(s->count + 1, sizeof *nearest);
  if (!nearest) return fail(ctx, HONE_E_OOM, place_none(), "no memory for distances");
  for (size_t f = 0; f < FEATURE_COUNT; f++) {
    double sum = 0, square = 0;
    p->low[f] = INFINITY, p->high[f] = -INFINITY;
    for (size_t i = 0; i < s->count; i++)
      sum += (double)s->at[i].x[f], square += (double)s->at[i].x[f] * (double)s->at[i].x[f];
    for (size_t i = 0; i < s->count; i++) {
      p->low[f] = fmin(p->low[f], (double)s->at[i].x[f]);
      p->high[f] = fmax(p->high[f], (double)s->at[i].x[f]);
    }
    const double mean = sum / (double)s->count, variance = square / (double)s->count - mean * mean;
    p->scale[f] = variance > 1e-6 ? sqrt(variance) : 1;
  }
  for (size_t i = 0; i < s->count; i++) nearest[i] = nearest_model(p, s->at[i].x, s->at[i].model);
  sort_doubles(nearest, s->count);
  p->far = FAR_SLACK * percentile_sorted(nearest, s->count, FAR_QUANTILE);
  free(nearest);
  return HONE_OK;
}

/* -- interface */

hone_status predictor_train(struct ctx *ctx, struct arena *arena, const struct samples *samples,
                            struct xgboost *library, struct predictor **out) {
  TRY(NEW(ctx, arena, *out));
  (*out)->samples = samples;
  (*out)->library = library;
  for (int t = 0; t < TARGET_COUNT; t++)
    (*out)->quality[t] =
        (struct held_out){NAN, NAN, NAN, NAN, METHOD_none, 0, samples->model_count};
  if (samples->model_count < PREDICT_MIN_MODELS || !samples->count) return HONE_OK;
  TRY(learn_distances(ctx, *out));
  for (int t = 0; t < TARGET_COUNT; t++) TRY(train_target(ctx, *out, (enum target_id)t));
  return HONE_OK;
}

void predictor_free(struct predictor *p) {
  for (int t = 0; p && t < TARGET_COUNT; t++) {
    booster_free(p->full[t].booster);
    p->full[t].booster = NULL;
  }
}

const struct held_out *predictor_quality(const struct predictor *p, enum target_id target) {
  return &p->quality[target];
}

/* In quantised models at least a fifth of the values' bytes are 8-bit; in others only a few
   masks are. */
static bool is_quantised(const float *x) { return x[FEATURE_int8_share] > 0.05F; }

/* Whether the backend was measured in this precision. */
static bool has_rows(const struct predictor *p, enum target_id target, const char *backend,
                     const float *x) {
  for (size_t i = 0; i < p->samples->count; i++) {
    const struct sample *row = &p->samples->at[i];
    if (row->y[target] > 0 && !strcmp(row->backend, backend) &&
        is_quantised(row->x) == is_quantised(x) &&
        (row->x[FEATURE_bf16] > 0) == (x[FEATURE_bf16] > 0) &&
        (row->x[FEATURE_fp16] > 0) == (x[FEATURE_fp16] > 0))
      return true;
  }
  return false;
}

hone_status predict(struct ctx *ctx, const struct predictor *p, enum target_id target,
                    const char *backend, const float x[FEATURE_COUNT], struct prediction *out) {
  double roofline, xgboost;
  *out = (struct prediction){.value = {NAN, NAN, NAN}};
  if (p->quality[target].used == METHOD_none) {
    out->why = "too few models are on record";
    return HONE_OK;
  }
  if (is_outside(p, x) || nearest_model(p, x, SIZE_MAX) > p->far) {
    out->why = "the model is unlike all models on record";
    return HONE_OK;
  }
  TRY(apply(ctx, p, &p->full[target], target, backend, x, &roofline, &xgboost));
  const double found = p->quality[target].used == METHOD_xgboost ? xgboost : roofline;
  if (isnan(found) || !has_rows(p, target, backend, x))
    out->why = "no record of this backend in this precision";
  else
    out->value = (struct interval){exp(found), exp(found + p->error_low[target]),
                                   exp(found + p->error_high[target])};
  return HONE_OK;
}
