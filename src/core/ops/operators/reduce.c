/* reduce: Reduce* over any axes, ArgMax and ArgMin, CumSum and CumProd. Floats in double; sums and
 * products of integers in wrapping int64. */
#include <math.h>

#include "helpers_double.h"
#include "core/ops/ops_internal.h"

/* -- Reduce* */

enum reduction {
  REDUCE_L1,
  REDUCE_L2,
  REDUCE_LOG_SUM,
  REDUCE_LOG_SUM_EXP,
  REDUCE_MAX,
  REDUCE_MEAN,
  REDUCE_MIN,
  REDUCE_PROD,
  REDUCE_SUM,
  REDUCE_SUM_SQUARE,
  REDUCE_VARIANCE /* of the population, not of a sample */
};

static hone_status reduction_of(struct ctx *ctx, const struct node *node, enum reduction *out) {
  static const char *const names[] = {
      [REDUCE_L1] = "ReduceL1",
      [REDUCE_L2] = "ReduceL2",
      [REDUCE_LOG_SUM] = "ReduceLogSum",
      [REDUCE_LOG_SUM_EXP] = "ReduceLogSumExp",
      [REDUCE_MAX] = "ReduceMax",
      [REDUCE_MEAN] = "ReduceMean",
      [REDUCE_MIN] = "ReduceMin",
      [REDUCE_PROD] = "ReduceProd",
      [REDUCE_SUM] = "ReduceSum",
      [REDUCE_SUM_SQUARE] = "ReduceSumSquare",
      [REDUCE_VARIANCE] = "ReduceVariance",
  };
  for (size_t i = 0; i < COUNT(names); i++) {
    if (strcmp(node->op->name, names[i]) != 0) continue;
    *out = (enum reduction)i;
    return HONE_OK;
  }
  return fail(ctx, HONE_E_INTERNAL, node_place(node), "%s is not a reduction", node->op->name);
}

hone_status reduction_axes(struct ctx *ctx, const struct node *node, int rank,
                           const struct tensor *axes, bool reduced[HONE_MAX_RANK]) {
  int64_t list[HONE_MAX_RANK];
  size_t count = 0;
  memset(reduced, 0, HONE_MAX_RANK * sizeof *reduced);
  if (axes && !tensor_read_ints(axes, HONE_MAX_RANK, list, &count))
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "axes (input 1) is not a list of at most %d integers", HONE_MAX_RANK);
  if (count == 0 && node_int(node, "noop_with_empty_axes", 0) == 0)
    for (int i = 0; i < rank; i++) reduced[i] = true;
  for (size_t i = 0; i < count; i++) {
    int axis = 0;
    TRY(axis_normalise(ctx, node, "axes", list[i], rank, &axis));
    if (reduced[axis])
      return fail(ctx, HONE_E_SHAPE, node_place(node), "axes names axis %d twice", axis);
    reduced[axis] = true;
  }
  return HONE_OK;
}

static hone_status read_keepdims(struct ctx *ctx, const struct node *node, bool *out) {
  int64_t keep = node_int(node, "keepdims", 1);
  if (keep != 0 && keep != 1)
    return fail(ctx, HONE_E_FORMAT, node_place(node), "keepdims is %lld, expected 0 or 1",
                (long long)keep);
  *out = keep == 1;
  return HONE_OK;
}

hone_status infer_reduce(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0], *axes = node_input(node, 1);
  bool reduced[HONE_MAX_RANK];
  if (x->dtype == HONE_STRING)
    return fail(ctx, HONE_E_TYPE, node_place(node), "%s is not defined for strings",
                node->op->name);
  /* an empty axes operand means the same for any value */
  if (axes && !axes->constant && !(axes->shape.rank == 1 && axes->shape.dims[0] == 0))
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "axes (input 1) must be a constant: it is known only at run time");
  TRY(reduction_axes(ctx, node, x->shape.rank, axes ? axes->constant : NULL, reduced));
  bool keep;
  TRY(read_keepdims(ctx, node, &keep));
  struct shape out = {.rank = 0};
  for (int i = 0; i < x->shape.rank; i++) {
    if (!reduced[i]) out.dims[out.rank++] = x->shape.dims[i];
    if (reduced[i] && keep) out.dims[out.rank++] = 1;
  }
  return set_output(ctx, node, 0, x->dtype, &out);
}

