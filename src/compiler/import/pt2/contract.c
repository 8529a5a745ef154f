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
    y = x_args(op->b, OP_Gemm, VALUES(x, w, b), ARGS(INT_ARG("transB", 1)));
    return pt_result(op, 0, y);
  }
  y = x_2(op->b, OP_MatMul, x, x_transpose(op->b, w, turn));
  if (b) y = x_2(op->b, OP_Add, y, b);
  return pt_result(op, 0, y);
}

hone_status build_matmul(struct pt_op *op) { /* matmul, mm, bmm, mv, dot */
  static const char *const names[] = {"other", "mat2", "vec", "tensor"}; /* vdot: other */
  struct value *x, *y;
  size_t i = 0;
  while (i + 1 < COUNT(names) && !pt_given(op, names[i])) i++;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, names[i], &y));
  return pt_result(op, 0, x_2(op->b, OP_MatMul, x, y));
}

hone_status build_addmm(struct pt_op *op) {
  struct value *bias, *a, *b;
  double beta, alpha;
  TRY(pt_need(op, "self", &bias));
  TRY(pt_need(op, "mat1", &a));
  TRY(pt_need(op, "mat2", &b));
  TRY(pt_float(op, "beta", 1, &beta));
  TRY(pt_float(op, "alpha", 1, &alpha));
  return pt_result(op, 0,
                   x_args(op->b, OP_Gemm, VALUES(a, b, bias),
                          ARGS(FLOAT_ARG("alpha", alpha), FLOAT_ARG("beta", beta))));
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
  return x_give(op->b, out, x_numbers(op->b, HONE_BOOL, &shape, numbers));
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
  BUILD(op->b, *k = x_reshape(op->b, *k, dims, rank + 1));
  dims[axis + 1] = wanted / heads;
  BUILD(op->b, *k = x_2(op->b, OP_Expand, *k, x_list(op->b, dims, (size_t)rank + 1)));
  memmove(&dims[axis + 1], &dims[axis + 2], (size_t)(rank - axis - 1) * sizeof *dims);
  dims[axis] = wanted;
  return x_give(op->b, k, x_reshape(op->b, *k, dims, rank));
}

static struct value *mask_scores(struct pt_op *op, struct value *mask, struct value *y) {
  if (dtype_is_float(mask->dtype)) {
    mask = x_cast(op->b, mask, y->dtype);
    return x_2(op->b, OP_Add, y, mask);
  }
  return x_3(op->b, OP_Where, mask, y, x_scalar(op->b, y->dtype, -INFINITY));
}

/* Queries without a visible key get zeros. */
static struct value *clear(struct pt_op *op, struct value *y) {
  struct value *zero = x_scalar(op->b, y->dtype, 0);
  return x_3(op->b, OP_Where, x_1(op->b, OP_IsNaN, y), zero, y);
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
  BUILD(op->b, k = x_transpose(op->b, k, perm));
  BUILD(op->b, y = x_by(op->b, OP_Mul, x_2(op->b, OP_MatMul, q, k), scale));
  if (mask) y = mask_scores(op, mask, y);
  BUILD(op->b, y = x_args(op->b, OP_Softmax, VALUES(y), ARGS(INT_ARG("axis", -1))));
  if (mask) BUILD(op->b, y = clear(op, y));
  BUILD(op->b, y = x_2(op->b, OP_MatMul, y, v));
  return pt_result(op, 0, y);
}

/* beta * self + alpha * a matmul: baddbmm, addmv (parameter 1), addr (2), addbmm (3: the sum over
 * the batch) */
hone_status build_add_product(struct pt_op *op) {
  static const char *const names[][2] = {
      {"batch1", "batch2"}, {"mat", "vec"}, {"vec1", "vec2"}, {"batch1", "batch2"}};
  static const int64_t column[] = {-1, 1}, row[] = {1, -1}, first[] = {0};
  struct value *bias, *a, *b;
  double beta, alpha;
  TRY(pt_need(op, "self", &bias));
  TRY(pt_need(op, names[op->parameter][0], &a));
  TRY(pt_need(op, names[op->parameter][1], &b));
  TRY(pt_float(op, "beta", 1, &beta));
  TRY(pt_float(op, "alpha", 1, &alpha));
  if (op->parameter == 2) {
    a = x_reshape(op->b, a, column, 2);
    b = x_reshape(op->b, b, row, 2);
  }
  struct value *y = x_2(op->b, OP_MatMul, a, b);
  if (op->parameter == 3) y = x_reduce(op->b, OP_ReduceSum, y, first, 1, 0);
  if (alpha != 1) y = x_by(op->b, OP_Mul, y, alpha);
  if (beta != 1) bias = x_by(op->b, OP_Mul, bias, beta);
  if (beta != 0) y = x_2(op->b, OP_Add, bias, y);
  return pt_result(op, 0, y);
}

