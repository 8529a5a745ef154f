/* complex: ATen's complex numbers, as far as transforms and rotations need them. A complex tensor
 * is a float tensor with a last axis of two, real and imaginary parts; its item is marked complex,
 * and operators that are not handled here reject it. */
#include "pt2.h"

#include <math.h>

static bool is_complex_dtype(int64_t dtype) { return dtype == PT_COMPLEX64; }

static hone_status with_part_axis(struct pt_op *op, struct value *x, struct value **out) {
  static const int64_t last[] = {-1};
  struct value *axes;
  TRY(make_ints(op->make, last, 1, &axes));
  return make_node(op->make, OP_Unsqueeze, VALUES(x, axes), NULL, out);
}

static hone_status joined(struct pt_op *op, struct value *re, struct value *im,
                          struct value **out) {
  TRY(with_part_axis(op, re, &re));
  TRY(with_part_axis(op, im, &im));
  return make_node(op->make, OP_Concat, VALUES(re, im), ARGS(INT_ARG("axis", -1)), out);
}

static hone_status float_operand(struct pt_op *op, const char *name, struct value **out) {
  TRY(pt_need(op, name, out));
  return dtype_is_float((*out)->dtype) ? HONE_OK : make_cast(op->make, *out, HONE_F32, out);
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
  TRY(make_node(op->make, OP_Sub, VALUES(made[0][0], made[1][1]), NULL, &parts[0]));
  TRY(make_node(op->make, OP_Add, VALUES(made[0][1], made[1][0]), NULL, &parts[1]));
  return joined(op, parts[0], parts[1], out);
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
    TRY(joined(op, op->results[k][0], op->results[k][1], &y));
    TRY(pt_complex_result(op, k, y));
  }
  return HONE_OK;
}

/* -- conversions to and from complex numbers */

hone_status build_complex(struct pt_op *op) { /* complex; parameter 1: polar */
  struct value *a, *b, *cosine, *y;
  TRY(float_operand(op, op->parameter ? "abs" : "real", &a));
  TRY(float_operand(op, op->parameter ? "angle" : "imag", &b));
  if (op->parameter) {
    TRY(make_node(op->make, OP_Cos, VALUES(b), NULL, &cosine));
    TRY(make_node(op->make, OP_Sin, VALUES(b), NULL, &b));
    TRY(make_node(op->make, OP_Mul, VALUES(a, b), NULL, &b));
    TRY(make_node(op->make, OP_Mul, VALUES(a, cosine), NULL, &a));
  }
  if (!shape_equal(&a->shape, &b->shape)) return pt_refuse(op, "of parts of unequal shape");
  TRY(joined(op, a, b, &y));
  return pt_complex_result(op, 0, y);
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
    TRY(pt_part(op, x, op->parameter, &x));
  else if (op->parameter)
    return pt_refuse(op, "of real numbers");
  else
    TRY(make_node(op->make, OP_Identity, VALUES(x), NULL, &x));
  return pt_result(op, 0, x);
}

/* clone, resolve_conj: conjugates are stored explicitly, so resolve_conj does nothing. */
hone_status build_clone(struct pt_op *op) {
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_copy(op);
  TRY(make_node(op->make, OP_Identity, VALUES(x), NULL, &x));
  return pt_complex_result(op, 0, x);
}

hone_status build_conjugate(struct pt_op *op) {
  static const double signs[] = {1, -1};
  const struct shape shape = {1, {2}};
  struct value *x, *by;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_copy(op);
  TRY(make_numbers(op->make, x->dtype, &shape, signs, &by));
  TRY(make_node(op->make, OP_Mul, VALUES(x, by), NULL, &x));
  return pt_complex_result(op, 0, x);
}

/* The angle of (re, im); for real numbers 0 or pi. */
hone_status build_angle(struct pt_op *op) {
  struct value *x, *re, *im, *y;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return pt_refuse(op, "of real numbers");
  TRY(pt_part(op, x, 0, &re));
  TRY(pt_part(op, x, 1, &im));
  TRY(pt_atan2(op, im, re, &y));
  return pt_result(op, 0, y);
}

hone_status build_abs(struct pt_op *op) {
  static const int64_t last[] = {-1};
  struct value *x, *axes;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_unary(op);
  TRY(make_ints(op->make, last, 1, &axes));
  TRY(make_node(op->make, OP_ReduceL2, VALUES(x, axes), ARGS(INT_ARG("keepdims", 0)), &x));
  return pt_result(op, 0, x);
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
    TRY(make_cast(op->make, x, HONE_F32, &x));
    TRY(make_with_scalar(op->make, OP_Mul, x, 0, &zero));
    TRY(joined(op, x, zero, &x));
  }
  TRY(make_node(op->make, OP_Identity, VALUES(x), NULL, &x));
  return pt_complex_result(op, 0, x);
}

/* -- products and sums */

static hone_status complex_product(struct pt_op *op, struct value *x, struct value *y,
                                   struct value **out) {
  struct value *a[2], *b[2], *p, *q, *parts[2];
  for (int64_t k = 0; k < 2; k++) {
    TRY(pt_part(op, x, k, &a[k]));
    TRY(pt_part(op, y, k, &b[k]));
  }
  for (size_t k = 0; k < 2; k++) {
    TRY(make_node(op->make, OP_Mul, VALUES(a[0], b[k]), NULL, &p));
    TRY(make_node(op->make, OP_Mul, VALUES(a[1], b[1 - k]), NULL, &q));
    TRY(make_node(op->make, k ? OP_Add : OP_Sub, VALUES(p, q), NULL, &parts[k]));
  }
  return joined(op, parts[0], parts[1], out);
}

