/* pool: MaxPool, AveragePool, LpPool over sliding windows, and their global forms over the whole
 * spatial extent. Window by window in double. */
#include <math.h>

#include "helpers_double.h"
#include "window.h"

/* -- windows */

static hone_status infer_windows(struct ctx *ctx, const struct node *node, struct window *window) {
  const struct value *x = node->inputs[0];
  TRY(window_plan(ctx, node, &x->shape, NULL, window));
  for (int i = 0; i < window->rank; i++)
    if (window->pad_begin[i] >= window->kernel[i] * window->dilation[i] ||
        window->pad_end[i] >= window->kernel[i] * window->dilation[i])
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "pads along spatial axis %d reach the kernel's size", i);
  /* mostly padding: never a real model, but hours of work */
  double positions = 1, elements = 1;
  for (int i = 0; i < window->rank; i++)
    positions *= (double)window->kernel[i], elements *= (double)window->in[i];
  if (positions > 64 * (elements + 1024))
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "kernel_shape has %g positions for %g elements", positions, elements);
  struct shape out = window_shape(window, x->shape.dims[0], x->shape.dims[1]);
  return set_output(ctx, node, 0, x->dtype, &out);
}

hone_status infer_average_pool(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct window window;
  TRY(want_float(ctx, node, 0));
  return infer_windows(ctx, node, &window);
}

static hone_status read_p(struct ctx *ctx, const struct node *node, double *out) {
  int64_t p = node_int(node, "p", 2);
  if (p < 1 || p > 1024)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "p is %lld, expected 1 to 1024", (long long)p);
  *out = (double)p;
  return HONE_OK;
}

hone_status infer_lp_pool(struct ctx *ctx, struct graph *graph, struct node *node) {
  double p;
  TRY(read_p(ctx, node, &p));
  return infer_average_pool(ctx, graph, node);
}

hone_status infer_max_pool(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  struct window window;
  if (node->inputs[0]->dtype != HONE_I8 && node->inputs[0]->dtype != HONE_U8)
    TRY(want_float(ctx, node, 0));
  TRY(infer_windows(ctx, node, &window));
  struct shape out =
      window_shape(&window, node->inputs[0]->shape.dims[0], node->inputs[0]->shape.dims[1]);
  return set_output(ctx, node, 1, HONE_I64, &out);
}

struct pool {
  struct window window;
  const double *plane; /* one channel of one image */
  bool count_include_pad;
  double p;
  double lowest; /* of the element type */
  int64_t *best; /* MaxPool: offset of the maximum within the plane */
};
typedef double pool_fn(const struct pool *pool, const int64_t *o);

static double pool_max(const struct pool *pool, const int64_t *o) {
  double max = pool->lowest;
  int64_t k[HONE_MAX_RANK] = {0}, best = -1;
  do {
    int64_t offset = window_offset(&pool->window, o, k);
    if (offset < 0) continue;
    double x = pool->plane[offset];
    if (best < 0 || x > max || (isnan(x) && !isnan(max))) max = x, best = offset;
  } while (index_next(pool->window.rank, pool->window.kernel, k));
  *pool->best = best < 0 ? 0 : best;
  return max;
}

/* True if the kernel position is within input and padding. A ceil_mode window may extend past
 * both. */
static bool is_padded(const struct window *w, const int64_t *o, const int64_t *k) {
  for (int i = 0; i < w->rank; i++) {
    int64_t at = o[i] * w->stride[i] + k[i] * w->dilation[i] - w->pad_begin[i];
    if (at >= w->in[i] + w->pad_end[i]) return false;
  }
  return true;
}

static double pool_average(const struct pool *pool, const int64_t *o) {
  double sum = 0;
  int64_t k[HONE_MAX_RANK] = {0}, count = 0;
  do {
    int64_t offset = window_offset(&pool->window, o, k);
    if (offset >= 0) sum += pool->plane[offset];
    if (offset >= 0 || (pool->count_include_pad && is_padded(&pool->window, o, k))) count++;
  } while (index_next(pool->window.rank, pool->window.kernel, k));
  return count ? sum / (double)count : 0;
}

