/* hone.ResizeInt: weighted mean of four neighbouring integer pixels, like TensorFlow Lite's
 * reference kernel of RESIZE_BILINEAR
 * (tensorflow/lite/kernels/internal/reference/resize_bilinear.h).
 *
 * x [n, c, h, w] of 8 or 16 bits; row positions i32[2, oh] (upper, lower), row weights [2, oh];
 * column positions i32[2, ow] (left, right), column weights [2, ow]; weights of one type. Result
 * [n, c, oh, ow] of x's type.
 * f32: x * row weight * column weight, added over (upper, left), (lower, left), (upper, right),
 * (lower, right); plus a half, truncated
 * i64: in 1/1024, so the sum is in 2^-20, halves rounded away from zero */
#include "core/ops/ops_internal.h"

#include <math.h>

static hone_status check_axis(struct ctx *ctx, const struct node *node, size_t places, int64_t size,
                              int64_t *out) {
  const struct value *at = node->inputs[places], *weights = node->inputs[places + 1];
  TRY(want_rank(ctx, node, places, 2));
  if (at->dtype != HONE_I32 || at->shape.dims[0] != 2)
    return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu is not i32[2,n]", places);
  if (!shape_equal(&at->shape, &weights->shape))
    return fail(ctx, HONE_E_SHAPE, node_place(node),
                "input %zu does not have a weight for each position", places + 1);
  const size_t count = at->constant ? tensor_count(at->constant) : 0;
  for (size_t i = 0; i < count; i++)
    if (tensor_i64(at->constant, i) < 0 || tensor_i64(at->constant, i) >= size)
      return fail(ctx, HONE_E_SHAPE, node_place(node), "input %zu: position %lld of %lld", places,
                  (long long)tensor_i64(at->constant, i), (long long)size);
  *out = at->shape.dims[1];
  return HONE_OK;
}

hone_status infer_resize_int(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const hone_dtype from = node->inputs[0]->dtype, weights = node->inputs[2]->dtype;
  TRY(want_rank(ctx, node, 0, 4));
  TRY(want_same_dtype(ctx, node, 2, 4));
  if ((from != HONE_U8 && from != HONE_I8 && from != HONE_I16) ||
      (weights != HONE_F32 && weights != HONE_I64))
    return fail(ctx, HONE_E_TYPE, node_place(node), "%s by weights of %s", dtype_name(from),
                dtype_name(weights));
  struct shape shape = node->inputs[0]->shape;
  TRY(check_axis(ctx, node, 1, shape.dims[2], &shape.dims[2]));
  TRY(check_axis(ctx, node, 3, shape.dims[3], &shape.dims[3]));
  return set_output(ctx, node, 0, from, &shape);
}

/* Floats may round the sum of a pixel's two weights: unsigned int8 also tolerates the half below
 * it. */
static bool is_whole(const struct node *node, double a, double b) {
  if (node->inputs[2]->dtype == HONE_I64) return a + b == 1024;
  return node->inputs[0]->dtype == HONE_U8 && fabs(a) + fabs(b) < 8 && fabs(a + b - 1) < 1e-5;
}

bool resize_int_copies(const struct node *node, size_t places, size_t i, int64_t *out_place) {
  const struct tensor *at = node->inputs[places]->constant,
                      *weights = node->inputs[places + 1]->constant;
  if (!at || !weights) return false;
  const size_t count = tensor_count(at) / 2;
  const double one = weights->dtype == HONE_I64 ? 1024 : 1;
  const double a = tensor_f64(weights, i), b = tensor_f64(weights, count + i);
  const int64_t first = tensor_i64(at, i), second = tensor_i64(at, count + i);
  *out_place = b == one && a == 0 ? second : first;
  return (a == one && b == 0) || (b == one && a == 0) || (first == second && is_whole(node, a, b));
}

/* One result element: its four neighbours with their weights by row and column. */
struct neighbours {
  const struct tensor *x;
  size_t at[2][2];
  double row[2], column[2];
};

static int64_t in_floats(const struct neighbours *n) {
  float sum = 0;
  for (int column = 0; column < 2; column++)
    for (int row = 0; row < 2; row++) {
      float part = (float)tensor_f64(n->x, n->at[row][column]) * (float)n->row[row];
      part *= (float)n->column[column];
      sum = row || column ? sum + part : part;
    }
  return (int64_t)(sum + 0.5f);
}

static int64_t in_fixed_point(const struct neighbours *n) {
  int64_t sum = 0;
  for (int column = 0; column < 2; column++)
    for (int row = 0; row < 2; row++)
      sum +=
          tensor_i64(n->x, n->at[row][column]) * (int64_t)n->row[row] * (int64_t)n->column[column];
  return (sum + ((sum > 0) - (sum < 0)) * (INT64_C(1) << 19)) / (INT64_C(1) << 20);
}

hone_status eval_resize_int(struct ctx *ctx, struct arena *scratch, const struct node *node,
                            const struct tensor *const *in, struct tensor *const *out) {
  (void)scratch;
  const struct shape *from = &in[0]->shape, *to = &out[0]->shape;
  const size_t h = (size_t)from->dims[2], w = (size_t)from->dims[3], count = tensor_count(out[0]);
  const size_t oh = (size_t)to->dims[2], ow = (size_t)to->dims[3];
  for (size_t i = 0; i < tensor_count(in[1]) + tensor_count(in[3]); i++) {
    const bool column = i >= tensor_count(in[1]);
    const int64_t at = tensor_i64(in[column ? 3 : 1], column ? i - tensor_count(in[1]) : i);
    if (at < 0 || at >= (int64_t)(column ? w : h))
      return fail(ctx, HONE_E_SHAPE, node_place(node), "position %lld", (long long)at);
  }
  for (size_t o = 0; o < count; o++) {
    const size_t plane = o / (oh * ow), y = o / ow % oh, x = o % ow;
    struct neighbours n = {.x = in[0]};
    for (size_t s = 0; s < 2; s++) {
      n.row[s] = tensor_f64(in[2], s * oh + y);
      n.column[s] = tensor_f64(in[4], s * ow + x);
      for (size_t t = 0; t < 2; t++)
        n.at[s][t] = (plane * h + (size_t)tensor_i64(in[1], s * oh + y)) * w +
                     (size_t)tensor_i64(in[3], t * ow + x);
    }
    tensor_set_i64(out[0], o, in[2]->dtype == HONE_F32 ? in_floats(&n) : in_fixed_point(&n));
  }
  return HONE_OK;
}
