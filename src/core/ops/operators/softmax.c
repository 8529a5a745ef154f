/* softmax: Softmax, LogSoftmax and Hardmax along one axis. */
#include <math.h>

#include "helpers_double.h"
#include "core/ops/ops_internal.h"

hone_status infer_softmax(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  int axis = 0;
  TRY(want_float(ctx, node, 0));
  TRY(axis_attribute(ctx, node, "axis", -1, node->inputs[0]->shape.rank, &axis));
  return set_output_like(ctx, node, 0, 0);
}

/* One row in place. */
typedef void row_fn(double *x, int64_t count);

static double row_max(const double *x, int64_t count) {
  double max = -INFINITY;
  for (int64_t i = 0; i < count; i++) max = max_(max, x[i]);
  return max;
}

static void softmax_row(double *x, int64_t count) {
  double max = row_max(x, count), sum = 0;
  for (int64_t i = 0; i < count; i++) sum += x[i] = exp(x[i] - max);
  for (int64_t i = 0; i < count; i++) x[i] /= sum;
}

static void log_softmax_row(double *x, int64_t count) {
  double max = row_max(x, count), rest = 0, ones = 0;
  for (int64_t i = 0; i < count; i++) {
    const double e = exp(x[i] - max);
    const bool is_one = !(e < 1); /* counted separately: small terms would vanish next to 1 */
    ones += is_one;
    rest += is_one ? e - 1 : e;
  }
  for (int64_t i = 0; i < count; i++) x[i] = x[i] - max - log1p(rest + (ones - 1));
}

/* 1 at the first maximum; NaN counts as the maximum. */
static void hardmax_row(double *x, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; i++)
    if (x[i] > x[best] || (isnan(x[i]) && !isnan(x[best]))) best = i;
  for (int64_t i = 0; i < count; i++) x[i] = i == best;
}

static hone_status run_rows(struct ctx *ctx, struct arena *scratch, const struct node *node,
                            const struct tensor *x, const struct tensor *out, row_fn *apply) {
  int axis = 0;
  TRY(axis_attribute(ctx, node, "axis", -1, x->shape.rank, &axis));
  int64_t dim = x->shape.dims[axis], inner = dims_product(&x->shape, axis + 1, x->shape.rank);
  int64_t rows = dims_product(&x->shape, 0, axis) * inner;
  double *row;
  TRY(NEW_ARRAY(ctx, scratch, row, (size_t)dim));
  for (int64_t r = 0; dim > 0 && r < rows; r++) {
    int64_t start = r / inner * dim * inner + r % inner;
    read_f64(x, start, inner, (size_t)dim, row);
    apply(row, dim);
    for (int64_t i = 0; i < dim; i++) tensor_set_f64(out, (size_t)(start + i * inner), row[i]);
  }
  return HONE_OK;
}

hone_status eval_softmax(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  return run_rows(ctx, scratch, node, in[0], out[0], softmax_row);
}

hone_status eval_log_softmax(struct ctx *ctx, struct arena *scratch, const struct node *node,
                             const struct tensor *const *in, struct tensor *const *out) {
  return run_rows(ctx, scratch, node, in[0], out[0], log_softmax_row);
}

hone_status eval_hardmax(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  return run_rows(ctx, scratch, node, in[0], out[0], hardmax_row);
}
