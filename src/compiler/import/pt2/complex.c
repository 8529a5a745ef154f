/* complex: ATen's complex numbers, as far as transforms and rotations need them. A complex tensor
 * is a float tensor with a last axis of two, real and imaginary parts; its item is marked complex,
 * and operators that are not handled here reject it. */
#include "pt2.h"

#include <math.h>

static bool is_complex_dtype(int64_t dtype) { return dtype == PT_COMPLEX64; }

static struct value *with_part_axis(struct pt_op *op, struct value *x) {
  static const int64_t last[] = {-1};
  return x_2(op->b, OP_Unsqueeze, x, x_list(op->b, last, 1));
}

static struct value *joined(struct pt_op *op, struct value *re, struct value *im) {
  re = with_part_axis(op, re);
  im = with_part_axis(op, im);
  return x_concat(op->b, -1, VALUES(re, im));
}

static hone_status float_operand(struct pt_op *op, const char *name, struct value **out) {
  TRY(pt_need(op, name, out));
  if (!dtype_is_float((*out)->dtype)) *out = x_cast(op->b, *out, HONE_F32);
  return op->b->status;
}

/* -- operators applied to the parts */

/* Applied to both parts alike; and sums of products, of one or two complex operands. */
static const char *const linear[] = {"cat",
                                     "chunk",
                                     "concat",
                                     "constant_pad_nd",
                                     "copy",
                                     "cumsum",
                                     "diagonal",
                                     "expand",
                                     "expand_as",
                                     "fft_fftshift",
                                     "fft_ifftshift",
                                     "fill",
                                     "flatten",
                                     "flip",
                                     "full_like",
                                     "gather",
                                     "index",
                                     "index_select",
                                     "mean",
                                     "movedim",
                                     "narrow",
                                     "neg",
                                     "new_full",
                                     "new_ones",
                                     "new_zeros",
                                     "ones_like",
                                     "pad",
                                     "permute",
                                     "ravel",
                                     "repeat",
                                     "reshape",
                                     "reshape_as",
                                     "roll",
                                     "select",
                                     "select_scatter",
                                     "slice",
                                     "slice_scatter",
                                     "split",
                                     "split_with_sizes",
                                     "squeeze",
                                     "stack",
                                     "sum",
                                     "swapaxes",
                                     "swapdims",
                                     "t",
                                     "tile",
                                     "transpose",
                                     "tril",
                                     "triu",
                                     "unbind",
                                     "unflatten",
                                     "unfold",
                                     "unsqueeze",
                                     "view",
                                     "view_as",
                                     "where",
                                     "zero",
                                     "zeros_like"};
/* For these both operands must be complex: a real one would give its values to the imaginary part
 * too. */
static const char *const joins[] = {"select_scatter", "slice_scatter", "where"};
static const char *const products[] = {"bmm", "dot", "einsum", "matmul", "mm", "mv", "outer"};

static bool is_among(const struct pt_op *op, const char *const *names, size_t count) {
  const char *name = strncmp(op->target, "aten.", 5) ? "" : op->target + 5;
  size_t length = strcspn(name, ".");
  if (length && name[length - 1] == '_') length--; /* in place */
  for (size_t k = 0; k < count; k++)
    if (!strncmp(names[k], name, length) && !names[k][length]) return true;
  return false;
}

static bool is_complex_name(const struct pt_op *op, const json_t *tensor) {
  const struct pt_item *item =
      names_find(&op->pt->items, pt_words(json_object_get(tensor, "name")));
  return item && item->is_complex;
}

/* The number of complex arguments, including elements of lists. */
static size_t count_complex(const struct pt_op *op) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(op->inputs); i++) {
    json_t *arg = NULL;
    const char *kind = pt_variant(json_object_get(json_array_get(op->inputs, i), "arg"), &arg);
    if (!strcmp(kind, "as_tensor")) count += is_complex_name(op, arg);
    for (size_t t = 0; !strcmp(kind, "as_tensors") && t < json_array_size(arg); t++)
      count += is_complex_name(op, json_array_get(arg, t));
  }
  return count;
}

