/* Eliminate (hone): matrices [.., n, width], width at least n, by Gauss-Jordan elimination of the
 * first n columns with partial pivoting: [.., n, width], whose first n columns are the identity; or
 * (determinant = 1) the determinants of those, [..]. */
#include <math.h>

#include "core/ops/ops_internal.h"

hone_status infer_eliminate(struct ctx *ctx, struct graph *graph, struct node *node) {
  struct shape shape = node->inputs[0]->shape;
  const int rank = shape.rank;
  (void)graph;
  TRY(want_float(ctx, node, 0));
  TRY(want_rank_at_least(ctx, node, 0, 2));
  const int64_t n = shape.dims[rank - 2];
  if (n < 1 || shape.dims[rank - 1] < n)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "a matrix of %lld rows and %lld columns",
                (long long)n, (long long)shape.dims[rank - 1]);
  if (node_int(node, "determinant", 0)) shape.rank -= 2;
  return set_output(ctx, node, 0, node->inputs[0]->dtype, &shape);
}

/* Eliminates a [n][width] in place; returns its determinant, 0 as soon as a pivot is 0. */
static double eliminate(double *a, int64_t n, int64_t width, bool wants_rows) {
  double determinant = 1;
  for (int64_t k = 0; k < n; k++) {
    int64_t p = k;
    for (int64_t r = k + 1; r < n; r++)
      if (fabs(a[r * width + k]) > fabs(a[p * width + k])) p = r;
    for (int64_t j = 0; p != k && j < width; j++) {
      const double other = a[k * width + j];
      a[k * width + j] = a[p * width + j];
      a[p * width + j] = other;
    }
    const double pivot = a[k * width + k];
    determinant *= p == k ? pivot : -pivot;
    if (!wants_rows && pivot == 0) return 0;
    for (int64_t j = k; j < width; j++) a[k * width + j] /= pivot;
    for (int64_t r = wants_rows ? 0 : k + 1; r < n; r++) {
      const double by = a[r * width + k];
      for (int64_t j = k; r != k && j < width; j++) a[r * width + j] -= by * a[k * width + j];
    }
  }
  return determinant;
}

hone_status eval_eliminate(struct ctx *ctx, struct arena *scratch, const struct node *node,
                           const struct tensor *const *in, struct tensor *const *out) {
  const struct shape *shape = &in[0]->shape;
  const int64_t n = shape->dims[shape->rank - 2], width = shape->dims[shape->rank - 1];
  const bool wants_rows = !node_int(node, "determinant", 0);
  const size_t size = (size_t)(n * width), count = tensor_count(in[0]) / size;
  double *x;
  TRY(to_f64(ctx, scratch, in[0], &x));
  for (size_t m = 0; m < count; m++) {
    const double determinant = eliminate(x + m * size, n, width, wants_rows);
    if (wants_rows)
      write_f64(out[0], (int64_t)(m * size), size, x + m * size);
    else
      write_f64(out[0], (int64_t)m, 1, &determinant);
  }
  return HONE_OK;
}