static double norm_term(double x, double p) {
  return p == 1 ? fabs(x) : p == 2 ? x * x : pow(fabs(x), p);
}
static double norm_root(double sum, double p) {
  return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

static double pool_lp(const struct pool *pool, const int64_t *o) {
  double sum = 0;
  int64_t k[HONE_MAX_RANK] = {0};
  do {
    int64_t offset = window_offset(&pool->window, o, k);
    if (offset >= 0) sum += norm_term(pool->plane[offset], pool->p);
  } while (index_next(pool->window.rank, pool->window.kernel, k));
  return norm_root(sum, pool->p);
}

/* Offset within a plane in column-major order (storage_order 1). */
static int64_t column_major(const struct window *w, int64_t offset) {
  int64_t index[HONE_MAX_RANK], result = 0;
  index_of(w->rank, w->in, offset, index);
  for (int i = w->rank - 1; i >= 0; i--) result = result * w->in[i] + index[i];
  return result;
}

static hone_status run_pool(struct ctx *ctx, struct arena *scratch, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out,
                            pool_fn *reduce) {
  struct pool pool = {.p = 2, .lowest = -INFINITY};
  int64_t best = 0;
  double *x;
  TRY(window_plan(ctx, node, &in[0]->shape, NULL, &pool.window));
  if (reduce == pool_lp) TRY(read_p(ctx, node, &pool.p));
  TRY(to_f64(ctx, scratch, in[0], &x));
  pool.count_include_pad = node_int(node, "count_include_pad", 0) != 0;
  if (in[0]->dtype == HONE_I8) pool.lowest = INT8_MIN;
  if (in[0]->dtype == HONE_U8) pool.lowest = 0;
  pool.best = &best;
  bool by_column = node_int(node, "storage_order", 0) != 0;
  const struct tensor *indices = node->output_count > 1 ? out[1] : NULL;
  int64_t planes = in[0]->shape.dims[0] * in[0]->shape.dims[1], at = 0;
  int64_t in_count = window_in_count(&pool.window);
  for (int64_t plane = 0; plane < planes; plane++) {
    int64_t o[HONE_MAX_RANK] = {0};
    pool.plane = x + plane * in_count;
    do {
      double y = reduce(&pool, o);
      if (out[0]) tensor_set_f64(out[0], (size_t)at, y);
      if (indices)
        tensor_set_i64(indices, (size_t)at,
                       plane * in_count + (by_column ? column_major(&pool.window, best) : best));
      at++;
    } while (index_next(pool.window.rank, pool.window.out, o));
  }
  return HONE_OK;
}

hone_status eval_max_pool(struct ctx *ctx, struct arena *scratch, const struct node *node,
                          const struct tensor *const *in, struct tensor *const *out) {
  return run_pool(ctx, scratch, node, in, out, pool_max);
}

hone_status eval_average_pool(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *const *in, struct tensor *const *out) {
  return run_pool(ctx, scratch, node, in, out, pool_average);
}

hone_status eval_lp_pool(struct ctx *ctx, struct arena *scratch, const struct node *node,
                         const struct tensor *const *in, struct tensor *const *out) {
  return run_pool(ctx, scratch, node, in, out, pool_lp);
}

/* -- global */

hone_status infer_global_pool(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  double p;
  TRY(want_float(ctx, node, 0));
  TRY(want_rank_at_least(ctx, node, 0, 2));
  TRY(read_p(ctx, node, &p));
  struct shape out = node->inputs[0]->shape;
  for (int i = 2; i < out.rank; i++) out.dims[i] = 1;
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &out);
}

enum global { GLOBAL_AVERAGE, GLOBAL_MAX, GLOBAL_LP };

static double reduce_plane(enum global kind, const double *x, int64_t count, double p) {
  double max = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    if (kind == GLOBAL_MAX) max = max_(max, x[i]);
    if (kind == GLOBAL_AVERAGE) sum += x[i];
    if (kind == GLOBAL_LP) sum += norm_term(x[i], p);
  }
  if (kind == GLOBAL_MAX) return max;
  return kind == GLOBAL_AVERAGE ? sum / (double)count : norm_root(sum, p);
}

static hone_status run_global(struct ctx *ctx, struct arena *scratch, const struct node *node,
                              const struct tensor *x, const struct tensor *out, enum global kind) {
  double p, *values;
  TRY(read_p(ctx, node, &p));
  TRY(to_f64(ctx, scratch, x, &values));
  int64_t planes = dims_product(&x->shape, 0, 2), count = dims_product(&x->shape, 2, x->shape.rank);
  for (int64_t i = 0; i < planes; i++)
    tensor_set_f64(out, (size_t)i, reduce_plane(kind, values + i * count, count, p));
  return HONE_OK;
}

hone_status eval_global_average_pool(struct ctx *ctx, struct arena *scratch,
                                     const struct node *node, const struct tensor *const *in,
                                     struct tensor *const *out) {
  return run_global(ctx, scratch, node, in[0], out[0], GLOBAL_AVERAGE);
}

hone_status eval_global_max_pool(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                 const struct tensor *const *in, struct tensor *const *out) {
  return run_global(ctx, scratch, node, in[0], out[0], GLOBAL_MAX);
}

hone_status eval_global_lp_pool(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  return run_global(ctx, scratch, node, in[0], out[0], GLOBAL_LP);
}
