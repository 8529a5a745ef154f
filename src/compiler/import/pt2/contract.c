/* contract: ATen's matmuls, convolutions and reductions. */
#include "pt2.h"

#include <math.h>

/* -- matmuls */

hone_status build_linear(struct pt_op *op) {
  static const int64_t turn[] = {1, 0};
  struct value *x, *w, *b, *y;
  TRY(pt_need(op, "input", &x));
  TRY(pt_need(op, "weight", &w));
  TRY(pt_tensor(op, "bias", &b));
  if (w->shape.rank != 2) return pt_refuse(op, "with weights of rank %d", w->shape.rank);
  if (x->shape.rank == 2) {
    TRY(make_node(op->make, OP_Gemm, VALUES(x, w, b), ARGS(INT_ARG("transB", 1)), &y));
    return pt_result(op, 0, y);
  }
  TRY(make_transpose(op->make, w, turn, &w));
  TRY(make_node(op->make, OP_MatMul, VALUES(x, w), NULL, &y));
  if (b) TRY(make_node(op->make, OP_Add, VALUES(y, b), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_matmul(struct pt_op *op) { /* matmul, mm, bmm, mv, dot */
  static const char *const names[] = {"other", "mat2", "vec", "tensor"}; /* vdot: other */
  struct value *x, *y, *z;
  size_t i = 0;
  while (i + 1 < COUNT(names) && !pt_given(op, names[i])) i++;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, names[i], &y));
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

/* true where a query may attend to a key: at the same position or before it */
static hone_status causal_mask(struct pt_op *op, int64_t rows, int64_t columns,
                               struct value **out) {
  struct shape shape = {.rank = 2, .dims = {rows, columns}};
  double *numbers;
  int64_t count = 0;
  if (!checked_mul(rows, columns, &count)) return pt_refuse(op, "of this size");
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, numbers, (size_t)count));
  for (int64_t i = 0; i < count; i++) numbers[i] = i % columns <= i / columns;
  return make_numbers(op->make, HONE_BOOL, &shape, numbers, out);
}

/* Repeats each head of k or v. */
static hone_status repeat_heads(struct pt_op *op, const struct value *q, struct value **k) {
  int rank = (*k)->shape.rank;
  int64_t dims[HONE_MAX_RANK], axis = rank - 3;
  if (axis < 0 || rank + 1 > HONE_MAX_RANK || q->shape.rank != rank)
    return pt_refuse(op, "of rank %d", rank);
  int64_t heads = (*k)->shape.dims[axis], wanted = q->shape.dims[axis];
  if (heads == wanted) return HONE_OK;
  if (!heads || wanted % heads) return pt_refuse(op, "with %lld heads", (long long)heads);
  for (int d = 0; d <= rank; d++)
    dims[d] = d == axis + 1 ? 1 : (*k)->shape.dims[d <= axis ? d : d - 1];
  TRY(make_reshape(op->make, *k, dims, (size_t)rank + 1, k));
  dims[axis + 1] = wanted / heads;
  TRY(make_expand(op->make, *k, dims, (size_t)rank + 1, k));
  memmove(&dims[axis + 1], &dims[axis + 2], (size_t)(rank - axis - 1) * sizeof *dims);
  dims[axis] = wanted;
  return make_reshape(op->make, *k, dims, (size_t)rank, k);
}

static hone_status mask_scores(struct pt_op *op, struct value *mask, struct value **y) {
  struct value *never;
  if (dtype_is_float(mask->dtype)) {
    TRY(make_cast(op->make, mask, (*y)->dtype, &mask));
    return make_node(op->make, OP_Add, VALUES(*y, mask), NULL, y);
  }
  TRY(make_scalar(op->make, (*y)->dtype, -INFINITY, &never));
  return make_node(op->make, OP_Where, VALUES(mask, *y, never), NULL, y);
}