hone_status infer_reduce_variance(struct ctx *ctx, struct graph *graph, struct node *node) {
  TRY(want_float(ctx, node, 0));
  return infer_reduce(ctx, graph, node);
}

struct reduce {
  enum reduction kind;
  const struct tensor *x, *out;
  struct shape kept;              /* of x with 1 at reduced axes */
  int64_t strides[HONE_MAX_RANK]; /* into the result, along x */
  int64_t results, terms;         /* terms of one result */
};

static double start_f64(enum reduction kind) {
  if (kind == REDUCE_PROD) return 1;
  return kind == REDUCE_MAX ? -INFINITY : kind == REDUCE_MIN ? INFINITY : 0;
}

static double step_f64(enum reduction kind, double sum, double x) {
  switch (kind) {
    case REDUCE_L1:
      return sum + fabs(x);
    case REDUCE_L2:
    case REDUCE_SUM_SQUARE:
      return sum + x * x;
    case REDUCE_MAX:
      return max_(sum, x);
    case REDUCE_MIN:
      return min_(sum, x);
    case REDUCE_PROD:
      return sum * x;
    case REDUCE_LOG_SUM:
    case REDUCE_LOG_SUM_EXP:
    case REDUCE_MEAN:
    case REDUCE_SUM:
      return sum + x;
    case REDUCE_VARIANCE:
      return sum + x * x;
  }
  return sum;
}

static double finish_f64(const struct reduce *r, double sum) {
  switch (r->kind) {
    case REDUCE_L2:
      return sqrt(sum);
    case REDUCE_LOG_SUM:
      return log(sum);
    case REDUCE_MEAN:
    case REDUCE_VARIANCE:
      return sum / (double)r->terms;
    default:
      return sum;
  }
}

/* sum[result] = step over all x in order; `shift`: x - shift[result] instead, exp of that for LogSumExp. */
static void accumulate(const struct reduce *r, enum reduction kind, const double *x,
                       const double *shift, double *sum) {
  int64_t index[HONE_MAX_RANK] = {0}, at = 0;
  do {
    int64_t to = index_offset(r->kept.rank, index, r->strides);
    const double term = shift ? x[at] - shift[to] : x[at];
    sum[to] = step_f64(kind, sum[to], shift && kind != REDUCE_VARIANCE ? exp(term) : term);
    at++;
  } while (index_next(r->x->shape.rank, r->x->shape.dims, index));
}

static hone_status reduce_f64(struct ctx *ctx, struct arena *scratch, const struct reduce *r) {
  double *x, *sum, *max = NULL, *mean = NULL;
  TRY(to_f64(ctx, scratch, r->x, &x));
  TRY(NEW_ARRAY(ctx, scratch, sum, (size_t)r->results));
  for (int64_t i = 0; i < r->results; i++) sum[i] = start_f64(r->kind);
  if (r->kind == REDUCE_LOG_SUM_EXP) {
    TRY(NEW_ARRAY(ctx, scratch, max, (size_t)r->results));
    for (int64_t i = 0; i < r->results; i++) max[i] = -INFINITY;
    if (r->terms > 0) accumulate(r, REDUCE_MAX, x, NULL, max);
    for (int64_t i = 0; i < r->results; i++) /* Inf - Inf would be NaN */
      if (isinf(max[i])) max[i] = 0;
  }
  if (r->kind == REDUCE_VARIANCE) {
    TRY(NEW_ARRAY(ctx, scratch, mean, (size_t)r->results));
    if (r->terms > 0) accumulate(r, REDUCE_SUM, x, NULL, mean);
    for (int64_t i = 0; i < r->results; i++) mean[i] /= (double)r->terms;
  }
  if (r->terms > 0) accumulate(r, r->kind, x, max ? max : mean, sum);
  for (int64_t i = 0; i < r->results; i++) {
    double y = max ? max[i] + log(sum[i]) : finish_f64(r, sum[i]);
    tensor_set_f64(r->out, (size_t)i, y);
  }
  return HONE_OK;
}

/* Reductions that are exact in integers; the others are computed in double. */
static bool is_exact(enum reduction kind) {
  return kind != REDUCE_L2 && kind != REDUCE_LOG_SUM && kind != REDUCE_LOG_SUM_EXP;
}