bool pt_is_by_parts(const struct pt_op *op) {
  return (is_among(op, linear, COUNT(linear)) || is_among(op, products, COUNT(products))) &&
         count_complex(op);
}

/* (a + bi)(c + di), for any operator that sums products. */
static hone_status product_of_parts(struct pt_op *op, pt_build_fn *build, struct value **out) {
  struct value *made[2][2], *parts[2];
  for (int p = 0; p < 2; p++)
    for (int q = 0; q < 2; q++) {
      op->part = p + 1, op->other = q + 1, op->seen = 0;
      TRY(build(op));
      made[p][q] = op->results[0][p];
    }
  parts[0] = x_2(op->b, OP_Sub, made[0][0], made[1][1]);
  BUILD(op->b, parts[1] = x_2(op->b, OP_Add, made[0][1], made[1][0]));
  return x_give(op->b, out, joined(op, parts[0], parts[1]));
}

hone_status pt_build_by_parts(struct pt_op *op, pt_build_fn *build) {
  const size_t count = pt_result_count(op), given = count_complex(op);
  struct value *y;
  op->is_product = is_among(op, products, COUNT(products));
  if (is_among(op, joins, COUNT(joins)) && given < 2)
    return pt_refuse(op, "of real and complex numbers");
  if (op->is_product && given > 2) return pt_refuse(op, "of %zu complex tensors", given);
  TRY(NEW_ARRAY(op->ctx, op->pt->arena, op->results, count + 1));
  if (op->is_product && given == 2) {
    TRY(product_of_parts(op, build, &y));
    op->part = 0;
    return pt_complex_result(op, 0, y);
  }
  for (op->part = 1; op->part <= 2; op->part++) {
    op->seen = 0;
    TRY(build(op));
  }
  op->part = 0;
  for (size_t k = 0; k < count; k++) {
    if (!op->results[k][0]) continue;
    BUILD(op->b, y = joined(op, op->results[k][0], op->results[k][1]));
    TRY(pt_complex_result(op, k, y));
  }
  return HONE_OK;
}

/* -- conversions to and from complex numbers */

hone_status build_complex(struct pt_op *op) { /* complex; parameter 1: polar */
  struct value *a, *b, *cosine;
  TRY(float_operand(op, op->parameter ? "abs" : "real", &a));
  TRY(float_operand(op, op->parameter ? "angle" : "imag", &b));
  if (op->parameter) {
    cosine = x_1(op->b, OP_Cos, b);
    b = x_2(op->b, OP_Mul, a, x_1(op->b, OP_Sin, b));
    BUILD(op->b, a = x_2(op->b, OP_Mul, a, cosine));
  }
  if (!shape_equal(&a->shape, &b->shape)) return pt_refuse(op, "of parts of unequal shape");
  return pt_complex_result(op, 0, joined(op, a, b));
}

hone_status build_view_as_complex(struct pt_op *op) {
  struct value *x;
  TRY(pt_need(op, "self", &x));
  if (!x->shape.rank || x->shape.dims[x->shape.rank - 1] != 2)
    return pt_refuse(op, "of a tensor whose last axis does not have size two");
  return pt_complex_result(op, 0, x);
}

hone_status build_view_as_real(struct pt_op *op) {
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  return is_complex ? pt_result(op, 0, x) : pt_refuse(op, "of real numbers");
}

/* real: part 0, imag: part 1. The real part of a real tensor is itself. */
hone_status build_complex_part(struct pt_op *op) {
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (is_complex)
    x = pt_part(op, x, op->parameter);
  else if (op->parameter)
    return pt_refuse(op, "of real numbers");
  else
    x = x_1(op->b, OP_Identity, x);
  return pt_result(op, 0, x);
}

/* clone, resolve_conj: conjugates are stored explicitly, so resolve_conj does nothing. */
hone_status build_clone(struct pt_op *op) {
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_copy(op);
  return pt_complex_result(op, 0, x_1(op->b, OP_Identity, x));
}