/* Queries without a visible key get zeros. */
static hone_status clear(struct pt_op *op, struct value **y) {
  struct value *is_nan, *zero;
  TRY(make_scalar(op->make, (*y)->dtype, 0, &zero));
  TRY(make_node(op->make, OP_IsNaN, VALUES(*y), NULL, &is_nan));
  return make_node(op->make, OP_Where, VALUES(is_nan, zero, *y), NULL, y);
}

/* softmax(q k' * scale + mask) v */
hone_status build_attention(struct pt_op *op) {
  struct value *q, *k, *v, *mask, *y;
  double scale;
  int64_t causal, grouped, perm[HONE_MAX_RANK];
  TRY(pt_need(op, "query", &q));
  TRY(pt_need(op, "key", &k));
  TRY(pt_need(op, "value", &v));
  TRY(pt_tensor(op, "attn_mask", &mask));
  TRY(pt_int(op, "is_causal", 0, &causal));
  TRY(pt_int(op, "enable_gqa", 0, &grouped));
  int rank = k->shape.rank;
  if (rank < 2 || q->shape.rank < 2) return pt_refuse(op, "of rank %d", rank);
  if (grouped) TRY(repeat_heads(op, q, &k));
  if (grouped) TRY(repeat_heads(op, q, &v));
  if (causal)
    TRY(causal_mask(op, q->shape.dims[q->shape.rank - 2], k->shape.dims[rank - 2], &mask));
  TRY(pt_float(op, "scale", 1 / sqrt((double)q->shape.dims[q->shape.rank - 1]), &scale));
  for (int d = 0; d < rank; d++) perm[d] = d;
  perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
  TRY(make_transpose(op->make, k, perm, &k));
  TRY(make_node(op->make, OP_MatMul, VALUES(q, k), NULL, &y));
  TRY(make_with_scalar(op->make, OP_Mul, y, scale, &y));
  if (mask) TRY(mask_scores(op, mask, &y));
  TRY(make_node(op->make, OP_Softmax, VALUES(y), ARGS(INT_ARG("axis", -1)), &y));
  if (mask) TRY(clear(op, &y));
  TRY(make_node(op->make, OP_MatMul, VALUES(y, v), NULL, &y));
  return pt_result(op, 0, y);
}

/* beta * self + alpha * a matmul: baddbmm, addmv (parameter 1), addr (2), addbmm (3: the sum over
 * the batch) */
hone_status build_add_product(struct pt_op *op) {
  static const char *const names[][2] = {
      {"batch1", "batch2"}, {"mat", "vec"}, {"vec1", "vec2"}, {"batch1", "batch2"}};
  static const int64_t column[] = {-1, 1}, row[] = {1, -1}, first[] = {0};
  struct value *bias, *a, *b, *y, *axes;
  double beta, alpha;
  TRY(pt_need(op, "self", &bias));
  TRY(pt_need(op, names[op->parameter][0], &a));
  TRY(pt_need(op, names[op->parameter][1], &b));
  TRY(pt_float(op, "beta", 1, &beta));
  TRY(pt_float(op, "alpha", 1, &alpha));
  if (op->parameter == 2) {
    TRY(make_reshape(op->make, a, column, 2, &a));
    TRY(make_reshape(op->make, b, row, 2, &b));
  }
  TRY(make_node(op->make, OP_MatMul, VALUES(a, b), NULL, &y));
  if (op->parameter == 3) {
    TRY(make_ints(op->make, first, 1, &axes));
    TRY(make_node(op->make, OP_ReduceSum, VALUES(y, axes), ARGS(INT_ARG("keepdims", 0)), &y));
  }
  if (alpha != 1) TRY(make_with_scalar(op->make, OP_Mul, y, alpha, &y));
  if (beta != 1) TRY(make_with_scalar(op->make, OP_Mul, bias, beta, &bias));
  if (beta != 0) TRY(make_node(op->make, OP_Add, VALUES(bias, y), NULL, &y));
  return pt_result(op, 0, y);
}

