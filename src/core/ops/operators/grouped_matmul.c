/* GroupedMatMul, of domain hone: each group of rows times its own matrix, as in mixture-of-experts
 * layers.
 * y[r] = x[r] w[g], where ends[g - 1] <= r < ends[g]; rows after the last end are zero
 * x [rows, k] f32, w [groups, k, n] f32, ends [groups] i32 or i64, ascending, at most rows. y
 * [rows, n]. */
#include "core/ops/ops_internal.h"

hone_status infer_grouped_matmul(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *x = node->inputs[0], *w = node->inputs[1], *ends = node->inputs[2];
  TRY(want_rank(ctx, node, 0, 2));
  TRY(want_rank(ctx, node, 1, 3));
  TRY(want_rank(ctx, node, 2, 1));
  if (x->dtype != HONE_F32 || w->dtype != HONE_F32 ||
      (ends->dtype != HONE_I32 && ends->dtype != HONE_I64))
    return fail(ctx, HONE_E_TYPE, node_place(node), "rows are %s, matrices %s, ends %s",
                dtype_name(x->dtype), dtype_name(w->dtype), dtype_name(ends->dtype));
  if (w->shape.dims[1] != x->shape.dims[1] || ends->shape.dims[0] != w->shape.dims[0])
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "rows of %lld, %lld matrices of %lld rows, %lld ends", (long long)x->shape.dims[1],
                (long long)w->shape.dims[0], (long long)w->shape.dims[1],
                (long long)ends->shape.dims[0]);
  const struct shape shape = {2, {x->shape.dims[0], w->shape.dims[2]}};
  return set_output(ctx, node, 0, HONE_F32, &shape);
}

hone_status eval_grouped_matmul(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const int64_t rows = in[0]->shape.dims[0], k = in[0]->shape.dims[1];
  const int64_t groups = in[1]->shape.dims[0], n = in[1]->shape.dims[2];
  for (int64_t g = 0, row = 0; g <= groups; g++) {
    const int64_t end = g < groups ? tensor_i64(in[2], (size_t)g) : rows;
    if (end < row || end > rows)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "group %lld ends at %lld of %lld rows",
                  (long long)g, (long long)end, (long long)rows);
    for (; row < end; row++)
      for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < k && g < groups; i++)
          sum += tensor_f64(in[0], (size_t)(row * k + i)) *
                 tensor_f64(in[1], (size_t)((g * k + i) * n + j));
        tensor_set_f64(out[0], (size_t)(row * n + j), sum);
      }
  }
  return HONE_OK;
}