hone_status build_conjugate(struct pt_op *op) {
  static const double signs[] = {1, -1};
  const struct shape shape = {1, {2}};
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_copy(op);
  return pt_complex_result(op, 0, x_2(op->b, OP_Mul, x, x_numbers(op->b, x->dtype, &shape, signs)));
}

/* The angle of (re, im); for real numbers 0 or pi. */
hone_status build_angle(struct pt_op *op) {
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return pt_refuse(op, "of real numbers");
  return pt_result(op, 0, pt_atan2(op, pt_part(op, x, 1), pt_part(op, x, 0)));
}

hone_status build_abs(struct pt_op *op) {
  static const int64_t last[] = {-1};
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_unary(op);
  return pt_result(op, 0, x_reduce(op->b, OP_ReduceL2, x, last, 1, 0));
}

hone_status build_to(struct pt_op *op) {
  struct value *x, *zero;
  int64_t dtype;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  TRY(pt_int(op, "dtype", -1, &dtype));
  if (!is_complex && !is_complex_dtype(dtype)) return build_cast(op);
  if (is_complex && dtype >= 0 && !is_complex_dtype(dtype))
    return pt_refuse(op, "of complex numbers to real ones");
  if (!is_complex) {
    x = x_cast(op->b, x, HONE_F32);
    BUILD(op->b, zero = x_by(op->b, OP_Mul, x, 0));
    x = joined(op, x, zero);
  }
  return pt_complex_result(op, 0, x_1(op->b, OP_Identity, x));
}

/* -- products and sums */

static struct value *complex_product(struct pt_op *op, struct value *x, struct value *y) {
  struct value *a[2], *b[2], *p, *parts[2];
  for (int64_t k = 0; k < 2; k++) {
    a[k] = pt_part(op, x, k);
    b[k] = pt_part(op, y, k);
  }
  for (size_t k = 0; k < 2; k++) {
    p = x_2(op->b, OP_Mul, a[0], b[k]);
    parts[k] = x_2(op->b, k ? OP_Add : OP_Sub, p, x_2(op->b, OP_Mul, a[1], b[1 - k]));
  }
  return joined(op, parts[0], parts[1]);
}

/* The inverse of y: its conjugate divided by the square of its magnitude. */
static struct value *inverse_of(struct pt_op *op, struct value *y) {
  static const int64_t last[] = {-1};
  static const double signs[] = {1, -1};
  const struct shape two = {1, {2}};
  struct value *square = x_reduce(op->b, OP_ReduceSumSquare, y, last, 1, 1);
  return x_2(op->b, OP_Div, x_2(op->b, OP_Mul, y, x_numbers(op->b, y->dtype, &two, signs)), square);
}

hone_status build_reciprocal(struct pt_op *op) {
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_unary(op);
  return pt_complex_result(op, 0, inverse_of(op, x));
}

hone_status build_exp(struct pt_op *op) {
  struct value *x, *cosine;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_unary(op);
  struct value *re = pt_part(op, x, 0);
  struct value *im = pt_part(op, x, 1);
  re = x_1(op->b, OP_Exp, re);
  BUILD(op->b, cosine = x_1(op->b, OP_Cos, im));
  return pt_complex_result(
      op, 0,
      x_2(op->b, OP_Mul, joined(op, cosine, x_1(op->b, OP_Sin, im)), with_part_axis(op, re)));
}

/* A real operand together with a complex one: a factor applies to both parts, a term only to the
 * real part. */
static struct value *promote_operand(struct pt_op *op, struct value *x, bool is_factor) {
  static const double first[] = {1, 0};
  const struct shape two = {1, {2}};
  x = x_cast(op->b, x, HONE_F32);
  x = with_part_axis(op, x);
  if (is_factor) return x;
  return x_2(op->b, OP_Mul, x, x_numbers(op->b, HONE_F32, &two, first));
}