/* A column times a row. */
hone_status build_outer(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "vec2", &y));
  if (x->shape.rank != 1) return pt_refuse(op, "of rank %d", x->shape.rank);
  TRY(make_reshape(op->make, x, (int64_t[]){x->shape.dims[0], 1}, 2, &x));
  TRY(make_node(op->make, OP_Mul, VALUES(x, y), NULL, &y));
  return pt_result(op, 0, y);
}

hone_status build_einsum(struct pt_op *op) {
  struct value *list[8], *y;
  size_t count;
  const char *equation;
  TRY(pt_text(op, "equation", "", &equation));
  TRY(pt_tensors(op, "tensors", COUNT(list), list, &count));
  TRY(make_node(op->make, OP_Einsum, list, count, ARGS(STRING_ARG("equation", equation)), &y));
  return pt_result(op, 0, y);
}

/* -- convolutions */

hone_status pt_spatial(struct pt_op *op, const char *name, int64_t otherwise, size_t n,
                       int64_t *out) {
  size_t count;
  TRY(pt_ints(op, name, n, out, &count));
  if (count != 0 && count != 1 && count != n)
    return pt_refuse(op, "with %s of %zu entries for %zu dimensions", name, count, n);
  for (size_t i = count; i < n; i++) out[i] = count ? out[0] : otherwise;
  return HONE_OK;
}

/* "same" pads so that the size stays, the odd element at the end; "valid" does not pad. */
static hone_status read_padding(struct pt_op *op, const struct value *w, const int64_t *dilations,
                                size_t n, int64_t *pads) {
  const char *word;
  if (!json_is_string(pt_argument(op, "padding"))) {
    TRY(pt_spatial(op, "padding", 0, n, pads));
    memcpy(pads + n, pads, n * sizeof *pads);
    return HONE_OK;
  }
  TRY(pt_text(op, "padding", "", &word));
  if (strcmp(word, "same") && strcmp(word, "valid"))
    return pt_refuse(op, "with argument padding \"%.32s\"", word);
  for (size_t i = 0; i < n; i++) {
    int64_t total = 0;
    if (*word == 's' && !checked_mul(w->shape.dims[2 + i] - 1, dilations[i], &total))
      return pt_refuse(op, "with dilation %lld", (long long)dilations[i]);
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
  if (w->shape.rank == x->shape.rank + 1) TRY(pt_lift(op, &x));
  if (w->shape.rank < 3 || w->shape.rank != x->shape.rank)
    return pt_refuse(op, "with weights of rank %d and an input of rank %d", w->shape.rank,
                     x->shape.rank);
  size_t n = (size_t)w->shape.rank - 2;
  TRY(pt_spatial(op, "stride", 1, n, strides));
  TRY(pt_spatial(op, "dilation", 1, n, dilations));
  TRY(pt_spatial(op, "output_padding", 0, n, outside));
  TRY(read_padding(op, w, dilations, n, pads));
  const struct arg args[] = {
      INTS_ARG("strides", strides, n),
      INTS_ARG("dilations", dilations, n),
      INTS_ARG("pads", pads, 2 * n),
      INT_ARG("group", groups),
      {.name = transposed ? "output_padding" : NULL, .kind = ARG_INTS, .ints = outside, .count = n},
      {.name = NULL}};
  const hone_dtype dtype = x->dtype;
  if (!dtype_is_float(dtype)) { /* exact up to 2^53 */
    TRY(make_cast(op->make, x, HONE_F64, &x));
    TRY(make_cast(op->make, w, HONE_F64, &w));
    if (b) TRY(make_cast(op->make, b, HONE_F64, &b));
  }
  TRY(make_node(op->make, transposed ? OP_ConvTranspose : OP_Conv, VALUES(x, w, b), args, &y));
  TRY(make_cast(op->make, y, dtype, &y));
  return pt_result(op, 0, y);
}

hone_status pt_multiply_axis(struct pt_op *op, int axis, int64_t size, const double *weights,
                             struct value **x) {
  const int rank = (*x)->shape.rank;
  int64_t perm[HONE_MAX_RANK];
  struct value *matrix;
  const struct shape shape = {.rank = 2, .dims = {(*x)->shape.dims[axis], size}};
  TRY(make_numbers(op->make, (*x)->dtype, &shape, weights, &matrix));
  for (int d = 0; d < rank; d++) perm[d] = d;
  perm[axis] = rank - 1, perm[rank - 1] = axis;
  TRY(make_transpose(op->make, *x, perm, x));
  TRY(make_node(op->make, OP_MatMul, VALUES(*x, matrix), NULL, x));
  return make_transpose(op->make, *x, perm, x);
}

/* -- reductions */

/* Sums and products of integers are 64-bit. */
static hone_status summand(struct pt_op *op, struct value **x) {
  int64_t dtype;
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "with dtype %lld", (long long)dtype);
  if (dtype >= 0) return make_cast(op->make, *x, pt_dtype(dtype), x);
  bool adds = op->parameter == OP_ReduceSum || op->parameter == OP_ReduceProd ||
              op->parameter == OP_CumSum || op->parameter == OP_CumProd;
  return adds && !dtype_is_float((*x)->dtype) ? make_cast(op->make, *x, HONE_I64, x) : HONE_OK;
}