static int64_t step_i64(enum reduction kind, int64_t sum, int64_t x, bool is_unsigned) {
  uint64_t a = (uint64_t)sum, b = (uint64_t)x;
  bool less = is_unsigned ? b < a : x < sum;
  switch (kind) {
    case REDUCE_L1:
      return (int64_t)(a + (!is_unsigned && x < 0 ? 0 - b : b));
    case REDUCE_SUM_SQUARE:
      return (int64_t)(a + b * b);
    case REDUCE_MAX:
      return less ? sum : x;
    case REDUCE_MIN:
      return less ? x : sum;
    case REDUCE_PROD:
      return (int64_t)(a * b);
    default:
      return (int64_t)(a + b);
  }
}

/* The result of an empty maximum or minimum: the opposite end of the element type. */
static int64_t start_i64(enum reduction kind, hone_dtype dtype) {
  if (kind == REDUCE_PROD) return 1;
  return kind == REDUCE_MAX || kind == REDUCE_MIN ? integer_edge(dtype, kind == REDUCE_MIN) : 0;
}

static hone_status reduce_i64(struct ctx *ctx, struct arena *scratch, const struct reduce *r) {
  int64_t *sum, index[HONE_MAX_RANK] = {0}, at = 0;
  bool is_unsigned = r->x->dtype == HONE_U64;
  TRY(NEW_ARRAY(ctx, scratch, sum, (size_t)r->results));
  for (int64_t i = 0; i < r->results; i++) sum[i] = start_i64(r->kind, r->x->dtype);
  if (r->terms > 0) do {
      int64_t to = index_offset(r->kept.rank, index, r->strides);
      sum[to] = step_i64(r->kind, sum[to], tensor_i64(r->x, (size_t)at++), is_unsigned);
    } while (index_next(r->x->shape.rank, r->x->shape.dims, index));
  for (int64_t i = 0; i < r->results; i++) {
    if (r->kind == REDUCE_MEAN && r->terms > 0)
      sum[i] = is_unsigned ? (int64_t)((uint64_t)sum[i] / (uint64_t)r->terms) : sum[i] / r->terms;
    tensor_set_i64(r->out, (size_t)i, sum[i]);
  }
  return HONE_OK;
}

hone_status eval_reduce(struct ctx *ctx, struct arena *scratch, const struct node *node,
                        const struct tensor *const *in, struct tensor *const *out) {
  struct reduce r = {.x = in[0], .out = out[0], .kept = in[0]->shape, .terms = 1};
  bool reduced[HONE_MAX_RANK];
  TRY(reduction_of(ctx, node, &r.kind));
  const struct tensor *axes = node->input_count > 1 ? in[1] : NULL;
  TRY(reduction_axes(ctx, node, in[0]->shape.rank, axes, reduced));
  for (int i = 0; i < r.kept.rank; i++) {
    if (!reduced[i]) continue;
    r.terms *= r.kept.dims[i];
    r.kept.dims[i] = 1;
  }
  r.results = dims_product(&r.kept, 0, r.kept.rank);
  if (r.results == 0) return HONE_OK;
  broadcast_strides(&r.kept, &in[0]->shape, r.strides);
  for (int i = 0; i < r.kept.rank; i++)
    if (reduced[i]) r.strides[i] = 0;
  bool by_integers = !dtype_is_float(in[0]->dtype) && is_exact(r.kind);
  return by_integers ? reduce_i64(ctx, scratch, &r) : reduce_f64(ctx, scratch, &r);
}

/* -- ArgMax, ArgMin */

hone_status infer_arg(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0];
  int axis = 0;
  TRY(axis_attribute(ctx, node, "axis", 0, x->shape.rank, &axis));
  if (x->shape.dims[axis] == 0)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "axis %d has no elements", axis);
  bool keep;
  TRY(read_keepdims(ctx, node, &keep));
  struct shape out = {.rank = 0};
  for (int i = 0; i < x->shape.rank; i++) {
    if (i != axis)
      out.dims[out.rank++] = x->shape.dims[i];
    else if (keep)
      out.dims[out.rank++] = 1;
  }
  return set_output(ctx, node, 0, HONE_I64, &out);
}

/* True if element a is above (below) element b. NaN is above and below everything else, as in
 * NumPy. */
