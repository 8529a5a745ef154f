/* SpMM, of domain hone: a sparse matrix in CSR form times rows (Saad, Iterative Methods for Sparse
 * Linear Systems, 3.4). Message passing over constant edges and sums over bags of embeddings are
 * fused into it (compiler/passes/fuse_edges.c).
 * y[u, ...] = sum over e in [starts[u], starts[u + 1]) of weights[edges[e], h] * x[sources[e], ...]
 * x [N, ...] f32; starts [M + 1] i32, constant, ascending from 0; sources [E] i32 or i64, negative
 * ones count from the end. Weights, if any: [E, ...] over the leading dimensions of x's rows,
 * followed by ones; edges [E] i32, constant, gives the weight of each edge. y [M, ...]. With
 * reduction = max, which has no weights, it is the largest of `start` and those rows, in order; a
 * NaN is kept. */
#include <math.h>

#include "view.h"

static bool is_max(const struct node *node) {
  return !strcmp(node_string(node, "reduction", "add"), "max");
}

static hone_status check_starts(struct ctx *ctx, const struct node *node, int64_t edges) {
  const struct tensor *starts = node->inputs[1]->constant;
  const size_t count = starts ? tensor_count(starts) : 0;
  bool is_sound = count && node->inputs[1]->dtype == HONE_I32 && node->inputs[1]->shape.rank == 1 &&
                  tensor_i64(starts, 0) == 0 && tensor_i64(starts, count - 1) == edges;
  for (size_t i = 1; i < count; i++) is_sound &= tensor_i64(starts, i) >= tensor_i64(starts, i - 1);
  return is_sound ? HONE_OK
                  : fail(ctx, HONE_E_SHAPE, node_place(node),
                         "starts are not row offsets of %lld rows", (long long)edges);
}

/* Weights of an edge: one per index of the leading dimensions of x's rows. */
static hone_status check_weights(struct ctx *ctx, const struct node *node, int64_t edges) {
  const struct value *x = node->inputs[0], *w = node_input(node, 3), *of = node_input(node, 4);
  if (!w && !of) return HONE_OK;
  bool is_sound = w && of && w->dtype == x->dtype && w->shape.rank == x->shape.rank &&
                  w->shape.dims[0] == edges && of->dtype == HONE_I32 && of->constant &&
                  of->shape.rank == 1 && of->shape.dims[0] == edges && edges > 0;
  for (int d = 1, is_lead = 1; is_sound && d < w->shape.rank; d++) {
    is_lead &= w->shape.dims[d] == x->shape.dims[d];
    is_sound = is_lead || w->shape.dims[d] == 1;
  }
  for (size_t i = 0; is_sound && i < tensor_count(of->constant); i++)
    is_sound = tensor_i64(of->constant, i) >= 0 && tensor_i64(of->constant, i) < edges;
  return is_sound
             ? HONE_OK
             : fail(ctx, HONE_E_SHAPE, node_place(node), "weights do not match the edges and rows");
}

hone_status infer_spmm(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0], *sources = node->inputs[2];
  if (x->dtype != HONE_F32 || (sources->dtype != HONE_I32 && sources->dtype != HONE_I64))
    return fail(ctx, HONE_E_TYPE, node_place(node), "rows are %s, sources %s", dtype_name(x->dtype),
                dtype_name(sources->dtype));
  if (x->shape.rank < 1 || x->shape.dims[0] < 1 || sources->shape.rank != 1)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "no rows, or sources of rank %d",
                sources->shape.rank);
  if (is_max(node) ? node_input(node, 3) != NULL
                   : strcmp(node_string(node, "reduction", "add"), "add") != 0)
    return fail(ctx, HONE_E_UNSUP, node_place(node),
                "a reduction other than add or unweighted max");
  TRY(check_starts(ctx, node, sources->shape.dims[0]));
  TRY(check_weights(ctx, node, sources->shape.dims[0]));
  struct shape shape = x->shape;
  shape.dims[0] = node->inputs[1]->shape.dims[0] - 1;
  return set_output(ctx, node, 0, x->dtype, &shape);
}

hone_status eval_spmm(struct ctx *ctx, struct arena *scratch, const struct node *node,
                      const struct tensor *const *in, struct tensor *const *out) {
  const size_t width = (size_t)dims_product(&in[0]->shape, 1, in[0]->shape.rank);
  const size_t rows = (size_t)out[0]->shape.dims[0], edges = tensor_count(in[2]);
  const bool has_weights = node_input(node, 3) != NULL;
  const size_t heads = has_weights ? tensor_count(in[3]) / edges : 1;
  const double start = is_max(node) ? node_float(node, "start", -INFINITY) : 0;
  double *sum;
  TRY(NEW_ARRAY(ctx, scratch, sum, width + 1));
  for (size_t u = 0; u < rows; u++) {
    for (size_t j = 0; j < width; j++) sum[j] = start;
    for (int64_t e = tensor_i64(in[1], u); e < tensor_i64(in[1], u + 1); e++) {
      int64_t at;
      TRY(node_index(ctx, node, tensor_i64(in[2], (size_t)e), in[0]->shape.dims[0], &at));
      const size_t own = has_weights ? (size_t)tensor_i64(in[4], (size_t)e) * heads : 0;
      for (size_t j = 0; j < width; j++) {
        const double weight = has_weights ? tensor_f64(in[3], own + j / (width / heads)) : 1;
        const double t = weight * tensor_f64(in[0], (size_t)at * width + j);
        if (!is_max(node))
          sum[j] += t;
        else if (!(sum[j] > t) && !isnan(sum[j]))
          sum[j] = t;
      }
    }
    for (size_t j = 0; j < width; j++) tensor_set_f64(out[0], u * width + j, sum[j]);
  }
  return HONE_OK;
}
