/* pt2_contract: ATen's products, convolutions, pools, reductions and normalisations. */
#include "pt2.h"

#include <math.h>

/* -- products ---- */

hone_status build_linear(struct pt_op *op) {
  static const int64_t turn[] = {1, 0};
  struct value *x, *w, *b, *y;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "weight", &w));
  TRY(pt_tensor(op, "bias", &b));
  if (w->shape.rank != 2) return pt_refuse(op, "weights of rank %d", w->shape.rank);
  if (x->shape.rank == 2) {
    TRY(make_node(op->make, OP_Gemm, VALUES(x, w, b), ARGS(INT_ARG("transB", 1)), &y));
    return pt_result(op, 0, y);
  }
  TRY(make_transpose(op->make, w, turn, &w));
  TRY(make_node(op->make, OP_MatMul, VALUES(x, w), NULL, &y));
  if (b) TRY(make_node(op->make, OP_Add, VALUES(y, b), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_matmul(struct pt_op *op) {
  struct value *x, *y, *z;
  bool is_mm = pt_given(op, "mat2");
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, is_mm ? "mat2" : "other", &y));
  TRY(make_node(op->make, OP_MatMul, VALUES(x, y), NULL, &z));
  return pt_result(op, 0, z);
}

hone_status build_addmm(struct pt_op *op) {
  struct value *bias, *a, *b, *y;
  double beta, alpha;
  TRY(pt_need(op, "self", &bias));
  TRY(pt_need(op, "mat1", &a));
  TRY(pt_need(op, "mat2", &b));
  TRY(pt_float(op, "beta", 1, &beta));
  TRY(pt_float(op, "alpha", 1, &alpha));
  TRY(make_node(op->make, OP_Gemm, VALUES(a, b, bias),
                ARGS(FLOAT_ARG("alpha", alpha), FLOAT_ARG("beta", beta)), &y));
  return pt_result(op, 0, y);
}

/* softmax(q k' * scale + mask) v */
hone_status build_attention(struct pt_op *op) {
  struct value *q, *k, *v, *mask, *y;
  double scale;
  int64_t causal, perm[HONE_MAX_RANK];
  TRY(pt_need(op, "query", &q));
  TRY(pt_need(op, "key", &k));
  TRY(pt_need(op, "value", &v));
  TRY(pt_tensor(op, "attn_mask", &mask));
  TRY(pt_int(op, "is_causal", 0, &causal));
  int rank = k->shape.rank;
  if (rank < 2 || causal || (mask && !dtype_is_float(mask->dtype)))
    return pt_refuse(op, "with this mask");
  TRY(pt_float(op, "scale", 1 / sqrt((double)q->shape.dims[q->shape.rank - 1]), &scale));
  for (int d = 0; d < rank; d++) perm[d] = d;
  perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
  TRY(make_transpose(op->make, k, perm, &k));
  TRY(make_node(op->make, OP_MatMul, VALUES(q, k), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Mul, y, scale, &y));
  if (mask) TRY(make_node(op->make, OP_Add, VALUES(y, mask), NULL, &y));
  TRY(make_node(op->make, OP_Softmax, VALUES(y), ARGS(INT_ARG("axis", -1)), &y));
  TRY(make_node(op->make, OP_MatMul, VALUES(y, v), NULL, &y));
  return pt_result(op, 0, y);
}

/* -- windows ---- */

/* One number stands for all spatial dimensions. */
static hone_status read_spatial(struct pt_op *op, const char *name, int64_t otherwise, size_t n,
                                int64_t *out) {
  size_t count;
  TRY(pt_ints(op, name, n, out, &count));
  if (count != 0 && count != 1 && count != n)
    return pt_refuse(op, "%s of %zu for %zu dimensions", name, count, n);
  for (size_t i = count; i < n; i++) out[i] = count ? out[0] : otherwise;
  return HONE_OK;
}

static void both_sides(int64_t *pads, size_t n) {
  for (size_t i = 0; i < n; i++) pads[n + i] = pads[i];
}