/* A column times a row. */
hone_status build_outer(struct pt_op *op) {
  struct value *x, *y;
  TRY(pt_need(op, "self", &x));
  TRY(pt_need(op, "vec2", &y));
  if (x->shape.rank != 1) return pt_refuse(op, "of rank %d", x->shape.rank);
  return pt_result(op, 0,
                   x_2(op->b, OP_Mul, x_reshape(op->b, x, (int64_t[]){x->shape.dims[0], 1}, 2), y));
}

hone_status build_einsum(struct pt_op *op) {
  struct value *list[8];
  size_t count;
  const char *equation;
  TRY(pt_text(op, "equation", "", &equation));
  TRY(pt_tensors(op, "tensors", COUNT(list), list, &count));
  return pt_result(op, 0,
                   x_args(op->b, OP_Einsum, list, count, ARGS(STRING_ARG("equation", equation))));
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
  struct value *x, *w, *b;
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
  const struct attribute args[] = {INTS_ARG("strides", strides, n),
                                   INTS_ARG("dilations", dilations, n),
                                   INTS_ARG("pads", pads, 2 * n),
                                   INT_ARG("group", groups),
                                   {.name = transposed ? "output_padding" : NULL,
                                    .kind = ATTRIBUTE_INTS,
                                    .ints = outside,
                                    .count = n},
                                   {.name = NULL}};
  const hone_dtype dtype = x->dtype;
  if (!dtype_is_float(dtype)) { /* exact up to 2^53 */
    x = x_cast(op->b, x, HONE_F64);
    w = x_cast(op->b, w, HONE_F64);
    if (b) b = x_cast(op->b, b, HONE_F64);
  }
  return pt_result(
      op, 0,
      x_cast(op->b, x_args(op->b, transposed ? OP_ConvTranspose : OP_Conv, VALUES(x, w, b), args),
             dtype));
}

struct value *pt_multiply_axis(struct pt_op *op, int axis, int64_t size, const double *weights,
                               struct value *x) {
  const int rank = x->shape.rank;
  int64_t perm[HONE_MAX_RANK];
  const struct shape shape = {.rank = 2, .dims = {x->shape.dims[axis], size}};
  struct value *matrix = x_numbers(op->b, x->dtype, &shape, weights);
  for (int d = 0; d < rank; d++) perm[d] = d;
  perm[axis] = rank - 1, perm[rank - 1] = axis;
  x = x_2(op->b, OP_MatMul, x_transpose(op->b, x, perm), matrix);
  return x_transpose(op->b, x, perm);
}

/* -- reductions */

/* Sums and products of integers are 64-bit. */
static hone_status summand(struct pt_op *op, struct value **x) {
  int64_t dtype;
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (dtype >= 0 && !pt_dtype(dtype)) return pt_refuse(op, "with dtype %lld", (long long)dtype);
  if (dtype >= 0) return x_give(op->b, x, x_cast(op->b, *x, pt_dtype(dtype)));
  bool adds = op->parameter == OP_ReduceSum || op->parameter == OP_ReduceProd ||
              op->parameter == OP_CumSum || op->parameter == OP_CumProd;
  if (!adds || dtype_is_float((*x)->dtype)) return op->b->status;
  return x_give(op->b, x, x_cast(op->b, *x, HONE_I64));
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
  return x_give(op->b, out, x_list(op->b, list, count));
}

hone_status build_reduce(struct pt_op *op) {
  struct value *x, *axes;
  int64_t keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(summand(op, &x));
  if (op->parameter == OP_ReduceLogSumExp && !dtype_is_float(x->dtype))
    BUILD(op->b, x = x_cast(op->b, x, HONE_F32));
  TRY(read_axes(op, x, &axes, NULL));
  return pt_result(
      op, 0,
      x_args(op->b, (enum op_id)op->parameter, VALUES(x, axes), ARGS(INT_ARG("keepdims", keep))));
}