/* Argument dim as a list of axes, in [0, rank); absent: all. */
static hone_status read_axes(struct pt_op *op, const struct value *x, struct value **out,
                             int64_t *out_elements) {
  int64_t list[HONE_MAX_RANK], elements = 1;
  size_t count = 0;
  if (json_is_array(pt_argument(op, "dim"))) {
    TRY(pt_ints(op, "dim", HONE_MAX_RANK, list, &count));
  } else if (pt_given(op, "dim")) {
    TRY(pt_int(op, "dim", 0, &list[0]));
    count = 1;
  }
  for (size_t i = 0; i < count; i++) {
    TRY(pt_axis_of(op, list[i], x->shape.rank, &list[i]));
    if (x->shape.rank && !checked_mul(elements, x->shape.dims[list[i]], &elements)) elements = 0;
  }
  if (!count) elements = make_elements(x);
  if (!x->shape.rank) count = 0;
  if (out_elements) *out_elements = elements;
  return make_ints(op->make, list, count, out);
}

hone_status build_reduce(struct pt_op *op) {
  struct value *x, *axes, *y;
  int64_t keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(summand(op, &x));
  if (op->parameter == OP_ReduceLogSumExp && !dtype_is_float(x->dtype))
    TRY(make_cast(op->make, x, HONE_F32, &x));
  TRY(read_axes(op, x, &axes, NULL));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x, axes),
                ARGS(INT_ARG("keepdims", keep)), &y));
  return pt_result(op, 0, y);
}

/* nansum; nanmean (parameter 1): over the elements that are not NaN. */
hone_status build_number_sum(struct pt_op *op) {
  struct value *x, *axes, *is_nan, *zero, *y, *count;
  int64_t keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  if (!dtype_is_float(x->dtype)) {
    op->parameter = op->parameter ? OP_ReduceMean : OP_ReduceSum;
    return build_reduce(op);
  }
  const struct arg *args = ARGS(INT_ARG("keepdims", keep));
  TRY(make_node(op->make, OP_IsNaN, VALUES(x), NULL, &is_nan));
  TRY(make_scalar(op->make, x->dtype, 0, &zero));
  TRY(make_node(op->make, OP_Where, VALUES(is_nan, zero, x), NULL, &y));
  const bool is_mean = op->parameter;
  op->parameter = OP_ReduceSum;
  TRY(summand(op, &y));
  TRY(read_axes(op, x, &axes, NULL));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(y, axes), args, &y));
  if (!is_mean) return pt_result(op, 0, y);
  TRY(make_node(op->make, OP_Not, VALUES(is_nan), NULL, &count));
  TRY(make_cast(op->make, count, y->dtype, &count));
  TRY(make_node(op->make, OP_ReduceSum, VALUES(count, axes), args, &count));
  TRY(make_node(op->make, OP_Div, VALUES(y, count), NULL, &y));
  return pt_result(op, 0, y);
}