/* A complex operand, or NULL: a tensor, or a number of the file. */
static hone_status read_complex(struct pt_op *op, const char *name, struct value **out,
                                bool *out_is_complex) {
  const struct shape two = {1, {2}};
  const char *kind;
  const json_t *number = pt_find_argument(op, name, &kind);
  if (!number || strcmp(kind, "as_complex")) return pt_complex(op, name, out, out_is_complex);
  *out_is_complex = true;
  return x_give(op->b, out,
                x_numbers(op->b, HONE_F32, &two,
                          (const double[]){json_number_value(json_object_get(number, "real")),
                                           json_number_value(json_object_get(number, "imag"))}));
}

/* mul, div, add, sub: complex if an operand is, else the real operator. */
hone_status build_arithmetic(struct pt_op *op) {
  struct value *x, *y;
  bool x_is, y_is;
  double alpha;
  enum op_id by = (enum op_id)op->parameter;
  TRY(read_complex(op, "self", &x, &x_is));
  TRY(read_complex(op, "other", &y, &y_is));
  if (!x_is && !y_is) return build_binary(op);
  TRY(pt_float(op, "alpha", 1, &alpha));
  if (!x) TRY(pt_operand(op, "self", y, &x));
  if (!y) TRY(pt_operand(op, "other", x, &y));
  if (alpha != 1) BUILD(op->b, y = x_by(op->b, OP_Mul, y, alpha));
  if (by == OP_Div && y_is) {
    BUILD(op->b, y = inverse_of(op, y));
    by = OP_Mul;
  }
  if (by == OP_Mul && x_is && y_is) {
    x = complex_product(op, x, y);
    return pt_complex_result(op, 0, x);
  }
  const bool is_factor = by == OP_Mul || by == OP_Div;
  if (!x_is) x = promote_operand(op, x, is_factor);
  if (!y_is) y = promote_operand(op, y, is_factor);
  return pt_complex_result(op, 0, x_2(op->b, by, x, y));
}

/* -- transforms */

struct fft {
  int64_t axes[HONE_MAX_RANK], lengths[HONE_MAX_RANK]; /* length 0: unchanged */
  size_t count;
  double scale; /* of the unscaled sum */
  bool is_inverse;
};

static hone_status read_axes(struct pt_op *op, int rank, struct fft *f) {
  static const int64_t two[] = {-2, -1};
  const bool is_list = op->parameter & (FFT_MANY | FFT_CORE);
  size_t sizes = 0;
  f->count = 0;
  if (!is_list) {
    TRY(pt_int(op, "dim", -1, &f->axes[0]));
    TRY(pt_int(op, "n", 0, &f->lengths[0]));
    f->count = 1;
  } else {
    if (pt_given(op, "dim")) TRY(pt_ints(op, "dim", HONE_MAX_RANK, f->axes, &f->count));
    if (pt_given(op, "s")) TRY(pt_ints(op, "s", HONE_MAX_RANK, f->lengths, &sizes));
  }
  if (!f->count && (op->parameter & FFT_TWO)) memcpy(f->axes, two, sizeof two), f->count = 2;
  if (!f->count && sizes) /* the last axes */
    for (; f->count < sizes; f->count++) f->axes[f->count] = (int64_t)f->count - (int64_t)sizes;
  if (!f->count)
    for (; f->count < (size_t)rank; f->count++) f->axes[f->count] = (int64_t)f->count;
  if (sizes && sizes != f->count)
    return pt_refuse(op, "with %zu sizes for %zu dimensions", sizes, f->count);
  for (size_t k = 0; k < sizes; k++)
    if (f->lengths[k] < 0) f->lengths[k] = 0;
  for (size_t k = 0; k < f->count; k++) TRY(pt_axis_of(op, f->axes[k], rank, &f->axes[k]));
  return HONE_OK;
}

/* "backward": only the inverse is divided by the number of elements; "ortho": both by its root;
 * "forward": only the forward transform. Core operators use 0: not divided, 1: by the root, 2: by
 * the number. */