/* nansum; nanmean (parameter 1): over the elements that are not NaN. */
hone_status build_number_sum(struct pt_op *op) {
  struct value *x, *axes, *y;
  int64_t keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  if (!dtype_is_float(x->dtype)) {
    op->parameter = op->parameter ? OP_ReduceMean : OP_ReduceSum;
    return build_reduce(op);
  }
  const struct attribute *args = ARGS(INT_ARG("keepdims", keep));
  struct value *is_nan = x_1(op->b, OP_IsNaN, x);
  BUILD(op->b, y = x_3(op->b, OP_Where, is_nan, x_scalar(op->b, x->dtype, 0), x));
  const bool is_mean = op->parameter;
  op->parameter = OP_ReduceSum;
  TRY(summand(op, &y));
  TRY(read_axes(op, x, &axes, NULL));
  BUILD(op->b, y = x_args(op->b, OP_ReduceSum, VALUES(y, axes), args));
  if (!is_mean) return pt_result(op, 0, y);
  return pt_result(
      op, 0,
      x_2(op->b, OP_Div, y,
          x_args(op->b, OP_ReduceSum,
                 VALUES(x_cast(op->b, x_1(op->b, OP_Not, is_nan), y->dtype), axes), args)));
}

/* any (ReduceMax), all (ReduceMin) of booleans; a uint8 input gives a uint8 result */
hone_status build_reduce_truth(struct pt_op *op) {
  struct value *x, *axes;
  int64_t keep;
  TRY(pt_need(op, "self", &x));
  const hone_dtype dtype = x->dtype == HONE_U8 ? HONE_U8 : HONE_BOOL;
  TRY(pt_int(op, "keepdim", 0, &keep));
  BUILD(op->b, x = x_cast(op->b, x, HONE_BOOL));
  TRY(read_axes(op, x, &axes, NULL));
  return pt_result(op, 0,
                   x_cast(op->b,
                          x_args(op->b, (enum op_id)op->parameter, VALUES(x, axes),
                                 ARGS(INT_ARG("keepdims", keep))),
                          dtype));
}

/* The largest or smallest along a dimension, and its index. */
hone_status build_extreme(struct pt_op *op) {
  struct value *x, *y;
  int64_t axis, keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(pt_int(op, "keepdim", 0, &keep));
  if (!x->shape.rank) return pt_refuse(op, "of rank 0");
  BUILD(op->b, y = x_args(op->b, (enum op_id)op->parameter, VALUES(x, x_list(op->b, &axis, 1)),
                          ARGS(INT_ARG("keepdims", keep))));
  TRY(pt_result(op, 0, y));
  if (!pt_is_read(op, 1)) return HONE_OK;
  return pt_result(op, 1,
                   x_args(op->b, op->parameter == OP_ReduceMax ? OP_ArgMax : OP_ArgMin, VALUES(x),
                          ARGS(INT_ARG("axis", axis), INT_ARG("keepdims", keep))));
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
    BUILD(op->b, y = x_args(op->b, ids[k], VALUES(x, axes), ARGS(INT_ARG("keepdims", keep))));
    TRY(pt_result(op, k, y));
  }
  return HONE_OK;
}

/* Sums of squared differences from the mean, divided by n - correction; parameter: 1 the root of
 * it, 2 with the mean, 3 both */
hone_status build_variance(struct pt_op *op) {
  struct value *x, *axes;
  int64_t keep, elements;
  double correction = 1, unbiased;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  TRY(pt_float(op, "unbiased", 1, &unbiased));
  TRY(pt_float(op, "correction", unbiased != 0, &correction));
  TRY(read_axes(op, x, &axes, &elements));
  struct value *mean = x_args(op->b, OP_ReduceMean, VALUES(x, axes), ARGS(INT_ARG("keepdims", 1)));
  struct value *y = x_args(op->b, OP_ReduceSumSquare, VALUES(x_2(op->b, OP_Sub, x, mean), axes),
                           ARGS(INT_ARG("keepdims", keep)));
  double count = fmax(0, (double)elements - correction);
  BUILD(op->b, y = x_by(op->b, OP_Div, y, count));
  if (op->parameter & 1) BUILD(op->b, y = x_1(op->b, OP_Sqrt, y));
  TRY(pt_result(op, 0, y));
  if (!(op->parameter & 2) || !pt_is_read(op, 1)) return HONE_OK;
  if (!keep) mean = x_reshape(op->b, mean, y->shape.dims, y->shape.rank);
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
  const struct attribute *args = ARGS(INT_ARG("keepdims", keeps));
  if (id == OP_ReduceL1 || id == OP_ReduceL2)
    return x_give(op->b, out, x_args(op->b, id, VALUES(x, axes), args));
  if (isnan(order)) return pt_refuse(op, "of order %g", order);
  if (order == 0) { /* the number of nonzero elements */
    const hone_dtype dtype = x->dtype;
    x = x_cast(op->b, x_cast(op->b, x, HONE_BOOL), dtype);
    return x_give(op->b, out, x_args(op->b, id, VALUES(x, axes), args));
  }
  x = x_1(op->b, OP_Abs, x);
  if (id == OP_ReduceSum) x = x_by(op->b, OP_Pow, x, order);
  *out = x_args(op->b, id, VALUES(x, axes), args);
  if (id == OP_ReduceSum) *out = x_by(op->b, OP_Pow, *out, 1 / order);
  return op->b->status;
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
  if (!dtype_is_float(x->dtype)) BUILD(op->b, x = x_cast(op->b, x, HONE_F32));
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
  if (op->parameter == 2 && !pt_given(op, "dim")) BUILD(op->b, axes = x_list(op->b, last_two, 2));
  TRY(pt_norm(op, x, axes, order, keep != 0, &y));
  return pt_result(op, 0, y);
}