/* any (ReduceMax), all (ReduceMin) of booleans; a uint8 input gives a uint8 result */
hone_status build_reduce_truth(struct pt_op *op) {
  struct value *x, *axes, *y;
  int64_t keep;
  TRY(pt_need(op, "self", &x));
  const hone_dtype dtype = x->dtype == HONE_U8 ? HONE_U8 : HONE_BOOL;
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(make_cast(op->make, x, HONE_BOOL, &x));
  TRY(read_axes(op, x, &axes, NULL));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x, axes),
                ARGS(INT_ARG("keepdims", keep)), &y));
  TRY(make_cast(op->make, y, dtype, &y));
  return pt_result(op, 0, y);
}

/* The largest or smallest along a dimension, and its index. */
hone_status build_extreme(struct pt_op *op) {
  struct value *x, *axes, *y, *at;
  int64_t axis, keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "keepdim", 0, &keep));
  if (!x->shape.rank) return pt_refuse(op, "of rank 0");
  TRY(make_ints(op->make, &axis, 1, &axes));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x, axes),
                ARGS(INT_ARG("keepdims", keep)), &y));
  TRY(pt_result(op, 0, y));
  if (!pt_is_read(op, 1)) return HONE_OK;
  TRY(make_node(op->make, op->parameter == OP_ReduceMax ? OP_ArgMax : OP_ArgMin, VALUES(x),
                ARGS(INT_ARG("axis", axis), INT_ARG("keepdims", keep)), &at));
  return pt_result(op, 1, at);
}

/* aminmax: the smallest and the largest, of all or along a dimension. */
hone_status build_both_extremes(struct pt_op *op) {
  static const enum op_id ids[] = {OP_ReduceMin, OP_ReduceMax};
  struct value *x, *axes, *y;
  int64_t keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(read_axes(op, x, &axes, NULL));
  for (size_t k = 0; k < 2; k++) {
    TRY(make_node(op->make, ids[k], VALUES(x, axes), ARGS(INT_ARG("keepdims", keep)), &y));
    TRY(pt_result(op, k, y));
  }
  return HONE_OK;
}

/* Sums of squared differences from the mean, divided by n - correction; parameter: 1 the root of
 * it, 2 with the mean, 3 both */
hone_status build_variance(struct pt_op *op) {
  struct value *x, *axes, *mean, *y;
  int64_t keep, elements;
  double correction = 1, unbiased;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(pt_float(op, "unbiased", 1, &unbiased));
  TRY(pt_float(op, "correction", unbiased != 0, &correction));
  TRY(read_axes(op, x, &axes, &elements));
  TRY(make_node(op->make, OP_ReduceMean, VALUES(x, axes), ARGS(INT_ARG("keepdims", 1)), &mean));
  TRY(make_node(op->make, OP_Sub, VALUES(x, mean), NULL, &y));
  TRY(make_node(op->make, OP_ReduceSumSquare, VALUES(y, axes), ARGS(INT_ARG("keepdims", keep)),
                &y));
  double count = fmax(0, (double)elements - correction);
  TRY(make_with_scalar(op->make, OP_Div, y, count, &y));
  if (op->parameter & 1) TRY(make_node(op->make, OP_Sqrt, VALUES(y), NULL, &y));
  TRY(pt_result(op, 0, y));
  if (!(op->parameter & 2) || !pt_is_read(op, 1)) return HONE_OK;
  if (!keep) TRY(make_reshape(op->make, mean, y->shape.dims, (size_t)y->shape.rank, &mean));
  return pt_result(op, 1, mean);
}