/* "same" pads so that the size stays, the odd element behind; "valid" not at all. */
static hone_status read_padding(struct pt_op *op, const struct value *w, const int64_t *dilations,
                                size_t n, int64_t *pads) {
  const char *word;
  TRY(pt_text(op, "padding", "", &word));
  if (!*word) {
    TRY(read_spatial(op, "padding", 0, n, pads));
    both_sides(pads, n);
    return HONE_OK;
  }
  for (size_t i = 0; i < n; i++) {
    int64_t total = !strcmp(word, "same") ? (w->shape.dims[2 + i] - 1) * dilations[i] : 0;
    pads[i] = total / 2;
    pads[n + i] = total - total / 2;
  }
  return HONE_OK;
}

hone_status build_conv(struct pt_op *op) { /* conv1d, conv2d, conv3d, convolution */
  struct value *x, *w, *b, *y;
  int64_t strides[HONE_MAX_RANK], dilations[HONE_MAX_RANK], pads[2 * HONE_MAX_RANK];
  int64_t outside[HONE_MAX_RANK], groups, transposed;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "weight", &w));
  TRY(pt_tensor(op, "bias", &b));
  TRY(pt_int(op, "groups", 1, &groups));
  TRY(pt_int(op, "transposed", op->parameter, &transposed));
  if (w->shape.rank < 3 || w->shape.rank != x->shape.rank)
    return pt_refuse(op, "weights of rank %d, an input of rank %d", w->shape.rank, x->shape.rank);
  size_t n = (size_t)w->shape.rank - 2;
  TRY(read_spatial(op, "stride", 1, n, strides));
  TRY(read_spatial(op, "dilation", 1, n, dilations));
  TRY(read_spatial(op, "output_padding", 0, n, outside));
  TRY(read_padding(op, w, dilations, n, pads));
  const struct arg args[] = {
      INTS_ARG("strides", strides, n),
      INTS_ARG("dilations", dilations, n),
      INTS_ARG("pads", pads, 2 * n),
      INT_ARG("group", groups),
      {.name = transposed ? "output_padding" : NULL, .kind = ARG_INTS, .ints = outside, .count = n},
      {.name = NULL}};
  TRY(make_node(op->make, transposed ? OP_ConvTranspose : OP_Conv, VALUES(x, w, b), args, &y));
  return pt_result(op, 0, y);
}

hone_status build_pool(struct pt_op *op) { /* parameter: 0 average, 1 max */
  struct value *x, *y;
  int64_t kernel[HONE_MAX_RANK], strides[HONE_MAX_RANK], pads[2 * HONE_MAX_RANK];
  int64_t dilations[HONE_MAX_RANK], ceil, include;
  TRY(pt_need(op, "self", &x));
  size_t n = strstr(op->target, "1d") ? 1 : strstr(op->target, "3d") ? 3 : 2;
  if (x->shape.rank != (int)n + 2) return pt_refuse(op, "of rank %d", x->shape.rank);
  TRY(read_spatial(op, "kernel_size", 1, n, kernel));
  TRY(read_spatial(op, "stride", 0, n, strides));
  for (size_t i = 0; i < n; i++) strides[i] = strides[i] ? strides[i] : kernel[i];
  TRY(read_spatial(op, "padding", 0, n, pads));
  both_sides(pads, n);
  TRY(read_spatial(op, "dilation", 1, n, dilations));
  TRY(pt_int(op, "ceil_mode", 0, &ceil));
  TRY(pt_int(op, "count_include_pad", 1, &include));
  if (pt_given(op, "divisor_override")) return pt_refuse(op, "divisor_override");
  if (pt_result_count(op) > 1) return pt_refuse(op, "with indices");
  const struct arg args[] = {
      INTS_ARG("kernel_shape", kernel, n),
      INTS_ARG("strides", strides, n),
      INTS_ARG("pads", pads, 2 * n),
      INT_ARG("ceil_mode", ceil),
      INTS_ARG("dilations", dilations, n),
      {.name = op->parameter ? NULL : "count_include_pad", .kind = ARG_INT, .i = include},
      {.name = NULL}};
  TRY(make_node(op->make, op->parameter ? OP_MaxPool : OP_AveragePool, VALUES(x), args, &y));
  return pt_result(op, 0, y);
}