static hone_status read_scale(struct pt_op *op, double count, struct fft *f) {
  const char *norm;
  int64_t kind = 0, forward = 1;
  if (op->parameter & FFT_CORE) {
    TRY(pt_int(op, "normalization", 0, &kind));
    TRY(pt_int(op, "forward", 1, &forward));
    f->is_inverse = !forward || (op->parameter & FFT_INVERSE);
    f->scale = kind == 1 ? 1 / sqrt(count) : kind == 2 ? 1 / count : 1;
    return HONE_OK;
  }
  TRY(pt_text(op, "norm", "backward", &norm));
  f->is_inverse = op->parameter & FFT_INVERSE;
  if (strcmp(norm, "backward") && strcmp(norm, "ortho") && strcmp(norm, "forward"))
    return pt_refuse(op, "with norm %.32s", norm);
  f->scale = !strcmp(norm, "ortho")                        ? 1 / sqrt(count)
             : (!strcmp(norm, "forward")) == f->is_inverse ? 1
                                                           : 1 / count;
  return HONE_OK;
}

/* One axis. The result is complex, except for the half of an inverse transform. */
static struct value *transform(struct pt_op *op, const struct fft *f, size_t k, bool is_half,
                               struct value *x) {
  struct value *length = NULL;
  struct value *axis = x_scalar(op->b, HONE_I64, (double)f->axes[k]);
  if (f->lengths[k]) length = x_scalar(op->b, HONE_I64, (double)f->lengths[k]);
  return x_args(op->b, OP_DFT, VALUES(x, length, axis),
                ARGS(INT_ARG("inverse", f->is_inverse), INT_ARG("onesided", is_half)));
}

/* The number of elements of a whole transform. */
static hone_status count_elements(struct pt_op *op, const struct value *x, struct fft *f,
                                  bool to_real, double *out) {
  int64_t last = 0;
  if (to_real) {
    TRY(pt_int(op, op->parameter & FFT_CORE ? "last_dim_size" : "n", 0, &last));
    if (!last) last = f->lengths[f->count - 1];
    if (!last && !checked_mul(x->shape.dims[f->axes[f->count - 1]] - 1, 2, &last))
      return pt_refuse(op, "of this size");
    f->lengths[f->count - 1] = last;
  }
  *out = 1;
  for (size_t k = 0; k < f->count; k++)
    *out *= (double)(f->lengths[k] ? f->lengths[k] : x->shape.dims[f->axes[k]]);
  return *out >= 1 ? HONE_OK : pt_refuse(op, "of no elements");
}

hone_status build_fft(struct pt_op *op) {
  struct fft f = {.scale = 1};
  struct value *x;
  bool is_complex;
  double count = 0;
  int64_t half = (op->parameter & FFT_HALF) != 0;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  const int rank = x->shape.rank - is_complex;
  if (!rank) return pt_refuse(op, "of rank 0");
  const bool to_real = half && (op->parameter & FFT_INVERSE);
  if (half && !to_real) TRY(pt_int(op, "onesided", 1, &half));
  TRY(read_axes(op, rank, &f));
  TRY(count_elements(op, x, &f, to_real, &count));
  TRY(read_scale(op, count, &f));
  if (half && to_real != is_complex) return pt_refuse(op, "of these element types");
  if (!is_complex) {
    if (!dtype_is_float(x->dtype)) BUILD(op->b, x = x_cast(op->b, x, HONE_F32));
    BUILD(op->b, x = with_part_axis(op, x));
  }
  /* the half applies to the last axis: first for real inputs, last for real results */
  if (half && !to_real) BUILD(op->b, x = transform(op, &f, f.count - 1, true, x));
  for (size_t k = 0; k + (size_t)(half != 0) < f.count; k++)
    BUILD(op->b, x = transform(op, &f, k, false, x));
  if (to_real) BUILD(op->b, x = transform(op, &f, f.count - 1, true, x));
  const double scale = f.scale * (f.is_inverse ? count : 1); /* ONNX's inverse already divides */
  if (scale != 1) BUILD(op->b, x = x_by(op->b, OP_Mul, x, scale));
  if (!to_real) return pt_complex_result(op, 0, x);
  BUILD(op->b, x = pt_part(op, x, 0));
  return pt_result(op, 0, x);
}