hone_status pt_norm(struct pt_op *op, struct value *x, struct value *axes, double order, bool keeps,
                    struct value **out) {
  const double infinity = (double)INFINITY;
  const enum op_id id = order == 2           ? OP_ReduceL2
                        : order == 1         ? OP_ReduceL1
                        : order == infinity  ? OP_ReduceMax
                        : order == -infinity ? OP_ReduceMin
                                             : OP_ReduceSum;
  const struct arg *args = ARGS(INT_ARG("keepdims", keeps));
  if (id == OP_ReduceL1 || id == OP_ReduceL2)
    return make_node(op->make, id, VALUES(x, axes), args, out);
  if (isnan(order)) return pt_refuse(op, "of order %g", order);
  if (order == 0) { /* the number of nonzero elements */
    const hone_dtype dtype = x->dtype;
    TRY(make_cast(op->make, x, HONE_BOOL, &x));
    TRY(make_cast(op->make, x, dtype, &x));
    return make_node(op->make, id, VALUES(x, axes), args, out);
  }
  TRY(make_node(op->make, OP_Abs, VALUES(x), NULL, &x));
  if (id == OP_ReduceSum) TRY(make_with_scalar(op->make, OP_Pow, x, order, &x));
  TRY(make_node(op->make, id, VALUES(x, axes), args, out));
  return id == OP_ReduceSum ? make_with_scalar(op->make, OP_Pow, *out, 1 / order, out) : HONE_OK;
}

/* Vector norms; for matrices (parameter 1) only Frobenius' norm, the vector norm of all
 * elements. */
hone_status build_norm(struct pt_op *op) {
  static const int64_t last_two[] = {-2, -1};
  struct value *x, *axes, *y;
  int64_t keep, axis[2];
  size_t count = 0;
  double order = 2;
  const char *word = "fro";
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(summand(op, &x));
  if (!dtype_is_float(x->dtype)) TRY(make_cast(op->make, x, HONE_F32, &x));
  TRY(read_axes(op, x, &axes, NULL));
  const bool is_word = op->parameter && json_is_string(pt_argument(op, "ord")); /* for matrices */
  if (is_word)
    TRY(pt_text(op, "ord", word, &word));
  else
    TRY(pt_float(op, pt_given(op, "p") ? "p" : "ord", 2, &order));
  if (json_is_array(pt_argument(op, "dim"))) TRY(pt_ints(op, "dim", 2, axis, &count));
  const bool asks_order = pt_given(op, "ord") && !is_word;
  if (strcmp(word, "fro") ||
      (op->parameter && asks_order && (pt_given(op, "dim") ? count == 2 : x->shape.rank != 1)))
    return pt_refuse(op, "with a matrix norm other than Frobenius'");
  if (op->parameter == 2 && !pt_given(op, "dim")) TRY(make_ints(op->make, last_two, 2, &axes));
  TRY(pt_norm(op, x, axes, order, keep != 0, &y));
  return pt_result(op, 0, y);
}

/* Every row of x paired with each later one: first and second rows of all pairs. */
static hone_status pairs_of_rows(struct pt_op *op, struct value **x, struct value **y) {
  enum { MOST = 1 << 12 };
  struct value *first, *second;
  int64_t *list[2], count = 0;
  const int64_t rows = (*x)->shape.rank == 2 ? (*x)->shape.dims[0] : -1;
  if (rows < 0 || rows > MOST) return pt_refuse(op, "of this shape");
  for (int k = 0; k < 2; k++)
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, list[k], (size_t)(rows * rows / 2) + 1));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = i + 1; k < rows; k++, count++) list[0][count] = i, list[1][count] = k;
  TRY(make_ints(op->make, list[0], (size_t)count, &first));
  TRY(make_ints(op->make, list[1], (size_t)count, &second));
  TRY(make_node(op->make, OP_Gather, VALUES(*x, second), NULL, y));
  return make_node(op->make, OP_Gather, VALUES(*x, first), NULL, x);
}