/* Windows of equal size where the result divides the input. */
hone_status build_adaptive_pool(struct pt_op *op) {
  struct value *x, *y;
  int64_t size[HONE_MAX_RANK], kernel[HONE_MAX_RANK];
  TRY(pt_need(op, "self", &x));
  size_t n = strstr(op->target, "1d") ? 1 : 2;
  TRY(read_spatial(op, "output_size", 1, n, size));
  if (x->shape.rank != (int)n + 2) return pt_refuse(op, "of rank %d", x->shape.rank);
  for (size_t i = 0; i < n; i++) {
    int64_t dim = x->shape.dims[2 + i];
    if (size[i] < 1 || dim % size[i])
      return pt_refuse(op, "%lld from %lld", (long long)size[i], (long long)dim);
    kernel[i] = dim / size[i];
  }
  TRY(make_node(op->make, op->parameter ? OP_MaxPool : OP_AveragePool, VALUES(x),
                ARGS(INTS_ARG("kernel_shape", kernel, n), INTS_ARG("strides", kernel, n)), &y));
  return pt_result(op, 0, y);
}

/* -- reductions and normalisations ---- */

hone_status build_reduce(struct pt_op *op) {
  struct value *x, *axes, *y;
  int64_t list[HONE_MAX_RANK], keep, dtype;
  size_t count;
  TRY(pt_need(op, "self", &x));
  TRY(pt_ints(op, "dim", HONE_MAX_RANK, list, &count));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "dtype %lld", (long long)dtype);
  if (dtype >= 0) TRY(make_cast(op->make, x, pt_dtype(dtype), &x));
  TRY(make_ints(op->make, list, count, &axes)); /* none: all */
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x, axes),
                ARGS(INT_ARG("keepdims", keep)), &y));
  return pt_result(op, 0, y);
}

hone_status build_arg(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, keep;
  TRY(pt_need(op, "self", &x));
  if (!pt_given(op, "dim")) return pt_refuse(op, "without dim");
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x),
                ARGS(INT_ARG("axis", axis), INT_ARG("keepdims", keep)), &y));
  return pt_result(op, 0, y);
}

hone_status build_softmax(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, dtype;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", -1, x->shape.rank, &axis));
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "dtype %lld", (long long)dtype);
  if (dtype >= 0) TRY(make_cast(op->make, x, pt_dtype(dtype), &x));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x), ARGS(INT_ARG("axis", axis)), &y));
  return pt_result(op, 0, y);
}

static hone_status ones_or(struct pt_op *op, const char *name, const struct shape *shape, double x,
                           struct value **out) {
  struct value *scalar, *dims;
  TRY(pt_tensor(op, name, out));
  if (*out) return HONE_OK;
  TRY(make_scalar(op->make, HONE_F32, x, &scalar));
  TRY(make_ints(op->make, shape->dims, (size_t)shape->rank, &dims));
  return make_node(op->make, OP_Expand, VALUES(scalar, dims), NULL, out);
}

hone_status build_layer_norm(struct pt_op *op) {
  struct value *x, *scale, *bias, *y;
  struct shape shape = {0};
  size_t count;
  double epsilon;
  TRY(pt_need(op, "input", &x));
  TRY(pt_ints(op, "normalized_shape", HONE_MAX_RANK, shape.dims, &count));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  shape.rank = (int)count;
  TRY(ones_or(op, "weight", &shape, 1, &scale));
  TRY(pt_tensor(op, "bias", &bias));
  TRY(make_node(op->make, OP_LayerNormalization, VALUES(x, scale, bias),
                ARGS(INT_ARG("axis", -(int64_t)count), FLOAT_ARG("epsilon", epsilon)), &y));
  return pt_result(op, 0, y);
}

hone_status build_batch_norm(struct pt_op *op) {
  struct value *x, *scale, *bias, *mean, *variance, *y;
  double epsilon;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "running_mean", &mean));
  TRY(pt_need(op, "running_var", &variance));
  TRY(ones_or(op, "weight", &mean->shape, 1, &scale));
  TRY(ones_or(op, "bias", &mean->shape, 0, &bias));
  TRY(pt_float(op, "eps", 1e-5, &epsilon));
  TRY(make_node(op->make, OP_BatchNormalization, VALUES(x, scale, bias, mean, variance),
                ARGS(FLOAT_ARG("epsilon", epsilon)), &y));
  return pt_result(op, 0, y);
}