/* Every row of x paired with each later one: first and second rows of all pairs. */
static hone_status pairs_of_rows(struct pt_op *op, struct value **x, struct value **y) {
  enum { MOST = 1 << 12 };
  int64_t *list[2], count = 0;
  const int64_t rows = (*x)->shape.rank == 2 ? (*x)->shape.dims[0] : -1;
  if (rows < 0 || rows > MOST) return pt_refuse(op, "of this shape");
  for (int k = 0; k < 2; k++)
    TRY(NEW_ARRAY(op->ctx, op->pt->arena, list[k], (size_t)(rows * rows / 2) + 1));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = i + 1; k < rows; k++, count++) list[0][count] = i, list[1][count] = k;
  struct value *first = x_list(op->b, list[0], (size_t)count);
  struct value *second = x_list(op->b, list[1], (size_t)count);
  *y = x_2(op->b, OP_Gather, *x, second);
  return x_give(op->b, x, x_2(op->b, OP_Gather, *x, first));
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
  BUILD(op->b, x = x_2(op->b, OP_Sub, pair[0], pair[1]));
  if (!dtype_is_float(x->dtype)) BUILD(op->b, x = x_cast(op->b, x, HONE_F32));
  if (apart != 0) BUILD(op->b, x = x_by(op->b, OP_Add, x, apart));
  if (op->parameter) BUILD(op->b, axes = x_list(op->b, (const int64_t[]){-1}, 1));
  TRY(pt_norm(op, x, axes, order, keep != 0, &y));
  return pt_result(op, 0, y);
}

/* v g / |v|, the norm over all dimensions except one (-1: over all). */
hone_status build_weight_norm(struct pt_op *op) {
  struct value *v, *g, *y;
  int64_t keep, others[HONE_MAX_RANK];
  size_t count = 0;
  TRY(pt_need(op, "v", &v));
  TRY(pt_need(op, "g", &g));
  TRY(pt_int(op, "dim", 0, &keep));
  if (keep != -1) TRY(pt_axis(op, "dim", 0, v->shape.rank, &keep));
  for (int d = 0; d < v->shape.rank; d++)
    if (d != keep) others[count++] = d;
  if (!count) return pt_refuse(op, "of rank %d", v->shape.rank);
  struct value *norm = x_reduce(op->b, OP_ReduceL2, v, others, count, 1);
  BUILD(op->b, y = x_2(op->b, OP_Mul, v, x_2(op->b, OP_Div, g, norm)));
  TRY(pt_result(op, 0, y));
  return pt_result_count(op) > 1 && pt_is_read(op, 1) ? pt_result(op, 1, norm) : HONE_OK;
}

hone_status build_cumulative(struct pt_op *op) {
  struct value *x;
  int64_t axis;
  TRY(pt_need(op, "self", &x));
  TRY(pt_axis(op, "dim", 0, x->shape.rank, &axis));
  TRY(summand(op, &x));
  if (!x->shape.rank) return pt_result(op, 0, x);
  return pt_result(
      op, 0, x_2(op->b, (enum op_id)op->parameter, x, x_scalar(op->b, HONE_I64, (double)axis)));
}

/* Without dim: of the flattened tensor. */
hone_status build_arg(struct pt_op *op) {
  struct value *x;
  int64_t axis = 0, keep;
  TRY(pt_need(op, "self", &x));
  TRY(pt_int(op, "keepdim", 0, &keep));
  bool flat = !pt_given(op, "dim") || !x->shape.rank;
  int rank = x->shape.rank;
  const int64_t all = make_elements(x);
  if (flat)
    x = x_reshape(op->b, x, &all, 1);
  else
    TRY(pt_axis(op, "dim", 0, rank, &axis));
  struct value *y = x_args(op->b, (enum op_id)op->parameter, VALUES(x),
                           ARGS(INT_ARG("axis", axis), INT_ARG("keepdims", flat ? 0 : keep)));
  if (flat && keep) {
    int64_t ones[HONE_MAX_RANK];
    for (int d = 0; d < rank; d++) ones[d] = 1;
    y = x_reshape(op->b, y, ones, rank);
  }
  return pt_result(op, 0, y);
}