/* dist: of the difference of two tensors; pairwise_distance (parameter 1): of each row's difference
 * plus eps; pdist (2): of all pairs of rows. */
hone_status build_distance(struct pt_op *op) {
  struct value *x, *y, *axes = NULL;
  double order, apart;
  int64_t keep;
  TRY(pt_need(op, op->parameter == 1 ? "x1" : "self", &x));
  if (op->parameter == 2)
    TRY(pairs_of_rows(op, &x, &y));
  else
    TRY(pt_need(op, op->parameter ? "x2" : "other", &y));
  TRY(pt_float(op, "p", 2, &order));
  TRY(pt_float(op, "eps", op->parameter == 1 ? 1e-6 : 0, &apart));
  TRY(pt_int(op, "keepdim", 0, &keep));
  struct value *pair[] = {x, y};
  TRY(pt_promote(op, pair, 2));
  TRY(make_node(op->make, OP_Sub, VALUES(pair[0], pair[1]), NULL, &x));
  if (!dtype_is_float(x->dtype)) TRY(make_cast(op->make, x, HONE_F32, &x));
  if (apart != 0) TRY(make_with_scalar(op->make, OP_Add, x, apart, &x));
  if (op->parameter) TRY(make_ints(op->make, (const int64_t[]){-1}, 1, &axes));
  TRY(pt_norm(op, x, axes, order, keep != 0, &y));
  return pt_result(op, 0, y);
}

/* v g / |v|, the norm over all dimensions except one (-1: over all). */
hone_status build_weight_norm(struct pt_op *op) {
  struct value *v, *g, *axes, *norm, *y;
  int64_t keep, others[HONE_MAX_RANK];
  size_t count = 0;
  TRY(pt_need(op, "v", &v));
  TRY(pt_need(op, "g", &g));
  TRY(pt_int(op, "dim", 0, &keep));
  if (keep != -1) TRY(pt_axis(op, "dim", 0, v->shape.rank, &keep));
  for (int d = 0; d < v->shape.rank; d++)
    if (d != keep) others[count++] = d;
  if (!count) return pt_refuse(op, "of rank %d", v->shape.rank);
  TRY(make_ints(op->make, others, count, &axes));
  TRY(make_node(op->make, OP_ReduceL2, VALUES(v, axes), ARGS(INT_ARG("keepdims", 1)), &norm));
  TRY(make_node(op->make, OP_Div, VALUES(g, norm), NULL, &y));
  TRY(make_node(op->make, OP_Mul, VALUES(v, y), NULL, &y));
  TRY(pt_result(op, 0, y));
  return pt_result_count(op) > 1 && pt_is_read(op, 1) ? pt_result(op, 1, norm) : HONE_OK;
}

hone_status build_cumulative(struct pt_op *op) {
  struct value *x, *at, *y;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(summand(op, &x));
  if (!x->shape.rank) return pt_result(op, 0, x);
  TRY(make_scalar(op->make, HONE_I64, (double)axis, &at));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x, at), NULL, &y));
  return pt_result(op, 0, y);
}

/* Without dim: of the flattened tensor. */
hone_status build_arg(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis = 0, keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  bool flat = !pt_given(op, "dim") || !x->shape.rank;
  int rank = x->shape.rank;
  const int64_t all = make_elements(x);
  if (flat)
    TRY(make_reshape(op->make, x, &all, 1, &x));
  else
    TRY(pt_axis(op, "dim", 0, rank, &axis));
  TRY(make_node(op->make, (enum op_id)op->parameter, VALUES(x),
                ARGS(INT_ARG("axis", axis), INT_ARG("keepdims", flat ? 0 : keep)), &y));
  if (flat && keep) {
    int64_t ones[HONE_MAX_RANK];
    for (int d = 0; d < rank; d++) ones[d] = 1;
    TRY(make_reshape(op->make, y, ones, (size_t)rank, &y));
  }
  return pt_result(op, 0, y);
}