/* The inverse of y: its conjugate divided by the square of its magnitude. */
static hone_status inverse_of(struct pt_op *op, struct value *y, struct value **out) {
  static const int64_t last[] = {-1};
  static const double signs[] = {1, -1};
  const struct shape two = {1, {2}};
  struct value *axes, *square, *by;
  TRY(make_ints(op->make, last, 1, &axes));
  TRY(make_node(op->make, OP_ReduceSumSquare, VALUES(y, axes), ARGS(INT_ARG("keepdims", 1)),
                &square));
  TRY(make_numbers(op->make, y->dtype, &two, signs, &by));
  TRY(make_node(op->make, OP_Mul, VALUES(y, by), NULL, &y));
  return make_node(op->make, OP_Div, VALUES(y, square), NULL, out);
}

hone_status build_reciprocal(struct pt_op *op) {
  struct value *x;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_unary(op);
  TRY(inverse_of(op, x, &x));
  return pt_complex_result(op, 0, x);
}

hone_status build_exp(struct pt_op *op) {
  struct value *x, *re, *im, *cosine;
  bool is_complex;
  TRY(pt_need_complex(op, "self", &x, &is_complex));
  if (!is_complex) return build_unary(op);
  TRY(pt_part(op, x, 0, &re));
  TRY(pt_part(op, x, 1, &im));
  TRY(make_node(op->make, OP_Exp, VALUES(re), NULL, &re));
  TRY(make_node(op->make, OP_Cos, VALUES(im), NULL, &cosine));
  TRY(make_node(op->make, OP_Sin, VALUES(im), NULL, &im));
  TRY(joined(op, cosine, im, &x));
  TRY(with_part_axis(op, re, &re));
  TRY(make_node(op->make, OP_Mul, VALUES(x, re), NULL, &x));
  return pt_complex_result(op, 0, x);
}

/* A real operand together with a complex one: a factor applies to both parts, a term only to the
 * real part. */
static hone_status promote_operand(struct pt_op *op, struct value *x, bool is_factor,
                                   struct value **out) {
  static const double first[] = {1, 0};
  const struct shape two = {1, {2}};
  struct value *by;
  TRY(make_cast(op->make, x, HONE_F32, &x));
  TRY(with_part_axis(op, x, &x));
  *out = x;
  if (is_factor) return HONE_OK;
  TRY(make_numbers(op->make, HONE_F32, &two, first, &by));
  return make_node(op->make, OP_Mul, VALUES(x, by), NULL, out);
}

/* A complex operand, or NULL: a tensor, or a number of the file. */
static hone_status read_complex(struct pt_op *op, const char *name, struct value **out,
                                bool *out_is_complex) {
  const struct shape two = {1, {2}};
  const char *kind;
  const json_t *number = pt_find_argument(op, name, &kind);
  if (!number || strcmp(kind, "as_complex")) return pt_complex(op, name, out, out_is_complex);
  *out_is_complex = true;
  return make_numbers(op->make, HONE_F32, &two,
                      (const double[]){json_number_value(json_object_get(number, "real")),
                                       json_number_value(json_object_get(number, "imag"))},
                      out);
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
  if (alpha != 1) TRY(make_with_scalar(op->make, OP_Mul, y, alpha, &y));
  if (by == OP_Div && y_is) {
    TRY(inverse_of(op, y, &y));
    by = OP_Mul;
  }
  if (by == OP_Mul && x_is && y_is) {
    TRY(complex_product(op, x, y, &x));
    return pt_complex_result(op, 0, x);
  }
  const bool is_factor = by == OP_Mul || by == OP_Div;
  if (!x_is) TRY(promote_operand(op, x, is_factor, &x));
  if (!y_is) TRY(promote_operand(op, y, is_factor, &y));
  TRY(make_node(op->make, by, VALUES(x, y), NULL, &x));
  return pt_complex_result(op, 0, x);
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
static hone_status transform(struct pt_op *op, const struct fft *f, size_t k, bool is_half,
                             struct value **x) {
  struct value *axis, *length = NULL;
  TRY(make_scalar(op->make, HONE_I64, (double)f->axes[k], &axis));
  if (f->lengths[k]) TRY(make_scalar(op->make, HONE_I64, (double)f->lengths[k], &length));
  return make_node(op->make, OP_DFT, VALUES(*x, length, axis),
                   ARGS(INT_ARG("inverse", f->is_inverse), INT_ARG("onesided", is_half)), x);
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
    if (!dtype_is_float(x->dtype)) TRY(make_cast(op->make, x, HONE_F32, &x));
    TRY(with_part_axis(op, x, &x));
  }
  /* the half applies to the last axis: first for real inputs, last for real results */
  if (half && !to_real) TRY(transform(op, &f, f.count - 1, true, &x));
  for (size_t k = 0; k + (size_t)(half != 0) < f.count; k++) TRY(transform(op, &f, k, false, &x));
  if (to_real) TRY(transform(op, &f, f.count - 1, true, &x));
  const double scale = f.scale * (f.is_inverse ? count : 1); /* ONNX's inverse already divides */
  if (scale != 1) TRY(make_with_scalar(op->make, OP_Mul, x, scale, &x));
  if (!to_real) return pt_complex_result(op, 0, x);
  TRY(pt_part(op, x, 0, &x));
  return pt_result(op, 0, x);
}