static bool beats(const struct tensor *x, int64_t a, int64_t b, bool is_max) {
  if (dtype_is_float(x->dtype)) {
    double p = tensor_f64(x, (size_t)a), q = tensor_f64(x, (size_t)b);
    if (isnan(q)) return false;
    return isnan(p) || (is_max ? p > q : p < q);
  }
  int64_t p = tensor_i64(x, (size_t)a), q = tensor_i64(x, (size_t)b);
  if (x->dtype == HONE_U64) return is_max ? (uint64_t)p > (uint64_t)q : (uint64_t)p < (uint64_t)q;
  return is_max ? p > q : p < q;
}

static hone_status run_arg(struct ctx *ctx, const struct node *node, const struct tensor *x,
                           const struct tensor *out, bool is_max) {
  int axis = 0;
  TRY(axis_attribute(ctx, node, "axis", 0, x->shape.rank, &axis));
  bool last = node_int(node, "select_last_index", 0) != 0;
  int64_t dim = x->shape.dims[axis], inner = dims_product(&x->shape, axis + 1, x->shape.rank);
  int64_t rows = dims_product(&x->shape, 0, axis) * inner;
  for (int64_t row = 0; row < rows; row++) {
    int64_t start = row / inner * dim * inner + row % inner, best = 0;
    for (int64_t i = 1; i < dim; i++) {
      int64_t candidate = start + i * inner, holder = start + best * inner;
      if (last ? !beats(x, holder, candidate, is_max) : beats(x, candidate, holder, is_max))
        best = i;
    }
    tensor_set_i64(out, (size_t)row, best);
  }
  return HONE_OK;
}

hone_status eval_arg_max(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return run_arg(ctx, node, in[0], out[0], true);
}

hone_status eval_arg_min(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return run_arg(ctx, node, in[0], out[0], false);
}

/* -- CumSum, CumProd */

hone_status infer_cumulative(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0], *axis = node->inputs[1];
  int64_t count = 0;
  TRY(want_rank_at_least(ctx, node, 0, 1));
  if (!dtype_is_float(x->dtype) && !dtype_is_integer(x->dtype))
    return fail(ctx, HONE_E_TYPE, node_place(node), "%s is not defined for %s", node->op->name,
                dtype_name(x->dtype));
  if ((axis->dtype != HONE_I32 && axis->dtype != HONE_I64) || !shape_count(&axis->shape, &count) ||
      count != 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "axis (input 1) is not one integer");
  int ignored;
  if (axis->constant)
    TRY(axis_normalise(ctx, node, "axis", tensor_i64(axis->constant, 0), x->shape.rank, &ignored));
  return set_output_like(ctx, node, 0, 0);
}

/* The axis is an operand that may be known only at run time. */
static hone_status run_cumulative(struct ctx *ctx, const struct node *node,
                                  const struct tensor *const *in, const struct tensor *out,
                                  bool is_product) {
  const struct tensor *x = in[0];
  int axis = 0;
  TRY(axis_normalise(ctx, node, "axis", tensor_i64(in[1], 0), x->shape.rank, &axis));
  bool exclusive = node_int(node, "exclusive", 0) != 0, reverse = node_int(node, "reverse", 0) != 0;
  bool is_float = dtype_is_float(x->dtype);
  int64_t dim = x->shape.dims[axis], inner = dims_product(&x->shape, axis + 1, x->shape.rank);
  int64_t rows = dims_product(&x->shape, 0, axis) * inner;
  for (int64_t row = 0; row < rows; row++) {
    int64_t start = row / inner * dim * inner + row % inner;
    double total = is_product;
    uint64_t whole = is_product;
    for (int64_t step = 0; step < dim; step++) {
      size_t at = (size_t)(start + (reverse ? dim - 1 - step : step) * inner);
      double before = total;
      uint64_t whole_before = whole;
      if (is_float) {
        double v = tensor_f64(x, at);
        total = is_product ? total * v : total + v;
        tensor_set_f64(out, at, exclusive ? before : total);
      } else {
        uint64_t v = (uint64_t)tensor_i64(x, at);
        whole = is_product ? whole * v : whole + v;
        tensor_set_i64(out, at, (int64_t)(exclusive ? whole_before : whole));
      }
    }
  }
  return HONE_OK;
}

hone_status eval_cum_sum(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return run_cumulative(ctx, node, in, out[0], false);
}

hone_status eval_cum_prod(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  return run_cumulative(ctx, node, in, out[0], true);
}
